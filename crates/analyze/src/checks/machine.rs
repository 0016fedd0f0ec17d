//! Checks that the machine did not change during the run.

use base::Nanos;
use record::ComponentKind;
use record::metric::host;

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{Finding, Frequencies, ObservationObstacle, WallClock, WindowThird};
use crate::observed::Observed;

/// Largest allowed step of the wall clock, in seconds. Smaller steps do not matter for time stamps
/// of whole seconds.
const STEP_ALLOWED_S: f64 = 0.010;

/// Largest allowed change of the processors' frequency, as a fraction.
const FREQUENCY_ALLOWED: f64 = 0.05;

/// Minimum number of readings in each third of the window; with fewer, chance prevails.
const FEWEST_READINGS: usize = 5;

/// Significant change of the frequency, in standard errors. Readings of neighbouring seconds are
/// correlated, so this limit is larger than for independent numbers (3.3 for 1 in 1,000).
const SIGNIFICANT_ERRORS: f64 = 5.0;

impl CheckInput<'_> {
    /// Checks that the wall clock was not set.
    pub(super) fn wall_clock(&self) -> Check {
        let kind = CheckKind::WallClock;
        if let Some(why) = self.reason_not_observed() {
            return kind.not_possible(why);
        }
        let steps = self
            .evidence
            .observed(&ComponentKind::Host, host::WALL_CLOCK)
            .map(|clock| self.steps_of(clock));
        let Some(steps) = steps.filter(|steps| !steps.is_empty()) else {
            return kind.not_possible(ObservationObstacle::ClocksUnreadable);
        };
        let (mut at, mut largest) = (Nanos::ZERO, 0.0_f64);
        for (until, step) in steps {
            if step.abs() > largest.abs() {
                (at, largest) = (until, step);
            }
        }
        let (status, finding) = match largest.abs() <= STEP_ALLOWED_S {
            true => (Status::Pass, WallClock::Steady),
            false => (Status::Suspect, WallClock::Set { by_s: largest, at }),
        };
        let judged = kind.of(Unit::Milliseconds, largest.abs() * 1e3, STEP_ALLOWED_S * 1e3);
        judged.conclude(status, Finding::WallClock(finding))
    }

    /// Returns the changes between consecutive readings in the window, each with the time of the
    /// later reading. If a reading represents several samples, its change is the largest one from
    /// one sample to the next, because over the whole time of a reading the clock may drift by more
    /// than is allowed.
    fn steps_of(&self, observed: &Observed) -> Vec<(Nanos, f64)> {
        let window = self.evidence.window();
        let pairs = observed.points.windows(2);
        let inside = pairs.filter(|pair| pair[1].0 > window.start && pair[0].0 < window.end);
        inside.map(|pair| (pair[1].0, step(observed, pair[0], pair[1]))).collect()
    }

    /// Checks that the processors were equally fast in all thirds of the window.
    pub(super) fn frequency(&self) -> Check {
        let kind = CheckKind::Frequency;
        if let Some(why) = self.reason_not_observed() {
            return kind.not_possible(why);
        }
        let Some(observed) = self.evidence.observed(&ComponentKind::Host, host::FREQUENCY) else {
            return kind.not_possible(ObservationObstacle::FrequencyUnknown);
        };
        let [(earlier, from), (later, to)] = match self.most_different_thirds(observed) {
            Ok(thirds) => thirds,
            Err(obstacle) => return kind.not_possible(obstacle),
        };
        let by = to.mean / from.mean - 1.0;
        let status = if from.differs_from(to) { Status::Suspect } else { Status::Pass };
        let judged = kind.of(Unit::Percent, by * 100.0, FREQUENCY_ALLOWED * 100.0);
        let finding = Frequencies { earlier: (earlier, from.mean), later: (later, to.mean) };
        judged.conclude(status, Finding::Frequency(finding))
    }

    /// Returns the pair of thirds of the window whose means differ most, in the order of time.
    /// Pairs with a difference that matters take precedence.
    ///
    /// # Errors
    /// A third has too few readings, or a mean of 0, as on a system that reports no frequency.
    fn most_different_thirds(
        &self,
        observed: &Observed,
    ) -> Result<[(WindowThird, Sample); 2], ObservationObstacle> {
        let window = self.evidence.window();
        let third = Nanos(self.evidence.window_length().0 / 3);
        let begins = [window.start, window.start + third, window.end.saturating_sub(third)];
        let few = ObservationObstacle::FewReadings { fewest: FEWEST_READINGS };
        let [first, middle, last] =
            begins.map(|begin| Sample::of(observed, begin, begin + third).ok_or(few));
        let named = [
            (WindowThird::First, first?),
            (WindowThird::Middle, middle?),
            (WindowThird::Last, last?),
        ];
        if !named.iter().all(|(_, sample)| sample.is_reported()) {
            return Err(ObservationObstacle::FrequencyUnknown);
        }
        let pairs = [[named[0], named[1]], [named[1], named[2]], [named[0], named[2]]];
        let apart = |[(_, a), (_, b)]: &[(WindowThird, Sample); 2]| (a.mean - b.mean).abs();
        let matters = |[(_, a), (_, b)]: &[(WindowThird, Sample); 2]| a.differs_from(*b);
        let order = |a: &_, b: &_| matters(a).cmp(&matters(b)).then(apart(a).total_cmp(&apart(b)));
        Ok(pairs.into_iter().max_by(order).expect("there are three pairs"))
    }
}

/// Returns the largest change from one sample to the next, among the samples that a reading
/// represents. For a reading of a single sample, it is the change since the reading before.
fn step(observed: &Observed, before: (Nanos, f64), reading: (Nanos, f64)) -> f64 {
    let Some(range) = observed.range_at(reading.0) else { return reading.1 - before.1 };
    let per_s = if -range.least > range.most { range.least } else { range.most };
    let between =
        reading.0.saturating_sub(before.0).as_secs_f64() / f64::from(range.samples.max(1));
    per_s * between
}

/// Statistics of a set of readings.
#[derive(Clone, Copy)]
struct Sample {
    mean: f64,
    /// Square of the standard error of the mean.
    error_squared: f64,
}

impl Sample {
    /// Summarizes the readings of a period; `None` if there are too few. A reading is weighted by
    /// the time since the previous one, which is proportional to the number of its samples: the
    /// mean of n samples has 1/n of the variance of a single one.
    fn of(observed: &Observed, from: Nanos, until: Nanos) -> Option<Sample> {
        let within = from..until;
        let mean = observed.mean(&within)?;
        let (mut count, mut weights, mut squares) = (0, 0.0, 0.0);
        for (weight, value) in observed.weighted(&within) {
            count += 1;
            weights += weight;
            squares += weight * (value - mean).powi(2);
        }
        if count < FEWEST_READINGS {
            return None;
        }
        Some(Sample { mean, error_squared: squares / (count as f64 - 1.0) / weights })
    }

    /// Returns true if the system reports a frequency at all.
    fn is_reported(&self) -> bool {
        self.mean > 0.0
    }

    /// Returns true if the mean of a later period differs by more than chance explains, and by
    /// enough to matter.
    fn differs_from(self, later: Sample) -> bool {
        let difference = (later.mean - self.mean).abs();
        difference > SIGNIFICANT_ERRORS * self.error_with(later)
            && difference > FREQUENCY_ALLOWED * self.mean
    }

    /// Returns the standard error of the difference between this mean and another one.
    fn error_with(self, other: Sample) -> f64 {
        (self.error_squared + other.error_squared).sqrt()
    }
}
