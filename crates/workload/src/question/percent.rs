//! Changes in percent, with a sign.

use base::Diagnostic;
use base::units::Decimal;

use super::metric::Scale;
use crate::read::Excerpt;
use crate::wording::quoted;

/// Largest change that can be written, as a fraction: 1,000,000 %.
const LARGEST: f64 = 10_000.0;

/// Parses a change such as `-5%` or `+0.5%`, and returns it as a fraction.
pub(super) fn change(item: Excerpt<'_>) -> Result<f64, Diagnostic> {
    let text = item.text();
    // Answers print the minus sign `−`, and users may copy it.
    let first = text.chars().next();
    let sign = match first {
        Some('+') => Some(1.0),
        Some('-' | '−') => Some(-1.0),
        _ => None,
    };
    let unsigned = &text[first.filter(|_| sign.is_some()).map_or(0, char::len_utf8)..];
    let example = "a change is in percent, with its sign: `-5%`, `+40%`";
    let size = share(item, unsigned).map_err(|error| error.help(example))?;
    let refuse =
        |why: &str, help: String| Err(item.error(format!("{} {why}", quoted(text))).help(help));
    match (sign, size) {
        (_, size) if size > LARGEST => refuse("is too large", "at most 1,000,000 %".to_owned()),
        // Zero needs no sign.
        (_, 0.0) => Ok(0.0),
        (None, _) => refuse("has no sign", format!("write `+{text}` or `-{text}`")),
        (Some(sign), size) => Ok(sign * size),
    }
}

/// Parses `unsigned`, a percentage without a sign, and returns it as a fraction. Errors quote
/// `item`, the text from which `unsigned` was taken.
pub(super) fn share(item: Excerpt<'_>, unsigned: &str) -> Result<f64, Diagnostic> {
    let refuse = |why: &str| Err(item.error(format!("{} {why}", quoted(item.text()))));
    let Some(number) = unsigned.strip_suffix('%') else {
        return refuse("is not a percentage");
    };
    match Decimal::parse(number.trim()) {
        Ok(decimal) => Ok(fraction(decimal)),
        Err(error) => refuse(&error.to_string()),
    }
}

/// Checks that a change is possible on this scale.
pub(super) fn check_possible(
    item: Excerpt<'_>,
    change: f64,
    scale: Scale,
) -> Result<(), Diagnostic> {
    let (why, help) = match scale {
        Scale::Ratio if change <= -1.0 => {
            ("leaves nothing of the baseline", "write a change above `-100%`")
        }
        Scale::Difference if change.abs() > 1.0 => {
            ("is more than all requests", "write points of a share, from `-100%` to `+100%`")
        }
        Scale::Ratio | Scale::Difference => return Ok(()),
    };
    Err(item.error(format!("{} {why}", quoted(item.text()))).help(help))
}

/// Converts a percentage to a fraction, as the nearest double.
fn fraction(percent: Decimal) -> f64 {
    let text = format!("{}e-{}", percent.digits, percent.scale + 2);
    text.parse().expect("digits and an exponent are a number")
}

/// Formats a change in percent, with its sign: `-5%`.
pub(super) fn printed(change: f64) -> String {
    let percent = in_percent(change);
    if percent < 0.0 { format!("{percent}%") } else { format!("+{}%", percent.abs()) }
}

/// Formats a share in percent, without a sign: `95%`.
pub(super) fn unsigned(share: f64) -> String {
    format!("{}%", in_percent(share))
}

/// Returns a fraction in percent, rounded to nine decimals to remove the rounding error of the
/// multiplication; nine decimals are more than anyone writes.
fn in_percent(fraction: f64) -> f64 {
    (fraction * 100.0 * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::LocatedText;

    fn parse(text: &str) -> Result<f64, Diagnostic> {
        change(LocatedText::whole(text, 0).excerpt().trim())
    }

    #[test]
    fn change_is_the_nearest_double() {
        for (text, change) in [
            ("-5%", -0.05),
            ("−5 %", -0.05),
            ("+0.1 %", 0.001),
            (" +40% ", 0.4),
            ("0%", 0.0),
            ("-0%", 0.0),
        ] {
            let parsed = parse(text).unwrap();
            assert_eq!(parsed, change, "{text}");
            assert!(parsed.is_sign_positive() || parsed < 0.0, "{text}");
        }
        assert_eq!(printed(-0.05), "-5%");
        assert_eq!(printed(0.001), "+0.1%");
        assert_eq!(printed(0.0), "+0%");
        assert_eq!(printed(-0.07), "-7%");
        assert_eq!(unsigned(0.07), "7%");
    }

    #[test]
    fn change_without_percent_or_sign_is_refused() {
        let message = |text: &str| parse(text).unwrap_err().message;
        assert_eq!(message("-5"), "`-5` is not a percentage");
        assert_eq!(message("5%"), "`5%` has no sign");
        assert_eq!(message("--5%"), "`--5%` is negative");
        assert_eq!(message("+x%"), "`+x%` is not a number");
        assert_eq!(message("+2000000%"), "`+2000000%` is too large");
        assert_eq!(message(""), "`` is not a percentage");
    }
}
