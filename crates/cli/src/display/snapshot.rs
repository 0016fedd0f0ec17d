//! The content of a display as plain data, computed from the state.

use std::collections::VecDeque;

use archive::LiveView;
use base::Nanos;
use base::units::grouped;
use record::{ComponentUtilization, LiveJob, LiveState};

use super::formats::{clock, maybe_time, rate, time};
use super::job_series::JobSeries;
use super::state::{AT_ONCE, CANCELLING, Interruption, JobTitle, Phase, State};

/// A snapshot of the run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DisplaySnapshot {
    /// The workload and its targets, or the question of an experiment.
    pub(super) title: String,
    /// The phase of the run, in words.
    pub(super) activity: String,
    /// Lines about the pipes whose writers the run waits for.
    pub(super) awaited: Vec<String>,
    /// The line about the busiest component, if known.
    pub(super) busiest: Option<String>,
    /// Progress from 0 to 1, if known.
    pub(super) progress: Option<f64>,
    /// The rows of the job table, once there are figures.
    pub(super) rows: Vec<Row>,
    /// The series over time of the jobs, for a view that draws them.
    pub(super) series_rows: Vec<SeriesRow>,
}

/// The series over time of a job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeriesRow {
    pub(super) name: String,
    /// Throughput and p99.
    pub(super) series: [Series; 2],
}

/// The latest values of a figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: &'static str,
    /// The values; NaN in place of a missing one.
    pub(super) values: Vec<f64>,
    /// The largest of the values, formatted.
    pub(super) greatest: String,
}

/// The cells of a job's row.
pub(super) type Row = [String; COLUMNS.len()];

/// The column titles of the job table.
pub(super) const COLUMNS: [&str; 8] =
    ["job", "offered/s", "achieved/s", "p50", "p99", "errors", "in flight", "queued"];

/// The message after the first Ctrl-C.
const FINISHING: &str =
    "ending the run: open requests are finished; Ctrl-C once more ends it at once";

impl DisplaySnapshot {
    pub(super) fn of(state: &State) -> DisplaySnapshot {
        let (activity, progress) = activity(state);
        let latest = state.live.as_ref().and_then(LiveView::latest);
        let rows = latest.map(|live| rows(state, &live)).unwrap_or_default();
        let busiest =
            state.live.as_ref().and_then(LiveView::busiest).map(|busy| busiest_line(&busy));
        let awaited = state.awaited.iter().map(|pipe| waiting_line(pipe)).collect();
        let (title, series_rows) = (state.title.clone(), Vec::new());
        DisplaySnapshot { title, activity, awaited, busiest, progress, rows, series_rows }
    }

    /// Adds the series over time of the jobs.
    pub(super) fn with_series(self, state: &State, all: &[JobSeries]) -> DisplaySnapshot {
        let jobs = state.jobs.iter().zip(all);
        let series_rows = jobs.map(|(title, series)| series_row(title, series)).collect();
        DisplaySnapshot { series_rows, ..self }
    }
}

fn series_row(title: &JobTitle, values: &JobSeries) -> SeriesRow {
    let series = |name, values: &VecDeque<f64>, in_words: fn(f64) -> String| {
        let known = values.iter().copied().filter(|value| value.is_finite());
        let greatest = known.reduce(f64::max).map_or_else(|| "–".to_owned(), in_words);
        Series { name, values: values.iter().copied().collect(), greatest }
    };
    SeriesRow {
        name: title.name.clone(),
        series: [
            series("achieved/s", &values.achieved_per_s, rate),
            series("p99", &values.p99_ns, |ns| time(Nanos(ns as u64))),
        ],
    }
}

/// Returns the line about the busiest component.
pub(super) fn busiest_line(busy: &ComponentUtilization) -> String {
    format!("busiest: {}, {:.0} %", busy.name, busy.share * 100.0)
}

/// Returns the line about a pipe without a writer.
pub(super) fn waiting_line(pipe: &str) -> String {
    format!("waiting for a writer of the pipe `{pipe}`")
}

