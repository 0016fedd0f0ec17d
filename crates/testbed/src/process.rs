//! Running programs to their end, and controlling server processes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};

use base::{Clock, Monotonic, Nanos};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::Problem;

/// Interval between checks whether a server is ready.
const READY_POLL_INTERVAL: Nanos = Nanos::from_millis(5);

/// Time limit of a program that should end by itself.
const LONGEST_RUN: Nanos = Nanos::from_secs(120);

/// Maximum length of the end of a log that a message shows, in bytes.
const LONGEST_LOG_TAIL: usize = 4_096;

/// Maximum time for a process to disappear after SIGKILL, or to stop after SIGSTOP.
const LONGEST_EXIT: Nanos = Nanos::from_secs(10);

/// Maximum number of searches for new child processes of a server.
const MOST_SEARCHES: usize = 10;

/// Returns the queue of a thread that starts processes and lives as long as this process. A process
/// that should die with its parent dies with the *thread* that started it (`PR_SET_PDEATHSIG`,
/// prctl(2)).
fn spawner() -> &'static SyncSender<Job> {
    static SPAWNER: OnceLock<SyncSender<Job>> = OnceLock::new();
    SPAWNER.get_or_init(|| {
        let (jobs, work) = sync_channel::<Job>(0);
        std::thread::spawn(move || {
            for (mut command, answer) in work {
                // Fails only if the requesting thread has panicked.
                let _ = answer.send(command.spawn());
            }
        });
        jobs
    })
}

type Job = (Command, SyncSender<std::io::Result<Child>>);

fn spawn(command: Command) -> std::io::Result<Child> {
    let gone = || std::io::Error::other("the thread that starts programs has ended");
    let (answer, child) = sync_channel(1);
    spawner().send((command, answer)).map_err(|_| gone())?;
    child.recv().map_err(|_| gone())?
}

/// Runs a program to its end with `input` on stdin, and returns its stdout. A program that takes
/// longer than [`LONGEST_RUN`] is killed.
pub(crate) fn run(name: &str, mut command: Command, input: &str) -> Result<String, Problem> {
    let refused = || format!("run {name}");
    let memory = |text: &str| -> std::io::Result<File> {
        let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC)?);
        file.write_all(text.as_bytes())?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    };
    let files = || -> std::io::Result<_> { Ok((memory(input)?, memory("")?, memory("")?)) };
    let (input, mut output, mut errors) = files().map_err(Problem::system(refused()))?;
    let shared = |file: &File| file.try_clone().map_err(Problem::system(refused()));
    command.stdin(input).stdout(shared(&output)?).stderr(shared(&errors)?).process_group(0);
    let mut child = Process::start(command).map_err(Problem::system(refused()))?;
    let status = child.wait(LONGEST_RUN);
    let printed = read_all(&mut output);
    let output = tail(&[printed.as_str(), &read_all(&mut errors)].join("\n"));
    let program = name.to_owned();
    match status {
        Some(status) if status.success() => Ok(printed),
        Some(_) => Err(Problem::Ended { program, output }),
        None => {
            child.kill();
            Err(Problem::Slow { program, limit: LONGEST_RUN, output })
        }
    }
}

fn read_all(file: &mut File) -> String {
    let mut bytes = Vec::new();
    // Cannot fail: the file is in memory.
    let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the last lines of a text, at most [`LONGEST_LOG_TAIL`] bytes.
pub(crate) fn tail(text: &str) -> String {
    let text = text.trim();
    let from = text.len().saturating_sub(LONGEST_LOG_TAIL);
    let from = (from..text.len()).find(|&place| text.is_char_boundary(place)).unwrap_or(0);
    let cut = &text[from..];
    match cut.split_once('\n') {
        Some((_, whole)) if from > 0 => whole.to_owned(),
        _ => cut.to_owned(),
    }
}

/// A process that this process has started. Dropping the value does not end the process.
pub(crate) struct Process {
    child: Child,
    /// Process handle, readable once the process has ended.
    handle: OwnedFd,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts a process.
    pub(crate) fn start(command: Command) -> std::io::Result<Process> {
        let mut child = spawn(command)?;
        match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(handle) => Ok(Process { child, handle, status: None }),
            Err(cause) => {
                child.kill()?;
                child.wait()?;
                Err(cause.into())
            }
        }
    }

    /// Returns the process id, which is not reused before the process is reaped.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process has ended, for at most `limit`. Returns its exit status; `None` if
    /// it has not ended.
    pub(crate) fn wait(&mut self, limit: Nanos) -> Option<ExitStatus> {
        if self.status.is_none() && ends_within(&self.handle, limit) {
            self.status = self.child.wait().ok();
        }
        self.status
    }

    /// Waits until `is_ready` returns true.
    ///
    /// # Errors
    /// Returns `true` if the process ended before it was ready, and `false` if it was not ready
    /// within the time `limit`.
    pub(crate) fn wait_until_ready(
        &mut self,
        limit: Nanos,
        mut is_ready: impl FnMut() -> bool,
    ) -> Result<(), bool> {
        let end = Monotonic.now() + limit;
        while !is_ready() {
            if self.wait(READY_POLL_INTERVAL).is_some() {
                return Err(true);
            }
            if Monotonic.now() > end {
                return Err(false);
            }
        }
        Ok(())
    }

    /// Sends a signal to the process, unless it has been reaped.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// Stops the process and its descendants, and waits until they are stopped. Returns the stopped
    /// descendants. A process can start others until it is stopped, so the search for descendants
    /// is repeated until it finds no new ones.
    pub(crate) fn freeze(&self) -> Vec<Pid> {
        let mut frozen = Vec::new();
        if self.status.is_some() {
            return frozen;
        }
        self.signal(Signal::STOP);
        wait_until_stopped(Pid::from_child(&self.child));
        for _ in 0..MOST_SEARCHES {
            let mut is_complete = true;
            for pid in descendants(self.child.id()) {
                if !frozen.contains(&pid) && kill_process(pid, Signal::STOP).is_ok() {
                    wait_until_stopped(pid);
                    frozen.push(pid);
                    is_complete = false;
                }
            }
            if is_complete {
                break;
            }
        }
        frozen
    }

    /// Continues the process and its descendants.
    pub(crate) fn thaw(&self) {
        for pid in descendants(self.child.id()) {
            let _ = kill_process(pid, Signal::CONT);
        }
        self.signal(Signal::CONT);
    }

    /// Kills the process and its descendants.
    pub(crate) fn kill(&mut self) {
        if self.status.is_some() {
            return;
        }
        let children = self.freeze();
        let open = |pid: &Pid| pidfd_open(*pid, PidfdFlags::empty()).ok();
        let handles: Vec<OwnedFd> = children.iter().filter_map(open).collect();
        for pid in children {
            let _ = kill_process(pid, Signal::KILL);
        }
        self.signal(Signal::KILL);
        self.status = self.child.wait().ok();
        // PostgreSQL does not restart while a killed process is attached to its shared memory.
        for handle in &handles {
            ends_within(handle, LONGEST_EXIT);
        }
    }
}

