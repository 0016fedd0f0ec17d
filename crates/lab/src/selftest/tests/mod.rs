//! Tests of the oracles at full length, and of the faults that they must notice.
//!
//! * `oracles`: closed forms of queueing theory in virtual time, by independent replications.
//! * `stalls`: coordinated omission in stalls, backlogs and timeouts.
//! * `faults`: each planted fault fails an oracle.
//! * `real`: oracles in real time, compared with their twins in virtual time.

mod faults;
mod oracles;
mod real;
mod stalls;

use super::finding::Finding;

#[track_caller]
fn assert_all_pass(findings: &[Finding]) {
    let failing: Vec<_> = findings.iter().filter(|finding| !finding.passed()).collect();
    assert!(!findings.is_empty() && failing.is_empty(), "{failing:#?}");
}
