//! Output of the program, and its errors.

use std::fmt;

/// The reason why something cannot be measured, as a message for the user.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Prints a line of the result.
#[expect(clippy::print_stdout, reason = "this is the program's one way to speak")]
pub(crate) fn say(line: impl fmt::Display) {
    println!("{line}");
}

/// Prints a line of progress, or an error, to standard error.
#[expect(clippy::print_stderr, reason = "this is the program's one way to complain")]
pub(crate) fn complain(line: impl fmt::Display) {
    eprintln!("{line}");
}
