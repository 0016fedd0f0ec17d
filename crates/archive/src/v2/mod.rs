//! Version 2 of the record: an experiment of several runs in one file.
//!
//! The file has the tables of version 1, with the number of the run as an additional column, and
//! the tables of the experiment. A run in progress writes a version 1 record of its own; when the
//! run has ended, its rows are moved to the record of the experiment. A single run is read through
//! temporary views that have the names and columns of version 1: one reader serves both versions.

mod rows;
mod schema;

pub use rows::{Figure, LookRow, Phase, RunRow, RunState};
pub(crate) use rows::{
    merge, read_excerpts, read_facts, read_figures, read_looks, read_notes, read_runs, remove_fact,
    remove_run, split, write_fact, write_look, write_note, write_run, write_state,
};
pub(crate) use schema::{OPTIONAL_TABLES, VERSION, add_sample_range, show_run, statements};
