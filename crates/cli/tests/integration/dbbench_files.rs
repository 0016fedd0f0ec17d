//! Tests of files with the keys of dbbench's examples, run against SQLite: the statements sent, and
//! their number.
//!
//! Like dbbench's own examples, the files are in MySQL's dialect. Each case has replacements for
//! SQLite, which also shorten long times, and give a `duration` to a file that does not end by
//! itself.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{TestFolder, assert_balanced, job, number};
use Sent::{AtLeast, Exactly};

/// Number of scheduled requests of a job.
enum Sent {
    Exactly(u64),
    /// The minimum number, for a client that sends one request after the other until the end.
    AtLeast(u64),
}

/// A file and the expectations of its run.
struct Case {
    file: &'static str,
    /// Replacements in the file: the old and the new text.
    changes: &'static [(&'static str, &'static str)],
    /// Input files in the same folder.
    input_files: &'static [(&'static str, &'static str)],
    /// The statements that create tables before the run.
    table: &'static str,
    jobs: &'static [(&'static str, Sent)],
    /// Queries with their expected result after the run.
    query_results: &'static [(&'static str, i64)],
    /// Results files with their expected content.
    results_files: &'static [(&'static str, &'static str)],
}

const EMPTY_CASE: Case = Case {
    file: "",
    changes: &[],
    input_files: &[],
    table: "create table unused (a)",
    jobs: &[],
    query_results: &[],
    results_files: &[],
};

/// The teardown of most files, and a replacement that keeps the table.
const DROPPED: (&str, &str) = ("drop table parcel", "alter table parcel rename to done");

const NIGHT: (&str, &str) = (
    "night.log",
    "7000000,insert into night values ('a, b')\n7000009,insert into night values ('c')\n\
     7000099,insert into night values ('d')\n7010000,insert into night values ('e')\n",
);

const ENDING: &[Case] = &[
    Case {
        file: "kept.ini",
        jobs: &[("kept", Exactly(1))],
        results_files: &[("assay-greetings.csv", "good morning\n")],
        ..EMPTY_CASE
    },
    Case {
        file: "replay.ini",
        input_files: &[NIGHT],
        table: "create table night (said text)",
        jobs: &[("replay", Exactly(4))],
        query_results: &[
            ("select count(*) from night", 4),
            ("select count(*) from night where said in ('a, b', 'e')", 2),
        ],
        ..EMPTY_CASE
    },
    Case {
        file: "files_by_name.ini",
        changes: &[
            ("load data local infile ? into table parcel", "insert into parcel values (?)"),
            ("rate=1", "rate=10"),
            DROPPED,
        ],
        input_files: &[("names.csv", "north.tsv\nsouth.tsv\n")],
        jobs: &[("files by name", Exactly(2))],
        query_results: &[
            ("select count(*) from done", 2),
            ("select count(*) from done where name = 'north.tsv'", 1),
            ("select count(*) from done where name = 'south.tsv'", 1),
        ],
        ..EMPTY_CASE
    },
    Case {
        file: "relay.ini",
        changes: &[("rate=2", "rate=20"), ("=1000\n", "=1000\nquery-results-file=got.csv\n")],
        jobs: &[("sender", Exactly(16)), ("receiver", Exactly(16))],
        results_files: &[(
            "got.csv",
            "good evening\ngood evening\ngood evening\ngood evening\n\
             good evening\ngood evening\ngood evening\ngood evening\n\
             good evening\ngood evening\ngood evening\ngood evening\n\
             good evening\ngood evening\ngood evening\ngood evening\n",
        )],
        ..EMPTY_CASE
    },
    Case {
        file: "phases.ini",
        changes: &[
            ("duration=10s", "duration=1s"),
            ("bigint auto_increment", "integer"),
            ("stop=4s", "stop=400ms"),
            ("start=5s", "start=500ms"),
            ("truncate table parcel", "insert into parcel (weight) values (0)"),
            ("start=6s", "start=600ms"),
            DROPPED,
        ],
        jobs: &[("fill", AtLeast(2)), ("empty", Exactly(1)), ("fill again", Exactly(39))],
        query_results: &[
            ("select count(*) from done where weight in (1, 2, 3)", 117),
            ("select count(*) from done where weight = 0", 1),
            ("select count(*) < 2 from done where weight = 5", 0),
        ],
        ..EMPTY_CASE
    },
    Case {
        file: "lessons.ini",
        changes: &[
            ("duration=10s", "duration=1s"),
            ("rate=1\n", "rate=4\n"),
            ("sleep(0.1)", "1"),
            ("start=1s", "start=100ms"),
            ("stop=9s", "stop=900ms"),
            ("=pairs.csv", "=pairs.csv\nquery-results-file=commas.csv"),
            ("=pairs.tsv", "=pairs.tsv\nquery-results-file=tabs.csv"),
        ],
        input_files: &[
            NIGHT,
            ("pairs.csv", "1,2\n\"a, b\",\\N\n"),
            ("pairs.tsv", "1\t2\na, b\t3\n"),
            ("count.sql", "select count(*) from parcel;\n"),
        ],
        table: "create table night (said text); create table parcel (id int)",
        jobs: &[
            ("ten connections", AtLeast(10)),
            ("each ten seconds", Exactly(0)),
            ("three each second", Exactly(9)),
            ("joined", Exactly(2)),
            ("joined by tabs", Exactly(2)),
            ("until the end", AtLeast(1)),
            ("up to a moment", AtLeast(1)),
            ("five times", Exactly(5)),
            ("log", Exactly(4)),
            ("from a file", AtLeast(1)),
        ],
        query_results: &[("select count(*) from night", 4)],
        results_files: &[
            ("commas.csv", "1 and 2\n\"a, b and \\N\"\n"),
            ("tabs.csv", "1 and 2\n\"a, b and 3\"\n"),
        ],
    },
];

