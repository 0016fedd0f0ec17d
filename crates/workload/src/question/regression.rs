//! Limits of regressions: `throughput < -3%, response.p99(read) > +10%`.

use std::fmt;

use base::Diagnostic;

use super::metric::{self, Direction, RunMetric};
use super::percent;
use crate::read::{Excerpt, LocatedText};
use crate::wording::quoted;

/// A change for the worse that must not be exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionLimit {
    /// The metric.
    pub metric: RunMetric,
    /// The change as a fraction: negative if less is worse, positive if more is worse. Never 0.
    pub change: f64,
}

const HELP: &str = "write for example `throughput < -3%, response.p99 > +10%`";

impl RegressionLimit {
    /// Returns the changes that the limit excludes: `< -3%`.
    pub fn bound(&self) -> String {
        let sign = if self.change < 0.0 { '<' } else { '>' };
        format!("{sign} {}", percent::printed(self.change))
    }

    /// Parses a list of limits between commas.
    ///
    /// # Errors
    /// All errors of all limits. Positions are offsets into `text`.
    pub fn parse_list(text: &str) -> Result<Vec<RegressionLimit>, Vec<Diagnostic>> {
        let located = LocatedText::whole(text, 0);
        let excerpt = located.excerpt();
        let (mut limits, mut errors) = (Vec::new(), Vec::new());
        for item in excerpt.list() {
            match limit(item) {
                Ok(limit) => limits.push(limit),
                Err(error) => errors.push(error),
            }
        }
        if limits.is_empty() && errors.is_empty() {
            errors.push(excerpt.error("no limit is given").help(HELP));
        }
        if errors.is_empty() { Ok(limits) } else { Err(errors) }
    }
}

impl fmt::Display for RegressionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.metric, self.bound())
    }
}

fn limit(item: Excerpt<'_>) -> Result<RegressionLimit, Diagnostic> {
    if item.text().is_empty() {
        return Err(item.error("a limit is missing next to a comma").help(HELP));
    }
    let (name, after) = metric::split(item);
    let metric = metric::metric(name)?;
    let text = after.text();
    let worse = match metric.quantity.better() {
        Direction::Higher => '<',
        Direction::Lower => '>',
    };
    let Some(sign) = text.chars().next().filter(|sign| matches!(sign, '<' | '>')) else {
        let message = format!("{} is not a limit", quoted(item.text()));
        return Err(item.error(message).help(HELP));
    };
    if sign != worse {
        let message = format!("`{metric} {sign}` is an improvement, not a regression");
        return Err(after.part(0..1).error(message).help(format!("write `{worse}`")));
    }
    if text[1..].starts_with('=') {
        let sign = after.part(0..2);
        let message = format!("{} is not a comparison of limits", quoted(sign.text()));
        return Err(sign.error(message).help(format!("write `{worse}`")));
    }
    let bound = after.part(1..text.len()).trim();
    let change = percent::change(bound)?;
    percent::check_possible(bound, change, metric.quantity.scale())?;
    let is_worse = if worse == '<' { change < 0.0 } else { change > 0.0 };
    if !is_worse {
        let message = format!("{} is not worse than the baseline", quoted(bound.text()));
        let sign = if worse == '<' { '-' } else { '+' };
        return Err(bound.error(message).help(format!("write for example `{worse} {sign}3%`")));
    }
    Ok(RegressionLimit { metric, change })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_printed_as_they_are_parsed() {
        let text = "throughput < -3%, response.p99(a, b) > +10%, failed > +0.1%";
        let limits = RegressionLimit::parse_list(text).unwrap();
        let printed: Vec<String> = limits.iter().map(RegressionLimit::to_string).collect();
        assert_eq!(printed.join(", "), text);
        assert_eq!(
            limits.iter().map(|limit| limit.change).collect::<Vec<_>>(),
            [-0.03, 0.1, 0.001]
        );
    }

    fn refused(text: &str, message: &str, place: &str) {
        let errors = RegressionLimit::parse_list(text).unwrap_err();
        let span = errors[0].span.unwrap();
        let shown = (errors[0].message.as_str(), &text[span.start..span.end], errors.len());
        assert_eq!(shown, (message, place, 1), "{text}");
    }

    #[test]
    fn limit_must_be_a_change_for_the_worse() {
        refused("", "no limit is given", "");
        refused("throughput", "`throughput` is not a limit", "throughput");
        refused("throughput > +3%", "`throughput >` is an improvement, not a regression", ">");
        refused("throughput < +3%", "`+3%` is not worse than the baseline", "+3%");
        refused("size > +0%", "`+0%` is not worse than the baseline", "+0%");
        refused("p99 > +3%", "unknown metric `p99`", "p99");
        refused("throughput <= -3%", "`<=` is not a comparison of limits", "<=");
        refused("load < -3%,", "a limit is missing next to a comma", "");
    }
}
