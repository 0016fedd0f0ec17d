//! One thread: `/proc/PID/task/TID/{schedstat,status}` and, of a thread that is told apart from its
//! process, `stat` and `io` there (Linux, Documentation/scheduler/sched-stats.rst,
//! `proc_pid_status(5)`, `proc_pid_io(5)`).

use super::files::Files;
use super::stat::Stat;
use super::used::{Pair, Used};
use super::{TICK, io};

/// A process, or one thread of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    /// The process.
    pub(super) process: u32,
    /// The thread.
    pub(super) thread: u32,
}

/// Whether somebody is counted from his beginning or from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// He began after the first look.
    Birth,
    /// He was there before.
    Now,
}

/// What the scheduler tells, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// How long it ran.
    pub(super) ran: u64,
    /// How long it could have run and had no processor.
    pub(super) waited: u64,
}

impl Times {
    /// Both, and how often it ran. Kernels without `CONFIG_SCHED_INFO` tell three times nothing.
    fn parse(schedstat: &str) -> Option<Times> {
        let mut numbers = schedstat.split_ascii_whitespace().map(|number| number.parse().ok());
        let mut number = || -> Option<u64> { numbers.next()? };
        let (ran, waited, turns) = (number()?, number()?, number()?);
        (ran > 0 || turns > 0).then_some(Times { ran, waited })
    }
}

/// What is told of a thread in many lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// What it is called.
    pub(super) name: String,
    /// Switches: voluntary and involuntary ones.
    pub(super) switches: Pair,
    /// The processors that it may run on, as a list such as `0-3,8`.
    pub(super) allowed: String,
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
            allowed: word("Cpus_allowed_list").unwrap_or_default().to_owned(),
        }
    }
}

/// A thread that is looked at again and again.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    id: Id,
    /// What it is called.
    pub(super) name: String,
    times: Times,
    /// As it was read last.
    pub(super) status: Status,
    /// Its own ticks and bytes, if it is told apart.
    apart: Option<(Pair, Pair)>,
}

/// What a thread has used since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// By the scheduler.
    pub(super) times: Times,
    /// Voluntary and involuntary switches, as far as they were read.
    pub(super) switches: Pair,
}

impl Thread {
    /// Begins to look at one; `None` if it has ended.
    pub(super) fn adopt(files: &mut Files<'_>, id: Id, since: Since) -> Option<Thread> {
        let Id { process, thread } = id;
        let name = files.read(format_args!("proc/{process}/task/{thread}/comm"))?;
        let name = name.trim().to_owned();
        let mut status = read_status(files, id).unwrap_or_default();
        let mut times = read_times(files, id).unwrap_or_default();
        if since == Since::Birth {
            times = Times::default();
            status.switches = Pair::default();
        }
        Some(Thread { id, name, times, status, apart: None })
    }

    /// Looks again; `None` if it has ended or the kernel does not tell.
    pub(super) fn look(&mut self, files: &mut Files<'_>, with_status: bool) -> Option<Turn> {
        let now = read_times(files, self.id)?;
        let times = Times {
            ran: now.ran.saturating_sub(self.times.ran),
            waited: now.waited.saturating_sub(self.times.waited),
        };
        self.times = now;
        let mut switches = Pair::default();
        if with_status && let Some(status) = read_status(files, self.id) {
            switches = status.switches.since(self.status.switches);
            // A thread names itself after it has begun.
            if !status.name.is_empty() {
                self.name.clone_from(&status.name);
            }
            self.status = status;
        }
        Some(Turn { times, switches })
    }

    /// What it has used for itself, where its process is not one side as a whole.
    pub(super) fn apart(&mut self, files: &mut Files<'_>, turn: Turn) -> Used {
        let Id { process, thread } = self.id;
        let stat = files.read(format_args!("proc/{process}/task/{thread}/stat"));
        let stat = stat.and_then(|line| Stat::parse(&line)).unwrap_or_default();
        let ticks = Pair(stat.user, stat.system);
        let text = files.read(format_args!("proc/{process}/task/{thread}/io"));
        let bytes = text.and_then(|text| io(&text)).unwrap_or_default();
        let (ticks_before, bytes_before) = self.apart.unwrap_or((ticks, bytes));
        self.apart = Some((ticks, bytes));
        let Pair(user, system) = share(ticks, ticks_before).divide(turn.times.ran);
        let Pair(read, written) = bytes.since(bytes_before);
        Used {
            user,
            system,
            waited: turn.times.waited,
            read,
            written,
            voluntary: turn.switches.0,
            involuntary: turn.switches.1,
            major_faults: 0,
        }
    }
}

/// The ticks by which a time is divided into modes: those since the last look if they are enough to
/// tell, else all that there ever were.
pub(super) fn share(now: Pair, before: Pair) -> Pair {
    let grown = now.since(before);
    if grown.sum() >= ENOUGH { grown } else { now }
}

/// So many ticks tell how a time is divided.
const ENOUGH: u64 = 50_000_000 / TICK;

fn read_times(files: &mut Files<'_>, Id { process, thread }: Id) -> Option<Times> {
    Times::parse(&files.read(format_args!("proc/{process}/task/{thread}/schedstat"))?)
}

fn read_status(files: &mut Files<'_>, Id { process, thread }: Id) -> Option<Status> {
    Some(Status::parse(&files.read(format_args!("proc/{process}/task/{thread}/status"))?))
}

/// The processors that a process may run on, as the list of its first thread; empty if it has
/// ended.
pub(super) fn read_allowed(files: &mut Files<'_>, process: u32) -> String {
    let status = files.read(format_args!("proc/{process}/status"));
    status.map(|text| Status::parse(&text).allowed).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_tells_two_times() {
        assert_eq!(Times::parse("5 6 7\n"), Some(Times { ran: 5, waited: 6 }));
        for odd in ["", "0 0 0", "1 2", "1 x 3", "-1 2 3"] {
            assert_eq!(Times::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn switches_and_processors_are_found_by_their_names() {
        let text = "Name:\ta\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n\
                    voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n";
        let expected =
            Status { name: "a".to_owned(), switches: Pair(5, 6), allowed: "0-1".to_owned() };
        assert_eq!(Status::parse(text), expected);
        assert_eq!(Status::parse("voluntary_ctxt_switches: x"), Status::default());
    }

    #[test]
    fn few_ticks_do_not_tell_how_a_time_is_divided() {
        assert_eq!(share(Pair(90, 10), Pair(90, 9)), Pair(90, 10));
        assert_eq!(share(Pair(90, 10), Pair(85, 8)), Pair(5, 2));
    }
}
