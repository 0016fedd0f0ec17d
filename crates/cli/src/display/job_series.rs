//! The series over time of the jobs in live views: throughput and p99 of the latest intervals.

use std::collections::VecDeque;

use record::{Interval, LiveState};

/// The latest values of each job, in the order of the plan.
#[derive(Debug)]
pub(super) struct SeriesOfJobs {
    /// Maximum number of values of a series over time.
    max_values: usize,
    latest: Option<Interval>,
    jobs: Vec<JobSeries>,
}

/// The latest values of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct JobSeries {
    /// Completed requests per second.
    pub(super) achieved_per_s: VecDeque<f64>,
    /// 99th percentile of the response times, in nanoseconds; NaN if there were none.
    pub(super) p99_ns: VecDeque<f64>,
}

impl SeriesOfJobs {
    /// Creates series over time that keep at most this number of values.
    pub(super) fn with_capacity(max_values: usize) -> SeriesOfJobs {
        SeriesOfJobs { max_values, latest: None, jobs: Vec::new() }
    }

    /// Adds the figures of an interval, unless they were added before. An interval before the
    /// latest one belongs to the next run, and clears the values of the previous run.
    pub(super) fn add(&mut self, live: &LiveState) {
        if self.latest == Some(live.interval) {
            return;
        }
        if self.latest > Some(live.interval) {
            self.jobs.clear();
        }
        self.latest = Some(live.interval);
        self.jobs.resize(live.jobs.len(), JobSeries::default());
        for (series, job) in self.jobs.iter_mut().zip(&live.jobs) {
            push(&mut series.achieved_per_s, job.achieved_per_s, self.max_values);
            push(&mut series.p99_ns, job.p99.map_or(f64::NAN, |p99| p99.0 as f64), self.max_values);
        }
    }

    /// Returns the interval of the last value; `None` before the first.
    pub(super) fn latest(&self) -> Option<Interval> {
        self.latest
    }

    /// Returns the series over time of each job; none before the first interval.
    pub(super) fn jobs(&self) -> &[JobSeries] {
        &self.jobs
    }
}

fn push(values: &mut VecDeque<f64>, value: f64, most: usize) {
    if values.len() == most {
        values.pop_front();
    }
    values.push_back(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Nanos;
    use record::LiveJob;

    #[test]
    fn each_interval_is_added_once_and_old_ones_are_forgotten() {
        let job = |achieved_per_s| LiveJob {
            offered_per_s: 0.0,
            achieved_per_s,
            p50: None,
            p99: (achieved_per_s > 0.0).then_some(Nanos(5)),
            errors: 0,
            gauge: None,
            counts: record::Counts::default(),
            response: None,
        };
        let live = |interval: Interval| LiveState {
            interval,
            at: Nanos::from_secs(u64::from(interval)),
            jobs: vec![job(f64::from(interval))],
        };
        let mut series = SeriesOfJobs::with_capacity(30);
        assert!(series.jobs().is_empty());
        for interval in [0, 0, 1, 1, 1, 2] {
            series.add(&live(interval));
        }
        assert_eq!(series.jobs()[0].achieved_per_s, [0.0, 1.0, 2.0]);
        assert!(series.jobs()[0].p99_ns[0].is_nan() && series.jobs()[0].p99_ns[1] == 5.0);
        (3..100).for_each(|interval| series.add(&live(interval)));
        let kept = &series.jobs()[0].achieved_per_s;
        assert_eq!((kept.len(), kept[0], kept[29]), (30, 70.0, 99.0));
        series.add(&live(4));
        assert_eq!(series.jobs()[0].achieved_per_s, [4.0], "another run has begun");
    }
}
