//! A fact of the environment.

/// A fact by its name; `None` if unknown.
pub(super) type Fact = (&'static str, Option<String>);
