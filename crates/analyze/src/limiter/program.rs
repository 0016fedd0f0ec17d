//! Whether a program that is watched is what limits: it has no time left, or holds itself back.

use record::{Part, Side};

use super::generator::{FULL, KEPT_WAITING};
use super::suspect::{number, percent};
use super::{Component, Scene, Suspect};

/// The part of the time in which the sessions of another program idle, from which on it is not the
/// database that it waits for.
const SESSIONS_IDLE: f64 = 0.6;

/// The seconds between an answer and the next request up to which a program does not hold itself
/// back: what waking up and switching between processes may take,
const QUICK_S: f64 = 0.001;

/// or so many round trips.
const QUICK_ROUND_TRIPS: f64 = 3.0;

/// How the sessions idle that a program has.
struct Idleness {
    /// Sessions that are at work.
    active: f64,
    /// Those that have nothing to do. Sessions of other programs idle for reasons of their own.
    idle: f64,
    /// Those that wait for their answers to be taken.
    sending: f64,
    /// Connections with a request that the server has not read; `None` if they were not seen.
    unread_by_server: Option<f64>,
    /// Connections with an answer that the program has not read.
    unread_by_program: Option<f64>,
    /// Whether the database is known to have time to spare.
    has_time: bool,
    requests_per_s: f64,
    round_trip_s: f64,
}

impl Scene<'_, '_> {
    /// What of the program has no more to give.
    pub(super) fn program(&self) -> Vec<Suspect> {
        let busy = [self.full_program(), self.waiting_program()];
        let busy: Vec<Suspect> = busy.into_iter().flatten().collect();
        // Sessions that idle where processors are full would be asked more if there were others.
        match busy.is_empty() && self.database_has_time() != Some(false) {
            true => self.idle_program().into_iter().collect(),
            false => busy,
        }
    }

    fn full_program(&self) -> Option<Suspect> {
        let share = self.generator_share().filter(|share| *share >= FULL)?;
        let because = format!("a thread of the program used {} of a processor", percent(share));
        let suspect = Suspect::new(Component::GeneratorThread, share, because);
        Some(suspect.with("share_of_processor", share))
    }

    fn waiting_program(&self) -> Option<Suspect> {
        let part = Part::Processes(Side::Generator);
        let waited = self.signals.rate(&part, "waited")?;
        let ran = self.signals.used_processors(&part)?;
        let is_database = self.processors().is_some();
        let share = waited / (ran + waited).max(f64::MIN_POSITIVE);
        if waited.min(share) < KEPT_WAITING || ran + waited < FULL || is_database {
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

    /// A program that does not ask more: the database's sessions idle, and nothing waits in the
    /// sockets for the database to read it.
    fn idle_program(&self) -> Option<Suspect> {
        let idleness = self.idleness()?;
        let (component, what) = idleness.reason()?;
        let Idleness { idle, sending, .. } = idleness;
        let because = format!(
            "of {:.1} sessions of the database {:.1} {what}",
            idleness.sessions(),
            idle.max(sending)
        );
        let limited = self.signals.rate(&Part::Sockets(Side::Server), "receiver-limited");
        let suspect = Suspect::new(component, idleness.share(), because)
            .with("sessions", idleness.sessions())
            .with("sessions_idle", idle)
            .with("sessions_that_wait_to_send", sending)
            .with_any("server_sockets_with_unread_requests", idleness.unread_by_server)
            .with_any("program_sockets_with_unread_answers", idleness.unread_by_program)
            .with("requests_per_s", idleness.requests_per_s)
            .with("round_trip_least_ms", idleness.round_trip_s * 1e3)
            .with_any("server_sockets_limited_by_receiver", limited);
        Some(suspect)
    }

    fn idleness(&self) -> Option<Idleness> {
        let of_program = |metric| self.signals.mean(&Part::Sockets(Side::Generator), metric);
        let (active, idle) = (self.active()?, self.idle_sessions()?);
        let not_active = of_program("connections").map(|all| (all - active).max(0.0));
        Some(Idleness {
            active,
            idle: idle.min(not_active.unwrap_or(idle)),
            sending: self.sending_sessions(),
            unread_by_server: self.unread_by_server(),
            unread_by_program: of_program("with-receive-queue"),
            has_time: self.database_has_time() == Some(true),
            requests_per_s: self.requests_of_a_program_per_s()?,
            round_trip_s: of_program("round-trip-least").unwrap_or(0.0),
        })
    }

    /// How often a program that is watched asked something: as often as both sides sent data, as a
    /// long request or a long answer is several segments. Without a sight of its sockets, as often
    /// as the database was asked by whomever; PostgreSQL counts transactions, and those that read
    /// no table late.
    fn requests_of_a_program_per_s(&self) -> Option<f64> {
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

impl Idleness {
    fn sessions(&self) -> f64 {
        self.active + self.idle
    }

    /// The part of the time of its sessions in which the database does nothing for them.
    fn share(&self) -> f64 {
        (self.idle + self.sending) / self.sessions().max(f64::MIN_POSITIVE)
    }

    /// How long a session idles before each request, in seconds.
    fn pause_s(&self) -> f64 {
        self.idle / self.requests_per_s.max(f64::MIN_POSITIVE)
    }

    /// Why they idle; `None` if they do not, or the database may be why.
    fn reason(&self) -> Option<(Component, String)> {
        let is_quick = self.pause_s() <= QUICK_S && self.has_time;
        if self.share() < SESSIONS_IDLE || self.may_be_asked(is_quick) {
            return None;
        }
        let is_on_the_way = self.pause_s() <= QUICK_ROUND_TRIPS * self.round_trip_s;
        Some(if self.sending > self.idle {
            self.untaken()
        } else if is_quick || is_on_the_way {
            let component =
                if is_quick { Component::Concurrency } else { Component::NetworkLatency };
            let what = format!(
                "wait for the next request, which comes {} ms after the last answer: no more are \
                 asked at once",
                number(self.pause_s() * 1e3)
            );
            (component, what)
        } else {
            let what = "have nothing to do: the program does not ask more";
            (Component::GeneratorInput, what.to_owned())
        })
    }

    /// Whether requests may wait where the server has not read them: they do, or nobody sees that,
    /// and its sessions may idle for want of a processor. Of requests that come at once some always
    /// do.
    fn may_be_asked(&self, is_quick: bool) -> bool {
        match self.unread_by_server {
            Some(unread) => !is_quick && unread > self.sessions() * (1.0 - SESSIONS_IDLE),
            None => !self.has_time,
        }
    }

    /// Whether it is the program or the way that does not take answers: what has come and is not
    /// read waits for the program.
    fn untaken(&self) -> (Component, String) {
        let is_there = self.unread_by_program.is_none_or(|unread| unread >= self.sending / 2.0);
        let (component, what) = match is_there {
            true => (Component::GeneratorInput, "wait for the program to read its answers"),
            false => (Component::NetworkBandwidth, "have answers that wait for room on the way"),
        };
        (component, what.to_owned())
    }
}
