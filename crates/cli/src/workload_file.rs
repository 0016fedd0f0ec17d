//! From a path and overrides to a plan, with all complaints on the way.

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
    let path = if args.file.is_dir() { args.file.join(EXPERIMENT) } else { args.file.clone() };
    let text = read_text(&path)?;
    let source = Source { name: path.display().to_string(), text };
    let (plan, diagnostics) = workload::plan(&source.text, &overrides(args));
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

fn read_text(path: &PathBuf) -> Result<String, Complaint> {
    let name = path.display();
    let metadata = std::fs::metadata(path)
        .map_err(|error| Complaint::new(format!("cannot read `{name}`: {error}")))?;
    if metadata.len() > workload::LARGEST_FILE as u64 {
        let limit = workload::LARGEST_FILE / (1 << 20);
        return Err(Complaint::new(format!("`{name}` is larger than {limit} MiB")));
    }
    let bytes = std::fs::read(path)
        .map_err(|error| Complaint::new(format!("cannot read `{name}`: {error}")))?;
    workload::decode(&bytes).map_err(|diagnostic| {
        let source = Source { name: name.to_string(), text: printable(&bytes) };
        Complaint::about(&source, &[diagnostic])
    })
}

/// As much of a file that is no text as can be shown.
fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn overrides(args: &FileArgs) -> Overrides {
    Overrides {
        set: args.set.clone(),
        duration: args.duration,
        warmup: args.warmup,
        arrival: args.arrival.map(|arrival| match arrival {
            ArrivalArg::Poisson => Arrival::Poisson,
            ArrivalArg::Uniform => Arrival::Uniform,
        }),
        seed: args.seed,
        target: args.url.clone(),
    }
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
