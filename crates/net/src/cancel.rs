//! Cancellation, in the background, of statements whose answers are no longer needed.
//!
//! A server continues to execute a request that its client has given up. The cancellation must not
//! run on the measuring thread, and must not depend on that thread's existence, because many
//! requests may be given up at once at the end of a run.

use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::Nanos;
use rt::{Options, Rt, run_real};

use crate::socket::Socket;

/// Maximum time for which dropping the last clone of a service waits for pending cancellations.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of queued cancellations. Further cancellations are dropped.
const MOST_PENDING: usize = 10_000;

/// Maximum number of cancellations that are sent at the same time. Each of them occupies a
/// connection of a server that may have no other connection left.
const MOST_IN_FLIGHT: usize = 8;

/// Pause between two checks for a new or completed cancellation, while others are being sent.
const POLL_INTERVAL: Nanos = Nanos::from_millis(5);

/// A cancellation to send to a server.
pub trait Cancellation: Send + 'static {
    /// Sends the cancellation on a connection of its own. Failures are ignored.
    fn send(self, rt: &Rt) -> impl Future<Output = ()>;
}

/// A thread that sends cancellations. It is started by the first cancellation. Clones share the
/// thread; dropping the last clone waits until the thread has ended, but at most two seconds.
#[derive(Debug)]
pub struct CancelService<F>(Arc<Worker<F>>);

impl<F> Clone for CancelService<F> {
    fn clone(&self) -> CancelService<F> {
        CancelService(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
struct Worker<F>(Mutex<Option<Thread<F>>>);

#[derive(Debug)]
struct Thread<F> {
    queue: SyncSender<F>,
    /// Disconnected when the thread ends.
    end: Receiver<()>,
}

impl<F: Cancellation> Default for CancelService<F> {
    fn default() -> CancelService<F> {
        CancelService::new()
    }
}

impl<F: Cancellation> CancelService<F> {
    /// Creates a service whose thread has not been started.
    pub fn new() -> CancelService<F> {
        CancelService(Arc::new(Worker(Mutex::new(None))))
    }

    /// Queues a cancellation and returns without waiting for it.
    pub fn send(&self, cancellation: F) {
        let mut thread = self.0.0.lock().expect("nothing panics under the lock");
        if thread.is_none() {
            *thread = Thread::start();
        }
        if let Some(thread) = &*thread {
            // If the queue is full, the cancellation is dropped.
            let _ = thread.queue.try_send(cancellation);
        }
    }
}

impl<F: Cancellation> Thread<F> {
    /// Starts the thread. `None` if the operating system does not allow it; cancellations are then
    /// dropped.
    fn start() -> Option<Thread<F>> {
        let (queue, incoming) = sync_channel(MOST_PENDING);
        let (alive, end) = sync_channel(0);
        let work = move || {
            // If no runtime can be started, the thread ends and cancellations are dropped.
            let _ = run_real(&Options::default(), |rt| send_all(rt, incoming));
            drop(alive);
        };
        std::thread::Builder::new().name("cancel".to_owned()).spawn(work).ok()?;
        Some(Thread { queue, end })
    }
}

/// Sends cancellations, several at the same time, because a server that does not answer must not
/// delay the cancellations for other servers.
async fn send_all<F: Cancellation>(rt: Rt, incoming: Receiver<F>) {
    // Each cancellation that is being sent holds a clone of the token, so the clones count them.
    let token = Rc::new(());
    let in_flight = || Rc::strong_count(&token) - 1;
    loop {
        let next = match in_flight() {
            // Blocking is allowed here, because the thread has no other work.
            0 => incoming.recv().map_err(|_| TryRecvError::Disconnected),
            MOST_IN_FLIGHT.. => Err(TryRecvError::Empty),
            _ => incoming.try_recv(),
        };
        match next {
            Ok(cancellation) => {
                let (rt, token) = (rt.clone(), Rc::clone(&token));
                rt.clone().spawn(async move {
                    cancellation.send(&rt).await;
                    drop(token);
                });
            }
            Err(TryRecvError::Empty) => rt.sleep(POLL_INTERVAL).await,
            Err(TryRecvError::Disconnected) => break,
        }
    }
    while in_flight() > 0 {
        rt.sleep(POLL_INTERVAL).await;
    }
}

impl<F> Drop for Worker<F> {
    fn drop(&mut self) {
        let Ok(Some(Thread { queue, end })) = self.0.get_mut().map(Option::take) else {
            return;
        };
        drop(queue);
        // This channel carries no message: the wait ends with the thread, or after `CLOSE_TIMEOUT`.
        let _ = end.recv_timeout(CLOSE_TIMEOUT);
    }
}

/// Waits for bytes from the other end and discards them. Returns false at the end of the stream, or
/// if the connection is lost.
pub async fn discard_input(socket: &Socket) -> bool {
    let mut room = [0; 4_096];
    matches!(poll_fn(|context| socket.poll_read(context, &mut room)).await, Ok(1..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Clock;
    use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

    struct Count(Arc<AtomicU32>);

    impl Cancellation for Count {
        async fn send(self, rt: &Rt) {
            rt.sleep(Nanos::from_millis(1)).await;
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn pending_cancellations_are_sent_before_the_last_driver_ends() {
        let sent = Arc::new(AtomicU32::new(0));
        let service = CancelService::new();
        let clone = service.clone();
        for _ in 0..10 {
            clone.send(Count(Arc::clone(&sent)));
        }
        drop(service);
        drop(clone);
        assert_eq!(sent.load(Ordering::Relaxed), 10);
    }

    /// Numbers of cancellations: in flight now, in flight at most, and completed.
    #[derive(Default)]
    struct InFlight {
        now: AtomicUsize,
        most: AtomicUsize,
        ended: AtomicUsize,
    }

    /// A cancellation that completes when `together` cancellations are in flight, or after half a
    /// second.
    struct Gathering {
        together: usize,
        seen: Arc<InFlight>,
    }

    impl Cancellation for Gathering {
        async fn send(self, rt: &Rt) {
            let Gathering { together, seen } = self;
            let now = seen.now.fetch_add(1, Ordering::Relaxed) + 1;
            seen.most.fetch_max(now, Ordering::Relaxed);
            let end = rt.now() + Nanos::from_millis(500);
            while seen.most.load(Ordering::Relaxed) < together && rt.now() < end {
                rt.sleep(Nanos::from_millis(1)).await;
            }
            seen.now.fetch_sub(1, Ordering::Relaxed);
            seen.ended.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends `count` cancellations that wait until `together` of them are in flight. Returns the
    /// largest number in flight at one time, and the number that completed.
    fn gather(count: usize, together: usize) -> (usize, usize) {
        let seen = Arc::new(InFlight::default());
        let service = CancelService::new();
        for _ in 0..count {
            service.send(Gathering { together, seen: Arc::clone(&seen) });
        }
        drop(service);
        (seen.most.load(Ordering::Relaxed), seen.ended.load(Ordering::Relaxed))
    }

    #[test]
    fn cancellation_that_takes_long_does_not_delay_the_next_one() {
        assert_eq!(gather(2, 2), (2, 2));
    }

    #[test]
    fn cancellations_at_a_time_are_limited() {
        assert_eq!(
            gather(3 * MOST_IN_FLIGHT, MOST_IN_FLIGHT),
            (MOST_IN_FLIGHT, 3 * MOST_IN_FLIGHT)
        );
    }
}
