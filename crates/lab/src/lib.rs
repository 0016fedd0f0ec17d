//! The laboratory: runs plans against targets and reads their records.
//!
//! [`run`] runs one plan and leaves a record, [`load`] only fills its tables, and [`evidence()`]
//! reads a record for the analysis. [`observe`](observe()) observes a foreign program. [`examine`]
//! checks machine and server before a run. [`selftest`] checks that the program measures correctly,
//! and [`calibrate`] measures its own cost on this machine. The only `match` on the kind of target
//! is here.

mod account;
pub mod calibrate;
mod doctor;
mod evidence;
mod experiment;
mod foreign;
mod observation;
mod open_files;
pub mod selftest;
mod sleeps;
mod surroundings;
mod target;
mod unread_plan;

pub use doctor::{ExamineError, Examined, examine};
pub use evidence::{end_of_warmup, evidence, evidence_of_run};
pub use experiment::{Done, Error, Order, RecordPlace, load, run};
pub use foreign::{ObserveOrder, Seen, Unwatched, Watched, observe};
pub use observe::remote;
pub use open_files::TooManyFiles;
pub use target::{TargetProblem, admit, admit_all, password_file_for_any_host};
