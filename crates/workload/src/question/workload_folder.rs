//! Access to the files that the workload file of an experiment names.

use std::io;

use crate::folder::Folder;

/// The folder of a workload file, which may lie below the folder of the experiment file.
pub(super) struct WorkloadFolder<'f> {
    /// The folder of the experiment file.
    outer: &'f dyn Folder,
    /// Path from the folder of the experiment file to the folder of the workload file; empty, or
    /// with a `/` at its end.
    path: String,
}

impl<'f> WorkloadFolder<'f> {
    /// Returns the folder of the workload file with this name.
    pub(super) fn of(workload: &str, outer: &'f dyn Folder) -> WorkloadFolder<'f> {
        let length = workload.rfind('/').map_or(0, |slash| slash + 1);
        WorkloadFolder { outer, path: workload[..length].to_owned() }
    }

    fn name(&self, name: &str) -> String {
        match name.starts_with('/') {
            true => name.to_owned(),
            false => format!("{}{name}", self.path),
        }
    }
}

impl Folder for WorkloadFolder<'_> {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        self.outer.read(&self.name(name), limit)
    }

    fn is_known_missing(&self, name: &str) -> bool {
        self.outer.is_known_missing(&self.name(name))
    }

    fn is_unread(&self) -> bool {
        self.outer.is_unread()
    }
}
