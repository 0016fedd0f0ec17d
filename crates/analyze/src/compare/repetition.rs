//! Comparison of the answers of an experiment and of its repetition, to judge if the first answer
//! holds.
//!
//! The two experiments estimate the same change independently of each other. The variance of the
//! difference of their estimates is the sum of the two variances. The interval of the difference
//! follows from Student's t with the degrees of freedom of Welch and Satterthwaite.

use workload::question::Scale;

use super::change::{ChangeInterval, Incomparable, to_change};
use super::comparison::Compared;
use super::conclusion::Conclusion;
use super::paired::{OrderModel, Paired};
use super::standard_error::StandardError;

/// The change of a metric in a repetition of an experiment, compared with the change in the first
/// experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Repetition {
    /// Relative difference of the two changes: 0.01 if the ratio of the arm to the baseline is 1 %
    /// higher in the repetition than in the first experiment. For metrics that are compared by
    /// difference: the second change minus the first.
    pub difference: f64,
    /// Interval of the difference; `None` without scatter.
    pub interval: Option<ChangeInterval>,
    /// Judgement on the answer of the first experiment.
    pub outcome: RepetitionOutcome,
}

/// The outcome of a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepetitionOutcome {
    /// The results agree. In a comparison of two experiments, the first conclusion is also decided.
    Holds,
    /// The results are compatible, but do not confirm each other.
    Undecided,
    /// The results contradict each other. In a comparison of two experiments, the changes differ by
    /// more than the smallest change that matters.
    Contradicts,
}

impl RepetitionOutcome {
    /// Returns the name of this outcome in documents.
    pub fn name(self) -> &'static str {
        match self {
            RepetitionOutcome::Holds => "holds",
            RepetitionOutcome::Undecided => "undecided",
            RepetitionOutcome::Contradicts => "contradicts",
        }
    }
}

/// Compares the change in a repetition with the change in the first experiment. `delta` is the
/// smallest change that matters, and `alpha` the probability with which the interval misses the
/// true difference.
///
/// # Errors
/// Fails if the values of an experiment cannot be compared.
pub fn repeat(
    first: &Compared,
    second: &Compared,
    scale: Scale,
    delta: f64,
    alpha: f64,
) -> Result<Repetition, Incomparable> {
    let estimate = |of: &Compared| {
        let model = match of.order_effect {
            Some(_) => OrderModel::Counterbalanced,
            None => OrderModel::Random,
        };
        Paired::of(of.values.pairs(), scale, model)
    };
    let (one, two) = (estimate(first)?, estimate(second)?);
    let difference = two.estimate() - one.estimate();
    let error = StandardError::of_difference(one.standard_error(), two.standard_error());
    let interval =
        error.map(|error| ChangeInterval::around(difference, error.half_width(alpha), scale));
    let outcome = outcome([first.conclusion, second.conclusion], interval, delta);
    Ok(Repetition { difference: to_change(difference, scale), interval, outcome })
}

fn outcome(
    conclusions: [Conclusion; 2],
    interval: Option<ChangeInterval>,
    delta: f64,
) -> RepetitionOutcome {
    let [first, second] = conclusions;
    let is_claim = first.is_decided() && first != Conclusion::NoScatter;
    match interval {
        Some(ChangeInterval { low, high }) if low > delta || high < -delta => {
            RepetitionOutcome::Contradicts
        }
        Some(ChangeInterval { low, high }) if is_claim => {
            let is_same = low > -2.0 * delta && high < 2.0 * delta;
            match is_same || first == second {
                true => RepetitionOutcome::Holds,
                false => RepetitionOutcome::Undecided,
            }
        }
        Some(_) | None => RepetitionOutcome::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORSE: Conclusion = Conclusion::Worse;
    const UNDECIDED: Conclusion = Conclusion::Undecided { more_pairs: None };

    fn check(conclusions: [Conclusion; 2], low: f64, high: f64, expected: RepetitionOutcome) {
        let interval = Some(ChangeInterval { low, high });
        assert_eq!(outcome(conclusions, interval, 0.01), expected, "{conclusions:?} {low} {high}");
    }

    #[test]
    fn answers_hold_if_both_claim_the_same_or_the_changes_are_equivalent() {
        check([WORSE, WORSE], -0.05, 0.04, RepetitionOutcome::Holds);
        check([WORSE, UNDECIDED], -0.015, 0.015, RepetitionOutcome::Holds);
        check([WORSE, UNDECIDED], -0.05, 0.04, RepetitionOutcome::Undecided);
        check([UNDECIDED, UNDECIDED], -0.015, 0.015, RepetitionOutcome::Undecided);
        check(
            [Conclusion::Equivalent, Conclusion::Equivalent],
            -0.03,
            0.0,
            RepetitionOutcome::Holds,
        );
    }

    #[test]
    fn changes_that_differ_by_more_than_matters_contradict_each_other() {
        check([WORSE, WORSE], 0.02, 0.04, RepetitionOutcome::Contradicts);
        check([WORSE, WORSE], 0.005, 0.04, RepetitionOutcome::Holds);
        check([UNDECIDED, WORSE], -0.4, -0.02, RepetitionOutcome::Contradicts);
    }

    #[test]
    fn changes_without_scatter_are_not_judged() {
        assert_eq!(outcome([WORSE, WORSE], None, 0.01), RepetitionOutcome::Undecided);
        let none = Conclusion::NoScatter;
        check([none, none], -0.001, 0.001, RepetitionOutcome::Undecided);
    }
}
