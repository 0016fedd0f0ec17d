//! Units and lists in which the kernel reports processes.

use super::resource_use::Pair;
use crate::host::processors::TICKS_PER_S;

/// Length of one kernel tick, in nanoseconds.
pub(super) const TICK: u64 = (1e9 / TICKS_PER_S) as u64;

/// Maximum number of processors that a list names.
pub(super) const MOST_PROCESSORS: usize = 8_192;

/// Parses the numbers of a list such as `0-3,8`.
pub(super) fn ids(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<u32>().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().take(MOST_PROCESSORS).collect()
}

/// Parses the bytes read from and written to disks: `read_bytes` and `write_bytes` of
/// `proc_pid_io(5)`.
pub(super) fn io(text: &str) -> Option<Pair> {
    let number = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    Some(Pair(number("read_bytes:")?, number("write_bytes:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_parts_of_processor_lists_are_skipped() {
        assert_eq!(ids("0-2,8"), [0, 1, 2, 8]);
        assert_eq!(ids("3-1,x,,7"), [7]);
        assert_eq!(ids("0-4294967295").len(), MOST_PROCESSORS);
    }

    #[test]
    fn io_counters_are_bytes_of_disks() {
        let text = "rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\ncancelled_write_bytes: 5\n";
        assert_eq!(io(text), Some(Pair(3, 4)));
        assert_eq!(io("read_bytes: x"), None);
    }
}
