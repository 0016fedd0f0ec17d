//! Checks that the system was in a steady state.
//!
//! If the response time drifts or changes abruptly, quantiles of the window describe neither the
//! time before the change nor the time after it. The checks of drifts and of abrupt changes use the
//! medians of the response times in consecutive parts of the window. A change counts only if it is
//! larger than chance explains, and large enough to matter. The third check is that the end of the
//! warm-up was found.

use base::AccountId;
use std::ops::Range;

use super::input::CheckInput;
use crate::backlog::trend;
use crate::change::{LevelChange, level_change_at};
use crate::check::{Check, CheckKind, Status, Unit};
use crate::distribution::Distribution;
use crate::finding::{Finding, JobObstacle, MedianChange, WarmUp};
use crate::moments::mean;
use crate::warmup::{SteadyStart, WarmupEnd, has_varying_rate, runs_throughout};

/// Relative change over the window below which a drift is too small to matter.
const DRIFT_MATTERS: f64 = 0.05;

/// Relative change below which a step is too small to matter.
const STEP_MATTERS: f64 = 0.03;

/// Minimum number of parts of a window.
const FEWEST_PARTS: usize = 10;

/// Minimum number of parts on either side of a step.
const FEWEST_PARTS_ON_SIDE: usize = 3;

/// Minimum number of requests in a part for a median.
const FEWEST_REQUESTS: u64 = 30;

/// Bounds for the largest t over all positions of a step, for 10 to 20 parts. If the numbers are
/// independent and normal, the largest t exceeds its bound with a probability of 0.002. Found by
/// 60,000 simulations.
const SIGNIFICANT_T: [f64; 11] = [5.95, 5.62, 5.48, 5.28, 5.18, 5.03, 4.95, 4.87, 4.78, 4.74, 4.67];

/// A change of the response time.
struct Change<'a> {
    name: &'a str,
    /// Relative change, as a fraction.
    by: f64,
    is_chance: bool,
    /// Time of the change, in seconds since time zero; `None` for a gradual change.
    at_s: Option<f64>,
}

impl<'a> CheckInput<'a> {
    /// Checks that response times did not drift.
    pub(super) fn drift(&self) -> Check {
        self.change((CheckKind::Drift, Finding::Drift), DRIFT_MATTERS, |account, medians, _| {
            let name = self.evidence.plan.account(account).name();
            let trend = trend(medians)?;
            let by = trend.growth / mean(medians);
            Some(Change { name, by, is_chance: trend.t.abs() <= trend.limit, at_s: None })
        })
    }

    /// Checks that response times did not change abruptly.
    pub(super) fn step(&self) -> Check {
        self.change((CheckKind::Step, Finding::Step), STEP_MATTERS, |account, medians, parts| {
            let name = self.evidence.plan.account(account).name();
            let LevelChange { index, by, t } = largest_step(medians)?;
            let at_s = self.evidence.steps.start(parts[index].0.start).as_secs_f64();
            let is_chance = t.abs() <= significant_t(medians.len());
            Some(Change { name, by, is_chance, at_s: Some(at_s) })
        })
    }

    fn change(
        &self,
        (kind, finding): (CheckKind, fn(MedianChange) -> Finding),
        matters: f64,
        find: impl Fn(AccountId, &[f64], &[(Range<usize>, Distribution)]) -> Option<Change<'a>>,
    ) -> Check {
        if let Some(why) = self.not_steady_obstacle() {
            return kind.not_possible(why);
        }
        let changes = self.whole_jobs().filter(|account| !self.is_overloaded(*account)).filter_map(
            |account| {
                let parts = &self.evidence.jobs[account.index()].parts;
                find(account, &medians(parts)?, parts)
            },
        );
        let key = |change: &Change<'_>| (!change.is_chance, change.by.abs());
        let Some(Change { name: job, by, is_chance, at_s }) = changes.max_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        }) else {
            return kind.not_possible(JobObstacle::FewRequests {
                requests: FEWEST_REQUESTS,
                parts: FEWEST_PARTS,
            });
        };
        let job = job.to_owned();
        let change = match at_s {
            _ if is_chance || by.abs() <= matters => MedianChange::None,
            None => MedianChange::Gradual { job, by },
            Some(at_s) => MedianChange::Abrupt { job, by, at_s },
        };
        let status = if change == MedianChange::None { Status::Pass } else { Status::Suspect };
        kind.of(Unit::Percent, by * 100.0, matters * 100.0).conclude(status, finding(change))
    }

    /// Returns the reason why response times may change by intention; `None` if there is none.
    fn not_steady_obstacle(&self) -> Option<JobObstacle> {
        let jobs = &self.evidence.plan.jobs;
        if jobs.iter().any(|job| !runs_throughout(job, self.evidence.window())) {
            return Some(JobObstacle::IntermittentJobs);
        }
        jobs.iter().any(has_varying_rate).then_some(JobObstacle::VaryingRate)
    }

    /// Checks that the end of the warm-up was found, unless its length was given.
    pub(super) fn warm_up(&self) -> Check {
        let kind = CheckKind::WarmUp;
        let (length, run) = (self.evidence.steps.warmup(), self.evidence.end());
        let (status, finding) = match self.evidence.warmup {
            WarmupEnd::Given => return kind.not_possible(JobObstacle::GivenWarmUp),
            WarmupEnd::TooShort => (Status::Suspect, WarmUp::TooShort),
            WarmupEnd::NoSteadyJob => (Status::Suspect, WarmUp::NoSteadyJob),
            WarmupEnd::Found(SteadyStart { never_steady: Some(_), .. })
                if self.overloaded().next().is_some() =>
            {
                (Status::Suspect, WarmUp::Overloaded)
            }
            WarmupEnd::Found(SteadyStart { never_steady: Some(by), .. }) => {
                (Status::Invalid, WarmUp::NeverSteady { by })
            }
            WarmupEnd::Found(SteadyStart { steps: 0, .. }) => (Status::Pass, WarmUp::SteadyAtOnce),
            WarmupEnd::Found(_) => (Status::Pass, WarmUp::Found { length }),
        };
        let judged = kind.of(Unit::Seconds, length.as_secs_f64(), run.as_secs_f64() / 2.0);
        judged.conclude(status, Finding::WarmUp(finding))
    }
}

