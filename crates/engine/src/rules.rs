//! The rules of honest measurement, as a type.
//!
//! Each item is a point at which load generators are known to go wrong. The engine follows
//! [`StandardRules`]; the self-test runs the same engine under other rules to show that the oracles
//! of queueing theory detect every such fault.

use record::{Dispatch, Request};

/// The choices of the engine that a dishonest generator makes differently.
pub trait Rules: 'static {
    /// Arrivals that find no free worker are sent when one is free. A generator that skips missed
    /// ticks sends less than requested, always when the server is slow.
    const MAKES_UP_MISSED_ARRIVALS: bool = true;

    /// A request that timed out counts with at least its timeout as response time. A generator that
    /// drops timeouts reports only the fast requests.
    const TIMEOUTS_HAVE_LATENCIES: bool = true;

    /// Requests that wait at the end of the warm-up keep waiting. A generator that resets its queue
    /// begins the window with an idle server.
    const QUEUES_SURVIVE_THE_WARM_UP: bool = true;

    /// Returns the request as it is recorded: from its intended start. A generator that counts from
    /// the actual send omits, in coordination with the server, the times at which the server was
    /// slow.
    fn recorded(request: Request, _dispatch: Option<Dispatch>) -> Request {
        request
    }
}

/// The rules that the engine follows: all of the above.
#[derive(Clone, Copy, Debug)]
pub struct StandardRules;

impl Rules for StandardRules {}
