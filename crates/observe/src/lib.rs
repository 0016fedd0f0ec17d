//! What were all the components doing, and in which surroundings?
//!
//! [`environment`] reads once what a run takes place in: the facts without which its numbers mean
//! little. One file per source; what cannot be read is said to be unknown and never left out.

pub mod environment;
