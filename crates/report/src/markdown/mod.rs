//! Markdown for pull requests: escaping, and documents of a limited number of lines.
//!
//! Texts from outside (names, questions, messages of servers) are escaped, so they cannot create a
//! heading, link, HTML element, mention or table. Words between backquotes become code.

mod page;

use analyze::Status;
use base::printable;

pub use page::markdown;

use crate::page::{Align, Row as PageRow, Table as PageTable};

/// Maximum number of lines of a document.
pub const MOST_LINES: usize = 40;

/// Maximum number of characters of a text; the rest is left out.
const MOST_CHARACTERS: usize = 400;

/// Number of lines of a collapsed table besides its rows.
const FRAME: usize = 6;

/// Number of lines after the last list: the question, the command that repeats the record, and an
/// empty line before each.
const END: usize = 4;

/// A writer of a Markdown document.
#[derive(Debug, Default)]
pub(crate) struct Document {
    lines: Vec<String>,
}

/// A table of escaped cells.
#[derive(Debug)]
pub(crate) struct Table {
    /// Titles and alignments of the columns.
    pub(crate) columns: Vec<(String, Align)>,
    /// Rows, the most important first.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// Escapes the cells and titles of a table.
    pub(crate) fn of(table: &PageTable) -> Table {
        let columns = table.columns.iter().map(|it| (escaped(&it.title), it.align)).collect();
        let cells = |row: &PageRow| row.cells.iter().map(|it| escaped(&it.to_string())).collect();
        Table { columns, rows: table.rows.iter().map(cells).collect() }
    }
}

/// The importance of an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The item decides the exit code, or reports a failure.
    Decisive,
    /// The item is undecided, or casts doubt on the answer.
    Doubtful,
    /// The item gives no reason for doubt.
    Ordinary,
}

impl From<Status> for Rank {
    fn from(status: Status) -> Rank {
        match status {
            Status::Invalid => Rank::Decisive,
            Status::Suspect => Rank::Doubtful,
            Status::Pass | Status::NotPossible => Rank::Ordinary,
        }
    }
}

impl Document {
    /// Adds a line, which must not be empty.
    pub(crate) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    /// Begins a new paragraph.
    pub(crate) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// Adds a list of at most `most` lines; the last one counts the items that are left out.
    /// Nothing is added if there is no room for a line.
    pub(crate) fn list(&mut self, items: &[String], most: usize) {
        let most = self.room(most);
        if most == 0 {
            return;
        }
        let shown = if items.len() > most { most - 1 } else { items.len() };
        self.lines.extend(items[..shown].iter().map(|item| format!("- {item}")));
        if shown < items.len() {
            self.lines.push(format!("- … and {} more", items.len() - shown));
        }
    }

    /// Adds a list as [`list`](Self::list) does. If items are left out, the most important ones
    /// stay, and come first.
    pub(crate) fn ranked_list(&mut self, items: &[(Rank, String)], most: usize) {
        let mut items = items.to_vec();
        if items.len() > self.room(most) {
            items.sort_by_key(|(rank, _)| *rank);
        }
        let texts: Vec<String> = items.into_iter().map(|(_, text)| text).collect();
        self.list(&texts, most);
    }

    /// Ends the document with a collapsed table, with as many rows as fit.
    pub(crate) fn with_table(mut self, title: &str, table: &Table) -> String {
        self.gap();
        let room = MOST_LINES.saturating_sub(self.lines.len() + FRAME);
        let (shown, all) = (table.rows.len().min(room), table.rows.len());
        if shown > 0 {
            let part = if shown < all { format!(" ({shown} of {all})") } else { String::new() };
            self.line(format!("<details><summary>{title}{part}</summary>"));
            self.gap();
            let titles: Vec<String> =
                table.columns.iter().map(|(title, _)| title.clone()).collect();
            self.line(row(&titles));
            let rule = |align: &Align| match align {
                Align::Left => "---",
                Align::Right => "--:",
            };
            let rules: Vec<String> =
                table.columns.iter().map(|(_, align)| rule(align).to_owned()).collect();
            self.line(row(&rules));
            self.lines.extend(table.rows[..shown].iter().map(|cells| row(cells)));
            self.gap();
            self.line("</details>");
        }
        self.text()
    }

