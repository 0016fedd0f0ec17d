//! The thread that looks beside a run.
//!
//! Every so often it looks at all [`Sources`], and every few milliseconds it sees whether the
//! process stood still ([`Pace`]), unless it is another program that makes the requests.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use base::{Clock, Nanos, Stamp};
use record::{Part, Side};
use rt::Rt;

use crate::environment::Root;
use crate::pace::{Pace, Stall};
use crate::sample::Sample;
use crate::scope::Scope;
use crate::sources::Sources;

/// Time within which the end of a watch is seen that does not look for pauses of this process.
const END_SEEN: Nanos = Nanos::from_millis(100);

/// Somebody who looks on while a run goes.
pub struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Begins to look. `tell` is told when something was read, after `zero`, and what it was: every
    /// so often the sources, and the length of each time in which the process stood still, when it
    /// began.
    ///
    /// # Errors
    /// The operating system grants no thread.
    pub fn begin(
        zero: Stamp,
        scope: Scope,
        tell: impl Fn(Nanos, Sample) + Send + 'static,
    ) -> io::Result<Watch> {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(move || {
            let watching =
                rt::run_real(&rt::Options::default(), |rt| look(rt, zero, &scope, until, tell));
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

async fn look(
    rt: Rt,
    zero: Stamp,
    scope: &Scope,
    is_over: Arc<AtomicBool>,
    tell: impl Fn(Nanos, Sample),
) {
    rt.sleep_until(zero).await;
    let mut sources = Sources::of(Root::system(), scope);
    let mut pace = Pace::new(rt.now());
    // That this process stood still says nothing of the requests of another one.
    let is_of_others = scope.generator.is_some();
    let mut due = zero;
    while !is_over.load(Ordering::Relaxed) {
        if rt.now() >= due {
            tell(rt.now().since(zero), sources.sample());
            pace.busy_until(rt.now());
            due = rt.now().max(due + scope.every);
        }
        if is_of_others {
            rt.sleep_until(due.min(rt.now() + END_SEEN)).await;
            continue;
        }
        rt.sleep_until(pace.next()).await;
        if let Some(Stall { begin, length }) = pace.awake(rt.now()) {
            let mut stall = Sample::default();
            stall.read(&Part::Processes(Side::Generator), "stall", "s", length.as_secs_f64());
            tell(begin.since(zero), stall);
        }
    }
    tell(rt.now().since(zero), sources.sample());
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use base::Monotonic;

    use super::*;

    #[test]
    fn the_first_and_the_last_sample_are_told() {
        let (sender, receiver) = sync_channel(1_000);
        let watch = Watch::begin(Monotonic.now(), Scope::default(), move |at, sample| {
            let _ = sender.send((at, sample.readings));
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
}
