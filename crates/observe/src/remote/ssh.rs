//! The user's own ssh, and messages for its failures.
//!
//! No port is opened and no password is requested (ssh_config(5): `BatchMode`,
//! `ClearAllForwardings`). The user's keys and configuration determine the access.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use base::{Clock, Monotonic, Nanos, Stamp};

use super::host::RemoteHost;
use super::protocol::{LONGEST_LINE, RemoteRequest, sanitised};
use crate::scope::{Scope, ServerLocation};

/// Options of ssh in addition to the user's configuration: it never prompts, opens no port, and
/// detects a dead connection after 15 seconds.
const SSH_OPTIONS: [&str; 16] = [
    "-T",
    "-x",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
    // A shared connection would exist for longer than this one, and with different options.
    "-o",
    "ControlMaster=no",
    "-o",
    "ControlPath=none",
];

/// Maximum number of bytes of ssh's error output that are kept, from its end.
const MAX_ERROR_OUTPUT: usize = 4_096;

/// Time limit for the end of ssh's error output, once ssh's input is closed.
const ERROR_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// Exit codes: of ssh for its own failures (ssh(1), "EXIT STATUS"), and of a shell that does not
/// find a program or is not permitted to run it.
const SSH_FAILED: i32 = 255;
const NOT_FOUND: i32 = 127;
const CANNOT_RUN: i32 = 126;

/// An event that the thread of a watch receives.
#[derive(Debug)]
pub(super) enum Event {
    /// A line, and the time at which it was received.
    Line(Stamp, Vec<u8>),
    /// A line that exceeds the limit.
    TooLong,
    /// The end of the output.
    Closed,
    /// The end of the watch.
    Over,
}

/// Returns the words of the command for the other machine.
fn remote_command(host: &RemoteHost, scope: &Scope) -> Vec<String> {
    let mut words = vec![host.command.clone(), "observe".to_owned(), "--stdio".to_owned()];
    words.extend(["--every".to_owned(), scope.every.to_string()]);
    // Servers of several hosts of the URL may run on the other machine. A server that seems to be
    // on this machine is taken for one of these only if no server is seen elsewhere. The URL then
    // leads through a tunnel.
    let is_elsewhere = |place: &ServerLocation| matches!(place, ServerLocation::Elsewhere(_));
    let has_elsewhere = scope.servers.iter().any(is_elsewhere);
    let port = |place: &ServerLocation| match place {
        ServerLocation::Elsewhere(port) => Some(*port),
        ServerLocation::Port(port) => (!has_elsewhere).then_some(*port),
        ServerLocation::Socket(_) | ServerLocation::Process(_) | ServerLocation::Threads(_) => None,
    };
    let ports: BTreeSet<u16> = scope.servers.iter().filter_map(port).collect();
    for port in ports {
        words.extend(["--port".to_owned(), port.to_string()]);
    }
    words
}

fn command(program: &OsStr, host: &RemoteHost, scope: &Scope) -> Command {
    let mut command = Command::new(program);
    command.args(SSH_OPTIONS);
    if let Some(port) = host.port {
        command.args(["-p", &port.to_string()]);
    }
    command.args(["--", &host.login()]).args(remote_command(host, scope));
    // A Ctrl-C at the terminal must reach only the parent process, which then ends ssh.
    command.process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    confine::without_secrets(&mut command);
    command
}

/// A running ssh process and its streams.
#[derive(Debug)]
pub(super) struct Connection {
    child: Child,
    input: Option<ChildStdin>,
    error_output: Receiver<String>,
}

/// The end of an ssh process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SshExit {
    /// Exit code of ssh; `None` if it was killed.
    pub(super) code: Option<i32>,
    /// Last part of ssh's error output.
    pub(super) error_output: String,
}

