//! The kernel's mitigations of processor flaws. They slow down system calls, and therefore every
//! request over a socket.

use record::environment::{NONE, host};

use super::fact::Fact;
use super::root::Root;

/// Folder with one file for each flaw (Linux, Documentation/ABI/testing/sysfs-devices-system-cpu).
const FLAWS_FOLDER: &str = "sys/devices/system/cpu/vulnerabilities";

pub(super) fn facts(root: &Root) -> [Fact; 1] {
    [(host::CPU_MITIGATIONS, summary(root))]
}

/// Returns a summary such as `7 mitigated, 2 vulnerable (mds, retbleed)`. Flaws that the processor
/// does not have are left out.
fn summary(root: &Root) -> Option<String> {
    let names = root.names(FLAWS_FOLDER);
    let flaws = names.iter().filter_map(|name| {
        let line = root.line(&format!("{FLAWS_FOLDER}/{name}"))?;
        Some((name.as_str(), State::of(&line)))
    });
    let flaws: Vec<(&str, State)> = flaws.collect();
    if flaws.is_empty() {
        return None;
    }
    let with = |state: State| -> Vec<&str> {
        flaws.iter().filter(|(_, found)| *found == state).map(|(name, _)| *name).collect()
    };
    let mut parts = Vec::new();
    for (state, words) in [
        (State::Mitigated, "mitigated"),
        (State::Vulnerable, "vulnerable"),
        (State::Unknown, "in doubt"),
    ] {
        match (with(state).as_slice(), state) {
            ([], _) => {}
            (some, State::Mitigated) => parts.push(format!("{} {words}", some.len())),
            (some, _) => parts.push(format!("{} {words} ({})", some.len(), some.join(", "))),
        }
    }
    Some(if parts.is_empty() { NONE.to_owned() } else { parts.join(", ") })
}

/// State of a flaw, as the kernel reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotAffected,
    Mitigated,
    Vulnerable,
    Unknown,
}

impl State {
    fn of(line: &str) -> State {
        let line = line.strip_prefix("KVM: ").unwrap_or(line);
        let begins = [
            ("Not affected", State::NotAffected),
            ("Mitigation", State::Mitigated),
            ("Vulnerable", State::Vulnerable),
            ("Processor vulnerable", State::Vulnerable),
        ];
        let found = begins.into_iter().find(|(begin, _)| line.starts_with(begin));
        found.map_or(State::Unknown, |(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    fn planted(flaws: &[(&str, &str)]) -> Option<String> {
        let plant = |planted: TestRoot, (name, line): &(&str, &str)| {
            planted.with(&format!("{FLAWS_FOLDER}/{name}"), line)
        };
        summary(&flaws.iter().fold(TestRoot::new(), plant).root)
    }

    #[test]
    fn mitigated_flaws_are_counted_and_others_named() {
        let flaws = [
            ("itlb_multihit", "KVM: Mitigation: VMX disabled\n"),
            ("l1tf", "Not affected\n"),
            ("mds", "Vulnerable: Clear CPU buffers attempted, no microcode; SMT Host state\n"),
            ("meltdown", "Mitigation: PTI\n"),
            ("retbleed", "Vulnerable\n"),
            ("spectre_v2", "Mitigation: Retpolines; STIBP: disabled\n"),
            ("vmscape", "Unknown: Dependent on hypervisor status\n"),
        ];
        let expected = "3 mitigated, 2 vulnerable (mds, retbleed), 1 in doubt (vmscape)";
        assert_eq!(planted(&flaws).as_deref(), Some(expected));
    }

    #[test]
    fn a_processor_without_flaws_needs_nothing() {
        assert_eq!(planted(&[("meltdown", "Not affected\n")]).as_deref(), Some(NONE));
        assert_eq!(planted(&[]), None);
        assert_eq!(planted(&[("meltdown", "\n")]), None);
    }
}
