//! Checks that the machine did not change during the run.

use base::Nanos;
use record::Part;
use record::metric::host;

use super::CheckInput;
use crate::check::{Check, Status};
use crate::evidence::Observed;

/// Largest allowed step of the wall clock, in seconds. Smaller steps do not matter for time stamps
/// of whole seconds.
const STEP_ALLOWED_S: f64 = 0.010;

/// Largest allowed change of the processors' frequency.
const FREQUENCY_ALLOWED: f64 = 0.05;

/// Minimum number of readings in each third of the window; with fewer, chance prevails.
const FEWEST_READINGS: usize = 5;

/// Significant change in standard errors. Readings of neighbouring seconds are correlated, so it is
/// larger than it would be for independent numbers (3.3 for 1 in 1,000).
const SIGNIFICANT: f64 = 5.0;

impl CheckInput<'_> {
    /// Checks that the wall clock was not set.
    pub(super) fn wall_clock(&self) -> Check {
        if let Some(why) = self.reason_not_observed() {
            return Check::not_possible("wall-clock", why);
        }
        let steps =
            self.evidence.observed(&Part::Host, host::WALL_CLOCK).map(|clock| self.steps_of(clock));
        let Some(steps) = steps.filter(|steps| !steps.is_empty()) else {
            return Check::not_possible("wall-clock", "the clocks could not be read side by side");
        };
        let (mut at, mut largest) = (Nanos::ZERO, 0.0_f64);
        for (until, step) in steps {
            if step.abs() > largest.abs() {
                (at, largest) = (until, step);
            }
        }
        let step_ms = largest.abs() * 1e3;
        let check = Check::new("wall-clock", "ms", step_ms, STEP_ALLOWED_S * 1e3);
        if largest.abs() <= STEP_ALLOWED_S {
            return check.found(Status::Pass, "the wall clock went as the monotonic one did");
        }
        let direction = if largest > 0.0 { "forward" } else { "back" };
        let sentence = format!(
            "the wall clock was set {direction} by {step_ms:.0} ms, {:.0} s after time zero, or \
             the machine was suspended: response times are of another clock, but time stamps, \
             statements with `now()` and a database that sees the step are not",
            at.as_secs_f64()
        );
        check.found(Status::Suspect, sentence)
    }

    /// Returns the changes between consecutive readings in the window, each with the time of the
    /// later one.
    fn steps_of(&self, observed: &Observed) -> Vec<(Nanos, f64)> {
        let window = self.evidence.window();
        let pairs = observed.points.windows(2);
        let inside = pairs.filter(|pair| pair[1].0 > window.start && pair[0].0 < window.end);
        inside.map(|pair| (pair[1].0, pair[1].1 - pair[0].1)).collect()
    }

    /// Checks that the processors were equally fast in all thirds of the window.
    pub(super) fn frequency(&self) -> Check {
        if let Some(why) = self.reason_not_observed() {
            return Check::not_possible("frequency", why);
        }
        let Some(observed) = self.evidence.observed(&Part::Host, host::FREQUENCY) else {
            let why = "the system does not tell the processors' frequency";
            return Check::not_possible("frequency", why);
        };
        let Some([(earlier, from), (later, to)]) = self.most_different_thirds(observed) else {
            let why = format!("a third of the window has fewer than {FEWEST_READINGS} readings");
            return Check::not_possible("frequency", why);
        };
        let by = to.mean / from.mean - 1.0;
        let check = Check::new("frequency", "%", by * 100.0, FREQUENCY_ALLOWED * 100.0);
        let sentence = format!(
            "the processors' mean frequency was {:.0} MHz in the {earlier} third of the window and \
             {:.0} MHz in the {later}",
            from.mean, to.mean
        );
        match from.has_become(to) {
            false => check.found(Status::Pass, sentence),
            true => {
                check.found(Status::Suspect, format!("{sentence}: the same work took another time"))
            }
        }
    }

    /// Returns the two thirds of the window whose means differ most, in the order of time. Pairs
    /// with a material difference take precedence. `None` if a third has too few readings.
    fn most_different_thirds(&self, observed: &Observed) -> Option<[(&'static str, Sample); 2]> {
        let window = self.evidence.window();
        let third = Nanos(self.evidence.window_length().0 / 3);
        let begins = [window.start, window.start + third, window.end.saturating_sub(third)];
        let [first, middle, last] =
            begins.map(|begin| Sample::of(observed, begin, begin + third).filter(Sample::is_told));
        let named = [("first", first?), ("middle", middle?), ("last", last?)];
        let pairs = [[named[0], named[1]], [named[1], named[2]], [named[0], named[2]]];
        let apart = |[(_, a), (_, b)]: &[(&str, Sample); 2]| (a.mean - b.mean).abs();
        let matters = |[(_, a), (_, b)]: &[(&str, Sample); 2]| a.has_become(*b);
        let order = |a: &_, b: &_| matters(a).cmp(&matters(b)).then(apart(a).total_cmp(&apart(b)));
        pairs.into_iter().max_by(order)
    }
}

/// Statistics of a set of readings.
#[derive(Clone, Copy)]
struct Sample {
    mean: f64,
    /// Square of the standard error of the mean.
    error_squared: f64,
}

impl Sample {
    /// Summarizes the readings of a period; `None` if there are too few.
    fn of(observed: &Observed, from: Nanos, until: Nanos) -> Option<Sample> {
        let points = observed.points.iter().filter(|(at, _)| *at >= from && *at < until);
        let values: Vec<f64> = points.map(|(_, value)| *value).collect();
        if values.len() < FEWEST_READINGS {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Sample { mean, error_squared: squares / (count - 1.0) / count })
    }

    /// Returns true if the system reports a frequency at all.
    fn is_told(&self) -> bool {
        self.mean > 0.0
    }

    /// Returns true if a later sample differs materially and beyond chance.
    fn has_become(self, later: Sample) -> bool {
        let difference = (later.mean - self.mean).abs();
        difference > SIGNIFICANT * self.error_with(later)
            && difference > FREQUENCY_ALLOWED * self.mean
    }

    /// Returns the standard error of the difference to another mean.
    fn error_with(self, other: Sample) -> f64 {
        (self.error_squared + other.error_squared).sqrt()
    }
}
