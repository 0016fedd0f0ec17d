//! The real executor: sockets, and one kernel timer per thread.
//!
//! The kernel's timeouts of `epoll_wait` have a slack of 50 µs and are not used for pacing. The
//! executor has a heap of deadlines; before the thread sleeps, a `timerfd` is set to the earliest
//! of them, or a little earlier ([`Wait::WakeEarly`]). A thread that does not go idle makes no
//! system call for its deadlines: it fires them itself, by [`Rt::tick`].

use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use base::{Clock, Monotonic, Stamp};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::poller::Poller;
use crate::processors::bind_to;
use crate::punctuality::{Next, Wait, WakeTiming};
use crate::tasks::{self, Idle, Tasks, WakeQueue};
use crate::{Mode, Rt};

/// The options of a thread.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The processor to which the thread is bound; `None` leaves it to the kernel.
    pub cpu: Option<usize>,
    /// The way in which the thread waits for deadlines.
    pub wait: Wait,
}

/// Runs the future that `program` makes, and the tasks that it spawns, on this thread in real time.
/// Tasks that still run when the future ends are dropped.
///
/// # Errors
/// The operating system refuses a timer, a descriptor for waiting (epoll, eventfd) or the requested
/// processor.
pub fn run_real<F: Future>(
    options: &Options,
    program: impl FnOnce(Rt) -> F,
) -> io::Result<F::Output> {
    if let Some(cpu) = options.cpu {
        bind_to(cpu)?;
    }
    let tasks = Rc::new(Tasks::default());
    let poller = Rc::new(Poller::new()?);
    let rt = Rt::new(Mode::Real(Rc::clone(&poller)), Rc::clone(&tasks));
    let mut park = RealIdle::new(rt.clone(), poller, Arc::clone(tasks.wake_queue()), options.wait)?;
    match tasks::run(&tasks, program(rt), &mut park) {
        Ok(output) => Ok(output),
        Err(never) => match never {},
    }
}

/// The behaviour of the real executor when no task is ready.
struct RealIdle {
    rt: Rt,
    poller: Rc<Poller>,
    wake_queue: Arc<WakeQueue>,
    timer: TimerFd,
    /// The instant to which the kernel's timer is set; [`Stamp::NEVER`] before it is first set.
    armed: Stamp,
    punctuality: WakeTiming,
}

impl RealIdle {
    fn new(
        rt: Rt,
        poller: Rc<Poller>,
        wake_queue: Arc<WakeQueue>,
        wait: Wait,
    ) -> io::Result<RealIdle> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        // Neither the timer nor the event descriptor is ever read: the registration is
        // edge-triggered, and setting the timer again clears its count, which makes a read
        // useless.
        poller.add_wakeup(&timer)?;
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let event = EventFd::from_value_and_flags(0, flags)?;
        poller.add_wakeup(&event)?;
        wake_queue.set_notifier(move || {
            // Writing fails only after 2^64 writes without a read.
            let _ = event.write(1);
        });
        let punctuality = WakeTiming::new(wait, Monotonic.now());
        Ok(RealIdle { rt, poller, wake_queue, timer, armed: Stamp::NEVER, punctuality })
    }

    /// Fires the timers that are due, and returns [`TimerFired`] as the error if there were any.
    /// Returns the earliest deadline if no timer was due.
    fn fire_due(&self, now: Stamp) -> Result<Option<Stamp>, TimerFired> {
        let mut deadlines = self.rt.0.deadlines.borrow_mut();
        match deadlines.may_be_due(now) && deadlines.fire_due(now) {
            true => Err(TimerFired),
            false => Ok(deadlines.earliest()),
        }
    }

    fn set(&mut self, at: Stamp) {
        if at == self.armed {
            return;
        }
        let (seconds, nanos) = (at.0 / 1_000_000_000, at.0 % 1_000_000_000);
        let once = Expiration::OneShot(TimeSpec::new(seconds as i64, nanos as i64));
        let absolute = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        self.timer.set(once, absolute).expect("a timer of our own takes any valid time");
        self.armed = at;
    }
}

/// At least one timer has fired, so a task may be ready.
struct TimerFired;

impl Idle for RealIdle {
    type Error = std::convert::Infallible;

    fn poll_events(&mut self) {
        let has_resting = self.poller.has_resting();
        self.poller.poll_kernel(false);
        if has_resting {
            // While sockets have something to read, the thread never goes idle, so timers are fired
            // here.
            self.rt.tick(Monotonic.now());
        }
    }

