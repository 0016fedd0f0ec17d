//! Units of axes.

/// The unit of the values of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number, or a rate per second.
    Number,
    /// Nanoseconds.
    Time,
    /// Fractions, shown in percent.
    Share,
    /// Changes as fractions, shown in percent with a sign.
    Change,
}
