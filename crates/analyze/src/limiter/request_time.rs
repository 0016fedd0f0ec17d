//! Waits as a fraction of the time of the requests.

use record::ComponentKind;
use record::metric::RUNNING;

use super::demand::LoadSource;
use super::input::LimiterInput;
use super::waits::{DECISIVE_WAIT, Wait, kind};

/// The requests of an observed program are taken to fill at least this fraction of its sessions'
/// time. If the sessions are active for less, the switches between program and database count as
/// part of the requests.
const AT_WORK: f64 = 0.7;

/// Prefixes of waits with a known reason: the client, or a time that has to pass.
const KNOWN_WAITS: [&str; 3] = ["Client:", "Timeout:", "state: User sleep"];

impl LimiterInput<'_, '_> {
    /// Returns the fraction of the requests' time that is spent waiting if `waiting` sessions wait
    /// on average.
    pub(super) fn share_of_requests(&self, waiting: f64) -> f64 {
        let active = self.active().unwrap_or(0.0);
        if let LoadSource::Program = self.demand.source
            && let Some(asked) = self.requesting_sessions()
        {
            // Between an answer and the next request of a session nothing waits in the database.
            return waiting / asked.min(active.max(asked * AT_WORK));
        }
        waiting / active.max(self.demand.in_flight).max(1.0)
    }

    /// Returns true if much of the requests' time is spent in waits whose remedy is unknown. Waits
    /// for the client, and waits that the statement itself requests, do not count.
    pub(super) fn waits_for_something(&self) -> bool {
        let waits = self.signals.all_per_sample(&ComponentKind::Waits);
        let is_known =
            |name: &str| name == RUNNING || KNOWN_WAITS.iter().any(|known| name.starts_with(known));
        let unknown = waits.iter().filter(|(name, _)| kind(name) == Wait::Other && !is_known(name));
        self.share_of_requests(unknown.map(|(_, mean)| mean).sum()) >= DECISIVE_WAIT
    }
}
