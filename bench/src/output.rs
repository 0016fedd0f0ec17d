//! Output of the program.

/// Prints a line of the result.
#[expect(clippy::print_stdout, reason = "the only function that prints to standard output")]
pub(crate) fn print_line(line: impl std::fmt::Display) {
    println!("{line}");
}
