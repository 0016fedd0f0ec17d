//! The best point of a sweep, and the points that may be as good.
//!
//! The best point is the one with the best mean. The data choose this point, so another point may
//! be better in truth. Each other point is therefore compared with it, by the pairs of their runs
//! in the same repeats (Student's t on differences, of logarithms for metrics that are compared by
//! ratio), and is worse only if the interval of the change lies on the worse side. A point whose
//! mean is worse by more than the smallest change that matters, but whose interval is too wide to
//! show it, is undecided.
//!
//! Bonferroni's correction divides the error probability by the number of other points. The truly
//! best point is called worse only if some point seems significantly better than it. There are as
//! many such comparisons as other points, so the probability is at most `alpha`, whichever point
//! was chosen. This is the argument of multiple comparisons with the best (Hsu, "Constrained
//! simultaneous confidence intervals for multiple comparisons with the best", Annals of Statistics
//! 12, 1984). Holm's procedure would reject more, and this argument does not hold for it, because
//! the data choose its reference.

use std::cmp::Ordering;

use workload::question::{BestRule, Deltas, Direction};

use super::point::{CurvePoint, Unusable};
use crate::compare::{ChangeInterval, OrderModel, Pair, PairOrder, Paired, RepetitionOutcome};

/// The best point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct BestPoint {
    /// Index of the point with the best mean; `None` if no point can be used.
    pub best: Option<usize>,
    /// The other usable points, in the order of the sweep.
    pub others: Vec<OtherPoint>,
    /// Points that cannot be the best, with the reason.
    pub unusable: Vec<(usize, Unusable)>,
    /// Smallest change that matters: a fraction, or a difference for metrics that are compared by
    /// difference.
    pub delta: f64,
}

/// A point that is not the best one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherPoint {
    /// Index of the point.
    pub point: usize,
    /// Change relative to the best point; `None` if no repeat of the sweep has a run of both
    /// points.
    pub change: Option<f64>,
    /// Interval of the change, simultaneous over all other points; `None` with fewer than two
    /// common repeats, or without scatter.
    pub interval: Option<ChangeInterval>,
    /// Relation to the best point.
    pub ranking: Ranking,
}

/// The relation of a point to the best one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// Significantly worse.
    Worse,
    /// Not significantly worse, and the difference of the means does not matter; or equal in every
    /// common repeat.
    Tie,
    /// Not significantly worse, although the difference of the means matters: the runs scatter too
    /// much.
    Undecided {
        /// Number of further repeats that would show the difference; `None` if no realistic number
        /// would.
        more_repeats: Option<u32>,
    },
    /// The runs do not suffice for a comparison: there are fewer than two common repeats, or the
    /// values differ but do not scatter.
    Unproven,
}

impl BestPoint {
    /// Returns the points that are not shown to be worse than the best: ties, undecided and
    /// unproven ones.
    pub fn not_worse(&self) -> impl Iterator<Item = usize> {
        let all = self.others.iter().filter(|other| other.ranking != Ranking::Worse);
        all.map(|other| other.point)
    }

    /// Returns true if no other point is [unproven](Ranking::Unproven).
    pub fn is_tested(&self) -> bool {
        self.others.iter().all(|other| other.ranking != Ranking::Unproven)
    }
}

/// Compares the best point of a sweep with the best point of its repetition. The points with the
/// same index have the same value in both sweeps.
///
/// The answer holds if the best point of each sweep is, in the other sweep, the best or
/// [tied](Ranking::Tie) with it, and no point is [unproven](Ranking::Unproven). The answer is
/// contradicted if the best point of each sweep is shown to be worse in the other sweep. In all
/// other cases the answer is undecided, also if a sweep has no best point.
pub fn repeat_best(first: &BestPoint, second: &BestPoint) -> RepetitionOutcome {
    let (Some(before), Some(now)) = (first.best, second.best) else {
        return RepetitionOutcome::Undecided;
    };
    let is_among =
        |of: &BestPoint, point| of.best == Some(point) || has_ranking(of, point, Ranking::Tie);
    let is_worse = |of: &BestPoint, point| has_ranking(of, point, Ranking::Worse);
    let is_tested = first.is_tested() && second.is_tested();
    if is_tested && is_among(second, before) && is_among(first, now) {
        RepetitionOutcome::Holds
    } else if is_worse(second, before) && is_worse(first, now) {
        RepetitionOutcome::Contradicts
    } else {
        RepetitionOutcome::Undecided
    }
}

/// Returns true if a point is not the best one and has this relation to it.
fn has_ranking(of: &BestPoint, point: usize, ranking: Ranking) -> bool {
    of.others.iter().any(|other| other.point == point && other.ranking == ranking)
}

