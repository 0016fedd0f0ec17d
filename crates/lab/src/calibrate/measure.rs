//! Calibration runs of a statement that does nothing, recorded like any other run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use analyze::{Evidence, summarize};
use archive::Archive;
use base::{Code, Nanos, Target, WallTime};
use engine::{NoListener, Options, Stop};
use guardian::TemporaryFolder;
use hdrhistogram::Histogram;
use record::{Counts, EndKind, Kind};
use workload::Overrides;

use super::figures::{Ceiling, Floor, HandOff, Quantiles};
use super::problem::Problem;
use crate::evidence::evidence;
use crate::record_place::RecordPlace;
use crate::run::{Order, run};

/// Numbers of clients for which the ceiling is measured.
const CEILING_CLIENTS: [u64; 2] = [16, 64];

/// Warm-up of each run; the first requests are slower.
const WARM_UP: Nanos = Nanos::from_millis(200);

/// Window of the floor measurement; long enough for p99.9.
const FLOOR_WINDOW: Nanos = Nanos::from_millis(1_000);

/// Drain of each run, longer than any statement that does nothing takes.
const DRAIN: Nanos = Nanos::from_millis(2_000);

/// Window of the ceiling measurement for each number of clients.
const CEILING_WINDOW: Nanos = Nanos::from_millis(500);

/// Factor by which a quick calibration shortens warm-up and windows.
const QUICK_FACTOR: u64 = 3;

/// Maximum number of attempts at a run. A run without a single answer in its window is repeated
/// with twice the window, because the machine must have been stalled for the whole window.
const MAX_ATTEMPTS: u32 = 4;

/// The parameters of a calibration.
pub struct CalibrationOptions {
    /// A real target whose floor is measured as well.
    pub target: Option<Target>,
    /// True for a quick calibration, with a third of the usual time for each run, and fewer timed
    /// sleeps.
    pub is_quick: bool,
    /// The path of this program. When it is called with
    /// [`WIRE_SERVER_COMMAND`](super::WIRE_SERVER_COMMAND) and the name of a protocol, it must
    /// call [`serve`](super::serve).
    pub program: PathBuf,
    /// The version of this program.
    pub version: String,
    /// A request to stop early.
    pub stop: Stop,
}

/// A runner of calibration runs, one at a time. Dropping it removes their records.
pub(super) struct CalibrationRunner<'a> {
    folder: TemporaryFolder,
    records: AtomicU32,
    version: &'a str,
    warm_up: Nanos,
    time_divisor: u64,
    stop: &'a Stop,
}

/// The figures of a run with one client.
pub(super) struct FloorMeasurement {
    pub(super) floor: Floor,
    lag: Quantiles,
    service_mean_ns: f64,
    per_s: f64,
}

impl FloorMeasurement {
    /// Returns the time outside SQLite between two requests of a client. Its quantiles are those of
    /// the send lag, which begins at the end of the previous request in the thread. Its mean is the
    /// mean period of a client minus the mean service time.
    pub(super) fn hand_off(&self) -> HandOff {
        let period_ns = 1e9 / self.per_s.max(f64::MIN_POSITIVE);
        HandOff {
            p50: self.lag.p50,
            p99: self.lag.p99,
            mean: Nanos((period_ns - self.service_mean_ns).max(0.0) as u64),
        }
    }
}

