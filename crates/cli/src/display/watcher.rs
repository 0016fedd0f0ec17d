//! A view of a run for its pages.

use std::sync::Arc;

use archive::LiveView;
use report::LiveRunView;

use super::picture::{COLUMNS, Picture};
use super::state::{JobTitle, Shared, State};

/// A reader of the state of a run. It cannot influence the run.
pub(crate) struct Watcher(Arc<Shared>);

impl Watcher {
    pub(super) fn new(shared: Arc<Shared>) -> Watcher {
        Watcher(shared)
    }

    /// Returns the state now.
    pub(crate) fn now(&self) -> LiveRunView {
        let state = self.0.lock().clone();
        view(&state)
    }

    /// Returns the metrics of the run in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let state = self.0.lock().clone();
        let name = |job: JobTitle| (!job.is_part).then_some(job.name);
        let names: Vec<Option<String>> = state.jobs.into_iter().map(name).collect();
        let live = state.live.as_ref().and_then(LiveView::latest);
        report::metrics(&state.title, &names, live.as_deref())
    }

    /// Waits for a change or the next refresh, and returns the state; `None` if the run has ended.
    pub(crate) fn next(&self) -> Option<LiveRunView> {
        let state = self.0.wait();
        (!state.finished).then(|| view(&state))
    }
}

fn view(state: &State) -> LiveRunView {
    let picture = Picture::of(state);
    let words = state.experiment.as_ref();
    let words = words.map(|course| course.words(&picture.doing, picture.progress));
    let (doing, progress, earlier) = match words {
        Some(words) => (words.doing, words.progress, words.earlier),
        None => (picture.doing, picture.progress, Vec::new()),
    };
    LiveRunView {
        title: picture.title,
        doing,
        progress,
        notes: picture.busiest.into_iter().chain(picture.awaited).chain(earlier).collect(),
        columns: COLUMNS.to_vec(),
        rows: picture.rows.into_iter().map(Vec::from).collect(),
    }
}
