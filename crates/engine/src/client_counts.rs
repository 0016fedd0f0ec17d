//! Counts of the clients of one job on one lane, by state.
//!
//! A client is in one of three states ([`ClientStatus`]), and each change of state is one method:
//!
//! ```text
//!            joined               connected               lost
//!  (none) ──────────▶ Unconnected ─────────▶ Connected ─────────▶ Disconnected
//!                                 ◀─────────           ◀─────────
//!                                   closed              regained
//! ```
//!
//! A client leaves from any state. Invariant: `connected + disconnected <= running`, where the
//! difference is the number of unconnected clients. A change from a state that no client is in is
//! a bug in the engine, and panics.

use std::cell::Cell;

/// The relation of a running client to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientStatus {
    /// The client has had no connection yet, or its last request opened a connection that has been
    /// closed or lost.
    Unconnected,
    /// The client has a connection.
    Connected,
    /// The client lost a connection, and wants a new one.
    Disconnected,
}

/// The numbers of clients of one job on one lane, by [`ClientStatus`].
#[derive(Debug)]
pub(crate) struct ClientCounts {
    /// Number of clients in any state.
    running: Cell<u32>,
    connected: Cell<u32>,
    disconnected: Cell<u32>,
    /// Maximum number of clients.
    limit: Cell<u32>,
}

impl ClientCounts {
    /// Creates the counts of a job that has no clients yet and may have up to `limit`.
    pub(crate) fn new(limit: u32) -> ClientCounts {
        ClientCounts {
            running: Cell::new(0),
            connected: Cell::new(0),
            disconnected: Cell::new(0),
            limit: Cell::new(limit),
        }
    }

    /// Returns the number of running clients.
    #[inline]
    pub(crate) fn running(&self) -> u32 {
        self.running.get()
    }

    /// Returns the number of clients that have a connection, which is also the number of
    /// connections.
    #[inline]
    pub(crate) fn connections(&self) -> u32 {
        self.connected.get()
    }

    /// Returns the number of clients that have no connection.
    pub(crate) fn without_connection(&self) -> u32 {
        self.running.get() - self.connected.get()
    }

    /// Returns true if a client lost its connection and has no new one yet.
    pub(crate) fn has_disconnected(&self) -> bool {
        self.disconnected.get() > 0
    }

    /// Returns true if the job may have more clients than it has.
    #[inline]
    pub(crate) fn may_grow(&self) -> bool {
        self.running.get() < self.limit.get()
    }

    /// Limits the job to the clients that have a connection now. Returns the new limit, or `None`
    /// if the limit was already this low.
    pub(crate) fn limit_to_connected(&self) -> Option<u32> {
        let connected = self.connected.get();
        (self.limit.replace(self.limit.get().min(connected)) > connected).then_some(connected)
    }

    /// Counts a client that begins, without a connection.
    pub(crate) fn count_joined(&self) {
        self.running.set(self.running.get() + 1);
    }

    /// Counts the connection of an unconnected client.
    pub(crate) fn count_connected(&self) {
        self.take_from(ClientStatus::Unconnected);
        self.connected.set(self.connected.get() + 1);
    }

    /// Counts a connected client whose connection was closed or lost, and that has none until its
    /// next request.
    pub(crate) fn count_closed(&self) {
        self.take_from(ClientStatus::Connected);
    }

    /// Counts a connected client that lost its connection and wants a new one.
    pub(crate) fn count_lost(&self) {
        self.take_from(ClientStatus::Connected);
        self.disconnected.set(self.disconnected.get() + 1);
    }

    /// Counts the new connection of a client that had lost one.
    pub(crate) fn count_regained(&self) {
        self.take_from(ClientStatus::Disconnected);
        self.connected.set(self.connected.get() + 1);
    }

    /// Stops counting a client that has ended. `status` is its last state.
    pub(crate) fn count_left(&self, status: ClientStatus) {
        self.take_from(status);
        self.running.set(self.running.get() - 1);
    }

