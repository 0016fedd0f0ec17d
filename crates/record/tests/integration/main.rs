//! Records from the outside: what lanes hand over, what a reader finds, and what happens to both
//! when the process is killed, the disk is full or the file is damaged.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may, as tests do")]

mod damaged;
mod documented;
mod exported;
mod full;
mod killed;
mod opened;
mod recorded;
mod support;
