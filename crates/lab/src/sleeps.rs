//! How late do sleeps end on the timer that paces requests?

use std::io;

use base::{Clock, Nanos};
use rt::run_real;

/// How long a sleep is.
const SLEEP: Nanos = Nanos::from_millis(1);

/// Sleeps so many times for a millisecond and gives how late each ended.
///
/// # Errors
/// The operating system grants no timer.
pub(crate) fn lateness(sleeps: usize) -> io::Result<Vec<Nanos>> {
    run_real(&rt::Options::default(), |rt| async move {
        let mut late = Vec::with_capacity(sleeps);
        for _ in 0..sleeps {
            let due = rt.now() + SLEEP;
            rt.sleep_until(due).await;
            late.push(rt.now().since(due));
        }
        late
    })
}
