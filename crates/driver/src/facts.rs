//! Facts about a server, as written to a record, with secrets and locations filtered out.
//!
//! A value is one line of at most [`LONGEST`] characters; a longer one is cut, and its length and a
//! hash are appended. A value that cannot be read is `unknown`. A setting that may hold a secret is
//! recorded as [`HIDDEN_SETTING`], which shows only that it is set. A setting that locates or
//! identifies a server without changing how it works is left out, because it differs between two
//! identically configured servers.

use base::{printable, text_hash};
use record::environment::{
    HIDDEN_SETTING, UNKNOWN, database, database_default, database_setting, database_table,
};

use crate::Table;

/// Maximum length of a name or value, in characters, not counting the length and the hash that are
/// appended if it is cut.
const LONGEST: usize = 200;

/// Maximum numbers of settings and of tables recorded. A server has a few hundred settings.
pub(crate) const MOST_SETTINGS: usize = 500;
pub(crate) const MOST_TABLES: usize = 20;

/// Substrings of the names of settings whose values are always hidden, because they may be
/// passwords, connection strings, or commands and statements that contain them.
const SECRETS: [&str; 15] = [
    "pass",
    "secret",
    "conninfo",
    "command",
    "auth",
    "token",
    "credential",
    "cred",
    "init_",
    "private",
    "filekey",
    "cluster_address",
    "provider_options",
    "jwt",
    "salt",
];

/// Substrings of the names of settings whose values may be secret unless they are numbers or
/// switches.
const MAYBE_SECRET: [&str; 3] = ["key", "user", "ldap"];

/// Substrings of the names of settings that locate or identify a server.
const LOCATORS: [&str; 25] = [
    "address",
    "_seeds",
    "networks",
    "port",
    "socket",
    "listen_addresses",
    "bind_address",
    "directory",
    "_dir",
    "datadir",
    "basedir",
    "tmpdir",
    "_file",
    "hostname",
    "report_host",
    "server_id",
    "server_uuid",
    "cluster_name",
    "gtid_",
    "pid",
    "application_name",
    "client_encoding",
    "timestamp",
    "directories",
    "log_error",
];

/// Substrings of the names of settings whose numbers locate or identify a server.
const NUMERIC_LOCATORS: [&str; 5] = ["port", "server_id", "gtid_", "pid", "timestamp"];

/// Names, or parts of names, of settings that match [`LOCATORS`] by chance.
const NOT_LOCATORS: [&str; 10] = [
    "gtid_mode",
    "track_commit_timestamp",
    "innodb_file_per_table",
    "innodb_log_file_size",
    "temp_file_limit",
    "log_file_mode",
    "innodb_log_files_in_group",
    "support",
    "import",
    "rapid",
];

/// A server setting that somebody has set.
pub(crate) struct Setting<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

impl Setting<'_> {
    /// Returns the value to record, or `None` to leave the setting out.
    pub(crate) fn recorded_value(&self) -> Option<String> {
        let name = self.name.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if has(&SECRETS) || self.looks_secret() {
            return Some(HIDDEN_SETTING.to_owned());
        }
        let is_locator = has(&LOCATORS) && !has(&NOT_LOCATORS);
        // A plain value does not locate anything, except in settings such as `port`.
        if is_locator && (has(&NUMERIC_LOCATORS) || !self.is_plain()) {
            return None;
        }
        // Extensions may give any name to a secret.
        let is_foreign = name.contains('.');
        if (is_foreign || has(&MAYBE_SECRET)) && !self.is_plain() {
            return Some(HIDDEN_SETTING.to_owned());
        }
        Some(recorded_text(Some(self.value)))
    }

    /// Returns true if the value is empty, a number, a size, a time, a switch, or one of the words
    /// `none`, `default` and `auto`.
    fn is_plain(&self) -> bool {
        let units = ["", "B", "kB", "MB", "GB", "TB", "us", "ms", "s", "min", "h", "d"];
        let is_number = |text: &str| {
            let number = text.trim_start_matches('-');
            let end = number.find(|c: char| !c.is_ascii_digit() && c != '.');
            let (number, unit) = number.split_at(end.unwrap_or(number.len()));
            // An IPv4 address has more than one point.
            let is_decimal = !number.is_empty() && number.matches('.').count() <= 1;
            is_decimal && units.contains(&unit)
        };
        let switches = ["on", "off", "yes", "no", "true", "false", "none", "default", "auto", ""];
        is_number(self.value) || switches.contains(&self.value.to_ascii_lowercase().as_str())
    }

    /// Returns true if the value may contain a secret: it is a URL with a login, or contains a word
    /// such as `password`.
    fn looks_secret(&self) -> bool {
        let value = self.value.to_ascii_lowercase();
        let has_login = value.split("://").nth(1).is_some_and(|rest| rest.contains('@'));
        has_login || ["passw", "secret", "token"].iter().any(|word| value.contains(word))
    }
}

