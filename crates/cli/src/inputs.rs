//! Checks the input files that supply requests.
//!
//! Regular files are read completely at the start, to find a broken line before a database is
//! touched. Data from a pipe can only be checked as it arrives.

use std::collections::HashMap;
use std::path::PathBuf;

use base::{Diagnostic, Dialect};
use confine::Files;
use workload::feed::{self, Fault, Format, Summary};
use workload::{Feed, JobOrPart, Plan, shortened};

/// The summaries of the regular files that were read so far. A file that several jobs or the plans
/// of several arms name is read once.
#[derive(Default)]
pub(crate) struct InputSummaries(HashMap<SummaryKey, Result<Summary, Fault>>);

/// The path of a file, with the other things on which its summary depends: its format, the number
/// of records per request, and the dialect.
type SummaryKey = (PathBuf, Format, u32, Dialect);

/// Checks the input files of a plan; returns warnings about them. Files with a summary in `known`
/// are not read again.
///
/// # Errors
/// Files that cannot be read, have a malformed line or too few fields, or are not regular files in
/// virtual time.
pub(crate) fn check(
    plan: &Plan,
    files: &Files,
    is_virtual: bool,
    known: &mut InputSummaries,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let (mut warnings, mut errors) = (Vec::new(), Vec::new());
    for job in plan.jobs_and_parts() {
        let Some(feed) = &job.requests().feed else { continue };
        match known.summary(feed, files, plan.dialect(job.job().target)) {
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
        true => Ok(shortened(warnings)),
        false => Err(shortened(errors)),
    }
}

impl InputSummaries {
    /// Returns the summary of a regular file; `None` for a pipe.
    fn summary(
        &mut self,
        feed: &Feed,
        files: &Files,
        dialect: Dialect,
    ) -> Result<Option<Summary>, Diagnostic> {
        let is_regular = files.is_regular(&feed.file);
        if !is_regular.map_err(|error| complaint(feed, &Fault::Unreadable(error)))? {
            return Ok(None);
        }
        let key = (files.input(&feed.file), feed.format, feed.per_request, dialect);
        match self.0.entry(key).or_insert_with(|| examine(feed, files, dialect)) {
            Ok(summary) => Ok(Some(*summary)),
            Err(fault) => Err(complaint(feed, fault)),
        }
    }
}

/// Reads a regular file and returns its summary.
fn examine(feed: &Feed, files: &Files, dialect: Dialect) -> Result<Summary, Fault> {
    let file = files.open(&feed.file).map_err(Fault::Unreadable)?;
    feed::examine(file, feed.format, feed.per_request as usize, dialect)
}

/// Returns the error for a pipe in virtual time, where a missing writer could not time out.
fn no_pipe_in_virtual_time(feed: &Feed) -> Diagnostic {
    let message =
        format!("`{}` is not a regular file, and virtual time cannot wait for a writer", feed.file);
    Diagnostic::error(feed.span, message)
        .help("write what comes through it to a file first, or leave out --virtual")
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
    if summary.groups == 0 && summary.left_over == 0 {
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
        let help = match summary.groups {
            0 => "these are too few for a request: nothing is sent",
            _ => "the last ones are not sent",
        };
        warn(message, help);
    }
    if let Some(line) = summary.backwards {
        let message =
            format!("line {line} of `{name}` has a time before that of the line above it");
        warn(
            message,
            "its line is sent together with the one above; sort the log to keep the gaps",
        );
    }
    if let JobOrPart::Job(job) = planned
        && feed.format == Format::Log
    {
        let (end, last) = (job.stop.or(plan.duration), job.start + summary.length);
        if job.count.is_none() && end.is_some_and(|end| last >= end) {
            let message =
                format!("the last line of `{name}` is due at `{last}`, and the job ends before");
            warn(message, "make the run longer: requests due after its end are not sent");
        }
    }
    Ok(warnings)
}

fn complaint(feed: &Feed, fault: &Fault) -> Diagnostic {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use workload::Overrides;

    use super::*;
    use crate::workload_folder::WorkloadFolder;

    /// Returns the warnings about the records of `a.csv`, the arguments file of a job that also has
    /// these keys.
    fn warnings(keys: &str, records: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.csv"), records).unwrap();
        let files = Files::from(folder.path());
        let text = format!("duration = 2s\n[a]\nquery-args-file = a.csv\n{keys}\n");
        let folder = WorkloadFolder::new(files.clone());
        let plan = workload::plan_in(&text, &Overrides::default(), &folder).0.expect("a plan");
        let found = check(&plan, &files, false, &mut InputSummaries::default()).unwrap();
        let shown = |one: &Diagnostic| {
            format!("{} ({})", one.message, one.help.as_deref().unwrap_or_default())
        };
        found.iter().map(shown).collect()
    }

    #[test]
    fn records_too_few_for_one_request_are_left_over() {
        let keys = "query = select ?\nquery = select ?\nmulti-query-mode = multi-connection";
        let left = "each request takes 2 records of `a.csv`: 1 are left over";
        let too_few = format!("{left} (these are too few for a request: nothing is sent)");
        assert_eq!(warnings(keys, "1\n"), [too_few]);
        let last = format!("{left} (the last ones are not sent)");
        assert_eq!(warnings(keys, "1\n2\n3\n"), [last]);
        let none = "`a.csv` has no record: the job does nothing (name another file)";
        assert_eq!(warnings(keys, ""), [none]);
    }

    #[test]
    fn only_lines_of_a_log_are_due_at_a_time() {
        assert_eq!(warnings("query = select ?\nstart = 2s", "1\n"), Vec::<String>::new());
    }

    #[test]
    fn file_of_several_jobs_and_plans_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::from(folder.path());
        let plan_of = |job: &str| {
            let text = format!("[a]\n{job}\n[b]\n{job}\n");
            let folder = WorkloadFolder::new(files.clone());
            workload::plan_in(&text, &Overrides::default(), &folder).0.expect("a plan")
        };
        fs::write(folder.path().join("a.csv"), "1,2\n3,4\n").unwrap();
        let commas = plan_of("query = select ?, ?\nquery-args-file = a.csv");
        let mut known = InputSummaries::default();
        assert_eq!(check(&commas, &files, false, &mut known), Ok(Vec::new()));
        assert_eq!(known.0.len(), 1);
        // The file is malformed from here on, which only a new reading notices.
        fs::write(folder.path().join("a.csv"), "1,2\n3\n").unwrap();
        assert_eq!(check(&commas, &files, false, &mut known), Ok(Vec::new()));
        let errors = check(&commas, &files, false, &mut InputSummaries::default()).unwrap_err();
        assert_eq!(errors.len(), 2);
        assert!(errors[1].message.starts_with("line 2 of `a.csv`"), "{}", errors[1].message);
        let semicolons =
            plan_of("query = select ?\nquery-args-file = a.csv\nquery-args-delim = ';'");
        assert_eq!(check(&semicolons, &files, false, &mut known), Ok(Vec::new()));
        assert_eq!(known.0.len(), 2);
    }
}
