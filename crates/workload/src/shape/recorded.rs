//! Recorded instants of arrivals.

use std::fmt;
use std::sync::Arc;

use base::Nanos;

use super::level::in_decimal;

/// The arrivals that a `trace(FILE)` with one column lists, as times after the job's start. They
/// never decrease, and there is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded(pub Arc<[Nanos]>);

impl Recorded {
    /// Returns the largest number of arrivals within one second, wherever this second begins.
    pub fn busiest_second(&self) -> u64 {
        let mut first = 0;
        let mut most = 0;
        for (place, at) in self.0.iter().enumerate() {
            while at.saturating_sub(self.0[first]) >= Nanos::from_secs(1) {
                first += 1;
            }
            most = most.max(place + 1 - first);
        }
        most as u64
    }

    /// Returns the number of instants before `t`.
    pub fn before(&self, t: Nanos) -> u64 {
        self.0.partition_point(|at| *at < t) as u64
    }
}

impl fmt::Display for Recorded {
    /// Formats the instants as in a workload file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("trace(times")?;
        self.0.iter().try_for_each(|at| write!(f, " {}", in_decimal(at.0)))?;
        f.write_str(")")
    }
}
