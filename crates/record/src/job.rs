//! The identity of a job in a record.

pub use base::AccountId as JobIndex;
