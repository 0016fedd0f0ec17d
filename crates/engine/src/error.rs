//! The failures that end a run without results.

use std::fmt;
use std::path::PathBuf;

use base::{Class, Code, Nanos, Span, StatementId};
use driver::Error;
use workload::{FixedStatement, Job, Load, Requests, ScriptLine, Statement};

/// The failure of a run that has no results, or of one step of a teardown.
#[derive(Debug)]
pub enum RunFailure {
    /// A target could not be reached, refused the login, ended a session before the jobs, had no
    /// connection left for a job, or took no more rows of a load.
    Unreachable(Unreachable),
    /// The database rejected a statement of the workload file or a batch of a load, or did not
    /// answer a statement or the count of a table's rows in time. Also a connection that broke
    /// during a teardown.
    Statement {
        /// The location of the statement or of the load.
        place: Location,
        /// The database's error.
        error: Error,
    },
    /// The workload file does not fit the target, its data or the options of the run.
    Unsupported {
        /// The location of the section or statement.
        place: Location,
        /// The problem, as a clause.
        reason: String,
        /// The change that helps.
        help: String,
    },
    /// A results file cannot be opened.
    File {
        /// The location of the job or part.
        place: Location,
        /// The path, as it is written in the workload file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The operating system refused a resource that the engine needs, such as a thread.
    System(std::io::Error),
    /// Virtual time is deadlocked: a bug in the engine.
    Deadlock(rt::Deadlock),
    /// Something panicked with this message: a bug in this program or in a driver.
    Panicked(String),
}

/// A location in the workload file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The section, as in its header: `setup`, `load accounts`, `read`.
    pub section: String,
    /// The number of the statement in the section, from 1; `None` for a load or a job as a whole.
    pub statement: Option<usize>,
    /// The position in the workload file.
    pub span: Span,
    /// The position of the statement itself, if it is in another file.
    pub script: Option<Box<ScriptLine>>,
}

impl Location {
    /// Returns the location of a statement of a section.
    pub(crate) fn of_statement(requests: &Requests, statement: StatementId) -> Location {
        let index = statement.index();
        let Statement { span, script, .. } = &requests.statements[index];
        let (section, script) = (requests.section.clone(), script.clone().map(Box::new));
        Location { section, statement: Some(index + 1), span: *span, script }
    }

    /// Returns the location of a statement of `[setup]` or `[teardown]`, given its index.
    pub(crate) fn of_fixed(section: &str, index: usize, statement: &FixedStatement) -> Location {
        let FixedStatement { span, script, .. } = statement;
        let (section, script) = (section.to_owned(), script.clone().map(Box::new));
        Location { section, statement: Some(index + 1), span: *span, script }
    }

    /// Returns the location of a load as a whole.
    pub(crate) fn of_load(load: &Load) -> Location {
        let section = format!("load {}", load.table);
        Location { section, statement: None, span: load.span, script: None }
    }

    /// Returns the location of a job as a whole; its position is that of the job's first statement.
    pub(crate) fn of_section(job: &Job) -> Location {
        let Requests { section, statements, span, .. } = &job.requests;
        let span = statements.first().map_or(*span, |statement| statement.span);
        Location { section: section.clone(), statement: None, span, script: None }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.statement {
            Some(statement) => write!(f, "statement {statement} of [{}]", self.section)?,
            None => write!(f, "the rows of [{}]", self.section)?,
        }
        match self.script.as_deref() {
            Some(ScriptLine { file, line }) => write!(f, ", line {line} of `{file}`"),
            None => Ok(()),
        }
    }
}

/// An error that made a target unreachable.
#[derive(Clone, Debug)]
pub struct Unreachable {
    /// Name of the target; `None` for the main target.
    pub target: Option<String>,
    /// The location of the statement or load during which the connection broke; `None` if no
    /// connection broke.
    pub place: Option<Box<Location>>,
    /// The error of the driver.
    pub error: Error,
}

impl From<Error> for Unreachable {
    fn from(error: Error) -> Unreachable {
        Unreachable { target: None, place: None, error }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.target {
            write!(f, "[target {name}]: ")?;
        }
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        self.error.fmt(f)
    }
}

impl std::error::Error for Unreachable {}

/// The code with which MySQL and MariaDB refuse a statement that is too long
/// (`ER_NET_PACKET_TOO_LARGE`). They end the session afterwards, but the server can be reached.
const TOO_LONG: &str = "1153";

impl RunFailure {
    /// Returns the failure that an error on a control connection means. If the error ended the
    /// session, the target is unreachable, even if the server gave a code of its own. Otherwise the
    /// statement is wrong or was not answered in time.
    pub(crate) fn from_control_error(place: Location, error: Error) -> RunFailure {
        let is_lost = error.class() == Class::Disconnect && error.code().as_str() != TOO_LONG;
        match is_lost {
            true => {
                let place = Some(Box::new(place));
                RunFailure::Unreachable(Unreachable { target: None, place, error })
            }
            false => RunFailure::Statement { place, error },
        }
    }
}

/// Returns the error for a statement or a load, before or after the jobs, that was not answered in
/// time. `key` is the key that sets the limit.
pub(crate) fn statement_timeout(key: &str, limit: Nanos) -> Error {
    let words = format!("nothing was answered within `{key} = {limit}`");
    Error::new(Class::Timeout, Code::TIMEOUT, words)
}

/// Returns the message for a panic; `words` are those of the panic itself.
pub fn internal_error(words: &str) -> String {
    format!("internal error, a mistake in assay: {words}")
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFailure::Unreachable(_) => f.write_str("the target could not be reached"),
            RunFailure::Statement { place, error } if error.class() == Class::Timeout => {
                let asked = if place.statement.is_none() { "a count of " } else { "" };
                write!(f, "there is no answer to {asked}{place}")
            }
            RunFailure::Statement { place, error } if error.class() == Class::Disconnect => {
                write!(f, "the connection broke during {place}")
            }
            RunFailure::Statement { place, .. } => write!(f, "the database rejects {place}"),
            RunFailure::Unsupported { place, reason, help } => {
                write!(f, "[{}]: {reason}: {help}", place.section)
            }
            RunFailure::File { place, path, .. } => {
                write!(f, "the file `{}` of [{}] cannot be opened", path.display(), place.section)
            }
            RunFailure::System(_) => f.write_str("the operating system refused"),
            RunFailure::Deadlock(_) => f.write_str("the run stalled"),
            RunFailure::Panicked(words) => f.write_str(&internal_error(words)),
        }
    }
}

impl std::error::Error for RunFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunFailure::Unreachable(unreachable) => Some(unreachable),
            RunFailure::Statement { error, .. } => Some(error),
            RunFailure::Unsupported { .. } | RunFailure::Panicked(_) => None,
            RunFailure::File { error, .. } | RunFailure::System(error) => Some(error),
            RunFailure::Deadlock(error) => Some(error),
        }
    }
}