impl Connection {
    /// Starts ssh; its output is received as events.
    pub(super) fn open(
        program: &OsStr,
        host: &RemoteHost,
        scope: &Scope,
        events: SyncSender<Event>,
    ) -> io::Result<Connection> {
        let mut child = command(program, host, scope).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let errors = child.stderr.take();
        let (sender, error_output) = sync_channel(1);
        let threads = thread::Builder::new()
            .name("watch-ssh".to_owned())
            .spawn(move || output.map(|output| forward_lines(output, &events)))
            .and_then(|_| {
                let thread = thread::Builder::new().name("watch-ssh-errors".to_owned());
                thread.spawn(move || {
                    // Once the watch has ended, the receiver is gone, and the text is no longer
                    // needed.
                    let _ = sender.send(errors.map(read_last_part).unwrap_or_default());
                })
            });
        let mut connection = Connection { child, input, error_output };
        match threads {
            Ok(_) => Ok(connection),
            Err(error) => {
                connection.kill();
                Err(error)
            }
        }
    }

    /// Sends a request. An error is ignored: if the remote program has ended, so has its output.
    pub(super) fn send(&mut self, asked: RemoteRequest) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(asked.line().as_bytes());
        }
    }

    /// Closes the input of the program on the other machine, which then ends.
    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    /// Ends ssh, if it is still running, and returns its exit code and error output.
    pub(super) fn close(mut self) -> SshExit {
        self.close_input();
        let error_output = self.error_output.recv_timeout(ERROR_OUTPUT_TIMEOUT).unwrap_or_default();
        let code = self.kill();
        SshExit { code, error_output }
    }

    /// Kills ssh, waits for its end, and returns its exit code. If ssh had already ended by itself,
    /// this is the exit code of that end.
    fn kill(&mut self) -> Option<i32> {
        let _ = self.child.kill();
        self.child.wait().ok()?.code()
    }
}

/// Passes lines on until the output ends, a line is too long, or the receiver is gone.
fn forward_lines(output: impl Read, events: &SyncSender<Event>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut line);
        let event = match read {
            Ok(0) | Err(_) => Event::Closed,
            Ok(_) if line.len() >= LONGEST_LINE => Event::TooLong,
            Ok(_) => Event::Line(Monotonic.now(), line),
        };
        let is_last = !matches!(event, Event::Line(..));
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

