//! The ways in which a thread waits for its deadlines.
//!
//! The kernel takes a while to wake a thread: some 10 µs if the idle processor is in a shallow
//! sleep state, 50 to 200 µs if a virtual machine has given it back to the host. Work that begins
//! at a deadline begins that much later. A thread that paces requests therefore sets its timer
//! earlier, by the usual delay of the kernel (the *lead*), and spins for the rest. It spins for at
//! most a tenth of its time, which bounds the cost where wake-ups are slow and deadlines are
//! frequent.

use base::{Nanos, Stamp};

/// A way of waiting for deadlines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Sleep until the kernel's timer wakes the thread, and accept the delay.
    #[default]
    Sleep,
    /// Sleep until the deadline minus the usual delay of the kernel, and spin for the rest.
    WakeEarly,
    /// Never sleep while there is a deadline: spin.
    Spin,
}

impl Wait {
    /// All ways of waiting.
    pub const ALL: [Wait; 3] = [Wait::Sleep, Wait::WakeEarly, Wait::Spin];
}

/// A thread that [wakes early](Wait::WakeEarly) spins for at most 1/`SPINS_ONE_IN` of its time.
const SPINS_ONE_IN: u64 = 10;

/// Maximum budget for spinning that a thread accumulates.
const MOST_BUDGET: Nanos = Nanos::from_millis(5);

/// Maximum duration of one round of spinning; a longer round is assumed to have included work.
const ROUND: Nanos = Nanos::from_micros(5);

/// The lead before the first delay has been measured.
const FIRST_LEAD: Nanos = Nanos::from_micros(50);

/// Maximum lead.
const LONGEST_LEAD: Nanos = Nanos::from_micros(250);

/// Delay above which a wake-up is ignored: another process had the processor.
const IGNORED_DELAY: Nanos = Nanos::from_millis(1);

/// If the delay exceeds the lead, the lead grows by 1/`GROWS_BY` of the difference; otherwise it
/// shrinks by 1/`SHRINKS_BY` of itself. It settles at a value that the kernel's delay exceeds about
/// once in fifty times.
const GROWS_BY: u64 = 4;
const SHRINKS_BY: u64 = 512;

/// The next action of an idle thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Poll again at once.
    Spin,
    /// Sleep until this instant, for which the kernel's timer is set, or until another event.
    SleepUntil(Stamp),
}

/// The state of a thread that waits for deadlines: the delay expected when the kernel wakes it, and
/// the time for which it may spin.
#[derive(Debug)]
pub(crate) struct WakeTiming {
    wait: Wait,
    /// The lead: the time by which the kernel's timer is set earlier than the deadline.
    lead: Nanos,
    /// Time for which the thread may spin.
    spin_budget: Nanos,
    /// Instant at which `spin_budget` was updated.
    updated_at: Stamp,
    /// True if the thread has spun since `updated_at`.
    is_spinning: bool,
}

impl WakeTiming {
    pub(crate) fn new(wait: Wait, now: Stamp) -> WakeTiming {
        let (lead, spin_budget) = (FIRST_LEAD, Nanos::ZERO);
        WakeTiming { wait, lead, spin_budget, updated_at: now, is_spinning: false }
    }

    /// Returns the next action of an idle thread whose earliest deadline is `deadline`.
    #[inline]
    pub(crate) fn next(&mut self, now: Stamp, deadline: Stamp) -> Next {
        match self.wait {
            Wait::Sleep => Next::SleepUntil(deadline),
            Wait::Spin => Next::Spin,
            Wait::WakeEarly => self.next_if_early(now, deadline),
        }
    }

    fn next_if_early(&mut self, now: Stamp, deadline: Stamp) -> Next {
        self.update_spin_budget(now);
        let left = deadline.since(now);
        self.is_spinning = left <= self.lead && self.spin_budget > Nanos::ZERO;
        match self.is_spinning {
            true => Next::Spin,
            false if left > self.lead && self.spin_budget >= self.lead => {
                Next::SleepUntil(Stamp(deadline.0 - self.lead.0))
            }
            false => Next::SleepUntil(deadline),
        }
    }

    /// Adds the spinning time earned since the last call, and subtracts the time spent.
    fn update_spin_budget(&mut self, now: Stamp) {
        let passed = now.since(self.updated_at);
        self.updated_at = now;
        let earned = Nanos(passed.0 / SPINS_ONE_IN);
        self.spin_budget = (self.spin_budget + earned).min(MOST_BUDGET);
        if self.is_spinning {
            self.spin_budget = self.spin_budget.saturating_sub(passed.min(ROUND));
        }
    }

