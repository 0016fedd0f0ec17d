//! One process that is looked at again and again: `/proc/PID/stat` and `/proc/PID/io`
//! (`proc_pid_stat(5)`, `proc_pid_io(5)`), and its threads.

use std::collections::BTreeMap;

use super::files::Files;
use super::roles;
use super::stat::Stat;
use super::thread::{Id, Since, Thread, read_allowed, share};
use super::used::{Pair, Used};
use super::{TICK, io};

/// After so many looks the list of threads is read again although their number is the same.
const LIST_EVERY: u32 = 8;

/// The title of a process is read again at its first looks: it names itself after it has begun.
const NAMING: u32 = 3;

/// How the threads are called that observe.
const OBSERVERS: &str = "watch";

/// How the threads are called that make requests.
const LANES: &str = "lane-";

/// How closely processes are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Detail {
    /// Whether their threads are read one by one.
    pub(super) threads: bool,
    /// At a look the status of each so many-th thread is read.
    pub(super) rounds: usize,
    /// The bytes of a process are read at each so many-th of its looks.
    pub(super) io_rounds: usize,
    /// Which turn it is of them.
    pub(super) turn: usize,
    /// How the threads are called that belong to the other side.
    pub(super) apart: Option<&'static str>,
}

impl Detail {
    /// Whether what is not read at each look is read of the one at this place.
    fn is_turn_of(&self, place: usize) -> bool {
        place.wrapping_add(self.turn).is_multiple_of(self.rounds.max(1))
    }
}

/// What was seen of a process at a look.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// What it has used since the last look, without what is told apart.
    pub(super) used: Used,
    /// What the threads have used that are told apart.
    pub(super) apart: Used,
    /// What its children had used that ended since the last look, in ticks.
    pub(super) reaped: Pair,
    /// What the busiest of its threads had, and of those apart, in nanoseconds.
    pub(super) busiest: Pair,
    /// What the threads had that observe, in nanoseconds.
    pub(super) observing: u64,
    /// Whether the kernel told what threads had.
    pub(super) has_threads: bool,
}

/// A process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    number: u32,
    /// What was read last.
    pub(super) stat: Stat,
    /// Its threads, if they are read one by one.
    pub(super) threads: BTreeMap<u32, Thread>,
    /// The processors that it may run on, if its threads are not read.
    allowed: String,
    /// Bytes read and written; `None` if it may not be known.
    pub(super) io: Option<Pair>,
    /// What it does in the background.
    pub(super) role: Option<&'static str>,
    /// What was counted of it when its `stat` was read last, in ticks.
    counted: u64,
    /// What was counted since then, in nanoseconds.
    counted_since: u64,
    /// Whether others descend from it.
    pub(super) is_parent: bool,
    looks: u32,
}

impl Process {
    /// Begins to look at one; `None` if it has ended.
    pub(super) fn adopt(
        files: &mut Files<'_>,
        number: u32,
        since: Since,
        detail: Detail,
    ) -> Option<Process> {
        let mut stat = read_stat(files, number)?;
        let mut bytes = read_io(files, number);
        let counted = match since {
            Since::Birth => 0,
            Since::Now => Pair(stat.user, stat.system).sum(),
        };
        if since == Since::Birth {
            (stat.user, stat.system) = (0, 0);
            (stat.reaped_user, stat.reaped_system, stat.major_faults) = (0, 0, 0);
            bytes = bytes.map(|_| Pair::default());
        }
        let threads = BTreeMap::new();
        let role = roles::read(files, number);
        let io = bytes;
        let mut process = Process {
            number,
            stat,
            threads,
            allowed: String::new(),
            io,
            role,
            counted,
            counted_since: 0,
            is_parent: false,
            looks: 0,
        };
        if detail.threads {
            process.list_threads(files, since);
        }
        Some(process)
    }

    /// What was counted of it, in ticks.
    pub(super) fn counted(&self) -> u64 {
        self.counted.saturating_add(self.counted_since / TICK)
    }

    /// Looks again; `None` if it has ended.
    pub(super) fn look(
        &mut self,
        files: &mut Files<'_>,
        place: &mut usize,
        detail: Detail,
    ) -> Option<Seen> {
        let from = *place;
        if let Some(seen) = self.look_briefly(files, place, detail) {
            return Some(seen);
        }
        *place = from;
        self.look_closely(files, place, detail)
    }

    /// Looks at what its only thread has had and at nothing else, if it is not its turn, and if it
    /// is no parent: what its children have had its `stat` tells. `None` if that will not do.
    fn look_briefly(
        &mut self,
        files: &mut Files<'_>,
        place: &mut usize,
        detail: Detail,
    ) -> Option<Seen> {
        let Stat { threads, user, system, .. } = self.stat;
        let is_simple = self.threads.len() == 1 && threads == 1 && !self.is_parent;
        let is_known = self.looks >= NAMING && detail.threads && detail.apart.is_none();
        let is_due = (self.number as usize).wrapping_add(self.looks as usize + 1);
        let is_due = is_due.is_multiple_of(detail.io_rounds.max(1));
        if !is_simple || !is_known || is_due || self.role.is_some() {
            return None;
        }
        let mut seen = Seen::default();
        let ran = self.look_at_threads(files, place, detail, &mut seen);
        if !seen.has_threads {
            return None;
        }
        self.looks = self.looks.wrapping_add(1);
        self.counted_since = self.counted_since.saturating_add(ran);
        let Pair(user, system) = Pair(user, system).divide(ran);
        (seen.used.user, seen.used.system) = (user, system);
        Some(seen)
    }

