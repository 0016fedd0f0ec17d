//! What the loop shares with `compare`, which runs it: how a command line is read.

pub mod arguments;
