//! Limiter scenarios of runs, and the code that creates their bottlenecks.
//!
//! The load generator and the servers share one machine with two processors or more. If the
//! generator and a server must not compete for a processor, the generator gets processor 0 and the
//! server gets processor 1.

use base::{Nanos, Target};
use testbed::{Kind, Options, Relay, Via};

use super::parts::{flushes, inside, others, through};
use super::scenario::{RunOn, ScenarioKind, names_acct, names_sh};
use super::servers::{
    ALL, counting_query, endless_query, options, options_with_little_memory, rows, short_sleep,
};
use super::stage::{Network, Quota, SlowDisk, SlowPipe, bind, psql, server};
use super::{Answer, RepetitionError, ScenarioEnv};
use bench::SimulatedServer;

/// The kinds of scenarios in which a workload runs.
pub(super) const KINDS: &[ScenarioKind] = &[
    ScenarioKind {
        name: "generator on a busy processor",
        bottleneck: "busy loops on the only processor that the generator may use",
        accepted: &["generator-cpu"],
        fact: None,
        run: RunOn::One(pinned),
    },
    ScenarioKind {
        name: "generator thread",
        bottleneck: "a server that answers at once, one thread of the generator that draws 60 to \
               90 numbers for each request of 32 to 64 clients",
        accepted: &["generator-thread"],
        fact: None,
        run: RunOn::One(own_thread),
    },
    ScenarioKind {
        name: "one client",
        bottleneck: "a closed loop of one client against an idle server",
        accepted: &["concurrency"],
        fact: None,
        run: RunOn::Each(ALL, one_client),
    },
    ScenarioKind {
        name: "too few workers",
        bottleneck: "an idle server, and twice as many requests as 1 to 4 workers can send to it",
        accepted: &["concurrency"],
        fact: None,
        run: RunOn::Each(ALL, few_workers),
    },
    ScenarioKind {
        name: "far below capacity",
        bottleneck: "50 to 300 requests per second",
        accepted: &["not-saturated"],
        fact: None,
        run: RunOn::Each(ALL, below_capacity),
    },
    ScenarioKind {
        name: "database processor",
        bottleneck: "a server that may use one processor, reads of 8 to 24 clients",
        accepted: &["database-cpu"],
        fact: None,
        run: RunOn::Each(ALL, database_cpu),
    },
    ScenarioKind {
        name: "one session",
        bottleneck: "long reads of one client, other processors idle",
        accepted: &["database-single-core"],
        fact: None,
        run: RunOn::Each(ALL, one_session),
    },
    ScenarioKind {
        name: "hot row",
        bottleneck: "24 to 40 clients update one row in a transaction",
        accepted: &["database-locks"],
        fact: Some(names_acct),
        run: RunOn::Each(ALL, hot_row),
    },
    ScenarioKind {
        name: "slow flush",
        bottleneck: "every flush of a file takes 5 to 15 ms longer, 4 to 12 clients insert",
        accepted: &["database-flush"],
        fact: None,
        run: RunOn::Each(ALL, slow_flush),
    },
    ScenarioKind {
        name: "slow flush, SQLite",
        bottleneck: "the same for one client of SQLite with `synchronous=full`",
        accepted: &["database-flush"],
        fact: None,
        run: RunOn::One(slow_flush_inside),
    },
    ScenarioKind {
        name: "slow reads",
        bottleneck: "every read of a file takes 1 to 4 ms longer, 4 to 12 clients read a table \
               larger than the server's memory",
        accepted: &["database-disk"],
        fact: None,
        run: RunOn::Each(ALL, slow_reads),
    },
    ScenarioKind {
        name: "one thread of SQLite",
        bottleneck: "long reads of one client",
        accepted: &["database-single-core"],
        fact: None,
        run: RunOn::One(one_thread_inside),
    },
    ScenarioKind {
        name: "low bandwidth",
        bottleneck: "10 to 40 Mbit/s between generator and server, answers of 40 to 100 kB",
        accepted: &["network-bandwidth"],
        fact: None,
        run: RunOn::One(narrow_network),
    },
    ScenarioKind {
        name: "low bandwidth, relay",
        bottleneck: "a relay that passes 10 to 40 Mbit/s, answers of 2 to 4 MB",
        accepted: &["network-bandwidth"],
        fact: None,
        run: RunOn::One(narrow_relay),
    },
    ScenarioKind {
        name: "high latency",
        bottleneck: "a relay that holds bytes for 5 to 20 ms each way",
        accepted: &["network-latency"],
        fact: None,
        run: RunOn::One(long_path),
    },
    ScenarioKind {
        name: "high latency, kernel",
        bottleneck: "packets that wait for 5 to 20 ms between generator and server (tc-netem(8))",
        accepted: &["network-latency"],
        fact: None,
        run: RunOn::One(long_path_by_kernel),
    },
    ScenarioKind {
        name: "pool of two sessions",
        bottleneck: "pgbouncer with two sessions for 24 to 40 clients",
        accepted: &["connections"],
        fact: None,
        run: RunOn::One(pool),
    },
    ScenarioKind {
        name: "too few connections",
        bottleneck: "a server that admits 8, for a job that needs 20 to 40",
        accepted: &["connections"],
        fact: None,
        run: RunOn::One(few_connections),
    },
    ScenarioKind {
        name: "quota of a control group",
        bottleneck: "a server that may use 0.3 to 0.6 processors",
        accepted: &["cgroup"],
        fact: None,
        run: RunOn::One(quota),
    },
    ScenarioKind {
        name: "queries of other sessions",
        bottleneck: "2 to 4 sessions of another program that read all the time",
        accepted: &["background-task"],
        fact: None,
        run: RunOn::Each(ALL, other_sessions),
    },
    ScenarioKind {
        name: "other programs",
        bottleneck: "3 to 6 busy loops of other programs on each of both processors, reads of 4 \
               to 8 clients",
        accepted: &["other-programs"],
        fact: Some(names_sh),
        run: RunOn::Each(ALL, other_programs),
    },
    ScenarioKind {
        name: "vacuum",
        bottleneck: "2 or 3 sessions that vacuum, and as many clients, on one processor",
        accepted: &["background-task"],
        fact: None,
        run: RunOn::One(vacuum),
    },
    ScenarioKind {
        name: "clean-up",
        bottleneck: "a server that writes its log with 12 to 33 MB/s, and a job that updates in \
               bulk for the middle third of a run of commits",
        accepted: &["background-task"],
        fact: None,
        run: RunOn::One(clean_up),
    },
    ScenarioKind {
        name: "slow input",
        bottleneck: "8 clients that read what they insert from a pipe of 20 to 100 lines per \
                     second",
        accepted: &["generator-input"],
        fact: None,
        run: RunOn::One(slow_source),
    },
];

