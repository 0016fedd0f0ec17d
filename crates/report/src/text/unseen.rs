//! What could not be observed.

use crate::view::View;

/// What must have been seen for a limiter to be found, by the beginnings of its names.
const NEEDED: [&str; 6] = ["server", "sessions", "database", "background", "generator", "counters"];

/// Whether it is always told that this was not seen. The rest is told only if no limiter was found.
pub(super) fn is_needed(view: &View, what: &str) -> bool {
    view.names_host(what) || NEEDED.iter().any(|needed| what.starts_with(needed))
}
