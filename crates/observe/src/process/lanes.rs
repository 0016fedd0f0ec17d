//! Processor use of the threads of this process that send requests, from
//! `/proc/self/task/*/schedstat` (Linux, Documentation/scheduler/sched-stats.rst): the time for
//! which a thread ran, and the time for which it was ready to run and waited for a processor, both
//! in nanoseconds since the start of the thread.

use record::metric::lane;
use record::{LANE_PREFIX, ObservedMetric, Reading};

use crate::environment::Root;
use crate::sample::{Sample, Sampler};

/// Maximum number of threads that are read one by one.
const MAX_THREADS: usize = 64;

/// Folder in which the kernel lists the threads of this process.
const TASKS: &str = "proc/self/task";

/// Sampler of the threads of this process that send requests.
pub(crate) struct Lanes;

impl Sampler for Lanes {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        sample.readings.extend(readings(root));
    }
}

fn readings(root: &Root) -> Vec<Reading> {
    let tasks = root.names(TASKS);
    tasks
        .iter()
        .filter_map(|task| thread_readings(root, task))
        .take(MAX_THREADS)
        .flatten()
        .collect()
}

/// Reads one thread; `None` if it does not send requests.
fn thread_readings(root: &Root, task: &str) -> Option<[Reading; 2]> {
    let name = root.line(&format!("{TASKS}/{task}/comm"))?;
    if !name.starts_with(LANE_PREFIX) {
        return None;
    }
    let (ran_s, waited_s) = parse(&root.line(&format!("{TASKS}/{task}/schedstat"))?)?;
    let reading =
        |metric: ObservedMetric, value: f64| Reading::of(&name, metric.name, metric.unit, value);
    Some([reading(lane::RAN, ran_s), reading(lane::WAITED, waited_s)])
}

/// Parses the times for which a thread ran and waited, in seconds.
fn parse(schedstat: &str) -> Option<(f64, f64)> {
    let mut numbers = schedstat.split_whitespace().map(|number| number.parse::<u64>().ok());
    let mut seconds = || Some(numbers.next()?? as f64 / 1e9);
    Some((seconds()?, seconds()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    #[test]
    fn only_request_threads_are_read() {
        let threads = [
            (11, "assay\n", "1 2 3\n"),
            (12, "lane-0\n", "1500000000 250000000 77\n"),
            (13, "lane-1\n", "odd\n"),
        ];
        let plant = |planted: TestRoot, (number, name, schedstat): (u32, &str, &str)| {
            planted
                .with(&format!("{TASKS}/{number}/comm"), name)
                .with(&format!("{TASKS}/{number}/schedstat"), schedstat)
        };
        let planted = threads.into_iter().fold(TestRoot::new(), plant);
        let expected =
            [Reading::of("lane-0", "ran", "s", 1.5), Reading::of("lane-0", "waited", "s", 0.25)];
        assert_eq!(readings(&planted.root), expected);
    }

    #[test]
    fn missing_or_malformed_files_give_no_readings() {
        assert_eq!(readings(&TestRoot::new().root), []);
        for odd in ["", "1", "1 x", "-1 2", "\u{0}"] {
            assert_eq!(parse(odd), None, "{odd:?}");
        }
    }
}
