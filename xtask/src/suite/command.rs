//! Commands, and the report of failed ones.

use std::path::Path;
use std::process::{Command, Output};

/// Returns a command for the cargo that runs this program.
pub(super) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Returns the output of a failed command, below its name.
pub(super) fn failure_report(name: &str, output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    format!("test: {name} failed ({})\n{out}{err}", output.status)
}
