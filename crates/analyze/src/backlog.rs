//! Detection of an offered load that exceeds the capacity.
//!
//! If more requests arrive than are answered, the backlog grows for the whole run, and so does
//! every quantile of the response time: it then reflects the length of the run, not the speed of
//! the database.
//!
//! A backlog counts as growing if three conditions hold: a straight line through the means of its
//! blocks rises by more than chance explains, the rise is large enough to matter, and the rise is
//! larger than the random movement of a queue. Neighbouring blocks of a busy queue are correlated,
//! so the first condition alone would often give false alarms.
//!
//! If a job has a varying rate, the number of open requests varies with the rate, even at a
//! constant response time: by Little's law it is the rate times the response time. If the backlog
//! grows together with the rate, only the growth beyond the growth of the rate counts.
//!
//! A window of a few seconds is too short for a trend. In such a window, a load at a constant rate
//! exceeds the capacity if three conditions hold: in every second, far fewer requests end than come
//! due; the total shortfall is larger than chance explains; and about the same number of requests
//! ends in each second. All three hold if the server is always busy, but not after a stall, nor at
//! the start of a run with slow requests.

use workload::{Arrival, Job, Schedule};

use crate::change::student_t;
use crate::moments::{index_of_dispersion, mean};

/// Trend of a job's backlog over the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trend {
    /// Growth of a straight line through the block means over the window, in requests.
    pub(crate) growth: f64,
    /// Growth divided by its standard error.
    pub(crate) t: f64,
    /// Value of `t` up to which the growth may be chance.
    pub(crate) limit: f64,
}

/// Arrivals in the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    /// Number of requests.
    pub(crate) requests: u64,
    /// Number of requests that arrive together at random times; 1 if the arrival times are not
    /// random.
    pub(crate) burst: u32,
}

/// Requests that came due in an interval, and requests that ended in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct IntervalRequests {
    pub(crate) due: f64,
    pub(crate) ended: f64,
}

/// Maximum number of blocks that the window is divided into. Block means are nearly independent of
/// each other, unlike single seconds.
const BLOCKS: usize = 10;

/// Minimum number of intervals for a trend.
pub(crate) const INTERVALS: usize = 5;

/// Student's t that is exceeded with a probability of 0.001, for 5 to 10 blocks: 3 to 8 degrees of
/// freedom.
const SIGNIFICANT_T: [f64; BLOCKS - INTERVALS + 1] = [10.21, 7.17, 5.89, 5.21, 4.79, 4.5];

/// Fraction of the window's requests below which a growth is too small to matter.
const MATERIAL_SHARE: f64 = 0.005;

/// Number of requests below which a growth is too small to matter.
const MATERIAL_COUNT: f64 = 10.0;

/// Factor of √(n b) above which a growth is more than the random walk of a queue. Let n requests
/// arrive in bursts of b, at a rate equal to the capacity, with exponential service times. The
/// variance of the arrivals is then n b, and that of the departures is n, so the length of the
/// queue has a standard deviation of at most √(2 n b).
const RANDOM_WALK: f64 = 2.0;

/// Share of an interval's requests that may stay open, if the window is too short for a trend.
pub(crate) const OPEN_ALLOWED: f64 = 0.25;

/// Minimum number of intervals with too few ended requests that show an overload in a short window.
const SHORT_INTERVALS: usize = 2;

/// Largest shortfall that may be chance, in standard deviations of the number of arrivals.
const BEYOND_CHANCE: f64 = 10.0;

/// Minimum ratio of the fewest to the most requests that end in an interval, at which the server
/// counts as always busy. Slow requests alone do not reach it: if service times are exponential and
/// more than [`OPEN_ALLOWED`] of the requests of each interval stay open, the first interval
/// included, the ratio is less than 0.75.
const STEADY_RATIO: f64 = 0.75;

/// Lower bound of a rate by which a backlog is divided, as a fraction of the mean rate. Without it,
/// the few requests that are open while hardly any arrive would count far too much.
const LOWEST_RATE: f64 = 0.1;

/// Returns the trend of the backlog at the ends of the window's intervals; `None` if there are too
/// few intervals.
pub(crate) fn trend(backlog: &[f64]) -> Option<Trend> {
    block_means(backlog).map(|means| line(&means))
}

/// Returns the smaller of two trends at a varying rate: the trend of the backlog, and the trend of
/// the backlog scaled to the mean rate with the same response times. `None` if there are too few
/// intervals. `arrivals` covers the intervals of `backlog` and all before them.
pub(crate) fn trend_of_varying(backlog: &[f64], arrivals: &[f64]) -> Option<Trend> {
    let as_it_was = trend(backlog)?;
    let rates = rates_of_open_requests(backlog, arrivals);
    let mean = mean(&rates);
    let lowest = mean * LOWEST_RATE;
    let at_mean_rate: Vec<f64> = block_means(backlog)?
        .iter()
        .zip(block_means(&rates)?)
        .map(|(backlog, rate)| backlog * mean / rate.max(lowest).max(f64::MIN_POSITIVE))
        .collect();
    let at_mean_rate = line(&at_mean_rate);
    Some(if as_it_was.growth < at_mean_rate.growth { as_it_was } else { at_mean_rate })
}

