//! Writer of the text of an experiment's answer.

use std::fmt;

use base::printable;

use crate::page::Table;
use crate::text::{Grid, Style, columns, wrap};

/// Width of a label and the blanks after it.
const LABEL_WIDTH: usize = 11;

/// Blanks before a table.
const TABLE_INDENT: usize = 2;

/// Minimum width of the last column of a table, whose texts are wrapped.
const LEAST_COLUMN_WIDTH: usize = 8;

/// A writer of the text of an answer. It wraps sentences at the width of the page. Text to be
/// copied is written through [`fmt::Write`], which does not wrap.
pub(super) struct AnswerText {
    width: usize,
    text: String,
}

impl AnswerText {
    pub(super) fn new(style: &Style) -> AnswerText {
        AnswerText { width: style.columns(), text: String::new() }
    }

    /// Returns the width of the page, in columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns the written text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Writes a sentence after `indent` blanks; its continuation lines are indented by two more.
    pub(super) fn sentence(&mut self, indent: usize, sentence: &str) {
        self.write_wrapped(&" ".repeat(indent), indent + 2, sentence);
    }

    /// Writes a text with a label, which may be empty.
    pub(super) fn entry(&mut self, label: &str, text: &str) {
        self.write_wrapped(&format!("{label:<9}  "), LABEL_WIDTH, text);
    }

    /// Writes a row of a table: `cells`, which are already aligned, and the text of the last
    /// column, which is wrapped.
    pub(super) fn row(&mut self, cells: &str, last: &str) {
        let hanging = columns(cells);
        let room = self.width.saturating_sub(hanging).max(LEAST_COLUMN_WIDTH);
        self.write_hanging(cells, hanging, &wrap(&printable(last), room, room));
    }

    /// Writes an indented table in the form that fits the width, and returns that form.
    pub(super) fn table(&mut self, table: &Table) -> Grid {
        let room = self.width.saturating_sub(TABLE_INDENT);
        let shown = Grid::uncut(table).narrowed(room);
        for (_, line) in shown.lay_out(room) {
            self.text.push_str(&format!("{:TABLE_INDENT$}{line}\n", ""));
        }
        shown
    }

    /// Writes texts, each with the same label, after an empty line. Without texts, writes nothing.
    pub(super) fn labelled(&mut self, label: &str, texts: impl IntoIterator<Item = String>) {
        for (number, text) in texts.into_iter().enumerate() {
            if number == 0 {
                self.text.push('\n');
            }
            self.entry(label, &text);
        }
    }

    fn write_wrapped(&mut self, first: &str, hanging: usize, text: &str) {
        let room = |used: usize| self.width.saturating_sub(used);
        let lines = wrap(&printable(text), room(columns(first)), room(hanging));
        self.write_hanging(first, hanging, &lines);
    }

    /// Writes lines, the first one after the text `first`, the others indented by `hanging` blanks.
    fn write_hanging(&mut self, first: &str, hanging: usize, lines: &[String]) {
        for (number, line) in lines.iter().enumerate() {
            match number {
                0 => self.text.push_str(first),
                _ => self.text.extend(std::iter::repeat_n(' ', hanging)),
            }
            self.text.push_str(line);
            self.text.truncate(self.text.trim_end_matches(' ').len());
            self.text.push('\n');
        }
    }
}

impl fmt::Write for AnswerText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn last_column_is_broken_below_itself() {
        let row = |width: usize| {
            let mut text = AnswerText::new(&Style { color: false, width });
            text.row("  12  400/s  ", "0 % at or beyond 20ms, within chance");
            text.row("  13  800/s  ", "");
            text.into_text()
        };
        let broken =
            "  12  400/s  0 % at or beyond 20ms,\n             within chance\n  13  800/s\n";
        assert_eq!(row(40), broken);
        assert!(row(100).starts_with("  12  400/s  0 % at or beyond 20ms, within chance\n"));
    }

    #[test]
    fn sentences_are_broken_and_commands_are_not() {
        let mut text = AnswerText::new(&Style { color: false, width: 40 });
        let words = ["word"; 9].join(" ");
        text.sentence(2, &words);
        text.labelled("note", [words.clone(), "b\u{1b}[2J".to_owned()]);
        let _ = writeln!(text, "repeat     {words}");
        let expected = "  word word word word word word word\n    word word\n\n\
                    note       word word word word word word\n           word word word\n\
                    note       b\u{fffd}[2J\nrepeat     word word word word word word word word \
                    word\n";
        assert_eq!(text.into_text(), expected);
    }
}
