//! Run queue, blocked tasks and context switches: the lines `ctxt`, `procs_running` and
//! `procs_blocked` of `/proc/stat` (`proc_stat(5)`).

use record::ComponentKind;
use record::metric::host;

use crate::sample::Sample;

/// Reports the values in the text of `/proc/stat`.
pub(super) fn report(stat: &str, sample: &mut Sample) {
    let number = |name: &str| -> Option<u64> {
        stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    // One of the running tasks is the thread that reads the file.
    let running = number("procs_running ").map(|tasks| tasks.saturating_sub(1));
    let found = [
        (host::RUN_QUEUE, running),
        (host::BLOCKED, number("procs_blocked ")),
        (host::CONTEXT_SWITCHES, number("ctxt ")),
    ];
    for (metric, value) in found {
        match value {
            Some(value) => sample.read(&ComponentKind::Host, metric, value as f64),
            None => {
                let what = format!("host {}", metric.name);
                sample.missing(what, "/proc/stat does not have it");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;

    #[test]
    fn run_queue_excludes_the_observer() {
        let mut sample = Sample::default();
        report("cpu 1\nintr 9 8\nctxt 1234\nprocs_running 3\nprocs_blocked 2\n", &mut sample);
        let expected = [
            Reading::of("host", "run-queue", "tasks", 2.0),
            Reading::of("host", "blocked", "tasks", 2.0),
            Reading::of("host", "context-switches", "switches", 1_234.0),
        ];
        assert_eq!(sample.readings, expected);
    }

    #[test]
    fn invalid_value_is_missing() {
        let mut sample = Sample::default();
        report("ctxt x\nprocs_running -1\n\u{fffd}", &mut sample);
        assert_eq!((sample.readings.len(), sample.missing.len()), (0, 3));
    }
}
