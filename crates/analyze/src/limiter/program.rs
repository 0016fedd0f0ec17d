//! Program that is observed as the limiter: it has no time left, or does not ask.
//!
//! The time of its sessions is added up by what each of them waited for at each look. A session
//! that waits for its client may wait for a pause of the program to end, or for a moment between
//! two statements: the pauses are added up, not averaged over statements, as one pause of 50 ms
//! behind 200 statements is no pause of 0.25 ms.

use record::{Part, Side};

use super::generator::{FULL, KEPT_WAITING};
use super::suspect::{number, percent};
use super::{Component, Scene, Suspect};

/// The part of the time of its sessions in which a program pauses, from which on that decides.
const PAUSES: f64 = 0.5;

/// The same if pauses are only known from the mean time between two statements.
const PAUSES_ON_AVERAGE: f64 = 0.6;

/// The seconds between an answer and the next request up to which a program does not hold itself
/// back: the time that waking up and switching between processes may take,
const QUICK_S: f64 = 0.001;

/// or so many round trips.
const QUICK_ROUND_TRIPS: f64 = 3.0;

/// The part of the time in which sessions wait for the program for which one side must wait for a
/// processor to be kept from asking or from hearing what is asked.
const LACKS_PROCESSOR: f64 = 0.5;

/// The part of the requests' time for which threads of one side wait for a processor, from which on
/// that is what they lack.
const LACKED: f64 = 0.2;

/// The part of the requests' time in which one session must be at work to be what limits,
const ONE_WORKS: f64 = 0.75;

/// and the same of a session that loads rows, which is asked without a break.
const ONE_LOADS: f64 = 0.5;

/// Names of what could not be seen, without which a program may have sessions all the same.
const HIDDEN: [&str; 3] = ["database", "sessions", "sessions of others"];

/// The most sessions under way that count as one.
const ONE_SESSION: f64 = 1.5;

/// The sessions of a program that is observed, on average.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramSessions {
    /// All of them.
    all: f64,
    /// Those between two statements.
    idle: f64,
    /// Those that wait for the rest of a statement, such as rows to load, and the name that the
    /// database has for that.
    receiving: f64,
    event: &'static str,
    /// Those that wait for their answers to be taken.
    sending: f64,
    /// Those for which the program pauses, by looks at them; `None` if these do not say.
    paused: Option<f64>,
    /// Those that wait for the program while no socket of either side holds anything.
    nothing_waits: Option<f64>,
    /// Those that wait for it while their next request waits at the server,
    unread_request: Option<f64>,
    /// and those whose last answer waits at the program.
    unread_answer: Option<f64>,
    /// Connections with a request that the server has not read; `None` if they were not seen.
    unread_by_server: Option<f64>,
    /// Connections with an answer that the program has not read.
    unread_by_program: Option<f64>,
    /// Connections on which the program was given bytes to send that are not sent.
    unsent_by_program: f64,
    /// The database is known to have time to spare; `None` if that is not known.
    has_time: Option<bool>,
    /// The threads of the database that could have run and had no processor; `None` if they were
    /// not seen.
    lacked_by_server: Option<f64>,
    requests_per_s: Option<f64>,
    round_trip_s: f64,
}

impl Scene<'_, '_> {
    /// The parts of the program that have no more to give, or its pauses.
    pub(super) fn program(&self) -> Vec<Suspect> {
        let busy = [self.full_program(), self.waiting_program()];
        let busy: Vec<Suspect> = busy.into_iter().flatten().collect();
        match busy.is_empty() {
            true => self.absent_program().or_else(|| self.pausing_program()).into_iter().collect(),
            false => busy,
        }
    }

    /// A program that has no session for most of the time: between two of them it is busy, or
    /// pauses.
    fn absent_program(&self) -> Option<Suspect> {
        let sessions = self.program_session_count()?;
        let absent = 1.0 - sessions;
        if absent < PAUSES {
            return None;
        }
        let (_, ran) = self.program_cpu()?;
        let (component, what) = match ran >= FULL * absent {
            true => (Component::GeneratorThread, "its processes were busy in between"),
            false => (Component::GeneratorInput, "it does not ask more"),
        };
        let because = format!(
            "the program used a session of the database for {} of the time, and {} processors: \
             {what}",
            percent(sessions),
            number(ran)
        );
        let suspect = Suspect::new(component, absent, because).with("sessions", sessions);
        Some(suspect.with("ran_share", ran))
    }

    /// The sessions that the program had on average; `None` if not all of them can be seen.
    fn program_session_count(&self) -> Option<f64> {
        // Without this metric no program was looked for.
        self.signals.rate(&Part::Sessions, "identified")?;
        let unseen = &self.findings.evidence.unseen;
        let is_hidden = unseen.iter().any(|(what, _)| HIDDEN.contains(&what.as_str()));
        if is_hidden {
            return None;
        }
        Some(self.active()? + self.idle_sessions()?)
    }

