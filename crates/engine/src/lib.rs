//! The engine: sends the requests of a plan on time and records their outcomes.
//!
//! [`run()`] executes one plan once: setup, loads, the measured phase, teardown. The measured phase
//! consists of lanes, one per thread; in virtual time all lanes share one thread and one clock. The
//! path of a request through a lane: the [`Pacer`] computes the intended start, the gate notices
//! that the request is due and finds a client, the client sends the request through its connection,
//! and the ledger records the outcome. Closed jobs have no pacer and no gate: their clients open
//! their own requests.
//!
//! Invariants:
//!
//! * The intended starts of a schedule are fixed before the run and independent of every answer:
//!   the pacer's only inputs are the job, the seed and the lane's share.
//! * Every request that comes due is settled: only the ledger consumes a request.
//! * The measured path neither allocates nor locks, except for errors, for requests that open their
//!   own connections, for rows that go to a results file, for each block of input or of the op-log,
//!   and for each command to the thread of SQLite or of a program.

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
pub use run::{RunOutcome, run, run_any};
pub use share::Share;
pub use stop::Stop;
pub use targets::{Drivers, PerTarget};
pub use waits::unless_ended;
