//! Checks that the times between arrivals are distributed as in a Poisson process.
//!
//! Here a gap is the time between two arrivals, not a difference of two quantiles.
//!
//! Counts per second do not show the distribution: with a timer that ticks each millisecond, the
//! right number of requests comes due in a second, but in clusters. The gaps, as the generator
//! noticed them, do show the distribution. The gaps are compared with the distribution that follows
//! from the rate. The test is that of Anderson and Darling without estimated parameters (Stephens,
//! "EDF statistics for goodness of fit", 1974, case 0), and the deviation must also be large enough
//! to matter. An equal delay of all arrivals is not detected here, but by the check of the send
//! lag.

use base::AccountId;
use hdrhistogram::Histogram;
use record::Kind;
use workload::{Pacing, Schedule};

use super::input::CheckInput;
use super::punctual;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{self, Finding, JobObstacle};

/// Value that A² exceeds once in a thousand times if the gaps are distributed as in a Poisson
/// process.
const SIGNIFICANT_A2: f64 = 6.0;

/// Number of gaps to which A² is scaled down if there are more: with the same deviation, A² grows
/// with the number of gaps.
const SCALED_GAPS: f64 = 1_000.0;

/// Minimum number of gaps.
const FEWEST_GAPS: u64 = 100;

/// Fraction of the gaps that may be too short, or too long, by more than [`SLACK_NS`].
const PART_ALLOWED: f64 = 0.05;

/// Deviation of a gap's length that does not matter, in nanoseconds: an arrival may be noticed late
/// by the allowed send lag.
const SLACK_NS: f64 = punctual::ALLOWED.0 as f64;

/// Gaps and the distribution that they should have.
#[derive(Clone, Copy)]
struct Gaps<'a> {
    measured: &'a Histogram<u64>,
    /// Mean time between the arrivals of the job, in nanoseconds.
    mean_ns: f64,
    /// Number of lanes (threads that send requests) over which the arrivals are distributed. A
    /// measured gap is the sum of this many gaps of the job.
    lanes: u32,
}

/// Deviation of the gaps from their distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Deviation {
    /// Statistic of Anderson and Darling, scaled to at most [`SCALED_GAPS`] gaps.
    a_squared: f64,
    /// Largest fraction of the gaps that is too short or too long by more than [`SLACK_NS`].
    part: f64,
}

impl Deviation {
    fn is_irregular(self) -> bool {
        self.a_squared > SIGNIFICANT_A2 && self.part > PART_ALLOWED
    }
}

impl CheckInput<'_> {
    /// Checks that the gaps between arrivals match a Poisson process.
    pub(super) fn gaps(&self) -> Check {
        let accounts = self.whole_jobs().filter(|account| self.is_steady(*account));
        let found = accounts.filter_map(|account| {
            let name = self.evidence.plan.account(account).name();
            Some((name, self.gaps_of(account)?.deviation()))
        });
        let key = |deviation: &Deviation| (deviation.is_irregular(), deviation.part);
        let Some((name, worst)) = found.max_by(|(_, a), (_, b)| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        }) else {
            return CheckKind::Gaps.not_possible(JobObstacle::FewGaps { fewest: FEWEST_GAPS });
        };
        let (status, finding) = match worst.is_irregular() {
            false => (Status::Pass, finding::Gaps::Poisson),
            true => {
                let job = name.to_owned();
                (Status::Suspect, finding::Gaps::Odd { job, share: worst.part })
            }
        };
        let judged = CheckKind::Gaps.of(Unit::Percent, worst.part * 100.0, PART_ALLOWED * 100.0);
        judged.conclude(status, Finding::Gaps(finding))
    }

    fn gaps_of(&self, account: AccountId) -> Option<Gaps<'_>> {
        let measured = self.evidence.jobs[account.index()].histogram(Kind::Gap)?;
        let job = self.evidence.plan.account(account).job();
        let (Schedule::Poisson(rate), _) = job.arrivals()? else { return None };
        let lanes = match job.pacing {
            // One thread owns the queue.
            Pacing::Queue { .. } => 1,
            Pacing::Open { .. }
            | Pacing::Timetable { .. }
            | Pacing::Closed { .. }
            | Pacing::Replay => u32::from(self.evidence.threads.max(1)),
        };
        let mean_ns = 1e9 / rate.as_f64();
        (measured.len() >= FEWEST_GAPS).then_some(Gaps { measured, mean_ns, lanes })
    }
}

