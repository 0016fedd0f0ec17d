//! Telling servers, on connections of its own, to stop working on what nobody waits for any more.
//!
//! A request that was given up is still being worked on by its server. Who says so must not be the
//! thread that measures, and must not depend on whether that is still there: at the end of a run
//! many requests may be given up at once.

use std::future::{Future, poll_fn};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rt::{Options, Rt, Source, run_real};

/// How long the last driver waits at its end for what is still to be said.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much may be waiting to be said. A server that takes so long finds out by itself.
const LIMIT: usize = 10_000;

/// Something to be said to a server.
pub(crate) trait Farewell: Send + 'static {
    /// Says it, on a connection of its own. That nobody listens is no matter.
    fn say(self, rt: &Rt) -> impl Future<Output = ()>;
}

/// Who says it: a thread that is started when there is something to say for the first time. Clones
/// are one; the last of them waits for its end.
#[derive(Debug)]
pub(crate) struct Farewells<F>(Arc<Speaker<F>>);

impl<F> Clone for Farewells<F> {
    fn clone(&self) -> Farewells<F> {
        Farewells(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
struct Speaker<F>(Mutex<Option<Thread<F>>>);

#[derive(Debug)]
struct Thread<F> {
    orders: SyncSender<F>,
    /// Is cut off when the thread ends.
    end: Receiver<()>,
}

impl<F: Farewell> Farewells<F> {
    /// With nothing to say yet.
    pub(crate) fn new() -> Farewells<F> {
        Farewells(Arc::new(Speaker(Mutex::new(None))))
    }

    /// Says something as soon as everything before it is said. Does not wait for that.
    pub(crate) fn say(&self, farewell: F) {
        let mut thread = self.0.0.lock().expect("nothing panics under the lock");
        if thread.is_none() {
            *thread = Thread::start();
        }
        if let Some(thread) = &*thread {
            // Where there is no room, the server finds out by itself.
            let _ = thread.orders.try_send(farewell);
        }
    }
}

impl<F: Farewell> Thread<F> {
    /// `None` if the operating system grants no thread: then servers find out by themselves.
    fn start() -> Option<Thread<F>> {
        let (orders, incoming) = sync_channel(LIMIT);
        let (alive, end) = sync_channel(0);
        let speak = move || {
            // Without a runtime there is nobody who could say anything.
            let _ = run_real(&Options::default(), |rt| say_all(rt, incoming));
            drop(alive);
        };
        std::thread::Builder::new().name("farewells".to_owned()).spawn(speak).ok()?;
        Some(Thread { orders, end })
    }
}

/// Blocks between two of them: this thread has nothing else to do.
async fn say_all<F: Farewell>(rt: Rt, incoming: Receiver<F>) {
    while let Ok(farewell) = incoming.recv() {
        farewell.say(&rt).await;
    }
}

impl<F> Drop for Speaker<F> {
    fn drop(&mut self) {
        let Ok(Some(Thread { orders, end })) = self.0.get_mut().map(Option::take) else {
            return;
        };
        drop(orders);
        // Nothing is ever sent: it ends with the thread, or with this patience.
        let _ = end.recv_timeout(PATIENCE);
    }
}

/// Waits until the other side of a socket hangs up, and takes no notice of what it says before.
pub(crate) async fn hung_up(rt: &Rt, socket: OwnedFd) {
    let Ok(socket) = Source::new(rt, socket) else { return };
    let mut room = [0; 4_096];
    while let Ok(1..) = poll_fn(|context| socket.poll_read(context, &mut room)).await {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Count(Arc<AtomicU32>);

    impl Farewell for Count {
        async fn say(self, rt: &Rt) {
            rt.sleep(base::Nanos::from_millis(1)).await;
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_is_to_be_said_is_said_before_the_last_driver_ends() {
        let said = Arc::new(AtomicU32::new(0));
        let farewells = Farewells::new();
        let clone = farewells.clone();
        for _ in 0..10 {
            clone.say(Count(Arc::clone(&said)));
        }
        drop(farewells);
        drop(clone);
        assert_eq!(said.load(Ordering::Relaxed), 10);
    }
}
