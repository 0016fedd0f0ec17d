//! Programs that belong neither to the load generator nor to the database, and use processors.

use std::collections::BTreeSet;

use record::component_name::DATABASE_PROGRAMS;
use record::metric::{host, processes, program};
use record::{ComponentKind, MeasuredSide, ObservedComponent};

use super::candidate::Candidate;
use super::component::Component;
use super::demand::LoadSource;
use super::evidence::EvidenceKind;
use super::finding::LimiterFinding;
use super::input::LimiterInput;
use super::signals::Signals;
use super::usage::CPU_FULL;
use crate::evidence::Evidence;
use crate::other_programs::{OtherProgram, OtherPrograms};

/// Other programs limit the result only if they use at least this fraction of the processors of the
/// database's machine.
const LEAST_USE: f64 = 0.35;

/// Other programs limit the result only if threads of the load generator or of the database lack a
/// processor for at least this fraction of the requests' time.
const LEAST_LACK: f64 = 0.1;

/// Fraction of a processor below which a program is not named.
const LEAST_NAMED: f64 = 0.01;

/// Returns the programs that ran in the window besides the load generator and the database: on the
/// load generator's host, and on the database's host if the database was identified there.
pub(crate) fn other_programs(evidence: &Evidence) -> Vec<OtherPrograms> {
    let signals = Signals::of(evidence);
    let server = signals.server_host().filter(|_| signals.sees_processes());
    let is_judged = |others: &OtherPrograms| match &others.host {
        None => true,
        Some(host) => Some(host.as_str()) == server,
    };
    signals.other_programs().into_iter().filter(is_judged).collect()
}

/// The processes of the main target's database that were identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identification {
    /// No process.
    None,
    /// Only a proxy in front of the database.
    ProxyOnly,
    /// The database, and the proxy in front of it if there is one.
    Complete,
}

/// Returns the processes of the main target's database that were identified.
pub(crate) fn identification(evidence: &Evidence) -> Identification {
    let signals = Signals::of(evidence);
    match (signals.sees_processes(), signals.sees_proxy()) {
        (false, _) => Identification::None,
        (true, true) if !signals.sees_upstream() => Identification::ProxyOnly,
        (true, _) => Identification::Complete,
    }
}

/// Returns true if the databases of all named targets on the load generator's machine were
/// identified during the whole window.
pub(crate) fn identifies_named_targets(evidence: &Evidence) -> bool {
    let signals = Signals::of(evidence);
    signals.mean(&ComponentKind::Host, host::UNIDENTIFIED_TARGETS) == Some(0.0)
}

/// Returns the component for the processes of the main target's database, or of the proxy in front
/// of it; `None` if the target's servers run on several hosts, observed or not.
pub(crate) fn server_processes(evidence: &Evidence) -> Option<ObservedComponent> {
    let signals = Signals::of(evidence);
    let hosts: BTreeSet<&str> = evidence.nodes.iter().map(|node| host_of(&node.address)).collect();
    let is_known = hosts.is_empty() || hosts.len() == 1 && signals.server_hosts() <= 1;
    let place = signals.server_host().map(str::to_owned);
    is_known.then_some(ObservedComponent {
        place,
        kind: ComponentKind::Processes(MeasuredSide::Server),
    })
}

/// Returns the host of a server's address; empty for a socket.
fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or("", |(host, _)| host)
}

impl Signals<'_> {
    /// Returns the programs other than the load generator and the database, for each observed host.
    pub(super) fn other_programs(&self) -> Vec<OtherPrograms> {
        let hosts = self.hosts().into_iter();
        hosts.filter_map(|host| self.other_programs_of(host.as_deref())).collect()
    }

    /// Returns the programs of one host; `None` if they were not observed.
    pub(super) fn other_programs_of(&self, host: Option<&str>) -> Option<OtherPrograms> {
        let of_host =
            ObservedComponent { place: host.map(str::to_owned), kind: ComponentKind::Host };
        let (mut grown, span_s) = self.growth_of(&of_host, host::OTHER_PROGRAMS)?;
        let processors = self.rate_of(&of_host, host::PROCESSORS).filter(|all| *all > 0.0)?;
        let is_program = |it: &ObservedComponent| {
            matches!(it.kind, ComponentKind::Program(_)) && it.place.as_deref() == host
        };
        let mut programs = Vec::new();
        for component in self.components(is_program) {
            let ComponentKind::Program(name) = &component.kind else { continue };
            let used_s = self.grown_from_nothing(&component, program::USED).unwrap_or(0.0);
            if self.may_be_the_database(name) {
                grown -= used_s;
                continue;
            }
            let last = |metric| self.last_of(&component, metric);
            programs.push(OtherProgram {
                name: name.clone(),
                host: component.place.clone(),
                processors: used_s / span_s,
                processes: last(program::PROCESSES).unwrap_or(0.0) as u64,
                pid: last(program::PID).map(|pid| pid as u64),
            });
        }
        programs.retain(|program| program.processors >= LEAST_NAMED);
        programs.sort_by(|a, b| b.processors.total_cmp(&a.processors));
        let host = of_host.place;
        Some(OtherPrograms { host, used: (grown / span_s).max(0.0), processors, programs })
    }

    /// Returns true if a program of this name may be the database itself, because the database is
    /// behind another program or was not found.
    fn may_be_the_database(&self, name: &str) -> bool {
        let is_separable = self.sees_processes() && !self.sees_proxy();
        !is_separable && DATABASE_PROGRAMS.contains(&name)
    }
}

impl LimiterInput<'_, '_> {
    /// Returns a candidate if other programs use the processors that requests lack.
    pub(super) fn others(&self) -> Option<Candidate> {
        let others = self.signals.other_programs_of(self.signals.server_host())?;
        let is_full =
            self.busy_share().is_some_and(|busy| busy >= CPU_FULL * self.unstolen_share());
        let requests = self.requests_at_pool().unwrap_or(self.demand.in_flight);
        let lacked = self.lacked_processors() / requests.max(1.0);
        if others.share() < LEAST_USE || !is_full || lacked < LEAST_LACK {
            return None;
        }
        let finding = LimiterFinding::OtherPrograms(others.clone());
        let candidate = Candidate::new(Component::OtherPrograms, others.share(), finding)
            .with(EvidenceKind::ProcessorsOfOtherPrograms, others.used)
            .with(EvidenceKind::Processors, others.processors)
            .with_any(EvidenceKind::BusyProcessorsShare, self.busy_share());
        Some(others.largest().iter().fold(
            candidate,
            |candidate, OtherProgram { name, processors, .. }| {
                candidate.with(EvidenceKind::ProcessorsOf(name.clone()), *processors)
            },
        ))
    }

    /// Returns the mean number of threads that lacked a processor: threads of the database, and of
    /// the load generator or the observed program.
    fn lacked_processors(&self) -> f64 {
        let generator = match self.demand.source {
            LoadSource::Jobs => self.check_input.lanes().map(|lane| lane.waited).sum(),
            LoadSource::Load => self.loader_waited(),
            LoadSource::Program => self
                .signals
                .rate(&ComponentKind::Processes(MeasuredSide::Generator), processes::WAITED)
                .unwrap_or(0.0),
        };
        generator + self.database_waited().unwrap_or(0.0)
    }
}
