//! Reads a workload file with overrides into a plan, and reports all errors in them.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use base::{Endpoint, Nanos, SourceText, Target, TargetError};
use confine::{Files, Reach};
use lab::TargetProblem;
use workload::{Arrival, JobTarget, Overrides, Plan, Rates, Warmup};

use crate::args::{ArrivalArg, FileArgs, Url};
use crate::builtin;
use crate::complain::Complaint;
use crate::experiment_file::{self, ExperimentFile};
use crate::inputs::{self, InputSummaries};
use crate::outputs::{self, Outputs};
use crate::trust;
use crate::workload_file::WorkloadFile;
use crate::workload_folder::{WorkloadFolder, folder_of};

/// The name of the file that is read if the command line names a folder.
pub(crate) const EXPERIMENT_FILE: &str = "experiment.ini";

/// The purpose for which a workload file is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadPurpose<'a> {
    /// True if time is simulated.
    pub(crate) is_virtual: bool,
    /// The record, if the command line names it.
    pub(crate) record: Option<&'a Path>,
}

/// Reads, parses and checks a workload file and its target, and prints warnings. The commands on
/// workload files begin with this function or [`read_any`], so they all report the same errors of a
/// file and a URL.
///
/// # Errors
/// The file cannot be read, is not a text, has an error, or asks for something that is impossible
/// or not permitted; or the URL is invalid.
pub(crate) fn read(args: &FileArgs, reading: ReadPurpose<'_>) -> Result<WorkloadFile, Complaint> {
    warn_of_password(args.url.as_ref());
    let (source, path, overrides) = read_source(args)?;
    check_workload(args, source, path, &overrides, reading)
}

/// A file that asks for one run or for an experiment.
pub(crate) enum AnyFile {
    /// A workload file.
    Workload(Box<WorkloadFile>),
    /// An experiment file.
    Experiment(Box<ExperimentFile>),
}

/// Reads a workload file, as [`read`] does, or an experiment file.
///
/// # Errors
/// As for [`read`].
pub(crate) fn read_any(args: &FileArgs, reading: ReadPurpose<'_>) -> Result<AnyFile, Complaint> {
    warn_of_password(args.url.as_ref());
    let (source, path, overrides) = read_source(args)?;
    if workload::question::is_experiment(&source.text) {
        let file = experiment_file::read(args, source, path, &overrides, reading.is_virtual)?;
        return Ok(AnyFile::Experiment(Box::new(file)));
    }
    let file = check_workload(args, source, path, &overrides, reading)?;
    Ok(AnyFile::Workload(Box::new(file)))
}

/// Checks the text of a workload file and its target.
fn check_workload(
    args: &FileArgs,
    source: SourceText,
    path: PathBuf,
    overrides: &Overrides,
    reading: ReadPurpose<'_>,
) -> Result<WorkloadFile, Complaint> {
    let is_virtual = reading.is_virtual;
    let file = read_plan(args, source, path, overrides, reading)?;
    trust::check_files(&file, args)?;
    trust::warn_of_secret_settings(args, &file.plan);
    warn_of_unused_url(args, &file.plan);
    let admitted = lab::check_targets(&file.plan, &file.target(), is_virtual);
    admitted.map_err(|problem| match (&problem, &args.url) {
        (
            TargetProblem::NotSimulated
            | TargetProblem::Programs
            | TargetProblem::NoTimePasses { .. },
            _,
        ) => Complaint::of(&problem),
        (TargetProblem::Of(..), _) => Complaint::new(format!("{}: {problem}", file.source.name)),
        (_, Some(_)) => url_complaint(&problem),
        (_, None) => Complaint::new(format!("`url` in {}: {problem}", file.source.name)),
    })?;
    trust::warn_of_ignored_password_files(trust::used_targets(&file.plan));
    Ok(file)
}

/// Warns of a password on the command line, which every list of processes shows.
fn warn_of_password(url: Option<&Url>) {
    let has_password = url.and_then(|url| url.as_ref().ok()).is_some_and(|target| {
        matches!(&target.endpoint, Endpoint::Network { password: Some(_), .. })
    });
    if has_password {
        let sentence = "the password on the command line can be seen in the list of processes: \
                        leave it out";
        Complaint::warning(sentence).print();
    }
}

/// Warns of a URL on the command line that the plan does not use.
fn warn_of_unused_url(args: &FileArgs, plan: &Plan) {
    if args.url.is_some() && !plan.uses(JobTarget::Main) {
        let sentence = "no job uses the target of the command line: every job of the file has a \
                        [target NAME] or runs a program";
        Complaint::warning(sentence).print();
    }
}

/// Returns the complaint about the option `--url`.
fn url_complaint(problem: &impl std::error::Error) -> Complaint {
    Complaint::new(format!("--url: {problem}"))
}

/// Adds the remedy of the error to the complaint about an invalid URL, if the error has a remedy.
fn with_remedy(complaint: Complaint, error: &TargetError) -> Complaint {
    match error.remedy() {
        Some(remedy) => complaint.help(remedy),
        None => complaint,
    }
}

/// Returns the target of a URL that is an argument of a command; `None` without one.
///
/// # Errors
/// The URL is invalid.
pub(crate) fn target_of(url: Option<&Url>) -> Result<Option<Target>, Complaint> {
    warn_of_password(url);
    let target = url.cloned().transpose();
    let target =
        target.map_err(|error| with_remedy(Complaint::new(format!("the URL: {error}")), &error))?;
    trust::warn_of_ignored_password_files(&target);
    Ok(target)
}

