//! Execution of one program until it ends or is terminated.

use std::ffi::OsString;
use std::io::{PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use base::{Class, Clock, Code, Monotonic, Nanos, Stamp};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::program_guardian::ProgramGuardian;
use crate::Error;

/// A variable of a program's environment: its name, and its value or `None` to remove it.
pub type Variable = (&'static str, Option<OsString>);

const SHELL: &str = "/bin/sh";

/// Text before each command: the shell waits for the line that [`Program::begin`] writes.
///
/// If this process is killed before it has registered the program with the guardian, the shell
/// reads the end of its input and ends without having run the command. The text has no line feed:
/// the numbers of lines in the shell's messages are those of the command.
const AWAIT_BEGIN: &str = "read -r assay_begin || exit; unset assay_begin; exec </dev/null; ";

/// Number of bytes kept from the end of stderr.
const STDERR_TAIL: usize = 4_096;

/// Maximum number of bytes read from stderr after the program has ended: more than a pipe holds. A
/// limit is needed because a surviving child could write forever.
const MOST_READ_AFTER_EXIT: usize = 2 << 20;

/// Time in which a program must end after each signal.
const GRACE: Nanos = Nanos::from_secs(1);

/// Interval at which a program's caller is polled.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// Interval between checks whether the process group of a terminated program is gone.
const EXIT_POLL_INTERVAL: Nanos = Nanos::from_millis(10);

/// The end of a program.
pub(super) struct ProgramEnd {
    /// Time of the end.
    pub(super) at: Stamp,
    /// The error that it ended with, if any.
    pub(super) outcome: Result<(), Error>,
}

/// A command for the shell.
pub(super) struct Script<'a> {
    /// The text of the command.
    pub(super) text: &'a str,
    /// The folder in which the command runs.
    pub(super) folder: &'a Path,
    /// Variables that differ from the environment of this process; `None` removes one.
    pub(super) variables: &'a [Variable],
}

/// A way for the caller of a program to abandon it.
pub(super) enum Cancellation<'a> {
    /// The caller closes the other end of this pipe.
    Pipe(&'a PipeReader),
    /// A function that is called every [`POLL_INTERVAL`], and returns true once the caller abandons
    /// the program.
    Poll(&'a dyn Fn() -> bool),
}

/// Runs a command until it ends, or terminates it when its caller abandons it.
///
/// # Errors
/// The operating system cannot start the program.
pub(super) fn run(
    script: &Script<'_>,
    cancellation: &Cancellation<'_>,
    guardian: &ProgramGuardian,
) -> std::io::Result<ProgramEnd> {
    let mut program = Program::start(waiting(script))?;
    let _entry = guardian.register(program.child.id());
    program.begin();
    Ok(match program.wait(cancellation) {
        Some(at) => ProgramEnd { at, outcome: program.reap() },
        None => {
            let at = Monotonic.now();
            // The group must be dead before the guardian's entry is removed.
            drop(program);
            ProgramEnd { at, outcome: Err(given_up()) }
        }
    })
}

/// Returns the shell that runs a command once it has read a line.
pub(super) fn waiting(script: &Script<'_>) -> Command {
    let mut command = shell(script.folder);
    command.arg("-c").arg([AWAIT_BEGIN, script.text].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    for (name, value) in script.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Returns the shell in a folder, without input and without this process's secrets.
fn shell(folder: &Path) -> Command {
    let mut command = Command::new(SHELL);
    command.current_dir(folder).stdin(Stdio::null());
    confine::without_secrets(&mut command);
    command
}

/// Returns the error of a program that cannot be started.
pub(super) fn not_started(cause: &std::io::Error) -> Error {
    let words = format!("the program cannot be started: {cause}");
    Error::new(Class::Server, Code::new("not-started"), words)
}

fn given_up() -> Error {
    Error::new(Class::Timeout, Code::TIMEOUT, "the program was given up")
}

/// Returns the shell's complaint about the syntax of `text`, if any.
pub(super) fn syntax_error(text: &str, folder: &Path) -> Option<String> {
    let output = match shell(folder).args(["-n", "-c", text]).output() {
        Ok(output) if output.status.success() => return None,
        Ok(output) => output,
        Err(cause) => return Some(cause.to_string()),
    };
    Some(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " "))
}

/// Returns true if the shell finds a program. A word that is not a plain name is not checked, and
/// counts as found.
pub(super) fn is_found(word: &str, folder: &Path) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+".contains(&byte);
    if word.starts_with('-') || !word.bytes().all(is_plain) {
        return true;
    }
    let mut command = shell(folder);
    command.args(["-c", "command -v \"$1\"", SHELL, word]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// A started program. Dropping it terminates the program's whole process group.
struct Program {
    child: Child,
    /// Process handle, readable once the program has ended. Only `reap` and `end` reap the program;
    /// until then, its process and group numbers are not reused.
    handle: OwnedFd,
    stderr: Option<ChildStderr>,
    words: Tail,
    has_ended: bool,
}

impl Program {
    /// Starts a [shell that waits](waiting).
    fn start(mut command: Command) -> std::io::Result<Program> {
        let mut child = command.spawn()?;
        let stderr = child.stderr.take();
        match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(handle) => {
                let words = Tail::default();
                Ok(Program { child, handle, stderr, words, has_ended: false })
            }
            Err(cause) => {
                let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
                child.wait()?;
                Err(cause.into())
            }
        }
    }

    /// Lets the shell run its command.
    fn begin(&mut self) {
        if let Some(mut input) = self.child.stdin.take() {
            // Fails if the shell has already been killed, which its exit status reports.
            let _ = input.write_all(b"\n");
        }
    }

    /// Waits for the program's end and returns its time; `None` if the caller abandoned the program
    /// first.
    fn wait(&mut self, cancellation: &Cancellation<'_>) -> Option<Stamp> {
        loop {
            let mut files = vec![readable(&self.handle)];
            files.extend(self.stderr.iter().map(readable));
            let at_most = match cancellation {
                Cancellation::Pipe(line) => {
                    files.push(readable(line));
                    None
                }
                Cancellation::Poll(_) => Some(POLL_INTERVAL),
            };
            wait_for(&mut files, at_most);
            let happened = |place: usize| {
                files.get(place).is_some_and(|file: &PollFd<'_>| !file.revents().is_empty())
            };
            let (has_ended, speaks) = (happened(0), self.stderr.is_some() && happened(1));
            let is_abandoned = match cancellation {
                Cancellation::Pipe(_) => happened(files.len() - 1),
                Cancellation::Poll(is_given_up) => is_given_up(),
            };
            if has_ended {
                self.has_ended = true;
                return Some(Monotonic.now());
            }
            if is_abandoned {
                return None;
            }
            if speaks {
                self.read_stderr();
            }
        }
    }

    /// Reads available bytes of stderr and returns their number; 0 is the end of the stream.
    fn read_stderr(&mut self) -> usize {
        let mut bytes = [0; STDERR_TAIL];
        let read = self.stderr.as_mut().and_then(|stderr| stderr.read(&mut bytes).ok());
        let read = read.unwrap_or(0);
        self.words.push(&bytes[..read]);
        if read == 0 {
            self.stderr = None;
        }
        read
    }

    /// Reaps the program and converts its exit status into a result.
    fn reap(mut self) -> Result<(), Error> {
        let mut read = 0;
        while read < MOST_READ_AFTER_EXIT && self.stderr.as_ref().is_some_and(has_input) {
            read += self.read_stderr();
        }
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failure(status, &self.words.text())),
            Err(cause) => Err(Error::new(Class::Server, Code::new("lost"), cause.to_string())),
        }
    }

    /// Terminates the program's whole group: SIGTERM first, then SIGKILL.
    fn end(&mut self) {
        let group = Pid::from_child(&self.child);
        for signal in [Signal::TERM, Signal::KILL] {
            let _ = kill_process_group(group, signal);
            self.await_group_end(group);
        }
        let _ = self.child.wait();
    }

    /// Waits until all processes of the group have ended, at most [`GRACE`].
    fn await_group_end(&self, group: Pid) {
        let until = Monotonic.now() + GRACE;
        let mut leads = true;
        while has_members(group) && Monotonic.now() < until {
            let mut files = vec![readable(&self.handle)];
            // Once the leader has ended, its handle stays readable: only the timeout can pause the
            // loop.
            files.truncate(usize::from(leads));
            wait_for(&mut files, Some(EXIT_POLL_INTERVAL));
            leads = files.first().is_some_and(|leader| leader.revents().is_empty());
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end();
        }
    }
}

fn readable<F: AsFd>(file: &F) -> PollFd<'_> {
    PollFd::new(file, PollFlags::IN)
}

/// Waits until one of `files` is ready, at most `at_most`, which must be shorter than a second.
fn wait_for(files: &mut [PollFd<'_>], at_most: Option<Nanos>) {
    let at_most = at_most.map(|time| Timespec { tv_sec: 0, tv_nsec: time.0 as _ });
    while poll(files, at_most.as_ref()) == Err(Errno::INTR) {}
}

fn has_input(file: &ChildStderr) -> bool {
    let mut files = [readable(file)];
    wait_for(&mut files, Some(Nanos::ZERO));
    !files[0].revents().is_empty()
}

/// Returns true if any process of a group is alive, or if that cannot be determined.
pub(super) fn has_members(group: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let group = group.as_raw_nonzero().to_string();
    processes.flatten().any(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // After the name, which may contain anything: state, parent, group (proc_pid_stat(5)).
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let state = fields.next().unwrap_or("X");
        !matches!(state, "Z" | "X") && fields.nth(1) == Some(group.as_str())
    })
}

fn failure(status: ExitStatus, words: &str) -> Error {
    let (code, what) = match (status.code(), status.signal()) {
        (Some(code), _) => (format!("exit-{code}"), "the program ended without a message"),
        (None, Some(signal)) => (format!("signal-{signal}"), "the program was killed"),
        (None, None) => ("exit".to_owned(), "the program ended in an unknown way"),
    };
    let message = if words.is_empty() { what } else { words };
    Error::new(Class::Server, Code::new(&code), message)
}

/// Length in bytes of the longest word that could be a secret.
const LONGEST_SECRET: usize = 256;

/// The last [`STDERR_TAIL`] bytes of a stream.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if let Some(more @ 1..) = self.bytes.len().checked_sub(STDERR_TAIL) {
            self.bytes.drain(..more);
            self.is_cut = true;
        }
    }

    /// Returns the text. If its beginning was cut off, the first word is left out, or the first
    /// [`LONGEST_SECRET`] bytes if that is less, because they may be the end of a secret.
    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        if !self.is_cut {
            return text.trim().to_owned();
        }
        let end = text.find(char::is_whitespace).unwrap_or(text.len()).min(LONGEST_SECRET);
        format!("…{}", text[text.ceil_char_boundary(end)..].trim())
    }
}
