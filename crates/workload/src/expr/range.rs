//! Ranges of integer expressions.
//!
//! A range is exact: each number in it can occur. If this is not certain, the range is `None`.

use super::node::{Combination, Family, Node};
use crate::generate::Uniform;
use crate::value::Operator;

/// The smallest and the largest value of an integer, or of a duration in nanoseconds.
pub(crate) type Range = (i64, i64);

/// Returns the range of an expression, given the ranges of the variables of `let`.
pub(crate) fn range(node: &Node, variables: &[Option<Range>]) -> Option<Range> {
    match node {
        Node::Int(value) | Node::Duration(value) => Some((*value, *value)),
        Node::Variable(place) => variables[*place],
        Node::Negate(inner) => {
            let (lo, hi) = range(inner, variables)?;
            Some((hi.saturating_neg(), lo.saturating_neg()))
        }
        Node::Combine(combination) => combined(combination, variables),
        Node::Generate(generate) => generated(&generate.family, variables),
        Node::Real(_) | Node::Text(_) => None,
    }
}

/// Returns the range of a sum or difference with a constant, or of a remainder by a constant if
/// every remainder occurs; `None` for other combinations, whose values may skip numbers.
fn combined(combination: &Combination, variables: &[Option<Range>]) -> Option<Range> {
    let left = range(&combination.left, variables)?;
    let right = range(&combination.right, variables)?;
    if left.0 != left.1 && right.0 != right.1 {
        return None;
    }
    match combination.operator {
        Operator::Add => Some((left.0.saturating_add(right.0), left.1.saturating_add(right.1))),
        Operator::Subtract => {
            Some((left.0.saturating_sub(right.1), left.1.saturating_sub(right.0)))
        }
        Operator::Modulo => remainder(left, right),
        Operator::Multiply | Operator::Divide => None,
    }
}

fn remainder((lo, hi): Range, (by, same): Range) -> Option<Range> {
    let goes_round = by == same && lo >= 0 && by > 0 && hi - lo >= by - 1;
    goes_round.then(|| (0, by - 1))
}

fn generated(family: &Family, variables: &[Option<Range>]) -> Option<Range> {
    match family {
        Family::Uniform(Uniform::Ints(ints) | Uniform::Durations(ints)) => Some(ints.ends()),
        Family::Zipf(zipf) => Some(zipf.ends()),
        Family::Hotspot(hotspot) => Some(hotspot.possible_ends()),
        Family::Latest(latest) => Some((latest.ends().0, i64::MAX)),
        Family::Nurand(nurand) => Some(nurand.ends()),
        Family::Client(clients) => Some((0, i64::from(*clients) - 1)),
        Family::Row => Some((1, i64::MAX)),
        Family::Sequence(start) => Some((*start, i64::MAX)),
        Family::Permute(permute) => Some(permute.ends()),
        Family::Null(null) if null.probability < 1.0 => range(&null.value, variables),
        Family::Uniform(Uniform::Reals(..) | Uniform::Computed(_))
        | Family::Exponential(_)
        | Family::Normal(..)
        | Family::Text(..)
        | Family::Pick(_)
        | Family::Pareto(_)
        | Family::Digits(_)
        | Family::Hex(_)
        | Family::Uuid
        | Family::Weighted(_)
        | Family::Json(_)
        | Family::Point
        | Family::Polygon(_)
        | Family::Null(_)
        | Family::Csv(_)
        | Family::Timestamp(_)
        | Family::Field(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_of_a_remainder_is_known_or_open() {
        assert_eq!(remainder((0, 9), (10, 10)), Some((0, 9)));
        assert_eq!(remainder((5, 5 + 9), (10, 10)), Some((0, 9)));
        for (left, right) in [
            ((0, 8), (10, 10)),
            ((-1, 20), (10, 10)),
            ((0, 20), (9, 10)),
            ((0, 20), (-10, -10)),
            ((0, 0), (i64::MIN, i64::MIN)),
            ((0, 0), (i64::MIN, 0)),
            ((i64::MIN, i64::MAX), (1, 1)),
        ] {
            assert_eq!(remainder(left, right), None, "{left:?} % {right:?}");
        }
    }
}
