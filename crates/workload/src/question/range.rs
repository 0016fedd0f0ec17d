//! Ranges of values: `1, 2, 4`, `1..128 x2`, `1..16 +5`, `100..1600 x2`, `1ms..64ms x2`.

use base::units::{Decimal, grouped, parse_decimal, parse_duration};
use base::{Diagnostic, Nanos};

use crate::read::Excerpt;
use crate::wording::quoted;

/// Maximum number of values of a range.
pub(super) const MOST_VALUES: u64 = 1_000;

/// The values that a sweep or a search gives to a key, before they are listed: a range may have
/// more values than fit into memory.
#[derive(Clone, Debug)]
pub(super) struct Range<'p> {
    parts: Vec<Part<'p>>,
}

/// A value of a range.
#[derive(Clone, Debug)]
pub(super) struct RangeValue<'p> {
    /// Its text, as written in a file.
    pub(super) text: String,
    /// The item of the range that produced the value.
    pub(super) place: Excerpt<'p>,
}

/// An item of a range, between commas.
#[derive(Clone, Debug)]
struct Part<'p> {
    place: Excerpt<'p>,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    One(String),
    Many(Progression),
}

/// An arithmetic or a geometric progression.
#[derive(Clone, Copy, Debug)]
struct Progression {
    unit: Unit,
    /// First value, in billionths of its unit.
    from: u128,
    /// Upper bound of the last value, in billionths of its unit.
    to: u128,
    step: Step,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Amount that is added, in billionths.
    Add(u128),
    /// Factor by which a value is multiplied, in billionths; more than 10⁹.
    Times(u128),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// A number without a unit, or a rate per second.
    Number,
    /// Seconds.
    Duration,
}

/// A number with its unit, in billionths.
#[derive(Clone, Copy, Debug)]
struct Amount {
    unit: Unit,
    billionths: u128,
}

const BILLION: u128 = 1_000_000_000;

const HELP: &str = "write for example `1, 2, 4`, `1..128 x2` or `1..16 +5`";

impl<'p> Range<'p> {
    /// Parses values between commas; `FROM..TO xN` and `FROM..TO +N` are progressions from `FROM`
    /// up to `TO` at most.
    ///
    /// # Errors
    /// No value, a range that descends or has no valid `xN` or `+N`, or ends that are neither two
    /// numbers nor two durations.
    pub(super) fn parse(item: Excerpt<'p>) -> Result<Range<'p>, Box<Diagnostic>> {
        let parts = item.list().map(part).collect::<Result<Vec<Part<'p>>, _>>()?;
        match parts.is_empty() {
            true => Err(Box::new(item.error("the range is empty").help(HELP))),
            false => Ok(Range { parts }),
        }
    }

    /// Returns an upper bound of the number of values: values that rounding makes equal are counted
    /// separately. A number above [`MOST_VALUES`] may be too small.
    pub(super) fn count(&self) -> u64 {
        self.parts.iter().fold(0, |all: u64, part| all.saturating_add(part.values.count()))
    }

    /// Returns its values in the order of the file.
    ///
    /// # Errors
    /// There are more than [`MOST_VALUES`].
    pub(super) fn values(&self) -> Result<Vec<RangeValue<'p>>, Box<Diagnostic>> {
        let count = self.count();
        let (Some(first), Some(last)) = (self.parts.first(), self.parts.last()) else {
            return Ok(Vec::new());
        };
        if count > MOST_VALUES {
            let (count, most) = (grouped(count), grouped(MOST_VALUES));
            let message = format!("the range has {count} values: at most {most}");
            let error = first.place.to(last.place).error(message);
            return Err(Box::new(error.help("take larger steps")));
        }
        let of_part = |part: &Part<'p>| {
            let place = part.place;
            part.values.texts().into_iter().map(move |text| RangeValue { text, place })
        };
        Ok(self.parts.iter().flat_map(of_part).collect())
    }
}

