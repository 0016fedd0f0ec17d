//! A view of a run for its pages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use archive::LiveView;
use report::{LiveRunView, LiveSeries};

use super::job_series::{JobSeries, SeriesOfJobs};
use super::snapshot::{COLUMNS, DisplaySnapshot};
use super::state::{JobTitle, Shared, State};

/// Maximum number of seconds of a series over time: five minutes.
const MOST_SECONDS: usize = 300;

/// A reader of the state of a run. It cannot influence the run.
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    series: Mutex<SeriesOfJobs>,
}

impl Watcher {
    pub(super) fn new(shared: Arc<Shared>) -> Watcher {
        Watcher { shared, series: Mutex::new(SeriesOfJobs::with_capacity(MOST_SECONDS)) }
    }

    /// Keeps the time series of the jobs up to date until the run ends.
    pub(crate) fn follow(&self) {
        while self.next().is_some() {}
    }

    /// Returns the state now.
    pub(crate) fn now(&self) -> LiveRunView {
        let state = self.shared.lock().clone();
        self.view(&state)
    }

    /// Returns the metrics of the run in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let state = self.shared.lock().clone();
        let name = |job: JobTitle| (!job.is_part).then_some(job.name);
        let names: Vec<Option<String>> = state.jobs.into_iter().map(name).collect();
        let live = state.live.as_ref().and_then(LiveView::latest);
        report::metrics(&state.title, &names, live.as_deref())
    }

    /// Waits for a change or the next refresh, and returns the state; `None` if the run has ended.
    pub(crate) fn next(&self) -> Option<LiveRunView> {
        let state = self.shared.wait();
        (!state.finished).then(|| self.view(&state))
    }

    fn view(&self, state: &State) -> LiveRunView {
        let snapshot = DisplaySnapshot::of(state);
        let texts = state.experiment.as_ref();
        let texts = texts.map(|experiment| experiment.text(&snapshot.activity, snapshot.progress));
        let (doing, progress, earlier) = match texts {
            Some(texts) => (texts.activity, texts.progress, texts.earlier),
            None => (snapshot.activity, snapshot.progress, Vec::new()),
        };
        let series = self.series(state);
        let names = state.jobs.iter().zip(series.jobs());
        LiveRunView {
            title: snapshot.title,
            phase: doing,
            progress,
            notes: snapshot.busiest.into_iter().chain(snapshot.awaited).chain(earlier).collect(),
            columns: COLUMNS.to_vec(),
            rows: snapshot.rows.into_iter().map(Vec::from).collect(),
            interval: series.latest(),
            series: names.map(|(title, series)| live_series(title, series)).collect(),
        }
    }

    /// Returns the series over time of the jobs up to the latest interval.
    fn series(&self, state: &State) -> MutexGuard<'_, SeriesOfJobs> {
        let mut series = self.series.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = state.live.as_ref().and_then(LiveView::latest) {
            series.add(&live);
        }
        series
    }
}

fn live_series(title: &JobTitle, series: &JobSeries) -> LiveSeries {
    let values = |values: &VecDeque<f64>| {
        values.iter().map(|value| value.is_finite().then_some(*value)).collect()
    };
    LiveSeries {
        job: title.name.clone(),
        achieved_per_s: values(&series.achieved_per_s),
        p99_ns: values(&series.p99_ns),
    }
}
