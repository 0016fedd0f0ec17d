//! Sessions of an observed program, and the fraction of their time for which the program leaves
//! them idle.
//!
//! Samples show what each session of the program waits for. A session that waits for its client may
//! wait until a pause of the program ends, or only for the moment between two statements. The time
//! in pauses is added up, not averaged over statements: one pause of 50 ms after 200 statements is
//! not a pause of 0.25 ms after each.

use base::Nanos;
use record::component_name::{DATABASE, SESSIONS, SESSIONS_OF_OTHERS};
use record::metric::{processes, sessions, sockets};
use record::{ComponentKind, MeasuredSide};

use super::candidate::Candidate;
use super::component::Component;
use super::evidence::EvidenceKind;
use super::finding::{Pause, Sockets};
use super::input::LimiterInput;

/// Pauses limit a program only if they take at least this fraction of its sessions' time.
pub(super) const PAUSE_SHARE: f64 = 0.5;

/// Minimum in place of [`PAUSE_SHARE`] if pauses are only known from the mean time between two
/// statements.
const MEAN_PAUSE_SHARE: f64 = 0.6;

/// Minimum in place of [`PAUSE_SHARE`] if pauses take longer than requests. They are then the
/// largest part of the time, even if they are less than half of it.
const LARGEST_PART: f64 = 1.0 / 3.0;

/// A time from an answer to the next request counts as a pause only if it is longer than this, in
/// seconds: waking up and switching between processes can take as long.
const QUICK_S: f64 = 0.001;

/// A time from an answer to the next request counts as a pause only if it is also longer than this
/// number of round trips.
const QUICK_ROUND_TRIPS: f64 = 3.0;

/// Longest round trip, in seconds, of two sides on one machine, where sent bytes arrive at once in
/// the other side's socket. Beyond it, the time on the path is taken into account.
const NEAR_S: f64 = 0.000_1;

/// Minimum time for which threads of one side wait for a processor, as a fraction of the time in
/// which sessions wait for the program. From this fraction on, the lack of processors is the reason
/// why requests are not sent or not read.
pub(super) const LACKS_PROCESSOR: f64 = 0.5;

/// Idle time, in seconds, after which a session counts as spare, and no longer as idle.
const SPARE_AFTER_S: f64 = 5.0;

/// Length of the first part of the window, in which no session that was used in the window can
/// become spare: [`SPARE_AFTER_S`] minus the time between two readings, one second.
const EARLY: Nanos = Nanos::from_secs(4);

/// Sources that show sessions of a program. If one of them is missing, some sessions may not be
/// counted.
const SESSION_SOURCES: [&str; 3] = [DATABASE, SESSIONS, SESSIONS_OF_OTHERS];

/// Mean numbers of sessions of an observed program.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramSessions {
    /// All sessions.
    pub(super) all: f64,
    /// Sessions between two statements, without those that the program no longer uses.
    pub(super) idle: f64,
    /// Sessions that wait for the rest of a statement, such as rows to load; `event` is the name of
    /// that wait in the database.
    pub(super) receiving: f64,
    event: &'static str,
    /// Sessions that wait for their answers to be read.
    sending: f64,
    /// Sessions for which the program pauses, by samples; `None` if samples do not show pauses.
    paused: Option<f64>,
    /// Mean number of threads of the program that ran or were ready to run; `None` if they were not
    /// seen.
    at_work: Option<f64>,
    /// Sessions that wait for the program while the sockets of both sides are empty.
    nothing_waits: Option<f64>,
    /// Sessions that wait for the program while their next request waits at the server.
    unread_request: Option<f64>,
    /// Sessions that wait for the program while their last answer waits at the program.
    unread_answer: Option<f64>,
    /// Connections with a request that the server has not read; `None` if they were not seen.
    unread_by_server: Option<f64>,
    /// Connections with an answer that the program has not read.
    unread_by_program: Option<f64>,
    /// Connections with bytes of the program that are not sent yet.
    unsent_by_program: f64,
    /// True if the database is known to have time to spare; `None` if that is not known.
    pub(super) has_time: Option<bool>,
    /// Mean number of threads of the database that were runnable and had no processor; `None` if
    /// they were not seen.
    lacked_by_server: Option<f64>,
    /// Requests of the program per second; `None` if that is not known.
    requests_per_s: Option<f64>,
    /// Shortest round trip of the program's connections, in seconds; 0 if that is not known.
    round_trip_s: f64,
}

