//! What must not drift, counted instead of timed, so that it does not depend on how busy the
//! machine is. Runs the released `bench`.

mod instructions;
mod memory;

use std::path::{Path, PathBuf};

/// Runs every gate. Returns what was counted, or one complaint per line.
pub(crate) fn check(root: &Path) -> Result<String, Vec<String>> {
    let instructions = instructions::check(root)?;
    let memory = memory::check(root)?;
    Ok(format!("{instructions}\n{memory}"))
}

/// The released benchmark.
fn program(root: &Path) -> PathBuf {
    root.join("target/release/bench")
}