    /// Returns the text of the document.
    pub(crate) fn text(self) -> String {
        let text = self.lines.join("\n");
        format!("{}\n", text.trim_end())
    }

    /// Returns the number of lines for a list of at most `most` lines.
    fn room(&self, most: usize) -> usize {
        most.min((MOST_LINES - END).saturating_sub(self.lines.len()))
    }
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// Escapes a text: Markdown renders it unchanged, with words between two backquotes as code.
///
/// `@` and `#` become code, because hosting services turn them into mentions and references after
/// rendering Markdown. Such a character directly after code becomes part of that code: Markdown
/// would read the backquotes of two adjacent spans as one pair.
pub(crate) fn escaped(text: &str) -> String {
    let text = shortened(text);
    let mut out = String::with_capacity(text.len() + 16);
    let mut ends_with_code = false;
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        let (before, after) = (&text[..at], &text[at + character.len_utf8()..]);
        at += character.len_utf8();
        let was_code = std::mem::take(&mut ends_with_code);
        match (character, quoted(before, after)) {
            ('`', Some(words)) if !out.ends_with('`') => {
                out.push_str(&code(words));
                at += words.len() + 1;
                ends_with_code = true;
            }
            ('@' | '#', _) => {
                if was_code {
                    out.pop();
                } else {
                    out.push('`');
                }
                out.extend([character, '`']);
                ends_with_code = true;
            }
            _ if is_active(character, before, after) => out.extend(['\\', character]),
            _ => out.push(character),
        }
    }
    out
}

/// Returns the words up to the next backquote if they can be code. A backquote separates `before`
/// and `after`. Words with a bar cannot be code, because a bar would end the cell of a table.
fn quoted<'t>(before: &str, after: &'t str) -> Option<&'t str> {
    let (words, rest) = after.split_once('`')?;
    let is_single = !before.ends_with('`') && !rest.starts_with('`');
    let is_plain = !words.is_empty() && words.trim() == words && !words.contains('|');
    (is_single && is_plain).then_some(words)
}

