//! The file that supplies a job's requests or their values: `query-args-file` or `query-log-file`.

use std::io::ErrorKind;

use super::checker::Checker;
use super::fields::Fields;
use crate::feed::Format;
use crate::folder::unreadable;
use crate::plan::{Feed, Flow, Statement};
use crate::read::Entry;
use crate::wording::quoted;

impl<'f> Checker<'f> {
    /// Checks the file that supplies a job's requests or their values, if there is one.
    pub(super) fn feed(
        &mut self,
        fields: &Fields<'f>,
        flow: &Flow,
        statements: &[Statement],
    ) -> Option<Feed> {
        let (log, args) = (fields.one("query-log-file"), fields.one("query-args-file"));
        let delimiter = self.delimiter(fields);
        if let (Some(log), Some(args)) = (log, args) {
            self.sink.error(|| {
                let (log, args) = (quoted(log.key().text()), args.key());
                args.error(format!("`query-args-file` and {log} cannot be set together"))
                    .help("the lines of a log are whole statements: leave the args file out")
            });
        }
        if let Some(entry) = log {
            return self.feed_of(entry, Format::Log, 1);
        }
        // Statements that run separately take one record each.
        let per_request = match flow {
            Flow::Separately => statements.len().max(1) as u32,
            Flow::Together | Flow::Session { .. } => 1,
        };
        self.feed_of(args?, Format::Csv { delimiter: delimiter.unwrap_or(b',') }, per_request)
    }

    fn feed_of(&mut self, entry: &'f Entry<'f>, format: Format, per_request: u32) -> Option<Feed> {
        let example = match format {
            Format::Log => "query-log-file = query.log",
            Format::Csv { .. } => "query-args-file = users.csv",
        };
        let file = self.recorded_file_name(entry, example)?;
        if self.folder.is_known_missing(&file) {
            let (why, help) = unreadable(&file, usize::MAX, &ErrorKind::NotFound.into());
            self.sink.error(|| entry.value().error(why).help(help));
        }
        Some(Feed { file, format, per_request, span: entry.value().span().unwrap_or_default() })
    }

    /// Parses the delimiter between two fields.
    fn delimiter(&mut self, fields: &Fields<'f>) -> Option<u8> {
        let entry = fields.one("query-args-delim")?;
        if fields.one("query-args-file").is_none() {
            self.sink.error(|| {
                entry
                    .key()
                    .error("`query-args-delim` needs a `query-args-file`")
                    .help("name the file, or leave the delimiter out")
            });
        }
        let text = entry.value().text();
        match unquoted(text).as_deref() {
            Some([delimiter]) if !b"\"\r\n".contains(delimiter) && delimiter.is_ascii() => {
                return Some(*delimiter);
            }
            _ => {}
        }
        self.sink.error(|| {
            let message = match text {
                "" => "`query-args-delim` has no value".to_owned(),
                text => format!("{} is not one character between quotes", quoted(text)),
            };
            let help = r#"write for example `query-args-delim = "\t"`, or `';'`"#;
            entry.value().error(message).help(help)
        });
        None
    }
}

/// Returns the bytes of a text without its quotes. A text in `"` or `'` that begins with a
/// backslash is decoded as one of Go's escapes; any other text is returned as written. Returns
/// `None` without quotes, or if the text after the backslash is not exactly one escape.
fn unquoted(text: &str) -> Option<Vec<u8>> {
    let quote = text.chars().next().filter(|quote| "\"'`".contains(*quote))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    match inner.strip_prefix('\\') {
        Some(escape) if quote != '`' => Some(vec![unescaped(escape, quote)?]),
        _ => Some(inner.as_bytes().to_vec()),
    }
}

/// Decodes one of Go's escapes, given without its backslash, whose value is at most 255.
fn unescaped(escape: &str, quote: char) -> Option<u8> {
    Some(match escape {
        "a" => 0x07,
        "b" => 0x08,
        "f" => 0x0c,
        "n" => b'\n',
        "r" => b'\r',
        "t" => b'\t',
        "v" => 0x0b,
        r"\" => b'\\',
        "'" if quote == '\'' => b'\'',
        "\"" if quote == '"' => b'"',
        _ => return unescaped_number(escape),
    })
}

/// Decodes `x1f`, `037`, `u001f` or `U0000001f`.
fn unescaped_number(escape: &str) -> Option<u8> {
    let (digits, length, radix) = match escape.split_at_checked(1)? {
        ("x", digits) => (digits, 2, 16),
        ("u", digits) => (digits, 4, 16),
        ("U", digits) => (digits, 8, 16),
        _ => (escape, 3, 8),
    };
    let is_number = digits.len() == length && digits.chars().all(|digit| digit.is_digit(radix));
    let number = u32::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
    u8::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::written_delimiter;

    #[test]
    fn a_delimiter_is_one_byte_between_quotes() {
        for (text, expected) in [
            (r#""\t""#, Some(&b"\t"[..])),
            ("';'", Some(b";")),
            ("`|`", Some(b"|")),
            (r"'\\'", Some(b"\\")),
            (r"'\''", Some(b"'")),
            (r#""\"""#, Some(b"\"")),
            (r#""\v""#, Some(b"\x0b")),
            (r#""\n""#, Some(b"\n")),
            (r#""\x1e""#, Some(b"\x1e")),
            (r"'\036'", Some(b"\x1e")),
            (r#""\u001E""#, Some(b"\x1e")),
            (r#""\U0000007c""#, Some(b"|")),
            (r"`\t`", Some(b"\\t")),
            (";", None),
            ("\"ab", None),
            (r#""\""#, None),
            (r#""\'""#, None),
            (r#""\t\t""#, None),
            (r#""\x+1""#, None),
            (r#""\x1""#, None),
            (r#""\400""#, None),
            (r#""\é""#, None),
        ] {
            assert_eq!(unquoted(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn delimiters_round_trip() {
        for delimiter in (0..=0x7f).filter(|byte| !b"\"\r\n".contains(byte)) {
            let written = written_delimiter(delimiter);
            assert_eq!(unquoted(&written), Some(vec![delimiter]), "{written}");
            assert!(!written.contains(|character: char| character.is_control()), "{written}");
        }
    }
}
