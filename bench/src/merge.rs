//! Time to move the record of a run into the record of an experiment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{ExperimentWriter, Recorder, RunRow};
use base::{Clock, Monotonic, Nanos, Seed};
use driver::{AnyDriver, Simulated};
use engine::{Drivers, LaneOutlet, NoListener, Options, Stop};
use record::{End, EndKind, Reading};
use sim::{Config, Service};
use workload::{Overrides, Plan};

use crate::cases::header;
use crate::output::print_line;

/// Length of the run, in seconds.
const SECONDS: u64 = 60;

/// Number of series of a run on a private server: samples of a machine with two processors, of the
/// processes of both sides, and of the server's own statistics.
const SERIES: u32 = 200;

/// Number of runs that are moved.
const RUNS: u32 = 20;

/// Prints the median and the longest time of [`RUNS`] moves, in milliseconds.
pub(crate) fn print() {
    let mut times = times(RUNS);
    times.sort_by(f64::total_cmp);
    let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
    print_line(format!("{median:.1} {slowest:.1}"));
}

/// Returns the milliseconds of the median move.
pub(crate) fn median() -> f64 {
    let mut times = times(RUNS);
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Moves a run `moves` times into one growing file. Returns the duration of each move, in
/// milliseconds.
pub(crate) fn times(moves: u32) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (record, own) = (folder.path().join("e.assay"), folder.path().join("own.assay"));
    let made = run_of_three_jobs(&folder.path().join("run.assay"));
    let mut writer = ExperimentWriter::create(&record, &[], &[]).expect("a scratch file");
    let moved = (1..=moves).map(|run| {
        std::fs::copy(&made, &own).expect("a scratch file");
        let began = Monotonic.now();
        writer.add_run(&row(run), &[], &own).expect("the record is kept");
        Monotonic.now().since(began).as_secs_f64() * 1e3
    });
    moved.collect()
}

fn row(run: u32) -> RunRow {
    RunRow { round: (run - 1) / 2, position: (run - 1) % 2, ..RunRow::new(run, "arm") }
}

/// Records a run of three jobs in virtual time, with as many observations as in a run in real time.
fn run_of_three_jobs(path: &Path) -> PathBuf {
    let job = |name: &str| format!("[{name}]\nquery = select 1\nquery = select 2\nrate = 300\n");
    let text = format!("duration = {SECONDS}s\n{}{}{}", job("a"), job("b"), job("c"));
    let (plan, _) = workload::plan(&text, &Overrides::default());
    let plan: Plan = plan.expect("the benchmark's own workload");
    let recorder = Recorder::create(path, &header(&plan, true)).expect("a scratch file");
    let facts = recorder.facts();
    for second in 0..=SECONDS {
        let reading = |series: u32| {
            Reading::of("statistics", &format!("metric-{series}"), "", f64::from(series))
        };
        facts.readings(Nanos::from_secs(second), (0..SERIES).map(reading).collect());
    }
    let mut outlet = |_| Box::new(recorder.outlet()) as LaneOutlet;
    let server = Config::new(Service::Exponential(Nanos::from_micros(100)), Some(4));
    let drivers = Drivers::only(AnyDriver::from(Simulated::new(server, Seed(1))));
    let (options, stop) = (Options::simulated(), Stop::default());
    let finished =
        engine::run_any(&plan, drivers, &options, &mut outlet, &stop, Arc::new(NoListener));
    finished.expect("the benchmark's run is made");
    let at = Nanos::from_secs(SECONDS);
    let end = End { at, kind: EndKind::Completed, text: String::new() };
    recorder.finish(end).expect("the record is kept")
}
