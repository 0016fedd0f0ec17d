//! Limiter of the load of a table.
//!
//! The questions are those for a closed job, and the answers come from the observations during the
//! load, as a load sends as fast as it is answered. One thread generates and sends the rows of all
//! writers, so it is the first suspect.

use base::Nanos;
use record::metric::{generator, processes, sockets};
use record::{Part, Side};

use super::component::Component;
use super::demand::{Demand, LoadSource};
use super::evidence::EvidenceKind;
use super::finding::{GeneratorLimit, Inconclusive, LimiterFinding, NetworkLimit, Saturation};
use super::generator::{FULL, KEPT_WAITING};
use super::input::LimiterInput;
use super::seen::ObservedComponents;
use super::signals::Signals;
use super::suspect::Suspect;
use crate::checks::input::CheckInput;
use crate::evidence::LoadEvidence;

/// Shortest load with a limiter. Observation begins when a load is known to last, and within this
/// time the sessions of the database are sampled a few times.
pub const SHORTEST_LOAD: Nanos = Nanos::from_secs(1);

/// Minimum fraction of a processor at which the thread has no time left. It waits for nothing but
/// the database.
const LOADS_FULLY: f64 = 0.85;

/// Minimum fraction of the writers with rows that wait to be sent, for bandwidth to be the limiter.
const UNSENT: f64 = 0.5;

/// Fraction of the writers with a session at work below which the database is waiting for rows.
const AT_WORK: f64 = 0.5;

/// Fraction of the writers with unread rows in the database's sockets below which the database is
/// waiting for rows, if its sessions were not seen.
const UNREAD: f64 = 0.2;

/// Names the limiter of the load of a table.
pub(crate) fn name_of_load(findings: &CheckInput<'_>, load: &LoadEvidence) -> Suspect {
    let unknown = |why| Suspect::new(Component::Unknown, 1.0, LimiterFinding::Inconclusive(why));
    if findings.evidence.is_virtual {
        return unknown(Inconclusive::VirtualTime);
    }
    if load.took < SHORTEST_LOAD {
        return unknown(Inconclusive::ShortLoad);
    }
    if load.observed.is_empty() {
        return unknown(Inconclusive::NothingObserved);
    }
    let demand = Demand::of_load(&findings.evidence.plan, load);
    let scene =
        LimiterInput { findings, signals: Signals::of_load(load), demand, side_effects: &[] };
    scene.ranked(Saturation::Load).swap_remove(0)
}

/// Returns the observations of each component while a table was filled.
pub(crate) fn seen_of_load(findings: &CheckInput<'_>, load: &LoadEvidence) -> ObservedComponents {
    let demand = Demand::of_load(&findings.evidence.plan, load);
    LimiterInput { findings, signals: Signals::of_load(load), demand, side_effects: &[] }.seen()
}

/// Returns the processor time of the database while a table was filled, from the first sample on;
/// `None` if it was not seen.
pub(crate) fn server_cpu(load: &LoadEvidence) -> Option<Nanos> {
    let server = Part::Processes(Side::Server);
    let signals = Signals::of_load(load);
    Some(Nanos::from_secs_f64(
        signals.grown(&server, processes::USER)? + signals.grown(&server, processes::SYSTEM)?,
    ))
}

impl LimiterInput<'_, '_> {
    /// Returns the fraction of a processor that the thread which generates and sends the rows used;
    /// `None` if no table is being loaded, or the thread was not seen.
    pub(super) fn loader_share(&self) -> Option<f64> {
        let part = Part::Processes(Side::Generator);
        let observing = self.signals.rate(&part, generator::OBSERVING).unwrap_or(0.0);
        let used = self.signals.used_processors(&part).map(|used| (used - observing).max(0.0));
        used.filter(|_| self.demand.by == LoadSource::Load)
    }

    /// Returns the fraction of the time in which threads of the load generator lacked a processor.
    pub(super) fn loader_waited(&self) -> f64 {
        self.signals.rate(&Part::Processes(Side::Generator), processes::WAITED).unwrap_or(0.0)
    }

    /// Returns a suspect if the thread that generates and sends the rows is full or lacks a
    /// processor.
    pub(super) fn loader(&self) -> Option<Suspect> {
        let ran = self.loader_share()?;
        let waited = self.loader_waited();
        if ran >= LOADS_FULLY {
            let finding = LimiterFinding::Generator(GeneratorLimit::LoaderFull { ran });
            let suspect = Suspect::new(Component::GeneratorThread, ran, finding);
            return Some(suspect.with(EvidenceKind::ShareOfProcessor, ran));
        }
        if waited < KEPT_WAITING || ran + waited < FULL || self.processors().is_some() {
            return None;
        }
        let finding = LimiterFinding::Generator(GeneratorLimit::LoaderWaits { ran, waited });
        let suspect = Suspect::new(Component::GeneratorCpu, ran + waited, finding);
        Some(suspect.with(EvidenceKind::RanShare, ran).with(EvidenceKind::WaitedShare, waited))
    }

    /// Returns a suspect if rows wait in the generator's sockets while the database waits for rows.
    pub(super) fn bandwidth_to_server(&self) -> Option<Suspect> {
        if self.demand.by != LoadSource::Load {
            return None;
        }
        let sockets = Part::Sockets(Side::Generator);
        let unsent =
            self.signals.mean_before_the_last(&sockets, sockets::WITH_SEND_QUEUE).unwrap_or(0.0);
        // A receiver at its limit closes its window meanwhile.
        let closed = self.signals.rate(&sockets, sockets::RECEIVER_LIMITED).unwrap_or(0.0);
        let waiting = unsent.max(closed);
        let writers = self.demand.closed.clients.max(1.0);
        // The state of the generator's own sockets may be caused by a program in between.
        let server = Part::Sockets(Side::Server);
        let unread = self.signals.mean_before_the_last(&server, sockets::WITH_RECEIVE_QUEUE);
        let at_work = self.working_sessions();
        let is_ready = match at_work {
            Some(at_work) => at_work < AT_WORK * writers,
            None => unread.is_some_and(|unread| unread < UNREAD * writers),
        };
        if waiting < UNSENT * writers || !is_ready || self.database_has_time() == Some(false) {
            return None;
        }
        let finding = NetworkLimit::RowsWait { connections: writers, waiting };
        let finding = LimiterFinding::Network(finding);
        let suspect = Suspect::new(Component::NetworkBandwidth, waiting / writers, finding)
            .with(EvidenceKind::ConnectionsWithUnsentRows, waiting)
            .with_any(EvidenceKind::ConnectionsWithUnreadRows, unread)
            .with_any(EvidenceKind::SessionsAtWork, at_work);
        let sent_again = self.signals.rate(&sockets, sockets::RETRANSMITS);
        Some(suspect.with_any(EvidenceKind::SegmentsSentAgainPerS, sent_again))
    }
}
