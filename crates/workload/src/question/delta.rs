//! Smallest changes that matter: `delta = 2%`, `delta = response.p99 10%, failed 0.5%`.

use std::fmt;

use base::Diagnostic;

use super::metric::{self, RunMetric};
use super::percent;
use crate::read::{Excerpt, LocatedText};
use crate::wording::quoted;

/// The smallest changes that matter, called sizes, as fractions: of the baseline or, for `failed`,
/// of the scheduled requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deltas {
    /// The size for all metrics that `of` does not name; `None` for the default of each quantity.
    pub all: Option<f64>,
    /// Sizes of single metrics. A metric without a name applies to every job or table.
    pub of: Vec<(RunMetric, f64)>,
}

const HELP: &str = "write for example `delta = 2%` or `delta = response.p99 10%`";

impl Deltas {
    /// Parses a list of sizes (smallest changes that matter), each with or without a metric before
    /// it.
    ///
    /// # Errors
    /// No size, the first size that is not a percentage above 0 and below 100, or the first unknown
    /// metric. Positions are offsets into `text`.
    pub fn parse(text: &str) -> Result<Deltas, Diagnostic> {
        deltas(LocatedText::whole(text, 0).excerpt())
    }

    /// Returns the smallest change of a metric that matters.
    pub fn of(&self, metric: &RunMetric) -> f64 {
        let named = |with_name: bool| {
            let is_it = |known: &RunMetric| match with_name {
                true => known == metric,
                false => known.of.is_none() && known.quantity == metric.quantity,
            };
            self.of.iter().find(|(known, _)| is_it(known)).map(|(_, delta)| *delta)
        };
        let given = named(true).or_else(|| named(false)).or(self.all);
        given.unwrap_or_else(|| metric.quantity.default_delta())
    }
}

impl fmt::Display for Deltas {
    /// Formats the sizes as in a file: `2%, response.p99 10%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |size: f64| percent::printed(size).trim_start_matches('+').to_owned();
        let all = self.all.map(size);
        let of = self.of.iter().map(|(metric, delta)| format!("{metric} {}", size(*delta)));
        let parts: Vec<String> = all.into_iter().chain(of).collect();
        f.write_str(&parts.join(", "))
    }
}

/// Parses the value of `delta`.
pub(crate) fn deltas(list: Excerpt<'_>) -> Result<Deltas, Diagnostic> {
    let mut deltas = Deltas::default();
    if list.trim().text().is_empty() {
        return Err(list.error("no size is given").help(HELP));
    }
    for item in list.list() {
        match part(item)? {
            (None, size) => deltas.all = Some(size),
            (Some(metric), size) => deltas.of.push((metric, size)),
        }
    }
    Ok(deltas)
}

/// Returns the metric and the place of each size in a list; the metric is `None` if the size is for
/// all metrics. Sizes that cannot be read are left out.
pub(super) fn metrics(list: Excerpt<'_>) -> impl Iterator<Item = (Option<RunMetric>, Excerpt<'_>)> {
    list.list().filter_map(|item| Some((part(item).ok()?.0, item)))
}

/// Parses a size with its metric, if it has one.
fn part(item: Excerpt<'_>) -> Result<(Option<RunMetric>, f64), Diagnostic> {
    let is_plain = item.text().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if is_plain {
        return Ok((None, size(item)?));
    }
    let (name, value) = metric::split(item);
    Ok((Some(metric::metric(name)?), size(value)?))
}

/// Parses a size without a sign.
fn size(item: Excerpt<'_>) -> Result<f64, Diagnostic> {
    let text = item.text();
    let size = percent::share(item, text).map_err(|error| error.help(HELP))?;
    if size > 0.0 && size < 1.0 {
        return Ok(size);
    }
    Err(item.error(format!("{} is not between 0 and 100 %", quoted(text))).help(HELP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::metric::{Quantity, TimeStatistic};

    #[test]
    fn most_specific_size_holds() {
        let p99 = Quantity::Response(TimeStatistic::P99);
        let deltas = Deltas::parse("2%, response.p99 10%, response.p99(read) 7 %").unwrap();
        assert_eq!(deltas.of(&RunMetric::new(Quantity::Throughput)), 0.02);
        assert_eq!(deltas.of(&RunMetric::of(p99, "write")), 0.1);
        assert_eq!(deltas.of(&RunMetric::of(p99, "read")), 0.07);
        assert_eq!(Deltas::parse(&deltas.to_string()), Ok(deltas));
        let defaults = Deltas::default();
        assert_eq!(defaults.of(&RunMetric::new(Quantity::Throughput)), 0.01);
        assert_eq!(defaults.of(&RunMetric::new(p99)), 0.05);
    }

    #[test]
    fn size_that_is_not_a_percentage_is_refused() {
        let message = |text: &str| Deltas::parse(text).unwrap_err().message;
        assert_eq!(message(""), "no size is given");
        assert_eq!(message("2"), "`2` is not a percentage");
        assert_eq!(message("-2%"), "`-2%` is negative");
        assert_eq!(message("0%"), "`0%` is not between 0 and 100 %");
        assert_eq!(message("thruput 2%"), "unknown metric `thruput`");
        assert_eq!(message("rows"), "`` is not a percentage");
    }
}