/// Returns the keys for the length of a run and its warm-up.
fn times(stage: &ScenarioEnv) -> String {
    format!("duration = {}s\nwarmup = 2s\n", stage.seconds)
}

fn closed(stage: &ScenarioEnv, clients: u64, query: &str) -> String {
    format!("{}[job]\nquery = {query}\nconcurrency = {clients}\n", times(stage))
}

fn pinned(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    bind(&server, 1)?;
    let _loops = stage.busy_loops(0, stage.draw(0, 1, 3))?;
    let command = stage.assay_by(&["taskset", "-c", "0"]);
    let workload = closed(stage, stage.draw(1, 8, 16), "select 1");
    stage.run_as(&server.url(), Some(server.password()), &workload, command, &["--threads", "1"])
}

fn own_thread(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let host = SimulatedServer::start("sim:null", "postgres")?;
    let url = format!("postgres://assay@{}:{}/assay", host.host, host.port);
    let target = Target::parse(&url).map_err(|error| error.to_string())?;
    let command = stage.assay_by(&["taskset", "-c", "0"]);
    // Drawing the values takes the generator several times as long as the server takes to answer.
    let drawn = vec!["zipf(1, 1000000)"; stage.draw(1, 60, 90) as usize].join(" + ");
    let workload = closed(stage, stage.draw(0, 32, 64), &format!("select ${{{drawn}}}"));
    stage.run_as(&target, None, &workload, command, &["--threads", "1"])
}

fn one_client(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    let key = stage.draw(0, 1, 1_000);
    stage.run(&server, &closed(stage, 1, &format!("select {key}")))
}

fn few_workers(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    let (workers, ms) = (stage.draw(0, 1, 4), stage.draw(1, 2, 8));
    let rate = 2_000 * workers / ms;
    let query = short_sleep(kind, ms);
    let times = times(stage);
    let job = format!("[job]\nquery = {query}\nrate = {rate}\nconcurrency = {workers}\n");
    stage.run(&server, &format!("{times}{job}"))
}

fn below_capacity(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    let rate = stage.draw(0, 50, 300);
    stage.run(&server, &format!("{}[job]\nquery = select 1\nrate = {rate}\n", times(stage)))
}

