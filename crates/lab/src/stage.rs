//! The stage of runs: servers and drivers that exist for longer than one run.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use base::{Class, Code, Nanos, Secrets, Seed, Stream, Target, TargetKind};
use confine::Reach;
use driver::{
    AnyConnection, AnyDriver, Connection, Driver, Mysql, Null, Postgres, Programs, RejectedCommand,
    Simulated, Sqlite, Table,
};
use engine::{Drivers, Location, Options, PerTarget, RunFailure, Stop, Unreachable, unless_ended};
use rt::{run_real, within};
use sim::Config;
use workload::keys::SETUP_TIMEOUT;
use workload::{JobTarget, NamedTarget, Plan};

use crate::access::Access;
use crate::error::Error;
use crate::target::{ResolvedTarget, SimulatedRun, TargetProblem, check_used_targets, simulation};

/// The servers and drivers of a plan's targets, for any number of runs.
///
/// Private servers and temporary databases exist as long as the stage. A run on the stage finds the
/// data that the previous run left; simulated servers are created anew for each run.
pub struct Stage {
    targets: PerTarget<OpenTarget>,
    resolved_targets: Vec<ResolvedTarget>,
    /// The password file for the programs that the jobs run, if they run any.
    _access: Option<Access>,
    /// The private servers; dropped after the drivers that use them.
    _servers: Vec<testbed::Server>,
}

/// A reason why a stage cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// A database cannot be reached or opened.
    Unreachable(Unreachable),
    /// The plan or a URL requests something impossible, a private server cannot be started, or a
    /// program of the plan cannot be prepared.
    Refused(Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Unreachable(error) => error.fmt(f),
            OpenError::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpenError::Unreachable(unreachable) => unreachable.source(),
            OpenError::Refused(error) => error.source(),
        }
    }
}

impl From<TargetProblem> for OpenError {
    fn from(problem: TargetProblem) -> OpenError {
        OpenError::Refused(Error::Target(problem))
    }
}

impl Stage {
    /// Starts the private servers and creates the drivers of all targets that a plan uses; `main`
    /// is the main target.
    ///
    /// # Errors
    /// A target cannot be used or opened, the shell rejects a command of the plan, or the password
    /// file for the programs of the jobs cannot be written.
    pub fn open(plan: &Plan, main: &Target, options: &Options) -> Result<Stage, OpenError> {
        Stage::open_used(plan, main, options, |target| plan.uses(target))
    }

    /// Starts the private servers and creates the drivers, as [`Stage::open`] does, of the targets
    /// for which `is_used` returns true.
    ///
    /// # Errors
    /// As for [`Stage::open`].
    pub(crate) fn open_used(
        plan: &Plan,
        main: &Target,
        options: &Options,
        is_used: impl Fn(JobTarget) -> bool,
    ) -> Result<Stage, OpenError> {
        check_used_targets(plan, main, options.is_virtual, &is_used)?;
        let folder = &options.files.inputs;
        let programs = Programs::new(folder.clone(), Arc::default());
        check_commands(plan, &programs).map_err(OpenError::Refused)?;
        let (mut servers, mut resolved_targets) = (Vec::new(), Vec::new());
        let targets = PerTarget::of_used(plan, is_used, |used| -> Result<OpenTarget, OpenError> {
            let (name, (opened, target)) = match used {
                JobTarget::Main => (None, open(main, options, &mut servers)?),
                JobTarget::Named(id) => {
                    let NamedTarget { name, target, .. } = plan.named_target(id);
                    let made = open(target, options, &mut servers);
                    (Some(name.clone()), made.map_err(|error| with_target_name(error, name))?)
                }
                JobTarget::Programs => {
                    return Ok(OpenTarget::Driver(AnyDriver::Programs(programs.clone())));
                }
            };
            resolved_targets.push(ResolvedTarget { name, target });
            Ok(opened)
        })?;
        let mut stage = Stage { targets, resolved_targets, _access: None, _servers: servers };
        if stage.targets.programs.is_some() {
            stage.give_access(folder).map_err(|error| OpenError::Refused(Error::Access(error)))?;
        }
        Ok(stage)
    }

    /// Gives the programs of the jobs, which run in `folder`, access to the main target.
    fn give_access(&mut self, folder: &Path) -> io::Result<()> {
        let access = self.access()?;
        let programs = Programs::new(folder.to_owned(), Arc::clone(&access.environment));
        self.targets.programs = Some(OpenTarget::Driver(AnyDriver::Programs(programs)));
        self._access = Some(access);
        Ok(())
    }

    /// Returns access to the main target for programs.
    ///
    /// # Errors
    /// The password file cannot be written.
    pub(crate) fn access(&self) -> io::Result<Access> {
        let main = self.resolved_targets.iter().find(|reached| reached.name.is_none());
        let driver = self.main_driver();
        let database_file = driver.and_then(AnyDriver::database_file);
        let login = driver.and_then(AnyDriver::login);
        Access::to(main.map(|main| &main.target), login, database_file)
    }

