//! The limiter of a result, and the evidence for it.
//!
//! The method is Gregg's USE method (Systems Performance, 2nd edition, chapter 2.5): the
//! utilisation, saturation and errors of every resource are observed during the work. The limiter
//! is the component that must become faster, larger or less loaded for a better result. A load that
//! reaches the available capacity, such as that of a closed job, is examined in two ways: for the
//! component in which its requests spend their time (locks, disks, processors, the network), and
//! for resources that have no capacity left. A component limits nothing if it is not saturated and
//! the requests spend no time in it. A component that may be the limiter is called a candidate.
//!
//! The analysis is a pure function of the evidence. Missing observations are reported, and without
//! enough of them the limiter is unknown.

mod background;
mod candidate;
mod component;
mod connections;
mod database;
mod demand;
mod embedded;
mod evidence;
pub mod finding;
mod generator;
mod input;
mod load;
mod network;
mod observed_components;
mod others;
mod processors;
mod program;
mod program_sessions;
mod request_time;
mod sessions;
mod signals;
mod usage;
mod utilised;
mod waits;

use base::AccountId;

use crate::checks::input::CheckInput;
use crate::evidence::JobEvidence;
use crate::phases::SideEffects;
use demand::{Clients, Demand, LoadSource};
use finding::{
    Concurrency, Inconclusive, LimiterFinding, Requesters, Saturation, UnobservedSource,
};
use input::LimiterInput;
use signals::Signals;

pub use candidate::Candidate;
pub use component::Component;
pub use evidence::{EvidenceKind, EvidenceNumber};
pub use load::SHORTEST_LOAD;
pub(crate) use load::{observed_during_load, of_load, server_cpu};
pub use observed_components::ObservedComponents;
pub(crate) use others::{
    Identification, identification, identifies_named_targets, other_programs, server_processes,
};
pub use utilised::UtilisedComponent;

/// The limiter of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Limiter {
    /// Limiting component.
    pub component: Component,
    /// Facts behind the conclusion.
    pub finding: LimiterFinding,
    /// Numbers behind the conclusion.
    pub evidence: Vec<EvidenceNumber>,
    /// Everything that was found to hinder the requests, the limiter first; empty if there is no
    /// limiter, or if the limiter is unknown.
    pub ranked: Vec<Candidate>,
    /// Observations of each component, limiting or not.
    pub seen: ObservedComponents,
    /// Sources that could not be observed, or not in full.
    pub unseen: Vec<UnobservedSource>,
}

/// Conclusion from a run about the available capacity.
enum Outcome {
    /// Every job with a schedule achieved its offered rate, and the other jobs sent few requests.
    Satisfied,
    /// The load reached or exceeded the available capacity; with the reason.
    Saturating(Saturation),
    /// The run does not show whether capacity is left; with the reason.
    Inconclusive(Inconclusive),
}

/// Returns the limiter of a run.
pub(crate) fn of_run(check_input: &CheckInput<'_>, side_effects: &[SideEffects]) -> Limiter {
    let signals = Signals::of(check_input.evidence);
    let mut unseen = UnobservedSource::reported(&check_input.evidence.unseen);
    if signals.resets() > 0 {
        unseen.push(UnobservedSource::CountersReset);
    }
    let input =
        LimiterInput { demand: Demand::of(check_input), check_input, signals, side_effects };
    let ranked = match input.outcome() {
        Outcome::Satisfied => vec![input.satisfaction()],
        Outcome::Saturating(why) => {
            unseen.extend(input.contradiction().map(UnobservedSource::Contradiction));
            input.ranked(why)
        }
        Outcome::Inconclusive(why) => {
            vec![Candidate::new(Component::Unknown, 1.0, LimiterFinding::Inconclusive(why))]
        }
    };
    let Candidate { component, finding, evidence, .. } = ranked[0].clone();
    Limiter {
        component,
        finding,
        evidence,
        ranked: if component.is_known() { ranked } else { Vec::new() },
        seen: input.observed_components(),
        unseen,
    }
}

impl LimiterInput<'_, '_> {
    fn outcome(&self) -> Outcome {
        let check_input = self.check_input;
        let jobs = || check_input.whole_jobs();
        let scheduled = || jobs().filter(|account| check_input.has_schedule(*account));
        // A job that sends few requests takes no capacity that the other jobs lack.
        let is_bounded = |it: AccountId| check_input.has_schedule(it) || check_input.is_brief(it);
        let are_bounded = scheduled().next().is_some() && jobs().all(is_bounded);
        let has_jobs = self.demand.source == LoadSource::Jobs;
        // The only request of a closed job may take the whole window.
        let has_requests = check_input.evidence.jobs.iter().any(JobEvidence::has_requests);
        if !has_jobs && !check_input.evidence.loads.is_empty() {
            Outcome::Inconclusive(Inconclusive::LoadsOnly)
        } else if !has_jobs && self.executed_statements() {
            Outcome::Inconclusive(Inconclusive::NoRequests)
        } else if !has_jobs {
            Outcome::Saturating(Saturation::Program)
        } else if check_input.overloaded().next().is_some() {
            Outcome::Saturating(Saturation::Overload)
        } else if check_input.window_is_empty() && (are_bounded || !has_requests) {
            Outcome::Inconclusive(Inconclusive::NoRequests)
        } else if jobs().any(|account| check_input.fails(account)) {
            Outcome::Inconclusive(Inconclusive::FailingRequests)
        } else if !are_bounded {
            Outcome::Saturating(Saturation::ClosedJob)
        } else if check_input.some_unsent() {
            Outcome::Inconclusive(Inconclusive::UnsentRequests)
        } else if check_input.piles_up_at_lost_target() {
            Outcome::Inconclusive(Inconclusive::TargetLost)
        } else if scheduled().any(|account| check_input.trend(account).is_none()) {
            Outcome::Inconclusive(Inconclusive::ShortWindow)
        } else {
            Outcome::Satisfied
        }
    }

