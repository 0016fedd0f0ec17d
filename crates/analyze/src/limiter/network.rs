//! Detection of the network between load generator and database as the limiter.

use record::metric::{interface, sockets};
use record::{ComponentKind, MeasuredSide};

use super::candidate::Candidate;
use super::component::Component;
use super::demand::LoadSource;
use super::evidence::EvidenceKind;
use super::finding::{LimiterFinding, NetworkLimit};
use super::input::LimiterInput;
use crate::surroundings::DatabaseLocation;

/// If it is known that requests spend less than this fraction of their time outside of the
/// database, the network is not the limiter. The load generator has time to spare if its busiest
/// thread is busy for less than this fraction of the window.
const ON_NETWORK: f64 = 0.5;

/// Bandwidth is the limiter only if the answers to at least this fraction of the requests in flight
/// wait to be sent. On a long path with enough bandwidth, hardly any answer waits: bytes that were
/// sent and are not yet acknowledged do not count as waiting.
const UNSENT: f64 = 0.1;

/// Latency is the limiter only if round trips take at least this fraction of a request's time.
const LATENCY: f64 = 0.4;

/// Data of the server waits in a queue of the network if the server's mean round trip is at least
/// this multiple of its shortest one.
const QUEUED_RATIO: f64 = 4.0;

/// Minimum size in bytes of an answer of several packets.
const LONG_ANSWER: f64 = 8_192.0;

/// Minimum size in bytes of an answer of many packets: several times more than are sent before the
/// first is acknowledged (RFC 6928).
const MANY_PACKETS: f64 = 65_536.0;

/// Shortest round trip that is judged, in seconds. A shorter one may be only the kernel's time on
/// one machine, and not that of a network.
const SHORTEST_ROUND_TRIP_S: f64 = 0.000_2;

/// Service time, in seconds, below which no hidden network delay is reported: all time between load
/// generator and database may then be spent on waking and switching processes on one machine.
const LOCAL_SERVICE_S: f64 = 0.001;

/// Minimum number of idle sessions of the database for each request that seems to be on the
/// network. With fewer, the requests may wait for a session instead.
const IDLE_SESSIONS_PER_REQUEST: f64 = 0.7;

/// Minimum fraction of its speed at which a link is saturated.
const LINK_FULL: f64 = 0.85;

/// If a link carries more than this fraction of its reported speed, the reported speed is wrong.
const LINK_EXCEEDED: f64 = 1.2;

/// Bandwidth is the limiter only if at least this fraction of the writers has rows that wait to be
/// sent.
const ROWS_UNSENT: f64 = 0.5;

/// If a smaller fraction of the writers has a session at work, the database is waiting for rows.
const WRITERS_AT_WORK: f64 = 0.5;

/// If a smaller fraction of the writers has unread rows in the database's sockets, the database is
/// waiting for rows. Used if the sessions of the database were not seen.
const ROWS_UNREAD: f64 = 0.2;

impl LimiterInput<'_, '_> {
    /// Returns the candidates among link, bandwidth and latency.
    pub(super) fn network(&self) -> Vec<Candidate> {
        let found = [self.link(), self.bandwidth_to_server(), self.network_time()];
        found.into_iter().flatten().collect()
    }