/// Returns a value as recorded: one line of at most [`LONGEST`] characters, without terminal
/// control characters; `''` for an empty value, and `unknown` for `None`.
pub(crate) fn recorded_text(value: Option<&str>) -> String {
    let Some(value) = value else { return UNKNOWN.to_owned() };
    let line = shortened(&printable(value.trim()), LONGEST);
    if line.is_empty() { "''".to_owned() } else { line }
}

/// Returns a text of a server. If it has more than `most` characters, the rest is replaced with the
/// length and a hash of the whole: the server must not decide how large a record is, and two texts
/// that differ in the rest must not compare as equal.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let (begin, hash) = (&text[..end], text_hash(text));
    // Eight digits are enough here. The hash is folded to 32 bits as its authors recommend.
    let hash = (hash >> 32) as u32 ^ hash as u32;
    format!("{begin}… ({} characters, {hash:08x})", text.chars().count())
}

/// Returns the facts from a table of settings: one fact per setting, the number of these facts, and
/// the defaults. The table's columns are name, value and, if the server reports it, default.
pub(crate) fn settings(table: Option<&Table>) -> Vec<(String, String)> {
    let count = |count: String| (database::SETTINGS.to_owned(), count);
    let Some(table) = table else { return vec![count(UNKNOWN.to_owned())] };
    let (mut facts, mut defaults) = (Vec::new(), Vec::new());
    for row in table.rows.iter().take(MOST_SETTINGS) {
        let [Some(name), value, default @ ..] = row.as_slice() else { continue };
        let setting = Setting { name, value: value.as_deref().unwrap_or_default() };
        let Some(value) = setting.recorded_value() else { continue };
        let name = shortened(&name.to_ascii_lowercase(), LONGEST);
        if let [Some(default)] = default
            && value != HIDDEN_SETTING
        {
            let default = recorded_text(Some(default));
            defaults.push((database_default(&name), default));
        }
        facts.push((database_setting(&name), value));
    }
    facts.push(count(facts.len().to_string()));
    facts.extend(defaults);
    facts
}

/// Returns one fact per name: the values of the first row, in the order of the columns. A fact is
/// `unknown` if there is no row.
pub(crate) fn columns(names: &[&str], table: Option<&Table>) -> Vec<(String, String)> {
    let row = table.and_then(|table| table.rows.first());
    let value = |place: usize| row.and_then(|row| row.get(place)?.as_deref());
    let fact = |(place, name): (usize, &&str)| ((*name).to_owned(), recorded_text(value(place)));
    names.iter().enumerate().map(fact).collect()
}

