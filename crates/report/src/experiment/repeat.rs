//! The comparison of the views of two experiments, of which the second repeats the first.

use analyze::capacity::repeat_capacity;
use analyze::compare::{Compared, MetricChange, repeat};
use workload::question::RunMetric;

use super::capacity::CapacityView;
use super::repetition::{RepeatedCapacity, RepeatedMetric, RepetitionView};
use super::view::ExperimentView;

/// Probability with which an interval of the whole answer errs.
const ALPHA: f64 = 0.05;

impl RepetitionView {
    /// Compares a repetition with the first experiment: the declared metrics of the first one.
    /// `delta` gives the smallest change of a metric that matters.
    pub fn of(
        first: &ExperimentView,
        second: &ExperimentView,
        delta: impl Fn(&RunMetric) -> f64,
    ) -> RepetitionView {
        let declared: Vec<(&str, &MetricChange)> = first
            .declared()
            .map(|(arm, change)| (first.arms[arm.arm].name.as_str(), change))
            .collect();
        let compared = declared.iter().filter(|(_, change)| change.compared.is_ok()).count();
        let alpha = ALPHA / compared.max(1) as f64;
        let metric = |&(arm, change): &(&str, &MetricChange)| {
            let MetricChange { metric, compared, .. } = change;
            let first = compared.as_ref().ok().cloned();
            let second = second.declared_change(arm, metric).cloned();
            let scale = metric.quantity.scale();
            let repetition = first.as_ref().zip(second.as_ref()).and_then(|(first, second)| {
                repeat(first, second, scale, delta(metric), alpha).ok()
            });
            let (arm, metric) = (arm.to_owned(), metric.clone());
            RepeatedMetric { arm, metric, first, second, repetition }
        };
        let metrics = declared.iter().map(metric).collect();
        let searches = first.capacity.as_ref().zip(second.capacity.as_ref());
        let capacity = searches.and_then(|(first, second)| repeated(first, second));
        let searches = first.saturation.as_ref().zip(second.saturation.as_ref());
        let loads = searches.and_then(|(first, second)| Some([first.load()?, second.load()?]));
        RepetitionView { record: first.record.clone(), alpha, metrics, capacity, loads }
    }
}

/// Compares two searches that have ended.
fn repeated(first: &CapacityView, second: &CapacityView) -> Option<RepeatedCapacity> {
    let outcome = repeat_capacity(first.found.as_ref()?, second.found.as_ref()?);
    let [first, second] = [first, second].map(CapacityView::estimate);
    Some(RepeatedCapacity { first, second, outcome })
}

impl ExperimentView {
    /// Returns the change of a declared metric of an arm.
    fn declared_change(&self, arm: &str, metric: &RunMetric) -> Option<&Compared> {
        let mut declared = self.declared();
        let found = declared.find(|(compared, change)| {
            self.arms[compared.arm].name == arm && change.metric == *metric
        });
        found.and_then(|(_, change)| change.compared.as_ref().ok())
    }
}
