//! Automatic detection of the end of the warm-up.
//!
//! The method is MSER-5 (White, Cobb and Spratt, "A comparison of five steady-state truncation
//! heuristics for simulation", 2000; Hoad, Robinson and Davies, "Automating warm-up length
//! estimation", 2008). Of all cuts in the first half of a series, it chooses the one after which
//! the mean of the rest has the smallest squared standard error. The series are the completions and
//! the median response times of the steps of a run (one second each in runs of up to half an hour);
//! five steps are a batch. A cut at the limit of one half, with different means before and after
//! it, shows that there was no steady state.

use std::ops::Range;

use base::Nanos;
use workload::{Job, Pacing};

use crate::change::level_change_at;

/// Number of steps in a batch.
const BATCH: usize = 5;

/// Minimum number of batches for detection.
const FEWEST: usize = 10;

/// Distance between the means of the two halves of a series, in standard errors, beyond which the
/// series had no steady state. Chance alone exceeds it in one of a thousand series that are cut in
/// the middle.
const SEPARATION: f64 = 4.5;

/// Relative difference of the halves of a series below which the difference does not matter.
const MATERIAL_CHANGE: f64 = 0.02;

/// The end of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmupEnd {
    /// Given by the user.
    Given,
    /// Found automatically.
    Found(SteadyStart),
    /// The run was too short to find the end of its warm-up.
    TooShort,
    /// No job had a constant load all the time.
    NoSteadyJob,
}

/// The place after which a series is steady.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyStart {
    /// Number of steps of the run that belong to the warm-up.
    pub steps: usize,
    /// Relative difference of the second half of the run from the first, if there was no steady
    /// state: cutting the first half is not enough, and chance does not explain the difference.
    pub never_steady: Option<f64>,
}

/// Finds the place after which a series is steady; `None` if the series is too short.
pub(crate) fn steady_start(series: &[f64]) -> Option<SteadyStart> {
    let batches = series.chunks_exact(BATCH);
    let means: Vec<f64> = batches.map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if means.len() < FEWEST {
        return None;
    }
    let half = means.len() / 2;
    let cuts = (0..=half).map(|cut| (cut, squared_error(&means[cut..])));
    // The first of equal minima is taken: nothing is cut from a series that never changes.
    let (cut, _) = cuts.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let halves = level_change_at(&means, half);
    let differs = cut == half && halves.t.abs() > SEPARATION && halves.by.abs() > MATERIAL_CHANGE;
    Some(SteadyStart { steps: cut * BATCH, never_steady: differs.then_some(halves.by) })
}

/// Returns the end of a run's warm-up: the latest of the ends found in several series or, if some
/// series were never steady, the end of the series that changed most. Each series has a number for
/// every step of the run.
pub fn end_of_warmup<'a>(series: impl IntoIterator<Item = &'a [f64]>) -> WarmupEnd {
    let differs = |start: &SteadyStart| start.never_steady.map_or(0.0, f64::abs);
    let mut latest = None;
    for series in series {
        let Some(start) = steady_start(series) else { return WarmupEnd::TooShort };
        let is_later = latest.is_none_or(|known: SteadyStart| {
            differs(&known).total_cmp(&differs(&start)).then(known.steps.cmp(&start.steps)).is_lt()
        });
        latest = if is_later { Some(start) } else { latest };
    }
    latest.map_or(WarmupEnd::NoSteadyJob, WarmupEnd::Found)
}

/// Returns true if a job has a constant load in a run of this length.
pub fn keeps_its_level(job: &Job, length: Nanos) -> bool {
    !has_varying_rate(job) && runs_throughout(job, Nanos::ZERO..length)
}

/// Returns true if the rate of a job varies intentionally.
pub(crate) fn has_varying_rate(job: &Job) -> bool {
    job.arrivals().is_some_and(|(schedule, _)| schedule.varies())
}

/// Returns true if a job sends requests throughout the span, not only now and then. The job may
/// have a `start` at or before the beginning of the span, and a `stop` at or after its end.
pub(crate) fn runs_throughout(job: &Job, span: Range<Nanos>) -> bool {
    let is_rare = matches!(job.pacing, Pacing::Timetable { .. });
    let lasts = job.start <= span.start
        && job.stop.is_none_or(|stop| stop >= span.end)
        && job.count.is_none();
    lasts && !is_rare
}

/// Returns the squared standard error of the mean of batch means, up to a factor, as if these means
/// were independent.
fn squared_error(means: &[f64]) -> f64 {
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n * n)
}

#[cfg(test)]
mod tests {
    use base::{Draw, Seed, Stream};

    use super::*;

    /// Returns a series with this level and a scatter of 3 %.
    fn seconds(run: u64, count: usize, level: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut draw: Draw = Stream::new(Seed(9), "test", "seconds").draw(run);
        (0..count).map(|second| level(second as f64) * (1.0 + 0.03 * draw.normal())).collect()
    }

    #[test]
    fn warm_up_ends_where_the_transient_has_faded() {
        for tau in [3.0, 10.0] {
            let mut cuts: Vec<usize> = (0..200)
                .map(|run| {
                    let series = seconds(run, 300, |at| 1.0 + 0.5 * (-at / tau).exp());
                    steady_start(&series).unwrap().steps
                })
                .collect();
            cuts.sort_unstable();
            // After the median cut, the rest of the transient is less than 3 % of the steady level.
            let left = 0.5 * (-(cuts[100] as f64) / tau).exp();
            assert!(left < 0.03 && cuts[100] <= 60, "{tau}: {} {left}", cuts[100]);
        }
    }

    #[test]
    fn a_steady_series_is_seldom_called_unsteady() {
        for count in [60, 120] {
            let series = (0..3_000).map(|run| seconds(run, count, |_| 1.0));
            let unsteady =
                series.filter(|s| steady_start(s).unwrap().never_steady.is_some()).count();
            assert!(unsteady <= 6, "{unsteady} of 3,000 with {count} s");
        }
    }

    #[test]
    fn a_run_that_changes_at_its_half_was_never_steady() {
        let series = (0..200).map(|run| seconds(run, 120, |at| if at < 60.0 { 1.0 } else { 0.9 }));
        let found: Vec<SteadyStart> = series.map(|series| steady_start(&series).unwrap()).collect();
        let unsteady = found.iter().filter(|start| start.never_steady.is_some_and(|by| by < -0.08));
        // Nearly every series is cut where its level changes, even if it is not found unsteady.
        let cut_there = found.iter().filter(|start| (55..=60).contains(&start.steps)).count();
        assert!(unsteady.count() >= 150 && cut_there >= 195, "{cut_there}");
    }

    #[test]
    fn constant_series_has_no_warm_up_and_short_series_is_not_judged() {
        assert_eq!(steady_start(&[7.0; 60]), Some(SteadyStart::default()));
        assert_eq!(steady_start(&[7.0; 49]), None);
        assert_eq!(end_of_warmup([&[7.0; 60][..], &[7.0; 49]]), WarmupEnd::TooShort);
        assert_eq!(end_of_warmup([]), WarmupEnd::NoSteadyJob);
        let late: Vec<f64> = (0..60).map(|at| if at < 20 { 2.0 } else { 1.0 }).collect();
        let found = SteadyStart { steps: 20, never_steady: None };
        assert_eq!(end_of_warmup([&[7.0; 60][..], &late]), WarmupEnd::Found(found));
    }
}
