//! The settings that decide what numbers mean.

use crate::net::{Known, told};

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

/// The settings by name, with the server's version first.
pub(super) fn list(known: &Known<'_>) -> Vec<(String, String)> {
    let Known { version, tls, settings, tls_status } = known;
    let value = |name: &str| told(*settings, name, EMPTY);
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
    settings.extend(TLS_STATUS.map(|name| (name.to_owned(), told(*tls_status, name, EMPTY))));
    settings
}

/// How an empty value shows.
const EMPTY: &str = "empty";
