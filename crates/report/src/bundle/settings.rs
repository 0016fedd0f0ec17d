//! The settings of every system of a bundle, as a table.

use record::environment::host;

use crate::html::csv;
use crate::page::subject_of;

/// The environment of one run of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledRun {
    /// Number of the run in an experiment; `None` if the record has a single run.
    pub run: Option<u32>,
    /// Arm of the run; empty if the record has a single run.
    pub arm: String,
    /// Names and values: settings of the servers, and facts about the environment.
    pub facts: Vec<(String, String)>,
}

/// A fact of an arm, with the runs that have it.
struct Row<'r> {
    arm: &'r str,
    name: &'r str,
    value: &'r str,
    runs: Vec<u32>,
}

/// Formats all facts and settings as CSV: one row for each distinct value of a fact in an arm, with
/// the numbers of the runs that have this value.
pub fn bundle_settings(runs: &[BundledRun]) -> String {
    let mut rows = rows(runs);
    rows.sort_by(|one, other| (one.arm, one.name).cmp(&(other.arm, other.name)));
    let cells = |row: &Row<'_>| {
        let system = subject_of(row.name);
        vec![
            row.arm.to_owned(),
            ranges(&row.runs),
            system,
            row.name.to_owned(),
            row.value.to_owned(),
        ]
    };
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    csv(&["arm", "runs", "system", "name", "value"], &cells)
}

/// Returns the different facts of each arm.
fn rows(runs: &[BundledRun]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for run in runs {
        for (name, value) in &run.facts {
            let key = (run.arm.as_str(), name.as_str(), value.as_str());
            let place = *known.entry(key).or_insert_with(|| {
                rows.push(Row { arm: &run.arm, name, value, runs: Vec::new() });
                rows.len() - 1
            });
            rows[place].runs.extend(run.run);
        }
    }
    rows
}

/// Returns the values of the facts that name versions: of the servers and of the system. Values
/// that differ between runs are separated by commas.
pub(super) fn versions(runs: &[BundledRun]) -> Vec<(String, String)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, value) in runs.iter().flat_map(|run| &run.facts).filter(|(name, _)| is_version(name))
    {
        match found.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) if values.contains(&value.as_str()) => {}
            Some((_, values)) => values.push(value),
            None => found.push((name.clone(), vec![value])),
        }
    }
    found.sort();
    found.into_iter().map(|(name, values)| (name, values.join(", "))).collect()
}

fn is_version(name: &str) -> bool {
    let of_server = |name: &str| name == "server";
    of_server(name)
        || matches!(name, host::KERNEL | host::DISTRIBUTION)
        // A named target's fact has the name of the target before a dot.
        || name.split_once('.').is_some_and(|(_, setting)| of_server(setting))
}

/// Formats ascending numbers as ranges: `1-3 5`.
fn ranges(numbers: &[u32]) -> String {
    let chunks = numbers.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    let texts = chunks.map(|chunk| match chunk {
        [first, .., last] => format!("{first}-{last}"),
        [only] => only.to_string(),
        [] => String::new(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u32, arm: &str, facts: &[(&str, &str)]) -> BundledRun {
        let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        BundledRun { run: Some(number), arm: arm.to_owned(), facts: facts.collect() }
    }

    #[test]
    fn each_value_of_an_arm_is_one_row_with_its_runs() {
        let runs = [
            run(1, "on", &[("fsync", "on"), ("host.kernel", "6.1")]),
            run(2, "off", &[("fsync", "off"), ("host.kernel", "6.1")]),
            run(3, "on", &[("fsync", "on"), ("host.kernel", "=6.2")]),
            run(4, "on", &[("fsync", "on"), ("host.kernel", "6.1")]),
        ];
        assert_eq!(
            bundle_settings(&runs),
            "arm,runs,system,name,value\r\noff,2,Server,fsync,off\r\noff,2,Host,host.kernel,6.1\r\n\
             on,1 3-4,Server,fsync,on\r\non,1 4,Host,host.kernel,6.1\r\n\
             on,3,Host,host.kernel,'=6.2\r\n"
        );
        let versions = versions(&runs);
        assert_eq!(versions, [("host.kernel".to_owned(), "6.1, =6.2".to_owned())]);
    }

    #[test]
    fn every_value_is_there_and_whole() {
        const RUNS: u32 = 10_500;
        let long = "x".repeat(5_000);
        let runs: Vec<BundledRun> =
            (1..=RUNS).map(|number| run(number, "", &[("n", &number.to_string())])).collect();
        let runs = [runs, vec![run(RUNS + 1, "", &[("long", &long)])]].concat();
        let text = bundle_settings(&runs);
        assert_eq!(text.lines().count(), runs.len() + 1);
        assert!(text.contains(&format!(",long,{long}\r\n")));
        assert!(!text.contains("in the record"));
    }
}
