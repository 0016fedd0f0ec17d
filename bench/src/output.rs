//! Output of the program.

/// Prints a line of the result.
#[expect(clippy::print_stdout, reason = "this is the program's one way to speak")]
pub(crate) fn say(line: impl std::fmt::Display) {
    println!("{line}");
}
