//! Checks that the offered load matched its schedule, in number and in evenness.
//!
//! A difference counts only if it is larger than chance explains in a Poisson process, *and* large
//! enough to matter: with many requests, trivial differences are significant; with few requests,
//! chance alone causes large ones.

use std::ops::Range;

use base::{AccountId, Nanos};
use workload::{Arrival, Schedule};

use super::input::CheckInput;
use crate::backlog::Arrivals;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{Finding, Irregularity, JobObstacle, RateDifference, Seconds, Sending};
use crate::moments::{index_of_dispersion, mean};

/// Relative difference of the rate beyond which a run is SUSPECT.
const RATE_SUSPECT: f64 = 0.01;

/// Relative difference of the rate beyond which a run is INVALID, and relative difference of a
/// single second beyond which a run is SUSPECT.
const RATE_INVALID: f64 = 0.05;

/// Square of the standard normal quantile that is exceeded on either side with a probability of
/// 0.002: 3.09². For the largest of n numbers, the square grows by about 2 ln n.
const SQUARED_QUANTILE: f64 = 9.55;

/// Square of the standard normal quantile that is exceeded on either side with a probability of
/// 0.00001: 4.42². The probability is small because a run has many seconds, and a second in which
/// arrivals are missing is far beyond this quantile.
const SQUARED_QUANTILE_OF_SECONDS: f64 = 19.5;

/// Minimum number of seconds whose counts are compared with each other.
const FEWEST_SECONDS: usize = 10;

/// Minimum mean number of arrivals per step at which the counts are nearly normal.
const FEWEST_PER_STEP: f64 = 5.0;

/// Minimum number of expected arrivals in a second at which the count is nearly normal even far
/// from its mean. With fewer, a second without arrivals may be due to chance.
const FEWEST_IN_A_SECOND: f64 = 25.0;

/// Range of dispersion indices that do not matter.
const DISPERSION: [f64; 2] = [0.8, 1.25];

/// Difference of a job's arrivals from its schedule.
struct Difference<'a> {
    name: &'a str,
    /// Difference as a fraction of the expected number.
    by: f64,
    /// Standard deviation of this fraction; 0 if arrivals are not random.
    deviation: f64,
    /// Fraction that the edges of the window allow.
    edges: f64,
}

impl Difference<'_> {
    /// Returns the fraction that chance and the edges allow; `quantile` is a standard normal
    /// quantile.
    fn chance(&self, quantile: f64) -> f64 {
        quantile * self.deviation + self.edges
    }

    fn allowed(&self, quantile: f64) -> f64 {
        self.chance(quantile).max(RATE_SUSPECT)
    }
}

/// Returns the limit for the largest absolute value of `of` standard normal numbers. They exceed it
/// about as often as a single number exceeds, on either side, the quantile whose square is
/// `squared`.
fn quantile_of_largest(squared: f64, of: usize) -> f64 {
    (squared + 2.0 * (of.max(1) as f64).ln()).sqrt()
}

impl<'a> CheckInput<'a> {
    /// Checks that the number of due requests matches the schedules.
    pub(super) fn rate(&self) -> Check {
        let differences: Vec<Difference<'_>> =
            self.whole_jobs().filter_map(|account| self.difference(account)).collect();
        let random = differences.iter().filter(|difference| difference.deviation > 0.0).count();
        let quantile = quantile_of_largest(SQUARED_QUANTILE, random);
        let excess =
            |difference: &Difference<'_>| difference.by.abs() / difference.allowed(quantile);
        let Some(worst) = differences.iter().max_by(|a, b| excess(a).total_cmp(&excess(b))) else {
            return CheckKind::Rate.not_possible(JobObstacle::NoSchedule);
        };
        let (chance, allowed) = (worst.chance(quantile), worst.allowed(quantile));
        let judged = CheckKind::Rate.of(Unit::Percent, worst.by * 100.0, allowed * 100.0);
        let finding = RateDifference { job: worst.name.to_owned(), by: worst.by };
        let status = match worst.by.abs() {
            by if by <= allowed => Status::Pass,
            // Chance alone causes a difference above `chance` now and then, but never one above
            // twice `chance`.
            by if by <= RATE_INVALID.max(2.0 * chance) => Status::Suspect,
            _ => Status::Invalid,
        };
        judged.conclude(status, Finding::Rate(finding))
    }

    /// Returns the number of requests due in a span by the schedule; the job may be active in only
    /// a part of the span.
    fn due(&self, account: AccountId, span: &Range<Nanos>) -> Option<f64> {
        let Range { start: from, end: until } = self.active_part(account, span);
        if from >= until {
            return Some(0.0);
        }
        let per_s = self.evidence.plan.account(account).offered_per_s(from, Some(until))?;
        Some(per_s * until.saturating_sub(from).as_secs_f64())
    }

