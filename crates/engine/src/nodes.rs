//! Which server of several answered?
//!
//! A target may be several servers, whose connections take turns. A job at such a target has,
//! beside its own account in the record, one at each server: a request that was sent counts in
//! both.

use record::JobIndex;
use workload::{JobTarget, Plan};

/// A job at one of several servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeAccount {
    /// The job's place in the plan.
    pub job: usize,
    /// The server's place in the target.
    pub node: usize,
}

/// The accounts of a plan's jobs at single servers, in the order in which they follow those of the
/// jobs; `nodes` says how many servers a target has.
pub fn node_accounts(plan: &Plan, nodes: impl Fn(JobTarget) -> usize) -> Vec<NodeAccount> {
    plan.leaders()
        .flat_map(|job| {
            let nodes = match nodes(plan.jobs[job].target) {
                0 | 1 => 0,
                nodes => nodes,
            };
            (0..nodes).map(move |node| NodeAccount { job, node })
        })
        .collect()
}

/// The account of a job at the first of its servers; the others follow. `None` if there is only
/// one.
pub(crate) fn first_account(plan: &Plan, accounts: &[NodeAccount], job: usize) -> Option<JobIndex> {
    let place = accounts.iter().position(|account| account.job == job)?;
    Some(JobIndex((plan.jobs.len() + place) as u16))
}
