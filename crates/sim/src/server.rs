//! A first-come-first-served queueing system with faults. Each of its servers, in the sense of
//! queueing theory, serves one request at a time.
//!
//! Because service times are drawn when a request arrives and the discipline is first come, first
//! served, the answer to a request is known at its arrival: there are no events to schedule.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use base::{Class, Code, Draw, Nanos, Seed, Stamp, Stream};

use crate::config::{Config, Service};
use crate::stalls::Stalls;

/// Time from the arrival of a request to its refusal by the capacity or the limit of the server. If
/// it were zero, a closed client in virtual time would repeat its request without an advance of the
/// clock, forever.
const REFUSAL_DELAY: Nanos = Nanos::from_micros(10);

/// Length of the period in which requests are counted against the limit.
const LIMIT_PERIOD: Nanos = Nanos::from_secs(1);

/// A simulated server.
#[derive(Clone, Debug)]
pub struct Server {
    config: Config,
    randomness: Stream,
    /// Factor of all service times in this run.
    slowness: f64,
    arrivals: u64,
    connections: u32,
    /// Times at which the servers become free, the earliest first; empty if their number is
    /// unlimited.
    free_at: BinaryHeap<Reverse<Stamp>>,
    /// Times at which the requests leave the system; stored only if the server needs to know how
    /// many requests are in it.
    departures: BinaryHeap<Reverse<Stamp>>,
    /// Times of the requests that were accepted within the last second, if their number is limited.
    accepted: VecDeque<Stamp>,
    /// Time zero of the run. The times of faults count from it, and no fault happens before it.
    zero: Stamp,
    /// Number of outages that are over. After each of them, the server restarts without its old
    /// work.
    restarts: usize,
}

/// A connection to the server, with the time at which it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    since: Stamp,
}

/// Reason why a connection was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The server is not reachable.
    Unreachable,
    /// The server refuses the login.
    Denied(Code),
    /// The server has reached its limit of connections.
    TooMany,
}

/// Time and kind of the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Time of the last byte.
    pub at: Stamp,
    /// Kind of the answer.
    pub kind: AnswerKind,
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerKind {
    /// Success, with this many rows.
    Completed {
        /// Number of rows.
        rows: u64,
    },
    /// An error.
    Failed(Class, Code),
    /// Loss of the connection, without an answer.
    Disconnected,
}

/// Overrides of the server's configuration in a statement's text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hints {
    /// Service time without randomness. The slowdown, the variation and the stalls of the server
    /// still apply.
    pub service: Option<Nanos>,
    /// Number of rows.
    pub rows: Option<u64>,
    /// Code of the error in which the request ends, at the end of its service.
    pub error: Option<Code>,
    /// True if the connection is lost at the end of the service. An error takes precedence.
    pub disconnect: bool,
}

impl Server {
    /// Creates a server whose randomness depends on `seed` and, for the drift, on `config`.
    pub fn new(config: Config, seed: Seed) -> Server {
        let servers = config.servers.unwrap_or(0) as usize;
        Server {
            free_at: std::iter::repeat_n(Reverse(Stamp::ZERO), servers).collect(),
            departures: BinaryHeap::new(),
            accepted: VecDeque::new(),
            randomness: Stream::new(seed, "sim", "service"),
            slowness: config.variation.factor(seed),
            arrivals: 0,
            connections: 0,
            zero: Stamp::NEVER,
            restarts: 0,
            config,
        }
    }

    /// Sets time zero, from which the times of faults count; no fault happens before it.
    pub fn time_zero(&mut self, zero: Stamp) {
        self.zero = zero;
    }

