//! Short forms of statements, and access to the columns of answers by name.

use driver::Table;
use record::ComponentKind;

use crate::sample::Sample;

/// Maximum number of characters at the beginning of a statement that identify it.
const BEGINNING_LENGTH: usize = 60;

/// Meaning of double quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DoubleQuotes {
    /// They enclose a name, as in the SQL standard.
    Name,
    /// They enclose a string, which is the default of MySQL and MariaDB.
    Text,
}

/// Returns the beginning of a statement in one line, with `?` in place of each value. The result is
/// the same for all requests of one kind.
pub(super) fn statement_beginning(sql: &str, quotes: DoubleQuotes) -> String {
    let line = one_line(sql, quotes);
    match line.char_indices().nth(BEGINNING_LENGTH) {
        None => line,
        Some((end, _)) => line[..end].trim_end().to_owned(),
    }
}

/// Returns a statement in one line, without comments, and with `?` in place of each value.
fn one_line(sql: &str, quotes: DoubleQuotes) -> String {
    let mut line = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest, first, quotes, line.chars().next_back());
        let (token, after) = rest.split_at(length);
        match token_kind(token, first, quotes) {
            Token::Space if line.is_empty() || line.ends_with(' ') => {}
            Token::Space => line.push(' '),
            Token::Value => line.push('?'),
            Token::Word => line.push_str(token),
        }
        rest = after;
    }
    line.truncate(line.trim_end().len());
    line
}

/// Kind of a token in a statement.
enum Token {
    Space,
    Value,
    Word,
}

fn token_kind(token: &str, first: char, quotes: DoubleQuotes) -> Token {
    let is_value = match first {
        '\'' => true,
        '"' => quotes == DoubleQuotes::Text,
        '$' => token.len() > 1,
        _ => first.is_ascii_digit(),
    };
    let is_comment = ["/*", "--"].iter().any(|mark| token.starts_with(mark))
        || (first == '#' && quotes == DoubleQuotes::Text);
    match (first.is_whitespace() || is_comment, is_value) {
        (true, _) => Token::Space,
        (false, true) => Token::Value,
        (false, false) => Token::Word,
    }
}

/// Returns the length in bytes of the first token of `rest`; `before` is the character in front of
/// it.
fn token_length(rest: &str, first: char, quotes: DoubleQuotes, before: Option<char>) -> usize {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let through = |end: &str, from: usize| {
        rest.get(from..)
            .and_then(|text| text.find(end))
            .map_or(rest.len(), |at| from + at + end.len())
    };
    let while_true = |is_in: &dyn Fn(char) -> bool, from: usize| {
        rest[from..].find(|c| !is_in(c)).map_or(rest.len(), |at| from + at)
    };
    let is_text = quotes == DoubleQuotes::Text;
    match first {
        '\'' => quoted_length(rest, first),
        '"' if is_text => quoted_length(rest, first),
        '"' => through("\"", 1),
        '`' => through("`", 1),
        '/' if rest.starts_with("/*") && is_text => through("*/", 2),
        '/' if rest.starts_with("/*") => nested_comment_length(rest),
        '-' if rest.starts_with("--") => through("\n", 2),
        '#' if is_text => through("\n", 1),
        '$' if before.is_some_and(is_name) => 1,
        '$' => match dollar_quote(rest).filter(|_| !is_text) {
            Some(mark) => through(mark, mark.len()),
            None => while_true(&|c| c.is_ascii_digit(), 1),
        },
        _ if first.is_whitespace() => while_true(&char::is_whitespace, 0),
        _ if first.is_ascii_digit() && !before.is_some_and(is_name) => {
            while_true(&|c| is_name(c) || c == '.', 0)
        }
        _ if is_name(first) => while_true(&is_name, 0),
        _ => first.len_utf8(),
    }
}

/// Returns the opening delimiter of a PostgreSQL dollar-quoted string, `$$` or `$tag$`, if there is
/// one.
fn dollar_quote(rest: &str) -> Option<&str> {
    let end = 1 + rest.get(1..)?.find('$')?;
    let tag = &rest[1..end];
    let is_tag = tag.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !tag.starts_with(|c: char| c.is_ascii_digit());
    is_tag.then(|| &rest[..=end])
}

