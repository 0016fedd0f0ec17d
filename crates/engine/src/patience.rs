//! Waiting for something, but not for ever.

use std::future::Future;
use std::pin::pin;

use base::Clock;
use rt::{Rt, unless_fired};

use crate::lane::HOUSEKEEPING;
use crate::stop::Stop;

/// Waits for a future, but not longer than until the user wants the end at once. Its connections
/// are then abandoned: dropping one ends what it is doing. In virtual time nothing takes long, and
/// what looks up from time to time would hide a standstill.
pub(crate) async fn unless_ended_at_once<T>(
    future: impl Future<Output = T>,
    rt: &Rt,
    stop: &Stop,
) -> Option<T> {
    unless(future, rt, || stop.is_at_once()).await
}

/// The same, but not longer than until somebody asks for the end, however clean: for a statement
/// that may take hours and of which nothing is measured.
pub(crate) async fn unless_ended<T>(
    future: impl Future<Output = T>,
    rt: &Rt,
    stop: &Stop,
) -> Option<T> {
    unless(future, rt, || stop.is_asked()).await
}

/// Waits for a future, but not longer than until something `is_over`. In virtual time nothing takes
/// long.
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
        timer.arm(rt.now() + HOUSEKEEPING);
        match unless_fired(future.as_mut(), &timer).await {
            Some(output) => return Some(output),
            None if is_over() => return None,
            None => {}
        }
    }
}
