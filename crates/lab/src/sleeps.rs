//! How late do sleeps end on the timer that paces requests?

use std::io;

use base::{Clock, Nanos};
use rt::{Wait, run_real};

/// How long a sleep is.
const SLEEP: Nanos = Nanos::from_millis(1);

/// So many sleeps are not judged: what the kernel's wakings take is learned in them.
const LEARNING: usize = 100;

/// Sleeps so many times for a millisecond and gives how late each ended.
///
/// # Errors
/// The operating system grants no timer.
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
