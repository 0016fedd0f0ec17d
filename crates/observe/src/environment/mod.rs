//! The environment of a run, and its comparison with the environment of another run.
//!
//! [`read`] returns the facts of the machine; each source is one file of this module.
//! [`network::read`] returns the facts of the path to a server. A fact is a name, such as
//! `host.cpu.governor`, and a value. Invariant: in the result of [`read`], every name is always
//! present. A fact that cannot be read is [`UNKNOWN`], whatever the reason: missing permission, a
//! container without the file, invalid content. This result depends only on the files below a
//! folder, `/` except in tests: reading starts no process and does not wait. [`differences`]
//! compares the environments of two runs.

pub(crate) mod cgroup;
mod clock;
mod comparison;
mod fact;
mod kernel;
mod load;
mod memory;
mod mitigations;
pub mod network;
mod processor;
mod root;
mod storage;
mod virtualisation;

use std::path::Path;

use base::printable;
use record::environment::UNKNOWN;

pub use comparison::{Difference, Kind, RULES, Rule, differences};
use fact::Fact;
pub use root::Root;

/// Maximum number of characters of a value; longer ones are cut.
const LONGEST_VALUE: usize = 200;

/// Reads all facts of the machine. `folder` is the folder of the record, an absolute path as seen
/// from `root`.
pub fn read(root: &Root, folder: &Path) -> Vec<(String, String)> {
    let mut facts: Vec<Fact> = Vec::new();
    // The load averages are read first, because reading the other facts raises them.
    facts.extend(load::facts(root));
    facts.extend(kernel::facts(root));
    facts.extend(processor::facts(root));
    facts.extend(mitigations::facts(root));
    facts.extend(memory::facts(root));
    facts.extend(cgroup::facts(root));
    facts.extend(clock::facts(root));
    facts.extend(storage::facts(root, folder));
    facts.extend(network::facts(root));
    facts.extend(virtualisation::facts(root));
    facts.into_iter().map(|(name, value)| (name.to_owned(), fact_value(value))).collect()
}

/// Returns a value in the form in which it is stored: one line without control characters, or
/// [`UNKNOWN`].
fn fact_value(value: Option<String>) -> String {
    let line = value.map(|value| printable(value.trim()).chars().take(LONGEST_VALUE).collect());
    line.filter(|line: &String| !line.is_empty()).unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use record::environment::{host, is_environment_fact, known};

    use super::*;

    /// A folder that takes the place of `/`, and is removed with its content when dropped.
    pub(crate) struct TestRoot {
        folder: PathBuf,
        pub(crate) root: Root,
    }

    impl TestRoot {
        pub(crate) fn new() -> TestRoot {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("assay-observe-{}-{number}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            TestRoot { root: Root::new(&folder), folder }
        }

        /// Adds a file with this content.
        pub(crate) fn with(self, path: &str, content: impl AsRef<[u8]>) -> TestRoot {
            let path = self.folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
            self
        }

        /// Adds a symbolic link, whose target need not exist.
        pub(crate) fn with_link(self, path: &str, target: &str) -> TestRoot {
            let path = self.folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, path).unwrap();
            self
        }
    }

    impl Drop for TestRoot {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    /// Returns the value of one fact.
    #[track_caller]
    pub(in crate::environment) fn value(facts: &[Fact], name: &str) -> Option<String> {
        let fact = facts.iter().find(|(known, _)| *known == name);
        fact.unwrap_or_else(|| panic!("there is no `{name}`")).1.clone()
    }

    /// Plants most of the files that are read for facts, with this content.
    fn flooded(content: &[u8]) -> TestRoot {
        [
            "proc/loadavg",
            "proc/cpuinfo",
            "proc/meminfo",
            "proc/swaps",
            "proc/self/cgroup",
            "proc/self/limits",
            "proc/self/mountinfo",
            "proc/self/status",
            "proc/self/timerslack_ns",
            "proc/1/cgroup",
            "proc/sys/kernel/osrelease",
            "proc/sys/kernel/ostype",
            "proc/sys/kernel/version",
            "proc/sys/net/ipv4/ip_local_port_range",
            "proc/sys/net/ipv4/tcp_congestion_control",
            "proc/sys/vm/swappiness",
            "etc/os-release",
            "run/systemd/container",
            "sys/class/dmi/id/sys_vendor",
            "sys/class/dmi/id/product_name",
            "sys/devices/system/clocksource/clocksource0/available_clocksource",
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "sys/devices/system/cpu/cpu0/topology/core_cpus_list",
            "sys/devices/system/cpu/cpu0/topology/physical_package_id",
            "sys/devices/system/cpu/cpufreq/boost",
            "sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
            "sys/devices/system/cpu/cpuidle/current_driver",
            "sys/devices/system/cpu/intel_pstate/no_turbo",
            "sys/devices/system/cpu/online",
            "sys/devices/system/cpu/smt/active",
            "sys/devices/system/cpu/vulnerabilities/meltdown",
            "sys/devices/system/node/online",
            "sys/fs/cgroup/cgroup.controllers",
            "sys/fs/cgroup/cpu.max",
            "sys/fs/cgroup/memory.max",
            "sys/hypervisor/type",
            "sys/kernel/mm/transparent_hugepage/enabled",
        ]
        .into_iter()
        .fold(TestRoot::new(), |planted, path| planted.with(path, content))
    }

    #[test]
    fn unreadable_facts_are_listed_as_unknown() {
        let facts = read(&TestRoot::new().root, Path::new("/home/ann"));
        for (name, value) in &facts {
            let compiled_in = name == "host.architecture";
            assert!(value == UNKNOWN || compiled_in, "{name} = {value}");
            assert!(is_environment_fact(name), "{name}");
        }
        let mut names: Vec<&str> = facts.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let mut expected = host::ALL.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    #[test]
    fn invariant_7_no_content_of_any_file_makes_the_reading_panic() {
        let numbers = "18446744073709551615 18446744073709551615 99999999999999999999 -1 0\n";
        let contents: [&[u8]; 9] = [
            b"",
            b"\n\n\n",
            b"\xff\xfe\x00\x01",
            b"a: b: c\nd\n: \n[",
            b"[] ] [ 0-0-0,,-1,9-3",
            b"0-4294967295,0-99999999999999999999",
            b"max max\n1:cpu,memory:/../../..\n0::/a/b/c\n",
            b"1 2 99999:99999 / / - - - -\n36 35 8:1 / / rw - ext4\n",
            numbers.as_bytes(),
        ];
        let names = read(&TestRoot::new().root, Path::new("/")).len();
        for content in contents {
            let facts = read(&flooded(content).root, Path::new("relative/../folder"));
            assert_eq!(facts.len(), names);
            for (name, value) in facts {
                assert!(!value.is_empty() && !value.contains(char::is_control), "{name}: {value}");
            }
        }
    }

    #[test]
    fn the_facts_of_this_machine_can_be_read() {
        let facts = read(&Root::system(), Path::new("/"));
        assert!(known(&facts, "host.kernel").is_some_and(|kernel| kernel.starts_with("Linux")));
        assert_eq!(known(&facts, "host.no.such.fact"), None);
    }

    #[test]
    fn a_value_is_one_short_line() {
        assert_eq!(fact_value(Some(" a\tb\u{1b}[0m \n".to_owned())), "a b\u{fffd}[0m");
        assert_eq!(fact_value(Some("x".repeat(10_000))).len(), LONGEST_VALUE);
        for nothing in [None, Some(String::new()), Some(" \n".to_owned())] {
            assert_eq!(fact_value(nothing), UNKNOWN);
        }
    }
}
