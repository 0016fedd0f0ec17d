//! The times and errors of a job's requests over the whole run, warm-up included, for charts.

use std::ops::Range;

use base::{Class, Nanos};
use record::BucketCount;

use crate::distribution::{Distribution, mean_ns};
use crate::steps::Steps;

/// Maximum number of columns of a time course.
pub const MOST_COLUMNS: usize = 360;

/// Number of classes of response times per power of ten.
const CLASSES_PER_DECADE: f64 = 10.0;

/// The response times, service times, waits and send lags of a job in consecutive parts of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeCourse {
    /// Consecutive parts of the run, at most [`MOST_COLUMNS`].
    pub columns: Vec<TimeColumn>,
}

/// The requests of a job whose intended start lies in a part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeColumn {
    /// Steps of the part.
    pub steps: Range<usize>,
    /// Start of the part, since time zero.
    pub from: Nanos,
    /// End of the part, since time zero.
    pub to: Nanos,
    /// Response times.
    pub response: Distribution,
    /// Service times.
    pub service: Distribution,
    /// Mean wait; `None` without requests that were sent.
    pub wait_mean_ns: Option<f64>,
    /// Mean send lag; `None` without requests that were sent.
    pub send_lag_mean_ns: Option<f64>,
    /// Response times by class.
    pub classes: Vec<TimeClass>,
    /// Errors by class, without the classes that have none.
    pub errors: Vec<(Class, u64)>,
}

/// The response times between two edges that are a constant factor apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeClass {
    /// Number of the class: it begins at 10^(number/10) nanoseconds.
    pub number: u16,
    /// Number of measured times.
    pub count: u64,
}

/// The times of a column by bucket, in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct ColumnTimes<'a> {
    /// Response times.
    pub response: &'a [BucketCount],
    /// Service times.
    pub service: &'a [BucketCount],
    /// Waits.
    pub wait: &'a [BucketCount],
    /// Send lags.
    pub send_lag: &'a [BucketCount],
}

impl TimeColumn {
    /// Summarizes the times and errors of a part of the run, given as a range of steps.
    pub fn of(
        steps: &Steps,
        part: Range<usize>,
        times: ColumnTimes<'_>,
        errors: Vec<(Class, u64)>,
    ) -> TimeColumn {
        TimeColumn {
            from: steps.start(part.start),
            to: steps.start(part.end),
            steps: part,
            response: Distribution::of_times(times.response),
            service: Distribution::of_times(times.service),
            wait_mean_ns: mean_ns(times.wait),
            send_lag_mean_ns: mean_ns(times.send_lag),
            classes: classes(times.response),
            errors,
        }
    }
}

impl TimeClass {
    /// Returns the lower edge of a class, in nanoseconds.
    pub fn edge_ns(number: u16) -> f64 {
        10f64.powf(f64::from(number) / CLASSES_PER_DECADE)
    }
}

/// Returns the steps of each column of a run: equal numbers of steps, except where the warm-up
/// ends, and where the first or the last column would be too short for a rate.
pub fn columns(steps: &Steps) -> Vec<Range<usize>> {
    let window = steps.window();
    let size = steps.len().div_ceil(MOST_COLUMNS - 1).max(1);
    let split = |part: Range<usize>| {
        let end = part.end;
        let columns = part.step_by(size).map(move |from| from..(from + size).min(end));
        with_long_ends(steps, columns.collect())
    };
    let window_columns = split(window.clone());
    split(0..window.start).into_iter().chain(window_columns).collect()
}

/// Joins the first column with its neighbour if the column is less than half as long as the
/// neighbour, and does the same for the last column. The first and the last step of a run may last
/// only a few milliseconds.
fn with_long_ends(steps: &Steps, mut columns: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let length =
        |part: &Range<usize>| steps.start(part.end).saturating_sub(steps.start(part.start)).0;
    if let [.., before, last] = columns.as_mut_slice()
        && 2 * length(last) < length(before)
    {
        before.end = last.end;
        columns.pop();
    }
    if let [first, next, ..] = columns.as_mut_slice()
        && 2 * length(first) < length(next)
    {
        next.start = first.start;
        columns.remove(0);
    }
    columns
}

fn classes(times: &[BucketCount]) -> Vec<TimeClass> {
    let mut classes: Vec<TimeClass> = Vec::new();
    for &BucketCount { bucket, count } in times {
        // The middle of the bucket decides: a time on the edge of a class may be in a bucket that
        // begins below that edge.
        let middle = bucket.middle().max(1) as f64;
        let number = (middle.log10() * CLASSES_PER_DECADE).floor() as u16;
        match classes.last_mut() {
            Some(last) if last.number == number => last.count += count,
            _ => classes.push(TimeClass { number, count }),
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use record::{Grid, Kind, bucket_counts};

    use super::*;

    #[test]
    fn columns_cover_the_run_and_end_where_the_warm_up_does() {
        for (warmup, seconds) in [(0, 1), (0, 60), (7, 60), (13, 3_600), (0, 0)] {
            let grid = Grid::new(Nanos::from_secs(warmup), Some(Nanos::from_secs(seconds)));
            let steps = Steps::new(grid, Nanos::from_secs(seconds), Nanos::from_secs(10));
            let columns = columns(&steps);
            assert!(columns.len() <= MOST_COLUMNS, "{}", columns.len());
            let all: Vec<usize> = columns.iter().cloned().flatten().collect();
            assert_eq!(all, (0..steps.len()).collect::<Vec<usize>>());
            let window = steps.window();
            assert!(window.is_empty() || columns.iter().any(|it| it.start == window.start));
        }
    }

    #[test]
    fn end_of_a_run_is_not_a_column_of_a_few_milliseconds() {
        let lengths = |warmup_ms: u64, end_ms: u64| -> Vec<u64> {
            let grid = Grid::new(Nanos::from_millis(warmup_ms), None);
            let steps = Steps::new(grid, Nanos::from_millis(end_ms), Nanos::from_secs(10));
            let length =
                |it: Range<usize>| steps.start(it.end).saturating_sub(steps.start(it.start));
            columns(&steps).into_iter().map(|it| length(it).0 / 1_000_000).collect()
        };
        assert_eq!(lengths(0, 3_030), [1_000, 1_000, 1_030]);
        assert_eq!(lengths(0, 2_600), [1_000, 1_000, 600]);
        assert_eq!(lengths(2_100, 4_100), [1_100, 1_000, 1_000, 1_000]);
        assert_eq!(lengths(1_000, 1_030), [1_000, 30], "the warm-up is not measured");
        assert_eq!(lengths(0, 30), [30]);
        assert!(lengths(0, 3_600_030).iter().all(|ms| *ms >= 5_000));
    }

    #[test]
    fn every_time_is_in_the_class_between_its_edges() {
        let mut times = Kind::Response.histogram::<u64>();
        for (ns, count) in [(0, 1), (1_000_000, 3), (1_100_000, 4), (3_000_000_000, 2)] {
            times.saturating_record_n(ns, count);
        }
        let classes = classes(&bucket_counts(&times));
        assert_eq!(classes.iter().map(|class| class.count).collect::<Vec<u64>>(), [1, 7, 2]);
        let edges = classes.iter().map(|class| TimeClass::edge_ns(class.number));
        let lows: Vec<f64> = edges.collect();
        assert!((lows[1] - 1e6).abs() < 1.0 && lows[2] <= 3e9 && lows[2] > 2.3e9, "{lows:?}");
    }
}