    fn difference(&self, account: AccountId) -> Option<Difference<'a>> {
        let job = self.evidence.plan.account(account).job();
        // A job with a fixed number of requests ends with its last request, not with the window.
        if self.evidence.plan.account(account).job().has_fixed_request_count() {
            return None;
        }
        let (schedule, batch) = job.arrivals()?;
        if matches!(schedule, Schedule::Recorded(_)) {
            return None;
        }
        let expected = self.due(account, &self.evidence.window())?;
        if expected <= 0.0 {
            return None;
        }
        let arrivals = self.counts[account.index()].arrivals as f64;
        let burst = f64::from(Arrivals::of(job, 0).burst);
        let deviation = if is_random(schedule) { (expected * burst).sqrt() } else { 0.0 };
        // An arrival at either edge may fall inside or outside of the window.
        let edges = 2.0 * f64::from(batch);
        Some(Difference {
            name: job.name(),
            by: (arrivals - expected) / expected,
            deviation: deviation / expected,
            edges: edges / expected,
        })
    }

    /// Checks that the number of requests due in each second matches the schedules.
    pub(super) fn each_second(&self) -> Check {
        let seconds: Vec<(AccountId, Second)> = self
            .whole_jobs()
            .filter(|account| self.is_due_by_the_clock(*account))
            .flat_map(|account| self.seconds(account).map(move |second| (account, second)))
            .collect();
        let limit = quantile_of_largest(SQUARED_QUANTILE_OF_SECONDS, seconds.len());
        let key = |second: &Second| (second.is_deviant(limit), second.z.abs());
        let Some((account, worst)) = seconds.iter().max_by(|(_, a), (_, b)| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        }) else {
            return CheckKind::EachSecond.not_possible(JobObstacle::NoScheduleOfSeconds);
        };
        let (status, finding) = match worst.is_deviant(limit) {
            false => (Status::Pass, Seconds::AsScheduled),
            true => {
                let job = self.evidence.plan.account(*account).name().to_owned();
                (Status::Suspect, Seconds::Odd { job, begin: worst.begin, by: worst.by })
            }
        };
        let judged = CheckKind::EachSecond.of(Unit::StandardDeviations, worst.z, limit);
        judged.conclude(status, Finding::EachSecond(finding))
    }

    /// Returns true if a schedule alone determines the requests that are due at any time.
    fn is_due_by_the_clock(&self, account: AccountId) -> bool {
        let job = self.evidence.plan.account(account).job();
        let is_recorded = matches!(job.arrivals(), None | Some((Schedule::Recorded(_), _)));
        !is_recorded && !self.evidence.plan.account(account).job().has_fixed_request_count()
    }

    /// Compares each step of the window with the schedule. The last step is left out, because it
    /// may be cut off, and so are steps with too few random arrivals.
    fn seconds(&self, account: AccountId) -> impl Iterator<Item = Second> {
        let steps = &self.evidence.steps;
        let job = self.evidence.plan.account(account).job();
        let batch = job.arrivals().map_or(1.0, |(_, batch)| f64::from(batch));
        let is_random = job.arrivals().is_some_and(|(schedule, _)| is_random(schedule));
        let window = steps.window();
        let whole = window.start..window.end.saturating_sub(1).max(window.start);
        whole.filter_map(move |step| {
            let (begin, end) = (steps.start(step), steps.start(step + 1));
            let due = self.due(account, &(begin..end))?;
            let came = self.evidence.jobs[account.index()].counts(step..step + 1).arrivals as f64;
            let is_judged = !is_random || due / batch >= FEWEST_IN_A_SECOND;
            is_judged.then(|| Second::of(begin, due / batch, came / batch, is_random))
        })
    }

    /// Checks that nearly all due requests were sent. A request that was still waiting when the
    /// drain ended was not sent. Jobs whose load exceeds the capacity are judged by the check
    /// `backlog` instead.
    pub(super) fn achieved(&self) -> Check {
        let not_possible = |why| CheckKind::Achieved.not_possible(why);
        let scheduled = || self.whole_jobs().filter(|account| self.has_schedule(*account));
        if scheduled().next().is_none() {
            return not_possible(JobObstacle::NoArrivals);
        }
        let mut waited_for = scheduled().filter(|account| self.was_waited_for(*account)).peekable();
        if waited_for.peek().is_none() {
            return not_possible(JobObstacle::NotWaitedFor);
        }
        let keep_up = waited_for.filter(|account| !self.is_overloaded(*account));
        let shortfalls = keep_up.map(|account| self.shortfall(account));
        let key = |shortfall: &Shortfall| shortfall.share / shortfall.allowed;
        let Some(worst) = shortfalls.max_by(|a, b| key(a).total_cmp(&key(b))) else {
            return not_possible(JobObstacle::AllOverloaded);
        };
        let Shortfall { name, share, allowed } = worst;
        let (status, finding) = match share <= allowed {
            true => (Status::Pass, Sending::AllSent),
            false => (Status::Suspect, Sending::Short { job: name.to_owned(), share }),
        };
        let judged = CheckKind::Achieved.of(Unit::Percent, share * 100.0, allowed * 100.0);
        judged.conclude(status, Finding::Achieved(finding))
    }

    fn shortfall(&self, account: AccountId) -> Shortfall<'a> {
        let balance = &self.counts[account.index()].balance;
        let due = balance.scheduled().max(1) as f64;
        Shortfall {
            name: self.evidence.plan.account(account).name(),
            share: balance.unsent() as f64 / due,
            // A single request may have come due as the run ended.
            allowed: RATE_SUSPECT.max(1.0 / due),
        }
    }

    /// Checks that requests of a Poisson process arrived as irregularly as expected, neither less
    /// nor more.
    pub(super) fn arrivals(&self) -> Check {
        let steady = self.whole_jobs().filter(|account| self.is_steady(*account));
        let indices: Vec<(&str, Dispersion)> = steady
            .filter_map(|account| {
                let name = self.evidence.plan.account(account).name();
                self.dispersion(account).map(|found| (name, found))
            })
            .collect();
        let worst = indices.iter().max_by(|a, b| a.1.z.abs().total_cmp(&b.1.z.abs()));
        let Some(&(name, Dispersion { index, z })) = worst else {
            return CheckKind::Arrivals.not_possible(JobObstacle::NoPoissonArrivals {
                per_s: FEWEST_PER_STEP,
                seconds: FEWEST_SECONDS,
            });
        };
        let limit = quantile_of_largest(SQUARED_QUANTILE, indices.len());
        let judged = CheckKind::Arrivals.of(Unit::StandardDeviations, z, limit);
        let finding = Irregularity { job: name.to_owned(), index };
        let [low, high] = DISPERSION;
        let is_deviant = z.abs() > limit && !(low..=high).contains(&index);
        let status = if is_deviant { Status::Suspect } else { Status::Pass };
        judged.conclude(status, Finding::Arrivals(finding))
    }

    /// Returns true if requests of a job arrive at random at one rate through the whole window.
    pub(super) fn is_steady(&self, account: AccountId) -> bool {
        let job = self.evidence.plan.account(account).job();
        let stays = job.start <= self.evidence.steps.warmup()
            && job.stop.is_none_or(|stop| stop >= self.evidence.end())
            && !self.evidence.plan.account(account).job().has_fixed_request_count();
        stays && matches!(job.arrivals(), Some((Schedule::Poisson(_), _)))
    }

    fn dispersion(&self, account: AccountId) -> Option<Dispersion> {
        let steps = &self.evidence.steps;
        let window = steps.window();
        let burst = f64::from(Arrivals::of(self.evidence.plan.account(account).job(), 0).burst);
        let counts: Vec<f64> = self.evidence.jobs[account.index()]
            .range(window.clone())
            .map(|step| step.counts.arrivals as f64 / burst)
            .collect();
        let lengths: Vec<Nanos> =
            window.map(|step| steps.start(step + 1).saturating_sub(steps.start(step))).collect();
        Dispersion::of(&counts, &lengths)
    }
}

