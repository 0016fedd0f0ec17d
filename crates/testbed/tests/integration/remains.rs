//! Tests of the cleanup after the owner of a server has ended.

use std::process::Command;

use crate::support::{Host, is_running, text, wait_until};

/// Returns the process id of the guardian of a host's folder.
fn guardian_of(host: &Host) -> u32 {
    let folder = text(&host.folder);
    let is_guardian = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.contains(&b"assay-guardian".as_slice()) && words.contains(&folder.as_bytes())
    };
    let numbers = std::fs::read_dir("/proc").expect("processes").flatten();
    let mut numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(is_guardian).expect("a guardian")
}

/// Kills one process.
fn kill(pid: u32) {
    let status =
        Command::new("kill").args(["-s", "KILL", &pid.to_string()]).status().expect("kill");
    assert!(status.success());
}

#[test]
fn server_of_a_killed_owner_is_removed_completely() {
    for url in ["testbed:postgres?via=pgpool&cache=on", "testbed:mariadb"] {
        let mut host = Host::start(url);
        assert!(is_running(host.pid) && host.folder.exists());
        kill(host.child.id());
        host.child.wait().unwrap();
        wait_until("the server is gone", || !is_running(host.pid));
        wait_until("the folder is gone", || !host.folder.exists());
    }
}

#[test]
fn server_without_guardian_ends_with_its_owner() {
    for url in ["testbed:postgres", "testbed:mariadb"] {
        let mut host = Host::start(url);
        kill(guardian_of(&host));
        kill(host.child.id());
        host.child.wait().unwrap();
        wait_until("the server is gone", || !is_running(host.pid));
        std::fs::remove_dir_all(&host.folder).unwrap();
    }
}

#[test]
fn shared_memory_of_a_killed_server_is_released() {
    let mut server = crate::support::start(&testbed::Options::postgres());
    let lines = std::fs::read_to_string(server.folder().join("data/postmaster.pid")).unwrap();
    let line = lines.lines().nth(6).unwrap();
    let id = line.split_whitespace().nth(1).unwrap().to_owned();
    let is_there = |id: &str| {
        let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        table.lines().any(|line| line.split_whitespace().nth(1) == Some(id))
    };
    assert!(is_there(&id));
    server.kill();
    assert!(is_there(&id));
    drop(server);
    assert!(!is_there(&id));
}
