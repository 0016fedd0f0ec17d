//! Whether the way between load generator and database is what limits.

use record::{Part, Side};

use super::suspect::{number, percent};
use super::{Component, Scene, Suspect};
use crate::surroundings::Place;

/// What a session waits for whose answer is not taken, as PostgreSQL and the MySQL family name it.
const SENDING: [&str; 2] = ["Client:ClientWrite", "Client:write"];

/// What one waits for whose rows to load, or whose request, has not come as a whole.
const RECEIVING: [&str; 2] = ["Client:ClientRead", "Client:read"];

/// The part of the requests' time that is spent between the two ends, from which on the way
/// decides.
const ON_THE_WAY: f64 = 0.5;

/// The part of the requests under way that have an answer which waits to be sent, from which on
/// there is no room for it: on a way that is long and not narrow hardly any has. What was sent and
/// not acknowledged yet waits for nothing here.
const UNSENT: f64 = 0.1;

/// The part of the time of a request that its round trip takes, from which on that decides.
const LATENCY: f64 = 0.4;

/// How many times as long as the shortest the mean round trip from the server is, from which on
/// what it sends waits in a queue.
const QUEUED: f64 = 4.0;

/// The bytes of an answer from which on it is several packets.
const LONG_ANSWER: f64 = 8_192.0;

/// The bytes of an answer from which on it is many, more than are sent before the first is
/// acknowledged (RFC 6928) and several times as many again.
const MANY_PACKETS: f64 = 65_536.0;

/// The shortest round trip in seconds of which anything is said: below that it is the kernel's time
/// on one machine, and no network's.
const SHORTEST: f64 = 0.000_2;

/// The service time in seconds below which waking up and switching between processes on one machine
/// may be all that takes the time between the two ends.
const NO_NETWORK: f64 = 0.001;

/// The part of the requests on the way that have a session which idles meanwhile.
const HAVE_SESSIONS: f64 = 0.7;

/// The part of its speed from which on a link is full.
const LINK_FULL: f64 = 0.85;

/// The part beyond which it is none of its speed.
const LINK_EXCEEDED: f64 = 1.2;

impl Scene<'_, '_> {
    /// What of the way has no more to give, or takes the time.
    pub(super) fn network(&self) -> Vec<Suspect> {
        let found = [self.link(), self.narrow_way_there(), self.way()];
        found.into_iter().flatten().collect()
    }

    /// Sessions of the database that cannot go on because their answers are not taken.
    pub(super) fn sending_sessions(&self) -> f64 {
        let waits = self.signals.all_per_look(&Part::Waits);
        let is_sending = |name: &str| SENDING.contains(&name);
        waits.iter().filter(|(name, _)| is_sending(name)).map(|(_, mean)| mean).sum()
    }

    /// Sessions that are at work, and do not wait for their client; `None` if none were seen.
    pub(super) fn working_sessions(&self) -> Option<f64> {
        let waiting = self.sending_sessions() + self.receiving_sessions();
        Some((self.active()? - waiting).max(0.0))
    }

    /// Those that cannot go on because the rest of what they are to load has not come.
    pub(super) fn receiving_sessions(&self) -> f64 {
        let of_it = RECEIVING.map(|name| self.signals.per_look(&Part::Waits, name));
        of_it.into_iter().flatten().sum()
    }

