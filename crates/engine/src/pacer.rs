//! The arrival times of a job: a pure function of the plan and its seed.
//!
//! A pacer knows neither the clock nor any answer, so neither can influence the arrivals. Poisson
//! arrivals are cumulative sums of exponential variates with mean 1, divided by a constant rate or
//! mapped through the inverse of a varying cumulative rate. The time of the n-th uniform arrival is
//! computed from n, never from the previous arrival. A job that replays a log has no pacer: its
//! arrival times are [`LogTimes`].

use base::{Nanos, Rate, Seed, Stream};
use workload::shape::{Expected, Inverse, Recorded};
use workload::{Arrival as Process, Job, Schedule};

use crate::feed::Input;
use crate::share::Share;

/// The source of arrival times.
pub(crate) enum Times {
    /// A schedule.
    Schedule(Pacer),
    /// A log.
    Log(LogTimes),
}

/// The arrival times from a log: the times of its lines since the first line, counted from the
/// job's start.
pub(crate) struct LogTimes {
    start: Nanos,
    end: Nanos,
    count: u64,
}

impl LogTimes {
    /// Creates the arrival times of a job that replays a log.
    pub(crate) fn new(job: &Job) -> LogTimes {
        LogTimes {
            start: job.start,
            end: job.stop.unwrap_or(Nanos::MAX),
            count: job.count.unwrap_or(u64::MAX),
        }
    }

    /// Returns the arrival of a log line; `None` if the job has ended by then, or has reached its
    /// `count`.
    pub(crate) fn arrival(&self, line: &Input) -> Option<Arrival> {
        let (number, at) = (line.number(), self.start + line.at());
        (number < self.count && at < self.end).then_some(Arrival { number, at })
    }
}

/// The arrivals of one job that belong to a lane's share: all of them, or every n-th.
#[derive(Clone, Debug)]
pub struct Pacer {
    progress: Progress,
    start: Nanos,
    end: Nanos,
    count: u64,
    share: Share,
    randomness: Stream,
    next_number: u64,
}

/// The progress of a schedule.
#[derive(Clone, Debug)]
enum Progress {
    Poisson {
        /// The sum of the exponential variates so far.
        elapsed: f64,
        /// Nanoseconds per unit of `elapsed`.
        unit_ns: f64,
    },
    Uniform(Rate),
    Every(Nanos),
    VaryingPoisson {
        /// The sum of the exponential variates so far.
        elapsed: Expected,
        inverse: Inverse,
    },
    VaryingUniform(Inverse),
    Recorded(Recorded),
}

impl Progress {
    fn new(schedule: &Schedule) -> Progress {
        match schedule {
            Schedule::Poisson(rate) => {
                Progress::Poisson { elapsed: 0.0, unit_ns: 1e9 / rate.as_f64() }
            }
            Schedule::Uniform(rate) => Progress::Uniform(*rate),
            Schedule::Every(period) => Progress::Every(*period),
            Schedule::Varying { shape, arrival: Process::Poisson } => {
                let inverse = Inverse::new(shape);
                Progress::VaryingPoisson { elapsed: Expected::default(), inverse }
            }
            Schedule::Varying { shape, arrival: Process::Uniform } => {
                Progress::VaryingUniform(Inverse::new(shape))
            }
            Schedule::Recorded(recorded) => Progress::Recorded(recorded.clone()),
        }
    }
}

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the arrival in the job, from 0, independent of the lane.
    pub number: u64,
    /// Intended start, since time zero.
    pub at: Nanos,
}

impl Pacer {
    /// Creates the arrivals of an open, queue or timetable job that belong to `share`.
    ///
    /// # Panics
    /// If the job is closed or replays a log: the times of its requests come from its clients or
    /// from the log, not from a schedule.
    pub fn new(job: &Job, seed: Seed, share: Share) -> Pacer {
        let (schedule, _) = job.arrivals().expect("a closed job has no schedule");
        Pacer {
            progress: Progress::new(schedule),
            start: job.start,
            end: job.stop.unwrap_or(Nanos::MAX),
            count: job.count.unwrap_or(u64::MAX),
            share,
            randomness: Stream::new(seed, job.name(), "arrival"),
            next_number: 0,
        }
    }

