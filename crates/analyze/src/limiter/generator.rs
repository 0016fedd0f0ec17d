//! Detection of the load generator itself as the limiter.

use super::candidate::Candidate;
use super::component::Component;
use super::demand::LoadSource;
use super::evidence::EvidenceKind;
use super::finding::{FullThread, GeneratorLimit, LimiterFinding};
use super::input::LimiterInput;
use super::usage::{FULL, LEAST_WAIT};

/// Replaces [`FULL`], as a fraction of the window, if most requests are known not to be in the
/// database.
const FULL_OF_ALL: f64 = 0.5;

/// The source of the clients' requests is the limiter only if the clients have nothing to send for
/// at least this fraction of their time.
const STARVED: f64 = 0.5;

/// The thread that generates and sends the rows of a load is the limiter only if it uses at least
/// this fraction of a processor. The thread waits for nothing but the database.
const LOADS_FULLY: f64 = 0.85;

impl LimiterInput<'_, '_> {
    /// Returns the candidates among the load generator's resources.
    pub(super) fn generator(&self) -> Vec<Candidate> {
        match self.demand.source {
            LoadSource::Jobs => {
                let found = [self.waiting_thread(), self.full_thread(), self.slow_feed()];
                found.into_iter().flatten().collect()
            }
            LoadSource::Load => self.loader().into_iter().collect(),
            LoadSource::Program => self.program(),
        }
    }

    /// Returns a candidate if a runnable thread lacks a processor because something other than the
    /// database uses it.
    fn waiting_thread(&self) -> Option<Candidate> {
        let lanes = self.check_input.lanes();
        let lane = lanes.max_by(|a, b| a.waited.total_cmp(&b.waited))?;
        let wanted = lane.ran + lane.waited;
        // If the database wants all processors of a shared host, it is the database that lacks
        // them.
        let is_database = self.processors().is_some();
        let full = if self.is_mostly_outside_database() { FULL_OF_ALL } else { FULL };
        if lane.waited < LEAST_WAIT || wanted < full || is_database {
            return None;
        }
        let finding = LimiterFinding::Generator(GeneratorLimit::ThreadWaits {
            thread: lane.name.to_owned(),
            ran: lane.ran,
            waited: lane.waited,
        });
        let candidate = Candidate::new(Component::GeneratorCpu, wanted, finding);
        Some(
            candidate
                .with(EvidenceKind::RanShare, lane.ran)
                .with(EvidenceKind::WaitedShare, lane.waited),
        )
    }

    /// Returns a candidate if the threads have reached their calibrated ceiling, or if one thread
    /// ran nearly all the time.
    fn full_thread(&self) -> Option<Candidate> {
        let (use_of_thread, kind, share) = match self.check_input.limited_by_its_threads() {
            Some(used) => (FullThread::Ceiling(used), EvidenceKind::ShareOfCeiling, used.share),
            None => {
                let (thread, share) = self.check_input.busy_thread()?;
                let thread = thread.to_owned();
                (FullThread::Processor { thread, share }, EvidenceKind::ShareOfProcessor, share)
            }
        };
        let threads = self.check_input.lanes().count();
        let underused = self.check_input.lanes().filter(|lane| lane.ran < FULL / 2.0).count();
        let finding = GeneratorLimit::ThreadFull { use_of_thread, underused, threads };
        let finding = LimiterFinding::Generator(finding);
        Some(Candidate::new(Component::GeneratorThread, share, finding).with(kind, share))
    }

    /// Returns a candidate if all clients of closed jobs read their requests from a file or pipe,
    /// never pause intentionally, and have nothing to send for at least [`STARVED`] of their time.
    fn slow_feed(&self) -> Option<Candidate> {
        let (clients, busy) = (self.demand.clients_with_input, self.demand.busy_with_input);
        if clients == 0.0 || clients < self.demand.closed.clients {
            return None;
        }
        let idle_share = 1.0 - busy / clients;
        let finding = LimiterFinding::Generator(GeneratorLimit::SlowFeed { clients, idle_share });
        let candidate = Candidate::new(Component::GeneratorInput, idle_share, finding)
            .with(EvidenceKind::Clients, clients)
            .with(EvidenceKind::RequestsInFlight, busy);
        (idle_share >= STARVED).then_some(candidate)
    }

    /// Returns a candidate if the thread that generates and sends the rows is always busy or
    /// lacks a processor.
    fn loader(&self) -> Option<Candidate> {
        let ran = self.loader_share()?;
        let waited = self.loader_waited();
        if ran >= LOADS_FULLY {
            let finding = LimiterFinding::Generator(GeneratorLimit::LoaderFull { ran });
            let candidate = Candidate::new(Component::GeneratorThread, ran, finding);
            return Some(candidate.with(EvidenceKind::ShareOfProcessor, ran));
        }
        if waited < LEAST_WAIT || ran + waited < FULL || self.processors().is_some() {
            return None;
        }
        let finding = LimiterFinding::Generator(GeneratorLimit::LoaderWaits { ran, waited });
        let candidate = Candidate::new(Component::GeneratorCpu, ran + waited, finding);
        Some(candidate.with(EvidenceKind::RanShare, ran).with(EvidenceKind::WaitedShare, waited))
    }
}
