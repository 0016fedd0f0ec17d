//! The error of an experiment.

use std::fmt;
use std::io;
use std::path::PathBuf;

use archive::RecordError;
use base::{Class, Target};
use engine::RunFailure;
use workload::question::{Arm, Difference, StatementKey};

use crate::calibrate;
use crate::error::Error;
use crate::stage::OpenError;

/// The error that ended an experiment without an answer.
#[derive(Debug)]
pub struct ExperimentError {
    /// The heading of the arm with which the error occurred, with its point in a sweep; `None` if
    /// the error concerns no single arm.
    pub arm: Option<String>,
    /// The index of the round in which the error occurred, from 0; `None` outside of the rounds.
    pub round: Option<u32>,
    /// The cause.
    pub problem: Box<Problem>,
}

/// The problem of an experiment.
#[derive(Debug)]
pub enum Problem {
    /// A server cannot be started, or a target cannot be opened.
    Servers(OpenError),
    /// A run failed before anything was measured.
    Run(Error),
    /// The database rejected a statement of `before`, `after` or `restore`, or did not answer it in
    /// time.
    Statement {
        /// The key of the statement in the experiment file.
        key: StatementKey,
        /// The number of the statement under this key, from 1.
        number: usize,
        /// The database's error, or the timeout.
        error: driver::Error,
    },
    /// A statement that lets the database settle was not answered within its time limit.
    Unsettled {
        /// The text of the statement.
        statement: String,
        /// The step after which the server was to settle.
        after: DataStep,
        /// The error, which names the time limit.
        error: driver::Error,
    },
    /// The target does not answer, for this reason.
    Unreachable(String),
    /// A table does not have as many rows as were loaded.
    WrongRows {
        /// The step after which the rows were counted.
        after: DataStep,
        /// The table, with its actual and its expected number of rows.
        found: String,
    },
    /// The target stopped answering during a run and did not answer again.
    Lost {
        /// The target, without its password; `None` if the jobs of the run have several targets.
        target: Option<String>,
    },
    /// The server differs from the server of the earlier runs.
    OtherServer {
        /// Product and version of the server of the earlier runs, and of the current server.
        versions: [String; 2],
    },
    /// The difference of the arm is not in effect: the arm is INVALID.
    NotInEffect(NotInEffect),
    /// A private server does not start with the settings of an arm.
    Settings {
        /// The settings that the arm changes, such as `server.fsync = off`; empty if there are
        /// none.
        settings: String,
        /// The reason, in the words of the server.
        problem: testbed::Problem,
    },
    /// A private server has no setting of this name.
    UnknownSetting(String),
    /// A setting cannot be read back.
    ReadBack(driver::Error),
    /// A program before or after a run failed.
    Command {
        /// The key of the program in the experiment file.
        key: &'static str,
        /// The reason why the program failed.
        reason: String,
    },
    /// The speed of the machine cannot be measured before a run.
    Canary(calibrate::Problem),
    /// A record cannot be written or read, before a run has ended.
    Record(RecordError),
    /// A record was deleted or damaged, or cannot be written, after a run has ended.
    LostRecord(RecordError),
    /// The temporary record of a run, or of statements outside of the runs, cannot be removed.
    RunRecord(PathBuf, io::Error),
    /// The experiment cannot be continued, because it is complete.
    AlreadyComplete,
    /// The experiment cannot be continued, because it ended after too many failures of the load
    /// generator or the machine.
    InstrumentFailed,
    /// The experiment cannot be continued, because its search for saturation could not observe the
    /// quantity that its condition names.
    NotObserved,
    /// The experiment differs from the record that it is to continue.
    Changed {
        /// The fact that differs.
        key: &'static str,
        /// The value of the fact in the record, and its current value.
        values: [String; 2],
    },
    /// A file has changed since the start of the experiment that is to be continued.
    FileChanged(String),
    /// The experiment to be continued did not read this file.
    FileAdded(String),
    /// The experiment to be continued read this file, which is no longer needed.
    FileMissing(String),
    /// A file of the workload has changed during the experiment.
    FilesChanged,
}

/// A step that brings the data into the state that runs expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataStep {
    /// The load of the tables.
    Load,
    /// The statements of `restore`.
    Restore,
}

impl DataStep {
    /// Returns a clause for a message: the condition under which a table has as many rows as were
    /// loaded after this step.
    fn requirement(self) -> &'static str {
        match self {
            DataStep::Load => "the table must be empty before the load, and take all of its rows",
            DataStep::Restore => {
                "`restore` must bring back every row of the load, as `restore = reload` does"
            }
        }
    }
}