/// Returns the number of tables whose sizes are reported, then the sizes of each table and of its
/// indexes, from rows of name, bytes and index bytes.
pub(crate) fn tables(table: Option<&Table>) -> Vec<(String, String)> {
    let Some(table) = table else {
        return vec![(database::TABLES.to_owned(), UNKNOWN.to_owned())];
    };
    let mut facts = vec![(database::TABLES.to_owned(), table.rows.len().to_string())];
    for row in table.rows.iter().take(MOST_TABLES) {
        let [Some(name), bytes, indexes] = row.as_slice() else { continue };
        let values = [bytes, indexes].map(|size| recorded_text(size.as_deref()));
        facts.extend(database_table(&recorded_text(Some(name))).into_iter().zip(values));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, expected: Option<&str>) {
        assert_eq!(
            Setting { name, value }.recorded_value().as_deref(),
            expected,
            "{name} = {value}"
        );
    }

    #[test]
    fn secrets_are_not_recorded() {
        for (name, value) in [
            ("primary_conninfo", "host=a user=r password=geheim"),
            ("archive_command", "curl -u me:geheim %p"),
            ("restore_command", "geheim"),
            ("archive_cleanup_command", "geheim"),
            ("recovery_end_command", "geheim"),
            ("ssl_passphrase_command", "echo geheim"),
            ("wsrep_sst_auth", "root:geheim"),
            ("WSREP_CLUSTER_ADDRESS", "gcomm://geheim"),
            ("wsrep_provider_options", "socket.password=geheim"),
            ("report_password", "geheim"),
            ("init_connect", "set @p = 'geheim'"),
            ("init_slave", "geheim"),
            ("file_key_management_filekey", "geheim"),
            ("ssl_key", "geheim"),
            ("app.settings.jwt", "geheim"),
            ("my.favourite", "geheim"),
            ("pgaudit.role", "geheim"),
            ("search_path", "postgres://u:geheim@h/d"),
            ("anything", "dbname=x password=geheim"),
            ("authentication_ldap_simple_bind_root_pwd", "geheim"),
        ] {
            check(name, value, Some(HIDDEN_SETTING));
        }
    }

    #[test]
    fn performance_settings_are_recorded() {
        for (name, value) in [
            ("work_mem", "64MB"),
            ("pg_stat_statements.max", "5000"),
            ("auto_explain.log_min_duration", "-1"),
            ("auto_explain.log_analyze", "off"),
            ("shared_preload_libraries", "pg_stat_statements"),
            ("KEY_BUFFER_SIZE", "134217728"),
            ("INNODB_LOG_FILE_SIZE", "4194304"),
            ("innodb_file_per_table", "ON"),
            ("synchronous_standby_names", "a, b"),
            ("random_page_cost", "1.1"),
            ("innodb_max_dirty_pages_pct", "5.000000"),
            ("max_files_per_process", "1000"),
            ("gtid_mode", "ON"),
            ("track_commit_timestamp", "on"),
        ] {
            check(name, value, Some(value));
        }
        check("log_statement_prefix", "", Some("''"));
        check("work_mem", "a\nb\u{1b}[2J", Some("a b\u{fffd}[2J"));
    }

    #[test]
    fn server_locations_are_not_recorded() {
        for name in [
            "port",
            "unix_socket_directories",
            "DATADIR",
            "pid_file",
            "bind_address",
            "admin_address",
            "group_replication_group_seeds",
        ] {
            check(name, "x", None);
        }
        check("port", "5432", None);
        for name in ["bind_address", "listen_addresses", "report_host", "wsrep_node_address"] {
            check(name, "10.0.0.5", None);
        }
        check("my.favourite", "10.0.0.5", Some(HIDDEN_SETTING));
    }

    #[test]
    fn settings_have_their_defaults_where_the_server_reports_them() {
        let row = |cells: &[Option<&str>]| cells.iter().map(|it| it.map(str::to_owned)).collect();
        let rows = vec![
            row(&[Some("Work_Mem"), Some("64MB"), Some("4MB")]),
            row(&[Some("archive_command"), Some("curl"), Some("geheim")]),
            row(&[Some("port"), Some("5433"), Some("5432")]),
            row(&[Some("fsync"), Some("off"), None]),
            row(&[Some("jit"), Some("off")]),
        ];
        let facts = settings(Some(&Table { columns: Vec::new(), rows, is_cut: false }));
        let facts: Vec<(&str, &str)> = facts.iter().map(|(a, b)| (&a[9..], b.as_str())).collect();
        let expected = [
            ("setting.work_mem", "64MB"),
            ("setting.archive_command", HIDDEN_SETTING),
            ("setting.fsync", "off"),
            ("setting.jit", "off"),
            ("settings", "4"),
            ("default.work_mem", "4MB"),
        ];
        assert_eq!(facts, expected);
    }

    #[test]
    fn long_names_and_values_are_truncated_and_marked() {
        let text = "é".repeat(1 << 20);
        let cut = format!("{}… (1048576 characters, 51190c01)", "é".repeat(LONGEST));
        let row = vec![Some(text.clone()), Some(text.clone()), Some(text)];
        let table = Table { columns: Vec::new(), rows: vec![row], is_cut: false };
        let facts = settings(Some(&table));
        assert_eq!(facts[0], (format!("database.setting.{cut}"), cut.clone()));
        assert_eq!(facts[2], (format!("database.default.{cut}"), cut.clone()));
        let whole = "é".repeat(LONGEST);
        assert_eq!(recorded_text(Some(&whole)), whole);
    }

    #[test]
    fn texts_that_differ_after_the_cut_stay_different() {
        let cut = |end: &str| shortened(&format!("{}{end}", "x".repeat(LONGEST)), LONGEST);
        let [one, other] = ["one", "two"].map(cut);
        assert_eq!(one.chars().count(), other.chars().count());
        assert_ne!(one, other);
        assert_eq!(one, cut("one"));
    }

    #[test]
    fn unreadable_fact_is_recorded_as_unknown() {
        let unknown = |name: &str| (format!("database.{name}"), UNKNOWN.to_owned());
        assert_eq!(settings(None), [unknown("settings")]);
        assert_eq!(tables(None), [unknown("tables")]);
        assert_eq!(columns(&["database.a", "database.b"], None), [unknown("a"), unknown("b")]);
    }
}
