//! Classification of statements by their text, for a server that executes none.

/// A kind of statement, by the answer that the server gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    /// Rows.
    Query,
    /// An empty result: a query about the server itself, which reports nothing.
    Settings,
    /// Changed rows. The content is PostgreSQL's command tag without the number of rows.
    Change(&'static str),
    /// The beginning of a transaction.
    Begin,
    /// The end of a transaction, with its command tag.
    End(&'static str),
    /// A statement without rows, with its command tag.
    Other(&'static str),
    /// No statement at all.
    Empty,
}

/// First words of statements that return rows.
const QUERIES: [&str; 9] =
    ["SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "FETCH", "CALL", "DESCRIBE", "DESC"];

/// Parts of texts that query the server itself.
const SERVER_NAMES: [&[u8]; 4] = [b"@@", b"pg_", b"information_schema", b"current_setting"];

impl StatementKind {
    /// Classifies a statement by its first word and by parts that query the server itself.
    pub(super) fn classify(text: &[u8]) -> StatementKind {
        let text = skip_comments(text);
        let end = text.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len());
        let word = String::from_utf8_lossy(&text[..end]).to_ascii_uppercase();
        match word.as_str() {
            "" if text.is_empty() => StatementKind::Empty,
            "SHOW" => StatementKind::Settings,
            word if QUERIES.contains(&word) || word.is_empty() => {
                let asks = |name: &&[u8]| text.windows(name.len()).any(|part| part == *name);
                let is_about_server = SERVER_NAMES.iter().any(asks);
                if is_about_server { StatementKind::Settings } else { StatementKind::Query }
            }
            "INSERT" | "REPLACE" => StatementKind::Change("INSERT 0 "),
            "UPDATE" => StatementKind::Change("UPDATE "),
            "DELETE" => StatementKind::Change("DELETE "),
            "BEGIN" | "START" => StatementKind::Begin,
            "COMMIT" | "END" => StatementKind::End("COMMIT"),
            "ROLLBACK" | "ABORT" => StatementKind::End("ROLLBACK"),
            "CREATE" => StatementKind::Other("CREATE TABLE"),
            "DROP" => StatementKind::Other("DROP TABLE"),
            "TRUNCATE" => StatementKind::Other("TRUNCATE TABLE"),
            _ => StatementKind::Other("SET"),
        }
    }

    /// Returns true if the answer has columns, even without rows.
    pub(super) fn has_rows(self) -> bool {
        matches!(self, StatementKind::Query | StatementKind::Settings)
    }
}

fn skip_comments(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii();
        let after = |mark: &[u8], from: usize| {
            text[from..].windows(mark.len()).position(|part| part == mark)
        };
        text = if text.starts_with(b"/*") {
            after(b"*/", 2).map_or(&[], |at| &text[at + 4..])
        } else if text.starts_with(b"--") {
            after(b"\n", 2).map_or(&[], |at| &text[at + 3..])
        } else {
            return text.trim_ascii_end().strip_suffix(b";").unwrap_or(text).trim_ascii();
        };
    }
}

/// Returns the bytes outside of quotes, with their positions.
fn outside_of_quotes(text: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let mut open = None;
    text.iter().copied().enumerate().filter(move |(_, byte)| match open {
        Some(quote) => {
            if *byte == quote {
                open = None;
            }
            false
        }
        None => {
            if b"'\"`".contains(byte) {
                open = Some(*byte);
            }
            open.is_none()
        }
    })
}

/// Splits a text into its statements, at each `;` outside of quotes.
pub(super) fn statements(text: &[u8]) -> Vec<&[u8]> {
    let ends = outside_of_quotes(text).filter(|(_, byte)| *byte == b';').map(|(at, _)| at);
    let mut from = 0;
    let mut found = Vec::new();
    for end in ends.chain([text.len()]) {
        found.push(&text[from..end]);
        from = end + 1;
    }
    found.retain(|statement| StatementKind::classify(statement) != StatementKind::Empty);
    found
}

/// Returns the number of placeholders in a statement in MySQL's notation, `?`.
pub(super) fn count_question_marks(text: &[u8]) -> u16 {
    let marks = outside_of_quotes(text).filter(|(_, byte)| *byte == b'?').count();
    u16::try_from(marks).unwrap_or(u16::MAX)
}

/// Returns the type to which each placeholder in PostgreSQL's notation, `$1`, is cast.
pub(super) fn parameter_casts(text: &[u8]) -> Vec<Cast> {
    let mut casts = Vec::new();
    for (at, _) in outside_of_quotes(text).filter(|(_, byte)| *byte == b'$') {
        let after = &text[at + 1..];
        let end = after.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(after.len());
        let number = str::from_utf8(&after[..end]).ok().and_then(|digits| digits.parse().ok());
        // The protocol allows at most 65,535 values.
        let Some(number @ 1..=65_535_usize) = number else { continue };
        if casts.len() < number {
            casts.resize(number, Cast::None);
        }
        let cast = Cast::of(&after[end..]);
        if cast != Cast::None {
            casts[number - 1] = cast;
        }
    }
    casts
}

/// The type to which `::` casts a value; `None` without a cast, or for any other type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cast {
    None,
    Int4,
    Int8,
    Float8,
}

impl Cast {
    fn of(after: &[u8]) -> Cast {
        let Some(name) = after.strip_prefix(b"::") else { return Cast::None };
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric();
        let end = name.iter().position(|byte| !is_part(byte)).unwrap_or(name.len());
        match name[..end].to_ascii_lowercase().as_slice() {
            b"int" | b"int4" | b"integer" => Cast::Int4,
            b"int8" | b"bigint" => Cast::Int8,
            b"float8" | b"double" => Cast::Float8,
            _ => Cast::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_classified_by_their_first_word() {
        for (text, kind) in [
            ("select 1", StatementKind::Query),
            (" /* a */ -- b\n(SELECT 1) ;", StatementKind::Query),
            ("select @@version", StatementKind::Settings),
            ("select name from pg_settings", StatementKind::Settings),
            ("SHOW all", StatementKind::Settings),
            ("insert into t values (1)", StatementKind::Change("INSERT 0 ")),
            ("Start transaction", StatementKind::Begin),
            ("COMMIT;", StatementKind::End("COMMIT")),
            ("set x = 1", StatementKind::Other("SET")),
            (" ; ", StatementKind::Empty),
            ("/* only", StatementKind::Empty),
            ("--", StatementKind::Empty),
        ] {
            assert_eq!(StatementKind::classify(text.as_bytes()), kind, "{text}");
        }
    }

    #[test]
    fn quoted_text_is_ignored() {
        let text = b"select '?;$3', ? ; select \"a?\", $2::int8, $1; ";
        assert_eq!(count_question_marks(text), 1);
        assert_eq!(parameter_casts(text), [Cast::None, Cast::Int8]);
        let parts = statements(text);
        assert_eq!(parts, [&text[..17], &text[18..44]]);
    }
}
