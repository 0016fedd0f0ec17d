//! Declared quantiles that equal the longest time of every run, as happens with too few requests.

use analyze::compare::{ArmComparison, MetricChange, SampleValues};
use base::units::grouped;
use workload::question::{Quantity, RunMetric, TimeStatistic};

/// Returns a sentence for each declared quantile that equals the longest time in all runs of the
/// baseline or of an arm.
pub(super) fn sentences<'c>(
    declared: impl Iterator<Item = (&'c ArmComparison, &'c MetricChange)>,
) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (arm, change) in declared {
        let Some((longest, requests)) = longest_of(&change.metric) else { continue };
        let sentence = format!(
            "{} equals {longest} in all runs of an arm: a run of fewer than {} requests has no \
             other; make the runs longer, or judge a lower quantile",
            change.metric,
            grouped(requests)
        );
        let is_longest = arm.changes.iter().any(|it| it.metric == longest && is_same(it, change));
        if is_longest && !all.contains(&sentence) {
            all.push(sentence);
        }
    }
    all
}

/// Returns the metric of the longest time that corresponds to a quantile, and the number of
/// requests of which one is expected beyond the quantile: 100 for p99. Returns `None` for a metric
/// that is not a quantile of response or service times, and for quantiles below p90.
fn longest_of(metric: &RunMetric) -> Option<(RunMetric, u64)> {
    let (statistic, quantity) = match metric.quantity {
        Quantity::Response(statistic) => (statistic, Quantity::Response(TimeStatistic::Max)),
        Quantity::Service(statistic) => (statistic, Quantity::Service(TimeStatistic::Max)),
        // The longest lag is not compared unless it is declared.
        Quantity::SendLag(_)
        | Quantity::Throughput
        | Quantity::Rows
        | Quantity::Failed
        | Quantity::Cpu(..)
        | Quantity::Load
        | Quantity::Size
        | Quantity::LogicalSize => return None,
    };
    let requests = match statistic {
        TimeStatistic::P90 => 10,
        TimeStatistic::P95 => 20,
        TimeStatistic::P99 => 100,
        TimeStatistic::P999 => 1_000,
        TimeStatistic::P50 | TimeStatistic::Mean | TimeStatistic::Max => return None,
    };
    Some((RunMetric { quantity, of: metric.of.clone() }, requests))
}

/// Returns true if two metrics have the same values in all runs of the baseline, or in all runs of
/// the arm.
fn is_same(one: &MetricChange, other: &MetricChange) -> bool {
    let [Ok(one), Ok(other)] = [&one.compared, &other.compared] else { return false };
    let [one, other] = [&one.values, &other.values].map(SampleValues::sides);
    one.iter().zip(&other).any(|(values, same)| values == same)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{comparison, experiment, text_of};
    use super::super::view::ExperimentView;
    use super::*;

    #[test]
    fn declared_quantile_that_is_the_longest_time_is_named() {
        let view = |metric: &str, longest: f64| {
            let mut comparison = comparison(-0.1);
            let changes = &mut comparison.arms[0].changes;
            changes[0].metric = RunMetric::parse(metric).unwrap();
            let mut other = changes[0].clone();
            other.metric = RunMetric::parse("response.max(read)").unwrap();
            other.is_exploratory = true;
            let SampleValues::Pairs(pairs) = &mut other.compared.as_mut().unwrap().values else {
                panic!("pairs");
            };
            for pair in pairs {
                (pair.baseline, pair.arm) = (pair.baseline * 2.0, pair.arm * longest);
            }
            changes.push(other);
            ExperimentView { comparison: Some(comparison), ..experiment() }
        };
        let words = "\nwarning    response.p99(read) equals response.max(read) in all runs of an \
                     arm: a run of fewer than 100 requests has no other; ";
        let text = text_of(&view("response.p99(read)", 1.0));
        assert!(text.contains(words), "{text}");
        for (metric, longest) in [
            ("response.p99(read)", 1.5),
            ("response.p50(read)", 1.0),
            ("service.p99(read)", 1.0),
            ("response.p99(write)", 1.0),
        ] {
            let text = text_of(&view(metric, longest));
            assert!(!text.contains("warning"), "{text}");
        }
    }
}