impl Gaps<'_> {
    /// Returns the expected fraction of gaps up to this length: the Erlang distribution.
    fn expected(self, gap_ns: f64) -> f64 {
        let x = gap_ns.max(0.0) / self.mean_ns;
        let (mut term, mut longer) = ((-x).exp(), 0.0);
        for number in 1..=self.lanes {
            longer += term;
            term *= x / f64::from(number);
        }
        1.0 - longer
    }

    fn deviation(self) -> Deviation {
        // Keeps the logarithm finite for gaps of zero.
        const EDGE: f64 = 1e-9;
        let n = self.measured.len() as f64;
        let (mut below, mut sum, mut part) = (0.0, 0.0, 0.0f64);
        for bucket in self.measured.iter_recorded() {
            let (low, high) = ends(self.measured, bucket.value_iterated_to());
            let count = bucket.count_since_last_iteration() as f64;
            // The values in a bucket are assumed to be spread evenly.
            let (from, to) = (self.expected(low), self.expected(high));
            let middle = ((from + to) / 2.0).clamp(EDGE, 1.0 - EDGE);
            let ranks = 2.0 * below + count;
            sum += count * ranks * middle.ln();
            sum += count * (2.0 * n - ranks) * (1.0 - middle).ln();
            part = part.max(self.expected(low - SLACK_NS) - below / n);
            below += count;
            part = part.max(below / n - self.expected(high + SLACK_NS));
        }
        let a_squared = -n - sum / n;
        Deviation { a_squared: a_squared * (SCALED_GAPS / n).min(1.0), part }
    }
}

/// Returns the bounds of the bucket of a value.
fn ends(histogram: &Histogram<u64>, value: u64) -> (f64, f64) {
    (histogram.lowest_equivalent(value) as f64, histogram.next_non_equivalent(value) as f64)
}

#[cfg(test)]
mod tests {
    use base::{Seed, Stream};

    use super::*;

    /// Simulated arrivals at one rate; one of every `lanes` arrivals is noticed.
    struct Noticed {
        run: u64,
        arrivals: u64,
        per_s: f64,
        lanes: u32,
    }

    impl Noticed {
        fn deviation(&self, notice: impl Fn(f64) -> f64) -> Deviation {
            let mut draw = Stream::new(Seed(1), "test", "gaps").draw(self.run);
            let (mut at_s, mut last) = (0.0, None);
            let mut measured = Kind::Gap.histogram();
            for number in 0..self.arrivals {
                at_s += draw.exponential() / self.per_s;
                if number % u64::from(self.lanes) == 0 {
                    let noticed = (notice(at_s) * 1e9) as u64;
                    if let Some(last) = last.replace(noticed) {
                        measured.saturating_record(noticed.saturating_sub(last));
                    }
                }
            }
            let mean_ns = 1e9 / self.per_s;
            Gaps { measured: &measured, mean_ns, lanes: self.lanes }.deviation()
        }
    }

    #[test]
    fn poisson_arrivals_are_never_rejected_and_seldom_significant() {
        for (arrivals, lanes) in [(1_001, 1), (30_000, 1), (3_000, 3)] {
            let per_s = 500.0;
            let found: Vec<Deviation> = (0..1_000)
                .map(|run| Noticed { run, arrivals, per_s, lanes }.deviation(|at| at))
                .collect();
            assert_eq!(found.iter().filter(|deviation| deviation.is_irregular()).count(), 0);
            // A² exceeds 3.857 with a probability of 1 % (case 0).
            let tail = found.iter().filter(|deviation| deviation.a_squared > 3.857).count();
            let expected = if arrivals == 1_001 || lanes == 3 { 3..=20 } else { 0..=0 };
            assert!(expected.contains(&tail), "{tail} of 1,000 with {arrivals} arrivals");
        }
    }

    /// The generator wakes up every 60 µs and notices all arrivals that are due then.
    #[test]
    fn arrivals_noticed_together_within_the_allowed_lag_are_accepted() {
        for per_s in [100.0, 1_000.0, 10_000.0, 50_000.0] {
            let noticed = Noticed { run: 1, arrivals: 20_000, per_s, lanes: 1 };
            let found = noticed.deviation(|at| (at / 60e-6).ceil() * 60e-6);
            assert!(!found.is_irregular(), "{per_s}/s: {found:?}");
        }
    }

    #[test]
    fn ticks_even_gaps_bursts_and_wrong_rates_are_rejected() {
        let noticed = |run| Noticed { run, arrivals: 20_000, per_s: 1_000.0, lanes: 1 };
        for run in 0..50 {
            let ticks = noticed(run).deviation(|at| (at * 1e3).ceil() / 1e3);
            assert!(ticks.is_irregular(), "{ticks:?}");
            // Nothing is noticed in the first 0.3 s of each second. (Rarer stalls are found by the
            // send lag.)
            let stalls = noticed(run).deviation(|at| at.max(at.floor() + 0.3));
            assert!(stalls.is_irregular(), "{stalls:?}");
            let slower = noticed(run).deviation(|at| at * 1.5);
            assert!(slower.is_irregular(), "{slower:?}");
            let of_many = Noticed { lanes: 4, ..noticed(run) };
            let of_many = of_many.deviation(|at| (at * 100.0).ceil() / 100.0);
            assert!(of_many.is_irregular(), "{of_many:?}");
        }
    }

    #[test]
    fn erlang_distribution_matches_tabulated_values() {
        let measured = Kind::Gap.histogram();
        let gaps = |lanes| Gaps { measured: &measured, mean_ns: 1e6, lanes };
        assert!((gaps(1).expected(1e6) - 0.632_120_6).abs() < 1e-6);
        assert!((gaps(3).expected(2e6) - 0.323_323_6).abs() < 1e-6);
        assert_eq!(gaps(1).expected(-5.0), 0.0);
    }
}
