//! How does a future wait?
//!
//! One heap of deadlines ([`Timer`]) under two executors. [`run_virtual`] is a discrete-event
//! simulator: when no task is ready, the clock jumps to the earliest deadline, so that an hour of
//! load takes seconds and the same program gives the same result to the last bit. [`run_real`]
//! runs the same futures on the machine's clock, with drivers' sockets ([`Source`]) and one kernel
//! timer per thread. Tasks, their queue and their order are the same ([`tasks`]); the futures
//! cannot tell which executor they are on: both hand them an [`Rt`].
//!
//! Only here is time advanced. Everything above waits on a [`Timer`], a [`Slot`] or a driver's
//! own I/O.

mod deadlines;
mod net;
mod patience;
mod poller;
mod punctuality;
mod real;
mod slot;
mod task;
mod tasks;
mod timer;
mod virtual_time;

pub use net::{connect, connect_unix, poll_accept};
pub use patience::{unless_fired, within};
pub use poller::{Direction, Source};
pub use punctuality::Wait;
pub use real::{Options, processors, run_real};
pub use slot::Slot;
pub use task::{Panic, Task, yield_now};
pub use timer::Timer;
pub use virtual_time::{Deadlock, run_virtual};

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use base::{Clock, Monotonic, Nanos, Stamp};

use crate::deadlines::Deadlines;
use crate::poller::Poller;
use crate::tasks::Tasks;

/// The handle by which a task tells the time, waits and starts other tasks. It belongs to one
/// thread; cloning it is cheap.
#[derive(Clone)]
pub struct Rt(Rc<Inner>);

struct Inner {
    /// The virtual clock's reading; unused in real time.
    virtual_now: Cell<Stamp>,
    deadlines: RefCell<Deadlines>,
    tasks: Rc<Tasks>,
    mode: Mode,
}

enum Mode {
    /// On the machine's clock, with sockets.
    Real(Rc<Poller>),
    Virtual,
}

impl Rt {
    fn new(mode: Mode, tasks: Rc<Tasks>) -> Rt {
        Rt(Rc::new(Inner {
            virtual_now: Cell::new(Stamp::ZERO),
            deadlines: RefCell::new(Deadlines::default()),
            tasks,
            mode,
        }))
    }

    fn poller(&self) -> Option<&Rc<Poller>> {
        match &self.0.mode {
            Mode::Real(poller) => Some(poller),
            Mode::Virtual => None,
        }
    }

    /// Whether time is simulated.
    pub fn is_virtual(&self) -> bool {
        matches!(self.0.mode, Mode::Virtual)
    }

    /// Starts a task on this thread. Dropping the [`Task`] leaves it running.
    pub fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> Task<T> {
        task::spawn(&self.0.tasks, future)
    }

    /// A timer of one's own, not armed.
    pub fn timer(&self) -> Timer {
        Timer::new(self.clone())
    }

    /// Waits until `at`. For a wait that recurs, keep a [`Timer`]: it is cheaper.
    pub async fn sleep_until(&self, at: Stamp) {
        let timer = self.timer();
        timer.arm(at);
        timer.fired().await;
    }

    /// Waits for `span`.
    pub async fn sleep(&self, span: Nanos) {
        self.sleep_until(self.now() + span).await;
    }

    /// Fires every timer that is due at `now`, a reading that the caller has anyway. A worker
    /// calls this after each completion: a thread that never goes idle still keeps its schedule.
    #[inline]
    pub fn tick(&self, now: Stamp) {
        let mut deadlines = self.0.deadlines.borrow_mut();
        if deadlines.may_be_due(now) {
            deadlines.fire_due(now);
        }
    }

    /// Moves the virtual clock to the earliest deadline and fires what is due there. Returns
    /// whether anything was.
    fn advance(&self) -> bool {
        let mut deadlines = self.0.deadlines.borrow_mut();
        match deadlines.earliest() {
            None => false,
            Some(at) => {
                // A timer may be armed for an instant that is past; it then fires now.
                let at = at.max(self.0.virtual_now.get());
                self.0.virtual_now.set(at);
                deadlines.fire_due(at)
            }
        }
    }
}

impl Clock for Rt {
    #[inline]
    fn now(&self) -> Stamp {
        match self.0.mode {
            Mode::Real(_) => Monotonic.now(),
            Mode::Virtual => self.0.virtual_now.get(),
        }
    }
}
