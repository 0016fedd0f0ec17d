//! A single-threaded async runtime, in real and in virtual time.
//!
//! Two executors keep their deadlines ([`Timer`]) in the same kind of heap. [`run_virtual`] is a
//! discrete-event simulator: when no task is ready, the clock jumps to the earliest deadline. An
//! hour of load takes seconds, and the same program gives the same result to the last bit.
//! [`run_real`] runs the same futures on the machine's clock, with drivers' sockets ([`ReadyFd`])
//! and one kernel timer per thread. Tasks, their queue and their order are the same in both
//! ([`tasks`]); the futures need not know which executor runs them, since both pass an [`Rt`].
//!
//! Only this crate advances time. All other code waits on a [`Timer`], a [`Slot`] or a driver's own
//! I/O.

mod deadlines;
mod net;
mod poller;
mod processors;
mod punctuality;
mod ready_fd;
mod real;
mod slot;
mod task;
mod tasks;
mod timeout;
mod timer;
mod virtual_time;

pub use net::{connect, connect_unix, poll_accept};
pub use poller::Direction;
pub use processors::{Processors, processors};
pub use punctuality::Wait;
pub use ready_fd::ReadyFd;
pub use real::{Options, run_real};
pub use slot::Slot;
pub use task::{Panic, Task, yield_now};
pub use timeout::{unless_fired, within};
pub use timer::Timer;
pub use virtual_time::{Deadlock, run_virtual};

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use base::{Clock, Monotonic, Stamp};

use crate::deadlines::Deadlines;
use crate::poller::Poller;
use crate::tasks::Tasks;

/// A handle to the executor: reads the time, waits and starts tasks. It belongs to one thread;
/// cloning it is cheap.
#[derive(Clone)]
pub struct Rt(Rc<Inner>);

struct Inner {
    /// Reading of the virtual clock; unused in real time.
    virtual_now: Cell<Stamp>,
    deadlines: RefCell<Deadlines>,
    tasks: Rc<Tasks>,
    mode: Mode,
}

enum Mode {
    /// The machine's clock, with sockets.
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

    /// Returns true if time is simulated.
    pub fn is_virtual(&self) -> bool {
        matches!(self.0.mode, Mode::Virtual)
    }

    /// Starts a task on this thread. Dropping the [`Task`] leaves it running.
    pub fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> Task<T> {
        task::spawn(&self.0.tasks, future)
    }

    /// Fires every timer that is due at `now`, a time that the caller has already read from the
    /// clock. A client calls this after each completion, because timers of a thread that never goes
    /// idle would otherwise be late.
    #[inline]
    pub fn tick(&self, now: Stamp) {
        let mut deadlines = self.0.deadlines.borrow_mut();
        if deadlines.may_be_due(now) {
            deadlines.fire_due(now);
        }
    }

    /// Moves the virtual clock to the earliest deadline and fires the timers due then. Returns true
    /// if there were any.
    fn advance(&self) -> bool {
        let mut deadlines = self.0.deadlines.borrow_mut();
        match deadlines.earliest() {
            None => false,
            Some(at) => {
                // A timer may be armed for a past instant; it then fires now.
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
