//! Detection of a database resource as the limiter.

use record::metric::{cgroup, disk, host, processes};
use record::{ComponentKind, MeasuredSide, ObservedMetric};

use super::candidate::Candidate;
use super::component::Component;
use super::demand::LoadSource;
use super::evidence::EvidenceKind;
use super::finding::{LimiterFinding, MemoryLimit, WaitingSessions, Waits};
use super::input::LimiterInput;
use super::waits::{DECISIVE_WAIT, SessionsInWait, Wait};
use crate::surroundings::DatabaseLocation;

/// Minimum fraction of the time for which a task must lack memory for memory to be the limiter.
const MEMORY_LACKED: f64 = 0.1;

/// Metrics of the times that a disk's reads and writes take.
const DISK_TIMES: [ObservedMetric; 2] = [disk::READ_TIME, disk::WRITE_TIME];

impl LimiterInput<'_, '_> {
    /// Returns the candidates among the database's resources and waits, and among the quotas of the
    /// control groups of the database and the load generator.
    pub(super) fn database(&self) -> Vec<Candidate> {
        let found = [
            self.throttled(MeasuredSide::Server),
            self.throttled(MeasuredSide::Generator),
            self.processors().or_else(|| self.lacks_processors()),
            self.one_processor().or_else(|| self.one_session()),
            self.locks(),
            self.flush(),
            self.disk(),
            self.memory(),
        ];
        found.into_iter().flatten().collect()
    }

    fn one_session(&self) -> Option<Candidate> {
        (self.demand.source == LoadSource::Program).then(|| self.one_session_works())?
    }

    fn locks(&self) -> Option<Candidate> {
        let SessionsInWait { sessions: waiting, event, .. } = self.waiting(Wait::Lock)?;
        let share = self.share_of_requests(waiting);
        let tables = self.signals.all_per_sample(&ComponentKind::Locks);
        let statements = self.signals.all_per_sample(&ComponentKind::Statements);
        let finding = LimiterFinding::Waits(Waits::Locks {
            sessions: self.waiting_sessions(waiting, event),
            table: tables.first().map(|(name, _)| (*name).to_owned()),
            statement: statements.first().map(|(text, _)| (*text).to_owned()),
        });
        let candidate = Candidate::new(Component::DatabaseLocks, share, finding)
            .with(EvidenceKind::SessionsThatWaitForLocks, waiting)
            .with_any(EvidenceKind::SessionsActive, self.active());
        let candidate = tables.iter().take(3).fold(candidate, |candidate, (name, mean)| {
            candidate.with(EvidenceKind::SessionsThatWaitFor((*name).to_owned()), *mean)
        });
        (share >= DECISIVE_WAIT).then_some(candidate)
    }

    fn waiting_sessions(&self, waiting: f64, event: &str) -> WaitingSessions {
        let active = self.active().unwrap_or(0.0);
        WaitingSessions { waiting, active, event: event.to_owned() }
    }

    fn flush(&self) -> Option<Candidate> {
        let SessionsInWait { sessions: waiting, event, .. } = self.waiting(Wait::Flush)?;
        let share = self.share_of_requests(waiting);
        let finding = LimiterFinding::Waits(Waits::Flush(self.waiting_sessions(waiting, event)));
        let candidate = Candidate::new(Component::DatabaseFlush, share, finding)
            .with(EvidenceKind::SessionsThatWaitForFlushes, waiting)
            .with_any(EvidenceKind::SessionsActive, self.active());
        let candidate = self.with_busiest_disk(candidate);
        (share >= DECISIVE_WAIT).then_some(candidate)
    }

    fn disk(&self) -> Option<Candidate> {
        let SessionsInWait { sessions: waiting, event, .. } = self.waiting(Wait::Disk)?;
        let share = self.share_of_requests(waiting);
        let finding = LimiterFinding::Waits(Waits::Disk(self.waiting_sessions(waiting, event)));
        let candidate = Candidate::new(Component::DatabaseDisk, share, finding)
            .with(EvidenceKind::SessionsThatWaitForDisks, waiting)
            .with_any(EvidenceKind::SessionsActive, self.active());
        let candidate = self.with_busiest_disk(candidate);
        (share >= DECISIVE_WAIT).then_some(candidate)
    }

