//! The balance of scheduled requests: each request has exactly one outcome.

use base::{Class, Code};

/// The numbers of requests with each outcome, for the requests whose intended start is in a period.
///
/// There is no field for the number of scheduled requests: that number is always the sum of the
/// four outcomes, so a balance always adds up. Requests that come due are counted independently
/// ([`Counts::arrivals`]). The check named `balance` compares this count with the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    completed: u64,
    errors: u64,
    rejected: u64,
    unsent: u64,
}

impl Balance {
    /// Creates a balance from the numbers of requests with each outcome.
    pub fn of(completed: u64, errors: u64, rejected: u64, unsent: u64) -> Balance {
        Balance { completed, errors, rejected, unsent }
    }

    /// Returns the number of requests whose intended start is in the period and that have an
    /// outcome.
    pub fn scheduled(&self) -> u64 {
        self.completed + self.errors + self.rejected + self.unsent
    }

    /// Returns the number of requests that were answered without an error.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Returns the number of requests that ended in an error of any class, such as an error of the
    /// database, a timeout, a lost or refused connection, or an unexpected number of rows. Accepted
    /// errors are included.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Returns the number of requests that were rejected because the queue of their job was full.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Returns the number of requests that were never sent, because they still waited for a worker,
    /// a connection or their input when the drain ended.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Adds one request with this outcome.
    #[inline]
    pub(crate) fn settle(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed => self.completed += 1,
            Outcome::Failed(_) => self.errors += 1,
            Outcome::Rejected => self.rejected += 1,
            Outcome::Unsent => self.unsent += 1,
        }
    }

    /// Adds the requests of another period.
    pub fn merge(&mut self, other: &Balance) {
        let Balance { completed, errors, rejected, unsent } = other;
        self.completed += completed;
        self.errors += errors;
        self.rejected += rejected;
        self.unsent += unsent;
    }
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered without an error.
    Completed,
    /// Ended in an error.
    Failed(Failure),
    /// Rejected by a full queue.
    Rejected,
    /// Never sent: still waiting when the drain ended.
    Unsent,
}

impl Outcome {
    /// Returns true if the target answered the request, perhaps with an error that left the
    /// connection usable.
    #[inline]
    pub fn is_answer(&self) -> bool {
        match self {
            Outcome::Completed => true,
            // A timeout or an error that ends the connection does not count as an answer.
            Outcome::Failed(failure) => !failure.class.ends_connection(),
            Outcome::Rejected | Outcome::Unsent => false,
        }
    }
}

/// An error of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Class of the error.
    pub class: Class,
    /// Error code of the database, or one of Assay's own.
    pub code: Code,
    /// True if the job accepts this code.
    pub accepted: bool,
}

/// Largest number of rows that can be counted: the largest integer that a record can hold. A server
/// may report any number; larger numbers and sums are limited to this one.
pub const MAX_ROWS: u64 = i64::MAX as u64;

/// Returns the sum of two numbers of rows, limited to [`MAX_ROWS`].
#[inline]
pub(crate) fn sum_of_rows(some: u64, others: u64) -> u64 {
    some.saturating_add(others).min(MAX_ROWS)
}

/// The counters of one job in one interval, by intended start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of requests that came due. A request is counted here as soon as it comes due, not
    /// when it ends.
    pub arrivals: u64,
    /// Numbers of requests by outcome.
    pub balance: Balance,
    /// Number of errors that were timeouts.
    pub timeouts: u64,
    /// Number of errors that the job accepts.
    pub accepted_errors: u64,
    /// Number of repeated attempts, over all requests.
    pub retries: u64,
    /// Number of rows returned or affected by completed requests; at most [`MAX_ROWS`].
    pub rows: u64,
    /// Number of bytes sent to the database.
    pub bytes_sent: u64,
    /// Number of bytes received from the database.
    pub bytes_received: u64,
    /// Number of times that a write waited for the lock of another connection (SQLite's busy
    /// handler).
    pub busy_waits: u64,
    /// Number of times of requests and statements that lie beyond the range of histograms. Times
    /// between arrivals ([`Kind::Gap`](crate::Kind::Gap)) are not included.
    pub overflows: u64,
}

impl Counts {
    /// Adds the counts of another interval or another lane.
    pub fn merge(&mut self, other: &Counts) {
        let Counts {
            arrivals,
            balance,
            timeouts,
            accepted_errors,
            retries,
            rows,
            bytes_sent,
            bytes_received,
            busy_waits,
            overflows,
        } = other;
        self.arrivals += arrivals;
        self.balance.merge(balance);
        self.timeouts += timeouts;
        self.accepted_errors += accepted_errors;
        self.retries += retries;
        self.rows = sum_of_rows(self.rows, *rows);
        self.bytes_sent += bytes_sent;
        self.bytes_received += bytes_received;
        self.busy_waits += busy_waits;
        self.overflows += overflows;
    }

    /// Returns the number of requests that came due and have no outcome: they are waiting or in
    /// flight, or were lost.
    pub fn open(&self) -> u64 {
        self.arrivals.saturating_sub(self.balance.scheduled())
    }
}

/// The counters of one job in one interval, by the time at which requests ended. Ends after the
/// end of the schedule count in a later interval: see [`Ledger::end_at`](crate::Ledger::end_at).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndCounts {
    /// Number of requests that were answered without an error.
    pub completed: u64,
    /// Number of requests that ended in an error.
    pub errors: u64,
    /// Number of rows returned or affected by the completed requests; at most [`MAX_ROWS`].
    pub rows: u64,
}

impl EndCounts {
    /// Adds the counters of another interval or another lane.
    pub fn merge(&mut self, other: &EndCounts) {
        let EndCounts { completed, errors, rows } = other;
        self.completed += completed;
        self.errors += errors;
        self.rows = sum_of_rows(self.rows, *rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduled_is_the_sum_of_all_outcomes() {
        let failure = Failure { class: Class::Conflict, code: Code::new("40001"), accepted: true };
        let mut balance = Balance::default();
        for outcome in
            [Outcome::Completed, Outcome::Failed(failure), Outcome::Rejected, Outcome::Unsent]
        {
            balance.settle(&outcome);
        }
        assert_eq!(balance, Balance::of(1, 1, 1, 1));
        balance.merge(&Balance::of(10, 0, 5, 0));
        assert_eq!(balance.scheduled(), 19);
    }

    #[test]
    fn a_lost_request_stays_open() {
        let counts = Counts { arrivals: 10, balance: Balance::of(7, 1, 1, 0), ..Counts::default() };
        assert_eq!(counts.open(), 1);
    }
}
