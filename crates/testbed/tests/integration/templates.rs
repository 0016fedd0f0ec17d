//! Tests of the folders that later servers start from.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::Host;

/// Starts a server that leaves or uses a template in the folder.
fn start(url: &str, templates: &Path) -> Host {
    Host::start_with(url, &[("ASSAY_TESTBED_TEMPLATES", templates)])
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn later_server_starts_from_the_folder_that_the_first_one_initialised() {
    for (url, made_at_start) in
        [("testbed:postgres", "postmaster.opts"), ("testbed:mariadb", "ddl_recovery.log")]
    {
        let templates = std::env::temp_dir().join(format!("templates-{}", std::process::id()));
        let first = start(url, &templates);
        assert!(first.folder.join("data").join(made_at_start).exists(), "{url}");
        let [template] = entries(&templates).try_into().expect("one template");
        assert!(!template.join(made_at_start).exists(), "{url}: it was used");
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
