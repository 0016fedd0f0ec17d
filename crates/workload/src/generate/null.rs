//! `null(p, expr)`: a value that is NULL with some probability.

/// A value that may be NULL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Null<E> {
    /// Probability of NULL, from 0 to 1.
    pub(crate) probability: f64,
    /// Value in all other cases.
    pub(crate) value: E,
}
