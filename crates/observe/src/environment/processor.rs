//! The processors: their model, their number, and the settings for their clock rate.

use std::collections::BTreeSet;

use record::environment::host;

use super::fact::Fact;
use super::root::Root;

/// Folder in which the kernel lists processors.
const CPU: &str = "sys/devices/system/cpu";

/// Number of bytes of `/proc/cpuinfo` that are read. They contain the first processor with all of
/// its flags. The kernel may take milliseconds for each further processor, which it measures during
/// the read.
const FIRST_PROCESSOR_BYTES: u64 = 8 << 10;

/// Maximum number of processors that a list may name. Linux can be built for up to 8,192.
const MAX_PROCESSORS: u64 = 65_536;

pub(super) fn facts(root: &Root) -> [Fact; 12] {
    let info = first_processor(root);
    let processors = processors(root);
    let topology = |name: &str| {
        let paths = processors.iter().map(|cpu| format!("{CPU}/{cpu}/topology/{name}"));
        distinct_lines(root, paths)
    };
    let count = |values: BTreeSet<String>| (!values.is_empty()).then(|| values.len().to_string());
    let policies = || {
        let names = root.names(&format!("{CPU}/cpufreq")).into_iter();
        names.filter(|name| name.starts_with("policy"))
    };
    let policy = |name: &str| {
        let paths = policies().map(|policy| format!("{CPU}/cpufreq/{policy}/{name}"));
        let values = distinct_lines(root, paths);
        let values: Vec<String> = values.into_iter().collect();
        (!values.is_empty()).then(|| values.join(", "))
    };
    [
        (
            host::CPU_MODEL,
            ["model name", "cpu model", "Model"].iter().find_map(|key| info.get(key)),
        ),
        (host::CPU_LOGICAL, online_processors(root).map(|count| count.to_string())),
        (host::CPU_PHYSICAL, count(topology("core_cpus_list"))),
        (host::CPU_SOCKETS, count(topology("physical_package_id"))),
        (host::CPU_ALLOWED, allowed_processors(root)),
        (host::CPU_SMT, read_switch(root, "smt/active", ["0", "1"])),
        (host::CPU_GOVERNOR, policy("scaling_governor")),
        (host::CPU_DRIVER, policy("scaling_driver")),
        (host::CPU_MAX_KHZ, policy("cpuinfo_max_freq")),
        (host::CPU_TURBO, turbo(root)),
        (host::CPU_MICROCODE, info.get("microcode")),
        (host::NUMA_NODES, count_in_file(root, "sys/devices/system/node/online")),
    ]
}

/// Returns the number of processors that are online.
pub(super) fn online_processors(root: &Root) -> Option<u64> {
    count_in_list(&root.line(&format!("{CPU}/online"))?)
}

fn count_in_file(root: &Root, path: &str) -> Option<String> {
    count_in_list(&root.line(path)?).map(|count| count.to_string())
}

/// Returns `off` or `on` for a file that contains one of two numbers.
fn read_switch(root: &Root, path: &str, [off, on]: [&str; 2]) -> Option<String> {
    let found = root.line(&format!("{CPU}/{path}"))?;
    let word = [(off, "off"), (on, "on")].into_iter().find(|(number, _)| *number == found)?.1;
    Some(word.to_owned())
}

/// Returns `on` if the clock rate of a processor may rise above the nominal one while others are
/// idle. Intel's driver has a separate switch, whose values have the opposite meaning.
fn turbo(root: &Root) -> Option<String> {
    read_switch(root, "intel_pstate/no_turbo", ["1", "0"])
        .or_else(|| read_switch(root, "cpufreq/boost", ["0", "1"]))
}

