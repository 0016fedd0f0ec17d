//! The length of a self-test.

/// The length of the oracles that depend on chance. A quarter of the time doubles the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// A twentieth of a thorough run, for a first impression; quantiles of one request in a
    /// thousand are not judged.
    Quick,
    /// Half of a thorough run.
    Standard,
    /// Long enough for p99.9 to be known to 3 to 5 % at a utilisation of 0.7, for tests.
    Thorough,
}

impl Depth {
    /// Returns the fraction of a thorough window that is measured.
    pub(super) fn share(self) -> f64 {
        match self {
            Depth::Quick => 0.05,
            Depth::Standard => 0.5,
            Depth::Thorough => 1.0,
        }
    }

    pub(super) fn judges_rare_quantiles(self) -> bool {
        match self {
            Depth::Quick => false,
            Depth::Standard | Depth::Thorough => true,
        }
    }

    /// Returns the name of this depth.
    pub fn name(self) -> &'static str {
        match self {
            Depth::Quick => "quick",
            Depth::Standard => "standard",
            Depth::Thorough => "thorough",
        }
    }
}
