//! Results files: the rows that statements return.
//!
//! The files are opened just before the measured phase and closed when their jobs have ended. If a
//! file cannot be written, the run ends and reports the file.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use archive::{FileHealth, ResultsFile, ResultsHandle, WriteFailure, WriteResult};
use base::{AccountId, ById, RowMemory, Stamp};
use record::Pace;
use workload::{JobOrPart, Plan};

use crate::error::{Location, RunFailure};
use crate::options::Options;
use crate::stop::Stop;

/// A results file that could not be written to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// The account of the job or part whose rows the file receives.
    pub account: AccountId,
    /// Time at which the failure was noticed, on the run's clock; `None` in virtual time, or if the
    /// failure was noticed only at the end of the run.
    pub at: Option<Stamp>,
    /// The message, which names the file and the cause.
    pub text: String,
}

/// The results files of a run.
pub(crate) struct Results {
    files: Vec<JobResultsFile>,
    pace: Pace,
}

struct JobResultsFile {
    account: AccountId,
    section: String,
    path: String,
    /// True if a job of the run reads the file, which is then a pipe.
    feeds_job: bool,
    file: ResultsFile,
}

/// Sinks for the results files: of a lane, indexed by account, or of a job, indexed by part. `None`
/// for an account or part without a results file.
pub(crate) type RowSinks<I> = ById<I, Option<ResultsHandle>>;

impl Results {
    /// Opens the results files of a plan. `health` is set to broken when a file fails.
    ///
    /// # Errors
    /// A file cannot be opened.
    pub(crate) fn open(
        plan: &Plan,
        options: &Options,
        health: &FileHealth,
    ) -> Result<(Results, RowSinks<AccountId>), RunFailure> {
        let pace = if options.is_virtual { Pace::Virtual } else { Pace::Real };
        let unbound = options.unbound_processors();
        let memory = RowMemory::default();
        let (mut files, mut sinks) = (Vec::new(), RowSinks::default());
        for (account, either) in (0..).map(AccountId).zip(plan.jobs_and_parts()) {
            let Some(path) = &either.requests().results else {
                sinks.push(None);
                continue;
            };
            let made = unbound.while_bound(|| match options.files.create(path)? {
                Some(file) => ResultsFile::start(file, pace, health.clone(), &memory),
                None => {
                    let path = options.files.output(path);
                    ResultsFile::create(&path, pace, health.clone(), &memory)
                }
            });
            let (file, handle) = made.map_err(|error| cannot_open(either, path, error))?;
            let section = either.name().to_owned();
            let feeds_job = feeds_job(plan, &options.files, path);
            files.push(JobResultsFile { account, section, path: path.clone(), feeds_job, file });
            sinks.push(Some(handle));
        }
        Ok((Results { files, pace }, sinks))
    }

    /// Waits until every file is written and closed. Stops waiting after an immediate stop, and for
    /// a file that makes no progress for about ten seconds. Returns the faults of the files.
    pub(crate) fn finish(self, stop: &Stop) -> Vec<FileFault> {
        let Results { files, pace } = self;
        let faults = files.into_iter().filter_map(|file| file.finish(stop));
        // Failures are stamped with the machine's clock; in virtual time, the run's clock is a
        // different one.
        faults
            .map(|fault| FileFault { at: fault.at.filter(|_| pace == Pace::Real), ..fault })
            .collect()
    }
}

/// Returns true if a job of the plan reads the results file at this path.
fn feeds_job(plan: &Plan, files: &confine::Files, path: &str) -> bool {
    let written = fs::canonicalize(files.output(path)).ok();
    let is_written = |feed: &str| fs::canonicalize(files.input(feed)).ok() == written;
    let mut feeds = plan.jobs_and_parts().filter_map(|either| either.requests().feed.as_ref());
    written.is_some() && feeds.any(|feed| is_written(&feed.file))
}

impl JobResultsFile {
    fn finish(self, stop: &Stop) -> Option<FileFault> {
        let JobResultsFile { account, section, path, feeds_job, file } = self;
        let WriteResult { bytes, lines, failure } = file.finish(|| !stop.is_at_once());
        let WriteFailure { at, cause } = failure?;
        // The job that reads the pipe may end first, and needs no more rows then.
        if feeds_job && cause.kind() == ErrorKind::BrokenPipe {
            return None;
        }
        let line = lines + 1;
        let text = format!(
            "the results file `{path}` of [{section}] could not be written: {cause}, in line \
             {line} after {bytes} bytes"
        );
        Some(FileFault { account, at, text })
    }
}

fn cannot_open(either: JobOrPart<'_>, path: &str, error: std::io::Error) -> RunFailure {
    let (section, span) = (either.name().to_owned(), either.requests().span);
    let place = Location { section, statement: None, span, script: None };
    RunFailure::File { place, path: PathBuf::from(path), error }
}
