//! The bets of an experiment with their outcomes.

use analyze::compare::{ArmComparison, BetOutcome, MetricChange};
use workload::question::Bet;

use super::sentence;
use super::value_list::ListLength;
use super::view::ExperimentView;
use crate::number::count;

/// Outcome of a bet that was not judged.
const NOT_JUDGED: &str = "not judged";

/// A bet on an arm with its outcome; in a sweep, at one of its points.
pub(super) struct JudgedBet<'v> {
    /// Name of the arm.
    pub(super) arm: &'v str,
    /// Value of the varied key at the point; `None` unless the experiment is a sweep.
    pub(super) point: Option<&'v str>,
    /// The bet.
    pub(super) bet: &'v Bet,
    /// Its outcome; `None` if it was not judged.
    pub(super) outcome: Option<BetOutcome>,
    change: &'v MetricChange,
}

/// A bet on an arm with its outcome; in a sweep, with the outcomes at all of its points.
pub(super) struct BetSummary<'v> {
    /// Name of the arm.
    pub(super) arm: &'v str,
    /// The bet and its outcomes in words.
    pub(super) text: String,
    /// The outcomes.
    pub(super) outcomes: Vec<Option<BetOutcome>>,
}

impl JudgedBet<'_> {
    /// Returns the name of the arm, with the point if there is one: `tls at 8`.
    pub(super) fn subject(&self) -> String {
        let at = self.point.map_or_else(String::new, |point| format!(" at {point}"));
        format!("{}{at}", self.arm)
    }

    /// Returns true if the bet is undecided although its change has an interval, which then
    /// contains an end of the bet's range.
    fn contains_an_end(&self) -> bool {
        let interval = self.change.compared.as_ref().ok().and_then(|it| it.interval);
        matches!(self.outcome, Some(BetOutcome::Undecided { .. })) && interval.is_some()
    }

    /// Returns the bet with its outcome, and the reason if it is not decided.
    pub(super) fn sentence(&self) -> String {
        sentence::bet(self.bet, self.outcome, self.change)
    }
}

/// Meaning of an undecided outcome.
const CONTAINS_AN_END: &str = " (the interval contains an end of the range)";

/// Returns the bets on an arm with their outcomes, as sentences.
pub(super) fn of_arm(arm: &ArmComparison) -> impl Iterator<Item = String> + '_ {
    arm.changes.iter().flat_map(|change| {
        change.bets.iter().map(move |(bet, outcome)| sentence::bet(bet, *outcome, change))
    })
}

/// Returns the bets on all arms; in a sweep, on the arms at each point.
pub(super) fn judged_bets(view: &ExperimentView) -> impl Iterator<Item = JudgedBet<'_>> {
    let points = view.sweep.iter().flat_map(|sweep| sweep.values.iter().zip(&sweep.comparisons));
    let points = points.map(|(value, comparison)| (Some(value.as_str()), comparison));
    let all = view.comparison.iter().map(|comparison| (None, comparison)).chain(points);
    let arms = all.flat_map(|(point, it)| it.arms.iter().map(move |arm| (point, arm)));
    arms.flat_map(move |(point, arm)| {
        let name = view.arms[arm.arm.index()].name.as_str();
        arm.changes.iter().flat_map(move |change| {
            let bets = change.bets.iter();
            bets.map(move |(bet, outcome)| JudgedBet {
                arm: name,
                point,
                bet,
                outcome: *outcome,
                change,
            })
        })
    })
}

/// Returns the bets of a sweep at each point, as sentences.
pub(super) fn at_points(view: &ExperimentView) -> Vec<String> {
    let at_points = judged_bets(view).filter(|bet| bet.point.is_some());
    at_points.map(|bet| format!("{}: {}", bet.subject(), bet.sentence())).collect()
}

/// Returns the bets on all arms, each once.
pub(super) fn summaries(view: &ExperimentView, length: ListLength) -> Vec<BetSummary<'_>> {
    let mut groups: Vec<Vec<JudgedBet<'_>>> = Vec::new();
    for one in judged_bets(view) {
        let is_same = |group: &&mut Vec<JudgedBet<'_>>| {
            one.point.is_some() && (group[0].arm, group[0].bet) == (one.arm, one.bet)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().map(|group| summary(group, length)).collect()
}

fn summary<'v>(group: &[JudgedBet<'v>], length: ListLength) -> BetSummary<'v> {
    let first = &group[0];
    let text = match first.point {
        Some(_) => format!("{}: {}", first.bet, outcomes(group, length)),
        None => first.sentence(),
    };
    BetSummary { arm: first.arm, text, outcomes: group.iter().map(|one| one.outcome).collect() }
}

/// Returns the bets on all arms as sentences, each once. The sentences name the arm if several arms
/// are compared with the baseline. Before the first look, no bet is judged.
pub(super) fn sentences(view: &ExperimentView, length: ListLength) -> Vec<String> {
    if judged_bets(view).next().is_none() {
        return view.bets.iter().map(|bet| format!("{bet}: {NOT_JUDGED}")).collect();
    }
    let sentence = |BetSummary { arm, text, .. }: BetSummary<'_>| match view.arms.len() > 2 {
        true => format!("{arm}: {text}"),
        false => text,
    };
    summaries(view, length).into_iter().map(sentence).collect()
}

