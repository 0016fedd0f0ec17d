//! Time use of the processors: the lines of `/proc/stat` that begin with `cpu` (`proc_stat(5)`),
//! for all processors together and for each one.

use record::ComponentKind;
use record::environment::ProcessorShares;
use record::metric::{host, processor};

use super::scheduler;
use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Kernel ticks per second (`USER_HZ`): 100 on every platform on which Rust has threads and Linux
/// has `/proc`.
pub(crate) const TICKS_PER_S: f64 = 100.0;

/// Maximum number of processors that are reported one by one.
const MAX_REPORTED: usize = 128;

/// Time of one or all processors since boot, by use, in kernel ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Running the programs of all users.
    pub user: u64,
    /// Working in the kernel, including hard interrupts and excluding soft interrupts.
    pub system: u64,
    /// Handling soft interrupts, which include most of the network processing.
    pub softirq: u64,
    /// Idle while a task waited for a disk.
    pub iowait: u64,
    /// Ready to run, while the hypervisor ran other virtual machines on the processor.
    pub stolen: u64,
    /// Idle while no task waited for a disk.
    pub idle: u64,
}

impl Ticks {
    /// Reads the ticks of all processors together; `None` where the system does not report them.
    pub fn read(root: &Root) -> Option<Ticks> {
        match Ticks::parse(&root.line("proc/stat")?)? {
            (ProcessorScope::All, ticks) => Some(ticks),
            (ProcessorScope::One(_), _) => None,
        }
    }

    /// Parses the line `cpu  user nice system idle iowait irq softirq steal …` of `proc_stat(5)`;
    /// the line of a single processor has its number after `cpu`. The time of guests is included in
    /// `user`.
    fn parse(line: &str) -> Option<(ProcessorScope, Ticks)> {
        let mut words = line.split_whitespace();
        let scope = match words.next()?.strip_prefix("cpu")? {
            "" => ProcessorScope::All,
            number => ProcessorScope::One(number.parse().ok()?),
        };
        let numbers: Option<Vec<u64>> = words.take(8).map(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, stolen] = numbers?.try_into().ok()?;
        let (user, system) = (user.checked_add(nice)?, system.checked_add(irq)?);
        let ticks = Ticks { user, system, softirq, iowait, stolen, idle };
        // A line whose numbers are too large is rejected, so that no later sum of them overflows.
        [user, system, softirq, iowait, stolen, idle]
            .iter()
            .try_fold(0, |sum: u64, part| sum.checked_add(*part))?;
        Some((scope, ticks))
    }

    /// Returns the number of ticks in which processors were busy.
    pub fn busy(self) -> u64 {
        self.user + self.system + self.softirq
    }

    /// Returns the sum of all ticks, busy or not.
    pub fn total(self) -> u64 {
        self.busy() + self.stolen + self.iowait + self.idle
    }

    /// Returns the shares of the time between an earlier reading and this one; `None` if no tick
    /// passed.
    pub fn since(self, earlier: Ticks) -> Option<ProcessorShares> {
        let total = self.total().checked_sub(earlier.total()).filter(|total| *total > 0)? as f64;
        let share = |now: u64, then: u64| (now.saturating_sub(then) as f64 / total).min(1.0);
        let busy = share(self.busy(), earlier.busy());
        Some(ProcessorShares { busy, stolen: share(self.stolen, earlier.stolen) })
    }
}

/// The processors that a line of `/proc/stat` describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessorScope {
    /// All processors.
    All,
    /// The processor with this number.
    One(u32),
}

/// Returns the use of the processors while `wait` runs; `None` if it cannot be read.
pub fn measure_during(root: &Root, wait: impl FnOnce()) -> Option<ProcessorShares> {
    let before = Ticks::read(root);
    wait();
    Ticks::read(root)?.since(before?)
}

/// Sampler of the machine's processors, whose times are in seconds since boot, and of its run
/// queue.
pub(crate) struct Processors;

impl Sampler for Processors {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        let Some(text) = root.text("proc/stat") else {
            return sample.missing("host processors", "/proc/stat cannot be read");
        };
        let found: Vec<(ProcessorScope, Ticks)> = text
            .lines()
            .take_while(|line| line.starts_with("cpu"))
            .filter_map(Ticks::parse)
            .collect();
        if found.len() > MAX_REPORTED + 1 {
            sample.missing(
                "cpu",
                format!(
                    "only the first {MAX_REPORTED} processors are reported one by \
                                           one"
                ),
            );
        }
        for (scope, ticks) in found.into_iter().take(MAX_REPORTED + 1) {
            report(scope, ticks, sample);
        }
        scheduler::report(&text, sample);
    }
}