impl fmt::Display for DataStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataStep::Load => "the load",
            DataStep::Restore => "`restore`",
        })
    }
}

/// A declared difference that is not in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInEffect {
    /// The key of the difference in the file.
    pub key: String,
    /// The value that the arm declares.
    pub value: String,
    /// The state of the run that contradicts the difference.
    pub found: ContradictingState,
}

/// The state of a run that contradicts a declared difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContradictingState {
    /// The run uses another target.
    OtherTarget {
        /// The target of the run.
        used: String,
        /// The target of the arm.
        declared: String,
    },
    /// The plan of the run differs from the plan of the arm.
    OtherPlan {
        /// The first line of the run's plan that is not in the arm's plan; `None` if there is none.
        used: Option<String>,
        /// The first line of the arm's plan that is not in the run's plan; `None` if there is none.
        declared: Option<String>,
    },
    /// The run's facts do not show whether the client's connection is encrypted.
    UnknownEncryption,
    /// The client's connection is encrypted.
    Encrypted {
        /// The version of TLS on the connection.
        version: String,
        /// The cipher of the connection.
        cipher: String,
    },
    /// The client's connection is not encrypted.
    NotEncrypted,
    /// The settings of the arm are already in effect before a run of another arm.
    SameInOtherArm {
        /// The other arm, as in messages.
        other: String,
    },
    /// The server uses a different value of a setting.
    OtherSetting {
        /// The product of the server, as the server reports it.
        server: String,
        /// The value that the server uses.
        effective: String,
        /// The origin of the value; `None` for the command line of the server, or if the server
        /// does not report the origin.
        origin: Option<String>,
    },
}

impl NotInEffect {
    pub(super) fn of(difference: &Difference, found: ContradictingState) -> NotInEffect {
        NotInEffect { key: difference.key(), value: difference.value(), found }
    }
}

impl fmt::Display for NotInEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotInEffect { key, value, found } = self;
        write!(f, "`{key} = {value}` is not in effect: {found}")
    }
}

impl fmt::Display for ContradictingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContradictingState::OtherTarget { used, declared } => {
                write!(f, "the run uses {used}, not {declared}")
            }
            ContradictingState::OtherPlan { used, declared } => match (used, declared) {
                (Some(used), Some(declared)) => {
                    write!(f, "the plan of the run has `{used}`, not `{declared}`")
                }
                (Some(used), None) => {
                    write!(f, "the plan of the run has `{used}`, and that of the arm does not")
                }
                (None, Some(declared)) => write!(f, "the plan of the run lacks `{declared}`"),
                (None, None) => f.write_str(
                    "the plan of the run differs in comments, or in order or number of its lines",
                ),
            },
            ContradictingState::UnknownEncryption => {
                f.write_str("it is not known how the connection is encrypted")
            }
            ContradictingState::Encrypted { version, cipher } => {
                write!(f, "the client's connection uses {version} with {cipher}")
            }
            ContradictingState::NotEncrypted => {
                f.write_str("the client's connection is not encrypted")
            }
            ContradictingState::SameInOtherArm { other } => write!(
                f,
                "the server has the same value before a run of {other}; `after` must undo it"
            ),
            ContradictingState::OtherSetting { server, effective, origin: None } => {
                write!(f, "{server} uses `{effective}` instead")
            }
            ContradictingState::OtherSetting { server, effective, origin: Some(origin) } => {
                write!(f, "{server} uses `{effective}`, which comes from: {origin}")
            }
        }
    }
}

impl ExperimentError {
    pub(super) fn of(arm: &Arm, problem: Problem) -> ExperimentError {
        ExperimentError { arm: Some(arm.heading()), ..problem.into() }
    }

    /// Returns the error for an arm whose target was lost during a run.
    pub(super) fn of_lost_target(arm: &Arm) -> ExperimentError {
        let only = arm.plan.target.as_ref().filter(|_| arm.plan.targets.is_empty());
        ExperimentError::of(arm, Problem::Lost { target: only.map(Target::to_string) })
    }

    /// Adds the round in which the error happened, given by its index.
    pub(super) fn in_round(self, round: u32) -> ExperimentError {
        ExperimentError { round: Some(round), ..self }
    }