const ENDLESS: &[Case] = &[
    Case {
        file: "greeting.ini",
        changes: &[("# One", "duration=100ms\n# One")],
        jobs: &[("greeting", AtLeast(1))],
        ..EMPTY_CASE
    },
    Case {
        file: "counting.ini",
        changes: &[
            ("; Two", "duration=100ms\n; Two"),
            ("bigint auto_increment", "integer"),
            ("() values ()", "default values"),
            DROPPED,
        ],
        jobs: &[("how many parcels", AtLeast(1))],
        query_results: &[("select count(*) from done", 1)],
        ..EMPTY_CASE
    },
    Case {
        file: "file_first.ini",
        changes: &[
            ("[setup]", "duration=1100ms\n[setup]"),
            ("load data local infile 'north.tsv' into table", "insert into"),
            ("parcel\n\n[how", "parcel values ('a'), ('b')\n\n[how"),
            DROPPED,
        ],
        jobs: &[("how many parcels", Exactly(1))],
        query_results: &[("select count(*) from done", 2)],
        ..EMPTY_CASE
    },
    Case {
        file: "surge.ini",
        changes: &[
            ("# Ten", "duration=500ms\n# Ten"),
            ("do sleep(0.5)", "select 1"),
            (".5\n", "5\n"),
        ],
        jobs: &[("surge", Exactly(20))],
        ..EMPTY_CASE
    },
    Case {
        file: "surge_of_files.ini",
        changes: &[
            ("[setup]", "duration=1s\n[setup]"),
            (
                "load data local infile 'north.tsv' into table parcel",
                "insert into parcel values (0)",
            ),
            ("rate=0.0167\nbatch-size=1000", "rate=1.67\nbatch-size=100"),
            DROPPED,
        ],
        jobs: &[("surge of files", Exactly(100))],
        query_results: &[("select count(*) from done", 100)],
        ..EMPTY_CASE
    },
    Case {
        file: "waiting.ini",
        changes: &[
            ("error=1205", "error=1205\nduration=100ms"),
            ("set global innodb_lock_wait_timeout = 1", "update counter set value = 7"),
            (" + 0 * sleep(0.1)", ""),
            ("drop table counter", "alter table counter rename to done"),
        ],
        jobs: &[("everybody counts", AtLeast(1))],
        query_results: &[("select value > 7 from done", 1)],
        ..EMPTY_CASE
    },
    Case {
        file: "continued.ini",
        changes: &[
            ("[setup]", "duration=1s\n[setup]"),
            ("current_timestamp, \\\n                         key (at))", "current_timestamp)"),
            ("now() - interval 90 second \\\n      limit 100000", "datetime('now', '-90 seconds')"),
            ("floor(100 * rand())", "abs(random() % 100)"),
            ("drop table click", "alter table click rename to done"),
        ],
        jobs: &[("cleanup", Exactly(0)), ("clicks", Exactly(12)), ("top pages", AtLeast(1))],
        query_results: &[("select count(*) from done where page between 0 and 99", 12)],
        ..EMPTY_CASE
    },
];

