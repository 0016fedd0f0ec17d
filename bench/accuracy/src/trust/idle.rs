//! False alarms in real time on an idle machine, and detection of a real stall of 50 ms.
//!
//! The runs use simulated servers, SQLite, and private servers of PostgreSQL and MariaDB. Each run
//! for false alarms is judged over ten seconds. The result depends on the machine: other programs
//! that run on it are detected too.

use std::error::Error;
use std::io;
use std::process::{Child, Command, Stdio};

use analyze::Evidence;
use base::WallTime;
use engine::Options;
use workload::Plan;

use super::accepted::TimeKind;
use super::alarms::Alarms;
use super::sensitivity::Sensitivity;
use super::{evidence_of, plan};

/// A kind of run.
struct Shape {
    name: &'static str,
    url: &'static str,
    /// The workload without its duration and warm-up.
    workload: &'static str,
}

/// Queries that read single rows of a table of 5,000 rows. A request to a server takes long enough
/// to make the generator's lag negligible.
const READS: &str = "[params]\nrows = 5000\n[setup]\nquery = create table t (id bigint primary \
                     key, v bigint)\n[load t]\nrows = ${rows}\ncolumns = id: row(), v: uniform(1, \
                     1000)\n[read]\nquery = select v from t where id = ${uniform(1, rows)}\nrate \
                     = 200\n";

/// Queries on one connection. Each sums over a table of 30,000 rows and takes about 1 ms. In
/// SQLite, reading a single row takes less time than waking the thread, so `send-lag` would object.
/// Several connections would compete with the generator for the processors.
const SUMS: &str = "[params]\nrows = 30000\n[setup]\nquery = create table t (id bigint primary \
                    key, v bigint)\n[load t]\nrows = ${rows}\ncolumns = id: row(), v: uniform(1, \
                    1000)\n[read]\nquery = select sum(v) from t where v > ${uniform(1, \
                    500)}\nrate = 100\nconcurrency = 1\n";

const SHAPES: [Shape; 5] = [
    Shape {
        name: "M/M/1 in real time",
        url: "sim:mm1?service=2ms",
        workload: "[read]\nquery = select 1\nrate = 250\n",
    },
    Shape {
        name: "closed in real time",
        url: "sim:mmc?service=4ms&servers=4",
        workload: "[read]\nquery = select 1\nconcurrency = 8\nthink = exp(20ms)\n",
    },
    Shape { name: "SQLite", url: "sqlite:", workload: SUMS },
    Shape { name: "PostgreSQL", url: "testbed:postgres", workload: READS },
    Shape { name: "MariaDB", url: "testbed:mariadb", workload: READS },
];

/// Two seconds of warm-up, then ten judged seconds.
const TIMES: &str = "duration = 12s\nwarmup = 2s\n";

/// Executes `runs` runs, of all shapes in turn.
///
/// # Errors
/// Fails if a server cannot be started or a run fails.
pub fn idle(runs: u64) -> Result<Alarms, Box<dyn Error>> {
    let mut alarms = Alarms::none(TimeKind::Real);
    for (seed, shape) in (1..=runs).zip(SHAPES.iter().cycle()) {
        let plan = plan(&format!("{TIMES}{}", shape.workload))?;
        let evidence = evidence_in_real_time(&plan, shape.url, seed)?;
        alarms.judge(&format!("{}, run {seed}", shape.name), &evidence);
    }
    Ok(alarms)
}

/// Stops this process for 50 ms in each of `runs` runs.
///
/// # Errors
/// Fails if a run fails or the process cannot be stopped.
pub fn stalls(runs: u64) -> Result<Sensitivity, Box<dyn Error>> {
    let plan = plan("duration = 4s\n[read]\nquery = select 1\nrate = 200\n")?;
    let mut found = Sensitivity::of("the process stopped for 50 ms, in real time", "stall");
    for seed in 1..=runs {
        let mut stopper = stop_in_two_seconds()?;
        let evidence = evidence_in_real_time(&plan, "sim:mm1", seed)?;
        stopper.wait()?;
        found.judge(&evidence);
    }
    Ok(found)
}

/// Starts a shell that stops this process in two seconds and continues it 50 ms later.
fn stop_in_two_seconds() -> io::Result<Child> {
    let own = std::process::id().to_string();
    let script = "sleep 2; kill -STOP $0; sleep 0.05; kill -CONT $0";
    Command::new("sh").args(["-c", script, &own]).stdin(Stdio::null()).spawn()
}

/// Returns the evidence of a run in real time.
fn evidence_in_real_time(plan: &Plan, url: &str, seed: u64) -> Result<Evidence, Box<dyn Error>> {
    let options = Options { started: WallTime::now(), ..Options::in_real_time() };
    evidence_of(plan, url, seed, options)
}
