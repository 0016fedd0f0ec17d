//! Plain progress lines for logs and pipes: one per phase, and one per job at intervals.

use std::sync::Arc;
use std::thread::JoinHandle;

use archive::LiveView;
use base::Nanos;
use workload::Warmup;

use super::formats::clock;
use super::snapshot::{COLUMNS, DisplaySnapshot, Row, percent, waiting_line};
use super::state::{Phase, ReportInterval, Shared, State};
use crate::stderr;

/// Longest run that is reported every second. Longer runs, and runs without a given length, are
/// reported every [`LONG_RUN_INTERVAL_S`] seconds.
const SHORT_RUN: Nanos = Nanos::from_secs(60);
const LONG_RUN_INTERVAL_S: u64 = 10;

/// Shortest interval between two lines of a load, except for its last line.
const LOAD_STEP: Nanos = Nanos::from_secs(1);

/// Starts the thread that writes the lines. If the thread cannot be started, the run continues
/// without a display.
pub(super) fn start(shared: Arc<Shared>) -> Option<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name("display".to_owned());
    let started = thread.spawn(move || {
        let mut lines = Lines::default();
        loop {
            let state = shared.wait();
            for line in lines.next(&state) {
                stderr::line(&line);
            }
            if state.finished {
                return;
            }
        }
    });
    started.ok()
}

/// The subjects of the lines written so far, to avoid repetitions.
#[derive(Default)]
struct Lines {
    last_phase: Option<PhaseLine>,
    /// The pipes that were already reported as waiting for a writer.
    awaited: Vec<String>,
    /// The time of the latest report, in seconds after time zero.
    reported: Option<u64>,
}

impl Lines {
    /// Returns the lines that have become due since the last call.
    fn next(&mut self, state: &State) -> Vec<String> {
        let mut lines = Vec::new();
        let phrase = PhaseLine::of(state);
        let is_new = self.last_phase.as_ref().is_none_or(|last| last.needs_line_for(&phrase));
        if is_new && state.phase != Phase::Starting {
            lines.push(phrase.line.clone());
            self.last_phase = Some(phrase);
        }
        for pipe in &state.awaited {
            if !self.awaited.contains(pipe) {
                self.awaited.push(pipe.clone());
                lines.push(waiting_line(pipe));
            }
        }
        lines.extend(self.report(state));
        lines
    }

    fn report(&mut self, state: &State) -> Vec<String> {
        let Some(live) = state.live.as_ref().and_then(LiveView::latest) else { return Vec::new() };
        let second = live.at.0 / 1_000_000_000;
        let Some(step) = state.report_interval_s() else { return Vec::new() };
        if self.reported.is_some_and(|reported| second < reported + step) {
            return Vec::new();
        }
        self.reported = Some(second);
        let snapshot = DisplaySnapshot::of(state);
        snapshot.rows.iter().map(|row| line(live.at, row)).collect()
    }
}

impl State {
    /// Returns the interval between two reports, in seconds; `None` if there are none.
    fn report_interval_s(&self) -> Option<u64> {
        let is_short = self.duration.is_some_and(|duration| duration <= SHORT_RUN);
        match self.reports {
            ReportInterval::ByLength if is_short => Some(1),
            ReportInterval::ByLength => Some(LONG_RUN_INTERVAL_S),
            ReportInterval::Seconds(seconds) => Some(seconds),
            ReportInterval::Never => None,
        }
    }
}

/// The line about a phase, with the data to recognise repetitions.
#[derive(Clone, Debug)]
struct PhaseLine {
    /// A text that is equal for repetitions: for a load, a text with the name of the table; for any
    /// other phase, the line.
    key: String,
    /// Progress, if the phase is a load.
    part: Option<LoadProgress>,
    line: String,
}

/// The progress of a load.
#[derive(Clone, Copy, Debug)]
struct LoadProgress {
    percent: u64,
    elapsed: Nanos,
}

impl LoadProgress {
    /// Returns true if the progress is worth a new line: another tenth of the table and at least a
    /// second, or the end.
    fn needs_line_for(self, next: LoadProgress) -> bool {
        let tenth = next.percent / 10 > self.percent / 10;
        let is_last = next.percent == 100 && self.percent < 100;
        is_last || (tenth && next.elapsed >= self.elapsed + LOAD_STEP)
    }
}

impl PhaseLine {
    fn of(state: &State) -> PhaseLine {
        let line = match &state.phase {
            Phase::Running { .. } => running(state),
            Phase::Starting
            | Phase::Setup { .. }
            | Phase::Loading { .. }
            | Phase::Counting { .. }
            | Phase::Opening
            | Phase::Teardown { .. } => DisplaySnapshot::of(state).activity,
        };
        let (key, part) = match &state.phase {
            Phase::Loading { table, rows, of, elapsed } => {
                let part = LoadProgress { percent: percent(*rows, *of), elapsed: *elapsed };
                (format!("loading {table}"), Some(part))
            }
            _ => (line.clone(), None),
        };
        PhaseLine { key, part, line }
    }