/// Returns the folder of the files.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../workload/tests/dbbench")
}

impl Case {
    /// Writes the file, as it is run, into a folder with its inputs.
    fn place(&self) -> TestFolder {
        let mut text = std::fs::read_to_string(folder().join(self.file)).unwrap();
        for (from, to) in self.changes {
            assert!(text.contains(from), "{}: `{from}`", self.file);
            text = text.replace(from, to);
        }
        let place = TestFolder::new();
        place.write("w.ini", text.replace("/tmp", &place.path().display().to_string()));
        self.input_files.iter().for_each(|(name, content)| place.write(name, content));
        let database = rusqlite::Connection::open(place.at("t.db")).unwrap();
        database.execute_batch(self.table).unwrap();
        place
    }

    fn run(&self) {
        let Case { file, jobs, .. } = self;
        let place = self.place();
        if *file == "relay.ini" {
            let made = Command::new("mkfifo").arg(place.at("assay-relay")).status().unwrap();
            assert!(made.success());
        }
        // A commit does not wait for the disk, which may be busy with other tests for seconds.
        let database = ["--driver", "sqlite", "--database", "t.db", "--params", "synchronous=off"];
        let args = [&["dbbench"], &database[..], &["w.ini"]].concat();
        let ran = place.assay(&args);
        // On a busy machine the verdict may be INVALID, but the same statements are sent.
        assert!([0, 3].contains(&ran.code), "{file}: {}\n{}", ran.stdout, ran.stderr);
        let names = place.names();
        let record = names.iter().find(|name| name.ends_with(".assay")).unwrap();
        let summary = place.assay(&["report", record, "--json"]).json();
        assert_balanced(&summary);
        assert_eq!(summary["jobs"].as_array().map(Vec::len), Some(jobs.len()), "{file}");
        for (name, sent) in *jobs {
            let counted = |key: &str| job(&summary, name)[key].as_u64().unwrap();
            let is_so = match sent {
                Exactly(number) => counted("scheduled") == *number,
                AtLeast(number) => counted("scheduled") >= *number,
            };
            let all_answered = counted("completed") == counted("scheduled");
            assert!(is_so && all_answered, "{file}: {}", job(&summary, name));
        }
        for (sql, expected) in self.query_results {
            assert_eq!(number(&place.at("t.db"), sql), *expected, "{file}: {sql}");
        }
        for (name, expected) in self.results_files {
            let content = std::fs::read_to_string(place.at(name)).unwrap();
            assert_eq!(content, *expected, "{file}: {name}");
        }
    }
}

#[test]
fn self_ending_files_send_exactly_their_statements() {
    ENDING.iter().for_each(Case::run);
}

#[test]
fn files_with_a_given_end_send_exactly_their_statements() {
    ENDLESS.iter().for_each(Case::run);
}

#[test]
fn no_file_is_left_out() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".ini"))
        .collect();
    let mut run: Vec<&str> = ENDING.iter().chain(ENDLESS).map(|case| case.file).collect();
    files.sort();
    run.sort_unstable();
    assert_eq!(run, files);
}
