//! Parts of the guide that are generated from tables in the code.

use std::path::Path;

/// The reference of the workload language.
const REFERENCE: &str = "docs/reference.md";

/// Writes the generated parts.
pub(crate) fn write(root: &Path) -> Result<String, Vec<String>> {
    std::fs::write(root.join(REFERENCE), workload::reference::markdown())
        .map_err(|error| vec![format!("{REFERENCE}: {error}")])?;
    Ok(format!("{REFERENCE} is written"))
}

/// Returns a complaint if the guide differs from the tables.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(root.join(REFERENCE)).unwrap_or_default();
    compare(&text, &workload::reference::markdown()).into_iter().collect()
}

fn compare(text: &str, made: &str) -> Option<String> {
    let stale = text != made;
    stale.then(|| format!("{REFERENCE} is out of date: run `cargo run -p xtask -- docs`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_reference_is_noticed() {
        assert_eq!(compare("a", "a"), None);
        let complaint = "docs/reference.md is out of date: run `cargo run -p xtask -- docs`";
        assert_eq!(compare("a", "b").as_deref(), Some(complaint));
    }
}
