//! Bets on a change: `throughput -5% .. -25%`, `response.p95(read) +0% .. +40%`.

use std::fmt;

use base::Diagnostic;

use super::metric::{self, RunMetric};
use super::percent;
use crate::read::{Excerpt, LocatedText};
use crate::wording::quoted;

/// A guess, written before the experiment, of the change of a metric against the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Bet {
    /// The metric.
    pub metric: RunMetric,
    /// The range in which the change is expected.
    pub range: ChangeRange,
}

/// A range of changes, such as -0.05 .. -0.25: fractions of the baseline, or differences between
/// shares for metrics that are compared by difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeRange {
    /// Change that is written first.
    pub first: f64,
    /// Change that is written last: different from the first, lower or higher.
    pub last: f64,
}

const HELP: &str = "write for example `throughput -5% .. -25%`";

impl Bet {
    /// Parses `METRIC CHANGE .. CHANGE`; the changes may come in either order.
    ///
    /// # Errors
    /// An unknown metric, no range, or a change that is not possible. Positions are offsets into
    /// `text`.
    pub fn parse(text: &str) -> Result<Bet, Diagnostic> {
        bet(LocatedText::whole(text, 0).excerpt())
    }
}

impl ChangeRange {
    /// Returns the lowest change.
    pub fn low(self) -> f64 {
        self.first.min(self.last)
    }

    /// Returns the highest change.
    pub fn high(self) -> f64 {
        self.first.max(self.last)
    }
}

impl fmt::Display for Bet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.metric, self.range)
    }
}

impl fmt::Display for ChangeRange {
    /// Writes the changes in the order in which they were written: `-5% .. -25%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} .. {}", percent::printed(self.first), percent::printed(self.last))
    }
}

/// Parses a bet at a position.
pub(crate) fn bet(item: Excerpt<'_>) -> Result<Bet, Diagnostic> {
    let item = item.trim();
    if item.text().is_empty() {
        return Err(item.error("the bet is empty").help(HELP));
    }
    let (name, range) = metric::split(item);
    let metric = metric::metric(name)?;
    let range = change_range(range, &metric, item)?;
    Ok(Bet { metric, range })
}

fn change_range(
    range: Excerpt<'_>,
    metric: &RunMetric,
    whole: Excerpt<'_>,
) -> Result<ChangeRange, Diagnostic> {
    let text = range.text();
    if text.is_empty() {
        let help = format!("write for example `{metric} -5% .. -25%`");
        return Err(whole.error("the bet has no range of changes").help(help));
    }
    let Some(dots) = text.find("..") else {
        let message = format!("{} is not a range of changes", quoted(text));
        return Err(range.error(message).help(HELP));
    };
    let ends = [range.part(0..dots).trim(), range.part(dots + 2..text.len()).trim()];
    let [first, last] = ends.map(|end| {
        let change = percent::change(end)?;
        percent::check_possible(end, change, metric.quantity.scale()).map(|()| change)
    });
    let (first, last) = (first?, last?);
    if first == last {
        let message = format!("{} is a range without width", quoted(text));
        return Err(range.error(message).help("no measurement is exact enough to confirm it"));
    }
    Ok(ChangeRange { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::metric::{Quantity, TimeStatistic};

    fn check(text: &str, metric: RunMetric, low: f64, high: f64) {
        let bet = Bet::parse(text).expect(text);
        assert_eq!((bet.range.low(), bet.range.high()), (low, high), "{text}");
        assert_eq!(bet.metric, metric, "{text}");
        assert_eq!(Bet::parse(&bet.to_string()), Ok(bet), "{text}");
    }

    #[test]
    fn bet_is_a_metric_and_a_range_of_changes() {
        let throughput = || RunMetric::new(Quantity::Throughput);
        check("throughput -5% .. -25%", throughput(), -0.25, -0.05);
        check("  throughput -25%..-5% ", throughput(), -0.25, -0.05);
        check("throughput -5% .. +5000%", throughput(), -0.05, 50.0);
        let p95 = Quantity::Response(TimeStatistic::P95);
        check("response.p95 +0% .. +40%", RunMetric::new(p95), 0.0, 0.4);
        check("response.p95(a -5% (b))+0%..+40%", RunMetric::of(p95, "a -5% (b)"), 0.0, 0.4);
        check("failed -0.1% .. +0.1%", RunMetric::new(Quantity::Failed), -0.001, 0.001);
    }

    #[test]
    fn bet_is_printed_in_the_order_in_which_it_was_written() {
        let printed = |text: &str| Bet::parse(text).unwrap().to_string();
        for text in ["throughput -25% .. -5%", "throughput -5% .. -25%", "load(t) -10% .. +0%"] {
            assert_eq!(printed(text), text);
        }
        assert_eq!(printed("response.p95 +40%..0%"), "response.p95 +40% .. +0%");
        assert_eq!(printed("service.max -10% .. +7.5%"), "service.max -10% .. +7.5%");
    }

    fn refused(text: &str, message: &str, place: &str) {
        let diagnostic = Bet::parse(text).unwrap_err();
        let span = diagnostic.span.unwrap();
        let shown = (diagnostic.message.as_str(), &text[span.start..span.end]);
        assert_eq!(shown, (message, place), "{text}");
    }

    #[test]
    fn bet_that_cannot_be_parsed_names_the_place() {
        refused("", "the bet is empty", "");
        refused("throughput", "the bet has no range of changes", "throughput");
        refused("throughput -5%", "`-5%` is not a range of changes", "-5%");
        refused("throughput(read", "`(read` names no job or table", "(read");
        refused("-5% .. -25%", "unknown metric `-5%`", "-5%");
        refused("throughput -5 .. -25%", "`-5` is not a percentage", "-5");
        refused("throughput -5% .. 25%", "`25%` has no sign", "25%");
        refused("throughput -5% .. -5%", "`-5% .. -5%` is a range without width", "-5% .. -5%");
        refused("throughput -5% .. -100%", "`-100%` leaves nothing of the baseline", "-100%");
        refused("failed +0% .. +101%", "`+101%` is more than all requests", "+101%");
    }
}
