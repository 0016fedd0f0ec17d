//! The thread that looks beside a run.
//!
//! Once a second it reads `/proc/self/task/*/schedstat` ([`threads`]), `/proc/stat`
//! ([`processors`](crate::processors)), `/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq`
//! ([`Frequency`]) and the distance between `CLOCK_REALTIME` and `CLOCK_MONOTONIC`
//! ([`WallClock`]).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use base::{Clock, Nanos, Stamp};
use record::Reading;
use rt::Rt;

use crate::environment::Root;
use crate::frequency::Frequency;
use crate::pace::{Pace, Stall};
use crate::processors::Ticks;
use crate::threads;
use crate::wall_clock::WallClock;

/// How often a sample of each source is taken.
const PERIOD: Nanos = Nanos::from_secs(1);

/// Somebody who looks on while a run goes. Its 1,000 wakings a second cost about half a percent of
/// a processor.
pub struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Begins to look. `tell` is told when something was read, after `zero`, and what it was: once
    /// a second the sources, and the length of each time in which the process stood still, when it
    /// began.
    ///
    /// # Errors
    /// The operating system grants no thread.
    pub fn begin(
        zero: Stamp,
        tell: impl Fn(Nanos, Vec<Reading>) + Send + 'static,
    ) -> io::Result<Watch> {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(move || {
            let watching = rt::run_real(&rt::Options::default(), |rt| look(rt, zero, until, tell));
            // Without a timer nothing is told, and the checks say that they have nothing to judge.
            let _ = watching;
        })?;
        Ok(Watch { is_over, thread })
    }

    /// Ends it. What was read until now has been told when this returns.
    pub fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A panic there has been printed; the run itself is none the worse for it.
        let _ = self.thread.join();
    }
}

async fn look(rt: Rt, zero: Stamp, is_over: Arc<AtomicBool>, tell: impl Fn(Nanos, Vec<Reading>)) {
    rt.sleep_until(zero).await;
    let mut sources = Sources::of(Root::system());
    let mut pace = Pace::new(rt.now());
    let mut due = zero;
    while !is_over.load(Ordering::Relaxed) {
        if rt.now() >= due {
            tell(rt.now().since(zero), sources.sample());
            pace.busy_until(rt.now());
            due = rt.now().max(due + PERIOD);
        }
        rt.sleep_until(pace.next()).await;
        if let Some(Stall { begin, length }) = pace.awake(rt.now()) {
            let stall = Reading::of("generator", "stall", "s", length.as_secs_f64());
            tell(begin.since(zero), vec![stall]);
        }
    }
    tell(rt.now().since(zero), sources.sample());
}

/// What is looked at once a second.
struct Sources {
    root: Root,
    frequency: Frequency,
    wall_clock: WallClock,
}

impl Sources {
    fn of(root: Root) -> Sources {
        Sources { frequency: Frequency::of(&root), root, wall_clock: WallClock::default() }
    }

    /// What all of them say.
    fn sample(&mut self) -> Vec<Reading> {
        let mut readings = threads::readings(&self.root);
        let ticks = Ticks::read(&self.root).map(Ticks::readings);
        readings.extend(ticks.into_iter().flatten());
        readings.extend(self.frequency.reading(&self.root));
        readings.extend(self.wall_clock.reading());
        readings
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use base::Monotonic;

    use super::*;
    use crate::environment::tests::Planted;

    #[test]
    fn the_first_and_the_last_sample_are_told() {
        let (sender, receiver) = sync_channel(1_000);
        let watch = Watch::begin(Monotonic.now(), move |at, readings| {
            let _ = sender.send((at, readings));
        });
        let watch = watch.expect("a thread");
        let (first, _) = receiver.recv().expect("a sample");
        watch.end();
        let (last, readings) = receiver.iter().last().expect("another one");
        assert!(last >= first);
        if cfg!(target_os = "linux") {
            let names: Vec<&str> = readings.iter().map(|r| r.series.metric.as_str()).collect();
            assert!(names.contains(&"stolen"), "{names:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let bare = Planted::new();
        let metrics = |planted: &Planted| -> Vec<String> {
            let readings = Sources::of(planted.root.clone()).sample();
            readings.into_iter().map(|reading| reading.series.metric).collect()
        };
        assert!(metrics(&bare).iter().all(|metric| metric == "wall-clock"));
        let full = bare
            .with("proc/stat", "cpu 1 2 3 4 5 6 7 8\n")
            .with("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
        let found = metrics(&full);
        for metric in ["processors", "busy", "stolen", "frequency"] {
            assert!(found.iter().any(|name| name == metric), "{metric}: {found:?}");
        }
    }
}