fn database_cpu(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    bind(&server, 1)?;
    let query = counting_query(kind, stage.draw(0, 500, 3_000));
    let workload = closed(stage, stage.draw(1, 8, 24), &query);
    let command = stage.assay_by(&["taskset", "-c", "0"]);
    stage.run_as(&server.url(), Some(server.password()), &workload, command, &[])
}

fn one_session(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    stage.run(&server, &closed(stage, 1, &counting_query(kind, stage.draw(0, 30_000, 90_000))))
}

fn hot_row(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    let clients = stage.draw(0, 24, 40);
    let times = times(stage);
    let reads = (0..stage.draw(1, 2, 4)).map(|_| "query = select count(*) from other\n");
    let workload = format!(
        "{times}[setup]\nquery = create table acct (id int primary key, v bigint)\nquery = insert \
         into acct values (1, 0)\nquery = create table other (id int primary key)\n[job]\n\
         transaction = yes\nquery = update acct set v = v + 1 where id = 1\n{}concurrency = \
         {clients}\n",
        reads.collect::<String>()
    );
    stage.run(&server, &workload)
}

fn inserts(stage: &ScenarioEnv, clients: u64) -> String {
    let times = times(stage);
    let column = stage.draw(9, 10, 60);
    format!(
        "{times}[setup]\nquery = create table t (v varchar(100))\n[job]\nquery = insert into t \
         values ('{}')\nconcurrency = {clients}\n",
        "x".repeat(column as usize)
    )
}

fn slow_flush(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let server = server(&options(kind).preload(&library))?;
    stage.run(&server, &inserts(stage, stage.draw(1, 4, 12)))
}

fn slow_flush_inside(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let mut command = stage.assay_by(&[]);
    command.env("LD_PRELOAD", &library);
    stage.run_as(&inside(stage), None, &inserts(stage, 1), command, &[])
}

fn one_thread_inside(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let rows = stage.draw(0, 30_000, 200_000);
    let query = format!(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < {rows}) select \
         sum(i) from n"
    );
    stage.run_as(&inside(stage), None, &closed(stage, 1, &query), stage.assay_by(&[]), &[])
}

/// Runs in a network namespace with little bandwidth; `assay` starts the server inside it.
fn narrow_network(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let mbit = stage.draw(0, 10, 40);
    let network = Network::new(&format!("tbf rate {mbit}mbit burst 64kb latency 400ms"))?;
    let command = stage.assay_by(&network.words());
    let bytes = stage.draw(1, 40_000, 100_000);
    let workload = closed(stage, stage.draw(2, 8, 24), &format!("select repeat('x', {bytes})"));
    let target = Target::parse("testbed:postgres").map_err(|error| error.to_string())?;
    stage.run_as(&target, None, &workload, command, &[])
}

fn long_path_by_kernel(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let network = Network::new(&format!("netem delay {}ms", stage.draw(0, 5, 20)))?;
    let command = stage.assay_by(&network.words());
    let workload = closed(stage, stage.draw(1, 4, 16), "select 1");
    let target = Target::parse("testbed:postgres").map_err(|error| error.to_string())?;
    stage.run_as(&target, None, &workload, command, &[])
}

fn long_path(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let relay = Relay::start(([127, 0, 0, 1], server.port()).into())?;
    relay.set_delay(Nanos::from_millis(stage.draw(0, 5, 20)));
    let target = through(&server, relay.address().port());
    let workload = closed(stage, stage.draw(1, 4, 16), "select 1");
    stage.run_as(&target, Some(server.password()), &workload, stage.assay_by(&[]), &[])
}

/// Reads answers that are larger than the kernel's buffers, through a relay with little bandwidth.
fn narrow_relay(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let relay = Relay::start(([127, 0, 0, 1], server.port()).into())?;
    relay.set_bandwidth(Some(stage.draw(0, 10, 40) * 125_000));
    let target = through(&server, relay.address().port());
    let bytes = stage.draw(1, 2_000_000, 4_000_000);
    let query = format!("select repeat('x', {bytes})");
    let workload = closed(stage, stage.draw(2, 4, 8), &query);
    stage.run_as(&target, Some(server.password()), &workload, stage.assay_by(&[]), &[])
}

fn pool(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let options = Options::postgres()
        .via(Via::Pgbouncer)
        .set_via("pool_mode", "transaction")
        .set_via("default_pool_size", "2");
    let server = server(&options)?;
    let times = times(stage);
    let ms = stage.draw(0, 2, 8) as f64 / 1e3;
    let clients = stage.draw(1, 24, 40);
    let workload = format!(
        "{times}[job]\nquery = select pg_sleep({ms})\nprepare = no\nconcurrency = {clients}\n"
    );
    stage.run(&server, &workload)
}

