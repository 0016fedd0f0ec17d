//! Statements of a section, and the comments in their texts.

/// A statement, by its index in its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u16);

impl StatementId {
    /// Returns the index among the statements of the section.
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// Returns the number that people see: the position in the section, from 1.
    pub fn number(self) -> usize {
        self.index() + 1
    }
}

/// Returns true if a text begins with a comment, in the syntax of any dialect.
pub fn begins_comment(text: &str) -> bool {
    ["/*", "--", "#"].iter().any(|beginning| text.starts_with(beginning))
}

/// Returns a text without the white space and the comments at its beginning, in the syntax of any
/// dialect. Comments do not nest, and MySQL's `/*! … */` counts as a comment. A comment that does
/// not end extends to the end of the text.
pub fn after_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while begins_comment(rest) {
        let after = match rest.strip_prefix("/*") {
            // The `*` that begins a comment does not end it.
            Some(comment) => comment.split_once("*/"),
            None => rest.split_once('\n'),
        };
        rest = after.map_or("", |(_, after)| after.trim_start());
    }
    rest
}

/// Returns the length, in bytes, of the `/*!` or `/*M!` that a text begins with, and of the version
/// after it; `None` if there is none. MySQL and MariaDB execute the text between this mark and `*/`
/// (MySQL manual, "Comments"; MariaDB documentation, "Comment Syntax").
pub fn executed_comment_mark(text: &str) -> Option<usize> {
    let mark = ["/*!", "/*M!"].into_iter().find(|mark| text.starts_with(mark))?;
    let digits = text[mark.len()..].bytes().take_while(u8::is_ascii_digit).count();
    // A version has five or six digits. Fewer digits belong to the text.
    let version = if digits < 5 { 0 } else { digits.min(6) };
    Some(mark.len() + version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_belongs_to_the_mark_of_an_executed_comment() {
        for (text, length) in [
            ("/*! select 1 */", Some(3)),
            ("/*!50000select 1 */", Some(8)),
            ("/*!0800361 */", Some(9)),
            ("/*!1 */", Some(3)),
            ("/*M!100100 a */", Some(10)),
            ("/*+ hint */", None),
            ("/* ! */", None),
            ("", None),
        ] {
            assert_eq!(executed_comment_mark(text), length, "{text}");
        }
    }

    #[test]
    fn comments_before_a_statement_are_skipped() {
        for (text, rest) in [
            ("create it -- now", "create it -- now"),
            (" -- a\n/* b */ # c\n create it", "create it"),
            ("/*/ a */ create it", "create it"),
            ("/**/create it", "create it"),
            ("/* a /*", ""),
            ("-- a", ""),
            ("", ""),
        ] {
            assert_eq!(after_comments(text), rest, "{text}");
        }
    }
}
