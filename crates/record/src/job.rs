//! The identity of a job in a record.

/// The index of a job in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobIndex(pub u16);