impl<'a> CalibrationRunner<'a> {
    pub(super) fn new(wanted: &'a CalibrationOptions) -> Result<CalibrationRunner<'a>, Problem> {
        Ok(CalibrationRunner {
            folder: folder().map_err(Problem::System)?,
            records: AtomicU32::new(0),
            version: &wanted.version,
            warm_up: WARM_UP,
            time_divisor: if wanted.is_quick { QUICK_FACTOR } else { 1 },
            stop: &wanted.stop,
        })
    }

    /// Measures the floor: the time that a request of a single client takes.
    pub(super) fn floor(&self, target: &Target) -> Result<FloorMeasurement, Problem> {
        self.floor_within(target, FLOOR_WINDOW)
    }

    fn floor_within(&self, target: &Target, window: Nanos) -> Result<FloorMeasurement, Problem> {
        let (evidence, per_s) = self.run(target, 1, window)?;
        let times = |kind| evidence.jobs[0].histogram(kind).ok_or_else(unanswered);
        let (response, service) = (times(Kind::Response)?, times(Kind::Service)?);
        Ok(FloorMeasurement {
            floor: Floor {
                count: response.len(),
                response: quantiles(response),
                service: quantiles(service),
            },
            lag: quantiles(times(Kind::SendLag)?),
            service_mean_ns: service.mean(),
            per_s,
        })
    }

    /// Measures the ceilings: the requests per second of several clients on one thread.
    pub(super) fn ceilings(&self, target: &Target) -> Result<Vec<Ceiling>, Problem> {
        let ceiling = |connections| {
            let (_, per_s) = self.run(target, connections, CEILING_WINDOW)?;
            Ok(Ceiling { connections, per_s })
        };
        CEILING_CLIENTS.into_iter().map(ceiling).collect()
    }

    /// Runs the workload. Returns the evidence of the run's record, and the number of answered
    /// requests per second.
    fn run(
        &self,
        target: &Target,
        clients: u64,
        window: Nanos,
    ) -> Result<(Evidence, f64), Problem> {
        for attempt in 0..MAX_ATTEMPTS {
            let (evidence, per_s) = self.run_once(target, clients, window * (1 << attempt))?;
            if let Some(per_s) = per_s.filter(|per_s| *per_s > 0.0) {
                return Ok((evidence, per_s));
            }
        }
        Err(unanswered())
    }

    fn run_once(
        &self,
        target: &Target,
        clients: u64,
        window: Nanos,
    ) -> Result<(Evidence, Option<f64>), Problem> {
        if self.stop.is_requested() {
            return Err(Problem::Interrupted);
        }
        let number = self.records.fetch_add(1, Ordering::Relaxed);
        let record = self.folder.path().join(format!("{number}.assay"));
        let order = self.order(target, clients, window, record);
        let done = run(order, Arc::new(NoListener), |_| {}).map_err(Problem::Run)?;
        if let Some(missing) = done.missing_target {
            return Err(Problem::Unreachable(missing.reason));
        }
        match done.end {
            EndKind::Completed => {}
            EndKind::Interrupted => return Err(Problem::Interrupted),
            EndKind::TargetLost => {
                let reason = "it was lost before the end of a measurement".to_owned();
                return Err(Problem::Unreachable(reason));
            }
            other => {
                let reason = format!("a run of empty statements ended: {}", other.name());
                return Err(Problem::Failed(reason));
            }
        }
        let archive = Archive::open(&done.record).map_err(Problem::Record)?;
        let evidence = evidence(&archive).map_err(Problem::Record)?;
        let job = summarize(&evidence).jobs.into_iter().next().ok_or_else(unanswered)?;
        // Requests that are unanswered at the end do not make the answered ones invalid.
        let unanswered_at_end = evidence.jobs[0].failed_with(Code::DRAIN);
        let errors = job.counts.balance.errors().saturating_sub(unanswered_at_end);
        if errors > 0 {
            let reason = format!("{errors} empty statements (`select 1`) failed");
            return Err(Problem::Failed(reason));
        }
        let total = |count: fn(&Counts) -> u64| -> u64 {
            evidence.jobs[0].steps.iter().map(|step| count(&step.counts)).sum()
        };
        // The drain is longer than any stall of the machine, so the server is to blame.
        if total(|it| it.balance.completed()) == 0 && total(|it| it.balance.scheduled()) > 0 {
            let reason = format!("`select 1` is not answered within {DRAIN}");
            return Err(Problem::Unreachable(reason));
        }
        Ok((evidence, job.throughput_per_s))
    }

    fn order(&self, target: &Target, clients: u64, window: Nanos, record: PathBuf) -> Order {
        let short = |span: Nanos| Nanos(span.0 / self.time_divisor);
        let text = format!(
            "duration = {}\nwarmup = {}\ndrain = {DRAIN}\n[nothing]\nquery = select 1\n\
             concurrency = {clients}\n[observe]\ndatabase = no\n",
            short(self.warm_up) + short(window),
            short(self.warm_up)
        );
        let (plan, diagnostics) = workload::plan(&text, &Overrides::default());
        Order {
            workload: "calibrate".to_owned(),
            command: "assay calibrate".to_owned(),
            version: self.version.to_owned(),
            // Ending one run must not end the others.
            stop: self.stop.child(),
            ..Order::new(
                plan.unwrap_or_else(|| panic!("the workload is ours: {diagnostics:?}")),
                target.clone(),
                Options { started: WallTime::now(), ..Options::in_real_time() },
                RecordPlace::Exactly(record),
            )
        }
    }
}

/// A measurement of the floor at the null server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NullFloor {
    pub(crate) warm_up: Nanos,
    pub(crate) window: Nanos,
}

