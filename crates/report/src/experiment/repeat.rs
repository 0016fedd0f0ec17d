//! Comparison of an experiment with the experiment that repeats it.

use analyze::capacity::repeat_capacity;
use analyze::compare::{Compared, MetricChange, Repetition, repeat};
use analyze::curve::{ArmCurve, OtherPoint, Ranking, repeat_best};
use workload::question::RunMetric;

use super::capacity::CapacityView;
use super::repeated_capacity::RepeatedCapacity;
use super::repetition::{RepeatedBest, RepeatedMetric, RepetitionView};
use super::value_list::ListLength;
use super::view::ExperimentView;

/// Maximum probability that at least one interval of the whole answer misses the true value.
const ALPHA: f64 = 0.05;

impl RepetitionView {
    /// Compares an experiment with its repetition, by the metrics that the first one declares.
    /// `delta` returns the smallest change of a metric that matters.
    pub fn of(
        first: &ExperimentView,
        second: &ExperimentView,
        delta: impl Fn(&RunMetric) -> f64,
    ) -> RepetitionView {
        let declared: Vec<(&str, &MetricChange)> = first
            .declared_changes()
            .map(|(arm, change)| (first.arms[arm.arm.index()].name.as_str(), change))
            .collect();
        let compared = declared.iter().filter(|(_, change)| change.compared.is_ok()).count();
        let alpha = ALPHA / compared.max(1) as f64;
        let searches = first.saturation.as_ref().zip(second.saturation.as_ref());
        let loads = searches.and_then(|(first, second)| first.compare_loads(second));
        let limited = |found: Repetition| match &loads {
            Some(loads) => Repetition { outcome: loads.limit_outcome(found.outcome), ..found },
            None => found,
        };
        let metric = |&(arm, change): &(&str, &MetricChange)| {
            let MetricChange { metric, compared, .. } = change;
            let first = compared.as_ref().ok().cloned();
            let second = second.declared_change(arm, metric).cloned();
            let scale = metric.quantity.scale();
            let repetition = first.as_ref().zip(second.as_ref()).and_then(|(first, second)| {
                repeat(first, second, scale, delta(metric), alpha).ok().map(limited)
            });
            let (arm, metric) = (arm.to_owned(), metric.clone());
            RepeatedMetric { arm, metric, first, second, repetition }
        };
        let metrics = declared.iter().map(metric).collect();
        let searches = first.capacity.as_ref().zip(second.capacity.as_ref());
        let capacity = searches.and_then(|(first, second)| compare_capacities(first, second));
        let best = best_points(first, second);
        RepetitionView {
            record: first.record.clone(),
            alpha,
            metrics,
            best,
            capacity,
            loads,
            work: None,
            has_same_runs: false,
        }
    }
}

/// Compares the best points of the arms of two sweeps. Returns an empty list if one of the
/// experiments has no sweep, or no rule for the best point.
fn best_points(first: &ExperimentView, second: &ExperimentView) -> Vec<RepeatedBest> {
    let Some((one, other)) = first.sweep.as_ref().zip(second.sweep.as_ref()) else {
        return Vec::new();
    };
    let arms = one.curves.iter().zip(&other.curves).zip(&first.arms);
    let compared = arms.filter_map(|((before, now), arm)| {
        let outcome = repeat_best(before.best.as_ref()?, now.best.as_ref()?);
        let is_single = one.curves.len() == 1;
        let arm = if is_single { String::new() } else { arm.name.clone() };
        let [first, second] = [before, now].map(|curve| in_words(curve, ListLength::Full));
        let short = [before, now].map(|curve| in_words(curve, ListLength::Short));
        Some(RepeatedBest { arm, first, second, short, outcome })
    });
    compared.collect()
}

/// Returns the values of the best point and of the points that may be as good: `16 (or 32;
/// undecided 1, 2)`.
fn in_words(curve: &ArmCurve, length: ListLength) -> String {
    let value = |point: usize| curve.points[point].value.as_str();
    let Some((found, best)) = curve.best.as_ref().and_then(|found| Some((found, found.best?)))
    else {
        return "none".to_owned();
    };
    let others = found.others.iter().filter(|other| other.ranking != Ranking::Worse);
    let (undecided, ties): (Vec<&OtherPoint>, Vec<&OtherPoint>) =
        others.partition(|other| matches!(other.ranking, Ranking::Undecided { .. }));
    let named = |word: &str, points: &[&OtherPoint]| {
        let values = points.iter().map(|other| (other.point, value(other.point).to_owned()));
        let values: Vec<(usize, String)> = values.collect();
        (!values.is_empty()).then(|| format!("{word} {}", length.join(Some(best), values)))
    };
    let others: Vec<String> =
        [named("or", &ties), named("undecided", &undecided)].into_iter().flatten().collect();
    match others.is_empty() {
        true => value(best).to_owned(),
        false => format!("{} ({})", value(best), others.join("; ")),
    }
}

/// Compares the results of two searches; `None` if one of them has not ended.
fn compare_capacities(first: &CapacityView, second: &CapacityView) -> Option<RepeatedCapacity> {
    let load = &first.order.vary;
    let repetition = repeat_capacity(load, first.found.as_ref()?, second.found.as_ref()?);
    Some(RepeatedCapacity::new([first, second], repetition))
}

