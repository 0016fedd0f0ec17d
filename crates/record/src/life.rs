//! The life of a request in five stamps, and the times between them.

use base::{Nanos, Stamp};

/// The stamps of one request (specification, section 5), all from one monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// I: when the schedule wanted the request to begin.
    pub intended: Stamp,
    /// P: when the generator noticed that it was due.
    pub noticed: Stamp,
    /// A: when a worker and a connection were free for it.
    pub assigned: Stamp,
    /// S: when the first byte was sent.
    pub sent: Stamp,
    /// D: when the last byte of the last answer had been read.
    pub done: Stamp,
}

impl Life {
    /// D − I: what a user of the database waits for.
    pub fn response(&self) -> Nanos {
        self.done.since(self.intended)
    }

    /// D − S: what the database takes.
    pub fn service(&self) -> Nanos {
        self.done.since(self.sent)
    }

    /// A − P: no worker or no connection was free.
    pub fn wait(&self) -> Nanos {
        self.assigned.since(self.noticed)
    }

    /// (P − I) + (S − A): the generator's own lateness.
    pub fn send_lag(&self) -> Nanos {
        self.noticed.since(self.intended) + self.sent.since(self.assigned)
    }

    /// Whether the stamps are in the order of a life.
    pub fn is_ordered(&self) -> bool {
        [self.intended, self.noticed, self.assigned, self.sent, self.done].is_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_lag_and_wait_and_service() {
        let life = Life {
            intended: Stamp(100),
            noticed: Stamp(103),
            assigned: Stamp(150),
            sent: Stamp(152),
            done: Stamp(200),
        };
        assert!(life.is_ordered());
        assert_eq!(life.send_lag(), Nanos(5));
        assert_eq!(life.wait(), Nanos(47));
        assert_eq!(life.service(), Nanos(48));
        assert_eq!(life.response(), life.send_lag() + life.wait() + life.service());
    }
}
