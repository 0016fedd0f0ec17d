//! Tests that dbbench and `assay dbbench` send the same statements, equally often. Both programs
//! run with the same flags against one server, which logs the statements. The files are dbbench's
//! own examples and a study of Assay in dbbench's language.
//!
//! `scripts/setup test` fetches dbbench's module, which has the examples, and builds the program. A
//! file that does not end by itself gets a `duration` as its first line, for both programs. If the
//! rows are compared, the teardown renames the table instead of dropping it.

use std::collections::BTreeSet;
use std::fs;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};
use std::thread;

use nix::sys::signal::Signal;
use testbed::{Options, Server};

use crate::support::{Running, TestFolder};
use Number::{Exactly, For, Rate};
use Program::{Assay, Dbbench};

/// A file, and the expectations of its run.
#[derive(Clone, Copy)]
struct Case {
    folder: fn() -> PathBuf,
    file: &'static str,
    /// A line to insert before the file.
    first_line: &'static str,
    /// Replacements in the file: the old and the new text.
    changes: &'static [(&'static str, &'static str)],
    /// Flags of both programs, in addition to those that name the server.
    flags: &'static [&'static str],
    /// For each statement, a word that identifies it, and the number of times that it is sent.
    sent: &'static [(&'static str, Number)],
    /// True if each statement is sent for the last time before the next one is sent for the first
    /// time.
    is_in_order: bool,
    /// True if the case uses the whole machine, so it must run alone.
    is_heavy: bool,
    /// A query whose result must be equal after both programs, because it does not depend on the
    /// number of statements.
    invariant_query: Option<&'static str>,
    effect: Option<EffectQuery>,
    /// The name of a results file.
    results_file: Option<&'static str>,
}

/// The number of times a statement is sent.
#[derive(Clone, Copy)]
enum Number {
    Exactly(u64),
    /// Once at each tick of a job that has a rate and ends at a given time.
    Rate(Ticks),
    /// As often as clients can send it in this many milliseconds, if each send waits for the
    /// previous answer.
    For(u32),
}

/// Evenly spaced ticks of a job; the first comes one period after the job's start.
#[derive(Clone, Copy)]
struct Ticks {
    job: &'static str,
    per_s: u32,
    from_ms: u32,
    to_ms: u32,
}

impl Ticks {
    /// Returns the number of ticks before the end.
    fn count(self) -> u64 {
        u64::from(((self.to_ms - self.from_ms) * self.per_s).div_ceil(1000) - 1)
    }

    /// Returns the number of ticks that dbbench may have dropped because it was late: the ticks
    /// that lie between two consecutive starts of its requests, or between such a start and the
    /// start or the end of the job.
    fn dropped(self, begun: &[RequestRow]) -> u64 {
        let edge = |ms: u32| f64::from(ms) / 1000.0;
        let of_job = begun.iter().filter(|begun| begun.job == self.job).map(|begun| begun.s);
        let mut times: Vec<f64> = of_job.chain([edge(self.from_ms), edge(self.to_ms)]).collect();
        times.sort_by(f64::total_cmp);
        let ticks = |pair: &[f64]| ((pair[1] - pair[0]) * f64::from(self.per_s)).round() as u64;
        times.windows(2).map(|pair| ticks(pair).saturating_sub(1)).sum()
    }
}

