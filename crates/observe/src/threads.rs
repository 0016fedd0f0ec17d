//! What the threads of this process that make requests had of the processors, out of
//! `/proc/self/task/*/schedstat` (Linux, Documentation/scheduler/sched-stats.rst): the time that a
//! thread ran, and the time that it could have run and waited for a processor, both in nanoseconds
//! since it began.

use std::fs;
use std::path::Path;

use record::Reading;

/// How the threads are called that make requests.
const NAMES: &str = "lane-";

/// More threads than this are not looked at one by one.
const MOST: usize = 64;

/// The readings of this process below a root of the file system.
pub(crate) fn readings(root: &Path) -> Vec<Reading> {
    let Ok(tasks) = fs::read_dir(root.join("proc/self/task")) else { return Vec::new() };
    let paths = tasks.filter_map(|task| Some(task.ok()?.path()));
    paths.filter_map(|path| of_thread(&path)).take(MOST).flatten().collect()
}

/// Those of one thread, if it is one that makes requests.
fn of_thread(task: &Path) -> Option<[Reading; 2]> {
    let name = fs::read_to_string(task.join("comm")).ok()?;
    let name = name.trim_end();
    if !name.starts_with(NAMES) {
        return None;
    }
    let (ran_s, waited_s) = parse(&fs::read_to_string(task.join("schedstat")).ok()?)?;
    Some([Reading::of(name, "ran", "s", ran_s), Reading::of(name, "waited", "s", waited_s)])
}

/// Seconds that a thread ran and waited.
fn parse(schedstat: &str) -> Option<(f64, f64)> {
    let mut numbers = schedstat.split_whitespace().map(|number| number.parse::<u64>().ok());
    let mut seconds = || Some(numbers.next()?? as f64 / 1e9);
    Some((seconds()?, seconds()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_threads_that_make_requests_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        for (number, name, schedstat) in [
            (11, "assay\n", "1 2 3\n"),
            (12, "lane-0\n", "1500000000 250000000 77\n"),
            (13, "lane-1\n", "odd\n"),
        ] {
            let task = folder.path().join(format!("proc/self/task/{number}"));
            fs::create_dir_all(&task).expect("made");
            fs::write(task.join("comm"), name).expect("written");
            fs::write(task.join("schedstat"), schedstat).expect("written");
        }
        let expected =
            [Reading::of("lane-0", "ran", "s", 1.5), Reading::of("lane-0", "waited", "s", 0.25)];
        assert_eq!(readings(folder.path()), expected);
    }

    #[test]
    fn without_such_files_nothing_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(readings(folder.path()), []);
        for odd in ["", "1", "1 x", "-1 2", "\u{0}"] {
            assert_eq!(parse(odd), None, "{odd:?}");
        }
    }
}
