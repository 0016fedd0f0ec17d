//! Sentences about reasons not to compare.

use analyze::compare::{FactDifference, Objection, ObjectionKind, Problem, Unfinished};
use record::EndKind;

use super::sentence;
use crate::difference::shorten_pair;
use crate::number::count;

/// Maximum number of differences of one kind that are named.
const MOST_DIFFERENCES: usize = 3;

/// Returns the sentence of an objection. `group` is the name of the group that the objection
/// concerns.
pub(super) fn reason(objection: &Objection, group: &str) -> String {
    let group = sentence::name_as_code(group);
    match &objection.problem {
        Problem::RunEnded { run, ended: None } => {
            format!("the run {run} was killed, or still runs")
        }
        Problem::RunEnded { run, ended: Some(ended) } => {
            format!("the run {run} ended early: {}", end_in_words(*ended))
        }
        Problem::ExperimentEnded(Unfinished::Interrupted) => {
            format!("the experiment of {group} is not complete")
        }
        Problem::ExperimentEnded(Unfinished::Failed) => format!(
            "the experiment of {group} has no answer: the load generator or the machine failed in \
             too many rounds"
        ),
        Problem::ExperimentEnded(Unfinished::NotObserved) => format!(
            "the experiment of {group} has no answer: the quantity of `until` in [saturate] was \
             not observed"
        ),
        Problem::Invalid { runs, checks } => {
            let checks: Vec<&str> = checks.iter().map(|check| check.name()).collect();
            let runs = count((*runs).into(), "run");
            format!("{runs} of {group} INVALID ({})", checks.join(", "))
        }
        Problem::Differs { kind, run, reference, differences } => {
            let named = differences.iter().take(MOST_DIFFERENCES).map(difference);
            let named: Vec<String> = named.collect();
            let more = differences.len().saturating_sub(MOST_DIFFERENCES);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            format!(
                "{} of {run} differs from that of {reference}: {}{more}",
                subject(*kind),
                named.join("; ")
            )
        }
    }
}

fn difference(one: &FactDifference) -> String {
    let [value, reference] =
        shorten_pair([&one.value, &one.reference].map(Option::as_deref)).map(|value| match value {
            Some(value) => format!("`{value}`"),
            None => "missing".to_owned(),
        });
    format!("{} is {value}, was {reference}", one.name)
}

fn subject(kind: ObjectionKind) -> &'static str {
    match kind {
        ObjectionKind::Incomplete => "the end",
        ObjectionKind::Invalid => "the verdict",
        ObjectionKind::Plan => "the plan",
        ObjectionKind::Data => "the size of the data",
        ObjectionKind::Durability => "the durability",
        ObjectionKind::Environment => "the environment",
    }
}

fn end_in_words(ended: EndKind) -> &'static str {
    match ended {
        EndKind::Completed => "it was completed",
        EndKind::Interrupted => "it was interrupted",
        EndKind::StoppedByError => "an error stopped it",
        EndKind::TargetLost => "it lost its target",
        EndKind::RecorderFailed => "its record could not be written",
        EndKind::FileFailed => "a file could not be read or written",
        EndKind::QueueFull => "its queue was full",
        EndKind::InternalError => "of an internal error",
    }
}

/// Returns the remedy of an objection, and the option that accepts it.
pub(super) fn remedy_or_consent(objection: &Objection) -> String {
    let accept = format!("or accept it with `--despite {}`", objection.kind().name());
    format!("{}, {accept}", remedy(&objection.problem))
}

/// Returns the remedy of an objection, for a page on which the reader cannot accept the objection.
pub(super) fn remedy_in_browser(objection: &Objection) -> String {
    let kind = objection.kind().name();
    format!("{}; `assay compare --despite {kind}` accepts it", remedy(&objection.problem))
}

/// Returns the remedy of a problem.
pub(super) fn remedy(problem: &Problem) -> &'static str {
    match problem {
        Problem::RunEnded { .. } => "repeat the run, or leave it out",
        Problem::ExperimentEnded(Unfinished::Interrupted) => {
            "complete the experiment with `assay run --resume`"
        }
        Problem::ExperimentEnded(Unfinished::Failed) => {
            "find the cause with `assay doctor`, and run the experiment anew"
        }
        Problem::ExperimentEnded(Unfinished::NotObserved) => {
            "write another condition, or find the cause with `assay doctor`, and run the \
             experiment anew"
        }
        Problem::Invalid { .. } => {
            "repeat the runs; `assay report` prints the remedy of each check"
        }
        Problem::Differs { kind, .. } => match kind {
            ObjectionKind::Incomplete | ObjectionKind::Invalid => "repeat the runs",
            ObjectionKind::Plan => "run the same workload file with the same options for both",
            ObjectionKind::Data => "fill both databases with the same number of rows",
            ObjectionKind::Durability => "give both servers the same settings",
            ObjectionKind::Environment => "make both runs on the same machine, in the same way",
        },
    }
}
