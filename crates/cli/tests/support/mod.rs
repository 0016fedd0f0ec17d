//! Helpers that run the program as a user does: in a temporary folder, with its output and exit
//! code.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use base::{Clock, Monotonic, Nanos};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid, pipe2};
use serde_json::Value;
use tempfile::TempDir;

/// Longest time to wait before a test fails: far longer than any step takes on any machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Interval between two checks of [`wait_for`]. The processor is free for other programs meanwhile.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Calls `poll` until it returns a value, and returns this value; `what` describes the value in the
/// message of a failure.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let began = Monotonic.now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        let waited = Monotonic.now().since(began).as_secs_f64();
        assert!(waited < TIMEOUT.as_secs_f64(), "not found in time: {what}");
        std::thread::park_timeout(POLL_INTERVAL);
    }
}

/// Waits until a condition is true; `what` describes the condition in the message of a failure.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    wait_for(what, || condition().then_some(()));
}

/// A simulated M/M/1 server, whose results are known in closed form.
pub(crate) const MM1: &str = "sim:mm1?service=1ms";

/// An address on which no server listens: the system never gives port 1 to a program that asks for
/// a free port.
pub(crate) const UNUSED_ADDRESS: &str = "127.0.0.1:1";

/// A folder that is removed when the test ends.
pub(crate) struct TestFolder(TempDir);

impl TestFolder {
    pub(crate) fn new() -> TestFolder {
        TestFolder(TempDir::with_prefix("assay-test-").unwrap())
    }

    /// Creates a folder with one workload file, `w.ini`.
    pub(crate) fn with(workload: &str) -> TestFolder {
        let place = TestFolder::new();
        place.write("w.ini", workload);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.at(name), content).unwrap();
    }

    /// Returns the names of all files in the folder, in alphabetical order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the command that runs the program with these arguments in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(args).stdin(Stdio::null()).env_remove("NO_COLOR");
        self.run_in_folder(&mut command);
        command
    }

    /// Returns the same command as [`command`](TestFolder::command), but without root's right to
    /// read and write files whose modes forbid this.
    pub(crate) fn command_with_ordinary_rights(&self, args: &[&str]) -> Command {
        let lost = ["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"];
        let mut command = match Uid::effective().is_root() {
            true => Command::new("setpriv"),
            false => return self.command(args),
        };
        command.args(lost).arg(env!("CARGO_BIN_EXE_assay")).args(args);
        command.stdin(Stdio::null()).env_remove("NO_COLOR");
        self.run_in_folder(&mut command);
        command
    }

    /// Makes a command run in this folder, with its state and cache folders below it, so no test
    /// depends on the user's own calibration or index.
    pub(crate) fn run_in_folder<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .current_dir(self.path())
            .env("XDG_STATE_HOME", self.at("state"))
            .env("XDG_CACHE_HOME", self.at("cache"))
    }

    /// Runs the program to its end.
    pub(crate) fn assay(&self, args: &[&str]) -> CommandResult {
        CommandResult::of(&mut self.command(args))
    }

    /// Runs `w.ini` in virtual time with `--json`, recorded in `r.assay`.
    pub(crate) fn run_virtually(&self, url: &str, more: &[&str]) -> CommandResult {
        let mut args = vec!["run", "w.ini", "--virtual", "--json", "--out", "r.assay"];
        args.extend(["--url", url]);
        args.extend(more);
        self.assay(&args)
    }

    /// Returns the export of a record.
    pub(crate) fn export(&self, record: &str, format: &str) -> String {
        let ran = self.assay(&["export", record, "--format", format]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{format}");
        ran.stdout
    }

    /// Returns the JSON export of a record.
    pub(crate) fn export_json(&self, record: &str) -> Value {
        serde_json::from_str(&self.export(record, "json")).unwrap()
    }

    /// Starts the program, for tests that wait for its output.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::of(&mut self.command(args))
    }

    /// Starts the program [in lockstep](Running::in_lockstep) with the test.
    pub(crate) fn start_in_lockstep(&self, args: &[&str]) -> Running {
        Running::in_lockstep(&mut self.command(args))
    }
}

