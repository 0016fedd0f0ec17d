//! Why there is no server.

use std::fmt;
use std::io;

use base::Nanos;

/// Why a server could not be started, asked or ended. Its `Display` says what to do.
#[derive(Debug)]
pub enum Problem {
    /// A program is not installed.
    Missing {
        /// The program's name.
        program: String,
        /// The way to get it.
        remedy: String,
    },
    /// The operating system refused something.
    System {
        /// What was tried.
        what: String,
        /// What it said.
        cause: io::Error,
    },
    /// A program ended with an error or too early.
    Ended {
        /// The program's name.
        program: String,
        /// The end of what it said.
        words: String,
    },
    /// A program did not become ready, or did not end, in time.
    Slow {
        /// The program's name.
        program: String,
        /// What it was given.
        limit: Nanos,
        /// The end of what it said.
        words: String,
    },
    /// What was asked for cannot be had. One line per mistake.
    Refused(Vec<String>),
}

impl Problem {
    /// A refusal for one reason.
    pub(crate) fn refused(why: impl Into<String>) -> Problem {
        Problem::Refused(vec![why.into()])
    }

    /// What turns an error of the operating system into a problem.
    pub(crate) fn of<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Problem {
        let what = what.into();
        move |cause| Problem::System { what, cause: cause.into() }
    }

    /// What the program said that could not do what it was asked for; empty if none said anything.
    pub fn words(&self) -> &str {
        match self {
            Problem::Ended { words, .. } | Problem::Slow { words, .. } => words,
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
            Problem::Ended { program, words } if words.is_empty() => {
                write!(f, "`{program}` ended without a word")
            }
            Problem::Ended { program, words } => write!(f, "`{program}` ended and said:\n{words}"),
            Problem::Slow { program, limit, words } => {
                write!(f, "`{program}` did not do its work within {limit}; it said:\n{words}")
            }
            Problem::Refused(lines) => f.write_str(&lines.join("\n")),
        }
    }
}

impl std::error::Error for Problem {}
