//! Command-line parsing that `limit` shares with `compare`, the program that runs `limit`.

pub mod arguments;
