//! The server's own statistics, read before and after the measured phase.
//!
//! Each reading uses a session of its own. The first reading comes before the jobs' connections are
//! opened, and the second after they are closed; the difference is the activity during the run. A
//! run without readings is just as valid. If a reading failed, the record has the reason.

use std::sync::atomic::Ordering;

use base::Nanos;
use driver::{Connection, Count, Driver};
use rt::{Rt, within};
use workload::{JobTarget, Plan};

use crate::events::RunEvent;
use crate::run_context::RunContext;

/// Time limit of a reading: two seconds to wait for sessions that end, and two for a login and some
/// statements.
const TIME_LIMIT: Nanos = Nanos::from_secs(4);

/// Reads the statistics before the jobs' connections are opened.
pub(crate) async fn read_before<D: Driver>(rt: &Rt, context: &RunContext<D>) {
    let is_read = read(rt, context).await;
    context.has_server_stats.store(is_read, Ordering::Relaxed);
}

/// Reads the statistics again after the connections are closed, if the first reading succeeded.
pub(crate) async fn read_after<D: Driver>(rt: &Rt, context: &RunContext<D>) {
    if context.has_server_stats.load(Ordering::Relaxed) {
        read(rt, context).await;
    }
}

/// Reads the statistics of the target that all jobs use, and reports them, or the reason why they
/// cannot be read, to the listener. Returns true if they could be read.
///
/// Reads and reports nothing if the time is virtual, if there is no single target, or if the target
/// has no such statistics.
async fn read<D: Driver>(rt: &Rt, context: &RunContext<D>) -> bool {
    let Some(target) = only_target(&context.plan) else { return false };
    let driver = context.drivers.of(target);
    if rt.is_virtual() || !driver.has_activity_counters() {
        return false;
    }
    let statistics = match driver.nodes().len() {
        0 | 1 => within(rt, TIME_LIMIT, read_all(rt, driver)).await,
        _ => Some(Err("the URL names several servers, each with its own counters".to_owned())),
    };
    let too_late = || Err(format!("the server did not report it within {TIME_LIMIT}"));
    let statistics = statistics.unwrap_or_else(too_late);
    context.listener.on_event(&RunEvent::ServerStatistics(&statistics));
    statistics.is_ok()
}

/// Returns the target that all jobs use; `None` if they use several targets, or if they run
/// programs.
fn only_target(plan: &Plan) -> Option<JobTarget> {
    let mut asked = plan.jobs.iter().map(|job| job.target);
    let first = asked.next().filter(|target| *target != JobTarget::Programs)?;
    asked.all(|target| target == first).then_some(first)
}

/// Reads the statistics over a session of its own.
async fn read_all<D: Driver>(rt: &Rt, driver: &D) -> Result<Vec<Count>, String> {
    let mut connection = driver.connect(rt).await.map_err(|error| error.to_string())?;
    let statistics = connection.activity_counters().await;
    connection.close().await;
    statistics
}
