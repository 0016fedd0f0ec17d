//! The metrics of a comparison that the tables show. Two kinds of exploratory metrics are left out:
//! metrics that were not measured, and service times that equal the response times, as in a job
//! without a queue.

use analyze::compare::{ArmComparison, Comparison, MetricChange, Missing, NotCompared};
use workload::question::{Quantity, RunMetric};

use super::lines;

/// Note on a table that leaves out service times equal to the response times.
pub(super) const NOTE: &str = "Service times that equal the response times are left out: no \
                               request waited for a client";

/// Returns the changes in the tables of text, Markdown and page. They leave out an exploratory
/// metric that some runs did not measure, and an exploratory service time that equals the response
/// time.
pub(super) fn table_changes(arm: &ArmComparison) -> impl Iterator<Item = &MetricChange> {
    let missing = Err(NotCompared::Missing(Missing::NotMeasured));
    let is_measured = move |it: &&MetricChange| !it.is_exploratory || it.compared != missing;
    arm.changes.iter().filter(is_measured).filter(move |it| !is_repeated(arm, it))
}

/// Returns the changes of all arms, changes of declared metrics first.
pub(super) fn changes(comparison: Option<&Comparison>) -> Vec<(&ArmComparison, &MetricChange)> {
    let arms = comparison.into_iter().flat_map(|comparison| &comparison.arms);
    let mut changes: Vec<_> =
        arms.flat_map(|arm| table_changes(arm).map(move |change| (arm, change))).collect();
    changes.sort_by_key(|(_, change)| change.is_exploratory);
    changes
}

/// Returns true if an exploratory service time has the same displayed values and the same change as
/// the response time of its job.
pub(super) fn is_repeated(arm: &ArmComparison, change: &MetricChange) -> bool {
    let Quantity::Service(statistic) = change.metric.quantity else { return false };
    let of = change.metric.of.clone();
    let response = RunMetric { quantity: Quantity::Response(statistic), of };
    let other = arm.changes.iter().find(|it| it.metric == response && it.compared.is_ok());
    let is_compared = change.is_exploratory && change.compared.is_ok();
    let values = |it: &MetricChange| lines::row(it)[1..4].to_vec();
    is_compared && other.is_some_and(|other| values(change) == values(other))
}

#[cfg(test)]
mod tests {
    use analyze::compare::{Pair, PairOrder, SampleValues};

    use super::super::fixtures::{comparison, experiment};
    use super::super::html::experiment_html;
    use super::super::view::ExperimentView;
    use super::*;

    /// Returns a comparison with these metrics: the name of each, the factor of its values, and
    /// true if it is exploratory.
    fn arm_with(metrics: &[(&str, f64, bool)]) -> ArmComparison {
        let arm = comparison(-0.1).arms.remove(0);
        let changes = metrics.iter().map(|(metric, factor, is_exploratory)| {
            let mut compared = arm.changes[0].compared.clone().unwrap();
            let pair = |baseline: f64| Pair {
                baseline: baseline * factor,
                arm: 0.9 * baseline * factor,
                order: PairOrder::ArmFirst,
            };
            compared.values = SampleValues::Pairs([10.0, 11.0].map(pair).to_vec());
            let metric = RunMetric::parse(metric).unwrap();
            let is_exploratory = *is_exploratory;
            let compared = Ok(compared);
            MetricChange { metric, is_exploratory, compared, ..arm.changes[0].clone() }
        });
        ArmComparison { changes: changes.collect(), ..arm }
    }

    #[test]
    fn service_times_that_equal_response_times_are_repeated() {
        let arm = arm_with(&[
            ("response.p50(read)", 1.0, true),
            ("response.p99(read)", 1.0, true),
            ("response.p95(write)", 1.0, true),
            ("service.p50(read)", 1.000_01, true),
            ("service.p95(read)", 1.0, true),
            ("service.p99(read)", 0.9, true),
            ("service.p50(write)", 1.0, true),
            ("service.p95(write)", 1.0, false),
        ]);
        let repeated = arm.changes.iter().filter(|change| is_repeated(&arm, change));
        let names: Vec<String> = repeated.map(|change| change.metric.to_string()).collect();
        assert_eq!(names, ["service.p50(read)"], "others have other values, or are declared");
    }

    #[test]
    fn page_leaves_repeated_metrics_out_and_says_so() {
        let page = |factor: f64| {
            let metrics = [("response.p50(read)", 1.0, true), ("service.p50(read)", factor, true)];
            let comparison = analyze::compare::Comparison { arms: vec![arm_with(&metrics)] };
            experiment_html(&ExperimentView { comparison: Some(comparison), ..experiment() })
        };
        let (same, other) = (page(1.0), page(0.5));
        assert!(same.contains(NOTE) && !same.contains("service.p50(read)"), "{same}");
        assert!(!other.contains(NOTE) && other.contains("service.p50(read)"), "{other}");
    }
}