/// Returns the list of processors that this process may use.
fn allowed_processors(root: &Root) -> Option<String> {
    let status = root.text("proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

/// Returns the names of the processors' folders.
fn processors(root: &Root) -> Vec<String> {
    let number = |name: &str| name.strip_prefix("cpu")?.parse::<u32>().ok();
    root.names(CPU).into_iter().filter(|name| number(name).is_some()).collect()
}

/// Returns the distinct first lines of some files.
fn distinct_lines(root: &Root, paths: impl Iterator<Item = String>) -> BTreeSet<String> {
    paths.filter_map(|path| root.line(&path)).collect()
}

/// Counts the numbers in a list such as `0-3,8`.
fn count_in_list(list: &str) -> Option<u64> {
    let mut count: u64 = 0;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count += u64::from(last.checked_sub(first)?) + 1;
        if count > MAX_PROCESSORS {
            return None;
        }
    }
    Some(count)
}

/// Fields of the first processor in `/proc/cpuinfo`.
#[derive(Default)]
pub(super) struct Info(Vec<(String, String)>);

impl Info {
    pub(super) fn get(&self, key: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }
}

/// Reads the first block of `/proc/cpuinfo`, whose lines are `key : value`.
pub(super) fn first_processor(root: &Root) -> Info {
    let text = root.text_prefix("proc/cpuinfo", FIRST_PROCESSOR_BYTES).unwrap_or_default();
    let pair = |line: &str| {
        let (key, value) = line.split_once(':')?;
        Some((key.trim().to_owned(), value.trim().to_owned()))
    };
    Info(text.lines().take_while(|line| !line.trim().is_empty()).filter_map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::{TestRoot, value};

    /// Plants two cores of two threads each in one socket, with Intel's driver.
    fn laptop() -> TestRoot {
        let model = "processor\t: 0\nmodel name\t: Intel(R) Core(TM) i5\nmicrocode\t: 0xf6\n\n";
        let other = "processor\t: 1\nmodel name\t: another\n";
        let mut planted = TestRoot::new()
            .with("proc/cpuinfo", format!("{model}{other}"))
            .with("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1,3\n")
            .with("sys/devices/system/cpu/online", "0-3\n")
            .with("sys/devices/system/cpu/smt/active", "1\n")
            .with("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")
            .with("sys/devices/system/cpu/cpuidle/current_driver", "none\n")
            .with("sys/devices/system/node/online", "0\n");
        for (cpu, core) in [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")] {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}/topology");
            let policy = format!("sys/devices/system/cpu/cpufreq/policy{cpu}");
            let governor = if cpu == 3 { "performance\n" } else { "powersave\n" };
            planted = planted
                .with(&format!("{folder}/core_cpus_list"), core)
                .with(&format!("{folder}/physical_package_id"), "0\n")
                .with(&format!("{policy}/scaling_governor"), governor)
                .with(&format!("{policy}/scaling_driver"), "intel_pstate\n");
        }
        planted
    }

    #[test]
    fn processors_cores_and_sockets_are_counted() {
        let planted = laptop();
        let facts = facts(&planted.root);
        for (name, expected) in [
            ("host.cpu.model", Some("Intel(R) Core(TM) i5")),
            ("host.cpu.microcode", Some("0xf6")),
            ("host.cpu.logical", Some("4")),
            ("host.cpu.physical", Some("2")),
            ("host.cpu.sockets", Some("1")),
            ("host.cpu.allowed", Some("0-1,3")),
            ("host.cpu.smt", Some("on")),
            ("host.cpu.governor", Some("performance, powersave")),
            ("host.cpu.driver", Some("intel_pstate")),
            ("host.cpu.max_khz", None),
            ("host.cpu.turbo", Some("off")),
            ("host.numa.nodes", Some("1")),
        ] {
            assert_eq!(value(&facts, name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn turbo_has_two_switches() {
        let turbo = |path: &str, content: &str| {
            let path = format!("sys/devices/system/cpu/{path}");
            super::turbo(&TestRoot::new().with(&path, content).root)
        };
        assert_eq!(turbo("cpufreq/boost", "1\n").as_deref(), Some("on"));
        assert_eq!(turbo("cpufreq/boost", "0").as_deref(), Some("off"));
        assert_eq!(turbo("intel_pstate/no_turbo", "0\n").as_deref(), Some("on"));
        assert_eq!(turbo("intel_pstate/no_turbo", "perhaps"), None);
    }

    #[test]
    fn lists_of_processors_are_counted_or_unknown() {
        for (list, expected) in [("0", 1), ("0-3", 4), ("0-3,8,10-11", 7)] {
            assert_eq!(count_in_list(list), Some(expected), "{list}");
        }
        for odd in ["", "a", "3-1", "0-", "-", "0-4294967295", "0-99999999999", "0,,1"] {
            assert_eq!(count_in_list(odd), None, "{odd}");
        }
    }
}
