//! Remedies for the findings of the checks, one for each check.
//!
//! The answer prints them below a finding, and `docs/checks.md` begins its advice with them: a test
//! of the guide compares the two. If a check has several causes, its finding decides the remedy.

use analyze::finding::{Completeness, Connections, Failures, RunEnd};
use analyze::{Check, CheckKind, Finding};
use base::{Class, Code};
use record::EventError;

/// The remedy for a fault that no database can cause.
const REPORT: &str = "report this with the record: it is a bug in the load generator, which no \
                      database can cause";

/// The remedy for a fault that a bug or chance can cause, but no database: the check has a limit
/// that chance exceeds in at most two of 1,000 runs.
const REPEAT_OR_REPORT: &str = "run again with another `--seed`: chance does this in at most two \
                                of 1,000 runs. If it recurs, report it with the record: it is a \
                                bug in the load generator";

/// The remedy for a server that went away or refused connections.
const READ_LOG: &str = "look in the server's log for why it refused connections, and run again";

/// The remedy for a server that refused the user, the password or the database.
const CORRECT_LOGIN: &str = "correct what the server refused, such as the password, the database \
                             or the rights of the user, and run again";

/// The remedy for requests whose connection was lost or refused.
const FIND_SERVER: &str = "look in the server's log for the reason why the server ended the \
                           connections or was unreachable, and run again";

/// The remedy for requests that the server could not serve.
const RELIEVE_SERVER: &str = "look in the server's log: it lacks space, memory or a permission, or \
                              was shutting down";

/// The remedy for requests that were not answered in time.
const WAIT_LONGER: &str = "find out why the server did not answer in time, or give the job a \
                           longer `timeout`";

/// The remedy for requests that were in flight when the drain ended.
const DRAIN_LONGER: &str = "give the run a longer `drain` than its longest requests take: these \
                            requests were still in flight when it ended";

/// The remedy for statements that the server cancelled.
const ALLOW_LONGER_STATEMENTS: &str = "find out why the statements took so long or who cancelled \
                                       them, or raise the server's limit for their time, such as \
                                       `statement_timeout`";

/// The codes of cancelled statements: of PostgreSQL, of MySQL (killed, too long), and of MariaDB
/// (too long).
const CANCELLED: [&str; 4] = ["57014", "1317", "3024", "1969"];

/// The remedy for programs that failed.
const CORRECT_PROGRAM: &str = "run the program by hand and correct it, or accept its code, as in \
                               `error = exit-1`";

/// The remedy for programs that did not end in time.
const WAIT_LONGER_FOR_PROGRAM: &str = "find out why the program did not end in time, or give the \
                                       job a longer `timeout`";

/// The remedy for a run that ended as intended, and whose plan in the record cannot be read.
const READ_PLAN: &str = "read the record with the version of Assay that wrote it; if that version \
                         cannot read the plan either, report this with the workload file";

