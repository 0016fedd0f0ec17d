//! The engine as a whole, on the simulated server.
//!
//! * `accounting`: nothing scheduled ever vanishes, whatever happens to it.
//! * `belated`: answers that are heard of later than they came.
//! * `connections`: a server that has fewer of them than a run would like.
//! * `language`: mixes, sessions, records of files and lines of logs.
//! * `outages`: a server that vanishes without a word.
//! * `panics`: a mistake in a driver ends the run instead of hanging it.
//! * `reconnect`: requests that open a connection of their own.
//! * `targets`: jobs that ask different servers.
//!
//! Whether what is measured is so, is asked by `lab::selftest` and its tests.

mod accounting;
mod belated;
mod connections;
mod language;
mod nodes;
mod outages;
mod panics;
mod reconnect;
mod support;
mod targets;
