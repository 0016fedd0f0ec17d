//! Progress of a run on stderr: a live table on a terminal, plain lines elsewhere, or nothing.
//!
//! The display receives the run's events and reads the recorder's latest figures. It cannot
//! influence either.

mod picture;
mod plain;
mod terminal;
mod words;

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use archive::LiveView;
use base::{Clock, Monotonic, Nanos, Secrets, Stamp};
use engine::{Listener, RunEvent};
use lab::Order;
use workload::{JobTarget, Warmup};

use crate::complain::Complaint;
use crate::stderr;

/// Refresh interval of the display.
const REFRESH: Duration = Duration::from_millis(250);

/// The message when a statement that may take hours is cancelled.
const GIVING_UP: &str = "ending the run: the running statement is given up";

/// The message after the second Ctrl-C.
const AT_ONCE: &str = "ending the run at once";

/// The display of a run. Dropping it without [`Display::finish`] leaves the terminal unchanged.
pub(crate) struct Display {
    shared: Arc<Shared>,
    painter: Mutex<Option<JoinHandle<()>>>,
}

/// The state shared by the run's threads and the painter.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// The form in which progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    /// A table on a terminal, lines elsewhere.
    WhatFits,
    /// Lines, even on a terminal.
    Lines(Reports),
}

/// The interval of job reports in plain lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reports {
    /// An interval that depends on the length of the run.
    Fitting,
    /// A fixed interval, in seconds.
    Each(u64),
    /// No job reports, only phases.
    Never,
}

/// The state of the run, as far as the display needs it.
#[derive(Clone)]
struct State {
    /// The workload and the target.
    title: String,
    jobs: Vec<JobTitle>,
    warmup: Warmup,
    duration: Option<Nanos>,
    /// True if every job ends by itself.
    ends_by_itself: bool,
    is_virtual: bool,
    reports: Reports,
    phase: Phase,
    /// Pipes without a writer, as the jobs name them.
    awaited: Vec<String>,
    /// True if a painter owns the last lines of the terminal and overwrites other output there.
    is_painted: bool,
    live: Option<LiveView>,
    /// The requested end of the run, if the picture shows it.
    ending: Option<Ending>,
    /// Failures that did not stop the run, printed at the end.
    complaints: Vec<String>,
    /// The secrets to remove from these messages.
    secrets: Secrets,
    finished: bool,
}

/// The title of a job in the table.
#[derive(Clone, Debug, PartialEq)]
struct JobTitle {
    name: String,
    is_open: bool,
}

/// The phase of the run.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
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
pub(crate) enum Ending {
    /// After finishing the requests in flight.
    Finishing,
    /// After cancelling the current statement, which is not measured.
    GivingUp,
    AtOnce,
}

impl Display {
    /// Creates the display of a run.
    pub(crate) fn new(shown: Shown, order: &Order) -> Display {
        Display::of(shown, State::of(order))
    }

    /// Creates the display of a run that only fills tables.
    pub(crate) fn of_load(shown: Shown, order: &Order) -> Display {
        Display::of(shown, State { jobs: Vec::new(), ..State::of(order) })
    }

    fn of(shown: Shown, state: State) -> Display {
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let painter = match shown {
            Shown::Nothing => None,
            Shown::WhatFits if stderr::is_terminal() => {
                shared.lock().is_painted = true;
                Some(terminal::start(Arc::clone(&shared)))
            }
            Shown::WhatFits => Some(plain::start(Arc::clone(&shared))),
            Shown::Lines(reports) => {
                shared.lock().reports = reports;
                Some(plain::start(Arc::clone(&shared)))
            }
        };
        Display { shared, painter: Mutex::new(painter) }
    }

    /// Sets the live figures to show.
    pub(crate) fn watch(&self, live: LiveView) {
        self.shared.lock().live = Some(live);
    }

    /// Announces the end of the run: within the picture, if there is one.
    pub(crate) fn say(&self, ending: Ending) {
        if let Some(line) = self.shared.lock().say(ending) {
            stderr::write(&format!("\n{line}\n"));
        }
        self.shared.changed.notify_all();
    }

    /// Ends the display: removes the picture and prints the failures on the way.
    pub(crate) fn finish(&self) {
        self.shared.lock().finished = true;
        self.shared.changed.notify_all();
        let painter = self.painter.lock().expect("nothing panics here").take();
        if let Some(painter) = painter {
            // A panic of the painter was already printed, and must not fail the run.
            let _ = painter.join();
        }
        for complaint in std::mem::take(&mut self.shared.lock().complaints) {
            Complaint::warning(complaint).print();
        }
    }
}

