//! Accounts of a record.

use crate::by_id::Id;

/// An account of a record, by its index: a job, a part of a job, or a job at one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(pub u16);

impl AccountId {
    /// Returns the index among the accounts of a record.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl Id for AccountId {
    fn at(index: usize) -> AccountId {
        AccountId(index as u16)
    }

    #[inline]
    fn index(self) -> usize {
        self.0.into()
    }
}
