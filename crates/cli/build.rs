//! Determines the commit that the program is built from, for its records and `--version`, selects
//! the parts of the guide that the program contains, and makes the program smaller.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The root of the sources, relative to this crate.
const ROOT: &str = "../..";

/// The parts of the guide whose tables `assay explain` prints: page, heading, and the name of the
/// file for `guide.rs`. Whole pages would make the program larger by 100 kB.
const EXPLAINED: [(&str, &str, &str); 5] = [
    ("environment.md", "## The doctor", "doctor.md"),
    ("limiter.md", "## The components", "limiters.md"),
    ("comparing.md", "## Metrics", "metrics.md"),
    ("comparing.md", "### What is not compared", "objections.md"),
    ("command-line.md", "## Exit codes", "exit_codes.md"),
];

/// The files and folders that the program is built from, relative to the root of the sources. None
/// of them contains a folder `target`, which changes with each build.
const SOURCES: [&str; 8] =
    [".cargo", "Cargo.lock", "Cargo.toml", "crates", "docs", "lib", "schemas", "workloads"];

fn main() {
    write_explained_parts();
    fold_identical_code();
    // Uncommitted changes are reported as well, so a change of any source runs this script again. A
    // missing path would count as changed each time.
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"]).unwrap_or_default();
    let sources = SOURCES.map(|source| format!("{ROOT}/{source}"));
    for path in sources.iter().chain([&head]) {
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

/// Makes the linker keep one copy of functions with the same code, which makes the program smaller
/// by 350 kB. Other linkers than LLD, Rust's linker on this platform, may not have this option.
fn fold_identical_code() {
    let target =
        ["ARCH", "OS", "ENV"].map(|part| std::env::var(format!("CARGO_CFG_TARGET_{part}")));
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if is_release && target == ["x86_64", "linux", "gnu"].map(|part| Ok(part.to_owned())) {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Writes each part of [`EXPLAINED`] to its file.
fn write_explained_parts() {
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    for (page, heading, name) in EXPLAINED {
        let path = format!("{ROOT}/docs/{page}");
        println!("cargo::rerun-if-changed={path}");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let part = text_below(&text, heading);
        let part = part.unwrap_or_else(|| panic!("{path} has no `{heading}`"));
        fs::write(Path::new(&folder).join(name), part).expect("cargo's folder can be written");
    }
}

/// Returns the part of a page from a heading to the next heading; `None` without this heading.
fn text_below<'p>(page: &'p str, heading: &str) -> Option<&'p str> {
    let (_, after) = page.split_once(&format!("\n{heading}\n"))?;
    after.split("\n#").next()
}

/// Returns the commit; `None` without git, or if the sources are not a repository of their own.
/// They may then lie within an unrelated repository.
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
