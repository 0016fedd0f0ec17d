//! A bounded, deterministic run of the fuzz targets: the corpus, and mutations of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Target, WallTime};
use engine::{Options, Silence, Stop};
use lab::Order;
use workload::Overrides;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the root").to_owned()
}

/// The files of a folder, in order.
fn corpus(folder: &str) -> Vec<Vec<u8>> {
    let folder = root().join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "the corpus in {} is empty", folder.display());
    paths.iter().map(|path| std::fs::read(path).expect("a readable file")).collect()
}

#[test]
fn workload_files_of_any_bytes_are_accepted_or_rejected() {
    let corpus = corpus("crates/workload/corpus");
    corpus.iter().for_each(|data| fuzz::workload(data));
    for number in 0..4_000 {
        let original = &corpus[number as usize % corpus.len()];
        fuzz::workload(&fuzz::mutate(original, &corpus, number));
    }
}

#[test]
fn records_of_any_bytes_are_read_or_refused() {
    let whole = a_record();
    let corpus = vec![whole.clone(), b"SQLite format 3\0".to_vec(), b"not a record".to_vec()];
    corpus.iter().for_each(|data| fuzz::record(data));
    fuzz::record(b"");
    for number in 0..400 {
        fuzz::record(&fuzz::mutate(&whole, &corpus, number));
    }
}

/// The bytes of a small record of a virtual run.
fn a_record() -> Vec<u8> {
    let text = "duration = 3s\nwarmup = 1s\n[a]\nquery = select ${uniform(1, 9)}\nrate = 50\n\
                slo = p99 < 1ms\n[b]\nquery = select 1\nquery = select 2\nconcurrency = 2\n\
                think = exp(50ms)\n";
    let (plan, _) = workload::plan(text, &Overrides::default());
    let path = std::env::temp_dir().join(format!("assay-corpus-{}.assay", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let order = Order {
        plan: plan.expect("the test's own workload"),
        target: Target::parse("sim:mm1?errors=0.1").expect("a target"),
        options: Options {
            threads: 1,
            cpus: Vec::new(),
            spin: false,
            is_virtual: true,
            loaded: false,
            folder: std::path::PathBuf::new(),
            started: WallTime::EPOCH,
        },
        record: path.clone(),
        op_log: None,
        workload: "corpus.ini".to_owned(),
        command: "test".to_owned(),
        version: "0".to_owned(),
        stop: Stop::default(),
    };
    lab::run(order, Arc::new(Silence), |_| {}).expect("a virtual run is made");
    let bytes = std::fs::read(&path).expect("the record");
    std::fs::remove_file(&path).expect("the record is ours");
    bytes
}