    fn full_program(&self) -> Option<Suspect> {
        let share = self.generator_share().filter(|share| *share >= FULL)?;
        let because = format!("a thread of the program used {} of a processor", percent(share));
        let suspect = Suspect::new(Component::GeneratorThread, share, because);
        Some(suspect.with("share_of_processor", share))
    }

    /// The time in which threads of the program could have run and had no processor, and the time
    /// in which they ran, in processors.
    fn program_cpu(&self) -> Option<(f64, f64)> {
        let part = Part::Processes(Side::Generator);
        Some((self.signals.rate(&part, "waited")?, self.signals.used_processors(&part)?))
    }

    fn waiting_program(&self) -> Option<Suspect> {
        let (waited, ran) = self.program_cpu()?;
        let is_database = self.processors().is_some();
        let share = waited / (ran + waited).max(f64::MIN_POSITIVE);
        // A program for which its sessions wait is kept from asking by a shorter wait as well.
        let sessions = self.program_sessions().filter(|it| it.share() >= PAUSES);
        let lacks = sessions.is_some_and(|it| waited >= LACKS_PROCESSOR * it.paused());
        let is_full = ran + waited >= FULL;
        if waited.min(share) < KEPT_WAITING || !(is_full || lacks) || is_database {
            return None;
        }
        let because = format!(
            "the program ran for {} of the time and waited for a processor for {}",
            percent(ran),
            percent(waited)
        );
        let suspect = Suspect::new(Component::GeneratorCpu, share, because);
        Some(suspect.with("ran_share", ran).with("waited_share", waited))
    }

    /// A program that does not ask more: the database's sessions wait for it, and nothing waits in
    /// the sockets for the database or the program to read it.
    fn pausing_program(&self) -> Option<Suspect> {
        let sessions = self.program_sessions()?;
        let (component, what) = sessions.reason()?;
        let all = sessions.all;
        let waiting = sessions.waiting();
        let because =
            format!("of {} sessions of the database {} {what}", number(all), number(waiting));
        let limited = self.signals.rate(&Part::Sockets(Side::Server), "receiver-limited");
        let suspect = Suspect::new(component, sessions.share(), because)
            .with("server_sockets_limited_by_receiver", limited.unwrap_or(0.0));
        Some(sessions.with_evidence(suspect))
    }

