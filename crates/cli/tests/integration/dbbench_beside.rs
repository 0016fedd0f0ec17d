//! Dbbench's own examples, run by dbbench itself and by `assay dbbench` with the same flags against
//! one server: it logs the same statements in the same numbers.
//!
//! Both come out of the module, which `scripts/setup test` builds. A file that does not end by
//! itself gets a `duration` in a line above, for both programs; where the rows are looked at, the
//! teardown leaves the table under another name.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal;
use testbed::{Options, Server};

use crate::support::{Place, Running};
use Number::{Exactly, Ticks, UntilTheEnd};

/// A file of the module, and what is to be seen of it.
#[derive(Clone, Copy)]
struct Case {
    file: &'static str,
    /// What stands above the file.
    above: &'static str,
    /// What stands in the file, and what is run instead.
    changes: &'static [(&'static str, &'static str)],
    /// Flags of both programs beside those that say where the server is.
    flags: &'static [&'static str],
    /// A word of each statement, in the order of their first times, and how often it is sent.
    sent: &'static [(&'static str, Number)],
    /// Whether each statement is sent for the last time before the next one's first.
    is_in_order: bool,
    /// What a query gives that does not depend on how often something was sent.
    same: Option<&'static str>,
    made: Option<Made>,
    /// A results file.
    kept: Option<&'static str>,
}

/// How often a statement is sent.
#[derive(Clone, Copy)]
enum Number {
    Exactly(u64),
    /// By a job with a rate that ends by time: so often, or a tick more or less.
    Ticks(u64),
    /// By clients that send one after the other until a time: for the same time.
    UntilTheEnd,
}

