//! Gates against regressions. They count bytes and instructions, because times depend on the load
//! of the machine. They run the release build of `bench`, and read the size of the release build of
//! `assay`.

mod attempts;
mod instructions;
mod memory;
mod program;
mod size;

use std::path::Path;

/// Runs the gates, up to the first one that fails. Returns the counts of all gates, or the
/// complaints of the failed one.
pub(crate) fn check(root: &Path) -> Result<String, Vec<String>> {
    let size = size::check(root)?;
    let instructions = instructions::check(root)?;
    let memory = memory::check(root)?;
    Ok(format!("{size}\n{instructions}\n{memory}"))
}
