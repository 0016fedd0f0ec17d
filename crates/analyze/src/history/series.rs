//! Series of metrics over records, and their changes.

use workload::question::{CpuMode, Quantity, RunMetric, Scale, TimeStatistic};

use super::divisive::{LONGEST_SERIES, change_points};
use crate::check::{CheckKind, Status};
use crate::compare::{ChangeInterval, RunFigures, Unpaired};

/// Error probability of the intervals of changes.
const ALPHA: f64 = 0.05;

/// Minimum change of the machine, as a fraction of the change of a metric, to be its cause; a
/// smaller one is excluded as the cause.
const HALF: f64 = 0.5;

/// A record of a history.
#[derive(Clone, Copy, Debug)]
pub struct HistoryRun<'a> {
    /// Figures of its runs: of a single run, or of one arm of an experiment.
    pub figures: &'a [RunFigures],
}

/// Reason why a record is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It is INVALID, by these checks.
    Invalid(Vec<CheckKind>),
}

impl HistoryRun<'_> {
    /// Returns the reason why the record is left out: all of its runs are INVALID.
    pub fn left_out(&self) -> Option<LeftOut> {
        if self.valid().next().is_some() {
            return None;
        }
        let mut checks: Vec<CheckKind> = Vec::new();
        for check in self.figures.iter().flat_map(|run| run.verdict.with(Status::Invalid)) {
            if !checks.contains(&check) {
                checks.push(check);
            }
        }
        Some(LeftOut::Invalid(checks))
    }

    /// Returns the mean of a metric over the valid runs; `None` if one does not have it.
    fn value(&self, metric: &RunMetric) -> Option<f64> {
        let values = self.valid().map(|run| run.get(metric).ok()).collect::<Option<Vec<f64>>>()?;
        mean(&values)
    }

    /// Returns the mean time of a request to the null server before its runs, in nanoseconds;
    /// `None` if a run has none.
    pub fn canary_ns(&self) -> Option<f64> {
        mean(&self.valid().map(RunFigures::canary_ns).collect::<Option<Vec<f64>>>()?)
    }

    fn valid(&self) -> impl Iterator<Item = &RunFigures> {
        self.figures.iter().filter(|run| run.verdict.status() != Status::Invalid)
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A metric over records.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricHistory {
    /// The metric, with the name of its job or table.
    pub metric: RunMetric,
    /// Indexes of the records that have it, and its values, in the order of time: the newest
    /// [`LONGEST_SERIES`].
    pub points: Vec<(usize, f64)>,
    /// Its changes.
    pub changes: Vec<MetricChange>,
}

/// A change of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricChange {
    /// Index of the last record before it.
    pub before: usize,
    /// Index of the first record after it.
    pub after: usize,
    /// Mean from the previous change to this one.
    pub mean_before: f64,
    /// Mean from this change to the next one.
    pub mean_after: f64,
    /// The change: a fraction, or a difference for metrics that can be 0.
    pub change: f64,
    /// Its 95 % interval for a given place of the change; `None` without scatter. The place was
    /// searched for, so the interval is too narrow.
    pub interval: Option<ChangeInterval>,
    /// Probability of a divergence as large without a change.
    pub p_value: f64,
    /// Change of the machine between the same records; `None` if they have no canary.
    pub machine: Option<MachineShift>,
}

/// The change of the canary between the records before and after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineShift {
    /// Change of the time of a request to the null server, as a fraction.
    pub change: f64,
    /// Its interval at 95 %; `None` without scatter, or with a single record.
    pub interval: Option<ChangeInterval>,
    /// Its part in the change of the metric.
    pub cause: Cause,
}

/// The probable cause of a change of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The machine changed: the canary changed significantly, by at least half as much.
    Machine,
    /// The database or its setup changed: the canary did not change by half as much.
    Database,
    /// The canaries scatter too much to say.
    Unclear,
}

impl Cause {
    /// Returns the name of this cause in documents.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Machine => "machine",
            Cause::Database => "database",
            Cause::Unclear => "unclear",
        }
    }
}