/// A number that a query gives when statements have done what they are there for.
#[derive(Clone, Copy)]
struct Made {
    query: &'static str,
    before: u64,
    /// A word of the statement that adds something, and how much that is.
    by: (&'static str, u64),
}

const LETTER_FOR_LETTER: Case = Case {
    file: "",
    above: "",
    changes: &[],
    flags: &[],
    sent: &[],
    is_in_order: true,
    same: None,
    made: None,
    kept: None,
};

/// The driver's parameters that dbbench itself uses where no flag says so, and one more.
const PARAMETERS: &str = "--params=allowAllFiles=true&interpolateParams=true&tls=false";

const LOADS: [Case; 4] = [
    Case {
        file: "load_data.ini",
        sent: &[
            ("create", Exactly(1)),
            ("'hello.tsv'", Exactly(1)),
            ("'world.tsv'", Exactly(1)),
            ("drop", Exactly(1)),
        ],
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "load_data.ini",
        changes: &[("drop table t", "rename table t to done")],
        flags: &[PARAMETERS],
        sent: &[
            ("create", Exactly(1)),
            ("'hello.tsv'", Exactly(1)),
            ("'world.tsv'", Exactly(1)),
            ("rename", Exactly(1)),
        ],
        same: Some("select a from done order by a"),
        made: Some(Made { query: "select count(*) from done", before: 3, by: ("world", 2) }),
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "simple_load_data.ini",
        above: "duration=2500ms\n",
        changes: &[("drop table t", "rename table t to done")],
        sent: &[
            ("create", Exactly(1)),
            ("load", Exactly(1)),
            ("count", Exactly(2)),
            ("rename", Exactly(1)),
        ],
        same: Some("select a from done order by a"),
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "burst_load_data.ini",
        above: "duration=1500ms\n",
        changes: &[("rate=0.0167", "rate=1"), ("drop table t", "rename table t to done")],
        sent: &[("create", Exactly(1)), ("load", Exactly(1000)), ("rename", Exactly(1))],
        made: Some(Made { query: "select count(*) from done", before: 0, by: ("load", 3) }),
        ..LETTER_FOR_LETTER
    },
];

const LOGS_AND_RESULTS: [Case; 4] = [
    Case { file: "query-log.ini", sent: &[("sleep", Exactly(4))], ..LETTER_FOR_LETTER },
    Case {
        file: "results.ini",
        sent: &[("hello", Exactly(1))],
        kept: Some("results.csv"),
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "chain.ini",
        sent: &[("\"hello world\"", Exactly(16)), ("'hello world'", Exactly(16))],
        is_in_order: false,
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "burst.ini",
        above: "duration=3s\n",
        sent: &[("sleep", Exactly(10))],
        ..LETTER_FOR_LETTER
    },
];

const PHASES: [Case; 2] = [
    Case {
        file: "start_stop.ini",
        sent: &[
            ("if exists", Exactly(1)),
            ("create", Exactly(1)),
            ("values (1)", UntilTheEnd),
            ("truncate", Exactly(1)),
            ("(5)", Ticks(399)),
            ("drop", Exactly(1)),
        ],
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "start_stop.ini",
        changes: &[
            ("duration=10s", "duration=4s"),
            ("stop=4s", "stop=2s"),
            ("start=5s", "start=2500ms"),
            ("start=6s", "start=3s"),
            ("drop table mytable", "rename table mytable to done"),
        ],
        sent: &[
            ("if exists", Exactly(1)),
            ("create", Exactly(1)),
            ("values (1)", UntilTheEnd),
            ("truncate", Exactly(1)),
            ("(5)", Ticks(99)),
            ("rename", Exactly(1)),
        ],
        made: Some(Made { query: "select count(*) from done", before: 0, by: ("(5)", 5) }),
        ..LETTER_FOR_LETTER
    },
];

const CLIENTS: [Case; 4] = [
    Case {
        file: "hello_world.ini",
        above: "duration=2s\n",
        sent: &[("hello", UntilTheEnd)],
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "select_count_star.ini",
        above: "duration=2s\n",
        changes: &[("drop table test_table", "rename table test_table to done")],
        sent: &[
            ("create", Exactly(1)),
            ("insert", Exactly(1)),
            ("count", UntilTheEnd),
            ("rename", Exactly(1)),
        ],
        same: Some("select a from done order by a"),
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "locks.ini",
        above: "duration=2s\n",
        changes: &[("DROP TABLE t", "rename table t to done")],
        sent: &[
            ("CREATE", Exactly(1)),
            ("INSERT", Exactly(1)),
            ("UPDATE", UntilTheEnd),
            ("rename", Exactly(1)),
        ],
        // Of the six rows with 100 to 600, each update adds one to four.
        made: Some(Made { query: "select sum(val) from done", before: 2_100, by: ("UPDATE", 4) }),
        ..LETTER_FOR_LETTER
    },
    Case {
        file: "overlap-ad-targeting.ini",
        above: "duration=2100ms\n",
        changes: &[("drop table user_groups", "rename table user_groups to done")],
        sent: &[
            ("create", Exactly(1)),
            ("SELECT", UntilTheEnd),
            ("insert", Ticks(25)),
            ("rename", Exactly(1)),
        ],
        is_in_order: false,
        made: Some(Made { query: "select count(*) from done", before: 0, by: ("insert", 1) }),
        ..LETTER_FOR_LETTER
    },
];

/// By how much the times may differ for which clients send, in seconds: on a busy machine a program
/// begins late, and a statement that runs at the end takes as long as it takes.
const SLACK_S: f64 = 1.0;

/// How often dbbench may try to send all that a rate asks for: it drops the ticks that it is late
/// for, as it is on a busy machine.
const MOST_TRIES: usize = 3;

/// The password of the accounts, each of which has nothing but one empty database of a private
/// server. Dbbench takes it as a flag alone.
const PASSWORD: &str = "beside";

/// The commands of a session that carry no statement.
const SESSION: [&str; 6] = ["Connect", "Quit", "Ping", "Prepare", "Close stmt", "Reset stmt"];

/// How the statements begin by which Assay reads the server's settings for its record. The driver
/// that dbbench uses has none of its own.
const SETTINGS: [&str; 2] = [
    "show session variables where variable_name in ('transaction_isolation', ",
    "show session status where variable_name in ('Ssl_version', ",
];

/// A statement that the server logged, whichever way it came.
struct Logged {
    text: String,
    count: u64,
    /// When it was first and last sent, in seconds.
    first: f64,
    last: f64,
}

/// What is left of a run.
struct Left {
    logged: Vec<Logged>,
    same: Option<String>,
    made: Option<u64>,
    kept: Option<String>,
}

/// The folder of what was built.
fn built() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/dbbench")
}

/// The program.
fn dbbench() -> Command {
    let path = built().join("bin/dbbench");
    assert!(
        path.is_file(),
        "dbbench is not there, beside which this test runs assay: `scripts/setup test` installs Go \
         (the package golang-go) and builds it as `{}`",
        path.display()
    );
    Command::new(path)
}

/// Where the module has its examples.
fn examples() -> PathBuf {
    built().join("path/pkg/mod/github.com/memsql/dbbench@v0.4.0/examples")
}

/// A server that logs all that it is sent, for all tests of this process. Newer ones refuse, unless
/// they are told otherwise, to update a row that another session has changed meanwhile.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let options = Options::mariadb().max_connections(4_000);
        let options = options.set("general_log", "ON").set("log_output", "TABLE");
        let options = options.set("innodb_flush_log_at_trx_commit", "0");
        Server::start(&options.set("loose_innodb_snapshot_isolation", "OFF")).unwrap()
    })
}

