//! A parsed workload file.

use std::path::{Path, PathBuf};

use base::{Diagnostic, Endpoint, SourceText, Target, TargetKind};
use confine::Files;
use workload::Plan;

use crate::complain::Complaint;

/// A parsed workload file, with its text, its path and the files read with it.
pub(crate) struct WorkloadFile {
    /// The file's text, for complaints about its statements.
    pub(crate) source: SourceText,
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// Access to the files that the workload file names.
    pub(crate) files: Files,
    /// Paths of the other files that the workload is made of. The files that supply requests are
    /// not among them.
    pub(crate) parts: Vec<PathBuf>,
    /// The checked content of the file.
    pub(crate) plan: Plan,
}

impl WorkloadFile {
    /// Returns the main target: the command line's, the file's, or a temporary SQLite database.
    pub(crate) fn target(&self) -> Target {
        self.plan.target.clone().unwrap_or(Target {
            kind: TargetKind::Sqlite,
            endpoint: Endpoint::Temporary,
            options: Vec::new(),
        })
    }

    /// Returns a complaint that shows the place of a diagnostic in the file.
    pub(crate) fn complain(&self, diagnostic: Diagnostic) -> Complaint {
        Complaint::about(&self.source, &[diagnostic])
    }
}

/// Returns the file name without its folders, for a record.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