fn activity(state: &State) -> (String, Option<f64>) {
    match state.ending {
        Some(Interruption::Finishing) => return (FINISHING.to_owned(), None),
        Some(Interruption::Cancelling) => return (CANCELLING.to_owned(), None),
        Some(Interruption::AtOnce) => return (AT_ONCE.to_owned(), None),
        None => {}
    }
    let part = |done: usize, of: usize| Some(done as f64 / of.max(1) as f64);
    match &state.phase {
        Phase::Starting => ("starting".to_owned(), None),
        Phase::Setup { done, of } => {
            (format!("setup, statement {} of {of}", done + 1), part(*done, *of))
        }
        Phase::Loading { table, rows, of, elapsed } => {
            let per_s = *rows as f64 / elapsed.as_secs_f64().max(1e-9);
            let text = format!(
                "loading {table}: {} of {} rows ({} %) in {}, {}/s",
                grouped(*rows),
                grouped(*of),
                percent(*rows, *of),
                time(*elapsed),
                rate(per_s)
            );
            (text, part(*rows as usize, *of as usize))
        }
        Phase::Counting { table } => (format!("counting the rows of {table}"), None),
        Phase::Opening => ("opening connections".to_owned(), None),
        Phase::Teardown { done, of } => {
            (format!("teardown, statement {} of {of}", done + 1), part(*done, *of))
        }
        Phase::Running { .. } => running(state),
    }
}

/// Returns the percentage, rounded down; 100 only if nothing is missing.
pub(super) fn percent(part: u64, whole: u64) -> u64 {
    if whole == 0 { 100 } else { (u128::from(part) * 100 / u128::from(whole)).min(100) as u64 }
}

fn running(state: &State) -> (String, Option<f64>) {
    let elapsed = state.elapsed().unwrap_or_default();
    let word = if elapsed < state.warmup.known() {
        "warming up"
    } else if state.duration.is_some_and(|duration| elapsed >= duration) {
        "finishing open requests"
    } else {
        "measuring"
    };
    match state.duration {
        None => (format!("{word}, {} so far", clock(elapsed)), None),
        Some(duration) => {
            let spent = elapsed.min(duration);
            let mut text = format!("{word}, {} of {}", clock(spent), clock(duration));
            // A user waits in real time, which cannot be derived from virtual time.
            if spent < duration && !state.is_virtual {
                text.push_str(&format!(", {} left", clock(duration.saturating_sub(spent))));
            }
            let part = elapsed.as_secs_f64() / duration.as_secs_f64().max(1e-9);
            (text, Some(part.min(1.0)))
        }
    }
}

fn rows(state: &State, live: &LiveState) -> Vec<Row> {
    state.jobs.iter().zip(&live.jobs).map(|(title, job)| row(title, job)).collect()
}