    /// Returns true if `next` is worth a new line.
    fn needs_line_for(&self, next: &PhaseLine) -> bool {
        match (self.part, next.part) {
            (Some(part), Some(next_part)) if self.key == next.key => part.needs_line_for(next_part),
            (_, _) => self.key != next.key,
        }
    }
}

fn running(state: &State) -> String {
    let length = match state.duration {
        Some(duration) => duration.to_string(),
        None if state.ends_by_itself => "until every job has reached its end".to_owned(),
        None => "until Ctrl-C".to_owned(),
    };
    match state.warmup {
        Warmup::Lasts(Nanos::ZERO) => format!("running {length}"),
        Warmup::Auto => format!("running {length}; the warm-up is detected at the end"),
        Warmup::Lasts(warmup) => {
            format!("running {length}; the first {warmup} are warm-up")
        }
    }
}

fn line(at: Nanos, row: &Row) -> String {
    let [name, numbers @ ..] = row;
    let mut line = format!("{} {name}:", clock(at));
    for (label, number) in COLUMNS[1..].iter().zip(numbers) {
        line.push_str(&format!(" {label} {number}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::snapshot::tests::state;
    use base::Stamp;

    #[test]
    fn a_phase_is_announced_once() {
        let mut lines = Lines::default();
        assert_eq!(lines.next(&state()), Vec::<String>::new());
        let setup = State { phase: Phase::Setup { done: 0, of: 2 }, ..state() };
        assert_eq!(lines.next(&setup), ["setup, statement 1 of 2"]);
        assert_eq!(lines.next(&setup), Vec::<String>::new());
    }

    #[test]
    fn pipe_without_a_writer_is_reported_once() {
        let mut lines = Lines::default();
        let awaiting = State { awaited: vec!["pipe".to_owned()], ..state() };
        assert_eq!(lines.next(&awaiting), ["waiting for a writer of the pipe `pipe`"]);
        assert_eq!(lines.next(&awaiting), Vec::<String>::new());
    }

    #[test]
    fn load_progress_is_printed_at_most_once_per_second() {
        let mut lines = Lines::default();
        let mut said = |rows, millis| {
            let table = "t".to_owned();
            let elapsed = Nanos::from_millis(millis);
            let phase = Phase::Loading { table, rows, of: 100, elapsed };
            lines.next(&State { phase, ..state() })
        };
        assert_eq!(said(11, 500), ["loading t: 11 of 100 rows (11 %) in 500 ms, 22.00/s"]);
        assert_eq!(said(30, 1_400), Vec::<String>::new());
        assert_eq!(said(31, 1_500), ["loading t: 31 of 100 rows (31 %) in 1.50 s, 20.67/s"]);
        assert_eq!(said(39, 9_000), Vec::<String>::new());
        assert_eq!(said(41, 9_000), ["loading t: 41 of 100 rows (41 %) in 9.00 s, 4.56/s"]);
        assert_eq!(said(100, 9_100), ["loading t: 100 of 100 rows (100 %) in 9.10 s, 10.99/s"]);
        assert_eq!(said(100, 9_900), Vec::<String>::new());
    }

    #[test]
    fn run_length_mentions_a_warm_up_only_if_set() {
        let phase = Phase::Running { zero: Stamp::ZERO };
        let warm = State { phase, ..state() };
        assert_eq!(running(&warm), "running 1m; the first 10s are warm-up");
        let cold = State { warmup: Warmup::default(), ..warm };
        assert_eq!(running(&cold), "running 1m");
        let found = State { warmup: Warmup::Auto, ..cold.clone() };
        assert_eq!(running(&found), "running 1m; the warm-up is detected at the end");
        let endless = State { duration: None, ..cold };
        assert_eq!(running(&endless), "running until Ctrl-C");
        let counted = State { ends_by_itself: true, ..endless };
        assert_eq!(running(&counted), "running until every job has reached its end");
    }

    #[test]
    fn reports_follow_the_requested_interval() {
        let step = |reports, duration| {
            let duration = Some(Nanos::from_secs(duration));
            State { reports, duration, ..state() }.report_interval_s()
        };
        assert_eq!(step(ReportInterval::ByLength, 60), Some(1));
        assert_eq!(step(ReportInterval::ByLength, 61), Some(LONG_RUN_INTERVAL_S));
        assert_eq!(step(ReportInterval::Seconds(5), 61), Some(5));
        assert_eq!(step(ReportInterval::Never, 60), None);
    }

    #[test]
    fn plain_line_of_a_job_names_its_numbers() {
        let row = ["read", "3,002", "2,998", "1.40 ms", "9.2 ms", "0", "3", "0"].map(str::to_owned);
        let expected = "00:05 read: offered/s 3,002 achieved/s 2,998 p50 1.40 ms p99 9.2 ms \
                        errors 0 in flight 3 queued 0";
        assert_eq!(line(Nanos::from_secs(5), &row), expected);
    }
}