    /// The sessions of a program; `None` if they were not seen, or there were none.
    pub(super) fn program_sessions(&self) -> Option<ProgramSessions> {
        let of_program = |metric| self.signals.mean(&Part::Sockets(Side::Generator), metric);
        let per_look = |metric| self.signals.per_look(&Part::Sessions, metric);
        let looked =
            |metric| self.signals.rate(&Part::Sessions, metric).and_then(|_| per_look(metric));
        let (active, idle) = (self.active()?, self.idle_sessions()?);
        // Idle sessions of other programs idle for reasons of their own.
        let not_active = of_program("connections").map(|all| (all - active).max(0.0));
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
            paused: looked("paused"),
            nothing_waits: looked("nothing-waits"),
            unread_request: looked("unread-request"),
            unread_answer: looked("unread-answer"),
            unread_by_server: self.unread_by_server(),
            unread_by_program: of_program("with-receive-queue"),
            unsent_by_program: of_program("with-send-queue").unwrap_or(0.0),
            has_time: self.database_has_time(),
            lacked_by_server: self.database_waited(),
            requests_per_s: self.requests_of_a_program_per_s(),
            round_trip_s: of_program("round-trip-least").unwrap_or(0.0),
        };
        (sessions.all > 0.0).then_some(sessions)
    }

    /// Returns true if sessions of the program were told from those of others.
    pub(super) fn knows_sessions_of_program(&self) -> bool {
        self.signals.per_look(&Part::Sessions, "identified").is_some_and(|known| known > 0.0)
    }

    /// The sessions for which a program does not pause: the requests' time in sessions. A program
    /// that pauses most of the time takes nothing out of account, so that its pauses stay the
    /// largest part.
    pub(super) fn asked_sessions(&self) -> Option<f64> {
        let sessions = self.program_sessions()?;
        let paused = if sessions.share() < PAUSES { sessions.paused() } else { 0.0 };
        // A program without sessions asks nothing of the database meanwhile.
        let absent = self.program_session_count().map_or(0.0, |all| (1.0 - all).max(0.0));
        let absent = if absent < PAUSES { 0.0 } else { absent };
        Some((sessions.all - paused + absent).max(f64::MIN_POSITIVE))
    }

    /// Returns true if a program that is observed pauses for most of the time.
    pub(super) fn program_pauses(&self) -> bool {
        self.program_sessions().is_some_and(|it| it.reason().is_some())
    }

    /// One session that works for most of the time of its requests: a second one would take half of
    /// its work, and its processor cannot go faster.
    pub(super) fn one_session_works(&self) -> Option<Suspect> {
        let sessions = self.program_sessions()?;
        let asked = self.asked_sessions()?;
        let running = self.running()?;
        let may = self.database_processors()?;
        let share = running / asked;
        let decides = if sessions.receiving >= sessions.idle { ONE_LOADS } else { ONE_WORKS };
        let is_one = (PAUSES..ONE_SESSION).contains(&asked);
        // A session that lacks a processor is at work without one.
        let ran = self.database_cpu()?;
        let runs = self.database_waited().is_none_or(|waited| waited < LACKS_PROCESSOR * ran);
        if !is_one || share < decides || !runs || may < ONE_SESSION || self.program_pauses() {
            return None;
        }
        let because = format!(
            "one session of the database was at work for {} of the time, and waited for the \
             program for {}",
            percent(running / sessions.all),
            percent((sessions.idle + sessions.receiving) / sessions.all)
        );
        let suspect = Suspect::new(Component::DatabaseSingleCore, share, because)
            .with("used_processors", ran)
            .with("processors", may)
            .with_any("sessions_active", self.active());
        Some(suspect)
    }

    /// A program that asks as many requests at once as it has sessions, and pauses for none of
    /// them, where nothing is full.
    pub(super) fn program_concurrency(&self) -> Option<Suspect> {
        let sessions = self.program_sessions()?;
        // Full processors limit no program that gets one when it wants one, as its database does.
        let lacks = || Some(self.lacked_by_a_side()?.0 >= LACKED * self.asked_sessions()?);
        let has_time = sessions.has_time? || !lacks()?;
        if !has_time || self.waits_for_something() {
            return None;
        }
        let pause = match sessions.pause_s() {
            Some(pause_s) => format!(
                "wait for the next request, which comes {} ms after the last answer",
                number(pause_s * 1e3)
            ),
            None => "wait for the next request".to_owned(),
        };
        let waiting = sessions.idle + sessions.receiving;
        let because = format!(
            "of {} sessions of the database {} are at work and {} {pause}: no more are asked at \
             once",
            number(sessions.all),
            number((sessions.all - waiting).max(0.0)),
            number(waiting),
        );
        Some(sessions.with_evidence(Suspect::new(Component::Concurrency, 1.0, because)))
    }

    /// A program and a database of which one side has to wait for processors that are full, though
    /// by no part of it that has a name here.
    pub(super) fn lacking_side(&self) -> Option<Suspect> {
        let sessions = self.program_sessions()?;
        let (lacked, component) = self.lacked_by_a_side()?;
        if lacked < LACKED * self.asked_sessions()? || !self.is_host_full() {
            return None;
        }
        let who = if component == Component::DatabaseCpu { "the database" } else { "the program" };
        let because = format!(
            "the processors are full, and threads of {who} waited for one for {} s in every second",
            number(lacked)
        );
        let suspect = Suspect::new(component, lacked / sessions.all.max(1.0), because)
            .with("waited_share", lacked)
            .with_any("busy_processors_share", self.busy_share());
        Some(sessions.with_evidence(suspect))
    }

    /// The threads of that side that could have run and had no processor, of which there were more.
    fn lacked_by_a_side(&self) -> Option<(f64, Component)> {
        let (by_program, _) = self.program_cpu()?;
        let by_database = self.database_waited().unwrap_or(0.0);
        Some(match by_database >= by_program {
            true => (by_database, Component::DatabaseCpu),
            false => (by_program, Component::GeneratorCpu),
        })
    }

    /// The requests of a program per second: as often as both sides sent data, as a long request or
    /// a long answer is several segments. Without a sight of its sockets, as often as the database
    /// was asked by all; PostgreSQL counts transactions, and those that read no table late.
    pub(super) fn requests_of_a_program_per_s(&self) -> Option<f64> {
        let sent = |metric| self.signals.rate(&Part::Sockets(Side::Generator), metric);
        let of = |metric| self.signals.rate(&Part::Statistics, metric);
        let segments = || Some(sent("data-sent")?.min(sent("data-received")?));
        let transactions = || {
            let rolled_back = of("pg_stat_database.all.xact_rollback").unwrap_or(0.0);
            Some(of("pg_stat_database.all.xact_commit")? + rolled_back)
        };
        segments().or_else(|| of("status.questions")).or_else(transactions)
    }
}

impl ProgramSessions {
    /// The sessions that wait for their client, whichever part of them are most.
    fn waiting(&self) -> f64 {
        (self.idle + self.receiving).max(self.sending)
    }

