//! Comparison of the server's counters with the client's numbers.

use analyze::finding::CounterComparison;
use base::units::grouped;

/// Describes the number that the server counted, and the numbers that Assay knows.
pub(super) fn comparison(compared: &CounterComparison) -> String {
    let number = |number: f64| grouped(number.max(0.0) as u64);
    let requests = match compared.requests {
        [least, most] if least == most => number(least),
        [least, most] => format!("{} to {}", number(least), number(most)),
    };
    format!(
        "the server counted {} {}; requests account for {requests}, assay's own sessions for {}",
        number(compared.server),
        compared.counter.name(),
        number(compared.own[1])
    )
}
