//! Interleaved rounds: every measure runs once per round, and medians and spread are printed at the
//! end. A drift of the machine's speed then affects all measures alike.

use std::cell::RefCell;
use std::fs;
use std::process::Command;

use base::{AccountId, Clock, Monotonic};
use bench::describe;

use crate::cases::{self, Case, Outcome};
use crate::merge;
use crate::output::print_line;

/// A measure with its value in each round.
struct Measure {
    name: &'static str,
    unit: &'static str,
    /// The goal as text, such as `≤ 300`; empty if there is none.
    goal: &'static str,
    values: Vec<f64>,
}

/// Runs all measures in rounds and prints the table.
pub(crate) fn measure(rounds: usize) {
    print_line(describe());
    let mut measures: Vec<Measure> = MEASURES
        .iter()
        .map(|(name, unit, goal, _)| Measure { name, unit, goal, values: Vec::new() })
        .collect();
    for round in 1..=rounds {
        for (measure, (.., take)) in measures.iter_mut().zip(MEASURES) {
            measure.values.push(take());
        }
        print_line(format!("round {round} of {rounds}"));
    }
    print_line("| measure | median | lowest | highest | unit | goal |");
    print_line("| --- | --: | --: | --: | --- | --- |");
    measures.iter_mut().for_each(Measure::print);
    print_line(growth(FEW, MANY));
    print_line(growth_of_a_replay(FEW_LINES, MANY_LINES));
}

/// The numbers of virtual requests of two runs whose memory may differ by at most 1 MB.
const FEW: u64 = 1_000_000;
const MANY: u64 = 100_000_000;

/// Returns a line with the peak resident memory of two virtual runs with records, each in its own
/// process.
fn growth(few: u64, many: u64) -> String {
    let megabytes = |requests: u64| peak_of(&["memory", &requests.to_string()]).1 as f64 / 1e6;
    let (before, after) = (megabytes(few), megabytes(many));
    format!(
        "resident memory: {before:.1} MB after {few} virtual requests, {after:.1} MB after {many} \
         (goal: at most 1 MB more)"
    )
}

/// The numbers of lines of two logs whose replays must take the same memory.
const FEW_LINES: u64 = 10_000;
const MANY_LINES: u64 = 1_000_000;

/// Returns a line with the peak resident memory of two replays with records, each in its own
/// process.
fn growth_of_a_replay(few: u64, many: u64) -> String {
    let megabytes = |lines: u64| {
        let (completed, bytes) = peak_of(&["replay", &lines.to_string()]);
        assert_eq!(completed, lines.to_string(), "every line is sent");
        bytes as f64 / 1e6
    };
    let (before, after) = (megabytes(few), megabytes(many));
    format!(
        "replay of a log: {before:.1} MB after {few} lines, {after:.1} MB after {many} (goal: \
         constant)"
    )
}

type Take = fn() -> f64;

const MEASURES: [(&str, &str, &str, Take); 14] = [
    ("engine, closed loop, null driver", "ns/request", "≤ 300", closed),
    ("closed loop with the record kept", "ns/request", "≤ 300", closed_recorded),
    ("closed loop with an op-log", "ns/request", "≤ 300", closed_logged),
    ("engine, open loop, null driver", "ns/request", "≤ 500", open),
    ("open loop with the record kept", "ns/request", "≤ 500", open_recorded),
    ("engine, queue of 16 workers, null driver", "ns/request", "≤ 500", queue),
    ("queue of 16 workers with the record kept", "ns/request", "≤ 500", queue_recorded),
    ("M/M/1 in virtual time, in memory", "requests/s", "≥ 2,000,000", virtual_in_memory),
    ("M/M/1 in virtual time, record kept", "requests/s", "≥ 2,000,000", virtual_recorded),
    ("open loop at 1,000/s: send lag p99", "µs", "", lag),
    ("check of a 10 MB file", "s", "≤ 1", check_time),
    ("check of a 10 MB file: memory", "x its size", "≤ 10", check_memory),
    ("check of a file of 1,000 jobs", "ms", "≤ 50", check_of_jobs),
    ("merging a run of 60 s with 3 jobs", "ms", "≤ 100", merge::median),
];

impl Measure {
    fn print(&mut self) {
        self.values.sort_by(f64::total_cmp);
        let (lowest, highest) = (self.values[0], self.values[self.values.len() - 1]);
        let median = self.values[self.values.len() / 2];
        let digits = if median < 10.0 { 2 } else { 0 };
        print_line(format!(
            "| {} | {median:.digits$} | {lowest:.digits$} | {highest:.digits$} | {} | {} |",
            self.name, self.unit, self.goal
        ));
    }
}

/// Number of requests of the closed and the virtual cases.
const REQUESTS: u64 = 5_000_000;

/// Number of requests of the open case and of the queue; all of them are late.
const OVERDUE: u64 = 1_000_000;

/// Returns the result of `work` and its elapsed time in seconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Monotonic.now();
    let result = work();
    (result, Monotonic.now().since(began).as_secs_f64())
}