    /// Returns the resolved targets of the drivers.
    pub(crate) fn resolved_targets(&self) -> &[ResolvedTarget] {
        &self.resolved_targets
    }

    /// Returns the driver of the main target; `None` if it is unused or a simulated server.
    fn main_driver(&self) -> Option<&AnyDriver> {
        self.targets.main.as_ref()?.shared_driver()
    }

    /// Returns the passwords of the targets, as [`passwords`] does.
    pub(crate) fn passwords(&self) -> Secrets {
        passwords(self.targets.iter().filter_map(|(_, target)| target.shared_driver()))
    }

    /// Executes a statement at the main target of a plan, in a separate session, and returns its
    /// rows; `None` if the plan does not use that target, or if `stop` is requested first.
    ///
    /// # Errors
    /// The server cannot be reached, rejects the statement, or does not answer it within the plan's
    /// `setup-timeout`.
    pub(crate) fn rows(
        &self,
        plan: &Plan,
        sql: &str,
        stop: &Stop,
    ) -> Result<Option<Table>, driver::Error> {
        self.in_session(plan, stop, async |connection| connection.query_text(sql).await)
    }

    /// Returns the settings that the server at the main target of a plan reports to a new session,
    /// with its product and version; `None` if the plan does not use that target, or if `stop` is
    /// requested first.
    ///
    /// # Errors
    /// The server cannot be reached, or does not answer within the plan's `setup-timeout`.
    pub(crate) fn settings(
        &self,
        plan: &Plan,
        stop: &Stop,
    ) -> Result<Option<Vec<(String, String)>>, driver::Error> {
        self.in_session(plan, stop, async |connection| Ok(connection.settings().await))
    }

    /// Calls a function with a new session at the main target of a plan, and returns the function's
    /// result; `None` if the plan does not use that target, or if `stop` is requested first.
    fn in_session<T>(
        &self,
        plan: &Plan,
        stop: &Stop,
        task: impl AsyncFnOnce(&mut AnyConnection) -> Result<T, driver::Error>,
    ) -> Result<Option<T>, driver::Error> {
        let Some(driver) = self.drivers(plan, SimulatedRun::only(plan)).main else {
            return Ok(None);
        };
        let limit = plan.setup_timeout;
        let done = run_real(&rt::Options::default(), async |rt| {
            let connected = unless_ended(driver.connect(&rt), &rt, stop).await;
            let Some(mut connection) = connected.transpose()? else { return Ok(None) };
            let answer = within(&rt, limit, task(&mut connection));
            match unless_ended(answer, &rt, stop).await {
                Some(Some(answer)) => {
                    connection.close().await;
                    answer.map(Some)
                }
                Some(None) => {
                    connection.abandon();
                    Err(unanswered(limit))
                }
                None => {
                    connection.abandon();
                    Ok(None)
                }
            }
        });
        done.map_err(|error| driver::Error::disconnect(error.to_string()))?
    }

    /// Connects once to each host of every networked target of a plan.
    ///
    /// # Errors
    /// A host does not accept the connection. The error is that of the first such host.
    pub(crate) fn reach(&self, plan: &Plan) -> Result<(), Unreachable> {
        for (target, driver) in self.drivers(plan, SimulatedRun::only(plan)).iter() {
            let reached = match driver {
                AnyDriver::Postgres(_) | AnyDriver::Mysql(_) => connect_to_each_host(driver),
                AnyDriver::Null(_)
                | AnyDriver::Simulated(_)
                | AnyDriver::Sqlite(_)
                | AnyDriver::Programs(_) => Ok(()),
            };
            reached.map_err(|error| {
                let target = plan.name_of(target).map(str::to_owned);
                Unreachable { target, place: None, error }
            })?;
        }
        Ok(())
    }

    /// Returns the drivers for a run of a plan, with new simulated servers. `run` has the seed of
    /// these servers and the position of the run.
    ///
    /// # Panics
    /// If the plan uses a target for which the stage was not opened.
    pub(crate) fn drivers(&self, plan: &Plan, run: SimulatedRun) -> Drivers<AnyDriver> {
        let Ok(drivers) = PerTarget::of_plan(plan, |asked| {
            let seed = seed_of(plan, asked, run.seed);
            Ok::<_, Infallible>(self.targets.of(asked).driver(SimulatedRun { seed, ..run }))
        });
        drivers
    }
}

/// Returns the error for a session that did not answer within `limit`.
fn unanswered(limit: Nanos) -> driver::Error {
    let words = format!("nothing was answered within `{SETUP_TIMEOUT} = {limit}`");
    driver::Error::new(Class::Disconnect, Code::TIMEOUT, words)
}

