//! Detection of an observed program as the limiter: it has no time left, or does not ask.
//!
//! The time of its sessions is added up from their waits in each sample. A session that waits for
//! its client may wait for the end of a pause of the program, or for a moment between two
//! statements. The pauses are added up, not averaged over statements, as one pause of 50 ms behind
//! 200 statements is not a pause of 0.25 ms for each.

use record::metric::{processes, sessions, sockets};
use record::statistic::{pg_stat_databases, status};
use record::{Part, Side};

use super::component::Component;
use super::evidence::EvidenceKind;
use super::finding::{LimiterFinding, Pause, ProgramLimit, Sockets};
use super::generator::{FULL, KEPT_WAITING};
use super::input::LimiterInput;
use super::suspect::Suspect;
use crate::program::requests_per_s;

/// Minimum fraction of the time of its sessions in which a program pauses, for that to limit it.
const PAUSES: f64 = 0.5;

/// Value of [`PAUSES`] if pauses are only known from the mean time between two statements.
const PAUSES_ON_AVERAGE: f64 = 0.6;

/// Seconds between an answer and the next request up to which a program does not throttle itself:
/// the time that waking up and switching between processes may take.
const QUICK_S: f64 = 0.001;

/// The same limit in round trips.
const QUICK_ROUND_TRIPS: f64 = 3.0;

/// Minimum time for which threads of one side wait for a processor, relative to the time in which
/// sessions wait for the program, for the wait to be the reason why requests are not sent or not
/// read.
const LACKS_PROCESSOR: f64 = 0.5;

/// Minimum fraction of the requests' time for which threads of one side wait for a processor to
/// count as lacking processors.
const LACKED: f64 = 0.2;

/// Minimum fraction of the requests' time in which one session is at work, to be the limiter.
const ONE_WORKS: f64 = 0.75;

/// Value of [`ONE_WORKS`] for a session that loads rows, which is asked without a break.
const ONE_LOADS: f64 = 0.5;

/// Unseen sources without which a program may have sessions that are not counted.
const HIDDEN: [&str; 3] = ["database", "sessions", "sessions of others"];

/// Largest mean number of sessions that counts as one.
const ONE_SESSION: f64 = 1.5;

/// Mean numbers of sessions of an observed program.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramSessions {
    /// All sessions.
    all: f64,
    /// Sessions between two statements.
    idle: f64,
    /// Sessions that wait for the rest of a statement, such as rows to load; `event` is the name of
    /// that wait in the database.
    receiving: f64,
    event: &'static str,
    /// Sessions that wait for their answers to be read.
    sending: f64,
    /// Sessions for which the program pauses, by samples; `None` if these do not say.
    paused: Option<f64>,
    /// Sessions that wait for the program while no socket of either side holds anything.
    nothing_waits: Option<f64>,
    /// Sessions that wait for it while their next request waits at the server.
    unread_request: Option<f64>,
    /// Sessions that wait for it while their last answer waits at the program.
    unread_answer: Option<f64>,
    /// Connections with a request that the server has not read; `None` if they were not seen.
    unread_by_server: Option<f64>,
    /// Connections with an answer that the program has not read.
    unread_by_program: Option<f64>,
    /// Connections with bytes of the program that are not sent yet.
    unsent_by_program: f64,
    /// True if the database is known to have time to spare; `None` if that is not known.
    has_time: Option<bool>,
    /// Mean number of threads of the database that were runnable and had no processor; `None` if
    /// they were not seen.
    lacked_by_server: Option<f64>,
    requests_per_s: Option<f64>,
    round_trip_s: f64,
}

impl LimiterInput<'_, '_> {
    /// Returns the suspects among the program's threads and pauses.
    pub(super) fn program(&self) -> Vec<Suspect> {
        let busy = [self.full_program(), self.waiting_program()];
        let busy: Vec<Suspect> = busy.into_iter().flatten().collect();
        // Requests of a program that wait for a session of a pool have been asked.
        match busy.is_empty() && self.requests_at_pool().is_none() {
            true => self.absent_program().or_else(|| self.pausing_program()).into_iter().collect(),
            false => busy,
        }
    }

