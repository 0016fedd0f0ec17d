//! Measures how late sleeps end on the timer that paces requests.

use std::io;

use base::{Clock, Nanos};
use rt::{Wait, run_real};

/// Length of a sleep.
const SLEEP: Nanos = Nanos::from_millis(1);

/// Number of sleeps before the measurement. During these, the timer learns the kernel's wake-up
/// latency.
const LEARNING: usize = 100;

/// Sleeps `sleeps` times for 1 ms and returns the lateness of each.
///
/// # Errors
/// The operating system refuses a timer.
pub(crate) fn lateness(sleeps: usize) -> io::Result<Vec<Nanos>> {
    let options = rt::Options { wait: Wait::WakeEarly, ..rt::Options::default() };
    run_real(&options, |rt| async move {
        let mut late = Vec::with_capacity(sleeps);
        for sleep in 0..LEARNING + sleeps {
            let due = rt.now() + SLEEP;
            rt.sleep_until(due).await;
            if sleep >= LEARNING {
                late.push(rt.now().since(due));
            }
        }
        late
    })
}