/// Connects once to each host of a database; successive connections go to successive hosts.
fn connect_to_each_host(driver: &AnyDriver) -> Result<(), driver::Error> {
    let hosts = driver.nodes().len().max(1);
    let done = run_real(&rt::Options::default(), async |rt| {
        for _ in 0..hosts {
            driver.connect(&rt).await?.close().await;
        }
        Ok::<(), driver::Error>(())
    });
    done.map_err(|error| driver::Error::disconnect(error.to_string()))?
}

/// A target on the stage.
enum OpenTarget {
    /// A simulated server, which is created for each run.
    Simulated(Box<Config>),
    /// The driver of any other target, which all runs share.
    Driver(AnyDriver),
}

/// Returns the passwords of logins. They are removed from settings, names and other texts that
/// servers send; drivers remove them from errors. Short passwords are left out, because other words
/// in such texts may be equal to them.
pub(crate) fn passwords<'d>(drivers: impl IntoIterator<Item = &'d AnyDriver>) -> Secrets {
    let logins = drivers.into_iter().filter_map(AnyDriver::login);
    Secrets::of_all(logins.map(|login| login.secrets)).distinct()
}

impl OpenTarget {
    /// Returns the driver that all runs share; `None` for a simulated server.
    fn shared_driver(&self) -> Option<&AnyDriver> {
        match self {
            OpenTarget::Simulated(_) => None,
            OpenTarget::Driver(driver) => Some(driver),
        }
    }

    /// Returns the driver for a run: a new simulated server, or the driver that all runs share.
    fn driver(&self, run: SimulatedRun) -> AnyDriver {
        match self {
            OpenTarget::Simulated(config) => {
                let mut config = Config::clone(config);
                config.variation.run += run.position;
                AnyDriver::Simulated(Simulated::new(config, run.seed))
            }
            OpenTarget::Driver(driver) => driver.clone(),
        }
    }
}

/// Returns the seed of a target's simulated server. Each named target has an independent seed.
fn seed_of(plan: &Plan, asked: JobTarget, seed: Seed) -> Seed {
    let JobTarget::Named(id) = asked else { return seed };
    let name = &plan.named_target(id).name;
    Seed(Stream::new(seed, &format!("target {name}"), "server").draw(0).bits())
}

/// Checks the commands of a plan without running them. Returns an error for the first one that the
/// shell rejects.
fn check_commands(plan: &Plan, programs: &Programs) -> Result<(), Error> {
    for job in &plan.jobs {
        let Some(command) = job.command() else { continue };
        let sample = command.sample();
        let checked = programs.check(sample.as_deref(), command.first_word());
        checked.map_err(|RejectedCommand { reason, help }| {
            let section = job.name().to_owned();
            let place = Location { section, statement: Some(1), span: command.span, script: None };
            let help = help.to_owned();
            Error::Failed(RunFailure::Unsupported { place, reason, help })
        })?;
    }
    Ok(())
}

/// Adds the name of a target to the error that it cannot be opened.
fn with_target_name(error: OpenError, name: &str) -> OpenError {
    match error {
        OpenError::Unreachable(unreachable) => {
            OpenError::Unreachable(Unreachable { target: Some(name.to_owned()), ..unreachable })
        }
        OpenError::Refused(Error::Target(problem)) => problem.of(name).into(),
        OpenError::Refused(error) => OpenError::Refused(error),
    }
}

/// Opens a target that was checked before, and returns it with the database's address. A server
/// that is started for the target is added to `servers`.
fn open(
    target: &Target,
    options: &Options,
    servers: &mut Vec<testbed::Server>,
) -> Result<(OpenTarget, Target), OpenError> {
    let sqlite = match options.prepare.expects_data() {
        true => Sqlite::open_existing,
        false => Sqlite::open,
    };
    let sqlite = |target| {
        sqlite(target).map(|driver| match options.files.reach {
            Reach::Folder => driver.confined(),
            Reach::Anywhere => driver,
        })
    };
    let driver = match target.kind {
        TargetKind::Sim => match simulation(target)? {
            None => AnyDriver::Null(Null),
            Some(config) => return Ok((OpenTarget::Simulated(Box::new(config)), target.clone())),
        },
        TargetKind::Sqlite => sqlite(target).map(AnyDriver::Sqlite).map_err(open_error)?,
        TargetKind::Postgres => {
            Postgres::open(target).map(AnyDriver::Postgres).map_err(open_error)?
        }
        TargetKind::Mysql => {
            Mysql::open(target, options.files.clone()).map(AnyDriver::Mysql).map_err(open_error)?
        }
        TargetKind::Testbed => {
            let (server, reached) = testbed::start(target).map_err(TargetProblem::Testbed)?;
            servers.push(server);
            return open(&reached, options, servers);
        }
    };
    Ok((OpenTarget::Driver(driver), target.clone()))
}

fn open_error(error: driver::Error) -> OpenError {
    match error.class() {
        Class::Disconnect => OpenError::Unreachable(error.into()),
        _ => TargetProblem::Database(error).into(),
    }
}