    /// Returns true if a server could not be reached, was lost, or did not answer in time.
    pub fn is_unreachable(&self) -> bool {
        match &*self.problem {
            Problem::Unreachable(_)
            | Problem::Lost { .. }
            | Problem::Unsettled { .. }
            | Problem::Servers(OpenError::Unreachable(_)) => true,
            Problem::ReadBack(error) => error.class() == Class::Disconnect,
            Problem::Statement { error, .. } => error.class() == Class::Timeout,
            Problem::Run(error) => error.is_unanswered(),
            Problem::Servers(OpenError::Refused(_))
            | Problem::OtherServer { .. }
            | Problem::NotInEffect(_)
            | Problem::WrongRows { .. }
            | Problem::Settings { .. }
            | Problem::UnknownSetting(_)
            | Problem::Canary(_)
            | Problem::Command { .. }
            | Problem::Record(_)
            | Problem::LostRecord(_)
            | Problem::RunRecord(..)
            | Problem::AlreadyComplete
            | Problem::InstrumentFailed
            | Problem::NotObserved
            | Problem::Changed { .. }
            | Problem::FileChanged(_)
            | Problem::FileAdded(_)
            | Problem::FileMissing(_)
            | Problem::FilesChanged => false,
        }
    }

    /// Returns this error for an experiment that has finished a run. An error of a record then
    /// becomes [`Problem::LostRecord`], because measured requests are lost.
    pub(super) fn after_run(self) -> ExperimentError {
        let problem = match *self.problem {
            Problem::Record(error) | Problem::Run(Error::Record(error)) => {
                Problem::LostRecord(error)
            }
            other => other,
        };
        ExperimentError { problem: Box::new(problem), ..self }
    }

    /// Returns the error of statements that were executed in place of `[setup]`, with their key and
    /// the number of the failed statement.
    pub(super) fn of_statement(self, key: StatementKey) -> ExperimentError {
        let problem = match *self.problem {
            Problem::Run(Error::Failed(RunFailure::Statement { place, error })) => {
                match place.statement {
                    Some(number) => Problem::Statement { key, number, error },
                    None => Problem::Run(Error::Failed(RunFailure::Statement { place, error })),
                }
            }
            other => other,
        };
        ExperimentError { problem: Box::new(problem), ..self }
    }

    /// Returns the error of the statement that was sent to let a server settle after a step, if the
    /// statement was not answered in time; otherwise `None`.
    pub(super) fn of_settling(self, statement: String, after: DataStep) -> Option<ExperimentError> {
        match *self.problem {
            Problem::Run(Error::Failed(RunFailure::Statement { error, .. }))
                if error.class() == Class::Timeout =>
            {
                let problem = Box::new(Problem::Unsettled { statement, after, error });
                Some(ExperimentError { problem, ..self })
            }
            _ => None,
        }
    }

    /// Returns the error of counting the rows of a table after a step.
    pub(super) fn of_rows(self, after: DataStep) -> ExperimentError {
        let problem = match *self.problem {
            Problem::Run(Error::Failed(RunFailure::Unsupported { reason, .. })) => {
                Problem::WrongRows { after, found: reason }
            }
            other => other,
        };
        ExperimentError { problem: Box::new(problem), ..self }
    }
}

impl Problem {
    /// Returns true if the target does not answer, or was lost during a run.
    fn is_loss(&self) -> bool {
        matches!(self, Problem::Unreachable(_) | Problem::Lost { .. })
    }
}

impl From<Problem> for ExperimentError {
    fn from(problem: Problem) -> ExperimentError {
        ExperimentError { arm: None, round: None, problem: Box::new(problem) }
    }
}

