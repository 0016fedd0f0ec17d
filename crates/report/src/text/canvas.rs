//! The canvas that an answer is painted on: labelled lines, tables, headings and notes, wrapped and
//! aligned.
//!
//! All text passes through [`printable`]: job names, statements and messages come from files and
//! servers, and must not be able to move a terminal's cursor.

use base::printable;

use crate::no_break::words;
use crate::page::{Line, Remark, Table, Tone};
use crate::text::layout::{columns, cut, padded, sequence};
use crate::text::table::Grid;

/// The layout of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True if ANSI escape sequences may colour the text.
    pub color: bool,
    /// Number of columns. Sentences are wrapped; tables need up to 100 and drop columns on a
    /// narrower page. Texts that are meant to be copied, such as commands, are never broken.
    pub width: usize,
}

impl Style {
    /// Style for output that is not a terminal.
    pub const PLAIN: Style = Style { color: false, width: 100 };

    /// Returns the number of columns of the page.
    pub(crate) fn columns(&self) -> usize {
        self.width.max(NARROWEST)
    }

    /// Returns true if there is less room than tables may need.
    fn is_narrow(&self) -> bool {
        self.width < Style::PLAIN.width
    }
}

/// Narrowest page, in columns: below that, wrapped sentences cannot be read.
const NARROWEST: usize = 40;

/// Blanks before a table.
const TABLE_INDENT: usize = 2;

/// A writer of the text of an answer.
pub(crate) struct Canvas {
    style: Style,
    text: String,
}

/// Maximum width of the labels' column. On a narrow page the column takes at most half of the page;
/// a longer label is cut.
const LONGEST_LABEL: usize = 48;

impl Canvas {
    pub(crate) fn new(style: Style) -> Canvas {
        Canvas { style, text: String::new() }
    }

    /// Returns the text written so far.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Writes an empty line, unless the last line is empty or nothing was written.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Writes a few words in a tone, alone on their line.
    pub(crate) fn line_in_tone(&mut self, tone: Tone, text: &str) {
        self.start(0);
        self.write(tone, text);
        self.end();
    }

    /// Writes a heading.
    pub(super) fn heading(&mut self, text: &str) {
        self.line_in_tone(Tone::Strong, text);
    }

    /// Writes a text to be copied, which is not wrapped.
    pub(crate) fn unwrapped(&mut self, indent: usize, text: &str) {
        self.start(indent);
        self.write(Tone::Plain, text);
        self.end();
    }

    /// Writes a name and its value of one or several lines, which are wrapped only on a narrow
    /// page.
    pub(super) fn entry(&mut self, indent: usize, name: &str, value: &str) {
        let hanging = indent + columns(name) + 2;
        let room = self.style.columns().saturating_sub(hanging);
        let broken = |line: &str| match self.style.is_narrow() {
            true => wrap(&printable(line), room, room),
            false => vec![line.to_owned()],
        };
        let mut lines = value.lines().flat_map(broken);
        let first = lines.next().unwrap_or_default();
        let rest: Vec<String> = lines.collect();
        self.unwrapped(indent, format!("{name}  {first}").trim_end());
        rest.iter().for_each(|line| self.unwrapped(hanging, line));
    }

    /// Writes a sentence that begins with the emphasized words `lead`.
    pub(crate) fn sentence(&mut self, tone: Tone, lead: &str, rest: &str) {
        let lead = printable(lead).into_owned();
        let text = format!("{lead}{}", printable(rest));
        let width = self.style.columns();
        for (number, line) in wrap(&text, width, width - 2).iter().enumerate() {
            match (number, line.strip_prefix(lead.as_str())) {
                (0, Some(rest)) => {
                    self.write(tone, &lead);
                    self.write(Tone::Plain, rest);
                }
                (0, None) => self.write(tone, line),
                (_, _) => {
                    self.start(2);
                    self.write(Tone::Plain, line);
                }
            }
            self.end();
        }
    }

    /// Writes a remark.
    pub(crate) fn remark(&mut self, remark: &Remark) {
        match remark {
            Remark::Sentence { tone, lead, rest } => self.sentence(*tone, lead, rest),
            Remark::Note(text) => self.note(text),
        }
    }

