//! How do I say it?
//!
//! A [`View`] is a run as its record tells it, judged and summed up. [`text()`] says it to people,
//! [`json()`] to programs; [`export`] writes the record itself in open formats, [`environment()`]
//! says in which surroundings it was made, and [`diagnosis()`] what would spoil a run. All are
//! functions from data to text: nothing here opens a file, reads a clock or knows a terminal, and
//! the same record gives the same bytes.
//!
//! The invariant: no number without what it needs to be believed. Quantiles come from merged
//! histograms and stand beside their count, numbers of an invalid run stand under that word, and
//! numbers that would mislead are withheld with the reason.

pub mod export;
mod json;
mod number;
mod quiet;
mod text;
mod view;

pub use json::{diagnosis_json, environment_json, json};
pub use text::{Style, diagnosis, environment, text};
pub use view::{About, View};
