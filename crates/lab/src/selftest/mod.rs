//! Does this program measure what is so?
//!
//! * [`oracles()`]: simulated servers whose response times are known in closed form, measured by
//!   the whole engine in virtual time. [`over_the_wire`]: one of them in real time, over loopback,
//!   in the protocols of PostgreSQL and MySQL.
//! * [`mutations()`]: faults that real tools have, planted on purpose; each must turn red what is
//!   green without it.
//! * [`Finding`]: one number beside what it should be, judged by pure functions.
//!
//! The invariant: every number comes through the engine that measures databases, and every expected
//! value from a formula or a recursion that shares only the source of random numbers with it.

mod at_once;
mod course;
mod finding;
mod losing;
mod merging;
mod mutations;
mod oracles;
mod quantity;
mod recursion;
mod replication;
mod rules;
mod scaling;
mod stall;
#[cfg(test)]
mod tests;
mod twins;
mod wire;

use engine::Honest;

pub use finding::{Allowed, Finding, Scatter};
pub use mutations::Mutation;
pub use quantity::{Estimate, Quantity};
pub use wire::WireProblem;

/// How long the oracles in which chance has a part are measured. A quarter of the time means twice
/// the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// A twentieth of a thorough run, for a look. What one request in a thousand shows is not
    /// judged.
    Quick,
    /// Half of a thorough run.
    Standard,
    /// Long enough for p99.9 to be known to 3 to 5 % at a utilisation of 0.7, for tests.
    Thorough,
}

impl Depth {
    /// What is measured of a thorough window.
    fn share(self) -> f64 {
        match self {
            Depth::Quick => 0.05,
            Depth::Standard => 0.5,
            Depth::Thorough => 1.0,
        }
    }

    fn knows_the_rare(self) -> bool {
        match self {
            Depth::Quick => false,
            Depth::Standard | Depth::Thorough => true,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Depth::Quick => "quick",
            Depth::Standard => "standard",
            Depth::Thorough => "thorough",
        }
    }
}

/// Measures every oracle in virtual time. `tell` hears the name of each before it begins.
pub fn oracles(depth: Depth, tell: &mut dyn FnMut(&str)) -> Vec<Finding> {
    let mut findings = Vec::new();
    for oracle in &oracles::ORACLES {
        tell(oracle.name);
        findings.extend(oracle.findings::<Honest>(depth));
    }
    for stall in stall::STALLS {
        tell(stall.name);
        findings.extend(stall.findings::<Honest>());
    }
    tell(scaling::NAME);
    findings.extend(scaling::findings::<Honest>());
    tell("backlog");
    findings.extend(stall::backlog::<Honest>());
    findings
}

/// Measures oracles in real time over loopback, in the protocols of PostgreSQL and MySQL; with
/// [`Depth::Quick`] only the one that needs no statistics.
///
/// # Errors
/// There is no simulated server to be had, or it cannot be reached.
pub fn over_the_wire(
    depth: Depth,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Finding>, WireProblem> {
    wire::findings(depth, tell)
}

/// Plants every fault. `tell` hears the name of each before that.
pub fn mutations(depth: Depth, tell: &mut dyn FnMut(&str)) -> Vec<Mutation> {
    let plant = |fault: &mutations::Fault| {
        tell(fault.name);
        fault.plant(depth)
    };
    mutations::FAULTS.iter().map(plant).collect()
}
