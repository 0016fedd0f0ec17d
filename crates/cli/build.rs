//! From which commit the program is built, for its records and its `--version`.

use std::path::Path;
use std::process::Command;

fn main() {
    // What is not committed is told as well, so every source counts. One that is not there would
    // count as changed each time.
    for path in ["../../.git/logs/HEAD", "../../Cargo.lock", ".."] {
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

/// `None` where there is no git, or no repository.
fn commit() -> Option<String> {
    let words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    let told =
        Command::new("git").args(words).output().ok().filter(|told| told.status.success())?;
    let commit = String::from_utf8(told.stdout).ok()?.trim().to_owned();
    (!commit.is_empty()).then_some(commit)
}
