//! What were all the components doing, and in which surroundings?
//!
//! [`environment`] reads once what a run takes place in: the facts without which its numbers mean
//! little. One file per source; what cannot be read is said to be unknown and never left out.
//! [`doctor`] judges such facts before a run, and [`processors`] reads how busy the machine is.

pub mod doctor;
pub mod environment;
pub mod processors;