    /// Writes remarks one below the other.
    pub(crate) fn remarks<'a>(&mut self, remarks: impl IntoIterator<Item = &'a Remark>) {
        remarks.into_iter().for_each(|remark| self.remark(remark));
    }

    /// Writes an indented remark.
    fn note(&mut self, text: &str) {
        let width = self.style.columns() - 2;
        for line in wrap(&printable(text), width, width) {
            self.start(2);
            self.write(Tone::Quiet, &line);
            self.end();
        }
    }

    /// Writes lines with aligned texts.
    pub(crate) fn lines(&mut self, indent: usize, lines: &[Line]) {
        let longest = (self.style.columns().saturating_sub(indent) / 2).min(LONGEST_LABEL);
        let labels: Vec<String> =
            lines.iter().map(|line| cut(&printable(&line.label), longest)).collect();
        let widest = labels.iter().map(|label| columns(label)).max().unwrap_or(0);
        for (line, label) in lines.iter().zip(labels) {
            self.line(indent, &(padded(&label, widest) + "  "), line);
        }
    }

    fn line(&mut self, indent: usize, label: &str, line: &Line) {
        let hanging = indent + columns(label);
        let room = self.style.columns().saturating_sub(hanging);
        let text = printable(&line.text);
        let parts = match line.is_wrapped {
            true => wrap(&text, room, room),
            false => vec![text.into_owned()],
        };
        self.start(indent);
        self.write(line.tone, label);
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                self.end();
                self.start(hanging);
            }
            self.write(line.tone_of_text, part);
        }
        self.end();
    }

    /// Writes an indented table; its last column takes the remaining room.
    pub(crate) fn table(&mut self, table: &Table) {
        for (tone, line) in self.grid(table).lay_out(self.room()) {
            self.start(TABLE_INDENT);
            self.write(tone, &line);
            self.end();
        }
    }

    /// Writes a table after an empty line, unless the table has no rows.
    pub(crate) fn part(&mut self, table: &Table) {
        if !table.is_empty() {
            self.gap();
            self.table(table);
        }
    }

    /// Returns the number of columns that a table may take.
    pub(super) fn room(&self) -> usize {
        self.style.columns() - TABLE_INDENT
    }

    /// Returns true if the page is wide enough for the column of a table with this title.
    pub(crate) fn shows(&self, table: &Table, title: &str) -> bool {
        self.grid(table).has(title)
    }

    /// Returns the table in the form for this page: whole, unless the page is narrow.
    fn grid(&self, table: &Table) -> Grid {
        let grid = Grid::of(table);
        match self.style.is_narrow() {
            true => grid.narrowed(self.room()),
            false => grid,
        }
    }

    fn start(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    fn write(&mut self, tone: Tone, text: &str) {
        let text = printable(text);
        if !self.style.color || tone == Tone::Plain || text.is_empty() {
            self.text.push_str(&text);
        } else {
            self.text.push_str(&format!("\x1b[{}m{text}\x1b[0m", sequence(tone)));
        }
    }

    /// Ends the line, without trailing blanks.
    fn end(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }
}