impl From<RecordError> for ExperimentError {
    fn from(error: RecordError) -> ExperimentError {
        Problem::Record(error).into()
    }
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(arm) = &self.arm {
            write!(f, "{arm}: ")?;
        }
        if let (Some(round), true) = (self.round, self.problem.is_loss()) {
            write!(f, "in round {}, ", round + 1)?;
        }
        self.problem.fmt(f)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Servers(error) => error.fmt(f),
            Problem::Run(error) => error.fmt(f),
            Problem::Statement { key, number, error } if error.class() == Class::Timeout => {
                write!(f, "there is no answer to statement {number} of `{key}`")
            }
            Problem::Statement { key, number, .. } => {
                write!(f, "the database rejects statement {number} of `{key}`")
            }
            Problem::Unsettled { statement, after, .. } => {
                write!(f, "there is no answer to `{statement}` after {after}")
            }
            Problem::Unreachable(reason) => write!(f, "the target does not answer: {reason}"),
            Problem::Lost { target: Some(target) } => {
                write!(f, "the target {target} was lost during a run")
            }
            Problem::Lost { target: None } => f.write_str("a target was lost during a run"),
            Problem::OtherServer { versions: [before, now] } => {
                write!(f, "the server is {now}, and that of the earlier runs was {before}")
            }
            Problem::WrongRows { after, found } => {
                write!(f, "after {after}, {found}: the runs would be measured on other data; ")?;
                f.write_str(after.requirement())
            }
            Problem::NotInEffect(error) => error.fmt(f),
            Problem::Settings { settings, problem } => {
                f.write_str(&start_failure_message(settings, problem))
            }
            Problem::UnknownSetting(name) => f.write_str(&unknown_setting_message(name)),
            Problem::ReadBack(error) => {
                write!(f, "the settings of the server cannot be read back: {error}")
            }
            Problem::Command { key, reason } => write!(f, "`{key}`: {reason}"),
            Problem::Canary(problem) => {
                write!(f, "the speed of the machine cannot be measured: {problem}")
            }
            Problem::Record(error) | Problem::LostRecord(error) => error.fmt(f),
            Problem::RunRecord(path, error) => {
                write!(f, "cannot remove `{}`: {error}", path.display())
            }
            Problem::AlreadyComplete => f.write_str("the experiment of this record is complete"),
            Problem::InstrumentFailed => f.write_str(
                "the experiment of this record has ended: the load generator or the machine failed \
                 too often",
            ),
            Problem::NotObserved => f.write_str(
                "the experiment of this record has ended: the quantity of `until` in [saturate] \
                 was not observed",
            ),
            Problem::Changed { key, values } => {
                let changed = changed_fact_message(key) + &difference(values);
                write!(f, "the experiment differs from that of the record: {changed}")
            }
            Problem::FileChanged(path) => {
                write!(f, "`{path}` has changed since the experiment began")
            }
            Problem::FileAdded(path) => {
                write!(f, "`{path}` was not read when the experiment began")
            }
            Problem::FileMissing(path) => {
                write!(f, "`{path}` was read when the experiment began, but is no longer used")
            }
            Problem::FilesChanged => {
                f.write_str("a file of the workload has changed during the experiment")
            }
        }
    }
}

impl std::error::Error for ExperimentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.problem {
            Problem::Servers(error) => error.source(),
            Problem::Run(error) => error.source(),
            Problem::Record(error) | Problem::LostRecord(error) => error.source(),
            Problem::RunRecord(_, error) => error.source(),
            Problem::Statement { error, .. } | Problem::Unsettled { error, .. } => Some(error),
            Problem::Unreachable(_)
            | Problem::Lost { .. }
            | Problem::OtherServer { .. }
            | Problem::NotInEffect(_)
            | Problem::WrongRows { .. }
            // The texts of these problems contain the whole reason.
            | Problem::Settings { .. }
            | Problem::ReadBack(_)
            | Problem::UnknownSetting(_)
            | Problem::Canary(_)
            | Problem::Command { .. }
            | Problem::AlreadyComplete
            | Problem::InstrumentFailed
            | Problem::NotObserved
            | Problem::Changed { .. }
            | Problem::FileChanged(_)
            | Problem::FileAdded(_)
            | Problem::FileMissing(_)
            | Problem::FilesChanged => None,
        }
    }
}

/// Returns the message about a setting that the server does not have.
fn unknown_setting_message(name: &str) -> String {
    format!("`server.{name}` cannot be read back: the server has no such setting; correct its name")
}

/// Returns the message about a server that does not start with the settings of an arm.
fn start_failure_message(settings: &str, problem: &testbed::Problem) -> String {
    match settings.is_empty() {
        true => format!("the server does not start again: {problem}"),
        false => format!("the server does not start with {settings}: {problem}"),
    }
}

/// Returns the message about a fact that differs.
fn changed_fact_message(key: &str) -> String {
    match key {
        "assay" => "another version of assay made its runs".to_owned(),
        "experiment" => "the experiment file has changed".to_owned(),
        "plans" => "the workload or its options have changed".to_owned(),
        "command" => "the options of the command line have changed".to_owned(),
        _ => format!("{key} has changed"),
    }
}

/// Maximum number of characters of a differing line in a message.
const LONGEST_LINE: usize = 100;

