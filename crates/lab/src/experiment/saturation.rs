//! Searches for saturation: their recorded steps, and the components that they can observe.
//!
//! The load that a search finds is a pure function of the search's parameters and its steps, which
//! are both in the record. A resumed experiment therefore continues where it ended, and every
//! reader of the record finds the same load.

use std::fmt;
use std::path::Path;

use analyze::compare::RunFigures;
use analyze::saturate::{NextSaturationStep, SaturationStep, next_saturation_step};
use archive::{ExperimentContent, Phase, RecordError, RunRow, RunState};
use base::{Target, TargetKind};
use observe::ServerLocation;
use observe::environment::network;
use workload::Observe;
use workload::question::{CpuOwner, SaturateQuestion};

use super::results::ExperimentResults;

/// The option in the URL of a private server that puts a pooler in front of this server.
const VIA: &str = "via";

/// Returns the recorded steps in their order. `runs` are runs of the record in order; those that
/// are not steps are ignored. Each step that counts must come with its figures.
///
/// # Errors
/// A run is not a step of this search: the record at `path` is damaged.
pub(super) fn steps_of<'r>(
    path: &Path,
    question: &SaturateQuestion,
    runs: impl Iterator<Item = (&'r RunRow, Option<&'r RunFigures>)>,
) -> Result<Vec<SaturationStep>, RecordError> {
    let mut steps: Vec<SaturationStep> = Vec::new();
    let is_step = |row: &RunRow| row.phase == Phase::Saturate && row.state != RunState::Abandoned;
    for (row, figures) in runs.filter(|(row, _)| is_step(row)) {
        let NextSaturationStep::Run { step, attempt, value } =
            next_saturation_step(question, &steps)
        else {
            return Err(not_a_step(path, row));
        };
        let expected = (step as u32, attempt as u32, Some(point_text(value)));
        if expected != (row.round, row.attempt, row.point.clone()) {
            return Err(not_a_step(path, row));
        }
        steps.push(match figures.filter(|_| row.state == RunState::Counts) {
            Some(figures) => SaturationStep::of(question, value, figures),
            None => SaturationStep::instrument_invalid(value),
        });
    }
    Ok(steps)
}

fn not_a_step(path: &Path, row: &RunRow) -> RecordError {
    ExperimentContent::damaged(path, format!("run {} is not a step of its search", row.run))
}

/// Returns the value of a step in the form in which it is written in a file.
pub(super) fn point_text(value: f64) -> String {
    value.to_string()
}

/// Returns the step that follows the recorded steps of a search for saturation or, if the search
/// has ended, the load that it found or the reason why it found none.
///
/// # Errors
/// The record at `path` is damaged.
pub fn recorded_saturation(
    path: &Path,
    question: &SaturateQuestion,
    results: &ExperimentResults,
) -> Result<NextSaturationStep, RecordError> {
    let runs = results.steps.iter().map(|run| (&run.row, Some(&run.figures)));
    let next = next_saturation_step(question, &steps_of(path, question, runs)?);
    match (next, results.runs.first()) {
        (NextSaturationStep::Found(_), _) | (_, None) => Ok(next),
        (_, Some(run)) => {
            let what = format!("run {} was made before its load was found", run.row.run);
            Err(ExperimentContent::damaged(path, what))
        }
    }
}

/// A reason why the processor time of a component cannot be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnobservedCpu {
    /// Virtual time uses no processor.
    VirtualTime,
    /// A simulated server has no processes.
    Simulated,
    /// The server runs on another machine, which is not observed.
    Elsewhere,
    /// No proxy is in front of the server.
    NoProxy,
}

impl fmt::Display for UnobservedCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnobservedCpu::VirtualTime => "virtual time uses no processor",
            UnobservedCpu::Simulated => "a simulated server has no processes",
            UnobservedCpu::Elsewhere => {
                "the server is not on this machine, and no other machine is observed"
            }
            UnobservedCpu::NoProxy => "nothing is between the load generator and the database",
        })
    }
}

/// Returns the reason why the processor time of a component cannot be observed at this target;
/// `None` if it can.
pub fn unobserved_cpu(
    owner: CpuOwner,
    target: &Target,
    observe: &Observe,
    is_virtual: bool,
) -> Option<UnobservedCpu> {
    Some(match (owner, target.kind) {
        _ if is_virtual => UnobservedCpu::VirtualTime,
        (CpuOwner::Generator, _) => return None,
        (CpuOwner::Database | CpuOwner::Proxy, TargetKind::Sim) => UnobservedCpu::Simulated,
        (CpuOwner::Database, TargetKind::Sqlite) => return None,
        (CpuOwner::Proxy, TargetKind::Sqlite) => UnobservedCpu::NoProxy,
        (owner, TargetKind::Testbed) => {
            let has_pooler = target.option(VIA).is_some_and(|via| via != "none");
            match owner == CpuOwner::Proxy && !has_pooler {
                true => UnobservedCpu::NoProxy,
                false => return None,
            }
        }
        (CpuOwner::Database | CpuOwner::Proxy, TargetKind::Postgres | TargetKind::Mysql) => {
            let is_elsewhere =
                |place: &ServerLocation| matches!(place, ServerLocation::Elsewhere(_));
            let is_named = !(observe.processes.is_empty() && observe.hosts.is_empty());
            match !is_named && network::server_locations(target).iter().any(is_elsewhere) {
                true => UnobservedCpu::Elsewhere,
                false => return None,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use workload::RemoteHost;

    use super::*;

    fn check(owner: CpuOwner, url: &str, is_virtual: bool, expected: Option<UnobservedCpu>) {
        let target = Target::parse(url).unwrap();
        let found = unobserved_cpu(owner, &target, &Observe::default(), is_virtual);
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn components_without_observed_processes_are_known_before_a_run() {
        use CpuOwner::{Database, Generator, Proxy};
        use UnobservedCpu::{Elsewhere, NoProxy, Simulated, VirtualTime};
        for owner in [Database, Generator, Proxy] {
            check(owner, "sim:null", true, Some(VirtualTime));
        }
        check(Generator, "sim:null", false, None);
        check(Generator, "postgres://192.0.2.7/d", false, None);
        check(Database, "sim:null", false, Some(Simulated));
        check(Proxy, "sim:null", false, Some(Simulated));
        check(Database, "sqlite:a.db", false, None);
        check(Proxy, "sqlite:a.db", false, Some(NoProxy));
        check(Database, "testbed:postgres", false, None);
        check(Proxy, "testbed:postgres", false, Some(NoProxy));
        check(Database, "testbed:postgres?via=pgbouncer", false, None);
        check(Proxy, "testbed:postgres?via=pgbouncer", false, None);
        check(Database, "postgres://127.0.0.1:1/d", false, None);
        check(Database, "mysql://192.0.2.7/d", false, Some(Elsewhere));
    }

    #[test]
    fn named_process_or_machine_is_observed_wherever_the_url_leads() {
        let target = Target::parse("postgres://192.0.2.7/d").unwrap();
        let host = RemoteHost::parse("ssh://postgres@db1").unwrap();
        for observe in [
            Observe { processes: vec![12], ..Observe::default() },
            Observe { hosts: vec![host], ..Observe::default() },
        ] {
            for owner in [CpuOwner::Database, CpuOwner::Proxy] {
                assert_eq!(unobserved_cpu(owner, &target, &observe, false), None, "{observe:?}");
            }
        }
    }
}