/// Fraction of a job's due requests that were not sent.
struct Shortfall<'a> {
    name: &'a str,
    share: f64,
    allowed: f64,
}

/// Requests that came due in one second.
#[derive(Clone, Copy, Debug)]
struct Second {
    begin: Nanos,
    /// Excess as a fraction of the scheduled number.
    by: f64,
    /// Excess in standard deviations, nearly normal.
    z: f64,
}

impl Second {
    /// Compares a count with its schedule. The square root of a Poisson number plus 3/8 is nearly
    /// normal, with a deviation of one half (Anscombe, 1948). If arrivals are not random, at most
    /// one of them may fall into a neighbouring second.
    fn of(begin: Nanos, due: f64, came: f64, is_random: bool) -> Second {
        let by = (came - due) / due.max(1.0);
        let z = match is_random {
            true => 2.0 * ((came + 0.375).sqrt() - (due + 0.125).sqrt()),
            false if (came - due).abs() <= 1.0 + 1e-6 => 0.0,
            false => BEYOND_CHANCE.copysign(by),
        };
        Second { begin, by, z }
    }

    fn is_deviant(&self, limit: f64) -> bool {
        self.z.abs() > limit && self.by.abs() > RATE_INVALID
    }
}

/// Deviation, in standard deviations, that stands for a difference that chance cannot explain.
const BEYOND_CHANCE: f64 = 1e3;

