//! Limits that control groups set for this process: processor time and memory.
//!
//! Any group between the process's group and the root may set a limit, and the lowest limit
//! applies. In a container, `/proc/self/cgroup` may hold the path on the host, whose groups are not
//! visible in the container. Then only the visible groups on the way to the root are read, which
//! include at least the root.

use record::environment::{NONE, host};

use super::fact::Fact;
use super::root::Root;

/// Mount point of control groups.
const CGROUP_MOUNT: &str = "sys/fs/cgroup";

/// Maximum number of groups that are read between a process and the root.
const MAX_DEPTH: usize = 64;

/// Smallest value of a memory limit of version 1 that means no limit. The kernel reports the
/// largest page-aligned number if no limit is set.
const NO_LIMIT: u64 = 1 << 62;

pub(super) fn facts(root: &Root) -> [Fact; 3] {
    let text = root.text("proc/self/cgroup").unwrap_or_default();
    let cpu = hierarchy(root, &text, "cpu");
    let memory = hierarchy(root, &text, "memory");
    [
        (host::CGROUP_VERSION, cpu.as_ref().map(|found| found.version.name().to_owned())),
        (host::CGROUP_CPU_QUOTA, cpu.and_then(|found| found.lowest_limit(root, cpu_quota))),
        (
            host::CGROUP_MEMORY_LIMIT,
            memory.and_then(|found| found.lowest_limit(root, memory_limit)),
        ),
    ]
}

/// Version of the control group interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// Version 1, with a hierarchy per controller.
    V1,
    /// Version 2, with a single hierarchy.
    V2,
}

impl Version {
    fn name(self) -> &'static str {
        match self {
            Version::V1 => "v1",
            Version::V2 => "v2",
        }
    }
}

/// Groups that limit a process for one controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// Version of the files' format.
    pub(crate) version: Version,
    /// Folder of the controller's hierarchy.
    mount: String,
    /// Group of the process, relative to the mount.
    group: String,
}

/// Finds the hierarchy of a controller in the text of a `/proc/PID/cgroup`: the hierarchy of
/// version 1 that has the controller or, if there is none, the hierarchy of version 2.
pub(crate) fn hierarchy(root: &Root, text: &str, controller: &str) -> Option<Hierarchy> {
    let lines = || text.lines().filter_map(parse_line);
    let has_it = |(names, _): &(&str, &str)| names.split(',').any(|name| name == controller);
    if let Some((names, group)) = lines().find(has_it) {
        let mounts = [names, controller].map(|name| format!("{CGROUP_MOUNT}/{name}"));
        let mount = mounts.into_iter().find(|mount| root.exists(mount))?;
        return Some(Hierarchy { version: Version::V1, mount, group: group.to_owned() });
    }
    let (_, group) = lines().find(|(names, _)| names.is_empty())?;
    let mounts = [CGROUP_MOUNT.to_owned(), format!("{CGROUP_MOUNT}/unified")];
    let mount = mounts.into_iter().find(|at| root.exists(&format!("{at}/cgroup.controllers")))?;
    Some(Hierarchy { version: Version::V2, mount, group: group.to_owned() })
}

/// Parses the controllers and the group of a line such as `4:cpu,cpuacct:/user.slice`.
fn parse_line(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(':')?;
    rest.split_once(':')
}

impl Hierarchy {
    /// Returns true if the group of the process exists below the mount. The path of a group in
    /// another container leads out of the mount, or to a folder that this container does not have
    /// (`cgroup_namespaces(7)`).
    pub(crate) fn is_visible(&self, root: &Root) -> bool {
        let leads_out = self.group.split('/').any(|part| part == "..");
        !leads_out && self.groups().first().is_some_and(|group| root.exists(group))
    }

    /// Returns the group of the process and the groups above it, up to the root.
    pub(crate) fn groups(&self) -> Vec<String> {
        let is_name = |part: &&str| !part.is_empty() && *part != "." && *part != "..";
        let parts: Vec<&str> = self.group.split('/').filter(is_name).take(MAX_DEPTH).collect();
        let group = |length: usize| match length {
            0 => self.mount.clone(),
            _ => format!("{}/{}", self.mount, parts[..length].join("/")),
        };
        (0..=parts.len()).rev().map(group).collect()
    }

    /// Returns the lowest limit that `read` finds in the groups; [`NONE`] if no group sets a limit.
    fn lowest_limit<T: PartialOrd + ToString>(
        &self,
        root: &Root,
        read: impl Fn(&Root, Version, &str) -> Option<T>,
    ) -> Option<String> {
        let found = self.groups();
        let limits = found.iter().filter_map(|group| read(root, self.version, group));
        let least = limits.reduce(|a, b| if b < a { b } else { a });
        Some(least.map_or_else(|| NONE.to_owned(), |least| least.to_string()))
    }
}

