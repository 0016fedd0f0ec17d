//! Lists of numbers: `1 2 4 8`, `1..128 x2`, `10..100 +10`.

use base::Diagnostic;
use base::units::{Decimal, parse_decimal};

use crate::read::Excerpt;
use crate::shape::{UNIT, in_decimal};
use crate::wording::quoted;

/// Maximum number of elements in a list.
const MOST_NUMBERS: usize = 10_000;

/// Help for a malformed list.
const HELP: &str = "write `100 200 400`, `1..128 x2` for 1 2 4 … 128, or `10..100 +10`";

/// Parses a list of numbers. A range begins with its lower end, and includes its upper end if the
/// growth leads exactly to it. The numbers of a geometric range are rounded down to nine decimals.
///
/// # Errors
/// No number, an invalid number, a range that does not grow or ends below its beginning, or too
/// many numbers.
pub(super) fn numbers(list: Excerpt<'_>) -> Result<Vec<Decimal>, Diagnostic> {
    if let Some((ends, growth)) = split_range(list) {
        return range(list, ends, growth);
    }
    let numbers: Vec<Decimal> = words(list).map(number).collect::<Result<_, _>>()?;
    match numbers.len() {
        0 => Err(list.error("the list of numbers is empty").help(HELP)),
        1..=MOST_NUMBERS => Ok(numbers),
        _ => Err(too_many(list)),
    }
}

/// Splits a text at white space.
pub(super) fn words(text: Excerpt<'_>) -> impl Iterator<Item = Excerpt<'_>> {
    let mut rest = text.trim();
    std::iter::from_fn(move || {
        let length = rest.text().len();
        let end = rest.text().find(char::is_whitespace).unwrap_or(length);
        let word = rest.part(0..end);
        rest = rest.part(end..length).trim();
        (end > 0).then_some(word)
    })
}

/// Splits a range into its ends and its growth; `None` for a text without `..`.
fn split_range(list: Excerpt<'_>) -> Option<((Excerpt<'_>, Excerpt<'_>), Excerpt<'_>)> {
    let list = list.trim();
    let length = list.text().len();
    let dots = list.text().find("..")?;
    let end = list.text()[dots..].find(char::is_whitespace).map_or(length, |end| dots + end);
    let ends = (list.part(0..dots).trim(), list.part(dots + 2..end));
    Some((ends, list.part(end..length).trim()))
}

fn range(
    list: Excerpt<'_>,
    (low, high): (Excerpt<'_>, Excerpt<'_>),
    growth: Excerpt<'_>,
) -> Result<Vec<Decimal>, Diagnostic> {
    let (first, last) = (billionths(low)?, billionths(high)?);
    if first > last {
        let message = format!("{} ends below its beginning", quoted(list.text()));
        return Err(list.error(message).help("begin with the lower number"));
    }
    let length = growth.text().len();
    let by = |growth: Excerpt<'_>| billionths(growth.part(1..length)).map(u128::from);
    let next: Box<dyn Fn(u128) -> u128> = match growth.text().as_bytes().first() {
        Some(b'x') => {
            let factor = by(growth)?;
            Box::new(move |number| number * factor / u128::from(UNIT))
        }
        Some(b'+') => {
            let step = by(growth)?;
            Box::new(move |number| number + step)
        }
        _ => {
            let message = format!("{} does not say how it grows", quoted(list.text()));
            return Err(list.error(message).help(HELP));
        }
    };
    let mut numbers = Vec::new();
    let mut number = u128::from(first);
    while let Some(fits) = u64::try_from(number).ok().filter(|number| *number <= last) {
        if numbers.len() == MOST_NUMBERS {
            return Err(too_many(list));
        }
        numbers.push(in_decimal(fits));
        let following = next(number);
        if following <= number {
            let message = format!("{} does not make the numbers grow", quoted(growth.text()));
            return Err(growth.error(message).help(HELP));
        }
        number = following;
    }
    Ok(numbers)
}

fn number(word: Excerpt<'_>) -> Result<Decimal, Diagnostic> {
    parse_decimal(word.text())
        .map_err(|error| word.error(format!("{} {error}", quoted(word.text()))).help(HELP))
}

/// Parses a number of a range, in billionths.
fn billionths(word: Excerpt<'_>) -> Result<u64, Diagnostic> {
    let number = number(word)?;
    in_billionths(number).ok_or_else(|| word.error(format!("{} is too large", quoted(word.text()))))
}

/// Converts a number to billionths, rounded down; `None` if the result is too large.
pub(super) fn in_billionths(number: Decimal) -> Option<u64> {
    let billionths = u128::from(number.digits) * u128::from(UNIT);
    u64::try_from(billionths / 10u128.pow(number.scale)).ok()
}

fn too_many(list: Excerpt<'_>) -> Diagnostic {
    list.error("the list has more than 10,000 numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::LocatedText;

    fn check(list: &str, expected: &str) {
        let located = LocatedText::whole(list, 0);
        let answer = match numbers(located.excerpt()) {
            Ok(numbers) => numbers.iter().map(Decimal::to_string).collect::<Vec<_>>().join(" "),
            Err(diagnostic) => diagnostic.message,
        };
        assert_eq!(answer, expected, "{list}");
    }

    #[test]
    fn lists_are_written_out_or_ranges() {
        check("100 200\t400", "100 200 400");
        check("5", "5");
        check("1k 1.5M 0.01 0", "1000 1500000 0.01 0");
        check("1..128 x2", "1 2 4 8 16 32 64 128");
        check("1..100 x3", "1 3 9 27 81");
        check("1..10 x1.5", "1 1.5 2.25 3.375 5.0625 7.59375");
        check(" 10..50 +10 ", "10 20 30 40 50");
        check("0..1 +0.25", "0 0.25 0.5 0.75 1");
        check("1k..3k +1k", "1000 2000 3000");
        check("7..7 x2", "7");
    }

    #[test]
    fn invalid_list_reports_its_reason() {
        check("", "the list of numbers is empty");
        check("1 two 3", "`two` is not a number");
        check("1, 2", "`1,` is not a number");
        check("-1 2", "`-1` is negative");
        check("1..", "`` is not a number");
        check("..5 x2", "`` is not a number");
        check("1..8", "`1..8` does not say how it grows");
        check("1..8 2", "`1..8 2` does not say how it grows");
        check("1..8 x", "`` is not a number");
        check("8..1 x2", "`8..1 x2` ends below its beginning");
        check("0..8 x2", "`x2` does not make the numbers grow");
        check("1..8 x1", "`x1` does not make the numbers grow");
        check("1..8 +0", "`+0` does not make the numbers grow");
        check("1..8 x2 9", "`2 9` is not a number");
        check("1..1e18 x2", "`1e18` is too large");
        check("1..20k +1", "the list has more than 10,000 numbers");
    }
}
