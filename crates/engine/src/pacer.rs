//! When arrivals fall: a pure function of the plan and its seed.
//!
//! A pacer knows neither the clock nor any answer, so it cannot be influenced by them. Poisson
//! arrivals are unit exponentials, added up and divided by the rate; the n-th even arrival is
//! computed from n, never from the one before.

use base::{Nanos, Seed, Stream};
use workload::{Job, Schedule};

use crate::feed::Input;

/// Where the times of arrivals come from.
pub(crate) enum Times {
    /// A schedule.
    Schedule(Pacer),
    /// A log.
    Log(LogTimes),
}

/// The times of a log: its gaps, from the job's start on.
pub(crate) struct LogTimes {
    start: Nanos,
    end: Nanos,
    count: u64,
}

impl LogTimes {
    /// Those of a job that replays a log.
    pub(crate) fn new(job: &Job) -> LogTimes {
        LogTimes {
            start: job.start,
            end: job.stop.unwrap_or(Nanos::MAX),
            count: job.count.unwrap_or(u64::MAX),
        }
    }

    /// The arrival of a line; `None` if the job is over by then.
    pub(crate) fn arrival(&self, line: &Input) -> Option<Arrival> {
        let (number, at) = (line.number(), self.start + line.at());
        (number < self.count && at < self.end).then_some(Arrival { number, at })
    }
}

/// The arrivals of one job, or every so-manyth of them.
#[derive(Clone, Debug)]
pub struct Pacer {
    schedule: Schedule,
    start: Nanos,
    end: Nanos,
    count: u64,
    share: Share,
    randomness: Stream,
    next_number: u64,
    /// The sum of the unit exponentials so far.
    elapsed: f64,
    /// The time that stands for one of their units.
    unit_ns: f64,
}

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number in the job, from 0, the same whoever serves it.
    pub number: u64,
    /// When it falls, since time zero.
    pub at: Nanos,
}

/// Which of the arrivals a pacer yields: those whose number leaves the remainder `lane` when
/// divided by `lanes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The remainder.
    pub lane: u16,
    /// The divisor.
    pub lanes: u16,
}

impl Share {
    /// All of them.
    pub const ALL: Share = Share { lane: 0, lanes: 1 };

    /// Whether a number belongs to this share.
    #[inline]
    pub fn has(&self, number: u64) -> bool {
        self.lanes == 1 || number % u64::from(self.lanes) == u64::from(self.lane)
    }
}

impl Pacer {
    /// The arrivals of an open, queue or timetable job.
    ///
    /// # Panics
    /// If the job is closed: its requests come from its clients, not from a schedule.
    pub fn new(job: &Job, seed: Seed, share: Share) -> Pacer {
        let (schedule, _) = job.arrivals().expect("a closed job has no schedule");
        Pacer {
            schedule,
            start: job.start,
            end: job.stop.unwrap_or(Nanos::MAX),
            count: job.count.unwrap_or(u64::MAX),
            share,
            randomness: Stream::new(seed, &job.name, "arrival"),
            next_number: 0,
            elapsed: 0.0,
            unit_ns: 1e9 / schedule.per_s(),
        }
    }

    /// When arrival number `n` falls after the job's start; called for n = 0, 1, 2, … in turn.
    fn offset(&mut self, number: u64) -> Nanos {
        match self.schedule {
            Schedule::Poisson(_) => {
                self.elapsed += self.randomness.draw(number).exponential();
                Nanos((self.elapsed * self.unit_ns) as u64)
            }
            Schedule::Uniform(rate) => rate.nth_uniform(number + 1),
            Schedule::Every(period) => period * (number + 1),
        }
    }
}

impl Iterator for Pacer {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        loop {
            let number = self.next_number;
            if number >= self.count {
                return None;
            }
            let at = self.start + self.offset(number);
            self.next_number += 1;
            if at >= self.end {
                self.count = 0;
                return None;
            }
            if self.share.has(number) {
                return Some(Arrival { number, at });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pacer(job: &str) -> Pacer {
        shared(job, Share::ALL)
    }

    fn shared(job: &str, share: Share) -> Pacer {
        let text = format!("[read]\nquery = select 1\n{job}\n");
        let (plan, diagnostics) = workload::plan(&text, &workload::Overrides::default());
        let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
        Pacer::new(&plan.jobs[0], Seed(7), share)
    }

    fn times(pacer: Pacer, n: usize) -> Vec<u64> {
        pacer.take(n).map(|arrival| arrival.at.0).collect()
    }

    #[test]
    fn even_arrivals_fall_exactly_one_period_after_the_start_and_on() {
        let uniform = pacer("rate = 3\narrival = uniform");
        assert_eq!(times(uniform, 3), [333_333_333, 666_666_666, 1_000_000_000]);
        let timetable = pacer("every = 10s\nstart = 5s");
        assert_eq!(times(timetable, 2), [15_000_000_000, 25_000_000_000]);
        let seldom = pacer("rate = 0.01");
        assert_eq!(times(seldom, 1), [100_000_000_000]);
    }

    #[test]
    fn poisson_gaps_are_exponential_with_the_mean_of_the_rate() {
        let n = 100_000;
        let arrivals = times(pacer("rate = 1000"), n);
        let gaps: Vec<f64> =
            arrivals.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        // Five standard errors of the first and second moment of a unit exponential.
        let error = 5.0 / (n as f64).sqrt();
        assert!((mean - 1.0).abs() < error, "{mean}");
        assert!((square - 2.0).abs() < 4.48 * error, "{square}");
    }

    #[test]
    fn a_schedule_ends_with_its_count_or_its_stop() {
        assert_eq!(pacer("rate = 1000\ncount = 17").count(), 17);
        assert_eq!(pacer("every = 1s\nstop = 5s").count(), 4);
        assert_eq!(pacer("every = 1s\nstop = 5s\nstart = 3s").count(), 1);
    }

    /// Another thread count gives the same schedule.
    #[test]
    fn the_shares_of_the_lanes_are_the_whole_schedule() {
        let whole: Vec<Arrival> = pacer("rate = 1000").take(999).collect();
        let mut parts: Vec<Arrival> = (0..3)
            .flat_map(|lane| shared("rate = 1000", Share { lane, lanes: 3 }).take(333))
            .collect();
        parts.sort_by_key(|arrival| arrival.number);
        assert_eq!(parts, whole);
    }

    #[test]
    fn beyond_the_end_of_time_nothing_arrives() {
        let mut pacer = pacer("rate = 10M\narrival = uniform");
        pacer.next_number = u64::MAX - 1;
        assert_eq!(pacer.next(), None);
        assert_eq!(pacer.next(), None);
    }
}