/// Returns the text of the file, its path, and the settings that override it.
fn read_source(args: &FileArgs) -> Result<(SourceText, PathBuf, Overrides), Complaint> {
    // The options are checked first: an error in an option is not an error of the file.
    let overrides = overrides(args)?;
    let path = resolve_path(&args.file)?;
    let text = read_text(&path)?;
    let name = args
        .unpacked
        .as_ref()
        .map_or_else(|| path.display().to_string(), |unpacked| unpacked.name(&path));
    Ok((SourceText { name, text }, path, overrides))
}

fn read_plan(
    args: &FileArgs,
    source: SourceText,
    path: PathBuf,
    overrides: &Overrides,
    reading: ReadPurpose<'_>,
) -> Result<WorkloadFile, Complaint> {
    let folder = WorkloadFolder::new(file_access(args, &path, reading.record));
    let (plan, diagnostics) = workload::plan_in(&source.text, overrides, &folder);
    match plan {
        Some(plan) => {
            let mut warnings = diagnostics;
            let WorkloadFolder { files, read } = folder;
            let file = WorkloadFile { source, path, files, parts: read.into_inner(), plan };
            let mut known = InputSummaries::default();
            match inputs::check(&file.plan, &file.files, reading.is_virtual, &mut known) {
                Ok(more) => warnings.extend(more),
                Err(errors) => return Err(Complaint::about(&file.source, &errors)),
            }
            outputs::check_distinct(&file, &Outputs::default())?;
            if !warnings.is_empty() {
                Complaint::about(&file.source, &warnings).print();
            }
            Ok(file)
        }
        None => Err(Complaint::about(&source, &diagnostics)),
    }
}

/// Returns the access to files that a workload file may name. Results go next to the record;
/// dbbench's results go next to its other files.
fn file_access(args: &FileArgs, path: &Path, record: Option<&Path>) -> Files {
    let inputs = args.folder.clone().unwrap_or_else(|| folder_of(path));
    let outputs = match (args.rates, record) {
        (Rates::AsDbbench, _) => inputs.clone(),
        (_, Some(record)) => folder_of(record),
        (_, None) => PathBuf::from("."),
    };
    let reach = if args.allow_files { Reach::Anywhere } else { Reach::Folder };
    Files { inputs, outputs, reach }
}

/// Returns the given file, or the `experiment.ini` of a folder.
fn resolve_path(named: &Path) -> Result<PathBuf, Complaint> {
    if !named.is_dir() {
        return Ok(named.to_owned());
    }
    let path = named.join(EXPERIMENT_FILE);
    if path.exists() {
        return Ok(path);
    }
    let folder = named.display();
    Err(Complaint::new(format!(
        "the folder `{folder}` has no `{EXPERIMENT_FILE}`: name a file in it"
    )))
}

fn read_text(path: &Path) -> Result<String, Complaint> {
    let name = path.display();
    let cannot_read = |error: std::io::Error| {
        Complaint::new(format!("cannot read `{name}`: {error}")).help(remedy(error.kind(), path))
    };
    let file = File::open(path).map_err(cannot_read)?;
    // A file that is not regular has no known length, and perhaps no end.
    let limit = workload::LARGEST_FILE as u64;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(cannot_read)?;
    if bytes.len() as u64 > limit {
        let limit = limit >> 20;
        let complaint = Complaint::new(format!("`{name}` is larger than {limit} MiB"));
        return Err(complaint.help("a workload file is a text of some lines: is this one?"));
    }
    workload::decode(&bytes).map_err(|diagnostic| {
        let source = SourceText { name: name.to_string(), text: lossy_text(&bytes) };
        Complaint::about(&source, &[diagnostic])
    })
}

/// Returns the remedy for a file that cannot be read.
fn remedy(kind: ErrorKind, path: &Path) -> String {
    if let (ErrorKind::NotFound, Some(builtin)) = (kind, path.to_str().and_then(builtin::find)) {
        let (name, file) = (builtin.name(), builtin.file);
        return format!("it comes with the program: `assay workloads {name} > {file}`");
    }
    if path == Path::new("-") {
        return "`-` is not a stream: write `/dev/stdin` to read the file from a pipe".to_owned();
    }
    match (kind, std::env::current_dir()) {
        (ErrorKind::NotFound, Ok(here)) => {
            format!(
                "check the name; without a leading `/` it is looked for in `{}`",
                here.display()
            )
        }
        (ErrorKind::PermissionDenied, _) => {
            "give yourself the right to read it, or name another file".to_owned()
        }
        _ => "name a workload file, which is a text: `assay run --help` shows its keys".to_owned(),
    }
}

/// Converts the content of a file that is not a text, for display. Bytes that are not UTF-8 are
/// replaced.
fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the settings of the command line that override settings of the file.
pub(crate) fn overrides(args: &FileArgs) -> Result<Overrides, Complaint> {
    let target = args.url.clone().transpose();
    let target = target.map_err(|error| with_remedy(url_complaint(&error), &error))?;
    let arrival = args.arrival.map(|arrival| match arrival {
        ArrivalArg::Poisson => Arrival::Poisson,
        ArrivalArg::Uniform => Arrival::Uniform,
    });
    let overrides = Overrides { target, arrival, rates: args.rates, ..Overrides::default() };
    let globals = [
        ("duration", args.duration.as_ref().map(Nanos::to_string)),
        ("warmup", args.warmup.as_ref().map(Warmup::to_string)),
        ("seed", args.seed.map(|seed| seed.0.to_string())),
        ("max-connections", args.max_connections.map(|most| most.to_string())),
    ];
    let globals = globals.into_iter().filter_map(|(key, value)| Some((key, value?)));
    let overrides = globals.fold(overrides, |all, (key, value)| all.with_global(key, value));
    Ok(args.set.iter().fold(overrides, |all, (name, value)| all.with_param(name, value)))
}
