//! Which server of several answered?
//!
//! A target may be several servers, whose connections take turns. A job at such a target has,
//! beside its own account in the record, one at each server: a request that was sent counts in
//! both.

use driver::Driver;
use record::JobIndex;
use workload::Plan;

use crate::targets::Drivers;

/// A job at one of several servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeAccount {
    /// The job's place in the plan.
    pub job: usize,
    /// The server's address.
    pub address: String,
}

/// The accounts of a plan's jobs at single servers, in the order in which they follow those of the
/// jobs: for each job that has some, in the order of the servers' numbers.
pub fn node_accounts<D: Driver>(plan: &Plan, drivers: &Drivers<D>) -> Vec<NodeAccount> {
    plan.leaders()
        .flat_map(|job| {
            let nodes = drivers.of(plan.jobs[job].target).nodes();
            nodes.into_iter().map(move |address| NodeAccount { job, address })
        })
        .collect()
}

/// The account of a job at the first of its servers; the others follow. `None` if there is only
/// one.
pub(crate) fn first_account(plan: &Plan, accounts: &[NodeAccount], job: usize) -> Option<JobIndex> {
    let place = accounts.iter().position(|account| account.job == job)?;
    Some(JobIndex((plan.jobs.len() + place) as u16))
}
