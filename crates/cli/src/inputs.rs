//! Checks the input files that supply requests.
//!
//! Regular files are read completely at the start, to find a broken line before a database is
//! touched. Data from a pipe can only be checked as it arrives.

use base::{Diagnostic, Dialect};
use confine::Files;
use workload::feed::{self, Fault, Format, Summary};
use workload::{Feed, JobOrPart, Plan};

/// Checks the input files of a plan; returns warnings about them.
///
/// # Errors
/// Files that cannot be read, have a malformed line or too few fields, or are not regular files in
/// virtual time.
pub(crate) fn check(
    plan: &Plan,
    files: &Files,
    is_virtual: bool,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let (mut warnings, mut errors) = (Vec::new(), Vec::new());
    for job in plan.jobs_and_parts() {
        let Some(feed) = &job.requests().feed else { continue };
        match summary(feed, files, plan.dialect(job.job().target)) {
            Ok(Some(summary)) => match check_feed(plan, job, feed, &summary) {
                Ok(more) => warnings.extend(more),
                Err(fault) => errors.push(fault),
            },
            Ok(None) if is_virtual => errors.push(no_pipe_in_virtual_time(feed)),
            Ok(None) => {}
            Err(fault) => errors.push(fault),
        }
    }
    match errors.is_empty() {
        true => Ok(warnings),
        false => Err(errors),
    }
}

/// Returns the error for a pipe in virtual time, where a missing writer could not time out.
fn no_pipe_in_virtual_time(feed: &Feed) -> Diagnostic {
    let message =
        format!("`{}` is not a regular file, and virtual time cannot wait for a writer", feed.file);
    Diagnostic::error(feed.span, message)
        .help("write what comes through it to a file first, or leave out --virtual")
}

/// Returns the summary of a regular file; `None` for a pipe.
fn summary(feed: &Feed, files: &Files, dialect: Dialect) -> Result<Option<Summary>, Diagnostic> {
    let unreadable = |error| complaint(feed, Fault::Unreadable(error));
    if !files.is_regular(&feed.file).map_err(unreadable)? {
        return Ok(None);
    }
    let file = files.open(&feed.file).map_err(unreadable)?;
    let summary = feed::examine(file, feed.format, feed.per_request as usize, dialect);
    summary.map(Some).map_err(|fault| complaint(feed, fault))
}

/// Returns the error or the warnings about a file whose lines are all well-formed.
fn check_feed(
    plan: &Plan,
    planned: JobOrPart<'_>,
    feed: &Feed,
    summary: &Summary,
) -> Result<Vec<Diagnostic>, Diagnostic> {
    let mut warnings = Vec::new();
    let mut warn = |message: String, help: &str| {
        warnings.push(Diagnostic::warning(feed.span, message).help(help));
    };
    let name = &feed.file;
    if summary.groups == 0 {
        let what = if feed.format == Format::Log { "line" } else { "record" };
        warn(format!("`{name}` has no {what}: the job does nothing"), "name another file");
        return Ok(warnings);
    }
    let wanted = planned.requests().most_fields();
    if wanted > summary.width && feed.format != Format::Log {
        let width = summary.width;
        let message = format!("a statement takes field {wanted}, and `{name}` has {width}");
        return Err(Diagnostic::error(feed.span, message)
            .help("count the fields of its records, or set `query-args-delim`"));
    }
    if (1..summary.width).contains(&wanted) && feed.format != Format::Log {
        let width = summary.width;
        let message = format!("the records of `{name}` have {width} fields, and {wanted} are used");
        warn(message, "the other fields are read and not used");
    }
    if summary.left_over > 0 {
        let (left, per) = (summary.left_over, feed.per_request);
        let message = format!("each request takes {per} records of `{name}`: {left} are left over");
        warn(message, "the last ones are not sent");
    }
    if let Some(line) = summary.backwards {
        let message =
            format!("line {line} of `{name}` has a time before that of the line above it");
        warn(
            message,
            "its line is sent together with the one above; sort the log to keep the gaps",
        );
    }
    if let JobOrPart::Job(job) = planned {
        let (end, last) = (job.stop.or(plan.duration), job.start + summary.length);
        if job.count.is_none() && end.is_some_and(|end| last >= end) {
            let message =
                format!("the last line of `{name}` is due at `{last}`, and the job ends before");
            warn(message, "make the run longer: requests due after its end are not sent");
        }
    }
    Ok(warnings)
}

fn complaint(feed: &Feed, fault: Fault) -> Diagnostic {
    let name = &feed.file;
    match fault {
        Fault::Unreadable(error) => {
            Diagnostic::error(feed.span, format!("`{name}` cannot be read: {error}"))
                .help("name a file that can be read")
        }
        Fault::Broken { line, why } => {
            Diagnostic::error(feed.span, format!("line {line} of `{name}`: {why}"))
                .help("correct the line: nothing was sent")
        }
    }
}