    /// Adds the figures of the busiest disk of the database's host, if that host is observed.
    pub(super) fn with_busiest_disk(&self, candidate: Candidate) -> Candidate {
        if !self.sees_its_host() {
            return candidate;
        }
        let disks = self.signals.kinds(|kind| matches!(kind, ComponentKind::Disk(_)));
        let busy =
            disks.iter().filter_map(|disk| Some((disk, self.signals.rate(disk, disk::BUSY)?)));
        let Some((disk, busy)) = busy.max_by(|a, b| a.1.total_cmp(&b.1)) else { return candidate };
        let sum = |metrics: [ObservedMetric; 2]| {
            let rates = metrics.map(|metric| self.signals.rate(disk, metric));
            Some(rates[0]? + rates[1]?)
        };
        let operations = sum([disk::READS, disk::WRITES]);
        let took = operations.filter(|operations| *operations > 0.0).zip(sum(DISK_TIMES));
        candidate
            .with(EvidenceKind::BusiestDiskShare, busy)
            .with_any(EvidenceKind::ItsBytesPerS, sum([disk::READ_BYTES, disk::WRITTEN_BYTES]))
            .with_any(EvidenceKind::ItsOperationsPerS, operations)
            .with_any(
                EvidenceKind::ItsMsPerOperation,
                took.map(|(operations, s)| s / operations * 1e3),
            )
            .with_any(EvidenceKind::ItsFlushesPerS, self.signals.rate(disk, disk::FLUSHES))
    }

    /// Returns true if the host of the database is observed. The disks and the memory of another
    /// host say nothing about the database.
    fn sees_its_host(&self) -> bool {
        let place = self.check_input.evidence.surroundings.main.location;
        self.signals.sees_processes() || place != DatabaseLocation::Elsewhere
    }

    fn memory(&self) -> Option<Candidate> {
        self.memory_of_group().or_else(|| self.memory_of_host())
    }

    /// Returns a candidate if tasks of the server's control group wait for its memory to be
    /// reclaimed.
    fn memory_of_group(&self) -> Option<Candidate> {
        let group = ComponentKind::Cgroup(MeasuredSide::Server);
        let lacked = self.signals.rate(&group, cgroup::PRESSURE_MEMORY)?;
        let limit = self.signals.mean(&group, cgroup::MEMORY_LIMIT)?;
        let finding = LimiterFinding::Memory(MemoryLimit::Group { lacked, limit_bytes: limit });
        let candidate = Candidate::new(Component::DatabaseMemory, lacked, finding)
            .with(EvidenceKind::GroupPressureMemoryShare, lacked)
            .with(EvidenceKind::GroupMemoryLimitBytes, limit)
            .with_any(EvidenceKind::GroupMemoryBytes, self.signals.mean(&group, cgroup::MEMORY));
        (lacked >= MEMORY_LACKED).then_some(candidate)
    }

    fn memory_of_host(&self) -> Option<Candidate> {
        if !self.sees_its_host() {
            return None;
        }
        let lacked = self.signals.rate_at_server(&ComponentKind::Host, host::PRESSURE_MEMORY)?;
        let swapped =
            self.signals.rate_at_server(&ComponentKind::Host, host::SWAPPED_IN).unwrap_or(0.0);
        let faults = self
            .signals
            .rate(&ComponentKind::Processes(MeasuredSide::Server), processes::MAJOR_FAULTS)
            .unwrap_or(0.0);
        let finding = LimiterFinding::Memory(MemoryLimit::Host { lacked, swapped_per_s: swapped });
        let candidate = Candidate::new(Component::DatabaseMemory, lacked, finding)
            .with(EvidenceKind::PressureMemoryShare, lacked)
            .with(EvidenceKind::SwappedInPagesPerS, swapped)
            .with(EvidenceKind::MajorFaultsPerS, faults);
        (lacked >= MEMORY_LACKED).then_some(candidate)
    }
}
