//! The division of a run into intervals.

use base::Nanos;

/// The grid of a run's intervals: one second each, aligned to the start of the window. If the
/// warm-up takes 2.5 s, for example, the first interval is half a second long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Time in nanoseconds by which the first interval is shorter than a second. A full second with
    /// the same end would begin this long before time zero.
    pad: u64,
    warmup: Nanos,
    /// Number of intervals per histogram row. It is 0 for a run of unknown length, whose rows
    /// become longer as the run continues.
    intervals_per_row: u32,
}

/// The number of an interval, counted from 0 at time zero.
pub type Interval = u32;

const SECOND: u64 = 1_000_000_000;

/// Longest run, in seconds, in which each histogram row covers one second: two hours. In a longer
/// run of known length, every row covers several intervals. In a run of unknown length, the rows
/// after the first two hours of the window do.
const ROWS_OF_ONE_SECOND: u32 = 7_200;

impl Grid {
    /// Creates the grid of a run with this warm-up and duration. Without a duration, the
    /// length of the run is unknown.
    pub fn new(warmup: Nanos, duration: Option<Nanos>) -> Grid {
        let pad = (SECOND - warmup.0 % SECOND) % SECOND;
        let intervals_per_row = duration.map_or(0, |duration| {
            let seconds = duration.0.div_ceil(SECOND);
            let longer = seconds.div_ceil(ROWS_OF_ONE_SECOND.into()).max(1);
            u32::try_from(longer).unwrap_or(u32::MAX)
        });
        Grid { pad, warmup, intervals_per_row }
    }

    /// Returns the warm-up of the run.
    pub fn warmup(&self) -> Nanos {
        self.warmup
    }

    /// Returns the interval that contains an instant, given as the time since time zero.
    #[inline]
    pub fn interval(&self, since_zero: Nanos) -> Interval {
        Interval::try_from(since_zero.0.saturating_add(self.pad) / SECOND).unwrap_or(Interval::MAX)
    }

    /// Returns the beginning of an interval, as the time since time zero.
    pub fn start(&self, interval: Interval) -> Nanos {
        Nanos((u64::from(interval) * SECOND).saturating_sub(self.pad))
    }

    /// Returns the end of an interval, as the time since time zero.
    pub fn end(&self, interval: Interval) -> Nanos {
        self.start(interval.saturating_add(1))
    }

    /// Returns the first interval of the window.
    pub fn first_of_window(&self) -> Interval {
        self.interval(self.warmup)
    }

    /// Returns the first interval of the histogram row to which `interval` belongs. A row never
    /// holds both intervals before the window and intervals of the window.
    pub fn row(&self, interval: Interval) -> Interval {
        let first = self.first_of_window();
        if interval < first {
            let length = self.intervals_per_row.max(1);
            let rows_before = (first - interval).div_ceil(length);
            return first.saturating_sub(rows_before.saturating_mul(length));
        }
        let into_window = interval - first;
        first + into_window - into_window % self.intervals_in_row(into_window)
    }

    /// Returns the first interval after the histogram row to which `interval` belongs.
    pub fn next_row(&self, interval: Interval) -> Interval {
        let first = self.first_of_window();
        if interval < first {
            let length = self.intervals_per_row.max(1);
            return first - (first - interval - 1) / length * length;
        }
        self.row(interval).saturating_add(self.intervals_in_row(interval - first))
    }

    /// Returns the length of the histogram row to which `interval` belongs.
    pub fn row_length(&self, interval: Interval) -> Nanos {
        self.start(self.next_row(interval)).saturating_sub(self.start(self.row(interval)))
    }

    /// Returns the length, in intervals, of the histogram row that contains the interval
    /// `into_window` intervals after the first interval of the window.
    fn intervals_in_row(&self, into_window: u32) -> u32 {
        match (self.intervals_per_row, into_window / ROWS_OF_ONE_SECOND) {
            // If the end is not known, rows are 1 s long in the first two hours of the window, 2 s
            // until four hours, 4 s until eight hours, and so on.
            (0, 0) => 1,
            (0, doublings) => 2 << doublings.ilog2(),
            (length, _) => length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(warmup_ms: u64, duration_s: Option<u64>) -> Grid {
        Grid::new(Nanos::from_millis(warmup_ms), duration_s.map(Nanos::from_secs))
    }

    #[test]
    fn the_window_begins_with_an_interval() {
        let grid = grid(2_500, Some(60));
        assert_eq!(grid.interval(Nanos::ZERO), 0);
        assert_eq!(grid.interval(Nanos::from_millis(499)), 0);
        assert_eq!(grid.interval(Nanos::from_millis(500)), 1);
        assert_eq!(grid.first_of_window(), 3);
        assert_eq!(grid.start(3), Nanos::from_millis(2_500));
        assert_eq!(grid.start(0), Nanos::ZERO);
        assert_eq!(grid.end(0), Nanos::from_millis(500));
    }

    #[test]
    fn without_a_warm_up_intervals_are_the_seconds() {
        let grid = grid(0, Some(60));
        assert_eq!(grid.first_of_window(), 0);
        assert_eq!(grid.interval(Nanos(SECOND - 1)), 0);
        assert_eq!(grid.interval(Nanos(SECOND)), 1);
    }

    #[test]
    fn rows_have_the_length_of_the_duration_and_respect_the_window() {
        let two_hours = grid(0, Some(7_200));
        assert_eq!(two_hours.row(7_199), 7_199);
        let six_hours = grid(10_000, Some(21_600));
        assert_eq!(six_hours.row(9), 7);
        assert_eq!(six_hours.row(0), 0);
        assert_eq!(six_hours.row(10), 10);
        assert_eq!(six_hours.row(12), 10);
        assert_eq!(six_hours.row(13), 13);
    }

    #[test]
    fn rows_follow_each_other_without_a_gap() {
        for grid in [
            grid(0, None),
            grid(2_500, Some(60)),
            grid(10_000, Some(21_600)),
            grid(3_000, Some(90_000)),
        ] {
            let mut row = 0;
            while row < 40_000 {
                let next = grid.next_row(row);
                for interval in row..next {
                    let found = (grid.row(interval), grid.next_row(interval));
                    assert_eq!(found, (row, next), "{grid:?}");
                }
                assert_eq!(grid.start(row) + grid.row_length(row), grid.start(next));
                row = next;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        /// A damaged record can contain any values; none may cause a panic.
        #[test]
        fn absurd_grids_do_not_panic(warmup: u64, duration: Option<u64>, interval: u32) {
            let warmup = Nanos(warmup / 2);
            let grid = Grid::new(warmup, duration.map(Nanos));
            for interval in [0, interval, Interval::MAX] {
                prop_assert!(grid.row(interval) <= interval);
                prop_assert!(grid.next_row(interval) >= interval);
                prop_assert!(grid.start(interval) <= grid.end(interval));
                let _ = grid.row_length(interval);
            }
            prop_assert!(grid.interval(Nanos::MAX) >= grid.interval(Nanos::ZERO));
        }
    }

    #[test]
    fn without_a_known_end_rows_grow_with_the_run() {
        let grid = grid(0, None);
        assert_eq!(grid.row(7_199), 7_199);
        assert_eq!(grid.row(7_201), 7_200);
        assert_eq!(grid.row(14_399), 14_398);
        assert_eq!(grid.row(14_403), 14_400);
        assert_eq!(grid.row(604_900), 604_900 - 604_900 % 128);
    }
}
