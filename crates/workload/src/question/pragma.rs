//! Pragmas of SQLite: settings of a connection, and settings that the database file keeps.

use super::sql::Token;

/// Pragmas that hold for one connection.
const OF_CONNECTION: [&str; 32] = [
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

/// Pragmas that a file keeps for later connections. Of `journal_mode` it keeps only whether there
/// is a write-ahead log.
const OF_FILE: [&str; 6] =
    ["application_id", "auto_vacuum", "encoding", "journal_mode", "page_size", "user_version"];

/// Returns true if a statement is a pragma that holds for its connection.
pub(super) fn is_of_connection(statement: &[Token<'_>]) -> bool {
    known(statement, &OF_CONNECTION).is_some()
}

/// Returns the name and the value of the setting that a pragma changes in the file; `None` for any
/// other statement.
pub(super) fn setting_of_file(statement: &[Token<'_>]) -> Option<(&'static str, String)> {
    let (name, value) = known(statement, &OF_FILE)?;
    let value = match value {
        [equals, value] if equals.is_symbol("=") => value,
        [open, value, close] if open.is_symbol("(") && close.is_symbol(")") => value,
        _ => return None,
    };
    Some((name, value.content()))
}

/// Returns the name of a pragma that is one of `names`, and the tokens after it.
fn known<'t, 's>(
    statement: &'t [Token<'s>],
    names: &[&'static str],
) -> Option<(&'static str, &'t [Token<'s>])> {
    let [pragma, name, value @ ..] = statement else { return None };
    let name = match name.text.split_once('.') {
        Some((schema, name)) if schema.eq_ignore_ascii_case("main") => name,
        _ => name.text,
    };
    let name = names.iter().copied().find(|known| name.eq_ignore_ascii_case(known))?;
    pragma.is_word("pragma").then_some((name, value))
}
