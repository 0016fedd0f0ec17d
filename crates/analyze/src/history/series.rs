//! Series of metrics over records, and their changes.

use workload::question::{Direction, Scale};

use super::divisive::{LONGEST_SERIES, change_points};
use super::metric::{HistoryMetric, MetricName};
use super::run::{HistoryRun, mean};
use crate::compare::{ChangeInterval, Unpaired};

/// Error probability of the intervals of changes.
const ALPHA: f64 = 0.05;

/// Minimum change of the machine, as a fraction of the change of a metric, for the machine to be a
/// possible cause. A smaller change of the machine is excluded as the cause.
const LEAST_MACHINE_SHARE: f64 = 0.5;

/// A metric over records.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricHistory {
    /// The metric, with the name of its job or table.
    pub metric: HistoryMetric,
    /// Index and value of each record that has the metric, in chronological order; at most the
    /// newest [`LONGEST_SERIES`] records. Values of 0 are left out if the metric is compared by
    /// ratio.
    pub points: Vec<(usize, f64)>,
    /// Changes of the metric.
    pub changes: Vec<MetricChange>,
}

/// A change of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricChange {
    /// Index of the last record before the change.
    pub before: usize,
    /// Index of the first record after the change.
    pub after: usize,
    /// Mean from the previous change to this one.
    pub mean_before: f64,
    /// Mean from this change to the next one.
    pub mean_after: f64,
    /// The change: a fraction, or a difference for metrics that are compared by difference.
    pub change: f64,
    /// 95 % interval of the change, as if the place of the change were known beforehand; `None`
    /// without scatter. The place was searched for, so the interval is too narrow.
    pub interval: Option<ChangeInterval>,
    /// Probability of a divergence at least this large without a change.
    pub p_value: f64,
    /// Change of the machine between the same records; `None` if they have no canary.
    pub machine: Option<MachineShift>,
}

/// The change of the canary between the records before and after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineShift {
    /// Change of the time of a request to the null server, as a fraction.
    pub change: f64,
    /// 95 % interval of the change; `None` without scatter, or with a single record.
    pub interval: Option<ChangeInterval>,
    /// Probable cause of the change of the metric.
    pub cause: Cause,
}

/// The probable cause of a change of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The machine changed: the canary changed significantly, by at least half as much as the
    /// metric and in the direction that explains its change.
    Machine,
    /// The database or its setup changed: the canary did not change by half as much as the metric
    /// in this direction.
    Database,
    /// Unknown: the canaries scatter too much or have no interval, or the metric is compared by
    /// difference.
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

impl MetricHistory {
    /// Returns the number of values from a change on.
    pub fn values_since(&self, change: &MetricChange) -> usize {
        self.points.iter().filter(|(index, _)| *index >= change.after).count()
    }
}

