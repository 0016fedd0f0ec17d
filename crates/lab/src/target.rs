//! Targets: checks that they can be measured, and the databases behind opened targets.
//!
//! This module contacts no server; [`Stage`](crate::Stage) does.

use std::fmt;
use std::path::PathBuf;

use base::{Endpoint, Seed, Target, TargetKind};
use driver::{Mysql, Postgres, Sqlite};
use engine::PerTarget;
use sim::Config;
use workload::{Job, JobTarget, NamedTarget, Plan};

use crate::virtual_time::takes_no_time;

/// The seed of simulated servers, and the position of the run among several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedRun {
    /// The seed of the servers.
    pub seed: Seed,
    /// The number of earlier runs, over which the speed of the servers may drift.
    pub position: u32,
}

impl SimulatedRun {
    /// Returns the values for a single run of a plan, with the seed of the plan.
    pub(crate) fn only(plan: &Plan) -> SimulatedRun {
        SimulatedRun { seed: plan.seed, position: 0 }
    }
}

/// A reason why a target cannot be used.
#[derive(Debug)]
pub enum TargetProblem {
    /// The private server that the URL requests is impossible, or cannot be started.
    Testbed(testbed::Problem),
    /// Only a simulated server can be run in virtual time.
    NotSimulated,
    /// Programs cannot be run in virtual time.
    Programs,
    /// In virtual time, the clients of a job would neither pause nor wait for an answer, so the
    /// clock would not advance.
    NoTimePasses {
        /// Name of the job.
        job: String,
    },
    /// The options do not describe a simulated server.
    Simulation(sim::ConfigError),
    /// The driver cannot use the URL as written: for example, an option is unknown, or a file that
    /// it names cannot be read.
    Database(driver::Error),
    /// A named target has a problem.
    Of(String, Box<TargetProblem>),
}

impl TargetProblem {
    pub(crate) fn of(self, name: &str) -> TargetProblem {
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
            TargetProblem::NoTimePasses { job } => write!(
                f,
                "virtual time does not pass: the clients of [{job}] do not think, and the \
                 simulated server answers at once: give the job a `think` or a `rate`, or the \
                 server a service time, as in sim:mm1?service=1ms"
            ),
            TargetProblem::Simulation(error) => error.fmt(f),
            // The error's code is left out: like the message, it says that the URL is at fault.
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

/// Checks a target without contacting it: there must be a driver for its kind, and its options must
/// exist and be valid.
///
/// [`run`](crate::run()) begins with this check, so `assay check` refuses the same targets as a
/// run, with the same messages.
///
/// # Errors
/// The URL is wrong, or the target cannot be run in virtual time.
pub fn check_target(target: &Target, is_virtual: bool) -> Result<(), TargetProblem> {
    match target.kind {
        TargetKind::Sim => simulation(target).map(|_| ()),
        _ if is_virtual => Err(TargetProblem::NotSimulated),
        TargetKind::Testbed => testbed::check(target).map(|_| ()).map_err(TargetProblem::Testbed),
        TargetKind::Mysql => Mysql::check(target).map_err(TargetProblem::Database),
        TargetKind::Postgres => Postgres::check(target).map_err(TargetProblem::Database),
        TargetKind::Sqlite => Sqlite::check(target).map_err(TargetProblem::Database),
    }
}

/// Checks every target that a plan uses; `main` is the main target. In virtual time, also checks
/// that requests or pauses take time.
///
/// # Errors
/// As for [`check_target`], with the name of a named target. In virtual time, also if a job runs
/// programs, or if time would not pass.
pub fn check_targets(plan: &Plan, main: &Target, is_virtual: bool) -> Result<(), TargetProblem> {
    check_used_targets(plan, main, is_virtual, |target| plan.uses(target))?;
    match plan.jobs.iter().find(|job| is_virtual && has_no_clock(plan, job, main)) {
        Some(job) => Err(TargetProblem::NoTimePasses { job: job.name().to_owned() }),
        None => Ok(()),
    }
}

/// Returns true if nothing in a job makes virtual time pass.
fn has_no_clock(plan: &Plan, job: &Job, main: &Target) -> bool {
    let target = match job.target {
        JobTarget::Main => main,
        JobTarget::Named(id) => &plan.named_target(id).target,
        JobTarget::Programs => return false,
    };
    simulation(target).is_ok_and(|config| takes_no_time(job, config.as_ref()))
}

/// Checks the targets for which `is_used` returns true, as [`check_target`] does. In virtual time,
/// programs are refused.
pub(crate) fn check_used_targets(
    plan: &Plan,
    main: &Target,
    is_virtual: bool,
    is_used: impl Fn(JobTarget) -> bool,
) -> Result<(), TargetProblem> {
    let admitted = |asked| match asked {
        JobTarget::Main => check_target(main, is_virtual),
        JobTarget::Named(id) => {
            let NamedTarget { name, target, .. } = plan.named_target(id);
            check_target(target, is_virtual).map_err(|problem| problem.of(name))
        }
        JobTarget::Programs if is_virtual => Err(TargetProblem::Programs),
        JobTarget::Programs => Ok(()),
    };
    PerTarget::of_used(plan, is_used, admitted).map(|_| ())
}

/// Returns the password file whose password would be sent to any host of a target. `None` if there
/// is no such file, if the URL has a password, or if the target's servers are on this machine.
pub fn password_file_for_any_host(target: &Target) -> Option<PathBuf> {
    match target.kind {
        TargetKind::Postgres => Postgres::password_file_for_any_host(target),
        TargetKind::Mysql => Mysql::password_file_for_any_host(target),
        TargetKind::Sim | TargetKind::Testbed | TargetKind::Sqlite => None,
    }
}

/// Returns the reason why the password file of a target's own clients is ignored, and a remedy;
/// `None` if the file is read, does not exist, or is not needed.
pub fn reason_for_ignored_password_file(target: &Target) -> Option<String> {
    match target.kind {
        TargetKind::Postgres => Postgres::reason_for_ignored_password_file(target),
        TargetKind::Mysql => Mysql::reason_for_ignored_password_file(target),
        TargetKind::Sim | TargetKind::Testbed | TargetKind::Sqlite => None,
    }
}

/// A database for which there is a driver.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedTarget {
    /// The name of a named target; `None` for the main target.
    pub(crate) name: Option<String>,
    /// The database's address; for a private server, the address at which it was started.
    pub(crate) target: Target,
}

/// Returns the simulated server that a URL describes; `None` for the null driver, which answers at
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
        check_target(&Target::parse(url).unwrap(), false).map_err(|problem| problem.to_string())
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
    fn checking_a_url_does_not_touch_its_file() {
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
