//! Comparison of a counter of the server with the client's own number.

/// A counter of the server, compared with the client's own number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterComparison {
    /// Counter that is compared.
    pub counter: ComparedCounter,
    /// Number that the server counted.
    pub server: f64,
    /// Minimum and maximum number that Assay's own sessions caused in addition to the requests.
    pub own: [f64; 2],
    /// Minimum and maximum number that the requests caused.
    pub requests: [f64; 2],
}

/// A counter of the server that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedCounter {
    /// Committed transactions.
    Commits,
    /// Executed statements.
    Statements,
}

impl ComparedCounter {
    /// Returns the name of the counter, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            ComparedCounter::Commits => "commits",
            ComparedCounter::Statements => "statements",
        }
    }
}

impl CounterComparison {
    /// Returns the difference of the server's count from the possible range: negative if it is
    /// below the minimum, positive if above the maximum.
    pub fn difference(&self) -> f64 {
        let [least, most] = [0, 1].map(|end| self.own[end] + self.requests[end]);
        match self.server {
            server if server < least => server - least,
            server if server > most => server - most,
            _ => 0.0,
        }
    }
}
