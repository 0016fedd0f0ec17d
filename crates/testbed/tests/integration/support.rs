//! Helpers that start servers and query them with external clients.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use testbed::{Kind, Options, Server};

pub(crate) const KINDS: [Kind; 2] = [Kind::Postgres, Kind::Mariadb];

/// Starts a server; the test fails with the problem if this is not possible.
pub(crate) fn start(options: &Options) -> Server {
    Server::start(options).unwrap_or_else(|problem| panic!("{problem}"))
}

/// A separate process that owns a server.
pub(crate) struct Host {
    pub(crate) child: Child,
    /// Id of the server's first process.
    pub(crate) pid: u32,
    pub(crate) folder: PathBuf,
}

impl Host {
    pub(crate) fn start(url: &str) -> Host {
        Host::start_with(url, &[])
    }

    /// Starts a host with further environment variables.
    pub(crate) fn start_with(url: &str, variables: &[(&str, &Path)]) -> Host {
        let mut command = Command::new(env!("CARGO_BIN_EXE_testbed-host"));
        command.arg(url).envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a host");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[_, pid, folder] = words.as_slice() else { panic!("`{line}`") };
        Host { child, pid: pid.parse().expect("a number"), folder: PathBuf::from(folder) }
    }

    /// Ends the host and its server.
    pub(crate) fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("a child").success());
        assert!(!self.folder.exists());
    }
}

/// The password and further settings with which a client logs in.
#[derive(Clone, Copy)]
pub(crate) struct Login<'a> {
    pub(crate) password: &'a str,
    /// Further settings: environment variables of psql such as `PGSSLMODE`, or options of the
    /// mariadb client.
    pub(crate) extra: &'a [(&'a str, &'a str)],
}

/// Runs a statement with the database's own client over TCP, and returns its output.
pub(crate) fn ask(server: &Server, login: Login<'_>, sql: &str) -> Result<String, String> {
    output_of(client(server, login, sql))
}

/// Returns the command that runs a statement with the database's own client over TCP.
pub(crate) fn client(server: &Server, login: Login<'_>, sql: &str) -> Command {
    let port = server.port().to_string();
    match server.kind() {
        Kind::Postgres => {
            let mut command = Command::new("psql");
            command.args(["-X", "-A", "-t", "-h", "127.0.0.1", "-p", &port]);
            command.args(["-U", "assay", "-d", "assay", "-c", sql]);
            command.env("PGPASSWORD", login.password);
            command.envs(login.extra.iter().copied());
            command
        }
        Kind::Mariadb | Kind::Mysql => {
            let mut command = Command::new("mariadb");
            command.args(["--no-defaults", "-N", "-B", "-h", "127.0.0.1", "-P", &port]);
            command.args(["-u", "assay", "assay", "-e", sql]).env("MYSQL_PWD", login.password);
            let options = login.extra.iter().map(|(name, value)| format!("--{name}={value}"));
            command.args(options);
            command
        }
    }
}

/// Runs a statement with the right password.
pub(crate) fn ask_plainly(server: &Server, sql: &str) -> Result<String, String> {
    ask(server, Login { password: server.password().expose(), extra: &[] }, sql)
}

/// Runs a program and returns its output, or its error output if it failed.
pub(crate) fn output_of(mut command: Command) -> Result<String, String> {
    let Output { status, stdout, stderr } = command.output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    if status.success() { Ok(text(stdout)) } else { Err(text(stderr)) }
}

/// Returns true if a process exists and is not a zombie.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Waits until a condition holds, a minute at most.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let (_keep, never) = std::sync::mpsc::sync_channel::<()>(0);
    for _ in 0..1_200 {
        if is_so() {
            return;
        }
        let _ = never.recv_timeout(std::time::Duration::from_millis(50));
    }
    panic!("never: {what}");
}

/// Returns a path as a command-line argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ASCII")
}
