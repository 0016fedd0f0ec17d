//! From a path and overrides to a plan, with all complaints on the way.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use base::{Diagnostic, Endpoint, Severity, Source, Target, TargetKind};
use workload::{Arrival, Overrides, Plan};

use crate::args::{ArrivalArg, FileArgs};
use crate::complain::Complaint;

/// A workload file that was understood.
pub(crate) struct WorkloadFile {
    /// The file's text, for complaints about its statements.
    pub(crate) source: Source,
    /// What it asks for.
    pub(crate) plan: Plan,
}

/// What a folder's experiment is called.
const EXPERIMENT: &str = "experiment.ini";

/// Reads, parses and checks a workload file. Warnings are printed on the way.
///
/// # Errors
/// The file cannot be read, is no text, or asks for something that makes no sense.
pub(crate) fn read(args: &FileArgs) -> Result<WorkloadFile, Complaint> {
    let overrides = overrides(args)?;
    let path = path(&args.file)?;
    let text = read_text(&path)?;
    let source = Source { name: path.display().to_string(), text };
    let (plan, diagnostics) = workload::plan(&source.text, &overrides);
    match plan {
        Some(plan) => {
            if !diagnostics.is_empty() {
                Complaint::about(&source, &diagnostics).print();
            }
            Ok(WorkloadFile { source, plan })
        }
        None => Err(Complaint::about(&source, &diagnostics)),
    }
}

/// The file that was named, or the experiment of a folder.
fn path(named: &Path) -> Result<PathBuf, Complaint> {
    if !named.is_dir() {
        return Ok(named.to_owned());
    }
    let path = named.join(EXPERIMENT);
    if path.exists() {
        return Ok(path);
    }
    let folder = named.display();
    Err(Complaint::new(format!("the folder `{folder}` has no `{EXPERIMENT}`: name a file in it")))
}

fn read_text(path: &Path) -> Result<String, Complaint> {
    let name = path.display();
    let cannot_read = |error| Complaint::new(format!("cannot read `{name}`: {error}"));
    let file = File::open(path).map_err(cannot_read)?;
    // What is no regular file has no length that could be asked for, and perhaps no end.
    let limit = workload::LARGEST_FILE as u64;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(cannot_read)?;
    if bytes.len() as u64 > limit {
        let limit = limit >> 20;
        return Err(Complaint::new(format!("`{name}` is larger than {limit} MiB")));
    }
    workload::decode(&bytes).map_err(|diagnostic| {
        let source = Source { name: name.to_string(), text: printable(&bytes) };
        Complaint::about(&source, &[diagnostic])
    })
}

/// As much of a file that is no text as can be shown.
fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn overrides(args: &FileArgs) -> Result<Overrides, Complaint> {
    let target = args.url.clone().transpose();
    let target = target.map_err(|error| Complaint::new(format!("--url: {error}")))?;
    Ok(Overrides {
        set: args.set.clone(),
        duration: args.duration,
        warmup: args.warmup,
        arrival: args.arrival.map(|arrival| match arrival {
            ArrivalArg::Poisson => Arrival::Poisson,
            ArrivalArg::Uniform => Arrival::Uniform,
        }),
        seed: args.seed,
        target,
    })
}

impl WorkloadFile {
    /// The target: the command line's, the file's, or a temporary SQLite database.
    pub(crate) fn target(&self) -> Target {
        self.plan.target.clone().unwrap_or(Target {
            kind: TargetKind::Sqlite,
            endpoint: Endpoint::Temporary,
            options: Vec::new(),
        })
    }

    /// A complaint about a place in the file.
    pub(crate) fn complain(&self, span: base::Span, message: String, label: String) -> Complaint {
        let diagnostic =
            Diagnostic { severity: Severity::Error, message, span: Some(span), label, help: None };
        Complaint::about(&self.source, &[diagnostic])
    }
}

/// The name of a file for a record: without the folders that lead to it.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
