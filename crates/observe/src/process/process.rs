//! One process that is sampled repeatedly: `/proc/PID/stat` and `/proc/PID/io` (`proc_pid_stat(5)`,
//! `proc_pid_io(5)`), and its threads.

use std::collections::BTreeMap;

use record::LANE_PREFIX;

use super::files::Files;
use super::resource_use::{Pair, ResourceUse};
use super::roles;
use super::stat::Stat;
use super::thread::{CountedFrom, Thread, ThreadId, division_ticks, read_allowed_processors};
use super::units::{TICK, io};

/// Number of samples after which the list of threads is read again, even if the number of threads
/// is unchanged.
const LIST_EVERY: u32 = 8;

/// Number of times that a process's title is read, from the first sample on, because a process sets
/// its title only after its start.
const TITLE_SAMPLES: u32 = 3;

/// Prefix of the names of observing threads.
const OBSERVER_PREFIX: &str = "watch";

/// Level of detail at which processes are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detail {
    /// True if threads are read one by one.
    pub(super) reads_threads: bool,
    /// Number of samples in which the status of every thread is read once: each sample reads the
    /// status of one in this many threads.
    pub(super) status_rounds: usize,
    /// Number of samples of a process from one reading of its I/O counters to the next.
    pub(super) io_rounds: usize,
    /// Number of the current sample.
    pub(super) sample_number: usize,
    /// Prefix of the names of threads that belong to the other side.
    pub(super) other_side_prefix: Option<&'static str>,
}

impl Detail {
    /// Returns true if the status of the thread at this position is read in this sample.
    fn reads_status_of(&self, place: usize) -> bool {
        place.wrapping_add(self.sample_number).is_multiple_of(self.status_rounds.max(1))
    }
}

/// Observation of a process at one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ProcessSample {
    /// Use since the last sample, without the threads that are reported separately.
    pub(super) used: ResourceUse,
    /// Use of the threads that are reported separately.
    pub(super) other_side_used: ResourceUse,
    /// User and kernel ticks of children that have ended since the last sample.
    pub(super) reaped: Pair,
    /// Run time, in nanoseconds, of the busiest thread, and of the busiest of the threads that are
    /// reported separately.
    pub(super) busiest: Pair,
    /// Run time of the observing threads, in nanoseconds.
    pub(super) observing: u64,
    /// True if the kernel reported the run time of threads.
    pub(super) has_threads: bool,
}

/// A process, and its values at the last sample.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pid: u32,
    /// Values of `stat` at the last reading.
    pub(super) stat: Stat,
    /// Threads of the process, if they are read one by one.
    pub(super) threads: BTreeMap<u32, Thread>,
    /// List of processors on which the process may run, if its threads are not read.
    allowed_processors: String,
    /// Bytes read and written; `None` if they may not be read.
    pub(super) io: Option<Pair>,
    /// Kind of background work that the process does, if any.
    pub(super) role: Option<&'static str>,
    /// Ticks that had been counted for the process when its `stat` was last read.
    counted: u64,
    /// Run time that has been counted since `stat` was last read, in nanoseconds.
    counted_since: u64,
    /// True if the process has had children.
    pub(super) is_parent: bool,
    sample_count: u32,
}

impl Process {
    /// Starts to sample a process; `None` if it has ended.
    pub(super) fn begin(
        files: &mut Files<'_>,
        number: u32,
        since: CountedFrom,
        detail: Detail,
    ) -> Option<Process> {
        let mut stat = read_stat(files, number)?;
        let mut bytes = read_io(files, number);
        let counted = match since {
            CountedFrom::Start => 0,
            CountedFrom::Now => Pair(stat.user, stat.system).sum(),
        };
        if since == CountedFrom::Start {
            (stat.user, stat.system) = (0, 0);
            (stat.reaped_user, stat.reaped_system, stat.major_faults) = (0, 0, 0);
            bytes = bytes.map(|_| Pair::default());
        }
        let threads = BTreeMap::new();
        let role = roles::read(files, number);
        let io = bytes;
        let mut process = Process {
            pid: number,
            stat,
            threads,
            allowed_processors: String::new(),
            io,
            role,
            counted,
            counted_since: 0,
            is_parent: false,
            sample_count: 0,
        };
        if detail.reads_threads {
            process.list_threads(files, since);
        }
        Some(process)
    }

