//! A run while it goes, on stderr: a live table on a terminal, plain lines elsewhere, or nothing.
//!
//! The display hears what the run says of itself and looks at the recorder's latest picture. It
//! has no way to influence either.

mod picture;
mod plain;
mod terminal;
mod words;

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use base::{Clock, Monotonic, Nanos, Secrets, Stamp};
use engine::{Listener, News};
use lab::Order;
use record::LiveView;
use workload::{JobTarget, Warmup};

use crate::complain::Complaint;
use crate::stderr;

/// How often the display looks at the run.
const REFRESH: Duration = Duration::from_millis(250);

/// What is said when a statement that may take hours is given up.
const GIVING_UP: &str = "ending the run: the statement that is under way is given up";

/// What is said after the second Ctrl-C.
const AT_ONCE: &str = "ending the run at once";

/// Shows a run. Dropping it without [`Display::finish`] leaves the terminal as it is.
pub(crate) struct Display {
    shared: Arc<Shared>,
    painter: Mutex<Option<JoinHandle<()>>>,
}

/// What the run's threads and the painter share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Nothing,
    /// A table on a terminal, lines elsewhere.
    WhatFits,
    /// Lines, wherever they go.
    Lines(Reports),
}

/// How often plain lines report the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reports {
    /// As it suits the length of the run.
    Fitting,
    /// Each so many seconds.
    Each(u64),
    /// Not at all: only the phases are said.
    Never,
}

/// What is known of the run.
#[derive(Clone)]
struct State {
    /// The workload and the target.
    title: String,
    jobs: Vec<JobTitle>,
    warmup: Warmup,
    duration: Option<Nanos>,
    /// Whether every job has an end of its own.
    ends_by_itself: bool,
    is_virtual: bool,
    reports: Reports,
    phase: Phase,
    /// Pipes that nobody writes yet, as the jobs name them.
    awaited: Vec<String>,
    /// Whether a painter owns the end of the terminal: what others write there is painted over.
    is_painted: bool,
    live: Option<LiveView>,
    /// What the user was told of the end that he asked for, where the terminal is painted.
    ending: Option<Ending>,
    /// What failed without stopping the run, to be said at the end.
    complaints: Vec<String>,
    /// The secrets that are removed from these complaints.
    secrets: Secrets,
    finished: bool,
}

/// A job as the table names it.
#[derive(Clone, Debug, PartialEq)]
struct JobTitle {
    name: String,
    is_open: bool,
}

/// What the run is doing.
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

/// How a run ends that was asked to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ending {
    /// With what is under way.
    Finishing,
    /// Without the statement that is under way, of which nothing is measured.
    GivingUp,
    AtOnce,
}

impl Display {
    /// The display of a run.
    pub(crate) fn new(shown: Shown, order: &Order) -> Display {
        Display::of(shown, State::of(order))
    }

    /// The display of a run that only fills tables.
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

    /// From here on there is a picture to look at.
    pub(crate) fn watch(&self, live: LiveView) {
        self.shared.lock().live = Some(live);
    }

    /// Says how the run is going to end: within the picture, if there is one.
    pub(crate) fn say(&self, ending: Ending) {
        if let Some(line) = self.shared.lock().say(ending) {
            stderr::write(&format!("\n{line}\n"));
        }
        self.shared.changed.notify_all();
    }

    /// The run is over: takes the picture away and says what failed on the way.
    pub(crate) fn finish(&self) {
        self.shared.lock().finished = true;
        self.shared.changed.notify_all();
        let painter = self.painter.lock().expect("nothing panics here").take();
        if let Some(painter) = painter {
            // A painter that panicked has said so, and the run is what matters.
            let _ = painter.join();
        }
        for complaint in std::mem::take(&mut self.shared.lock().complaints) {
            Complaint::warning(complaint).print();
        }
    }
}

impl Listener for Display {
    fn hear(&self, news: &News<'_>) {
        let mut state = self.shared.lock();
        state.phase = match news {
            News::Settings { .. }
            | News::Account(_)
            | News::LoadLasts { .. }
            | News::LoadFellBack { .. }
            | News::LoadEnds
            | News::Ended => return,
            // Without a job nothing more is opened, and nothing runs.
            News::Opening | News::TimeZero { .. } if state.jobs.is_empty() => return,
            News::Setup { done, of } => Phase::Setup { done: *done, of: *of },
            News::Loading { table, rows, of, elapsed, bytes: _ } => Phase::Loading {
                table: (*table).to_owned(),
                rows: *rows,
                of: *of,
                elapsed: *elapsed,
            },
            News::Counting { table } => Phase::Counting { table: (*table).to_owned() },
            // Whoever writes may be there already: it is seen at the next look, if it lasts.
            News::AwaitingWriter { file } => {
                state.awaited.push((*file).to_owned());
                return;
            }
            News::WriterCame { file } => {
                state.awaited.retain(|awaited| awaited != file);
                return;
            }
            News::Opening => Phase::Opening,
            News::TimeZero { zero, .. } => Phase::Running { zero: *zero },
            News::Teardown { done, of } => Phase::Teardown { done: *done, of: *of },
            News::TeardownFailed(failed) => {
                let cause = std::error::Error::source(failed);
                let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
                let complaint = state.secrets.hide(&format!("{failed}{cause}"));
                state.complaints.push(complaint);
                return;
            }
            News::TeardownLeft { from, of } => {
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

    /// Waits until something changes or it is time to look again. Returns what is known then.
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
            ends_by_itself: order.plan.leaders().all(|place| ends_by_itself(&order.plan, place)),
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

    /// Takes note of how the run is going to end. Returns the line that is to be written if no
    /// picture says it.
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
                "ending the run: what is under way is finished; once more ends it at once"
            }
            Ending::GivingUp => GIVING_UP,
            Ending::AtOnce => AT_ONCE,
        })
    }

    /// How long after time zero it is, as far as the display can tell.
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

/// All that a run asks, in words.
fn targets(order: &Order) -> String {
    let Order { plan, target, .. } = order;
    let main = plan.asks(JobTarget::Main).then(|| target.in_words());
    let named = plan.named_targets().map(|named| named.target.in_words());
    let programs = plan.asks(JobTarget::Programs).then(|| "programs".to_owned());
    main.into_iter().chain(named).chain(programs).collect::<Vec<_>>().join(", ")
}

fn ends_by_itself(plan: &workload::Plan, place: usize) -> bool {
    plan.ends_with_its_requests(place) || plan.jobs[place].stop.is_some()
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
        let line = "ending the run: what is under way is finished; once more ends it at once";
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
