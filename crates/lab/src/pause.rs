//! Waits that the user can end.

use std::io;

use base::{Clock, Nanos, Stamp};
use engine::Stop;
use rt::run_real;

/// Interval at which a wait checks its condition and the request to stop.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// Waits while `continues` returns true for the current time, until a stop is requested.
///
/// # Errors
/// The operating system refuses a timer.
pub(crate) fn wait_while(stop: &Stop, mut continues: impl FnMut(Stamp) -> bool) -> io::Result<()> {
    run_real(&rt::Options::default(), async |rt| {
        while !stop.is_requested() && continues(rt.now()) {
            rt.sleep_until(rt.now() + POLL_INTERVAL).await;
        }
    })
}

#[cfg(test)]
mod tests {
    use base::Monotonic;

    use super::*;

    #[test]
    fn wait_takes_as_long_as_its_condition_holds() {
        let begin = Monotonic.now();
        let until = begin + Nanos::from_millis(120);
        wait_while(&Stop::default(), |now| now < until).unwrap();
        assert!(Monotonic.now() >= until);
    }

    #[test]
    fn wait_ends_when_it_is_interrupted() {
        let stop = Stop::default();
        let mut turns = 0;
        let ended = wait_while(&stop, |_| {
            turns += 1;
            stop.interrupt();
            turns < 1_000
        });
        assert!(ended.is_ok());
        assert_eq!(turns, 1);
    }
}
