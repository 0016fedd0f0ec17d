//! Progress of a run on stderr: a live view on a terminal, plain lines elsewhere, or nothing.
//!
//! The display receives the run's events and reads the recorder's latest figures. It cannot
//! influence the run or the recorder.

mod experiment;
mod formats;
mod job_series;
mod plain;
mod snapshot;
mod state;
mod terminal;
mod watcher;

use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use archive::LiveView;
use engine::{Listener, RunEvent};
use lab::Order;

use crate::complain::Complaint;
use crate::stderr;
pub(crate) use state::{Interruption, ReportInterval};
use state::{Phase, Shared, State};
pub(crate) use watcher::Watcher;

/// The display of a run. Without [`Display::finish`], its thread runs until the program ends, and
/// the live view stays on the terminal.
pub(crate) struct Display {
    shared: Arc<Shared>,
    display_thread: Mutex<Option<JoinHandle<()>>>,
    /// State of the next run of an experiment, until this run begins.
    next: Mutex<Option<State>>,
}

/// The form in which progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressStyle {
    Silent,
    /// A live view on a terminal, lines elsewhere.
    Automatic,
    /// Lines, even on a terminal.
    Lines(ReportInterval),
}

impl Display {
    /// Creates the display of a run.
    pub(crate) fn new(shown: ProgressStyle, order: &Order) -> Display {
        Display::of(shown, State::of(order))
    }

    /// Creates the display of a run that only fills tables.
    pub(crate) fn of_load(shown: ProgressStyle, order: &Order) -> Display {
        Display::of(shown, State { jobs: Vec::new(), ..State::of(order) })
    }

    /// Creates the display of an experiment, which appears only on its live pages and not on the
    /// terminal.
    pub(crate) fn of_experiment(ask: &str) -> Display {
        Display::of(ProgressStyle::Silent, State::of_experiment(ask))
    }

    /// Stores the next run of an experiment, until [`Display::watch_run`] shows it.
    pub(crate) fn expect_run(&self, order: &Order) {
        *self.next.lock().expect("nothing panics here") = Some(State::of(order));
    }

    /// Shows the run that [`Display::expect_run`] stored, with its live figures.
    pub(crate) fn watch_run(&self, live: LiveView) {
        let next = self.next.lock().expect("nothing panics here").take();
        if let Some(next) = next {
            self.shared.lock().begin_run(next, live);
        }
        self.shared.changed.notify_all();
    }

    /// Shows a line about the experiment. `runs` has the number of the run that begins, from 1, and
    /// the maximum number of runs; it is `None` if the line is about another event.
    pub(crate) fn add_line(&self, line: String, runs: Option<(u32, u32)>) {
        self.shared.lock().add_line(line, runs);
        self.shared.changed.notify_all();
    }

    fn of(shown: ProgressStyle, state: State) -> Display {
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let display_thread = match shown {
            ProgressStyle::Silent => None,
            ProgressStyle::Automatic if stderr::is_terminal() => {
                shared.lock().has_live_view = true;
                terminal::start(Arc::clone(&shared))
            }
            ProgressStyle::Automatic => plain::start(Arc::clone(&shared)),
            ProgressStyle::Lines(reports) => {
                shared.lock().reports = reports;
                plain::start(Arc::clone(&shared))
            }
        };
        Display { shared, display_thread: Mutex::new(display_thread), next: Mutex::default() }
    }

    /// Returns a view of the run for the web pages that show it.
    pub(crate) fn watcher(&self) -> Watcher {
        Watcher::new(Arc::clone(&self.shared))
    }

    /// Sets the live figures to show.
    pub(crate) fn watch(&self, live: LiveView) {
        self.shared.lock().live = Some(live);
    }

    /// Announces the end of the run: within the live view if there is one, otherwise in a line on
    /// stderr.
    pub(crate) fn announce_end(&self, ending: Interruption) {
        if let Some(line) = self.shared.lock().announce_end(ending) {
            stderr::write(&format!("\n{line}\n"));
        }
        self.shared.changed.notify_all();
    }

    /// Ends the display: removes the live view, and prints failures that did not stop the run as
    /// warnings.
    pub(crate) fn finish(&self) {
        self.shared.lock().finished = true;
        self.shared.changed.notify_all();
        let display_thread = self.display_thread.lock().expect("nothing panics here").take();
        if let Some(display_thread) = display_thread {
            // A panic of the display's thread was already printed, and must not fail the run.
            let _ = display_thread.join();
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
            | RunEvent::Excerpt(_)
            | RunEvent::SetupDone
            | RunEvent::LoadEnded
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
            // The display is not notified, because the writer may arrive at once. The next refresh
            // shows the pipe if its writer is still awaited.
            RunEvent::AwaitingWriter { file } => {
                state.awaited.push((*file).to_owned());
                return;
            }
            RunEvent::WriterConnected { file } => {
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
                state.complaints.push(skipped_statements(*from, *of));
                return;
            }
        };
        drop(state);
        self.shared.changed.notify_all();
    }
}

/// Returns the complaint about a teardown that ends early, after `from` of its `of` statements.
fn skipped_statements(from: usize, of: usize) -> String {
    let which = match of - from {
        1 => format!("statement {of} of [teardown] was"),
        _ => format!("statements {} to {of} of [teardown] were", from + 1),
    };
    format!("{which} not run: the database does not answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_statements_are_listed_by_number() {
        let why = "not run: the database does not answer";
        assert_eq!(skipped_statements(2, 3), format!("statement 3 of [teardown] was {why}"));
        assert_eq!(skipped_statements(0, 3), format!("statements 1 to 3 of [teardown] were {why}"));
    }
}
