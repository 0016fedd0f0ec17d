//! Activity of a machine: one file per source.

pub(crate) mod disks;
pub(crate) mod frequency;
pub(crate) mod interfaces;
pub(crate) mod memory;
pub(crate) mod pressure;
pub mod processors;
pub(crate) mod scheduler;
pub(crate) mod tcp;
pub(crate) mod wall_clock;