/// Returns the last part of the error output.
fn read_last_part(mut errors: impl Read) -> String {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1_024]);
    while let Ok(count @ 1..) = errors.read(&mut chunk) {
        kept.extend_from_slice(&chunk[..count]);
        let excess = kept.len().saturating_sub(MAX_ERROR_OUTPUT);
        kept.drain(..excess);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Reason why another machine is not observed.
#[derive(Debug)]
pub(super) enum RemoteFailure {
    /// The program `ssh` does not exist or cannot be started.
    NotStarted(io::Error),
    /// The program `ssh` ended before the remote `assay` had sent its greeting.
    NotReached,
    /// The program `ssh` ended during the run, this long after the start.
    Ended(Nanos),
    /// The greeting, or an answer of the remote clock, has not arrived for this long.
    Silent(Nanos),
    /// The remote program is not `assay`, and wrote this line.
    NotAssay(String),
    /// The remote `assay` uses this version of the protocol, which differs from our version.
    Version(u64),
    /// This line is not a message of the protocol.
    Malformed(String),
    /// The run was over before the remote program had sent its greeting and its clock.
    TooLate,
}

/// Returns the reason why the machine is not observed, with a remedy if there is one.
pub(super) fn failure_reason(failure: &RemoteFailure, host: &RemoteHost, exit: &SshExit) -> String {
    let name = &host.host;
    match failure {
        RemoteFailure::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => {
            "`ssh` is not on the PATH of this machine: install openssh-client".to_owned()
        }
        RemoteFailure::NotStarted(error) => format!("ssh does not start: {error}"),
        RemoteFailure::NotReached => early_exit_reason(host, exit),
        RemoteFailure::Ended(after) => {
            let seconds = after.as_secs_f64();
            let said = last_line(&exit.error_output).map_or_else(
                || "the program there ended, or was killed".to_owned(),
                |line| format!("it said: {line}"),
            );
            format!("the connection to {name} ended {seconds:.1} s into the run: {said}")
        }
        RemoteFailure::Silent(wait) => {
            let said = last_line(&exit.error_output);
            let said = said.map_or_else(String::new, |line| format!("; ssh said: {line}"));
            format!(
                "no answer from {name} within {wait}{said}: try `{} {} --version`",
                host.ssh_command(),
                host.command
            )
        }
        RemoteFailure::NotAssay(line) => format!(
            "the answer from {name} is not that of `{} observe`: `{line}`; the login there must \
             not write to stdout",
            host.command
        ),
        RemoteFailure::Version(version) => format!(
            "`{}` on {name} speaks version {version} of this protocol, and this one version {}: \
             install the same version there",
            host.command,
            super::protocol::VERSION
        ),
        RemoteFailure::Malformed(line) => {
            format!("{name} sent a line that is not a sample: `{line}`; earlier samples are kept")
        }
        RemoteFailure::TooLate => format!("the run ended before an answer of ssh to {name}"),
    }
}

/// Returns the reason why ssh or the remote program ended at once.
fn early_exit_reason(host: &RemoteHost, SshExit { code, error_output }: &SshExit) -> String {
    let (name, program) = (&host.host, &host.command);
    let quoted = last_line(error_output).map_or_else(String::new, |line| format!(": {line}"));
    match code {
        Some(SSH_FAILED) => ssh_problem(host, error_output),
        Some(NOT_FOUND) => format!(
            "`{program}` is not on the PATH of {name}: install this version there, for example in \
             /usr/local/bin"
        ),
        Some(CANNOT_RUN) => format!("`{program}` on {name} cannot be run{quoted}"),
        Some(0) | None => format!("`{program}` on {name} ended without a message{quoted}"),
        Some(code) => format!(
            "`{program} observe --stdio` on {name} ended with code {code}{quoted}: install this \
             version there"
        ),
    }
}

/// Returns the reason why ssh itself failed, from its error output.
fn ssh_problem(host: &RemoteHost, error_output: &str) -> String {
    let (name, ssh_command) = (&host.host, host.ssh_command());
    let says = |words: &str| error_output.contains(words);
    if says("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        format!(
            "ssh has another key for {name} than it shows: find out why, then `ssh-keygen -R {}`",
            host.in_known_hosts()
        )
    } else if says("Host key verification failed") {
        format!("ssh does not know the key of {name}: connect once by hand with `{ssh_command}`")
    } else if says("Permission denied") && (says("password") || says("keyboard")) {
        format!("ssh to {name} asks for a password: set up a key, or use ssh-agent")
    } else if says("Permission denied") {
        format!("{name} does not know any key that ssh has: use ssh-copy-id, or ssh-agent")
    } else if says("Could not resolve hostname") {
        format!("ssh finds no host called {name}: check the name in `host`")
    } else {
        let said = last_line(error_output).map_or_else(String::new, |line| format!(": {line}"));
        format!("ssh does not reach {name}{said}: try `{ssh_command} true`")
    }
}