/// Returns the length in bytes of a comment that may be nested, as in PostgreSQL. A comment that is
/// cut off extends to the end.
fn nested_comment_length(rest: &str) -> usize {
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(found) = rest[at..].find(['/', '*']) {
        at += found;
        match rest.get(at..at + 2) {
            Some("/*") => depth += 1,
            Some("*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// Returns the length in bytes of a quoted string. A string that is cut off extends to the end of
/// the text. So does a string with a quote after a backslash: settings of the session
/// (`standard_conforming_strings`, `NO_BACKSLASH_ESCAPES`) decide whether that quote ends the
/// string, so the text after it may still be a value.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut characters = rest.char_indices().skip(1).peekable();
    let mut is_escape = false;
    while let Some((at, c)) = characters.next() {
        if c == quote {
            if is_escape {
                return rest.len();
            }
            if characters.next_if(|(_, next)| *next == quote).is_none() {
                return at + c.len_utf8();
            }
        }
        is_escape = c == '\\' && !is_escape;
    }
    rest.len()
}

/// Maintenance statements, by their first words, each with the name of the work.
const MAINTENANCE_STATEMENTS: [(&[&str], &str); 12] = [
    (&["vacuum"], "vacuum"),
    (&["analyze"], "analyze"),
    (&["analyse"], "analyze"),
    (&["reindex"], "reindex"),
    (&["cluster"], "cluster"),
    (&["refresh", "materialized", "view"], "refresh"),
    (&["create", "index"], "create index"),
    (&["create", "unique", "index"], "create index"),
    (&["alter", "table"], "alter table"),
    (&["optimize"], "optimize"),
    (&["repair"], "repair"),
    (&["check", "table"], "check"),
];

/// Words that may stand before the name of the table in a maintenance statement.
const FILLER_WORDS: [&str; 18] = [
    "full",
    "freeze",
    "verbose",
    "analyze",
    "analyse",
    "local",
    "no_write_to_binlog",
    "table",
    "concurrently",
    "if",
    "exists",
    "not",
    "only",
    "ignore",
    "index",
    "schema",
    "database",
    "online",
];

/// Returns the work of a maintenance statement, such as `vacuum: t`; `None` for other statements.
pub(super) fn maintenance_work(sql: &str) -> Option<String> {
    let line = without_options(&one_line(sql, DoubleQuotes::Name));
    let words: Vec<&str> = line.split([' ', ';', ',']).filter(|word| !word.is_empty()).collect();
    let is = |wanted: &[&str]| {
        words.len() >= wanted.len()
            && wanted.iter().zip(&words).all(|(wanted, word)| word.eq_ignore_ascii_case(wanted))
    };
    let (first, name) = MAINTENANCE_STATEMENTS.iter().find(|(first, _)| is(first))?;
    let mut rest = words[first.len()..].iter();
    if *name == "create index" {
        rest.find(|word| word.eq_ignore_ascii_case("on"));
    }
    let is_filler =
        |word: &str| FILLER_WORDS.iter().any(|filler| word.eq_ignore_ascii_case(filler));
    Some(match rest.find(|word| !is_filler(word)) {
        Some(table) => format!("{name}: {}", table_name(table)),
        None => (*name).to_owned(),
    })
}

/// Returns a statement without its options: the content of parentheses.
fn without_options(line: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                plain.push(' ');
            }
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

/// Returns the name of a table without quotes, and without PostgreSQL's default schema.
pub(super) fn table_name(name: &str) -> String {
    let plain = name.replace(['`', '"'], "");
    plain.strip_prefix("public.").unwrap_or(&plain).to_owned()
}

/// Returns the positions of columns in an answer; `None` if one of the columns is missing.
pub(super) fn column_positions<const N: usize>(
    table: &Table,
    names: [&str; N],
) -> Option<[usize; N]> {
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        *place = table.columns.iter().position(|column| column.eq_ignore_ascii_case(name))?;
    }
    Some(places)
}

/// Returns a value of a row; empty if it is null or missing.
pub(super) fn text(row: &[Option<String>], place: usize) -> &str {
    row.get(place).and_then(Option::as_deref).unwrap_or_default()
}

/// Returns a number from a row; 0 if the row does not hold one.
pub(super) fn number(row: &[Option<String>], place: usize) -> u64 {
    text(row, place).parse().unwrap_or_default()
}

/// Returns a count from a row; 0 if the row does not hold one. Counts are limited to a value far
/// above any real one, so the sum over many rows cannot overflow, whatever a server reports.
pub(super) fn count(row: &[Option<String>], place: usize) -> u64 {
    number(row, place).min(1 << 40)
}

/// Reads every number of the first row as a counter, whose name consists of the view and the
/// column.
pub(super) fn read_columns(view: &str, table: &Table, sample: &mut Sample) {
    let row = table.rows.first().map(Vec::as_slice).unwrap_or_default();
    for (name, value) in table.columns.iter().zip(row) {
        let value = value.as_deref().and_then(|value| value.parse::<f64>().ok());
        if let Some(value) = value.filter(|value| value.is_finite()) {
            sample.read_named(&ComponentKind::Statistics, &format!("{view}.{name}"), "", value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_normalised() {
        use DoubleQuotes::{Name, Text};
        for (sql, quotes, expected) in [
            ("update  hot\n set n = 17 where id = -3", Name, "update hot set n = ? where id = -?"),
            ("select 'it''s', t1.a2 from t1", Name, "select ?, t1.a2 from t1"),
            ("select 'its', \"x\" from t", Text, "select ?, ? from t"),
            ("select 'it\\'s', secret from t", Text, "select ?"),
            ("select 'a\\\\', x from t", Text, "select ?, x from t"),
            ("select \"A b\" from t where x = $12", Name, "select \"A b\" from t where x = ?"),
            ("/* a */ select -- b\n 1.5e7", Name, "select ?"),
            ("select `a 1` from t where b = 'cut of", Text, "select `a 1` from t where b = ?"),
            ("select é, '日本' from t", Name, "select é, ? from t"),
            ("", Name, ""),
            ("$", Name, "$"),
            ("'", Name, "?"),
            ("\\", Text, "\\"),
            ("/*", Text, ""),
            ("select $$it's secret$$, 1", Name, "select ?, ?"),
            ("select $a$ $$ secret $b$ $a$ from t", Name, "select ? from t"),
            ("select $a$ cut of", Name, "select ?"),
            ("select a$b$c, $1$ from t", Name, "select a$b$c, ?$ from t"),
            ("select E'it\\'s secret', 2", Name, "select E?"),
            ("select 'a\\', 'secret'", Name, "select ?"),
            ("select 1 # the secret\n, 2 # more", Text, "select ? , ?"),
            ("select \"a\\\", 'secret'", Name, "select \"a\\\", ?"),
            ("select 1 # 2", Name, "select ? # ?"),
            ("select 1 /* a /* b */ secret */, 2", Name, "select ? , ?"),
            ("select /* a /* b */ c", Text, "select c"),
            ("select /* a /* secret */ and", Name, "select"),
        ] {
            assert_eq!(statement_beginning(sql, quotes), expected, "{sql}");
        }
        let long = statement_beginning(&"é".repeat(200), Name);
        assert_eq!(long.chars().count(), BEGINNING_LENGTH);
    }

    #[test]
    fn maintenance_is_recognised_by_its_first_words() {
        for (sql, expected) in [
            ("VACUUM", Some("vacuum")),
            ("vacuum (verbose, parallel 2) public.orders;", Some("vacuum: orders")),
            ("vacuum full analyze \"Orders\"", Some("vacuum: Orders")),
            (
                "create unique index concurrently if not exists i on only t (a)",
                Some("create index: t"),
            ),
            ("create index on t(a)", Some("create index: t")),
            ("OPTIMIZE LOCAL TABLE `shop`.`t`", Some("optimize: shop.t")),
            ("alter table t add column b int", Some("alter table: t")),
            ("refresh materialized view concurrently v", Some("refresh: v")),
            ("reindex index concurrently i", Some("reindex: i")),
            ("create table t (a int)", None),
            ("select 'vacuum'", None),
            ("check", None),
            ("", None),
        ] {
            assert_eq!(maintenance_work(sql).as_deref(), expected, "{sql}");
        }
    }

    #[test]
    fn answer_is_read_by_column_names() {
        let table = Table {
            is_cut: false,
            columns: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            rows: vec![vec![
                Some("1.5".into()),
                None,
                Some("2026-01-01".into()),
                Some("NaN".into()),
            ]],
        };
        let mut sample = Sample::default();
        read_columns("view", &table, &mut sample);
        let names: Vec<&str> = sample.readings.iter().map(|r| r.series.metric.as_str()).collect();
        assert_eq!(names, ["view.a"]);
        assert_eq!(column_positions(&table, ["C", "a"]), Some([2, 0]));
        assert_eq!(column_positions(&table, ["e"]), None);
        assert_eq!((text(&table.rows[0], 9), number(&table.rows[0], 2)), ("", 0));
    }
}
