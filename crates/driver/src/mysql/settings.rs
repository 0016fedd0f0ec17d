//! Server settings that affect performance.

use record::environment::{SERVER, UNKNOWN};

use crate::server_facts::{ServerFacts, own_encryption, value, value_or, version};

/// Settings about durability, memory, background work, cache and language, in order of output. Not
/// every server has all of them.
const NAMES: [&str; 33] = [
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "innodb_doublewrite",
    "innodb_flush_method",
    "log_bin",
    "binlog_format",
    "innodb_buffer_pool_size",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "innodb_log_buffer_size",
    "innodb_page_size",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_read_io_threads",
    "innodb_write_io_threads",
    "innodb_autoinc_lock_mode",
    "innodb_lock_wait_timeout",
    "innodb_snapshot_isolation",
    "innodb_adaptive_hash_index",
    "max_connections",
    "thread_handling",
    "thread_cache_size",
    "table_open_cache",
    "max_allowed_packet",
    "query_cache_type",
    "query_cache_size",
    "performance_schema",
    "general_log",
    "slow_query_log",
    "sql_mode",
    "character_set_client",
    "collation_connection",
    "version_comment",
];

/// Names of the isolation level: in MySQL and newer MariaDB, and in older versions.
const ISOLATION: [&str; 2] = ["transaction_isolation", "tx_isolation"];

/// Settings that decide whether committed data survives a crash.
const DURABILITY: [&str; 5] = [
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "innodb_doublewrite",
    "innodb_flush_method",
    "log_bin",
];

/// Returns the query for the settings.
pub(super) fn query() -> String {
    let names = ISOLATION.iter().chain(&NAMES);
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    format!("show session variables where variable_name in ({})", names.join(", "))
}

/// Status variables that describe the encryption of the connection.
const TLS_STATUS: [&str; 2] = ["Ssl_version", "Ssl_cipher"];

/// Returns the query for [`TLS_STATUS`].
pub(super) fn tls_query() -> String {
    let names = TLS_STATUS.map(|name| format!("'{name}'")).join(", ");
    format!("show session status where variable_name in ({names})")
}

/// Returns the settings by name, with the server's version first.
pub(super) fn list(known: &ServerFacts<'_>) -> Vec<(String, String)> {
    let isolation = ISOLATION.into_iter().find_map(|name| value(known.settings, name, EMPTY));
    let setting = |name: &str| value_or(known.settings, name, EMPTY);
    let durability = DURABILITY.map(|name| format!("{name}={}", setting(name))).join(" ");
    let mut settings = vec![
        (SERVER.to_owned(), server(&version(known.version))),
        ("tls".to_owned(), known.tls.to_owned()),
        ("isolation".to_owned(), isolation.unwrap_or_else(|| UNKNOWN.to_owned())),
        ("durability".to_owned(), durability),
    ];
    settings.extend(NAMES.map(|name| (name.to_owned(), setting(name))));
    settings.extend(own_encryption(known.encryption.as_ref()));
    settings.extend(
        TLS_STATUS.map(|name| (name.to_ascii_lowercase(), value_or(known.tls_status, name, EMPTY))),
    );
    settings
}

/// Representation of an empty value.
const EMPTY: &str = "''";

/// Returns the server's product and version. MariaDB puts `5.5.5-` in front of its own version, for
/// clients that expect no higher number.
fn server(version: &str) -> String {
    let version = version.strip_prefix("5.5.5-").unwrap_or(version);
    match ["MariaDB", "TiDB"].into_iter().find(|name| version.contains(name)) {
        Some(product) => format!("{product} {}", version.replacen(&format!("-{product}"), "", 1)),
        None => format!("MySQL {version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_is_described_by_name_and_version() {
        for (version, expected) in [
            ("5.5.5-10.11.6-MariaDB-0+deb12u1", "MariaDB 10.11.6-0+deb12u1"),
            ("11.4.2-MariaDB", "MariaDB 11.4.2"),
            ("8.0.36", "MySQL 8.0.36"),
            ("8.0.11-TiDB-v7.5.0", "TiDB 8.0.11-v7.5.0"),
        ] {
            assert_eq!(server(version), expected);
        }
    }

    #[test]
    fn unreadable_settings_are_unknown() {
        let settings = list(&ServerFacts {
            version: "8.0.36",
            tls: "off",
            encryption: None,
            settings: None,
            tls_status: None,
        });
        assert_eq!(settings[2], ("isolation".to_owned(), "unknown".to_owned()));
        assert!(settings.contains(&("sql_mode".to_owned(), "unknown".to_owned())));
    }
}