    /// The name of the wait in which most of them are.
    pub(super) fn receiving_event(&self) -> &'static str {
        let sessions = |name: &str| self.signals.per_look(&Part::Waits, name).unwrap_or(0.0);
        let [postgres, mysql] = RECEIVING;
        if sessions(mysql) > sessions(postgres) { mysql } else { postgres }
    }

    /// A link that carries nearly all that it can.
    fn link(&self) -> Option<Suspect> {
        // What the links of this host carry is somebody else's if the database is on it.
        let place = self.findings.evidence.surroundings.main.place;
        if matches!(place, Place::Inside | Place::ThisHost) || self.is_idle_on_the_way() {
            return None;
        }
        let links = self.signals.interfaces();
        let used = links.iter().filter_map(|part| {
            let speed = self.signals.mean_of(part, "speed").filter(|speed| *speed > 0.0)?;
            let sent = self.signals.rate_of(part, "sent-bytes")?;
            let received = self.signals.rate_of(part, "received-bytes")?;
            Some((part, sent.max(received), speed))
        });
        let (part, rate, speed) = used.max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)))?;
        let share = rate / speed;
        let because = format!(
            "{part} carried {} MB/s, {} of what its link can",
            number(rate / 1e6),
            percent(share)
        );
        let suspect = Suspect::new(Component::NetworkBandwidth, share, because)
            .with("bytes_per_s", rate)
            .with("link_bytes_per_s", speed);
        // A speed that is exceeded is none: those of tunnels are made up.
        (LINK_FULL..=LINK_EXCEEDED).contains(&(rate / speed)).then_some(suspect)
    }

    /// A way that takes most of the time of the requests.
    ///
    /// The mean round trip of TCP says little of it: acknowledgements ride on answers, so that it
    /// holds the time of the request itself. The shortest one is that of the way, and bytes that
    /// were given to a socket and not sent yet wait for room on it.
    fn way(&self) -> Option<Suspect> {
        let service_s = self.demand.service_s;
        if service_s <= 0.0 || self.is_idle_on_the_way() {
            return None;
        }
        let narrow = self.narrow_way().or_else(|| self.queued_way());
        let found = narrow.or_else(|| self.long_way()).or_else(|| self.silent_way())?;
        let sent_again = self.signals.rate(&Part::Sockets(Side::Server), "retransmits");
        Some(found.with_any("segments_sent_again_per_s", sent_again))
    }

    /// Answers that wait for room on the way.
    fn narrow_way(&self) -> Option<Suspect> {
        let server = Part::Sockets(Side::Server);
        let waiting = self.signals.mean(&server, "with-send-queue").unwrap_or(0.0);
        let sending = self.sending_sessions().max(waiting);
        let share = sending / self.demand.in_flight.max(1.0);
        // Whoever does not read keeps the others from sending as well.
        let unread = self.signals.mean(&Part::Sockets(Side::Generator), "with-receive-queue");
        let is_read = unread.is_none_or(|unread| unread < sending / 2.0);
        if share < UNSENT || !is_read {
            return None;
        }
        let because = format!(
            "of {:.1} requests under way {sending:.1} have an answer that waits for room on the \
             way",
            self.demand.in_flight
        );
        let suspect = Suspect::new(Component::NetworkBandwidth, share, because)
            .with("requests_in_flight", self.demand.in_flight)
            .with("answers_that_wait_to_be_sent", sending)
            .with("service_ms", self.demand.service_s * 1e3);
        let queue = self.signals.mean(&server, "send-queue");
        Some(suspect.with_any("bytes_that_wait_to_be_sent", queue))
    }

    /// Answers that wait in a queue of the way itself, which no socket shows. What the server sends
    /// is acknowledged as soon as it has come, if it is more than a few packets (RFC 5681, section
    /// 4.2; one that is shorter waits for the next request): that this takes many times as long as
    /// it can is the queue.
    fn queued_way(&self) -> Option<Suspect> {
        let is_long = self.demand.received_bytes >= LONG_ANSWER;
        let has_time = self.generator_wants().is_some_and(|share| share < ON_THE_WAY);
        if !is_long || !has_time || self.demand.fed_clients > 0.0 {
            return None;
        }
        let server = Part::Sockets(Side::Server);
        let mean = self.signals.mean(&server, "round-trip")?;
        let least = self.signals.mean(&server, "round-trip-least")?;
        let share = mean / self.demand.service_s;
        if mean < SHORTEST || mean < QUEUED * least || share < LATENCY {
            return None;
        }
        let because = format!(
            "what the server sends takes {} ms to be acknowledged, and {} ms if nothing else is on \
             the way: answers queue there",
            number(mean * 1e3),
            number(least * 1e3)
        );
        let suspect = Suspect::new(Component::NetworkBandwidth, share, because)
            .with("server_round_trip_ms", mean * 1e3)
            .with("server_round_trip_least_ms", least * 1e3)
            .with("service_ms", self.demand.service_s * 1e3);
        Some(suspect)
    }

    /// A round trip that takes much of a request.
    fn long_way(&self) -> Option<Suspect> {
        let service_s = self.demand.service_s;
        let least = self.signals.mean(&Part::Sockets(Side::Generator), "round-trip-least")?;
        let trips = self.demand.statements.max(1.0);
        let share = least * trips / service_s;
        if least < SHORTEST || share < LATENCY {
            return None;
        }
        let what = match trips {
            trips if trips < 1.5 => "a round trip takes".to_owned(),
            trips => format!("{trips:.0} round trips take"),
        };
        let because = format!(
            "{what} {} ms of the {} ms of a request",
            number(least * trips * 1e3),
            number(service_s * 1e3)
        );
        let suspect = Suspect::new(Component::NetworkLatency, share, because)
            .with("round_trip_least_ms", least * 1e3)
            .with("statements_per_request", trips)
            .with("service_ms", service_s * 1e3);
        Some(suspect.with_any("sessions_active", self.active()))
    }

    /// Requests that are neither with the database, which has a session for each of them that
    /// idles, nor with the load generator, which has time to spare: they are on the way, though no
    /// socket shows it, as behind a relay.
    fn silent_way(&self) -> Option<Suspect> {
        let share = self.share_on_the_way()?;
        let idle = self.idle_sessions()? + self.receiving_sessions();
        // Where the server's sockets are not seen, its sessions may idle for want of a processor
        // while requests wait in these.
        if self.unread_by_server().is_none() && self.database_has_time() != Some(true) {
            return None;
        }
        let has_sessions = idle >= share * self.demand.in_flight * HAVE_SESSIONS;
        let has_time = self.generator_wants().is_some_and(|share| share < ON_THE_WAY);
        if share < ON_THE_WAY || self.demand.service_s < NO_NETWORK || !has_sessions || !has_time {
            return None;
        }
        let because = format!(
            "of {} requests under way {} are not with the database, whose sessions idle, and each \
             takes {} ms: they are on the way, or with a program that stands on it",
            number(self.demand.in_flight),
            number(share * self.demand.in_flight),
            number(self.demand.service_s * 1e3)
        );
        // What takes so long may be the length of the way or of the answers: of what is many
        // packets it is these.
        let component = match self.demand.received_bytes >= MANY_PACKETS {
            true => Component::NetworkBandwidth,
            false => Component::NetworkLatency,
        };
        let suspect = Suspect::new(component, share, because)
            .with("requests_in_flight", self.demand.in_flight)
            .with("bytes_of_an_answer", self.demand.received_bytes)
            .with("sessions_idle", idle)
            .with_any("sessions_active", self.active())
            .with("service_ms", self.demand.service_s * 1e3);
        Some(suspect)
    }

    /// The part of the requests under way that the database does not work on; `None` if its
    /// sessions were not seen. One that waits to send its answer is on the way.
    fn share_on_the_way(&self) -> Option<f64> {
        // A request that a session has not read yet is with the database: it waits for a processor.
        let unread = self.unread_by_server().unwrap_or(0.0);
        let busy = self.working_sessions()? + unread;
        // A writer that makes its rows has nothing under way.
        let made = self.loader_share().unwrap_or(0.0);
        let under_way = self.demand.in_flight - made;
        Some(1.0 - (busy / under_way.max(f64::MIN_POSITIVE)).min(1.0))
    }

    /// Connections with a request that the server has not read; `None` if they were not seen.
    pub(super) fn unread_by_server(&self) -> Option<f64> {
        self.signals.mean(&Part::Sockets(Side::Server), "with-receive-queue")
    }

    /// Whether most of the requests are known not to be with the database.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.share_on_the_way().is_some_and(|share| share >= ON_THE_WAY)
    }

    /// Whether the requests are known to be elsewhere than on the way.
    fn is_idle_on_the_way(&self) -> bool {
        self.share_on_the_way().is_some_and(|share| share < ON_THE_WAY)
    }
}
