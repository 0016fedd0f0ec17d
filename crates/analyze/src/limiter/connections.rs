//! Detection of a limit on connections: the limit of the server, or the size of a pool.

use base::AccountId;
use record::metric::{pooler, sessions, sockets};
use record::{ComponentKind, MeasuredSide};
use workload::Reconnect;

use super::candidate::Candidate;
use super::component::Component;
use super::demand::LoadSource;
use super::evidence::EvidenceKind;
use super::finding::{ConnectionLimit, LimiterFinding};
use super::input::LimiterInput;

/// Minimum fraction of the requests in flight that must lack a session for a pool to be the
/// limiter.
const WITHOUT_SESSION: f64 = 0.4;

/// Minimum number of requests in flight to distinguish a pool from chance.
const FEWEST_POOLED: f64 = 3.0;

/// Largest fraction of idle sessions at which a pool counts as exhausted.
const MOST_IDLE: f64 = 0.3;

/// Mean time of a request in a session, in seconds, from which on a request and its answer are
/// never in the same tick of the kernel. A tick is at most 10 ms.
const LONG_REQUEST_S: f64 = 0.02;

/// Minimum fraction of their time for which sessions must execute statements for a queue to form in
/// front of them. With two sessions and arrivals at random times (M/M/2), a request then waits for
/// 2.6 service times on average.
const LEAST_AT_WORK_FOR_QUEUE: f64 = 0.85;

/// Longest tick of the kernel, in seconds.
const TICK_S: f64 = 0.01;

/// Minimum fraction of their time for which sessions must execute statements for the kernel's ticks
/// to show whether requests wait for a session.
const AT_WORK: f64 = 0.5;

/// Smallest number of connections without a request at which a program counts as pausing, relative
/// to the number expected of a program that pauses after each answer.
const HARDLY_ANSWERED: f64 = 0.5;

/// Number of session samples per second, out of 10, below which the observer itself must be waiting
/// for the database.
const FEW_SAMPLES_PER_S: f64 = 5.0;

/// Connections of an observed program that share the sessions of a pool.
struct PooledConnections<'a> {
    /// Mean number of connections.
    connections: f64,
    /// Mean number of those connections whose request has no answer yet; `None` if that is not
    /// known.
    awaiting: Option<f64>,
    /// Mean number of sessions.
    sessions: f64,
    /// Fraction of their time for which the sessions execute statements; `None` if it was not
    /// observed.
    active_share: Option<f64>,
    /// The pooler; `None` if it was not found.
    pooler: Option<Pooler<'a>>,
}

/// A pooler between an observed program and the database.
struct Pooler<'a> {
    name: &'a str,
    /// Mean number of the pooler's connections to servers.
    sessions: f64,
    /// Largest number of the pooler's connections to servers.
    most: f64,
    /// Mean number of these connections that wait for an answer; `None` if that is not known.
    working: Option<f64>,
}

impl LimiterInput<'_, '_> {
    /// Returns the candidates among limits of connections.
    pub(super) fn connections(&self) -> Vec<Candidate> {
        if self.demand.source == LoadSource::Load {
            // Refusals are reported for jobs only, and the few writers of a load indicate no pool.
            return Vec::new();
        }
        // A database without spare processor time would not answer more with more connections.
        let refused = match self.processors() {
            Some(_) => None,
            None => self.refused_requests().or_else(|| self.refused_clients()),
        };
        let pool = match self.demand.source {
            LoadSource::Program => self.pool_of_program(),
            LoadSource::Jobs | LoadSource::Load => self.pool(),
        };
        [refused, pool].into_iter().flatten().collect()
    }

    /// Returns a candidate if requests of jobs with a schedule wait for a connection that the
    /// server refuses.
    fn refused_requests(&self) -> Option<Candidate> {
        let evidence = self.check_input.evidence;
        let mut overloaded = self
            .check_input
            .whole_jobs()
            .filter(|account| self.check_input.is_overloaded(*account));
        let (event, account) =
            overloaded.find_map(|account| Some((evidence.refused_growth(account)?, account)))?;
        let waited = evidence.jobs[account.index()].waited_share().unwrap_or(0.0);
        let finding = ConnectionLimit::RequestsWait { text: event.text.clone() };
        let finding = LimiterFinding::Connections(finding);
        let candidate = Candidate::new(Component::Connections, waited, finding)
            .with_any(EvidenceKind::OfferedPerS, self.check_input.offered_per_s(account))
            .with(EvidenceKind::WaitingShareOfResponseTime, waited);
        Some(candidate.with_any(EvidenceKind::Connections, self.most_connections(account)))
    }

