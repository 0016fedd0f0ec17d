//! What were all the components doing, and in which surroundings?
//!
//! [`Watch`] is a thread of its own that looks beside a run: once a second it takes a sample of
//! each source, and every 10 ms it sees whether the process stood still. One file per source,
//! which names what it reads: those of the machine, of processes, of sockets and of control groups.
//! What cannot be read is said to be missing, with the reason.
//! [`DatabaseWatch`] is another, which asks the database through a session of its own, and
//! [`RemoteWatch`] one that hears what another machine sees.
//!
//! [`environment`] reads once what a run takes place in: the facts without which its numbers mean
//! little. One file per source; what cannot be read is said to be unknown and never left out.
//! [`doctor`] judges such facts before a run, and [`processors`] reads how busy the machine is.

mod busiest;
mod cgroup;
mod database;
pub mod doctor;
pub mod environment;
mod host;
mod pace;
mod process;
pub mod remote;
mod sample;
mod scope;
mod sockets;
mod sources;
mod watch;

pub use busiest::Busiest;
pub use database::{DatabaseWatch, Whose};
pub use host::processors;
pub use remote::{RemoteHost, RemoteWatch};
pub use sample::{Missing, Sample, Source};
pub use scope::{COMMAND, ENDED, PERIOD, Scope, Whereabouts};
pub use watch::Watch;
