//! Programs that belong neither to the load generator nor to the database, and their share of the
//! machine's processors.
//!
//! A scan reads one line of every process (`/proc/PID/stat`, `proc_pid_stat(5)`). After the first
//! scan, another takes place only if the machine has meanwhile used more processor time than the
//! load generator and the database have. Scans are so far apart that they take at most
//! [`MAX_SCAN_SHARE`] of a processor.
//!
//! A process that begins and ends between two scans is counted under the name of the parent that
//! waited for it. Kernel threads are not programs.

use std::collections::{BTreeMap, BTreeSet};

use base::{Nanos, Stamp};
use record::metric::{host, program};
use record::{ComponentKind, ObservedComponent};

use super::files::Files;
use super::stat::{self, Stat};
use super::units::TICK;
use crate::sample::Sample;

/// Largest share of a processor that scanning may take.
const MAX_SCAN_SHARE: f64 = 0.003;

/// Minimum processor time, in seconds, that programs outside of both sides must have used since the
/// last scan for a new scan to take place.
const SCAN_THRESHOLD_S: f64 = 0.05;

/// Minimum processor time, in ticks, that a program must have used to be reported by name.
const MIN_NAMED_TICKS: u64 = 10;

/// Minimum share of a processor that a program must have used since the first scan to be reported
/// by name.
const MIN_NAMED_SHARE: f64 = 0.01;

/// Maximum number of programs that are reported by name.
const MAX_NAMED_PROGRAMS: usize = 16;

/// Process id of `kthreadd`, the parent of all kernel threads.
const KTHREADD: u32 = 2;

/// Maximum number of ancestors of a process that are followed. This limit ends the search if the
/// parents form a cycle.
const MAX_ANCESTORS: usize = 64;

/// The processes that do not count as other programs, and their processor time.
pub(super) struct Sides {
    /// Id of this process. Its descendants do not count as other programs.
    pub(super) own: u32,
    /// Processes of the load generator, the observer, the database (also behind a proxy), and the
    /// databases of further targets.
    pub(super) pids: BTreeSet<u32>,
    /// Processor time of these processes, in seconds, without the databases of further targets.
    pub(super) used_s: f64,
}

/// A process that belongs neither to the load generator nor to the database.
#[derive(Clone, Debug)]
struct OtherProcess {
    name: String,
    stat: Stat,
    /// Ticks counted for the process since the first scan.
    counted: u64,
}

/// The growth of a process's times since the last scan, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Growth {
    /// Time of the process itself.
    own: u64,
    /// Time of its children that have ended, without the time that they had used by the last scan.
    reaped: u64,
}

/// Time and cost of the last scan.
#[derive(Clone, Copy, Debug)]
struct Scan {
    at: Stamp,
    /// Processor time of the machine that neither side used, in seconds, at the time of the scan.
    elsewhere_s: f64,
    /// Processor time that the scan took.
    took: Nanos,
}

/// Decision on the next scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanDecision {
    /// No scan is due: other processes used too little processor time.
    Idle,
    /// No scan is due yet: other processes used enough, but the last scan was too recent.
    Early,
    /// A scan is due.
    Now,
}

impl Scan {
    fn decide(&self, now: Stamp, elsewhere_s: f64) -> ScanDecision {
        let spent = self.took.as_secs_f64() / now.since(self.at).as_secs_f64();
        match elsewhere_s - self.elsewhere_s >= SCAN_THRESHOLD_S {
            false => ScanDecision::Idle,
            true if spent > MAX_SCAN_SHARE => ScanDecision::Early,
            true => ScanDecision::Now,
        }
    }
}

/// Programs that belong neither to the load generator nor to the database.
#[derive(Debug, Default)]
pub(super) struct OtherPrograms {
    processes: BTreeMap<u32, OtherProcess>,
    /// Ticks of each program, by name.
    programs: BTreeMap<String, u64>,
    reported: BTreeSet<String>,
    /// Ticks of all programs.
    total: u64,
    /// Start of the youngest process of all scans so far, in ticks since boot.
    youngest: u64,
    first: Option<Stamp>,
    last: Option<Scan>,
}

