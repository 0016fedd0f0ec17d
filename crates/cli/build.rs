//! Determines the commit that the program is built from, for its records and `--version`, and
//! selects the parts of the guide that the program contains.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The root of the sources, relative to this crate.
const ROOT: &str = "../..";

/// The parts of the guide that `assay explain` prints, by page. Whole pages would make the program
/// larger by 100 kB.
const EXPLAINED: [(&str, &[&str]); 4] = [
    ("environment.md", &["## The doctor"]),
    ("limiter.md", &["## The components"]),
    ("comparing.md", &["## Metrics", "### What is not compared"]),
    ("command-line.md", &["## Exit codes"]),
];

fn main() {
    write_explained_parts();
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

/// Writes the parts of each page of [`EXPLAINED`] to a file of the same name for `guide.rs`.
fn write_explained_parts() {
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    for (page, headings) in EXPLAINED {
        let path = format!("{ROOT}/docs/{page}");
        println!("cargo::rerun-if-changed={path}");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let part = |heading: &&str| {
            part(&text, heading).unwrap_or_else(|| panic!("{path} has no `{heading}`"))
        };
        let parts: String = headings.iter().map(part).collect();
        fs::write(Path::new(&folder).join(page), parts).expect("cargo's folder can be written");
    }
}

/// Returns the part of a page from a heading to the next one; `None` without this heading.
fn part(page: &str, heading: &str) -> Option<String> {
    let (_, after) = page.split_once(&format!("\n{heading}\n"))?;
    let body = after.split("\n#").next()?;
    Some(format!("\n{heading}\n{body}\n"))
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
