//! The points of a sweep, and the mean of a metric over the repeats of a point.

use workload::question::{RunMetric, Scale, Subject};

use crate::check::Status;
use crate::compare::{Missing, RunFigures, StandardError, scatter, to_scale};

/// Error probability of the interval of each mean, of the best point, and of the models'
/// parameters.
pub const ALPHA: f64 = 0.05;

/// The runs of a sweep at one value of the varied key.
#[derive(Clone, Debug)]
pub struct CurvePoint<'a> {
    /// The value, as the file or the command line writes it.
    pub value: String,
    /// The value as a number; `None` for any other value, such as `off`.
    pub x: Option<f64>,
    /// Runs that count, at most one of each repeat.
    pub runs: Vec<CurveRun<'a>>,
}

/// A run at a point of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct CurveRun<'a> {
    /// Number of the repeat: the runs of one repeat followed each other in random order.
    pub repeat: u32,
    /// Figures of the run.
    pub figures: &'a RunFigures,
}

/// Reason why a point is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// The point has no run that counts.
    NoRun,
    /// A run is INVALID.
    Invalid,
    /// A run does not have the metric, or its load exceeds the capacity.
    Missing(Missing),
    /// A value is 0 or less, and has no ratio to another.
    NotPositive,
}

/// The mean of a metric over the repeats of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointMean {
    /// Value of each run, in the order of the repeats, in the unit of the metric.
    pub values: Vec<f64>,
    /// The mean, in the unit of the metric: the geometric mean for metrics that are compared by
    /// ratio.
    pub mean: f64,
    /// Interval of the mean; `None` with one run, or without scatter.
    pub interval: Option<Interval>,
}

/// An interval of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end; infinite if the runs do not bound it.
    pub high: f64,
}

impl Interval {
    /// Returns true if the value lies within the interval.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl CurvePoint<'_> {
    /// Returns the mean of a metric with the interval that misses the true mean with a probability
    /// of `alpha`, by Student's t over the repeats. Metrics that are compared by ratio are averaged
    /// by their logarithms, like the changes of [`crate::compare`].
    ///
    /// The runs are not judged: INVALID runs have a mean as well.
    ///
    /// # Errors
    /// Returns the reason why there is no mean.
    pub fn mean(&self, metric: &RunMetric, alpha: f64) -> Result<PointMean, Unusable> {
        let values = self.measured(metric)?;
        let values: Vec<f64> = values.into_iter().map(|(_, value)| value).collect();
        Ok(mean_of(&values, metric.quantity.scale(), alpha))
    }

    /// Returns the mean number of completed requests per second of a job, even if its rate is
    /// given, with its interval as in [`CurvePoint::mean`].
    ///
    /// # Errors
    /// Returns the reason why there is no mean.
    pub fn completed(&self, job: &str, alpha: f64) -> Result<PointMean, Unusable> {
        let value = |run: &CurveRun<'_>| {
            let rate = run.figures.completed(job);
            let rate = rate.ok_or(Unusable::Missing(Missing::NotMeasured))?;
            to_scale(rate, Scale::Ratio).map_err(|_| Unusable::NotPositive)
        };
        let values = self.runs.iter().map(value).collect::<Result<Vec<f64>, Unusable>>()?;
        match values.is_empty() {
            true => Err(Unusable::NoRun),
            false => Ok(mean_of(&values, Scale::Ratio, alpha)),
        }
    }

    /// Returns the values of a metric, on the scale of the statistics, with their repeats.
    ///
    /// # Errors
    /// Returns the reason why a run has no value.
    fn measured(&self, metric: &RunMetric) -> Result<Vec<(u32, f64)>, Unusable> {
        if self.runs.is_empty() {
            return Err(Unusable::NoRun);
        }
        let scale = metric.quantity.scale();
        let value = |run: &CurveRun<'_>| {
            let value = run.figures.get(metric).map_err(Unusable::Missing)?;
            let value = to_scale(value, scale).map_err(|_| Unusable::NotPositive)?;
            Ok((run.repeat, value))
        };
        self.runs.iter().map(value).collect()
    }

    /// Returns true if, in a run, the load of a metric's job exceeds the capacity.
    pub(super) fn exceeds_capacity(&self, metric: &RunMetric) -> bool {
        self.runs.iter().any(|run| exceeds_capacity(run.figures, metric))
    }

    /// Returns true if the load generator or its machine failed in a run.
    pub(super) fn has_failed_instrument(&self) -> bool {
        self.runs.iter().any(|run| run.figures.verdict.instrument == Status::Invalid)
    }

    /// Returns the values of a metric as [`Self::measured`] if the point may be judged by them.
    ///
    /// # Errors
    /// Returns the reason why the point may not be judged, such as a run that is INVALID or whose
    /// load exceeds the capacity.
    pub(super) fn usable(&self, metric: &RunMetric) -> Result<Vec<(u32, f64)>, Unusable> {
        let is_invalid = |run: &CurveRun<'_>| run.figures.verdict.status() == Status::Invalid;
        if self.runs.iter().any(is_invalid) {
            return Err(Unusable::Invalid);
        }
        if self.exceeds_capacity(metric) {
            return Err(Unusable::Missing(Missing::ExceedsCapacity));
        }
        self.measured(metric)
    }
}