/// Returns the outcomes of a bet at the points of a sweep: `failed at 16; held at 4, 8`.
fn outcomes(points: &[JudgedBet<'_>], length: ListLength) -> String {
    let word = |one: &JudgedBet<'_>| one.outcome.map_or(NOT_JUDGED, BetOutcome::name);
    let of_word = |expected: &str| {
        let of_word = || points.iter().filter(|one| word(one) == expected);
        let values = of_word().filter_map(|one| one.point).map(str::to_owned);
        let values: Vec<(usize, String)> = values.enumerate().collect();
        if values.is_empty() {
            return None;
        }
        let meaning = if of_word().all(JudgedBet::contains_an_end) { CONTAINS_AN_END } else { "" };
        let at = match values.len() {
            all if all > 1 && all == points.len() => {
                format!("all {}", count(all as u64, "point"))
            }
            _ => length.join(None, values),
        };
        Some(format!("{expected} at {at}{meaning}"))
    };
    let words = ["failed", "undecided", NOT_JUDGED, "held"];
    words.into_iter().filter_map(of_word).collect::<Vec<String>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{comparison, experiment, sweep, text_of};
    use super::super::html::experiment_html;
    use super::super::{experiment_markdown, experiment_text};
    use super::*;
    use crate::text::Style;
    use crate::{TestSuite, junit};

    const POINTS: [(&str, f64, f64); 3] = [("1", 100.0, 2.0), ("2", 190.0, 3.0), ("4", 180.0, 4.0)];

    /// Returns a sweep with a bet that has these outcomes at its points.
    fn with_outcomes(outcomes: [Option<BetOutcome>; 3]) -> ExperimentView {
        let mut sweep = sweep(&POINTS, 2);
        let at_point = |outcome| {
            let mut comparison = comparison(-0.1);
            let bet = Bet::parse("throughput(read) -5% .. -15%").unwrap();
            comparison.arms[0].changes[0].bets = vec![(bet, outcome)];
            comparison
        };
        sweep.comparisons = outcomes.map(at_point).to_vec();
        ExperimentView { sweep: Some(sweep), ..experiment() }
    }

    #[test]
    fn bet_of_a_sweep_has_its_outcomes_in_one_sentence() {
        let undecided = Some(BetOutcome::Undecided { more_pairs: Some(9) });
        let (held, failed) = (Some(BetOutcome::Held), Some(BetOutcome::Failed));
        for (outcomes, expected) in [
            (
                [held, undecided, failed],
                "failed at 4; undecided at 2 (the interval contains an end of the range); held \
                 at 1",
            ),
            ([held, None, held], "not judged at 2; held at 1, 4"),
            ([held; 3], "held at all 3 points"),
        ] {
            let view = with_outcomes(outcomes);
            let all = sentences(&view, ListLength::Full);
            assert_eq!(all, [format!("throughput(read) -5% .. -15%: {expected}")]);
        }
        let mut view = with_outcomes([held; 3]);
        view.arms.push(view.arms[1].clone());
        let all = sentences(&view, ListLength::Short);
        assert!(all[0].starts_with("tls: throughput"), "{all:?}");
    }

    #[test]
    fn short_outcomes_of_a_bet_name_the_first_points() {
        let mut view = with_outcomes([Some(BetOutcome::Held), None, None]);
        let sweep = view.sweep.as_mut().unwrap();
        let (first, other) = (sweep.comparisons[0].clone(), sweep.comparisons[1].clone());
        sweep.values = (1..=90).map(|value| value.to_string()).collect();
        sweep.comparisons = [vec![first; 80], vec![other; 10]].concat();
        let words = "not judged at 81, 82, 83, 84, 85, 86, 87, 88 and 2 more; held at 1, 2, 3, 4, \
                     5, 6, 7, 8 and 72 more";
        let short = sentences(&view, ListLength::Short);
        assert!(short[0].ends_with(words), "{short:?}");
        let full = sentences(&view, ListLength::Full);
        assert!(full[0].contains("88, 89, 90; held at 1, 2, "), "{full:?}");
    }

    #[test]
    fn bets_are_shown_before_the_first_look() {
        let bets = vec![Bet::parse("throughput(read) -5% .. -15%").unwrap()];
        let view = ExperimentView { bets, ..experiment() };
        let all = sentences(&view, ListLength::Full);
        assert_eq!(all, ["throughput(read) -5% .. -15%: not judged"]);
    }

    #[test]
    fn every_answer_of_a_sweep_has_the_outcomes_of_its_bets() {
        let outcomes = [Some(BetOutcome::Held), Some(BetOutcome::Held), Some(BetOutcome::Failed)];
        let view = with_outcomes(outcomes);
        let words = "throughput(read) -5% .. -15%: failed at 4; held at 1, 2";
        let page = experiment_html(&view);
        let answer = page.split("id=\"question\"").next().unwrap();
        assert!(answer.contains(words), "{answer}");
        let first_figure = answer.find("<figure").unwrap_or(answer.len());
        assert!(answer.find(words).unwrap() < first_figure, "{answer}");
        let short = experiment_text(&view, &Style { color: false, width: 80 });
        let markdown = experiment_markdown(&view).replace('\\', "");
        for text in [short, text_of(&view), markdown] {
            assert!(text.contains(words), "{text}");
        }
        let cases = TestSuite::of_experiment(&view, false);
        let cases = junit(&cases);
        assert!(cases.contains("tls at 4: throughput(read) -5% .. -15%"), "{cases}");
    }
}
