//! May this process open as many files as a run needs?
//!
//! To the operating system a connection is an open file, of which a process may have so many: the
//! soft limit, which it may raise by itself as far as the hard one. A run that cannot have the
//! connections that it begins with is refused before it asks for the first. What open jobs may grow
//! to is no reason to refuse one: they take what there is, and the record says so.

use std::fmt;

use driver::Driver;
use engine::{Drivers, connections_at_most, connections_at_start};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use workload::Plan;

/// How many files a run opens beside its connections and threads: the record with its journal, the
/// op-log, control connections, and the one by which servers are told what nobody waits for.
const BESIDE: u64 = 24;

/// How many files a thread has that waits for others: lanes, control and farewells.
const PER_THREAD: u64 = 4;

/// How many threads there are beside the lanes.
const OTHER_THREADS: u64 = 2;

/// A run needs more open files than this process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFiles {
    /// How many connections it begins with.
    pub connections: u64,
    /// How many open files that makes.
    pub needed: u64,
    /// How many this process may have at most.
    pub allowed: u64,
}

impl TooManyFiles {
    /// What can be done about it.
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
            "the run begins with {connections} connections and so needs {needed} open files, and \
             this process may open {allowed}"
        )
    }
}

impl std::error::Error for TooManyFiles {}

/// Makes sure that there may be as many open files as a run needs, and raises the soft limit where
/// it may need more.
pub(crate) fn make_room<D: Driver>(
    plan: &Plan,
    drivers: &Drivers<D>,
    lanes: u16,
) -> Result<(), TooManyFiles> {
    let begins = Crowd::of(plan, drivers, |place| connections_at_start(plan, place, lanes));
    if begins.files == 0 {
        return Ok(());
    }
    let threads = PER_THREAD * (u64::from(lanes) + OTHER_THREADS);
    let files = plan.jobs.iter().flat_map(|job| [job.feed.is_some(), job.results.is_some()]);
    let beside = open_now() + BESIDE + threads + files.filter(|is_open| *is_open).count() as u64;
    let limit = getrlimit(Resource::Nofile);
    let (needed, allowed) = (beside + begins.files, limit.maximum.unwrap_or(u64::MAX));
    if needed > allowed {
        return Err(TooManyFiles { connections: begins.connections, needed, allowed });
    }
    let at_most = Crowd::of(plan, drivers, |place| connections_at_most(plan, &plan.jobs[place]));
    if limit.current.is_some_and(|current| current < beside + at_most.files) {
        // Whoever may not raise it keeps what he has, and is told when it is not enough.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
    Ok(())
}

/// Connections that are open at the same time, and the files that they are.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Crowd {
    files: u64,
    connections: u64,
}

impl Crowd {
    /// The larger one of the connections of all jobs and of those of the largest load: tables are
    /// filled one after the other, and before the jobs begin.
    fn of<D: Driver>(plan: &Plan, drivers: &Drivers<D>, of_job: impl Fn(usize) -> u32) -> Crowd {
        let crowd = |connections: u32, driver: &D| Crowd {
            files: u64::from(connections) * u64::from(driver.files()),
            connections: connections.into(),
        };
        let driver = |place: usize| drivers.of(plan.jobs[place].target);
        let jobs = plan.leaders().map(|place| crowd(of_job(place), driver(place)));
        let jobs = jobs.fold(Crowd::default(), |all, job| Crowd {
            files: all.files + job.files,
            connections: all.connections + job.connections,
        });
        let loads = plan.loads.iter();
        let writers = loads.filter_map(|load| Some(crowd(load.writers, drivers.main.as_ref()?)));
        writers.fold(jobs, Crowd::max)
    }
}

/// How many files this process has open. Where the system does not say, it is those of the standard
/// streams and of the signals.
fn open_now() -> u64 {
    const USUAL: u64 = 8;
    std::fs::read_dir("/proc/self/fd").map_or(USUAL, |entries| entries.count() as u64)
}