/// Returns true if Markdown gives a character a special meaning between these texts.
fn is_active(character: char, before: &str, after: &str) -> bool {
    match character {
        '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => true,
        // The beginning of a tag or of a character reference.
        '<' => after.starts_with(|next: char| next.is_ascii_alphabetic() || "/!?".contains(next)),
        '&' => after.starts_with(|next: char| next.is_ascii_alphabetic() || next == '#'),
        // A line that is a quotation, begins a list or underlines a heading.
        '>' => before.is_empty(),
        '-' | '+' => before.is_empty() && after.starts_with([' ', '-']),
        '=' => before.is_empty(),
        ')' | '.' if is_number(before) => after.starts_with(' '),
        '.' => before.to_ascii_lowercase().ends_with("www"),
        // Addresses become links.
        ':' => after.starts_with("//"),
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a text as a code span.
pub(crate) fn code(text: &str) -> String {
    let text = shortened(text);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let needs_space = |edge: Option<char>| edge.is_none_or(|edge| edge == '`' || edge == ' ');
    match needs_space(text.chars().next()) || needs_space(text.chars().last()) {
        true => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

/// Returns a text in one line, without control characters, and cut if it is long.
fn shortened(text: &str) -> String {
    let text = printable(text.trim());
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Returns the line about the origin of an answer: its command, the file of its record, and the
/// label that the user gave it.
pub(crate) fn origin(command: &str, file: &str, label: Option<&str>) -> String {
    let label = label.map(|label| format!(" Label: {}", code(label))).unwrap_or_default();
    format!("Repeat: {} Record: {}{label}", code(command), code(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_texts_are_escaped_in_markdown() {
        for (text, expected) in [
            ("p99 < 5 ms & more", "p99 < 5 ms & more"),
            ("<script>x</script>", "\\<script>x\\</script>"),
            ("<!-- x --> <?x <a@b>", "\\<!-- x --> \\<?x \\<a`@`b>"),
            ("&lt; &#60;", "\\&lt; \\&`#`60;"),
            ("> quoted", "\\> quoted"),
            ("[a](http://b)", "\\[a\\](http\\://b)"),
            ("![a](b)", "!\\[a\\](b)"),
            ("a | b", "a \\| b"),
            ("# title", "`#` title"),
            ("see #12, @ann", "see `#`12, `@`ann"),
            ("@@version ##t a@#", "`@@`version `##`t a`@#`"),
            ("`c`@ann `c`##1", "`c@`ann `c##`1"),
            ("- item", "\\- item"),
            ("12. item", "12\\. item"),
            ("12) item", "12\\) item"),
            ("p50 1.40 ms", "p50 1.40 ms"),
            ("1.40 ms", "1.40 ms"),
            ("+1.4 %", "+1.4 %"),
            ("--- x", "\\--- x"),
            ("two\nlines\u{202e}", "two lines\u{fffd}"),
            ("**b** _i_ ~s~ $m$", "\\*\\*b\\*\\* \\_i\\_ \\~s\\~ \\$m\\$"),
            ("use `assay explain *`, or `<b>`", "use `assay explain *`, or `<b>`"),
            ("`a|b` ` ` `` ```x```", "\\`a\\|b\\` \\` \\` \\`\\` \\`\\`\\`x\\`\\`\\`"),
            ("an `open", "an \\`open"),
            ("www.example.org", "www\\.example.org"),
            ("a\\|b", "a\\\\\\|b"),
            ("===", "\\==="),
        ] {
            assert_eq!(escaped(text), expected, "{text}");
        }
        assert_eq!(escaped(&"x".repeat(5_000)).chars().count(), MOST_CHARACTERS + 1);
    }

    #[test]
    fn code_is_fenced_by_more_backticks_than_it_has() {
        assert_eq!(code("a b"), "`a b`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``"), "``` `` ```");
        assert_eq!(code("<b>"), "`<b>`");
        assert_eq!(code("a\nb"), "`a b`");
    }

    #[test]
    fn lists_leave_room_for_the_end_of_the_document() {
        let mut document = Document::default();
        (0..10).for_each(|_| document.list(&vec!["item".to_owned(); 7], 7));
        for line in ["Question: ?", "Repeat: `assay`"] {
            document.gap();
            document.line(line);
        }
        let table = Table { columns: Vec::new(), rows: vec![Vec::new()] };
        let text = document.with_table("Rows", &table);
        assert_eq!(text.lines().count(), MOST_LINES);
        assert!(text.contains("- item\n- … and 7 more\n\nQuestion: ?\n\nRepeat"), "{text}");
    }

    #[test]
    fn most_important_item_of_a_list_stays_in_a_nearly_full_document() {
        let mut document = Document::default();
        (0..MOST_LINES - END - 2).for_each(|_| document.line("line"));
        let ranks = [Rank::Ordinary, Rank::Doubtful, Rank::Decisive];
        document.ranked_list(&ranks.map(|rank| (rank, format!("{rank:?}"))), ranks.len());
        let text = document.text();
        assert!(text.ends_with("line\n- Decisive\n- … and 2 more\n"), "{text}");
    }

    #[test]
    fn document_never_has_more_lines_than_its_limit() {
        let mut document = Document::default();
        document.list(&vec!["item".to_owned(); 100], 5);
        let columns = vec![("a".to_owned(), Align::Left), ("b".to_owned(), Align::Right)];
        let rows = vec![vec!["x".to_owned(), "1".to_owned()]; 100];
        let text = document.with_table("Rows", &Table { columns, rows });
        assert_eq!(text.lines().count(), MOST_LINES);
        assert!(text.starts_with("- item\n- item\n- item\n- item\n- … and 96 more\n\n"), "{text}");
        assert!(text.contains("<summary>Rows (28 of 100)</summary>\n\n| a | b |\n| --- | --: |\n"));
        assert!(text.ends_with("| x | 1 |\n\n</details>\n"));
    }
}
