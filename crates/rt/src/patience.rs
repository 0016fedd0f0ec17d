//! Waiting for something, but not for ever.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use base::{Clock, Nanos};

use crate::{Rt, Timer};

/// Waits for a future, but not longer than until the timer fires.
///
/// The future is one that may be moved, as a pinned reference to any other is: taken by value it
/// would lie twice in the future that waits, once as it was given and once where it stays.
#[inline]
pub fn unless_fired<F: Future + Unpin>(
    mut future: F,
    timer: &Timer,
) -> impl Future<Output = Option<F::Output>> {
    poll_fn(move |context| match Pin::new(&mut future).poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => timer.poll_fired(context).map(|()| None),
    })
}

/// Waits for a future, but not longer than for `span`. For a wait that recurs, keep a [`Timer`].
pub async fn within<T>(rt: &Rt, span: Nanos, future: impl Future<Output = T>) -> Option<T> {
    let timer = rt.timer();
    timer.arm(rt.now() + span);
    unless_fired(pin!(future), &timer).await
}
