//! The rules of honest measurement, as a type.
//!
//! Each item is a place where load generators are known to go wrong. The engine follows
//! [`Honest`]; the self-test runs the same engine under other rules to show that the oracles of
//! queueing theory notice every one of them.

use record::{Dispatch, Request};

/// What the engine does where it would be easy to do less.
pub trait Rules: 'static {
    /// Arrivals that find no free worker are made up for when one is free. A generator that skips
    /// missed ticks sends less than it was asked to, and never when it matters.
    const MAKES_UP_MISSED_ARRIVALS: bool = true;

    /// A request that timed out took at least as long as its timeout. A generator that drops
    /// timeouts reports the fast requests.
    const TIMEOUTS_HAVE_LATENCIES: bool = true;

    /// What waits when the warm-up ends goes on waiting. A generator that resets its queue begins
    /// the window with an idle server.
    const QUEUES_SURVIVE_THE_WARM_UP: bool = true;

    /// A request is recorded from its intended start. A generator that counts from the actual send
    /// omits, in coordination with the server, the times at which the server was slow.
    fn recorded(request: Request, _dispatch: Option<Dispatch>) -> Request {
        request
    }
}

/// The rules that the engine follows: all of the above.
#[derive(Clone, Copy, Debug)]
pub struct Honest;

impl Rules for Honest {}