/// Returns the medians of the parts of a window; `None` if there are too few parts, or too few
/// requests in one of them.
fn medians(parts: &[(Range<usize>, Distribution)]) -> Option<Vec<f64>> {
    if parts.len() < FEWEST_PARTS {
        return None;
    }
    let median = |(_, response): &(Range<usize>, Distribution)| {
        let median = response.quantile_ns("p50").filter(|_| response.count >= FEWEST_REQUESTS)?;
        Some(median as f64)
    };
    parts.iter().map(median).collect()
}

/// Returns the change of level with the largest |t| by Student's t; `None` with too few parts.
fn largest_step(parts: &[f64]) -> Option<LevelChange> {
    let indexes = FEWEST_PARTS_ON_SIDE..(parts.len() + 1).saturating_sub(FEWEST_PARTS_ON_SIDE);
    indexes
        .map(|index| level_change_at(parts, index))
        .max_by(|a, b| a.t.abs().total_cmp(&b.t.abs()))
}

/// Returns the value of [`SIGNIFICANT_T`] for this number of parts.
fn significant_t(parts: usize) -> f64 {
    SIGNIFICANT_T[parts.clamp(FEWEST_PARTS, FEWEST_PARTS + SIGNIFICANT_T.len() - 1) - FEWEST_PARTS]
}

#[cfg(test)]
mod tests {
    use base::{Seed, Stream};

    use super::*;
    use crate::change::LARGEST_T;

    /// Returns independent, nearly normal numbers around 1 with this deviation.
    fn scatter(run: u64, parts: usize, deviation: f64) -> Vec<f64> {
        let mut draw = Stream::new(Seed(1), "test", "scatter").draw(run);
        let mut normal = || {
            let (radius, turn) = ((2.0 * draw.exponential()).sqrt(), draw.exponential());
            // The fractional part of an exponential number with a large mean is nearly uniform.
            radius * ((turn * 1e4).fract() * std::f64::consts::TAU).cos()
        };
        (0..parts).map(|_| 1.0 + deviation * normal()).collect()
    }

    #[test]
    fn steady_series_seldom_shows_a_change() {
        for parts in [10, 15, 20] {
            let found = (0..5_000)
                .filter(|run| {
                    let step = largest_step(&scatter(*run, parts, 0.1)).expect("enough");
                    step.t.abs() > significant_t(parts)
                })
                .count();
            assert!((1..=25).contains(&found), "{found} of 5,000 with {parts} parts");
        }
    }

    #[test]
    fn change_point_is_located() {
        for at in [3, 10, 17] {
            let mut parts = scatter(5, 20, 0.005);
            parts[at..].iter_mut().for_each(|part| *part *= 1.05);
            let step = largest_step(&parts).expect("enough");
            assert!(step.t > significant_t(20) && (step.by - 0.05).abs() < 0.01, "{step:?}");
            assert_eq!(step.index, at);
        }
        let perfect: Vec<f64> = (0..20).map(|part| if part < 8 { 1.0 } else { 2.0 }).collect();
        assert_eq!(largest_step(&perfect), Some(LevelChange { index: 8, by: 1.0, t: LARGEST_T }));
        assert_eq!(largest_step(&[1.0; 20]).map(|step| step.t), Some(0.0));
    }
}
