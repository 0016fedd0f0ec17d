//! Experiments: interleaved runs of several arms, in one record.
//!
//! ```text
//! Experiment ─ schedule ─▶ runs in rounds ─ figures ─▶ looks ─▶ record ─▶ ExperimentResults
//! ```
//!
//! [`run_experiment`] executes an experiment or continues an interrupted one. The order and the
//! seeds of the runs are a pure function of the seed of the workload. Each run writes a record of
//! its own, which is moved into the record of the experiment when the run has ended.
//! [`read_results`] compares the arms, using only the record. Before the rounds, a search for
//! saturation may raise the load of the baseline in steps, to find the load of all runs. A capacity
//! search has trials in place of rounds; [`read_search`] finds its result from the record alone.
//! If another version of the search method wrote the record, the result is the stored answer.

mod arm_point;
mod before_settings;
mod canary;
mod commands;
mod consistency;
mod counting;
mod curves;
mod design;
mod differences;
mod effect;
mod error;
mod event;
mod execute;
mod execution;
mod experiment_servers;
mod finished_runs;
mod notes;
mod open_record;
mod order;
mod recorded;
mod results;
mod saturation;
mod schedule;
mod search;
mod servers;
mod settings;
mod settle;
mod steps;
mod stored_answer;
mod teardown;
mod trials;
mod warm_up;

pub use canary::canary_length;
pub use counting::{counted_run, rounds_to_continue_from};
pub use curves::SweepResults;
pub use design::design;
pub(crate) use differences::{DURABILITY, between_groups, decides_durability};
pub use differences::{DifferenceKind, DifferenceScope, UndeclaredDifference, declared_keys};
pub use effect::{ArmEffect, TerminatedTls};
pub use error::{ContradictingState, DataStep, ExperimentError, NotInEffect, Problem};
pub use event::{ExperimentEvent, ExperimentListener};
pub use execute::run_experiment;
pub use execution::ExperimentEnd;
pub use open_record::{number_of_runs, records_leftovers};
pub use order::{ExperimentOrder, RunMaker};
pub use recorded::{COUNTERBALANCED, INVALID_ARM, RUNNING, STATE, figures};
pub use results::{ExperimentResults, RecordedRun, RunPlan, mark_incomparable, read_results};
pub use saturation::{UnobservedCpu, recorded_saturation, unobserved_cpu};
pub use schedule::{PlannedRun, Schedule};
pub use search::{
    RecordedSearch, RecordedTrial, lacks_answer, read_search, search_facts, search_order,
};
pub use warm_up::{evidence_of_run, found_warm_up, shared_warm_up};
