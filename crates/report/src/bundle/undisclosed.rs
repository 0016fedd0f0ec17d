//! The file of a bundle that says what the bundle does not disclose, and why.

use base::HIDDEN;
use base::units::grouped;
use record::environment::{HIDDEN_SETTING, MISSING, UNKNOWN};

use super::readme::{BundleView, cell};
use super::settings::BundledRun;
use crate::markdown::escaped;

/// Facts that no record has, and so no bundle.
const NEVER: &str = "\
* Passwords, keys and tokens. They are also removed from texts of servers and programs.
* The location of a server within its machine: its ports, sockets, folders and files, other than \
those that the URL of the target names.
* In the facts about a machine, its name and those of its users.
* The environment of this program and of those that the workload runs, and what they print.
* The values and the answers of single requests, other than one example of each statement and the \
first rows of each loaded table.
";

/// Formats the list of what a bundle does not disclose as Markdown. `runs` are those whose settings
/// it has.
pub fn bundle_undisclosed(view: &BundleView, runs: &[BundledRun]) -> String {
    let rows = rows(view, runs);
    let list = match rows.is_empty() {
        true => "Nothing that the record has is left out.\n".to_owned(),
        false => {
            let row = |(what, why): &(String, String)| format!("| {what} | {why} |\n");
            let rows: String = rows.iter().map(row).collect();
            format!("| left out | reason |\n| --- | --- |\n{rows}")
        }
    };
    format!("# Not disclosed\n\n## In this bundle\n\n{list}\n## In any record\n\n{NEVER}")
}

/// Returns what is left out, and the reasons, both as Markdown.
fn rows(view: &BundleView, runs: &[BundledRun]) -> Vec<(String, String)> {
    let files = view.inputs.iter().filter_map(|input| {
        let omission = input.omission?;
        let why = format!("{}; its SHA-256 is {}", omission.reason(), cell(&input.sha256));
        Some((format!("file {}", cell(&input.path)), why))
    });
    let secrets = view.secrets.iter().map(|name| {
        let why = "its value is secret; `assay repeat` takes it with `--set NAME=VALUE`";
        (format!("value of {}", cell(name)), why.to_owned())
    });
    let op_log = view.op_log_rows.map(|rows| {
        let why = format!("a file of its own, with {} requests", grouped(rows));
        ("op-log".to_owned(), why)
    });
    let mut rows: Vec<(String, String)> = files.chain(secrets).chain(op_log).collect();
    let mut facts: Vec<(String, String)> =
        runs.iter().flat_map(|run| &run.facts).filter_map(undisclosed_fact).collect();
    facts.sort();
    facts.dedup();
    rows.append(&mut facts);
    rows
}

/// Returns a fact that is not known, and the reason.
fn undisclosed_fact((name, value): &(String, String)) -> Option<(String, String)> {
    if let Some(source) = name.strip_prefix(MISSING) {
        return Some((format!("samples of {}", cell(source)), escaped(value)));
    }
    let why = match value.as_str() {
        UNKNOWN => "it could not be read: this system does not have it, or the user may not see it",
        HIDDEN_SETTING => "it may hold a secret or a command; only that it is set is recorded",
        _ => return None,
    };
    Some((format!("value of {}", cell(name)), why.to_owned()))
}

/// Returns the names to which command lines and plans give a secret value: `NAME=(secret)`, and the
/// keys of lines that contain one.
pub fn secret_names<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let lines = texts.into_iter().flat_map(str::lines);
    let mut names: Vec<String> = lines.flat_map(secrets_of_line).collect();
    names.sort();
    names.dedup();
    names
}

fn secrets_of_line(line: &str) -> Vec<String> {
    if let Some((key, _)) = line.split_once(" = ").filter(|(_, value)| value.contains(HIDDEN)) {
        return vec![key.trim().to_owned()];
    }
    let before = line.match_indices(HIDDEN).map(|(at, _)| &line[..at]);
    let name = |before: &str| {
        let name = before.strip_suffix('=')?.rsplit([' ', '\'']).next()?;
        (!name.is_empty()).then(|| name.to_owned())
    };
    before.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::super::readme::InputOmission;
    use super::super::readme::tests::view;
    use super::*;

    #[test]
    fn each_omission_is_listed_with_its_reason() {
        let facts = [
            ("fsync", "on"),
            ("database.setting.archive_command", "hidden"),
            ("host.cpu.governor", "unknown"),
            ("observe.missing.sessions", "permission <denied>"),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let run = BundledRun { run: None, arm: String::new(), facts };
        let mut view = view();
        view.secrets = vec!["pw".to_owned()];
        view.op_log_rows = Some(1_000);
        view.inputs[0].omission = Some(InputOmission::Large);
        let text = bundle_undisclosed(&view, &[run.clone(), run]);
        for words in [
            "| file `a.ini` | it is larger than 1 MB; its SHA-256 is `ab` |",
            "| value of `pw` | its value is secret",
            "| op-log | a file of its own, with 1,000 requests |",
            "| value of `database.setting.archive_command` | it may hold a secret or a command",
            "| value of `host.cpu.governor` | it could not be read",
            "| samples of `sessions` | permission &lt;denied&gt; |",
        ] {
            assert_eq!(text.matches(words).count(), 1, "{words}: {text}");
        }
        assert!(!text.contains("fsync"), "{text}");
    }

    #[test]
    fn bundle_without_omissions_says_so() {
        let text = bundle_undisclosed(&view(), &[]);
        assert!(text.contains("Nothing that the record has is left out."), "{text}");
    }

    #[test]
    fn secrets_are_found_by_their_names() {
        let command = "assay run w.ini --set 'pw=(secret)' --set n=1 --set key=(secret)";
        let plan = "url = postgres://ann:(secret)@h/d\nquery = select 1";
        assert_eq!(secret_names([command, plan]), ["key", "pw", "url"]);
    }
}