/// Returns the last line that is not empty, cleaned for a record and without its final period;
/// `None` if there is no such line.
fn last_line(error_output: &str) -> Option<String> {
    let line = error_output.lines().rev().map(sanitised).find(|line| !line.is_empty())?;
    Some(line.trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn db1() -> RemoteHost {
        let user = Some("u".to_owned());
        RemoteHost { user, ..RemoteHost::named("db1") }
    }

    #[test]
    fn ssh_runs_without_prompts_and_forwarding() {
        let scope = Scope {
            every: Nanos::from_millis(500),
            servers: vec![
                ServerLocation::Process(3),
                ServerLocation::Elsewhere(5_433),
                ServerLocation::Elsewhere(5_432),
                // A server on this machine.
                ServerLocation::Port(5_434),
            ],
            ..Scope::default()
        };
        let host = RemoteHost { port: Some(2_222), ..db1() };
        let command = command(OsStr::new("ssh"), &host, &scope);
        let words: Vec<&str> = command.get_args().filter_map(OsStr::to_str).collect();
        let line = words.join(" ");
        assert!(line.starts_with("-T -x -o BatchMode=yes "), "{line}");
        assert!(line.contains("ClearAllForwardings=yes"), "{line}");
        let end = "-p 2222 -- u@db1 assay observe --stdio --every 500ms --port 5432 --port 5433";
        assert!(line.ends_with(end), "{line}");
        let through_tunnel = Scope { servers: vec![ServerLocation::Port(5_434)], ..scope };
        let words = remote_command(&host, &through_tunnel);
        assert!(words.ends_with(&["--port".to_owned(), "5434".to_owned()]), "{words:?}");
    }

    #[test]
    fn each_end_of_ssh_has_its_reason_and_its_remedy() {
        let check = |code: Option<i32>, error_output: &str, words: [&str; 2]| {
            let exit = SshExit { code, error_output: error_output.to_owned() };
            let why = failure_reason(&RemoteFailure::NotReached, &db1(), &exit);
            assert!(words.iter().all(|word| why.contains(word)), "{why}");
            assert!(!why.contains('\u{1b}'), "{why:?}");
        };
        check(
            Some(255),
            "u@db1: Permission denied (publickey,password).\r\n",
            ["asks for a password", "set up a key, or use ssh-agent"],
        );
        check(Some(255), "u@db1: Permission denied (publickey).", ["any key", "ssh-copy-id"]);
        check(Some(255), "Host key verification failed.\n", ["the key of db1", "ssh u@db1"]);
        let changed =
            "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.";
        check(Some(255), changed, ["another key", "ssh-keygen -R db1"]);
        let name = "ssh: Could not resolve hostname db1: Name or service not known";
        check(Some(255), name, ["no host called db1", "check the name"]);
        let refused = "ssh: connect to host db1 port 22: Connection refused\n\n";
        check(Some(255), refused, ["Connection refused", "try `ssh u@db1 true`"]);
        check(Some(127), "sh: assay: not found", ["`assay` is not on the PATH of db1", "install"]);
        check(Some(126), "\u{1b}[31mPermission denied", ["cannot be run", "denied"]);
        check(Some(2), "error: unrecognized subcommand", ["code 2", "unrecognized"]);
        check(None, "", ["ended without a message", "db1"]);
        let closed = SshExit { code: Some(255), error_output: "Closed by db1.\r\n".to_owned() };
        let why = failure_reason(&RemoteFailure::Ended(Nanos::ZERO), &db1(), &closed);
        assert!(why.ends_with("it said: Closed by db1"), "{why}");
    }

    #[test]
    fn a_remedy_names_the_port_where_there_is_one() {
        let host = RemoteHost { port: Some(2_222), ..db1() };
        let why = |error_output: &str| ssh_problem(&host, error_output);
        assert!(why("Host key verification failed.").ends_with("`ssh -p 2222 u@db1`"));
        let changed = why("REMOTE HOST IDENTIFICATION HAS CHANGED");
        assert!(changed.ends_with("`ssh-keygen -R '[db1]:2222'`"), "{changed}");
    }

    #[test]
    fn other_problems_have_remedies() {
        let quiet = SshExit::default();
        let sentence = |failure: RemoteFailure| failure_reason(&failure, &db1(), &quiet);
        let none = io::Error::from(io::ErrorKind::NotFound);
        assert!(sentence(RemoteFailure::NotStarted(none)).contains("openssh-client"));
        assert!(sentence(RemoteFailure::Version(2)).contains("version 2"));
        assert!(
            sentence(RemoteFailure::Ended(Nanos::from_millis(2_500)))
                .contains("2.5 s into the run")
        );
        assert!(sentence(RemoteFailure::Silent(Nanos::from_secs(15))).contains("within 15s"));
        assert!(sentence(RemoteFailure::NotAssay("hello".to_owned())).contains("`hello`"));
    }

    #[test]
    fn only_the_end_of_long_stderr_is_kept() {
        let many = "x".repeat(10 * MAX_ERROR_OUTPUT) + "the end";
        let kept = read_last_part(many.as_bytes());
        assert!(kept.len() <= MAX_ERROR_OUTPUT && kept.ends_with("the end"), "{}", kept.len());
    }

    #[test]
    fn endless_line_is_refused() {
        let (events, received) = sync_channel(4);
        forward_lines(io::repeat(b'x'), &events);
        assert!(matches!(received.recv(), Ok(Event::TooLong)));
    }
}
