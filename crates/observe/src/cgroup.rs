//! Limits of the control group of one side: `cpu.max`, `cpu.stat` and `memory.*` of version 2,
//! `cpu.cfs_quota_us`, `cpu.stat` and `memory.*_in_bytes` of version 1 (Linux,
//! Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/). Any group between the process's group
//! and the root may set a limit. The lowest limit is reported, with the time for which the group
//! that sets it was throttled.

use record::metric::cgroup;
use record::{ComponentKind, MeasuredSide};

use crate::environment::Root;
use crate::environment::cgroup::{Hierarchy, Version, cpu_quota, hierarchy, memory_limit};
use crate::host::pressure::stall_time_us;
use crate::sample::Sample;

/// Number of samples after which a process's groups and their limits are read again.
const REREAD_EVERY: u32 = 8;

/// Control group of one side.
#[derive(Debug)]
pub(crate) struct Cgroup {
    side: MeasuredSide,
    sample_count: u32,
    process: Option<u32>,
    bounds: Bounds,
}

/// Limits that apply to a process.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bounds {
    /// Quota in processors, and the group that sets it.
    quota: Option<(f64, Version, String)>,
    /// Memory limit in bytes, and the group that sets it.
    limit: Option<(u64, Version, String)>,
    /// True if the process's groups could be read.
    is_known: bool,
}

impl Bounds {
    fn of(root: &Root, process: u32) -> Bounds {
        let text = root.text(&format!("proc/{process}/cgroup")).unwrap_or_default();
        // The mount point is the group of Assay's own container. If the group of the process is not
        // visible below it, the limits of the mount point apply to the process only if Assay is in
        // the same group.
        let known_hierarchy = |controller: &str| {
            let found = hierarchy(root, &text, controller)?;
            let is_own = || {
                let own = root.text("proc/self/cgroup").unwrap_or_default();
                hierarchy(root, &own, controller).as_ref() == Some(&found)
            };
            (found.is_visible(root) || is_own()).then_some(found)
        };
        let cpu = known_hierarchy("cpu");
        let memory = known_hierarchy("memory");
        Bounds {
            is_known: cpu.is_some() || memory.is_some(),
            quota: cpu.and_then(|found| {
                tightest(&found, |version, group| cpu_quota(root, version, group))
            }),
            limit: memory.and_then(|found| {
                tightest(&found, |version, group| memory_limit(root, version, group))
            }),
        }
    }
}

/// Returns the lowest limit, and the group that sets it; `None` without a limit.
fn tightest<T: PartialOrd>(
    found: &Hierarchy,
    read: impl Fn(Version, &str) -> Option<T>,
) -> Option<(T, Version, String)> {
    let limits = found.groups().into_iter().filter_map(|group| {
        let limit = read(found.version, &group)?;
        Some((limit, found.version, group))
    });
    limits.reduce(|a, b| if b.0 < a.0 { b } else { a })
}

impl Cgroup {
    /// Creates the sampler for one side.
    pub(crate) fn of(side: MeasuredSide) -> Cgroup {
        Cgroup { side, sample_count: 0, process: None, bounds: Bounds::default() }
    }

    /// Samples the group of one process, which stands for all processes of its side.
    pub(crate) fn sample(&mut self, root: &Root, process: u32, sample: &mut Sample) {
        if self.process != Some(process) || self.sample_count.is_multiple_of(REREAD_EVERY) {
            let bounds = Bounds::of(root, process);
            // Once they are known, the limits of a process are retained after it has ended.
            if bounds.is_known || self.process != Some(process) {
                self.bounds = bounds;
            }
            self.process = Some(process);
        }
        self.sample_count = self.sample_count.wrapping_add(1);
        let kind = ComponentKind::Cgroup(self.side);
        if !self.bounds.is_known {
            return sample.missing(
                &kind,
                "its control group, or the mount point of control groups, is not \
                                 visible",
            );
        }
        if let Some((quota, version, group)) = &self.bounds.quota {
            sample.read(&kind, cgroup::QUOTA, *quota);
            match throttled_s(root, *version, group) {
                Some(throttled_s) => sample.read(&kind, cgroup::THROTTLED, throttled_s),
                None => sample.missing(format!("{kind} throttled"), "cpu.stat does not have it"),
            }
        }
        if let Some((limit, version, group)) = &self.bounds.limit {
            sample.read(&kind, cgroup::MEMORY_LIMIT, *limit as f64);
            if let Some(bytes) = memory_usage(root, *version, group) {
                sample.read(&kind, cgroup::MEMORY, bytes as f64);
            }
            match pressure_s(root, *version, group) {
                Some(pressure_s) => sample.read(&kind, cgroup::PRESSURE_MEMORY, pressure_s),
                None => {
                    let why = "its group has no memory.pressure, which only version 2 has";
                    sample.missing(format!("{kind} pressure-memory"), why);
                }
            }
        }
    }
}

/// Returns the time for which a group was throttled, in seconds; `None` if unknown.
fn throttled_s(root: &Root, version: Version, group: &str) -> Option<f64> {
    let text = root.text_prefix(&format!("{group}/cpu.stat"), 4_096)?;
    let (name, per_s) = match version {
        Version::V1 => ("throttled_time ", 1e9),
        Version::V2 => ("throttled_usec ", 1e6),
    };
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().parse::<u64>().ok()? as f64 / per_s)
}

