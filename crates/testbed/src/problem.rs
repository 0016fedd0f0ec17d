//! Errors of private servers.

use std::fmt;
use std::io;

use base::Nanos;

/// Error message of servers about a port that is taken, in the C locale.
const PORT_TAKEN_MESSAGE: &str = "Address already in use";

/// The reason why a server could not be started, queried or ended. Its `Display` includes the
/// remedy.
#[derive(Debug)]
pub enum Problem {
    /// A program is not installed.
    Missing {
        /// Name of the program.
        program: String,
        /// Way to install it.
        remedy: String,
    },
    /// The operating system refused something.
    System {
        /// The attempted action.
        what: String,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// A program ended with an error or too early.
    Ended {
        /// Name of the program.
        program: String,
        /// End of its output.
        output: String,
    },
    /// A program did not become ready, or did not end, in time.
    Slow {
        /// Name of the program.
        program: String,
        /// Time limit.
        limit: Nanos,
        /// End of its output.
        output: String,
    },
    /// Impossible options or an unsuitable machine, one line per mistake.
    Refused(Vec<String>),
}

impl Problem {
    /// Creates a refusal with one reason.
    pub(crate) fn refused(why: impl Into<String>) -> Problem {
        Problem::Refused(vec![why.into()])
    }

    /// Returns a function that converts an error of the operating system during the action `what`.
    pub(crate) fn system<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Problem {
        let what = what.into();
        move |cause| Problem::System { what, cause: cause.into() }
    }

    /// Returns true if a port was taken by another program.
    pub(crate) fn is_port_taken(&self) -> bool {
        match self {
            Problem::System { cause, .. } => cause.kind() == io::ErrorKind::AddrInUse,
            _ => self.output().contains(PORT_TAKEN_MESSAGE),
        }
    }

    /// Returns the output of the program that failed; empty if there is none.
    pub fn output(&self) -> &str {
        match self {
            Problem::Ended { output, .. } | Problem::Slow { output, .. } => output,
            Problem::Missing { .. } | Problem::System { .. } | Problem::Refused(_) => "",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Missing { program, remedy } => {
                write!(f, "`{program}` is not installed: {remedy}")
            }
            Problem::System { what, cause } => write!(f, "cannot {what}: {cause}"),
            Problem::Ended { program, output } if output.is_empty() => {
                write!(f, "`{program}` ended without a message")
            }
            Problem::Ended { program, output } => {
                write!(f, "`{program}` ended with the message:\n{output}")
            }
            Problem::Slow { program, limit, output } => {
                write!(f, "`{program}` did not finish within {limit}; its output:\n{output}")
            }
            Problem::Refused(lines) => f.write_str(&lines.join("\n")),
        }
    }
}

impl std::error::Error for Problem {}
