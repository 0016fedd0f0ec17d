//! The engine: sends the requests of a plan on time and records their outcomes.
//!
//! [`run()`] executes one plan once: setup, loads, the measured phase, teardown. The measured phase
//! consists of lanes, one per thread; in virtual time all lanes share one clock. The path of a
//! request through a lane: the [`Pacer`] computes its intended start, the gate notices that it is
//! due and finds a client, which sends it through its driver connection, and the ledger records
//! the outcome.
//!
//! Invariants: the intended starts are fixed before the run and independent of every answer (the
//! pacer's only inputs are plan and seed); every request that comes due is settled (a request is a
//! value that only the ledger consumes); the measured path neither allocates nor locks.

mod back_off;
mod client;
mod client_counts;
mod client_handle;
mod control;
mod error;
mod events;
mod example_results;
mod excerpts;
mod feed;
mod feed_queues;
mod gate;
mod job_state;
mod lane;
mod lane_state;
mod link;
mod loading;
mod measured_phase;
mod nodes;
mod opening;
mod options;
mod pacer;
mod panics;
mod parts;
mod prepare;
mod read_only;
mod results;
mod rules;
mod run;
mod run_context;
mod server_statistics;
mod share;
mod start_barrier;
mod statements;
mod stop;
mod targets;
mod waits;

pub use error::{Location, RunFailure, Unreachable, internal_error};
pub use events::{Listener, NoListener, RunEvent};
pub use feed::FileRemark;
pub use lane_state::LaneOutlet;
pub use loading::LoadedTable;
pub use measured_phase::MeasuredPhase;
pub use nodes::{NodeEntry, node_entries};
pub use opening::{configured_connections, connections_at_most, connections_at_start};
pub use options::{JobExamples, Options};
pub use pacer::{Arrival, Pacer};
pub use prepare::Prepare;
pub use results::FileFault;
pub use rt::processors;
pub use rules::Rules;
pub use run::{RunOutcome, run};
pub use share::Share;
pub use stop::Stop;
pub use targets::{Drivers, PerTarget};
pub use waits::unless_ended;
