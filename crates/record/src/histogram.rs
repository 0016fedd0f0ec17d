//! The histograms of a job and their ranges.

use base::Nanos;
use hdrhistogram::Histogram;

use crate::times::Times;

/// The quantity of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Response time of completed requests, of timeouts, and of unsent requests at their age.
    Response,
    /// Service time of completed requests and timeouts.
    Service,
    /// Wait for a free worker or connection, of all requests that were sent.
    Wait,
    /// The generator's own lateness, of all requests that were sent.
    SendLag,
    /// Response time of requests that ended in an error other than a timeout.
    Error,
    /// Gap between two arrivals of a scheduled job, as noticed by one lane.
    Gap,
    /// Service time of one statement, by its index in the job.
    Statement(u16),
}

impl Kind {
    /// The kinds that every job has.
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
            Kind::Statement(place) => format!("statement-{}", u32::from(place) + 1),
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        if let Some(number) = name.strip_prefix("statement-") {
            return number.parse::<u16>().ok()?.checked_sub(1).map(Kind::Statement);
        }
        Kind::OF_A_JOB.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the number of significant decimal digits.
    pub fn digits(self) -> u8 {
        match self {
            Kind::Response | Kind::Service | Kind::Error => 3,
            Kind::Wait | Kind::SendLag | Kind::Gap | Kind::Statement(_) => 2,
        }
    }

    /// Creates an empty histogram for this kind.
    ///
    /// The unit is the nanosecond, and the digits are guaranteed from 1 µs to [`HIGHEST`].
    pub fn histogram<C: hdrhistogram::Counter>(self) -> Histogram<C> {
        Histogram::new_with_bounds(1, HIGHEST.0, self.digits()).expect("the bounds are constants")
    }
}

/// The longest time that a histogram resolves; longer ones are counted at it, and as overflows.
pub const HIGHEST: Nanos = Nanos::from_secs(3_600);

/// The histograms of one job in one interval.
#[derive(Clone, Debug)]
pub struct Histograms {
    response: Times,
    service: Times,
    wait: Times,
    send_lag: Times,
    error: Times,
    gap: Times,
    statements: Vec<Times>,
}

impl Histograms {
    /// Creates empty histograms for a job with this many statements.
    pub fn new(statements: u16) -> Histograms {
        Histograms {
            response: Times::new(Kind::Response),
            service: Times::new(Kind::Service),
            wait: Times::new(Kind::Wait),
            send_lag: Times::new(Kind::SendLag),
            error: Times::new(Kind::Error),
            gap: Times::new(Kind::Gap),
            statements: (0..statements).map(|place| Times::new(Kind::Statement(place))).collect(),
        }
    }

    /// Counts a time. Returns 1 if it was beyond [`HIGHEST`], otherwise 0.
    #[inline]
    pub(crate) fn record(&mut self, kind: Kind, time: Nanos) -> u64 {
        self.times_mut(kind).record(time.0);
        u64::from(time > HIGHEST)
    }

    #[inline]
    pub(crate) fn times_mut(&mut self, kind: Kind) -> &mut Times {
        match kind {
            Kind::Response => &mut self.response,
            Kind::Service => &mut self.service,
            Kind::Wait => &mut self.wait,
            Kind::SendLag => &mut self.send_lag,
            Kind::Error => &mut self.error,
            Kind::Gap => &mut self.gap,
            Kind::Statement(place) => &mut self.statements[usize::from(place)],
        }
    }

    /// Returns the times of every kind, including empty ones.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, &Times)> {
        let Histograms { response, service, wait, send_lag, error, gap, statements } = self;
        let of_the_job = [
            (Kind::Response, response),
            (Kind::Service, service),
            (Kind::Wait, wait),
            (Kind::SendLag, send_lag),
            (Kind::Error, error),
            (Kind::Gap, gap),
        ];
        let statements = statements
            .iter()
            .enumerate()
            .map(|(place, times)| (Kind::Statement(place as u16), times));
        of_the_job.into_iter().chain(statements)
    }

    /// Returns true if no time has been counted.
    pub fn are_empty(&self) -> bool {
        self.iter().all(|(_, times)| times.is_empty())
    }

    /// Adds the histograms of the same job from another interval or lane.
    pub fn merge(&mut self, other: &Histograms) {
        for (kind, times) in other.iter() {
            self.times_mut(kind).merge(times);
        }
    }

    /// Returns the histogram of a kind.
    pub fn of(&self, kind: Kind) -> Histogram<u32> {
        self.times(kind).to_histogram(kind)
    }

    /// Returns the times of a kind.
    pub fn times(&self, kind: Kind) -> &Times {
        match kind {
            Kind::Response => &self.response,
            Kind::Service => &self.service,
            Kind::Wait => &self.wait,
            Kind::SendLag => &self.send_lag,
            Kind::Error => &self.error,
            Kind::Gap => &self.gap,
            Kind::Statement(place) => &self.statements[usize::from(place)],
        }
    }

    /// Empties all histograms and keeps their memory.
    pub(crate) fn reset(&mut self) {
        let Histograms { response, service, wait, send_lag, error, gap, statements } = self;
        let all = [response, service, wait, send_lag, error, gap].into_iter().chain(statements);
        all.for_each(Times::reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in Kind::OF_A_JOB.into_iter().chain([Kind::Statement(0), Kind::Statement(12)]) {
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

    #[test]
    fn beyond_the_range_is_counted_and_not_lost() {
        let mut histograms = Histograms::new(0);
        assert_eq!(histograms.record(Kind::Response, HIGHEST), 0);
        assert_eq!(histograms.record(Kind::Response, HIGHEST + Nanos(1)), 1);
        assert_eq!(histograms.response.len(), 2);
        histograms.reset();
        assert!(histograms.are_empty());
    }
}
