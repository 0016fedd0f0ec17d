//! Pragmas of SQLite: settings of a connection, and settings that the database file keeps.

use super::sql::Token;

/// Pragmas that hold for one connection.
const CONNECTION_PRAGMAS: [&str; 32] = [
    "analysis_limit",
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "cache_spill",
    "case_sensitive_like",
    "cell_size_check",
    "checkpoint_fullfsync",
    "count_changes",
    "defer_foreign_keys",
    "empty_result_callbacks",
    "foreign_keys",
    "full_column_names",
    "fullfsync",
    "ignore_check_constraints",
    "journal_size_limit",
    "legacy_alter_table",
    "locking_mode",
    "max_page_count",
    "mmap_size",
    "query_only",
    "read_uncommitted",
    "recursive_triggers",
    "reverse_unordered_selects",
    "secure_delete",
    "short_column_names",
    "synchronous",
    "temp_store",
    "threads",
    "trusted_schema",
    "wal_autocheckpoint",
    "writable_schema",
];

/// Pragmas whose values a database file keeps for later connections. Of the values of
/// `journal_mode`, the file keeps only `wal`.
const FILE_PRAGMAS: [&str; 7] = [
    "application_id",
    "auto_vacuum",
    "default_cache_size",
    "encoding",
    "journal_mode",
    "page_size",
    "user_version",
];

/// A pragma, with the tokens after its name.
struct Pragma<'t, 's> {
    /// Name of the database, as in `main.user_version`; `None` without one.
    schema: Option<String>,
    name: String,
    argument: &'t [Token<'s>],
}

/// Returns true if a statement is a pragma that holds for its connection, in any schema.
pub(super) fn is_of_connection(statement: &[Token<'_>]) -> bool {
    Pragma::of(statement).is_some_and(|pragma| pragma.known(&CONNECTION_PRAGMAS).is_some())
}

/// Returns the name and the value of the setting that a pragma changes in the file; `None` for any
/// other statement, for a pragma that sets no value, and for another schema than `main`.
pub(super) fn setting_of_file(statement: &[Token<'_>]) -> Option<(&'static str, String)> {
    let pragma = Pragma::of(statement)?;
    let is_main = pragma.schema.as_ref().is_none_or(|it| it.eq_ignore_ascii_case("main"));
    Some((pragma.known(&FILE_PRAGMAS).filter(|_| is_main)?, pragma.value()?))
}

impl Pragma<'_, '_> {
    /// Splits a statement; `None` if it is not a pragma.
    fn of<'t, 's>(statement: &'t [Token<'s>]) -> Option<Pragma<'t, 's>> {
        let (_, rest) = statement.split_first().filter(|(first, _)| first.is_word("pragma"))?;
        let is_end = |token: &Token<'_>| token.is_symbol("=") || token.is_symbol("(");
        let (name, argument) = rest.split_at(rest.iter().position(is_end).unwrap_or(rest.len()));
        // There may be spaces around the dot, or quotes.
        let name: String = name.iter().map(Token::content).collect();
        let (schema, name) = match name.split_once('.') {
            Some((schema, name)) => (Some(schema.to_owned()), name.to_owned()),
            None => (None, name),
        };
        Some(Pragma { schema, name, argument })
    }

    /// Returns the name if it is one of `names`.
    fn known(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|known| self.name.eq_ignore_ascii_case(known))
    }

    /// Returns the value that the pragma sets, with its sign; `None` if it sets none.
    fn value(&self) -> Option<String> {
        let value = match self.argument {
            [equals, value @ ..] if equals.is_symbol("=") => value,
            [open, value @ .., close] if open.is_symbol("(") && close.is_symbol(")") => value,
            _ => return None,
        };
        match value {
            [value] => Some(value.content()),
            [sign, number] if sign.is_symbol("-") || sign.is_symbol("+") => {
                Some(format!("{}{}", sign.text, number.content()))
            }
            _ => None,
        }
    }
}
