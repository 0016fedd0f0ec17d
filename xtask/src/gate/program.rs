//! The program that the gates run.

use std::path::{Path, PathBuf};

/// Returns the path of the release build of `bench`.
pub(super) fn program(root: &Path) -> PathBuf {
    root.join("target/release/bench")
}