    /// Returns a candidate if clients have no connection and send nothing. Its share is the
    /// fraction of the clients' time without a connection.
    fn refused_clients(&self) -> Option<Candidate> {
        let evidence = self.check_input.evidence;
        let without = self
            .check_input
            .whole_jobs()
            .filter_map(|account| evidence.clients_without_connection(account))
            .max_by(|one, other| one.missing.total_cmp(&other.missing))?;
        let (clients, connections) = (without.clients as f64, without.connected as f64);
        let text = without.event.text.clone();
        let finding = ConnectionLimit::UnconnectedClients { clients, connections, text };
        let finding = LimiterFinding::Connections(finding);
        let candidate = Candidate::new(Component::Connections, without.missing, finding)
            .with(EvidenceKind::Clients, clients)
            .with(EvidenceKind::Connections, connections);
        Some(candidate)
    }

    /// Returns the largest number of connections that a job had in the window.
    fn most_connections(&self, account: AccountId) -> Option<f64> {
        let evidence = self.check_input.evidence;
        let steps = evidence.jobs[account.index()].range(evidence.steps.window());
        steps.filter_map(|step| step.connections).max().map(|most| most as f64)
    }

    /// Returns a candidate if many requests in flight have no session, because a pool shares few
    /// sessions among many connections.
    fn pool(&self) -> Option<Candidate> {
        let in_flight = self.demand.in_flight;
        let active = self.active()?;
        let sessions = active + self.idle_sessions()?;
        // A request that first connects has no session for a part of its time.
        let jobs = &self.check_input.evidence.plan.jobs;
        if jobs.iter().any(|job| job.reconnect != Reconnect::No) {
            return None;
        }
        let share = 1.0 - sessions / in_flight.max(f64::MIN_POSITIVE);
        if in_flight < FEWEST_POOLED || share < WITHOUT_SESSION || sessions < 0.5 {
            return None;
        }
        let finding = LimiterFinding::Connections(ConnectionLimit::Pool { in_flight, sessions });
        let candidate = Candidate::new(Component::Connections, share, finding)
            .with(EvidenceKind::RequestsInFlight, in_flight)
            .with(EvidenceKind::Sessions, sessions)
            .with(EvidenceKind::SessionsActive, active);
        Some(candidate)
    }

    /// Returns a candidate if a pool keeps requests of a program waiting.
    pub(super) fn pool_of_program(&self) -> Option<Candidate> {
        let PooledConnections { connections, awaiting, sessions, active_share, pooler } =
            self.pooled_connections()?;
        // Report the largest number: at its beginning and end, the program has fewer connections.
        let program = ComponentKind::Sockets(MeasuredSide::Generator);
        let most = self.signals.most(&program, sockets::CONNECTIONS).unwrap_or(connections);
        let finding = ConnectionLimit::PoolOfProgram {
            connections: most,
            waiting: awaiting.map(|awaiting| awaiting / connections * most),
            sessions: pooler.as_ref().map_or(sessions, |pooler| pooler.most),
            active_share,
            pooler: pooler.map(|pooler| pooler.name.to_owned()),
        };
        let finding = LimiterFinding::Connections(finding);
        let share = 1.0 - sessions / awaiting.unwrap_or(connections);
        let candidate = Candidate::new(Component::Connections, share, finding)
            .with(EvidenceKind::Connections, connections)
            .with_any(EvidenceKind::ConnectionsThatWaitForAnswers, awaiting)
            .with(EvidenceKind::Sessions, sessions)
            .with_any(EvidenceKind::SessionsActive, self.active())
            .with_any(EvidenceKind::RequestsPerS, self.requests_of_a_program_per_s());
        Some(candidate)
    }

    /// Returns the number of requests of a program that wait for a session of a pool or have one;
    /// `None` if no pool keeps requests waiting.
    pub(super) fn requests_at_pool(&self) -> Option<f64> {
        self.pooled_connections().map(|pooled| pooled.awaiting.unwrap_or(pooled.connections))
    }