/// Reports the times of one line.
fn report(scope: ProcessorScope, ticks: Ticks, sample: &mut Sample) {
    let kind = match scope {
        ProcessorScope::All => ComponentKind::Host,
        ProcessorScope::One(number) => ComponentKind::Processor(number),
    };
    let metrics = match scope {
        ProcessorScope::All => [
            host::PROCESSORS,
            host::USER,
            host::SYSTEM,
            host::BUSY,
            host::STOLEN,
            host::IOWAIT,
            host::SOFTIRQ,
        ],
        ProcessorScope::One(_) => [
            processor::TOTAL,
            processor::USER,
            processor::SYSTEM,
            processor::BUSY,
            processor::STOLEN,
            processor::IOWAIT,
            processor::SOFTIRQ,
        ],
    };
    let values = [
        ticks.total(),
        ticks.user,
        ticks.system,
        ticks.busy(),
        ticks.stolen,
        ticks.iowait,
        ticks.softirq,
    ];
    for (metric, ticks) in metrics.into_iter().zip(values) {
        sample.read(&kind, metric, ticks as f64 / TICKS_PER_S);
    }
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;
    use crate::environment::tests::TestRoot;

    const LINE: &str = "cpu  100 10 50 800 20 3 7 10 0 0";

    fn take_sample(stat: &str) -> Sample {
        let mut sample = Sample::default();
        Processors.sample(&TestRoot::new().with("proc/stat", stat).root, &mut sample);
        sample
    }

    #[test]
    fn busy_and_stolen_ticks_are_separate() {
        let planted = TestRoot::new().with("proc/stat", format!("{LINE}\n"));
        let ticks = Ticks::read(&planted.root).unwrap();
        assert_eq!((ticks.busy(), ticks.stolen, ticks.total()), (170, 10, 1_000));
        let later = Ticks { user: 160, stolen: 20, idle: 840, ..ticks };
        assert_eq!(later.since(ticks), Some(ProcessorShares { busy: 0.5, stolen: 0.1 }));
    }

    #[test]
    fn processor_times_are_in_seconds() {
        let sample = take_sample(&format!("{LINE}\ncpu7 50 5 25 400 10 1 3 5 0 0\nctxt 12\n"));
        let host = [
            ("processors", 10.0),
            ("user", 1.1),
            ("system", 0.53),
            ("busy", 1.7),
            ("stolen", 0.1),
            ("iowait", 0.2),
            ("softirq", 0.07),
        ];
        let one = [
            ("total", 4.99),
            ("user", 0.55),
            ("system", 0.26),
            ("busy", 0.84),
            ("stolen", 0.05),
            ("iowait", 0.1),
            ("softirq", 0.03),
        ];
        let host = host.map(|(metric, s)| Reading::of("host", metric, "s", s));
        let one = one.map(|(metric, s)| Reading::of("cpu 7", metric, "s", s));
        assert_eq!(sample.readings[..14], [&host[..], &one[..]].concat());
    }

    #[test]
    fn processors_beyond_the_limit_are_reported_as_missing() {
        let lines = |count: usize| (0..count).map(|n| format!("cpu{n} 1 1 1 1 1 1 1 1\n"));
        let text = |count| format!("{LINE}\n{}ctxt 1\n", lines(count).collect::<String>());
        assert!(
            take_sample(&text(MAX_REPORTED)).missing.iter().all(|missing| missing.what != "cpu")
        );
        let many = take_sample(&text(MAX_REPORTED + 1));
        assert_eq!(many.missing[0].what, "cpu");
        assert_eq!(many.readings.len(), take_sample(&text(MAX_REPORTED)).readings.len());
    }

    #[test]
    fn malformed_content_is_unknown() {
        for odd in ["", "cpux 1 2 3 4 5 6 7 8", "cpu 1 2 3", "cpu 1 2 3 4 5 6 7 x", "cpu -1"] {
            assert_eq!(Ticks::parse(odd), None, "{odd}");
        }
        let most = u64::MAX;
        assert_eq!(Ticks::parse(&format!("cpu {most} 1 1 1 1 1 1 1")), None);
        assert_eq!(Ticks::parse(&format!("cpu {} 0 1 1 1 1 1 1", most - 1)), None);
        let ticks = Ticks { user: 1, stolen: 1, idle: 8, ..Ticks::default() };
        assert_eq!(ticks.since(ticks), None);
        assert_eq!(Ticks::default().since(ticks), None);
        let mut sample = Sample::default();
        Processors.sample(&TestRoot::new().root, &mut sample);
        assert_eq!(sample.missing[0].what, "host processors");
    }
}
