//! The table of keys.

use super::form::Form;
use super::key::{GLOBAL, Key, KeyGroup};

/// The template of keys in the sections of a workload. A line may limit such a key to one database:
/// `query.mysql`.
const SECTION: Key = Key { by_dialect: true, ..GLOBAL };

const FIXED: Key = Key { place: KeyGroup::Fixed, ..SECTION };
const LOAD: Key = Key { place: KeyGroup::Load, ..SECTION };
const TARGET: Key = Key { place: KeyGroup::Target, ..SECTION };
/// The template of keys about statements. A job that runs a program has no statements.
const STATEMENTS: Key = Key { place: KeyGroup::Statements, allowed_with_command: false, ..SECTION };
const ARRIVALS: Key = Key { place: KeyGroup::Arrivals, ..SECTION };
const ERRORS: Key = Key { place: KeyGroup::Errors, ..SECTION };
const CONDITIONS: Key = Key { place: KeyGroup::Conditions, ..SECTION };
const THRESHOLD: Key = Key { place: KeyGroup::Threshold, ..SECTION };
const OBSERVE: Key = Key { place: KeyGroup::Observe, ..SECTION };
const QUESTION: Key = Key { place: KeyGroup::Question, ..GLOBAL };
const ARM: Key = Key { place: KeyGroup::Arm, ..GLOBAL };
const CAPACITY: Key = Key { place: KeyGroup::Capacity, ..GLOBAL };
const SWEEP: Key = Key { place: KeyGroup::Sweep, ..GLOBAL };
const SATURATE: Key = Key { place: KeyGroup::Saturate, ..GLOBAL };

const YES_NO: Form = Form::Choice(&["yes", "no"]);

/// Name of the key that sets the longest wait for a statement before the jobs.
pub const SETUP_TIMEOUT: &str = "setup-timeout";

/// Name of the key that sets the longest stall of a load, results file or teardown.
pub const STALL_TIMEOUT: &str = "stall-timeout";

