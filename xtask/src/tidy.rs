//! Checks of the source tree. Each is a function from texts to complaints, and its tests plant a
//! fault.

mod code;
mod cycles;
mod doc_tests;
mod edges;
mod facts;
mod guards;
mod prose;
mod shape;
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs every check. Returns a summary, or the complaints.
pub(crate) fn check(root: &Path) -> Result<String, Vec<String>> {
    let mut complaints = Vec::new();
    let files = match tracked_files(root) {
        Ok(files) => files,
        Err(error) => return Err(vec![error]),
    };
    complaints.extend(edges::check(root));
    complaints.extend(crate::docs::check(root));
    let (mut manifests, mut sources) = (Vec::new(), Vec::new());
    for path in &files {
        let name = path.to_string_lossy();
        let Ok(text) = std::fs::read_to_string(root.join(path)) else { continue };
        complaints.extend(words::check(&name, &text));
        complaints.extend(prose::check(&name, &text));
        if name.ends_with(".rs") {
            complaints.extend(shape::check(&name, &text));
            complaints.extend(facts::check(&name, &text));
            sources.push((name.into_owned(), text));
        } else if name.ends_with("Cargo.toml") {
            manifests.push((name.into_owned(), text));
        }
    }
    complaints.extend(doc_tests::check(&manifests, &sources));
    let architecture = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    complaints.extend(guards::check(&architecture, &sources));
    let cycles = cycles::cycles(&sources);
    complaints.extend(cycles::check(root, &cycles));
    if sources.is_empty() {
        complaints.push("no source file was found: tidy looks in the wrong place".to_owned());
    }
    if complaints.is_empty() {
        let (files, cycles) = (sources.len(), cycles::summary(&cycles));
        let comments = doc_comments(&sources);
        Ok(format!(
            "tidy: {files} source files and the crate edges are in order; {cycles}; {comments}"
        ))
    } else {
        Err(complaints)
    }
}

/// Returns a text with two numbers: the doc comments that open with a relative clause, and all doc
/// comments.
fn doc_comments(sources: &[(String, String)]) -> String {
    let comments = || sources.iter().flat_map(|(_, text)| prose::doc_comments(text));
    let relative = comments().filter(|comment| comment.is_relative()).count();
    format!("{relative} of {} doc comments open with a relative clause", comments().count())
}

/// Returns the files that git tracks, and new files that git does not ignore.
fn tracked_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let listing = String::from_utf8_lossy(&output.stdout);
    let files: Vec<PathBuf> = listing.lines().map(PathBuf::from).collect();
    Ok(files.into_iter().filter(|path| root.join(path).is_file()).collect())
}
