//! The rules of honest measurement, as a value.
//!
//! Each field of [`Rules`] stands for a known source of error in load generators. The engine
//! follows [`Rules::STANDARD`]. The self-test runs the same engine under other rules, to show that
//! a comparison with queueing theory detects each of these errors.

use record::{Dispatch, Request};

/// The rules that the engine follows, and that a planted fault replaces.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// True if arrivals that find no free worker are sent once a worker is free. A generator that
    /// skips missed ticks sends less than requested whenever the server is slow.
    pub makes_up_missed_arrivals: bool,
    /// True if a request that timed out counts with at least its timeout as response time. A
    /// generator that drops timeouts reports only the fast requests.
    pub timeouts_have_latencies: bool,
    /// True if requests that wait at the end of the warm-up keep waiting. A generator that resets
    /// its queue begins the window with an idle server.
    pub queues_survive_the_warm_up: bool,
    /// Function that returns the request as it is recorded; `None` records it from its intended
    /// start. A generator that counts from the actual send has coordinated omission: it leaves out
    /// the times at which the server was slow.
    pub recorded: Option<fn(Request, Option<Dispatch>) -> Request>,
}

impl Rules {
    /// The rules that the engine follows, without any fault.
    pub const STANDARD: Rules = Rules {
        makes_up_missed_arrivals: true,
        timeouts_have_latencies: true,
        queues_survive_the_warm_up: true,
        recorded: None,
    };
}
