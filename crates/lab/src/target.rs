//! Drivers for targets: the only `match` on the kind of target.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;

use base::{Class, Endpoint, Seed, Stream, Target, TargetKind};
use confine::Reach;
use driver::{Driver, Either, Mysql, Null, Postgres, Programs, Simulated, Sqlite};
use engine::{Drivers, Failed, Location, Options, PerTarget};
use sim::Config;
use workload::{JobTarget, NamedTarget, Plan};

use crate::experiment::Error;

/// A reason why there is no driver for a target.
#[derive(Debug)]
pub enum TargetProblem {
    /// The private server is impossible or cannot be started.
    Testbed(testbed::Problem),
    /// Only a simulated server can be run in virtual time.
    NotSimulated,
    /// Programs cannot be run in virtual time.
    Programs,
    /// The options do not describe a simulated server.
    Simulation(sim::ConfigError),
    /// The URL has an option that the database does not support.
    Database(driver::Error),
    /// A named target has a problem.
    Of(String, Box<TargetProblem>),
}

impl TargetProblem {
    fn of(self, name: &str) -> TargetProblem {
        TargetProblem::Of(name.to_owned(), Box::new(self))
    }
}

impl fmt::Display for TargetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetProblem::Testbed(problem) => problem.fmt(f),
            TargetProblem::NotSimulated => f.write_str(
                "only a simulated server runs in virtual time: name one with --url sim:mm1, or \
                 leave out --virtual",
            ),
            TargetProblem::Programs => f.write_str(
                "programs take real time: leave out --virtual, or the jobs with a `command`",
            ),
            TargetProblem::Simulation(error) => error.fmt(f),
            // Its code only says that the URL is at fault.
            TargetProblem::Database(error) => f.write_str(error.message()),
            TargetProblem::Of(name, problem)
                if matches!(**problem, TargetProblem::NotSimulated) =>
            {
                write!(
                    f,
                    "[target {name}] is not a simulated server, and only these run in virtual \
                     time: leave out --virtual"
                )
            }
            TargetProblem::Of(name, problem) => write!(f, "[target {name}]: {problem}"),
        }
    }
}

impl std::error::Error for TargetProblem {}

/// Checks a target without contacting it: its kind has a driver, and its options exist and make
/// sense.
///
/// [`run`](crate::run) begins with this, so `assay check` refuses the same targets as a run, in the
/// same words.
///
/// # Errors
/// The URL is wrong, or cannot be run in virtual time.
pub fn admit(target: &Target, is_virtual: bool) -> Result<(), TargetProblem> {
    match target.kind {
        TargetKind::Sim => simulation(target).map(|_| ()),
        _ if is_virtual => Err(TargetProblem::NotSimulated),
        TargetKind::Testbed => testbed::check(target).map(|_| ()).map_err(TargetProblem::Testbed),
        TargetKind::Mysql => Mysql::check(target).map_err(TargetProblem::Database),
        TargetKind::Postgres => Postgres::check(target).map_err(TargetProblem::Database),
        TargetKind::Sqlite => Sqlite::check(target).map_err(TargetProblem::Database),
    }
}

/// Checks every target that a plan asks; `main` is the main one.
///
/// # Errors
/// As [`admit`], with the name of the target where it has one.
pub fn admit_all(plan: &Plan, main: &Target, is_virtual: bool) -> Result<(), TargetProblem> {
    let admitted = |asked| match asked {
        JobTarget::Main => admit(main, is_virtual),
        JobTarget::Named(place) => {
            let NamedTarget { name, target, .. } = &plan.targets[place];
            admit(target, is_virtual).map_err(|problem| problem.of(name))
        }
        JobTarget::Programs if is_virtual => Err(TargetProblem::Programs),
        JobTarget::Programs => Ok(()),
    };
    PerTarget::of_plan(plan, admitted).map(|_| ())
}

/// Returns the password file that would be used for any host of a target; `None` if there is none,
/// the URL has a password, or its servers are on this machine.
pub fn password_file_for_any_host(target: &Target) -> Option<PathBuf> {
    match target.kind {
        TargetKind::Postgres => Postgres::password_file_for_any_host(target),
        TargetKind::Mysql => Mysql::password_file_for_any_host(target),
        TargetKind::Sim | TargetKind::Testbed | TargetKind::Sqlite => None,
    }
}

