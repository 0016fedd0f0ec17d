//! The real executor: one single-threaded tokio runtime and one kernel timer per thread.
//!
//! Tokio's own timers have a resolution of 1 ms and pace nothing here. Deadlines live in our heap;
//! when the thread is about to go idle, a hook arms a `timerfd` for the earliest of them. A thread
//! that does not go idle makes no system call for its deadlines: it fires them itself, by
//! [`Rt::tick`].

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::rc::Rc;

use base::{Clock, Monotonic, Nanos, Stamp};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, LocalOptions};

use crate::{Mode, Rt, Slot, yield_now};

/// How a thread runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The processor that the thread is bound to; `None` leaves it to the kernel.
    pub cpu: Option<usize>,
    /// Whether the thread spins instead of sleeping when a deadline is near: below 1 µs late
    /// instead of about 10 µs, at the price of a busy processor.
    pub spin: bool,
}

/// With [`Options::spin`], deadlines nearer than this are waited for without sleeping.
const SPIN_WINDOW: Nanos = Nanos::from_micros(80);

/// Sockets are looked at after this many polls of tasks at the latest (tokio's default is 61,
/// at which answers wait while a burst of requests is sent).
const POLLS_BETWEEN_IO: u32 = 16;

/// Runs the future that `program` makes, and all that it spawns, on this thread in real time.
///
/// # Errors
/// The operating system grants no runtime, no timer, or not the processor that was asked for.
pub fn run_real<F: Future>(
    options: &Options,
    program: impl FnOnce(Rt) -> F,
) -> io::Result<F::Output> {
    if let Some(cpu) = options.cpu {
        bind_to(cpu)?;
    }
    let runtime = Builder::new_current_thread()
        .enable_io()
        .event_interval(POLLS_BETWEEN_IO)
        .on_thread_park(before_park)
        .build_local(LocalOptions::default())?;
    runtime.block_on(tokio::task::unconstrained(async {
        let rt = Rt::new(Mode::Real);
        let _guard = Park::install(&rt, options.spin)?;
        Ok(program(rt).await)
    }))
}

/// The processors that this thread may use, in ascending order: those of the machine, or fewer
/// where somebody has bound the process.
///
/// # Errors
/// The operating system does not tell.
pub fn processors() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect())
}

fn bind_to(cpu: usize) -> io::Result<()> {
    let refused = |error| io::Error::other(format!("cannot bind to processor {cpu}: {error}"));
    let mut set = CpuSet::new();
    set.set(cpu).map_err(refused)?;
    sched_setaffinity(Pid::from_raw(0), &set).map_err(refused)
}

thread_local! {
    /// What the hook needs: tokio calls it without arguments.
    static PARK: RefCell<Option<Park>> = const { RefCell::new(None) };
}

/// What happens before this thread goes idle.
struct Park {
    rt: Rt,
    timer: Rc<TimerFd>,
    /// What the kernel's timer is set to.
    armed: Stamp,
    /// Wakes a task that does nothing, so that the thread comes here once more before it sleeps.
    again: Rc<Slot<()>>,
    /// Wakes the spinning task, if there is one.
    spinner: Option<Rc<Slot<()>>>,
}

/// Takes the hook's state away when the runtime ends.
struct Installed;

impl Drop for Installed {
    fn drop(&mut self) {
        PARK.set(None);
    }
}

