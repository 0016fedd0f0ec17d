//! Detection of background work as the limiter.

use record::component_name::{AUTOVACUUM_WORKER, BACKGROUND_WRITER, CHECKPOINTER, WALSENDER};
use record::metric::{AUTOVACUUM, BASE_BACKUP, CHECKPOINT, processes, role, sessions};
use record::{ComponentKind, MeasuredSide, ObservedMetric};

use super::candidate::Candidate;
use super::component::Component;
use super::demand::LoadSource;
use super::evidence::EvidenceKind;
use super::finding::{BackgroundWork, LimiterFinding};
use super::input::LimiterInput;
use crate::disturbance::PhaseName;
use crate::phases::{Figure, is_intermittent};

/// Minimum fraction of the window for which the work must run to be the limiter.
const LEAST_DURATION: f64 = 0.2;

/// Minimum share of the work in the database's use of a resource, or minimum fraction of the
/// database's processors that sessions of other clients keep busy.
const LEAST_USE: f64 = 0.35;

/// Maximum throughput of other jobs during the work, as a fraction of their throughput without it.
const MOST_THROUGHPUT: f64 = 0.8;

/// Processes of PostgreSQL that do background work, by the beginning of the work's name.
const ROLES: [(&str, &[&str]); 4] = [
    (CHECKPOINT, &[CHECKPOINTER, BACKGROUND_WRITER]),
    (AUTOVACUUM[0], &[AUTOVACUUM_WORKER]),
    (AUTOVACUUM[1], &[AUTOVACUUM_WORKER]),
    (BASE_BACKUP, &[WALSENDER]),
];

impl LimiterInput<'_, '_> {
    /// Returns the candidates among background work: sessions of other clients, work that the
    /// database names, and intermittent work. For an observed program, intermittent work is left
    /// out, and sessions of other clients count only if they can be told apart from the program's
    /// own sessions, and only if the program does not pause. `found` are the candidates found so
    /// far.
    pub(super) fn background(&self, found: &[Candidate]) -> Vec<Candidate> {
        if self.demand.source == LoadSource::Program {
            // Sessions of other clients take nothing from a program that pauses.
            let is_separable = self.knows_sessions_of_program() && !self.program_pauses();
            let other_sessions = is_separable.then(|| self.other_sessions()).flatten();
            return [other_sessions, self.named_work(found)].into_iter().flatten().collect();
        }
        let found = [self.other_sessions(), self.named_work(found), self.intermittent_work()];
        found.into_iter().flatten().collect()
    }

    /// Returns a candidate if sessions of other clients keep at least [`LEAST_USE`] of the
    /// database's processors busy while the database wants all of its processors.
    fn other_sessions(&self) -> Option<Candidate> {
        let others = self.signals.per_sample(&ComponentKind::Sessions, sessions::OTHERS)?;
        let available = self.database_processors()?;
        let wants = self.database_demand()?;
        let share = others / available;
        if share < LEAST_USE || wants < 1.0 {
            return None;
        }
        let work = self.work_in_the_background();
        let work = work.filter(|(_, share)| *share >= LEAST_DURATION);
        let finding = LimiterFinding::Background(BackgroundWork::OtherSessions {
            sessions: others,
            processors: available,
            work: work.map(|(name, share)| (name.to_owned(), share)),
        });
        let candidate = Candidate::new(Component::BackgroundTask, share, finding)
            .with(EvidenceKind::SessionsOfOthersActive, others)
            .with(EvidenceKind::Processors, available)
            .with(EvidenceKind::WantedProcessors, wants * available);
        Some(candidate)
    }

    /// Returns the background work that the database named most often, and the fraction of the
    /// samples that show it.
    fn work_in_the_background(&self) -> Option<(&str, f64)> {
        self.signals.all_per_sample(&ComponentKind::Background).first().copied()
    }

