//! The tasks of an executor, and its queue of ready tasks.
//!
//! Both executors use this code: ready tasks run first in, first out, on the thread that they
//! belong to. The executors differ in their behaviour when no task is ready.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// The part of an executor that waits for events.
pub(crate) trait Idle {
    /// The reason why the executor cannot continue.
    type Error;

    /// Polls for events without waiting; called between polls of tasks.
    fn poll_events(&mut self) {}

    /// Waits until a task may be ready, or makes one ready; called when no task is ready. May
    /// return although none is ready yet, and is then called again.
    ///
    /// # Errors
    /// No task will ever be ready.
    fn wait(&mut self) -> Result<(), Self::Error>;
}

/// Maximum number of polls of tasks between polls for events: answers must not wait while a burst
/// of requests is sent.
const TASK_POLLS_PER_EVENT_POLL: u32 = 16;

/// Runs a future to its end, and meanwhile the tasks that it spawns. Tasks that still run at its
/// end are dropped.
///
/// # Errors
/// The reason why the executor cannot continue.
pub(crate) fn run<F: Future, I: Idle>(
    tasks: &Rc<Tasks>,
    main: F,
    idle: &mut I,
) -> Result<F::Output, I::Error> {
    let _turn = QueueGuard::take(tasks.wake_queue.executor);
    // The futures of the tasks hold handles to `tasks`. If the futures were not dropped here,
    // `tasks` would keep itself alive.
    let _end = DropAllTasks(Rc::clone(tasks));
    let mut main = pin!(main);
    let flag = tasks.new_flag(MAIN);
    let waker = Waker::from(Arc::clone(&flag));
    waker.wake_by_ref();
    let mut context = Context::from_waker(&waker);
    let mut polls = 0_u32;
    loop {
        match tasks.next_ready() {
            Some(MAIN) => {
                flag.queued.store(false, Ordering::Relaxed);
                if let Poll::Ready(output) = main.as_mut().poll(&mut context) {
                    return Ok(output);
                }
            }
            Some(task) => tasks.poll(task),
            None => {
                polls = 0;
                idle.wait()?;
                continue;
            }
        }
        polls += 1;
        if polls == TASK_POLLS_PER_EVENT_POLL {
            polls = 0;
            idle.poll_events();
        }
    }
}

type TaskIndex = usize;

/// The index of the main future.
const MAIN: TaskIndex = usize::MAX;

/// The tasks of one executor.
#[derive(Default)]
pub(crate) struct Tasks {
    slots: RefCell<Vec<TaskSlot>>,
    free: RefCell<Vec<TaskIndex>>,
    wake_queue: Arc<WakeQueue>,
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
    /// Returns the queue through which other threads wake tasks.
    pub(crate) fn wake_queue(&self) -> &Arc<WakeQueue> {
        &self.wake_queue
    }

    fn new_flag(&self, task: TaskIndex) -> Arc<TaskFlag> {
        let wake_queue = Arc::clone(&self.wake_queue);
        Arc::new(TaskFlag { task, queued: AtomicBool::new(false), wake_queue })
    }

    /// Starts a task.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let future = Box::pin(future);
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
        if self.wake_queue.is_nonempty.load(Ordering::Acquire) {
            self.wake_queue.is_nonempty.store(false, Ordering::SeqCst);
            READY.with_borrow_mut(|ready| self.wake_queue.move_to(ready));
        }
        READY.with_borrow_mut(VecDeque::pop_front)
    }

    fn poll(&self, task: TaskIndex) {
        let running = {
            let slot = &mut self.slots.borrow_mut()[task];
            slot.flag.queued.store(false, Ordering::Relaxed);
            slot.running.take()
        };
        // A finished task may be woken once more by a timer that it left behind.
        let Some(mut running) = running else { return };
        let mut context = Context::from_waker(&running.waker);
        if running.future.as_mut().poll(&mut context).is_pending() {
            self.slots.borrow_mut()[task].running = Some(running);
        } else {
            drop(running);
            self.free.borrow_mut().push(task);
        }
    }

    /// Drops all tasks.
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