/// Returns the nanoseconds that each request adds to a run in real time. The time of a run of one
/// request is subtracted, because every run begins with a wait of 50 ms.
fn per_request(requests: u64, run: impl Fn(u64) -> u64) -> f64 {
    let seconds_of = |requests| {
        let (completed, seconds) = timed(|| run(requests));
        assert_eq!(completed, requests, "nothing is rejected, and nothing fails");
        seconds
    };
    (seconds_of(requests) - seconds_of(1)) * 1e9 / (requests - 1) as f64
}

fn closed() -> f64 {
    per_request(REQUESTS, |requests| Case::ClosedNull.run(requests).requests)
}

fn closed_recorded() -> f64 {
    per_request(REQUESTS, |requests| cases::recorded(Case::ClosedNull, requests))
}

/// Measures the lane alone: it never waits for the op-log's writer, but drops rows that the writer
/// cannot take.
fn closed_logged() -> f64 {
    let logs = RefCell::new(Vec::new());
    let time = per_request(REQUESTS, |requests| {
        let (outcome, log) = cases::logged(requests);
        logs.borrow_mut().push((requests, log));
        outcome.requests
    });
    for (requests, log) in logs.into_inner() {
        let report = log.finish(|| true);
        assert_eq!(
            report.rows + report.dropped,
            requests,
            "every request has a row, or is counted"
        );
    }
    time
}

fn open() -> f64 {
    per_request(OVERDUE, |requests| Case::OpenNull.run(requests).requests)
}

fn open_recorded() -> f64 {
    per_request(OVERDUE, |requests| cases::recorded(Case::OpenNull, requests))
}

fn queue() -> f64 {
    per_request(OVERDUE, |requests| Case::QueueNull.run(requests).requests)
}

fn queue_recorded() -> f64 {
    per_request(OVERDUE, |requests| cases::recorded(Case::QueueNull, requests))
}

fn virtual_in_memory() -> f64 {
    let (outcome, seconds) = timed(|| Case::VirtualMm1.run(REQUESTS));
    outcome.requests as f64 / seconds
}

fn virtual_recorded() -> f64 {
    let (requests, seconds) = timed(|| cases::recorded(Case::VirtualMm1, REQUESTS));
    requests as f64 / seconds
}

fn lag() -> f64 {
    let Outcome { totals, .. } = cases::paced(1_000, 3_000);
    let lag = totals.account(AccountId(0)).window.histograms.of(record::Kind::SendLag);
    lag.value_at_quantile(0.99) as f64 / 1e3
}

/// Returns a workload file of 10 MB: 9,000 jobs with statements of 1 kB.
fn ten_megabytes() -> String {
    let mut text = String::from("duration = 10s\n");
    let mut number = 0;
    while text.len() < 10_000_000 {
        number += 1;
        if number <= 9_000 {
            text.push_str(&format!("[job {number}]\n"));
        }
        let padding = "x".repeat(1_000);
        text.push_str(&format!("query = select '{padding}', ${{uniform(1, {number})}}\n"));
    }
    text
}

/// Checks a file of 10 MB in a separate process. Returns the elapsed seconds and that process's
/// peak memory in bytes.
fn check() -> (f64, u64) {
    let path = std::env::temp_dir().join(format!("assay-bench-{}.ini", std::process::id()));
    fs::write(&path, ten_megabytes()).expect("a scratch file");
    let name = path.to_string_lossy();
    let ((accepted, rss), seconds) = timed(|| peak_of(&["check", &name]));
    fs::remove_file(&path).expect("the scratch file is ours");
    assert_eq!(accepted, "true", "the benchmark's own file is accepted");
    (seconds, rss)
}

/// Runs this program with these arguments. Returns the first word of its output and its peak
/// resident memory in bytes.
fn peak_of(arguments: &[&str]) -> (String, u64) {
    let program = std::env::current_exe().expect("a running program has a path");
    let output = Command::new(program).args(arguments).output().expect("it runs again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (word, rss) = text.trim().split_once(' ').expect("a word and a number");
    (word.to_owned(), rss.parse().expect("a number of bytes"))
}

/// Prints the memory that the check of a file of 10 MB takes, as a multiple of the file's size.
pub(crate) fn input() {
    print_line(format!("{:.2}", check_memory()));
}

fn check_time() -> f64 {
    check().0
}

/// Returns the milliseconds that it takes to check a file of 1,000 typical jobs.
fn check_of_jobs() -> f64 {
    timed(|| check_jobs(1_000)).1 * 1e3
}

/// Checks a file of typical jobs.
pub(crate) fn check_jobs(count: u32) {
    let job = |number: u32| {
        format!(
            "[job {number}]\nlet = a: zipf(1, 1M)\n\
             query = select * from t where a = ${{a}} and b > ${{uniform(1, {number})}}\n\
             query = update t set c = ${{text(12, 40)}} where a = ${{a}}\n\
             transaction = yes\nrate = 10\nslo = p99 < 30ms, failed < 1%\n"
        )
    };
    let text: String = (1..=count).map(job).collect();
    let (plan, _) = workload::plan(&text, &workload::Overrides::default());
    let accepted = plan.map(|plan| plan.jobs.len());
    assert_eq!(accepted, Some(count as usize), "the benchmark's own file is accepted");
}

fn check_memory() -> f64 {
    check().1 as f64 / 10e6
}
