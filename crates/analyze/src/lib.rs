//! Analysis of a run: validity, limiter and numbers.
//!
//! All functions are pure: they use no clock, no file and no network. The [`Evidence`] of a record
//! gives the same [`Summary`] today and in ten years.
//!
//! A [`Check`] judges one aspect of the measurement's credibility; all of them together are the
//! [`Verdict`]. A number is given with the facts needed to believe it, or withheld. [`doctor`]
//! judges a machine and a server before a run. [`compare`] compares runs, [`curve`] describes the
//! runs of a sweep, [`capacity`] and [`saturate`] search for a load, and [`history`] finds changes
//! over many records.
//!
//! No sentence about a run is written here: checks, limiters and observations are typed
//! [`finding`]s and numbers, and `report` turns them into sentences.

mod backlog;
pub mod capacity;
mod change;
mod check;
mod checks;
pub mod compare;
mod confidence;
mod counter_comparison;
pub mod curve;
mod distribution;
mod disturbance;
pub mod doctor;
mod effects;
mod empty_success;
mod evidence;
pub mod finding;
pub mod history;
mod job;
mod limiter;
mod linear;
mod moments;
mod observed;
mod obstacle;
mod other_programs;
mod phases;
mod program;
mod refused;
mod responses;
pub mod saturate;
mod server_counters;
mod slo;
mod steps;
mod storage;
mod student;
mod summary;
mod surroundings;
mod time_course;
mod warmup;

pub use check::{Check, CheckKind, Domain, Status, Unit, Verdict};
pub use confidence::{Bounds, Estimate, FEWEST_BATCHES, fewest_samples};
pub use distribution::{Distribution, Quantile};
pub use disturbance::{Cause, Disturbance, Phase, PhaseName};
pub use effects::Effect;
pub use empty_success::EmptySuccess;
pub use evidence::{
    ClientSample, Evidence, JobEvidence, LoadEvidence, LoadPoint, NodeEvidence, ROWS, Step,
};
pub use finding::{Finding, Obstacle};
pub use job::{ErrorSummary, JobSummary, NodeSummary, Probe, StatementSummary};
pub use limiter::finding as limiting;
pub use limiter::{
    Candidate, Component, EvidenceKind, EvidenceNumber, Limiter, ObservedComponents, SHORTEST_LOAD,
    UtilisedComponent,
};
pub use observed::{Growth, Observed};
pub use other_programs::{OtherProgram, OtherPrograms};
pub use phases::{
    Change, Figure, JobStep, MOST_DISTURBANCES, PhaseFigures, PhaseSummary, SideEffects,
    disturbances,
};
pub use program::{ProgramSummary, RequestsUnseen};
pub use responses::Responses;
pub use server_counters::{JobAnswers, ServerCounters};
pub use slo::Judgement;
pub use steps::Steps;
pub use storage::StorageSize;
pub use summary::{ClientSummary, LoadSummary, Summary, Window, summarize};
pub use surroundings::{Calibration, DatabaseLocation, Figures, Route, Surroundings, UsedTarget};
pub use time_course::{
    ColumnTimes, MOST_COLUMNS, TimeClass, TimeColumn, TimeCourse, columns as time_columns,
};
pub use warmup::{SteadyStart, WarmupEnd, end_of_warmup, keeps_its_level};
