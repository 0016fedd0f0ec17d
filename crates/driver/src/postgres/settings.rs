//! The settings that decide what numbers mean.

use crate::Table;

/// Isolation, durability, memory, background work, in the order in which they are told.
const NAMES: [&str; 24] = [
    "default_transaction_isolation",
    "fsync",
    "synchronous_commit",
    "synchronous_standby_names",
    "full_page_writes",
    "wal_level",
    "wal_sync_method",
    "wal_buffers",
    "wal_compression",
    "commit_delay",
    "data_checksums",
    "shared_buffers",
    "effective_cache_size",
    "work_mem",
    "huge_pages",
    "max_connections",
    "max_wal_size",
    "checkpoint_timeout",
    "checkpoint_completion_target",
    "autovacuum",
    "bgwriter_delay",
    "jit",
    "default_toast_compression",
    "track_io_timing",
];

/// The text that asks for them.
pub(super) fn query() -> String {
    let names = NAMES.map(|name| format!("'{name}'")).join(", ");
    format!("select name, current_setting(name) from pg_settings where name in ({names})")
}

/// The settings by name, with the server's version first; `found` is what the server returned.
pub(super) fn list(version: &str, tls: &str, found: Option<&Table>) -> Vec<(String, String)> {
    let value = |wanted: &str| {
        let rows = found.into_iter().flat_map(|table| &table.rows);
        let value = rows.into_iter().find_map(|row| match row.as_slice() {
            [Some(name), Some(value)] if name == wanted => Some(match value.as_str() {
                "" => "empty".to_owned(),
                value => value.to_owned(),
            }),
            _ => None,
        });
        value.unwrap_or_else(|| "unknown".to_owned())
    };
    let durability = ["fsync", "synchronous_commit", "full_page_writes"]
        .map(|name| format!("{name}={}", value(name)))
        .join(" ");
    let mut settings = vec![
        ("server".to_owned(), format!("PostgreSQL {version}")),
        ("tls".to_owned(), tls.to_owned()),
        ("isolation".to_owned(), value(NAMES[0])),
        ("durability".to_owned(), durability),
    ];
    settings.extend(NAMES.map(|name| (name.to_owned(), value(name))));
    settings
}
