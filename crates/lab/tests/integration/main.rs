//! Tests from the record to evidence and verdict, with records of runs that were completed, killed,
//! interrupted or damaged.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may, as tests do")]

mod closed;
mod course;
mod damaged;
mod early;
mod experiments;
mod killed;
mod stage;
mod support;
mod varying;