/// An account of its own for each run, by which the log tells runs apart, with a database of the
/// same name.
fn account() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("run{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let statements = format!(
        "create database {name};\n\
         create user {name}@'%' identified by '{PASSWORD}';\n\
         grant all on {name}.* to {name}@'%';\n"
    );
    server().sql(&statements).unwrap();
    name
}

/// What the server logged of an account, in the order of first times.
fn logged(account: &str) -> Vec<Logged> {
    let of_account = format!("from mysql.general_log where user_host like '{account}[%'");
    let commands = server().sql(&format!("select distinct command_type {of_account}")).unwrap();
    let is_known = |command: &&str| ["Query", "Execute"].contains(command) || is_session(command);
    let unknown: Vec<&str> = commands.lines().filter(|command| !is_known(command)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
    let statements = format!(
        "select count(*), unix_timestamp(min(event_time)), unix_timestamp(max(event_time)), \
         cast(argument as binary) as text {of_account} and command_type in ('Query', 'Execute') \
         group by text order by min(event_time)"
    );
    let rows = server().sql(&statements).unwrap();
    rows.lines().map(read).filter(|logged| !asks_for_settings(logged)).collect()
}

fn is_session(command: &str) -> bool {
    SESSION.contains(&command)
}

fn asks_for_settings(logged: &Logged) -> bool {
    SETTINGS.iter().any(|start| logged.text.starts_with(start))
}

/// A row of the log. Blanks around a value that is written into a statement are no part of it.
fn read(row: &str) -> Logged {
    let mut fields = row.splitn(4, '\t');
    let mut field = || fields.next().unwrap();
    Logged {
        count: field().parse().unwrap(),
        first: field().parse().unwrap(),
        last: field().parse().unwrap(),
        text: field().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

impl Case {
    /// A folder with the file and what lies beside it, where nothing is in `/tmp` itself.
    fn place(&self) -> Place {
        let place = Place::new();
        for entry in fs::read_dir(examples()).unwrap() {
            let entry = entry.unwrap();
            place.write(entry.file_name().to_str().unwrap(), fs::read(entry.path()).unwrap());
        }
        let mut text = fs::read_to_string(examples().join(self.file)).unwrap();
        for (from, to) in self.changes {
            assert_eq!(text.matches(from).count(), 1, "{}: `{from}`", self.file);
            text = text.replace(from, to);
        }
        let text = text.replace("=/tmp/", &format!("={}/", place.path().display()));
        place.write(self.file, format!("{}{text}", self.above));
        if self.file == "chain.ini" {
            let made = Command::new("mkfifo").arg(place.at("dbbench_fifo")).status().unwrap();
            assert!(made.success());
        }
        place
    }

    /// Runs the file by a program that ends with one of these codes.
    fn left_by(&self, program: impl Fn(&Place) -> Command, codes: &[i32]) -> Left {
        let (place, account) = (self.place(), account());
        let port = server().port().to_string();
        let mut command = program(&place);
        command.args(["--driver=mysql", "--host", "127.0.0.1", "--port", &port]);
        command.args(["--username", &account, "--password", PASSWORD, "--database", &account]);
        command.arg("--intermediate-stats=false").args(self.flags).arg(self.file);
        let ran = Running::of(&mut command).ends();
        assert!(codes.contains(&ran.code), "{}: {}\n{}", self.file, ran.stdout, ran.stderr);
        let ask = |query: &str| server().sql(&format!("use {account};\n{query}")).unwrap();
        Left {
            logged: logged(&account),
            same: self.same.map(ask),
            made: self.made.as_ref().map(|made| ask(made.query).trim().parse().unwrap()),
            kept: self.kept.map(|name| fs::read_to_string(place.at(name)).unwrap()),
        }
    }

    /// How late a busy machine sends says nothing of what it sends.
    fn ours(&self) -> Left {
        self.left_by(|place| place.command(&["dbbench"]), &[0, 3])
    }

    fn theirs(&self) -> Left {
        let run = || {
            let in_folder = |place: &Place| {
                let mut command = dbbench();
                command.current_dir(place.path());
                command
            };
            self.left_by(in_folder, &[0])
        };
        let is_short = |left: &Left| {
            let mut both = self.sent.iter().zip(&left.logged);
            both.any(|((_, number), logged)| match number {
                Ticks(ticks) => logged.count + 1 < *ticks,
                Exactly(_) | UntilTheEnd => false,
            })
        };
        let mut left = run();
        for _ in 1..MOST_TRIES {
            if is_short(&left) {
                left = run();
            }
        }
        left
    }

    /// Makes sure that statements are those that the file has, and do what they do.
    fn judge(&self, who: &str, left: &Left) {
        let Left { logged, made, .. } = left;
        let texts: Vec<&str> = logged.iter().map(|logged| logged.text.as_str()).collect();
        assert_eq!(texts.len(), self.sent.len(), "{who}, {}: {texts:?}", self.file);
        for ((word, number), Logged { text, count, first, last }) in self.sent.iter().zip(logged) {
            assert!(text.contains(word), "{who}, {}: `{word}` in `{text}`", self.file);
            let is_so = match number {
                Exactly(number) => count == number,
                Ticks(number) => count.abs_diff(*number) <= 1,
                UntilTheEnd => *count > 1 && last > first,
            };
            assert!(is_so, "{who}, {}: {count} times `{text}`", self.file);
        }
        let is_in_order = logged.windows(2).all(|pair| pair[0].last <= pair[1].first);
        assert!(is_in_order || !self.is_in_order, "{who}, {}", self.file);
        if let (Some(Made { before, by: (word, each), .. }), Some(made)) = (&self.made, made) {
            let count = logged.iter().find(|logged| logged.text.contains(word)).unwrap().count;
            assert_eq!(*made, before + each * count, "{who}, {}: {count} statements", self.file);
        }
    }

    /// Runs the file by both programs, one after the other.
    fn run(&self) {
        let (theirs, ours) = (self.theirs(), self.ours());
        self.judge("dbbench", &theirs);
        self.judge("assay", &ours);
        let numbers = self.sent.iter().map(|(_, number)| number);
        for ((theirs, ours), number) in theirs.logged.iter().zip(&ours.logged).zip(numbers) {
            assert_eq!(ours.text, theirs.text, "{}", self.file);
            let length = |logged: &Logged| logged.last - logged.first;
            let is_same = match number {
                Exactly(_) => ours.count == theirs.count,
                Ticks(_) => ours.count.abs_diff(theirs.count) <= 1,
                UntilTheEnd => (length(ours) - length(theirs)).abs() < SLACK_S,
            };
            let told = |logged: &Logged| format!("{} in {} s", logged.count, length(logged));
            let (theirs, text) = (told(theirs), &ours.text);
            assert!(is_same, "{}: `{text}`: {}, not {theirs}", self.file, told(ours));
        }
        assert_eq!(ours.same, theirs.same, "{}", self.file);
        assert_eq!(ours.kept, theirs.kept, "{}", self.file);
    }

    fn is_endless(&self) -> bool {
        !self.above.is_empty()
    }
}

/// All of them.
fn cases() -> impl Iterator<Item = &'static Case> {
    LOADS.iter().chain(&LOGS_AND_RESULTS).chain(&PHASES).chain(&CLIENTS)
}

#[test]
fn examples_that_load_files_send_what_dbbench_sends() {
    LOADS.iter().for_each(Case::run);
}

#[test]
fn examples_with_logs_results_and_batches_send_what_dbbench_sends() {
    LOGS_AND_RESULTS.iter().for_each(Case::run);
}

#[test]
fn an_example_whose_jobs_start_and_stop_sends_what_dbbench_sends() {
    PHASES.iter().for_each(Case::run);
}

#[test]
fn examples_with_clients_send_what_dbbench_sends_for_as_long() {
    CLIENTS.iter().for_each(Case::run);
}

/// As they are, letter for letter, until Ctrl-C.
#[test]
fn examples_that_do_not_end_are_accepted() {
    for case in cases().filter(|case| case.is_endless()) {
        let place = Case { above: "", changes: &[], ..*case }.place();
        let account = account();
        let port = server().port().to_string();
        let flags = ["dbbench", "-host=127.0.0.1", "-port", &port, "-username", &account];
        let more = ["-password", PASSWORD, "-database", &account, case.file];
        let mut running = place.start(&[&flags[..], &more].concat());
        running.says("running until Ctrl-C");
        running.signal(Signal::SIGINT);
        running.ends().expect(130);
        let tables = server().sql(&format!("use {account};\nshow tables")).unwrap();
        assert_eq!(tables, "", "{}: teardown ran", case.file);
    }
}

#[test]
fn no_example_is_left_out() {
    dbbench();
    let entries = fs::read_dir(examples()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<String> = names.filter(|name| name.ends_with(".ini")).collect();
    let run: BTreeSet<String> = cases().map(|case| case.file.to_owned()).collect();
    assert_eq!(run, there);
    assert_eq!(run.len(), 12);
}