    /// Returns a candidate if a link carries nearly all that it can, unless the database is on the
    /// load generator's host, or most requests are known to be in the database.
    fn link(&self) -> Option<Candidate> {
        // If the database is on this host, the links carry other traffic.
        let place = self.check_input.evidence.surroundings.main.location;
        // The requests in flight of an observed program are not known.
        let is_in_database = self.demand.in_flight > 0.0 && self.is_mostly_in_database();
        if matches!(place, DatabaseLocation::Inside | DatabaseLocation::ThisHost) || is_in_database
        {
            return None;
        }
        let links = self.signals.interfaces();
        let used = links.iter().filter_map(|component| {
            let speed =
                self.signals.mean_of(component, interface::SPEED).filter(|speed| *speed > 0.0)?;
            let sent = self.signals.rate_of(component, interface::SENT_BYTES)?;
            let received = self.signals.rate_of(component, interface::RECEIVED_BYTES)?;
            Some((component, sent.max(received), speed))
        });
        let (component, rate, speed) = used.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)))?;
        let share = rate / speed;
        let finding = NetworkLimit::Link { interface: component.clone(), bytes_per_s: rate, share };
        let finding = LimiterFinding::Network(finding);
        let candidate = Candidate::new(Component::NetworkBandwidth, share, finding)
            .with(EvidenceKind::BytesPerS, rate)
            .with(EvidenceKind::LinkBytesPerS, speed);
        // A speed that is exceeded is wrong: tunnels report made-up speeds.
        (LINK_FULL..=LINK_EXCEEDED).contains(&(rate / speed)).then_some(candidate)
    }

    /// Returns a candidate for the load of a table if rows wait in the generator's sockets while
    /// the database waits for rows.
    fn bandwidth_to_server(&self) -> Option<Candidate> {
        if self.demand.source != LoadSource::Load {
            return None;
        }
        let sockets = ComponentKind::Sockets(MeasuredSide::Generator);
        let unsent =
            self.signals.mean_before_the_last(&sockets, sockets::WITH_SEND_QUEUE).unwrap_or(0.0);
        // While the receiver does not keep up, it closes its TCP window.
        let closed = self.signals.rate(&sockets, sockets::RECEIVER_LIMITED).unwrap_or(0.0);
        let waiting = unsent.max(closed);
        let writers = self.demand.closed.clients.max(1.0);
        // The generator's sockets may also fill because of a program between generator and server.
        // Therefore the server itself must be waiting for rows.
        let server = ComponentKind::Sockets(MeasuredSide::Server);
        let unread = self.signals.mean_before_the_last(&server, sockets::WITH_RECEIVE_QUEUE);
        let at_work = self.working_sessions();
        let is_ready = match at_work {
            Some(at_work) => at_work < WRITERS_AT_WORK * writers,
            None => unread.is_some_and(|unread| unread < ROWS_UNREAD * writers),
        };
        if waiting < ROWS_UNSENT * writers || !is_ready || self.database_has_time() == Some(false) {
            return None;
        }
        let finding = NetworkLimit::RowsWait { connections: writers, waiting };
        let finding = LimiterFinding::Network(finding);
        let candidate = Candidate::new(Component::NetworkBandwidth, waiting / writers, finding)
            .with(EvidenceKind::ConnectionsWithUnsentRows, waiting)
            .with_any(EvidenceKind::ConnectionsWithUnreadRows, unread)
            .with_any(EvidenceKind::SessionsAtWork, at_work);
        let sent_again = self.signals.rate(&sockets, sockets::RETRANSMITS);
        Some(candidate.with_any(EvidenceKind::SegmentsSentAgainPerS, sent_again))
    }

    /// Returns a candidate if the network takes much of the time of the requests.
    ///
    /// The mean round trip of TCP says little about the path: acknowledgements are sent with
    /// answers, so the mean includes the time of the request itself. The shortest round trip is
    /// that of the path, and bytes that were written to a socket and not sent yet wait for
    /// bandwidth.
    fn network_time(&self) -> Option<Candidate> {
        let service_s = self.demand.service_s;
        if service_s <= 0.0 || self.is_mostly_in_database() {
            return None;
        }
        let narrow = self.bandwidth_to_client().or_else(|| self.network_queue());
        let found =
            narrow.or_else(|| self.round_trip_delay()).or_else(|| self.hidden_network_delay())?;
        let sent_again =
            self.signals.rate(&ComponentKind::Sockets(MeasuredSide::Server), sockets::RETRANSMITS);
        Some(found.with_any(EvidenceKind::SegmentsSentAgainPerS, sent_again))
    }

    /// Returns a candidate if answers wait for bandwidth.
    fn bandwidth_to_client(&self) -> Option<Candidate> {
        let server = ComponentKind::Sockets(MeasuredSide::Server);
        let waiting = self.signals.mean(&server, sockets::WITH_SEND_QUEUE).unwrap_or(0.0);
        let sending = self.sending_sessions().max(waiting);
        let share = sending / self.demand.in_flight.max(1.0);
        // A client that does not read blocks the sender as well.
        let unread = self
            .signals
            .mean(&ComponentKind::Sockets(MeasuredSide::Generator), sockets::WITH_RECEIVE_QUEUE);
        let is_read = unread.is_none_or(|unread| unread < sending / 2.0);
        if share < UNSENT || !is_read {
            return None;
        }
        let finding =
            NetworkLimit::AnswersWait { in_flight: self.demand.in_flight, waiting: sending };
        let finding = LimiterFinding::Network(finding);
        let candidate = Candidate::new(Component::NetworkBandwidth, share, finding)
            .with(EvidenceKind::RequestsInFlight, self.demand.in_flight)
            .with(EvidenceKind::AnswersThatWaitToBeSent, sending)
            .with(EvidenceKind::ServiceMs, self.demand.service_s * 1e3);
        let queue = self.signals.mean(&server, sockets::SEND_QUEUE);
        Some(candidate.with_any(EvidenceKind::BytesThatWaitToBeSent, queue))
    }

    /// Returns a candidate if answers wait in a queue of the network, which no socket shows. The
    /// server's data is acknowledged on arrival if it is more than a few packets (RFC 5681, section
    /// 4.2). The acknowledgement of shorter data waits for the next request. If the acknowledgement
    /// takes many times the shortest round trip, there is a queue.
    fn network_queue(&self) -> Option<Candidate> {
        let is_long = self.demand.received_bytes >= LONG_ANSWER;
        let has_time = self.generator_demand().is_some_and(|share| share < ON_NETWORK);
        if !is_long || !has_time || self.demand.clients_with_input > 0.0 {
            return None;
        }
        let server = ComponentKind::Sockets(MeasuredSide::Server);
        let mean = self.signals.mean(&server, sockets::ROUND_TRIP)?;
        let least = self.signals.mean(&server, sockets::ROUND_TRIP_LEAST)?;
        let share = mean / self.demand.service_s;
        if mean < SHORTEST_ROUND_TRIP_S || mean < QUEUED_RATIO * least || share < LATENCY {
            return None;
        }
        let finding = NetworkLimit::AnswersQueue { mean_s: mean, least_s: least };
        let finding = LimiterFinding::Network(finding);
        let candidate = Candidate::new(Component::NetworkBandwidth, share, finding)
            .with(EvidenceKind::ServerRoundTripMs, mean * 1e3)
            .with(EvidenceKind::ServerRoundTripLeastMs, least * 1e3)
            .with(EvidenceKind::ServiceMs, self.demand.service_s * 1e3);
        Some(candidate)
    }

    /// Returns a candidate if round trips take much of a request.
    fn round_trip_delay(&self) -> Option<Candidate> {
        let service_s = self.demand.service_s;
        let least = self
            .signals
            .mean(&ComponentKind::Sockets(MeasuredSide::Generator), sockets::ROUND_TRIP_LEAST)?;
        let trips = self.demand.statements.max(1.0);
        let share = least * trips / service_s;
        if least < SHORTEST_ROUND_TRIP_S || share < LATENCY {
            return None;
        }
        let finding = NetworkLimit::RoundTrips { trips, round_trip_s: least, service_s };
        let finding = LimiterFinding::Network(finding);
        let candidate = Candidate::new(Component::NetworkLatency, share, finding)
            .with(EvidenceKind::RoundTripLeastMs, least * 1e3)
            .with(EvidenceKind::StatementsPerRequest, trips)
            .with(EvidenceKind::ServiceMs, service_s * 1e3);
        Some(candidate.with_any(EvidenceKind::SessionsActive, self.active()))
    }

    /// Returns a candidate if requests are neither in the database, which has enough idle sessions
    /// for them, nor in the load generator, which has time to spare. The requests are then on the
    /// network, although no socket shows it, as behind a relay.
    fn hidden_network_delay(&self) -> Option<Candidate> {
        let share = self.share_outside_database()?;
        let idle = self.idle_sessions()? + self.receiving_sessions();
        // If the server's sockets are not seen, its sessions may be idle because they lack a
        // processor, while requests wait in those sockets.
        if self.unread_by_server().is_none() && self.database_has_time() != Some(true) {
            return None;
        }
        let has_sessions = idle >= share * self.demand.in_flight * IDLE_SESSIONS_PER_REQUEST;
        let has_time = self.generator_demand().is_some_and(|share| share < ON_NETWORK);
        let is_local = self.demand.service_s < LOCAL_SERVICE_S;
        if share < ON_NETWORK || is_local || !has_sessions || !has_time {
            return None;
        }
        let finding = LimiterFinding::Network(NetworkLimit::OnTheWay {
            in_flight: self.demand.in_flight,
            missing: share * self.demand.in_flight,
            service_s: self.demand.service_s,
        });
        // The time may be due to the latency or to the size of the answers; with many packets it is
        // the size.
        let component = match self.demand.received_bytes >= MANY_PACKETS {
            true => Component::NetworkBandwidth,
            false => Component::NetworkLatency,
        };
        let candidate = Candidate::new(component, share, finding)
            .with(EvidenceKind::RequestsInFlight, self.demand.in_flight)
            .with(EvidenceKind::BytesOfAnAnswer, self.demand.received_bytes)
            .with(EvidenceKind::SessionsIdle, idle)
            .with_any(EvidenceKind::SessionsActive, self.active())
            .with(EvidenceKind::ServiceMs, self.demand.service_s * 1e3);
        Some(candidate)
    }

    /// Returns the fraction of the requests in flight on which the database does not work; `None`
    /// if its sessions were not seen. A session that waits to send its answer does not count as
    /// working.
    fn share_outside_database(&self) -> Option<f64> {
        // A request that a session has not read yet counts as in the database, because it waits for
        // a processor.
        let unread = self.unread_by_server().unwrap_or(0.0);
        let busy = self.working_sessions()? + unread;
        // While a writer generates rows, it has nothing in flight.
        let generating = self.loader_share().unwrap_or(0.0);
        let in_flight = self.demand.in_flight - generating;
        Some(1.0 - (busy / in_flight.max(f64::MIN_POSITIVE)).min(1.0))
    }

    /// Returns true if most of the requests are known not to be in the database.
    pub(super) fn is_mostly_outside_database(&self) -> bool {
        self.share_outside_database().is_some_and(|share| share >= ON_NETWORK)
    }

    /// Returns true if most of the requests are known to be in the database.
    fn is_mostly_in_database(&self) -> bool {
        self.share_outside_database().is_some_and(|share| share < ON_NETWORK)
    }
}