    /// Returns a suspect if the program has no session for most of the time: between two sessions
    /// it is busy, or pauses.
    fn absent_program(&self) -> Option<Suspect> {
        let sessions = self.program_session_count()?;
        let absent = 1.0 - sessions;
        if absent < PAUSES {
            return None;
        }
        let (_, ran) = self.program_cpu()?;
        let is_busy = ran >= FULL * absent;
        let component =
            if is_busy { Component::GeneratorThread } else { Component::GeneratorInput };
        let finding = ProgramLimit::Absent { sessions, processors: ran, is_busy };
        let finding = LimiterFinding::Program(finding);
        let suspect =
            Suspect::new(component, absent, finding).with(EvidenceKind::Sessions, sessions);
        Some(suspect.with(EvidenceKind::RanShare, ran))
    }

    /// Returns the mean number of the program's sessions; `None` if not all of them can be seen.
    fn program_session_count(&self) -> Option<f64> {
        // Without this metric no program was looked for.
        self.signals.rate(&Part::Sessions, sessions::IDENTIFIED)?;
        let unseen = &self.findings.evidence.unseen;
        let is_hidden = unseen.iter().any(|(what, _)| HIDDEN.contains(&what.as_str()));
        if is_hidden {
            return None;
        }
        Some(self.active()? + self.idle_sessions()?)
    }

    fn full_program(&self) -> Option<Suspect> {
        let share = self.generator_share().filter(|share| *share >= FULL)?;
        let finding = LimiterFinding::Program(ProgramLimit::ThreadFull { share });
        let suspect = Suspect::new(Component::GeneratorThread, share, finding);
        Some(suspect.with(EvidenceKind::ShareOfProcessor, share))
    }

    /// Returns the waiting and the running time of the program's threads, in processors.
    fn program_cpu(&self) -> Option<(f64, f64)> {
        let part = Part::Processes(Side::Generator);
        Some((self.signals.rate(&part, processes::WAITED)?, self.signals.used_processors(&part)?))
    }

    fn waiting_program(&self) -> Option<Suspect> {
        let (waited, ran) = self.program_cpu()?;
        let is_database = self.processors().is_some();
        let share = waited / (ran + waited).max(f64::MIN_POSITIVE);
        // A program that its sessions wait for is hindered by a shorter wait as well.
        let sessions = self.program_sessions().filter(|it| it.share() >= PAUSES);
        let lacks = sessions.is_some_and(|it| waited >= LACKS_PROCESSOR * it.paused())
            && self.requests_at_pool().is_none();
        let is_full = ran + waited >= FULL;
        if waited.min(share) < KEPT_WAITING || !(is_full || lacks) || is_database {
            return None;
        }
        let finding = LimiterFinding::Program(ProgramLimit::Waits { ran, waited });
        let suspect = Suspect::new(Component::GeneratorCpu, share, finding);
        Some(suspect.with(EvidenceKind::RanShare, ran).with(EvidenceKind::WaitedShare, waited))
    }

    /// Returns a suspect if the program does not ask for more: the database's sessions wait for it,
    /// and nothing in the sockets waits to be read by either side.
    fn pausing_program(&self) -> Option<Suspect> {
        let sessions = self.program_sessions()?;
        let (component, pause) = sessions.reason()?;
        let finding = LimiterFinding::Program(ProgramLimit::Pauses {
            sessions: sessions.all,
            waiting: sessions.waiting(),
            pause,
        });
        let limited = self.signals.rate(&Part::Sockets(Side::Server), sockets::RECEIVER_LIMITED);
        let suspect = Suspect::new(component, sessions.share(), finding)
            .with(EvidenceKind::ServerSocketsLimitedByReceiver, limited.unwrap_or(0.0));
        Some(sessions.with_evidence(suspect))
    }