fn few_connections(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres().max_connections(8))?;
    let times = times(stage);
    let rate = stage.draw(0, 100, 200);
    let workload =
        format!("{times}connections = 2\n[job]\nquery = select pg_sleep(0.2)\nrate = {rate}\n");
    stage.run(&server, &workload)
}

fn quota(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let _quota = Quota::on(&server, stage.draw(0, 30, 60))?;
    let query = counting_query(server.kind(), stage.draw(1, 500, 3_000));
    stage.run(&server, &closed(stage, stage.draw(2, 8, 24), &query))
}

/// Runs requests that need some processor time while queries of other sessions take all of it.
fn other_sessions(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    let _others = others(stage, &server, endless_query(kind))?;
    let query = counting_query(kind, stage.draw(0, 500, 1_500));
    stage.run(&server, &closed(stage, stage.draw(1, 4, 8), &query))
}

/// Runs busy loops on both processors, and requests that need some processor time.
fn other_programs(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    let count = stage.draw(0, 3, 6);
    let _loops = [stage.busy_loops(0, count)?, stage.busy_loops(1, count)?];
    let query = counting_query(kind, stage.draw(1, 500, 1_500));
    stage.run(&server, &closed(stage, stage.draw(2, 4, 8), &query))
}

/// Runs sessions that vacuum tables without dead rows, which takes processor time but no contended
/// locks.
fn vacuum(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let rows = stage.draw(0, 100_000, 300_000);
    let sessions = stage.draw(1, 2, 3);
    bind(&server, 1)?;
    let mut vacuums = Vec::new();
    for session in 0..sessions {
        server.sql(&format!(
            "create table old{session} as select i from generate_series(1, {rows}) i; alter table \
             old{session} owner to assay"
        ))?;
        let words = format!("vacuum (disable_page_skipping) old{session};\n").repeat(10_000);
        let script = stage.path(&format!("vacuum{session}.sql"));
        std::fs::write(&script, words)?;
        let mut command = psql(&server)?;
        command.arg("-f").arg(&script);
        vacuums.push(stage.start_background(command)?);
    }
    let workload = closed(stage, sessions, "select count(*) from generate_series(1, 300)");
    let command = stage.assay_by(&["taskset", "-c", "0"]);
    stage.run_as(&server.url(), Some(server.password()), &workload, command, &[])
}

/// Runs a job, `clean-up`, whose log writes delay the commits of another job, `commit`. Each
/// statement of `clean-up` updates half of the rows of a table, so this job writes most of the log.
fn clean_up(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let disk = SlowDisk { write_ns: stage.draw(0, 30, 80), ..SlowDisk::default() };
    let server = server(&Options::postgres().preload(&stage.slow_disk(disk)?))?;
    let rows = stage.draw(1, 20_000, 40_000);
    let clients = stage.draw(2, 2, 6);
    let workload = format!(
        "duration = 42s\nwarmup = 2s\n[setup]\nquery = create table t (v varchar(100))\nquery = \
         create table old as select i, repeat('x', 100) as v from generate_series(1, {rows}) \
         i\n[commit]\nquery = insert into t values ('x')\nconcurrency = {clients}\n[clean-up]\n\
         query = update old set v = repeat('y', 100) where i % 2 = 0\nconcurrency = 1\n\
         start = 15s\nstop = 29s\n"
    );
    stage.run(&server, &workload)
}

/// Reads single rows from a table that does not fit into the server's memory.
fn slow_reads(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let disk = SlowDisk { read_us: stage.draw(0, 1_000, 4_000), ..SlowDisk::default() };
    let server = server(&options_with_little_memory(kind).preload(&stage.slow_disk(disk)?))?;
    let rows = rows(kind, 50_000);
    let times = times(stage);
    let clients = stage.draw(1, 4, 12);
    let workload = format!(
        "{times}[setup]\nquery = create table t (i int primary key, v varchar(400))\n\
         query = insert into t select i, repeat('x', 400) from {rows}\n[job]\n\
         query = select v from t where i = ${{uniform(1, 50000)}}\nconcurrency = {clients}\n"
    );
    stage.run(&server, &workload)
}

fn slow_source(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let times = times(stage);
    // A relative path: a workload may only read files below its own folder.
    let pipe = "source";
    let _source = SlowPipe::feed(&stage.path(pipe), stage.draw(0, 20, 100))?;
    let workload = format!(
        "{times}[setup]\nquery = create table t (v varchar(100))\n[job]\nquery = insert into t \
         values ($1)\nquery-args-file = {pipe}\nconcurrency = 8\n"
    );
    stage.run(&server, &workload)
}