/// Returns true if arrival times are random.
fn is_random(schedule: &Schedule) -> bool {
    match schedule {
        Schedule::Poisson(_) | Schedule::Varying { arrival: Arrival::Poisson, .. } => true,
        Schedule::Uniform(_)
        | Schedule::Every(_)
        | Schedule::Recorded(_)
        | Schedule::Varying { arrival: Arrival::Uniform, .. } => false,
    }
}

/// Irregularity of counts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dispersion {
    /// Variance divided by the mean: 1 for a Poisson process.
    index: f64,
    /// The index as a standard normal number.
    z: f64,
}

impl Dispersion {
    /// Returns the index of dispersion of counts per step. Multiplied by its degrees of freedom, it
    /// has the distribution of χ², whose cube root is nearly normal (Wilson and Hilferty). A
    /// shorter last step is left out. Returns `None` with too few steps or arrivals.
    fn of(counts: &[f64], lengths: &[Nanos]) -> Option<Dispersion> {
        let usual = *lengths.first()?;
        let whole = lengths.iter().take_while(|length| **length == usual).count();
        let counts = &counts[..whole.min(counts.len())];
        if counts.len() < FEWEST_SECONDS {
            return None;
        }
        if mean(counts) < FEWEST_PER_STEP {
            return None;
        }
        let index = index_of_dispersion(counts);
        let spread = 2.0 / (9.0 * (counts.len() as f64 - 1.0));
        Some(Dispersion { index, z: (index.cbrt() - (1.0 - spread)) / spread.sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use base::{Seed, Stream};

    use super::*;

    /// Returns the simulated counts per second of a Poisson process.
    fn counts(run: u64, seconds: usize, rate: f64) -> Vec<f64> {
        let mut draw = Stream::new(Seed(1), "test", "arrivals").draw(run);
        let mut counts = vec![0.0; seconds];
        let mut t = draw.exponential() / rate;
        while t < seconds as f64 {
            counts[t as usize] += 1.0;
            t += draw.exponential() / rate;
        }
        counts
    }

    fn dispersion(counts: &[f64]) -> Option<Dispersion> {
        Dispersion::of(counts, &vec![Nanos::from_secs(1); counts.len()])
    }

    #[test]
    fn poisson_counts_are_seldom_rejected() {
        for (seconds, rate) in [(10, 9.0), (30, 20.0), (60, 200.0)] {
            let odd = (0..2_000)
                .filter(|run| {
                    let found = dispersion(&counts(*run, seconds, rate)).expect("enough");
                    found.z.abs() > quantile_of_largest(SQUARED_QUANTILE, 1)
                })
                .count();
            assert!(odd <= 14, "{odd} of 2,000 of {seconds} s at {rate} per second");
        }
    }

    #[test]
    fn second_with_too_many_or_too_few_arrivals_is_rejected() {
        let limit = quantile_of_largest(SQUARED_QUANTILE_OF_SECONDS, 60);
        let odd = |due: f64, came: f64, is_random| {
            Second::of(Nanos::ZERO, due, came, is_random).is_deviant(limit)
        };
        for (due, came, is_random, found) in [
            (100.0, 160.0, true, true),
            (100.0, 50.0, true, true),
            (100.0, 130.0, true, false),
            (1e6, 1.01e6, true, false),
            (100.0, 101.0, false, false),
            (100.0, 110.0, false, true),
            (0.5, 1.0, false, false),
        ] {
            assert_eq!(odd(due, came, is_random), found, "{came} of {due}");
        }
        let alarms = (0..2_000)
            .filter(|run| counts(*run, 60, 30.0).iter().any(|came| odd(30.0, *came, true)));
        let alarms = alarms.count();
        assert!(alarms <= 2, "{alarms} of 2,000");
    }

    #[test]
    fn bursts_and_even_arrivals_are_rejected() {
        let bursts: Vec<f64> = counts(7, 60, 50.0).iter().map(|count| 4.0 * count).collect();
        assert!(dispersion(&bursts).expect("enough").z > 10.0);
        assert!(dispersion(&[100.0; 60]).expect("enough").z < -10.0);
    }

    #[test]
    fn dispersion_needs_enough_intervals_and_arrivals() {
        assert_eq!(dispersion(&[100.0; 9]), None);
        assert_eq!(dispersion(&[4.9; 60]), None);
        assert_eq!(dispersion(&[]), None);
    }

    #[test]
    fn quantile_of_the_largest_grows_with_the_sample_size() {
        assert!((quantile_of_largest(SQUARED_QUANTILE, 1) - 3.09).abs() < 0.01);
        assert!(
            quantile_of_largest(SQUARED_QUANTILE, 16) > quantile_of_largest(SQUARED_QUANTILE, 2)
        );
    }
}
