//! Notes about a record.

use std::fmt;

use base::units::grouped;
use base::{WallTime, is_terminal_control};

/// A note about a record: a remark of the program, or a note that a reviewer added later.
///
/// A note that was read from a record may contain any text, because the record may be untrusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Time at which the note was added.
    pub at: WallTime,
    /// Name of the reviewer; `None` for a remark of the program.
    pub author: Option<String>,
    /// Text of the note.
    pub text: String,
}

/// The reason why a text or a name is not accepted for a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteError {
    /// The text is empty or contains only white space.
    Empty,
    /// The text is longer than [`Note::LONGEST_TEXT`].
    TooLong {
        /// Number of characters of the text.
        characters: usize,
    },
    /// The text has characters on which a terminal would act.
    Control,
    /// The name of the author is empty, is longer than [`Note::LONGEST_AUTHOR`], or has characters
    /// on which a terminal would act.
    Author,
}

impl Note {
    /// Maximum length of a reviewer's note, in characters.
    pub const LONGEST_TEXT: usize = 4_000;

    /// Maximum length of the name of a note's author, in characters.
    pub const LONGEST_AUTHOR: usize = 100;

    /// Creates a reviewer's note. In the text and in the name of the author, each run of white
    /// space becomes one space, so the text becomes one paragraph.
    ///
    /// # Errors
    /// The text or the name of the author is empty or too long, or has characters on which a
    /// terminal would act.
    pub fn by(author: &str, text: &str, at: WallTime) -> Result<Note, NoteError> {
        let text = paragraph(text);
        match text.chars().count() {
            0 => return Err(NoteError::Empty),
            characters if characters > Note::LONGEST_TEXT => {
                return Err(NoteError::TooLong { characters });
            }
            _ if text.contains(is_terminal_control) => return Err(NoteError::Control),
            _ => {}
        }
        let author = paragraph(author);
        let is_name = (1..=Note::LONGEST_AUTHOR).contains(&author.chars().count())
            && !author.contains(is_terminal_control);
        match is_name {
            true => Ok(Note { at, author: Some(author), text }),
            false => Err(NoteError::Author),
        }
    }
}

fn paragraph(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoteError::Empty => f.write_str("the note is empty"),
            NoteError::TooLong { characters } => {
                let [has, most] = [*characters, Note::LONGEST_TEXT].map(|it| grouped(it as u64));
                write!(f, "the note has {has} characters; at most {most} are allowed")
            }
            NoteError::Control => f.write_str("the note has control characters"),
            NoteError::Author => write!(
                f,
                "the name of the author must have 1 to {} characters, and no control characters",
                Note::LONGEST_AUTHOR
            ),
        }
    }
}

impl std::error::Error for NoteError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_is_a_paragraph_with_an_author() {
        let note = Note::by(" Ann  B. ", " first\nsecond\t third ", WallTime(7)).unwrap();
        assert_eq!(note.text, "first second third");
        assert_eq!((note.author.as_deref(), note.at), (Some("Ann B."), WallTime(7)));
        assert!(Note::by("a", &"é".repeat(Note::LONGEST_TEXT), WallTime(0)).is_ok());
    }

    #[test]
    fn other_texts_and_names_are_refused() {
        let refused = |author: &str, text: &str| Note::by(author, text, WallTime(0)).unwrap_err();
        for empty in ["", " \n\t "] {
            assert_eq!(refused("ann", empty), NoteError::Empty);
        }
        let long = "x".repeat(1 << 20);
        let too_long = refused("ann", &long);
        assert_eq!(too_long, NoteError::TooLong { characters: 1 << 20 });
        let words = "the note has 1,048,576 characters; at most 4,000 are allowed";
        assert_eq!(too_long.to_string(), words);
        for control in ["\u{1b}[2J", "a\0", "\u{202e}evil", "bell\u{7}"] {
            assert_eq!(refused("ann", control), NoteError::Control, "{control:?}");
        }
        for author in ["", " ", "\u{1b}[2J", &"x".repeat(Note::LONGEST_AUTHOR + 1)] {
            assert_eq!(refused(author, "text"), NoteError::Author, "{author:?}");
        }
    }
}
