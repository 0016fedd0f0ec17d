//! The folder for temporary files of the tests.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder within the one for temporary files, removed with its content when it is dropped.
///
/// Test servers make and remove thousands of files a minute. An ext4 file system without a journal
/// reuses the place of a removed file only minutes later, and looks at all such places of a part of
/// the disk for each new file there, which can take a second for the folder of one server. The
/// attribute `T` (chattr(1)) spreads the folders over all parts of the disk.
pub(super) struct Scratch(TempDir);

impl Scratch {
    /// Makes the folder. The accounts of servers can enter it.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn new() -> Result<Scratch, String> {
        let mut folder = tempfile::Builder::new();
        folder.prefix("assay-tests-").permissions(Permissions::from_mode(0o755));
        let folder = folder.tempdir().map_err(|error| format!("test: no folder: {error}"))?;
        let mut spread = Command::new("chattr");
        spread.arg("+T").arg(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        // Other file systems have no such attribute and no need of it.
        let _ = spread.status();
        Ok(Scratch(folder))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_account_can_enter_the_folder_and_it_is_removed() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_path_buf();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        std::fs::write(path.join("file"), "").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