    /// Returns true if the run executed the statements of `[setup]` or `[teardown]`. The plan of an
    /// observation has neither section.
    fn executed_statements(&self) -> bool {
        let plan = &self.check_input.evidence.plan;
        !plan.setup.is_empty() || !plan.teardown.is_empty()
    }

    /// Returns the candidate for jobs that achieved their offered rates.
    fn satisfaction(&self) -> Candidate {
        // The requests of a mix are the requests of its parts, and count once.
        let jobs = self.check_input.whole_jobs();
        let offered: f64 = jobs.filter_map(|account| self.check_input.offered_per_s(account)).sum();
        Candidate::new(Component::NotSaturated, 1.0, LimiterFinding::Satisfied)
            .with(EvidenceKind::OfferedPerS, offered)
            .with(EvidenceKind::AnsweredPerS, self.check_input.ended_per_s())
    }

    fn unknown(&self, why: Saturation) -> Candidate {
        let sees_server = self.signals.sees_server();
        let finding =
            LimiterFinding::NothingSaturated { why, sees_server, saturated: self.saturated() };
        Candidate::new(Component::Unknown, 1.0, finding)
    }

    /// Returns all candidates, ordered by [`Candidate::order`]: causes before their consequences.
    /// For an observed program, candidates with [`Component::GeneratorInput`] come before all
    /// others. Without any candidate, the only entry names too few requests in flight, a lack of
    /// processors, or an unknown limiter.
    fn ranked(&self, why: Saturation) -> Vec<Candidate> {
        let mut ranked = self.connections();
        ranked.extend(self.generator());
        ranked.extend(self.database());
        ranked.extend(self.embedded());
        ranked.extend(self.others());
        ranked.extend(self.network());
        ranked.extend(self.background(&ranked));
        ranked.sort_by(Candidate::order);
        if self.demand.source == LoadSource::Program {
            // A program that sends no requests would gain nothing if another component were faster.
            ranked.sort_by_key(|candidate| candidate.component != Component::GeneratorInput);
        }
        if ranked.is_empty() {
            let concurrency = match self.demand.source {
                LoadSource::Program => self.program_concurrency().or_else(|| self.starved_side()),
                LoadSource::Jobs | LoadSource::Load => self.concurrency(),
            };
            ranked.push(concurrency.unwrap_or_else(|| self.unknown(why)));
        }
        ranked
    }

    /// Returns the candidate for a load with too few requests in flight: it sends as fast as it is
    /// answered, but no component is saturated.
    fn concurrency(&self) -> Option<Candidate> {
        let (requesters, clients) = self.requesters()?;
        let service_s = clients.service_s();
        let Clients { clients, per_s, in_flight } = clients;
        let is_idle = self.generator_has_time(requesters)? && self.database_has_time()?;
        // SQLite admits only one writer.
        let may_be_more = self.demand.source != LoadSource::Load || !self.is_embedded();
        if !is_idle || per_s <= 0.0 || !may_be_more || self.waits_for_something() {
            return None;
        }
        let finding = Concurrency { requesters, clients, service_s, per_s, in_flight };
        let finding = LimiterFinding::Concurrency(finding);
        let candidate = Candidate::new(Component::Concurrency, 1.0, finding)
            .with(EvidenceKind::Clients, clients)
            .with(EvidenceKind::RequestsInFlight, in_flight)
            .with(EvidenceKind::ServiceMs, service_s * 1e3)
            .with(EvidenceKind::RequestsPerS, per_s)
            .with_any(EvidenceKind::GeneratorBusiestShare, self.generator_share())
            .with_any(EvidenceKind::DatabaseCpuShare, self.database_share());
        Some(candidate)
    }

    /// Returns the clients that send requests one at a time; `None` if a job is overloaded for a
    /// reason other than a lack of workers.
    fn requesters(&self) -> Option<(Requesters, Clients)> {
        match self.demand.source {
            LoadSource::Load => Some((Requesters::Writers, self.demand.closed)),
            LoadSource::Jobs if self.demand.is_overloaded => {
                Some((Requesters::Workers, self.demand.busy_workers?))
            }
            LoadSource::Jobs if self.demand.all_clients_think() => {
                Some((Requesters::ThinkingClients, self.demand.closed))
            }
            LoadSource::Jobs | LoadSource::Program => {
                Some((Requesters::Clients, self.demand.closed))
            }
        }
    }
}
