//! Resource use of all processes of one side. The set of processes changes, but the sums only grow.
//!
//! The use of a process is added to the sums whenever the process is read, and remains there when
//! it ends. Some use is not seen in a process itself: use between its last sample and its end, and
//! all use of a process that begins and ends between two samples. The parent that waited for the
//! process reports this use (the fields `cutime` and `cstime` of `proc_pid_stat(5)`).

use std::collections::{BTreeMap, BTreeSet};

use super::files::Files;
use super::process::{Detail, Process, ProcessSample};
use super::resource_use::{Pair, ResourceUse};
use super::thread::CountedFrom;
use super::units::{TICK, ids};

/// Maximum number of threads that are read one by one. Each thread takes one or two files.
pub(super) const MAX_THREADS_READ: usize = 128;

/// Maximum number of threads whose status is read in one sample. The I/O counters of about as many
/// processes are read, or of more if [`IO_ROUNDS`] requires it.
const STATUSES_PER_SAMPLE: usize = 16;

/// Maximum number of samples of a process from one reading of its I/O counters to the next.
const IO_ROUNDS: usize = 5;

/// Maximum number of processes that are read in one sample, if the group has more than
/// [`MAX_THREADS_READ`] threads.
const MAX_PROCESSES_PER_SAMPLE: usize = 192;

/// Processes of one side, and the resources that they have used.
#[derive(Debug, Default)]
pub(super) struct Group {
    processes: BTreeMap<u32, Process>,
    /// Use of all processes, including those that have ended, without the threads that belong to
    /// the other side.
    pub(super) used: ResourceUse,
    /// Use of those threads that belong to the other side.
    pub(super) other_side_used: ResourceUse,
    /// Use of the processes that do background work, by kind of work.
    pub(super) roles: BTreeMap<&'static str, ResourceUse>,
    /// Processor time of the observing threads, in nanoseconds.
    pub(super) observing: u64,
    reaped: EndedProcesses,
    sample_number: usize,
}

/// State of a group at one sample, without the sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupSample {
    /// Number of processes.
    pub(super) processes: usize,
    /// Number of threads.
    pub(super) threads: usize,
    /// Resident memory in pages.
    pub(super) resident: u64,
    /// Processor time since the last sample, in nanoseconds: of the busiest thread of this side,
    /// and of the busiest thread that belongs to the other side. `None` if threads are not read one
    /// by one.
    pub(super) busiest: Option<Pair>,
    /// Processors that the processes may run on; empty if unknown.
    pub(super) allowed_processors: BTreeSet<u32>,
    /// True if the bytes that were read and written are known for at least one process.
    pub(super) has_io_bytes: bool,
}

impl Group {
    /// Returns the ids of the group's processes.
    pub(super) fn pids(&self) -> BTreeSet<u32> {
        self.processes.keys().copied().collect()
    }

    /// Adds processes to the group.
    pub(super) fn add(
        &mut self,
        files: &mut Files<'_>,
        numbers: impl IntoIterator<Item = u32>,
        since: CountedFrom,
    ) {
        let detail = self.detail(None);
        for number in numbers {
            if !self.processes.contains_key(&number)
                && let Some(process) = Process::begin(files, number, since, detail)
            {
                self.processes.insert(number, process);
            }
        }
    }