impl OtherPrograms {
    /// Scans if a scan is due, and reports the programs. Reports nothing while a scan is needed but
    /// the last one is too recent. The sample must already contain the machine's busy time.
    pub(super) fn sample(
        &mut self,
        files: &mut Files<'_>,
        sides: &Sides,
        now: Stamp,
        sample: &mut Sample,
    ) {
        let Some(busy_s) = machine_busy_s(sample) else { return };
        let elsewhere_s = busy_s - sides.used_s;
        let due = self.last.map_or(ScanDecision::Now, |last| last.decide(now, elsewhere_s));
        if due == ScanDecision::Now {
            let begun = thread_run_time(files);
            let since_s = self.last.map_or(0.0, |last| elsewhere_s - last.elsewhere_s);
            self.scan(files, sides, (since_s * 1e9 / TICK as f64).ceil() as u64);
            let took = thread_run_time(files).saturating_sub(begun);
            self.last = Some(Scan { at: now, elsewhere_s, took });
        }
        if due != ScanDecision::Early {
            self.report(now, sample);
        }
    }

    /// Scans all processes. `elsewhere` is the processor time that neither side has used since the
    /// last scan, in ticks.
    fn scan(&mut self, files: &mut Files<'_>, sides: &Sides, elsewhere: u64) {
        let mut found = BTreeMap::new();
        for number in files.root.numbers("proc") {
            if number == KTHREADD || sides.pids.contains(&number) {
                continue;
            }
            let Some(line) = files.read(format_args!("proc/{number}/stat")) else { continue };
            let Some((stat, name)) = Stat::parse(&line).zip(stat::name(&line)) else { continue };
            if stat.parent != KTHREADD {
                found.insert(
                    number,
                    OtherProcess { name: without_control_characters(name), stat, counted: 0 },
                );
            }
        }
        let parents: BTreeMap<u32, u32> =
            found.iter().map(|(n, it)| (*n, it.stat.parent)).collect();
        let is_ours = |number: u32| {
            let is_match = |it: &u32| *it == sides.own || sides.pids.contains(it);
            ancestry(&parents, number).any(|number| is_match(&number))
        };
        found.retain(|number, _| !is_ours(*number));
        self.count(found, elsewhere);
    }

    /// Adds the processor time that each process has used since the last scan.
    ///
    /// If a process ends after its parent, a third process waits for it. All time that the orphan
    /// ever used is then added to the times of the third process. The times of ended children are
    /// therefore limited to the part of `elsewhere` that no living process used itself.
    fn count(&mut self, mut found: BTreeMap<u32, OtherProcess>, elsewhere: u64) {
        let growths = self.growths(&found);
        let own = growths.values().fold(0, |sum: u64, growth| sum.saturating_add(growth.own));
        let mut left = elsewhere.saturating_sub(own);
        // Most orphans are waited for by process 1 or another old process. Those come last.
        for (number, other) in found.iter_mut().rev() {
            let growth = growths.get(number).copied().unwrap_or_default();
            let reaped = growth.reaped.min(left);
            left -= reaped;
            let grown = growth.own + reaped;
            let before = self.at_last_scan(*number, other);
            other.counted = before.map_or(0, |before| before.counted) + grown;
            self.youngest = self.youngest.max(other.stat.started);
            if grown > 0 {
                *self.programs.entry(other.name.clone()).or_default() += grown;
                self.total += grown;
            }
        }
        self.processes = found;
    }

    /// Returns a process as it was at the last scan, if it existed then.
    fn at_last_scan(&self, number: u32, other: &OtherProcess) -> Option<&OtherProcess> {
        self.processes.get(&number).filter(|before| before.stat.started == other.stat.started)
    }

    /// Returns the growth of each process since the last scan.
    fn growths(&self, found: &BTreeMap<u32, OtherProcess>) -> BTreeMap<u32, Growth> {
        let ended_since = self.ended_since(found);
        let growth = |number: u32, other: &OtherProcess| match self.at_last_scan(number, other) {
            Some(before) => {
                let ended_since = ended_since.get(&number).copied().unwrap_or_default();
                let reaped = reaped_ticks(&other.stat).saturating_sub(reaped_ticks(&before.stat));
                Growth {
                    own: own_ticks(&other.stat).saturating_sub(own_ticks(&before.stat)),
                    reaped: reaped.saturating_sub(ended_since),
                }
            }
            // The process existed at the first scan, or at an earlier scan at which it belonged to
            // a side or was hidden.
            None if self.last.is_none() || other.stat.started < self.youngest => Growth::default(),
            None => Growth { own: own_ticks(&other.stat), reaped: reaped_ticks(&other.stat) },
        };
        found.iter().map(|(number, other)| (*number, growth(*number, other))).collect()
    }

