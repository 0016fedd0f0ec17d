//! What the machine's processors did: the first line of `/proc/stat`.

use record::Part;

use crate::environment::Root;
use crate::sample::{Sample, Source};

/// `USER_HZ`, in which the kernel counts: 100 wherever Rust has threads and Linux has `/proc`.
const TICKS_PER_S: f64 = 100.0;

/// What all processors together have done since the machine started, in the kernel's ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Working, for whomever.
    pub busy: u64,
    /// Ready to work, while the hypervisor had given the processor to others.
    pub stolen: u64,
    /// All ticks there were.
    pub total: u64,
}

/// The shares of a time, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Working.
    pub busy: f64,
    /// Stolen by the hypervisor.
    pub stolen: f64,
}

impl Ticks {
    /// Reads them; `None` where the system does not tell.
    pub fn read(root: &Root) -> Option<Ticks> {
        Ticks::parse(&root.line("proc/stat")?)
    }

    /// The line `cpu  user nice system idle iowait irq softirq steal …` of `proc_stat(5)`. Guests'
    /// time is a part of the user's.
    fn parse(line: &str) -> Option<Ticks> {
        let mut words = line.split_whitespace();
        let is_sum = words.next() == Some("cpu");
        let numbers: Option<Vec<u64>> = words.take(8).map(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, waiting, irq, soft, stolen] =
            numbers.filter(|_| is_sum)?.try_into().ok()?;
        let sum = |parts: &[u64]| parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(*part));
        let busy = sum(&[user, nice, system, irq, soft])?;
        Some(Ticks { busy, stolen, total: sum(&[busy, stolen, idle, waiting])? })
    }

    /// What there was between an earlier reading and this one; `None` if no tick passed.
    pub fn since(self, earlier: Ticks) -> Option<Shares> {
        let total = self.total.checked_sub(earlier.total).filter(|total| *total > 0)? as f64;
        let share = |now: u64, then: u64| (now.saturating_sub(then) as f64 / total).min(1.0);
        let busy = share(self.busy, earlier.busy);
        Some(Shares { busy, stolen: share(self.stolen, earlier.stolen) })
    }
}

/// The processors of the machine, in seconds since it started.
pub(crate) struct Processors;

impl Source for Processors {
    fn look(&mut self, root: &Root, sample: &mut Sample) {
        let Some(Ticks { busy, stolen, total }) = Ticks::read(root) else { return };
        for (metric, ticks) in [("processors", total), ("busy", busy), ("stolen", stolen)] {
            sample.read(&Part::Host, metric, "s", ticks as f64 / TICKS_PER_S);
        }
    }
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;
    use crate::environment::tests::Planted;

    #[test]
    fn busy_and_stolen_ticks_are_told_apart() {
        let line = "cpu  100 10 50 800 20 3 7 10 0 0";
        let ticks = Ticks::parse(line).unwrap();
        assert_eq!(ticks, Ticks { busy: 170, stolen: 10, total: 1_000 });
        let planted = Planted::new().with("proc/stat", format!("{line}\n"));
        let mut sample = Sample::default();
        Processors.look(&planted.root, &mut sample);
        let expected = [("processors", 10.0), ("busy", 1.7), ("stolen", 0.1)];
        let expected = expected.map(|(metric, s)| Reading::of("host", metric, "s", s));
        assert_eq!(sample.readings, expected);
        let later = Ticks { busy: 220, stolen: 20, total: 1_100 };
        assert_eq!(later.since(ticks), Some(Shares { busy: 0.5, stolen: 0.1 }));
    }

    #[test]
    fn what_makes_no_sense_is_unknown() {
        for odd in ["", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3", "cpu 1 2 3 4 5 6 7 x", "cpu -1"] {
            assert_eq!(Ticks::parse(odd), None, "{odd}");
        }
        let most = u64::MAX;
        assert_eq!(Ticks::parse(&format!("cpu {most} 1 1 1 1 1 1 1")), None);
        let ticks = Ticks { busy: 1, stolen: 1, total: 10 };
        assert_eq!(ticks.since(ticks), None);
        assert_eq!(Ticks::default().since(ticks), None);
    }
}
