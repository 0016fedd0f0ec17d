//! Memory use and paging of the machine: `/proc/meminfo` and `/proc/vmstat` (`proc_meminfo(5)`,
//! `proc_vmstat(5)`).

use record::metric::host;
use record::{ComponentKind, ObservedMetric};

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Counters of `/proc/vmstat`, with the metric of each.
const COUNTERS: [(&str, ObservedMetric); 3] = [
    ("pswpin", host::SWAPPED_IN),
    ("pswpout", host::SWAPPED_OUT),
    ("pgmajfault", host::MAJOR_FAULTS),
];

/// Sampler of the machine's memory.
pub(crate) struct Memory;

impl Sampler for Memory {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        let text = root.text("proc/meminfo").unwrap_or_default();
        let bytes = |name: &str| bytes(&text, name);
        let swapped = bytes("SwapTotal").zip(bytes("SwapFree"));
        let found = [
            (host::MEMORY, bytes("MemTotal")),
            (host::AVAILABLE, bytes("MemAvailable")),
            (host::SWAP_USED, swapped.map(|(total, free)| total.saturating_sub(free))),
            (host::DIRTY, bytes("Dirty")),
        ];
        for (metric, value) in found {
            report(metric, value, "/proc/meminfo does not have it", sample);
        }
        let text = root.text("proc/vmstat").unwrap_or_default();
        for (name, metric) in COUNTERS {
            report(metric, number(&text, name), "/proc/vmstat does not have it", sample);
        }
    }
}

fn report(metric: ObservedMetric, value: Option<u64>, why: &str, sample: &mut Sample) {
    match value {
        Some(value) => sample.read(&ComponentKind::Host, metric, value as f64),
        None => sample.missing(format!("host {}", metric.name), why),
    }
}

/// Parses the bytes of a line such as `MemTotal:       16384 kB`.
fn bytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// Parses the number of a line such as `pswpin 12`.
fn number(vmstat: &str, name: &str) -> Option<u64> {
    vmstat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;
    use crate::environment::tests::TestRoot;

    fn take_sample(planted: &TestRoot) -> Sample {
        let mut sample = Sample::default();
        Memory.sample(&planted.root, &mut sample);
        sample
    }

    #[test]
    fn memory_is_in_bytes_and_paging_in_pages() {
        let planted = TestRoot::new()
            .with(
                "proc/meminfo",
                "MemTotal:  16 kB\nMemFree: 1 kB\nMemAvailable:   4 kB\nSwapTotal: 8 kB\n\
                 SwapFree:  6 kB\nDirty:    3 kB\nDirtyX: 9 kB\n",
            )
            .with("proc/vmstat", "pswpin 5\npswpout 6\npgfault 9\npgmajfault 7\n");
        let expected = [
            Reading::of("host", "memory", "bytes", 16_384.0),
            Reading::of("host", "available", "bytes", 4_096.0),
            Reading::of("host", "swap-used", "bytes", 2_048.0),
            Reading::of("host", "dirty", "bytes", 3_072.0),
            Reading::of("host", "swapped-in", "pages", 5.0),
            Reading::of("host", "swapped-out", "pages", 6.0),
            Reading::of("host", "major-faults", "faults", 7.0),
        ];
        assert_eq!(take_sample(&planted).readings, expected);
    }

    #[test]
    fn unreadable_value_is_missing() {
        assert_eq!(take_sample(&TestRoot::new()).missing.len(), 7);
        let odd =
            "MemTotal: x kB\nMemAvailable: 99999999999999999999 kB\nDirty: 18446744073709551615 kB";
        let planted =
            TestRoot::new().with("proc/meminfo", odd).with("proc/vmstat", "pswpin\npswpout -1");
        assert_eq!(take_sample(&planted).missing.len(), 7);
    }
}
