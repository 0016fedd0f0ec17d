//! A fact of the environment.

/// The name and the value of a fact; `None` if the value is unknown.
pub(super) type Fact = (&'static str, Option<String>);
