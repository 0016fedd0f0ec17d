//! The keys of workload files.
//!
//! This single table defines the keys that the parser accepts, the suggestions for unknown keys,
//! and the text of `--help` and of the guide's reference.

mod form;

pub use form::Form;

/// The part of a file to which a key belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Above the first section.
    Global,
    /// `[setup]` and `[teardown]`.
    Fixed,
    /// `[load TABLE]`.
    Load,
    /// `[target NAME]`.
    Target,
    /// In a job: what it sends.
    What,
    /// In a job: its pacing.
    When,
    /// In a job: the treatment of errors.
    Faults,
    /// In a job: its conditions.
    Judged,
    /// `[threshold]`.
    Threshold,
    /// `[observe]`.
    Observe,
}

impl Place {
    /// Every place, in the order of the reference.
    pub const ALL: [Place; 10] = [
        Place::Global,
        Place::Fixed,
        Place::Load,
        Place::Target,
        Place::What,
        Place::When,
        Place::Faults,
        Place::Judged,
        Place::Threshold,
        Place::Observe,
    ];

    /// Returns the heading in the reference.
    pub fn title(self) -> &'static str {
        match self {
            Place::Global => "above the first section",
            Place::Fixed => "[setup], [teardown]",
            Place::Load => "[load TABLE]",
            Place::Target => "[target NAME]",
            Place::What => "job: statements",
            Place::When => "job: arrivals",
            Place::Faults => "job: errors",
            Place::Judged => "job: conditions",
            Place::Threshold => "[threshold]",
            Place::Observe => "[observe]",
        }
    }

    /// Returns the kind of section that contains the key.
    pub fn owner(self) -> Owner {
        match self {
            Place::Global => Owner::Global,
            Place::Fixed => Owner::Fixed,
            Place::Load => Owner::Load,
            Place::Target => Owner::Target,
            Place::What | Place::When | Place::Faults | Place::Judged => Owner::Job,
            Place::Threshold => Owner::Threshold,
            Place::Observe => Owner::Observe,
        }
    }
}

/// A kind of section with a fixed set of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The part above the first section.
    Global,
    /// `[setup]` and `[teardown]`.
    Fixed,
    /// `[load TABLE]`.
    Load,
    /// `[target NAME]`.
    Target,
    /// A job.
    Job,
    /// `[threshold]`.
    Threshold,
    /// `[observe]`.
    Observe,
}

impl Owner {
    /// Returns the place of such keys in words: `in a job`.
    pub(crate) fn whereabouts(self) -> &'static str {
        match self {
            Owner::Global => "above the first section",
            Owner::Fixed => "in `[setup]` or `[teardown]`",
            Owner::Load => "in a `[load TABLE]` section",
            Owner::Target => "in a `[target NAME]` section",
            Owner::Job => "in a job",
            Owner::Threshold => "in `[threshold]`",
            Owner::Observe => "in `[observe]`",
        }
    }
}

/// A key of the workload file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its second name, if any.
    pub alias: Option<&'static str>,
    /// Part of the file to which it belongs.
    pub place: Place,
    /// True if it may occur more than once.
    pub repeatable: bool,
    /// Form of its value.
    pub form: Form,
    /// Default in words; empty if the key is required.
    pub default: &'static str,
    /// Its meaning and unit, in one line.
    pub doc: &'static str,
    /// An example line.
    pub example: &'static str,
}

/// Returns true if the value of a key is literal to the end of the line: a `;` begins no comment.
pub(crate) fn is_literal(name: &str) -> bool {
    let base = name.split_once('.').map_or(name, |(base, _)| base);
    let has_literals = |form| matches!(form, Form::Statement | Form::Command);
    ALL.iter().any(|key| has_literals(key.form) && key.name == base)
}

/// Returns the key with a name or alias in a kind of section.
pub fn find(owner: Owner, name: &str) -> Option<&'static Key> {
    of(owner).find(|key| key.name == name || key.alias == Some(name))
}

/// Returns the keys of a kind of section.
pub fn of(owner: Owner) -> impl Iterator<Item = &'static Key> {
    ALL.iter().filter(move |key| key.place.owner() == owner)
}

const YES_NO: Form = Form::Choice(&["yes", "no"]);

