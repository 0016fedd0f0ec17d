//! Saturation: the section `[saturate]` of an experiment file.

use std::fmt;

use super::capacity::VariedLoad;
use super::metric::CpuOwner;
use super::percent;

/// A search for the load that saturates the baseline; all arms are then compared at this load.
#[derive(Clone, Debug, PartialEq)]
pub struct SaturateQuestion {
    /// Load that is varied.
    pub vary: VariedLoad,
    /// Values of the steps, ascending: requests per second, or clients. At least two.
    pub values: Vec<f64>,
    /// Condition that ends the steps.
    pub until: Saturated,
}

/// A condition at which a load counts as saturating. Bounds are fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Saturated {
    /// `cpu(database) >= 95%`: a component uses this share of the processors that it may use.
    Cpu {
        /// The component.
        owner: CpuOwner,
        /// Least share, above 0 and at most 1.
        least: f64,
    },
    /// `throughput gains < 2%`: the next larger load raises the throughput by less than this.
    Gain {
        /// Smallest gain with which the steps continue, above 0 and at most 1.
        least: f64,
    },
}

impl SaturateQuestion {
    /// Calls `each` with every key of the section and its value.
    pub(super) fn print(&self, mut each: impl FnMut(&str, String)) {
        let values: Vec<String> = self.values.iter().map(f64::to_string).collect();
        each("vary", self.vary.to_string());
        each("values", values.join(", "));
        each("until", self.until.to_string());
    }
}

impl fmt::Display for Saturated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Saturated::Cpu { owner, least } => {
                write!(f, "cpu({}) >= {}", owner.name(), percent::unsigned(*least))
            }
            Saturated::Gain { least } => {
                write!(f, "throughput gains < {}", percent::unsigned(*least))
            }
        }
    }
}
