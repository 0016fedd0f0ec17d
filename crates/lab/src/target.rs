//! From a parsed URL to a driver: the one `match` on the kind of target.

use std::fmt;

use base::{Class, Endpoint, Seed, Target, TargetKind};
use driver::{Driver, Null, Simulated, Sqlite};
use sim::Config;

/// Why there is no driver for a target.
#[derive(Debug)]
pub enum TargetProblem {
    /// This version cannot speak to this kind of database.
    Kind(&'static str),
    /// Only a simulated server can be run in virtual time.
    NotSimulated,
    /// The options describe no server.
    Simulation(sim::ConfigError),
    /// The URL asks for something that the database does not grant.
    Database(driver::Error),
}

impl fmt::Display for TargetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetProblem::Kind(scheme) => write!(
                f,
                "this version has no driver for `{scheme}:`; it has `sqlite:FILE` and `sim:mm1`"
            ),
            TargetProblem::NotSimulated => f.write_str(
                "only a simulated server runs in virtual time: name one with --url sim:mm1, or \
                 leave out --virtual",
            ),
            TargetProblem::Simulation(error) => error.fmt(f),
            TargetProblem::Database(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TargetProblem {}

/// Something to be done with a driver, whichever it is.
pub(crate) trait WithDriver {
    type Output;

    fn call<D: Driver>(self, driver: D) -> Self::Output;

    /// The database cannot be opened.
    fn unreachable(self, error: driver::Error) -> Self::Output;
}

/// Makes the driver for a target and hands it over, or why there is none to be reached.
pub(crate) fn with_driver<W: WithDriver>(
    target: &Target,
    seed: Seed,
    is_virtual: bool,
    work: W,
) -> Result<W::Output, TargetProblem> {
    match target.kind {
        TargetKind::Sim => match simulation(target)? {
            None => Ok(work.call(Null)),
            Some(config) => Ok(work.call(Simulated::new(config, seed))),
        },
        _ if is_virtual => Err(TargetProblem::NotSimulated),
        TargetKind::Sqlite => match Sqlite::open(target) {
            Ok(driver) => Ok(work.call(driver)),
            Err(error) if error.class() == Class::Disconnect => Ok(work.unreachable(error)),
            Err(error) => Err(TargetProblem::Database(error)),
        },
        TargetKind::Postgres | TargetKind::Mysql | TargetKind::Testbed => {
            Err(TargetProblem::Kind(target.kind.scheme()))
        }
    }
}

/// The simulated server that a URL describes; `None` is the one that answers at once.
fn simulation(target: &Target) -> Result<Option<Config>, TargetProblem> {
    let Endpoint::Named(kind) = &target.endpoint else {
        return Err(TargetProblem::Simulation(sim::ConfigError::Kind(String::new())));
    };
    let config = Config::from_options(kind, &target.options).map_err(TargetProblem::Simulation)?;
    let answers_at_once = kind == "null" && target.options.is_empty();
    Ok(if answers_at_once { None } else { Some(config) })
}
