//! The oracles at full length, and faults that they must notice.
//!
//! * `oracles`: what queueing theory says, in virtual time, by independent replications.
//! * `stalls`: what coordinated omission hides: stalls, backlogs, timeouts.
//! * `faults`: each planted fault turns an oracle red.
//! * `real`: oracles in real time, beside their twins in virtual time.

mod faults;
mod oracles;
mod real;
mod stalls;

use super::finding::Finding;

#[track_caller]
fn assert_green(findings: &[Finding]) {
    let red: Vec<_> = findings.iter().filter(|finding| !finding.passed()).collect();
    assert!(!findings.is_empty() && red.is_empty(), "{red:#?}");
}
