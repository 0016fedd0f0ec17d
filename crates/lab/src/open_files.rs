//! The limit of open files, checked and raised before a run.
//!
//! Each connection is an open file. A process may raise its soft limit up to the hard limit. A run
//! whose initial connections exceed the limit is refused before it opens the first of them. Open
//! jobs may open more connections later. This is no reason to refuse a run: these jobs use as many
//! connections as the limit allows, and the record notes that the limit was reached.

use std::fmt;

use driver::{AnyDriver, Driver};
use engine::{Drivers, connections_at_most, connections_at_start};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use workload::{JobId, Plan};

/// Number of files that a run opens in addition to connections and threads: the record with its
/// journal, the op-log, control connections, and the connection that cancels abandoned statements.
const OTHER_FILES: u64 = 24;

/// Number of files of a thread that waits for I/O: of each lane, and of the threads for control and
/// cancellation.
const FILES_PER_THREAD: u64 = 4;

/// Number of threads that wait for I/O, in addition to the lanes: those for control and for
/// cancellation.
const OTHER_THREADS: u64 = 2;

/// The error that a run needs more open files than this process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFiles {
    /// Number of connections at the start of the run.
    pub connections: u64,
    /// Number of open files that the run needs.
    pub needed: u64,
    /// Number of open files that this process may have.
    pub allowed: u64,
}

impl TooManyFiles {
    /// Returns advice on how to raise the limit, or how to run with fewer open files.
    pub fn remedy(&self) -> String {
        format!(
            "write `ulimit -n {}` in the shell before, which an administrator may allow, or ask \
             for fewer connections",
            self.needed
        )
    }
}

impl fmt::Display for TooManyFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooManyFiles { connections, needed, allowed } = self;
        write!(
            f,
            "the run begins with {connections} connections and needs {needed} open files, but this \
             process may open {allowed}"
        )
    }
}

impl std::error::Error for TooManyFiles {}

/// Checks that the run may open the files that it needs at its start, and raises the soft limit if
/// it is lower than what the run may need later.
pub(crate) fn raise_file_limit(
    plan: &Plan,
    drivers: &Drivers<AnyDriver>,
    lanes: u16,
) -> Result<(), TooManyFiles> {
    let begins = ConnectionCount::of(plan, drivers, |id| connections_at_start(plan, id, lanes));
    if begins.files == 0 {
        return Ok(());
    }
    let threads = FILES_PER_THREAD * (u64::from(lanes) + OTHER_THREADS);
    let files = plan.jobs_and_parts().flat_map(|either| {
        let requests = either.requests();
        [requests.feed.is_some(), requests.results.is_some()]
    });
    let other_files =
        open_now() + OTHER_FILES + threads + files.filter(|is_open| *is_open).count() as u64;
    let limit = getrlimit(Resource::Nofile);
    let (needed, allowed) = (other_files + begins.files, limit.maximum.unwrap_or(u64::MAX));
    if needed > allowed {
        return Err(TooManyFiles { connections: begins.connections, needed, allowed });
    }
    let at_most = ConnectionCount::of(plan, drivers, |id| connections_at_most(plan, plan.job(id)));
    if limit.current.is_some_and(|current| current < other_files + at_most.files) {
        // If the limit cannot be raised, the old one applies, and the run reports when it is
        // reached.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
    Ok(())
}

/// Number of connections that are open at the same time, and number of files that they need.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ConnectionCount {
    files: u64,
    connections: u64,
}

impl ConnectionCount {
    /// Returns the number of connections of all jobs, or of the largest load if that is more. The
    /// two are not added up, because tables are filled one after the other, before the jobs begin.
    fn of(
        plan: &Plan,
        drivers: &Drivers<AnyDriver>,
        of_job: impl Fn(JobId) -> u32,
    ) -> ConnectionCount {
        let count_of = |connections: u32, driver: &AnyDriver| ConnectionCount {
            files: u64::from(connections) * u64::from(driver.files()),
            connections: connections.into(),
        };
        let jobs = plan.jobs_by_id().map(|(id, job)| count_of(of_job(id), drivers.of(job.target)));
        let jobs = jobs.fold(ConnectionCount::default(), |all, job| ConnectionCount {
            files: all.files + job.files,
            connections: all.connections + job.connections,
        });
        let loads = plan.loads.iter();
        let writers = loads.filter_map(|load| Some(count_of(load.writers, drivers.main.as_ref()?)));
        writers.fold(jobs, ConnectionCount::max)
    }
}

/// Returns the number of files that this process has open. If the system does not report it,
/// returns an estimate that covers the standard streams and signals.
fn open_now() -> u64 {
    const ESTIMATE: u64 = 8;
    std::fs::read_dir("/proc/self/fd").map_or(ESTIMATE, |entries| entries.count() as u64)
}