impl LimiterInput<'_, '_> {
    /// Returns the sessions of a program; `None` if they were not seen, or there were none.
    pub(super) fn program_sessions(&self) -> Option<ProgramSessions> {
        let of_program =
            |metric| self.signals.mean(&ComponentKind::Sockets(MeasuredSide::Generator), metric);
        let per_sample = |metric| self.signals.per_sample(&ComponentKind::Sessions, metric);
        let sampled = |metric| {
            self.signals.rate(&ComponentKind::Sessions, metric).and_then(|_| per_sample(metric))
        };
        let (active, idle) = (self.active()?, self.idle_sessions()?);
        // Idle sessions of other programs show nothing about this one.
        let not_active = of_program(sockets::CONNECTIONS).map(|all| (all - active).max(0.0));
        let is_separable = self.knows_sessions_of_program();
        let idle = match not_active {
            Some(not_active) if !is_separable => idle.min(not_active),
            Some(_) | None => idle,
        };
        let unused = self.idle_before_spare().min(idle);
        let (idle, used) = (idle - unused, |counted: f64| (counted - unused).max(0.0));
        let sessions = ProgramSessions {
            all: active + idle,
            idle,
            receiving: self.receiving_sessions(),
            event: self.receiving_event(),
            sending: self.sending_sessions(),
            paused: sampled(sessions::PAUSED).map(used),
            at_work: self.threads_at_work(),
            nothing_waits: sampled(sessions::NOTHING_WAITS).map(used),
            unread_request: sampled(sessions::UNREAD_REQUEST),
            unread_answer: sampled(sessions::UNREAD_ANSWER),
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

    /// Returns the mean number of sessions that counted as idle although the program did not use
    /// them. Each session that became spare within the window had counted as idle in the seconds
    /// before, which matter in short observations. A session that is spare early in the window was
    /// idle before.
    fn idle_before_spare(&self) -> f64 {
        let spare = self.signals.per_sample(&ComponentKind::Sessions, sessions::SPARE);
        let early = self.signals.per_early_sample(sessions::SPARE, EARLY);
        let became_spare = (spare.unwrap_or(0.0) - early.unwrap_or(0.0)).max(0.0);
        let rest_s = self.check_input.evidence.window_length().as_secs_f64() - SPARE_AFTER_S;
        if rest_s > 0.0 { became_spare * SPARE_AFTER_S / rest_s } else { 0.0 }
    }

    /// Returns two means: the number of the program's threads that waited for a processor, and the
    /// number of those that ran.
    pub(super) fn program_cpu(&self) -> Option<(f64, f64)> {
        let kind = ComponentKind::Processes(MeasuredSide::Generator);
        Some((self.signals.rate(&kind, processes::WAITED)?, self.signals.used_processors(&kind)?))
    }

    /// Returns the mean number of the program's threads that may have been at work for a session:
    /// those that waited for a processor or ran. Running time counts only up to that of the busiest
    /// thread, because short-lived processes, such as a `sleep` that the program starts, use
    /// processor time without working for a session.
    fn threads_at_work(&self) -> Option<f64> {
        let (waited, ran) = self.program_cpu()?;
        Some(waited + self.generator_share().map_or(ran, |busiest| ran.min(busiest)))
    }

    /// Returns the mean number of the program's sessions, without those for which the program
    /// pauses. Pauses that take at least half of the sessions' time are not subtracted, because
    /// they then limit the program. Likewise, time without any session is added if it is at least
    /// half of the time.
    pub(super) fn requesting_sessions(&self) -> Option<f64> {
        let sessions = self.program_sessions()?;
        let paused = if sessions.share() < PAUSE_SHARE { sessions.paused() } else { 0.0 };
        // Time without a session is treated like a pause, because the program then sends nothing.
        let absent = self.program_session_count().map_or(0.0, |all| (1.0 - all).max(0.0));
        let absent = if absent < PAUSE_SHARE { 0.0 } else { absent };
        Some((sessions.all - paused + absent).max(f64::MIN_POSITIVE))
    }

    /// Returns the mean number of the program's sessions; `None` if not all of them can be seen.
    pub(super) fn program_session_count(&self) -> Option<f64> {
        // Without this metric, the sessions of the program were not identified.
        self.signals.rate(&ComponentKind::Sessions, sessions::IDENTIFIED)?;
        let unseen = &self.check_input.evidence.unseen;
        let is_hidden = unseen.iter().any(|(what, _)| SESSION_SOURCES.contains(&what.as_str()));
        if is_hidden {
            return None;
        }
        Some(self.active()? + self.idle_sessions()?)
    }

    /// Returns true if the sessions of an observed program wait for the program or the network long
    /// enough for one of these to be the limiter; false if the database may be the limiter.
    pub(super) fn program_pauses(&self) -> bool {
        self.program_sessions().is_some_and(|it| it.reason().is_some())
    }
}

impl ProgramSessions {
    /// Returns the number of sessions that wait for their client: those that wait for a statement
    /// or for rows, or those that wait until their answers are read, whichever number is larger.
    pub(super) fn waiting(&self) -> f64 {
        (self.idle + self.receiving).max(self.sending)
    }

    /// Returns the mean idle time of a session before each request, in seconds. Waits for the rows
    /// of a load are not included, because rows arrive without a request.
    pub(super) fn pause_s(&self) -> Option<f64> {
        Some(self.idle / self.requests_per_s?.max(f64::MIN_POSITIVE))
    }

    /// Returns true if sessions idle before each request for longer than a switch between processes
    /// or a round trip takes.
    fn is_slow(&self) -> bool {
        let is_slow =
            |pause_s: f64| pause_s > QUICK_S && pause_s > QUICK_ROUND_TRIPS * self.round_trip_s;
        self.pause_s().is_some_and(is_slow)
    }

    /// Returns the number of sessions for which the program pauses: sessions that wait for rows,
    /// and sessions with long idle times.
    pub(super) fn paused(&self) -> f64 {
        // While a request or an answer waits in a socket, the program does not pause.
        let seen = self.nothing_waits.filter(|_| self.sees_sockets());
        let idle = seen.map_or(self.idle, |nothing| nothing.min(self.idle));
        let idle = if self.is_slow() { idle } else { 0.0 };
        match self.seen_pauses() {
            // Samples miss the beginning of each pause.
            Some(paused) => paused.max(idle),
            None => idle + self.receiving,
        }
    }

    /// Returns the number of sessions for which the program pauses, by samples: those in a long
    /// pause or those that are `asleep`, whichever number is larger. Fewer than a third asleep do
    /// not count, because up to a quarter may seem asleep without any pauses.
    fn seen_pauses(&self) -> Option<f64> {
        let asleep = Some(self.asleep()).filter(|asleep| *asleep >= LARGEST_PART * self.all);
        self.paused.map(|paused| paused.max(asleep.unwrap_or(0.0)))
    }

    /// Returns the number of sessions that idle with empty sockets while no thread of the program
    /// works, because the program sleeps or waits for something else.
    ///
    /// This includes pauses that are too short to be seen in a single sample, such as 3 ms after
    /// each batch. For a program without pauses the result is nearly zero: a request or an answer
    /// waits in a socket, or a thread works. Sessions and sockets are sampled one after the other,
    /// so a request may be in neither sample. If requests spend the fraction w of the time in
    /// sockets and s in the database, this happens for w·s of the time, at most a quarter.
    fn asleep(&self) -> f64 {
        let (Some(nothing), Some(at_work)) = (self.nothing_waits, self.at_work) else { return 0.0 };
        if !self.sees_sockets() || !self.sees_server_sockets() {
            return 0.0;
        }
        let requests_per_s = self.requests_per_s.unwrap_or(0.0);
        let is_near = self.round_trip_s <= NEAR_S;
        let on_the_way = if is_near { 0.0 } else { requests_per_s * self.round_trip_s };
        (nothing.min(self.idle) - self.all * at_work - on_the_way).max(0.0)
    }

    /// Returns true if requests that wait at the server are visible.
    fn sees_server_sockets(&self) -> bool {
        self.unread_by_server.is_some() || self.unread_request.is_some_and(|it| it > 0.0)
    }

    /// Returns true if the sockets of waiting sessions were seen.
    fn sees_sockets(&self) -> bool {
        let seen = [self.nothing_waits, self.unread_request, self.unread_answer];
        seen.into_iter().flatten().sum::<f64>() > 0.0
    }

    /// Returns the fraction of the sessions' time in which they wait for the program.
    pub(super) fn share(&self) -> f64 {
        (self.paused().max(self.sending) / self.all).min(1.0)
    }

    /// Returns the component that the sessions wait for, and the reason; `None` if they do not
    /// wait, or if the database may be the reason.
    pub(super) fn reason(&self) -> Option<(Component, Pause)> {
        if self.sending >= self.all * PAUSE_SHARE {
            return Some(self.cause_of_unread_answers());
        }
        if self.receiving.min(self.unsent_by_program) >= self.all * PAUSE_SHARE {
            return Some((Component::NetworkBandwidth, Pause::RowsOnTheWay));
        }
        let is_far = self.pause_s().is_some_and(|pause_s| {
            pause_s > QUICK_S && pause_s <= QUICK_ROUND_TRIPS * self.round_trip_s
        });
        if is_far && self.idle >= self.all * MEAN_PAUSE_SHARE {
            let (pause_s, round_trip_s) = (self.pause_s()?, self.round_trip_s);
            return Some((Component::NetworkLatency, Pause::RoundTrip { pause_s, round_trip_s }));
        }
        let decides = match self.seen_pauses() {
            Some(paused) if paused > self.all - self.idle => LARGEST_PART,
            Some(_) => PAUSE_SHARE,
            None => MEAN_PAUSE_SHARE,
        };
        if self.share() < decides || self.may_have_unread_requests() {
            return None;
        }
        Some((Component::GeneratorInput, self.pausing()))
    }

    /// Returns true if the server may have received requests that it has not read: either many
    /// unread requests were seen, or the sessions may look idle only because the server lacks
    /// processor time.
    fn may_have_unread_requests(&self) -> bool {
        // Sessions with an unread request are not among those for which the program pauses.
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
        lacks || unread > self.all * (1.0 - MEAN_PAUSE_SHARE)
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
        Pause::NoFurtherRequests { rows, sockets }
    }

    /// Returns the component that delays the answers: the program if it has not read answers that
    /// have arrived, or if its sockets were not seen; otherwise the network.
    fn cause_of_unread_answers(&self) -> (Component, Pause) {
        let has_arrived = self.unread_by_program.is_none_or(|unread| unread >= self.sending / 2.0);
        match has_arrived {
            true => (Component::GeneratorInput, Pause::UnreadAnswers),
            false => (Component::NetworkBandwidth, Pause::AnswersOnTheWay),
        }
    }

    pub(super) fn with_evidence(&self, candidate: Candidate) -> Candidate {
        candidate
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
