//! The surroundings of a run: every setting and fact of its record, grouped by subject.

use std::collections::BTreeMap;

use record::environment::{ASSAY, CALIBRATION, DATABASE, GENERATOR, HOST, NETWORK};

use super::remark::Remark;
use crate::view::RunDetails;

/// Settings and facts of a record: the run, the machine, the load generator's overhead on it, the
/// network, and each server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// All settings and facts: names and values.
    pub facts: Vec<(String, String)>,
    /// Settings and facts by subject.
    pub subjects: Vec<Subject>,
    /// Note on a record without facts of the machine.
    pub note: Option<Remark>,
}

/// Facts about one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Name of the subject.
    pub heading: String,
    /// Names and values.
    pub facts: Vec<(String, String)>,
}

impl Environment {
    /// Returns the environment of a run.
    pub fn of(about: &RunDetails) -> Environment {
        let facts = [about.program_facts(), about.settings.clone()].concat();
        let subject =
            |FactGroup { heading, facts, .. }: FactGroup<String>| Subject { heading, facts };
        let subjects = grouped(facts.clone()).into_iter().map(subject).collect();
        let has_host = facts.iter().any(|(name, _)| name.starts_with(HOST));
        let note = (!has_host).then(|| {
            Remark::note(match about.is_virtual {
                true => "in virtual time nothing of the machine is in a record",
                false => "nothing of the machine is in this record",
            })
        });
        Environment { facts, subjects, note }
    }
}

/// The subject of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group<'a> {
    Assay,
    Host,
    Calibration,
    Network,
    Server,
    /// The server of a target with this name.
    Target(&'a str),
}

fn group(name: &str) -> Group<'_> {
    // No target has the name of a group of facts (machine, network or servers), and no setting that
    // every server reports has a dot.
    match name.split_once('.') {
        Some(_) if name.starts_with(ASSAY) || name.starts_with(GENERATOR) => Group::Assay,
        Some(_) if name.starts_with(HOST) => Group::Host,
        Some(_) if name.starts_with(CALIBRATION) => Group::Calibration,
        Some(_) if name.starts_with(NETWORK) => Group::Network,
        Some(_) if name.starts_with(DATABASE) => Group::Server,
        Some((target, _)) => Group::Target(target),
        None => Group::Server,
    }
}

/// Facts about one subject, with values of any kind.
pub(crate) struct FactGroup<V> {
    pub(crate) heading: String,
    /// True for the settings of a server.
    pub(crate) is_server: bool,
    /// Names and values.
    pub(crate) facts: Vec<(String, V)>,
}

/// Divides facts, which are sorted by name, by their subjects.
pub(crate) fn grouped<V>(facts: Vec<(String, V)>) -> Vec<FactGroup<V>> {
    // The order of the report; targets are in the order of their names.
    let place = |group: &Group<'_>| match group {
        Group::Assay => 0,
        Group::Host => 1,
        Group::Calibration => 2,
        Group::Network => 3,
        Group::Server => 4,
        Group::Target(_) => 5,
    };
    let mut groups: BTreeMap<(u8, String), FactGroup<V>> = BTreeMap::new();
    for (name, value) in facts {
        let group = group(&name);
        let (place, heading) = (place(&group), heading(&group));
        let is_server = matches!(group, Group::Server | Group::Target(_));
        let found = groups.entry((place, heading.clone()));
        let of_group = found.or_insert(FactGroup { heading, is_server, facts: Vec::new() });
        of_group.facts.push((name, value));
    }
    groups.into_values().collect()
}

/// The setting `server` of a simulated server.
const SIMULATED: &str = "simulated";

/// Returns the measured system in words: the server, and the machine of the load generator. `value`
/// returns a setting by its name. `None` if the record has none of them.
pub(crate) fn measured_on(value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let processors = value("host.cpu.logical").map(|number| match number.as_str() {
        "1" => "1 processor".to_owned(),
        number => format!("{number} processors"),
    });
    let machine = [processors, value("host.cpu.model"), value("host.distribution")];
    let machine: Vec<String> = machine.into_iter().flatten().collect();
    let machine = (!machine.is_empty()).then(|| format!("generator on {}", machine.join(", ")));
    let server = value("server").map(|server| match server.as_str() {
        SIMULATED => "a simulated server, no database".to_owned(),
        _ => server,
    });
    let parts: Vec<String> = [server, machine].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns the name of the subject of a setting or fact.
pub(crate) fn subject_of(name: &str) -> String {
    heading(&group(name))
}

fn heading(group: &Group<'_>) -> String {
    match group {
        Group::Assay => "Assay and its options".to_owned(),
        Group::Host => "Host".to_owned(),
        Group::Calibration => "Load generator on it, by assay calibrate".to_owned(),
        Group::Network => "Network".to_owned(),
        Group::Server => "Server".to_owned(),
        Group::Target(name) => format!("Server of [target {name}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_server_is_said_to_be_no_database() {
        let words =
            |server: &str| measured_on(|name| (name == "server").then(|| server.to_owned()));
        assert_eq!(words("simulated").unwrap(), "a simulated server, no database");
        assert_eq!(words("PostgreSQL 17.5").unwrap(), "PostgreSQL 17.5");
    }

    #[test]
    fn settings_are_grouped_by_subject() {
        let settings = [
            "assay.seed",
            "generator.spin",
            "calibration.taken",
            "copy.database.size_bytes",
            "copy.fsync",
            "database.size_bytes",
            "fsync",
            "host.kernel",
            "log.server",
            "network.path",
        ];
        let settings = settings.map(|name| (name.to_owned(), "x")).to_vec();
        let headings: Vec<String> = grouped(settings).into_iter().map(|it| it.heading).collect();
        let expected = [
            "Assay and its options",
            "Host",
            "Load generator on it, by assay calibrate",
            "Network",
            "Server",
            "Server of [target copy]",
            "Server of [target log]",
        ];
        assert_eq!(headings, expected);
    }
}
