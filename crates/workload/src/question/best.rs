//! The rule for the best point of a sweep: `lowest response.p99(read)`.

use std::fmt;

use base::Diagnostic;

use super::metric::{self, Direction, RunMetric};
use crate::read::Excerpt;
use crate::wording::{nearest, quoted};

/// The rule that selects the best point, such as `lowest response.p99(read)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestRule {
    /// The better side: `highest` or `lowest`.
    pub better: Direction,
    /// The metric.
    pub metric: RunMetric,
}

const HELP: &str = "write for example `best = lowest response.p99(read)`";

impl BestRule {
    /// Returns true if the rule selects the value that counts as better for its metric.
    fn is_of_better_side(&self) -> bool {
        self.metric.quantity.better() == self.better
    }
}

impl fmt::Display for BestRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.better.superlative(), self.metric)
    }
}

/// Parses `lowest METRIC` or `highest METRIC`.
pub(super) fn rule(value: Excerpt<'_>) -> Result<BestRule, Box<Diagnostic>> {
    let text = value.text();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = (value.part(0..end), value.part(end..text.len()).trim());
    let both = [Direction::Higher, Direction::Lower];
    let Some(better) = both.into_iter().find(|one| one.superlative() == word.text()) else {
        let words = both.map(Direction::superlative);
        let message = format!("{} is neither lowest nor highest", quoted(word.text()));
        let error = word.error(message);
        return Err(Box::new(match nearest(word.text(), words) {
            Some(near) => error.did_you_mean(Some(near)),
            None => error.help(HELP),
        }));
    };
    if rest.text().is_empty() {
        let message = format!("{} names no metric", quoted(text));
        return Err(Box::new(value.error(message).help(HELP)));
    }
    let rule = BestRule { better, metric: metric::metric(rest)? };
    match rule.is_of_better_side() {
        true => Ok(rule),
        false => {
            let message = format!("the {} {} is the worst", better.superlative(), rule.metric);
            let opposite = rule.metric.quantity.better().superlative();
            Err(Box::new(word.error(message).help(format!("write `{opposite} {}`", rule.metric))))
        }
    }
}
