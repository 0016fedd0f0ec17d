//! Integration tests of the engine on the simulated server.
//!
//! * `accounting`: every scheduled request has an outcome.
//! * `boxed_driver`: a driver of any type, with which the engine is compiled once.
//! * `connections`: servers with fewer connections than a run requests.
//! * `language`: mixes, sessions, records of files and lines of logs.
//! * `late_answers`: answers that the engine notices late.
//! * `nodes`: targets with several servers.
//! * `outages`: servers that stop answering.
//! * `panics`: a bug in a driver ends the run instead of hanging it.
//! * `reconnect`: requests that open a connection of their own.
//! * `tables`: excerpts of the loaded tables.
//! * `targets`: jobs with different servers.
//!
//! The correctness of the measured numbers is tested by `lab::selftest` and its tests.

mod accounting;
mod boxed_driver;
mod connections;
mod language;
mod late_answers;
mod nodes;
mod outages;
mod panics;
mod reconnect;
mod support;
mod tables;
mod targets;
