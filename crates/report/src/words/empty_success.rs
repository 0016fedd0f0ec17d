//! Warnings about meaningless successes.

use analyze::EmptySuccess;

use crate::number::{count, span};

/// Maximum number of statements that a warning lists.
const MOST_STATEMENTS: usize = 8;

/// Returns the warning as a sentence about the job.
pub(crate) fn warning(empty_success: &EmptySuccess) -> String {
    match empty_success {
        EmptySuccess::NothingDue { first: Some(first) } => format!(
            "made no request: its first was due {} after time zero, after the end of the job",
            span(*first)
        ),
        EmptySuccess::NothingDue { first: None } => "made no request in the whole run".to_owned(),
        EmptySuccess::NoRows { answers, .. } => {
            let to = to_statements(&empty_success.statement_numbers());
            let answers = count(*answers, "answer");
            format!("had {answers}{to}, and no row was returned or changed")
        }
    }
}

/// Names statements by their numbers: ` to statements 1, 3 and 4`; empty if there are none.
fn to_statements(numbers: &[u32]) -> String {
    let (listed, rest) = numbers.split_at(numbers.len().min(MOST_STATEMENTS));
    let mut names: Vec<String> = listed.iter().map(u32::to_string).collect();
    if !rest.is_empty() {
        names.push(format!("{} more", rest.len()));
    }
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" to statement {only}"),
        Some((last, others)) => format!(" to statements {} and {last}", others.join(", ")),
    }
}

/// Returns the remedy.
pub(crate) fn remedy_of_warning(empty_success: &EmptySuccess) -> &'static str {
    match empty_success {
        EmptySuccess::NothingDue { first: Some(_) } => {
            "make the run longer, or let its requests come earlier"
        }
        EmptySuccess::NothingDue { first: None } => {
            "look at its `start`, its rate, and what it waits for"
        }
        EmptySuccess::NoRows { statements, .. } if statements.is_empty() => {
            "compare its values with those in the table; if no rows are expected, write \
             `expect-rows = 0`"
        }
        EmptySuccess::NoRows { .. } => {
            "compare the values of the statement with those in the table; if no rows are expected, \
             write `expect-rows` with the rows of all statements of a request"
        }
    }
}