/// A guard that drops all tasks when the executor ends, normally or by a panic.
struct DropAllTasks(Rc<Tasks>);

impl Drop for DropAllTasks {
    fn drop(&mut self) {
        self.0.drop_all();
    }
}

thread_local! {
    /// Ready tasks of this thread's executor, first in, first out.
    static READY: RefCell<VecDeque<TaskIndex>> = const { RefCell::new(VecDeque::new()) };
    /// The number of the executor that this thread runs; 0 for none.
    static RUNNING: Cell<u64> = const { Cell::new(0) };
}

/// A guard that assigns this thread's queue to one executor, and empties the queue when dropped.
struct QueueGuard;

impl QueueGuard {
    fn take(executor: u64) -> QueueGuard {
        let before = RUNNING.replace(executor);
        assert_eq!(before, 0, "an executor is not started inside another");
        QueueGuard
    }
}

impl Drop for QueueGuard {
    fn drop(&mut self) {
        RUNNING.set(0);
        READY.with_borrow_mut(VecDeque::clear);
    }
}

/// Tasks that were woken by other threads: rare, and the only wake-ups that need a lock.
pub(crate) struct WakeQueue {
    executor: u64,
    is_nonempty: AtomicBool,
    queue: Mutex<Vec<TaskIndex>>,
    /// True if the executor's thread sleeps, or is about to.
    is_sleeping: AtomicBool,
    /// Function that wakes the executor's thread.
    notify: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl Default for WakeQueue {
    fn default() -> WakeQueue {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        WakeQueue {
            executor: NEXT.fetch_add(1, Ordering::Relaxed),
            is_nonempty: AtomicBool::new(false),
            queue: Mutex::default(),
            is_sleeping: AtomicBool::new(false),
            notify: Mutex::default(),
        }
    }
}

impl WakeQueue {
    /// Sets the function that wakes the executor's thread when it sleeps.
    pub(crate) fn set_notifier(&self, notify: impl Fn() + Send + 'static) {
        *self.notify.lock().expect("notifying does not panic") = Some(Box::new(notify));
    }

    /// Announces that the thread is about to sleep. Returns false if it must not sleep, because a
    /// task has been woken. If [`push`](WakeQueue::push) runs concurrently, at least one of the two
    /// functions sees the effect of the other.
    pub(crate) fn may_sleep(&self) -> bool {
        self.is_sleeping.store(true, Ordering::SeqCst);
        let may = !self.is_nonempty.load(Ordering::SeqCst);
        if !may {
            self.mark_awake();
        }
        may
    }

    /// Records that the thread is awake.
    pub(crate) fn mark_awake(&self) {
        self.is_sleeping.store(false, Ordering::SeqCst);
    }

    fn push(&self, task: TaskIndex) {
        self.queue.lock().expect("pushing does not panic").push(task);
        self.is_nonempty.store(true, Ordering::SeqCst);
        if self.is_sleeping.swap(false, Ordering::SeqCst)
            && let Some(notify) = &*self.notify.lock().expect("notifying does not panic")
        {
            notify();
        }
    }

    /// Moves the woken tasks to `ready`. Both queues keep their memory, so waking from another
    /// thread allocates nothing.
    fn move_to(&self, ready: &mut VecDeque<TaskIndex>) {
        ready.extend(self.queue.lock().expect("pushing does not panic").drain(..));
    }
}

struct TaskFlag {
    task: TaskIndex,
    /// True if the task is in a queue; further wakes then do not queue it again. (Two threads that
    /// wake it at the same instant may still queue it twice, which costs one poll.)
    queued: AtomicBool,
    wake_queue: Arc<WakeQueue>,
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
        if RUNNING.get() == self.wake_queue.executor {
            READY.with_borrow_mut(|ready| ready.push_back(self.task));
        } else {
            self.wake_queue.push(self.task);
        }
    }
}
