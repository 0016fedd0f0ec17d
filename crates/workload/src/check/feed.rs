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

/// Returns the bytes of a quoted text, with escapes replaced; `None` if it has no quotes.
fn unquoted(text: &str) -> Option<Vec<u8>> {
    let quote = text.chars().next().filter(|quote| "\"'`".contains(*quote))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let bytes: Vec<u8> = match inner {
        r"\t" if quote != '`' => b"\t".to_vec(),
        r"\\" if quote != '`' => b"\\".to_vec(),
        r"\'" if quote == '\'' => b"'".to_vec(),
        r"\x1f" | r"\037" | r"\u001f" if quote != '`' => b"\x1f".to_vec(),
        r"\x01" | r"\001" | r"\u0001" if quote != '`' => b"\x01".to_vec(),
        r"\x00" | r"\000" | r"\u0000" if quote != '`' => b"\0".to_vec(),
        _ => inner.bytes().collect(),
    };
    Some(bytes)
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
            (";", None),
            ("\"ab", None),
        ] {
            assert_eq!(unquoted(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn delimiters_round_trip() {
        for delimiter in [b'\t', b'\\', b';', b'|', 0x1f, 1, 0, b' ', b'\''] {
            assert_eq!(unquoted(&written_delimiter(delimiter)), Some(vec![delimiter]));
        }
    }
}
