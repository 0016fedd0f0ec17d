//! The histograms of a job, of a part of a mix, or of a job at one server.

use base::{Nanos, StatementId};
use hdrhistogram::Histogram;

use crate::kind::{HIGHEST, Kind};
use crate::times::Times;

/// The histograms of one account (a job, a part of a mix, or a job at one server), for some of its
/// requests and arrivals.
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
    /// Creates empty histograms for an account with this many statements.
    pub fn new(statements: u16) -> Histograms {
        Histograms {
            response: Times::new(Kind::Response),
            service: Times::new(Kind::Service),
            wait: Times::new(Kind::Wait),
            send_lag: Times::new(Kind::SendLag),
            error: Times::new(Kind::Error),
            gap: Times::new(Kind::Gap),
            statements: (0..statements)
                .map(|index| Times::new(Kind::Statement(StatementId(index))))
                .collect(),
        }
    }

    /// Counts a time. Returns the number of overflows: 1 if the time exceeds [`HIGHEST`], otherwise
    /// 0.
    #[inline]
    pub(crate) fn record(&mut self, kind: Kind, time: Nanos) -> u64 {
        self.times_mut(kind).record(time.0);
        u64::from(time > HIGHEST)
    }

    /// Returns a mutable reference to the times of the given kind.
    #[inline]
    pub fn times_mut(&mut self, kind: Kind) -> &mut Times {
        match kind {
            Kind::Response => &mut self.response,
            Kind::Service => &mut self.service,
            Kind::Wait => &mut self.wait,
            Kind::SendLag => &mut self.send_lag,
            Kind::Error => &mut self.error,
            Kind::Gap => &mut self.gap,
            Kind::Statement(statement) => &mut self.statements[statement.index()],
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
            .map(|(index, times)| (Kind::Statement(StatementId(index as u16)), times));
        of_the_job.into_iter().chain(statements)
    }

    /// Returns true if no time has been counted in any of the histograms.
    pub fn are_empty(&self) -> bool {
        self.iter().all(|(_, times)| times.is_empty())
    }

    /// Adds the histograms of the same account from another interval or lane.
    pub fn merge(&mut self, other: &Histograms) {
        for (kind, times) in other.iter() {
            self.times_mut(kind).merge(times);
        }
    }

    /// Returns the times of the given kind, converted to the type of the `hdrhistogram` crate.
    pub fn of(&self, kind: Kind) -> Histogram<u32> {
        self.times(kind).to_histogram(kind)
    }

    /// Returns the times of the given kind.
    pub fn times(&self, kind: Kind) -> &Times {
        match kind {
            Kind::Response => &self.response,
            Kind::Service => &self.service,
            Kind::Wait => &self.wait,
            Kind::SendLag => &self.send_lag,
            Kind::Error => &self.error,
            Kind::Gap => &self.gap,
            Kind::Statement(statement) => &self.statements[statement.index()],
        }
    }

    /// Empties all histograms without freeing their memory.
    pub fn reset(&mut self) {
        let Histograms { response, service, wait, send_lag, error, gap, statements } = self;
        let all = [response, service, wait, send_lag, error, gap].into_iter().chain(statements);
        all.for_each(Times::reset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_the_range_counts_as_overflow() {
        let mut histograms = Histograms::new(0);
        assert_eq!(histograms.record(Kind::Response, HIGHEST), 0);
        assert_eq!(histograms.record(Kind::Response, HIGHEST + Nanos(1)), 1);
        assert_eq!(histograms.response.len(), 2);
        histograms.reset();
        assert!(histograms.are_empty());
    }
}
