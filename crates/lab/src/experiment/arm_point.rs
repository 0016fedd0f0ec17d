//! An arm at a point of a sweep; without a sweep, an arm.

/// An arm at a point, by its place among
/// [`Experiment::arm_points`](workload::question::Experiment::arm_points).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArmPointId(pub(super) usize);
