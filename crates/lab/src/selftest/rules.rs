//! Faulty measurement rules of real tools, as [`Rules`] of the engine.

use base::{Nanos, Stamp};
use engine::Rules;
use record::{Dispatch, Request};

/// Counts from the actual send, which omits waits caused by a slow server.
pub(super) struct FromTheActualSend;

impl Rules for FromTheActualSend {
    fn recorded(request: Request, dispatch: Option<Dispatch>) -> Request {
        match dispatch {
            Some(dispatch) => request.with_intended_start(dispatch.assigned),
            None => request,
        }
    }
}

/// Sends nothing for arrivals that found no free worker.
pub(super) struct SkippingMissedTicks;

impl Rules for SkippingMissedTicks {
    const MAKES_UP_MISSED_ARRIVALS: bool = false;
}

/// Gives requests that timed out no response time.
pub(super) struct DroppingTimeouts;

impl Rules for DroppingTimeouts {
    const TIMEOUTS_HAVE_LATENCIES: bool = false;
}

/// Empties the queue at the end of the warm-up: the window starts with an idle server.
pub(super) struct EmptyingTheQueue;

impl Rules for EmptyingTheQueue {
    const QUEUES_SURVIVE_THE_WARM_UP: bool = false;
}

/// Restarts the schedule when too far behind, as if the requests had been due later.
pub(super) struct RestartingTheSchedule<const MILLIS: u64>;

impl<const MILLIS: u64> Rules for RestartingTheSchedule<MILLIS> {
    fn recorded(request: Request, dispatch: Option<Dispatch>) -> Request {
        match dispatch {
            Some(dispatch)
                if dispatch.assigned.since(request.intended()) > Nanos::from_millis(MILLIS) =>
            {
                request.with_intended_start(dispatch.assigned)
            }
            _ => request,
        }
    }
}

/// Reads intended starts from a clock that ticks once per millisecond.
pub(super) struct ByACoarseClock;

impl Rules for ByACoarseClock {
    fn recorded(request: Request, _dispatch: Option<Dispatch>) -> Request {
        let tick = Nanos::from_millis(1).0;
        let meant = Stamp(request.intended().0 / tick * tick);
        request.with_intended_start(meant)
    }
}