    /// Updates the lead after a sleep for which the timer was set to `armed` and which ended at
    /// `now`. If `now` is before `armed`, something else woke the thread, and the lead stays.
    #[inline]
    pub(crate) fn record_wake_up(&mut self, armed: Stamp, now: Stamp) {
        if self.wait != Wait::WakeEarly || now < armed {
            return;
        }
        let late = now.since(armed);
        if late > IGNORED_DELAY {
            return;
        }
        let late = late.min(LONGEST_LEAD);
        self.lead = match late > self.lead {
            true => self.lead + Nanos((late.0 - self.lead.0) / GROWS_BY),
            false => self.lead.saturating_sub(Nanos(self.lead.0 / SHRINKS_BY)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(micros: u64) -> Nanos {
        Nanos::from_micros(micros)
    }

    /// Returns the state of a thread that has slept 2,000 times for 10 ms, with these delays in
    /// turn, in microseconds.
    fn experienced(late: &[u64]) -> WakeTiming {
        let mut it = WakeTiming::new(Wait::WakeEarly, Stamp::ZERO);
        for round in 0..2_000u64 {
            let deadline = Stamp::ZERO + Nanos::from_millis(10 * (round + 1));
            let now = Stamp::ZERO + Nanos::from_millis(10 * round);
            let Next::SleepUntil(armed) = it.next(now, deadline) else { panic!("{round}") };
            it.record_wake_up(armed, armed + us(late[round as usize % late.len()]));
        }
        it
    }

    #[test]
    fn wake_up_lead_compensates_kernel_lateness() {
        for (late, expected) in [(10, 5..=10), (60, 55..=60), (180, 170..=180)] {
            let mut it = experienced(&[late]);
            assert!(expected.contains(&(it.lead.0 / 1_000)), "{it:?}");
            let now = it.updated_at + us(100);
            let deadline = now + Nanos::from_millis(3);
            assert_eq!(it.next(now, deadline), Next::SleepUntil(Stamp(deadline.0 - it.lead.0)));
            let near = Stamp(deadline.0 - us(3).0);
            assert_eq!(it.next(near, deadline), Next::Spin);
        }
    }

    #[test]
    fn wake_up_lead_covers_most_of_the_variation() {
        // Delays of up to 100 µs: the lead covers all but a few.
        let late: Vec<u64> = (0..97).map(|n| n * 31 % 97).collect();
        let lead = experienced(&late).lead;
        assert!((us(80)..us(97)).contains(&lead), "{lead}");
        // An occasional long delay, when another process has the processor, is not a reason to
        // spin.
        let mut late = vec![30; 199];
        late.push(20_000);
        assert!(experienced(&late).lead < us(40));
    }

    #[test]
    fn spinning_takes_at_most_a_tenth_of_the_time() {
        let mut it = experienced(&[200]);
        let start = it.updated_at;
        let (mut now, mut spun, mut wakings) = (start, Nanos::ZERO, 0u64);
        // With a deadline every 300 µs, waking 200 µs early would mean spinning for two thirds of
        // the time.
        while now.since(start) < Nanos::from_secs(2) {
            let deadline = now + us(300);
            while now < deadline {
                match it.next(now, deadline) {
                    Next::Spin => {
                        now = now + us(1);
                        spun += us(1);
                    }
                    Next::SleepUntil(armed) => {
                        wakings += 1;
                        now = armed + us(wakings * 37 % 200);
                        it.record_wake_up(armed, now);
                    }
                }
            }
        }
        let share = spun.as_secs_f64() / now.since(start).as_secs_f64();
        assert!((0.06..0.11).contains(&share), "{share}");
    }

    #[test]
    fn work_does_not_count_as_spinning() {
        let mut it = experienced(&[100]);
        let spin_budget = it.spin_budget;
        let mut now = it.updated_at;
        for _ in 0..100 {
            let deadline = now + us(50);
            assert_eq!(it.next(now, deadline), Next::Spin);
            now = deadline + us(450);
        }
        assert!(it.spin_budget + ROUND >= spin_budget, "{it:?}");
    }

    #[test]
    fn sleep_and_spin_modes_have_no_lead() {
        let deadline = Stamp::ZERO + Nanos::from_millis(1);
        let mut sleeper = WakeTiming::new(Wait::Sleep, Stamp::ZERO);
        assert_eq!(sleeper.next(Stamp::ZERO, deadline), Next::SleepUntil(deadline));
        let mut spinner = WakeTiming::new(Wait::Spin, Stamp::ZERO);
        assert_eq!(spinner.next(Stamp::ZERO, deadline), Next::Spin);
    }
}
