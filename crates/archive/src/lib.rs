//! The files of a run: the `.assay` record, and the files next to it.
//!
//! A [`Recorder`] adds up the lanes of a run in a thread of its own and writes the record, which is
//! an SQLite database with one run. An [`Archive`] reads a record, or returns the reason why it
//! cannot be read; [`open_and_read`] reads a record while another thread checks it. [`export`]
//! writes measurements in open formats. [`v1`] defines the tables and the meaning of their rows;
//! `docs/record.md` describes them for queries. An [`ExperimentWriter`] collects the runs of an
//! experiment in one file, whose tables [`v2`] defines. [`add_note`] adds the note of a reviewer to
//! a record of either kind, and [`copy_record`] copies a record of either kind. Files that are not
//! part of the record are written by threads of their own: an [`OpLog`], a [`ResultsFile`].
//!
//! The invariants: a record survives `kill -9` ([`Recorder`]), and an [`Archive`] returns exactly
//! the measurements that were written, or an error. When a run has ended, its record gets a seal
//! with sums over the rows. A record that lost rows, or parts of rows, afterwards is never read as
//! a shorter one. The seal has no sums of input files, excerpts and notes, because no measurement
//! depends on them. The record of a killed run has no seal.

mod copy;
mod create;
mod encoding;
mod error;
mod experiment;
pub mod export;
mod observations;
mod open;
mod parallel_check;
mod reader;
mod recorder;
mod review;
mod reviewer_note;
mod spool;
#[cfg(test)]
mod support;
mod v1;
mod v2;
mod writer;

pub use copy::{copy_record, remove_fact};
pub use error::{NoteRefusal, RecordError, RecordErrorKind};
pub use experiment::{ExperimentContent, ExperimentWriter};
pub use open::{is_compressed, is_experiment};
pub use parallel_check::open_and_read;
pub use reader::{
    Archive, ClientReading, FailureCount, HistogramSlice, IntervalCounts, LoadPoint, LoadReport,
    RangeTimes, SeriesReadings,
};
pub use recorder::{LiveView, RecordFacts, Recorder, RecorderOutlet};
pub use review::{add_note, check_note};
pub use spool::{
    FileHealth, OpLog, OpLogError, OpLogHandle, OpLogOutlet, OpLogPlan, ResultsFile, ResultsHandle,
    WriteFailure, WriteResult,
};
pub use v2::{Figure, LookRow, Phase, RunRow, RunState};