/// Returns, for the end of each interval, the arrival rate of the open requests: the mean rate over
/// the last R intervals. R is the average duration of a request in intervals, by Little's law, and
/// at least 1.
fn rates_of_open_requests(backlog: &[f64], arrivals: &[f64]) -> Vec<f64> {
    let first = arrivals.len() - backlog.len();
    let came: f64 = arrivals[first..].iter().sum();
    let takes = (backlog.iter().sum::<f64>() / came.max(1.0)).max(1.0);
    let by_then: Vec<f64> = std::iter::once(0.0)
        .chain(arrivals.iter().scan(0.0, |sum, arrivals| {
            *sum += arrivals;
            Some(*sum)
        }))
        .collect();
    let by = |t: f64| {
        let whole = t.max(0.0) as usize;
        by_then[whole] + arrivals.get(whole).unwrap_or(&0.0) * (t.max(0.0) - whole as f64)
    };
    (first + 1..=arrivals.len())
        .map(|end| (by_then[end] - by(end as f64 - takes)) / takes)
        .collect()
}

/// Returns the share of requests that stay open at a load beyond the capacity, for a window that is
/// too short for a trend; `None` if the load may be within the capacity. `intervals` begin with the
/// first arrival of the job, and the last `in_window` of them are in the window. `burst` is the
/// number of requests that arrive together, at random times.
pub(crate) fn open_share(
    intervals: &[IntervalRequests],
    in_window: usize,
    burst: u32,
) -> Option<f64> {
    let first = intervals.len().checked_sub(in_window.max(SHORT_INTERVALS))?;
    let all = total(&intervals[first..]);
    let open = all.due - all.ended;
    let by_chance = BEYOND_CHANCE * (all.due * f64::from(burst)).sqrt();
    let is_short = |interval: &IntervalRequests| {
        interval.ended > 0.0 && interval.ended_share() < 1.0 - OPEN_ALLOWED
    };
    let falls_short = intervals[first..].iter().all(is_short) && open > by_chance;
    (falls_short && is_steady(intervals)).then_some(open / all.due)
}

/// Returns true if about equally many requests end in each interval.
fn is_steady(intervals: &[IntervalRequests]) -> bool {
    let ended = || intervals.iter().map(|interval| interval.ended);
    ended().fold(f64::INFINITY, f64::min) >= STEADY_RATIO * ended().fold(0.0, f64::max)
}

fn total(intervals: &[IntervalRequests]) -> IntervalRequests {
    let add = |sum: IntervalRequests, interval: &IntervalRequests| IntervalRequests {
        due: sum.due + interval.due,
        ended: sum.ended + interval.ended,
    };
    intervals.iter().fold(IntervalRequests { due: 0.0, ended: 0.0 }, add)
}

/// Returns the means of the blocks of a window; `None` if it has too few intervals.
fn block_means(intervals: &[f64]) -> Option<Vec<f64>> {
    if intervals.len() < INTERVALS {
        return None;
    }
    let blocks = intervals.len().min(BLOCKS);
    let bound = |block: usize| block * intervals.len() / blocks;
    let of_block = |block: usize| mean(&intervals[bound(block)..bound(block + 1)]);
    Some((0..blocks).map(of_block).collect())
}

/// Fits a straight line through the means of blocks.
fn line(means: &[f64]) -> Trend {
    let n = means.len() as f64;
    let center = (n - 1.0) / 2.0;
    let mean = means.iter().sum::<f64>() / n;
    let positions = || (0..means.len()).map(|block| block as f64 - center);
    let squares: f64 = positions().map(|x| x * x).sum();
    let slope = positions().zip(means).map(|(x, y)| x * (y - mean)).sum::<f64>() / squares;
    let residuals: f64 = positions().zip(means).map(|(x, y)| (y - mean - slope * x).powi(2)).sum();
    let error = (residuals / (n - 2.0) / squares).sqrt();
    let t = student_t(slope, error);
    Trend { growth: slope * n, t, limit: SIGNIFICANT_T[means.len() - INTERVALS] }
}

impl IntervalRequests {
    fn ended_share(self) -> f64 {
        self.ended / self.due.max(1.0)
    }
}

