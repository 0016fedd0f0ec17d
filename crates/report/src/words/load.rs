//! Sentences about the loads of tables.

/// Returns the sentence that a table was filled by inserts although the server has a faster method.
pub(crate) fn filled_by_inserts(table: &str) -> String {
    format!("{table} was filled by inserts, which is the slower method")
}
