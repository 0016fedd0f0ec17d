//! Plain lines, for logs and pipes: one when the phase changes, and one per job every so often.

use std::io::Write;
use std::sync::Arc;
use std::thread::JoinHandle;

use base::Nanos;
use record::LiveView;

use super::picture::{COLUMNS, Picture, Row, tenths};
use super::words::clock;
use super::{Phase, Shared, State};

/// Runs up to this long are reported every second, longer ones every [`SELDOM`].
const SHORT: Nanos = Nanos::from_secs(60);
const SELDOM: u64 = 10;

/// Starts writing lines.
pub(super) fn start(shared: Arc<Shared>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut lines = Lines::default();
        loop {
            let state = shared.wait();
            for line in lines.next(&state) {
                // A log that nobody reads any more is no reason to stop measuring.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            if state.finished {
                return;
            }
        }
    })
}

/// What was said before, so that nothing is said twice.
#[derive(Default)]
struct Lines {
    said: Option<Phrase>,
    /// The second of the latest report.
    reported: Option<u64>,
}

impl Lines {
    /// The lines that are new.
    fn next(&mut self, state: &State) -> Vec<String> {
        let mut lines = Vec::new();
        let phase = Phrase::of(state);
        if self.said.as_ref() != Some(&phase) && state.phase != Phase::Starting {
            lines.push(phase.line.clone());
            self.said = Some(phase);
        }
        lines.extend(self.report(state));
        lines
    }

    fn report(&mut self, state: &State) -> Vec<String> {
        let Some(live) = state.live.as_ref().and_then(LiveView::latest) else { return Vec::new() };
        let second = live.at.0 / 1_000_000_000;
        let step =
            if state.duration.is_some_and(|duration| duration <= SHORT) { 1 } else { SELDOM };
        if self.reported.is_some_and(|reported| second < reported + step) {
            return Vec::new();
        }
        self.reported = Some(second);
        let picture = Picture::of(state);
        picture.rows.iter().map(|row| line(live.at, row)).collect()
    }
}

/// What is said of a phase. Two are the same when there is nothing new in the second one.
#[derive(Clone, Debug)]
struct Phrase {
    /// The phase without what changes within it, but for the parts of a load.
    key: String,
    line: String,
}

impl PartialEq for Phrase {
    fn eq(&self, other: &Phrase) -> bool {
        self.key == other.key
    }
}

impl Phrase {
    fn of(state: &State) -> Phrase {
        let line = match &state.phase {
            Phase::Running { .. } => running(state),
            Phase::Starting
            | Phase::Setup { .. }
            | Phase::Loading { .. }
            | Phase::Opening
            | Phase::Teardown { .. } => Picture::of(state).doing,
        };
        let key = match &state.phase {
            Phase::Loading { table, rows, of, .. } => format!("{table} {}", tenths(*rows, *of)),
            _ => line.clone(),
        };
        Phrase { key, line }
    }
}

fn running(state: &State) -> String {
    let length = match state.duration {
        Some(duration) => duration.to_string(),
        None if state.ends_by_itself => "until every job has reached its end".to_owned(),
        None => "until Ctrl-C".to_owned(),
    };
    match state.warmup {
        Nanos::ZERO => format!("running {length}"),
        warmup => format!("running {length}, the first {warmup} are warm-up and not measured"),
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
    use crate::display::picture::tests::state;
    use base::Stamp;

    #[test]
    fn a_phase_is_announced_once() {
        let mut lines = Lines::default();
        assert_eq!(lines.next(&state()), Vec::<String>::new());
        let setup = State { phase: Phase::Setup { done: 0, of: 2 }, ..state() };
        assert_eq!(lines.next(&setup), ["setup, statement 1 of 2"]);
        assert_eq!(lines.next(&setup), Vec::<String>::new());
        let loading = |rows| State {
            phase: Phase::Loading {
                table: "t".to_owned(),
                rows,
                of: 100,
                elapsed: Nanos::from_secs(1),
            },
            ..state()
        };
        assert_eq!(
            lines.next(&loading(11)),
            ["loading t: 11 of 100 rows (10 %) in 1.00 s, 11.00/s"]
        );
        assert_eq!(lines.next(&loading(19)), Vec::<String>::new());
        assert_eq!(
            lines.next(&loading(20)),
            ["loading t: 20 of 100 rows (20 %) in 1.00 s, 20.00/s"]
        );
    }

    #[test]
    fn the_length_of_a_run_is_said_without_a_warm_up_that_it_has_not() {
        let phase = Phase::Running { zero: Stamp::ZERO };
        let warm = State { phase, ..state() };
        assert_eq!(running(&warm), "running 1m, the first 10s are warm-up and not measured");
        let cold = State { warmup: Nanos::ZERO, ..warm };
        assert_eq!(running(&cold), "running 1m");
        let endless = State { duration: None, ..cold };
        assert_eq!(running(&endless), "running until Ctrl-C");
        let counted = State { ends_by_itself: true, ..endless };
        assert_eq!(running(&counted), "running until every job has reached its end");
    }

    #[test]
    fn a_job_is_one_line_with_names_for_its_numbers() {
        let row = ["read", "3,002", "2,998", "1.40 ms", "9.2 ms", "0", "3", "0"].map(str::to_owned);
        let expected = "00:05 read: offered/s 3,002 achieved/s 2,998 p50 1.40 ms p99 9.2 ms \
                        errors 0 in flight 3 queued 0";
        assert_eq!(line(Nanos::from_secs(5), &row), expected);
    }
}
