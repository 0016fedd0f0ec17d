//! Detection of an observed program as the limiter: it has no processor time left, or sends too few
//! requests.

use record::metric::sockets;
use record::{ComponentKind, MeasuredSide};

use super::candidate::Candidate;
use super::component::Component;
use super::evidence::EvidenceKind;
use super::finding::{LimiterFinding, Pause, ProgramLimit};
use super::input::LimiterInput;
use super::program_sessions::{LACKS_PROCESSOR, PAUSE_SHARE, ProgramSessions};
use super::usage::{FULL, LEAST_WAIT};

/// Processors are the limiter only if threads of one side wait for a processor for at least this
/// fraction of the requests' time.
const LACKED: f64 = 0.2;

/// The processor of one session is the limiter only if the session is at work for at least this
/// fraction of the requests' time.
const SESSION_WORKS: f64 = 0.75;

/// Fraction that replaces [`SESSION_WORKS`] if the session waits for the rows of a load for at
/// least as long as it is idle.
const SESSION_LOADS: f64 = 0.5;

/// Largest mean number of sessions that counts as one.
const ONE_SESSION: f64 = 1.5;

impl LimiterInput<'_, '_> {
    /// Returns the candidates among the program's threads and pauses.
    pub(super) fn program(&self) -> Vec<Candidate> {
        let busy = [self.full_program(), self.waiting_program()];
        let busy: Vec<Candidate> = busy.into_iter().flatten().collect();
        // Requests that wait for a session of a pool have already been sent by the program.
        match busy.is_empty() && self.requests_at_pool().is_none() {
            true => self.absent_program().or_else(|| self.pausing_program()).into_iter().collect(),
            false => busy,
        }
    }

    /// Returns a candidate if the program has no session for most of the time: between two sessions
    /// it is busy, or pauses.
    fn absent_program(&self) -> Option<Candidate> {
        let sessions = self.program_session_count()?;
        let absent = 1.0 - sessions;
        if absent < PAUSE_SHARE {
            return None;
        }
        let (_, ran) = self.program_cpu()?;
        let is_busy = ran >= FULL * absent;
        let component =
            if is_busy { Component::GeneratorThread } else { Component::GeneratorInput };
        let finding = ProgramLimit::Absent { sessions, processors: ran, is_busy };
        let finding = LimiterFinding::Program(finding);
        let candidate =
            Candidate::new(component, absent, finding).with(EvidenceKind::Sessions, sessions);
        Some(candidate.with(EvidenceKind::RanShare, ran))
    }

    fn full_program(&self) -> Option<Candidate> {
        let share = self.generator_share().filter(|share| *share >= FULL)?;
        let finding = LimiterFinding::Program(ProgramLimit::ThreadFull { share });
        let candidate = Candidate::new(Component::GeneratorThread, share, finding);
        Some(candidate.with(EvidenceKind::ShareOfProcessor, share))
    }

    fn waiting_program(&self) -> Option<Candidate> {
        let (waited, ran) = self.program_cpu()?;
        let is_database = self.processors().is_some();
        let share = waited / (ran + waited).max(f64::MIN_POSITIVE);
        // If sessions wait for the program, a shorter wait for processors is enough to hinder it.
        let sessions = self.program_sessions().filter(|it| it.share() >= PAUSE_SHARE);
        let lacks = sessions.is_some_and(|it| self.lacks_processor(&it))
            && self.requests_at_pool().is_none();
        let is_full = ran + waited >= FULL;
        if waited.min(share) < LEAST_WAIT || !(is_full || lacks) || is_database {
            return None;
        }
        let finding = LimiterFinding::Program(ProgramLimit::Waits { ran, waited });
        let candidate = Candidate::new(Component::GeneratorCpu, share, finding);
        Some(candidate.with(EvidenceKind::RanShare, ran).with(EvidenceKind::WaitedShare, waited))
    }

    /// Returns true if the program seems to pause only because it lacks a processor: its threads
    /// wait for one for at least [`LACKS_PROCESSOR`] of the time of these pauses.
    fn lacks_processor(&self, sessions: &ProgramSessions) -> bool {
        let waited = self.program_cpu().map_or(0.0, |(waited, _)| waited);
        waited >= LACKS_PROCESSOR * sessions.paused()
    }

