//! Resource use of processes, as sums that only grow.

use std::ops::AddAssign;

/// Resources used. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ResourceUse {
    /// Processor time in user mode.
    pub(super) user: u64,
    /// Processor time in the kernel.
    pub(super) system: u64,
    /// Time for which threads were ready to run and had no processor.
    pub(super) waited: u64,
    /// Page faults that waited for a disk.
    pub(super) major_faults: u64,
    /// Bytes read from disks.
    pub(super) read: u64,
    /// Bytes written to disks.
    pub(super) written: u64,
    /// Voluntary context switches: a thread went to sleep by itself.
    pub(super) voluntary: u64,
    /// Involuntary context switches: a thread was preempted.
    pub(super) involuntary: u64,
}

impl AddAssign for ResourceUse {
    fn add_assign(&mut self, other: ResourceUse) {
        let add = |sum: &mut u64, part: u64| *sum = sum.saturating_add(part);
        add(&mut self.user, other.user);
        add(&mut self.system, other.system);
        add(&mut self.waited, other.waited);
        add(&mut self.major_faults, other.major_faults);
        add(&mut self.read, other.read);
        add(&mut self.written, other.written);
        add(&mut self.voluntary, other.voluntary);
        add(&mut self.involuntary, other.involuntary);
    }
}

/// Two related numbers: bytes read and written, voluntary and involuntary context switches, ticks
/// in user mode and in the kernel, or run times on this side and on the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pair(pub(super) u64, pub(super) u64);

impl Pair {
    /// Returns the growth of both counters since an earlier reading.
    pub(super) fn since(self, earlier: Pair) -> Pair {
        Pair(self.0.saturating_sub(earlier.0), self.1.saturating_sub(earlier.1))
    }

    /// Returns the sum of both counters.
    pub(super) fn sum(self) -> u64 {
        self.0.saturating_add(self.1)
    }

    /// Divides `whole` in the proportion of the two counters. If both are zero, the first part of
    /// the result is `whole`.
    pub(super) fn divide(self, whole: u64) -> Pair {
        let sum = u128::from(self.0) + u128::from(self.1);
        if sum == 0 {
            return Pair(whole, 0);
        }
        let first = u128::from(whole) * u128::from(self.0) / sum;
        let first = u64::try_from(first).unwrap_or(whole).min(whole);
        Pair(first, whole - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_preserves_the_sum() {
        assert_eq!(Pair(1, 3).divide(10), Pair(2, 8));
        assert_eq!(Pair(0, 0).divide(10), Pair(10, 0));
        assert_eq!(Pair(u64::MAX, u64::MAX).divide(u64::MAX).sum(), u64::MAX);
        assert_eq!(Pair(5, 1).since(Pair(3, 2)), Pair(2, 0));
    }
}