/// Exit code and output of a program that has ended.
#[derive(Debug)]
pub(crate) struct CommandResult {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandResult {
    /// Returns the output on stdout as one line, with single spaces.
    pub(crate) fn stdout_line(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn of(command: &mut Command) -> CommandResult {
        CommandResult::from(command.output().unwrap())
    }

    /// Runs a program with this stdout.
    pub(crate) fn with_stdout(mut command: Command, stdout: Stdio) -> CommandResult {
        CommandResult::from(command.stdout(stdout).output().unwrap())
    }

    fn from(output: Output) -> CommandResult {
        CommandResult {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Parses the document on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }

    /// Checks the exit code; on failure, prints the whole output.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> CommandResult {
        assert_eq!(self.code, code, "stdout: {:.2000}\nstderr: {}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Checks that the program refused with a message that contains all of `words`, and printed
    /// nothing on stdout.
    #[track_caller]
    pub(crate) fn refuses(self, words: &[&str]) -> CommandResult {
        let ran = self.expect(2);
        assert_eq!(ran.stdout, "");
        for word in words {
            assert!(ran.stderr.contains(word), "`{word}` is not in: {}", ran.stderr);
        }
        ran
    }
}

/// A running program. It is killed if the test does not wait for its end.
pub(crate) struct Running {
    child: Child,
    answer: Option<JoinHandle<String>>,
    lines: Receiver<String>,
    /// The lines read from stderr so far.
    stderr: String,
}

impl Running {
    pub(crate) fn of(command: &mut Command) -> Running {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = OwnedFd::from(child.stderr.take().unwrap());
        Running::from_child(child, stderr, 100_000)
    }

    /// Starts a program that waits until the test has read the output on stderr. The program is at
    /// most three lines ahead of the test, even if the test is late: the thread that reads the pipe
    /// holds one line, the pipe holds one line, and the program waits while it writes the next.
    pub(crate) fn in_lockstep(command: &mut Command) -> Running {
        let (stderr, end) = pipe2(OFlag::O_DIRECT | OFlag::O_CLOEXEC).unwrap();
        fcntl(&end, FcntlArg::F_SETPIPE_SZ(1)).unwrap();
        let child = command.stdout(Stdio::piped()).stderr(end).spawn().unwrap();
        // Otherwise the command would keep its end of the pipe open.
        command.stderr(Stdio::null());
        Running::from_child(child, stderr, 0)
    }

    /// Reads a program's output. Keeps up to `room` lines of stderr until the test reads them.
    fn from_child(mut child: Child, stderr: OwnedFd, room: usize) -> Running {
        let mut stdout = child.stdout.take().unwrap();
        let answer = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        let stderr = BufReader::new(File::from(stderr));
        let (sender, lines) = sync_channel(room);
        std::thread::spawn(move || {
            for line in stderr.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Running { child, answer: Some(answer), lines, stderr: String::new() }
    }

    /// Waits for the next line on stderr, for at most `limit`, and appends it to the text so far.
    fn next_line(&mut self, limit: Duration) -> Result<String, RecvTimeoutError> {
        let line = self.lines.recv_timeout(limit)?;
        self.stderr.push_str(&line);
        self.stderr.push('\n');
        Ok(line)
    }

    /// Waits until the program prints these words on stderr.
    #[track_caller]
    pub(crate) fn wait_for_line(&mut self, words: &str) {
        self.wait_for_matching_line(words, |line| line.contains(words));
    }

    /// Waits for a line on stderr that satisfies `is_it`; `what` describes the line in the message
    /// of a failure.
    #[track_caller]
    pub(crate) fn wait_for_matching_line(&mut self, what: &str, is_it: impl Fn(&str) -> bool) {
        loop {
            let Ok(line) = self.next_line(TIMEOUT) else {
                panic!("`{what}` is not in: {}", self.stderr);
            };
            if is_it(&line) {
                return;
            }
        }
    }

    /// Waits for the report of a job at this second of its run, or a later one: reports are left
    /// out when the processors are busy.
    #[track_caller]
    pub(crate) fn wait_for_second(&mut self, second: u64, job: &str) {
        let what = format!("second {second} of {job}");
        self.wait_for_matching_line(&what, |line| {
            reported_second(line, job).is_some_and(|at| at >= second)
        });
    }

    /// Waits for these words on stderr; returns false if the program ends without them.
    ///
    /// # Panics
    /// Panics if the program neither prints a line nor ends for [`TIMEOUT`].
    #[track_caller]
    pub(crate) fn prints_line_before_end(&mut self, words: &str) -> bool {
        loop {
            match self.next_line(TIMEOUT) {
                Ok(line) if line.contains(words) => return true,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => panic!("`{words}` is not in: {}", self.stderr),
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// Reads the program's output on stderr for some time.
    pub(crate) fn read_stderr_for(&mut self, span: Nanos) {
        let began = Monotonic.now();
        while let Some(left) = span.0.checked_sub(Monotonic.now().since(began).0) {
            match self.next_line(Duration::from_nanos(left)) {
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Stops the program half of the time until it ends, which delays everything that it does.
    #[track_caller]
    pub(crate) fn wait_for_end_with_pauses(mut self) -> CommandResult {
        while self.is_running() {
            self.signal(Signal::SIGSTOP);
            self.read_stderr_for(Nanos::from_millis(150));
            self.signal(Signal::SIGCONT);
            self.read_stderr_for(Nanos::from_millis(150));
        }
        self.wait_for_end()
    }

    /// Returns true if the program has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Returns the id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(i32::try_from(self.id()).unwrap());
        kill(process, signal).unwrap();
    }

    /// Waits for the end of the program.
    #[track_caller]
    pub(crate) fn wait_for_end(mut self) -> CommandResult {
        loop {
            match self.next_line(TIMEOUT) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {}", self.stderr),
            }
        }
        let status = self.child.wait().unwrap();
        let stdout = self.answer.take().unwrap().join().unwrap();
        let stderr = std::mem::take(&mut self.stderr);
        CommandResult { code: status.code().unwrap_or(-1), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A failed test leaves no process behind; a passed test has waited for its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Checks that every request of every job in a summary has an outcome.
#[track_caller]
pub(crate) fn assert_balanced(summary: &Value) {
    let jobs = summary["jobs"].as_array().unwrap();
    for job in jobs {
        let count = |key: &str| job[key].as_u64().unwrap();
        let ended = count("completed") + count("errors") + count("rejected") + count("unsent");
        assert_eq!(count("scheduled"), ended, "{job}");
    }
    assert_eq!(check(summary, "balance")["status"], "pass");
}

/// Returns a check of a summary by its name.
#[track_caller]
pub(crate) fn check<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let checks = summary["verdict"]["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap()
}

/// Returns a job of a summary by its name.
#[track_caller]
pub(crate) fn job<'a>(summary: &'a Value, name: &str) -> &'a Value {
    summary["jobs"].as_array().unwrap().iter().find(|job| job["name"] == name).unwrap()
}

/// Returns the number that a query returns on an SQLite file.
pub(crate) fn number(database: &Path, sql: &str) -> i64 {
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Returns the numbers of the runs that an experiment has reported as ended.
pub(crate) fn ended_runs(stderr: &str) -> Vec<i64> {
    let of_line = |line: &str| {
        let (number, verdict) = line.strip_prefix("run ")?.split_once(": ")?;
        let is_end = ["VALID", "SUSPECT", "INVALID"].iter().any(|word| verdict.starts_with(word));
        is_end.then_some(())?;
        number.parse().ok()
    };
    stderr.lines().filter_map(of_line).collect()
}

/// Returns the second of the run in a line of progress, if the line is about this job.
fn reported_second(line: &str, job: &str) -> Option<u64> {
    let (clock, report) = line.split_once(' ')?;
    let (minutes, seconds) = clock.split_once(':')?;
    report.strip_prefix(job)?.strip_prefix(':')?;
    Some(minutes.parse::<u64>().ok()? * 60 + seconds.parse::<u64>().ok()?)
}

/// Returns the number after a name in a line of progress.
pub(crate) fn number_after(line: &str, name: &str) -> Option<f64> {
    let (_, after) = line.split_once(name)?;
    after.split_whitespace().next()?.replace(',', "").parse().ok()
}
