//! Sizes of the database and its tables.

use record::ComponentKind;
use record::metric::storage;

use crate::evidence::Evidence;

/// The size of a database or a table when the jobs had ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StorageSize {
    /// Bytes as the server reports them.
    pub logical: f64,
    /// Bytes that are allocated on the disk.
    pub allocated: f64,
}

impl StorageSize {
    /// Returns the size of a table with its indexes; `None` if it was not read.
    pub fn of_table(evidence: &Evidence, table: &str) -> Option<StorageSize> {
        StorageSize::of(evidence, &ComponentKind::Table(table.to_owned()))
    }

    /// Returns the size of the whole database; `None` if it was not read.
    pub fn of_database(evidence: &Evidence) -> Option<StorageSize> {
        StorageSize::of(evidence, &ComponentKind::Storage)
    }

    fn of(evidence: &Evidence, kind: &ComponentKind) -> Option<StorageSize> {
        let last = |metric| Some(evidence.observed(kind, metric)?.points.last()?.1);
        Some(StorageSize { logical: last(storage::LOGICAL)?, allocated: last(storage::ALLOCATED)? })
    }
}
