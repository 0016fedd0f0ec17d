//! Tests of records through the public interface: deliveries of lanes, reading, and the effects of
//! a killed process, a full disk or a damaged file.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may, as tests do")]

mod damaged;
mod documented;
mod exported;
mod full;
mod killed;
mod opened;
mod recorded;
mod support;