fn row(title: &JobTitle, job: &LiveJob) -> Row {
    let gauge = |of: fn(&record::Gauge) -> u64| {
        job.gauge.as_ref().map_or_else(|| "–".to_owned(), |gauge| grouped(of(gauge)))
    };
    [
        title.name.clone(),
        if title.is_open { rate(job.offered_per_s) } else { "–".to_owned() },
        rate(job.achieved_per_s),
        maybe_time(job.p50),
        maybe_time(job.p99),
        grouped(job.errors),
        gauge(|gauge| gauge.in_flight),
        gauge(|gauge| gauge.queued),
    ]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::display::ReportInterval;
    use base::{Clock, Monotonic, Secrets, Stamp};
    use record::Gauge;
    use workload::Warmup;

    /// Returns the state of a run with two jobs that lasts a minute.
    pub(in crate::display) fn state() -> State {
        State {
            title: "shop.ini on sim:mm1".to_owned(),
            jobs: vec![
                JobTitle { name: "read".to_owned(), is_open: true, is_part: false },
                JobTitle { name: "transfer".to_owned(), is_open: false, is_part: false },
            ],
            warmup: Warmup::Lasts(Nanos::from_secs(10)),
            duration: Some(Nanos::from_secs(60)),
            ends_by_itself: false,
            is_virtual: true,
            reports: ReportInterval::ByLength,
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

    fn live_job() -> LiveJob {
        LiveJob {
            offered_per_s: 3_002.0,
            achieved_per_s: 2_998.0,
            p50: Some(Nanos::from_micros(1_400)),
            p99: None,
            errors: 1_234,
            gauge: Some(Gauge { in_flight: 3, queued: 0, connections: 60 }),
            counts: record::Counts::default(),
            response: None,
        }
    }

    #[test]
    fn every_phase_shows_its_activity_and_progress() {
        for (phase, text, progress) in [
            (Phase::Starting, "starting", None),
            (Phase::Setup { done: 1, of: 4 }, "setup, statement 2 of 4", Some(0.25)),
            (
                Phase::Loading {
                    table: "accounts".to_owned(),
                    rows: 50_000,
                    of: 100_000,
                    elapsed: Nanos::from_millis(500),
                },
                "loading accounts: 50,000 of 100,000 rows (50 %) in 500 ms, 100,000/s",
                Some(0.5),
            ),
            (
                Phase::Loading {
                    table: "accounts".to_owned(),
                    rows: 4_000,
                    of: 50_000,
                    elapsed: Nanos::from_millis(500),
                },
                "loading accounts: 4,000 of 50,000 rows (8 %) in 500 ms, 8,000/s",
                Some(0.08),
            ),
            (Phase::Opening, "opening connections", None),
            (Phase::Running { zero: Stamp::ZERO }, "warming up, 00:00 of 01:00", Some(0.0)),
            (Phase::Teardown { done: 0, of: 1 }, "teardown, statement 1 of 1", Some(0.0)),
        ] {
            let snapshot = DisplaySnapshot::of(&State { phase, ..state() });
            assert_eq!((snapshot.activity.as_str(), snapshot.progress), (text, progress));
        }
    }

    #[test]
    fn time_left_is_shown_in_real_time() {
        let phase = Phase::Running { zero: Monotonic.now() };
        let duration = Some(Nanos::from_secs(3_600));
        let activity = |is_virtual| {
            let state = State { phase: phase.clone(), duration, is_virtual, ..state() };
            DisplaySnapshot::of(&state).activity
        };
        let (real, simulated) = (activity(false), activity(true));
        assert!(real.starts_with("warming up, 00:0") && real.ends_with(" left"), "{real}");
        assert_eq!(simulated, "warming up, 00:00 of 1:00:00");
    }

    #[test]
    fn series_has_its_greatest_values_formatted() {
        let reads = JobSeries {
            achieved_per_s: [2_998.0, 3_002.4].into(),
            p99_ns: [1_400_000.0, f64::NAN].into(),
        };
        let all = [reads, JobSeries::default()];
        let snapshot = DisplaySnapshot::of(&state()).with_series(&state(), &all);
        let [read, transfer] = &snapshot.series_rows[..] else { panic!("{snapshot:?}") };
        let shown = |row: &SeriesRow| row.series.each_ref().map(|it| it.greatest.clone());
        assert_eq!(
            (read.name.as_str(), shown(read)),
            ("read", ["3,002", "1.40 ms"].map(str::to_owned))
        );
        assert_eq!(shown(transfer), ["–", "–"].map(str::to_owned));
    }

    #[test]
    fn requested_end_is_shown_as_the_current_phase() {
        let phase = Phase::Running { zero: Stamp::ZERO };
        let ending = State { phase, ending: Some(Interruption::Finishing), ..state() };
        let snapshot = DisplaySnapshot::of(&ending);
        let expected =
            "ending the run: open requests are finished; Ctrl-C once more ends it at once";
        assert_eq!((snapshot.activity.as_str(), snapshot.progress), (expected, None));
        let snapshot = DisplaySnapshot::of(&State { ending: Some(Interruption::AtOnce), ..ending });
        assert_eq!(snapshot.activity, "ending the run at once");
    }

    #[test]
    fn closed_job_shows_no_offered_rate() {
        let jobs = vec![live_job(), live_job()];
        let rows = rows(&state(), &LiveState { interval: 1, at: Nanos::from_secs(2), jobs });
        let expected = [
            ["read", "3,002", "2,998", "1.40 ms", "–", "1,234", "3", "0"],
            ["transfer", "–", "2,998", "1.40 ms", "–", "1,234", "3", "0"],
        ];
        assert_eq!(rows, expected.map(|row| row.map(str::to_owned)));
    }
}
