//! The environment of a run: every setting and fact of its record, grouped by subject.

use record::environment::{HOST, SERVER, SIMULATED_SERVER, host};

use super::fact_group::{FactGroup, group_facts};
use super::facts::{FactTable, tables};
use super::remark::Remark;
use crate::view::RunDetails;

/// Settings and facts of a record: the run, the machine, the load generator's overhead on it, the
/// network, the observation, and each server.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// All settings and facts: names and values.
    pub facts: Vec<(String, String)>,
    /// Settings and facts by subject.
    pub subjects: Vec<Subject>,
    /// Settings and facts for a page: those that differ from the default first, values with their
    /// units.
    pub tables: Vec<FactTable>,
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
        let subjects = group_facts(facts.clone()).into_iter().map(subject).collect();
        let tables = tables(&facts);
        let has_host = facts.iter().any(|(name, _)| name.starts_with(HOST));
        let note = (!has_host).then(|| {
            Remark::note(match about.is_virtual {
                true => "in virtual time nothing of the machine is in a record",
                false => "nothing of the machine is in this record",
            })
        });
        Environment { facts, subjects, tables, note }
    }
}

/// Returns the measured system in words: the server, and the machine of the load generator. `value`
/// returns a setting by its name. Returns `None` if the record describes neither of them.
pub(crate) fn measured_on(value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let processors = value(host::CPU_LOGICAL).map(|number| match number.as_str() {
        "1" => "1 processor".to_owned(),
        number => format!("{number} processors"),
    });
    let machine = [processors, value(host::CPU_MODEL), value(host::DISTRIBUTION)];
    let machine: Vec<String> = machine.into_iter().flatten().collect();
    let machine = (!machine.is_empty()).then(|| format!("generator on {}", machine.join(", ")));
    let server = value(SERVER).map(|server| match server.as_str() {
        SIMULATED_SERVER => "a simulated server, no database".to_owned(),
        _ => server,
    });
    let parts: Vec<String> = [server, machine].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_says_that_a_simulated_server_is_no_database() {
        let words =
            |server: &str| measured_on(|name| (name == "server").then(|| server.to_owned()));
        assert_eq!(words("simulated").unwrap(), "a simulated server, no database");
        assert_eq!(words("PostgreSQL 17.5").unwrap(), "PostgreSQL 17.5");
    }
}