/// Every key of this version.
pub static ALL: &[Key] = &[
    Key {
        name: "duration",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Duration,
        default: "until interrupted, or until every job reached its count or stop",
        doc: "time during which requests are scheduled, warm-up included; 0 for no limit",
        example: "duration = 60s",
    },
    Key {
        name: "warmup",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Warmup,
        default: "0s",
        doc: "warm-up to exclude: a duration, or `auto` to detect it when the run is over",
        example: "warmup = 10s",
    },
    Key {
        name: "seed",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Count,
        default: "42",
        doc: "seed of every schedule and value: the same seed gives the same requests",
        example: "seed = 7",
    },
    Key {
        name: "drain",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Duration,
        default: "10s",
        doc: "time for waiting and running requests after the end",
        example: "drain = 30s",
    },
    Key {
        name: "stall-timeout",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Duration,
        default: "2m",
        doc: "longest stall of a load, results file or statement of [teardown] before it ends",
        example: "stall-timeout = 10m",
    },
    Key {
        name: "probe",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Duration,
        default: "10s",
        doc: "length of a row in the table of quantiles over time",
        example: "probe = 1s",
    },
    Key {
        name: "url",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Url,
        default: "a temporary SQLite database",
        doc: "main target: postgres://HOST/DATABASE, sqlite:FILE, …; the option --url overrides it",
        example: "url = sqlite:bank.db",
    },
    Key {
        name: "error",
        alias: None,
        place: Place::Global,
        repeatable: true,
        form: Form::Codes,
        default: "none",
        doc: "error codes that every job accepts; they are counted separately",
        example: "error = 40001, 1213",
    },
    Key {
        name: "connections",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Count,
        default: "highest rate times 20 ms, at least 4",
        doc: "connections that an open job opens before it starts",
        example: "connections = 64",
    },
    Key {
        name: "max-connections",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Count,
        default: "1000",
        doc: "largest number of connections of an open job",
        example: "max-connections = 200",
    },
    Key {
        name: "query",
        alias: None,
        place: Place::Fixed,
        repeatable: true,
        form: Form::Statement,
        default: "none",
        doc: "statement that runs once; `${…}` takes constants and is inserted into the text",
        example: "query = create table t (id bigint primary key)",
    },
    Key {
        name: "query-file",
        alias: None,
        place: Place::Fixed,
        repeatable: true,
        form: Form::File,
        default: "none",
        doc: "file of statements, each ended by `;`, which replace this line",
        example: "query-file = schema.sql",
    },
    Key {
        name: "rows",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Count,
        default: "",
        doc: "number of rows to insert",
        example: "rows = 100k",
    },
    Key {
        name: "columns",
        alias: Some("column"),
        place: Place::Load,
        repeatable: true,
        form: Form::Named,
        default: "",
        doc: "columns in order, each with the expression for its values",
        example: "columns = id: row(), owner: text(12, 40)",
    },
    Key {
        name: "writers",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Count,
        default: "1",
        doc: "connections that load at the same time",
        example: "writers = 4",
    },
    Key {
        name: "batch",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Count,
        default: "1000",
        doc: "rows per commit",
        example: "batch = 10k",
    },
    Key {
        name: "method",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Choice(&["auto", "insert", "copy", "load-data"]),
        default: "auto",
        doc: "method of sending rows: copy (PostgreSQL), load-data (MySQL), or the fastest (auto)",
        example: "method = insert",
    },
    Key {
        name: "on-duplicate",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Choice(&["error", "ignore", "replace"]),
        default: "error",
        doc: "treatment of a row whose key exists",
        example: "on-duplicate = ignore",
    },
    Key {
        name: "indexes",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Choice(&["before", "after"]),
        default: "before",
        doc: "run create index statements of [setup] before or after the rows are loaded",
        example: "indexes = after",
    },
    Key {
        name: "url",
        alias: None,
        place: Place::Target,
        repeatable: false,
        form: Form::Url,
        default: "",
        doc: "address of the target with this name; the option --url does not change it",
        example: "url = sqlite:copy.db",
    },
    Key {
        name: "query",
        alias: None,
        place: Place::What,
        repeatable: true,
        form: Form::Statement,
        default: "",
        doc: "statement of the request, in order; `${…}` is a bound value",
        example: "query = select * from t where id = ${uniform(1, 1000)}",
    },
    Key {
        name: "query-file",
        alias: None,
        place: Place::What,
        repeatable: true,
        form: Form::File,
        default: "none",
        doc: "file of statements, each ended by `;`, which replace this line",
        example: "query-file = transfer.sql",
    },
    Key {
        name: "mix",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Portions,
        default: "none",
        doc: "sections from which each request of the job is drawn, with their weights",
        example: "mix = read: 80, write: 20",
    },
    Key {
        name: "let",
        alias: None,
        place: Place::What,
        repeatable: true,
        form: Form::Named,
        default: "none",
        doc: "variables computed once per request, for use in its statements",
        example: "let = a: uniform(1, 1000), b: a + 1",
    },
    Key {
        name: "transaction",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: YES_NO,
        default: "no",
        doc: "run the statements in one transaction",
        example: "transaction = yes",
    },
    Key {
        name: "pipeline",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: YES_NO,
        default: "no",
        doc: "send the statements of a transaction without waiting for each answer",
        example: "pipeline = yes",
    },
    Key {
        name: "multi-query-mode",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Choice(&["multi-connection"]),
        default: "the first error ends a request",
        doc: "send every statement of a request, also after one that failed",
        example: "multi-query-mode = multi-connection",
    },
    Key {
        name: "query-args-file",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::File,
        default: "none",
        doc: "file of CSV records; each request takes the next one for `?`, `$1` and `${field(1)}`",
        example: "query-args-file = users.csv",
    },
    Key {
        name: "query-args-delim",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Text,
        default: "`,`",
        doc: "separator of the fields of the args file, in quotes",
        example: "query-args-delim = \"\\t\"",
    },
    Key {
        name: "query-log-file",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::File,
        default: "none",
        doc: "log of `MICROSECONDS,STATEMENT` lines, replayed with their gaps",
        example: "query-log-file = query.log",
    },
    Key {
        name: "query-results-file",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::File,
        default: "none",
        doc: "new CSV file for the returned rows, relative to the record's folder",
        example: "query-results-file = found.csv",
    },
    Key {
        name: "prepare",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: YES_NO,
        default: "yes",
        doc: "prepare statements and bind values (yes), or send text with literals (no)",
        example: "prepare = no",
    },
    Key {
        name: "expect-rows",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Rows,
        default: "none",
        doc: "expected rows returned or changed by a request; another number is the error `rows`",
        example: "expect-rows = 1",
    },
    Key {
        name: "command",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Command,
        default: "none",
        doc: "program that /bin/sh runs instead of statements; needs --allow-commands",
        example: "command = ./backup.sh ${uniform(1, 4)}",
    },
    Key {
        name: "target",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Target,
        default: "the main target",
        doc: "name of the `[target NAME]` that the job uses",
        example: "target = copy",
    },
    Key {
        name: "rate",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Rate,
        default: "none",
        doc: "arrivals per second: Poisson from 1/s, a timetable below 1/s, or a shape",
        example: "rate = 3000",
    },
    Key {
        name: "arrival",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Choice(&["poisson", "uniform"]),
        default: "poisson from 1/s on, uniform below",
        doc: "spread of the arrivals of a rate: at random, or evenly",
        example: "arrival = uniform",
    },
    Key {
        name: "every",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Duration,
        default: "none",
        doc: "period of a timetable: one arrival per period, the first after one period",
        example: "every = 10s",
    },
    Key {
        name: "session",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: YES_NO,
        default: "no",
        doc: "treat an arrival as a session: its statements one by one, with `think` between them",
        example: "session = yes",
    },
    Key {
        name: "concurrency",
        alias: Some("queue-depth"),
        place: Place::When,
        repeatable: false,
        form: Form::Count,
        default: "1 without a rate or every",
        doc: "number of clients of a closed job; with a rate, workers that serve its queue",
        example: "concurrency = 16",
    },
    Key {
        name: "think",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Pause,
        default: "none",
        doc: "pause of a client between an answer and its next request",
        example: "think = exp(20ms)",
    },
    Key {
        name: "batch-size",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Count,
        default: "1",
        doc: "requests per arrival, all with the same intended start",
        example: "batch-size = 10",
    },
    Key {
        name: "queue-limit",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Count,
        default: "100000",
        doc: "longest queue of a job with rate and concurrency",
        example: "queue-limit = 1000",
    },
    Key {
        name: "on-queue-full",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Choice(&["reject", "stop"]),
        default: "reject",
        doc: "reject an arrival at a full queue, or also end the run as INVALID",
        example: "on-queue-full = stop",
    },
    Key {
        name: "count",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Count,
        default: "no limit",
        doc: "total number of arrivals, or of requests of a closed job",
        example: "count = 1M",
    },
    Key {
        name: "start",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Duration,
        default: "0s",
        doc: "start of the job, after the start of the run",
        example: "start = 5s",
    },
    Key {
        name: "stop",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Duration,
        default: "the end of the run",
        doc: "end of the job, after the start of the run; 0 for never",
        example: "stop = 30s",
    },
    Key {
        name: "timeout",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Duration,
        default: "none",
        doc: "longest time of a request from its first byte sent",
        example: "timeout = 2s",
    },
    Key {
        name: "retry",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Retry,
        default: "none",
        doc: "number of retries of a request, and the error codes that cause one",
        example: "retry = 3 on 40001, 1213",
    },
    Key {
        name: "error",
        alias: None,
        place: Place::Faults,
        repeatable: true,
        form: Form::Codes,
        default: "none",
        doc: "error codes that the job accepts; they are counted separately",
        example: "error = 40001, 1213",
    },
    Key {
        name: "on-error",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Choice(&["continue", "stop"]),
        default: "continue",
        doc: "continue or stop the run at an error that is not accepted",
        example: "on-error = stop",
    },
    Key {
        name: "reconnect",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Choice(&["no", "per-transaction"]),
        default: "no",
        doc: "open a connection for each request, as part of its service time",
        example: "reconnect = per-transaction",
    },
    Key {
        name: "outage",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Choice(&["fail", "wait"]),
        default: "fail",
        doc: "let arrivals fail at once, or wait, while the target refuses connections",
        example: "outage = wait",
    },
    Key {
        name: "slo",
        alias: None,
        place: Place::Judged,
        repeatable: true,
        form: Form::Conditions,
        default: "none",
        doc: "conditions that the run must meet; if one is missed, the exit code is 1",
        example: "slo = p99 < 30ms, failed < 0.1%",
    },
    Key {
        name: "slo",
        alias: None,
        place: Place::Threshold,
        repeatable: true,
        form: Form::Conditions,
        default: "none",
        doc: "conditions of jobs, each with its job in parentheses; same meaning as in the job",
        example: "slo = p99(read) < 30ms, throughput(write) > 100",
    },
    Key {
        name: "every",
        alias: None,
        place: Place::Observe,
        repeatable: false,
        form: Form::Duration,
        default: "1s",
        doc: "interval of samples of machine, processes and database; 100ms to 1m",
        example: "every = 5s",
    },
    Key {
        name: "database",
        alias: None,
        place: Place::Observe,
        repeatable: false,
        form: YES_NO,
        default: "yes",
        doc: "sample the activity of the database ten times per second, over one more session",
        example: "database = no",
    },
    Key {
        name: "pid",
        alias: None,
        place: Place::Observe,
        repeatable: true,
        form: Form::Count,
        default: "found by the port of the target",
        doc: "process id of the database on this machine; its children are included",
        example: "pid = 4711",
    },
    Key {
        name: "host",
        alias: None,
        place: Place::Observe,
        repeatable: true,
        form: Form::Host,
        default: "none",
        doc: "another machine to observe through ssh; needs --allow-commands",
        example: "host = ssh://postgres@db1",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_in_their_section() {
        for (place, key) in ALL.iter().enumerate() {
            let owner = key.place.owner();
            for other in &ALL[place + 1..] {
                let same = other.name == key.name || other.alias == Some(key.name);
                assert!(!same || other.place.owner() != owner, "{}", key.name);
            }
        }
    }

    #[test]
    fn every_key_documents_itself_in_one_line() {
        for key in ALL {
            let set = key.example.split_once(" = ").map(|(name, _)| name);
            assert!(set == Some(key.name) || set == key.alias, "{}", key.example);
            assert!(key.doc.starts_with(|c: char| c.is_lowercase()), "{}", key.doc);
            assert!(!key.doc.ends_with('.'), "{}", key.doc);
            assert!(key.doc.len() <= 95, "{}", key.doc);
        }
    }
}