    /// Returns the offset of arrival `number` from the job's start; `None` if it never occurs. Must
    /// be called for 0, 1, 2, … in turn.
    fn offset(&mut self, number: u64) -> Option<Nanos> {
        match &mut self.progress {
            Progress::Poisson { elapsed, unit_ns } => {
                *elapsed += self.randomness.draw(number).exponential();
                Some(Nanos((*elapsed * *unit_ns) as u64))
            }
            Progress::Uniform(rate) => Some(rate.nth_uniform(number + 1)),
            Progress::Every(period) => Some(*period * (number + 1)),
            Progress::VaryingPoisson { elapsed, inverse } => {
                *elapsed += Expected::from_f64(self.randomness.draw(number).exponential());
                inverse.at(*elapsed)
            }
            Progress::VaryingUniform(inverse) => inverse.at(Expected::whole(number + 1)),
            Progress::Recorded(Recorded(times)) => times.get(number as usize).copied(),
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
            let offset = self.offset(number);
            self.next_number += 1;
            let at = offset.map(|offset| self.start + offset).filter(|at| *at < self.end);
            let Some(at) = at else {
                self.count = 0;
                return None;
            };
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
    fn even_arrivals_are_exactly_one_period_apart() {
        let uniform = pacer("rate = 3\narrival = uniform");
        assert_eq!(times(uniform, 3), [333_333_333, 666_666_666, 1_000_000_000]);
        let timetable = pacer("every = 10s\nstart = 5s");
        assert_eq!(times(timetable, 2), [15_000_000_000, 25_000_000_000]);
        let seldom = pacer("rate = 0.01");
        assert_eq!(times(seldom, 1), [100_000_000_000]);
    }

    #[test]
    fn poisson_gaps_are_exponential_with_the_given_rate() {
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

    /// The schedule does not depend on the number of threads.
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
    fn pacer_ends_at_the_end_of_time() {
        let mut pacer = pacer("rate = 10M\narrival = uniform");
        pacer.next_number = u64::MAX - 1;
        assert_eq!(pacer.next(), None);
        assert_eq!(pacer.next(), None);
    }

    const SHAPES: [&str; 5] = [
        "ramp(100, 5000, 60s)",
        "ramp(3000, 0, 50s)",
        "sine(1000, 1000, 20s)",
        "steps(500 100 0 2000 700, 12s)",
        "trace(rates 5 900, 20 2500, 20.5 100, 40 1500)",
    ];

    /// Returns the arrivals of a minute, each with the expected number of arrivals until then.
    fn a_minute_of(shape: &str) -> Vec<(u64, f64)> {
        let job = format!("rate = {shape}\nstop = 1m");
        let text = format!("[read]\nquery = select 1\n{job}\n");
        let (plan, _) = workload::plan(&text, &workload::Overrides::default());
        let expected = match plan.expect("a plan").jobs[0].arrivals() {
            Some((Schedule::Varying { shape, .. }, _)) => {
                let shape = shape.clone();
                move |at| shape.expected(at).as_f64()
            }
            other => panic!("{other:?}"),
        };
        pacer(&job).map(|arrival| (arrival.at.0, expected(arrival.at))).collect()
    }

    /// Tests Poisson counts in 24 bins, by chi-square and bin by bin.
    #[test]
    fn arrivals_follow_the_shape_of_the_rate() {
        for shape in SHAPES {
            let arrivals = a_minute_of(shape);
            let text = format!("[a]\nquery = select 1\nrate = {shape}\n");
            let (plan, _) = workload::plan(&text, &workload::Overrides::default());
            let job = &plan.expect("a plan").jobs[0];
            let (mut chi_square, mut bins) = (0.0, 0);
            for bin in 0..24_u64 {
                let (from, until) = (Nanos(bin * 2_500_000_000), Nanos((bin + 1) * 2_500_000_000));
                let count =
                    arrivals.iter().filter(|(at, _)| (from.0..until.0).contains(at)).count();
                let mean = job.offered_per_s(from, Some(until)).expect("a rate") * 2.5;
                let off = count as f64 - mean;
                assert!(off.abs() <= 5.0 * mean.sqrt() + 1e-9, "{shape} {bin}: {count} {mean}");
                if mean > 5.0 {
                    chi_square += off * off / mean;
                    bins += 1;
                }
            }
            let (mean, deviation) = (f64::from(bins), (2.0 * f64::from(bins)).sqrt());
            assert!((chi_square - mean).abs() < 5.0 * deviation, "{shape}: {chi_square} of {bins}");
        }
    }

    /// Tests the distribution of the times between arrivals, with a Kolmogorov-Smirnov test at a
    /// level of about one in a million.
    #[test]
    fn time_rescaled_gaps_of_a_shape_are_unit_exponentials() {
        for shape in SHAPES {
            let arrivals = a_minute_of(shape);
            let n = arrivals.len() as f64;
            assert!(n > 39_000.0, "{shape}: {n}");
            let expected = std::iter::once(0.0).chain(arrivals.iter().map(|(_, sum)| *sum));
            let expected: Vec<f64> = expected.collect();
            let mut gaps: Vec<f64> = expected.windows(2).map(|pair| pair[1] - pair[0]).collect();
            gaps.sort_by(f64::total_cmp);
            let distance = gaps
                .iter()
                .enumerate()
                .map(|(place, gap)| (1.0 - (-gap).exp() - place as f64 / n).abs())
                .fold(0.0, f64::max);
            assert!(distance * n.sqrt() < 2.7, "{shape}: {distance}");
        }
    }

    #[test]
    fn even_arrivals_of_a_shape_follow_its_integral() {
        let uniform = |rate: &str, n| times(pacer(&format!("rate = {rate}\narrival = uniform")), n);
        let seconds = |seconds: &[f64]| -> Vec<u64> {
            seconds.iter().map(|second| (second * 1e9) as u64).collect()
        };
        assert_eq!(uniform("steps(2 0 4, 1s)\nstart = 1s", 4), seconds(&[1.5, 2.0, 3.25, 3.5]));
        // At a rate that rises from zero, twice the time has four times the arrivals.
        assert_eq!(uniform("ramp(0, 8, 4s)", 18)[3], 2_000_000_000);
        assert_eq!(uniform("ramp(0, 8, 4s)", 18)[15..], seconds(&[4.0, 4.125, 4.25]));
        let periods = uniform("sine(3, 3, 1s)", 9);
        for (n, at) in periods.iter().enumerate().skip(2).step_by(3) {
            let end = (n as u64 + 1) / 3 * 1_000_000_000;
            // The rate is zero at three quarters of a period.
            assert!(end.abs_diff(*at) < 2, "{n}: {at}");
        }
    }

    #[test]
    fn recorded_arrivals_are_replayed_as_they_are() {
        let recorded = "rate = trace(times 0 0.5 0.5 7)\nstart = 3s";
        let expected = [3_000_000_000, 3_500_000_000, 3_500_000_000, 10_000_000_000];
        assert_eq!(times(pacer(recorded), 9), expected);
        assert_eq!(pacer(&format!("{recorded}\nstop = 10s")).count(), 3);
        assert_eq!(pacer(&format!("{recorded}\ncount = 2")).count(), 2);
    }

    #[test]
    fn schedule_ends_if_its_rate_stays_zero() {
        assert_eq!(pacer("rate = steps(10 0, 1s)\narrival = uniform").count(), 10);
        let mut random = pacer("rate = ramp(100, 0, 1s)");
        let last = random.by_ref().last().expect("arrivals").at;
        assert!(last < Nanos::from_secs(1), "{last}");
        assert_eq!(random.next(), None);
    }

    #[test]
    fn schedule_of_a_shape_is_independent_of_the_number_of_lanes() {
        for shape in SHAPES {
            let rate = format!("rate = {shape}");
            let whole: Vec<Arrival> = pacer(&rate).take(20_001).collect();
            assert_eq!(pacer(&rate).take(20_001).collect::<Vec<_>>(), whole);
            let mut parts: Vec<Arrival> = (0..3)
                .flat_map(|lane| shared(&rate, Share { lane, lanes: 3 }).take(6_667))
                .collect();
            parts.sort_by_key(|arrival| arrival.number);
            assert_eq!(parts, whole, "{shape}");
        }
    }
}
