//! What a server counted by itself, and what the client was told of the same.

use record::Counts;

use crate::evidence::Observed;

/// The account of a server, and the answers that its jobs had in the whole run, warm-up included.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Why it could not be read, if it could not.
    pub refused: Option<String>,
    /// Its counts, read before the connections of the jobs were opened and when they were closed.
    pub counts: Vec<Observed>,
    /// The jobs in the plan's order.
    pub jobs: Vec<Answered>,
}

/// What a job was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// What became of its requests.
    pub counts: Counts,
    /// For each statement, how often it was answered without an error.
    pub statements: Vec<u64>,
    /// Requests that were done and count as errors, because they returned other rows than expected.
    pub wrong_rows: u64,
}

impl Account {
    /// By how much a count grew; `None` if it was not read twice.
    pub fn growth(&self, metric: &str) -> Option<f64> {
        let (first, last) = self.ends(metric)?;
        Some(last - first)
    }

    /// Its first and its last reading.
    pub(crate) fn ends(&self, metric: &str) -> Option<(f64, f64)> {
        let count = self.counts.iter().find(|count| count.metric == metric)?;
        match count.points.as_slice() {
            [(_, first), .., (_, last)] => Some((*first, *last)),
            [_] | [] => None,
        }
    }

    /// How long after time zero the last reading was, in seconds.
    pub(crate) fn read_at_s(&self) -> f64 {
        let points = self.counts.iter().filter_map(|count| count.points.last());
        points.map(|(at, _)| at.as_secs_f64()).fold(0.0, f64::max)
    }
}

impl Answered {
    /// Requests that ended in an error, and attempts that were followed by another: what the server
    /// did of them is not known to the last statement.
    pub(crate) fn doubtful(&self) -> u64 {
        (self.counts.balance.errors() + self.counts.retries).saturating_sub(self.wrong_rows)
    }

    /// Requests that the server carried out to their ends.
    pub(crate) fn done(&self) -> u64 {
        self.counts.balance.completed() + self.wrong_rows
    }
}
