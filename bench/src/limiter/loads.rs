//! Limiter scenarios in which a table is loaded.

use base::Nanos;
use testbed::{Options, Relay, Server};

use super::parts::{flushes, inside, through};
use super::stage::{bind, server};
use super::{Answer, RepetitionError, ScenarioEnv};

/// Returns a workload that creates a table of these columns and loads it.
fn table(columns: &str, rows: u64, keys: &str) -> String {
    format!("[setup]\nquery = create table t ({columns})\n[load t]\nrows = {rows}\n{keys}\n")
}

/// Starts a server whose commits do not wait for the disk: a load lasts only a few seconds, and one
/// slow flush of the machine's disk could take a second of it.
fn unflushed() -> Result<Server, RepetitionError> {
    server(&Options::postgres().set("fsync", "off"))
}

pub(super) fn own_thread(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = unflushed()?;
    bind(&server, 1)?;
    let drawn = vec!["zipf(1, 1000000)"; stage.draw(0, 60, 90) as usize].join(" + ");
    let workload = table("v bigint", 600_000, &format!("columns = v: {drawn}"));
    let command = stage.assay_by(&["taskset", "-c", "0"]);
    stage.load_as(&server.url(), Some(server.password()), &workload, command)
}

/// Returns a load with a few rows per commit and enough commits to last a few seconds.
fn commits(stage: &ScenarioEnv, writers: u64) -> String {
    let batch = stage.draw(2, 5, 20);
    let keys = format!("columns = v: text(10, 60)\nwriters = {writers}\nbatch = {batch}");
    table("v varchar(100)", batch * 150 * (writers + 2), &keys)
}

pub(super) fn slow_flush(stage: &ScenarioEnv, options: Options) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let server = server(&options.preload(&library))?;
    let workload = commits(stage, stage.draw(1, 2, 6));
    stage.load_as(&server.url(), Some(server.password()), &workload, stage.assay_by(&[]))
}

pub(super) fn slow_flush_inside(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let mut command = stage.assay_by(&[]);
    command.env("LD_PRELOAD", &library);
    stage.load_as(&inside(stage), None, &commits(stage, 1), command)
}

/// Loads rows whose table has an expensive check: one session is busy, the other processors are
/// idle.
pub(super) fn one_session(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = unflushed()?;
    let factors = stage.draw(0, 80, 160);
    let workload = table(
        &format!("v bigint check (factorial({factors} + v % 2) > 0)"),
        200_000,
        "columns = v: uniform(1, 1000000)\nbatch = 5000",
    );
    stage.load_as(&server.url(), Some(server.password()), &workload, stage.assay_by(&[]))
}

/// Loads more data than the kernel buffers for a relay that does not read it.
pub(super) fn narrow_relay(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = unflushed()?;
    let relay = Relay::start(([127, 0, 0, 1], server.port()).into())?;
    relay.bandwidth(Some(stage.draw(0, 10, 40) * 125_000));
    let target = through(&server, relay.address().port());
    let keys = format!("columns = v: text(800, 1000)\nwriters = {}", stage.draw(1, 1, 3));
    let workload = table("v varchar(1000)", 20_000, &keys);
    stage.load_as(&target, Some(server.password()), &workload, stage.assay_by(&[]))
}

pub(super) fn long(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = unflushed()?;
    let relay = Relay::start(([127, 0, 0, 1], server.port()).into())?;
    relay.delay(Nanos::from_millis(stage.draw(0, 5, 20)));
    let target = through(&server, relay.address().port());
    let (writers, batch) = (stage.draw(1, 1, 4), stage.draw(2, 10, 100));
    let keys = format!("columns = v: text(10, 60)\nwriters = {writers}\nbatch = {batch}");
    let workload = table("v varchar(100)", writers * batch * 100, &keys);
    stage.load_as(&target, Some(server.password()), &workload, stage.assay_by(&[]))
}
