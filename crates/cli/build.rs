//! Determines the commit that the program is built from, for its records and `--version`.

use std::path::Path;
use std::process::Command;

/// The root of the sources, relative to this crate.
const ROOT: &str = "../..";

fn main() {
    // Uncommitted changes are reported as well, so every source counts. A missing path would count
    // as changed each time.
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"]).unwrap_or_default();
    for path in [head.as_str(), "../../Cargo.lock", ".."] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    match commit() {
        Some(commit) => {
            println!("cargo::rustc-env=ASSAY_COMMIT={commit}");
            println!("cargo::rustc-env=ASSAY_VERSION={version} ({commit})");
        }
        None => println!("cargo::rustc-env=ASSAY_VERSION={version}"),
    }
}

/// Returns the commit; `None` without git, or if the sources are not a repository of their own,
/// because they may lie within an unrelated one.
fn commit() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let is_ours = Path::new(&top).canonicalize().ok()? == Path::new(ROOT).canonicalize().ok()?;
    let words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    git(&words).filter(|commit| is_ours && !commit.is_empty())
}

fn git(words: &[&str]) -> Option<String> {
    let shown =
        Command::new("git").args(words).output().ok().filter(|shown| shown.status.success())?;
    Some(String::from_utf8(shown.stdout).ok()?.trim().to_owned())
}
