//! The length of a self-test.

/// The length of the tests whose oracles depend on chance. A test of a quarter of the length has
/// twice the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// A twentieth of a thorough run, for a first impression. Quantiles that only one request in a
    /// thousand exceeds are not judged.
    Quick,
    /// Half of a thorough run.
    Standard,
    /// Long enough to measure p99.9 to within 3 to 5 % at a utilisation of 0.7. Used by the tests.
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
