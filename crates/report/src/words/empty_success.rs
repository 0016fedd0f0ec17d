//! Warnings about meaningless successes.

use analyze::EmptySuccess;

use crate::number::{count, span};

/// Returns the warning as a sentence about the job.
pub(crate) fn warning(empty_success: EmptySuccess) -> String {
    match empty_success {
        EmptySuccess::NothingDue { first: Some(first) } => format!(
            "made no request: its first was due {} after time zero, after the end of the job",
            span(first)
        ),
        EmptySuccess::NothingDue { first: None } => "made no request in the whole run".to_owned(),
        EmptySuccess::NoRows { answers } => {
            format!("had {}, and no row was returned or changed", count(answers, "answer"))
        }
    }
}

/// Returns the remedy.
pub(crate) fn remedy_of_warning(empty_success: EmptySuccess) -> &'static str {
    match empty_success {
        EmptySuccess::NothingDue { first: Some(_) } => {
            "make the run longer, or let its requests come earlier"
        }
        EmptySuccess::NothingDue { first: None } => {
            "look at its `start`, its rate, and what it waits for"
        }
        EmptySuccess::NoRows { .. } => {
            "compare its values with those in the table; if no rows are expected, write \
             `expect-rows = 0`"
        }
    }
}