    /// Returns the sessions of a program; `None` if they were not seen, or there were none.
    pub(super) fn program_sessions(&self) -> Option<ProgramSessions> {
        let of_program = |metric| self.signals.mean(&Part::Sockets(Side::Generator), metric);
        let per_sample = |metric| self.signals.per_sample(&Part::Sessions, metric);
        let looked =
            |metric| self.signals.rate(&Part::Sessions, metric).and_then(|_| per_sample(metric));
        let (active, idle) = (self.active()?, self.idle_sessions()?);
        // Idle sessions of other programs idle for reasons of their own.
        let not_active = of_program(sockets::CONNECTIONS).map(|all| (all - active).max(0.0));
        let is_told_apart = self.knows_sessions_of_program();
        let idle = match not_active {
            Some(not_active) if !is_told_apart => idle.min(not_active),
            Some(_) | None => idle,
        };
        let sessions = ProgramSessions {
            all: active + idle,
            idle,
            receiving: self.receiving_sessions(),
            event: self.receiving_event(),
            sending: self.sending_sessions(),
            paused: looked(sessions::PAUSED),
            nothing_waits: looked(sessions::NOTHING_WAITS),
            unread_request: looked(sessions::UNREAD_REQUEST),
            unread_answer: looked(sessions::UNREAD_ANSWER),
            unread_by_server: self.unread_by_server(),
            unread_by_program: of_program(sockets::WITH_RECEIVE_QUEUE),
            unsent_by_program: of_program(sockets::WITH_SEND_QUEUE).unwrap_or(0.0),
            has_time: self.database_has_time(),
            lacked_by_server: self.database_waited(),
            requests_per_s: self.requests_of_a_program_per_s(),
            round_trip_s: of_program(sockets::ROUND_TRIP_LEAST).unwrap_or(0.0),
        };
        (sessions.all > 0.0).then_some(sessions)
    }

    /// Returns true if sessions of the program were distinguished from those of others.
    pub(super) fn knows_sessions_of_program(&self) -> bool {
        self.signals
            .per_sample(&Part::Sessions, sessions::IDENTIFIED)
            .is_some_and(|known| known > 0.0)
    }

    /// Returns the sessions for which a program does not pause: the requests' time in sessions. If
    /// a program pauses most of the time, nothing is subtracted, so its pauses remain the largest
    /// part.
    pub(super) fn asked_sessions(&self) -> Option<f64> {
        let sessions = self.program_sessions()?;
        let paused = if sessions.share() < PAUSES { sessions.paused() } else { 0.0 };
        // A program without sessions asks nothing of the database meanwhile.
        let absent = self.program_session_count().map_or(0.0, |all| (1.0 - all).max(0.0));
        let absent = if absent < PAUSES { 0.0 } else { absent };
        Some((sessions.all - paused + absent).max(f64::MIN_POSITIVE))
    }

    /// Returns true if an observed program pauses for most of the time.
    pub(super) fn program_pauses(&self) -> bool {
        self.program_sessions().is_some_and(|it| it.reason().is_some())
    }

    /// Returns a suspect if one session works for most of the time of its requests: a second one
    /// would take half of its work, and its processor cannot go faster.
    pub(super) fn one_session_works(&self) -> Option<Suspect> {
        let sessions = self.program_sessions()?;
        let asked = self.asked_sessions()?;
        let running = self.running()?;
        let may = self.database_processors()?;
        let share = running / asked;
        let decides = if sessions.receiving >= sessions.idle { ONE_LOADS } else { ONE_WORKS };
        let is_one = (PAUSES..ONE_SESSION).contains(&asked);
        // A session that lacks a processor counts as being at work.
        let ran = self.database_cpu()?;
        let runs = self.database_waited().is_none_or(|waited| waited < LACKS_PROCESSOR * ran);
        if !is_one || share < decides || !runs || may < ONE_SESSION || self.program_pauses() {
            return None;
        }
        let finding = LimiterFinding::Program(ProgramLimit::OneSession {
            at_work: running / sessions.all,
            waiting: (sessions.idle + sessions.receiving) / sessions.all,
        });
        let suspect = Suspect::new(Component::DatabaseSingleCore, share, finding)
            .with(EvidenceKind::UsedProcessors, ran)
            .with(EvidenceKind::Processors, may)
            .with_any(EvidenceKind::SessionsActive, self.active());
        Some(suspect)
    }

