//! The state of a run that a display needs.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use archive::LiveView;
use base::{Clock, Monotonic, Nanos, Secrets, Stamp};
use lab::Order;
use workload::{Job, JobOrPart, JobTarget, Warmup};

use super::experiment::ExperimentProgress;

/// Refresh interval of the display.
const REFRESH: Duration = Duration::from_millis(250);

/// The message when a statement that may take hours is cancelled.
pub(super) const CANCELLING: &str = "ending the run: the running statement is cancelled";

/// The message after the second Ctrl-C.
pub(super) const AT_ONCE: &str = "ending the run at once";

/// The state that the run's threads share with the thread that paints the display, and with the
/// pages of the run.
pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
}

/// The interval of job reports in plain lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportInterval {
    /// An interval that depends on the length of the run.
    ByLength,
    /// A fixed interval, in seconds.
    Seconds(u64),
    /// No job reports, only phases.
    Never,
}

/// The state of the run that the display needs.
#[derive(Clone)]
pub(super) struct State {
    /// The workload and its targets, or the question of an experiment.
    pub(super) title: String,
    pub(super) jobs: Vec<JobTitle>,
    pub(super) warmup: Warmup,
    pub(super) duration: Option<Nanos>,
    /// True if every job ends by itself.
    pub(super) ends_by_itself: bool,
    pub(super) is_virtual: bool,
    pub(super) reports: ReportInterval,
    pub(super) phase: Phase,
    /// Pipes without a writer, as the jobs name them.
    pub(super) awaited: Vec<String>,
    /// True if the live view owns the last lines of the terminal and overwrites other output there.
    pub(super) has_live_view: bool,
    pub(super) live: Option<LiveView>,
    /// The progress of the experiment that the run is part of, if there is one.
    pub(super) experiment: Option<ExperimentProgress>,
    /// The requested end of the run, if the live view shows it.
    pub(super) ending: Option<Interruption>,
    /// Failures that did not stop the run, printed at the end.
    pub(super) complaints: Vec<String>,
    /// The secrets to remove from the messages about failures.
    pub(super) secrets: Secrets,
    pub(super) finished: bool,
}

/// The title of a job in the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobTitle {
    pub(super) name: String,
    pub(super) is_open: bool,
    /// True for a part of a mix.
    pub(super) is_part: bool,
}

/// The phase of the run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Phase {
    Starting,
    Setup { done: usize, of: usize },
    Loading { table: String, rows: u64, of: u64, elapsed: Nanos },
    Counting { table: String },
    Opening,
    Running { zero: Stamp },
    Teardown { done: usize, of: usize },
}

/// The way in which an interrupted run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Interruption {
    /// After finishing the requests in flight.
    Finishing,
    /// After cancelling the current statement, which is not measured.
    Cancelling,
    AtOnce,
}

impl Shared {
    /// Locks the state.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the state")
    }

    /// Waits for a change or the next refresh, and returns the state.
    pub(super) fn wait(&self) -> State {
        let state = self.lock();
        if state.finished {
            return state.clone();
        }
        let (state, _) = self
            .changed
            .wait_timeout(state, REFRESH)
            .expect("nothing panics while it holds the state");
        state.clone()
    }
}

