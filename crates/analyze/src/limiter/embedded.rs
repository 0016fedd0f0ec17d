//! Detection of a database inside the load generator, such as SQLite, as the limiter.

use record::metric::processes;
use record::{ComponentKind, MeasuredSide};
use workload::{JobTarget, Piece};

use super::candidate::Candidate;
use super::component::Component;
use super::demand::LoadSource;
use super::evidence::EvidenceKind;
use super::finding::{EmbeddedWait, LimiterFinding, Waits};
use super::input::LimiterInput;
use super::waits::DECISIVE_WAIT;
use crate::evidence::Evidence;
use crate::surroundings::Route;

/// Minimum fraction of the time for which the holder of SQLite's single write lock runs or is
/// runnable. Other writers then wait for its statements, and not for the disk.
const HOLDER_RUNS: f64 = 0.6;

impl LimiterInput<'_, '_> {
    /// Returns a candidate for an embedded database, which shows no sessions. A request in flight
    /// that neither runs nor waits for a processor waits for the disk, or for another writer.
    pub(super) fn embedded(&self) -> Option<Candidate> {
        if !self.is_embedded() {
            return None;
        }
        let waited = self
            .signals
            .rate(&ComponentKind::Processes(MeasuredSide::Server), processes::WAITED)
            .unwrap_or(0.0);
        // While a writer generates rows, it has nothing in flight.
        let in_flight = self.demand.in_flight - self.loader_share().unwrap_or(0.0);
        let stalled = in_flight - self.database_cpu()? - waited;
        let share = stalled / in_flight.max(f64::MIN_POSITIVE);
        if share < DECISIVE_WAIT || in_flight < DECISIVE_WAIT {
            return None;
        }
        // The holder of the write lock runs, unless it waits for its own flush.
        let one_runs = self.database_cpu()? + waited >= HOLDER_RUNS;
        let (component, wait) = match (self.writes(), in_flight >= 1.5 && one_runs) {
            (true, true) => (Component::DatabaseLocks, EmbeddedWait::Writer),
            (true, false) => (Component::DatabaseFlush, EmbeddedWait::Flush),
            (false, _) => (Component::DatabaseDisk, EmbeddedWait::Disk),
        };
        let finding = LimiterFinding::Waits(Waits::Embedded { in_flight, stalled, wait });
        let candidate = Candidate::new(component, share, finding)
            .with(EvidenceKind::RequestsInFlight, in_flight)
            .with(EvidenceKind::RequestsThatStandStill, stalled);
        Some(self.with_busiest_disk(candidate))
    }

    /// Returns true if all load is on a database inside the load generator.
    pub(super) fn is_embedded(&self) -> bool {
        let Evidence { plan, surroundings, .. } = self.check_input.evidence;
        let is_inside = |target| surroundings.of_target(target).route == Some(Route::Sqlite);
        match self.demand.source {
            LoadSource::Jobs => plan.jobs.iter().all(|job| is_inside(job.target)),
            LoadSource::Load => is_inside(JobTarget::Main),
            LoadSource::Program => false,
        }
    }

    /// Returns true for a load, or if a job writes, judged by the first words of its statements.
    fn writes(&self) -> bool {
        let reads = [
            "select",
            "with",
            "values",
            "explain",
            "pragma",
            "begin",
            "commit",
            "savepoint",
            "release",
            "rollback",
        ];
        let sections = self.check_input.evidence.plan.jobs_and_parts();
        let mut statements = sections.flat_map(|either| &either.requests().statements);
        statements.any(|statement| {
            let text = statement.pieces.iter().find_map(|piece| match piece {
                Piece::Text(text) => Some(text.trim_start().to_ascii_lowercase()),
                _ => None,
            });
            text.is_some_and(|text| !reads.iter().any(|word| text.starts_with(word)))
        }) || self.demand.source == LoadSource::Load
    }
}