    /// Samples all processes. Threads whose names begin with `other_side_prefix` belong to the
    /// other side.
    pub(super) fn sample(
        &mut self,
        files: &mut Files<'_>,
        other_side_prefix: Option<&'static str>,
    ) -> GroupSample {
        self.sample_number = self.sample_number.wrapping_add(1);
        let detail = self.detail(other_side_prefix);
        let due = self.due_processes(detail);
        let mut moment = GroupSample::default();
        let (mut busiest, mut has_threads, mut place) = (Pair::default(), false, 0);
        let (mut reaped, mut gone) = (Pair::default(), 0_u64);
        self.mark_parents();
        for number in due {
            let Some(process) = self.processes.get_mut(&number) else { continue };
            let Some(seen) = process.sample(files, &mut place, detail) else {
                gone = gone.saturating_add(process.counted());
                self.processes.remove(&number);
                continue;
            };
            let ProcessSample { used, other_side_used, observing, .. } = seen;
            self.used += used;
            self.other_side_used += other_side_used;
            self.observing = self.observing.saturating_add(observing);
            if let Some(role) = process.role {
                *self.roles.entry(role).or_default() += used;
            }
            reaped = Pair(reaped.0 + seen.reaped.0, reaped.1 + seen.reaped.1);
            busiest = Pair(busiest.0.max(seen.busiest.0), busiest.1.max(seen.busiest.1));
            has_threads |= seen.has_threads;
        }
        self.count_reaped(reaped, gone);
        self.fill_state(&mut moment);
        moment.busiest = (detail.reads_threads && has_threads).then_some(busiest);
        moment
    }

    /// Marks the processes that have children. A process remains marked, because it reports the use
    /// of its last child only after that child has ended.
    fn mark_parents(&mut self) {
        let parents: BTreeSet<u32> = self.processes.values().map(|p| p.stat.parent).collect();
        for (number, process) in &mut self.processes {
            process.is_parent |= parents.contains(number);
        }
    }

    /// Returns the level of detail at which the processes are sampled.
    fn detail(&self, other_side_prefix: Option<&'static str>) -> Detail {
        let count: usize = self.processes.values().map(|p| p.stat.threads as usize).sum();
        let (status_rounds, sample_number) =
            (count.div_ceil(STATUSES_PER_SAMPLE), self.sample_number);
        let io_rounds = self.processes.len().div_ceil(STATUSES_PER_SAMPLE).min(IO_ROUNDS);
        Detail {
            reads_threads: count <= MAX_THREADS_READ,
            status_rounds,
            io_rounds,
            sample_number,
            other_side_prefix,
        }
    }

    /// Returns the processes that are read in this sample.
    fn due_processes(&self, detail: Detail) -> Vec<u32> {
        let numbers = self.processes.keys().copied();
        if detail.reads_threads || self.processes.len() <= MAX_PROCESSES_PER_SAMPLE {
            return numbers.collect();
        }
        let rounds = self.processes.len().div_ceil(MAX_PROCESSES_PER_SAMPLE);
        let is_due =
            |(place, _): &(usize, u32)| (place + self.sample_number).is_multiple_of(rounds);
        numbers.enumerate().filter(is_due).map(|(_, number)| number).collect()
    }

    /// Adds the use of children that have ended, without the part that was counted for the children
    /// themselves.
    fn count_reaped(&mut self, reaped: Pair, gone: u64) {
        let new = self.reaped.uncounted_ticks(reaped.sum(), gone).saturating_mul(TICK);
        let Pair(user, system) = reaped.divide(new);
        self.used += ResourceUse { user, system, ..ResourceUse::default() };
    }

    fn fill_state(&self, moment: &mut GroupSample) {
        let mut lists = BTreeSet::new();
        for process in self.processes.values() {
            moment.threads += process.stat.threads as usize;
            moment.resident = moment.resident.saturating_add(process.stat.resident);
            moment.has_io_bytes |= process.io.is_some();
            lists.extend(process.allowed_processors());
        }
        moment.processes = self.processes.len();
        moment.allowed_processors = lists.into_iter().flat_map(ids).collect();
    }
}

/// Use of processes that ended, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EndedProcesses {
    /// Counted ticks, not yet reported by a parent, of processes whose end was noticed in the last
    /// sample.
    unclaimed_ticks: u64,
}

