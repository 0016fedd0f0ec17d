//! Analysis of a run: validity, limiter and numbers.
//!
//! All functions are pure functions of the [`Evidence`] in a record: no clock, no file, no network.
//! The same record gives the same [`Summary`] today and in ten years.
//!
//! A [`Check`] judges one aspect of the measurement's credibility; all of them together are the
//! [`Verdict`]. A number is given with the facts needed to believe it, or withheld. [`doctor`]
//! judges a machine and a server before a run.

mod account;
mod backlog;
mod check;
mod checks;
mod confidence;
mod distribution;
pub mod doctor;
mod effects;
mod evidence;
mod job;
mod limiter;
mod phases;
mod program;
mod quiet;
mod remedy;
mod responses;
mod slo;
mod steps;
mod summary;
mod surroundings;
mod warmup;

pub use account::{Account, Answered};
pub use check::{Check, Status, Verdict};
pub use confidence::{Bounds, Estimate, FEWEST_BATCHES, fewest_samples};
pub use distribution::{Distribution, Quantile};
pub use effects::Effect;
pub use evidence::{
    ClientSample, Evidence, Growth, JobEvidence, LoadEvidence, LoadPoint, NodeEvidence, Observed,
    ROWS, Step,
};
pub use job::{ErrorSummary, JobSummary, NodeSummary, Probe, StatementSummary};
pub use limiter::{Component, Limiter, OtherProgram, SHORTEST_LOAD, Seen, Suspect};
pub use phases::{
    Cause, Change, Disturbance, Figure, MOST_DISTURBANCES, Phase, PhaseFigures, PhaseName,
    PhaseSummary, SideEffects, StepOfJob, disturbances,
};
pub use program::ProgramSummary;
pub use quiet::Quiet;
pub use remedy::remedy;
pub use responses::Responses;
pub use slo::Judgement;
pub use steps::Steps;
pub use summary::{ClientSummary, LoadSummary, Summary, Window, summarize};
pub use surroundings::{Asked, Calibration, Figures, Place, Route, Surroundings};
pub use warmup::{Cut, WarmupEnd, end_of_warmup, keeps_its_level};
