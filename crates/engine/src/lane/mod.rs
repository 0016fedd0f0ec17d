//! A lane: one thread's part of a run.
//!
//! A lane is assembled on connections that were opened before (`assembly`), notices arrivals when
//! they are due and gives them to clients (`dispatch`), and closes an interval of its ledger each
//! second (`housekeeping`). After the end of the schedule no request comes due any more. Waiting
//! and in-flight requests may still finish during the drain; at its end, the rest is given up.

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

/// Runs a lane from the start of its clients, just before time zero, to the end of its drain.
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
