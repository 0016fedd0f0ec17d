//! The discrete-event executor.
//!
//! Ready tasks run first in, first out. When none is ready, the clock moves to the earliest
//! deadline; equal deadlines fire in the order of their entries in the heap of deadlines. Nothing
//! else determines the order, so the result of a program depends on its inputs alone.

use std::fmt;
use std::future::Future;
use std::rc::Rc;

use crate::tasks::{self, Idle, Tasks};
use crate::{Mode, Rt};

/// A deadlock: every task waits and no timer is armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlock;

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("virtual time cannot go on: every task waits and no timer is armed")
    }
}

impl std::error::Error for Deadlock {}

/// Runs the future that `program` makes, and the tasks that it spawns, in virtual time. The clock
/// begins at [`base::Stamp::ZERO`]. Tasks that still run when the future ends are dropped.
///
/// # Errors
/// [`Deadlock`] if the future waits for an event that no timer and no task can cause.
pub fn run_virtual<F: Future>(program: impl FnOnce(Rt) -> F) -> Result<F::Output, Deadlock> {
    let tasks = Rc::new(Tasks::default());
    let rt = Rt::new(Mode::Virtual, Rc::clone(&tasks));
    tasks::run(&tasks, program(rt.clone()), &mut Advance(rt))
}

/// The behaviour of the virtual executor when no task is ready: it advances the clock.
struct Advance(Rt);

impl Idle for Advance {
    type Error = Deadlock;

    fn wait(&mut self) -> Result<(), Deadlock> {
        match self.0.advance() {
            true => Ok(()),
            false => Err(Deadlock),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::task::Poll;

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
    fn waiting_without_a_timer_is_a_deadlock_error() {
        let slot = Slot::<()>::default();
        assert_eq!(run_virtual(|_| slot.take()), Err(Deadlock));
    }

    #[test]
    fn waker_works_from_another_thread() {
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
    fn panic_in_a_task_resumes_in_its_awaiter() {
        let _ = run_virtual(|rt| async move {
            let task = rt.spawn(async { panic!("inside a task") });
            rt.sleep(Nanos(1)).await;
            task.await
        });
    }

    #[test]
    fn a_panic_in_a_task_ends_that_task_alone() {
        let message = run_virtual(|rt| async move {
            let panics = rt.spawn(async { panic!("inside a task") });
            let other = rt.spawn({
                let rt = rt.clone();
                async move { rt.sleep(Nanos(1)).await }
            });
            let outcome: Result<(), crate::task::Panic> = panics.outcome().await;
            other.await;
            outcome.unwrap_err().downcast_ref::<&str>().map(|words| (*words).to_owned())
        });
        assert_eq!(message, Ok(Some("inside a task".to_owned())));
    }
}