/// An operation on drivers of any type.
pub(crate) trait WithDrivers {
    type Output;

    /// Runs the operation; `reached` are the databases behind the drivers.
    fn call<D: Driver>(self, drivers: Drivers<D>, reached: Vec<Reached>) -> Self::Output;

    /// Handles a database that cannot be opened.
    fn unreachable(self, error: driver::Error) -> Self::Output;
}

/// A database for which there is a driver.
pub(crate) struct Reached {
    /// The target's name, if it is not the main one.
    pub(crate) name: Option<String>,
    /// The database's address; for a private server, that at which it was started.
    pub(crate) target: Target,
}

/// A driver of each kind.
enum Kind {
    Null(Null),
    Simulated(Simulated),
    Sqlite(Sqlite),
    Postgres(Postgres),
    Mysql(Mysql),
    Programs(Programs),
}

/// A driver that dispatches to one of any kind, for plans that ask several.
type Any =
    Either<Either<Null, Simulated>, Either<Either<Sqlite, Programs>, Either<Postgres, Mysql>>>;

/// Creates the drivers of all targets of a plan and calls `work` with them, or with the error if a
/// target is unreachable.
pub(crate) fn with_drivers<W: WithDrivers>(
    plan: &Plan,
    main: &Target,
    options: &Options,
    work: W,
) -> Result<W::Output, Error> {
    admit_all(plan, main, options.is_virtual).map_err(Error::Target)?;
    let programs = Programs::new(options.files.inputs.clone());
    check_commands(plan, &programs)?;
    // Private servers live until `work` has ended.
    let (mut servers, mut reached) = (Vec::new(), Vec::new());
    let made = PerTarget::of_plan(plan, |asked| {
        let (name, (kind, target)) = match asked {
            JobTarget::Main => (None, make(main, plan.seed, options, &mut servers)?),
            JobTarget::Named(place) => {
                let NamedTarget { name, target, .. } = &plan.targets[place];
                let seed = seed_of(plan.seed, name);
                let made = make(target, seed, options, &mut servers);
                (Some(name.clone()), made.map_err(|error| named(error, name))?)
            }
            JobTarget::Programs => return Ok(Kind::Programs(programs.clone())),
        };
        reached.push(Reached { name, target });
        Ok(kind)
    });
    match made {
        Ok(kinds) => Ok(hand_over(plan, &kinds, reached, work)),
        Err(OpenError::Unreachable(error)) => Ok(work.unreachable(error)),
        Err(OpenError::Impossible(problem)) => Err(Error::Target(problem)),
    }
}

/// Returns the seed of a named simulated server; each has an independent one.
fn seed_of(seed: Seed, name: &str) -> Seed {
    Seed(Stream::new(seed, &format!("target {name}"), "server").draw(0).bits())
}

/// Reports a command that the shell rejects, without running it.
fn check_commands(plan: &Plan, programs: &Programs) -> Result<(), Error> {
    for job in &plan.jobs {
        let Some(command) = job.command() else { continue };
        let sample = command.sample();
        let checked = programs.check(sample.as_deref(), command.first_word());
        checked.map_err(|reason| {
            let section = job.name.clone();
            let place = Location { section, statement: Some(1), span: command.span, script: None };
            Error::Failed(Failed::Unsupported { place, reason })
        })?;
    }
    Ok(())
}

/// A reason why a driver cannot be created.
enum OpenError {
    /// The target is unreachable.
    Unreachable(driver::Error),
    /// The URL asks for something impossible.
    Impossible(TargetProblem),
}

fn named(open_error: OpenError, name: &str) -> OpenError {
    match open_error {
        OpenError::Unreachable(error) => {
            let message = format!("[target {name}]: {}", error.message());
            OpenError::Unreachable(driver::Error::new(error.class(), error.code(), message))
        }
        OpenError::Impossible(problem) => OpenError::Impossible(problem.of(name)),
    }
}

