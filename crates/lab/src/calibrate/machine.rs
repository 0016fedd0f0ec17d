//! The identity of the machine for which a calibration is valid.

use std::path::Path;

use base::text_hash;
use observe::environment::{self, Root};
use record::environment::{UNKNOWN, host, known};

/// The facts that identify a machine. A reboot or a container may change some of them, and the time
/// that a request takes may then change as well.
const FACTS: [&str; 9] = [
    host::ARCHITECTURE,
    host::CLOCK_SOURCE,
    host::CPU_GOVERNOR,
    host::CPU_LOGICAL,
    host::CPU_MITIGATIONS,
    host::CPU_MODEL,
    host::KERNEL,
    host::VIRTUALISATION_CONTAINER,
    host::VIRTUALISATION_HYPERVISOR,
];

/// A machine, identified by facts that include neither host name nor user name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine(Vec<(String, String)>);

impl Machine {
    /// Returns the machine that this process runs on.
    pub fn here() -> Machine {
        Machine::below(&Root::system())
    }

    /// Returns the machine whose system files are below `root`.
    pub fn below(root: &Root) -> Machine {
        Machine::of(&environment::read(root, Path::new("/")))
    }

    /// Returns the machine with these facts; other facts are ignored.
    pub fn of(facts: &[(String, String)]) -> Machine {
        let value = |name: &str| known(facts, name).unwrap_or(UNKNOWN).to_owned();
        Machine(FACTS.map(|name| (name.to_owned(), value(name))).to_vec())
    }

    /// Returns the identifying facts as pairs of name and value.
    pub fn facts(&self) -> &[(String, String)] {
        &self.0
    }

    /// Returns a short identifier: the FNV-1a hash of the facts, in 16 hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        let facts = self.0.iter();
        let text: String = facts.map(|(name, value)| format!("{name}={value}\n")).collect();
        format!("{:016x}", text_hash(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_distinguished_by_performance_facts() {
        let facts = |model: &str, load: &str| {
            let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            Machine::of(&[pair("host.cpu.model", model), pair("host.load.1m", load)])
        };
        assert_eq!(facts("A", "0.1").fingerprint(), facts("A", "7.0").fingerprint());
        assert_ne!(facts("A", "0.1").fingerprint(), facts("B", "0.1").fingerprint());
        assert_eq!(facts("A", "").fingerprint().len(), 16);
        assert_eq!(facts("A", "").facts().len(), FACTS.len());
    }

    #[test]
    fn machine_equals_itself() {
        assert_eq!(Machine::here(), Machine::here());
    }
}
