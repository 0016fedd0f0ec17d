//! Alarms of a job that runs every night: it adds a value to a series, and fails if the series has
//! a recent change. A *failed night* is one on which the job fails.
//!
//! Each night is a further look at the whole series, so there are more false alarms over a year
//! than the error probability of one look suggests. The values are drawn from a model with normal
//! noise.

use analyze::history::{FEWEST_VALUES, change_points};
use base::{Draw, Seed, Stream};

/// Number of nights of a year.
const YEAR: usize = 365;

/// Standard deviation of the noise from night to night, as a fraction.
const NOISE: f64 = 0.02;

/// Size of the step, as a fraction.
const STEP: f64 = -0.05;

/// Number of nights before the step.
const BEFORE: usize = 40;

/// Number of nights, from the step on, in which the step is sought.
const AFTER: usize = 30;

/// Numbers of newest values within which a change is recent; the last number stands for all values.
const WITHIN: [usize; 5] = [7, 10, 14, 21, usize::MAX];

/// The alarms of all series if only changes within a number of newest values are recent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nights {
    /// Number of newest values within which a change is recent; `usize::MAX` for all of them.
    pub within: usize,
    /// Number of series.
    pub series: u32,
    /// Number of series without a step that have an alarm within the year.
    pub with_alarm: u32,
    /// Number of alarms in the series without a step; consecutive failed nights are one alarm.
    pub alarms: u32,
    /// Number of failed nights in the series without a step.
    pub failed_nights: u32,
    /// Number of series with a step in which the job fails at least once after the step.
    pub found: u32,
    /// Number of nights on which the job fails after the step, in all series together.
    pub failed_by_step: u32,
}

impl Nights {
    /// Returns the share of failed nights in the series without a step, in percent.
    pub fn percent_of_nights(&self) -> f64 {
        100.0 * f64::from(self.failed_nights) / (f64::from(self.series) * YEAR as f64)
    }
}

/// Returns the alarms of `series` series without a step, and of as many with a step: one item for
/// each number of newest values within which a change is recent.
pub fn nights(series: u32) -> Vec<Nights> {
    let all = lab::run_concurrently(series.into(), |seed| {
        [
            newest_changes(&unchanged(seed), FEWEST_VALUES),
            newest_changes(&stepped(seed), BEFORE + 1),
        ]
    });
    WITHIN
        .map(|within| {
            let mut sum = Nights {
                within,
                series,
                with_alarm: 0,
                alarms: 0,
                failed_nights: 0,
                found: 0,
                failed_by_step: 0,
            };
            all.iter().for_each(|[quiet, stepped]| sum.add(quiet, stepped));
            sum
        })
        .to_vec()
}

impl Nights {
    fn add(&mut self, quiet: &[Option<usize>], stepped: &[Option<usize>]) {
        let fails = |since: &Option<usize>| since.is_some_and(|since| since <= self.within);
        let failed: Vec<bool> = quiet.iter().map(fails).collect();
        let by_step = stepped.iter().filter(|since| fails(since)).count() as u32;
        let nights = failed.iter().filter(|fails| **fails).count() as u32;
        let before = std::iter::once(&false).chain(&failed);
        let alarms = failed.iter().zip(before).filter(|(now, before)| **now && !**before).count();
        self.with_alarm += u32::from(nights > 0);
        self.alarms += alarms as u32;
        self.failed_nights += nights;
        self.found += u32::from(by_step > 0);
        self.failed_by_step += by_step;
    }
}

/// Checks a series on each night, beginning with the night on which it has `first` values. Returns
/// for each night the number of values since the newest change; `None` if there is no change.
fn newest_changes(values: &[f64], first: usize) -> Vec<Option<usize>> {
    let since = |night: usize| change_points(&values[..night]).last().map(|it| night - it.at);
    (first..=values.len()).map(since).collect()
}

/// Returns the logarithms of the values of a year without a step, one for each night.
fn unchanged(seed: u64) -> Vec<f64> {
    let mut draw = Stream::new(Seed(seed), "nights", "unchanged").draw(0);
    (0..YEAR).map(|_| noise(&mut draw)).collect()
}

/// Returns the logarithms of the values of [`BEFORE`] nights before a step of [`STEP`], and of
/// [`AFTER`] nights from the step on.
fn stepped(seed: u64) -> Vec<f64> {
    let mut draw = Stream::new(Seed(seed), "nights", "step").draw(0);
    let step = |night: usize| if night < BEFORE { 0.0 } else { (1.0 + STEP).ln() };
    (0..BEFORE + AFTER).map(|night| noise(&mut draw) + step(night)).collect()
}

fn noise(draw: &mut Draw) -> f64 {
    (1.0 + NOISE * draw.normal()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarm_is_the_first_of_several_nights_that_fail() {
        let mut sum = Nights {
            within: 7,
            series: 1,
            with_alarm: 0,
            alarms: 0,
            failed_nights: 0,
            found: 0,
            failed_by_step: 0,
        };
        let quiet = [None, Some(4), Some(5), None, Some(8), Some(7)];
        sum.add(&quiet, &[None, Some(8)]);
        let expected = Nights { with_alarm: 1, alarms: 2, failed_nights: 3, found: 0, ..sum };
        assert_eq!(sum, expected);
        sum.add(&[Some(8)], &[Some(4), Some(5)]);
        assert_eq!((sum.with_alarm, sum.found, sum.failed_by_step), (1, 1, 2));
    }

    /// Expects fewer failed nights if fewer of the newest values count as recent. Two series are
    /// enough here; `trust history` uses 400.
    #[test]
    fn older_changes_do_not_fail_a_night() {
        let found = nights(2);
        let nights: Vec<u32> = found.iter().map(|it| it.failed_by_step).collect();
        assert!(nights.is_sorted() && nights[0] < nights[4], "{found:?}");
        assert!(found[4].found == 2, "{found:?}");
    }
}
