//! Code shared by all benchmarks, such as the description of the machine and commit of a result.

mod document;
mod simulated;

use std::fs;
use std::process::Command;

pub use document::between_marks;
pub use simulated::SimulatedServer;

/// Returns one line about the machine and one about the commit.
pub fn describe() -> String {
    let cpu = field("/proc/cpuinfo", "model name").unwrap_or_else(unknown);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_else(|_| unknown());
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| unknown());
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    let commit = commit().unwrap_or_else(unknown);
    format!("machine: {cpu}, {cores} cores, Linux {}, load {load}\ncommit: {commit}", kernel.trim())
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let head = git(&["rev-parse", "--short", "HEAD"])?;
    // Ignore published results: they do not change the program that the next measure runs.
    let published =
        [":(exclude)bench/results", ":(exclude)docs/performance.md", ":(exclude)docs/limiter.md"];
    let status = [&["status", "--porcelain", "--", "."], &published[..]].concat();
    let changed = !git(&status)?.is_empty();
    Some(if changed { format!("{head}, with changes") } else { head })
}

/// Returns the peak resident memory of this process so far, in bytes. (`getrusage` would include
/// the peak that a process inherits from its parent.)
pub fn peak_rss() -> u64 {
    let kib = field("/proc/self/status", "VmHWM").unwrap_or_default();
    let kib = kib.split(' ').next().and_then(|number| number.parse::<u64>().ok());
    kib.expect("the kernel reports the memory of a process") * 1024
}