impl ExperimentView {
    /// Returns the change of a declared metric of an arm; `None` if it was not declared or not
    /// compared.
    fn declared_change(&self, arm: &str, metric: &RunMetric) -> Option<&Compared> {
        let mut declared = self.declared_changes();
        let found = declared.find(|(compared, change)| {
            self.arms[compared.arm.index()].name == arm && change.metric == *metric
        });
        found.and_then(|(_, change)| change.compared.as_ref().ok())
    }
}

#[cfg(test)]
mod tests {
    use analyze::compare::RepetitionOutcome;
    use analyze::saturate::{NextSaturationStep, Saturation, SaturationKind};
    use workload::question::Saturated;

    use super::super::fixtures::{self, comparison, experiment, search};
    use super::super::saturation::SaturationView;
    use super::*;

    fn at(change: f64, value: f64, kind: SaturationKind) -> ExperimentView {
        let search = search(Saturated::Gain { least: 0.02 }, kind, 0.01);
        let next = NextSaturationStep::Found(Saturation { value, kind, measured: 0.01 });
        ExperimentView {
            comparison: Some(comparison(change)),
            saturation: Some(SaturationView { next, ..search }),
            ..experiment()
        }
    }

    #[track_caller]
    fn check(second: &ExperimentView, outcome: RepetitionOutcome, line: &str) {
        let first = at(-0.1, 16.0, SaturationKind::Reached);
        let view = RepetitionView::of(&first, second, |_| 0.01);
        let of_metric = view.metrics[0].outcome();
        assert_eq!((view.outcome(), of_metric), (outcome, outcome), "{view:?}");
        assert_eq!(view.lines().last().map(String::as_str), Some(line));
    }

    #[test]
    fn values_beside_the_best_one_are_ties_or_undecided() {
        let points = [("1", 500.0, 1.0), ("2", 900.0, 2.0), ("4", 880.0, 4.0)];
        let mut curve = fixtures::sweep(&points, 1).curves.remove(0);
        let mut check = |standings: [Ranking; 2], expected: &str| {
            let others = &mut curve.best.as_mut().unwrap().others;
            others.iter_mut().zip(standings).for_each(|(other, it)| other.ranking = it);
            assert_eq!(in_words(&curve, ListLength::Full), expected);
        };
        let undecided = Ranking::Undecided { more_repeats: Some(3) };
        check([Ranking::Worse, Ranking::Worse], "2");
        check([Ranking::Worse, Ranking::Tie], "2 (or 4)");
        check([undecided, Ranking::Tie], "2 (or 4; undecided 1)");
        check([undecided, undecided], "2 (undecided 1, 4)");
        let long = &fixtures::long_sweep(90, Ranking::Tie).curves[0];
        let words = "46 (or 42, 43, 44, 45, 47, 48, 49, 50 and 81 more)";
        assert_eq!(in_words(long, ListLength::Short), words);
    }

    #[test]
    fn changes_of_different_workloads_do_not_contradict_each_other() {
        let compared =
            |change| ExperimentView { comparison: Some(comparison(change)), ..experiment() };
        let first = compared(-0.1);
        let view = |change| RepetitionView::of(&first, &compared(change), |_| 0.01);
        let line = |time: &str| Some(format!("think of [read] = {time}"));
        let lines = [line("1ms"), line("5ms")];
        assert_eq!(view(0.1).outcome(), RepetitionOutcome::Contradicts);
        let other = view(0.1).with_different_workload(lines.clone());
        assert_eq!(other.outcome(), RepetitionOutcome::Undecided);
        let words = "workload: first `think of [read] = 1ms`, now `think of [read] = 5ms`: changes \
                     of another workload";
        assert_eq!(other.lines()[0], words);
        let added = view(0.1).with_different_workload([None, line("5ms")]);
        let words =
            "workload: first none, now `think of [read] = 5ms`: changes of another workload";
        assert_eq!(added.lines()[0], words);
        assert_eq!(view(-0.1).with_different_workload(lines).outcome(), RepetitionOutcome::Holds);
    }

    #[test]
    fn same_runs_confirm_and_contradict_nothing() {
        let compared =
            |change| ExperimentView { comparison: Some(comparison(change)), ..experiment() };
        let view = |change| RepetitionView::of(&compared(-0.1), &compared(change), |_| 0.01);
        assert_eq!(view(-0.1).outcome(), RepetitionOutcome::Holds);
        for change in [-0.1, 0.1] {
            let same = view(change).with_same_runs();
            assert_eq!(same.outcome(), RepetitionOutcome::Undecided);
            let words = "runs: the same again, which confirms nothing: ";
            assert!(same.lines()[0].starts_with(words), "{:?}", same.lines());
        }
        assert!(!view(-0.1).lines()[0].starts_with("runs: "));
    }

    #[test]
    fn changes_under_different_loads_do_not_contradict_each_other() {
        let first = "load: first concurrency(read) = 16, now concurrency(read)";
        let same = format!("{first} = 16");
        check(&at(0.1, 16.0, SaturationKind::Reached), RepetitionOutcome::Contradicts, &same);
        check(&at(-0.1, 16.0, SaturationKind::AtFirst), RepetitionOutcome::Holds, &same);
        let other = format!("{first} = 8: changes at another load");
        check(&at(0.1, 8.0, SaturationKind::AtFirst), RepetitionOutcome::Undecided, &other);
        check(&at(-0.1, 8.0, SaturationKind::AtFirst), RepetitionOutcome::Holds, &other);
        let unsaturated = format!("{first} at least 16: saturated in only one of them");
        let second = at(0.1, 16.0, SaturationKind::NotReached);
        check(&second, RepetitionOutcome::Undecided, &unsaturated);
    }
}
