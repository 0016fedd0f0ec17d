//! From a parsed URL to a driver: the one `match` on the kind of target.

use std::fmt;

use base::{Class, Endpoint, Seed, Target, TargetError, TargetKind};
use driver::{Driver, Null, Simulated, Sqlite};
use engine::Options;
use sim::Config;

/// Why there is no driver for a target.
#[derive(Debug)]
pub enum TargetProblem {
    /// This build cannot speak to this kind of database.
    NoDriver(TargetError),
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
            TargetProblem::NoDriver(error) => error.fmt(f),
            TargetProblem::NotSimulated => f.write_str(
                "only a simulated server runs in virtual time: name one with --url sim:mm1, or \
                 leave out --virtual",
            ),
            TargetProblem::Simulation(error) => error.fmt(f),
            // Its code says no more than that it is the URL's fault.
            TargetProblem::Database(error) => f.write_str(error.message()),
        }
    }
}

impl std::error::Error for TargetProblem {}

/// Makes sure that a target can be asked for at all, without a look at what it names: the kind has
/// a driver, the options exist and make sense. [`run`](crate::run) begins with this, so that
/// whoever only checks a workload refuses what a run would refuse, in the same words.
///
/// # Errors
/// What is wrong with the URL, or with running it in virtual time.
pub fn admit(target: &Target, is_virtual: bool) -> Result<(), TargetProblem> {
    match target.kind {
        TargetKind::Sim => simulation(target).map(|_| ()),
        TargetKind::Postgres | TargetKind::Mysql | TargetKind::Testbed => {
            Err(TargetProblem::NoDriver(TargetError::NoDriver(target.kind)))
        }
        TargetKind::Sqlite if is_virtual => Err(TargetProblem::NotSimulated),
        TargetKind::Sqlite => Sqlite::check(target).map_err(TargetProblem::Database),
    }
}

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
    options: &Options,
    work: W,
) -> Result<W::Output, TargetProblem> {
    admit(target, options.is_virtual)?;
    // Whoever has loaded before means a database that is there.
    let open = if options.loaded { Sqlite::open_existing } else { Sqlite::open };
    match target.kind {
        TargetKind::Sim => match simulation(target)? {
            None => Ok(work.call(Null)),
            Some(config) => Ok(work.call(Simulated::new(config, seed))),
        },
        TargetKind::Sqlite => match open(target) {
            Ok(driver) => Ok(work.call(driver)),
            Err(error) if error.class() == Class::Disconnect => Ok(work.unreachable(error)),
            Err(error) => Err(TargetProblem::Database(error)),
        },
        TargetKind::Postgres | TargetKind::Mysql | TargetKind::Testbed => {
            unreachable!("what has no driver is not admitted")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(url: &str) -> Result<(), String> {
        admit(&Target::parse(url).unwrap(), false).map_err(|problem| problem.to_string())
    }

    #[test]
    fn exactly_the_kinds_that_messages_recommend_have_a_driver() {
        for (url, kind) in [
            ("sqlite:t.db", TargetKind::Sqlite),
            ("sim:mm1", TargetKind::Sim),
            ("postgres://h/d", TargetKind::Postgres),
            ("mysql://h/d", TargetKind::Mysql),
            ("testbed:postgres", TargetKind::Testbed),
        ] {
            assert_eq!(admitted(url).is_ok(), kind.has_driver(), "{url}");
        }
    }

    #[test]
    fn a_url_is_judged_without_a_look_at_its_file() {
        for url in ["sqlite:", "sqlite:no/such/t.db?journal=wal", "sqlite:/dev/null"] {
            assert_eq!(admitted(url), Ok(()), "{url}");
        }
        for (url, words) in [
            ("sqlite:t.db?jurnal=wal", "did you mean `journal`?"),
            ("sqlite:?cache-size=many", "is not a number"),
            ("sqlite::memory:", "write `sqlite:`"),
            ("sim:mn1", "did you mean `sim:mm1`?"),
        ] {
            let message = admitted(url).unwrap_err();
            assert!(message.contains(words) && !message.contains("(url)"), "{message}");
        }
    }
}