/// Creates the driver of an admitted target and returns it with the database's address; adds a
/// server that is started for it to `servers`.
fn make(
    target: &Target,
    seed: Seed,
    options: &Options,
    servers: &mut Vec<testbed::Server>,
) -> Result<(Kind, Target), OpenError> {
    // With `--loaded`, the database must exist already.
    let open = if options.loaded { Sqlite::open_existing } else { Sqlite::open };
    let open = |target| {
        open(target).map(|driver| match options.files.reach {
            Reach::Folder => driver.confined(),
            Reach::Anywhere => driver,
        })
    };
    let kind = match target.kind {
        TargetKind::Sim => match simulation(target).map_err(OpenError::Impossible)? {
            None => Kind::Null(Null),
            Some(config) => Kind::Simulated(Simulated::new(config, seed)),
        },
        TargetKind::Sqlite => open(target).map(Kind::Sqlite).map_err(open_error)?,
        TargetKind::Postgres => Postgres::open(target).map(Kind::Postgres).map_err(open_error)?,
        TargetKind::Mysql => {
            Mysql::open(target, options.files.clone()).map(Kind::Mysql).map_err(open_error)?
        }
        TargetKind::Testbed => {
            let started = testbed::start(target);
            let (server, reached) = started
                .map_err(|problem| OpenError::Impossible(TargetProblem::Testbed(problem)))?;
            servers.push(server);
            return make(&reached, seed, options, servers);
        }
    };
    Ok((kind, target.clone()))
}

fn open_error(error: driver::Error) -> OpenError {
    match error.class() {
        Class::Disconnect => OpenError::Unreachable(error),
        _ => OpenError::Impossible(TargetProblem::Database(error)),
    }
}

/// Calls `work` with drivers of a single kind unwrapped, which keeps the measured path direct;
/// several kinds are wrapped as [`Any`].
fn hand_over<W: WithDrivers>(
    plan: &Plan,
    kinds: &PerTarget<Kind>,
    reached: Vec<Reached>,
    work: W,
) -> W::Output {
    macro_rules! if_all_are {
        ($kind:ident) => {
            let pick = |kind: &Kind| match kind {
                Kind::$kind(driver) => Some(driver.clone()),
                _ => None,
            };
            if let Some(drivers) = each(plan, kinds, pick) {
                return work.call(drivers, reached);
            }
        };
    }
    if_all_are!(Null);
    if_all_are!(Simulated);
    if_all_are!(Sqlite);
    if_all_are!(Postgres);
    if_all_are!(Mysql);
    if_all_are!(Programs);
    let Ok(drivers) = PerTarget::of_plan(plan, |asked| Ok::<_, Infallible>(any(kinds.of(asked))));
    work.call(drivers, reached)
}

/// Returns the drivers that `pick` selects, if it selects one from each.
fn each<D>(
    plan: &Plan,
    kinds: &PerTarget<Kind>,
    pick: impl Fn(&Kind) -> Option<D>,
) -> Option<Drivers<D>> {
    PerTarget::of_plan(plan, |asked| pick(kinds.of(asked)).ok_or(())).ok()
}

fn any(kind: &Kind) -> Any {
    match kind {
        Kind::Null(driver) => Either::Left(Either::Left(*driver)),
        Kind::Simulated(driver) => Either::Left(Either::Right(driver.clone())),
        Kind::Sqlite(driver) => Either::Right(Either::Left(Either::Left(driver.clone()))),
        Kind::Programs(driver) => Either::Right(Either::Left(Either::Right(driver.clone()))),
        Kind::Postgres(driver) => Either::Right(Either::Right(Either::Left(driver.clone()))),
        Kind::Mysql(driver) => Either::Right(Either::Right(Either::Right(driver.clone()))),
    }
}

/// Returns the simulated server that a URL describes; `None` is the null driver, which answers at
/// once.
pub(crate) fn simulation(target: &Target) -> Result<Option<Config>, TargetProblem> {
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
    fn every_kind_of_target_can_be_measured() {
        for (url, kind) in [
            ("sqlite:t.db", TargetKind::Sqlite),
            ("sim:mm1", TargetKind::Sim),
            ("postgres://h/d", TargetKind::Postgres),
            ("mysql://h/d", TargetKind::Mysql),
            ("testbed:postgres", TargetKind::Testbed),
        ] {
            assert_eq!(Target::parse(url).unwrap().kind, kind);
            assert_eq!(admitted(url), Ok(()), "{url}");
        }
        assert!(admitted("testbed:postgre").unwrap_err().contains("postgres"));
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
