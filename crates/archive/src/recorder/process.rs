//! Resource usage of this process.

use base::Nanos;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use record::ClientSample;

/// Returns the resource usage of this process so far. Memory and threads are known on Linux only.
pub(super) fn sample() -> ClientSample {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok();
    let time = |time: Option<TimeVal>| {
        let micros = time.map_or(0, |time| time.num_microseconds());
        Nanos::from_micros(u64::try_from(micros).unwrap_or(0))
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes = |name| field(&status, name).map(|size| size * 1_024);
    ClientSample {
        cpu_user: time(usage.map(|usage| usage.user_time())),
        cpu_system: time(usage.map(|usage| usage.system_time())),
        rss_bytes: kibibytes("VmRSS:"),
        peak_rss_bytes: kibibytes("VmHWM:"),
        threads: field(&status, "Threads:"),
    }
}

/// Returns the number after a name in the text of `/proc/self/status`; `None` if it is missing.
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_process_usage_is_measured() {
        let sample = sample();
        assert!(sample.cpu_user + sample.cpu_system > Nanos::ZERO);
        if cfg!(target_os = "linux") {
            assert!(sample.rss_bytes > Some(100_000) && sample.rss_bytes <= sample.peak_rss_bytes);
            assert!(sample.threads >= Some(1));
        }
    }

    #[test]
    fn numbers_are_found_by_their_names() {
        let status = "Name:\trecord\nVmRSS:\t    4096 kB\nThreads:\t3\n";
        assert_eq!(field(status, "VmRSS:"), Some(4_096));
        assert_eq!(field(status, "Threads:"), Some(3));
        assert_eq!(field(status, "VmHWM:"), None);
    }
}
