//! Calibration: the cost of the load generator and of its clock on this machine.
//!
//! [`calibrate`] measures it with the ordinary engine and the ordinary record: closed jobs of a
//! statement that does nothing, against a null driver ([`Route::Null`]), a simulated server in a
//! process of its own over loopback, and SQLite. One client gives the floor; 16 and 64 clients give
//! the ceiling of one thread. [`Store`] keeps the result, and every later run on this machine
//! refers to it ([`facts_of`]).
//!
//! Invariant: a calibration names its machine and is used on no other.

mod clock;
mod document;
mod facts;
mod machine;
mod measure;
mod server;
mod store;

use std::fmt;
use std::io;
use std::path::PathBuf;

use analyze::Route;
use archive::RecordError;
use base::{Nanos, Target, WallTime};
use engine::Stop;

pub use document::SCHEMA;
pub use machine::Machine;
pub use server::{SERVER, serve};
pub use store::{Store, Unusable};

pub(crate) use facts::{facts_of, read};

use measure::{CalibrationRunner, Measured};
use server::Simulated;

/// The parameters of a calibration.
pub struct CalibrationOptions {
    /// A real target whose floor is measured as well.
    pub target: Option<Target>,
    /// True if each measurement lasts only a third of the usual time.
    pub is_quick: bool,
    /// The path of this program; called with [`SERVER`] and the name of a protocol, it must
    /// [`serve`].
    pub program: PathBuf,
    /// The version of this program.
    pub version: String,
    /// A request to stop early.
    pub stop: Stop,
}

/// The figures of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The version of the program that measured them.
    pub assay: String,
    /// The time of the measurement, in RFC 3339 format.
    pub taken: String,
    /// True if each measurement lasted only a third of the usual time.
    pub is_quick: bool,
    /// The machine.
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

/// A calibration of a machine, and optionally the floor of a target.
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
    /// Number of sleeps.
    pub count: u64,
    /// Quantiles of the lateness.
    pub quantiles: Quantiles,
    /// The greatest lateness.
    pub max: Nanos,
}

/// The figures of one route to a database.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteFigures {
    /// The route.
    pub route: Route,
    /// Times of a single client's requests: the least that a request takes.
    pub floor: Floor,
    /// Throughput of one thread, by number of clients.
    pub ceilings: Vec<Ceiling>,
}

/// The times of one client's requests, each a statement that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// Number of requests.
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
    /// Requests per second.
    pub per_s: f64,
}

/// Quantiles of a distribution of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// p50.
    pub p50: Nanos,
    /// p99.
    pub p99: Nanos,
    /// p99.9.
    pub p99_9: Nanos,
}

/// The time that it takes to hand a request to a SQLite thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOff {
    /// Time until the thread has the request, p50.
    pub there_p50: Nanos,
    /// Time until the thread has the request, p99.
    pub there_p99: Nanos,
    /// Mean time between the requests of a client that is not service time: both ways and the
    /// client's own work.
    pub both_ways: Nanos,
}

impl RouteFigures {
    /// Returns the highest throughput, in requests per second.
    pub fn most_per_s(&self) -> f64 {
        self.ceilings.iter().map(|ceiling| ceiling.per_s).fold(0.0, f64::max)
    }
}

impl Calibration {
    /// Returns the figures of a route, if it was measured.
    pub fn of(&self, route: Route) -> Option<&RouteFigures> {
        self.routes.iter().find(|figures| figures.route == route)
    }
}

/// A reason why a calibration failed.
#[derive(Debug)]
pub enum Problem {
    /// The simulated server cannot be started.
    Server(io::Error),
    /// The operating system refuses a folder or a timer.
    System(io::Error),
    /// A run failed to start.
    Run(crate::Error),
    /// The record of a run cannot be read.
    Record(RecordError),
    /// Statements that do nothing failed; the text says why if that is known.
    Failed(String),
    /// The given target cannot be reached.
    Unreachable(String),
    /// The user interrupted the calibration.
    Interrupted,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Server(error) => {
                write!(f, "the simulated server cannot be started on 127.0.0.1: {error}")
            }
            Problem::System(error) => error.fmt(f),
            Problem::Run(error) => error.fmt(f),
            Problem::Record(error) => error.fmt(f),
            Problem::Failed(reason) => f.write_str(reason),
            Problem::Unreachable(reason) => {
                write!(f, "the target could not be reached: {reason}")
            }
            Problem::Interrupted => f.write_str("interrupted before the end of the measurement"),
        }
    }
}

impl std::error::Error for Problem {}

/// Calibrates this machine, in 10 to 15 seconds; calls `tell` with the name of each measurement
/// before it begins.
///
/// # Errors
/// A measurement failed; there are no partial calibrations.
pub fn calibrate(
    wanted: &CalibrationOptions,
    tell: &mut dyn FnMut(&str),
) -> Result<CalibrationResult, Problem> {
    let workshop = CalibrationRunner::new(wanted)?;
    let mut target = None;
    if let Some(url) = &wanted.target {
        // First, to report a wrong URL at once.
        tell("the target");
        target = Some(workshop.floor(url)?.floor);
    }
    tell("the clock");
    let clock = clock::clock();
    tell("the timer");
    let timer = clock::timer(wanted.is_quick)?;
    let mut hand_off = None;
    let mut routes = Vec::new();
    for route in Route::ALL {
        tell(title(route));
        let place = Place::of(route, &wanted.program)?;
        let measured = workshop.floor(&place.target)?;
        if route == Route::Sqlite {
            hand_off = Some(measured.hand_off());
        }
        let Measured { floor, .. } = measured;
        routes.push(RouteFigures { route, floor, ceilings: workshop.ceilings(&place.target)? });
    }
    let calibration = Calibration {
        assay: wanted.version.clone(),
        taken: WallTime::now().to_string(),
        is_quick: wanted.is_quick,
        machine: Machine::here(),
        clock,
        timer,
        routes,
        hand_off: hand_off.expect("SQLite is one of the ways"),
    };
    Ok(CalibrationResult { calibration, target })
}

/// Returns the title of a route.
pub fn title(route: Route) -> &'static str {
    match route {
        Route::Null => "null server in this process",
        Route::Postgres => "PostgreSQL's protocol over loopback",
        Route::Mysql => "MySQL's protocol over loopback",
        Route::Sqlite => "SQLite on a thread",
    }
}

/// The server at the end of a route, running while the route is measured.
struct Place {
    target: Target,
    _server: Option<Simulated>,
}

impl Place {
    fn of(route: Route, program: &std::path::Path) -> Result<Place, Problem> {
        let fixed = |url: &str| Place { target: url_of(url), _server: None };
        let simulated = |kind: testbed::Kind, scheme: &str| {
            let server = Simulated::start(program, kind).map_err(Problem::Server)?;
            let target = url_of(&format!("{scheme}://assay@{}/calibrate", server.address));
            Ok(Place { target, _server: Some(server) })
        };
        match route {
            Route::Null => Ok(fixed("sim:null")),
            Route::Sqlite => Ok(fixed("sqlite:")),
            Route::Postgres => simulated(testbed::Kind::Postgres, "postgres"),
            Route::Mysql => simulated(testbed::Kind::Mariadb, "mysql"),
        }
    }
}

fn url_of(url: &str) -> Target {
    Target::parse(url).expect("the URL is ours")
}
