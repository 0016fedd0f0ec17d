//! The figures of a calibration.

use analyze::Route;
use base::Nanos;

use super::machine::Machine;

/// The figures of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The version of the program that measured the figures.
    pub assay: String,
    /// The time of the measurement, in RFC 3339 format.
    pub taken: String,
    /// True for a quick calibration, with a third of the usual time for each run, and fewer timed
    /// sleeps.
    pub is_quick: bool,
    /// The machine that was measured.
    pub machine: Machine,
    /// Cost and resolution of the clock.
    pub clock: ClockFigures,
    /// Lateness of the timer that paces requests.
    pub timer: Lateness,
    /// Figures of the routes, in the order of [`Route::ALL`].
    pub routes: Vec<RouteFigures>,
    /// Time to hand a request to a SQLite thread.
    pub hand_off: HandOff,
}

/// A calibration of a machine and, if a target was given, the floor of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationResult {
    /// The figures that apply to every run on this machine.
    pub calibration: Calibration,
    /// The floor of the given target; not stored, because it describes a server and not this
    /// machine.
    pub target: Option<Floor>,
}

/// The cost and resolution of the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockFigures {
    /// Cost of a reading, in nanoseconds.
    pub cost_ns: f64,
    /// Smallest step between two readings.
    pub resolution: Nanos,
}

/// The lateness of sleeps of 1 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// Number of sleeps that were timed.
    pub count: u64,
    /// Quantiles of the lateness.
    pub quantiles: Quantiles,
    /// The greatest lateness.
    pub max: Nanos,
}

/// The figures of one route to a database.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteFigures {
    /// The route that was measured.
    pub route: Route,
    /// Times of the requests of a single client, which are the shortest possible times.
    pub floor: Floor,
    /// Throughput of one thread, by number of clients.
    pub ceilings: Vec<Ceiling>,
}

impl Calibration {
    /// Returns the highest number of requests per second that one thread reached on any route;
    /// `None` if none was measured.
    pub fn ceiling_per_s(&self) -> Option<f64> {
        let all = self.routes.iter().flat_map(|route| &route.ceilings);
        all.map(|ceiling| ceiling.per_s).max_by(f64::total_cmp)
    }
}

/// The times of one client's requests, each a statement that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// Number of requests that were timed.
    pub count: u64,
    /// Response time, from the intended start to the last byte of the answer.
    pub response: Quantiles,
    /// Service time, from the first byte sent to the last byte of the answer.
    pub service: Quantiles,
}

/// The throughput of one thread with a given number of clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// Number of clients.
    pub connections: u64,
    /// Requests per second that were answered.
    pub per_s: f64,
}

/// Quantiles of a distribution of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// Median.
    pub p50: Nanos,
    /// 99th percentile.
    pub p99: Nanos,
    /// 99.9th percentile.
    pub p99_9: Nanos,
}

/// The time that it takes to hand a request to a SQLite thread, and the answer back: the time
/// between two requests of a client that is spent outside SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOff {
    /// Time from the end of a request to the start of the next one in the thread, p50.
    pub p50: Nanos,
    /// Time from the end of a request to the start of the next one in the thread, p99.
    pub p99: Nanos,
    /// Mean time from one request of a client to its next, minus the mean service time. This is the
    /// time of the hand-off in both directions and of the client's own work.
    pub mean: Nanos,
}

impl RouteFigures {
    /// Returns the highest throughput, in requests per second.
    pub fn max_per_s(&self) -> f64 {
        self.ceilings.iter().map(|ceiling| ceiling.per_s).fold(0.0, f64::max)
    }
}

impl Calibration {
    /// Returns the figures of a route, if it was measured.
    pub fn of(&self, route: Route) -> Option<&RouteFigures> {
        self.routes.iter().find(|figures| figures.route == route)
    }
}
