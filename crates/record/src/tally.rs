//! Counts, errors and histograms of one account (a job, a part of a mix, or a job at one server).

use base::{Class, Code, Nanos, StatementId};

use crate::balance::{Counts, EndCounts, Failure, Outcome, sum_of_rows};
use crate::histogram::Histograms;
use crate::kind::Kind;
use crate::timestamps::RequestTimestamps;

/// A request that has ended, with everything that is recorded about it except the service times of
/// its statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Timestamps of the request. If it was never sent, `assigned` and `sent` have no meaning.
    pub timestamps: RequestTimestamps,
    /// True if the first byte of the request was sent.
    pub sent: bool,
    /// Outcome of the request.
    pub outcome: Outcome,
    /// Rows, bytes and retries of the request.
    pub work: RequestWork,
}

/// The work of a request. Bytes and waits are sums over all its attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestWork {
    /// Number of rows that the last attempt returned or affected, at most
    /// [`MAX_ROWS`](crate::MAX_ROWS); 0 unless the request was completed.
    pub rows: u64,
    /// Number of bytes sent.
    pub bytes_sent: u64,
    /// Number of bytes received.
    pub bytes_received: u64,
    /// Number of attempts after the first.
    pub retries: u32,
    /// Number of times that a write waited for the lock of another connection.
    pub busy_waits: u32,
}

/// Counters, error codes and histograms of some requests of one account.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Counters by the intended start of the requests.
    pub counts: Counts,
    /// Counters by the end of the requests.
    pub ends: EndCounts,
    /// Errors by class and code, counted at the intended start of the requests.
    pub failures: Failures,
    /// Histograms by the intended start of the requests.
    pub histograms: Histograms,
}

impl Tally {
    /// Creates an empty tally for an account with this many statements.
    pub fn new(statements: u16) -> Tally {
        Tally {
            counts: Counts::default(),
            ends: EndCounts::default(),
            failures: Failures::default(),
            histograms: Histograms::new(statements),
        }
    }

    /// Counts a request in the interval of its intended start. `statements` has the service times
    /// of the request's statements, in order. [`UNANSWERED`] stands for a statement that failed
    /// without ending the request.
    #[inline]
    pub fn record_start(&mut self, sample: &Sample, statements: &[Nanos]) {
        self.counts.record(sample);
        self.counts.overflows += self.histograms.record_request(sample, statements);
        self.failures.record(sample);
    }

    /// Counts a request in the interval of its end.
    #[inline]
    pub fn record_end(&mut self, sample: &Sample) {
        self.ends.record(sample);
    }

    /// Adds another tally of the same account.
    pub fn merge(&mut self, other: &Tally) {
        let Tally { counts, ends, failures, histograms } = other;
        self.counts.merge(counts);
        self.ends.merge(ends);
        self.failures.merge(failures);
        self.histograms.merge(histograms);
    }

    /// Returns true if nothing has been counted.
    pub fn is_empty(&self) -> bool {
        // The histograms must be checked too: an interval may contain nothing but a time between
        // two arrivals.
        self.counts == Counts::default()
            && self.ends == EndCounts::default()
            && self.histograms.are_empty()
    }

    /// Empties the tally without freeing its memory.
    pub fn reset(&mut self) {
        let Tally { counts, ends, failures, histograms } = self;
        *counts = Counts::default();
        *ends = EndCounts::default();
        failures.0.clear();
        histograms.reset();
    }
}

impl Counts {
    /// Counts a request by its intended start, without its times.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        let RequestWork { rows, bytes_sent, bytes_received, retries, busy_waits } = sample.work;
        self.balance.settle(&sample.outcome);
        self.bytes_sent += bytes_sent;
        self.bytes_received += bytes_received;
        self.retries += u64::from(retries);
        self.busy_waits += u64::from(busy_waits);
        match &sample.outcome {
            Outcome::Completed => self.rows = sum_of_rows(self.rows, rows),
            Outcome::Failed(failure) => {
                self.timeouts += u64::from(failure.class == Class::Timeout);
                self.accepted_errors += u64::from(failure.accepted);
            }
            Outcome::Rejected | Outcome::Unsent => {}
        }
    }
}

impl EndCounts {
    /// Counts a request in the interval of its end.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        match &sample.outcome {
            Outcome::Completed => {
                self.completed += 1;
                self.rows = sum_of_rows(self.rows, sample.work.rows);
            }
            Outcome::Failed(_) => self.errors += 1,
            Outcome::Rejected | Outcome::Unsent => {}
        }
    }
}

