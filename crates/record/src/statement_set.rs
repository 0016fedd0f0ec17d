//! Sets of statements, and the answers to a statement.

/// A set of statements by their indices in their section. It fits in one machine word, for use on
/// the measured path.
///
/// Statements whose indices differ by a multiple of 64 count as the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementSet(u64);

impl StatementSet {
    /// Adds the statement with this index if `is_member` is true.
    #[inline]
    pub fn insert_if(&mut self, index: usize, is_member: bool) {
        // Without a branch. The shift uses the index modulo 64.
        self.0 |= u64::from(is_member).wrapping_shl(index as u32);
    }

    /// Adds the statements of another set.
    #[inline]
    pub fn merge(&mut self, other: StatementSet) {
        self.0 |= other.0;
    }

    /// Returns true if the statement with this index is in the set.
    #[inline]
    pub fn contains(self, index: usize) -> bool {
        self.0.wrapping_shr(index as u32) & 1 == 1
    }
}

/// The answers to a statement in the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementAnswers {
    /// Number of answers that were not errors.
    pub count: u64,
    /// True if the statement returned or changed a row at least once.
    pub has_rows: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_has_the_statements_that_were_added() {
        let mut set = StatementSet::default();
        for (index, is_member) in [(0, true), (1, false), (63, true), (66, true)] {
            set.insert_if(index, is_member);
        }
        let mut other = StatementSet::default();
        other.insert_if(5, true);
        set.merge(other);
        let members: Vec<usize> = (0..64).filter(|index| set.contains(*index)).collect();
        assert_eq!(members, [0, 2, 5, 63]);
        assert!(set.contains(66));
    }
}