impl Arrivals {
    /// Describes the arrivals of a job with this number of requests in the window.
    pub(crate) fn of(job: &Job, requests: u64) -> Arrivals {
        let burst = match job.arrivals() {
            Some((
                Schedule::Poisson(_)
                | Schedule::Varying { arrival: Arrival::Poisson, .. }
                | Schedule::Recorded(_),
                batch,
            )) => batch,
            Some((
                Schedule::Uniform(_)
                | Schedule::Every(_)
                | Schedule::Varying { arrival: Arrival::Uniform, .. },
                _,
            ))
            | None => 1,
        };
        Arrivals { requests, burst }
    }

    /// Describes the arrivals of a log, whose bursts have no common size. In their place, the index
    /// of dispersion of the requests per interval counts.
    fn of_log(per_interval: &[f64]) -> Arrivals {
        let burst = index_of_dispersion(per_interval).ceil().max(1.0);
        Arrivals { requests: per_interval.iter().sum::<f64>() as u64, burst: burst as u32 }
    }

    /// Returns the largest growth that is too small to matter or may be due to chance.
    fn harmless_growth(self) -> f64 {
        let requests = self.requests as f64;
        let by_chance = RANDOM_WALK * (requests * f64::from(self.burst)).sqrt();
        MATERIAL_COUNT.max(MATERIAL_SHARE * requests).max(by_chance)
    }
}

impl Trend {
    /// Returns true if the backlog grew by more than chance explains, and by enough to matter for
    /// these arrivals.
    pub(crate) fn exceeds_capacity(&self, arrivals: Arrivals) -> bool {
        self.is_significant() && self.growth > arrivals.harmless_growth()
    }

    /// Returns true if the log of a replay came faster than the answers. `arrivals` has the
    /// intervals of `backlog`.
    ///
    /// A log may have bursts, and slower statements from some time on. Both let a backlog grow at a
    /// load within the capacity, but not by more than the requests of the busiest interval, or not
    /// until the end of the window.
    pub(crate) fn outgrows_log(&self, backlog: &[f64], arrivals: &[f64]) -> bool {
        let busiest = arrivals.iter().copied().fold(0.0, f64::max);
        let quarter = backlog.len() / 4;
        let (half, last) = (backlog.len() / 2, backlog.len() - quarter);
        let grows_on =
            mean(&backlog[last..]) - mean(&backlog[half..half + quarter]) > self.growth / 8.0;
        self.exceeds_capacity(Arrivals::of_log(arrivals)) && self.growth > busiest && grows_on
    }

    /// Returns true if the backlog grew by more than chance explains.
    pub(crate) fn is_significant(&self) -> bool {
        self.t > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Seed, Stream};

    const fn arrivals(requests: u64) -> Arrivals {
        Arrivals { requests, burst: 1 }
    }

    fn rise(intervals: u32, per_interval: f64) -> Trend {
        let backlog: Vec<f64> = (0..intervals).map(|n| f64::from(n) * per_interval).collect();
        trend(&backlog).unwrap()
    }

    #[test]
    fn backlog_growth_matters_above_half_a_percent_of_the_requests() {
        let overload = rise(60, 20.0);
        assert!((overload.growth - 1_200.0).abs() < 1.0, "{overload:?}");
        assert!(overload.exceeds_capacity(arrivals(239_000)));
        assert!(!overload.exceeds_capacity(arrivals(241_000)));
    }

    #[test]
    fn backlog_growth_matters_above_ten_requests() {
        assert!(rise(60, 10.1 / 60.0).exceeds_capacity(arrivals(20)));
        assert!(!rise(60, 9.9 / 60.0).exceeds_capacity(arrivals(20)));
    }

    #[test]
    fn backlog_growth_matters_beyond_random_fluctuation() {
        let growth = |requests| rise(60, requests / 60.0);
        assert!(growth(202.0).exceeds_capacity(arrivals(10_000)));
        assert!(!growth(198.0).exceeds_capacity(arrivals(10_000)));
        let bursts = Arrivals { requests: 10_000, burst: 25 };
        assert!(growth(1_010.0).exceeds_capacity(bursts));
        assert!(!growth(990.0).exceeds_capacity(bursts));
    }

    #[test]
    fn only_bursts_at_random_times_widen_the_random_fluctuation() {
        let burst = |job: &str| {
            let file = format!("duration = 9s\n[a]\nquery = select 1\nbatch-size = 20\n{job}");
            let (plan, _) = workload::plan(&file, &workload::Overrides::default());
            Arrivals::of(&plan.unwrap().jobs[0], 5).burst
        };
        assert_eq!(burst("rate = 100"), 20);
        assert_eq!(burst("rate = 100\narrival = uniform"), 1);
        assert_eq!(burst("every = 1s"), 1);
    }

