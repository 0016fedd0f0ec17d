//! The server's own account of what it did, before and behind the measured phase.
//!
//! Both readings are taken on a session of their own, the first before the connections of the jobs
//! are opened and the second when they are closed, so that what lies between is the run. A run
//! without a reading is no worse: its record says why there is none.

use std::sync::atomic::Ordering;

use base::Nanos;
use driver::{Connection, Count, Driver};
use rt::{Rt, within};
use workload::{JobTarget, Plan};

use crate::lane::Common;
use crate::news::News;

/// How long a reading may take: two seconds of waiting for sessions that end, and as much for a
/// login and some statements.
const PATIENCE: Nanos = Nanos::from_secs(4);

/// Reads the account before the connections of the jobs are opened.
pub(crate) async fn open<D: Driver>(rt: &Rt, common: &Common<D>) {
    let is_read = read(rt, common).await;
    common.has_account.store(is_read, Ordering::Relaxed);
}

/// Reads it again when they are closed. One reading alone would say nothing.
pub(crate) async fn close<D: Driver>(rt: &Rt, common: &Common<D>) {
    if common.has_account.load(Ordering::Relaxed) {
        read(rt, common).await;
    }
}

/// Reads the account of the one database that the jobs ask, and tells the listener. Returns
/// whether there is one.
async fn read<D: Driver>(rt: &Rt, common: &Common<D>) -> bool {
    let Some(target) = only_target(&common.plan) else { return false };
    let driver = common.drivers.of(target);
    if rt.is_virtual() || !driver.keeps_account() {
        return false;
    }
    let account = match driver.nodes().len() {
        0 | 1 => within(rt, PATIENCE, account(rt, driver)).await,
        _ => Some(Err("the URL names several servers, each with an account of its own".to_owned())),
    };
    let too_late = || Err(format!("the server did not tell it within {PATIENCE}"));
    let account = account.unwrap_or_else(too_late);
    common.listener.hear(&News::Account(&account));
    account.is_ok()
}

/// The target that all jobs ask; `None` if they ask several.
fn only_target(plan: &Plan) -> Option<JobTarget> {
    let mut asked = plan.leaders().map(|place| plan.jobs[place].target);
    let first = asked.next().filter(|target| *target != JobTarget::Programs)?;
    asked.all(|target| target == first).then_some(first)
}

async fn account<D: Driver>(rt: &Rt, driver: &D) -> Result<Vec<Count>, String> {
    let mut connection = driver.connect(rt).await.map_err(|error| error.to_string())?;
    let account = connection.account().await;
    connection.close().await;
    account
}
