//! What a process of the database does that no client asked for, by its title in
//! `/proc/PID/cmdline`: PostgreSQL writes it there (`update_process_title`; its documentation,
//! chapter 27.1, Standard Unix Tools).

use super::files::Files;

/// Titles of one kind of process each, as they stand.
const WHOLE: [(&str, &str); 8] = [
    ("checkpointer", "checkpointer"),
    ("background writer", "background writer"),
    ("walwriter", "walwriter"),
    ("autovacuum launcher", "autovacuum launcher"),
    ("walsummarizer", "walsummarizer"),
    ("archiver", "archiver"),
    ("startup", "startup"),
    ("logical replication launcher", "logical replication"),
];

/// How titles begin behind which stands what the process is at. An `io worker` reads for clients.
const BEGINNINGS: [(&str, &str); 7] = [
    ("autovacuum worker ", "autovacuum worker"),
    ("logical replication ", "logical replication"),
    ("walsender ", "walsender"),
    ("walreceiver ", "walreceiver"),
    ("archiver ", "archiver"),
    ("startup ", "startup"),
    ("slotsync worker", "logical replication"),
];

/// What a process does; `None` for those that serve clients, and for those that do not tell.
pub(super) fn read(files: &mut Files<'_>, number: u32) -> Option<&'static str> {
    of_title(&files.read(format_args!("proc/{number}/cmdline"))?)
}

/// The name of what a title says. A cluster may have its name in front: `postgres: main: startup`.
fn of_title(title: &str) -> Option<&'static str> {
    let title = title.trim_end_matches(['\0', ' ']).strip_prefix("postgres: ")?;
    let title = title.split_once(": ").map_or(title, |(_, behind)| behind);
    let whole = WHOLE.iter().find(|(text, _)| *text == title);
    // A session has the name of its user in front, and at its end what it does: no user is called
    // with a space in his name and a database behind it that reads so by accident.
    let found = whole.or_else(|| BEGINNINGS.iter().find(|(text, _)| title.starts_with(text)));
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
            assert_eq!(of_title(title), expected, "{title:?}");
        }
    }
}
