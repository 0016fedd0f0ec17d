//! The programs that the gates measure.

use std::path::{Path, PathBuf};

/// Returns the path of the release build of `bench`.
pub(super) fn program(root: &Path) -> PathBuf {
    root.join("target/release/bench")
}

/// Returns the path of the release build of `assay`.
pub(super) fn assay(root: &Path) -> PathBuf {
    root.join("target/release/assay")
}
