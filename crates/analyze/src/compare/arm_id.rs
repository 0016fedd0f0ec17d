//! Arms of a comparison.

/// An arm of an experiment, or a group of runs in a comparison of groups, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArmId(pub usize);

impl ArmId {
    /// The first arm of an experiment, which is its baseline.
    pub const BASELINE: ArmId = ArmId(0);

    /// Returns the index among the arms.
    pub fn index(self) -> usize {
        self.0
    }
}
