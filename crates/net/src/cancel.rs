//! Background requests to servers to cancel statements that are no longer waited for.
//!
//! A server keeps working on a request that was given up. The cancellation must not run on the
//! measuring thread nor depend on it still existing: at the end of a run many requests may be given
//! up at once.

use std::future::{Future, poll_fn};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rt::{Options, Rt, run_real};

use crate::socket::Socket;

/// Time that dropping the last clone waits for pending cancellations.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of pending cancellations. Further ones are dropped.
const LIMIT: usize = 10_000;

/// A cancellation to send to a server.
pub trait Cancellation: Send + 'static {
    /// Sends it, on a connection of its own. Failures are ignored.
    fn send(self, rt: &Rt) -> impl Future<Output = ()>;
}

/// A thread that sends cancellations, started with the first one. Clones share it; dropping the
/// last clone waits for its end.
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
    orders: SyncSender<F>,
    /// Disconnected when the thread ends.
    end: Receiver<()>,
}

impl<F: Cancellation> Default for CancelService<F> {
    fn default() -> CancelService<F> {
        CancelService::new()
    }
}

impl<F: Cancellation> CancelService<F> {
    /// Creates a service without a thread.
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
            let _ = thread.orders.try_send(cancellation);
        }
    }
}

impl<F: Cancellation> Thread<F> {
    /// Starts the thread; `None` if the operating system grants none, and then cancellations are
    /// dropped.
    fn start() -> Option<Thread<F>> {
        let (orders, incoming) = sync_channel(LIMIT);
        let (alive, end) = sync_channel(0);
        let work = move || {
            // If no runtime can be started, the thread ends and cancellations are dropped.
            let _ = run_real(&Options::default(), |rt| send_all(rt, incoming));
            drop(alive);
        };
        std::thread::Builder::new().name("cancel".to_owned()).spawn(work).ok()?;
        Some(Thread { orders, end })
    }
}

/// Sends the cancellations one by one. Blocking between them is fine: the thread has no other work.
async fn send_all<F: Cancellation>(rt: Rt, incoming: Receiver<F>) {
    while let Ok(cancellation) = incoming.recv() {
        cancellation.send(&rt).await;
    }
}

impl<F> Drop for Worker<F> {
    fn drop(&mut self) {
        let Ok(Some(Thread { orders, end })) = self.0.get_mut().map(Option::take) else {
            return;
        };
        drop(orders);
        // Nothing is ever sent: the wait ends with the thread, or after `CLOSE_TIMEOUT`.
        let _ = end.recv_timeout(CLOSE_TIMEOUT);
    }
}

/// Waits for bytes of the other side and discards them. Returns false at the end of the stream.
pub async fn discard(socket: &Socket) -> bool {
    let mut room = [0; 4_096];
    matches!(poll_fn(|context| socket.poll_read(context, &mut room)).await, Ok(1..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Count(Arc<AtomicU32>);

    impl Cancellation for Count {
        async fn send(self, rt: &Rt) {
            rt.sleep(base::Nanos::from_millis(1)).await;
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
}
