//! The division of a run into steps. Here, a step is a part of a run, not a run of `[saturate]`.

use std::ops::Range;

use base::Nanos;
use record::{Grid, Interval};

/// Target for the number of steps of a long run. The actual number differs, because steps consist
/// of whole histogram rows and fit the probes.
const STEPS: u32 = 2_000;

/// Maximum number of parts of a window that are compared with each other.
const PARTS: usize = 20;

/// Longest probe, in seconds, to which the length of a step is adapted: a day. A longer probe
/// counts as a day.
const LONGEST_PROBE: u64 = 86_400;

const SECOND: u64 = 1_000_000_000;

/// Consecutive parts of a run until its end. A step is an interval of the record. In runs of more
/// than half an hour it is several intervals, so the memory for judging a run is bounded. A step
/// consists of whole histogram rows, each of which may cover several intervals. The window begins
/// with a step. A probe is a whole number of steps, or a step is a whole number of probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    grid: Grid,
    end: Nanos,
    /// First interval of the window.
    window: Interval,
    /// First interval of each step, then the first interval after the last step.
    firsts: Vec<Interval>,
}

impl Steps {
    /// Divides a run with this end and this length of probes.
    pub fn new(grid: Grid, end: Nanos, probe: Nanos) -> Steps {
        Steps::with_window(grid, end, probe, grid.first_of_window())
    }

    /// Divides a run whose window does not begin with the interval that the grid was made for. The
    /// window begins with the histogram row of the interval `first`.
    pub fn with_window(grid: Grid, end: Nanos, probe: Nanos, first: Interval) -> Steps {
        let after = after(&grid, end);
        let length = length(after, probe);
        let window = grid.row(first);
        let mut firsts = vec![0];
        let mut first = 0;
        while first < after {
            let next = grid.row(first.saturating_add(length)).max(grid.next_row(first));
            let bound = if first < window { window.min(after) } else { after };
            first = next.min(bound);
            firsts.push(first);
        }
        Steps { grid, end, window, firsts }
    }

    /// Returns the end of the run, since time zero.
    pub fn end(&self) -> Nanos {
        self.end
    }

    /// Returns the length of the warm-up, as configured or detected.
    pub fn warmup(&self) -> Nanos {
        match self.window == self.grid.first_of_window() {
            // The warm-up may shorten the first interval of the run.
            true => self.grid.warmup(),
            false => self.grid.start(self.window),
        }
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.firsts.len() - 1
    }

    /// Returns true if there are no steps: the run ended before time zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the step of an interval; `None` after the end.
    pub fn of(&self, interval: Interval) -> Option<usize> {
        let after = self.firsts.partition_point(|&first| first <= interval);
        (after < self.firsts.len()).then(|| after - 1)
    }

    /// Returns the start of a step, since time zero; for the index after the last step, the end of
    /// the last step.
    pub fn start(&self, step: usize) -> Nanos {
        self.grid.start(self.firsts[step]).min(self.end)
    }

    /// Returns true if the last step ends with the run. Otherwise, the counts by end of that step
    /// include answers from after the end of the run.
    pub(crate) fn ends_with_last(&self) -> bool {
        self.grid.start(self.firsts[self.len()]) <= self.end
    }

    /// Returns the steps that begin at `from` or later and before `to`.
    pub fn between(&self, from: Nanos, to: Nanos) -> Range<usize> {
        let all = &self.firsts[..self.len()];
        let place = |at: Nanos| all.partition_point(|&first| self.grid.start(first) < at);
        place(from)..place(to).max(place(from))
    }

    /// Returns the steps of the window.
    pub fn window(&self) -> Range<usize> {
        let first = self.firsts.partition_point(|&first| first < self.window);
        first.min(self.len())..self.len()
    }

    /// Returns the intervals of some steps.
    pub fn intervals(&self, steps: Range<usize>) -> Range<Interval> {
        self.firsts[steps.start]..self.firsts[steps.end]
    }

    /// Divides the window into at most twenty parts of equal length. A remainder at the end, and a
    /// shorter last step, belong to no part.
    pub fn parts(&self) -> Vec<Range<usize>> {
        let window = self.window();
        let length = |step: usize| self.start(step + 1).saturating_sub(self.start(step));
        let is_cut_off = window.len() > 1 && length(window.end - 1) < length(window.start);
        let whole = window.len() - usize::from(is_cut_off);
        let size = whole.div_ceil(PARTS).max(1);
        (0..whole / size).map(|n| window.start + n * size..window.start + (n + 1) * size).collect()
    }

    /// Divides the steps of the window into probes of this length.
    pub fn probes(&self, probe: Nanos) -> Vec<Range<usize>> {
        let number = |step: usize| {
            let into_window = self.start(step).saturating_sub(self.warmup());
            into_window.0 / probe.0.max(1)
        };
        let mut probes: Vec<Range<usize>> = Vec::new();
        for step in self.window() {
            match probes.last_mut() {
                Some(last) if number(last.start) == number(step) => last.end = step + 1,
                _ => probes.push(step..step + 1),
            }
        }
        probes
    }
}