/// Every key of this version.
pub static ALL: &[Key] = &[
    Key {
        name: "duration",
        form: Form::Duration,
        default: "until interrupted, or until every job reached its count or stop",
        doc: "time during which requests are scheduled, warm-up included; 0 for no limit",
        example: "duration = 60s",
        ..GLOBAL
    },
    Key {
        name: "warmup",
        form: Form::Warmup,
        default: "0s",
        doc: "warm-up to exclude: a duration, or `auto` to detect it when the run is over",
        example: "warmup = 10s",
        ..GLOBAL
    },
    Key {
        name: "seed",
        form: Form::Count,
        default: "42",
        doc: "seed of every schedule and value: the same seed gives the same requests",
        example: "seed = 7",
        ..GLOBAL
    },
    Key {
        name: "drain",
        form: Form::Duration,
        default: "10s",
        doc: "time for waiting and running requests after the end",
        example: "drain = 30s",
        ..GLOBAL
    },
    Key {
        name: STALL_TIMEOUT,
        form: Form::Duration,
        default: "2m",
        doc: "longest stall of a load, results file or statement of [teardown] before it ends",
        example: "stall-timeout = 10m",
        ..GLOBAL
    },
    Key {
        name: SETUP_TIMEOUT,
        form: Form::Duration,
        default: "2h",
        doc: "longest time of a statement of [setup], `restore` or `before`, a count of rows or a \
              vacuum",
        example: "setup-timeout = 10m",
        ..GLOBAL
    },
    Key {
        name: "probe",
        form: Form::Duration,
        default: "10s",
        doc: "length of a row in the table of quantiles over time",
        example: "probe = 1s",
        ..GLOBAL
    },
    Key {
        name: "url",
        form: Form::Url,
        default: "a temporary SQLite database",
        doc: "main target: postgres://HOST/DATABASE, sqlite:FILE, …; the option --url overrides it",
        example: "url = sqlite:bank.db",
        ..GLOBAL
    },
    Key {
        name: "error",
        form: Form::Codes,
        doc: "error codes that every job accepts; they are counted separately",
        example: "error = 40001, 1213",
        repeatable: true,
        ..GLOBAL
    },
    Key {
        name: "connections",
        form: Form::Count,
        default: "highest rate times 20 ms, at least 4",
        doc: "connections that an open job opens before it starts",
        example: "connections = 64",
        ..GLOBAL
    },
    Key {
        name: "max-connections",
        form: Form::Count,
        default: "1000",
        doc: "largest number of connections of an open job",
        example: "max-connections = 200",
        ..GLOBAL
    },
    Key {
        name: "query",
        form: Form::Statement,
        doc: "statement that runs once; `${…}` takes constants and is inserted into the text",
        example: "query = create table t (id bigint primary key)",
        repeatable: true,
        ..FIXED
    },
    Key {
        name: "query-file",
        form: Form::File,
        doc: "file of statements, each ended by `;`, which replace this line",
        example: "query-file = schema.sql",
        repeatable: true,
        ..FIXED
    },
    Key {
        name: "rows",
        form: Form::Count,
        default: "",
        doc: "number of rows to insert",
        example: "rows = 100k",
        ..LOAD
    },
    Key {
        name: "columns",
        alias: Some("column"),
        form: Form::Named,
        default: "",
        doc: "columns in order, each with the expression for its values",
        example: "columns = id: row(), owner: text(12, 40)",
        repeatable: true,
        ..LOAD
    },
    Key {
        name: "writers",
        form: Form::Count,
        default: "1",
        doc: "connections that load at the same time",
        example: "writers = 4",
        ..LOAD
    },
    Key {
        name: "batch",
        form: Form::Count,
        default: "1000",
        doc: "rows per commit",
        example: "batch = 10k",
        ..LOAD
    },
    Key {
        name: "method",
        form: Form::Choice(&["auto", "insert", "copy", "load-data"]),
        default: "auto",
        doc: "method of sending rows: copy (PostgreSQL), load-data (MySQL), or the fastest (auto)",
        example: "method = insert",
        ..LOAD
    },
    Key {
        name: "on-duplicate",
        form: Form::Choice(&["error", "ignore", "replace"]),
        default: "error",
        doc: "treatment of a row whose key exists",
        example: "on-duplicate = ignore",
        ..LOAD
    },
    Key {
        name: "indexes",
        form: Form::Choice(&["before", "after"]),
        default: "before",
        doc: "run create index statements of [setup] before or after the rows are loaded",
        example: "indexes = after",
        ..LOAD
    },
    Key {
        name: "url",
        form: Form::Url,
        default: "",
        doc: "address of the target with this name; the option --url does not change it",
        example: "url = sqlite:copy.db",
        ..TARGET
    },
    Key {
        name: "query",
        form: Form::Statement,
        default: "",
        doc: "statement of the request, in order; `${…}` is a bound value",
        example: "query = select * from t where id = ${uniform(1, 1000)}",
        repeatable: true,
        makes_job: true,
        allowed_with_mix: false,
        allowed_with_log: false,
        ..STATEMENTS
    },
    Key {
        name: "query-file",
        form: Form::File,
        doc: "file of statements, each ended by `;`, which replace this line",
        example: "query-file = transfer.sql",
        repeatable: true,
        makes_job: true,
        allowed_with_mix: false,
        allowed_with_log: false,
        ..STATEMENTS
    },
    Key {
        name: "mix",
        form: Form::Portions,
        doc: "sections from which each request of the job is drawn, with their weights",
        example: "mix = read: 80, write: 20",
        makes_job: true,
        allowed_with_log: false,
        ..STATEMENTS
    },
    Key {
        name: "let",
        form: Form::Named,
        doc: "variables computed once per request, for use in its statements",
        example: "let = a: uniform(1, 1000), b: a + 1",
        repeatable: true,
        allowed_with_mix: false,
        allowed_with_command: true,
        allowed_with_log: false,
        ..STATEMENTS
    },
    Key {
        name: "transaction",
        form: YES_NO,
        default: "no",
        doc: "run the statements in one transaction",
        example: "transaction = yes",
        allowed_with_mix: false,
        allowed_with_log: false,
        ..STATEMENTS
    },
    Key {
        name: "pipeline",
        form: YES_NO,
        default: "no",
        doc: "send the statements of a transaction without waiting for each answer",
        example: "pipeline = yes",
        allowed_with_mix: false,
        ..STATEMENTS
    },
    Key {
        name: "multi-query-mode",
        form: Form::Choice(&["multi-connection"]),
        default: "the first error ends a request",
        doc: "send every statement of a request, also after one that failed",
        example: "multi-query-mode = multi-connection",
        allowed_with_mix: false,
        ..STATEMENTS
    },
    Key {
        name: "query-args-file",
        form: Form::File,
        doc: "file of CSV records; each request takes the next one for `?`, `$1` and `${field(1)}`",
        example: "query-args-file = users.csv",
        allowed_with_mix: false,
        ..STATEMENTS
    },
    Key {
        name: "query-args-delim",
        form: Form::Text,
        default: "`,`",
        doc: "separator of the fields of the args file, in quotes",
        example: "query-args-delim = \"\\t\"",
        allowed_with_mix: false,
        ..STATEMENTS
    },
    Key {
        name: "query-log-file",
        form: Form::File,
        doc: "log of `MICROSECONDS,STATEMENT` lines, replayed with their gaps",
        example: "query-log-file = query.log",
        makes_job: true,
        sets_pacing: true,
        allowed_with_mix: false,
        ..STATEMENTS
    },
    Key {
        name: "query-results-file",
        form: Form::File,
        doc: "new CSV file for the returned rows, relative to the record's folder",
        example: "query-results-file = found.csv",
        allowed_with_mix: false,
        ..STATEMENTS
    },
    Key {
        name: "prepare",
        form: YES_NO,
        default: "yes",
        doc: "prepare statements and bind values (yes), or send text with literals (no)",
        example: "prepare = no",
        allowed_with_mix: false,
        ..STATEMENTS
    },
    Key {
        name: "expect-rows",
        form: Form::Rows,
        doc: "expected rows returned or changed by a request; any other number is the error `rows`",
        example: "expect-rows = 1",
        allowed_with_mix: false,
        ..STATEMENTS
    },
    Key {
        name: "command",
        form: Form::Command,
        doc: "program that /bin/sh runs instead of statements; needs --allow-commands",
        example: "command = ./backup.sh ${uniform(1, 4)}",
        makes_job: true,
        allowed_with_mix: false,
        allowed_with_command: true,
        ..STATEMENTS
    },
    Key {
        name: "target",
        form: Form::Target,
        default: "the main target",
        doc: "name of the `[target NAME]` that the job uses",
        example: "target = copy",
        by_dialect: false,
        allowed_in_part: false,
        ..STATEMENTS
    },
    Key {
        name: "rate",
        form: Form::Rate,
        doc: "arrivals per second: Poisson from 1/s, a timetable below 1/s, or a shape",
        example: "rate = 3000",
        sets_pacing: true,
        ..ARRIVALS
    },
    Key {
        name: "arrival",
        form: Form::Choice(&["poisson", "uniform"]),
        default: "poisson from 1/s on, uniform below",
        doc: "spread of the arrivals of a rate: at random, or evenly",
        example: "arrival = uniform",
        allowed_in_part: false,
        ..ARRIVALS
    },
    Key {
        name: "every",
        form: Form::Duration,
        doc: "period of a timetable: one arrival per period, the first after one period",
        example: "every = 10s",
        sets_pacing: true,
        ..ARRIVALS
    },
    Key {
        name: "session",
        form: YES_NO,
        default: "no",
        doc: "treat an arrival as a session: its statements one by one, with `think` between them",
        example: "session = yes",
        allowed_with_mix: false,
        allowed_with_command: false,
        ..ARRIVALS
    },
    Key {
        name: "concurrency",
        alias: Some("queue-depth"),
        form: Form::Count,
        default: "1 if neither `rate` nor `every` is set",
        doc: "number of clients of a closed job; with a rate, workers that serve its queue",
        example: "concurrency = 16",
        sets_pacing: true,
        ..ARRIVALS
    },
    Key {
        name: "think",
        form: Form::Pause,
        doc: "pause of a client between an answer and its next request",
        example: "think = exp(20ms)",
        ..ARRIVALS
    },
    Key {
        name: "batch-size",
        form: Form::Count,
        default: "1",
        doc: "requests per arrival, all with the same intended start",
        example: "batch-size = 10",
        allowed_in_part: false,
        ..ARRIVALS
    },
    Key {
        name: "queue-limit",
        form: Form::Count,
        default: "100000",
        doc: "longest queue of a job with rate and concurrency",
        example: "queue-limit = 1000",
        allowed_in_part: false,
        ..ARRIVALS
    },
    Key {
        name: "on-queue-full",
        form: Form::Choice(&["reject", "stop"]),
        default: "reject",
        doc: "reject an arrival at a full queue, or also end the run as INVALID",
        example: "on-queue-full = stop",
        allowed_in_part: false,
        ..ARRIVALS
    },
    Key {
        name: "count",
        form: Form::Count,
        default: "no limit",
        doc: "total number of arrivals, or of requests of a closed job",
        example: "count = 1M",
        allowed_in_part: false,
        ..ARRIVALS
    },
    Key {
        name: "start",
        form: Form::Duration,
        default: "0s",
        doc: "start of the job, after the start of the run",
        example: "start = 5s",
        allowed_in_part: false,
        ..ARRIVALS
    },
    Key {
        name: "stop",
        form: Form::Duration,
        default: "the end of the run",
        doc: "end of the job, after the start of the run; 0 for never",
        example: "stop = 30s",
        allowed_in_part: false,
        ..ARRIVALS
    },
    Key {
        name: "timeout",
        form: Form::Duration,
        doc: "longest time of a request from its first byte sent",
        example: "timeout = 2s",
        ..ERRORS
    },
    Key {
        name: "retry",
        form: Form::Retry,
        doc: "number of retries of a request, and the error codes that cause one",
        example: "retry = 3 on 40001, 1213",
        ..ERRORS
    },
    Key {
        name: "error",
        form: Form::Codes,
        doc: "error codes that the job accepts; they are counted separately",
        example: "error = 40001, 1213",
        repeatable: true,
        ..ERRORS
    },
    Key {
        name: "on-error",
        form: Form::Choice(&["continue", "stop"]),
        default: "continue",
        doc: "continue or stop the run at an error that is not accepted",
        example: "on-error = stop",
        ..ERRORS
    },
    Key {
        name: "reconnect",
        form: Form::Choice(&["no", "per-transaction"]),
        default: "no",
        doc: "open a connection for each request, as part of its service time",
        example: "reconnect = per-transaction",
        allowed_in_part: false,
        allowed_with_command: false,
        ..ERRORS
    },
    Key {
        name: "outage",
        form: Form::Choice(&["fail", "wait"]),
        default: "fail",
        doc: "let arrivals fail at once, or wait, while the target refuses connections",
        example: "outage = wait",
        allowed_in_part: false,
        ..ERRORS
    },
    Key {
        name: "slo",
        form: Form::Conditions,
        doc: "conditions that the run must meet; if one is missed, the exit code is 1",
        example: "slo = p99 < 30ms, failed < 0.1%",
        repeatable: true,
        ..CONDITIONS
    },
    Key {
        name: "slo",
        form: Form::Conditions,
        doc: "conditions of jobs, each with its job in parentheses; same meaning as in the job",
        example: "slo = p99(read) < 30ms, throughput(write) > 100",
        repeatable: true,
        ..THRESHOLD
    },
    Key {
        name: "every",
        form: Form::Duration,
        default: "1s",
        doc: "interval of samples of machine, processes and database; 100ms to 1m",
        example: "every = 5s",
        ..OBSERVE
    },
    Key {
        name: "database",
        form: YES_NO,
        default: "yes",
        doc: "sample the activity of the database ten times per second, over one more session",
        example: "database = no",
        ..OBSERVE
    },
    Key {
        name: "pid",
        form: Form::Count,
        default: "found by the port of the target",
        doc: "process id of the database on this machine; its children are included",
        example: "pid = 4711",
        repeatable: true,
        ..OBSERVE
    },
    Key {
        name: "host",
        form: Form::Host,
        doc: "another machine to observe through ssh; needs --allow-commands",
        example: "host = ssh://postgres@db1",
        repeatable: true,
        ..OBSERVE
    },
    Key {
        name: "ask",
        form: Form::Words,
        default: "",
        doc: "the question, as a sentence",
        example: "ask = What does TLS cost this read workload?",
        ..QUESTION
    },
    Key {
        name: "workload",
        form: Form::File,
        default: "the other sections of the file",
        doc: "workload file of every run, in the folder of the experiment file or below it",
        example: "workload = read.ini",
        ..QUESTION
    },
    Key {
        name: "bet",
        form: Form::Bet,
        doc: "expected change of a metric from the first arm to each other arm",
        example: "bet = throughput -5% .. -25%",
        repeatable: true,
        ..QUESTION
    },
    Key {
        name: "rounds",
        form: Form::Rounds,
        default: "auto",
        doc: "number of rounds, at least 6; auto evaluates after 8, 12 and 20 and may end early",
        example: "rounds = 12",
        ..QUESTION
    },
    Key {
        name: "restore",
        form: Form::Restore,
        default: "none",
        doc: "action before each run: none, reload (teardown, setup, loads), or SQL statements",
        example: "restore = delete from payment where id > 1000",
        repeatable: true,
        ..QUESTION
    },
    Key {
        name: "differences",
        form: Form::Choice(&["one", "several"]),
        default: "one",
        doc: "number of things that an arm may change; with several, the answer says so",
        example: "differences = several",
        ..QUESTION
    },
    Key {
        name: "design",
        form: Form::Choice(&["arms", "aa"]),
        default: "arms",
        doc: "compare the arms, or the only arm with itself (aa) to measure false alarms",
        example: "design = aa",
        ..QUESTION
    },
    Key {
        name: "delta",
        form: Form::Deltas,
        default: "5% for times, 0.1% for failed, 1% for all others",
        doc: "smallest changes that matter, of all metrics or single ones: `2%, response.p99 10%`",
        example: "delta = 2%",
        ..QUESTION
    },
    Key {
        name: "option.NAME",
        form: Form::Words,
        doc: "option of the target's URL",
        example: "option.tls = require",
        is_pattern: true,
        ..ARM
    },
    Key {
        name: "url",
        form: Form::Url,
        doc: "address of another target",
        example: "url = postgres://db2/shop",
        ..ARM
    },
    Key {
        name: "set.NAME",
        form: Form::Words,
        doc: "parameter of the workload, as with --set",
        example: "set.batch = 10k",
        is_pattern: true,
        ..ARM
    },
    Key {
        name: "server.NAME",
        form: Form::Words,
        doc: "setting of a `testbed:` server, which is restarted before every run",
        example: "server.synchronous_commit = off",
        is_pattern: true,
        ..ARM
    },
    Key {
        name: "KEY(SECTION)",
        form: Form::Words,
        doc: "pacing key of a job of the workload",
        example: "concurrency(read) = 32",
        is_pattern: true,
        ..ARM
    },
    Key {
        name: "before",
        form: Form::Statement,
        doc: "statement before each run of the arm",
        example: "before = create index payment_time on payment (time)",
        repeatable: true,
        ..ARM
    },
    Key {
        name: "after",
        form: Form::Statement,
        doc: "statement after each run of the arm",
        example: "after = drop index payment_time",
        repeatable: true,
        ..ARM
    },
    Key {
        name: "before-command",
        form: Form::Command,
        doc: "program that /bin/sh runs before each run of the arm; needs --allow-commands",
        example: "before-command = ./warm-cache.sh",
        repeatable: true,
        ..ARM
    },
    Key {
        name: "after-command",
        form: Form::Command,
        doc: "program that /bin/sh runs after each run of the arm; needs --allow-commands",
        example: "after-command = ./drop-cache.sh",
        repeatable: true,
        ..ARM
    },
    Key {
        name: "slo",
        form: Form::Conditions,
        default: "",
        doc: "conditions that must all hold at the capacity, each with its job in parentheses",
        example: "slo = p99(read) < 30ms",
        repeatable: true,
        ..CAPACITY
    },
    Key {
        name: "vary",
        form: Form::Load,
        default: "",
        doc: "load whose highest value is searched for",
        example: "vary = rate(read)",
        ..CAPACITY
    },
    Key {
        name: "first",
        form: Form::LoadValue,
        default: "100 per second, or 1 client",
        doc: "first value to try",
        example: "first = 1k",
        ..CAPACITY
    },
    Key {
        name: "highest",
        form: Form::LoadValue,
        default: "1M per second, or `max-connections`",
        doc: "largest value to try",
        example: "highest = 50k",
        ..CAPACITY
    },
    Key {
        name: "trial",
        form: Form::Duration,
        default: "a sixtieth of the budget, 2 to 10 s; for a rate, at least 50 times the lowest \
                  bound of a response time, up to 10 s (10 s without such a bound)",
        doc: "minimum length of a trial without its warm-up; longer if chance could decide it",
        example: "trial = 30s",
        ..CAPACITY
    },
    Key {
        name: "budget",
        form: Form::Duration,
        default: "15m",
        doc: "time for all trials together, without the hold",
        example: "budget = 1h",
        ..CAPACITY
    },
    Key {
        name: "hold",
        form: Form::Duration,
        doc: "length of a final trial at the confirmed value",
        example: "hold = 1h",
        ..CAPACITY
    },
    Key {
        name: "vary",
        form: Form::Vary,
        default: "",
        doc: "what takes several values, and the values: a list, or a range with its step",
        example: "vary = concurrency(read): 1..128 x2",
        ..SWEEP
    },
    Key {
        name: "repeats",
        form: Form::Count,
        default: "3",
        doc: "runs at each point; each repeat runs every point once, in random order",
        example: "repeats = 5",
        ..SWEEP
    },
    Key {
        name: "best",
        form: Form::Best,
        default: "no point is called the best",
        doc: "rule for the best point",
        example: "best = lowest response.p99(read)",
        ..SWEEP
    },
    Key {
        name: "vary",
        form: Form::Load,
        default: "",
        doc: "load that grows until the condition of `until` is met; all arms are compared at it",
        example: "vary = concurrency(read)",
        ..SATURATE
    },
    Key {
        name: "values",
        form: Form::Range,
        default: "doubling: 1 to 512 clients, or 100 to 102,400 per second",
        doc: "values of the load, ascending: a list, or a range with its step",
        example: "values = 1..128 x2",
        ..SATURATE
    },
    Key {
        name: "until",
        form: Form::Saturated,
        default: "",
        doc: "condition that ends the steps: a share of processors, or a gain of throughput",
        example: "until = cpu(database) >= 95%",
        ..SATURATE
    },
];
