//! Statistics per server, for targets with several servers.
//!
//! The connections of such a target take turns among its servers. The record of a job at such a
//! target has an entry for the job and one for each server: a request that was sent counts in both.

use base::AccountId;
use driver::Driver;
use workload::{JobId, Plan};

use crate::targets::Drivers;

/// The record entry of a job at one of several servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEntry {
    /// The job.
    pub job: JobId,
    /// The server's address.
    pub address: String,
}

/// Returns the entries of a plan's jobs at single servers, sorted by job and then by the number of
/// the server. In the record, these entries follow those of all jobs and parts.
pub fn node_entries<D: Driver>(plan: &Plan, drivers: &Drivers<D>) -> Vec<NodeEntry> {
    plan.jobs_by_id()
        .flat_map(|(id, job)| {
            let nodes = drivers.of(job.target).nodes();
            nodes.into_iter().map(move |address| NodeEntry { job: id, address })
        })
        .collect()
}

/// Returns the account of a job at the first server of its target; the accounts at the other
/// servers follow in order. `entries` are the [`node_entries`] of the plan. `None` if the target
/// has only one server.
pub(crate) fn first_node_entry(
    plan: &Plan,
    entries: &[NodeEntry],
    job: JobId,
) -> Option<AccountId> {
    let index = entries.iter().position(|entry| entry.job == job)?;
    Some(AccountId((plan.accounts().count() + index) as u16))
}
