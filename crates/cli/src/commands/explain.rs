//! `assay explain`: the guide on checks, limiters, metrics, objections, exit codes and terms.

use base::{closest, either};

use crate::args::ExplainArgs;
use crate::commands::answer::print;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::guide::{Explanation, Topic, explanations};

/// Prints the parts of the guide that explain the given names, or a list of all names if none is
/// given.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Complaint> {
    let all = explanations();
    if args.names.is_empty() {
        print(&list(&all))?;
        return Ok(Exit::Success);
    }
    let mut parts = Vec::new();
    for name in &args.names {
        let before = parts.len();
        let found = all.iter().filter(|one| one.is_about(name));
        parts.extend(found.map(|one| explanation_text(name, one)));
        if parts.len() == before {
            return Err(unknown(name, &all));
        }
    }
    print(&parts.join("\n"))?;
    Ok(Exit::Success)
}

fn explanation_text(name: &str, one: &Explanation) -> String {
    format!("{name}: {} ({})\n\n{}\n", one.topic.description(), one.topic.page(), one.text)
}

/// Returns a line of names for each topic.
fn list(all: &[Explanation]) -> String {
    let topics = [
        (Topic::Check, "checks"),
        (Topic::DoctorCheck, "checks of `assay doctor`"),
        (Topic::Limiter, "limiters"),
        (Topic::Metric, "metrics"),
        (Topic::Objection, "objections to a comparison"),
        (Topic::ExitCode, "exit codes"),
        (Topic::Term, "terms"),
    ];
    let line = |(topic, title): (Topic, &str)| {
        let own = all.iter().filter(|one| one.topic == topic);
        let names: Vec<&str> = own.flat_map(|one| &one.names).map(String::as_str).collect();
        format!("{title}: {}\n", names.join(", "))
    };
    topics.into_iter().map(line).collect()
}

/// Maximum number of names that are suggested for an unknown one.
const MOST_NEAR: usize = 3;

/// Length of the shortest unknown name that may be the beginning of a word in a suggested name, in
/// bytes.
const SHORTEST_PART: usize = 3;

fn unknown(name: &str, all: &[Explanation]) -> Complaint {
    if let Some((metric, statistics)) = all.iter().find_map(|one| one.statistics(name)) {
        return Complaint::new(format!("there is no metric `{name}`"))
            .help(format!("in `{metric}`, Q is {statistics}"));
    }
    let near = similar_names(name, all);
    let near: Vec<String> = near.into_iter().map(|near| format!("`{near}`")).collect();
    let near: Vec<&str> = near.iter().map(String::as_str).collect();
    let meant = match near.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", either(&near)),
    };
    let words = "the guide has no check, limiter, metric, objection, exit code or term";
    Complaint::new(format!("{words} `{name}`{meant}")).help("`assay explain` lists the names")
}

/// Returns at most [`MOST_NEAR`] names with a word that begins with `name`, or else the name that
/// `name` probably misspells. The first letter is rarely mistyped: a different one usually means a
/// different word.
fn similar_names<'e>(name: &str, all: &'e [Explanation]) -> Vec<&'e str> {
    let name = name.to_lowercase();
    let named = all.iter().filter(|one| one.topic != Topic::ExitCode);
    let names: Vec<&str> = named.flat_map(|one| &one.names).map(String::as_str).collect();
    let has_word = |known: &&&str| {
        known.split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with(name.as_str()))
    };
    let mut near: Vec<&str> = Vec::new();
    if name.len() >= SHORTEST_PART {
        for known in names.iter().filter(has_word).copied() {
            // A check and a limiter may have the same name.
            if near.len() < MOST_NEAR && !near.contains(&known) {
                near.push(known);
            }
        }
    }
    if near.is_empty() {
        let first = |word: &str| word.chars().next().map(|first| first.to_ascii_lowercase());
        near.extend(closest(&name, names.into_iter().filter(|known| first(known) == first(&name))));
    }
    near
}