    /// Removes one client from the count of a state.
    ///
    /// # Panics
    /// If no client is in that state.
    fn take_from(&self, status: ClientStatus) {
        let (running, connected) = (self.running.get(), self.connected.get());
        let disconnected = self.disconnected.get();
        let present = match status {
            ClientStatus::Unconnected => running - connected - disconnected,
            ClientStatus::Connected => connected,
            ClientStatus::Disconnected => disconnected,
        };
        assert!(present > 0, "no client is {status:?} to change its state: {self:?}");
        match status {
            ClientStatus::Unconnected => {}
            ClientStatus::Connected => self.connected.set(connected - 1),
            ClientStatus::Disconnected => self.disconnected.set(disconnected - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panics::catch_panic;

    /// Returns the counts of a job with one client in each state.
    fn one_of_each() -> ClientCounts {
        let counts = ClientCounts::new(5);
        (0..3).for_each(|_| counts.count_joined());
        counts.count_connected();
        counts.count_connected();
        counts.count_lost();
        counts
    }

    /// Checks the numbers of unconnected, connected and disconnected clients after a change to
    /// [`one_of_each`].
    fn check(change: impl Fn(&ClientCounts), expected: (u32, u32, u32)) {
        let counts = one_of_each();
        change(&counts);
        let (connected, disconnected) = (counts.connected.get(), counts.disconnected.get());
        let unconnected = counts.running.get() - connected - disconnected;
        assert_eq!((unconnected, connected, disconnected), expected);
    }

    #[test]
    fn joined_client_is_unconnected() {
        check(|_| {}, (1, 1, 1));
        check(ClientCounts::count_joined, (2, 1, 1));
    }

    #[test]
    fn unconnected_client_gets_a_connection() {
        check(ClientCounts::count_connected, (0, 2, 1));
    }

    #[test]
    fn connected_client_closes_its_connection() {
        check(ClientCounts::count_closed, (2, 0, 1));
    }

    #[test]
    fn connected_client_loses_its_connection() {
        check(ClientCounts::count_lost, (1, 0, 2));
    }

    #[test]
    fn disconnected_client_regains_a_connection() {
        check(ClientCounts::count_regained, (1, 2, 0));
    }

    #[test]
    fn client_leaves_from_any_state() {
        check(|counts| counts.count_left(ClientStatus::Unconnected), (0, 1, 1));
        check(|counts| counts.count_left(ClientStatus::Connected), (1, 0, 1));
        check(|counts| counts.count_left(ClientStatus::Disconnected), (1, 1, 0));
    }

    /// Expects a panic if a change is counted twice, although only one client was in the state
    /// before the change.
    #[test]
    fn change_that_is_counted_twice_panics() {
        let changes: [fn(&ClientCounts); 7] = [
            ClientCounts::count_connected,
            ClientCounts::count_closed,
            ClientCounts::count_lost,
            ClientCounts::count_regained,
            |counts| counts.count_left(ClientStatus::Unconnected),
            |counts| counts.count_left(ClientStatus::Connected),
            |counts| counts.count_left(ClientStatus::Disconnected),
        ];
        for (place, change) in changes.iter().enumerate() {
            let counts = one_of_each();
            change(&counts);
            let message = catch_panic(|| change(&counts)).expect_err(&place.to_string());
            assert!(message.contains("no client is"), "{place}: {message}");
        }
    }

    #[test]
    fn job_grows_up_to_its_limit_and_is_limited_once() {
        let counts = one_of_each();
        assert!(counts.may_grow());
        assert_eq!(counts.limit_to_connected(), Some(1));
        assert_eq!(counts.limit_to_connected(), None);
        assert!(!counts.may_grow());
        counts.count_left(ClientStatus::Unconnected);
        counts.count_left(ClientStatus::Connected);
        counts.count_left(ClientStatus::Disconnected);
        assert!(counts.may_grow());
    }

    #[test]
    fn clients_that_are_still_to_be_connected_include_disconnected_ones() {
        let counts = one_of_each();
        assert_eq!(counts.without_connection(), 2);
        assert!(counts.has_disconnected());
        counts.count_regained();
        assert!(!counts.has_disconnected());
    }
}
