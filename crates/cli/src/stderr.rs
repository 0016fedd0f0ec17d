//! The only access to stderr.
//!
//! Nearly all output to stderr contains names, messages and lines of files and servers. They pass
//! through [`base::printable`] here or when a [`Complaint`](crate::complain::Complaint) is created,
//! which keeps them from controlling the terminal or imitating a message of this program. Passwords
//! of URLs and of settings such as `password=…` are replaced too: a URL may be given where a file
//! or a name is expected.

use std::io::{IsTerminal, Write};
use std::process::Stdio;

use base::{printable, without_any_password, without_passwords};

/// Prefix of each line of a message except the first.
const INDENT: &str = "  ";

/// Writes a text as one line, with control characters and passwords replaced.
pub(crate) fn line(text: &str) {
    write(&format!("{}\n", without_any_password(&printable(text))));
}

/// Writes a text whose parts are printable, and which may hold escape sequences of our own.
pub(crate) fn write(text: &str) {
    // A closed stderr is not an error.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Returns true if stderr is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Returns stderr as the output of a child process.
pub(crate) fn as_child_output() -> Stdio {
    std::io::stderr().into()
}

/// Makes each line of a message printable. All lines but the first are indented, so foreign text
/// cannot look like the start of a message. Passwords of URLs are replaced.
pub(crate) fn message(text: &str) -> String {
    let text = without_passwords(text);
    let mut lines = text.split('\n');
    let mut message = printable(lines.next().unwrap_or_default()).into_owned();
    for line in lines {
        message.push('\n');
        if !line.is_empty() && !line.starts_with(INDENT) {
            message.push_str(INDENT);
        }
        message.push_str(&printable(line));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_line_is_indented_and_cannot_act_on_the_terminal() {
        let text = "the server said:\n\x1b[2JVALID: 20 checks passed\r\nerror: x\n  kept\n";
        let expected =
            "the server said:\n  \u{fffd}[2JVALID: 20 checks passed \n  error: x\n  kept\n";
        assert_eq!(message(text), expected);
    }

    #[test]
    fn no_other_file_writes_to_stderr() {
        let mut folders =
            vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
        let mut others = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("stderr.rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    others.extend(text.contains("io::stderr()").then_some(path));
                }
            }
        }
        assert_eq!(others, Vec::<std::path::PathBuf>::new());
    }
}
