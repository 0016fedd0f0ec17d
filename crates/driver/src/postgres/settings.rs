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

/// How the connection is encrypted, as the server sees it.
const TLS_STATUS: [&str; 2] = ["ssl_version", "ssl_cipher"];

/// The text that asks for that.
pub(super) fn tls_query() -> &'static str {
    "select status.* from pg_stat_ssl, lateral (values \
     ('ssl_version', coalesce(version, '')), ('ssl_cipher', coalesce(cipher, ''))) status \
     where pid = pg_backend_pid()"
}

/// What is known about a server.
pub(super) struct Known<'a> {
    /// Its version.
    pub(super) version: &'a str,
    /// The word for the kind of encryption.
    pub(super) tls: &'a str,
    /// What the server returned, if it has returned something.
    pub(super) settings: Option<&'a Table>,
    /// The same of [`tls_query`].
    pub(super) tls_status: Option<&'a Table>,
}

/// The settings by name, with the server's version first.
pub(super) fn list(known: &Known<'_>) -> Vec<(String, String)> {
    let Known { version, tls, settings, tls_status } = known;
    let value = |name: &str| value(*settings, name);
    let durability = ["fsync", "synchronous_commit", "full_page_writes"]
        .map(|name| format!("{name}={}", value(name)))
        .join(" ");
    let mut settings = vec![
        ("server".to_owned(), format!("PostgreSQL {version}")),
        ("tls".to_owned(), (*tls).to_owned()),
        ("isolation".to_owned(), value(NAMES[0])),
        ("durability".to_owned(), durability),
    ];
    settings.extend(NAMES.map(|name| (name.to_owned(), value(name))));
    settings.extend(TLS_STATUS.map(|name| (name.to_owned(), self::value(*tls_status, name))));
    settings
}

/// The value of a setting.
fn value(found: Option<&Table>, wanted: &str) -> String {
    let rows = found.into_iter().flat_map(|table| &table.rows);
    let value = rows.into_iter().find_map(|row| match row.as_slice() {
        [Some(name), Some(value)] if name == wanted => Some(match value.as_str() {
            "" => "empty".to_owned(),
            value => value.to_owned(),
        }),
        _ => None,
    });
    value.unwrap_or_else(|| "unknown".to_owned())
}