/// Returns the histories of the `named` metrics that at least one record has; if `named` is empty,
/// the histories of the usual metrics. `runs` are the records in chronological order; INVALID ones
/// are left out.
pub fn history(runs: &[&HistoryRun], named: &[MetricName]) -> Vec<MetricHistory> {
    let is_judged = |metric: &HistoryMetric| match named {
        [] => metric.is_usual(),
        named => named.iter().any(|name| name.matches(metric)),
    };
    let mut metrics: Vec<HistoryMetric> = Vec::new();
    for metric in runs.iter().flat_map(|run| run.valid_metrics()) {
        if is_judged(&metric) && !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics.into_iter().map(|metric| of_metric(runs, metric)).collect()
}

fn of_metric(runs: &[&HistoryRun], metric: HistoryMetric) -> MetricHistory {
    let scale = metric.scale();
    let is_comparable = |value: f64| match scale {
        Scale::Ratio => value > 0.0,
        Scale::Difference => true,
    };
    let value = |(index, run): (usize, &&HistoryRun)| {
        run.value(&metric).filter(|value| is_comparable(*value)).map(|value| (index, value))
    };
    let mut points: Vec<(usize, f64)> = runs.iter().enumerate().filter_map(value).collect();
    points.drain(..points.len().saturating_sub(LONGEST_SERIES));
    // On this scale, a change by a factor has the same size at every level.
    let to_scale = |value: f64| match scale {
        Scale::Ratio => value.ln(),
        Scale::Difference => value,
    };
    let values: Vec<f64> = points.iter().map(|(_, value)| to_scale(*value)).collect();
    let found = change_points(&values);
    let ends = found.iter().skip(1).map(|point| point.at).chain([points.len()]);
    let starts = std::iter::once(0).chain(found.iter().map(|point| point.at));
    let changes = found.iter().zip(starts).zip(ends).filter_map(|((point, start), end)| {
        let sides = [&points[start..point.at], &points[point.at..end]];
        change(runs, sides, &metric, point.p_value)
    });
    let changes = changes.collect();
    MetricHistory { metric, points, changes }
}

/// Returns the change between the records of two neighbouring segments.
fn change(
    runs: &[&HistoryRun],
    sides: [&[(usize, f64)]; 2],
    metric: &HistoryMetric,
    p_value: f64,
) -> Option<MetricChange> {
    let values = sides.map(|side| side.iter().map(|(_, value)| *value).collect::<Vec<f64>>());
    let estimate = Unpaired::of(&values[0], &values[1], metric.scale()).ok()?;
    let change = estimate.change();
    Some(MetricChange {
        before: sides[0].last()?.0,
        after: sides[1].first()?.0,
        mean_before: mean(&values[0])?,
        mean_after: mean(&values[1])?,
        change,
        interval: estimate.interval(ALPHA),
        p_value,
        machine: machine(runs, sides, metric, change),
    })
}

fn machine(
    runs: &[&HistoryRun],
    sides: [&[(usize, f64)]; 2],
    metric: &HistoryMetric,
    change_of_metric: f64,
) -> Option<MachineShift> {
    let canaries = |side: &[(usize, f64)]| {
        side.iter().filter_map(|(index, _)| runs[*index].canary_ns()).collect::<Vec<f64>>()
    };
    let [before, after] = sides.map(canaries);
    let estimate = Unpaired::of(&before, &after, Scale::Ratio).ok()?;
    let (change, interval) = (estimate.change(), estimate.interval(ALPHA));
    let cause = match (metric.scale(), interval) {
        (Scale::Ratio, Some(interval)) => {
            cause(metric.better(), change_of_metric, interval, change)
        }
        // The machine's change is a ratio, so only a metric's change that is a ratio is compared
        // with it.
        (Scale::Ratio, None) | (Scale::Difference, _) => Cause::Unclear,
    };
    Some(MachineShift { change, interval, cause })
}

/// Returns the cause of a metric's change, from the change of the canary and its interval.
fn cause(better: Direction, change_of_metric: f64, interval: ChangeInterval, canary: f64) -> Cause {
    let is_worse = match better {
        Direction::Higher => change_of_metric < 0.0,
        Direction::Lower => change_of_metric > 0.0,
    };
    // A larger time of the canary explains a worse metric, a smaller time a better one.
    let (explaining, most) = match is_worse {
        true => (canary, interval.high),
        false => (-canary, -interval.low),
    };
    let half = change_of_metric.abs() * LEAST_MACHINE_SHARE;
    match interval.excludes_zero() && explaining >= half {
        true => Cause::Machine,
        false if most < half => Cause::Database,
        false => Cause::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use base::{Seed, Stream};
    use record::environment::generator::CANARY;
    use workload::question::{Quantity, RunMetric, VariedLoad};

    use super::*;
    use crate::check::{CheckKind, Status};
    use crate::compare::{RunFigures, RunVerdict};
    use crate::history::run::{ExclusionReason, SearchFigures};

    fn figures(throughput: f64, canary: Option<f64>) -> RunFigures {
        RunFigures {
            metrics: vec![(RunMetric::of(Quantity::Throughput, "read"), throughput)],
            facts: canary.map(|time| (CANARY.to_owned(), time.to_string())).into_iter().collect(),
            ..RunFigures::bare(&["read"])
        }
    }

    /// Returns twenty records; throughput and canary change by these fractions in the last ten.
    fn records(change: f64, of_canary: Option<f64>) -> Vec<HistoryRun> {
        let mut draw = Stream::new(Seed(1), "history", "test").draw(0);
        let record = |index: u32| {
            let is_after = f64::from(u8::from(index >= 10));
            let mut noise = || 1.0 + 0.01 * draw.normal();
            let throughput = 1_000.0 * noise() * (1.0 + change * is_after);
            let canary = of_canary.map(|by| 300.0 * noise() * (1.0 + by * is_after));
            HistoryRun::Runs(vec![figures(throughput, canary)], None)
        };
        (0..20).map(record).collect()
    }

    fn histories(records: &[HistoryRun], named: &[&str]) -> Vec<MetricHistory> {
        let named: Vec<MetricName> =
            named.iter().map(|name| MetricName::parse(name).unwrap()).collect();
        history(&records.iter().collect::<Vec<_>>(), &named)
    }

    fn changes(records: &[HistoryRun]) -> Vec<MetricChange> {
        let [only] = &histories(records, &[])[..] else { panic!("one metric") };
        only.changes.clone()
    }

    fn runs(record: &mut HistoryRun) -> &mut Vec<RunFigures> {
        let HistoryRun::Runs(runs, _) = record else { panic!("{record:?}") };
        runs
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
        let faster = changes(&records(0.1, Some(-0.11)));
        assert_eq!(faster[0].machine.unwrap().cause, Cause::Machine);
        assert_eq!(cause(0.0), Cause::Database);
        assert_eq!(cause(0.11), Cause::Machine);
        assert_eq!(cause(0.038), Cause::Unclear);
        assert_eq!(cause(-0.11), Cause::Database, "a faster machine does not slow a server down");
    }

    #[test]
    fn invalid_records_are_left_out() {
        let mut all = records(-0.1, None);
        let invalid = RunVerdict::new([(CheckKind::Errors, Status::Invalid)]);
        runs(&mut all[9])[0].verdict = invalid;
        assert_eq!(all[9].left_out(), Some(ExclusionReason::Invalid(vec![CheckKind::Errors])));
        assert_eq!((all[9].status(), all[8].left_out()), (Status::Invalid, None));
        let [found] = changes(&all)[..] else { panic!("one change") };
        assert_eq!((found.before, found.after), (8, 10));
    }

    #[test]
    fn usual_metrics_are_judged_if_none_is_named() {
        let mut all = records(0.0, None);
        for figures in all.iter_mut().flat_map(runs) {
            let more = ["service.p50", "response.p99", "cpu.generator", "cpu.generator.user"];
            let metric = |name| (RunMetric::parse(name).unwrap(), 1.0);
            figures.metrics.extend(more.map(metric));
        }
        let names: Vec<String> =
            histories(&all, &[]).iter().map(|series| series.metric.to_string()).collect();
        assert_eq!(names, ["throughput(read)", "response.p99", "cpu.generator"]);
        assert_eq!(histories(&all, &["service.p50"]).len(), 1);
    }

    #[test]
    fn only_named_metrics_are_judged() {
        let all = records(0.0, None);
        let count = |name: &str| histories(&all, &[name]).len();
        assert_eq!(
            ["throughput", "throughput(read)", "throughput(x)", "size"].map(count),
            [1, 1, 0, 0]
        );
    }

    #[test]
    fn step_of_the_capacity_is_found_without_the_invalid_searches() {
        let search = |index: u32| {
            let level = if index < 10 { 800.0 } else { 700.0 };
            let capacity = level + f64::from(index % 3);
            let is_invalid = index == 9;
            HistoryRun::Search(SearchFigures {
                load: VariedLoad::Rate { job: "read".to_owned() },
                sustained: Some(if is_invalid { 100.0 } else { capacity }),
                estimate: index.is_multiple_of(2).then_some(capacity * 1.04),
                status: if is_invalid { Status::Invalid } else { Status::Pass },
                irregular: Vec::new(),
                canaries_ns: Vec::new(),
            })
        };
        let all: Vec<HistoryRun> = (0..20).map(search).collect();
        let [sustained, estimate] = &histories(&all, &[])[..] else { panic!("two results") };
        assert_eq!((sustained.points.len(), estimate.points.len()), (19, 10));
        let [change] = sustained.changes[..] else { panic!("one change: {sustained:?}") };
        assert_eq!((change.before, change.after), (8, 10));
        assert!((change.change + 0.125).abs() < 0.01, "{change:?}");
        let named = histories(&all, &["sustained(read)"]);
        assert_eq!(named.len(), 1);
    }
}
