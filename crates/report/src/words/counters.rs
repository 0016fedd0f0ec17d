//! Comparison of the server's counters with the numbers of the load generator.

use analyze::finding::{ComparedCounter, CounterComparison};
use base::units::grouped;

use crate::number::count;

/// Describes the number that the server counted, and the numbers that Assay knows.
pub(super) fn comparison(compared: &CounterComparison) -> String {
    let number = |number: f64| grouped(number.max(0.0) as u64);
    let requests = match compared.requests {
        [least, most] if least == most => number(least),
        [least, most] => format!("{} to {}", number(least), number(most)),
    };
    format!(
        "the server counted {}; requests account for {requests}, assay's own sessions for {}",
        counted(compared.server, compared.counter),
        number(compared.own[1])
    )
}

/// Formats a number of what a counter counts: `1 commit`, `1,200 statements`.
pub(super) fn counted(number: f64, counter: ComparedCounter) -> String {
    let what = match counter {
        ComparedCounter::Commits => "commit",
        ComparedCounter::Statements => "statement",
    };
    count(number.max(0.0) as u64, what)
}