/// Marker in place of the service time of a statement that failed without ending its request.
pub const UNANSWERED: Nanos = Nanos::MAX;

impl Histograms {
    /// Counts the times of a request in the histograms that its outcome requires. Returns the
    /// number of these times that exceed the range of the histograms.
    #[inline]
    pub fn record_request(&mut self, sample: &Sample, statements: &[Nanos]) -> u64 {
        let timestamps = &sample.timestamps;
        let mut overflows = 0;
        let mut record = |kind, time| overflows += self.record(kind, time);
        match &sample.outcome {
            Outcome::Completed | Outcome::Failed(Failure { class: Class::Timeout, .. }) => {
                record(Kind::Response, timestamps.response());
                record(Kind::Service, timestamps.service());
            }
            Outcome::Failed(_) => record(Kind::Error, timestamps.response()),
            Outcome::Unsent => record(Kind::Response, timestamps.response()),
            Outcome::Rejected => {}
        }
        if sample.sent {
            record(Kind::Wait, timestamps.wait());
            record(Kind::SendLag, timestamps.send_lag());
        }
        for (index, service) in statements.iter().enumerate() {
            if *service != UNANSWERED {
                record(Kind::Statement(StatementId(index as u16)), *service);
            }
        }
        overflows
    }
}

/// Errors by class and code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures(Vec<(Class, Code, u64)>);

impl Default for Failures {
    fn default() -> Failures {
        Failures(Vec::with_capacity(8))
    }
}

impl Failures {
    /// Maximum number of different pairs of class and code. Errors with further pairs are counted
    /// under the code `other` of their class; these entries come in addition.
    pub const LIMIT: usize = 64;

    /// Counts a request that ended in an error.
    pub fn record(&mut self, sample: &Sample) {
        if let Outcome::Failed(failure) = &sample.outcome {
            self.add(failure.class, failure.code, 1);
        }
    }

    /// Adds `count` errors with this class and code.
    pub fn add(&mut self, class: Class, code: Code, count: u64) {
        if let Some(entry) = self.0.iter_mut().find(|(c, k, _)| (*c, *k) == (class, code)) {
            entry.2 += count;
        } else if self.0.len() < Failures::LIMIT {
            self.0.push((class, code, count));
        } else {
            // There is at most one entry `other` per class. These entries may exceed the limit.
            let other = Code::new("other");
            match self.0.iter_mut().find(|(c, k, _)| (*c, *k) == (class, other)) {
                Some(entry) => entry.2 += count,
                None => self.0.push((class, other, count)),
            }
        }
    }

    /// Returns the class, the code and the number of errors of each entry.
    pub fn iter(&self) -> impl Iterator<Item = (Class, Code, u64)> {
        self.0.iter().copied()
    }

