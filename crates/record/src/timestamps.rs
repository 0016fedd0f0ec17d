//! The five timestamps of a request, and the times that follow from them.

use base::{Nanos, Stamp};

/// The timestamps of one request, all from one monotonic clock. `docs/response-and-service-time.md`
/// explains the times between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTimestamps {
    /// I: intended start by the schedule.
    pub intended: Stamp,
    /// P: time when the generator noticed that the request was due.
    pub noticed: Stamp,
    /// A: time when a worker and a connection were free for the request.
    pub assigned: Stamp,
    /// S: time when the first byte was sent.
    pub sent: Stamp,
    /// D: time when the last byte of the last answer was read, or when the request was given up.
    pub done: Stamp,
}

impl RequestTimestamps {
    /// Returns the response time, D − I: the time that a user of the database waits.
    pub fn response(&self) -> Nanos {
        self.done.since(self.intended)
    }

    /// Returns the service time, D − S: the time of the database and the network, including
    /// retries and the think time within a session.
    pub fn service(&self) -> Nanos {
        self.done.since(self.sent)
    }

    /// Returns the wait, A − P: the time for which the request had no free worker or connection.
    pub fn wait(&self) -> Nanos {
        self.assigned.since(self.noticed)
    }

    /// Returns the send lag, (P − I) + (S − A): the generator's own lateness.
    pub fn send_lag(&self) -> Nanos {
        self.noticed.since(self.intended) + self.sent.since(self.assigned)
    }

    /// Returns true if the timestamps are in ascending order.
    pub fn is_ordered(&self) -> bool {
        [self.intended, self.noticed, self.assigned, self.sent, self.done].is_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_lag_and_wait_and_service() {
        let timestamps = RequestTimestamps {
            intended: Stamp(100),
            noticed: Stamp(103),
            assigned: Stamp(150),
            sent: Stamp(152),
            done: Stamp(200),
        };
        assert!(timestamps.is_ordered());
        assert_eq!(timestamps.send_lag(), Nanos(5));
        assert_eq!(timestamps.wait(), Nanos(47));
        assert_eq!(timestamps.service(), Nanos(48));
        let sum = timestamps.send_lag() + timestamps.wait() + timestamps.service();
        assert_eq!(timestamps.response(), sum);
    }
}