    /// Returns the time that connecting takes.
    pub fn connect_time(&self) -> Nanos {
        self.config.connect
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// The server is not reachable, denies the login, or has reached its limit of connections.
    pub fn connect(&mut self, now: Stamp) -> Result<Session, Refusal> {
        if self.is_unreachable(now) {
            return Err(self.config.outage_code.map_or(Refusal::Unreachable, Refusal::Denied));
        }
        if self.config.max_connections.is_some_and(|most| self.connections >= most) {
            return Err(Refusal::TooMany);
        }
        self.connections += 1;
        Ok(Session { since: now })
    }

    /// Closes a connection, regardless of the side that ended it.
    pub fn close(&mut self, _session: Session) {
        self.connections -= 1;
    }

    /// Returns the answer to a request that arrives at `now`. Calls must be in the order of time. A
    /// request whose connection is broken by an outage gets the time of the loss, but not before
    /// `now`.
    pub fn arrive(&mut self, session: Session, now: Stamp, hints: &Hints) -> Answer {
        self.arrivals += 1;
        self.forget_work_lost_in_outages(now);
        let mut draw = self.randomness.draw(self.arrivals);
        if self.is_broken_between(session.since, now) {
            return Answer { at: now, kind: AnswerKind::Disconnected };
        }
        if let Some(code) = self.refusal(now) {
            let kind = AnswerKind::Failed(Class::Server, Code::new(code));
            return Answer { at: now + REFUSAL_DELAY, kind };
        }
        let service = hints.service.unwrap_or_else(|| self.draw_service(now, &mut draw));
        let at = self.serve(now, self.slowed_service(now, service));
        let answer = Answer { at, kind: self.draw_kind(now, hints, &mut draw) };
        match self.next_outage(now) {
            Some(outage) if outage <= at => Answer { at: outage, kind: AnswerKind::Disconnected },
            _ => answer,
        }
    }

    /// Returns the actual length of a service for a request that arrives at `now`: `service` is its
    /// length without slowdown and variation.
    fn slowed_service(&self, now: Stamp, service: Nanos) -> Nanos {
        let slowdown = match self.config.slowdown.by > 0.0 && now >= self.zero {
            true => self.config.slowdown.factor(now.since(self.zero)),
            false => 1.0,
        };
        match self.slowness * slowdown {
            1.0 => service,
            factor => Nanos((service.0 as f64 * factor) as u64),
        }
    }

    /// Occupies the first free server and returns the time at which the work is done. A service
    /// takes at least a nanosecond; otherwise a closed client in virtual time would run forever,
    /// and the clock would never advance.
    fn serve(&mut self, now: Stamp, service: Nanos) -> Stamp {
        let service = service.max(Nanos(1));
        let stalls =
            Stalls { origin: self.zero, stall: self.config.stall, every: self.config.stall_every };
        let end = match self.free_at.peek_mut() {
            None => stalls.finish(now, service),
            Some(mut free) => {
                let end = stalls.finish(now.max(free.0), service);
                free.0 = end;
                end
            }
        };
        if self.counts_requests() {
            self.departures.push(Reverse(end));
        }
        end
    }

    /// Frees all servers, and removes all requests from the system, if an outage has ended since
    /// the last call.
    fn forget_work_lost_in_outages(&mut self, now: Stamp) {
        let over = self.config.outages.iter().filter(|outage| self.at(outage.end) <= now).count();
        if over > self.restarts {
            self.restarts = over;
            self.free_at = self.free_at.drain().map(|_| Reverse(Stamp::ZERO)).collect();
            self.departures.clear();
        }
    }

    /// Returns the code of the error with which a request that arrives now is refused; `None` if it
    /// is accepted, in which case it is counted against the limit.
    fn refusal(&mut self, now: Stamp) -> Option<&'static str> {
        if let Some(capacity) = self.config.capacity
            && self.requests_inside(now) >= capacity as usize
        {
            return Some("capacity");
        }
        (!self.is_within_limit(now)).then_some("limit")
    }

    /// Returns true if fewer requests than the limit were accepted within the last second. If so,
    /// also counts a request that arrives now.
    fn is_within_limit(&mut self, now: Stamp) -> bool {
        let Some(limit) = self.config.limit else { return true };
        while self.accepted.front().is_some_and(|at| now.since(*at) >= LIMIT_PERIOD) {
            self.accepted.pop_front();
        }
        let is_within = self.accepted.len() < limit as usize;
        if is_within {
            self.accepted.push_back(now);
        }
        is_within
    }

    /// Returns true if the server needs to count the requests that are in it.
    fn counts_requests(&self) -> bool {
        self.config.capacity.is_some() || matches!(self.config.service, Service::Scaling(_))
    }

    /// Returns the number of requests that have not left by `now`; 0 if this server does not count
    /// them.
    fn requests_inside(&mut self, now: Stamp) -> usize {
        while self.departures.peek().is_some_and(|departure| departure.0 <= now) {
            self.departures.pop();
        }
        self.departures.len()
    }

    fn draw_service(&mut self, now: Stamp, draw: &mut Draw) -> Nanos {
        let exponential =
            |mean: Nanos, draw: &mut Draw| Nanos((mean.0 as f64 * draw.exponential()) as u64);
        match self.config.service {
            Service::Constant(service) => service,
            Service::Exponential(mean) => exponential(mean, draw),
            Service::Bimodal { fast, slow, slow_share } => {
                let mean = if draw.unit() < slow_share { slow } else { fast };
                exponential(mean, draw)
            }
            Service::Scaling(law) => {
                let requests = self.requests_inside(now) + 1;
                Nanos::from_secs_f64(law.response_s(requests as f64))
            }
        }
    }

