//! Facts by their subjects: the run, the machine, the calibration, the network, the observation,
//! and each server.

use std::collections::BTreeMap;

use record::environment::{ASSAY, CALIBRATION, DATABASE, GENERATOR, HOST, NETWORK, OBSERVE};

/// The subject of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group<'a> {
    Assay,
    Host,
    Calibration,
    Network,
    Observation,
    Server,
    /// The server of a target with this name.
    Target(&'a str),
}

fn group(name: &str) -> Group<'_> {
    // No target has the name of a group of facts, such as `host` or `network`. A setting of the
    // main server that lacks the prefix `database.` has no dot in its name.
    match name.split_once('.') {
        Some(_) if name.starts_with(ASSAY) || name.starts_with(GENERATOR) => Group::Assay,
        Some(_) if name.starts_with(HOST) => Group::Host,
        Some(_) if name.starts_with(CALIBRATION) => Group::Calibration,
        Some(_) if name.starts_with(NETWORK) => Group::Network,
        Some(_) if name.starts_with(OBSERVE) => Group::Observation,
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

/// Groups facts by their subjects. The facts about a subject keep their order.
pub(crate) fn group_facts<V>(facts: Vec<(String, V)>) -> Vec<FactGroup<V>> {
    // The order of the report; targets are in the order of their names.
    let place = |group: &Group<'_>| match group {
        Group::Assay => 0,
        Group::Host => 1,
        Group::Calibration => 2,
        Group::Network => 3,
        Group::Observation => 4,
        Group::Server => 5,
        Group::Target(_) => 6,
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
        Group::Observation => "Observation".to_owned(),
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

    #[test]
    fn facts_about_the_observation_are_no_settings_of_a_server() {
        let facts = ["observe.command", "observe.missing.sessions", "observe.load.missing.t.host"];
        let groups = group_facts(facts.map(|name| (name.to_owned(), "x")).to_vec());
        let [group] = groups.as_slice() else { panic!("{} groups", groups.len()) };
        assert_eq!((group.heading.as_str(), group.is_server), ("Observation", false));
        assert_eq!(group.facts.len(), facts.len());
    }
}
