//! Warnings about meaningless successes.

use analyze::{JobSummary, Quiet};

use crate::number::{count, span};

/// A warning about a job without an error.
pub(crate) struct Warning {
    /// Name in documents.
    pub(crate) name: &'static str,
    /// Warning as a sentence about the job.
    pub(crate) text: String,
    /// Remedy.
    pub(crate) remedy: &'static str,
}

/// Returns the warning about a job, if there is one.
pub(crate) fn warning(job: &JobSummary) -> Option<Warning> {
    Some(match job.quiet? {
        Quiet::NothingDue { first: Some(first) } => Warning {
            name: "nothing-due",
            text: format!(
                "made no request: its first was due {} after time zero, behind its end",
                span(first)
            ),
            remedy: "make the run longer, or let its requests come earlier",
        },
        Quiet::NothingDue { first: None } => Warning {
            name: "nothing-due",
            text: "made no request in the whole run".to_owned(),
            remedy: "look at its `start`, its rate, and what it waits for",
        },
        Quiet::NoRows { answers } => Warning {
            name: "no-rows",
            text: format!("had {}, and no row was returned or changed", count(answers, "answer")),
            remedy: "compare the values that it asks for with those in the table; if this is \
                     meant, write `expect-rows = 0`",
        },
    })
}