/// Waits until a process that was sent SIGSTOP has stopped or is gone: a signal takes effect only
/// once the process gets a processor, or returns from disk I/O.
fn wait_until_stopped(pid: Pid) {
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let end = Monotonic.now() + LONGEST_EXIT;
    while Monotonic.now() < end {
        let text = std::fs::read_to_string(&stat);
        let is_running = text.is_ok_and(|text| !is_stopped_or_ended(&text));
        if !is_running {
            return;
        }
        // A poll of nothing serves as a sleep.
        let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 }));
    }
}

/// Returns true if the text of `/proc/PID/stat` describes a stopped or ended process.
fn is_stopped_or_ended(stat: &str) -> bool {
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, Some('T' | 't' | 'Z' | 'X'))
}

/// Waits for a process to end. Returns true if it ends within the limit.
fn ends_within(handle: &OwnedFd, limit: Nanos) -> bool {
    let until = Monotonic.now() + limit;
    loop {
        let left = until.since(Monotonic.now());
        let timeout = Timespec {
            tv_sec: (left.0 / 1_000_000_000) as i64,
            tv_nsec: (left.0 % 1_000_000_000) as i64,
        };
        match poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => return ready > 0,
            Err(_) if left > Nanos::ZERO => {}
            Err(_) => return false,
        }
    }
}

/// Returns the descendants of `root`.
fn descendants(root: u32) -> Vec<Pid> {
    let processes: Vec<(i32, i32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, parse_parent(&std::fs::read_to_string(entry.path().join("stat")).ok()?)?))
        })
        .collect();
    let mut found = vec![i32::try_from(root).unwrap_or_default()];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = processes.iter().filter(|(_, its_parent)| *its_parent == parent);
        found.extend(children.map(|(pid, _)| *pid));
        next += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// Returns the parent in the text of `/proc/PID/stat` (proc(5)). The second field, the name of the
/// program, may contain anything, and ends at the last parenthesis.
fn parse_parent(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Redirects a process's output to a log, which is created or appended to. The folder belongs to
/// the server's account, which could place a link in it. Links are not followed, because this
/// process may be root.
pub(crate) fn redirect_output(command: &mut Command, path: &PathBuf) -> Result<(), Problem> {
    let failed = || format!("write {}", path.display());
    let no_link = OFlags::NOFOLLOW.bits() as i32;
    let open = File::options().create(true).append(true).custom_flags(no_link).open(path);
    let file = open.map_err(Problem::system(failed()))?;
    let second = file.try_clone().map_err(Problem::system(failed()))?;
    command.stdin(Stdio::null()).stdout(file).stderr(second);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_not_written_through_a_link() {
        let folder = std::env::temp_dir().join(format!("assay-log-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        let (target, link) = (folder.join("target"), folder.join("link"));
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        let refused = redirect_output(&mut Command::new("true"), &link);
        let was_made = target.exists();
        redirect_output(&mut Command::new("true"), &folder.join("log")).expect("a log");
        std::fs::remove_dir_all(&folder).expect("it was ours");
        assert!(refused.is_err() && !was_made);
    }

    #[test]
    fn parent_and_state_are_parsed_after_any_process_name() {
        assert_eq!(parse_parent("12 (a) b) (c) S 7 12 12 0"), Some(7));
        assert_eq!(parse_parent("12 (sh"), None);
        assert!(is_stopped_or_ended("12 (a) R) T 7 12") && !is_stopped_or_ended("12 (T) S 7 12"));
    }

    #[test]
    fn tail_starts_at_a_line() {
        let text = "é\n".repeat(3_000);
        let end = tail(&text);
        assert!(end.len() <= LONGEST_LOG_TAIL, "{end}");
        assert!(end.starts_with('é') && end.ends_with('é'), "{end}");
        assert_eq!(tail(" short\n"), "short");
    }

    #[test]
    fn program_gets_its_input_and_returns_its_output() {
        let mut cat = Command::new("cat");
        cat.arg("-");
        assert_eq!(run("cat", cat, "as it is").unwrap(), "as it is");
        let mut fails = Command::new("sh");
        fails.args(["-c", "echo no >&2; exit 1"]);
        assert_eq!(
            run("sh", fails, "").unwrap_err().to_string(),
            "`sh` ended with the message:\nno"
        );
    }
}