    fn wait(&mut self) -> Result<(), Self::Error> {
        let now = Monotonic.now();
        let armed = match self.fire_due(now) {
            // A task is usually ready now, and setting the kernel's timer would be useless.
            Err(TimerFired) => return Ok(()),
            Ok(_) if self.poller.has_resting() => {
                self.poller.poll_kernel(false);
                return Ok(());
            }
            Ok(Some(at)) => match self.punctuality.next(now, at) {
                Next::Spin => {
                    self.poller.poll_kernel(false);
                    return Ok(());
                }
                Next::SleepUntil(wake) => {
                    self.set(wake);
                    Some(wake)
                }
            },
            Ok(None) => None,
        };
        if self.wake_queue.may_sleep() {
            self.poller.poll_kernel(true);
            self.wake_queue.mark_awake();
            let now = Monotonic.now();
            if let Some(armed) = armed {
                self.punctuality.record_wake_up(armed, now);
            }
            self.rt.tick(now);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use base::Nanos;

    use super::*;
    use crate::yield_now;

    fn run<F: Future>(wait: Wait, program: impl FnOnce(Rt) -> F) -> F::Output {
        run_real(&Options { cpu: None, wait }, program).expect("a runtime")
    }

    #[test]
    fn timer_without_a_waiter_does_not_delay_others() {
        for wait in Wait::ALL {
            let (sender, receiver) = std::sync::mpsc::sync_channel(1);
            std::thread::spawn(move || {
                run(wait, |rt| async move {
                    let (for_nobody, later) = (rt.timer(), rt.now() + Nanos::from_millis(1));
                    for_nobody.arm(rt.now());
                    rt.sleep_until(later).await;
                });
                sender.send(()).expect("the test waits");
            });
            // A thread that has not ended after ten seconds would sleep until some other event
            // wakes it.
            let ended = receiver.recv_timeout(std::time::Duration::from_secs(10));
            assert_eq!(ended, Ok(()), "{wait:?}");
        }
    }

    #[test]
    fn timers_fire_in_order_and_never_early() {
        for wait in Wait::ALL {
            let fired = run(wait, |rt| async move {
                let start = rt.now();
                let tasks: Vec<_> = [3_000, 1_000, 2_000, 50, 0]
                    .map(|micros| {
                        let (rt, at) = (rt.clone(), start + Nanos::from_micros(micros));
                        rt.clone().spawn(async move {
                            rt.sleep_until(at).await;
                            (at, rt.now())
                        })
                    })
                    .into_iter()
                    .collect();
                let mut fired = Vec::new();
                for task in tasks {
                    fired.push(task.await);
                }
                fired
            });
            assert!(fired.iter().all(|(at, seen)| seen >= at), "{fired:?}");
            let mut by_deadline = fired.clone();
            by_deadline.sort();
            assert!(by_deadline.is_sorted_by_key(|(_, seen)| seen), "{fired:?}");
        }
    }

    #[test]
    fn timer_can_be_rearmed() {
        let early = run(Wait::Sleep, |rt| async move {
            let timer = rt.timer();
            let mut at = rt.now();
            let mut early = 0;
            for _ in 0..50 {
                at = at + Nanos::from_micros(200);
                timer.arm(at);
                timer.fired().await;
                early += u32::from(rt.now() < at);
            }
            early
        });
        assert_eq!(early, 0);
    }

    #[test]
    fn busy_thread_fires_timers_without_sleeping() {
        let fired = run(Wait::Sleep, |rt| async move {
            let fired = Rc::new(Cell::new(false));
            rt.spawn({
                let (rt, fired) = (rt.clone(), Rc::clone(&fired));
                async move {
                    rt.sleep(Nanos(1)).await;
                    fired.set(true);
                }
            });
            yield_now().await;
            let due = rt.now() + Nanos::from_micros(50);
            while rt.now() < due {}
            rt.tick(rt.now());
            // The thread never goes idle here: one turn of the queue must be enough.
            yield_now().await;
            fired.get()
        });
        assert!(fired);
    }

    #[test]
    fn wake_from_another_thread_ends_a_wait() {
        use std::future::poll_fn;
        use std::sync::mpsc::sync_channel;
        use std::task::Poll;
        for wait in Wait::ALL {
            let (sender, receiver) = sync_channel(1);
            let delay = run(wait, |rt| async move {
                let waker = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
                let start = rt.now();
                std::thread::spawn(move || {
                    // Long enough for the other thread to go idle.
                    run(Wait::Sleep, |rt| async move { rt.sleep(Nanos::from_millis(5)).await });
                    sender.send(()).expect("somebody listens");
                    waker.wake();
                });
                let alarm = rt.timer();
                alarm.arm(start + Nanos::from_secs(20));
                poll_fn(|_| match receiver.try_recv() {
                    Ok(()) => Poll::Ready(()),
                    Err(_) => Poll::Pending,
                })
                .await;
                rt.now().since(start)
            });
            assert!(delay < Nanos::from_secs(10), "{wait:?}: {delay}");
        }
    }

    #[test]
    fn nonexistent_processor_is_named() {
        let options = Options { cpu: Some(1_000_000), ..Options::default() };
        let error = run_real(&options, |_| async {}).expect_err("no such processor");
        assert!(error.to_string().contains("1000000"), "{error}");
    }

    #[test]
    #[should_panic(expected = "inside a task")]
    fn panic_in_a_task_reaches_its_awaiter() {
        run(Wait::Sleep, |rt| async move {
            rt.spawn(async { panic!("inside a task") }).await;
        });
    }
}
