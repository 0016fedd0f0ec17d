//! The share of a run's work that one lane does.

/// The share of a lane: all numbers that leave the remainder `lane` when divided by `lanes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The lane's index, which is the remainder.
    pub lane: u16,
    /// The number of lanes, which is the divisor.
    pub lanes: u16,
}

impl Share {
    /// The share of all numbers.
    pub const ALL: Share = Share { lane: 0, lanes: 1 };

    /// Returns true if a number belongs to this share.
    #[inline]
    pub fn has(&self, number: u64) -> bool {
        self.lanes == 1 || number % u64::from(self.lanes) == u64::from(self.lane)
    }
}
