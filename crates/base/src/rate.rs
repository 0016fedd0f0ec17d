//! Rates: exact numbers of events per second.

use std::fmt;

use crate::Nanos;
use crate::go::parse_float;
use crate::units::{Decimal, UnitError, parse_decimal};

/// A number of events per second, exactly as it was written: a decimal fraction, never a rounded
/// double.
///
/// The n-th event of a uniform schedule is at ⌊n·10⁹/rate⌋ ns. For a rate of `0.01`, this is exact
/// only if the stored rate is exactly one hundredth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    events: u64,
    per_seconds: u64,
}

/// The reason why a number is not a rate. Its `Display` is the second half of a sentence that
/// begins with the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateError {
    /// Not a number, a negative number, or a number that a [`Decimal`] cannot hold.
    Number(UnitError),
    /// Zero events per second.
    Zero,
    /// More than [`Rate::HIGHEST`].
    TooHigh,
    /// Less than one event in [`Rate::LONGEST_PERIOD`].
    TooLow,
}

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RateError::Number(error) => error.fmt(f),
            RateError::Zero => f.write_str("is zero: leave the rate out or give a number above 0"),
            RateError::TooHigh => f.write_str("is above 10,000,000 per second"),
            RateError::TooLow => f.write_str("is less than one event in a year"),
        }
    }
}

impl std::error::Error for RateError {}

impl Rate {
    /// Maximum rate, in events per second: more than a thread can send.
    pub const HIGHEST: u64 = 10_000_000;
    /// Maximum time between two events: a year.
    pub const LONGEST_PERIOD: Nanos = Nanos::from_secs(31_536_000);

    /// Parses `3000`, `0.01`, `16.7` or `50k`, and the syntax of dbbench: `1e3`, `1_000`, `0x1p-2`.
    ///
    /// # Errors
    /// Not a number, a negative number, zero, a number that a [`Decimal`] cannot hold, or a number
    /// beyond [`Rate::HIGHEST`] or [`Rate::LONGEST_PERIOD`].
    pub fn parse(text: &str) -> Result<Rate, RateError> {
        let number = parse_decimal(text).or_else(|why| match parse_float(text) {
            Err(UnitError::NotANumber) => Err(why),
            number => number,
        });
        Rate::from_decimal(number.map_err(RateError::Number)?)
    }

    /// Makes a rate from an exact decimal.
    ///
    /// # Errors
    /// Zero, or a number beyond [`Rate::HIGHEST`] or [`Rate::LONGEST_PERIOD`].
    pub fn from_decimal(number: Decimal) -> Result<Rate, RateError> {
        let rate = Rate { events: number.digits, per_seconds: 10u64.pow(number.scale) };
        if rate.events == 0 {
            return Err(RateError::Zero);
        }
        if rate.as_f64() > Rate::HIGHEST as f64 {
            return Err(RateError::TooHigh);
        }
        if rate.as_f64() * Rate::LONGEST_PERIOD.as_secs_f64() < 1.0 {
            return Err(RateError::TooLow);
        }
        Ok(rate)
    }

    /// Makes a rate of whole events per second.
    ///
    /// # Errors
    /// Zero, or more than [`Rate::HIGHEST`].
    pub fn per_second(events: u64) -> Result<Rate, RateError> {
        Rate::from_decimal(Decimal { digits: events, scale: 0 })
    }

    /// Returns the rate as the decimal fraction from which it was parsed.
    pub fn to_decimal(self) -> Decimal {
        Decimal { digits: self.events, scale: self.per_seconds.ilog10() }
    }

    /// Returns events per second as a double, rounded.
    pub fn as_f64(self) -> f64 {
        self.events as f64 / self.per_seconds as f64
    }

    /// Returns the time of the `n`-th event of a uniform schedule, counted from 1: ⌊n·10⁹/rate⌋ ns,
    /// exactly, or [`Nanos::MAX`] if the time is later. The first event is one period after the
    /// start.
    pub fn nth_uniform(self, n: u64) -> Nanos {
        let nanos = u128::from(n) * 1_000_000_000 * u128::from(self.per_seconds);
        let at = nanos / u128::from(self.events);
        Nanos(u64::try_from(at).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_event_is_exact_for_every_rate() {
        let hundredth = Rate::parse("0.01").unwrap();
        assert_eq!(hundredth.nth_uniform(1), Nanos::from_secs(100));
        assert_eq!(hundredth.nth_uniform(7), Nanos::from_secs(700));
        let third = Rate::parse("3").unwrap();
        assert_eq!(third.nth_uniform(1), Nanos(333_333_333));
        assert_eq!(third.nth_uniform(3), Nanos::from_secs(1));
        let odd = Rate::parse("16.7").unwrap();
        assert_eq!(odd.nth_uniform(167), Nanos::from_secs(10));
        let high = Rate::parse("10M").unwrap();
        assert_eq!(high.nth_uniform(u64::MAX), Nanos::MAX);
    }

    #[test]
    fn rates_accept_gos_number_syntax() {
        for (text, same) in [("1_000", "1k"), ("0x1p-2", ".25"), ("+5", "5"), ("1E3", "1000")] {
            assert_eq!(Rate::parse(text), Rate::parse(same), "{text}");
            assert!(Rate::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn rate_round_trips_every_digit() {
        for text in ["3000", "0.01", "16.7", "0.123456789012345678", "0.000001"] {
            let rate = Rate::parse(text).unwrap();
            assert_eq!(rate.to_decimal().to_string(), text);
        }
        for text in ["33.33333333333333333333", "0.0033333333333333335", "0.00000010000000000010"] {
            let rate = Rate::parse(text).unwrap();
            assert_eq!(Rate::parse(&rate.to_decimal().to_string()), Ok(rate), "{text}");
        }
    }

    #[test]
    fn rates_out_of_range_are_refused() {
        for zero in ["0", "-0", "+0.0", "0x0p0"] {
            assert_eq!(Rate::parse(zero), Err(RateError::Zero), "{zero}");
        }
        assert_eq!(Rate::parse("-5"), Err(RateError::Number(UnitError::Negative)));
        assert_eq!(Rate::parse("1e9"), Err(RateError::TooHigh));
        assert_eq!(Rate::parse("1e-11"), Err(RateError::TooLow));
        assert_eq!(Rate::parse("inf"), Err(RateError::Number(UnitError::NotANumber)));
        assert_eq!(Rate::parse("nan"), Err(RateError::Number(UnitError::NotANumber)));
    }
}
