//! Notes about a record, in words.

use record::Note;
use serde_json::{Value, json};

/// Maximum number of characters of a note in an answer; pages and the JSON document have the whole
/// note.
const MOST_CHARACTERS: usize = 400;

/// Returns the latest notes in words, at most `most`, in the order of time. If there are earlier
/// notes, a first line counts them.
pub(crate) fn latest_notes(notes: &[Note], most: usize) -> Vec<String> {
    let (earlier, latest) = split_latest(notes, most);
    let earlier = (!earlier.is_empty()).then(|| format!("{} earlier in the record", earlier.len()));
    let latest = latest.iter().map(|note| shortened(&sentence(note)));
    earlier.into_iter().chain(latest).collect()
}

/// Divides notes, the oldest first, into the earlier ones and the latest ones; the latest are at
/// most `most`.
pub(crate) fn split_latest(notes: &[Note], most: usize) -> (&[Note], &[Note]) {
    notes.split_at(notes.len().saturating_sub(most))
}

/// Returns the notes of reviewers as text in full length, for the list of a folder and its search.
pub fn listed_notes(notes: &[Note]) -> Vec<String> {
    notes.iter().filter(|note| note.author.is_some()).map(sentence).collect()
}

/// Returns the tag if a word of a note is one: `#disk` for `#disk,`.
pub(crate) fn tag(word: &str) -> Option<&str> {
    let tag = word.trim_end_matches(|last: char| !last.is_alphanumeric());
    (tag.len() > 1 && tag.starts_with('#')).then_some(tag)
}

/// Returns a note in words: its time, its author if it is a reviewer's, and its text.
pub(crate) fn sentence(note: &Note) -> String {
    match &note.author {
        Some(author) => format!("{}, {author}: {}", note.at, note.text),
        None => format!("{}: {}", note.at, note.text),
    }
}

/// Returns a JSON object for each note.
pub(crate) fn documents(notes: &[Note]) -> Vec<Value> {
    notes.iter().map(document).collect()
}

fn document(note: &Note) -> Value {
    json!({ "at": note.at.to_string(), "author": note.author, "text": note.text })
}

/// Returns a text cut to [`MOST_CHARACTERS`], with a mark if it is cut.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use base::WallTime;

    use super::*;

    #[test]
    fn words_that_begin_with_a_hash_are_tags_without_their_punctuation() {
        for (word, expected) in [
            ("#disk", Some("#disk")),
            ("#disk,", Some("#disk")),
            ("#a-b_c.d).", Some("#a-b_c.d")),
            ("#été", Some("#été")),
            ("#", None),
            ("#--", None),
            ("a#b", None),
            ("", None),
        ] {
            assert_eq!(tag(word), expected, "{word}");
        }
    }

    #[test]
    fn latest_notes_follow_the_number_of_earlier_ones_the_oldest_first() {
        let note = |n: i64| Note { at: WallTime(n), author: None, text: n.to_string() };
        let notes: Vec<Note> = (1..=5).map(note).collect();
        let lines = latest_notes(&notes, 2);
        assert_eq!(lines[0], "3 earlier in the record");
        assert!(lines[1].ends_with(": 4") && lines[2].ends_with(": 5"), "{lines:?}");
        assert_eq!(latest_notes(&notes, 5).len(), 5);
        let author = Some("ann".to_owned());
        let long = Note { author, text: "é".repeat(4_000), ..note(1) };
        let line = latest_notes(&[long], 1).remove(0);
        assert!(line.contains(", ann: é") && line.ends_with("é…"), "{line}");
        assert_eq!(line.chars().count(), MOST_CHARACTERS + 1);
    }
}
