//! Warnings about meaningless successes.

use analyze::Quiet;

use crate::number::{count, span};

/// Returns the warning as a sentence about the job.
pub(crate) fn warning(quiet: Quiet) -> String {
    match quiet {
        Quiet::NothingDue { first: Some(first) } => format!(
            "made no request: its first was due {} after time zero, after the end of the job",
            span(first)
        ),
        Quiet::NothingDue { first: None } => "made no request in the whole run".to_owned(),
        Quiet::NoRows { answers } => {
            format!("had {}, and no row was returned or changed", count(answers, "answer"))
        }
    }
}

/// Returns the remedy.
pub(crate) fn remedy_of_warning(quiet: Quiet) -> &'static str {
    match quiet {
        Quiet::NothingDue { first: Some(_) } => {
            "make the run longer, or let its requests come earlier"
        }
        Quiet::NothingDue { first: None } => "look at its `start`, its rate, and what it waits for",
        Quiet::NoRows { .. } => {
            "compare its values with those in the table; if no rows are expected, write \
             `expect-rows = 0`"
        }
    }
}
