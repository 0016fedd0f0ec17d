//! Effects of the statements before the runs of an arm: on the jobs of these runs, and on the runs
//! of other arms. They are judged by the words of a statement, also those in literals.

use crate::plan::FixedStatement;
use crate::wording;

/// Words of a `set` that changes more than the variables of its session.
const SHARED: [&str; 5] = ["global", "persist", "persist_only", "password", "default"];

/// Pragmas that hold for one connection.
const PRAGMAS: [&str; 6] =
    ["busy_timeout", "cache_size", "foreign_keys", "mmap_size", "synchronous", "temp_store"];

/// First words of statements whose effect lasts after their session.
const LASTING: [&str; 12] = [
    "alter", "create", "delete", "drop", "grant", "insert", "merge", "rename", "replace", "revoke",
    "truncate", "update",
];

/// Returns true if statements change variables of their own session only. The jobs of a run have
/// other sessions, and see nothing of it.
pub(super) fn are_of_session(statements: &[FixedStatement]) -> bool {
    !statements.is_empty() && statements.iter().all(|one| is_of_session(&words(&one.text)))
}

/// Returns true if a statement changes tables, settings or users for the sessions after it.
pub(super) fn have_lasting_effect(statements: &[FixedStatement]) -> bool {
    statements.iter().any(|one| {
        let words = words(&one.text);
        match words.first().map(String::as_str) {
            Some("set") => !is_of_session(&words),
            Some(word) => LASTING.contains(&word),
            None => false,
        }
    })
}

fn is_of_session(words: &[String]) -> bool {
    let has = |known: &[&str]| words.iter().skip(1).any(|word| known.contains(&word.as_str()));
    match words.first().map(String::as_str) {
        Some("set") => !has(&SHARED),
        Some("pragma") => has(&PRAGMAS),
        _ => false,
    }
}

fn words(text: &str) -> Vec<String> {
    wording::words(text).filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;

    #[test]
    fn variables_of_a_session_are_distinguished_from_settings_of_the_server() {
        let of_session = |texts: &[&str]| {
            let statement = |text: &&str| FixedStatement {
                text: (*text).to_owned(),
                span: Span::default(),
                script: None,
            };
            are_of_session(&texts.iter().map(statement).collect::<Vec<_>>())
        };
        for text in [
            "SET work_mem = '64MB'",
            "set session characteristics as transaction read only",
            "set @@sort_buffer_size=1",
            "pragma cache_size = -2000",
            "PRAGMA main.synchronous=off",
        ] {
            assert!(of_session(&[text]), "{text}");
        }
        for text in [
            "set global sync_binlog = 0",
            "SET @@GLOBAL.sync_binlog=0",
            "set persist max_connections = 9",
            "set password for 'a' = 'b'",
            "alter system set work_mem = '64MB'",
            "pragma journal_mode = wal",
            "select set_config('work_mem', '64MB', false)",
        ] {
            assert!(!of_session(&[text]), "{text}");
        }
        assert!(!of_session(&["set lock_timeout = '5s'", "create index i on t (a)"]));
        assert!(!of_session(&[]));
    }
}
