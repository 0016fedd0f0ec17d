//! The command that runs alongside the tests, in the processor time that the tests leave.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;

use super::command::failure_report;

/// A command that was started, or none. A thread reads its output.
pub(super) struct BackgroundCommand(Option<(String, JoinHandle<std::io::Result<Output>>)>);

impl BackgroundCommand {
    /// Starts a command, unless it is empty. While other processes want a processor, the kernel
    /// gives the command hardly any time (`SCHED_IDLE`, sched(7)).
    ///
    /// # Errors
    /// The command cannot be started.
    pub(super) fn start(root: &Path, command: &[&str]) -> Result<BackgroundCommand, String> {
        if command.is_empty() {
            return Ok(BackgroundCommand(None));
        }
        let name = command.join(" ");
        let child = Command::new("chrt")
            .args(["--idle", "0"])
            .args(command)
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run chrt --idle 0 {name}: {error}"))?;
        Ok(BackgroundCommand(Some((name, std::thread::spawn(|| child.wait_with_output())))))
    }

    /// Waits for the command's end.
    ///
    /// # Errors
    /// The output of the command, if it failed.
    pub(super) fn finish(self) -> Result<(), String> {
        let Some((name, reader)) = self.0 else { return Ok(()) };
        let output = reader.join().expect("waiting does not panic");
        let output = output.map_err(|error| format!("{name}: {error}"))?;
        if output.status.success() { Ok(()) } else { Err(failure_report(&name, &output)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_command_is_reported_with_its_output() {
        let run =
            |command: &[&str]| BackgroundCommand::start(Path::new("/"), command).unwrap().finish();
        assert_eq!(run(&[]), Ok(()));
        assert_eq!(run(&["true"]), Ok(()));
        let failure = "test: sh -c echo no; exit 3 failed (exit status: 3)\nno\n";
        assert_eq!(run(&["sh", "-c", "echo no; exit 3"]), Err(failure.to_owned()));
    }
}
