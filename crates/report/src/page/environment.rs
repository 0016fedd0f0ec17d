//! The surroundings of a run: every setting and fact of its record, grouped by subject.

use record::environment::{ASSAY, CALIBRATION, DATABASE, GENERATOR, HOST, NETWORK};

use super::remark::Remark;
use crate::view::RunDetails;

/// Settings and facts of a record: the run, the machine, the load generator's overhead on it, the
/// network, and each server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// All settings and facts: names and values.
    pub facts: Vec<(String, String)>,
    /// The same, by subject.
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
        let subject = |(heading, belongs): (String, Group<'_>)| {
            let its = facts.iter().filter(|(name, _)| group(name) == belongs);
            Subject { heading, facts: its.cloned().collect() }
        };
        let subjects = groups(&facts).into_iter().map(subject).collect();
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

/// Returns the non-empty groups, each with its heading.
fn groups(settings: &[(String, String)]) -> Vec<(String, Group<'_>)> {
    let mut found: Vec<Group<'_>> = settings.iter().map(|(name, _)| group(name)).collect();
    let place = |group: &Group<'_>| match group {
        Group::Assay => 0,
        Group::Host => 1,
        Group::Calibration => 2,
        Group::Network => 3,
        Group::Server => 4,
        Group::Target(_) => 5,
    };
    // Settings are sorted by name, so those of one target are adjacent.
    found.sort_by_key(place);
    found.dedup();
    found.into_iter().map(|group| (heading(group), group)).collect()
}

/// Returns the name of the subject of a setting or fact.
pub(crate) fn subject_of(name: &str) -> String {
    heading(group(name))
}

fn heading(group: Group<'_>) -> String {
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
        let settings = settings.map(|name| (name.to_owned(), "x".to_owned()));
        let headings: Vec<String> = groups(&settings).into_iter().map(|(text, _)| text).collect();
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