impl EndedProcesses {
    /// Returns the ticks that parents report beyond those that were counted for the ended processes
    /// themselves. If a parent is read before its child is found to have ended, the parent reports
    /// the child only in the next sample. A parent that does not wait for its children never
    /// reports them.
    fn uncounted_ticks(&mut self, reported: u64, gone: u64) -> u64 {
        let all = gone.saturating_add(self.unclaimed_ticks);
        self.unclaimed_ticks = all.saturating_sub(reported).min(gone);
        reported.saturating_sub(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::stat::Stat;
    use super::super::stat::tests::line;
    use super::*;
    use crate::environment::tests::TestRoot;

    /// Plants a process with one thread.
    fn plant(planted: TestRoot, number: u32, stat: Stat, ran_ms: u64) -> TestRoot {
        let stat = Stat { threads: 1, started: u64::from(number), ..stat };
        let task = format!("proc/{number}/task/{number}");
        planted
            .with(&format!("proc/{number}/stat"), line(&stat))
            .with(&format!("proc/{number}/cmdline"), "postgres: checkpointer ")
            .with(&format!("proc/{number}/io"), "read_bytes: 4096\nwrite_bytes: 0\n")
            .with(&format!("{task}/comm"), "postgres\n")
            .with(&format!("{task}/status"), "Cpus_allowed_list:\t0-1\n")
            .with(&format!("{task}/schedstat"), format!("{} 0 1\n", ran_ms * 1_000_000))
    }

    fn ticks(user: u64, reaped_user: u64) -> Stat {
        Stat { user, reaped_user, ..Stat::default() }
    }

    fn millis(group: &Group) -> u64 {
        (group.used.user + group.used.system) / 1_000_000
    }

    #[test]
    fn usage_of_an_ended_process_is_kept() {
        let planted = plant(plant(TestRoot::new(), 1, ticks(5, 0), 50), 2, ticks(1, 0), 10);
        let mut group = Group::default();
        let mut files = Files::of(&planted.root);
        group.add(&mut files, [1, 2], CountedFrom::Now);
        let moment = group.sample(&mut files, None);
        assert_eq!((moment.processes, moment.threads, moment.allowed_processors.len()), (2, 2, 2));
        assert_eq!(millis(&group), 0, "what was before does not count");
        let planted = plant(plant(planted, 1, ticks(6, 0), 63), 2, ticks(3, 0), 35);
        let mut files = Files::of(&planted.root);
        let moment = group.sample(&mut files, None);
        assert_eq!((millis(&group), moment.busiest), (38, Some(Pair(25_000_000, 0))));
        let role =
            group.roles.get("checkpointer").map(|used| (used.user + used.system) / 1_000_000);
        assert_eq!(role, Some(38));
        // The second process has used another 20 ms before its end, and its parent has waited for
        // it.
        let planted = plant(planted, 1, ticks(6, 5), 63).with("proc/2/stat", "");
        let mut files = Files::of(&planted.root);
        assert_eq!(group.sample(&mut files, None).processes, 1);
        assert_eq!(millis(&group), 58);
    }

    /// Many processes with one thread each. For most of them, only the thread's run time is read in
    /// a sample. Nevertheless no time is lost or counted twice when one of them ends.
    #[test]
    fn briefly_read_processes_count_completely() {
        const MANY: u32 = 80;
        const PARENT: u32 = 3;
        let all = |ran_ms: u64| {
            (1..=MANY).fold(TestRoot::new(), |planted, number| {
                let parent = if number == PARENT { 0 } else { PARENT };
                let stat = Stat { parent, ..ticks(ran_ms / 10, 0) };
                let title = "postgres: ann db1 [local] SELECT";
                plant(planted, number, stat, ran_ms).with(&format!("proc/{number}/cmdline"), title)
            })
        };
        let mut group = Group::default();
        group.add(&mut Files::of(&all(100).root), 1..=MANY, CountedFrom::Now);
        for round in 1..=12_u64 {
            let moment = group.sample(&mut Files::of(&all(100 + 30 * round).root), None);
            assert_eq!((moment.processes, moment.busiest), (80, Some(Pair(30_000_000, 0))));
            assert_eq!(millis(&group), 80 * 30 * round, "round {round}");
        }
        // One process ends after another 20 ms, and its parent reports all the time that it used.
        let planted = all(460).with("proc/7/stat", "").with("proc/7/task/7/schedstat", "");
        let parent = Stat { reaped_user: 48, ..ticks(46, 0) };
        let planted = plant(planted, PARENT, parent, 460);
        for _ in 0..6 {
            group.sample(&mut Files::of(&planted.root), None);
        }
        assert_eq!(millis(&group), 80 * 360 + 20);
        assert_eq!(group.pids().len(), 79);
    }

    #[test]
    fn reused_process_id_is_a_different_process() {
        let planted = plant(TestRoot::new(), 1, ticks(50, 0), 500);
        let mut group = Group::default();
        group.add(&mut Files::of(&planted.root), [1], CountedFrom::Now);
        let stat = Stat { started: 999, user: 70, threads: 1, ..Stat::default() };
        let planted = planted.with("proc/1/stat", line(&stat));
        assert_eq!(group.sample(&mut Files::of(&planted.root), None).processes, 0);
        assert_eq!(millis(&group), 0);
    }

    #[test]
    fn excess_threads_are_read_as_totals() {
        let stat = Stat { threads: 200, ..ticks(100, 0) };
        let planted = TestRoot::new().with("proc/1/stat", line(&stat));
        let mut group = Group::default();
        group.add(&mut Files::of(&planted.root), [1], CountedFrom::Now);
        let planted = planted
            .with("proc/1/stat", line(&Stat { user: 103, ..stat }))
            .with("proc/1/status", "Cpus_allowed_list:\t0-2\n");
        let moment = group.sample(&mut Files::of(&planted.root), None);
        assert_eq!((moment.busiest, moment.threads, millis(&group)), (None, 200, 30));
        assert_eq!(moment.allowed_processors, [0, 1, 2].into());
        assert!(!moment.has_io_bytes);
    }

    #[test]
    fn late_reaped_usage_counts_once() {
        let mut reaped = EndedProcesses::default();
        assert_eq!(reaped.uncounted_ticks(0, 7), 0);
        assert_eq!(reaped.uncounted_ticks(9, 0), 2);
        assert_eq!(reaped.uncounted_ticks(4, 0), 4);
        // If the parent never reports a child, the ticks that were counted for the child are
        // forgotten.
        assert_eq!(reaped.uncounted_ticks(0, 50), 0);
        assert_eq!(reaped.uncounted_ticks(0, 0), 0);
        assert_eq!(reaped.uncounted_ticks(3, 0), 3);
    }

    #[test]
    fn threads_of_the_other_side_are_separated() {
        let process = |planted: TestRoot, own_ms: u64, apart_ms: u64| {
            let stat = Stat { threads: 2, user: 9, ..Stat::default() };
            let thread = |planted: TestRoot, number: u32, name: &str, ms: u64| {
                let task = format!("proc/1/task/{number}");
                planted
                    .with(&format!("{task}/comm"), format!("{name}\n"))
                    .with(&format!("{task}/schedstat"), format!("{} 5 1\n", ms * 1_000_000))
                    .with(&format!("{task}/stat"), line(&stat))
            };
            let planted = planted.with("proc/1/stat", line(&stat));
            thread(thread(planted, 1, "watch", own_ms), 2, "sqlite", apart_ms)
        };
        let planted = process(TestRoot::new(), 10, 20);
        let mut group = Group::default();
        group.add(&mut Files::of(&planted.root), [1], CountedFrom::Now);
        let planted = process(planted, 13, 27);
        let moment = group.sample(&mut Files::of(&planted.root), Some("sqlite"));
        assert_eq!((millis(&group), group.other_side_used.user / 1_000_000), (3, 7));
        assert_eq!(group.observing, 3_000_000);
        assert_eq!(moment.busiest, Some(Pair(3_000_000, 7_000_000)));
    }
}