/// A query whose result counts the effect of statements.
#[derive(Clone, Copy)]
struct EffectQuery {
    query: &'static str,
    before: u64,
    /// A word of the statement that adds to the result, and the number that each execution adds.
    by: (&'static str, u64),
}

const UNCHANGED_FILE: Case = Case {
    folder: examples,
    file: "",
    first_line: "",
    changes: &[],
    flags: &[],
    sent: &[],
    is_in_order: true,
    is_heavy: false,
    invariant_query: None,
    effect: None,
    results_file: None,
};

/// The driver parameters that dbbench uses by default, and one more.
const PARAMETERS: &str = "--params=allowAllFiles=true&interpolateParams=true&tls=false";

/// The flag for a file with one row per request, with its job and start.
const EACH: &str = "--query-stats-file=each.csv";

const BATCH: &str = "insert batch";

const LOADS: [Case; 4] = [
    Case {
        file: "load_data.ini",
        sent: &[
            ("create", Exactly(1)),
            ("'hello.tsv'", Exactly(1)),
            ("'world.tsv'", Exactly(1)),
            ("drop", Exactly(1)),
        ],
        ..UNCHANGED_FILE
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
        invariant_query: Some("select a from done order by a"),
        effect: Some(EffectQuery {
            query: "select count(*) from done",
            before: 3,
            by: ("world", 2),
        }),
        ..UNCHANGED_FILE
    },
    Case {
        file: "simple_load_data.ini",
        first_line: "duration=2500ms\n",
        changes: &[("drop table t", "rename table t to done")],
        flags: &[EACH],
        sent: &[
            ("create", Exactly(1)),
            ("load", Exactly(1)),
            ("count", Rate(Ticks { job: "read", per_s: 1, from_ms: 0, to_ms: 2_500 })),
            ("rename", Exactly(1)),
        ],
        invariant_query: Some("select a from done order by a"),
        ..UNCHANGED_FILE
    },
    Case {
        file: "burst_load_data.ini",
        first_line: "duration=3s\n",
        changes: &[("rate=0.0167", "rate=0.5"), ("drop table t", "rename table t to done")],
        sent: &[("create", Exactly(1)), ("load", Exactly(1000)), ("rename", Exactly(1))],
        is_heavy: true,
        effect: Some(EffectQuery {
            query: "select count(*) from done",
            before: 0,
            by: ("load", 3),
        }),
        ..UNCHANGED_FILE
    },
];

const LOGS_AND_RESULTS: [Case; 4] = [
    Case { file: "query-log.ini", sent: &[("sleep", Exactly(4))], ..UNCHANGED_FILE },
    Case {
        file: "results.ini",
        sent: &[("hello", Exactly(1))],
        results_file: Some("results.csv"),
        ..UNCHANGED_FILE
    },
    Case {
        file: "chain.ini",
        sent: &[("\"hello world\"", Exactly(16)), ("'hello world'", Exactly(16))],
        is_in_order: false,
        ..UNCHANGED_FILE
    },
    Case {
        file: "burst.ini",
        first_line: "duration=3s\n",
        sent: &[("sleep", Exactly(10))],
        ..UNCHANGED_FILE
    },
];

/// The example whose jobs start and stop, shortened.
const PHASES: Case = Case {
    file: "start_stop.ini",
    changes: &[
        ("duration=10s", "duration=4s"),
        ("stop=4s", "stop=2s"),
        ("start=5s", "start=2500ms"),
        ("start=6s", "start=3s"),
        ("drop table mytable", "rename table mytable to done"),
    ],
    flags: &[EACH],
    sent: &[
        ("if exists", Exactly(1)),
        ("create", Exactly(1)),
        ("values (1)", For(2_000)),
        ("truncate", Exactly(1)),
        ("(5)", Rate(Ticks { job: BATCH, per_s: 100, from_ms: 3_000, to_ms: 4_000 })),
        ("rename", Exactly(1)),
    ],
    effect: Some(EffectQuery { query: "select count(*) from done", before: 0, by: ("(5)", 5) }),
    ..UNCHANGED_FILE
};

const CLIENTS: [Case; 4] = [
    Case {
        file: "hello_world.ini",
        first_line: "duration=1500ms\n",
        sent: &[("hello", For(1_500))],
        ..UNCHANGED_FILE
    },
    Case {
        file: "select_count_star.ini",
        first_line: "duration=1500ms\n",
        changes: &[("drop table test_table", "rename table test_table to done")],
        sent: &[
            ("create", Exactly(1)),
            ("insert", Exactly(1)),
            ("count", For(1_500)),
            ("rename", Exactly(1)),
        ],
        invariant_query: Some("select a from done order by a"),
        ..UNCHANGED_FILE
    },
    Case {
        file: "locks.ini",
        first_line: "duration=1500ms\n",
        changes: &[("DROP TABLE t", "rename table t to done")],
        sent: &[
            ("CREATE", Exactly(1)),
            ("INSERT", Exactly(1)),
            ("UPDATE", For(1_500)),
            ("rename", Exactly(1)),
        ],
        // The values of the six rows are 100, 200, …, 600. Each update increments four of them.
        effect: Some(EffectQuery {
            query: "select sum(val) from done",
            before: 2_100,
            by: ("UPDATE", 4),
        }),
        ..UNCHANGED_FILE
    },
    Case {
        file: "overlap-ad-targeting.ini",
        first_line: "duration=1600ms\n",
        changes: &[("drop table user_groups", "rename table user_groups to done")],
        flags: &[EACH],
        sent: &[
            ("create", Exactly(1)),
            ("SELECT", For(1_600)),
            ("insert", Rate(Ticks { job: "insert", per_s: 12, from_ms: 0, to_ms: 1_600 })),
            ("rename", Exactly(1)),
        ],
        is_in_order: false,
        effect: Some(EffectQuery {
            query: "select count(*) from done",
            before: 0,
            by: ("insert", 1),
        }),
        ..UNCHANGED_FILE
    },
];

/// The workload file of Assay that dbbench can also run, shortened.
const STUDY: Case = Case {
    folder: workloads,
    file: "mixed-mariadb.ini",
    changes: &[
        ("duration=40s", "duration=3s"),
        ("rate=0.1\n", "rate=1\n"),
        ("drop table t", "rename table t to done"),
    ],
    flags: &[EACH],
    sent: &[
        ("create", Exactly(1)),
        ("information_schema.columns", Exactly(1)),
        ("(value) ", Rate(Ticks { job: "insert", per_s: 100, from_ms: 0, to_ms: 3_000 })),
        ("delete", Rate(Ticks { job: "cleanup", per_s: 1, from_ms: 0, to_ms: 3_000 })),
        ("count", For(3_000)),
        ("rename", Exactly(1)),
    ],
    is_in_order: false,
    is_heavy: true,
    // The rows that were loaded are about an hour old.
    effect: Some(EffectQuery {
        query: "select count(*) from done where insert_date > now() - interval 30 minute",
        before: 0,
        by: ("(value) ", 1),
    }),
    ..UNCHANGED_FILE
};

/// Tolerance of the time for which clients send, in seconds: on a busy machine a program may start
/// late, and the last statement may take long.
const SLACK_S: f64 = 0.5;

/// Maximum number of times that a program runs a file until one run is on time.
const MOST_RUNS: usize = 3;

/// Largest fraction of the ticks that dbbench may drop on a busy machine: one in this many. If more
/// are missing, the run proves nothing.
const MOST_DROPPED: u64 = 2;

/// A lock for the cases that use the server. A case that would slow the others holds it
/// exclusively.
static SERVER_LOCK: RwLock<()> = RwLock::new(());

/// The password of the accounts, each of which owns only one empty database of a private server.
/// Dbbench accepts the password only as a flag.
const PASSWORD: &str = "beside";

/// The commands of a session that execute no statement.
const SESSION: [&str; 6] = ["Connect", "Quit", "Ping", "Prepare", "Close stmt", "Reset stmt"];

/// The beginnings of the statements with which Assay reads the server's facts for its record.
/// Dbbench's driver sends no such statements.
const SETTINGS: [&str; 13] = [
    "show session variables where variable_name in ('transaction_isolation', ",
    "show session status where variable_name in ('Ssl_version', ",
    // Settings that affect the meaning of the numbers.
    "select variable_name, global_value, default_value from information_schema.system_variables ",
    "show all slaves status",
    "show slave hosts",
    "select sum(file_size), @@innodb_buffer_pool_size, ",
    "select left(sha2(concat_ws(' ', @@server_uid, ",
    "select table_name, data_length, index_length from information_schema.tables ",
    "show global variables where variable_name in ('hostname', ",
    // The server's own statistics.
    "select /* assay asks */ count(*) from information_schema.processlist ",
    "select count(*) from information_schema.processlist where id <> connection_id() ",
    "show global status where variable_name in ('Questions', ",
    "show global variables where variable_name in ('innodb_log_file_size', ",
];

/// A statement in the server's log, sent as text or prepared.
struct Logged {
    text: String,
    count: u64,
    /// The times at which it was first and last logged, in seconds.
    first: f64,
    last: f64,
}

impl Logged {
    fn length_s(&self) -> f64 {
        self.last - self.first
    }
}

/// A row of the file with one row per request.
struct RequestRow {
    job: String,
    /// The start, in seconds since time zero of the jobs.
    s: f64,
}

/// The results of a run.
struct RunResults {
    /// The logged statements: one for each statement of the case, in the order of the case.
    logged: Vec<Logged>,
    begun: Vec<RequestRow>,
    invariant: Option<String>,
    effect: Option<u64>,
    results: Option<String>,
}

/// Returns the folder of the built module.
fn module_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/dbbench")
}

