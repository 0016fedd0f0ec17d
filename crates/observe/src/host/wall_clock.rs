//! Steps of the wall clock: `CLOCK_REALTIME` compared with `CLOCK_MONOTONIC`.
//!
//! NTP corrects the rate of both clocks together. The difference between them therefore changes in
//! two cases only: the wall clock is set, or the machine is suspended, during which the monotonic
//! clock stops.

use base::{Clock, Monotonic, Nanos, WallTime};
use record::ComponentKind;
use record::metric::host;

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Maximum time for reading both clocks. If it takes longer, the two readings do not count as
/// simultaneous.
const MAX_READ_TIME: Nanos = Nanos::from_micros(100);

/// Maximum number of attempts to read the clocks within [`MAX_READ_TIME`]. If every attempt is
/// interrupted, there is no reading.
const MAX_ATTEMPTS: usize = 5;

/// Changes of the difference between the two clocks since the first sample.
#[derive(Debug, Default)]
pub(crate) struct WallClock {
    /// Difference at the first sample, in nanoseconds.
    first_offset: Option<i64>,
}

impl WallClock {
    /// Returns the seconds by which the wall clock was set forward since the first sample, plus the
    /// time for which the machine was suspended; negative if the clock was set back.
    fn set_forward_s(&mut self, offset: i64) -> f64 {
        let first_offset = *self.first_offset.get_or_insert(offset);
        offset.saturating_sub(first_offset) as f64 / 1e9
    }
}

impl Sampler for WallClock {
    fn sample(&mut self, _root: &Root, sample: &mut Sample) {
        if let Some(offset) = offset() {
            let s = self.set_forward_s(offset);
            sample.read(&ComponentKind::Host, host::WALL_CLOCK, s);
        }
    }
}

/// Returns the wall clock minus the monotonic clock, in nanoseconds; `None` if every attempt to
/// read both was interrupted.
fn offset() -> Option<i64> {
    (0..MAX_ATTEMPTS).find_map(|_| {
        let before = Monotonic.now();
        let wall = WallTime::now();
        let is_quick = Monotonic.now().since(before) <= MAX_READ_TIME;
        is_quick.then(|| wall.0.saturating_sub(i64::try_from(before.0).unwrap_or(i64::MAX)))
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
        // A reading that is interrupted returns nothing, but this does not happen to all of a
        // thousand readings.
        let mut found = (0..1_000).filter_map(|_| offset());
        let (first_offset, last) =
            (found.next().expect("a reading"), found.next_back().expect("another"));
        assert!(first_offset.abs_diff(last) < 1_000_000_000, "{first_offset} {last}");
    }
}
