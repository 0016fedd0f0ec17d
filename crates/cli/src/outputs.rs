//! Checks that the output files of a run overwrite nothing that is needed.
//!
//! A results file is emptied before the run, and so is dbbench's file with a row per request. Under
//! another name, or through a link, such a file may be a database, an input file, the workload
//! itself, or another output of the run.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use archive::OpLogPlan;
use base::{Diagnostic, Endpoint, Target, with_suffix};
use workload::{JobOrPart, Plan, Requests};

use crate::complain::Complaint;
use crate::workload_file::WorkloadFile;

/// A file that must not be overwritten, and a description of it.
struct ProtectedFile {
    path: PathBuf,
    what: String,
}

/// The outputs of a run besides the results files of its jobs.
#[derive(Debug, Default)]
pub(crate) struct Outputs<'a> {
    /// The path of the record, if already known.
    pub(crate) record: Option<&'a Path>,
    /// The file with one row per request.
    pub(crate) op_log: Option<&'a OpLogPlan>,
}

/// Returns the complaint about a new file that cannot be written; `option` is the option with which
/// the user can name another file.
pub(crate) fn cannot_write(path: &Path, error: &io::Error, option: &str) -> Complaint {
    let shown = path.display();
    match error.kind() {
        ErrorKind::AlreadyExists => {
            Complaint::new(format!("`{shown}` exists, and a file is never overwritten"))
                .help(format!("name another file with {option}, or move this one away"))
        }
        kind => {
            let remedy = match kind {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                    format!(
                        "make room on its disk, or name a new file on another one with {option}"
                    )
                }
                _ => format!("name a new file with {option} in a folder that can be written"),
            };
            Complaint::new(format!("cannot write `{shown}`: {error}")).help(remedy)
        }
    }
}

/// Writes a new file; nothing is overwritten. A file that cannot be written completely is removed,
/// because it could be mistaken for a complete one.
///
/// # Errors
/// The file exists, or the operating system cannot write it.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = file.write_all(bytes);
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// Checks that each output is a different file from the inputs, the workload file, the databases,
/// and the other outputs.
///
/// # Errors
/// Two keys or options name the same file; the first such pair is reported. If the record is known:
/// a results file may not be created.
pub(crate) fn check_distinct(file: &WorkloadFile, outputs: &Outputs<'_>) -> Result<(), Complaint> {
    let mut protected = protected_files(file);
    protected.extend(outputs.record.map(|path| ProtectedFile::new(path, "the record of the run")));
    if let Some(log) = outputs.op_log {
        if let Some(other) = protected.iter().find(|other| is_same(&log.path, &other.path)) {
            return Err(log_collision(log, &other.what));
        }
        protected.push(ProtectedFile::new(&log.path, log.format.title()));
    }
    for job in file.plan.jobs_and_parts().map(JobOrPart::requests) {
        let Some(results) = &job.results else { continue };
        let path = file.files.output(results);
        if let Some(other) = protected.iter().find(|other| is_same(&path, &other.path)) {
            return Err(file.complain(collision(job, results, &other.what)));
        }
        if outputs.record.is_some() {
            let allowed = file.files.check_creatable(results);
            allowed.map_err(|error| file.complain(cannot_create_results(job, results, &error)))?;
        }
        protected.push(ProtectedFile::new(path, format!("the results file of [{}]", job.section)));
    }
    Ok(())
}

impl ProtectedFile {
    fn new(path: impl Into<PathBuf>, what: impl Into<String>) -> ProtectedFile {
        ProtectedFile { path: path.into(), what: what.into() }
    }
}

/// Returns the files that a workload reads, and the files of its databases.
fn protected_files(file: &WorkloadFile) -> Vec<ProtectedFile> {
    let feeds = file.plan.jobs_and_parts().map(JobOrPart::requests).filter_map(|job| {
        let path = file.files.input(&job.feed.as_ref()?.file);
        Some(ProtectedFile::new(path, format!("the file that [{}] reads", job.section)))
    });
    let more = file.parts.iter();
    let more = more.map(|path| ProtectedFile::new(path, "a file that the workload is made of"));
    let workload = [ProtectedFile::new(&file.path, "the workload file")];
    feeds.chain(databases(&file.plan)).chain(more).chain(workload).collect()
}

/// Returns the files of the databases that this process itself opens, those of SQLite.
fn databases(plan: &Plan) -> impl Iterator<Item = ProtectedFile> {
    let named = plan.targets.iter().map(|named| &named.target);
    plan.target.iter().chain(named).flat_map(database)
}

/// Returns the file of a database, and the files that SQLite keeps next to it: they may hold data
/// that is not yet in the database file.
fn database(target: &Target) -> Vec<ProtectedFile> {
    let Endpoint::File(path) = &target.endpoint else { return Vec::new() };
    let beside = ["-wal", "-shm", "-journal"].map(|suffix| {
        ProtectedFile::new(with_suffix(path, suffix), "a part of the database of the run")
    });
    [ProtectedFile::new(path, "the database of the run")].into_iter().chain(beside).collect()
}

fn collision(job: &Requests, results: &str, what: &str) -> Diagnostic {
    let section = &job.section;
    let message = format!("the results file `{results}` of [{section}] is {what}, and is emptied");
    Diagnostic::error(job.span, message).help("give the results a file of their own")
}

/// Returns the error for a results file that may not be created.
fn cannot_create_results(job: &Requests, results: &str, error: &std::io::Error) -> Diagnostic {
    let section = &job.section;
    let message = format!("the results file `{results}` of [{section}] cannot be made: {error}");
    let help = match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "without that flag, results are new files `NAME.csv` in the folder of the record"
        }
        _ => "name a file in a folder that exists",
    };
    Diagnostic::error(job.span, message).help(help)
}

fn log_collision(log: &OpLogPlan, what: &str) -> Complaint {
    let (title, path) = (log.format.title(), log.path.display());
    Complaint::new(format!("{title} `{path}` is {what}: it would be overwritten"))
        .help("name a file that nothing else needs")
}

/// Returns true if two paths lead to the same regular file; a file that does not exist is
/// identified by its folder and its name.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        // A pipe or device may be opened several times.
        (Ok(one), Ok(other)) => one.is_file() && is_same_file(&one, &other),
        (Err(_), Err(_)) => {
            let path = path_at_creation(one);
            path.is_some() && path == path_at_creation(other)
        }
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Returns the absolute path at which a file would be created.
fn path_at_creation(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}