/// Returns the command to run dbbench.
fn dbbench() -> Command {
    let path = module_folder().join("bin/dbbench");
    assert!(
        path.is_file(),
        "dbbench is not there, beside which this test runs assay: `scripts/setup test` installs Go \
         (the package golang-go) and builds it as `{}`",
        path.display()
    );
    Command::new(path)
}

/// Returns the folder of the module's examples.
fn examples() -> PathBuf {
    module_folder().join("path/pkg/mod/github.com/memsql/dbbench@v0.4.0/examples")
}

/// Returns the folder of the workload files that come with Assay.
fn workloads() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../workloads")
}

/// Returns a server that logs every statement, shared by all tests of this process. The setting
/// `innodb_snapshot_isolation` is off: with it, the default of newer versions, the server refuses
/// to update a row that another session has changed meanwhile.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let options = Options::mariadb().max_connections(4_000);
        let options = options.set("general_log", "ON").set("log_output", "TABLE");
        let options = options.set("innodb_flush_log_at_trx_commit", "0");
        Server::start(&options.set("loose_innodb_snapshot_isolation", "OFF")).unwrap()
    })
}

/// Creates an account for a run, and a database of the same name. The log distinguishes runs by
/// their accounts.
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

/// Returns the logged statements of an account, ordered by their first time.
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
    rows.lines().map(parse_log_row).filter(|logged| !asks_for_settings(logged)).collect()
}