/// Returns the best point by a rule, and the ranking of every other point, at an error probability
/// of `alpha` over all of them. `deltas` are the smallest changes that matter.
pub fn best(points: &[CurvePoint<'_>], rule: &BestRule, deltas: &Deltas, alpha: f64) -> BestPoint {
    let mut usable = Vec::new();
    let mut unusable = Vec::new();
    for (index, point) in points.iter().enumerate() {
        match point.usable(&rule.metric) {
            Ok(values) => usable.push(Candidate { point: index, values }),
            Err(reason) => unusable.push((index, reason)),
        }
    }
    let delta = deltas.of(&rule.metric);
    let Some(best) = usable.iter().reduce(|best, other| better_of(rule, best, other)) else {
        return BestPoint { best: None, others: Vec::new(), unusable, delta };
    };
    let others = usable.iter().filter(|other| other.point != best.point);
    let comparisons = (usable.len() - 1).max(1) as f64;
    let claim = Claim { delta, alpha: alpha / comparisons };
    let others = others.map(|other| compare(rule, best, other, claim)).collect();
    BestPoint { best: Some(best.point), others, unusable, delta }
}

/// A usable point with the values of its repeats, on the scale of the statistics.
struct Candidate {
    point: usize,
    values: Vec<(u32, f64)>,
}

impl Candidate {
    fn mean(&self) -> f64 {
        self.values.iter().map(|(_, value)| value).sum::<f64>() / self.values.len() as f64
    }
}

/// Returns the better candidate by a rule; the first if they are equal.
fn better_of<'a>(rule: &BestRule, first: &'a Candidate, second: &'a Candidate) -> &'a Candidate {
    let worse = match rule.better {
        Direction::Higher => Ordering::Less,
        Direction::Lower => Ordering::Greater,
    };
    match first.mean().total_cmp(&second.mean()) == worse {
        true => second,
        false => first,
    }
}

/// The terms of a comparison with the best point.
#[derive(Clone, Copy)]
struct Claim {
    /// Smallest change that matters.
    delta: f64,
    /// Error probability of the comparison.
    alpha: f64,
}

fn compare(rule: &BestRule, best: &Candidate, other: &Candidate, claim: Claim) -> OtherPoint {
    let differences = differences(best, other);
    let paired = pair(&differences);
    let mean = || differences.iter().sum::<f64>() / differences.len() as f64;
    let scale = rule.metric.quantity.scale();
    let to_change = |difference| crate::compare::to_change(difference, scale);
    let change = (!differences.is_empty()).then(|| to_change(mean()));
    let interval = paired
        .as_ref()
        .and_then(|paired| paired.interval(claim.alpha))
        .map(|it| ChangeInterval { low: to_change(it.low), high: to_change(it.high) });
    let is_equal = !differences.is_empty() && differences.iter().all(|it| *it == 0.0);
    let more = |paired: &Paired| paired.more_pairs_to_clear(&[0.0], claim.alpha);
    let ranking = match change.zip(interval) {
        None if is_equal => Ranking::Tie,
        None => Ranking::Unproven,
        Some((change, interval)) => {
            let [loss, least_loss] = match rule.better {
                Direction::Higher => [-change, -interval.high],
                Direction::Lower => [change, interval.low],
            };
            match (least_loss > 0.0, loss > claim.delta) {
                (true, _) => Ranking::Worse,
                (false, true) => {
                    Ranking::Undecided { more_repeats: paired.as_ref().and_then(more) }
                }
                (false, false) => Ranking::Tie,
            }
        }
    };
    OtherPoint { point: other.point, change, interval, ranking }
}

/// Returns the differences between `other` and the best point in their common repeats.
fn differences(best: &Candidate, other: &Candidate) -> Vec<f64> {
    let of_best = |repeat: u32| best.values.iter().find(|(known, _)| *known == repeat);
    let of_pair = |(repeat, value): &(u32, f64)| Some(value - of_best(*repeat)?.1);
    other.values.iter().filter_map(of_pair).collect()
}

/// Estimates a mean difference on the scale of the statistics; `None` with fewer than two pairs.
fn pair(differences: &[f64]) -> Option<Paired> {
    use workload::question::Scale::Difference;
    // The runs of a repeat are in random order over all points: their order is noise.
    let order = PairOrder::BaselineFirst;
    let pairs: Vec<Pair> =
        differences.iter().map(|arm| Pair { baseline: 0.0, arm: *arm, order }).collect();
    Paired::of(&pairs, Difference, OrderModel::Random).ok()
}

#[cfg(test)]
mod tests {
    use super::super::point::tests::{figures, metric, points};
    use super::*;
    use crate::check::{CheckKind, Status};
    use crate::compare::{Missing, RunFigures, RunVerdict};

    const NOISE: [[f64; 3]; 4] =
        [[1.0, -1.0, 0.3], [-0.5, 0.9, -1.1], [0.2, 1.2, -0.7], [-1.0, -0.1, 0.8]];

    /// Returns runs of four points whose throughput has these means, with a scatter of about 1 %.
    fn sweep(throughputs: [f64; 4], repeats: usize) -> Vec<(&'static str, Vec<RunFigures>)> {
        let run = |point: usize, repeat: usize| {
            let throughput = throughputs[point] * (0.01 * NOISE[point][repeat]).exp();
            figures(throughput, 1e4 / throughput)
        };
        ["1", "2", "4", "8"]
            .into_iter()
            .enumerate()
            .map(|(point, value)| (value, (0..repeats).map(|repeat| run(point, repeat)).collect()))
            .collect()
    }

    fn judged(runs: &[(&str, Vec<RunFigures>)], better: Direction, text: &str) -> BestPoint {
        let rule = BestRule { better, metric: metric(text) };
        best(&points(runs), &rule, &Deltas::default(), 0.05)
    }

    #[test]
    fn points_within_the_noise_are_tied_with_the_best() {
        let runs = sweep([500.0, 900.0, 1_000.0, 1_005.0], 3);
        for (better, text) in
            [(Direction::Higher, "throughput(read)"), (Direction::Lower, "response.p99")]
        {
            let found = judged(&runs, better, text);
            let rankings: Vec<Ranking> = found.others.iter().map(|other| other.ranking).collect();
            assert!(matches!(found.best, Some(2 | 3)), "{found:?}");
            assert_eq!(rankings, [Ranking::Worse, Ranking::Worse, Ranking::Tie]);
            assert_eq!(found.not_worse().count(), 1, "{found:?}");
            assert!(found.is_tested());
        }
    }

    /// The point has half the mean throughput of the best one, but the runs scatter by more than
    /// that.
    #[test]
    fn point_that_seems_worse_in_strong_noise_is_undecided() {
        let of = |throughputs: [f64; 3]| throughputs.map(|it| figures(it, 1e4 / it)).to_vec();
        let runs = [("1", of([300.0, 700.0, 600.0])), ("2", of([1_000.0, 500.0, 1_500.0]))];
        for (better, text) in
            [(Direction::Higher, "throughput(read)"), (Direction::Lower, "response.p99")]
        {
            let found = judged(&runs, better, text);
            let ranking = found.others[0].ranking;
            // The differences have a mean of 0.595 and scatter by 0.819.
            assert_eq!(ranking, Ranking::Undecided { more_repeats: Some(7) }, "{text}");
            assert_eq!((found.best, found.not_worse().count()), (Some(1), 1));
            assert!(found.is_tested());
        }
    }

    #[test]
    fn repeated_sweep_holds_if_its_best_points_are_as_good_in_the_first() {
        let of = |throughputs, repeats| {
            judged(&sweep(throughputs, repeats), Direction::Higher, "throughput(read)")
        };
        let first = of([500.0, 900.0, 1_000.0, 1_005.0], 3);
        let repeated = |second: &BestPoint| repeat_best(&first, second);
        // In the first sweep, 4 and 8 are equally good.
        assert_eq!(repeated(&of([500.0, 900.0, 1_005.0, 1_000.0], 3)), RepetitionOutcome::Holds);
        assert_eq!(repeated(&of([900.0, 500.0, 400.0, 400.0], 3)), RepetitionOutcome::Contradicts);
        // 4 is the best now, and 8, the best before, is worse.
        assert_eq!(repeated(&of([500.0, 900.0, 1_005.0, 700.0], 3)), RepetitionOutcome::Undecided);
        let single = of([500.0, 900.0, 1_000.0, 1_005.0], 1);
        assert_eq!(repeated(&single), RepetitionOutcome::Undecided);
        // A point that could not be used was not compared.
        let mut unusable = of([500.0, 900.0, 1_005.0, 700.0], 3);
        unusable.others.retain(|other| other.point != 3);
        let only = |best| BestPoint { best: Some(best), ..unusable.clone() };
        assert_eq!(repeat_best(&only(0), &only(3)), RepetitionOutcome::Undecided);
        let nothing =
            BestPoint { best: None, others: Vec::new(), unusable: Vec::new(), delta: 0.01 };
        assert_eq!(repeated(&nothing), RepetitionOutcome::Undecided);
    }

    /// The best points differ, and at most one sweep shows that its best point is better.
    #[test]
    fn repeated_sweep_with_undecided_points_is_undecided() {
        let of = |best: usize, ranking| {
            let other = OtherPoint { point: 1 - best, change: None, interval: None, ranking };
            BestPoint { best: Some(best), others: vec![other], unusable: Vec::new(), delta: 0.01 }
        };
        let undecided = Ranking::Undecided { more_repeats: Some(7) };
        for (first, second, expected) in [
            (undecided, undecided, RepetitionOutcome::Undecided),
            (Ranking::Tie, undecided, RepetitionOutcome::Undecided),
            (undecided, Ranking::Tie, RepetitionOutcome::Undecided),
            (undecided, Ranking::Worse, RepetitionOutcome::Undecided),
            (Ranking::Tie, Ranking::Tie, RepetitionOutcome::Holds),
        ] {
            assert_eq!(repeat_best(&of(0, first), &of(1, second)), expected, "{first:?}");
        }
        // The same point is the best again.
        let again = repeat_best(&of(0, undecided), &of(0, undecided));
        assert_eq!(again, RepetitionOutcome::Holds);
    }

    /// Without the noise, the change of the second point relative to the third is 900/1000 − 1.
    #[test]
    fn change_and_interval_are_fractions_of_the_best() {
        let found = judged(
            &sweep([500.0, 900.0, 1_000.0, 700.0], 3),
            Direction::Higher,
            "throughput(read)",
        );
        let other = found.others[1];
        assert_eq!((found.best, other.point), (Some(2), 1));
        let change = other.change.unwrap();
        assert!((change + 0.1).abs() < 0.01, "{other:?}");
        let interval = other.interval.unwrap();
        assert!(interval.low < change && change < interval.high && interval.high < 0.0);
    }

    #[test]
    fn opposite_rule_names_the_other_end() {
        let runs = sweep([500.0, 900.0, 1_000.0, 700.0], 3);
        assert_eq!(judged(&runs, Direction::Lower, "throughput(read)").best, Some(0));
    }

    #[test]
    fn one_repeat_gives_no_claim() {
        let found = judged(
            &sweep([500.0, 900.0, 1_000.0, 700.0], 1),
            Direction::Higher,
            "throughput(read)",
        );
        assert_eq!(found.best, Some(2));
        assert!(found.others.iter().all(|other| other.ranking == Ranking::Unproven));
        assert!(found.others.iter().all(|other| other.interval.is_none()), "{found:?}");
        assert!(found.others.iter().all(|other| other.change.is_some()), "{found:?}");
        assert_eq!(found.not_worse().count(), 3);
        assert!(!found.is_tested());
    }

    #[test]
    fn runs_without_scatter_give_no_claim() {
        let runs = [("1", vec![figures(500.0, 1.0); 3]), ("2", vec![figures(900.0, 1.0); 3])];
        let found = judged(&runs, Direction::Higher, "throughput(read)");
        assert_eq!((found.best, found.others[0].ranking), (Some(1), Ranking::Unproven));
    }

    /// Points are equal, for example, if the share of failed requests is judged and is always 0.
    #[test]
    fn equal_points_are_ties() {
        for repeats in [1, 3] {
            let runs = ["1", "2"].map(|value| (value, vec![figures(900.0, 1.0); repeats]));
            let found = judged(&runs, Direction::Lower, "response.p99");
            assert_eq!((found.best, found.others[0].ranking), (Some(0), Ranking::Tie));
            assert!(found.is_tested());
        }
    }

    #[test]
    fn invalid_withheld_and_overloaded_points_are_never_best() {
        let mut runs = sweep([500.0, 900.0, 1_000.0, 1_100.0], 3);
        runs[3].1[2].verdict = RunVerdict::new([(CheckKind::Errors, Status::Invalid)]);
        let p99 = runs[2].1[0].metrics[1].0.clone();
        runs[2].1[0].missing.push((p99, Missing::ExceedsCapacity));
        runs[0].1[0].metrics.clear();
        let found = judged(&runs, Direction::Higher, "throughput(read)");
        assert_eq!((found.best, found.others.len()), (Some(1), 0));
        let reasons = [
            (0, Unusable::Missing(Missing::NotMeasured)),
            (2, Unusable::Missing(Missing::ExceedsCapacity)),
            (3, Unusable::Invalid),
        ];
        assert_eq!(found.unusable, reasons);
        let none = judged(&runs[2..], Direction::Higher, "throughput(read)");
        assert_eq!((none.best, none.unusable.len()), (None, 2));
    }

    #[test]
    fn only_common_repeats_are_paired() {
        let mut runs = sweep([500.0, 900.0, 1_000.0, 700.0], 3);
        runs[0].1.truncate(1);
        let found = judged(&runs, Direction::Higher, "throughput(read)");
        let rankings: Vec<Ranking> = found.others.iter().map(|other| other.ranking).collect();
        assert_eq!(rankings[0], Ranking::Unproven, "{found:?}");
        assert!(found.others[1].interval.is_some(), "{found:?}");
    }
}
