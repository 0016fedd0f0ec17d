//! The discrete-event executor.
//!
//! Ready tasks run first in, first out. When none is ready, the clock moves to the earliest
//! deadline; equal deadlines fire in the order in which they were armed. There is no other source
//! of order, so a program is a function of its inputs.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use crate::{Mode, Rt};

/// Every task waits and no timer is armed: the program would wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlock;

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("virtual time cannot go on: every task waits and no timer is armed")
    }
}

impl std::error::Error for Deadlock {}

/// Runs the future that `program` makes, and all that it spawns, in virtual time. The clock
/// begins at [`base::Stamp::ZERO`].
///
/// # Errors
/// [`Deadlock`] if the future waits for something that no timer and no task can bring about.
pub fn run_virtual<F: Future>(program: impl FnOnce(Rt) -> F) -> Result<F::Output, Deadlock> {
    let tasks = Rc::new(Tasks::default());
    let _turn = Turn::take(tasks.foreign.executor);
    let rt = Rt::new(Mode::Virtual(Spawner(Rc::clone(&tasks))));
    let mut main = pin!(program(rt.clone()));
    let flag = tasks.new_flag(MAIN);
    let waker = Waker::from(Arc::clone(&flag));
    waker.wake_by_ref();
    let mut context = Context::from_waker(&waker);
    loop {
        match tasks.next_ready() {
            Some(MAIN) => {
                flag.queued.store(false, Ordering::Relaxed);
                if let Poll::Ready(output) = main.as_mut().poll(&mut context) {
                    tasks.drop_all();
                    return Ok(output);
                }
            }
            Some(task) => tasks.poll(task),
            None => {
                if !rt.advance() {
                    tasks.drop_all();
                    return Err(Deadlock);
                }
            }
        }
    }
}

type TaskIndex = usize;

/// The index that stands for the main future.
const MAIN: TaskIndex = usize::MAX;

/// Starts tasks in virtual time.
#[derive(Clone)]
pub(crate) struct Spawner(Rc<Tasks>);

impl Spawner {
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        self.0.spawn(Box::pin(future));
    }
}

#[derive(Default)]
struct Tasks {
    slots: RefCell<Vec<TaskSlot>>,
    free: RefCell<Vec<TaskIndex>>,
    foreign: Arc<Foreign>,
}

struct TaskSlot {
    /// `None` while the task is being polled, and after its end.
    running: Option<Running>,
    flag: Arc<TaskFlag>,
}

struct Running {
    future: Pin<Box<dyn Future<Output = ()>>>,
    waker: Waker,
}

impl Tasks {
    fn new_flag(&self, task: TaskIndex) -> Arc<TaskFlag> {
        let foreign = Arc::clone(&self.foreign);
        Arc::new(TaskFlag { task, queued: AtomicBool::new(false), foreign })
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()>>>) {
        let mut slots = self.slots.borrow_mut();
        let task = self.free.borrow_mut().pop().unwrap_or(slots.len());
        let flag = self.new_flag(task);
        let waker = Waker::from(Arc::clone(&flag));
        waker.wake_by_ref();
        let slot = TaskSlot { running: Some(Running { future, waker }), flag };
        if task == slots.len() {
            slots.push(slot);
        } else {
            slots[task] = slot;
        }
    }

    fn next_ready(&self) -> Option<TaskIndex> {
        if self.foreign.any.load(Ordering::Acquire) {
            self.foreign.any.store(false, Ordering::Release);
            READY.with_borrow_mut(|ready| ready.extend(self.foreign.take()));
        }
        READY.with_borrow_mut(VecDeque::pop_front)
    }

    fn poll(&self, task: TaskIndex) {
        let running = {
            let slot = &mut self.slots.borrow_mut()[task];
            slot.flag.queued.store(false, Ordering::Relaxed);
            slot.running.take()
        };
        // A task that has ended may be woken once more by a timer that it left behind.
        let Some(mut running) = running else { return };
        let mut context = Context::from_waker(&running.waker);
        if running.future.as_mut().poll(&mut context).is_pending() {
            self.slots.borrow_mut()[task].running = Some(running);
        } else {
            drop(running);
            self.free.borrow_mut().push(task);
        }
    }

    /// Ends every task. They hold handles to this very structure, which would otherwise keep
    /// itself alive.
    fn drop_all(&self) {
        loop {
            let slots = std::mem::take(&mut *self.slots.borrow_mut());
            if slots.is_empty() {
                return;
            }
            drop(slots);
        }
    }
}

thread_local! {
    /// The tasks to be polled by this thread's executor, first in, first out.
    static READY: RefCell<VecDeque<TaskIndex>> = const { RefCell::new(VecDeque::new()) };
    /// Which executor this thread runs; 0 for none.
    static RUNNING: Cell<u64> = const { Cell::new(0) };
}

/// Makes this thread's queue that of one executor, and empties it in the end.
struct Turn;

impl Turn {
    fn take(executor: u64) -> Turn {
        let before = RUNNING.replace(executor);
        assert_eq!(before, 0, "a virtual run is not started inside another");
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        RUNNING.set(0);
        READY.with_borrow_mut(VecDeque::clear);
    }
}

/// Tasks that were woken by other threads: rare, and so the only ones that cost a lock.
struct Foreign {
    executor: u64,
    any: AtomicBool,
    queue: Mutex<Vec<TaskIndex>>,
}

