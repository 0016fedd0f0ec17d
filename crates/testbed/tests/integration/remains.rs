//! Tests of the cleanup after the owner of a server has ended.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::support::{runs, text, until};

/// A separate process that owns a server.
struct Host {
    child: Child,
    /// Id of the server's first process.
    pid: u32,
    folder: PathBuf,
}

impl Host {
    fn start(url: &str) -> Host {
        let mut command = Command::new(env!("CARGO_BIN_EXE_testbed-host"));
        command.arg(url).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a host");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[_, pid, folder] = words.as_slice() else { panic!("`{line}`") };
        Host { child, pid: pid.parse().expect("a number"), folder: PathBuf::from(folder) }
    }

    /// Returns the process id of the guardian of the folder.
    fn guardian(&self) -> u32 {
        let folder = text(&self.folder);
        let is_guardian = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
            words.contains(&b"assay-guardian".as_slice()) && words.contains(&folder.as_bytes())
        };
        let numbers = std::fs::read_dir("/proc").expect("processes").flatten();
        let mut numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.find(is_guardian).expect("a guardian")
    }
}

/// Kills one process.
fn kill(pid: u32) {
    let status =
        Command::new("kill").args(["-s", "KILL", &pid.to_string()]).status().expect("kill");
    assert!(status.success());
}

#[test]
fn nothing_is_left_of_a_server_whose_owner_is_killed() {
    for url in ["testbed:postgres?via=pgpool&cache=on", "testbed:mariadb"] {
        let mut host = Host::start(url);
        assert!(runs(host.pid) && host.folder.exists());
        kill(host.child.id());
        host.child.wait().unwrap();
        until("the server is gone", || !runs(host.pid));
        until("the folder is gone", || !host.folder.exists());
    }
}

#[test]
fn server_without_guardian_ends_with_its_owner() {
    for url in ["testbed:postgres", "testbed:mariadb"] {
        let mut host = Host::start(url);
        kill(host.guardian());
        kill(host.child.id());
        host.child.wait().unwrap();
        until("the server is gone", || !runs(host.pid));
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
