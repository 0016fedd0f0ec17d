//! One thread: `/proc/PID/task/TID/{schedstat,status}` and, for a thread that is reported
//! separately from its process, `stat` and `io` there (Linux,
//! Documentation/scheduler/sched-stats.rst, `proc_pid_status(5)`, `proc_pid_io(5)`).

use base::Stamp;

use super::files::Files;
use super::resource_use::{Pair, ResourceUse};
use super::stat::Stat;
use super::units::{TICK, io};

/// Id of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ThreadId {
    /// Process id.
    pub(super) process: u32,
    /// Thread id.
    pub(super) thread: u32,
}

/// The time from which the use of a process or thread is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CountedFrom {
    /// Its start, because it began after the first sample.
    Start,
    /// Now, because it existed before the first sample.
    Now,
}

/// Times reported by the scheduler, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// Time for which the thread ran.
    pub(super) ran: u64,
    /// Time for which the thread was ready to run and had no processor.
    pub(super) waited: u64,
}

impl Times {
    /// Parses the two times. The third number of the file, which is the number of time slices, is
    /// ignored. Kernels without `CONFIG_SCHED_INFO` write three zeros, for which this function
    /// returns `None`.
    fn parse(schedstat: &str) -> Option<Times> {
        let mut numbers = schedstat.split_ascii_whitespace().map(|number| number.parse().ok());
        let mut number = || -> Option<u64> { numbers.next()? };
        let (ran, waited, turns) = (number()?, number()?, number()?);
        (ran > 0 || turns > 0).then_some(Times { ran, waited })
    }

    /// Returns the times since an earlier reading.
    fn since(self, before: Times) -> Times {
        Times {
            ran: self.ran.saturating_sub(before.ran),
            waited: self.waited.saturating_sub(before.waited),
        }
    }

    /// Returns the times with a wait that is not longer than the span, if the span is known.
    fn within(self, span: Option<u64>) -> Times {
        Times { waited: self.waited.min(span.unwrap_or(u64::MAX)), ..self }
    }
}

/// Values of the `status` file of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// Name of the thread.
    pub(super) name: String,
    /// Voluntary and involuntary context switches.
    pub(super) switches: Pair,
    /// Processors that the thread may run on, as a list such as `0-3,8`.
    pub(super) allowed_processors: String,
}

impl Status {
    fn parse(text: &str) -> Status {
        let word = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
        };
        let number = |name: &str| word(name)?.parse().ok();
        Status {
            name: word("Name").unwrap_or_default().to_owned(),
            switches: Pair(
                number("voluntary_ctxt_switches").unwrap_or(0),
                number("nonvoluntary_ctxt_switches").unwrap_or(0),
            ),
            allowed_processors: word("Cpus_allowed_list").unwrap_or_default().to_owned(),
        }
    }
}

/// A thread that is sampled repeatedly.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    id: ThreadId,
    /// Name of the thread at the last reading.
    pub(super) name: String,
    times: Times,
    /// Time of the last reading; `None` if it is unknown, or if the times count from the start of
    /// the thread and have not been read yet.
    read_at: Option<Stamp>,
    /// Values of `status` at the last reading.
    pub(super) status: Status,
    /// Ticks and bytes of this thread, if it is reported separately.
    last_ticks_and_bytes: Option<(Pair, Pair)>,
}

/// Use of a thread since the last sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadUse {
    /// Times that the scheduler reports.
    pub(super) times: Times,
    /// Voluntary and involuntary switches; zero if they were not read.
    pub(super) switches: Pair,
}

impl Thread {
    /// Starts to sample a thread; `None` if it has ended.
    pub(super) fn begin(files: &mut Files<'_>, id: ThreadId, since: CountedFrom) -> Option<Thread> {
        let ThreadId { process, thread } = id;
        let name = files.read(format_args!("proc/{process}/task/{thread}/comm"))?;
        let name = name.trim().to_owned();
        let mut status = read_status(files, id).unwrap_or_default();
        let mut times = read_times(files, id).unwrap_or_default();
        if since == CountedFrom::Start {
            times = Times::default();
            status.switches = Pair::default();
        }
        let read_at = files.read_at.filter(|_| since == CountedFrom::Now);
        Some(Thread { id, name, times, read_at, status, last_ticks_and_bytes: None })
    }

    /// Samples the thread; `None` if it has ended or the kernel does not report its times.
    pub(super) fn sample(&mut self, files: &mut Files<'_>, with_status: bool) -> Option<ThreadUse> {
        let now = read_times(files, self.id)?;
        let before = std::mem::replace(&mut self.times, now);
        let read_before = std::mem::replace(&mut self.read_at, files.read_at);
        let span = files.read_at.zip(read_before).map(|(now, before)| now.since(before).0);
        let times = now.since(before).within(span);
        let mut switches = Pair::default();
        if with_status && let Some(status) = read_status(files, self.id) {
            switches = status.switches.since(self.status.switches);
            // A thread sets its name only after it has begun.
            if !status.name.is_empty() {
                self.name.clone_from(&status.name);
            }
            self.status = status;
        }
        Some(ThreadUse { times, switches })
    }

