//! The thread that takes samples during a run.
//!
//! At the interval of its scope, the thread samples all sources ([`Samplers`]). Every few
//! milliseconds it checks that the process was not stopped ([`StallDetector`]), unless another
//! program sends the requests.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use base::{Clock, Nanos, Stamp};
use record::metric::generator;
use record::{ComponentKind, MeasuredSide};
use rt::Rt;

use crate::environment::Root;
use crate::sample::Sample;
use crate::samplers::Samplers;
use crate::scope::Scope;
use crate::stall_detector::{Stall, StallDetector};

/// Maximum delay until a watch that does not check for stalls notices that it was ended.
const END_CHECK_INTERVAL: Nanos = Nanos::from_millis(100);

/// The thread that samples this machine during a run.
pub struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Starts the thread. The thread calls `on_sample` with each sample of the sources and each
    /// stall of this process. It also passes the time from `zero` to the sample, or to the start of
    /// the stall.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub fn begin(
        zero: Stamp,
        scope: Scope,
        on_sample: impl Fn(Nanos, Sample) + Send + 'static,
    ) -> io::Result<Watch> {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(move || {
            let watching = rt::run_real(&rt::Options::default(), |rt| {
                sample_until_end(rt, zero, &scope, until, on_sample)
            });
            // Without a timer, nothing is reported, and the checks report that there are no data.
            let _ = watching;
        })?;
        Ok(Watch { is_over, thread })
    }

    /// Stops the thread. When this function returns, everything read before has been reported.
    pub fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A panic in the thread has been printed already and does not affect the run.
        let _ = self.thread.join();
    }
}

async fn sample_until_end(
    rt: Rt,
    zero: Stamp,
    scope: &Scope,
    is_over: Arc<AtomicBool>,
    on_sample: impl Fn(Nanos, Sample),
) {
    rt.sleep_until(zero).await;
    let mut samplers = Samplers::of(Root::system(), scope);
    let mut stall_detector = StallDetector::new(rt.now());
    // A stall of this process does not affect the requests of another program.
    let is_of_others = scope.generator.is_some();
    let mut due = zero;
    while !is_over.load(Ordering::Relaxed) {
        if rt.now() >= due {
            on_sample(rt.now().since(zero), samplers.sample());
            stall_detector.busy_until(rt.now());
            due = rt.now().max(due + scope.every);
        }
        if is_of_others {
            rt.sleep_until(due.min(rt.now() + END_CHECK_INTERVAL)).await;
            continue;
        }
        rt.sleep_until(stall_detector.next_wake_up()).await;
        if let Some(Stall { begin, length }) = stall_detector.on_wake_up(rt.now()) {
            let mut stall = Sample::default();
            stall.read(
                &ComponentKind::Processes(MeasuredSide::Generator),
                generator::STALL,
                length.as_secs_f64(),
            );
            on_sample(begin.since(zero), stall);
        }
    }
    on_sample(rt.now().since(zero), samplers.sample());
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use base::Monotonic;

    use super::*;

    #[test]
    fn first_and_last_samples_are_delivered() {
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
