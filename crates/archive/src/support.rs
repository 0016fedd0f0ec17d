//! Helpers of the tests of this crate.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use base::{Nanos, Seed, Target, WallTime};
use record::{AccountKind, Header, JobHeader, Pace, TargetText};

/// A new directory in the temporary directory, removed with this value.
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new(name: &str) -> TestFolder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("assay-unit-{}-{number}-{name}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        TestFolder(directory)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the header of a run with one job.
pub(crate) fn header() -> Header {
    let job = JobHeader {
        name: "read".to_owned(),
        kind: AccountKind::Job,
        model: "closed".to_owned(),
        arrival: None,
        offered_per_s: None,
        connections_asked: None,
        statements: vec!["select 1".to_owned()],
    };
    Header {
        assay: "0.1.0".to_owned(),
        commit: Some("0123456789ab".to_owned()),
        started: WallTime::EPOCH,
        pace: Pace::Real,
        lanes: 1,
        seed: Seed::default(),
        target: TargetText::from(&Target::parse("sim:mm1").unwrap()),
        command: "assay run read.ini".to_owned(),
        workload: "read.ini".to_owned(),
        plan: "read: closed".to_owned(),
        warmup: Nanos::ZERO,
        duration: None,
        jobs: vec![job],
    }
}