    /// Returns a suspect if nothing is full and the program pauses for none of its sessions: it has
    /// too few of them.
    pub(super) fn program_concurrency(&self) -> Option<Suspect> {
        let sessions = self.program_sessions()?;
        // Full processors do not limit a program that gets one whenever it wants one, as its
        // database does.
        let lacks = || Some(self.starved_threads()?.0 >= LACKED * self.asked_sessions()?);
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
        Some(sessions.with_evidence(Suspect::new(Component::Concurrency, 1.0, finding)))
    }

    /// Returns a suspect if the processors are full and one side waits for them. Used if there is
    /// no other suspect.
    pub(super) fn starved_side(&self) -> Option<Suspect> {
        let sessions = self.program_sessions()?;
        let (lacked, side) = self.starved_threads()?;
        if lacked < LACKED * self.asked_sessions()? || !self.is_host_full() {
            return None;
        }
        let component = match side {
            Side::Server => Component::DatabaseCpu,
            Side::Generator => Component::GeneratorCpu,
        };
        let finding = LimiterFinding::Program(ProgramLimit::Starved { side, waited: lacked });
        let suspect = Suspect::new(component, lacked / sessions.all.max(1.0), finding)
            .with(EvidenceKind::WaitedShare, lacked)
            .with_any(EvidenceKind::BusyProcessorsShare, self.busy_share());
        Some(sessions.with_evidence(suspect))
    }

    /// Returns the mean number of threads without a processor on the side that has more of them.
    fn starved_threads(&self) -> Option<(f64, Side)> {
        let (by_program, _) = self.program_cpu()?;
        let by_database = self.database_waited().unwrap_or(0.0);
        Some(match by_database >= by_program {
            true => (by_database, Side::Server),
            false => (by_program, Side::Generator),
        })
    }

    /// Returns the requests of a program per second. If its sockets are not seen, this is the
    /// database's count for all clients, which in PostgreSQL is that of transactions; it counts
    /// read-only ones late.
    pub(super) fn requests_of_a_program_per_s(&self) -> Option<f64> {
        let of = |statistic| self.signals.rate_of_statistic(statistic);
        let transactions = || {
            let rolled_back = of(pg_stat_databases::XACT_ROLLBACK).unwrap_or(0.0);
            Some(of(pg_stat_databases::XACT_COMMIT)? + rolled_back)
        };
        let by_sockets = requests_per_s(self.findings.evidence);
        by_sockets.or_else(|| of(status::QUESTIONS)).or_else(transactions)
    }
}

impl ProgramSessions {
    /// Returns the sessions that wait for their client: to ask or send rows, or to read answers,
    /// whichever are more.
    fn waiting(&self) -> f64 {
        (self.idle + self.receiving).max(self.sending)
    }

    /// Returns the mean idle time of a session before each request, in seconds. Rows to load come
    /// without being asked for.
    fn pause_s(&self) -> Option<f64> {
        Some(self.idle / self.requests_per_s?.max(f64::MIN_POSITIVE))
    }

    /// Returns true if sessions idle before each request for longer than a switch between processes
    /// or a round trip takes.
    fn is_slow(&self) -> bool {
        let is_slow =
            |pause_s: f64| pause_s > QUICK_S && pause_s > QUICK_ROUND_TRIPS * self.round_trip_s;
        self.pause_s().is_some_and(is_slow)
    }

    /// Returns the sessions for which the program pauses: those that wait for rows, and those that
    /// idle for long each time, or always.
    fn paused(&self) -> f64 {
        // While a request or an answer waits in a socket the program does not pause.
        let seen = self.nothing_waits.filter(|_| self.sees_sockets());
        let idle = seen.map_or(self.idle, |nothing| nothing.min(self.idle));
        let idle = if self.is_slow() { idle } else { 0.0 };
        match self.paused {
            // Samples miss the beginning of each pause.
            Some(paused) => paused.max(idle),
            None => idle + self.receiving,
        }
    }

    /// Returns true if the sockets of waiting sessions were seen.
    fn sees_sockets(&self) -> bool {
        let seen = [self.nothing_waits, self.unread_request, self.unread_answer];
        seen.into_iter().flatten().sum::<f64>() > 0.0
    }

    /// Returns the fraction of the time of its sessions in which they wait for the program.
    fn share(&self) -> f64 {
        (self.paused().max(self.sending) / self.all).min(1.0)
    }

