//! Parts that several scenarios share.

use std::ffi::OsStr;

use base::{Endpoint, HostPort, Target};
use testbed::Server;

use super::stage::{SlowDisk, client};
use super::{Answer, RepetitionError, ScenarioEnv};

/// Returns a disk whose flushes take 5 to 15 ms longer.
pub(super) fn flushes(stage: &ScenarioEnv) -> SlowDisk {
    SlowDisk { flush_us: stage.draw(0, 5_000, 15_000), ..SlowDisk::default() }
}

/// Returns a database inside the process of `assay` whose commits wait for the disk.
pub(super) fn inside(stage: &ScenarioEnv) -> Target {
    let file = stage.path("inside.db").display().to_string();
    let options = vec![
        ("journal".to_owned(), "wal".to_owned()),
        ("synchronous".to_owned(), "full".to_owned()),
    ];
    Target { kind: base::TargetKind::Sqlite, endpoint: Endpoint::File(file.into()), options }
}

/// Returns the URL of a server with another port of this machine.
pub(super) fn through(server: &Server, port: u16) -> Target {
    let mut target = server.url();
    if let Endpoint::Network { addresses, .. } = &mut target.endpoint {
        *addresses = vec![HostPort { host: "127.0.0.1".to_owned(), port: Some(port) }];
    }
    target
}

/// Observes `pgbench` on processor 0.
pub(super) fn pgbench(
    stage: &ScenarioEnv,
    server: &Server,
    clients: u64,
    script: &str,
) -> Result<Answer, RepetitionError> {
    pgbench_at(&server.url(), stage, server, clients, script)
}

/// Does the same with another URL of the server.
pub(super) fn pgbench_at(
    target: &Target,
    stage: &ScenarioEnv,
    server: &Server,
    clients: u64,
    script: &str,
) -> Result<Answer, RepetitionError> {
    let file = stage.path("script.sql");
    std::fs::write(&file, script)?;
    let (port, clients) = (server.port().to_string(), clients.to_string());
    let seconds = stage.seconds.to_string();
    let mut words: Vec<&OsStr> = ["taskset", "-c", "0", "pgbench", "-n"].map(OsStr::new).to_vec();
    for (option, value) in
        [("-h", "127.0.0.1"), ("-p", &port), ("-U", "assay"), ("-c", &clients), ("-T", &seconds)]
    {
        words.extend([option, value].map(OsStr::new));
    }
    words.extend([OsStr::new("-f"), file.as_os_str(), OsStr::new("assay")]);
    stage.observe_at(target, server, &words)
}

/// Observes a shell script for the length of a run. In the script, `"$@"` is the server's client
/// program with its arguments.
pub(super) fn observe_script(
    stage: &ScenarioEnv,
    server: &Server,
    script: &str,
) -> Result<Answer, RepetitionError> {
    let client = client(server)?;
    // Its output must not mix with the document that `assay` prints.
    let script = format!("exec >/dev/null 2>&1; {script}");
    let mut words: Vec<&OsStr> = ["timeout", "-s", "INT"].map(OsStr::new).to_vec();
    let span = stage.seconds.to_string();
    words.push(OsStr::new(&span));
    words.extend(["sh", "-c", &script, "sh"].map(OsStr::new));
    words.push(client.get_program());
    words.extend(client.get_args());
    stage.observe(server, &words)
}