/// Returns the end of a message about two texts: the first line of each that is not in the other.
/// Empty if there is no such line, or if the record lacks the text.
fn difference([before, now]: &[String; 2]) -> String {
    if before.is_empty() {
        return String::new();
    }
    match [first_line_without(before, now), first_line_without(now, before)] {
        [Some(was), Some(is)] => format!(": `{was}` then, `{is}` now"),
        [Some(was), None] => format!(": `{was}` then, and not now"),
        [None, Some(is)] => format!(": `{is}` now, and not then"),
        [None, None] => String::new(),
    }
}

/// Returns the first line of a text that is not in another text, shortened. Comments are ignored.
pub(super) fn first_line_without(text: &str, other: &str) -> Option<String> {
    let is_missing = |line: &&str| !line.starts_with(';') && !other.lines().any(|it| it == *line);
    let line = text.lines().find(is_missing)?;
    Some(match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use base::{Code, Span};
    use engine::Location;

    use super::*;

    #[test]
    fn fact_that_changed_is_named_with_both_of_its_values() {
        let check = |key, values: [&str; 2], expected: &str| {
            let values = values.map(str::to_owned);
            let error = ExperimentError::from(Problem::Changed { key, values }).to_string();
            let start = "the experiment differs from that of the record: ";
            assert_eq!(error, format!("{start}{expected}"));
        };
        let workload = "the workload or its options have changed";
        let seed = ["seed = 42\n[a]\nrate = 5", "seed = 7\n[a]\nrate = 5"];
        check("plans", seed, &format!("{workload}: `seed = 42` then, `seed = 7` now"));
        let added = ["[a]\nrate = 5", "op-log = 1\n[a]\nrate = 5"];
        check("plans", added, &format!("{workload}: `op-log = 1` now, and not then"));
        let removed = [added[1], added[0]];
        check("plans", removed, &format!("{workload}: `op-log = 1` then, and not now"));
        let long = format!("query = {}", "x".repeat(200));
        let cut = format!("{}…", &long[..100]);
        check("plans", [&long, "query = y"], &format!("{workload}: `{cut}` then, `query = y` now"));
        check("plans", ["a\nb", "b\na"], workload);
        let command = ["assay run e.ini", "assay run e.ini --threads 2"];
        let options = "the options of the command line have changed: `assay run e.ini` then, \
                       `assay run e.ini --threads 2` now";
        check("command", command, options);
        // A record of an earlier version lacks the fact.
        check("assay", ["", "0.1.0"], "another version of assay made its runs");
    }

    #[test]
    fn statement_has_its_number_if_one_failed() {
        let message = |statement| {
            let (section, span) = ("load t".to_owned(), Span::default());
            let place = Location { section, statement, span, script: None };
            let error = driver::Error::new(Class::Statement, Code::new("42P01"), "no table");
            let failure = Error::Failed(RunFailure::Statement { place, error });
            let error = ExperimentError::from(Problem::Run(failure));
            error.of_statement(StatementKey::Before).to_string()
        };
        assert_eq!(message(Some(2)), "the database rejects statement 2 of `before`");
        assert!(message(None).contains("the rows of [load t]"), "{}", message(None));
    }

    #[test]
    fn setting_that_is_still_in_effect_is_reported_with_the_other_arm() {
        let found = ContradictingState::SameInOtherArm { other: "[arm plain]".to_owned() };
        let (key, value) = ("before".to_owned(), "set global x = 1".to_owned());
        let expected = "`before = set global x = 1` is not in effect: the server has the same \
                        value before a run of [arm plain]; `after` must undo it";
        assert_eq!(NotInEffect { key, value, found }.to_string(), expected);
    }

    #[test]
    fn setting_that_is_not_in_effect_is_reported_with_its_origin() {
        let check = |origin: Option<&str>, expected: &str| {
            let (effective, origin) = ("4MB".to_owned(), origin.map(str::to_owned));
            let server = "PostgreSQL".to_owned();
            let found = ContradictingState::OtherSetting { server, effective, origin };
            let (key, value) = ("server.work_mem".to_owned(), "64MB".to_owned());
            let error = NotInEffect { key, value, found }.to_string();
            assert_eq!(error, format!("`server.work_mem = 64MB` is not in effect: {expected}"));
        };
        check(None, "PostgreSQL uses `4MB` instead");
        check(Some("user"), "PostgreSQL uses `4MB`, which comes from: user");
    }
}