/// Returns the mean of values on the scale of the statistics.
fn mean_of(values: &[f64], scale: Scale, alpha: f64) -> PointMean {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = scatter((squares / (n - 1.0)).sqrt(), values);
    let error = StandardError { error: deviation / n.sqrt(), freedom: n - 1.0 };
    let to_value = |value: f64| match scale {
        Scale::Ratio => value.exp(),
        Scale::Difference => value,
    };
    let around = |half: f64| Interval { low: to_value(mean - half), high: to_value(mean + half) };
    let interval = (error.error > 0.0).then(|| around(error.half_width(alpha)));
    let values = values.iter().copied().map(to_value).collect();
    PointMean { values, mean: to_value(mean), interval }
}

/// Returns true if the load of a metric's job exceeds the capacity or, for a metric without a job,
/// if the load of any job does.
fn exceeds_capacity(figures: &RunFigures, metric: &RunMetric) -> bool {
    let is_of_run = metric.of.is_none() || metric.quantity.subject() != Subject::Job;
    let mut missing = figures.missing.iter();
    missing.any(|(known, reason)| {
        *reason == Missing::ExceedsCapacity && (is_of_run || known.of == metric.of)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use workload::question::{Quantity, TimeStatistic};

    use super::*;
    use crate::check::CheckKind;
    use crate::compare::RunVerdict;

    /// Returns the figures of a run of one closed job, `read`.
    pub(crate) fn figures(throughput: f64, p99_ms: f64) -> RunFigures {
        let of = |quantity| RunMetric::of(quantity, "read");
        let times = [TimeStatistic::P99, TimeStatistic::Mean];
        let times = times.map(|statistic| (of(Quantity::Response(statistic)), p99_ms));
        let throughput = (of(Quantity::Throughput), throughput);
        RunFigures {
            metrics: std::iter::once(throughput).chain(times).collect(),
            ..RunFigures::bare(&["read"])
        }
    }

    /// Returns points with the figures of their repeats.
    pub(crate) fn points(runs: &[(&str, Vec<RunFigures>)]) -> Vec<CurvePoint<'static>> {
        let point = |(value, runs): &(&str, Vec<RunFigures>)| CurvePoint {
            value: (*value).to_owned(),
            x: value.parse().ok(),
            runs: (1..)
                .zip(runs)
                // The few figures of a test may be leaked.
                .map(|(repeat, figures)| CurveRun {
                    repeat,
                    figures: Box::leak(Box::new(figures.clone())),
                })
                .collect(),
        };
        runs.iter().map(point).collect()
    }

    pub(crate) fn metric(text: &str) -> RunMetric {
        RunMetric::parse(text).unwrap()
    }

    fn mean_of(values: &[f64]) -> Result<PointMean, Unusable> {
        let runs = values.iter().map(|value| figures(*value, 1.0)).collect();
        points(&[("4", runs)])[0].mean(&metric("throughput(read)"), 0.05)
    }

    /// The logarithms are 0 ± 0.1: s = 0.1, t = 4.3027 with two degrees of freedom.
    #[test]
    fn interval_agrees_with_student_over_the_repeats() {
        let found = mean_of(&[0.1f64.exp(), 1.0, (-0.1f64).exp()]).unwrap();
        assert_eq!(found.values.len(), 3);
        assert!((found.values[0] - 0.1f64.exp()).abs() < 1e-12, "{found:?}");
        assert!((found.mean - 1.0).abs() < 1e-12, "{found:?}");
        let interval = found.interval.unwrap();
        let half = 4.302_65 * 0.1 / 3f64.sqrt();
        assert!((interval.high.ln() - half).abs() < 1e-5, "{found:?}");
        assert!((interval.low.ln() + half).abs() < 1e-5, "{found:?}");
        assert!(interval.contains(1.0) && !interval.contains(1.3), "{found:?}");
    }

    #[test]
    fn single_run_and_equal_runs_have_no_interval() {
        for values in [&[700.0][..], &[700.0; 3]] {
            let found = mean_of(values).unwrap();
            assert!((found.mean - 700.0).abs() < 1e-9, "{found:?}");
            assert_eq!(found.interval, None);
        }
        assert_eq!(mean_of(&[]), Err(Unusable::NoRun));
        assert_eq!(mean_of(&[0.0, 1.0]), Err(Unusable::NotPositive));
    }

    fn check(change: impl Fn(&mut RunFigures), metric_text: &str, expected: Option<Unusable>) {
        let mut bad = figures(700.0, 3.0);
        change(&mut bad);
        let point = &points(&[("4", vec![figures(710.0, 3.0), bad])])[0];
        assert_eq!(point.usable(&metric(metric_text)).err(), expected, "{metric_text}");
    }

    #[test]
    fn one_bad_run_makes_a_point_unusable() {
        let throughput = "throughput(read)";
        let verdict = |status| {
            move |bad: &mut RunFigures| {
                bad.verdict = RunVerdict::new([(CheckKind::Errors, status)]);
            }
        };
        check(|_| {}, throughput, None);
        check(verdict(Status::Suspect), throughput, None);
        check(verdict(Status::Invalid), throughput, Some(Unusable::Invalid));
        let withheld = Some(Unusable::Missing(Missing::NotMeasured));
        check(|bad| bad.metrics.truncate(1), "response.p99(read)", withheld);
        let overload = |bad: &mut RunFigures| {
            let p99 = bad.metrics.remove(1).0;
            bad.missing.push((p99, Missing::ExceedsCapacity));
        };
        let exceeds = Some(Unusable::Missing(Missing::ExceedsCapacity));
        check(overload, "response.p99(read)", exceeds);
        check(overload, throughput, exceeds);
        check(overload, "throughput", exceeds);
    }
}