/// Wraps a text between words. The first line may have a different width. There is always at least
/// one line, and a word that is too long gets its own. A number stays on one line with its unit,
/// and with the other end of its interval, if the line is long enough.
pub(crate) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let words = words(text).flat_map(|word| match columns(word) <= rest {
        true => vec![word],
        false => word.split(' ').collect(),
    });
    for word in words {
        let width = if lines.len() == 1 { first } else { rest };
        let last = lines.last_mut().expect("there is a first line");
        let is_first_word = last.is_empty();
        if !is_first_word && columns(last) + 1 + columns(word) > width {
            lines.push(word.to_owned());
        } else {
            last.push_str(if is_first_word { "" } else { " " });
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: usize, write: impl FnOnce(&mut Canvas)) -> String {
        let mut page = Canvas::new(Style { color: false, width });
        write(&mut page);
        page.into_text()
    }

    #[test]
    fn wrapped_lines_have_a_hanging_indent() {
        let long = "word ".repeat(30);
        let text = page(100, |page| {
            page.lines(1, &[Line::new("a", "short"), Line::new("label", long.trim())]);
        });
        let line = ["word"; 18].join(" ");
        let rest = ["word"; 12].join(" ");
        assert_eq!(text, format!(" a      short\n label  {line}\n        {rest}\n"));
    }

    #[test]
    fn text_to_copy_is_not_wrapped() {
        let command = "assay run ".to_owned() + &"--set rate=100 ".repeat(10);
        let lines = [Line::unwrapped("command", command.trim_end()), Line::new("assay", "0.1.0")];
        let text = page(60, |page| page.lines(0, &lines));
        assert_eq!(text, format!("command  {}\nassay    0.1.0\n", command.trim_end()));
    }

    #[test]
    fn number_is_not_separated_from_its_unit_and_its_interval() {
        let text = "p99 rises by 12.3 % (95 % CI 8.12 … 17.4 %, 8 pairs), to 1.40 ms";
        for (width, expected) in [
            (16, &["p99 rises by", "12.3 % (95 % CI", "8.12 … 17.4 %, 8", "pairs), to", "1.40 ms"]),
            (12, &["p99 rises by", "12.3 % (95 %", "CI 8.12 …", "17.4 %, 8", "pairs), to"]),
        ] {
            let lines = wrap(text, width, width);
            assert_eq!(lines[..5], expected[..], "{width}: {lines:?}");
        }
    }

    #[test]
    fn entry_is_wrapped_only_on_a_narrow_page() {
        let write = |page: &mut Canvas| page.entry(2, "name", "word  word word\n  more");
        assert_eq!(page(100, write), "  name  word  word word\n          more\n");
        let long = "word ".repeat(8);
        let narrow = page(40, |page| page.entry(2, "name", long.trim()));
        let words = ["word"; 6].join(" ");
        assert_eq!(narrow, format!("  name  {words}\n        word word\n"));
        assert_eq!(page(100, |page| page.entry(2, "name", "")), "  name\n");
    }

    #[test]
    fn longest_label_aligns_all_texts() {
        let long = "n".repeat(40);
        let lines = [Line::new("read", "x"), Line::new(long.as_str(), "y")];
        let text = page(100, |page| page.lines(0, &lines));
        assert_eq!(text, format!("{}  x\n{long}  y\n", padded("read", 40)));
        let narrow = page(60, |page| page.lines(0, &lines));
        let short = format!("{}…", "n".repeat(29));
        assert_eq!(narrow, format!("{}  x\n{short}  y\n", padded("read", 30)));
    }

    #[test]
    fn remark_is_dimmed_below_its_line() {
        let mut page = Canvas::new(Style { color: true, width: 60 });
        page.lines(2, &[Line::new("a", "found"), Line::remark("do it")]);
        assert_eq!(page.into_text(), "  a  found\n     \x1b[2mdo it\x1b[0m\n");
    }

    #[test]
    fn a_long_word_is_not_broken() {
        let path = "x".repeat(150);
        let text = page(100, |page| page.lines(0, &[Line::new("at", format!("see {path}"))]));
        assert_eq!(text, format!("at  see\n    {path}\n"));
    }

    #[test]
    fn colour_covers_the_first_words_of_a_sentence() {
        let mut page = Canvas::new(Style { color: true, width: 100 });
        page.sentence(Tone::Good, "VALID", ": all is well");
        page.gap();
        page.gap();
        page.line_in_tone(Tone::Bad, "INVALID");
        let text = page.into_text();
        assert_eq!(text, "\x1b[1;32mVALID\x1b[0m: all is well\n\n\x1b[1;31mINVALID\x1b[0m\n");
    }

    #[test]
    fn external_text_cannot_move_the_cursor() {
        let text = page(100, |page| {
            page.lines(0, &[Line::new("job\x1b[2J", "a\nb\u{202e}c\u{7}\u{2028}d")]);
        });
        assert_eq!(text, "job\u{fffd}[2J  a b\u{fffd}c\u{fffd} d\n");
    }

    #[test]
    fn long_label_is_truncated() {
        let label = "name ".repeat(30);
        let text = page(100, |page| page.lines(0, &[Line::new(label, "text")]));
        assert_eq!(text, format!("{}na…  text\n", "name ".repeat(9)));
    }
}
