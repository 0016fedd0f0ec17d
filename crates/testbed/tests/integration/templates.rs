//! Tests of templates: data folders from which later servers start.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::Host;

/// Starts a server from the template in the folder, or creates the template there.
fn start(url: &str, templates: &Path) -> Host {
    Host::start_with(url, &[("ASSAY_TESTBED_TEMPLATES", templates)])
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn folder_to_which_others_can_write_is_refused() {
    let templates = std::env::temp_dir().join(format!("open-{}", std::process::id()));
    std::fs::create_dir(&templates).unwrap();
    std::fs::set_permissions(&templates, std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut host = Command::new(env!("CARGO_BIN_EXE_testbed-host"));
    host.arg("testbed:postgres").env("ASSAY_TESTBED_TEMPLATES", &templates).stdin(Stdio::null());
    let ran = host.output().unwrap();
    let complaint = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success());
    assert!(complaint.contains("to which other users can write"), "{complaint}");
    std::fs::remove_dir(&templates).expect("it is empty");
}

/// Returns true if a file takes less space than its length.
fn is_sparse(file: &Path) -> bool {
    let data = file.metadata().expect("a file");
    data.blocks() * 512 < data.len()
}

#[test]
fn later_server_starts_from_the_folder_that_the_first_one_initialised() {
    let segment = "pg_wal/000000010000000000000001";
    for (url, made_at_start, with_zeros) in [
        ("testbed:postgres", "postmaster.opts", segment),
        ("testbed:mariadb", "ddl_recovery.log", "ibdata1"),
    ] {
        let templates = std::env::temp_dir().join(format!("templates-{}", std::process::id()));
        let first = start(url, &templates);
        assert!(first.folder.join("data").join(made_at_start).exists(), "{url}");
        let [template] = entries(&templates).try_into().expect("one template");
        assert!(!template.join(made_at_start).exists(), "{url}: it was used");
        assert!(is_sparse(&template.join(with_zeros)), "{url}: each copy writes its zeros");
        std::fs::write(template.join("mark"), "").unwrap();
        let second = start(url, &templates);
        assert!(second.folder.join("data/mark").exists(), "{url}: it was not used");
        assert_eq!(entries(&templates), [template]);
        let mode = templates.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{url}");
        first.end();
        second.end();
        std::fs::remove_dir_all(&templates).unwrap();
    }
}
