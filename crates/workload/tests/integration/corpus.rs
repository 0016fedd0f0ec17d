//! The files in `corpus`, which are also the seeds of the fuzzer: valid files give a plan, invalid
//! files an error.

use base::Severity;
use workload::Overrides;

use crate::render;

/// Returns the name and the bytes of every file of the corpus.
pub(crate) fn files() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(&path).expect("a readable file"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn valid_files_have_a_plan_and_invalid_ones_none() {
    let mut good = 0;
    let files = files();
    for (name, bytes) in &files {
        let Ok(text) = workload::decode(bytes) else {
            assert!(name.starts_with("bad-"), "{name}");
            continue;
        };
        let (plan, diagnostics) = workload::plan(&text, &Overrides::default());
        let shown = render(&text, &diagnostics);
        assert_eq!(plan.is_some(), name.starts_with("good-"), "{name}\n{shown}");
        if plan.is_some() {
            good += 1;
            let quiet = diagnostics.iter().all(|found| found.severity == Severity::Warning);
            assert!(quiet, "{name}\n{shown}");
        }
    }
    assert!(good >= 10 && files.len() >= 25, "{good} of {}", files.len());
}

#[test]
fn printed_files_round_trip() {
    for (name, bytes) in files() {
        let text = workload::decode(&bytes).unwrap_or_default();
        if let (Some(plan), _) = workload::plan(&text, &Overrides::default()) {
            let printed = plan.to_text();
            let (again, diagnostics) = workload::plan(&printed, &Overrides::default());
            let shown = render(&printed, &diagnostics);
            let again = again.unwrap_or_else(|| panic!("{name}\n{shown}"));
            assert_eq!(again.as_printed(), plan.as_printed(), "{name}");
            assert_eq!(again.to_text(), printed, "{name}");
        }
    }
}
