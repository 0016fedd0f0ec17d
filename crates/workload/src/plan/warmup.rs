//! What is not measured at the beginning of a run.

use std::fmt;

use base::Nanos;

/// What is not measured at the beginning of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// So long.
    Lasts(Nanos),
    /// Until the run is steady. That is found when it is over.
    Auto,
}

impl Default for Warmup {
    fn default() -> Warmup {
        Warmup::Lasts(Nanos::ZERO)
    }
}

impl Warmup {
    /// The word for one that is found.
    pub const AUTO: &str = "auto";

    /// The shortest run whose warm-up can be found.
    pub const SHORTEST_RUN: Nanos = Nanos::from_secs(60);

    /// What is known before the run is not to be measured: nothing of one that is found.
    pub fn known(self) -> Nanos {
        match self {
            Warmup::Lasts(length) => length,
            Warmup::Auto => Nanos::ZERO,
        }
    }
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warmup::Lasts(length) => length.fmt(f),
            Warmup::Auto => Warmup::AUTO.fmt(f),
        }
    }
}
