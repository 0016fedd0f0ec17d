//! `assay explain`: the guide on a check, a limiter, a metric or an exit code.

use base::closest;

use crate::args::ExplainArgs;
use crate::commands::answer::print;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::guide::{Explanation, Topic, explanations};

/// Prints the parts of the guide about names.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Complaint> {
    let all = explanations();
    if args.names.is_empty() {
        print(&list(&all))?;
        return Ok(Exit::Success);
    }
    let mut parts = Vec::new();
    for name in &args.names {
        let before = parts.len();
        parts.extend(all.iter().filter(|one| one.is_about(name)).map(|one| part(name, one)));
        if parts.len() == before {
            return Err(unknown(name, &all));
        }
    }
    print(&parts.join("\n"))?;
    Ok(Exit::Success)
}

fn part(name: &str, one: &Explanation) -> String {
    format!("{name}: {} ({})\n\n{}\n", one.topic.words(), one.topic.page(), one.text)
}

/// Returns a line of names for each topic.
fn list(all: &[Explanation]) -> String {
    let topics = [
        (Topic::Check, "checks"),
        (Topic::Limiter, "limiters"),
        (Topic::Metric, "metrics"),
        (Topic::ExitCode, "exit codes"),
    ];
    let line = |(topic, title): (Topic, &str)| {
        let own = all.iter().filter(|one| one.topic == topic);
        let names: Vec<&str> = own.flat_map(|one| &one.names).map(String::as_str).collect();
        format!("{title}: {}\n", names.join(", "))
    };
    topics.into_iter().map(line).collect()
}

fn unknown(name: &str, all: &[Explanation]) -> Complaint {
    let names = all.iter().flat_map(|one| &one.names).map(String::as_str);
    let meant = closest(name, names);
    let meant = meant.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Complaint::new(format!("the guide has no check, limiter, metric or exit code `{name}`{meant}"))
        .help("`assay explain` lists the names")
}
