//! An arm at a point of a sweep. Without a sweep, it is just an arm.

use base::Id;

/// An arm at a point, by its index among
/// [`Experiment::arm_points`](workload::question::Experiment::arm_points).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArmPointId(pub(super) usize);

impl Id for ArmPointId {
    fn at(index: usize) -> ArmPointId {
        ArmPointId(index)
    }

    fn index(self) -> usize {
        self.0
    }
}
