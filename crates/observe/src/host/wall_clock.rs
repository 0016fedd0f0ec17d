//! Steps of the wall clock: `CLOCK_REALTIME` compared with `CLOCK_MONOTONIC`.
//!
//! NTP corrects the rate of both clocks together, so their distance changes in two cases only: the
//! wall clock is set, or the machine is suspended, during which the monotonic clock stops.

use base::{Clock, Monotonic, Nanos, WallTime};
use record::ComponentKind;
use record::metric::host;

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Longest time between two readings of the monotonic clock, between which the wall clock is read,
/// for the reading of the wall clock to be assigned to them.
const CLOSE: Nanos = Nanos::from_micros(100);

/// Maximum number of attempts to read the clocks within [`CLOSE`]. If every attempt is interrupted,
/// there is no reading.
const TRIES: usize = 5;

/// Distance of the two clocks since the first sample.
#[derive(Debug, Default)]
pub(crate) struct WallClock {
    /// Distance at the first sample, in nanoseconds.
    first: Option<i64>,
}

impl WallClock {
    /// Returns the seconds by which the wall clock was set forward since the first sample.
    fn set_forward_s(&mut self, distance: i64) -> f64 {
        let first = *self.first.get_or_insert(distance);
        distance.saturating_sub(first) as f64 / 1e9
    }
}

impl Sampler for WallClock {
    fn look(&mut self, _root: &Root, sample: &mut Sample) {
        if let Some(distance) = distance() {
            let s = self.set_forward_s(distance);
            sample.read(&ComponentKind::Host, host::WALL_CLOCK, s);
        }
    }
}

/// Returns the distance of the wall clock from the monotonic one, in nanoseconds.
fn distance() -> Option<i64> {
    (0..TRIES).find_map(|_| {
        let before = Monotonic.now();
        let wall = WallTime::now();
        let is_close = Monotonic.now().since(before) <= CLOSE;
        is_close.then(|| wall.0.saturating_sub(i64::try_from(before.0).unwrap_or(i64::MAX)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_clock_reports_changes_of_its_offset() {
        let mut clock = WallClock::default();
        assert_eq!(clock.set_forward_s(1_700_000_000_000_000_000), 0.0);
        assert_eq!(clock.set_forward_s(1_700_000_000_025_000_000), 0.025);
        assert_eq!(clock.set_forward_s(1_699_999_999_000_000_000), -1.0);
    }

    #[test]
    fn wall_clock_offset_on_this_machine_is_stable() {
        // An interrupted reading returns nothing, but not all of a thousand readings are
        // interrupted.
        let mut found = (0..1_000).filter_map(|_| distance());
        let (first, last) = (found.next().expect("a reading"), found.next_back().expect("another"));
        assert!(first.abs_diff(last) < 1_000_000_000, "{first} {last}");
    }
}