    fn draw_kind(&self, now: Stamp, hints: &Hints, draw: &mut Draw) -> AnswerKind {
        if let Some(code) = hints.error {
            return AnswerKind::Failed(Class::Conflict, code);
        }
        let luck = draw.unit();
        let fails = now >= self.zero;
        if hints.disconnect || fails && luck < self.config.disconnects {
            AnswerKind::Disconnected
        } else if fails && luck < self.config.disconnects + self.config.errors {
            AnswerKind::Failed(Class::Conflict, self.config.error_code)
        } else {
            AnswerKind::Completed { rows: hints.rows.unwrap_or(self.config.rows) }
        }
    }

    /// Returns true if the server is in an outage at `now`.
    fn is_unreachable(&self, now: Stamp) -> bool {
        self.config.outages.iter().any(|o| self.at(o.start) <= now && now < self.at(o.end))
    }

    /// Returns true if an outage began after `since` and up to `now`.
    fn is_broken_between(&self, since: Stamp, now: Stamp) -> bool {
        self.config.outages.iter().any(|outage| {
            let began = self.at(outage.start);
            since < began && began <= now
        })
    }

    /// Returns the start of the next outage after `now`; `None` if there is none.
    fn next_outage(&self, now: Stamp) -> Option<Stamp> {
        let starts = self.config.outages.iter().map(|outage| self.at(outage.start));
        starts.filter(|start| *start > now).min()
    }