impl Park {
    fn install(rt: &Rt, spin: bool) -> io::Result<Installed> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = Rc::new(TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?);
        let readable = watch(&timer)?;
        rt.spawn(fire_when_readable(rt.clone(), readable));
        let spinner = spin.then(|| Rc::new(Slot::default()));
        if let Some(slot) = &spinner {
            rt.spawn(spin_until_due(rt.clone(), Rc::clone(slot)));
        }
        let again = Rc::new(Slot::default());
        rt.spawn(take_for_ever(Rc::clone(&again)));
        PARK.set(Some(Park { rt: rt.clone(), timer, armed: Stamp::NEVER, again, spinner }));
        Ok(Installed)
    }

    fn prepare(&mut self) {
        let now = Monotonic.now();
        let earliest = {
            let mut deadlines = self.rt.0.deadlines.borrow_mut();
            if deadlines.may_be_due(now) && deadlines.fire_due(now) {
                // Usually somebody is ready now, and the kernel's timer would be set in vain. But
                // a timer may have fired for nobody, and then the thread would sleep without one.
                return self.again.put(());
            }
            deadlines.earliest()
        };
        match (earliest, &self.spinner) {
            (None, _) => {}
            (Some(at), Some(spinner)) if at.since(now) <= SPIN_WINDOW => spinner.put(()),
            (Some(at), _) => self.set(at),
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

/// Registers the timer with the runtime.
#[expect(
    deprecated,
    reason = "the successor is unsafe and asks for a promise that `TimerFd` keeps by its type: the \
              descriptor stays open and the same as long as it is registered"
)]
fn watch(timer: &Rc<TimerFd>) -> io::Result<AsyncFd<Shared>> {
    AsyncFd::with_interest(Shared(Rc::clone(timer)), Interest::READABLE)
}

fn before_park() {
    PARK.with_borrow_mut(|park| {
        if let Some(park) = park {
            park.prepare();
        }
    });
}

/// Fires what is due whenever the kernel's timer has expired.
///
/// The timer is never read: the registration is edge-triggered and setting the timer again clears
/// its count, so the read would be a system call for nothing.
async fn fire_when_readable(rt: Rt, timer: AsyncFd<Shared>) {
    while let Ok(mut ready) = timer.readable().await {
        ready.clear_ready();
        rt.tick(rt.now());
    }
}

/// Keeps the thread awake until the next deadline, looking at the sockets in between.
async fn spin_until_due(rt: Rt, wake: Rc<Slot<()>>) {
    loop {
        wake.take().await;
        loop {
            let now = rt.now();
            rt.tick(now);
            let earliest = rt.0.deadlines.borrow_mut().earliest();
            if earliest.is_none_or(|at| at.since(now) > SPIN_WINDOW) {
                break;
            }
            yield_now().await;
        }
    }
}

/// Is woken, and does nothing.
async fn take_for_ever(slot: Rc<Slot<()>>) {
    loop {
        slot.take().await;
    }
}

/// A file descriptor with two owners.
struct Shared(Rc<TimerFd>);

impl AsRawFd for Shared {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn run<F: Future>(spin: bool, program: impl FnOnce(Rt) -> F) -> F::Output {
        run_real(&Options { cpu: None, spin }, program).expect("a runtime")
    }

    #[test]
    fn a_timer_that_fires_for_nobody_holds_up_no_other() {
        for spin in [false, true] {
            let (sender, receiver) = std::sync::mpsc::sync_channel(1);
            std::thread::spawn(move || {
                run(spin, |rt| async move {
                    let (for_nobody, later) = (rt.timer(), rt.now() + Nanos::from_millis(1));
                    for_nobody.arm(rt.now());
                    rt.sleep_until(later).await;
                });
                sender.send(()).expect("the test waits");
            });
            // Ten seconds stand for ever: the thread would sleep until something else wakes it.
            let ended = receiver.recv_timeout(std::time::Duration::from_secs(10));
            assert_eq!(ended, Ok(()), "spin {spin}");
        }
    }

    #[test]
    fn timers_fire_in_order_and_never_early() {
        for spin in [false, true] {
            let fired = run(spin, |rt| async move {
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
    fn the_timer_is_armed_again_and_again() {
        let early = run(false, |rt| async move {
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
    fn a_busy_thread_fires_its_timers_by_ticking() {
        let fired = run(false, |rt| async move {
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
            // Nothing here lets the thread go idle: one turn of the queue must be enough.
            yield_now().await;
            fired.get()
        });
        assert!(fired);
    }

    #[test]
    fn a_processor_that_does_not_exist_is_named() {
        let options = Options { cpu: Some(1_000_000), spin: false };
        let error = run_real(&options, |_| async {}).expect_err("no such processor");
        assert!(error.to_string().contains("1000000"), "{error}");
    }

    #[test]
    #[should_panic(expected = "inside a task")]
    fn a_panic_in_a_task_reaches_who_awaits_it() {
        run(false, |rt| async move {
            rt.spawn(async { panic!("inside a task") }).await;
        });
    }
}