/// Returns the memory that a group uses, in bytes; `None` if unknown.
fn memory_usage(root: &Root, version: Version, group: &str) -> Option<u64> {
    let name = match version {
        Version::V1 => "memory.usage_in_bytes",
        Version::V2 => "memory.current",
    };
    root.number(&format!("{group}/{name}"))
}

/// Returns the time for which at least one task of a group lacked memory, in seconds
/// (Documentation/accounting/psi.rst, "Cgroup2 interface"); `None` if unknown.
fn pressure_s(root: &Root, version: Version, group: &str) -> Option<f64> {
    let text = match version {
        Version::V1 => return None,
        Version::V2 => root.text_prefix(&format!("{group}/memory.pressure"), 1_024)?,
    };
    Some(stall_time_us(&text, "some")? as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use record::Reading;

    use super::*;
    use crate::environment::tests::TestRoot;

    fn take_sample(planted: &TestRoot) -> Sample {
        let mut sample = Sample::default();
        Cgroup::of(MeasuredSide::Server).sample(&planted.root, 7, &mut sample);
        sample
    }

    fn readings<const N: usize>(found: [(&str, &str, f64); N]) -> Vec<Reading> {
        let of = |(metric, unit, value)| Reading::of("cgroup server", metric, unit, value);
        found.map(of).to_vec()
    }

    #[test]
    fn tightest_cgroup_v2_limit_is_reported_with_its_throttling() {
        let planted = TestRoot::new()
            .with("proc/7/cgroup", "0::/a/b\n")
            .with("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
            .with("sys/fs/cgroup/a/cpu.max", "150000 100000\n")
            .with("sys/fs/cgroup/a/cpu.stat", "usage_usec 9\nthrottled_usec 2500000\n")
            .with("sys/fs/cgroup/a/b/cpu.max", "200000 100000\n")
            .with("sys/fs/cgroup/a/b/cpu.stat", "throttled_usec 1\n")
            .with("sys/fs/cgroup/a/b/memory.max", "4096\n")
            .with("sys/fs/cgroup/a/b/memory.current", "1024\n")
            .with("sys/fs/cgroup/a/b/memory.pressure", "some avg10=9.00 total=3500000\n");
        let expected = readings([
            ("quota", "processors", 1.5),
            ("throttled", "s", 2.5),
            ("memory-limit", "bytes", 4_096.0),
            ("memory", "bytes", 1_024.0),
            ("pressure-memory", "s", 3.5),
        ]);
        assert_eq!(take_sample(&planted).readings, expected);
    }

    #[test]
    fn cgroup_v1_counts_in_nanoseconds() {
        let planted = TestRoot::new()
            .with("proc/7/cgroup", "4:memory:/d\n3:cpu:/d\n")
            .with("sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "50000\n")
            .with("sys/fs/cgroup/cpu/d/cpu.cfs_period_us", "100000\n")
            .with("sys/fs/cgroup/cpu/d/cpu.stat", "nr_periods 1\nthrottled_time 1500000000\n")
            .with("sys/fs/cgroup/memory/d/memory.limit_in_bytes", "8192\n")
            .with("sys/fs/cgroup/memory/d/memory.usage_in_bytes", "8000\n");
        let expected = readings([
            ("quota", "processors", 0.5),
            ("throttled", "s", 1.5),
            ("memory-limit", "bytes", 8_192.0),
            ("memory", "bytes", 8_000.0),
        ]);
        let sample = take_sample(&planted);
        assert_eq!(sample.readings, expected);
        assert_eq!(sample.missing[0].what, "cgroup server pressure-memory");
    }

    #[test]
    fn cgroup_without_limits_has_no_readings() {
        let planted = TestRoot::new()
            .with("proc/7/cgroup", "0::/\n")
            .with("sys/fs/cgroup/cgroup.controllers", "cpu\n");
        assert_eq!(take_sample(&planted), Sample::default());
    }

    #[test]
    fn group_of_another_container_is_not_the_own_one() {
        let check = |database: &str, expected: &[f64]| {
            let planted = TestRoot::new()
                .with("proc/self/cgroup", "0::/../assay.scope\n")
                .with("proc/7/cgroup", format!("0::{database}\n"))
                .with("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
                .with("sys/fs/cgroup/cpu.max", "100000 100000\n")
                .with("sys/fs/cgroup/cpu.stat", "throttled_usec 0\n")
                .with("sys/fs/cgroup/db.scope/cpu.max", "max 100000\n");
            let sample = take_sample(&planted);
            let values: Vec<f64> = sample.readings.iter().map(|reading| reading.value).collect();
            assert_eq!(values, expected, "{database}");
            assert_eq!(sample.missing.is_empty(), !expected.is_empty(), "{database}");
        };
        check("/../db.scope", &[]);
        check("/docker/db", &[]);
        check("/db.scope", &[1.0, 0.0]);
        check("/../assay.scope", &[1.0, 0.0]);
    }

    #[test]
    fn unreadable_cgroup_is_reported_as_missing() {
        assert_eq!(take_sample(&TestRoot::new()).missing[0].what, "cgroup server");
        let planted = TestRoot::new()
            .with("proc/7/cgroup", "0::/\n")
            .with("sys/fs/cgroup/cgroup.controllers", "cpu\n")
            .with("sys/fs/cgroup/cpu.max", "1 1\n");
        assert_eq!(take_sample(&planted).missing[0].what, "cgroup server throttled");
    }
}