    /// Returns a candidate if work that the database names takes much of the database's processor
    /// time or disk traffic while requests lack this resource.
    fn named_work(&self, found: &[Candidate]) -> Option<Candidate> {
        let (name, share) = self.work_in_the_background().filter(|it| it.1 >= LEAST_DURATION)?;
        let (cpu, bytes) = self.usage_of_work(name);
        let lacks = |component| found.iter().any(|candidate| candidate.component == component);
        let lacks_cpu = lacks(Component::DatabaseCpu) || lacks(Component::DatabaseSingleCore);
        let lacks_disk = lacks(Component::DatabaseDisk) || lacks(Component::DatabaseFlush);
        let takes_cpu = cpu / self.database_cpu()?.max(f64::MIN_POSITIVE);
        let server = ComponentKind::Processes(MeasuredSide::Server);
        let bytes_of = |metric| self.signals.rate(&server, metric).unwrap_or(0.0);
        let written = bytes_of(processes::WRITTEN_BYTES) + bytes_of(processes::READ_BYTES);
        let takes_bytes = bytes / written.max(f64::MIN_POSITIVE);
        let is_limiting =
            (lacks_cpu && takes_cpu >= LEAST_USE) || (lacks_disk && takes_bytes >= LEAST_USE);
        let finding = LimiterFinding::Background(BackgroundWork::Named {
            name: name.to_owned(),
            share,
            cpu_share: takes_cpu,
            bytes_share: takes_bytes,
        });
        let candidate = Candidate::new(Component::BackgroundTask, share, finding)
            .with(EvidenceKind::BackgroundCpuShare, takes_cpu)
            .with(EvidenceKind::BackgroundBytesShare, takes_bytes)
            .with(EvidenceKind::ShareOfWindow, share);
        is_limiting.then_some(candidate)
    }

    /// Returns the processors and the bytes per second used by the processes that do the named
    /// work.
    fn usage_of_work(&self, work: &str) -> (f64, f64) {
        let does_work = |role: &str| {
            ROLES.iter().any(|(begin, of_work)| work.starts_with(begin) && of_work.contains(&role))
        };
        let roles =
            self.signals.kinds(|kind| matches!(kind, ComponentKind::Role(role) if does_work(role)));
        let sum = |metrics: [ObservedMetric; 2]| -> f64 {
            let of_role = |kind: &ComponentKind| -> f64 {
                metrics.iter().filter_map(|metric| self.signals.rate(kind, *metric)).sum()
            };
            roles.iter().map(of_role).sum()
        };
        (sum([role::USER, role::SYSTEM]), sum([role::READ_BYTES, role::WRITTEN_BYTES]))
    }

    /// Returns true for a closed job that ran all the time. Such a job sends as fast as it is
    /// answered, so if its throughput falls, the cause lies outside of the job.
    fn is_permanent_closed_job(&self, name: &str) -> bool {
        let plan = &self.check_input.evidence.plan;
        let account = self
            .check_input
            .evidence
            .accounts()
            .find(|account| plan.account(*account).name() == name);
        account.is_some_and(|account| {
            !self.check_input.has_schedule(account) && !is_intermittent(plan, account)
        })
    }

    /// Returns a candidate if an intermittent job, or intermittent work of the database, clearly
    /// reduces the throughput of a closed job.
    fn intermittent_work(&self) -> Option<Candidate> {
        let check_input = self.check_input;
        let length_s = check_input.evidence.window_length().as_secs_f64();
        self.side_effects.iter().find_map(|effects| {
            let during = effects.phases.iter().find(|phase| phase.name == PhaseName::During)?;
            let share = during.length_s / length_s.max(f64::MIN_POSITIVE);
            let change = effects.changes.iter().find(|change| {
                change.phase == PhaseName::During
                    && change.figure == Figure::Throughput
                    && self.is_permanent_closed_job(&change.job)
            })?;
            if share < LEAST_DURATION || change.to > change.from * MOST_THROUGHPUT {
                return None;
            }
            let finding = LimiterFinding::Background(BackgroundWork::Intermittent {
                cause: effects.job.clone(),
                is_background: effects.is_background,
                job: change.job.clone(),
                with_per_s: change.to,
                without_per_s: change.from,
            });
            let candidate = Candidate::new(Component::BackgroundTask, share, finding)
                .with(EvidenceKind::ThroughputWithItPerS, change.to)
                .with(EvidenceKind::ThroughputWithoutItPerS, change.from)
                .with(EvidenceKind::ShareOfWindow, share);
            Some(candidate)
        })
    }
}