impl Default for Foreign {
    fn default() -> Foreign {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let executor = NEXT.fetch_add(1, Ordering::Relaxed);
        Foreign { executor, any: AtomicBool::new(false), queue: Mutex::default() }
    }
}

impl Foreign {
    fn push(&self, task: TaskIndex) {
        self.queue.lock().expect("pushing does not panic").push(task);
        self.any.store(true, Ordering::Release);
    }

    fn take(&self) -> Vec<TaskIndex> {
        std::mem::take(&mut *self.queue.lock().expect("pushing does not panic"))
    }
}

struct TaskFlag {
    task: TaskIndex,
    /// Whether the task is in the queue: it stands there once, however often it is woken. (Two
    /// threads that wake it at the same instant may queue it twice, which costs one poll.)
    queued: AtomicBool,
    foreign: Arc<Foreign>,
}

impl Wake for TaskFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.load(Ordering::Relaxed) {
            return;
        }
        self.queued.store(true, Ordering::Relaxed);
        if RUNNING.get() == self.foreign.executor {
            READY.with_borrow_mut(|ready| ready.push_back(self.task));
        } else {
            self.foreign.push(self.task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Slot, yield_now};
    use base::{Clock, Nanos, Stamp};

    #[test]
    fn an_hour_passes_at_once() {
        let end = run_virtual(|rt| async move {
            rt.sleep(Nanos::from_secs(3_600)).await;
            rt.now()
        });
        assert_eq!(end, Ok(Stamp(3_600_000_000_000)));
    }

    #[test]
    fn tasks_run_in_the_order_of_their_deadlines_then_of_arming() {
        let log = Rc::new(RefCell::new(Vec::new()));
        let shared = Rc::clone(&log);
        run_virtual(|rt| async move {
            let tasks: Vec<_> = [(30, 'a'), (10, 'b'), (10, 'c'), (20, 'd')]
                .into_iter()
                .map(|(at, name)| {
                    let (rt, log) = (rt.clone(), Rc::clone(&shared));
                    rt.clone().spawn(async move {
                        rt.sleep_until(Stamp(at)).await;
                        log.borrow_mut().push((rt.now().0, name));
                    })
                })
                .collect();
            for task in tasks {
                task.await;
            }
        })
        .unwrap();
        assert_eq!(*log.borrow(), [(10, 'b'), (10, 'c'), (20, 'd'), (30, 'a')]);
    }

    #[test]
    fn a_timer_armed_in_the_past_fires_now_and_the_clock_does_not_go_back() {
        let readings = run_virtual(|rt| async move {
            rt.sleep(Nanos(100)).await;
            rt.sleep_until(Stamp(30)).await;
            let after = rt.now();
            rt.sleep(Nanos(1)).await;
            (after, rt.now())
        });
        assert_eq!(readings, Ok((Stamp(100), Stamp(101))));
    }

    #[test]
    fn a_hand_off_wakes_the_other_task_at_the_same_instant() {
        let got = run_virtual(|rt| async move {
            let slot = Rc::new(Slot::default());
            let taker = rt.spawn({
                let (slot, rt) = (Rc::clone(&slot), rt.clone());
                async move { (slot.take().await, rt.now()) }
            });
            rt.sleep(Nanos(5)).await;
            slot.put("value");
            taker.await
        });
        assert_eq!(got, Ok(("value", Stamp(5))));
    }

    #[test]
    fn yielding_lets_the_others_run_first() {
        let order = run_virtual(|rt| async move {
            let log = Rc::new(RefCell::new(Vec::new()));
            let other = Rc::clone(&log);
            rt.spawn(async move { other.borrow_mut().push("other") });
            yield_now().await;
            log.borrow_mut().push("main");
            log.take()
        });
        assert_eq!(order, Ok(vec!["other", "main"]));
    }

    #[test]
    fn waiting_for_nothing_is_an_error_and_not_a_hang() {
        let slot = Slot::<()>::default();
        assert_eq!(run_virtual(|_| slot.take()), Err(Deadlock));
    }

    #[test]
    fn a_waker_of_another_thread_wakes_its_task() {
        let woken = run_virtual(|rt| async move {
            let slot = Rc::new(Slot::default());
            let taker = rt.spawn({
                let slot = Rc::clone(&slot);
                async move { slot.take().await }
            });
            let waker = std::future::poll_fn(|context| Poll::Ready(context.waker().clone())).await;
            std::thread::spawn(move || waker.wake()).join().expect("the thread ends");
            yield_now().await;
            slot.put(7);
            taker.await
        });
        assert_eq!(woken, Ok(7));
    }

    #[test]
    #[should_panic(expected = "inside a task")]
    fn a_panic_in_a_task_goes_on_in_whoever_awaits_it() {
        let _ = run_virtual(|rt| async move {
            let task = rt.spawn(async { panic!("inside a task") });
            rt.sleep(Nanos(1)).await;
            task.await
        });
    }

    #[test]
    fn a_panic_in_a_task_ends_that_task_alone() {
        let said = run_virtual(|rt| async move {
            let panics = rt.spawn(async { panic!("inside a task") });
            let goes_on = rt.spawn({
                let rt = rt.clone();
                async move { rt.sleep(Nanos(1)).await }
            });
            let outcome: Result<(), crate::task::Panic> = panics.outcome().await;
            goes_on.await;
            outcome.unwrap_err().downcast_ref::<&str>().map(|words| (*words).to_owned())
        });
        assert_eq!(said, Ok(Some("inside a task".to_owned())));
    }
}