    #[test]
    fn a_backlog_that_only_fluctuates_does_not_grow() {
        let noise = Stream::new(Seed(1), "test", "noise");
        for intervals in [5, 9, 10, 60] {
            let alarms = (0..1_000)
                .filter(|run| {
                    let mut draw = noise.draw(*run);
                    let backlog: Vec<f64> =
                        (0..intervals).map(|_| 1e4 * draw.exponential()).collect();
                    trend(&backlog).unwrap().exceeds_capacity(arrivals(1_000))
                })
                .count();
            assert!(alarms <= 4, "{alarms} false alarms in 1,000 runs of {intervals} intervals");
        }
    }

    #[test]
    fn a_shorter_window_needs_a_straighter_rise() {
        let limits = [5, 6, 7, 8, 9, 10, 60].map(|intervals| rise(intervals, 1.0).limit);
        assert_eq!(limits, [10.21, 7.17, 5.89, 5.21, 4.79, 4.5, 4.5]);
    }

    /// Returns the open share of a job with 1,000 requests due in each second, given the number
    /// that end in each.
    fn short(ended: &[u32], in_window: usize) -> Option<f64> {
        let interval = |ended: &u32| IntervalRequests { due: 1_000.0, ended: f64::from(*ended) };
        let intervals: Vec<IntervalRequests> = ended.iter().map(interval).collect();
        open_share(&intervals, in_window, 1)
    }

    #[test]
    fn short_window_is_overloaded_if_a_quarter_of_each_second_stays_open() {
        assert_eq!(short(&[500, 500], 2), Some(0.5));
        assert_eq!(short(&[600, 500, 500, 500], 3), Some(0.5));
        assert_eq!(short(&[749, 749, 749, 749], 4), Some(0.251));
        assert_eq!(short(&[749, 749, 750, 749], 4), None);
        assert_eq!(short(&[500], 1), None, "a second may have a stall");
        assert_eq!(short(&[500, 500], 1), Some(0.5), "the second before it belongs to the warm-up");
        assert_eq!(short(&[1_000, 500], 1), None);
    }

    #[test]
    fn shortfall_of_few_requests_is_chance() {
        let intervals = |due: f64| [IntervalRequests { due, ended: due / 2.0 }; 2];
        assert_eq!(open_share(&intervals(201.0), 2, 1), Some(0.5));
        assert_eq!(open_share(&intervals(199.0), 2, 1), None);
        assert_eq!(open_share(&intervals(4_000.0), 2, 21), None);
    }

    /// Cases: constant times of 1.5 s; exponential times of 4 s; a target that hangs; a target that
    /// ends; a stall of 1.2 s at the end of a second, from which the server has not recovered.
    #[test]
    fn slow_requests_and_stalls_are_not_an_overload() {
        for ended in [
            [0, 500, 1_000, 1_000],
            [115, 311, 463, 582],
            [0; 4],
            [1_000, 900, 0, 0],
            [0, 2_000, 700, 333],
        ] {
            for seconds in 2..=4 {
                let ended = &ended[..seconds];
                assert_eq!(short(ended, seconds), None, "{ended:?}");
                assert_eq!(short(ended, seconds - 1), None, "{ended:?}");
            }
        }
    }

    #[test]
    fn constant_backlog_does_not_grow_and_short_window_is_not_judged() {
        assert_eq!(trend(&[5.0; 60]), Some(Trend { growth: 0.0, t: 0.0, limit: 4.5 }));
        assert_eq!(trend(&[5.0; 4]), None);
    }

    /// Each request takes half a minute, so the backlog grows together with the rate.
    #[test]
    fn backlog_proportional_to_a_rising_rate_is_not_an_overload() {
        let arrivals: Vec<f64> = (0..60).map(|n| 100.0 + 10.0 * f64::from(n)).collect();
        let backlog: Vec<f64> = arrivals.iter().map(|rate| 30.0 * rate).collect();
        let requests = Arrivals { requests: arrivals.iter().sum::<f64>() as u64, burst: 1 };
        assert!(trend(&backlog).unwrap().exceeds_capacity(requests));
        assert!(!trend_of_varying(&backlog, &arrivals).unwrap().exceeds_capacity(requests));
    }

    /// The server answers 250 requests per second, and the rate rises to 690 per second.
    #[test]
    fn backlog_that_outgrows_a_rising_rate_is_an_overload() {
        let arrivals: Vec<f64> = (0..60).map(|n| 100.0 + 10.0 * f64::from(n)).collect();
        let over = |backlog: f64, rate: &f64| Some((backlog + rate - 250.0).max(0.0));
        let backlog: Vec<f64> = arrivals
            .iter()
            .scan(0.0, |open, rate| {
                *open = over(*open, rate)?;
                Some(*open)
            })
            .collect();
        let requests = Arrivals { requests: arrivals.iter().sum::<f64>() as u64, burst: 1 };
        assert!(trend_of_varying(&backlog, &arrivals).unwrap().exceeds_capacity(requests));
    }
}
