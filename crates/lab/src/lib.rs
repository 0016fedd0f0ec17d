//! The laboratory: runs plans against targets and reads the records of the runs.
//!
//! A [`Stage`] owns servers and drivers. [`run`](run()) runs one plan and leaves a record;
//! [`run_on`] does so on a stage that several runs share, and [`load`] only fills the tables.
//! [`experiment`] executes the runs of an experiment or of a capacity search. [`evidence()`] reads
//! a record for the analysis. [`attach`](attach()) observes another program.
//! [`comparison`] reads runs that are to be compared. [`examine`] checks machine and server before
//! a run. [`selftest`] checks that the program measures correctly, and [`calibrate`] measures the
//! cost of the load generator on this machine. Only this crate chooses the driver of a target.

mod access;
mod attach;
pub mod calibrate;
pub mod comparison;
mod concurrent;
mod doctor;
mod error;
mod evidence;
pub mod experiment;
mod memory;
mod observation;
mod open_files;
mod pause;
mod record_place;
mod run;
pub mod selftest;
mod server_counters;
mod sleeps;
mod stage;
mod surroundings;
mod target;
mod time_course;
mod unread_plan;
mod user_folder;
mod virtual_time;

pub use attach::{AttachError, AttachOrder, AttachResult, Subject, attach};
pub use concurrent::run_concurrently;
pub use doctor::{Examination, examine};
pub use error::Error;
pub use evidence::{count_dispersions, end_of_warmup, evidence, evidence_of_run};
pub use memory::TooFewAddresses;
pub use observe::remote;
pub use open_files::TooManyFiles;
pub use record_place::RecordPlace;
pub use run::{ExampleResult, MissingTarget, Order, RunResult, load, run, run_on};
pub use stage::{OpenError, Stage};
pub use target::{
    SimulatedRun, TargetProblem, check_target, check_targets, password_file_for_any_host,
    reason_for_ignored_password_file,
};
pub use time_course::time_courses;
pub use user_folder::UserFolder;
