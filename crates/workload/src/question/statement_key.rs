//! The keys whose statements run before or after each run of an arm: `restore`, `before`, `after`.

use std::fmt;

/// A key whose statements run before or after each run of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKey {
    /// Before each run of any arm: brings the data back to its state after the load.
    Restore,
    /// Before each run of its arm.
    Before,
    /// After each run of its arm.
    After,
}

impl StatementKey {
    /// Returns the name of the key.
    pub fn name(self) -> &'static str {
        match self {
            StatementKey::Restore => "restore",
            StatementKey::Before => "before",
            StatementKey::After => "after",
        }
    }
}

impl fmt::Display for StatementKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