/// Returns a value as a number: a number without a unit, a rate per second, or seconds; `None` for
/// a word or an expression.
pub fn numeric_value(text: &str) -> Option<f64> {
    amount(text).map(|amount| amount.billionths as f64 / BILLION as f64)
}

fn part(item: Excerpt<'_>) -> Result<Part<'_>, Box<Diagnostic>> {
    let text = item.text();
    if text.is_empty() {
        return Err(Box::new(item.error("a value is missing next to a comma").help(HELP)));
    }
    let values = match text.find("..") {
        Some(dots) if !text.contains(['(', '\'', '"']) => {
            Values::Many(progression(item, item.part(0..dots), item.part(dots + 2..text.len()))?)
        }
        _ => Values::One(match text.strip_suffix("/s") {
            Some(rate) if amount(rate).is_some() => rate.to_owned(),
            _ => text.to_owned(),
        }),
    };
    Ok(Part { place: item, values })
}

fn progression(
    whole: Excerpt<'_>,
    from: Excerpt<'_>,
    rest: Excerpt<'_>,
) -> Result<Progression, Box<Diagnostic>> {
    let (from, rest) = (from.trim(), rest.trim());
    let text = rest.text();
    let is_step = text.starts_with(['x', '+']);
    if from.text().is_empty() || text.is_empty() || is_step {
        let error = whole.error(format!("{} lacks an end", quoted(whole.text())));
        return Err(Box::new(error.help(HELP)));
    }
    let Some(sign) = text.find([' ', '\t', 'x', '+']) else {
        let error = whole.error(format!("{} has no step", quoted(whole.text())));
        return Err(Box::new(error.help(format!("write `{0} x2` or `{0} +1`", whole.text()))));
    };
    let (to, step) = (rest.part(0..sign).trim(), rest.part(sign..text.len()).trim());
    let ends = [end(from)?, end(to)?];
    if ends[0].unit != ends[1].unit {
        let (first, last) = (quoted(from.text()), quoted(to.text()));
        let message = format!("{first} and {last} have different units");
        return Err(Box::new(whole.error(message).help("give both ends a unit, or none")));
    }
    let [from, to] = ends.map(|end| end.billionths);
    if to < from {
        let error = whole.error(format!("the range {} descends", quoted(whole.text())));
        return Err(Box::new(error.help("write the lower end first; the order of runs is drawn")));
    }
    let unit = ends[0].unit;
    Ok(Progression { unit, from, to, step: parse_step(step, unit, from)? })
}

fn end(item: Excerpt<'_>) -> Result<Amount, Box<Diagnostic>> {
    amount(item.text()).ok_or_else(|| {
        let message = format!("{} is neither a number nor a duration", quoted(item.text()));
        Box::new(item.error(message).help(HELP))
    })
}

fn parse_step(item: Excerpt<'_>, unit: Unit, from: u128) -> Result<Step, Box<Diagnostic>> {
    let text = item.text();
    let refuse = |why: &str, help: &str| {
        Err(Box::new(item.error(format!("the step {} {why}", quoted(text))).help(help)))
    };
    if let Some(factor) = text.strip_prefix('x') {
        let factor = parse_decimal(factor.trim()).ok().and_then(billionths);
        return match factor {
            Some(_) if from == 0 => {
                refuse("multiplies 0", "begin above 0, or list 0 first: `0, 1..128 x2`")
            }
            Some(factor) if factor > BILLION => Ok(Step::Times(factor)),
            Some(_) => refuse("does not lead upwards", "write a factor above 1, such as `x2`"),
            None => refuse("is not a factor", "write for example `x2`"),
        };
    }
    match text.strip_prefix('+').map(|size| amount(size.trim())) {
        None => refuse("is unknown", "write `xN` for a factor, or `+N` for a difference"),
        Some(None) => refuse("is not a number", "write for example `+5`"),
        Some(Some(size)) if size.unit != unit => {
            refuse("has another unit than the range", "write for example `1ms..9ms +2ms`")
        }
        Some(Some(size)) if size.billionths == 0 => {
            refuse("leads nowhere", "write for example `+5`")
        }
        Some(Some(size)) => Ok(Step::Add(size.billionths)),
    }
}

/// Parses a number, a number with `/s`, or a duration; `None` for any other text.
fn amount(text: &str) -> Option<Amount> {
    let number = text.strip_suffix("/s").unwrap_or(text);
    if let Some(billionths) = parse_decimal(number).ok().and_then(billionths) {
        return Some(Amount { unit: Unit::Number, billionths });
    }
    let Nanos(nanos) = parse_duration(text).ok()?;
    Some(Amount { unit: Unit::Duration, billionths: u128::from(nanos) })
}

/// Returns a number in billionths; `None` if it has more than nine decimals.
fn billionths(number: Decimal) -> Option<u128> {
    let places = 9_u32.checked_sub(number.scale)?;
    Some(u128::from(number.digits) * 10_u128.pow(places))
}

impl Values {
    fn count(&self) -> u64 {
        match self {
            Values::One(_) => 1,
            Values::Many(progression) => progression.count(),
        }
    }

    fn texts(&self) -> Vec<String> {
        match self {
            Values::One(text) => vec![text.clone()],
            Values::Many(progression) => progression.texts(),
        }
    }
}

impl Progression {
    fn count(&self) -> u64 {
        match self.step {
            Step::Add(size) => u64::try_from((self.to - self.from) / size)
                .map_or(u64::MAX, |n| n.saturating_add(1)),
            // A factor near 1 gives many values, so their number is computed without listing them.
            Step::Times(factor) => {
                let ratio = (self.to as f64 / self.from as f64).ln();
                let computed = (ratio / (factor as f64 / BILLION as f64).ln()) as u64 + 1;
                // Products are rounded down, so up to twice as many values may fit into the range.
                let listed = self.values().take(MOST_VALUES as usize + 1).count() as u64;
                computed.max(listed)
            }
        }
    }

    /// Returns the values before rounding, in billionths of their unit.
    fn values(self) -> impl Iterator<Item = u128> {
        let next = move |value: &u128| {
            let next = match self.step {
                Step::Add(size) => value.saturating_add(size),
                Step::Times(factor) => value.saturating_mul(factor) / BILLION,
            };
            // A product may be rounded down to the value before it, which would repeat forever.
            (next <= self.to && next > *value).then_some(next)
        };
        std::iter::successors(Some(self.from), next)
    }

    /// Returns the texts of the values. If both ends are whole numbers, all values are rounded to
    /// whole numbers, and values that become equal are left out.
    fn texts(&self) -> Vec<String> {
        let is_whole = |value: u128| self.unit == Unit::Number && value.is_multiple_of(BILLION);
        let rounds = is_whole(self.from) && is_whole(self.to);
        let round = |value: u128| match rounds {
            true => (value + BILLION / 2) / BILLION * BILLION,
            false => value,
        };
        let texts = self.values().map(|value| self.unit.print(round(value)));
        let mut texts: Vec<String> = texts.collect();
        texts.dedup();
        texts
    }
}

impl Unit {
    fn print(self, billionths: u128) -> String {
        match self {
            Unit::Duration => Nanos(u64::try_from(billionths).unwrap_or(u64::MAX)).to_string(),
            Unit::Number => {
                let text = format!("{}.{:09}", billionths / BILLION, billionths % BILLION);
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::LocatedText;

    fn check(text: &str, expected: &[&str]) {
        let located = LocatedText::whole(text, 0);
        let range = Range::parse(located.excerpt()).expect(text);
        let values = range.values().expect(text);
        let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
        assert_eq!(texts, expected, "{text}");
        assert!(range.count() >= expected.len() as u64, "{text}: {}", range.count());
    }

    #[test]
    fn range_is_a_list_or_a_progression() {
        check("1, 2, 4", &["1", "2", "4"]);
        check("1..128 x2", &["1", "2", "4", "8", "16", "32", "64", "128"]);
        check("1..16 +5", &["1", "6", "11", "16"]);
        check("1..16+5", &["1", "6", "11", "16"]);
        check("1..100x2, 200", &["1", "2", "4", "8", "16", "32", "64", "200"]);
        check("0, 1..4 x2", &["0", "1", "2", "4"]);
        check("off, on", &["off", "on"]);
        check("8..8 x2", &["8"]);
    }

    #[test]
    fn values_keep_their_unit() {
        check("500/s..2k/s x2", &["500", "1000", "2000"]);
        check("500/s, 700/s", &["500", "700"]);
        check("500us..4ms x2", &["500us", "1ms", "2ms", "4ms"]);
        check("1s..90s +30s", &["1s", "31s", "1m1s"]);
        check("0.1..0.4 +0.1", &["0.1", "0.2", "0.3", "0.4"]);
        check("64MB, 128MB", &["64MB", "128MB"]);
        check("ramp(1..5, 3s), step(1, 2)", &["ramp(1..5, 3s)", "step(1, 2)"]);
    }

    #[test]
    fn whole_ends_give_whole_values() {
        check("1..10 x1.5", &["1", "2", "3", "5", "8"]);
        check("1..1.2 x1.1", &["1", "1.1"]);
    }

    #[test]
    fn values_that_are_rounded_down_are_counted() {
        let billionths = [2, 3, 4, 6, 9, 13, 19].map(|n| format!("0.{n:09}"));
        let expected: Vec<&str> = billionths.iter().map(String::as_str).collect();
        check("0.000000002..0.00000002 x1.5", &expected);
        let many = "1us..2us x1.001";
        refused(many, "the range has 1,001 values: at most 1,000", many);
    }

    fn refused(text: &str, message: &str, place: &str) {
        let located = LocatedText::whole(text, 0);
        let found = Range::parse(located.excerpt()).and_then(|range| range.values());
        let error = found.expect_err(text);
        let span = error.span.unwrap();
        assert_eq!((error.message.as_str(), &text[span.start..span.end]), (message, place));
        assert!(error.help.is_some(), "{text}");
    }

    #[test]
    fn descending_empty_and_stepless_ranges_are_refused() {
        refused("", "the range is empty", "");
        refused("1,, 2", "a value is missing next to a comma", "");
        refused("128..1 x2", "the range `128..1 x2` descends", "128..1 x2");
        refused("1..128", "`1..128` has no step", "1..128");
        refused("1..", "`1..` lacks an end", "1..");
        refused("1.. x2", "`1.. x2` lacks an end", "1.. x2");
        refused("..8 x2", "`..8 x2` lacks an end", "..8 x2");
        refused("1..128 2", "the step `2` is unknown", "2");
        refused("1..128 x1", "the step `x1` does not lead upwards", "x1");
        refused("0..128 x2", "the step `x2` multiplies 0", "x2");
        refused("1..128 +0", "the step `+0` leads nowhere", "+0");
        refused("1..128 x", "the step `x` is not a factor", "x");
        refused("1ms..9ms +2", "the step `+2` has another unit than the range", "+2");
        refused("1..9ms +2", "`1` and `9ms` have different units", "1..9ms +2");
        refused("a..9 +2", "`a` is neither a number nor a duration", "a");
    }

    #[test]
    fn huge_ranges_are_counted_without_listing_them() {
        let most = "1..18446744073 x1.000000001";
        for text in ["1..1000000000 +1", most, "1ns..200000h +1ns"] {
            let located = LocatedText::whole(text, 0);
            let range = Range::parse(located.excerpt()).expect(text);
            assert!(range.count() >= 1_000_000_000, "{text}: {}", range.count());
            assert!(range.values().is_err(), "{text}");
        }
        refused("1..1001 +1", "the range has 1,001 values: at most 1,000", "1..1001 +1");
    }

    #[test]
    fn values_have_numbers() {
        let check = |text: &str, expected: Option<f64>| assert_eq!(numeric_value(text), expected);
        check("16", Some(16.0));
        check("1.5k", Some(1500.0));
        check("500/s", Some(500.0));
        check("250ms", Some(0.25));
        check("64MB", None);
        check("off", None);
    }
}
