//! Conditions of a run by which it is comparable with others.

use analyze::compare::RunConditions;
use archive::Archive;
use record::Header;
use record::environment::{UNKNOWN, of_database};

use crate::evidence::spins;

/// Keys of the plan that may differ between comparable runs: where they ran, and with which random
/// numbers.
const FREE_KEYS: [&str; 2] = ["url", "seed"];

/// Settings that decide whether commits survive a crash: of servers, and of SQLite.
const DURABILITY: [&str; 3] = ["durability", "journal_mode", "synchronous"];

/// Facts of the machine that decide the figures.
const DECISIVE: [&str; 5] = [
    "host.architecture",
    "host.cpu.model",
    "host.cpu.logical",
    "host.cpu.allowed",
    "host.cgroup.cpu_quota",
];

/// Returns the conditions of a run with these settings and facts.
pub(super) fn of(archive: &Archive, run: String, facts: &[(String, String)]) -> RunConditions {
    let header = archive.header();
    let lines = plan_lines(&header.plan);
    let (mut data, plan): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|(name, _)| name.starts_with(ROWS));
    let is_size = |name: &str| of_database(name) == Some("size_bytes") || name == "database_bytes";
    data.extend(chosen(facts, is_size));
    RunConditions {
        run,
        ended: archive.end().map(|end| end.kind),
        plan,
        data,
        durability: chosen(facts, |name| DURABILITY.iter().any(|one| is_of(name, one))),
        environment: environment(header, facts),
    }
}

/// Beginning of the names of lines with the number of rows of a table.
const ROWS: &str = "rows of table ";

/// Returns the lines of a printed plan that decide what was run: their names and values. Parameters
/// are left out, because the plan has their values where they are used.
fn plan_lines(plan: &str) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut section = "";
    for line in plan.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        } else if line.starts_with(' ') {
            // A value that goes on.
            let last = lines.last_mut().map(|(_, value)| value);
            last.into_iter().for_each(|value| value.extend(["\n", line]));
        } else if let Some((key, value)) = line.split_once(" = ")
            && decides(section, key)
        {
            let name = line_name(section, key);
            let before = names.iter().filter(|known| **known == name).count();
            names.push(name.clone());
            let name = if before == 0 { name } else { format!("{name}, number {}", before + 1) };
            lines.push((name, value.to_owned()));
        }
    }
    lines
}

/// Returns true for the keys that decide what was run.
fn decides(section: &str, key: &str) -> bool {
    let has_target = section.is_empty() || section.starts_with("target ");
    let is_free = has_target && FREE_KEYS.contains(&key);
    !is_free && section != "params" && !key.starts_with(';')
}

fn line_name(section: &str, key: &str) -> String {
    match (section, section.strip_prefix("load "), key) {
        ("", ..) => key.to_owned(),
        (_, Some(table), "rows") => format!("{ROWS}{table}"),
        _ => format!("{key} of [{section}]"),
    }
}

/// Returns the facts that are known and have a name of this kind.
fn chosen(facts: &[(String, String)], is_chosen: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let is_known = |(name, value): &&(String, String)| is_chosen(name) && value != UNKNOWN;
    facts.iter().filter(is_known).cloned().collect()
}

/// Returns true for a setting of the main target, or of a target with a name.
fn is_of(name: &str, setting: &str) -> bool {
    name == setting || name.strip_suffix(setting).is_some_and(|target| target.ends_with('.'))
}

fn environment(header: &Header, facts: &[(String, String)]) -> Vec<(String, String)> {
    let is_network = |name: &str| name.starts_with("network.") && name.ends_with(".path");
    let mut all = vec![
        ("time".to_owned(), header.pace.name().to_owned()),
        ("threads".to_owned(), header.lanes.to_string()),
        ("spin".to_owned(), if spins(facts) { "yes" } else { "no" }.to_owned()),
    ];
    all.extend(chosen(facts, |name| {
        DECISIVE.contains(&name) || name == "network.path" || is_network(name)
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(plan: &str) -> Vec<String> {
        plan_lines(plan).into_iter().map(|(name, value)| format!("{name}: {value}")).collect()
    }

    #[test]
    fn plan_without_target_and_seed_has_a_name_for_each_line() {
        let plan = "url = sim:mm1\nduration = 10s\nseed = 4\n\n[params]\nn = 5\n\n\
                    [target b]\nurl = sim:mm1\n\n[load t]\nrows = 100\ncolumns = id: row()\n\n\
                    [read]\n; closed\nquery = select 1\nquery = select 2\nquery = select 3\n";
        let expected = [
            "duration: 10s",
            "rows of table t: 100",
            "columns of [load t]: id: row()",
            "query of [read]: select 1",
            "query of [read], number 2: select 2",
            "query of [read], number 3: select 3",
        ];
        assert_eq!(names(plan), expected);
    }

    #[test]
    fn settings_of_named_targets_count() {
        assert!(is_of("durability", "durability") && is_of("b.durability", "durability"));
        assert!(!is_of("no_durability", "durability"));
    }
}
