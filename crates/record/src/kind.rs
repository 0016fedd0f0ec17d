//! The quantities that histograms count, with their names and ranges.

use base::{Nanos, StatementId};
use hdrhistogram::Histogram;

/// The quantity that a histogram counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Response time of completed requests and of timeouts; for unsent requests, the time from the
    /// intended start until they were given up.
    Response,
    /// Service time of completed requests and timeouts.
    Service,
    /// Time for which requests waited for a free worker or connection. Counted for all requests
    /// that were sent.
    Wait,
    /// Send lag, which is the generator's own lateness. Counted for all requests that were sent.
    SendLag,
    /// Response time of requests that ended in an error other than a timeout.
    Error,
    /// Time between two successive arrivals of a job with a schedule or a log, as one lane noticed
    /// them.
    Gap,
    /// Service time of one statement.
    Statement(StatementId),
}

impl Kind {
    /// The kinds that every account has, even one without statements.
    pub const OF_A_JOB: [Kind; 6] =
        [Kind::Response, Kind::Service, Kind::Wait, Kind::SendLag, Kind::Error, Kind::Gap];

    /// Returns the name of this kind in records and exports: `response`, `statement-1`.
    pub fn name(self) -> String {
        match self {
            Kind::Response => "response".to_owned(),
            Kind::Service => "service".to_owned(),
            Kind::Wait => "wait".to_owned(),
            Kind::SendLag => "send-lag".to_owned(),
            Kind::Error => "error".to_owned(),
            Kind::Gap => "gap".to_owned(),
            Kind::Statement(statement) => format!("statement-{}", statement.index() + 1),
        }
    }

    /// Returns the kind with this name; `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<Kind> {
        if let Some(number) = name.strip_prefix("statement-") {
            let index = number.parse::<u16>().ok()?.checked_sub(1)?;
            return Some(Kind::Statement(StatementId(index)));
        }
        Kind::OF_A_JOB.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the precision of the histograms of this kind, in significant decimal digits.
    pub fn digits(self) -> u8 {
        match self {
            Kind::Response | Kind::Service | Kind::Error => 3,
            Kind::Wait | Kind::SendLag | Kind::Gap | Kind::Statement(_) => 2,
        }
    }

    /// Creates an empty histogram for this kind.
    ///
    /// The unit is the nanosecond. The precision is guaranteed from 1 µs to [`HIGHEST`].
    pub fn histogram<C: hdrhistogram::Counter>(self) -> Histogram<C> {
        Histogram::new_with_bounds(1, HIGHEST.0, self.digits()).expect("the bounds are constants")
    }
}

/// The longest time that a histogram can count: one hour. A longer time is counted as this time.
/// For a time of a request or a statement, an overflow is counted as well.
pub const HIGHEST: Nanos = Nanos::from_secs(3_600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in Kind::OF_A_JOB
            .into_iter()
            .chain([0, 12].map(|index| Kind::Statement(StatementId(index))))
        {
            assert_eq!(Kind::from_name(&kind.name()), Some(kind));
        }
        assert_eq!(Kind::from_name("statement-0"), None);
        assert_eq!(Kind::from_name("statement-x"), None);
        assert_eq!(Kind::from_name("latency"), None);
    }

    #[test]
    fn times_keep_their_digits_from_a_microsecond_to_an_hour() {
        for nanos in [1_000u64, 1_234, 987_654, 123_456_789, HIGHEST.0] {
            let mut histogram = Kind::Response.histogram::<u32>();
            histogram.saturating_record(nanos);
            let error = histogram.max() as f64 / nanos as f64 - 1.0;
            assert!((0.0..1e-3).contains(&error), "{nanos}: {error}");
        }
    }
}
