//! Limiter scenarios in which a table is loaded.

use base::Nanos;
use testbed::{Kind, Relay, Server};

use super::parts::{flushes, inside, through};
use super::scenario::{RunOn, ScenarioKind};
use super::servers::{ALL, expensive_column, options, options_without_flush};
use super::stage::{bind, server};
use super::{Answer, RepetitionError, ScenarioEnv};

/// The kinds of scenarios in which a table is loaded.
pub(super) const KINDS: &[ScenarioKind] = &[
    ScenarioKind {
        name: "load, generator thread",
        bottleneck: "rows that take 60 to 90 drawn numbers each",
        accepted: &["generator-thread"],
        fact: None,
        run: RunOn::One(own_thread),
    },
    ScenarioKind {
        name: "load, slow flush",
        bottleneck: "every flush of a file takes 5 to 15 ms longer, 2 to 6 writers commit 5 to 20 \
               rows at once",
        accepted: &["database-flush"],
        fact: None,
        run: RunOn::Each(ALL, slow_flush),
    },
    ScenarioKind {
        name: "load, slow flush, SQLite",
        bottleneck: "the same for one writer of SQLite with `synchronous=full`",
        accepted: &["database-flush"],
        fact: None,
        run: RunOn::One(slow_flush_inside),
    },
    ScenarioKind {
        name: "load, one session",
        bottleneck: "one writer, rows with an expensive check of the table",
        accepted: &["database-single-core"],
        fact: None,
        run: RunOn::Each(ALL, one_session),
    },
    ScenarioKind {
        name: "load, low bandwidth",
        bottleneck: "a relay that passes 10 to 40 Mbit/s",
        accepted: &["network-bandwidth"],
        fact: None,
        run: RunOn::One(narrow_relay),
    },
    ScenarioKind {
        name: "load, high latency",
        bottleneck: "a relay that holds bytes for 5 to 20 ms each way, commits of 10 to 100 rows",
        accepted: &["network-latency"],
        fact: None,
        run: RunOn::One(long_path),
    },
];

/// Returns a workload that creates a table of these columns and loads it.
fn table(columns: &str, rows: u64, keys: &str) -> String {
    format!("[setup]\nquery = create table t ({columns})\n[load t]\nrows = {rows}\n{keys}\n")
}

/// Starts a server whose commits do not wait for the disk. A load lasts only a few seconds, and one
/// slow flush of the machine's disk could take a whole second of this time.
fn quick_server(kind: Kind) -> Result<Server, RepetitionError> {
    server(&options_without_flush(kind))
}

fn own_thread(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = quick_server(Kind::Postgres)?;
    bind(&server, 1)?;
    let drawn = vec!["zipf(1, 1000000)"; stage.draw(0, 60, 90) as usize].join(" + ");
    let workload = table("v bigint", 600_000, &format!("columns = v: {drawn}"));
    let command = stage.assay_by(&["taskset", "-c", "0"]);
    stage.load_as(&server.url(), Some(server.password()), &workload, command)
}

/// Returns a workload that loads a table, with few rows per commit and enough commits to last a few
/// seconds.
fn commits(stage: &ScenarioEnv, writers: u64) -> String {
    let batch = stage.draw(2, 5, 20);
    let keys = format!("columns = v: text(10, 60)\nwriters = {writers}\nbatch = {batch}");
    table("v varchar(100)", batch * 150 * (writers + 2), &keys)
}

fn slow_flush(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let server = server(&options(kind).preload(&library))?;
    let workload = commits(stage, stage.draw(1, 2, 6));
    stage.load_as(&server.url(), Some(server.password()), &workload, stage.assay_by(&[]))
}

fn slow_flush_inside(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let mut command = stage.assay_by(&[]);
    command.env("LD_PRELOAD", &library);
    stage.load_as(&inside(stage), None, &commits(stage, 1), command)
}

/// Loads a table with an expensive check through one session. The session keeps one processor busy
/// while the other processors are idle.
fn one_session(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = quick_server(kind)?;
    let workload = table(
        &expensive_column(kind, stage.draw(0, 80, 160)),
        200_000,
        "columns = v: uniform(1, 1000000)\nbatch = 5000",
    );
    stage.load_as(&server.url(), Some(server.password()), &workload, stage.assay_by(&[]))
}

/// Loads more data than the kernel's buffers hold, through a relay with little bandwidth.
fn narrow_relay(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = quick_server(Kind::Postgres)?;
    let relay = Relay::start(([127, 0, 0, 1], server.port()).into())?;
    relay.set_bandwidth(Some(stage.draw(0, 10, 40) * 125_000));
    let target = through(&server, relay.address().port());
    let keys = format!("columns = v: text(800, 1000)\nwriters = {}", stage.draw(1, 1, 3));
    let workload = table("v varchar(1000)", 20_000, &keys);
    stage.load_as(&target, Some(server.password()), &workload, stage.assay_by(&[]))
}

fn long_path(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = quick_server(Kind::Postgres)?;
    let relay = Relay::start(([127, 0, 0, 1], server.port()).into())?;
    relay.set_delay(Nanos::from_millis(stage.draw(0, 5, 20)));
    let target = through(&server, relay.address().port());
    let (writers, batch) = (stage.draw(1, 1, 4), stage.draw(2, 10, 100));
    let keys = format!("columns = v: text(10, 60)\nwriters = {writers}\nbatch = {batch}");
    let workload = table("v varchar(100)", writers * batch * 100, &keys);
    stage.load_as(&target, Some(server.password()), &workload, stage.assay_by(&[]))
}
