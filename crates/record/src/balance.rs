//! Nothing scheduled ever vanishes: the balance as a type.

use base::{Class, Code};

/// What became of every request of a period, by intended start.
///
/// There is no field for the number of scheduled requests: it *is* the sum of the four, so that
/// a balance that does not add up cannot be written down. The pacer counts arrivals on its own
/// ([`Counts::arrivals`]); the check named `balance` compares the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    completed: u64,
    errors: u64,
    rejected: u64,
    unsent: u64,
}

impl Balance {
    /// A balance of known parts.
    pub fn of(completed: u64, errors: u64, rejected: u64, unsent: u64) -> Balance {
        Balance { completed, errors, rejected, unsent }
    }

    /// Requests whose intended start lies in the period.
    pub fn scheduled(&self) -> u64 {
        self.completed + self.errors + self.rejected + self.unsent
    }

    /// Requests that were answered without an error.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Requests that were answered with an error, timed out, or lost or were refused their
    /// connection; accepted errors and timeouts included.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Requests that found their queue full.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Requests that still waited for a worker when the drain ended.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Counts one request.
    pub(crate) fn settle(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed => self.completed += 1,
            Outcome::Failed(_) => self.errors += 1,
            Outcome::Rejected => self.rejected += 1,
            Outcome::Unsent => self.unsent += 1,
        }
    }

    /// Adds another period's requests.
    pub fn merge(&mut self, other: &Balance) {
        let Balance { completed, errors, rejected, unsent } = other;
        self.completed += completed;
        self.errors += errors;
        self.rejected += rejected;
        self.unsent += unsent;
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered without an error.
    Completed,
    /// It was not.
    Failed(Failure),
    /// Its queue was full.
    Rejected,
    /// It still waited when the drain ended.
    Unsent,
}

/// An error as the record counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of error.
    pub class: Class,
    /// The database's code, or one of Assay's own.
    pub code: Code,
    /// Whether the job expects this code.
    pub accepted: bool,
}

/// The scalars of one job in one interval, by intended start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that the pacer made due: counted when it did, not when they ended.
    pub arrivals: u64,
    /// What became of them.
    pub balance: Balance,
    /// Errors that were timeouts.
    pub timeouts: u64,
    /// Errors that the job expects.
    pub accepted_errors: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Rows returned or affected by completed requests.
    pub rows: u64,
    /// Bytes sent to the database.
    pub bytes_sent: u64,
    /// Bytes received from it.
    pub bytes_received: u64,
    /// Times that a write waited for another's lock (SQLite's busy handler).
    pub busy_waits: u64,
    /// Times beyond the histograms' range.
    pub overflows: u64,
}

impl Counts {
    /// Adds another interval's or another lane's counts.
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
        // A server says how many they are.
        self.rows = self.rows.saturating_add(*rows);
        self.bytes_sent += bytes_sent;
        self.bytes_received += bytes_received;
        self.busy_waits += busy_waits;
        self.overflows += overflows;
    }

    /// Requests that came due and have no outcome: in flight, or lost.
    pub fn open(&self) -> u64 {
        self.arrivals.saturating_sub(self.balance.scheduled())
    }
}

/// The scalars of one job in one interval, by the end of its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Requests that were answered without an error.
    pub completed: u64,
    /// Requests that ended in an error.
    pub errors: u64,
    /// Rows returned or affected by the completed ones.
    pub rows: u64,
}

impl Ends {
    /// Adds another interval's or another lane's ends.
    pub fn merge(&mut self, other: &Ends) {
        let Ends { completed, errors, rows } = other;
        self.completed += completed;
        self.errors += errors;
        // A server says how many they are.
        self.rows = self.rows.saturating_add(*rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheduled_is_the_sum_of_what_became_of_the_requests() {
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
