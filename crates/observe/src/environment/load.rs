//! Load averages of the machine.

use record::environment::host;

use super::fact::Fact;
use super::root::Root;

pub(super) fn facts(root: &Root) -> [Fact; 3] {
    let line = root.line("proc/loadavg").unwrap_or_default();
    let mut words = line.split(' ');
    [host::LOAD_1M, host::LOAD_5M, host::LOAD_15M].map(|name| (name, average(words.next())))
}

/// Parses a load average: the average number of tasks that were running, ready to run, or waiting
/// for a disk (`proc_loadavg(5)`).
fn average(word: Option<&str>) -> Option<String> {
    let number = word?.parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0).then(|| format!("{number:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::{TestRoot, value};

    #[test]
    fn three_averages_are_read() {
        let facts =
            facts(&TestRoot::new().with("proc/loadavg", "9.98 15.3 0.00 4/243 7559\n").root);
        let values = facts.map(|(_, value)| value.unwrap_or_default());
        assert_eq!(values, ["9.98", "15.30", "0.00"]);
    }

    #[test]
    fn invalid_load_average_is_unknown() {
        let facts = facts(&TestRoot::new().with("proc/loadavg", "NaN -1.0 1.5\n").root);
        assert_eq!(value(&facts, "host.load.1m"), None);
        assert_eq!(value(&facts, "host.load.5m"), None);
        assert_eq!(value(&facts, "host.load.15m").as_deref(), Some("1.50"));
    }
}
