//! The self-test: checks the program's measurements against known values.
//!
//! * [`oracles()`]: simulated servers whose response times are known in closed form, measured by
//!   the whole engine in virtual time. [`over_the_wire`]: some of them in real time, over loopback,
//!   in the protocols of PostgreSQL and MySQL.
//! * [`mutations()`]: faults of real tools, planted on purpose; each must make a comparison fail
//!   that passes without it.
//! * [`Finding`]: a measured number and its expected value, judged by pure functions.
//!
//! Invariant: every measured number comes from the engine that measures databases. Every expected
//! value comes from a formula, or from a recursion that shares only the source of random numbers
//! with the engine. For a run in real time, it may also come from the run's twin in virtual time.

mod depth;
mod finding;
mod losing;
mod merging;
mod mutations;
mod oracle_run;
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

use engine::Rules;

pub use depth::Depth;
pub use finding::{Allowed, Finding, Scatter};
pub use mutations::Mutation;
pub use quantity::{Estimate, Quantity};
pub use wire::WireProblem;

/// Measures every oracle in virtual time. Calls `on_step` with the name of each oracle before it
/// begins.
pub fn oracles(depth: Depth, on_step: &mut dyn FnMut(&str)) -> Vec<Finding> {
    let mut findings = Vec::new();
    for oracle in &oracles::ORACLES {
        on_step(oracle.name);
        findings.extend(oracle.findings(Rules::STANDARD, depth));
    }
    for stall in stall::STALLS {
        on_step(stall.name);
        findings.extend(stall.findings(Rules::STANDARD));
    }
    on_step(scaling::NAME);
    findings.extend(scaling::findings(Rules::STANDARD));
    on_step("backlog");
    findings.extend(stall::backlog(Rules::STANDARD));
    findings
}

/// Measures oracles in real time over loopback, in the protocols of PostgreSQL and MySQL. With
/// [`Depth::Quick`], measures only the first oracle, M/D/1. Calls `on_step` with the names of each
/// oracle and protocol before they are measured.
///
/// # Errors
/// The simulated server cannot be started, or a run against it fails.
pub fn over_the_wire(
    depth: Depth,
    on_step: &mut dyn FnMut(&str),
) -> Result<Vec<Finding>, WireProblem> {
    wire::findings(depth, on_step)
}

/// Plants every fault. Calls `on_step` with the name of each fault before it is planted.
pub fn mutations(depth: Depth, on_step: &mut dyn FnMut(&str)) -> Vec<Mutation> {
    let plant = |fault: &mutations::Fault| {
        on_step(fault.name);
        fault.plant(depth)
    };
    mutations::FAULTS.iter().map(plant).collect()
}
