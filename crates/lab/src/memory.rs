//! The limit of a process's address space, checked before a run.
//!
//! An allocation that fails ends the process at once, without a record. The allocator reserves
//! address space for each thread long before the thread uses as much memory. A run is therefore
//! refused before its first thread starts if the limit is too small for its threads.

use std::fmt;

use rustix::process::{Resource, getrlimit};

/// Address space counted for a thread's stack, in bytes. Rust's threads have 2 MiB by default.
const STACK_BYTES: u64 = 8 << 20;

/// Address space that the C library's allocator reserves for a thread, in bytes.
const ARENA_BYTES: u64 = 64 << 20;

/// Maximum number of arenas of the allocator per processor (`M_ARENA_MAX`, mallopt(3)).
const ARENAS_PER_PROCESSOR: u64 = 8;

/// Number of threads in addition to the lanes: the main thread, and one each for signals, the
/// record, samples of the machine, samples of the database, and cancellation.
const OTHER_THREADS: u64 = 6;

/// Number of threads per lane: the lane itself, and the thread of a connection to SQLite.
const THREADS_PER_LANE: u64 = 2;

/// Address space for everything else, in bytes: the program and its libraries, memory beyond the
/// reservations, and the space that the allocator loses by aligning a reservation.
///
/// The current size of the process would be less suitable: it may already include some of the
/// threads and their reservations, which would then count twice.
const OTHER_BYTES: u64 = 160 << 20;

/// The error that a run needs more address space than this process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewAddresses {
    /// Number of lanes of the run.
    pub lanes: u16,
    /// Address space that the process needs, in bytes.
    pub needed: u64,
    /// Address space that the process may have, in bytes.
    pub allowed: u64,
}

impl TooFewAddresses {
    /// Returns advice on how to raise the limit, and how to limit memory in another way.
    pub fn remedy(&self) -> String {
        format!(
            "write `ulimit -v {}` or more in the shell before; to limit the memory that is used, \
             use a control group (`MemoryMax` of systemd)",
            self.needed >> 10
        )
    }
}

impl fmt::Display for TooFewAddresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TooFewAddresses { lanes, needed, allowed } = self;
        let threads = if *lanes == 1 { "thread" } else { "threads" };
        let [needed, allowed] = [needed, allowed].map(|bytes| bytes >> 20);
        write!(
            f,
            "the run with {lanes} {threads} needs {needed} MiB of address space, but this process \
             may have {allowed} MiB"
        )
    }
}

impl std::error::Error for TooFewAddresses {}

/// Checks that a run with this many lanes does not need more address space than this process may
/// have.
pub(crate) fn check_addresses(lanes: u16) -> Result<(), TooFewAddresses> {
    let Some(allowed) = getrlimit(Resource::As).current else { return Ok(()) };
    let threads = OTHER_THREADS + THREADS_PER_LANE * u64::from(lanes);
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let arenas = threads.min(ARENAS_PER_PROCESSOR * processors);
    let needed = STACK_BYTES * threads + ARENA_BYTES * arenas + OTHER_BYTES;
    match needed > allowed {
        true => Err(TooFewAddresses { lanes, needed, allowed }),
        false => Ok(()),
    }
}
