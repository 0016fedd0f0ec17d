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
            Place::What => "job: what",
            Place::When => "job: when",
            Place::Faults => "job: faults",
            Place::Judged => "job: judged",
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
        doc: "how long requests are scheduled, warm-up included; 0 is no limit",
        example: "duration = 60s",
    },
    Key {
        name: "warmup",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Warmup,
        default: "0s",
        doc: "how much of the beginning is not measured; `auto` finds out when the run is over",
        example: "warmup = 10s",
    },
    Key {
        name: "seed",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Count,
        default: "42",
        doc: "the seed of every schedule and every value: the same seed, the same requests",
        example: "seed = 7",
    },
    Key {
        name: "drain",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Duration,
        default: "10s",
        doc: "how long requests that wait or run may take after the end",
        example: "drain = 30s",
    },
    Key {
        name: "stall-timeout",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Duration,
        default: "2m",
        doc: "how long a load, a results file or a statement of [teardown] may stall: then it ends",
        example: "stall-timeout = 10m",
    },
    Key {
        name: "probe",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Duration,
        default: "10s",
        doc: "the length of one row in the table of quantiles over time",
        example: "probe = 1s",
    },
    Key {
        name: "url",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Url,
        default: "a temporary SQLite database",
        doc: "the target, if the option --url names none: postgres://HOST/DATABASE, sqlite:FILE, …",
        example: "url = sqlite:bank.db",
    },
    Key {
        name: "error",
        alias: None,
        place: Place::Global,
        repeatable: true,
        form: Form::Codes,
        default: "none",
        doc: "error codes that every job accepts: they are counted apart",
        example: "error = 40001, 1213",
    },
    Key {
        name: "connections",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Count,
        default: "highest rate times 20 ms, at least 4",
        doc: "how many connections an open job opens before it starts",
        example: "connections = 64",
    },
    Key {
        name: "max-connections",
        alias: None,
        place: Place::Global,
        repeatable: false,
        form: Form::Count,
        default: "1000",
        doc: "how many connections an open job may grow to",
        example: "max-connections = 200",
    },
    Key {
        name: "query",
        alias: None,
        place: Place::Fixed,
        repeatable: true,
        form: Form::Statement,
        default: "none",
        doc: "a statement that runs once; `${…}` holds constants and is written into the text",
        example: "query = create table t (id bigint primary key)",
    },
    Key {
        name: "query-file",
        alias: None,
        place: Place::Fixed,
        repeatable: true,
        form: Form::File,
        default: "none",
        doc: "a file of statements, each ended by `;`; they take the place of this line",
        example: "query-file = schema.sql",
    },
    Key {
        name: "rows",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Count,
        default: "",
        doc: "how many rows the table gets",
        example: "rows = 100k",
    },
    Key {
        name: "columns",
        alias: Some("column"),
        place: Place::Load,
        repeatable: true,
        form: Form::Named,
        default: "",
        doc: "the columns in order, each with the expression that gives its values",
        example: "columns = id: row(), owner: text(12, 40)",
    },
    Key {
        name: "writers",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Count,
        default: "1",
        doc: "how many connections load at the same time",
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
        doc: "how rows are sent: copy on PostgreSQL, load-data on MySQL; auto is the fastest way",
        example: "method = insert",
    },
    Key {
        name: "on-duplicate",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Choice(&["error", "ignore", "replace"]),
        default: "error",
        doc: "what happens to a row whose key exists",
        example: "on-duplicate = ignore",
    },
    Key {
        name: "indexes",
        alias: None,
        place: Place::Load,
        repeatable: false,
        form: Form::Choice(&["before", "after"]),
        default: "before",
        doc: "whether create index statements of [setup] run before or after the rows are in",
        example: "indexes = after",
    },
    Key {
        name: "url",
        alias: None,
        place: Place::Target,
        repeatable: false,
        form: Form::Url,
        default: "",
        doc: "what jobs with this `target` ask; the option --url does not change it",
        example: "url = sqlite:copy.db",
    },
    Key {
        name: "query",
        alias: None,
        place: Place::What,
        repeatable: true,
        form: Form::Statement,
        default: "",
        doc: "a statement of the request, in order; `${…}` is a bound value",
        example: "query = select * from t where id = ${uniform(1, 1000)}",
    },
    Key {
        name: "query-file",
        alias: None,
        place: Place::What,
        repeatable: true,
        form: Form::File,
        default: "none",
        doc: "a file of statements, each ended by `;`; they take the place of this line",
        example: "query-file = transfer.sql",
    },
    Key {
        name: "mix",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Portions,
        default: "none",
        doc: "sections that take turns at random in the job's requests, each with its weight",
        example: "mix = read: 80, write: 20",
    },
    Key {
        name: "let",
        alias: None,
        place: Place::What,
        repeatable: true,
        form: Form::Named,
        default: "none",
        doc: "variables that are made once per request and used in its statements",
        example: "let = a: uniform(1, 1000), b: a + 1",
    },
    Key {
        name: "transaction",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: YES_NO,
        default: "no",
        doc: "whether the statements run inside one transaction",
        example: "transaction = yes",
    },
    Key {
        name: "pipeline",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: YES_NO,
        default: "no",
        doc: "whether a transaction's statements are sent without waiting for answers in between",
        example: "pipeline = yes",
    },
    Key {
        name: "multi-query-mode",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Choice(&["multi-connection"]),
        default: "the first error ends a request",
        doc: "every statement of a request is sent, also after one that failed",
        example: "multi-query-mode = multi-connection",
    },
    Key {
        name: "query-args-file",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::File,
        default: "none",
        doc: "a CSV file: each request takes its next record for `?`, `$1` and `${field(1)}`",
        example: "query-args-file = users.csv",
    },
    Key {
        name: "query-args-delim",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Text,
        default: "`,`",
        doc: "what stands between two fields of the args file, between quotes",
        example: "query-args-delim = \"\\t\"",
    },
    Key {
        name: "query-log-file",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::File,
        default: "none",
        doc: "a log of `MICROSECONDS,STATEMENT` lines, replayed with their gaps",
        example: "query-log-file = query.log",
    },
    Key {
        name: "query-results-file",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::File,
        default: "none",
        doc: "the new file, from the record's folder, to which the returned rows go as CSV",
        example: "query-results-file = found.csv",
    },
    Key {
        name: "prepare",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: YES_NO,
        default: "yes",
        doc: "whether statements are prepared and values bound, or sent as text with literals",
        example: "prepare = no",
    },
    Key {
        name: "expect-rows",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Rows,
        default: "none",
        doc: "rows that a request returns or changes in all; another number is the error `rows`",
        example: "expect-rows = 1",
    },
    Key {
        name: "command",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Command,
        default: "none",
        doc: "a program to be run by /bin/sh in place of statements; needs --allow-commands",
        example: "command = ./backup.sh ${uniform(1, 4)}",
    },
    Key {
        name: "target",
        alias: None,
        place: Place::What,
        repeatable: false,
        form: Form::Target,
        default: "the main target",
        doc: "the `[target NAME]` that the job asks",
        example: "target = copy",
    },
    Key {
        name: "rate",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Rate,
        default: "none",
        doc: "arrivals per second: Poisson from 1/s on, a timetable below, or a shape",
        example: "rate = 3000",
    },
    Key {
        name: "arrival",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Choice(&["poisson", "uniform"]),
        default: "poisson from 1/s on, uniform below",
        doc: "how the arrivals of a rate are spread: at random, or evenly",
        example: "arrival = uniform",
    },
    Key {
        name: "every",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Duration,
        default: "none",
        doc: "a timetable: one arrival each time this has passed, the first after one of them",
        example: "every = 10s",
    },
    Key {
        name: "session",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: YES_NO,
        default: "no",
        doc: "whether an arrival is a session: its statements one by one, `think` between them",
        example: "session = yes",
    },
    Key {
        name: "concurrency",
        alias: Some("queue-depth"),
        place: Place::When,
        repeatable: false,
        form: Form::Count,
        default: "1 without a rate or every",
        doc: "clients that send one request after the other; with a rate: workers of its queue",
        example: "concurrency = 16",
    },
    Key {
        name: "think",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Pause,
        default: "none",
        doc: "how long a client pauses between an answer and its next request",
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
        doc: "how many requests may wait in the queue of a rate with concurrency",
        example: "queue-limit = 1000",
    },
    Key {
        name: "on-queue-full",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Choice(&["reject", "stop"]),
        default: "reject",
        doc: "whether an arrival at a full queue is rejected, or also ends the run as INVALID",
        example: "on-queue-full = stop",
    },
    Key {
        name: "count",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Count,
        default: "no limit",
        doc: "how many arrivals, or requests of a closed job, there are in all",
        example: "count = 1M",
    },
    Key {
        name: "start",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Duration,
        default: "0s",
        doc: "when the job begins, after the start of the run",
        example: "start = 5s",
    },
    Key {
        name: "stop",
        alias: None,
        place: Place::When,
        repeatable: false,
        form: Form::Duration,
        default: "the end of the run",
        doc: "when the job ends, after the start of the run; 0 is never",
        example: "stop = 30s",
    },
    Key {
        name: "timeout",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Duration,
        default: "none",
        doc: "how long a request may take from its first byte sent",
        example: "timeout = 2s",
    },
    Key {
        name: "retry",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Retry,
        default: "none",
        doc: "how often a request is tried again, and after which error codes",
        example: "retry = 3 on 40001, 1213",
    },
    Key {
        name: "error",
        alias: None,
        place: Place::Faults,
        repeatable: true,
        form: Form::Codes,
        default: "none",
        doc: "error codes that the job accepts: they are counted apart",
        example: "error = 40001, 1213",
    },
    Key {
        name: "on-error",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Choice(&["continue", "stop"]),
        default: "continue",
        doc: "what an error that is not accepted does to the run",
        example: "on-error = stop",
    },
    Key {
        name: "reconnect",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Choice(&["no", "per-transaction"]),
        default: "no",
        doc: "whether each request opens a connection of its own, which is part of its service",
        example: "reconnect = per-transaction",
    },
    Key {
        name: "outage",
        alias: None,
        place: Place::Faults,
        repeatable: false,
        form: Form::Choice(&["fail", "wait"]),
        default: "fail",
        doc: "whether arrivals fail at once while the target refuses connections, or wait for it",
        example: "outage = wait",
    },
    Key {
        name: "slo",
        alias: None,
        place: Place::Judged,
        repeatable: true,
        form: Form::Conditions,
        default: "none",
        doc: "conditions that the run must meet; a missed one is exit code 1",
        example: "slo = p99 < 30ms, failed < 0.1%",
    },
    Key {
        name: "slo",
        alias: None,
        place: Place::Threshold,
        repeatable: true,
        form: Form::Conditions,
        default: "none",
        doc: "conditions of jobs, each with its job in parentheses; the same as in the job itself",
        example: "slo = p99(read) < 30ms, throughput(write) > 100",
    },
    Key {
        name: "every",
        alias: None,
        place: Place::Observe,
        repeatable: false,
        form: Form::Duration,
        default: "1s",
        doc: "how often the machine, the processes and the database are looked at; 100ms to 1m",
        example: "every = 5s",
    },
    Key {
        name: "database",
        alias: None,
        place: Place::Observe,
        repeatable: false,
        form: YES_NO,
        default: "yes",
        doc: "whether the database is asked what it does, ten times a second by one more session",
        example: "database = no",
    },
    Key {
        name: "pid",
        alias: None,
        place: Place::Observe,
        repeatable: true,
        form: Form::Count,
        default: "found by the port of the target",
        doc: "the number of a process of the database on this machine; its children belong to it",
        example: "pid = 4711",
    },
    Key {
        name: "host",
        alias: None,
        place: Place::Observe,
        repeatable: true,
        form: Form::Host,
        default: "none",
        doc: "another machine to look at, by way of ssh; needs --allow-commands",
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
