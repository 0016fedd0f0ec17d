//! Facts by their subjects: the run, the machine, the network, and each server.

use std::collections::BTreeMap;

use record::environment::{ASSAY, CALIBRATION, DATABASE, GENERATOR, HOST, NETWORK};

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
    // No target is named like a group of facts (machine, network or servers), and the settings that
    // every server reports have no dot in their names.
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
pub(crate) fn group_facts<V>(facts: Vec<(String, V)>) -> Vec<FactGroup<V>> {
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
        let groups = group_facts(settings).into_iter();
        let headings: Vec<String> = groups.map(|it| it.heading).collect();
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