/// Returns the histories of the `named` metrics that at least one record has; if `named` is empty,
/// the histories of the usual metrics. `runs` are the records in the order of time; INVALID ones
/// are left out.
pub fn history(runs: &[HistoryRun<'_>], named: &[RunMetric]) -> Vec<MetricHistory> {
    let mut metrics: Vec<RunMetric> = Vec::new();
    for (metric, _) in runs.iter().flat_map(|run| run.valid()).flat_map(|run| &run.metrics) {
        if is_named(metric, named) && !metrics.contains(metric) {
            metrics.push(metric.clone());
        }
    }
    metrics.into_iter().map(|metric| of_metric(runs, metric)).collect()
}

/// Returns true for a metric that is named, also without its job.
fn is_named(metric: &RunMetric, named: &[RunMetric]) -> bool {
    let is_it = |name: &RunMetric| {
        name.quantity == metric.quantity && (name.of.is_none() || name.of == metric.of)
    };
    match named {
        [] => is_usual(metric.quantity),
        named => named.iter().any(is_it),
    }
}

/// Returns true for a quantity that is judged without being named. Each further series has false
/// alarms of its own, and most other quantities change with one of these.
fn is_usual(quantity: Quantity) -> bool {
    match quantity {
        Quantity::Response(statistic) => {
            [TimeStatistic::P50, TimeStatistic::P95, TimeStatistic::P99].contains(&statistic)
        }
        Quantity::Cpu(_, mode) => mode == CpuMode::Total,
        Quantity::Throughput | Quantity::Failed | Quantity::Load | Quantity::Size => true,
        Quantity::Rows | Quantity::Service(_) | Quantity::LogicalSize => false,
    }
}

fn of_metric(runs: &[HistoryRun<'_>], metric: RunMetric) -> MetricHistory {
    let scale = metric.quantity.scale();
    let is_comparable = |value: f64| match scale {
        Scale::Ratio => value > 0.0,
        Scale::Difference => true,
    };
    let value = |(index, run): (usize, &HistoryRun<'_>)| {
        run.value(&metric).filter(|value| is_comparable(*value)).map(|value| (index, value))
    };
    let mut points: Vec<(usize, f64)> = runs.iter().enumerate().filter_map(value).collect();
    points.drain(..points.len().saturating_sub(LONGEST_SERIES));
    // A change is a factor: on this scale it is as large whatever the level.
    let inner = |value: f64| match scale {
        Scale::Ratio => value.ln(),
        Scale::Difference => value,
    };
    let values: Vec<f64> = points.iter().map(|(_, value)| inner(*value)).collect();
    let found = change_points(&values);
    let ends = found.iter().skip(1).map(|point| point.at).chain([points.len()]);
    let starts = std::iter::once(0).chain(found.iter().map(|point| point.at));
    let changes = found.iter().zip(starts).zip(ends).filter_map(|((point, start), end)| {
        let sides = [&points[start..point.at], &points[point.at..end]];
        change(runs, sides, scale, point.p_value)
    });
    let changes = changes.collect();
    MetricHistory { metric, points, changes }
}

/// Returns the change between the records of two neighbouring segments.
fn change(
    runs: &[HistoryRun<'_>],
    sides: [&[(usize, f64)]; 2],
    scale: Scale,
    p_value: f64,
) -> Option<MetricChange> {
    let values = sides.map(|side| side.iter().map(|(_, value)| *value).collect::<Vec<f64>>());
    let estimate = Unpaired::of(&values[0], &values[1], scale).ok()?;
    let change = estimate.change();
    Some(MetricChange {
        before: sides[0].last()?.0,
        after: sides[1].first()?.0,
        mean_before: mean(&values[0])?,
        mean_after: mean(&values[1])?,
        change,
        interval: estimate.interval(ALPHA),
        p_value,
        machine: machine(runs, sides, scale, change),
    })
}

fn machine(
    runs: &[HistoryRun<'_>],
    sides: [&[(usize, f64)]; 2],
    scale: Scale,
    change_of_metric: f64,
) -> Option<MachineShift> {
    let canaries = |side: &[(usize, f64)]| {
        side.iter().filter_map(|(index, _)| runs[*index].canary_ns()).collect::<Vec<f64>>()
    };
    let [before, after] = sides.map(canaries);
    let estimate = Unpaired::of(&before, &after, Scale::Ratio).ok()?;
    let (change, interval) = (estimate.change(), estimate.interval(ALPHA));
    // Only a ratio can be compared with the ratio of two speeds.
    let half = match scale {
        Scale::Ratio => change_of_metric.abs() * HALF,
        Scale::Difference => f64::INFINITY,
    };
    let cause = match (scale, interval) {
        (Scale::Ratio, Some(it)) if it.excludes_zero() && change.abs() >= half => Cause::Machine,
        (Scale::Ratio, Some(it)) if it.low > -half && it.high < half => Cause::Database,
        (Scale::Ratio | Scale::Difference, _) => Cause::Unclear,
    };
    Some(MachineShift { change, interval, cause })
}

#[cfg(test)]
mod tests {
    use base::{Seed, Stream};
    use record::environment::generator::CANARY;

    use super::*;
    use crate::compare::RunVerdict;

    fn figures(throughput: f64, canary: Option<f64>) -> RunFigures {
        RunFigures {
            metrics: vec![(RunMetric::of(Quantity::Throughput, "read"), throughput)],
            facts: canary.map(|time| (CANARY.to_owned(), time.to_string())).into_iter().collect(),
            ..RunFigures::bare(&["read"])
        }
    }

    /// Twenty records, the last ten of which have these changes of throughput and canary.
    fn records(change: f64, of_canary: Option<f64>) -> Vec<Vec<RunFigures>> {
        let mut draw = Stream::new(Seed(1), "history", "test").draw(0);
        let record = |index: u32| {
            let is_after = f64::from(u8::from(index >= 10));
            let mut noise = || 1.0 + 0.01 * draw.normal();
            let throughput = 1_000.0 * noise() * (1.0 + change * is_after);
            let canary = of_canary.map(|by| 300.0 * noise() * (1.0 + by * is_after));
            vec![figures(throughput, canary)]
        };
        (0..20).map(record).collect()
    }

    fn changes(records: &[Vec<RunFigures>]) -> Vec<MetricChange> {
        let runs: Vec<HistoryRun<'_>> =
            records.iter().map(|figures| HistoryRun { figures }).collect();
        let [only] = &history(&runs, &[])[..] else { panic!("one metric") };
        only.changes.clone()
    }

    #[test]
    fn step_is_found_with_its_size_and_place() {
        let [found] = changes(&records(-0.1, None))[..] else { panic!("one change") };
        assert_eq!((found.before, found.after, found.machine), (9, 10, None));
        assert!((found.change + 0.1).abs() < 0.02, "{found:?}");
        let interval = found.interval.unwrap();
        assert!(interval.low < found.change && found.change < interval.high, "{found:?}");
        assert!((found.mean_after / found.mean_before - 0.9).abs() < 0.02, "{found:?}");
        assert!(found.p_value <= 0.01, "{found:?}");
    }

    #[test]
    fn canary_distinguishes_the_machine_from_the_database() {
        let cause = |of_canary| {
            let found = changes(&records(-0.1, Some(of_canary)));
            found[0].machine.unwrap().cause
        };
        assert_eq!(cause(0.0), Cause::Database);
        assert_eq!(cause(0.11), Cause::Machine);
        assert_eq!(cause(0.038), Cause::Unclear);
    }

    #[test]
    fn invalid_records_are_left_out() {
        let mut all = records(-0.1, None);
        let invalid = RunVerdict::new([(CheckKind::Errors, Status::Invalid)]);
        all[9][0].verdict = invalid;
        let run = HistoryRun { figures: &all[9] };
        assert_eq!(run.left_out(), Some(LeftOut::Invalid(vec![CheckKind::Errors])));
        assert_eq!(HistoryRun { figures: &all[8] }.left_out(), None);
        let [found] = changes(&all)[..] else { panic!("one change") };
        assert_eq!((found.before, found.after), (8, 10));
    }

    #[test]
    fn usual_metrics_are_judged_if_none_is_named() {
        let mut all = records(0.0, None);
        for figures in all.iter_mut().flatten() {
            let more = ["service.p50", "response.p99", "cpu.generator", "cpu.generator.user"];
            let metric = |name| (RunMetric::parse(name).unwrap(), 1.0);
            figures.metrics.extend(more.map(metric));
        }
        let runs: Vec<HistoryRun<'_>> = all.iter().map(|figures| HistoryRun { figures }).collect();
        let names: Vec<String> =
            history(&runs, &[]).iter().map(|series| series.metric.to_string()).collect();
        assert_eq!(names, ["throughput(read)", "response.p99", "cpu.generator"]);
        let named = [RunMetric::parse("service.p50").unwrap()];
        assert_eq!(history(&runs, &named).len(), 1);
    }

    #[test]
    fn only_named_metrics_are_judged() {
        let all = records(0.0, None);
        let runs: Vec<HistoryRun<'_>> = all.iter().map(|figures| HistoryRun { figures }).collect();
        let count = |name: &str| history(&runs, &[RunMetric::parse(name).unwrap()]).len();
        assert_eq!(
            ["throughput", "throughput(read)", "throughput(x)", "size"].map(count),
            [1, 1, 0, 0]
        );
    }
}