    /// Returns the component that they wait for, and the reason; `None` if they do not wait, or if
    /// the database may be the reason.
    fn reason(&self) -> Option<(Component, Pause)> {
        if self.sending >= self.all * PAUSES {
            return Some(self.cause_of_unread_answers());
        }
        if self.receiving.min(self.unsent_by_program) >= self.all * PAUSES {
            return Some((Component::NetworkBandwidth, Pause::RowsOnTheWay));
        }
        let is_far = self.pause_s().is_some_and(|pause_s| {
            pause_s > QUICK_S && pause_s <= QUICK_ROUND_TRIPS * self.round_trip_s
        });
        if is_far && self.idle >= self.all * PAUSES_ON_AVERAGE {
            let (pause_s, round_trip_s) = (self.pause_s()?, self.round_trip_s);
            return Some((Component::NetworkLatency, Pause::RoundTrip { pause_s, round_trip_s }));
        }
        let decides = if self.paused.is_some() { PAUSES } else { PAUSES_ON_AVERAGE };
        if self.share() < decides || self.may_have_unread_requests() {
            return None;
        }
        Some((Component::GeneratorInput, self.pausing()))
    }

    /// Returns true if requests may wait unread at the server: many do, or its sessions may idle
    /// because they lack a processor.
    fn may_have_unread_requests(&self) -> bool {
        // Sessions with such a request are not among those for which the program pauses.
        if self.paused.is_some() && self.sees_sockets() {
            return false;
        }
        let lacks = match (self.paused, self.lacked_by_server) {
            (Some(_), Some(lacked)) => lacked >= LACKS_PROCESSOR * self.waiting(),
            (_, _) => match self.unread_by_server {
                Some(_) => self.has_time == Some(false),
                None => self.has_time != Some(true),
            },
        };
        let unread = self.unread_by_server.unwrap_or(0.0);
        lacks || unread > self.all * (1.0 - PAUSES_ON_AVERAGE)
    }

    /// Returns the evidence in the sessions and sockets that the program pauses.
    fn pausing(&self) -> Pause {
        let sockets = match (self.nothing_waits, self.unread_by_server, self.unread_by_program) {
            (Some(nothing), _, _) if self.sees_sockets() => {
                let waiting = (self.idle + self.receiving).max(f64::MIN_POSITIVE);
                Sockets::Empty { share: (nothing / waiting).min(1.0) }
            }
            (_, Some(requests), Some(answers)) => Sockets::Holding { requests, answers },
            _ => Sockets::Unseen,
        };
        let rows = (self.receiving > self.idle).then_some(self.event);
        Pause::NothingAsked { rows, sockets }
    }

    /// Returns the component that does not take answers, the program or the network: an answer that
    /// has arrived and is unread waits for the program.
    fn cause_of_unread_answers(&self) -> (Component, Pause) {
        let is_there = self.unread_by_program.is_none_or(|unread| unread >= self.sending / 2.0);
        match is_there {
            true => (Component::GeneratorInput, Pause::UnreadAnswers),
            false => (Component::NetworkBandwidth, Pause::AnswersOnTheWay),
        }
    }

    fn with_evidence(&self, suspect: Suspect) -> Suspect {
        suspect
            .with(EvidenceKind::Sessions, self.all)
            .with(EvidenceKind::SessionsIdle, self.idle)
            .with(EvidenceKind::SessionsReceiving, self.receiving)
            .with(EvidenceKind::SessionsThatWaitToSend, self.sending)
            .with_any(EvidenceKind::SessionsInAPause, self.paused)
            .with_any(EvidenceKind::SessionsWithEmptySockets, self.nothing_waits)
            .with_any(EvidenceKind::SessionsWithUnreadRequests, self.unread_request)
            .with_any(EvidenceKind::SessionsWithUnreadAnswers, self.unread_answer)
            .with_any(EvidenceKind::ServerSocketsWithUnreadRequests, self.unread_by_server)
            .with_any(EvidenceKind::ProgramSocketsWithUnreadAnswers, self.unread_by_program)
            .with_any(EvidenceKind::RequestsPerS, self.requests_per_s)
            .with(EvidenceKind::RoundTripLeastMs, self.round_trip_s * 1e3)
    }
}
