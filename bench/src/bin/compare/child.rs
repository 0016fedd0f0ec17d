//! Execution of another program, with its processor time, memory and output.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::os::fd::AsFd as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use base::{Clock as _, Monotonic};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::machine::Processors;
use crate::output::Failure;

/// Interval at which the memory of a running program is read.
const MEMORY_POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The resources that a program used, and its output.
pub(crate) struct ProgramRun {
    pub(crate) status: ExitStatus,
    pub(crate) elapsed: Duration,
    /// Processor time in user mode, of all its threads and the children that it waited for.
    pub(crate) user: Duration,
    /// Processor time in kernel mode, of all its threads and the children that it waited for.
    pub(crate) system: Duration,
    /// Peak resident memory of the program without its children, in bytes. It is 0 for a program
    /// that ends before the first reading.
    pub(crate) peak_rss: u64,
    /// Fraction of the machine's time that other virtual machines stole during the run.
    pub(crate) steal: f64,
    /// Time that other virtual machines stole, in ticks, summed over all processors.
    pub(crate) stolen_ticks: u64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program and waits for its end. Kills it after `patience`.
///
/// The processor time is the increase of the kernel's count for children that were waited for. This
/// count has a resolution of microseconds; `/proc/PID/stat` only has ticks. The memory is `VmHWM`,
/// read repeatedly, because the figure of `getrusage` is the maximum over all children so far.
///
/// # Errors
/// Fails if the program cannot be started or does not end in time.
pub(crate) fn run(mut command: Command, patience: Duration) -> Result<ProgramRun, Failure> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let before = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let processors = Processors::now()?;
    let began = Monotonic.now();
    let mut child = command
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    let pid = Pid::from_child(&child);
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let mut peak_rss = 0;
    let mut is_late = false;
    loop {
        let mut fds = [PollFd::from_borrowed_fd(handle.as_fd(), PollFlags::IN)];
        let ended = poll(&mut fds, Some(&MEMORY_POLL_INTERVAL))? > 0;
        if ended {
            break;
        }
        peak_rss = resident(pid).unwrap_or(peak_rss);
        if Monotonic.now().since(began).as_secs_f64() > patience.as_secs_f64() && !is_late {
            is_late = true;
            kill_process(pid, Signal::KILL)?;
        }
    }
    let status = child.wait()?;
    let elapsed = Duration::from_secs_f64(Monotonic.now().since(began).as_secs_f64());
    if is_late {
        let program = command.get_program().to_string_lossy().into_owned();
        return Err(format!("{program} did not end within {patience:?}").into());
    }
    let processors_after = Processors::now()?;
    let after = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |time: nix::sys::time::TimeVal| {
        Duration::from_micros(time.num_microseconds().unsigned_abs())
    };
    Ok(ProgramRun {
        status,
        elapsed,
        user: micros(after.user_time() - before.user_time()),
        system: micros(after.system_time() - before.system_time()),
        peak_rss,
        steal: processors_after.stolen_since(&processors),
        stolen_ticks: processors_after.stolen_ticks_since(&processors),
        stdout: text(&mut stdout)?,
        stderr: text(&mut stderr)?,
    })
}

fn text(file: &mut File) -> Result<String, Failure> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the peak resident memory of a process so far, in bytes; `None` once the process has
/// ended.
fn resident(pid: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Result<ProgramRun, Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, patience)
    }

    #[test]
    fn output_status_and_processor_time_of_a_program_are_measured() {
        let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo out; echo err >&2; \
                      exit 3";
        let ran = shell(script, Duration::from_secs(60)).expect("it runs");
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(ran.status.code(), Some(3));
        assert!(ran.user + ran.system > Duration::ZERO);
        assert!(ran.user + ran.system <= ran.elapsed * 2);
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let error = shell("exec sleep 600", Duration::from_millis(100)).err().expect("late");
        assert_eq!(error.to_string(), "sh did not end within 100ms");
    }
}