/// The checks in the order of the verdict, each with its remedy: an imperative without a period.
const REMEDIES: [(CheckKind, &str); 32] = [
    (
        CheckKind::Complete,
        "run it again to its end, after removing what cut it off, such as an error, a full queue \
         or disk, or a lost target",
    ),
    (CheckKind::Window, "make `duration` longer, or `warmup` or `every` shorter"),
    (CheckKind::Balance, REPORT),
    (CheckKind::Rate, REPEAT_OR_REPORT),
    (CheckKind::EachSecond, REPORT),
    (CheckKind::Achieved, "give the job a longer `drain` or more connections, or offer less"),
    (CheckKind::Arrivals, REPEAT_OR_REPORT),
    (CheckKind::Gaps, "end other programs on this machine, or use `--spin` if a processor is idle"),
    (
        CheckKind::SendLag,
        "end other programs on this machine first; then try fewer connections or a lower rate, or \
         `--spin` if a processor is idle",
    ),
    (
        CheckKind::Stall,
        "find what stopped the process (a suspended machine, swapped memory, a CPU quota), and run \
         again",
    ),
    (
        CheckKind::ProcessorWait,
        "run the load generator on another machine, or give it processors of its own (`--cpus`, \
         `taskset`)",
    ),
    (CheckKind::GeneratorCpu, "use more threads (`--threads 2`), or a lower rate"),
    (CheckKind::StolenTime, "measure on a machine that is your own, or several times, and compare"),
    (
        CheckKind::OtherPrograms,
        "end these programs, or keep them off the processors of the benchmark (`taskset`, \
         `--cpus`), and run again",
    ),
    (
        CheckKind::Ceiling,
        "use more threads (`--threads 2`) or a lower rate; calibrate again if the machine was busy \
         when it was calibrated",
    ),
    (
        CheckKind::Floor,
        "subtract the floor from the service times before you compare them, or ask for more work \
         in a statement",
    ),
    (
        CheckKind::Clock,
        "choose a clock that is read without a system call; `assay doctor` names the present one",
    ),
    (
        CheckKind::WallClock,
        "let the clock be slewed and not set (`chronyc`), keep the machine awake, and run again",
    ),
    (
        CheckKind::Frequency,
        "run `cpupower frequency-set -g performance`, or use a longer `warmup` if the processors \
         become warm and slower",
    ),
    (
        CheckKind::Backlog,
        "offer less, or accept that you have found the capacity: the throughput is right",
    ),
    (
        CheckKind::WarmUp,
        "measure longer, find what changes all the time, or give a length that you know, as in \
         `warmup = 30s`",
    ),
    (
        CheckKind::Drift,
        "use a longer `warmup` if the change fades, or a longer `duration` if a cycle begins",
    ),
    (
        CheckKind::Step,
        "look for what happened then: a checkpoint, a backup, another user of the machine",
    ),
    (CheckKind::Little, REPORT),
    (
        CheckKind::Errors,
        "read the first text of each error; accept a code that belongs to the workload, as in \
         `error = 40001`, or `retry` it",
    ),
    (CheckKind::WrongResults, "reload the tables, or correct `expect-rows`"),
    (CheckKind::Outage, READ_LOG),
    (
        CheckKind::Connections,
        "raise the server's limit of connections, or lower `concurrency` or `max-connections`",
    ),
    (CheckKind::Overflow, "give the job a `timeout` of less than an hour"),
    (
        CheckKind::Files,
        "make room on the disk, correct the file, or let the program at the other end of the pipe \
         finish",
    ),
    (
        CheckKind::Commits,
        "if the server counted fewer, look for a proxy between Assay and it; if more, look for \
         other sessions and scheduled jobs",
    ),
    (
        CheckKind::Checkpoints,
        "make the run several times as long as the time between checkpoints, or shorten that time \
         in both of two servers that you compare",
    ),
];

/// Returns the usual remedy for an objection of a check: an imperative without a period.
///
/// # Panics
/// Panics if the table lacks the check.
pub fn remedy(check: CheckKind) -> &'static str {
    let found = REMEDIES.into_iter().find(|(kind, _)| *kind == check);
    found.map(|(_, remedy)| remedy).expect("every check has a remedy")
}

/// The remedies for checks of the load generator in searches for the highest rate. The usual
/// remedy, a lower rate, would answer a different question.
const REMEDIES_AT_HIGHEST_RATE: [(CheckKind, &str); 3] = [
    (
        CheckKind::SendLag,
        "end other programs on this machine first; then try fewer connections, or `--spin` if a \
         processor is idle",
    ),
    (
        CheckKind::GeneratorCpu,
        "use more threads (`--threads 2`), or run the load generator on another machine",
    ),
    (
        CheckKind::Ceiling,
        "use more threads (`--threads 2`), or run the load generator on another machine; calibrate \
         again if the machine was busy when it was calibrated",
    ),
];

/// Returns the remedy for a check in a search for the highest rate; `None` if the usual one
/// applies.
pub(crate) fn remedy_at_highest_rate(check: CheckKind) -> Option<&'static str> {
    let found = REMEDIES_AT_HIGHEST_RATE.into_iter().find(|(kind, _)| *kind == check);
    found.map(|(_, remedy)| remedy)
}

