//! Waits with a time limit.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use base::{Clock, Nanos};

use crate::{Rt, Timer};

/// Waits for a future until a timer fires. Returns `None` if the timer fires first.
///
/// The future must be [`Unpin`], such as a pinned reference to another future. A future taken by
/// value would be stored twice in the waiting future: as the argument, and where it is pinned.
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

/// Waits for a future for at most `span`; returns `None` if the future takes longer. For repeated
/// waits, [`unless_fired`] with one [`Timer`] is cheaper.
pub async fn within<T>(rt: &Rt, span: Nanos, future: impl Future<Output = T>) -> Option<T> {
    let timer = rt.timer();
    timer.arm(rt.now() + span);
    unless_fired(pin!(future), &timer).await
}