    /// Returns the connections of a program and the sessions behind them, if a pool shares the
    /// sessions and keeps requests waiting. It does if many more requests wait for an answer than
    /// there are sessions, and one of these is true: the sessions are busy, the observer itself has
    /// to wait for a session, or the requests are known to wait at a pooler. Otherwise, or if no
    /// proxy is seen and the database saturates its processors, returns `None`.
    fn pooled_connections(&self) -> Option<PooledConnections<'_>> {
        let program = ComponentKind::Sockets(MeasuredSide::Generator);
        let connections = self.signals.mean(&program, sockets::CONNECTIONS)?;
        let pooler = self.pooler();
        let seen = self.active().zip(self.idle_sessions()).filter(|(active, _)| *active > 0.0);
        let sessions = match &pooler {
            Some(pooler) => pooler.sessions,
            None => seen.map(|(active, idle)| active + idle)?,
        };
        // An observer behind the same pool waits for a session as the program does. It sees the
        // other sessions only at times when it gets a free session.
        let samples_per_s = self.signals.rate(&ComponentKind::Sessions, sessions::SAMPLES);
        let observer_waits = self.signals.sees_proxy()
            && samples_per_s.is_some_and(|samples| samples < FEW_SAMPLES_PER_S);
        let active_share = match pooler.as_ref().and_then(|pooler| pooler.working) {
            Some(working) => Some((working / sessions.max(f64::MIN_POSITIVE)).min(1.0)),
            None => seen.filter(|_| !observer_waits).map(|(active, idle)| active / (active + idle)),
        };
        let works_at_least = |least: f64| active_share.is_some_and(|share| share >= least);
        let is_queue = observer_waits
            || works_at_least(LEAST_AT_WORK_FOR_QUEUE)
            || works_at_least(AT_WORK) && self.never_pauses();
        let is_busy = is_queue || works_at_least(1.0 - MOST_IDLE);
        let awaiting = self.awaiting(is_queue || is_busy && self.takes_long(sessions));
        // Without times of the sockets, a connection counts as waiting for its answer.
        let asked = awaiting.unwrap_or(connections);
        let share = 1.0 - sessions / asked.max(f64::MIN_POSITIVE);
        // Requests that are known to wait at a pooler show that it has no free session. A database
        // without spare processor time would not answer more in further sessions.
        let waits_at_pooler = pooler.is_some() && awaiting.is_some();
        let is_full = !self.signals.sees_proxy() && self.processors().is_some();
        let is_few = asked < FEWEST_POOLED || share < WITHOUT_SESSION || sessions < 0.5;
        let is_kept_waiting = !is_few && (is_busy || waits_at_pooler) && !is_full;
        is_kept_waiting.then_some(PooledConnections {
            connections,
            awaiting,
            sessions,
            active_share,
            pooler,
        })
    }

    /// Returns the mean number of a program's connections whose request has no answer yet; `None`
    /// if that is not known.
    ///
    /// The kernel's times have a resolution of one tick. If no request can be answered within a
    /// tick, data received and data sent within the same tick are an answer and the next request.
    fn awaiting(&self, no_answer_in_one_tick: bool) -> Option<f64> {
        let program = ComponentKind::Sockets(MeasuredSide::Generator);
        let awaiting = self.signals.mean(&program, sockets::AWAITING)?;
        let in_one_tick = self.signals.mean(&program, sockets::IN_ONE_TICK).unwrap_or(0.0);
        Some(if no_answer_in_one_tick { awaiting + in_one_tick } else { awaiting })
    }

    /// Returns true if a request of a program keeps its session for longer than [`LONG_REQUEST_S`]
    /// on average, assuming that all sessions execute statements. Returns false if the number of
    /// requests is unknown.
    fn takes_long(&self, sessions: f64) -> bool {
        let per_s = self.requests_of_a_program_per_s();
        per_s.is_some_and(|per_s| sessions > LONG_REQUEST_S * per_s)
    }

    /// Returns true if hardly any connection of a program is without a request, judged by the
    /// kernel ticks in which the connections last sent and received data. A connection is certainly
    /// without a request if it received data in the later tick. A program that pauses has such
    /// connections: an answer comes later than its request by at least the time in the session.
    fn never_pauses(&self) -> bool {
        let program = ComponentKind::Sockets(MeasuredSide::Generator);
        let mean = |metric| self.signals.mean(&program, metric);
        let Some(((all, awaiting), in_one_tick)) =
            mean(sockets::CONNECTIONS).zip(mean(sockets::AWAITING)).zip(mean(sockets::IN_ONE_TICK))
        else {
            return false;
        };
        let per_s = self.requests_of_a_program_per_s().unwrap_or(f64::INFINITY);
        let in_session_s = self.active().unwrap_or(0.0) / per_s.max(f64::MIN_POSITIVE);
        let in_later_tick = (in_session_s / TICK_S).min(1.0);
        all - awaiting - in_one_tick < HARDLY_ANSWERED * in_later_tick * all
    }

    /// Returns the pooler between an observed program and the database, if one was found.
    fn pooler(&self) -> Option<Pooler<'_>> {
        let poolers = self.signals.kinds_here(|kind| matches!(kind, ComponentKind::Pooler(_)));
        let kind = *poolers.first()?;
        let ComponentKind::Pooler(name) = kind else { return None };
        Some(Pooler {
            name,
            sessions: self.signals.mean(kind, pooler::SESSIONS)?,
            most: self.signals.most(kind, pooler::SESSIONS)?,
            working: self.signals.mean(kind, pooler::WORKING),
        })
    }
}