    /// Returns the ticks that ended processes had used by the last scan, by ancestor. Only
    /// processes that have ended since that scan count, each for its nearest ancestor that has not
    /// ended. Once the ancestor has waited for them, its own times include all time that they used.
    fn ended_since(&self, found: &BTreeMap<u32, OtherProcess>) -> BTreeMap<u32, u64> {
        let is_still_running = |number: &u32, other: &OtherProcess| {
            found.get(number).is_some_and(|now| now.stat.started == other.stat.started)
        };
        let has_ended =
            self.processes.iter().filter(|(number, other)| !is_still_running(number, other));
        let ended: BTreeMap<u32, u32> =
            has_ended.map(|(number, other)| (*number, other.stat.parent)).collect();
        let mut ended_since = BTreeMap::new();
        for number in ended.keys() {
            let ancestor = ancestry(&ended, *number).find(|it| !ended.contains_key(it));
            let used = self
                .processes
                .get(number)
                .map_or(0, |it| own_ticks(&it.stat) + reaped_ticks(&it.stat));
            if let Some(ancestor) = ancestor {
                *ended_since.entry(ancestor).or_default() += used;
            }
        }
        ended_since
    }

    fn report(&mut self, now: Stamp, sample: &mut Sample) {
        let since = *self.first.get_or_insert(now);
        let seconds = |ticks: u64| ticks.saturating_mul(TICK) as f64 / 1e9;
        sample.read(&ComponentKind::Host, host::OTHER_PROGRAMS, seconds(self.total));
        let share = now.since(since).as_secs_f64() * MIN_NAMED_SHARE;
        let mut new: Vec<(&String, u64)> = self.programs.iter().map(|(n, t)| (n, *t)).collect();
        new.retain(|(name, ticks)| {
            *ticks >= MIN_NAMED_TICKS && seconds(*ticks) >= share && !self.reported.contains(*name)
        });
        new.sort_by_key(|(_, ticks)| std::cmp::Reverse(*ticks));
        let room = MAX_NAMED_PROGRAMS - self.reported.len();
        self.reported.extend(new.into_iter().take(room).map(|(name, _)| name.clone()));
        for name in &self.reported {
            let kind = ComponentKind::Program(name.clone());
            let used = self.programs.get(name).copied().unwrap_or_default();
            let its_processes = || self.processes.iter().filter(|(_, other)| other.name == *name);
            sample.read(&kind, program::USED, seconds(used));
            sample.read(&kind, program::PROCESSES, its_processes().count() as f64);
            if let Some((number, _)) = its_processes().max_by_key(|(_, other)| other.counted) {
                sample.read(&kind, program::PID, f64::from(*number));
            }
        }
    }
}

/// Returns the processor time of this thread, or zero if the kernel does not report it. The elapsed
/// time would be unsuitable, because a scan takes much longer on a busy machine.
fn thread_run_time(files: &mut Files<'_>) -> Nanos {
    let times = files.read(format_args!("proc/thread-self/schedstat"));
    let ran = times.and_then(|times| times.split_ascii_whitespace().next()?.parse().ok());
    Nanos(ran.unwrap_or_default())
}

/// Returns the processor time of the whole machine from the sample, in seconds; `None` if the
/// sample does not have it.
fn machine_busy_s(sample: &Sample) -> Option<f64> {
    let machine = ObservedComponent::here(ComponentKind::Host).to_string();
    let mut readings = sample.readings.iter();
    let busy = readings
        .find(|it| it.series.component == machine && it.series.metric == host::BUSY.name)?;
    Some(busy.value)
}

fn own_ticks(stat: &Stat) -> u64 {
    stat.user.saturating_add(stat.system)
}

fn reaped_ticks(stat: &Stat) -> u64 {
    stat.reaped_user.saturating_add(stat.reaped_system)
}