    /// Returns the ticks counted for the process.
    pub(super) fn counted(&self) -> u64 {
        self.counted.saturating_add(self.counted_since / TICK)
    }

    /// Samples the process; `None` if it has ended. `place` is the number of the group's threads
    /// that were counted before in this sample. This number selects the threads whose status is
    /// read; the function adds the number of threads of this process to it.
    pub(super) fn sample(
        &mut self,
        files: &mut Files<'_>,
        place: &mut usize,
        detail: Detail,
    ) -> Option<ProcessSample> {
        let from = *place;
        if let Some(seen) = self.sample_briefly(files, place, detail) {
            return Some(seen);
        }
        *place = from;
        self.sample_in_detail(files, place, detail)
    }

    /// Reads only the process's single thread: its run time and, if due, its status. `None` if the
    /// process must be read in full, because other values are due or necessary. A parent is always
    /// read in full: only `stat` has the processor time of its children.
    fn sample_briefly(
        &mut self,
        files: &mut Files<'_>,
        place: &mut usize,
        detail: Detail,
    ) -> Option<ProcessSample> {
        let Stat { threads, user, system, .. } = self.stat;
        let is_simple = self.threads.len() == 1 && threads == 1 && !self.is_parent;
        let is_known = self.sample_count >= TITLE_SAMPLES
            && detail.reads_threads
            && detail.other_side_prefix.is_none();
        let is_due = (self.pid as usize).wrapping_add(self.sample_count as usize + 1);
        let is_due = is_due.is_multiple_of(detail.io_rounds.max(1));
        if !is_simple || !is_known || is_due || self.role.is_some() {
            return None;
        }
        let mut seen = ProcessSample::default();
        let ran = self.sample_threads(files, place, detail, &mut seen);
        if !seen.has_threads {
            return None;
        }
        self.sample_count = self.sample_count.wrapping_add(1);
        self.counted_since = self.counted_since.saturating_add(ran);
        let Pair(user, system) = Pair(user, system).divide(ran);
        (seen.used.user, seen.used.system) = (user, system);
        Some(seen)
    }

    fn sample_in_detail(
        &mut self,
        files: &mut Files<'_>,
        place: &mut usize,
        detail: Detail,
    ) -> Option<ProcessSample> {
        let now = read_stat(files, self.pid).filter(|now| now.started == self.stat.started)?;
        let before = std::mem::replace(&mut self.stat, now);
        self.sample_count = self.sample_count.wrapping_add(1);
        if self.sample_count < TITLE_SAMPLES {
            self.role = roles::read(files, self.pid);
        }
        let mut seen = ProcessSample {
            reaped: Pair(now.reaped_user, now.reaped_system)
                .since(Pair(before.reaped_user, before.reaped_system)),
            ..ProcessSample::default()
        };
        let was_alone = self.threads.len() == 1 && before.threads <= 1 && now.threads <= 1;
        self.update_threads(files, detail);
        let ran = self.sample_threads(files, place, detail, &mut seen);
        let (ticks, ticks_before) = (Pair(now.user, now.system), Pair(before.user, before.system));
        let grown = ticks.since(ticks_before).sum().saturating_mul(TICK);
        let grown = grown.saturating_sub(std::mem::take(&mut self.counted_since));
        // The run time that the scheduler reports is finer than ticks, but is lost when a thread
        // ends. If threads may have ended, only the ticks are complete. Run time and ticks measure
        // the same time, so they do not drift apart.
        let by_threads = seen.has_threads && (was_alone || detail.other_side_prefix.is_some());
        let time = if by_threads { ran } else { grown };
        let Pair(user, system) = division_ticks(ticks, ticks_before).divide(time);
        (seen.used.user, seen.used.system) = (user, system);
        seen.used.major_faults = now.major_faults.saturating_sub(before.major_faults);
        self.counted = ticks.sum();
        // The bytes of the threads that are reported separately have just been read, so those of
        // the process must be read at the same time.
        let is_due = (self.pid as usize).wrapping_add(self.sample_count as usize);
        let has_to_be = detail.other_side_prefix.is_some() || self.role.is_some();
        if has_to_be || is_due.is_multiple_of(detail.io_rounds.max(1)) {
            self.sample_io(files, &mut seen);
        }
        Some(seen)
    }