    /// Converts a time of the configuration, which counts from time zero, to an instant of the
    /// clock.
    fn at(&self, from_zero: Stamp) -> Stamp {
        self.zero + from_zero.since(Stamp::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slowdown;
    use crate::variation::Variation;

    const MS: u64 = 1_000_000;

    fn constant(servers: u32) -> Config {
        Config::new(Service::Constant(Nanos::from_millis(1)), Some(servers))
    }

    fn server(config: Config) -> (Server, Session) {
        let mut server = Server::new(config, Seed(1));
        server.time_zero(Stamp::ZERO);
        let session = server.connect(Stamp::ZERO).expect("a connection");
        (server, session)
    }

    fn arrive(server: &mut Server, session: Session, at: u64) -> (u64, AnswerKind) {
        let answer = server.arrive(session, Stamp(at * MS), &Hints::default());
        (answer.at.0 / MS, answer.kind)
    }

    const OK: AnswerKind = AnswerKind::Completed { rows: 1 };

    #[test]
    fn requests_are_served_in_the_order_of_arrival() {
        let (mut server, session) = server(constant(2));
        let ends: Vec<_> = [0, 0, 0, 5].map(|at| arrive(&mut server, session, at).0).into();
        assert_eq!(ends, [1, 1, 2, 6]);
    }

    #[test]
    fn beyond_the_capacity_requests_are_refused_at_once() {
        let (mut server, session) = server(Config { capacity: Some(2), ..constant(1) });
        let refused = AnswerKind::Failed(Class::Server, Code::new("capacity"));
        let ends: Vec<_> = [0, 0, 0, 1].map(|at| arrive(&mut server, session, at)).into();
        assert_eq!(ends, [(1, OK), (2, OK), (0, refused), (3, OK)]);
    }

    #[test]
    fn beyond_the_limit_of_a_second_requests_are_refused_at_once() {
        let config = Config { limit: Some(3), servers: None, ..constant(1) };
        let (mut server, session) = server(config);
        let refused = AnswerKind::Failed(Class::Server, Code::new("limit"));
        let kinds: Vec<_> = [0, 400, 800, 999, 1_000, 1_100, 1_400]
            .map(|at| arrive(&mut server, session, at).1)
            .into();
        assert_eq!(kinds, [OK, OK, OK, refused, OK, refused, OK]);
    }

    #[test]
    fn an_outage_breaks_connections_and_refuses_new_ones_until_its_end() {
        let away = Stamp(10 * MS)..Stamp(20 * MS);
        let (mut server, session) = server(Config { outages: vec![away], ..constant(1) });
        assert_eq!(arrive(&mut server, session, 8), (9, OK));
        let cut = server.arrive(session, Stamp(9 * MS + 1), &Hints::default());
        assert_eq!(cut, Answer { at: Stamp(10 * MS), kind: AnswerKind::Disconnected });
        assert_eq!(arrive(&mut server, session, 12), (12, AnswerKind::Disconnected));
        assert_eq!(server.connect(Stamp(15 * MS)), Err(Refusal::Unreachable));
        assert_eq!(arrive(&mut server, session, 25), (25, AnswerKind::Disconnected));
        let again = server.connect(Stamp(20 * MS)).expect("the outage is over");
        assert_eq!(arrive(&mut server, again, 25), (26, OK));
    }

    #[test]
    fn work_interrupted_by_an_outage_is_not_resumed() {
        let away = Stamp(10 * MS)..Stamp(20 * MS);
        let (mut server, session) = server(Config { outages: vec![away], ..constant(1) });
        for _ in 0..100 {
            arrive(&mut server, session, 9);
        }
        let again = server.connect(Stamp(20 * MS)).expect("the outage is over");
        assert_eq!(arrive(&mut server, again, 20), (21, OK));
    }

    #[test]
    fn connections_are_counted_and_limited() {
        let (mut server, session) = server(Config { max_connections: Some(1), ..constant(1) });
        assert_eq!(server.connect(Stamp::ZERO), Err(Refusal::TooMany));
        server.close(session);
        assert!(server.connect(Stamp::ZERO).is_ok());
    }

    #[test]
    fn faults_have_their_fractions_and_begin_at_time_zero() {
        let config = Config { errors: 0.1, disconnects: 0.05, ..constant(1) };
        let mut server = Server::new(config, Seed(7));
        let session = server.connect(Stamp::ZERO).expect("a connection");
        let early = (0..1_000).all(|at| arrive(&mut server, session, at).1 == OK);
        assert!(early);
        server.time_zero(Stamp(1_000 * MS));
        let n = 20_000;
        let kinds: Vec<AnswerKind> =
            (0..n).map(|i| arrive(&mut server, session, 1_000 + i).1).collect();
        let share = |wanted: fn(&AnswerKind) -> bool| {
            kinds.iter().filter(|kind| wanted(kind)).count() as f64 / n as f64
        };
        let errors = share(|kind| matches!(kind, AnswerKind::Failed(..)));
        let disconnects = share(|kind| matches!(kind, AnswerKind::Disconnected));
        // The tolerance is five standard errors of a binomial fraction.
        assert!((errors - 0.1).abs() < 0.0107, "{errors}");
        assert!((disconnects - 0.05).abs() < 0.0078, "{disconnects}");
    }

    #[test]
    fn service_times_may_change_at_once_or_gradually() {
        let took_us = |slowdown, at_s: u64| {
            let config = Config { slowdown, servers: None, ..constant(1) };
            let (mut server, session) = server(config);
            server.time_zero(Stamp::ZERO);
            let now = Stamp(at_s * 1_000 * MS);
            server.arrive(session, now, &Hints::default()).at.since(now).0 / 1_000
        };
        let (by, from) = (0.5, Nanos::from_secs(10));
        let at_once = Slowdown { by, from, over: Nanos::ZERO };
        let took = [0, 9, 10, 99].map(|at_s| took_us(at_once, at_s));
        assert_eq!(took, [1_000, 1_000, 1_500, 1_500]);
        let slowly = Slowdown { by, from, over: Nanos::from_secs(20) };
        let took = [9, 10, 20, 30, 99].map(|at_s| took_us(slowly, at_s));
        assert_eq!(took, [1_000, 1_000, 1_250, 1_500, 1_500]);
    }

    #[test]
    fn statement_hints_choose_service_time_and_faults() {
        let (mut server, session) = server(constant(1));
        let mut ask = |hints| server.arrive(session, Stamp::ZERO, &hints);
        let slow = ask(Hints { service: Some(Nanos(7)), rows: Some(3), ..Hints::default() });
        assert_eq!(slow, Answer { at: Stamp(7), kind: AnswerKind::Completed { rows: 3 } });
        let code = Code::new("1213");
        let failed = ask(Hints { error: Some(code), ..Hints::default() });
        assert_eq!(failed.kind, AnswerKind::Failed(Class::Conflict, code));
        let lost = ask(Hints { disconnect: true, ..Hints::default() });
        assert_eq!(lost.kind, AnswerKind::Disconnected);
    }

    #[test]
    fn noise_changes_all_services_of_a_run_by_one_factor() {
        let took = |seed| {
            let variation = Variation { noise: 0.1, ..Variation::default() };
            let config = Config { variation, servers: None, ..constant(1) };
            let mut server = Server::new(config, Seed(seed));
            let session = server.connect(Stamp::ZERO).unwrap();
            [0, 1].map(|at_s| {
                let now = Stamp::ZERO + Nanos::from_secs(at_s);
                server.arrive(session, now, &Hints::default()).at.since(now)
            })
        };
        let factor = Variation { noise: 0.1, ..Variation::default() }.factor(Seed(5));
        let [first, second] = took(5);
        assert_eq!(first, second);
        assert_eq!(first, Nanos((1e6 * factor) as u64));
        assert_ne!(first, took(6)[0]);
    }

    #[test]
    fn one_seed_gives_one_history() {
        let history = |seed| {
            let config = Config::new(Service::Exponential(Nanos::from_millis(1)), Some(1));
            let mut server = Server::new(config, Seed(seed));
            let session = server.connect(Stamp::ZERO).expect("a connection");
            (0..100).map(|at| arrive(&mut server, session, at).0).collect::<Vec<_>>()
        };
        assert_eq!(history(1), history(1));
        assert_ne!(history(1), history(2));
    }
}