    /// The time that a session idles before each request, in seconds. Rows to load come without
    /// being asked for.
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

    /// The sessions for which the program pauses: those that wait for rows, and those that idle
    /// for long each time, or always.
    fn paused(&self) -> f64 {
        // While a request or an answer waits in a socket the program does not pause.
        let seen = self.nothing_waits.filter(|_| self.sees_sockets());
        let idle = seen.map_or(self.idle, |nothing| nothing.min(self.idle));
        let idle = if self.is_slow() { idle } else { 0.0 };
        match self.paused {
            // The beginning of each pause is too short to be told from none.
            Some(paused) => paused.max(idle),
            None => idle + self.receiving,
        }
    }

    /// Returns true if the sockets of waiting sessions were seen.
    fn sees_sockets(&self) -> bool {
        let seen = [self.nothing_waits, self.unread_request, self.unread_answer];
        seen.into_iter().flatten().sum::<f64>() > 0.0
    }

    /// The part of the time of its sessions in which they wait for the program.
    fn share(&self) -> f64 {
        (self.paused().max(self.sending) / self.all).min(1.0)
    }

    /// Returns the component that they wait for, and the reason; `None` if they do not wait, or if
    /// the database may be the reason.
    fn reason(&self) -> Option<(Component, String)> {
        if self.sending >= self.all * PAUSES {
            return Some(self.untaken());
        }
        if self.receiving.min(self.unsent_by_program) >= self.all * PAUSES {
            let what = "wait for rows that wait for room on the way";
            return Some((Component::NetworkBandwidth, what.to_owned()));
        }
        let is_far = self.pause_s().is_some_and(|pause_s| {
            pause_s > QUICK_S && pause_s <= QUICK_ROUND_TRIPS * self.round_trip_s
        });
        if is_far && self.idle >= self.all * PAUSES_ON_AVERAGE {
            let what = format!(
                "wait for the next request, which comes {} ms after the last answer: a round trip \
                 takes {} ms",
                number(self.pause_s()? * 1e3),
                number(self.round_trip_s * 1e3)
            );
            return Some((Component::NetworkLatency, what));
        }
        let decides = if self.paused.is_some() { PAUSES } else { PAUSES_ON_AVERAGE };
        if self.share() < decides || self.may_be_asked() {
            return None;
        }
        Some((Component::GeneratorInput, self.pausing()))
    }

    /// Returns true if requests may wait unread at the server: many do, or its sessions may idle
    /// because they lack a processor.
    fn may_be_asked(&self) -> bool {
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

    /// The evidence of the sessions and of the sockets of both sides that the program pauses.
    fn pausing(&self) -> String {
        let what = match self.receiving > self.idle {
            true => format!("wait within a statement for the program's rows ({})", self.event),
            false => "have nothing to do".to_owned(),
        };
        let sockets = match (self.nothing_waits, self.unread_by_server, self.unread_by_program) {
            (Some(nothing), _, _) if self.sees_sockets() => {
                let waiting = (self.idle + self.receiving).max(f64::MIN_POSITIVE);
                format!(
                    ", and for {} of that time their sockets hold nothing, no request at the \
                     server and no answer at the program",
                    percent((nothing / waiting).min(1.0))
                )
            }
            (_, Some(server), Some(program)) => format!(
                ", while {} requests wait in sockets of the server and {} answers in those of the \
                 program",
                number(server),
                number(program)
            ),
            _ => String::new(),
        };
        format!("{what}{sockets}: the program does not ask more")
    }

    /// Returns the component that does not take answers, the program or the network: an answer that
    /// has arrived and is unread waits for the program.
    fn untaken(&self) -> (Component, String) {
        let is_there = self.unread_by_program.is_none_or(|unread| unread >= self.sending / 2.0);
        let (component, what) = match is_there {
            true => (Component::GeneratorInput, "wait for the program to read its answers"),
            false => (Component::NetworkBandwidth, "have answers that wait for room on the way"),
        };
        (component, what.to_owned())
    }

    fn with_evidence(&self, suspect: Suspect) -> Suspect {
        suspect
            .with("sessions", self.all)
            .with("sessions_idle", self.idle)
            .with("sessions_receiving", self.receiving)
            .with("sessions_that_wait_to_send", self.sending)
            .with_any("sessions_in_a_pause", self.paused)
            .with_any("sessions_with_empty_sockets", self.nothing_waits)
            .with_any("sessions_with_unread_requests", self.unread_request)
            .with_any("sessions_with_unread_answers", self.unread_answer)
            .with_any("server_sockets_with_unread_requests", self.unread_by_server)
            .with_any("program_sockets_with_unread_answers", self.unread_by_program)
            .with_any("requests_per_s", self.requests_per_s)
            .with("round_trip_least_ms", self.round_trip_s * 1e3)
    }
}
