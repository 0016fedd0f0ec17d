//! The commands, one per file.

pub(crate) mod answer;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod dbbench;
pub(crate) mod doctor;
pub(crate) mod experiment;
mod experiment_progress;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod false_alarms;
pub(crate) mod figures;
pub(crate) mod history;
pub(crate) mod load;
pub(crate) mod note;
pub(crate) mod observe;
pub(crate) mod order;
pub(crate) mod publish;
pub(crate) mod remedy;
pub(crate) mod repeat;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod serve;
pub(crate) mod stored_runs;
pub(crate) mod workloads;
