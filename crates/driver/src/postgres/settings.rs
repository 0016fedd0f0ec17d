//! Server settings that affect performance.

use record::environment::SERVER;

use crate::server_facts::{self, ServerFacts, own_encryption, value_or};

/// Settings about isolation, durability, memory and background work, in order of output.
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

/// Returns the query for the settings.
pub(super) fn query() -> String {
    let names = NAMES.map(|name| format!("'{name}'")).join(", ");
    format!("select name, current_setting(name) from pg_settings where name in ({names})")
}

/// Names of the facts about the encryption of the connection.
const TLS_STATUS: [&str; 2] = ["ssl_version", "ssl_cipher"];

/// Returns the query for [`TLS_STATUS`].
pub(super) fn tls_query() -> &'static str {
    "select status.* from pg_stat_ssl, lateral (values \
     ('ssl_version', coalesce(version, '')), ('ssl_cipher', coalesce(cipher, ''))) status \
     where pid = pg_backend_pid()"
}

/// Returns the settings by name, with the server's version first.
pub(super) fn list(known: &ServerFacts<'_>) -> Vec<(String, String)> {
    let ServerFacts { version, tls, encryption, settings, tls_status } = known;
    let value = |name: &str| value_or(*settings, name, EMPTY);
    let durability = ["fsync", "synchronous_commit", "full_page_writes"]
        .map(|name| format!("{name}={}", value(name)))
        .join(" ");
    let mut settings = vec![
        (SERVER.to_owned(), format!("PostgreSQL {}", server_facts::version(version))),
        ("tls".to_owned(), (*tls).to_owned()),
        ("isolation".to_owned(), value(NAMES[0])),
        ("durability".to_owned(), durability),
    ];
    settings.extend(NAMES.map(|name| (name.to_owned(), value(name))));
    settings.extend(own_encryption(encryption.as_ref()));
    settings.extend(TLS_STATUS.map(|name| (name.to_owned(), value_or(*tls_status, name, EMPTY))));
    settings
}

/// Representation of an empty value.
const EMPTY: &str = "empty";