impl State {
    /// Returns the state before a run.
    pub(super) fn of(order: &Order) -> State {
        let job = |either: JobOrPart<'_>| JobTitle {
            name: either.name().to_owned(),
            is_open: either.job().has_arrivals(),
            is_part: matches!(either, JobOrPart::Part(..)),
        };
        State {
            jobs: order.plan.jobs_and_parts().map(job).collect(),
            warmup: order.plan.warmup,
            duration: order.plan.duration,
            ends_by_itself: order.plan.jobs.iter().all(Job::ends_by_itself),
            is_virtual: order.options.is_virtual,
            reports: ReportInterval::ByLength,
            secrets: order.plan.secrets(),
            ..State::with_title(format!("{} on {}", order.workload, targets(order)))
        }
    }

    /// Returns the state of an experiment before its first run.
    pub(super) fn of_experiment(ask: &str) -> State {
        State {
            experiment: Some(ExperimentProgress::default()),
            ..State::with_title(ask.to_owned())
        }
    }

    /// Returns a state before anything began, without jobs.
    fn with_title(title: String) -> State {
        State {
            title,
            jobs: Vec::new(),
            warmup: Warmup::default(),
            duration: None,
            ends_by_itself: false,
            is_virtual: false,
            reports: ReportInterval::Never,
            phase: Phase::Starting,
            awaited: Vec::new(),
            has_live_view: false,
            ending: None,
            live: None,
            experiment: None,
            complaints: Vec::new(),
            secrets: Secrets::default(),
            finished: false,
        }
    }

    /// Begins a run of an experiment.
    pub(super) fn begin_run(&mut self, run: State, live: LiveView) {
        let State { jobs, warmup, duration, ends_by_itself, .. } = run;
        (self.jobs, self.warmup) = (jobs, warmup);
        (self.duration, self.ends_by_itself) = (duration, ends_by_itself);
        self.phase = Phase::Running { zero: Monotonic.now() };
        self.live = Some(live);
        if let Some(progress) = &mut self.experiment {
            progress.is_running = true;
        }
    }

    /// Adds a line about the experiment. The run shown until now is no longer displayed.
    pub(super) fn add_line(&mut self, line: String, runs: Option<(u32, u32)>) {
        if let Some(progress) = &mut self.experiment {
            progress.add_line(line, runs);
        }
        (self.phase, self.live) = (Phase::Starting, None);
    }

    /// Records the way in which the run will end; returns the line to print if no live view shows
    /// it.
    pub(super) fn announce_end(&mut self, ending: Interruption) -> Option<&'static str> {
        let ending = match (ending, &self.phase) {
            (
                Interruption::Finishing,
                Phase::Setup { .. } | Phase::Counting { .. } | Phase::Teardown { .. },
            ) => Interruption::Cancelling,
            (ending, _) => ending,
        };
        if self.has_live_view && !self.finished {
            self.ending = Some(ending);
            return None;
        }
        Some(match ending {
            Interruption::Finishing => {
                "ending the run: open requests are finished; a second interrupt ends it at once"
            }
            Interruption::Cancelling => CANCELLING,
            Interruption::AtOnce => AT_ONCE,
        })
    }

    /// Returns the time since time zero, if the run has begun. In virtual time, and in experiments,
    /// whose runs do not report time zero, the result is the time of the latest figures.
    pub(super) fn elapsed(&self) -> Option<Nanos> {
        match (&self.phase, self.is_virtual || self.experiment.is_some()) {
            (Phase::Running { zero }, false) => Some(Monotonic.now().since(*zero)),
            (Phase::Running { .. }, true) => {
                let latest = self.live.as_ref().and_then(LiveView::latest);
                Some(latest.map_or(Nanos::ZERO, |live| live.at))
            }
            _ => None,
        }
    }
}

/// Returns the URLs of all targets of a run, and `programs` if jobs run programs.
fn targets(order: &Order) -> String {
    let Order { plan, target, .. } = order;
    let main = plan.uses(JobTarget::Main).then(|| target.display_url());
    let named = plan.named_targets().map(|named| named.target.display_url());
    let programs = plan.uses(JobTarget::Programs).then(|| "programs".to_owned());
    main.into_iter().chain(named).chain(programs).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::snapshot::tests::state;

    #[test]
    fn end_is_shown_within_the_live_view() {
        let mut plain = state();
        let line = "ending the run: open requests are finished; a second interrupt ends it at once";
        assert_eq!(plain.announce_end(Interruption::Finishing), Some(line));
        assert_eq!(plain.ending, None);
        let mut setup = State { phase: Phase::Setup { done: 0, of: 1 }, ..state() };
        assert_eq!(setup.announce_end(Interruption::Finishing), Some(CANCELLING));
        let mut teardown = State { phase: Phase::Teardown { done: 0, of: 1 }, ..state() };
        assert_eq!(teardown.announce_end(Interruption::Finishing), Some(CANCELLING));
        let mut painted = State { has_live_view: true, ..state() };
        assert_eq!(painted.announce_end(Interruption::Finishing), None);
        assert_eq!(painted.ending, Some(Interruption::Finishing));
        let mut over = State { finished: true, ..painted };
        assert_eq!(over.announce_end(Interruption::AtOnce), Some("ending the run at once"));
    }
}
