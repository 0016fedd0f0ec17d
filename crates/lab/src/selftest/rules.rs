//! Measurement faults of real tools, as [`Rules`] for the engine.

use base::{Nanos, Stamp};
use engine::Rules;
use record::{Dispatch, Request};

/// Response times are measured from the actual send, which leaves out waits that a slow server
/// causes.
pub(super) const FROM_THE_ACTUAL_SEND: Rules =
    Rules { recorded: Some(from_the_actual_send), ..Rules::STANDARD };

/// Nothing is sent for arrivals that find no free worker.
pub(super) const SKIPPING_MISSED_TICKS: Rules =
    Rules { makes_up_missed_arrivals: false, ..Rules::STANDARD };

/// Requests that timed out have no response time.
pub(super) const DROPPING_TIMEOUTS: Rules =
    Rules { timeouts_have_latencies: false, ..Rules::STANDARD };

/// The queue is emptied at the end of the warm-up, so the window starts with an idle server.
pub(super) const EMPTYING_THE_QUEUE: Rules =
    Rules { queues_survive_the_warm_up: false, ..Rules::STANDARD };

/// Intended starts are read from a clock that ticks once per millisecond.
pub(super) const BY_A_COARSE_CLOCK: Rules =
    Rules { recorded: Some(by_a_coarse_clock), ..Rules::STANDARD };

/// Returns rules that restart the schedule when it is more than `MILLIS` milliseconds behind, as if
/// the requests had been due later.
pub(super) const fn restarting_the_schedule<const MILLIS: u64>() -> Rules {
    Rules { recorded: Some(restarted::<MILLIS>), ..Rules::STANDARD }
}

fn from_the_actual_send(request: Request, dispatch: Option<Dispatch>) -> Request {
    match dispatch {
        Some(dispatch) => request.with_intended_start(dispatch.assigned),
        None => request,
    }
}

fn restarted<const MILLIS: u64>(request: Request, dispatch: Option<Dispatch>) -> Request {
    match dispatch {
        Some(dispatch)
            if dispatch.assigned.since(request.intended()) > Nanos::from_millis(MILLIS) =>
        {
            request.with_intended_start(dispatch.assigned)
        }
        _ => request,
    }
}

fn by_a_coarse_clock(request: Request, _dispatch: Option<Dispatch>) -> Request {
    let tick = Nanos::from_millis(1).0;
    let meant = Stamp(request.intended().0 / tick * tick);
    request.with_intended_start(meant)
}