    /// Returns the candidate that keeps the sessions of the program waiting: the program itself,
    /// which pauses or does not read its answers, or the network.
    fn pausing_program(&self) -> Option<Candidate> {
        let sessions = self.program_sessions()?;
        let (component, pause) = sessions.reason()?;
        if matches!(pause, Pause::NoFurtherRequests { .. }) && self.lacks_processor(&sessions) {
            return None;
        }
        let finding = LimiterFinding::Program(ProgramLimit::Pauses {
            sessions: sessions.all,
            waiting: sessions.waiting(),
            pause,
        });
        let limited = self
            .signals
            .rate(&ComponentKind::Sockets(MeasuredSide::Server), sockets::RECEIVER_LIMITED);
        let candidate = Candidate::new(component, sessions.share(), finding)
            .with(EvidenceKind::ServerSocketsLimitedByReceiver, limited.unwrap_or(0.0));
        Some(sessions.with_evidence(candidate))
    }

    /// Returns a candidate if one session works for most of the time of its requests. Its processor
    /// is the limiter: with a second session, a second processor could do half of the work.
    pub(super) fn one_session_works(&self) -> Option<Candidate> {
        let sessions = self.program_sessions()?;
        let asked = self.requesting_sessions()?;
        let running = self.running()?;
        let available = self.database_processors()?;
        let share = running / asked;
        let decides =
            if sessions.receiving >= sessions.idle { SESSION_LOADS } else { SESSION_WORKS };
        let is_one = (PAUSE_SHARE..ONE_SESSION).contains(&asked);
        // Samples show a session that lacks a processor as being at work. `runs` excludes it.
        let ran = self.database_cpu()?;
        let runs = self.database_waited().is_none_or(|waited| waited < LACKS_PROCESSOR * ran);
        if !is_one || share < decides || !runs || available < ONE_SESSION || self.program_pauses() {
            return None;
        }
        let finding = LimiterFinding::Program(ProgramLimit::OneSession {
            at_work: running / sessions.all,
            waiting: (sessions.idle + sessions.receiving) / sessions.all,
        });
        let candidate = Candidate::new(Component::DatabaseSingleCore, share, finding)
            .with(EvidenceKind::UsedProcessors, ran)
            .with(EvidenceKind::Processors, available)
            .with_any(EvidenceKind::SessionsActive, self.active());
        Some(candidate)
    }

    /// Returns a candidate for a program with too few sessions, if the database has processors to
    /// spare or neither side lacks a processor. Used if there is no other candidate.
    pub(super) fn program_concurrency(&self) -> Option<Candidate> {
        let sessions = self.program_sessions()?;
        // Saturated processors do not limit a program if its threads and its database get one
        // whenever they want one.
        let lacks = || Some(self.starved_threads()?.0 >= LACKED * self.requesting_sessions()?);
        let has_time = sessions.has_time? || !lacks()?;
        if !has_time || self.waits_for_something() {
            return None;
        }
        let waiting = sessions.idle + sessions.receiving;
        let finding = LimiterFinding::Program(ProgramLimit::FewSessions {
            sessions: sessions.all,
            at_work: (sessions.all - waiting).max(0.0),
            waiting,
            pause_s: sessions.pause_s(),
        });
        Some(sessions.with_evidence(Candidate::new(Component::Concurrency, 1.0, finding)))
    }

    /// Returns a candidate if the processors are saturated and one side waits for them. Used if
    /// there is no other candidate.
    pub(super) fn starved_side(&self) -> Option<Candidate> {
        let sessions = self.program_sessions()?;
        let (lacked, side) = self.starved_threads()?;
        if lacked < LACKED * self.requesting_sessions()? || !self.is_host_full() {
            return None;
        }
        let component = match side {
            MeasuredSide::Server => self.proxy_or(Component::DatabaseCpu),
            MeasuredSide::Generator => Component::GeneratorCpu,
        };
        let finding = LimiterFinding::Program(ProgramLimit::Starved { side, waited: lacked });
        let candidate = Candidate::new(component, lacked / sessions.all.max(1.0), finding)
            .with(EvidenceKind::WaitedShare, lacked)
            .with_any(EvidenceKind::BusyProcessorsShare, self.busy_share());
        Some(sessions.with_evidence(candidate))
    }

    /// Returns the side on which more threads wait for a processor, and the mean number of these
    /// threads.
    fn starved_threads(&self) -> Option<(f64, MeasuredSide)> {
        let (by_program, _) = self.program_cpu()?;
        let by_database = self.database_waited().unwrap_or(0.0);
        Some(match by_database >= by_program {
            true => (by_database, MeasuredSide::Server),
            false => (by_program, MeasuredSide::Generator),
        })
    }
}