impl NullFloor {
    /// Measures the mean time of a request of one client, in nanoseconds.
    ///
    /// # Errors
    /// The measurement could not be run, was interrupted, or got no answer.
    pub(crate) fn measure(self, version: &str, stop: &Stop) -> Result<f64, Problem> {
        let runner = CalibrationRunner {
            folder: folder().map_err(Problem::System)?,
            records: AtomicU32::new(0),
            version,
            warm_up: self.warm_up,
            time_divisor: 1,
            stop,
        };
        let target = Target::parse("sim:null").expect("the URL is ours");
        let measured = runner.floor_within(&target, self.window)?;
        Ok(1e9 / measured.per_s.max(f64::MIN_POSITIVE))
    }
}

/// Creates a folder for records that only this process reads.
fn folder() -> std::io::Result<TemporaryFolder> {
    let parent = std::env::temp_dir();
    TemporaryFolder::new(&parent, "assay-calibrate").map_err(|error| {
        let text = format!("cannot make a folder in `{}`: {error}", parent.display());
        std::io::Error::new(error.kind(), text)
    })
}

fn unanswered() -> Problem {
    Problem::Failed("no statement was answered within the time of a measurement".to_owned())
}

fn quantiles(times: &Histogram<u64>) -> Quantiles {
    let [p50, p99, p99_9] = [0.5, 0.99, 0.999].map(|q| Nanos(times.value_at_quantile(q)));
    Quantiles { p50, p99, p99_9 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> CalibrationOptions {
        CalibrationOptions {
            target: None,
            is_quick: true,
            program: PathBuf::new(),
            version: "0".to_owned(),
            stop: Stop::default(),
        }
    }

    #[test]
    fn floor_and_ceiling_of_a_null_target_are_measured() {
        let wanted = wanted();
        let workshop = CalibrationRunner::new(&wanted).unwrap();
        let target = Target::parse("sim:null").unwrap();
        let FloorMeasurement { floor, .. } = workshop.floor(&target).unwrap();
        assert!(floor.count > 0 && floor.response.p50 <= floor.response.p99_9, "{floor:?}");
        assert!(floor.service.p50 <= floor.response.p50, "{floor:?}");
        let ceilings = workshop.ceilings(&target).unwrap();
        assert_eq!(ceilings.iter().map(|c| c.connections).collect::<Vec<_>>(), CEILING_CLIENTS);
        assert!(ceilings.iter().all(|ceiling| ceiling.per_s > 0.0), "{ceilings:?}");
        let folder = workshop.folder.path().to_owned();
        assert!(folder.exists());
        drop(workshop);
        assert!(!folder.exists());
    }

    #[test]
    fn floor_of_the_null_server_is_a_time_per_request() {
        let short = NullFloor { warm_up: Nanos::from_millis(20), window: Nanos::from_millis(50) };
        let time_ns = short.measure("0", &Stop::default()).unwrap();
        assert!((10.0..1e6).contains(&time_ns), "{time_ns}");
        let stop = Stop::default();
        stop.interrupt();
        assert!(matches!(short.measure("0", &stop), Err(Problem::Interrupted)));
    }

    #[test]
    fn a_target_that_is_not_there_is_unreachable() {
        let wanted = wanted();
        let workshop = CalibrationRunner::new(&wanted).unwrap();
        let target = Target::parse("postgres://127.0.0.1:1/d").unwrap();
        assert!(matches!(workshop.floor(&target), Err(Problem::Unreachable(_))));
    }

    #[test]
    fn target_that_goes_away_during_a_measurement_is_unreachable() {
        let wanted = CalibrationOptions { is_quick: false, ..wanted() };
        let workshop = CalibrationRunner::new(&wanted).unwrap();
        let target = Target::parse("sim:mm1?service=1ms&outage=300ms..1h").unwrap();
        assert!(matches!(workshop.floor(&target), Err(Problem::Unreachable(_))));
    }

    #[test]
    fn interrupted_calibration_has_no_result() {
        let wanted = wanted();
        wanted.stop.interrupt();
        let workshop = CalibrationRunner::new(&wanted).unwrap();
        let target = Target::parse("sim:null").unwrap();
        assert!(matches!(workshop.floor(&target), Err(Problem::Interrupted)));
    }

    #[test]
    fn hand_off_is_the_time_between_requests() {
        let quantiles = Quantiles { p50: Nanos(7_000), p99: Nanos(20_000), p99_9: Nanos(50_000) };
        let floor = Floor { count: 1, response: quantiles, service: quantiles };
        let (service_mean_ns, per_s) = (5_000.0, 50_000.0);
        let measured = FloorMeasurement { floor, lag: quantiles, service_mean_ns, per_s };
        let expected = HandOff { p50: Nanos(7_000), p99: Nanos(20_000), mean: Nanos(15_000) };
        assert_eq!(measured.hand_off(), expected);
    }
}
