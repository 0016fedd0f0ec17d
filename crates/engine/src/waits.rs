//! Waits that end when the run is ended.

use std::future::Future;
use std::pin::pin;

use base::Clock;
use rt::{Rt, unless_fired};

use crate::stop::{CHECK_INTERVAL, Stop};

/// Waits for a future and returns its output. `None` if an immediate end of the run is requested
/// first; the future is then dropped with its connections, which ends their work. In virtual time,
/// only the future itself ends the wait: nothing takes long, and periodic wake-ups would hide a
/// deadlock.
pub(crate) async fn unless_ended_at_once<T>(
    future: impl Future<Output = T>,
    rt: &Rt,
    stop: &Stop,
) -> Option<T> {
    unless(future, rt, || stop.is_at_once()).await
}

/// Waits for a future and returns its output; `None` if an end of the run, graceful or immediate,
/// is requested first. Used for work that is not measured and may take hours. In virtual time, only
/// the future itself ends the wait.
pub async fn unless_ended<T>(future: impl Future<Output = T>, rt: &Rt, stop: &Stop) -> Option<T> {
    unless(future, rt, || stop.is_requested()).await
}

/// Waits for a future and returns its output; `None` if `is_over`, which is called every
/// [`CHECK_INTERVAL`], returns true first. In virtual time, only the future itself ends the wait.
pub(crate) async fn unless<T>(
    future: impl Future<Output = T>,
    rt: &Rt,
    is_over: impl Fn() -> bool,
) -> Option<T> {
    if rt.is_virtual() {
        return Some(future.await);
    }
    let mut future = pin!(future);
    let timer = rt.timer();
    loop {
        timer.arm(rt.now() + CHECK_INTERVAL);
        match unless_fired(future.as_mut(), &timer).await {
            Some(output) => return Some(output),
            None if is_over() => return None,
            None => {}
        }
    }
}
