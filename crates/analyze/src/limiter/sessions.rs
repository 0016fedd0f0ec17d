//! Sessions of the database, by samples and by its sockets.

use record::metric::{CLIENT_READ, CLIENT_WRITE, sessions, sockets};
use record::statistic::{pg_stat_databases, status};
use record::{ComponentKind, MeasuredSide};

use super::input::LimiterInput;
use crate::program::requests_per_s;

impl LimiterInput<'_, '_> {
    /// Returns the mean number of client sessions at work; `None` if sessions were not sampled.
    pub(super) fn active(&self) -> Option<f64> {
        self.signals.per_sample(&ComponentKind::Sessions, sessions::ACTIVE)
    }

    /// Returns the mean number of idle sessions, within a transaction or not; `None` if sessions
    /// were not sampled.
    pub(super) fn idle_sessions(&self) -> Option<f64> {
        let of = |metric| self.signals.per_sample(&ComponentKind::Sessions, metric);
        Some(of(sessions::IDLE)? + of(sessions::IDLE_IN_TRANSACTION).unwrap_or(0.0))
    }

    /// Returns the mean number of sessions that are at work and do not wait for their client;
    /// `None` if sessions were not sampled.
    pub(super) fn working_sessions(&self) -> Option<f64> {
        let waiting = self.sending_sessions() + self.receiving_sessions();
        Some((self.active()? - waiting).max(0.0))
    }

    /// Returns the mean number of sessions that are blocked because their answers are not read.
    pub(super) fn sending_sessions(&self) -> f64 {
        let waits = self.signals.all_per_sample(&ComponentKind::Waits);
        let is_sending = |name: &str| CLIENT_WRITE.contains(&name);
        waits.iter().filter(|(name, _)| is_sending(name)).map(|(_, mean)| mean).sum()
    }

    /// Returns the mean number of sessions that are blocked because the rest of their input has not
    /// arrived.
    pub(super) fn receiving_sessions(&self) -> f64 {
        let waits =
            CLIENT_READ.map(|name| self.signals.per_sample_named(&ComponentKind::Waits, name));
        waits.into_iter().flatten().sum()
    }

    /// Returns the name of the wait that most of the receiving sessions are in.
    pub(super) fn receiving_event(&self) -> &'static str {
        let sessions =
            |name: &str| self.signals.per_sample_named(&ComponentKind::Waits, name).unwrap_or(0.0);
        let [postgres, mysql] = CLIENT_READ;
        if sessions(mysql) > sessions(postgres) { mysql } else { postgres }
    }

    /// Returns the mean number of connections with a request that the server has not read; `None`
    /// if the server's sockets were not seen.
    pub(super) fn unread_by_server(&self) -> Option<f64> {
        self.signals
            .mean(&ComponentKind::Sockets(MeasuredSide::Server), sockets::WITH_RECEIVE_QUEUE)
    }

    /// Returns true if sessions of the program were distinguished from sessions of others.
    pub(super) fn knows_sessions_of_program(&self) -> bool {
        self.signals
            .per_sample(&ComponentKind::Sessions, sessions::IDENTIFIED)
            .is_some_and(|known| known > 0.0)
    }

    /// Returns the requests of a program per second. If its sockets are not seen, this is the
    /// database's count for all clients. PostgreSQL counts transactions instead, and read-only ones
    /// late.
    pub(super) fn requests_of_a_program_per_s(&self) -> Option<f64> {
        let of = |statistic| self.signals.rate_of_statistic(statistic);
        let transactions = || {
            let rolled_back = of(pg_stat_databases::XACT_ROLLBACK).unwrap_or(0.0);
            Some(of(pg_stat_databases::XACT_COMMIT)? + rolled_back)
        };
        let by_sockets = requests_per_s(self.check_input.evidence);
        by_sockets.or_else(|| of(status::QUESTIONS)).or_else(transactions)
    }
}
