//! What limited the filling of a table.
//!
//! The questions are those that are asked of a closed job, and the answers come from what was
//! watched meanwhile: whoever fills a table takes what it can get. One thread makes and sends the
//! rows of all writers, so that it is the first suspect.

use base::Nanos;
use record::{Part, Side};

use super::demand::{Asker, Demand};
use super::generator::{FULL, KEPT_WAITING};
use super::signals::Signals;
use super::suspect::{number, percent};
use super::{Component, Scene, Seen, Suspect};
use crate::checks::Findings;
use crate::evidence::LoadEvidence;

/// The shortest load of which anything is said. It is watched from when it is known to last, and
/// until its end there are a few looks at the sessions of the database.
pub const SHORTEST_LOAD: Nanos = Nanos::from_secs(1);

/// The part of a processor from which on the thread has no time left. It never waits for anything
/// else than the database.
const LOADS_FULLY: f64 = 0.85;

/// The part of the writers whose rows wait to be sent, from which on there is no room for them.
const UNSENT: f64 = 0.5;

/// The part of the writers up to whose number sessions are at work that wait for rows,
const AT_WORK: f64 = 0.5;

/// or, where these were not seen, have rows in the sockets of the database that it has not read.
const UNREAD: f64 = 0.2;

/// Names what limited the filling of a table.
pub(crate) fn name_of_load(findings: &Findings<'_>, load: &LoadEvidence) -> Suspect {
    let unknown = |why: &str| Suspect::new(Component::Unknown, 1.0, why);
    if findings.evidence.is_virtual {
        return unknown("time was simulated");
    }
    if load.took < SHORTEST_LOAD {
        return unknown("it was too short to tell");
    }
    if load.observed.is_empty() {
        return unknown("nothing was observed meanwhile");
    }
    let demand = Demand::of_load(&findings.evidence.plan, load);
    let scene = Scene { findings, signals: Signals::of_load(load), demand, side_effects: &[] };
    scene.ranked("a load takes what it can get").swap_remove(0)
}

/// Returns the observations of each component while a table was filled.
pub(crate) fn seen_of_load(findings: &Findings<'_>, load: &LoadEvidence) -> Seen {
    let demand = Demand::of_load(&findings.evidence.plan, load);
    Scene { findings, signals: Signals::of_load(load), demand, side_effects: &[] }.seen()
}

/// The processor time of the database while a table was filled, from the first look on; `None` if
/// it was not seen.
pub(crate) fn server_cpu(load: &LoadEvidence) -> Option<Nanos> {
    let server = Part::Processes(Side::Server);
    let signals = Signals::of_load(load);
    Some(Nanos::from_secs_f64(signals.grown(&server, "user")? + signals.grown(&server, "system")?))
}

impl Scene<'_, '_> {
    /// The part of a processor that the thread which makes and sends the rows has had; `None` if it
    /// is no load that is looked at, or was not seen.
    pub(super) fn loader_share(&self) -> Option<f64> {
        let part = Part::Processes(Side::Generator);
        let observing = self.signals.rate(&part, "observing").unwrap_or(0.0);
        let used = self.signals.used_processors(&part).map(|used| (used - observing).max(0.0));
        used.filter(|_| self.demand.by == Asker::Load)
    }

    /// The part of the time in which it, or another thread of the load generator, lacked a
    /// processor.
    pub(super) fn loader_waited(&self) -> f64 {
        self.signals.rate(&Part::Processes(Side::Generator), "waited").unwrap_or(0.0)
    }

    /// The thread that makes and sends the rows.
    pub(super) fn loader(&self) -> Option<Suspect> {
        let ran = self.loader_share()?;
        let waited = self.loader_waited();
        if ran >= LOADS_FULLY {
            let because = format!(
                "the thread that makes and sends the rows used {} of a processor",
                percent(ran)
            );
            let suspect = Suspect::new(Component::GeneratorThread, ran, because);
            return Some(suspect.with("share_of_processor", ran));
        }
        if waited < KEPT_WAITING || ran + waited < FULL || self.processors().is_some() {
            return None;
        }
        let because = format!(
            "the thread that makes and sends the rows ran for {} of the time and waited for a \
             processor for {}: something else had it",
            percent(ran),
            percent(waited)
        );
        let suspect = Suspect::new(Component::GeneratorCpu, ran + waited, because);
        Some(suspect.with("ran_share", ran).with("waited_share", waited))
    }

    /// Rows that were given to sockets and wait there, while the database waits for rows.
    pub(super) fn narrow_way_there(&self) -> Option<Suspect> {
        if self.demand.by != Asker::Load {
            return None;
        }
        let sockets = Part::Sockets(Side::Generator);
        let unsent = self.signals.mean_before_the_last(&sockets, "with-send-queue").unwrap_or(0.0);
        // Whoever takes no more than so much closes its window meanwhile.
        let closed = self.signals.rate(&sockets, "receiver-limited").unwrap_or(0.0);
        let waiting = unsent.max(closed);
        let writers = self.demand.closed.clients.max(1.0);
        // What its own sockets say may be said by a program that stands on the way.
        let server = Part::Sockets(Side::Server);
        let unread = self.signals.mean_before_the_last(&server, "with-receive-queue");
        let at_work = self.working_sessions();
        let is_ready = match at_work {
            Some(at_work) => at_work < AT_WORK * writers,
            None => unread.is_some_and(|unread| unread < UNREAD * writers),
        };
        if waiting < UNSENT * writers || !is_ready || self.database_has_time() == Some(false) {
            return None;
        }
        let because = format!(
            "of {} connections that rows are written to {} have some that wait for room on the \
             way, and the database waits for them",
            number(writers),
            number(waiting)
        );
        let suspect = Suspect::new(Component::NetworkBandwidth, waiting / writers, because)
            .with("connections_with_unsent_rows", waiting)
            .with_any("connections_with_unread_rows", unread)
            .with_any("sessions_at_work", at_work);
        let sent_again = self.signals.rate(&sockets, "retransmits");
        Some(suspect.with_any("segments_sent_again_per_s", sent_again))
    }
}