fn is_session(command: &str) -> bool {
    SESSION.contains(&command)
}

fn asks_for_settings(logged: &Logged) -> bool {
    SETTINGS.iter().any(|start| logged.text.starts_with(start))
}

/// Parses a row of the log; several spaces or line ends in a statement count as one space.
fn parse_log_row(row: &str) -> Logged {
    let mut fields = row.splitn(4, '\t');
    let mut field = || fields.next().unwrap();
    Logged {
        count: field().parse().unwrap(),
        first: field().parse().unwrap(),
        last: field().parse().unwrap(),
        text: field().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// Parses the rows of a file with one row per request.
fn parse_request_rows(text: &str) -> Vec<RequestRow> {
    let read = |line: &str| {
        let (job, rest) = line.split_once(',').unwrap();
        let (us, _) = rest.split_once(',').unwrap();
        RequestRow { job: job.to_owned(), s: us.parse::<f64>().unwrap() / 1e6 }
    };
    text.lines().map(read).collect()
}

/// The program that sends the statements.
#[derive(Debug, Clone, Copy)]
enum Program {
    Assay,
    Dbbench,
}

impl Program {
    /// Returns the range of the number of requests that a job with a rate may send. Assay sends all
    /// of them, some perhaps late. Dbbench drops requests for which it is late; its own start times
    /// show how many. It may send one request more or less at the very end.
    fn may_send(self, ticks: Ticks, begun: &[RequestRow]) -> RangeInclusive<u64> {
        let all = ticks.count();
        match self {
            Assay => all..=all,
            Dbbench => all - 1 - ticks.dropped(begun).min(all / MOST_DROPPED)..=all + 1,
        }
    }
}

impl Case {
    /// Creates a folder with the file and its inputs, with `/tmp` in the file replaced.
    fn place(&self) -> TestFolder {
        let place = TestFolder::new();
        let folder = (self.folder)();
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            place.write(entry.file_name().to_str().unwrap(), fs::read(entry.path()).unwrap());
        }
        let mut text = fs::read_to_string(folder.join(self.file)).unwrap();
        for (from, to) in self.changes {
            assert_eq!(text.matches(from).count(), 1, "{}: `{from}`", self.file);
            text = text.replace(from, to);
        }
        let text = text.replace("=/tmp/", &format!("={}/", place.path().display()));
        place.write(self.file, format!("{}{text}", self.first_line));
        if self.file == "chain.ini" {
            let made = Command::new("mkfifo").arg(place.at("dbbench_fifo")).status().unwrap();
            assert!(made.success());
        }
        place
    }

    /// Runs the file with one of the programs.
    fn run_with(&self, program: Program) -> RunResults {
        let (place, account) = (self.place(), account());
        let port = server().port().to_string();
        let (mut command, codes) = match program {
            // On a busy machine the verdict may be INVALID, but the same statements are sent.
            Assay => (place.command(&["dbbench"]), &[0, 3][..]),
            Dbbench => (dbbench(), &[0][..]),
        };
        command.current_dir(place.path());
        command.args(["--driver=mysql", "--host", "127.0.0.1", "--port", &port]);
        command.args(["--username", &account, "--password", PASSWORD, "--database", &account]);
        command.arg("--intermediate-stats=false").args(self.flags).arg(self.file);
        let ran = Running::of(&mut command).wait_for_end();
        assert!(codes.contains(&ran.code), "{}: {}\n{}", self.file, ran.stdout, ran.stderr);
        let ask = |query: &str| server().sql(&format!("use {account};\n{query}")).unwrap();
        let read = |name: &str| fs::read_to_string(place.at(name)).unwrap();
        RunResults {
            logged: self.in_order(logged(&account)),
            begun: match self.flags.contains(&EACH) {
                true => parse_request_rows(&read("each.csv")),
                false => Vec::new(),
            },
            invariant: self.invariant_query.map(ask),
            effect: self.effect.as_ref().map(|effect| ask(effect.query).trim().parse().unwrap()),
            results: self.results_file.map(read),
        }
    }

    /// Returns the logged statements in the order of `sent`: for each of its words, the earliest
    /// remaining statement that contains the word. Checks that no statement remains.
    fn in_order(&self, mut logged: Vec<Logged>) -> Vec<Logged> {
        let take = |(word, _): &(&str, Number)| {
            let at = logged.iter().position(|logged| logged.text.contains(word));
            logged.remove(at.unwrap_or_else(|| panic!("{}: no `{word}`", self.file)))
        };
        let taken = self.sent.iter().map(take).collect();
        let others: Vec<&str> = logged.iter().map(|logged| logged.text.as_str()).collect();
        assert_eq!(others, Vec::<&str>::new(), "{}", self.file);
        taken
    }

    /// Checks that the statements of the file were sent, in the right number and with the right
    /// effect.
    ///
    /// # Errors
    /// Statements of either program were late, or dbbench sent fewer or more of them: the machine
    /// may be busy.
    fn judge(&self, program: Program, results: &RunResults) -> Result<(), String> {
        let RunResults { logged, begun, effect, .. } = results;
        let mut late = Vec::new();
        for ((_, number), logged) in self.sent.iter().zip(logged) {
            let (count, length_s) = (logged.count, logged.length_s());
            let of =
                format!("{program:?}, {}: `{}`, {count} in {length_s} s", self.file, logged.text);
            let is_right = match number {
                Exactly(number) => count == *number,
                Rate(ticks) => {
                    let shown = begun.iter().filter(|begun| begun.job == ticks.job).count();
                    shown as u64 == count && program.may_send(*ticks, begun).contains(&count)
                }
                For(ms) => {
                    let off_s = length_s - f64::from(*ms) / 1000.0;
                    if off_s.abs() >= SLACK_S {
                        late.push(of);
                    }
                    continue;
                }
            };
            match program {
                Assay => assert!(is_right, "{of}"),
                Dbbench if is_right => {}
                Dbbench => late.push(of),
            }
        }
        let is_in_order = logged.windows(2).all(|pair| pair[0].last <= pair[1].first);
        if self.is_in_order && !is_in_order {
            late.push(format!("{program:?}, {}: not in order", self.file));
        }
        if let (Some(EffectQuery { before, by: (word, each), .. }), Some(effect)) =
            (&self.effect, effect)
        {
            let count = logged.iter().find(|logged| logged.text.contains(word)).unwrap().count;
            assert_eq!(*effect, before + each * count, "{program:?}, {}: {count} times", self.file);
        }
        if late.is_empty() { Ok(()) } else { Err(late.join("; ")) }
    }

    /// Runs the file with one of the programs, and again if the machine was too busy.
    fn run_until_on_time(&self, program: Program) -> RunResults {
        let mut late = Vec::new();
        while late.len() < MOST_RUNS {
            let results = self.run_with(program);
            match self.judge(program, &results) {
                Ok(()) => return results,
                Err(words) => late.push(words),
            }
        }
        panic!("{late:#?}")
    }

    fn run(&self) {
        if self.is_heavy {
            let _alone = SERVER_LOCK.write().unwrap_or_else(PoisonError::into_inner);
            self.run_both();
        } else {
            let _beside_others = SERVER_LOCK.read().unwrap_or_else(PoisonError::into_inner);
            self.run_both();
        }
    }

    /// Runs the file with both programs, at the same time unless each needs the whole machine.
    fn run_both(&self) {
        let (ours, theirs) = if self.is_heavy {
            (self.run_until_on_time(Assay), self.run_until_on_time(Dbbench))
        } else {
            thread::scope(|scope| {
                let theirs = scope.spawn(|| self.run_until_on_time(Dbbench));
                (self.run_until_on_time(Assay), theirs.join().unwrap())
            })
        };
        let texts = |results: &RunResults| -> Vec<String> {
            results.logged.iter().map(|logged| logged.text.clone()).collect()
        };
        assert_eq!(texts(&ours), texts(&theirs), "{}", self.file);
        assert_eq!(ours.invariant, theirs.invariant, "{}", self.file);
        assert_eq!(ours.results, theirs.results, "{}", self.file);
    }

    fn is_endless(&self) -> bool {
        !self.first_line.is_empty()
    }
}

/// Returns all cases.
fn cases() -> impl Iterator<Item = &'static Case> {
    LOADS.iter().chain(&LOGS_AND_RESULTS).chain([&PHASES]).chain(&CLIENTS)
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
    PHASES.run();
}

