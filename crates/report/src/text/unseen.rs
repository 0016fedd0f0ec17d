//! Sources that could not be observed.

use crate::view::View;

/// Prefixes of the names of sources without which a limiter cannot be found.
const NEEDED: [&str; 6] = ["server", "sessions", "database", "background", "generator", "counters"];

/// Returns true if the loss of this source is always reported. The loss of any other is reported
/// only if no limiter was found.
pub(super) fn is_always_reported(view: &View, what: &str) -> bool {
    view.names_host(what) || NEEDED.iter().any(|needed| what.starts_with(needed))
}