/// Iterates over a process and its known ancestors.
fn ancestry(parents: &BTreeMap<u32, u32>, number: u32) -> impl Iterator<Item = u32> {
    let next = |number: &u32| parents.get(number).copied();
    std::iter::successors(Some(number), next).take(MAX_ANCESTORS)
}

/// Replaces the control characters of a name, because any process can choose its own name.
fn without_control_characters(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::stat::tests::line;
    use super::*;
    use crate::environment::tests::TestRoot;

    const OWN: u32 = 100;

    /// Plants a process with a name; times are in ticks.
    fn plant(planted: TestRoot, number: u32, name: &str, stat: Stat) -> TestRoot {
        let started = if stat.started == 0 { u64::from(number) } else { stat.started };
        let line = line(&Stat { threads: 1, started, ..stat }).replacen("a) b", name, 1);
        planted.with(&format!("proc/{number}/stat"), line)
    }

    fn child(parent: u32, user: u64) -> Stat {
        Stat { parent, user, ..Stat::default() }
    }

    /// Takes a sample at 1,000 s times `second`. Until then, the processors have been busy for 100
    /// of every 1,000 s.
    fn take_sample(others: &mut OtherPrograms, planted: &TestRoot, second: u64) -> Sample {
        let mut sample = Sample::default();
        sample.read(&ComponentKind::Host, host::BUSY, 100.0 * second as f64);
        let sides = Sides { own: OWN, pids: [101, 102].into(), used_s: 0.0 };
        let now = Stamp::ZERO + Nanos::from_secs(1_000 * second);
        others.sample(&mut Files::of(&planted.root), &sides, now, &mut sample);
        sample
    }

    fn value(sample: &Sample, component: &str, metric: &str) -> Option<f64> {
        let mut readings = sample.readings.iter();
        let is_match =
            |r: &&record::Reading| r.series.component == component && r.series.metric == metric;
        readings.find(is_match).map(|reading| reading.value)
    }

    #[test]
    fn programs_are_counted_from_the_first_scan_on() {
        let planted = plant(TestRoot::new(), 7, "stress", child(1, 5_000));
        let planted = plant(planted, 8, "stress", child(1, 400));
        let mut others = OtherPrograms::default();
        let first = take_sample(&mut others, &planted, 0);
        assert_eq!(value(&first, "host", "other-programs"), Some(0.0));
        assert_eq!(value(&first, "program stress", "used"), None);
        let planted = plant(planted, 7, "stress", child(1, 5_500));
        let planted = plant(planted, 8, "stress", child(1, 2_400));
        let planted = plant(planted, 9, "new\u{1b}[2J", child(1, 2_000));
        let second = take_sample(&mut others, &planted, 1);
        assert_eq!(value(&second, "host", "other-programs"), Some(45.0));
        let of = |metric| value(&second, "program stress", metric);
        let reported = [of("used"), of("processes"), of("pid")];
        assert_eq!(reported, [Some(25.0), Some(2.0), Some(8.0)]);
        assert_eq!(value(&second, "program new?[2J", "used"), Some(20.0));
    }

    #[test]
    fn generator_server_and_kernel_are_not_other_programs() {
        let family = [(OWN, 1), (101, 1), (105, OWN), (106, 105), (107, 101), (2, 0), (50, 2)];
        let plant_all = |ticks: u64| {
            let plant = |p, (n, parent): &(u32, u32)| plant(p, *n, "x", child(*parent, ticks));
            family.iter().fold(TestRoot::new(), plant)
        };
        let mut others = OtherPrograms::default();
        take_sample(&mut others, &plant_all(10), 0);
        let sample = take_sample(&mut others, &plant_all(9_000), 1);
        assert_eq!(value(&sample, "host", "other-programs"), Some(0.0));
    }

    /// `make` starts compilers and waits for them. Some end between two scans, others after the
    /// second scan.
    #[test]
    fn children_that_ended_are_counted_once_and_with_their_parent() {
        let make =
            |planted, reaped_user| plant(planted, 10, "make", Stat { reaped_user, ..child(1, 0) });
        let mut others = OtherPrograms::default();
        take_sample(&mut others, &make(TestRoot::new(), 300), 0);
        let running = plant(make(TestRoot::new(), 300), 20, "sh", child(10, 0));
        let running = plant(running, 21, "cc1", child(20, 5_000));
        let sample = take_sample(&mut others, &running, 1);
        assert_eq!(value(&sample, "program cc1", "used"), Some(50.0));
        // Both processes have ended, `cc1` after another 10 s of processor time. A third process
        // has begun, used 20 s, and ended.
        let sample = take_sample(&mut others, &make(TestRoot::new(), 300 + 6_000 + 2_000), 2);
        assert_eq!(value(&sample, "program cc1", "used"), Some(50.0));
        assert_eq!(value(&sample, "program make", "used"), Some(30.0));
        assert_eq!(value(&sample, "host", "other-programs"), Some(80.0));
    }

    /// A shell and its child end together. The child, which had used 500 s before, becomes a child
    /// of process 1, which waits for it.
    #[test]
    fn ended_children_count_for_no_more_than_the_machine_used() {
        let system = |reaped_user| {
            let init = Stat { reaped_user, ..child(0, 0) };
            plant(plant(TestRoot::new(), 1, "init", init), 10, "session", child(1, 0))
        };
        let family = plant(plant(system(0), 20, "sh", child(10, 0)), 21, "work", child(20, 50_000));
        let mut others = OtherPrograms::default();
        take_sample(&mut others, &family, 0);
        let sample = take_sample(&mut others, &system(51_000), 1);
        assert_eq!(value(&sample, "program init", "used"), Some(100.0));
        assert_eq!(value(&sample, "host", "other-programs"), Some(100.0));
    }

    #[test]
    fn late_discovered_process_counts_from_its_discovery() {
        let old = Stat { started: 3, ..child(1, 700) };
        let planted = plant(TestRoot::new(), 7, "seen", child(1, 5));
        let mut others = OtherPrograms::default();
        take_sample(&mut others, &planted, 0);
        let planted = plant(planted, 9, "late", old);
        let sample = take_sample(&mut others, &planted, 1);
        assert_eq!(value(&sample, "host", "other-programs"), Some(0.0));
    }

    #[test]
    fn cost_of_a_scan_is_its_processor_time() {
        let planted = TestRoot::new().with("proc/thread-self/schedstat", "6000000 9000000 7\n");
        assert_eq!(thread_run_time(&mut Files::of(&planted.root)), Nanos::from_millis(6));
        assert_eq!(thread_run_time(&mut Files::of(&TestRoot::new().root)), Nanos::ZERO);
        // The kernel counts the time of a new thread only when it is first interrupted.
        let own = std::iter::repeat_with(|| {
            std::thread::yield_now();
            thread_run_time(&mut Files::of(&crate::environment::Root::system()))
        });
        let is_counted = own.take(100_000).any(|time| time > Nanos::ZERO);
        assert!(!cfg!(target_os = "linux") || is_counted);
    }

    #[test]
    fn scans_are_due_when_others_work_and_cost_little() {
        let at = |ms| Stamp::ZERO + Nanos::from_millis(ms);
        let scan = Scan { at: at(0), elsewhere_s: 1.0, took: Nanos::from_millis(6) };
        assert_eq!(scan.decide(at(5_000), 1.04), ScanDecision::Idle);
        assert_eq!(scan.decide(at(1_900), 1.2), ScanDecision::Early);
        assert_eq!(scan.decide(at(2_100), 1.2), ScanDecision::Now);
    }

    #[test]
    fn largest_programs_are_named_up_to_a_limit() {
        let plant_all = |ticks: &dyn Fn(u32) -> u64| {
            let plant = |p, n: u32| plant(p, n, &format!("p{n}"), child(1, ticks(n)));
            (200..260).fold(TestRoot::new(), plant)
        };
        let mut others = OtherPrograms::default();
        take_sample(&mut others, &plant_all(&|_| 0), 0);
        let sample = take_sample(&mut others, &plant_all(&|n| u64::from(n) * 100), 1);
        let names = sample.readings.iter().filter(|it| it.series.metric == "used").count();
        assert_eq!(names, MAX_NAMED_PROGRAMS);
        assert!(value(&sample, "program p259", "used").is_some());
    }
}
