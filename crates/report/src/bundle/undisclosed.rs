//! The file of a bundle that lists the undisclosed facts, with the reasons.

use base::units::grouped;
use base::{HIDDEN, passwords_in};
use record::environment::observe::MISSING;
use record::environment::{HIDDEN_SETTING, UNKNOWN};

use super::readme::{BundleView, cell};
use super::settings::BundledRun;
use crate::markdown::escaped;

/// Facts that no record contains, and therefore no bundle.
const NEVER_RECORDED: &str = "\
* The passwords of targets and the secret parameters. They are also removed from texts of servers \
and programs. A password in a row of a table is data, and is not removed.
* The location of a server within its machine: its ports, sockets, folders and files, other than \
those that the URL of the target names.
* Host and user names, in the facts about a machine.
* The environment of this program and of those that the workload runs, and what they print.
* The values that single requests sent, other than in the files of this bundle, and their answers. \
The record does have one example of each statement, the columns and indexes of the tables, five \
rows of each table that the run filled, and texts of errors. It has no rows of tables that existed \
before (`--loaded`).
";

/// Formats the list of undisclosed facts as Markdown. `runs` are the runs whose settings the bundle
/// contains.
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
    format!("# Not disclosed\n\n## In this bundle\n\n{list}\n## In any record\n\n{NEVER_RECORDED}")
}

/// Returns the facts that are left out, and the reasons, both as Markdown.
fn rows(view: &BundleView, runs: &[BundledRun]) -> Vec<(String, String)> {
    let files = view.inputs.iter().filter_map(|input| {
        let omission = input.omission?;
        let why = format!("{}; its SHA-256 is {}", omission.reason(), cell(&input.sha256));
        Some((format!("file {}", cell(&input.path)), why))
    });
    let secrets = view.secrets.iter().map(|name| {
        let why =
            "it is secret; `assay repeat` takes it with `--set NAME=VALUE`, a URL with `--url`";
        (format!("value of {}", cell(name)), why.to_owned())
    });
    let op_log = view.op_log_rows.map(|rows| {
        let what = format!("op-log, with {} requests", grouped(rows));
        (what, "it is not part of the record".to_owned())
    });
    let folder = view.omitted_folder_of.as_ref().map(|file| {
        let why = "it is of no use to others, and may have the name of a user";
        (format!("folder of {}", cell(file)), why.to_owned())
    });
    let mut rows: Vec<(String, String)> =
        files.chain(secrets).chain(op_log).chain(folder).collect();
    let mut facts: Vec<(String, String)> =
        runs.iter().flat_map(|run| &run.facts).filter_map(undisclosed_fact).collect();
    facts.sort();
    facts.dedup();
    rows.append(&mut facts);
    rows
}

/// Returns a fact whose value is not disclosed, with the reason; `None` for a disclosed fact.
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

/// Returns the names of the parameters and keys that have a secret value in a command line or in
/// plans, sorted and each once.
pub fn secret_names<'t>(command: &str, plans: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let of_plans = plans.into_iter().flat_map(str::lines).filter_map(secret_of_line);
    let mut names = secrets_of_command(command);
    names.extend(of_plans);
    names.sort();
    names.dedup();
    names
}

/// Returns the key of a plan's line whose value contains a secret; `None` for any other line.
fn secret_of_line(line: &str) -> Option<String> {
    let (key, value) = line.split_once(" = ")?;
    value.contains(HIDDEN).then(|| key.trim().to_owned())
}

/// Returns the names of the arguments of a command that contain a secret: arguments of the form
/// `NAME=(secret)`, and arguments whose value is a URL or a data source name with a password. Such
/// a URL without `NAME=` before it is named `url`.
fn secrets_of_command(command: &str) -> Vec<String> {
    let argument = |end: usize| command[..end].rsplit([' ', '\'']).next().unwrap_or_default();
    let of_parameters = command.match_indices(HIDDEN).filter_map(|(at, _)| {
        let name = argument(at).strip_suffix('=')?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    let of_urls = passwords_in(command).into_iter().map(|password| {
        let name = argument(password.start);
        let name = name.split_once("://").map_or(name, |(before, _)| before);
        name.split_once('=').map_or("url", |(name, _)| name).to_owned()
    });
    of_parameters.chain(of_urls).collect()
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
        view.omitted_folder_of = Some("e.ini".to_owned());
        view.inputs[0].omission = Some(InputOmission::Large);
        let text = bundle_undisclosed(&view, &[run.clone(), run]);
        for words in [
            "| file `a.ini` | it is larger than 1 MB; its SHA-256 is `ab` |",
            "| value of `pw` | it is secret",
            "| op-log, with 1,000 requests | it is not part of the record |",
            "| folder of `e.ini` | it is of no use to others",
            "| value of `database.setting.archive_command` | it may hold a secret or a command",
            "| value of `host.cpu.governor` | it could not be read",
            "| samples of `sessions` | permission \\<denied> |",
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
        assert_eq!(secret_names(command, [plan]), ["key", "pw", "url"]);
        for (command, expected) in [
            ("assay run w.ini --set 'where=a = b' --set pw=(secret)", &["pw"][..]),
            ("assay run w.ini --url postgres://ann:***@h/d", &["url"]),
            ("assay run w.ini --set 'to=mysql://ann:***@h/d?a=b'", &["to"]),
            ("assay run w.ini --set 'to=ann:***@tcp(h)/d'", &["to"]),
            ("assay run w.ini --url postgres://ann@h/d", &[]),
        ] {
            assert_eq!(secret_names(command, []), expected, "{command}");
        }
    }
}
