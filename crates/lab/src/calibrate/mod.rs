//! What do the load generator and its clock take on this machine?
//!
//! [`calibrate`] measures it with the ordinary engine and the ordinary record: closed jobs of a
//! statement that does nothing, at nothing ([`Route::Null`]), at a simulated server in a process of
//! its own over loopback, and at SQLite. One client gives the floor, 16 and 64 the ceiling of one
//! thread. [`Store`] keeps the result, and every later run on this machine refers to it
//! ([`facts_of`]).
//!
//! One file per question. The invariant: a calibration says of which machine it is, and is used on
//! no other.

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
use base::{Nanos, Target, WallTime};
use engine::Stop;
use record::RecordError;

pub use document::SCHEMA;
pub use machine::Machine;
pub use server::{SERVER, serve};
pub use store::{Store, Unusable};

pub(crate) use facts::{facts_of, read};

use measure::{Measured, Workshop};
use server::Simulated;

/// What is to be calibrated, and how.
pub struct Wanted {
    /// A real target whose own floor is measured as well.
    pub target: Option<Target>,
    /// Whether to measure a third as long.
    pub is_quick: bool,
    /// This program. Called with [`SERVER`] and the name of a protocol, it must [`serve`].
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// Ends it before its time.
    pub stop: Stop,
}

/// What was found on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The version of the program.
    pub assay: String,
    /// When, as RFC 3339 has it.
    pub taken: String,
    /// Whether it was measured for a third of the time.
    pub is_quick: bool,
    /// Where.
    pub machine: Machine,
    /// The clock.
    pub clock: ClockFigures,
    /// The timer that paces requests.
    pub timer: Lateness,
    /// The ways to databases, in the order of [`Route::ALL`].
    pub routes: Vec<RouteFigures>,
    /// The hand-off to a thread of SQLite.
    pub hand_off: HandOff,
}

/// What was found, of the machine and of a target on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// What holds for every run on this machine.
    pub calibration: Calibration,
    /// The floor of the target that was named. It is that of a server and not of this machine, and
    /// is not kept.
    pub target: Option<Floor>,
}

/// What reading the clock takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockFigures {
    /// A reading, in nanoseconds.
    pub cost_ns: f64,
    /// The smallest step between two readings.
    pub resolution: Nanos,
}

/// How late sleeps of a millisecond ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// How many there were.
    pub count: u64,
    /// Their quantiles.
    pub quantiles: Quantiles,
    /// The latest.
    pub max: Nanos,
}

/// A way to a database.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteFigures {
    /// Which.
    pub route: Route,
    /// What one request takes at least.
    pub floor: Floor,
    /// How many one thread makes at most.
    pub ceilings: Vec<Ceiling>,
}

/// Requests of one client, each a statement that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// How many there were.
    pub count: u64,
    /// From the intended start to the end of the answer.
    pub response: Quantiles,
    /// From the first byte sent to the end of the answer.
    pub service: Quantiles,
}

/// What so many clients of one thread make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// How many clients.
    pub connections: u64,
    /// Requests per second.
    pub per_s: f64,
}

/// Quantiles of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// p50.
    pub p50: Nanos,
    /// p99.
    pub p99: Nanos,
    /// p99.9.
    pub p99_9: Nanos,
}

/// What it takes to hand a request to a thread of SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOff {
    /// Until the thread has it, at p50.
    pub there_p50: Nanos,
    /// Until the thread has it, at p99.
    pub there_p99: Nanos,
    /// Both ways and what lies between two requests of a client, in the mean.
    pub both_ways: Nanos,
}

impl RouteFigures {
    /// The most requests per second.
    pub fn most_per_s(&self) -> f64 {
        self.ceilings.iter().map(|ceiling| ceiling.per_s).fold(0.0, f64::max)
    }
}

impl Calibration {
    /// What is known of a way.
    pub fn of(&self, route: Route) -> Option<&RouteFigures> {
        self.routes.iter().find(|figures| figures.route == route)
    }
}

/// Why there is no calibration.
#[derive(Debug)]
pub enum Problem {
    /// The simulated server cannot be started.
    Server(io::Error),
    /// The operating system grants no folder, or no timer.
    System(io::Error),
    /// A run could not be made.
    Run(crate::Error),
    /// The record of a run cannot be read.
    Record(RecordError),
    /// Requests failed that do nothing: why, as far as it is known.
    Failed(String),
    /// The target that was named cannot be reached.
    Unreachable(String),
    /// The user ended it.
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
            Problem::Interrupted => f.write_str("interrupted before all was measured"),
        }
    }
}

impl std::error::Error for Problem {}

/// Measures what there is to know, in 10 to 15 seconds. `tell` hears what is measured next.
///
/// # Errors
/// Something could not be measured: half a calibration is none.
pub fn calibrate(wanted: &Wanted, tell: &mut dyn FnMut(&str)) -> Result<Calibrated, Problem> {
    let workshop = Workshop::new(wanted)?;
    let mut target = None;
    if let Some(url) = &wanted.target {
        // First: whoever wrote a wrong URL wants to know it now.
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
    Ok(Calibrated { calibration, target })
}

/// What is measured, in words.
pub fn title(route: Route) -> &'static str {
    match route {
        Route::Null => "null server in this process",
        Route::Postgres => "PostgreSQL's protocol over loopback",
        Route::Mysql => "MySQL's protocol over loopback",
        Route::Sqlite => "SQLite on a thread",
    }
}

/// What stands at the end of a way, for as long as it is measured.
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