/// Returns the remedy for the finding of a check, if the check is suspect or invalid.
pub fn remedy_of(check: &Check) -> Option<&'static str> {
    let of_cause = match &check.finding {
        Finding::Complete(Completeness::Ended {
            end: RunEnd::Completed { .. } | RunEnd::EndedByUser,
            at: _,
            unread_plan: Some(_),
        }) => Some(READ_PLAN),
        Finding::Connections(Connections::Missing { refusal: Some(refusal), .. }) => {
            remedy_of_refusal(refusal.class)
        }
        Finding::Errors(Failures::Some { error: Some(error), runs_program, .. }) => {
            match runs_program {
                true => remedy_of_program_errors(*error),
                false => remedy_of_errors(*error),
            }
        }
        _ => None,
    };
    check.status.objects().then(|| of_cause.unwrap_or_else(|| remedy(check.kind)))
}

/// Returns the remedy for connections that were refused with an error of this class; `None` if the
/// server had too many connections.
fn remedy_of_refusal(class: Class) -> Option<&'static str> {
    match class {
        Class::TooManyConnections => None,
        Class::Statement => Some(CORRECT_LOGIN),
        Class::Disconnect
        | Class::Server
        | Class::Timeout
        | Class::Constraint
        | Class::Conflict
        | Class::WrongResult => Some(READ_LOG),
    }
}

/// Returns the remedy for errors that are mostly of this class, and in it of this code; `None` for
/// a class that the workload may cause on purpose.
fn remedy_of_errors(error: EventError) -> Option<&'static str> {
    match error.class {
        Class::Statement | Class::Constraint | Class::Conflict => None,
        Class::Disconnect => Some(FIND_SERVER),
        Class::Timeout if error.code == Code::DRAIN => Some(DRAIN_LONGER),
        Class::Timeout => Some(WAIT_LONGER),
        Class::Server if CANCELLED.contains(&error.code.as_str()) => Some(ALLOW_LONGER_STATEMENTS),
        Class::Server => Some(RELIEVE_SERVER),
        Class::TooManyConnections => Some(remedy(CheckKind::Connections)),
        Class::WrongResult => Some(remedy(CheckKind::WrongResults)),
    }
}

/// Returns the remedy for errors of programs that are mostly of this class and code.
fn remedy_of_program_errors(error: EventError) -> Option<&'static str> {
    match error.class {
        Class::Server => Some(CORRECT_PROGRAM),
        Class::Timeout if error.code == Code::DRAIN => Some(DRAIN_LONGER),
        Class::Timeout => Some(WAIT_LONGER_FOR_PROGRAM),
        Class::Statement
        | Class::Constraint
        | Class::Conflict
        | Class::Disconnect
        | Class::TooManyConnections
        | Class::WrongResult => remedy_of_errors(error),
    }
}

#[cfg(test)]
mod tests {
    use analyze::{Status, Unit};

    use super::*;

    /// Maximum length of a remedy in characters: two lines of an answer.
    const LONGEST: usize = 160;

    #[test]
    fn remedies_are_short_imperatives_in_plain_text() {
        for check in CheckKind::ALL {
            let remedy = remedy(check);
            assert!(remedy.chars().count() <= LONGEST, "{check:?}: {}", remedy.chars().count());
            assert!(remedy.starts_with(|first: char| first.is_lowercase()), "{check:?}: {remedy}");
            assert!(!remedy.ends_with(['.', ' ']) && !remedy.contains("]("), "{check:?}: {remedy}");
        }
    }

