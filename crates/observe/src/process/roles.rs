//! Background work of the database's processes, recognised by their titles in `/proc/PID/cmdline`.
//! PostgreSQL writes the titles (`update_process_title`; PostgreSQL documentation, chapter 27.1,
//! Standard Unix Tools).

use record::component_name::{AUTOVACUUM_WORKER, BACKGROUND_WRITER, CHECKPOINTER, WALSENDER};

use super::files::Files;

/// Complete titles, with the role of each.
const EXACT_TITLES: [(&str, &str); 8] = [
    ("checkpointer", CHECKPOINTER),
    ("background writer", BACKGROUND_WRITER),
    ("walwriter", "walwriter"),
    ("autovacuum launcher", "autovacuum launcher"),
    ("walsummarizer", "walsummarizer"),
    ("archiver", "archiver"),
    ("startup", "startup"),
    ("logical replication launcher", "logical replication"),
];

/// Beginnings of titles that end with details, with the role of each. An `io worker` is not listed
/// because it reads for clients.
const TITLE_PREFIXES: [(&str, &str); 7] = [
    ("autovacuum worker ", AUTOVACUUM_WORKER),
    ("logical replication ", "logical replication"),
    ("walsender ", WALSENDER),
    ("walreceiver ", "walreceiver"),
    ("archiver ", "archiver"),
    ("startup ", "startup"),
    ("slotsync worker", "logical replication"),
];

/// Reads the role of a process; `None` for a process that serves a client or has no known title.
pub(super) fn read(files: &mut Files<'_>, number: u32) -> Option<&'static str> {
    role_of_title(&files.read(format_args!("proc/{number}/cmdline"))?)
}

/// Returns the role in a title; `None` if it has none. The name of a cluster may come before the
/// role: `postgres: main: startup`.
fn role_of_title(title: &str) -> Option<&'static str> {
    let title = title.trim_end_matches(['\0', ' ']).strip_prefix("postgres: ")?;
    let title = title.split_once(": ").map_or(title, |(_, after)| after);
    let whole = EXACT_TITLES.iter().find(|(text, _)| *text == title);
    // The title of a session begins with its user and ends with its activity. Such a title could
    // match by accident only if a user name contained a space and the name of the database fitted.
    let found = whole.or_else(|| TITLE_PREFIXES.iter().find(|(text, _)| title.starts_with(text)));
    found.map(|(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_work_is_known_by_its_title() {
        let cases = [
            ("postgres: checkpointer ", Some("checkpointer")),
            ("postgres: 15/main: walwriter \0\0", Some("walwriter")),
            ("postgres: autovacuum worker db1", Some("autovacuum worker")),
            ("postgres: logical replication launcher ", Some("logical replication")),
            ("postgres: archiver archiving 00000001", Some("archiver")),
            ("postgres: checkpointer db1 127.0.0.1(5) idle", None),
            ("postgres: ann db1 [local] SELECT", None),
            ("postgres: parallel worker for PID 7", None),
            ("/usr/lib/postgresql/15/bin/postgres\0-D\0/d", None),
            ("", None),
            ("postgres: ", None),
            ("\u{fffd}\0", None),
        ];
        for (title, expected) in cases {
            assert_eq!(role_of_title(title), expected, "{title:?}");
        }
    }
}
