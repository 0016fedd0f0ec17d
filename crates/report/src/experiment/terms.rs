//! The terms `tie` and `undecided` in an answer, for its hint to the command `assay explain`, which
//! explains them.

use analyze::capacity::TrialOutcome;
use analyze::compare::{BetOutcome, Conclusion, MetricChange};
use analyze::curve::Ranking;

use super::bets;
use super::sweep::SweepView;
use super::view::ExperimentView;

/// Returns those of the terms `tie` and `undecided` that the answer contains.
pub(super) fn terms(view: &ExperimentView) -> impl Iterator<Item = &'static str> {
    let curves = view.sweep.iter().flat_map(|sweep| &sweep.curves);
    let others = curves.filter_map(|curve| curve.best.as_ref()).flat_map(|best| &best.others);
    let standings: Vec<Ranking> = others.map(|other| other.ranking).collect();
    let is_undecided = standings.iter().any(|it| matches!(it, Ranking::Undecided { .. }))
        || bets::judged_bets(view)
            .any(|bet| matches!(bet.outcome, Some(BetOutcome::Undecided { .. })))
        || view.declared_changes().any(|(_, change)| self::is_undecided(change))
        || view.sweep.as_ref().is_some_and(has_undecided_change)
        || has_undecided_trial(view);
    let tie = standings.contains(&Ranking::Tie).then_some("tie");
    tie.into_iter().chain(is_undecided.then_some("undecided"))
}

/// Returns true if a change is declared and undecided.
pub(super) fn is_undecided(change: &MetricChange) -> bool {
    let conclusion = change.compared.as_ref().map(|compared| compared.conclusion);
    !change.is_exploratory && matches!(conclusion, Ok(Conclusion::Undecided { .. }))
}

/// Returns true if a declared change at a point of a sweep is undecided.
pub(super) fn has_undecided_change(sweep: &SweepView) -> bool {
    let arms = sweep.comparisons.iter().flat_map(|comparison| &comparison.arms);
    arms.into_iter().any(|arm| arm.changes.iter().any(is_undecided))
}

fn has_undecided_trial(view: &ExperimentView) -> bool {
    let trials = view.capacity.iter().flat_map(|search| &search.trials);
    trials.into_iter().any(|it| matches!(it.outcome, TrialOutcome::Undecided { .. }))
}

#[cfg(test)]
mod tests {
    use workload::question::Bet;

    use super::super::capacity::tests::search;
    use super::super::fixtures::{comparison, experiment, sweep, text_of};
    use super::super::html::experiment_html;
    use super::super::lines;
    use super::*;

    #[track_caller]
    fn check(view: &ExperimentView, expected: &[&str], meaning: &str) {
        assert_eq!(terms(view).collect::<Vec<_>>(), expected);
        let command = format!("assay explain {}", expected.join(" "));
        assert_eq!(lines::explanation(view), Some(command));
        for text in [experiment_html(view), text_of(view)] {
            // A page does not break lines between a number and its unit.
            assert!(text.replace('\u{a0}', " ").contains(meaning), "{meaning}: {text}");
        }
    }

    #[test]
    fn open_terms_are_explained_where_they_are_used() {
        let points = [("1", 100.0, 2.0), ("2", 190.0, 3.0), ("4", 180.0, 4.0)];
        let mut of_points = ExperimentView { sweep: Some(sweep(&points, 1)), ..experiment() };
        of_points.arms.truncate(1);
        check(&of_points, &["tie"], "ties: 4 (less than 1 % worse, and not significantly)");
        let best = of_points.sweep.as_mut().unwrap().curves[0].best.as_mut().unwrap();
        best.others[1].ranking = Ranking::Undecided { more_repeats: None };
        check(&of_points, &["undecided"], "not significantly worse, because the runs scatter");
        let mut compared = comparison(-0.1);
        let change = &mut compared.arms[0].changes[0];
        change.compared.as_mut().unwrap().conclusion = Conclusion::Undecided { more_pairs: None };
        let at_points = vec![compared.clone(); points.len()];
        let of_metric = ExperimentView { comparison: Some(compared), ..experiment() };
        check(&of_metric, &["undecided"], lines::UNDECIDED);
        let with_arms = SweepView { best: None, comparisons: at_points, ..sweep(&points, 2) };
        let mut of_arms = ExperimentView { sweep: Some(with_arms), ..experiment() };
        let curves = &mut of_arms.sweep.as_mut().unwrap().curves;
        curves.iter_mut().for_each(|curve| curve.best = None);
        check(&of_arms, &["undecided"], lines::UNDECIDED);
        let mut compared = comparison(-0.1);
        let bet = Bet::parse("throughput(read) -10% .. -25%").unwrap();
        let outcome = Some(BetOutcome::Undecided { more_pairs: Some(3) });
        compared.arms[0].changes[0].bets.push((bet, outcome));
        let of_bet = ExperimentView { comparison: Some(compared), ..experiment() };
        check(
            &of_bet,
            &["undecided"],
            "undecided: the interval contains −10 %; about 3 more pairs",
        );
        let of_search = ExperimentView { capacity: Some(search()), ..experiment() };
        check(&of_search, &["undecided"], "1 undecided (too close to the limit to tell)");
        assert!(terms(&experiment()).next().is_none());
    }
}
