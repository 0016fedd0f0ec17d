//! Command-line parsing that `limit` shares with `compare`, which runs it.

pub mod arguments;
