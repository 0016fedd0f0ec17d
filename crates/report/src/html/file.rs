//! Files within a page: tables and figures as links that a browser saves without a script.

use std::fmt::Write as _;

use base::{printable, spreadsheet_cell};

use super::cut::cut;
use crate::number::count;

/// Maximum length of a file name in bytes, without its extension; the last character may extend
/// beyond it.
const LONGEST_NAME: usize = 60;

/// Maximum number of rows of a saved table; the record has all of them.
const MOST_ROWS: usize = 10_000;

/// Returns a link that saves a text as a file. `word` is both the link's text and, in lower case,
/// the extension of the file.
pub(super) fn download_link(word: &str, name: &str, media: &str, text: &str) -> String {
    let ending = word.to_lowercase();
    let (name, text) = (file_name(name), encode_url(text));
    format!(
        "<a class=\"file\" download=\"{name}.{ending}\" href=\"data:{media},{text}\" \
         aria-label=\"Save {name} as {word}\">{word}</a>"
    )
}

/// Formats rows as CSV (RFC 4180), with the rules of [`cell`].
pub(crate) fn csv(titles: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = line(titles.iter().copied());
    rows.iter().for_each(|row| out.push_str(&line(row.iter().map(String::as_str))));
    out
}

/// Formats rows as CSV within a page: long texts are cut, and rows beyond [`MOST_ROWS`] are
/// replaced by a last line.
pub(super) fn csv_of_page(titles: &[&str], rows: &[Vec<String>]) -> String {
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let shown: Vec<Vec<String>> =
        shown.iter().map(|row| row.iter().map(|text| cut(text).into_owned()).collect()).collect();
    let mut out = csv(titles, &shown);
    let more = rows.len() - shown.len();
    if more > 0 {
        let note = format!("and {} in the record", count(more as u64, "more row"));
        let empty = titles.iter().skip(1).map(|_| "");
        out.push_str(&line([note.as_str()].into_iter().chain(empty)));
    }
    out
}

fn line<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let cells: Vec<String> = cells.map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

/// Returns a cell of CSV. A text that a spreadsheet would run as a formula gets a leading
/// apostrophe.
fn cell(text: &str) -> String {
    let text = spreadsheet_cell(text, printable);
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into_owned(),
    }
}

/// Converts a text to a file name: letters and digits of any script, with dots and hyphens between
/// them.
fn file_name(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars() {
        match character {
            letter if letter.is_alphanumeric() => name.extend(letter.to_lowercase()),
            // A name never begins with a dot.
            '.' if !name.is_empty() => name.push('.'),
            _ if name.ends_with(['-', '.']) || name.is_empty() => {}
            _ => name.push('-'),
        }
        if name.len() >= LONGEST_NAME {
            break;
        }
    }
    let name = name.trim_end_matches(['-', '.']);
    if name.is_empty() { "table".to_owned() } else { name.to_owned() }
}

/// Encodes a text for a URL (RFC 3986, section 2). The result has no character that is special in
/// HTML either.
pub(super) fn encode_url(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 5 / 4);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b',' | b';' | b'=' => {
                out.push(char::from(byte));
            }
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_are_not_formulas() {
        for (text, expected) in [
            ("plain", "plain"),
            ("5,971 ±87 %", "\"5,971 ±87 %\""),
            ("a \"b\"", "\"a \"\"b\"\"\""),
            ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
            ("-1,234.5 points", "\"-1,234.5 points\""),
            ("+1+HYPERLINK(\"http://x\",\"y\")", "\"'+1+HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""),
            ("\r=1", "' =1"),
            ("", ""),
        ] {
            assert_eq!(cell(text), expected, "{text}");
        }
        let rows = [vec!["1".to_owned(), "a,b".to_owned()]];
        assert_eq!(csv(&["run", "text"], &rows), "run,text\r\n1,\"a,b\"\r\n");
    }

    #[test]
    fn saved_table_names_the_rows_and_the_text_that_it_cuts() {
        let rows = vec![vec!["1".to_owned(), "a".to_owned()]; MOST_ROWS + 1];
        let table = csv_of_page(&["run", "text"], &rows[..MOST_ROWS]);
        assert_eq!((table.lines().count(), table.lines().last()), (MOST_ROWS + 1, Some("1,a")));
        let table = csv_of_page(&["run", "text"], &rows);
        assert_eq!(table.lines().count(), MOST_ROWS + 2);
        assert_eq!(table.lines().last(), Some("and 1 more row in the record,"));
        let long = csv_of_page(&["text"], &[vec!["x".repeat(100_000)]]);
        assert!(long.len() < 5_000 && long.ends_with("x…\r\n"), "{}", long.len());
    }

    #[test]
    fn names_of_files_have_no_separators() {
        for (text, expected) in [
            ("Times of read", "times-of-read"),
            ("pairs.throughput(read).slow", "pairs.throughput-read-.slow"),
            ("../../etc/passwd", "etc-passwd"),
            ("\"><script>", "script"),
            ("Times of 日本語", "times-of-日本語"),
            ("response.naïve.ÉTÉ", "response.naïve.été"),
            ("→", "table"),
        ] {
            assert_eq!(file_name(text), expected, "{text}");
        }
        for letter in ["x", "表"] {
            let length = file_name(&letter.repeat(300)).len();
            assert!((LONGEST_NAME..LONGEST_NAME + 4).contains(&length), "{letter}: {length}");
        }
    }

    #[test]
    fn link_text_is_escaped() {
        let link = download_link("CSV", "a", "text/csv", "<b>\"&'\n#%é");
        assert!(link.contains("data:text/csv,%3Cb%3E%22%26%27%0A%23%25%C3%A9\""), "{link}");
    }
}