impl Listener for Display {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut state = self.shared.lock();
        state.phase = match event {
            RunEvent::Settings { .. }
            | RunEvent::ServerStatistics(_)
            | RunEvent::LongLoad { .. }
            | RunEvent::LoadFallback { .. }
            | RunEvent::LoadEnds
            | RunEvent::Ended => return,
            // Without jobs, no connections are opened and nothing runs.
            RunEvent::Opening | RunEvent::TimeZero { .. } if state.jobs.is_empty() => return,
            RunEvent::Setup { done, of } => Phase::Setup { done: *done, of: *of },
            RunEvent::Loading { table, rows, of, elapsed, bytes: _ } => Phase::Loading {
                table: (*table).to_owned(),
                rows: *rows,
                of: *of,
                elapsed: *elapsed,
            },
            RunEvent::Counting { table } => Phase::Counting { table: (*table).to_owned() },
            // The writer may arrive at once; the next refresh shows the pipe only if it is still
            // awaited.
            RunEvent::AwaitingWriter { file } => {
                state.awaited.push((*file).to_owned());
                return;
            }
            RunEvent::WriterCame { file } => {
                state.awaited.retain(|awaited| awaited != file);
                return;
            }
            RunEvent::Opening => Phase::Opening,
            RunEvent::TimeZero { zero, .. } => Phase::Running { zero: *zero },
            RunEvent::Teardown { done, of } => Phase::Teardown { done: *done, of: *of },
            RunEvent::TeardownFailed(failed) => {
                let cause = std::error::Error::source(failed);
                let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
                let complaint = state.secrets.hide(&format!("{failed}{cause}"));
                state.complaints.push(complaint);
                return;
            }
            RunEvent::TeardownSkipped { from, of } => {
                state.complaints.push(left_undone(*from, *of));
                return;
            }
        };
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the state")
    }

    /// Waits for a change or the next refresh, and returns the state.
    fn wait(&self) -> State {
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
    fn of(order: &Order) -> State {
        let job = |(place, job): (usize, &workload::Job)| JobTitle {
            name: job.name.clone(),
            is_open: order.plan.leader(place).has_arrivals(),
        };
        State {
            title: format!("{} on {}", order.workload, targets(order)),
            jobs: order.plan.jobs.iter().enumerate().map(job).collect(),
            warmup: order.plan.warmup,
            duration: order.plan.duration,
            ends_by_itself: order
                .plan
                .counting_jobs()
                .all(|place| ends_by_itself(&order.plan, place)),
            is_virtual: order.options.is_virtual,
            reports: Reports::Fitting,
            phase: Phase::Starting,
            awaited: Vec::new(),
            is_painted: false,
            ending: None,
            live: None,
            complaints: Vec::new(),
            secrets: order.plan.secrets(),
            finished: false,
        }
    }

    /// Records the way in which the run will end; returns the line to print if no picture shows it.
    fn say(&mut self, ending: Ending) -> Option<&'static str> {
        let ending = match (ending, &self.phase) {
            (
                Ending::Finishing,
                Phase::Setup { .. } | Phase::Counting { .. } | Phase::Teardown { .. },
            ) => Ending::GivingUp,
            (ending, _) => ending,
        };
        if self.is_painted && !self.finished {
            self.ending = Some(ending);
            return None;
        }
        Some(match ending {
            Ending::Finishing => {
                "ending the run: open requests are finished; once more ends it at once"
            }
            Ending::GivingUp => GIVING_UP,
            Ending::AtOnce => AT_ONCE,
        })
    }

    /// Returns the time since time zero, if the run has begun; in virtual time, that of the latest
    /// figures.
    fn elapsed(&self) -> Option<Nanos> {
        match (&self.phase, self.is_virtual) {
            (Phase::Running { zero }, false) => Some(Monotonic.now().since(*zero)),
            (Phase::Running { .. }, true) => {
                let latest = self.live.as_ref().and_then(LiveView::latest);
                Some(latest.map_or(Nanos::ZERO, |live| live.at))
            }
            _ => None,
        }
    }
}

/// Returns the complaint of a teardown that ends early, after `from` of its statements.
fn left_undone(from: usize, of: usize) -> String {
    let which = match of - from {
        1 => format!("statement {of} of [teardown] was"),
        _ => format!("statements {} to {of} of [teardown] were", from + 1),
    };
    format!("{which} not run: the database does not answer")
}

/// Returns the names of all targets of a run.
fn targets(order: &Order) -> String {
    let Order { plan, target, .. } = order;
    let main = plan.asks(JobTarget::Main).then(|| target.in_words());
    let named = plan.named_targets().map(|named| named.target.in_words());
    let programs = plan.asks(JobTarget::Programs).then(|| "programs".to_owned());
    main.into_iter().chain(named).chain(programs).collect::<Vec<_>>().join(", ")
}

fn ends_by_itself(plan: &workload::Plan, place: usize) -> bool {
    plan.has_fixed_request_count(place) || plan.jobs[place].stop.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::picture::tests::state;

    #[test]
    fn statements_that_were_not_run_are_told_by_their_numbers() {
        let why = "not run: the database does not answer";
        assert_eq!(left_undone(2, 3), format!("statement 3 of [teardown] was {why}"));
        assert_eq!(left_undone(0, 3), format!("statements 1 to 3 of [teardown] were {why}"));
    }

    #[test]
    fn an_end_is_said_within_the_picture_while_there_is_one() {
        let mut plain = state();
        let line = "ending the run: open requests are finished; once more ends it at once";
        assert_eq!(plain.say(Ending::Finishing), Some(line));
        assert_eq!(plain.ending, None);
        let mut setup = State { phase: Phase::Setup { done: 0, of: 1 }, ..state() };
        assert_eq!(setup.say(Ending::Finishing), Some(GIVING_UP));
        let mut teardown = State { phase: Phase::Teardown { done: 0, of: 1 }, ..state() };
        assert_eq!(teardown.say(Ending::Finishing), Some(GIVING_UP));
        let mut painted = State { is_painted: true, ..state() };
        assert_eq!(painted.say(Ending::Finishing), None);
        assert_eq!(painted.ending, Some(Ending::Finishing));
        let mut over = State { finished: true, ..painted };
        assert_eq!(over.say(Ending::AtOnce), Some("ending the run at once"));
    }
}
