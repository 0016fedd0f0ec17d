//! Accounts of a record: the groups of requests that the record counts and times separately.

use crate::by_id::Id;

/// The index of an account of a record: of a job, of a part of a job, or of a job at one server.
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
