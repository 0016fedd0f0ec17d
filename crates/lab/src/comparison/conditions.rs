//! The conditions of a run that decide whether it is comparable with others.

use std::ffi::OsStr;
use std::path::Path;

use analyze::compare::RunConditions;
use archive::{Archive, RecordError};
use record::environment::{
    DEFAULT_SETTING, UNKNOWN, database, database_setting, host, is_fact, network,
};
use record::{Header, InputFile};

use crate::evidence::spins;
use crate::experiment::{DURABILITY, decides_durability};

/// Keys of the plan that may differ between comparable runs: the target, the seed of random
/// numbers, and the time limit for statements outside the measurement.
const IGNORED_KEYS: [&str; 3] = ["url", "seed", "setup-timeout"];

/// Facts about the machine that must be equal for two runs to be comparable.
const DECISIVE_FACTS: [&str; 5] = [
    host::ARCHITECTURE,
    host::CPU_MODEL,
    host::CPU_LOGICAL,
    host::CPU_ALLOWED,
    host::CGROUP_CPU_QUOTA,
];

/// Returns the conditions of a run with these settings and facts.
///
/// # Errors
/// The record is damaged.
pub(super) fn read_conditions(
    archive: &Archive,
    run: String,
    facts: &[(String, String)],
) -> Result<RunConditions, RecordError> {
    let header = archive.header();
    let lines = plan_lines(&header.plan);
    let (mut data, plan): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|(name, _)| name.starts_with(ROW_COUNT_PREFIX));
    let is_size = |name: &str| is_fact(name, database::SIZE) || name == "database_bytes";
    data.extend(select_facts(facts, is_size));
    Ok(RunConditions {
        run,
        ended: archive.end().map(|end| end.kind),
        files: file_contents(&plan, &archive.files()?),
        plan,
        data,
        durability: durability(facts),
        environment: environment(header, facts),
    })
}

/// Prefix of the names of the lines that hold the number of rows of a table.
pub(super) const ROW_COUNT_PREFIX: &str = "rows of table ";

/// Returns the lines of a printed plan that determine the work of a run: their names and values.
/// Definitions of parameters are left out, because the plan shows the values where they are used.
pub(super) fn plan_lines(plan: &str) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut section = "";
    for line in plan.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        } else if line.starts_with(' ') {
            // The line continues the value of the previous line.
            let last = lines.last_mut().map(|(_, value)| value);
            last.into_iter().for_each(|value| value.extend(["\n", line]));
        } else if let Some((key, value)) = line.split_once(" = ")
            && determines_work(section, key)
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

/// Returns true for the keys that determine the work of a run.
fn determines_work(section: &str, key: &str) -> bool {
    let has_target = section.is_empty() || section.starts_with("target ");
    let is_free = has_target && IGNORED_KEYS.contains(&key);
    !is_free && section != "params" && !key.starts_with(';')
}

/// Returns the name of a line of the plan.
pub(super) fn line_name(section: &str, key: &str) -> String {
    match (section, section.strip_prefix("load "), key) {
        ("", ..) => key.to_owned(),
        (_, Some(table), "rows") => format!("{ROW_COUNT_PREFIX}{table}"),
        _ => format!("{key} of [{section}]"),
    }
}

/// Prefixes of the names of plan lines that name the input files of requests.
const INPUT_FILE_PREFIXES: [&str; 2] = ["query-args-file of ", "query-log-file of "];

/// Number of digits of a SHA-256 that are compared and printed.
const HASH_DIGITS: usize = 16;

/// Returns the SHA-256 of the content of each file that the plan names. The workload files
/// themselves are in the plan.
fn file_contents(plan: &[(String, String)], files: &[InputFile]) -> Vec<(String, String)> {
    let named = files.iter().filter(|file| plan.iter().any(|line| has_name(line, file)));
    let content = |file: &InputFile| {
        let digits = file.sha256.chars().take(HASH_DIGITS).collect();
        (format!("the SHA-256 of {}", file.path), digits)
    };
    named.map(content).collect()
}

/// Returns true if a line of the plan names a file: as an input file, or as a string in an
/// expression.
fn has_name((key, value): &(String, String), file: &InputFile) -> bool {
    let name = |path| Path::new(path).file_name().and_then(OsStr::to_str);
    let Some(own) = name(&file.path) else { return false };
    let is_input = INPUT_FILE_PREFIXES.iter().any(|input| key.starts_with(input));
    match is_input {
        true => name(value) == Some(own),
        false => value.contains(&format!("'{own}'")) || value.contains(&format!("/{own}'")),
    }
}

/// Returns the facts whose name is accepted by `is_selected` and whose value is known.
fn select_facts(
    facts: &[(String, String)],
    is_selected: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let is_known = |(name, value): &&(String, String)| is_selected(name) && value != UNKNOWN;
    facts.iter().filter(is_known).cloned().collect()
}

/// Returns the settings that decide whether commits survive a crash. If a server reports only
/// changed settings, the others have their defaults.
fn durability(facts: &[(String, String)]) -> Vec<(String, String)> {
    let mut all = select_facts(facts, decides_durability);
    let targets = facts.iter().filter_map(|(name, _)| name.strip_suffix(database::SETTINGS));
    for target in targets {
        let names = DURABILITY.map(|setting| format!("{target}{}", database_setting(setting)));
        let is_default = |name: &String| all.iter().all(|(known, _)| known != name);
        let defaults: Vec<String> = names.into_iter().filter(is_default).collect();
        all.extend(defaults.into_iter().map(|name| (name, DEFAULT_SETTING.to_owned())));
    }
    all
}

fn environment(header: &Header, facts: &[(String, String)]) -> Vec<(String, String)> {
    let mut all = vec![
        ("time".to_owned(), header.pace.name().to_owned()),
        ("threads".to_owned(), header.lanes.to_string()),
        ("spin".to_owned(), if spins(facts) { "yes" } else { "no" }.to_owned()),
    ];
    let is_decisive = |name: &str| DECISIVE_FACTS.contains(&name) || is_fact(name, network::PATH);
    all.extend(select_facts(facts, is_decisive));
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
        let plan = "url = sim:mm1\nduration = 10s\nseed = 4\nsetup-timeout = 2h\n\n\
                    [params]\nn = 5\n\n\
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
    fn files_that_the_plan_names_have_their_content() {
        let file = |path: &str| InputFile {
            path: path.to_owned(),
            bytes: 1,
            sha256: "ab".repeat(32),
            text: None,
        };
        let plan = plan_lines(
            "[a]\nquery-args-file = data/ids.csv\n\n[b]\nquery = ${csv('x/names.csv', 1)} from a\n",
        );
        let all = ["data/ids.csv", "x/names.csv", "a", "other.csv"].map(file);
        let names: Vec<String> =
            file_contents(&plan, &all).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["the SHA-256 of data/ids.csv", "the SHA-256 of x/names.csv"]);
    }

    #[test]
    fn settings_of_all_targets_count_for_durability() {
        let facts = |all: &[(&str, &str)]| {
            let owned = all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            durability(&owned.collect::<Vec<_>>())
        };
        let all = [("durability", "full"), ("b.fsync", "on"), ("commit_delay", "5")];
        assert_eq!(facts(&all).len(), 2);
        let of_server = facts(&[("database.settings", "1"), ("database.setting.fsync", "off")]);
        let value = |setting: &str| {
            let name = format!("database.setting.{setting}");
            of_server.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
        };
        assert_eq!((value("fsync"), value("sync_binlog")), (Some("off"), Some("default")));
    }
}