    /// Adds the errors of another interval or lane.
    pub fn merge(&mut self, other: &Failures) {
        for (class, code, count) in other.iter() {
            self.add(class, code, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::Balance;
    use base::Stamp;
    use proptest::prelude::*;

    fn sample(outcome: Outcome, sent: bool) -> Sample {
        let [intended, noticed, assigned, sent_at, done] = [0, 10, 30, 60, 100].map(Stamp);
        let timestamps = RequestTimestamps { intended, noticed, assigned, sent: sent_at, done };
        let work =
            RequestWork { rows: 2, bytes_sent: 5, bytes_received: 9, retries: 1, busy_waits: 3 };
        Sample { timestamps, sent, outcome, work }
    }

    fn failed(class: Class) -> Outcome {
        Outcome::Failed(Failure { class, code: Code::new("x"), accepted: class == Class::Conflict })
    }

    /// Returns the kinds of times that were recorded, each with its longest time.
    fn recorded(tally: &Tally) -> Vec<(String, u64)> {
        let filled = tally.histograms.iter().filter(|(_, times)| !times.is_empty());
        filled.map(|(kind, times)| (kind.name(), times.max())).collect()
    }

    fn check(outcome: Outcome, sent: bool, expected: &[(&str, u64)]) -> Tally {
        let mut tally = Tally::new(1);
        tally.record_start(&sample(outcome, sent), &[Nanos(7)][..usize::from(sent)]);
        let expected: Vec<_> = expected.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
        assert_eq!(recorded(&tally), expected);
        tally
    }

    const LAGS: [(&str, u64); 3] = [("wait", 20), ("send-lag", 40), ("statement-1", 7)];

    #[test]
    fn every_outcome_reaches_the_histograms_that_the_contract_names() {
        let answered = [&[("response", 100), ("service", 40)][..], &LAGS].concat();
        let completed = check(Outcome::Completed, true, &answered);
        assert_eq!(completed.counts.rows, 2);
        let timeout = check(failed(Class::Timeout), true, &answered);
        assert_eq!((timeout.counts.timeouts, timeout.counts.rows), (1, 0));
        check(failed(Class::Disconnect), false, &[("error", 100)]);
        check(Outcome::Unsent, false, &[("response", 100)]);
        check(Outcome::Rejected, false, &[]);
        let mut tally = Tally::new(1);
        tally.record_start(&sample(failed(Class::Conflict), true), &[]);
        let expected = [("wait", 20), ("send-lag", 40), ("error", 100)];
        assert_eq!(recorded(&tally), expected.map(|(k, v)| (k.to_owned(), v)));
        assert_eq!(tally.counts.accepted_errors, 1);
        assert_eq!(tally.failures.iter().next(), Some((Class::Conflict, Code::new("x"), 1)));
    }

    #[test]
    fn merged_parts_are_the_whole() {
        let outcomes = [
            Outcome::Completed,
            failed(Class::Timeout),
            failed(Class::Conflict),
            Outcome::Rejected,
            Outcome::Unsent,
        ];
        let mut whole = Tally::new(0);
        let mut merged = Tally::new(0);
        for outcome in outcomes {
            let mut part = Tally::new(0);
            for tally in [&mut whole, &mut part] {
                tally.counts.arrivals += 1;
                tally.record_start(&sample(outcome, outcome == Outcome::Completed), &[]);
                tally.record_end(&sample(outcome, true));
            }
            merged.merge(&part);
        }
        assert_eq!(merged.counts, whole.counts);
        assert_eq!(merged.counts.balance, Balance::of(1, 2, 1, 1));
        assert_eq!(merged.ends, EndCounts { completed: 1, errors: 2, rows: 2 });
        assert_eq!(merged.failures, whole.failures);
        assert_eq!(recorded(&merged), recorded(&whole));
        merged.reset();
        assert!(merged.is_empty() && recorded(&merged).is_empty());
    }

    fn any_sample() -> impl Strategy<Value = Sample> {
        let outcome = (0..5usize, 0..3usize).prop_map(|(outcome, code)| match outcome {
            0 => Outcome::Completed,
            1 => Outcome::Rejected,
            2 => Outcome::Unsent,
            _ => Outcome::Failed(Failure {
                class: [Class::Timeout, Class::Conflict, Class::Server][code],
                code: Code::new(["timeout", "40001", "53100"][code]),
                accepted: code == 1,
            }),
        });
        (outcome, 1..10_000_000_000_000u64).prop_map(|(outcome, time)| {
            let mut sample = sample(outcome, true);
            sample.timestamps.done = Stamp(100 + time);
            sample
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(32)
        })]

        #[test]
        fn requests_merge_in_any_grouping_and_order(
            samples in proptest::collection::vec((any_sample(), 0..4usize), 0..60),
        ) {
            let mut whole = Tally::new(1);
            let mut parts = vec![Tally::new(1); 4];
            for (sample, part) in &samples {
                for tally in [&mut whole, &mut parts[*part]] {
                    tally.record_start(sample, &[sample.timestamps.service()]);
                    tally.record_end(sample);
                }
            }
            let [first, second, third, fourth] = &mut parts[..] else { unreachable!() };
            // The times are merged in a different order and different groups than they were
            // recorded in.
            third.merge(second);
            fourth.merge(first);
            fourth.merge(third);
            prop_assert_eq!(fourth.counts, whole.counts);
            prop_assert_eq!(fourth.ends, whole.ends);
            let sorted = |tally: &Tally| {
                let mut failures: Vec<_> = tally.failures.iter().collect();
                failures.sort_unstable();
                failures
            };
            prop_assert_eq!(sorted(fourth), sorted(&whole));
            for (kind, _) in whole.histograms.iter() {
                prop_assert_eq!(fourth.histograms.of(kind), whole.histograms.of(kind));
            }
        }
    }

    #[test]
    fn a_flood_of_codes_is_bounded() {
        let mut failures = Failures::default();
        for number in 0..1_000 {
            failures.add(Class::Server, Code::new(&number.to_string()), 1);
        }
        assert_eq!(failures.iter().count(), Failures::LIMIT + 1);
        assert_eq!(failures.iter().map(|(_, _, count)| count).sum::<u64>(), 1_000);
    }
}