#[test]
fn examples_with_clients_send_what_dbbench_sends_for_as_long() {
    CLIENTS.iter().for_each(Case::run);
}

#[test]
fn the_mixed_study_sends_what_dbbench_sends() {
    STUDY.run();
}

/// Runs the unchanged files, and ends them with Ctrl-C.
#[test]
fn examples_that_do_not_end_are_accepted() {
    for case in cases().filter(|case| case.is_endless()) {
        let place = Case { first_line: "", changes: &[], ..*case }.place();
        let account = account();
        let port = server().port().to_string();
        let flags = ["dbbench", "-host=127.0.0.1", "-port", &port, "-username", &account];
        let more = ["-password", PASSWORD, "-database", &account, case.file];
        let mut running = place.start(&[&flags[..], &more].concat());
        running.wait_for_line("running until Ctrl-C");
        running.signal(Signal::SIGINT);
        running.wait_for_end().expect(130);
        let tables = server().sql(&format!("use {account};\nshow tables")).unwrap();
        assert_eq!(tables, "", "{}: teardown ran", case.file);
    }
}

#[test]
fn dbbench_may_omit_only_ticks_that_its_own_delays_explain() {
    let ticks = Ticks { job: BATCH, per_s: 100, from_ms: 1_000, to_ms: 3_000 };
    let begin = |ms: u32| RequestRow { job: BATCH.to_owned(), s: f64::from(ms) / 1e3 };
    let check = |ms: Range<u32>, by: usize, late: Range<u32>, expected: RangeInclusive<u64>| {
        let times = ms.clone().step_by(by).filter(|at| !late.contains(at));
        let begun: Vec<RequestRow> = times.map(begin).collect();
        assert_eq!(Dbbench.may_send(ticks, &begun), expected, "{ms:?} by {by} without {late:?}");
        assert_eq!(Assay.may_send(ticks, &begun), 199..=199);
    };
    check(1_010..3_000, 10, 0..0, 198..=200);
    check(1_010..3_000, 10, 1_500..1_590, 189..=200);
    check(1_110..2_910, 10, 0..0, 179..=200);
    // A different rate or start is not mistaken for lateness.
    check(1_011..3_000, 11, 0..0, 198..=200);
    check(2_510..3_000, 10, 0..0, 99..=200);
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
