//! Waiting for something, but not for ever.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use base::{Clock, Nanos};

use crate::{Rt, Timer};

/// Waits for a future, but not longer than until the timer fires.
#[inline]
pub async fn unless_fired<T>(future: impl Future<Output = T>, timer: &Timer) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => timer.poll_fired(context).map(|()| None),
    })
    .await
}

/// Waits for a future, but not longer than for `span`. For a wait that recurs, keep a [`Timer`].
pub async fn within<T>(rt: &Rt, span: Nanos, future: impl Future<Output = T>) -> Option<T> {
    let timer = rt.timer();
    timer.arm(rt.now() + span);
    unless_fired(future, &timer).await
}