    #[test]
    fn remedy_for_missing_connections_follows_from_the_refusal() {
        let remedy_with = |class: Option<Class>| {
            let refusal = class.map(|class| EventError { class, code: Code::new("28P01") });
            let job = "read".to_owned();
            let missing = Connections::Missing { job, configured: 4, open: 1.0, refusal };
            let check = Check {
                kind: CheckKind::Connections,
                status: Status::Suspect,
                value: None,
                limit: None,
                unit: Unit::Percent,
                finding: Finding::Connections(missing),
            };
            remedy_of(&check).expect("a remedy")
        };
        for (class, words) in [
            (None, "the server's limit"),
            (Some(Class::TooManyConnections), "the server's limit"),
            (Some(Class::Statement), "the password"),
            (Some(Class::Disconnect), "the server's log"),
            (Some(Class::Server), "the server's log"),
        ] {
            let remedy = remedy_with(class);
            assert!(remedy.contains(words), "{class:?}: {remedy}");
            assert!(remedy.chars().count() <= LONGEST, "{class:?}");
        }
    }

    #[test]
    fn remedy_for_errors_follows_from_their_class_and_code() {
        let remedy_with = |error: Option<(Class, &str)>, runs_program: bool| {
            let job = "read".to_owned();
            let error = error.map(|(class, code)| EventError { class, code: Code::new(code) });
            let failed = Failures::Some { job, failed: 20, scheduled: 20, error, runs_program };
            let judged = Check {
                kind: CheckKind::Errors,
                status: Status::Invalid,
                value: None,
                limit: None,
                unit: Unit::Percent,
                finding: Finding::Errors(failed),
            };
            remedy_of(&judged).expect("a remedy")
        };
        let usual = remedy(CheckKind::Errors);
        assert_eq!(remedy_with(None, false), usual);
        for class in Class::ALL {
            let words = match class {
                Class::Statement | Class::Constraint | Class::Conflict => usual,
                Class::Disconnect => "why the server ended",
                Class::Timeout => "`timeout`",
                Class::TooManyConnections => "limit of connections",
                Class::Server => "lacks space",
                Class::WrongResult => "`expect-rows`",
            };
            let remedy = remedy_with(Some((class, "code")), false);
            assert!(remedy.contains(words), "{class:?}: {remedy}");
            assert!(remedy.chars().count() <= LONGEST, "{class:?}");
        }
        for (class, code, runs_program, words) in [
            (Class::Server, "exit-1", true, "run the program by hand"),
            (Class::Timeout, "timeout", true, "the program did not end"),
            (Class::Timeout, "drain", true, "longer `drain`"),
            (Class::Timeout, "drain", false, "longer `drain`"),
            (Class::Server, "57014", false, "who cancelled them"),
            (Class::Server, "3024", false, "who cancelled them"),
        ] {
            let remedy = remedy_with(Some((class, code)), runs_program);
            assert!(remedy.contains(words), "{code}: {remedy}");
            assert!(remedy.chars().count() <= LONGEST, "{code}");
        }
    }

    #[test]
    fn remedy_for_an_unread_plan_is_not_to_repeat_a_complete_run() {
        let remedy_with = |end: RunEnd| {
            let unread_plan = Some("it is empty".to_owned());
            let check = Check {
                kind: CheckKind::Complete,
                status: Status::Suspect,
                value: None,
                limit: None,
                unit: Unit::Seconds,
                finding: Finding::Complete(Completeness::Ended { end, at: None, unread_plan }),
            };
            remedy_of(&check).expect("a remedy")
        };
        let remedy = remedy_with(RunEnd::Completed { exhausted: None });
        assert!(remedy.contains("cannot read the plan"), "{remedy}");
        assert!(remedy.chars().count() <= LONGEST);
        assert_eq!(remedy_with(RunEnd::EndedByUser), remedy);
        assert!(remedy_with(RunEnd::Interrupted).starts_with("run it again"));
    }

    #[test]
    fn only_a_check_that_objects_has_a_remedy() {
        let check = |status| Check {
            kind: CheckKind::Overflow,
            status,
            value: None,
            limit: None,
            unit: Unit::Times,
            finding: Finding::Overflow { times: 2 },
        };
        let has_remedy = |status| remedy_of(&check(status)).is_some();
        assert!(has_remedy(Status::Suspect) && has_remedy(Status::Invalid));
        assert!(!has_remedy(Status::Pass) && !has_remedy(Status::NotPossible));
    }
}
