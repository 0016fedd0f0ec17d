//! Observation of all components during a run, and of the environment of the run.
//!
//! [`Watch`] is a thread that runs alongside the load. It samples each source, by default once a
//! second. Unless another program sends the requests, it checks every 10 ms that the process was
//! not stalled. The sources are the machine, processes, sockets and control groups. Each source is
//! one file of this crate, which names its inputs. A source that cannot be read is reported as
//! missing, with the reason. [`DatabaseWatch`] is a second thread, which queries the database over
//! a separate session. [`RemoteWatch`] is a further thread for each other machine, which receives
//! the samples of that machine.
//!
//! [`environment`] reads once the facts about the machine that are needed to interpret a run's
//! numbers: one file per source. A fact that cannot be read is reported as unknown, never left out.
//! [`processors`] reads how busy the machine is.

mod busiest;
mod cgroup;
mod database;
pub mod environment;
mod host;
mod process;
pub mod remote;
mod sample;
mod samplers;
mod scope;
mod sockets;
mod stall_detector;
mod watch;

pub use busiest::Busiest;
pub use database::{DatabaseWatch, ObservedSessions, OwnSessions, TargetSessions};
pub use host::processors;
pub use remote::{RemoteHost, RemoteWatch};
pub use sample::{Missing, Sample, Sampler};
pub use scope::{PERIOD, Scope, ServerLocation, ServerOption};
pub use watch::Watch;