    /// Updates the list of threads if their number has changed, or if the list is due to be read
    /// again. Clears the list if threads are not read one by one.
    fn update_threads(&mut self, files: &mut Files<'_>, detail: Detail) {
        if !detail.reads_threads {
            self.threads.clear();
            if self.allowed_processors.is_empty() {
                self.allowed_processors = read_allowed_processors(files, self.pid);
            }
        } else if self.threads.is_empty() {
            self.list_threads(files, CountedFrom::Now);
        } else if self.threads.len() != self.stat.threads as usize
            || (self.stat.threads > 1 && self.sample_count.is_multiple_of(LIST_EVERY))
        {
            self.list_threads(files, CountedFrom::Start);
        }
    }

    fn list_threads(&mut self, files: &mut Files<'_>, since: CountedFrom) {
        let process = self.pid;
        let numbers = match self.stat.threads {
            1 => vec![process],
            _ => files.root.numbers(&format!("proc/{process}/task")),
        };
        self.threads.retain(|number, _| numbers.contains(number));
        for thread in numbers {
            if !self.threads.contains_key(&thread)
                && let Some(found) = Thread::begin(files, ThreadId { process, thread }, since)
            {
                self.threads.insert(thread, found);
            }
        }
    }

    /// Returns the run time of the process's threads since the last sample, in nanoseconds, without
    /// the threads that are reported separately.
    fn sample_threads(
        &mut self,
        files: &mut Files<'_>,
        place: &mut usize,
        detail: Detail,
        seen: &mut ProcessSample,
    ) -> u64 {
        let mut all_ran = 0;
        for thread in self.threads.values_mut() {
            *place += 1;
            let Some(thread_use) = thread.sample(files, detail.reads_status_of(*place)) else {
                continue;
            };
            seen.has_threads = true;
            let ran = thread_use.times.ran;
            // A wait of an observing thread does not delay requests.
            let is_observer = thread.name.starts_with(OBSERVER_PREFIX);
            seen.observing += if is_observer { ran } else { 0 };
            if detail.other_side_prefix.is_some_and(|begin| thread.name.starts_with(begin)) {
                seen.other_side_used += thread.other_side_use(files, thread_use);
                seen.busiest.1 = seen.busiest.1.max(ran);
                continue;
            }
            all_ran += ran;
            seen.busiest.0 = seen.busiest.0.max(ran);
            seen.used.waited += if is_observer { 0 } else { thread_use.times.waited };
            seen.used.voluntary += thread_use.switches.0;
            seen.used.involuntary += thread_use.switches.1;
        }
        all_ran
    }

    fn sample_io(&mut self, files: &mut Files<'_>, seen: &mut ProcessSample) {
        let Some(now) = read_io(files, self.pid) else { return };
        let Pair(read, written) = now.since(self.io.unwrap_or(now));
        self.io = Some(now);
        seen.used.read = read.saturating_sub(seen.other_side_used.read);
        seen.used.written = written.saturating_sub(seen.other_side_used.written);
    }

    /// Returns the lists of processors on which the process's threads may run. If some threads send
    /// requests, returns only the lists of those threads.
    pub(super) fn allowed_processors(&self) -> impl Iterator<Item = &str> {
        let is_lane = |thread: &Thread| thread.name.starts_with(LANE_PREFIX);
        let has_lanes = self.threads.values().any(is_lane);
        let threads = self.threads.values().filter(move |thread| !has_lanes || is_lane(thread));
        let process_list = self.threads.is_empty().then_some(self.allowed_processors.as_str());
        threads.map(|thread| thread.status.allowed_processors.as_str()).chain(process_list)
    }
}

fn read_stat(files: &mut Files<'_>, number: u32) -> Option<Stat> {
    Stat::parse(&files.read(format_args!("proc/{number}/stat"))?)
}

fn read_io(files: &mut Files<'_>, number: u32) -> Option<Pair> {
    io(&files.read(format_args!("proc/{number}/io"))?)
}
