//! The conditions of a measurement: stolen time and load.

use std::fs;

use crate::output::Failure;

/// Counters of the machine's processors since boot, in ticks.
pub(crate) struct Processors {
    all: u64,
    stolen: u64,
}

impl Processors {
    /// Reads `/proc/stat`.
    pub(crate) fn now() -> Result<Processors, Failure> {
        let text = fs::read_to_string("/proc/stat")?;
        Processors::parse(&text).ok_or_else(|| "/proc/stat: no line of all processors".into())
    }

    fn parse(text: &str) -> Option<Processors> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            line.split_whitespace().filter_map(|tick| tick.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal; guests are counted in user.
        let stolen = *ticks.get(7)?;
        Some(Processors { all: ticks.iter().take(8).sum(), stolen })
    }

    /// Returns the ticks that other virtual machines on the same hardware took since `earlier`,
    /// over all processors.
    pub(crate) fn stolen_ticks_since(&self, earlier: &Processors) -> u64 {
        self.stolen.saturating_sub(earlier.stolen)
    }

    /// Returns the fraction of the time that other virtual machines on the same hardware took since
    /// `earlier`.
    pub(crate) fn stolen_since(&self, earlier: &Processors) -> f64 {
        let all = self.all.saturating_sub(earlier.all).max(1);
        self.stolen_ticks_since(earlier) as f64 / all as f64
    }
}

/// Returns the load average of the last minute.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_a_share_of_all_time() {
        let parse = |line: &str| Processors::parse(line).expect("a line of all processors");
        let before = parse("cpu  10 0 10 60 0 0 0 20 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        let after = parse("cpu  20 0 20 110 0 0 0 50 7 0\n");
        assert!((after.stolen_since(&before) - 0.3).abs() < 1e-9);
        assert_eq!(after.stolen_ticks_since(&before), 30);
        assert!(Processors::parse("intr 0\n").is_none());
    }
}
