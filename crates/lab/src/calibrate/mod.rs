//! Calibration: the cost of the load generator and of its clock on this machine.
//!
//! [`calibrate`] measures it with the ordinary engine and the ordinary record: closed jobs of a
//! statement that does nothing, against a null driver ([`Route::Null`]), a simulated server in a
//! process of its own over loopback, and SQLite. One client gives the floor; 16 and 64 clients give
//! the ceiling of one thread. [`Store`] keeps the result, and every later run on this machine
//! refers to it ([`facts_of`](facts::facts_of)).
//!
//! [`calibrate_disk`] measures the durable flushes of a disk instead; its result is not stored.
//!
//! Invariant: a calibration names its machine and is used on no other.

mod clock;
mod disk;
mod document;
#[cfg(test)]
mod example;
pub(crate) mod facts;
pub(crate) mod figures;
mod machine;
mod measure;
mod problem;
mod rates;
mod server;
mod store;

use std::path::Path;

use analyze::Route;
use base::{Target, WallTime};

pub use disk::{DiskFigures, DiskOptions, DiskProblem, FlushFigures, WritePattern, calibrate_disk};
pub use document::SCHEMA;
pub use figures::{
    Calibration, CalibrationResult, Ceiling, ClockFigures, Floor, HandOff, Lateness, Quantiles,
    RouteFigures,
};
pub use machine::Machine;
pub use measure::CalibrationOptions;
pub(crate) use measure::NullFloor;
pub use problem::Problem;
pub use rates::{AaResult, MachineRate};
pub use server::{WIRE_SERVER_COMMAND, serve};
pub use store::{Store, UnusableFile};

use measure::{CalibrationRunner, FloorMeasurement};
use server::Simulated;

/// Calibrates this machine, in 10 to 15 seconds, or less in a quick calibration. Calls `on_step`
/// with the name of each measurement before the measurement begins.
///
/// # Errors
/// A measurement failed; there are no partial calibrations.
pub fn calibrate(
    wanted: &CalibrationOptions,
    on_step: &mut dyn FnMut(&str),
) -> Result<CalibrationResult, Problem> {
    let runner = CalibrationRunner::new(wanted)?;
    let mut target = None;
    if let Some(url) = &wanted.target {
        // The target is measured first, to report a wrong URL at once.
        on_step("the target");
        target = Some(runner.floor(url)?.floor);
    }
    on_step("the clock");
    let clock = clock::clock();
    on_step("the timer");
    let timer = clock::timer(wanted.is_quick)?;
    let mut hand_off = None;
    let mut routes = Vec::new();
    for route in Route::ALL {
        on_step(title(route));
        let place = RouteServer::of(route, &wanted.program)?;
        let measured = runner.floor(&place.target)?;
        if route == Route::Sqlite {
            hand_off = Some(measured.hand_off());
        }
        let FloorMeasurement { floor, .. } = measured;
        routes.push(RouteFigures { route, floor, ceilings: runner.ceilings(&place.target)? });
    }
    let calibration = Calibration {
        assay: wanted.version.clone(),
        taken: WallTime::now().to_string(),
        is_quick: wanted.is_quick,
        machine: Machine::here(),
        clock,
        timer,
        routes,
        hand_off: hand_off.expect("SQLite is one of the routes"),
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
struct RouteServer {
    target: Target,
    _server: Option<Simulated>,
}

impl RouteServer {
    fn of(route: Route, program: &Path) -> Result<RouteServer, Problem> {
        let fixed = |url: &str| RouteServer { target: url_of(url), _server: None };
        let simulated = |kind: testbed::Kind, scheme: &str| {
            let server = Simulated::start(program, kind).map_err(Problem::Server)?;
            let target = url_of(&format!("{scheme}://assay@{}/calibrate", server.address));
            Ok(RouteServer { target, _server: Some(server) })
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