    /// Returns the use of resources by a thread that is reported separately from its process.
    pub(super) fn other_side_use(
        &mut self,
        files: &mut Files<'_>,
        thread_use: ThreadUse,
    ) -> ResourceUse {
        let ThreadId { process, thread } = self.id;
        let stat = files.read(format_args!("proc/{process}/task/{thread}/stat"));
        let stat = stat.and_then(|line| Stat::parse(&line)).unwrap_or_default();
        let ticks = Pair(stat.user, stat.system);
        let text = files.read(format_args!("proc/{process}/task/{thread}/io"));
        let bytes = text.and_then(|text| io(&text)).unwrap_or_default();
        let (ticks_before, bytes_before) = self.last_ticks_and_bytes.unwrap_or((ticks, bytes));
        self.last_ticks_and_bytes = Some((ticks, bytes));
        let Pair(user, system) = division_ticks(ticks, ticks_before).divide(thread_use.times.ran);
        let Pair(read, written) = bytes.since(bytes_before);
        ResourceUse {
            user,
            system,
            waited: thread_use.times.waited,
            read,
            written,
            voluntary: thread_use.switches.0,
            involuntary: thread_use.switches.1,
            major_faults: 0,
        }
    }
}

/// Returns the user and kernel ticks in whose proportion a time is divided: the ticks since the
/// last sample if there are enough of them, otherwise all ticks.
pub(super) fn division_ticks(now: Pair, before: Pair) -> Pair {
    let grown = now.since(before);
    if grown.sum() >= MIN_DIVISION_TICKS { grown } else { now }
}

/// Minimum number of ticks in whose proportion a time is divided: those of 50 ms.
const MIN_DIVISION_TICKS: u64 = 50_000_000 / TICK;

fn read_times(files: &mut Files<'_>, ThreadId { process, thread }: ThreadId) -> Option<Times> {
    Times::parse(&files.read(format_args!("proc/{process}/task/{thread}/schedstat"))?)
}

fn read_status(files: &mut Files<'_>, ThreadId { process, thread }: ThreadId) -> Option<Status> {
    Some(Status::parse(&files.read(format_args!("proc/{process}/task/{thread}/status"))?))
}

/// Returns the list of processors that a process's first thread may run on; empty if the process
/// has ended.
pub(super) fn read_allowed_processors(files: &mut Files<'_>, process: u32) -> String {
    let status = files.read(format_args!("proc/{process}/status"));
    status.map(|text| Status::parse(&text).allowed_processors).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    #[test]
    fn schedstat_has_run_and_wait_times() {
        assert_eq!(Times::parse("5 6 7\n"), Some(Times { ran: 5, waited: 6 }));
        for odd in ["", "0 0 0", "1 2", "1 x 3", "-1 2 3"] {
            assert_eq!(Times::parse(odd), None, "{odd}");
        }
    }

    /// The scheduler's counter may grow by more than the time that has passed.
    #[test]
    fn thread_waits_no_longer_than_since_the_last_reading() {
        let planted = |waited: u64| {
            TestRoot::new()
                .with("proc/4/task/4/comm", "a\n")
                .with("proc/4/task/4/schedstat", format!("5 {waited} 7\n"))
        };
        let id = ThreadId { process: 4, thread: 4 };
        let begin = planted(100);
        let mut files = Files::of(&begin.root);
        files.read_at = Some(Stamp(1_000_000_000));
        let mut thread = Thread::begin(&mut files, id, CountedFrom::Now).expect("a thread");
        let mut waited = |waited: u64, second: u64| {
            let planted = planted(waited);
            let mut files = Files::of(&planted.root);
            files.read_at = Some(Stamp(second * 1_000_000_000));
            thread.sample(&mut files, false).expect("a sample").times.waited
        };
        assert_eq!(waited(400_000_100, 2), 400_000_000);
        assert_eq!(waited(9_400_000_100, 3), 1_000_000_000);
        assert_eq!(waited(9_400_000_300, 4), 200);
        // A thread whose use counts from its start may have waited before the first reading.
        let mut thread = Thread::begin(&mut files, id, CountedFrom::Start).expect("a thread");
        let since_start = thread.sample(&mut files, false).expect("a sample").times.waited;
        assert_eq!(since_start, 100);
    }

    #[test]
    fn switches_and_processors_are_found_by_their_names() {
        let text = "Name:\ta\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n\
                    voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n";
        let expected = Status {
            name: "a".to_owned(),
            switches: Pair(5, 6),
            allowed_processors: "0-1".to_owned(),
        };
        assert_eq!(Status::parse(text), expected);
        assert_eq!(Status::parse("voluntary_ctxt_switches: x"), Status::default());
    }

    #[test]
    fn few_ticks_keep_the_previous_user_system_split() {
        assert_eq!(division_ticks(Pair(90, 10), Pair(90, 9)), Pair(90, 10));
        assert_eq!(division_ticks(Pair(90, 10), Pair(85, 8)), Pair(5, 2));
    }
}
