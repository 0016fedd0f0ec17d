//! Whether the load generator itself is what limits.

use record::{Part, Side};

use super::demand::Asker;
use super::suspect::percent;
use super::{Component, Scene, Suspect};

/// The part of the window in which a thread ran, or wanted to, from which on it has no time left.
pub(super) const FULL: f64 = 0.8;

/// The same if the requests are known not to be with the database.
const FULL_OF_ALL: f64 = 0.5;

/// The part of the window that a thread waits for a processor, from which on that is what it lacks.
pub(super) const KEPT_WAITING: f64 = 0.2;

/// The part of the time of clients in which they have nothing to ask, from which on their source
/// decides.
const STARVED: f64 = 0.5;

impl Scene<'_, '_> {
    /// What of the load generator has no more to give.
    pub(super) fn generator(&self) -> Vec<Suspect> {
        match self.demand.by {
            Asker::Jobs => {
                let found = [self.waiting_thread(), self.full_thread(), self.slow_feed()];
                found.into_iter().flatten().collect()
            }
            Asker::Load => self.loader().into_iter().collect(),
            Asker::Program => self.program(),
        }
    }

    /// The busiest of its threads, by the part of a processor that it had; `None` if none was
    /// looked at.
    pub(super) fn generator_share(&self) -> Option<f64> {
        match self.demand.by {
            Asker::Jobs => self.findings.lanes().map(|lane| lane.ran).reduce(f64::max),
            Asker::Load => self.loader_share(),
            Asker::Program => self.signals.mean(&Part::Processes(Side::Generator), "busiest"),
        }
    }

    /// The one that ran or could have run for the largest part of the window: how large it is.
    pub(super) fn generator_wants(&self) -> Option<f64> {
        match self.demand.by {
            Asker::Jobs => {
                self.findings.lanes().map(|lane| lane.ran + lane.waited).reduce(f64::max)
            }
            Asker::Load => Some(self.loader_share()? + self.loader_waited()),
            Asker::Program => self.generator_share(),
        }
    }

    /// A thread that could run and does not, because something else has its processor.
    fn waiting_thread(&self) -> Option<Suspect> {
        let lanes = self.findings.lanes();
        let lane = lanes.max_by(|a, b| a.waited.total_cmp(&b.waited))?;
        let wanted = lane.ran + lane.waited;
        // If the database wants all processors of one host, it is the database that lacks them.
        let is_database = self.processors().is_some();
        let full = if self.is_elsewhere() { FULL_OF_ALL } else { FULL };
        if lane.waited < KEPT_WAITING || wanted < full || is_database {
            return None;
        }
        let because = format!(
            "its thread {} ran for {} of the window and waited for a processor for {}: something \
             else had it",
            lane.name,
            percent(lane.ran),
            percent(lane.waited)
        );
        let suspect = Suspect::new(Component::GeneratorCpu, wanted, because);
        Some(suspect.with("ran_share", lane.ran).with("waited_share", lane.waited))
    }

    /// A thread that runs all the time. In an open job that asks for more than it gets, too.
    fn full_thread(&self) -> Option<Suspect> {
        let (because, name, share) = match self.findings.limited_by_its_threads() {
            Some((because, share)) => (because, "share_of_ceiling", share),
            None => {
                let (thread, share) = self.findings.busy_thread()?;
                let because = format!("its thread {thread} used {} of a processor", percent(share));
                (because, "share_of_processor", share)
            }
        };
        let lanes = self.findings.lanes().count();
        let idle = self.findings.lanes().filter(|lane| lane.ran < FULL / 2.0).count();
        let because = match idle {
            0 => because,
            _ => format!("{because}, while {idle} of {lanes} threads had time to spare"),
        };
        Some(Suspect::new(Component::GeneratorThread, share, because).with(name, share))
    }

    /// Clients that wait for the file or the pipe from which they have what they ask.
    fn slow_feed(&self) -> Option<Suspect> {
        let demand = &self.demand;
        if demand.fed_clients == 0.0 || demand.fed_clients < demand.closed.clients {
            return None;
        }
        let idle = 1.0 - demand.fed_in_flight / demand.fed_clients;
        let because = format!(
            "its {} clients have nothing to ask for {} of the time: what they read comes too \
             slowly",
            demand.fed_clients,
            percent(idle)
        );
        let suspect = Suspect::new(Component::GeneratorInput, idle, because)
            .with("clients", demand.fed_clients)
            .with("requests_in_flight", demand.fed_in_flight);
        (idle >= STARVED).then_some(suspect)
    }
}
