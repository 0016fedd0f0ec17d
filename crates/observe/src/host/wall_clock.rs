//! Does the wall clock go as the monotonic one does? `CLOCK_REALTIME` beside `CLOCK_MONOTONIC`.
//!
//! Both follow the same corrections of their rate (NTP slews them together), so that the distance
//! between them changes in two cases only: somebody sets the wall clock, or the machine is
//! suspended, and meanwhile the monotonic clock stands still.

use base::{Clock, Monotonic, Nanos, WallTime};
use record::Part;

use crate::environment::Root;
use crate::sample::{Sample, Source};

/// How far apart two readings of the monotonic clock may be for one of the wall clock between them
/// to belong to both.
const CLOSE: Nanos = Nanos::from_micros(100);

/// How often the clocks are read until they are. Whoever is interrupted so often has no reading.
const TRIES: usize = 5;

/// The distance of the clocks since the first look.
#[derive(Debug, Default)]
pub(crate) struct WallClock {
    /// What it was then, in nanoseconds.
    first: Option<i64>,
}

impl WallClock {
    /// By how much the wall clock was set forward since the first look.
    fn set_forward_s(&mut self, distance: i64) -> f64 {
        let first = *self.first.get_or_insert(distance);
        distance.saturating_sub(first) as f64 / 1e9
    }
}

impl Source for WallClock {
    fn look(&mut self, _root: &Root, sample: &mut Sample) {
        if let Some(distance) = distance() {
            let s = self.set_forward_s(distance);
            sample.read(&Part::Host, "wall-clock", "s", s);
        }
    }
}

/// How far the wall clock is from the monotonic one, in nanoseconds.
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
    fn only_a_change_of_the_distance_counts() {
        let mut clock = WallClock::default();
        assert_eq!(clock.set_forward_s(1_700_000_000_000_000_000), 0.0);
        assert_eq!(clock.set_forward_s(1_700_000_000_025_000_000), 0.025);
        assert_eq!(clock.set_forward_s(1_699_999_999_000_000_000), -1.0);
    }

    #[test]
    fn the_distance_on_this_machine_hardly_changes() {
        // An interrupted reading is none, but not all of a thousand are.
        let mut found = (0..1_000).filter_map(|_| distance());
        let (first, last) = (found.next().expect("a reading"), found.next_back().expect("another"));
        assert!(first.abs_diff(last) < 1_000_000_000, "{first} {last}");
    }
}