/// Returns the first interval after the end of a run.
fn after(grid: &Grid, end: Nanos) -> Interval {
    match end.0.checked_sub(1) {
        Some(last) => grid.interval(Nanos(last)).saturating_add(1),
        None => 0,
    }
}

/// Returns the number of intervals in a step: a divisor of a probe or a multiple of it.
fn length(intervals: Interval, probe: Nanos) -> Interval {
    let wanted = intervals.div_ceil(STEPS).max(1);
    let probe = probe.0.div_ceil(SECOND).clamp(1, LONGEST_PROBE) as u32;
    match wanted > probe {
        true => wanted.div_ceil(probe).saturating_mul(probe),
        false => (wanted..=probe).find(|length| probe.is_multiple_of(*length)).unwrap_or(probe),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(warmup_ms: u64, duration_s: Option<u64>, end_s: u64) -> Steps {
        let grid = Grid::new(Nanos::from_millis(warmup_ms), duration_s.map(Nanos::from_secs));
        Steps::new(grid, Nanos::from_secs(end_s), Nanos::from_secs(10))
    }

    #[test]
    fn steps_of_a_short_run_are_intervals() {
        let steps = steps(2_500, Some(60), 60);
        assert_eq!(steps.len(), 61);
        assert_eq!(steps.window(), 3..61);
        assert_eq!(steps.intervals(3..61), 3..61);
        assert_eq!(steps.start(3), Nanos::from_millis(2_500));
        assert_eq!(steps.start(61), Nanos::from_secs(60));
        assert_eq!(steps.of(60), Some(60));
        assert_eq!(steps.of(61), None);
    }

    #[test]
    fn last_step_of_a_shifted_grid_lasts_beyond_the_end() {
        assert!(steps(10_000, Some(60), 60).ends_with_last());
        assert!(!steps(2_500, Some(60), 60).ends_with_last());
    }

    #[test]
    fn long_run_has_few_steps_and_unchanged_probes() {
        for (duration, end) in [(Some(7_200), 7_200), (None, 7_200), (Some(14_400), 14_400)] {
            let steps = steps(10_000, duration, end);
            assert!(steps.len() <= 2_001, "{}", steps.len());
            let probes = steps.probes(Nanos::from_secs(10));
            assert_eq!(probes.len() as u64, (end - 10).div_ceil(10));
            for (probe, number) in probes.iter().zip(1..) {
                assert_eq!(steps.start(probe.start), Nanos::from_secs(10 * number));
            }
        }
    }

    #[test]
    fn the_longest_run_has_few_steps_of_whole_rows() {
        for duration in [None, Some(10_000_000)] {
            let steps = steps(10_000, duration, 10_000_000);
            assert!((1_000..=4_000).contains(&steps.len()), "{}", steps.len());
            assert!(steps.probes(Nanos::from_secs(10)).len() <= 4_000);
            for &first in &steps.firsts[..steps.len()] {
                assert_eq!(steps.grid.row(first), first);
            }
        }
        assert!(steps(0, None, u64::from(u32::MAX)).len() <= 4_000);
    }

    #[test]
    fn a_window_has_parts_of_one_length() {
        for (end_s, parts, size) in [(70, 20, 3), (12, 2, 1), (20, 10, 1), (31, 10, 2), (60, 16, 3)]
        {
            let found = steps(10_000, Some(end_s), end_s).parts();
            assert_eq!(found.len(), parts, "{end_s}");
            assert!(found.iter().all(|part| part.len() == size), "{end_s}: {found:?}");
            assert_eq!(found[0].start, 10);
        }
        let cut_off =
            Steps::new(Grid::new(Nanos::ZERO, None), Nanos::from_millis(12_300), Nanos(1));
        assert_eq!(cut_off.parts().last(), Some(&(11..12)));
        assert_eq!(steps(10_000, Some(60), 4).parts(), []);
    }

    #[test]
    fn a_run_that_ended_in_its_warm_up_has_no_window() {
        assert!(steps(10_000, Some(60), 0).is_empty());
        let steps = steps(10_000, Some(60), 4);
        assert_eq!((steps.len(), steps.window()), (4, 4..4));
        assert_eq!(steps.probes(Nanos::from_secs(10)), []);
    }

    #[test]
    fn steps_are_found_by_their_time() {
        let steps = steps(0, Some(60), 60);
        assert_eq!(steps.between(Nanos::from_millis(500), Nanos::from_secs(3)), 1..3);
        assert_eq!(steps.between(Nanos::from_secs(3), Nanos::from_secs(1)), 3..3);
    }
}
