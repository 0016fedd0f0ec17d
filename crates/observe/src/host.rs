//! What the processors of this machine did, out of `/proc/stat` (proc_stat(5)): the times of all
//! processors together. A hypervisor that gave a processor to somebody else while we wanted it has
//! stolen it.

use std::fs;
use std::path::Path;

use record::Reading;

/// `USER_HZ`, in which `/proc/stat` counts: 100 wherever Rust has threads and Linux has `/proc`.
const TICKS_PER_S: f64 = 100.0;

/// The readings below a root of the file system.
pub(crate) fn readings(root: &Path) -> Vec<Reading> {
    let text = fs::read_to_string(root.join("proc/stat")).unwrap_or_default();
    let Some(Processors { total_s, idle_s, stolen_s }) = parse(&text) else { return Vec::new() };
    vec![
        Reading::of("host", "processors", "s", total_s),
        Reading::of("host", "idle", "s", idle_s),
        Reading::of("host", "stolen", "s", stolen_s),
    ]
}

/// The times of all processors since the machine began.
#[derive(Debug, PartialEq)]
struct Processors {
    total_s: f64,
    idle_s: f64,
    stolen_s: f64,
}

/// The first line: user, nice, system, idle, iowait, irq, softirq, steal. What guests had is a part
/// of user and nice.
fn parse(stat: &str) -> Option<Processors> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = line.split_whitespace().take(8).map(|ticks| ticks.parse::<u64>().ok());
    let ticks: Vec<u64> = ticks.collect::<Option<_>>()?;
    let [_, _, _, idle, waiting, _, _, stolen] = ticks[..] else { return None };
    let total: u64 = ticks.iter().fold(0, |sum, ticks| sum.saturating_add(*ticks));
    let seconds = |ticks: u64| ticks as f64 / TICKS_PER_S;
    Some(Processors {
        total_s: seconds(total),
        idle_s: seconds(idle.saturating_add(waiting)),
        stolen_s: seconds(stolen),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_all_processors_are_read() {
        let stat = "cpu  100 0 50 800 20 0 10 20 7 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        let expected = Processors { total_s: 10.0, idle_s: 8.2, stolen_s: 0.2 };
        assert_eq!(parse(stat), Some(expected));
    }

    #[test]
    fn odd_texts_say_nothing() {
        for odd in ["", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 3\n", "cpu 1 2 3 4 5 6 x 8\n"] {
            assert_eq!(parse(odd), None, "{odd:?}");
        }
        let most = u64::MAX;
        assert!(parse(&format!("cpu {most} {most} 0 0 0 0 0 0\n")).is_some());
        assert_eq!(readings(Path::new("/no/such/root")), []);
    }
}
