//! Statements of a section.

/// A statement, by its index in its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u16);

impl StatementId {
    /// Returns the index among the statements of the section.
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// Returns the number that people see: the position in the section, from 1.
    pub fn number(self) -> usize {
        self.index() + 1
    }
}