    fn look_closely(
        &mut self,
        files: &mut Files<'_>,
        place: &mut usize,
        detail: Detail,
    ) -> Option<Seen> {
        let now = read_stat(files, self.number).filter(|now| now.started == self.stat.started)?;
        let before = std::mem::replace(&mut self.stat, now);
        self.looks = self.looks.wrapping_add(1);
        if self.looks < NAMING {
            self.role = roles::read(files, self.number);
        }
        let mut seen = Seen {
            reaped: Pair(now.reaped_user, now.reaped_system)
                .since(Pair(before.reaped_user, before.reaped_system)),
            ..Seen::default()
        };
        let was_alone = self.threads.len() == 1 && before.threads <= 1 && now.threads <= 1;
        self.choose_threads(files, detail);
        let ran = self.look_at_threads(files, place, detail, &mut seen);
        let (ticks, ticks_before) = (Pair(now.user, now.system), Pair(before.user, before.system));
        let grown = ticks.since(ticks_before).sum().saturating_mul(TICK);
        let grown = grown.saturating_sub(std::mem::take(&mut self.counted_since));
        // The scheduler's own count is finer than ticks, but ends with a thread: where others may
        // have ended, ticks are complete. Both count the same time, so that neither runs away.
        let by_threads = seen.has_threads && (was_alone || detail.apart.is_some());
        let time = if by_threads { ran } else { grown };
        let Pair(user, system) = share(ticks, ticks_before).divide(time);
        (seen.used.user, seen.used.system) = (user, system);
        seen.used.major_faults = now.major_faults.saturating_sub(before.major_faults);
        self.counted = ticks.sum();
        // What is told apart has been read now.
        let is_due = (self.number as usize).wrapping_add(self.looks as usize);
        let has_to_be = detail.apart.is_some() || self.role.is_some();
        if has_to_be || is_due.is_multiple_of(detail.io_rounds.max(1)) {
            self.look_at_io(files, &mut seen);
        }
        Some(seen)
    }

    /// The numbers of its threads change: read anew when there are others.
    fn choose_threads(&mut self, files: &mut Files<'_>, detail: Detail) {
        if !detail.threads {
            self.threads.clear();
            if self.allowed.is_empty() {
                self.allowed = read_allowed(files, self.number);
            }
        } else if self.threads.is_empty() {
            self.list_threads(files, Since::Now);
        } else if self.threads.len() != self.stat.threads as usize
            || (self.stat.threads > 1 && self.looks.is_multiple_of(LIST_EVERY))
        {
            self.list_threads(files, Since::Birth);
        }
    }

    fn list_threads(&mut self, files: &mut Files<'_>, since: Since) {
        let process = self.number;
        let numbers = match self.stat.threads {
            1 => vec![process],
            _ => files.root.numbers(&format!("proc/{process}/task")),
        };
        self.threads.retain(|number, _| numbers.contains(number));
        for thread in numbers {
            if !self.threads.contains_key(&thread)
                && let Some(found) = Thread::adopt(files, Id { process, thread }, since)
            {
                self.threads.insert(thread, found);
            }
        }
    }

    /// What its threads have run since the last look, without those apart.
    fn look_at_threads(
        &mut self,
        files: &mut Files<'_>,
        place: &mut usize,
        detail: Detail,
        seen: &mut Seen,
    ) -> u64 {
        let mut all_ran = 0;
        for thread in self.threads.values_mut() {
            *place += 1;
            let Some(turn) = thread.look(files, detail.is_turn_of(*place)) else { continue };
            seen.has_threads = true;
            let ran = turn.times.ran;
            // What observing has to wait for keeps no request back.
            let is_observer = thread.name.starts_with(OBSERVERS);
            seen.observing += if is_observer { ran } else { 0 };
            if detail.apart.is_some_and(|begin| thread.name.starts_with(begin)) {
                seen.apart += thread.apart(files, turn);
                seen.busiest.1 = seen.busiest.1.max(ran);
                continue;
            }
            all_ran += ran;
            seen.busiest.0 = seen.busiest.0.max(ran);
            seen.used.waited += if is_observer { 0 } else { turn.times.waited };
            seen.used.voluntary += turn.switches.0;
            seen.used.involuntary += turn.switches.1;
        }
        all_ran
    }

    fn look_at_io(&mut self, files: &mut Files<'_>, seen: &mut Seen) {
        let Some(now) = read_io(files, self.number) else { return };
        let Pair(read, written) = now.since(self.io.unwrap_or(now));
        self.io = Some(now);
        seen.used.read = read.saturating_sub(seen.apart.read);
        seen.used.written = written.saturating_sub(seen.apart.written);
    }

    /// The lists of processors that its threads may use: if some of them make requests, of those.
    pub(super) fn allowed(&self) -> impl Iterator<Item = &str> {
        let is_lane = |thread: &Thread| thread.name.starts_with(LANES);
        let has_lanes = self.threads.values().any(is_lane);
        let those = self.threads.values().filter(move |thread| !has_lanes || is_lane(thread));
        let whole = self.threads.is_empty().then_some(self.allowed.as_str());
        those.map(|thread| thread.status.allowed.as_str()).chain(whole)
    }
}

fn read_stat(files: &mut Files<'_>, number: u32) -> Option<Stat> {
    Stat::parse(&files.read(format_args!("proc/{number}/stat"))?)
}

fn read_io(files: &mut Files<'_>, number: u32) -> Option<Pair> {
    io(&files.read(format_args!("proc/{number}/io"))?)
}
