//! Settings from the command line.

use base::{Nanos, Seed, Target};

use crate::plan::{Arrival, Warmup};

/// Settings from the command line that override those of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `--set NAME=VALUE`: parameters; the last value of a name wins.
    pub set: Vec<(String, String)>,
    /// `--duration`
    pub duration: Option<Nanos>,
    /// `--warmup`
    pub warmup: Option<Warmup>,
    /// `--arrival`: applies to every job with a rate that is not a timetable.
    pub arrival: Option<Arrival>,
    /// `--seed`
    pub seed: Option<Seed>,
    /// `--url`
    pub target: Option<Target>,
    /// Meaning of a `rate`.
    pub rates: Rates,
    /// `--max-active-conns` of `assay dbbench`: `max-connections`.
    pub max_connections: Option<u32>,
}

/// Meaning of a `rate` without `arrival` in a job that has no queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rates {
    /// Poisson arrivals from 1/s on, a timetable below that.
    #[default]
    AsTraffic,
    /// A timetable at any rate: one arrival every ⌊10⁹/rate⌋ ns, as dbbench's ticks.
    AsDbbench,
}
