//! A lane: one thread's part of a run.
//!
//! A lane is assembled on connections that were opened before (`assembly`), notices arrivals when
//! they are due and gives them to clients (`dispatch`), and closes an interval of its ledger each
//! second (`housekeeping`). At the end of the schedule nothing new starts, queued and in-flight
//! requests drain, and the rest is given up when the drain is over.

mod assembly;
mod dispatch;
mod housekeeping;

use std::rc::Rc;

use base::Stamp;
use driver::Driver;
use rt::Rt;

use crate::lane_state::{LaneState, Outlets};
use crate::opening::LaneConnections;
use crate::run_context::RunContext;
use crate::share::Share;

pub(crate) use housekeeping::LaneOutcome;

/// Runs a lane from time zero to its end.
pub(crate) async fn run<D: Driver>(
    rt: Rt,
    context: RunContext<D>,
    share: Share,
    zero: Stamp,
    outlets: Outlets,
    opened: LaneConnections<D>,
) -> LaneOutcome {
    let lane = Rc::new(LaneState::assemble(rt, context, share, zero, outlets));
    for (id, connections) in opened.connections.into_pairs() {
        lane.start(id, connections);
        lane.job_states[id].close_results_if_over();
    }
    for (job, error) in &opened.limited_jobs {
        lane.note_connection_limit(&lane.job_states[*job], error);
    }
    let end = lane.work_until_end().await;
    lane.drain(end).await;
    match Rc::into_inner(lane) {
        Some(lane) => lane.finish(end),
        None => unreachable!("every task of the lane has ended"),
    }
}
