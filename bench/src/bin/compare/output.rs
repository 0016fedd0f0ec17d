//! Output of the program, and its errors.

use std::fmt;

/// The reason why something cannot be measured, as a message for the user.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Prints a line of the result.
#[expect(clippy::print_stdout, reason = "the only function that prints to standard output")]
pub(crate) fn print_line(line: impl fmt::Display) {
    println!("{line}");
}

/// Prints a line of progress, or an error, to standard error.
#[expect(clippy::print_stderr, reason = "the only function that prints to standard error")]
pub(crate) fn print_to_stderr(line: impl fmt::Display) {
    eprintln!("{line}");
}