/// Returns the number of processors that a group may keep busy; `None` without a limit.
pub(crate) fn cpu_quota(root: &Root, version: Version, group: &str) -> Option<f64> {
    let (quota, period) = match version {
        Version::V2 => {
            let line = root.line(&format!("{group}/cpu.max"))?;
            let (quota, period) = line.split_once(' ')?;
            (quota.parse::<u64>().ok()?, period.trim().parse::<u64>().ok()?)
        }
        // If there is no quota, the file holds -1, which does not parse as an unsigned number.
        Version::V1 => (
            root.number(&format!("{group}/cpu.cfs_quota_us"))?,
            root.number(&format!("{group}/cpu.cfs_period_us"))?,
        ),
    };
    (period > 0).then(|| quota as f64 / period as f64)
}

/// Returns the number of bytes of memory that a group may use; `None` without a limit.
pub(crate) fn memory_limit(root: &Root, version: Version, group: &str) -> Option<u64> {
    match version {
        Version::V2 => root.number(&format!("{group}/memory.max")),
        Version::V1 => {
            let limit = root.number(&format!("{group}/memory.limit_in_bytes"))?;
            (limit < NO_LIMIT).then_some(limit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    fn check(planted: TestRoot, expected: [Option<&str>; 3]) {
        let found = facts(&planted.root).map(|(_, value)| value);
        assert_eq!(found, expected.map(|value| value.map(str::to_owned)));
    }

    fn version_two(group: &str) -> TestRoot {
        TestRoot::new()
            .with("proc/self/cgroup", format!("0::{group}\n"))
            .with("sys/fs/cgroup/cgroup.controllers", "cpu memory\n")
    }

    #[test]
    fn lowest_limit_up_to_the_root_counts() {
        let planted = version_two("/user.slice/a.scope")
            .with("sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n")
            .with("sys/fs/cgroup/user.slice/memory.max", "max\n")
            .with("sys/fs/cgroup/user.slice/a.scope/cpu.max", "max 100000\n")
            .with("sys/fs/cgroup/user.slice/a.scope/memory.max", "1073741824\n");
        check(planted, [Some("v2"), Some("1.5"), Some("1073741824")]);
        check(version_two("/user.slice"), [Some("v2"), Some("none"), Some("none")]);
    }

    #[test]
    fn a_path_of_the_host_does_not_hide_the_limit_of_the_container() {
        let planted = version_two("/../../system.slice/docker-1.scope")
            .with("sys/fs/cgroup/cpu.max", "50000 100000\n")
            .with("sys/fs/cgroup/memory.max", "536870912\n");
        check(planted, [Some("v2"), Some("0.5"), Some("536870912")]);
    }

    #[test]
    fn version_one_has_a_hierarchy_per_controller() {
        let planted = TestRoot::new()
            .with("proc/self/cgroup", "4:memory:/d\n3:cpu,cpuacct:/d\n1:name=systemd:/\n0::/\n")
            .with("sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_quota_us", "200000\n")
            .with("sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_period_us", "100000\n")
            .with("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        check(planted, [Some("v1"), Some("2"), Some("none")]);
        let unlimited = TestRoot::new()
            .with("proc/self/cgroup", "3:cpu:/\n")
            .with("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
            .with("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        check(unlimited, [Some("v1"), Some("none"), None]);
    }

    #[test]
    fn hybrid_cgroup_tree_uses_controllers_of_version_one() {
        let planted = TestRoot::new()
            .with("proc/self/cgroup", "3:cpu:/d\n0::/d\n")
            .with("sys/fs/cgroup/cpu/d/cpu.cfs_quota_us", "50000\n")
            .with("sys/fs/cgroup/cpu/d/cpu.cfs_period_us", "100000\n")
            .with("sys/fs/cgroup/unified/cgroup.controllers", "memory\n")
            .with("sys/fs/cgroup/unified/d/memory.max", "4096\n");
        check(planted, [Some("v1"), Some("0.5"), Some("4096")]);
    }

    #[test]
    fn missing_files_leave_facts_unknown() {
        check(TestRoot::new(), [None; 3]);
        check(TestRoot::new().with("proc/self/cgroup", "0::/a\n"), [None; 3]);
        let odd = version_two("/a").with("sys/fs/cgroup/a/cpu.max", "1 0\n");
        check(odd, [Some("v2"), Some("none"), Some("none")]);
    }
}
