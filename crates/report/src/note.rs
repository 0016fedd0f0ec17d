//! Notes about a record, in words.

use record::Note;
use serde_json::{Value, json};

/// Maximum number of characters of a note in an answer; pages and the JSON document have all.
const MOST_CHARACTERS: usize = 400;

/// Returns the latest notes in words, at most `most`, and a line if there are earlier ones.
pub(crate) fn latest(notes: &[Note], most: usize) -> Vec<String> {
    let earlier = notes.len().saturating_sub(most);
    let mut lines: Vec<String> =
        notes[earlier..].iter().map(|note| shortened(&sentence(note))).collect();
    if earlier > 0 {
        lines.push(format!("{earlier} earlier in the record"));
    }
    lines
}

/// Returns the notes of reviewers as text, not cut, for the list of a folder and its search.
pub fn listed_notes(notes: &[Note]) -> Vec<String> {
    notes.iter().filter(|note| note.author.is_some()).map(sentence).collect()
}

/// Returns the tag that a word of a note is: `#disk` of `#disk,`.
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

/// Returns the document of notes.
pub(crate) fn documents(notes: &[Note]) -> Vec<Value> {
    notes.iter().map(document).collect()
}

fn document(note: &Note) -> Value {
    json!({ "at": note.at.to_string(), "author": note.author, "text": note.text })
}

/// Returns a text in at most [`MOST_CHARACTERS`], and a mark if it is cut.
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
    fn latest_notes_are_shown_and_the_others_counted() {
        let note = |n: i64| Note { at: WallTime(n), author: None, text: n.to_string() };
        let notes: Vec<Note> = (1..=5).map(note).collect();
        let lines = latest(&notes, 2);
        assert!(lines[0].ends_with(": 4") && lines[1].ends_with(": 5"), "{lines:?}");
        assert_eq!(lines[2], "3 earlier in the record");
        assert_eq!(latest(&notes, 5).len(), 5);
        let author = Some("ann".to_owned());
        let long = Note { author, text: "é".repeat(4_000), ..note(1) };
        let line = latest(&[long], 1).remove(0);
        assert!(line.contains(", ann: é") && line.ends_with("é…"), "{line}");
        assert_eq!(line.chars().count(), MOST_CHARACTERS + 1);
    }
}
