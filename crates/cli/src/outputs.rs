//! Checks that the output files of a run overwrite nothing that is needed.
//!
//! A results file is emptied before the run, and so is dbbench's file with a row per request. Under
//! another name, or through a link, such a file may be a database, an input file, the workload
//! itself, or another output of the run.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
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
    /// The file of the test cases.
    pub(crate) cases: Option<&'a Path>,
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
    let mut known = needed_files(file, outputs.record)?;
    if let Some(log) = outputs.op_log
        && let Some(what) = known.add(ProtectedFile::new(&log.path, log.format.title()))
    {
        return Err(log_collision(log, what));
    }
    for job in file.plan.jobs_and_parts().map(JobOrPart::requests) {
        let Some(results) = &job.results else { continue };
        let what = format!("the results file of [{}]", job.section);
        if let Some(what) = known.add(ProtectedFile::new(file.files.output(results), what)) {
            return Err(file.complain(collision(job, results, what)));
        }
        if outputs.record.is_some() {
            let allowed = file.files.check_creatable(results);
            allowed.map_err(|error| file.complain(cannot_create_results(job, results, &error)))?;
        }
    }
    known.add_new(outputs.cases, CASES)
}

/// Checks that the new files of a command without results files and op-log, such as `assay load`,
/// are different files from the inputs, the workload file, the databases, and each other.
///
/// # Errors
/// A new file is needed for another purpose.
pub(crate) fn check_new_files(
    file: &WorkloadFile,
    record: Option<&Path>,
    cases: Option<&Path>,
) -> Result<(), Complaint> {
    needed_files(file, record)?.add_new(cases, CASES)
}

/// Checks that the record of an observation is a different file from the observed database.
///
/// # Errors
/// It is the same file.
pub(crate) fn check_observation(target: Option<&Target>, record: &Path) -> Result<(), Complaint> {
    let mut known = KnownFiles::default();
    for protected in target.into_iter().flat_map(database) {
        known.add(protected);
    }
    known.add_new(Some(record), "the record of the run")
}

/// Description of the file with the test cases.
const CASES: &str = "the file of --junit";

/// Returns the files that a run needs, among them its record.
fn needed_files(file: &WorkloadFile, record: Option<&Path>) -> Result<KnownFiles, Complaint> {
    let mut known = KnownFiles::default();
    for protected in protected_files(file) {
        known.add(protected);
    }
    known.add_new(record, "the record of the run")?;
    Ok(known)
}

impl ProtectedFile {
    fn new(path: impl Into<PathBuf>, what: impl Into<String>) -> ProtectedFile {
        ProtectedFile { path: path.into(), what: what.into() }
    }
}

/// The files that must not be overwritten, each with its first description. A lookup costs the same
/// for any number of files.
#[derive(Default)]
struct KnownFiles(HashMap<FileKey, String>);

impl KnownFiles {
    /// Adds a file. Returns its first description if it was added before, under any name.
    fn add(&mut self, file: ProtectedFile) -> Option<&str> {
        match self.0.entry(FileKey::of(&file.path)?) {
            Entry::Occupied(known) => Some(known.into_mut().as_str()),
            Entry::Vacant(free) => {
                free.insert(file.what);
                None
            }
        }
    }

    /// Adds a new file of the run, if `path` names one; `what` is its description. A new database
    /// at the same path is an error, too: the database would be created there first.
    ///
    /// # Errors
    /// The file was added before, under any name.
    fn add_new(&mut self, path: Option<&Path>, what: &str) -> Result<(), Complaint> {
        let Some(path) = path else { return Ok(()) };
        match self.add(ProtectedFile::new(path, what)) {
            None => Ok(()),
            Some(other) => {
                let sentence = format!("`{}` is both {what} and {other}", path.display());
                Err(Complaint::new(sentence).help("give each a name of its own"))
            }
        }
    }
}

/// The identity of a file, independent of the path that leads to it.
#[derive(Debug, PartialEq, Eq, Hash)]
enum FileKey {
    /// Device and inode number of an existing regular file.
    Existing(u64, u64),
    /// Absolute path of a file that does not exist.
    New(PathBuf),
}

impl FileKey {
    /// Returns the identity of a file. `None` for a folder, for a pipe or device, which may be
    /// opened several times, and for a new file whose folder does not exist.
    fn of(path: &Path) -> Option<FileKey> {
        match fs::metadata(path) {
            Ok(file) => file.is_file().then(|| FileKey::Existing(file.dev(), file.ino())),
            Err(_) => path_at_creation(path).map(FileKey::New),
        }
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

/// Returns the absolute path at which a file would be created.
fn path_at_creation(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_file_have_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("old"), "").unwrap();
        fs::write(at("other"), "").unwrap();
        std::os::unix::fs::symlink("old", at("link")).unwrap();
        for (one, other, expected) in [
            ("old", "link", true),
            ("old", "sub/../old", true),
            ("old", "other", false),
            ("old", "new", false),
            ("new", "sub/../new", true),
            ("new", "sub/new", false),
            // A folder is no file, and a file cannot be created in a folder that does not exist.
            ("sub", "sub", false),
            ("none/new", "none/new", false),
        ] {
            let [first, second] = [one, other].map(|name| FileKey::of(&at(name)));
            assert_eq!(first.is_some() && first == second, expected, "{one} {other}");
        }
        assert_eq!(FileKey::of(Path::new("/dev/null")), None);
    }

    #[test]
    fn file_keeps_its_first_description() {
        let folder = tempfile::tempdir().unwrap();
        let mut known = KnownFiles::default();
        let path = folder.path().join("a.csv");
        assert_eq!(known.add(ProtectedFile::new(&path, "first")), None);
        assert_eq!(known.add(ProtectedFile::new(&path, "second")), Some("first"));
        assert_eq!(known.add(ProtectedFile::new(path, "third")), Some("first"));
    }
}
