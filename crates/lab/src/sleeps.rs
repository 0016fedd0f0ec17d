//! Measurement of the lateness of sleeps with the timer that paces requests.

use std::io;

use base::{Clock, Nanos};
use rt::{Wait, run_real};

/// Length of a sleep.
const SLEEP_TIME: Nanos = Nanos::from_millis(1);

/// Number of sleeps before the measurement, in which the timer learns the kernel's wake-up latency.
const WARM_UP_SLEEPS: usize = 100;

/// Sleeps for 1 ms `sleeps` times, and returns the lateness of each sleep.
///
/// # Errors
/// The operating system refuses a timer.
pub(crate) fn lateness(sleeps: usize) -> io::Result<Vec<Nanos>> {
    let options = rt::Options { wait: Wait::WakeEarly, ..rt::Options::default() };
    run_real(&options, |rt| async move {
        let mut late = Vec::with_capacity(sleeps);
        for sleep in 0..WARM_UP_SLEEPS + sleeps {
            let due = rt.now() + SLEEP_TIME;
            rt.sleep_until(due).await;
            if sleep >= WARM_UP_SLEEPS {
                late.push(rt.now().since(due));
            }
        }
        late
    })
}
