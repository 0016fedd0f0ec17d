//! Code that several scenarios share.

use std::ffi::OsStr;
use std::process::Command;

use base::{Endpoint, HostPort, Target};
use testbed::{Kind, Server};

use super::stage::{BackgroundProgram, SlowDisk, client, run_checked};
use super::{Answer, RepetitionError, ScenarioEnv};

/// Returns a disk whose flushes take 5 to 15 ms longer.
pub(super) fn flushes(stage: &ScenarioEnv) -> SlowDisk {
    SlowDisk { flush_us: stage.draw(0, 5_000, 15_000), ..SlowDisk::default() }
}

/// Returns an SQLite database, which runs inside the process of `assay` and whose commits wait for
/// the disk.
pub(super) fn inside(stage: &ScenarioEnv) -> Target {
    let file = stage.path("inside.db").display().to_string();
    let options = vec![
        ("journal".to_owned(), "wal".to_owned()),
        ("synchronous".to_owned(), "full".to_owned()),
    ];
    Target { kind: base::TargetKind::Sqlite, endpoint: Endpoint::File(file.into()), options }
}

/// Returns the URL of a server with its address replaced by `port` of this machine, such as the
/// port of a relay.
pub(super) fn through(server: &Server, port: u16) -> Target {
    let mut target = server.url();
    if let Endpoint::Network { addresses, .. } = &mut target.endpoint {
        *addresses = vec![HostPort { host: "127.0.0.1".to_owned(), port: Some(port) }];
    }
    target
}

/// Starts 2 to 4 sessions that are not observed, each a client program that runs a query.
pub(super) fn others(
    stage: &ScenarioEnv,
    server: &Server,
    query: &str,
) -> Result<Vec<BackgroundProgram>, RepetitionError> {
    let option = match server.kind() {
        Kind::Postgres => "-c",
        Kind::Mariadb | Kind::Mysql => "-e",
    };
    let one = |_| {
        let mut command = client(server)?;
        command.args([option, query]);
        stage.start_background(command)
    };
    (0..stage.draw(8, 2, 4)).map(one).collect()
}

/// Observes `pgbench` or `mariadb-slap`, on processor 0. Its clients run a script repeatedly.
pub(super) fn observe_clients(
    stage: &ScenarioEnv,
    server: &Server,
    clients: u64,
    script: &str,
) -> Result<Answer, RepetitionError> {
    match server.kind() {
        Kind::Postgres => pgbench(&server.url(), stage, server, clients, script),
        Kind::Mariadb | Kind::Mysql => slap(stage, server, clients, script),
    }
}

/// Observes `pgbench`, which connects to `server`. `target` is the URL that `assay` gets.
pub(super) fn pgbench(
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

/// Observes `mariadb-slap`. It has no option for a duration, so it is ended after the length of a
/// run.
fn slap(
    stage: &ScenarioEnv,
    server: &Server,
    clients: u64,
    script: &str,
) -> Result<Answer, RepetitionError> {
    const PROGRAM: &str = "mariadb-slap";
    run_checked(Command::new(PROGRAM).arg("--version"))?;
    let file = stage.path("script.sql");
    std::fs::write(&file, script)?;
    let seconds = stage.seconds.to_string();
    let mut words: Vec<String> =
        ["timeout", "-s", "INT", &seconds, "taskset", "-c", "0", PROGRAM].map(str::to_owned).into();
    words.extend(["--no-defaults", "-h", "127.0.0.1", "-u", "assay"].map(str::to_owned));
    words.push(format!("--port={}", server.port()));
    words.extend(["--create-schema=assay", "--no-drop", "--delimiter=;"].map(str::to_owned));
    words.push(format!("--concurrency={clients}"));
    words.push(format!("--number-of-queries={}", u32::MAX));
    words.push(format!("--query={}", file.display()));
    stage.observe(server, &words.iter().map(OsStr::new).collect::<Vec<_>>())
}

/// Observes a shell script for the length of a run. In the script, `"$@"` is the server's client
/// program with its arguments.
pub(super) fn observe_script(
    stage: &ScenarioEnv,
    server: &Server,
    script: &str,
) -> Result<Answer, RepetitionError> {
    let client = client(server)?;
    // The script's output must not mix with the document that `assay` prints.
    let script = format!("exec >/dev/null 2>&1; {script}");
    let mut words: Vec<&OsStr> = ["timeout", "-s", "INT"].map(OsStr::new).to_vec();
    let span = stage.seconds.to_string();
    words.push(OsStr::new(&span));
    words.extend(["sh", "-c", &script, "sh"].map(OsStr::new));
    words.push(client.get_program());
    words.extend(client.get_args());
    stage.observe(server, &words)
}
