//! Whether the way between load generator and database is what limits, or a pool that stands on it.

use record::{Part, Side};

use super::suspect::{number, percent};
use super::{Component, Scene, Suspect};

/// The part of the requests' time that is spent between the two ends, from which on the way
/// decides.
const ON_THE_WAY: f64 = 0.5;

/// The part of the time of a request that its round trip takes, from which on that decides.
const LATENCY: f64 = 0.4;

/// The shortest round trip in seconds of which anything is said: below that it is the kernel's time
/// on one machine, and no network's.
const SHORTEST: f64 = 0.000_2;

/// How many times as long as the shortest round trip the mean one is, if bytes queue on the way.
const QUEUED: f64 = 2.0;

/// The part of its speed from which on a link is full.
const LINK_FULL: f64 = 0.85;

/// The part of the requests under way that have no session of the database, from which on they
/// wait for one.
const WITHOUT_SESSION: f64 = 0.4;

/// The fewest requests under way by which a pool is told from chance.
const FEWEST_POOLED: f64 = 3.0;

impl Scene<'_, '_> {
    /// What of the way has no more to give, or takes the time.
    pub(super) fn network(&self) -> Vec<Suspect> {
        let found = [self.link(), self.pool(), self.way()];
        found.into_iter().flatten().collect()
    }

    /// Sessions of the database that cannot go on because their answers are not taken.
    pub(super) fn sending_sessions(&self) -> f64 {
        let waits = self.signals.all_per_look(&Part::Waits);
        let is_sending = |name: &str| name == "Client:ClientWrite";
        waits.iter().filter(|(name, _)| is_sending(name)).map(|(_, mean)| mean).sum()
    }

    /// A link that carries nearly all that it can.
    fn link(&self) -> Option<Suspect> {
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
        (share >= LINK_FULL).then_some(suspect)
    }

    /// Requests that are under way and have no session: something between the two shares few
    /// sessions among many connections.
    fn pool(&self) -> Option<Suspect> {
        let in_flight = self.demand.in_flight;
        let active = self.signals.per_look(&Part::Sessions, "active")?;
        let idle = self.signals.per_look(&Part::Sessions, "idle")?
            + self.signals.per_look(&Part::Sessions, "idle-in-transaction")?;
        let sessions = active + idle;
        let share = 1.0 - sessions / in_flight.max(f64::MIN_POSITIVE);
        if in_flight < FEWEST_POOLED || share < WITHOUT_SESSION || sessions < 0.5 {
            return None;
        }
        let because = format!(
            "{in_flight:.0} requests under way share {sessions:.0} sessions of the database: a \
             pool between the two keeps the others waiting"
        );
        let suspect = Suspect::new(Component::Connections, share, because)
            .with("requests_in_flight", in_flight)
            .with("sessions", sessions)
            .with("sessions_active", active);
        Some(suspect)
    }

    /// A way that takes most of the time of the requests.
    fn way(&self) -> Option<Suspect> {
        let side = Part::Sockets(Side::Generator);
        let round_trip = self.signals.mean(&side, "round-trip")?;
        let least = self.signals.mean(&side, "round-trip-least").unwrap_or(round_trip);
        let service_s = self.demand.service_s;
        if service_s <= 0.0 || round_trip < SHORTEST || self.is_idle_on_the_way() {
            return None;
        }
        if least >= SHORTEST && least / service_s >= LATENCY {
            let because = format!(
                "a round trip takes {} ms of the {} ms of a request",
                number(least * 1e3),
                number(service_s * 1e3)
            );
            let suspect = Suspect::new(Component::NetworkLatency, least / service_s, because)
                .with("round_trip_least_ms", least * 1e3)
                .with("service_ms", service_s * 1e3);
            return Some(suspect.with_any("sessions_active", self.active()));
        }
        let is_queued = round_trip >= least * QUEUED && round_trip / service_s >= LATENCY / 2.0;
        let sending = self.sending_sessions();
        if !is_queued && sending < self.demand.in_flight * ON_THE_WAY {
            return None;
        }
        let share = self.share_on_the_way().unwrap_or(ON_THE_WAY);
        let because = format!(
            "bytes queue on the way: a round trip takes {} ms while the shortest took {} ms, of \
             the {} ms of a request",
            number(round_trip * 1e3),
            number(least * 1e3),
            number(service_s * 1e3)
        );
        let suspect = Suspect::new(Component::NetworkBandwidth, share, because)
            .with("round_trip_ms", round_trip * 1e3)
            .with("round_trip_least_ms", least * 1e3)
            .with("service_ms", service_s * 1e3)
            .with("sessions_that_wait_to_send", sending);
        Some(suspect)
    }

    /// The part of the requests under way that the database does not work on; `None` if its
    /// sessions were not seen. One that waits to send its answer is on the way.
    fn share_on_the_way(&self) -> Option<f64> {
        let busy = (self.active()? - self.sending_sessions()).max(0.0);
        Some(1.0 - (busy / self.demand.in_flight.max(f64::MIN_POSITIVE)).min(1.0))
    }

    /// Whether the requests are known to be elsewhere than on the way.
    fn is_idle_on_the_way(&self) -> bool {
        self.share_on_the_way().is_some_and(|share| share < ON_THE_WAY)
    }
}
