//! The engine as a whole, on the simulated server.
//!
//! * `accounting`: nothing scheduled ever vanishes, whatever happens to it.
//! * `belated`: answers that are heard of later than they came.
//! * `connections`: a server that has fewer of them than a run would like.
//! * `language`: mixes, sessions, records of files and lines of logs.
//! * `oracles`: what queueing theory says, in virtual time, by independent replications.
//! * `panics`: a mistake in a driver ends the run instead of hanging it.
//! * `recursion`: how far such replications should scatter.
//! * `reconnect`: requests that open a connection of their own.
//! * `real`: the oracles in real time, beside their twins in virtual time.
//! * `stall`: what coordinated omission hides: stalls, backlogs, timeouts.
//! * `targets`: jobs that ask different servers.
//! * `faults`: each dishonest rule turns an oracle red.

mod accounting;
mod belated;
mod connections;
mod faults;
mod language;
mod nodes;
mod oracles;
mod panics;
mod real;
mod reconnect;
mod recursion;
mod stall;
mod support;
mod targets;
