//! The warm-up of a run.

use std::fmt;

use base::Nanos;

/// The beginning of a run, which is recorded and excluded from the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// A warm-up of this length.
    Lasts(Nanos),
    /// A warm-up until the run is steady, detected after the run.
    Auto,
}

impl Default for Warmup {
    fn default() -> Warmup {
        Warmup::Lasts(Nanos::ZERO)
    }
}

impl Warmup {
    /// The word for a detected warm-up.
    pub const AUTO: &str = "auto";

    /// The shortest run whose warm-up can be detected.
    pub const SHORTEST_RUN: Nanos = Nanos::from_secs(60);

    /// Returns the length of the warm-up that is known before the run: zero for a detected warm-up.
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
