//! Limiter scenarios of runs, and the code that creates their bottlenecks.
//!
//! The load generator and the servers share one machine with two processors or more. Where the two
//! must be told apart, the generator gets processor 0 and the server processor 1.

use std::process::Command;

use base::{Nanos, Target};
use testbed::{Options, Relay, Via};

use super::parts::{flushes, inside, observe_script, pgbench, through};
use super::scenario::{Scenario, names_acct, names_sh};
use super::stage::{Network, Quota, SlowDisk, SlowPipe, bind, psql, server};
use super::{Answer, RepetitionError, ScenarioEnv, loads};
use crate::SimulatedServer;

/// Queries that cost PostgreSQL, or the MySQL family, processor time in proportion to a number of
/// rows.
const SERIES: &str = "select count(*) from generate_series(1, ?)";
const RECURSION: &str = "with recursive n as (select 1 as i union all select i + 1 from n where i \
                           < ?) select count(*) from n";

/// The scenarios.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "generator pinned to a busy processor",
        made: "busy loops on the only processor that the generator may use",
        accepted: &["generator-cpu"],
        fact: None,
        run: pinned,
    },
    Scenario {
        name: "generator's own thread",
        made: "a server that answers at once, one thread of the generator that draws 60 to 100 \
               numbers for each request of 32 to 64 clients",
        accepted: &["generator-thread"],
        fact: None,
        run: own_thread,
    },
    Scenario {
        name: "one client, PostgreSQL",
        made: "a closed loop of one client against an idle server",
        accepted: &["concurrency"],
        fact: None,
        run: |stage| one_client(stage, &Options::postgres()),
    },
    Scenario {
        name: "one client, MariaDB",
        made: "the same",
        accepted: &["concurrency"],
        fact: None,
        run: |stage| one_client(stage, &Options::mariadb()),
    },
    Scenario {
        name: "far below capacity, PostgreSQL",
        made: "50 to 300 requests per second",
        accepted: &["not-saturated"],
        fact: None,
        run: |stage| below_capacity(stage, &Options::postgres()),
    },
    Scenario {
        name: "far below capacity, MariaDB",
        made: "the same",
        accepted: &["not-saturated"],
        fact: None,
        run: |stage| below_capacity(stage, &Options::mariadb()),
    },
    Scenario {
        name: "processor of PostgreSQL",
        made: "a server that may use one processor, reads of 8 to 24 clients",
        accepted: &["database-cpu"],
        fact: None,
        run: |stage| database_cpu(stage, &Options::postgres(), SERIES),
    },
    Scenario {
        name: "processor of MariaDB",
        made: "the same",
        accepted: &["database-cpu"],
        fact: None,
        run: |stage| database_cpu(stage, &Options::mariadb(), RECURSION),
    },
    Scenario {
        name: "one session of PostgreSQL",
        made: "long reads of one client, other processors idle",
        accepted: &["database-single-core"],
        fact: None,
        run: |stage| {
            one_session(stage, &Options::postgres(), "select sum(i) from generate_series(1, ?) i")
        },
    },
    Scenario {
        name: "hot row, PostgreSQL",
        made: "24 to 40 clients update one row in a transaction",
        accepted: &["database-locks"],
        fact: Some(names_acct),
        run: |stage| hot_row(stage, &Options::postgres()),
    },
    Scenario {
        name: "hot row, MariaDB",
        made: "the same",
        accepted: &["database-locks"],
        fact: Some(names_acct),
        run: |stage| hot_row(stage, &Options::mariadb()),
    },
    Scenario {
        name: "hot row, MySQL",
        made: "the same",
        accepted: &["database-locks"],
        fact: Some(names_acct),
        run: |stage| hot_row(stage, &Options::mysql()),
    },
    Scenario {
        name: "slow flush, PostgreSQL",
        made: "every flush of a file takes 5 to 15 ms longer, 4 to 12 clients insert",
        accepted: &["database-flush"],
        fact: None,
        run: |stage| slow_flush(stage, Options::postgres()),
    },
    Scenario {
        name: "slow flush, MariaDB",
        made: "the same",
        accepted: &["database-flush"],
        fact: None,
        run: |stage| slow_flush(stage, Options::mariadb()),
    },
    Scenario {
        name: "slow flush, MySQL",
        made: "the same",
        accepted: &["database-flush"],
        fact: None,
        run: |stage| slow_flush(stage, Options::mysql()),
    },
    Scenario {
        name: "slow flush, SQLite",
        made: "the same for one client of SQLite with `synchronous=full`",
        accepted: &["database-flush"],
        fact: None,
        run: slow_flush_inside,
    },
    Scenario {
        name: "slow reads, PostgreSQL",
        made: "every read of a file takes 1 to 4 ms longer, 4 to 12 clients read a table larger \
               than the server's memory",
        accepted: &["database-disk"],
        fact: None,
        run: |stage| {
            let options = Options::postgres().set("shared_buffers", "1MB");
            slow_reads(stage, options, "generate_series(1, 50000) i")
        },
    },
    Scenario {
        name: "slow reads, MariaDB",
        made: "the same",
        accepted: &["database-disk"],
        fact: None,
        run: |stage| {
            let options = Options::mariadb().set("innodb_buffer_pool_size", "6M");
            slow_reads(stage, options, "(select seq as i from seq_1_to_50000) s")
        },
    },
    Scenario {
        name: "one thread of SQLite",
        made: "long reads of one client",
        accepted: &["database-single-core"],
        fact: None,
        run: one_thread_inside,
    },
    Scenario {
        name: "narrow network",
        made: "10 to 40 Mbit/s between generator and server, answers of 40 to 100 kB",
        accepted: &["network-bandwidth"],
        fact: None,
        run: narrow,
    },
    Scenario {
        name: "narrow relay",
        made: "a relay that passes 10 to 40 Mbit/s, answers of 2 to 4 MB",
        accepted: &["network-bandwidth"],
        fact: None,
        run: narrow_relay,
    },
    Scenario {
        name: "long network",
        made: "a relay that holds bytes for 5 to 20 ms each way",
        accepted: &["network-latency"],
        fact: None,
        run: long,
    },
    Scenario {
        name: "long network, by the kernel",
        made: "packets that wait for 5 to 20 ms between generator and server (tc-netem(8))",
        accepted: &["network-latency"],
        fact: None,
        run: long_by_kernel,
    },
    Scenario {
        name: "pool of two sessions",
        made: "pgbouncer with two sessions for 24 to 40 clients",
        accepted: &["connections"],
        fact: None,
        run: pool,
    },
    Scenario {
        name: "too few connections",
        made: "a server that admits 8, for a job that needs 20 to 40",
        accepted: &["connections"],
        fact: None,
        run: too_few,
    },
    Scenario {
        name: "quota of a control group",
        made: "a server that may use 0.3 to 0.6 processors",
        accepted: &["cgroup"],
        fact: None,
        run: quota,
    },
    Scenario {
        name: "somebody else's queries",
        made: "2 to 4 sessions of another program that read all the time",
        accepted: &["background-task"],
        fact: None,
        run: other_sessions,
    },
    Scenario {
        name: "other programs",
        made: "3 to 6 busy loops of other programs on each of both processors, reads of 4 to 8 \
               clients",
        accepted: &["other-programs"],
        fact: Some(names_sh),
        run: |stage| other_programs(stage, &Options::postgres(), SERIES),
    },
    Scenario {
        name: "other programs, MariaDB",
        made: "the same",
        accepted: &["other-programs"],
        fact: Some(names_sh),
        run: |stage| other_programs(stage, &Options::mariadb(), RECURSION),
    },
    Scenario {
        name: "vacuum",
        made: "2 or 3 sessions that vacuum, and as many clients, on one processor",
        accepted: &["background-task"],
        fact: None,
        run: vacuum,
    },
    Scenario {
        name: "clean-up",
        made: "a server that writes its log with 12 to 33 MB/s, and a job that updates in bulk \
               for the middle third of a run of commits",
        accepted: &["background-task"],
        fact: None,
        run: clean_up,
    },
    Scenario {
        name: "slow source",
        made: "8 clients that read what they insert from a pipe of 20 to 100 lines per second",
        accepted: &["generator-input"],
        fact: None,
        run: slow_source,
    },
    Scenario {
        name: "load, generator's own thread",
        made: "rows of which each takes 60 to 90 drawn numbers",
        accepted: &["generator-thread"],
        fact: None,
        run: loads::own_thread,
    },
    Scenario {
        name: "load, slow flush, PostgreSQL",
        made: "every flush of a file takes 5 to 15 ms longer, 2 to 6 writers commit 5 to 20 rows \
               at once",
        accepted: &["database-flush"],
        fact: None,
        run: |stage| loads::slow_flush(stage, Options::postgres()),
    },
    Scenario {
        name: "load, slow flush, MariaDB",
        made: "the same",
        accepted: &["database-flush"],
        fact: None,
        run: |stage| loads::slow_flush(stage, Options::mariadb()),
    },
    Scenario {
        name: "load, slow flush, SQLite",
        made: "the same for one writer of SQLite with `synchronous=full`",
        accepted: &["database-flush"],
        fact: None,
        run: loads::slow_flush_inside,
    },
    Scenario {
        name: "load, one session of PostgreSQL",
        made: "one writer, rows that a check of the table reckons with for long",
        accepted: &["database-single-core"],
        fact: None,
        run: loads::one_session,
    },
    Scenario {
        name: "load, narrow relay",
        made: "a relay that passes 10 to 40 Mbit/s",
        accepted: &["network-bandwidth"],
        fact: None,
        run: loads::narrow_relay,
    },
    Scenario {
        name: "load, long network",
        made: "a relay that holds bytes for 5 to 20 ms each way, commits of 10 to 100 rows",
        accepted: &["network-latency"],
        fact: None,
        run: loads::long,
    },
    Scenario {
        name: "program, processor of the database",
        made: "`pgbench` with 4 to 12 clients that read, and a server that may use one processor, \
               watched",
        accepted: &["database-cpu"],
        fact: None,
        run: program_cpu,
    },
    Scenario {
        name: "program, hot row",
        made: "`pgbench` with 16 to 32 clients that update one row in a transaction, watched",
        accepted: &["database-locks"],
        fact: Some(names_acct),
        run: program_hot_row,
    },
    Scenario {
        name: "program, one client",
        made: "`pgbench` with one client against an idle server, watched",
        accepted: &["concurrency"],
        fact: None,
        run: program_one_client,
    },
    Scenario {
        name: "program that holds itself back",
        made: "`psql` that is given 5 to 50 statements per second, watched",
        accepted: &["generator-input"],
        fact: None,
        run: held_back,
    },
    Scenario {
        name: "program that reads slowly",
        made: "`psql` that copies out rows to a reader of 0.5 to 2 MB per second, watched",
        accepted: &["generator-input"],
        fact: None,
        run: slow_reader,
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

fn one_client(stage: &ScenarioEnv, options: &Options) -> Result<Answer, RepetitionError> {
    let server = server(options)?;
    let key = stage.draw(0, 1, 1_000);
    stage.run(&server, &closed(stage, 1, &format!("select {key}")))
}

fn below_capacity(stage: &ScenarioEnv, options: &Options) -> Result<Answer, RepetitionError> {
    let server = server(options)?;
    let rate = stage.draw(0, 50, 300);
    stage.run(&server, &format!("{}[job]\nquery = select 1\nrate = {rate}\n", times(stage)))
}

fn database_cpu(
    stage: &ScenarioEnv,
    options: &Options,
    query: &str,
) -> Result<Answer, RepetitionError> {
    let server = server(options)?;
    bind(&server, 1)?;
    let rows = stage.draw(0, 500, 3_000).to_string();
    let workload = closed(stage, stage.draw(1, 8, 24), &query.replace('?', &rows));
    let command = stage.assay_by(&["taskset", "-c", "0"]);
    stage.run_as(&server.url(), Some(server.password()), &workload, command, &[])
}

fn one_session(
    stage: &ScenarioEnv,
    options: &Options,
    query: &str,
) -> Result<Answer, RepetitionError> {
    let server = server(options)?;
    let rows = stage.draw(0, 30_000, 90_000).to_string();
    stage.run(&server, &closed(stage, 1, &query.replace('?', &rows)))
}

fn hot_row(stage: &ScenarioEnv, options: &Options) -> Result<Answer, RepetitionError> {
    let server = server(options)?;
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

fn slow_flush(stage: &ScenarioEnv, options: Options) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let server = server(&options.preload(&library))?;
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
fn narrow(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let mbit = stage.draw(0, 10, 40);
    let network = Network::new(&format!("tbf rate {mbit}mbit burst 64kb latency 400ms"))?;
    let command = stage.assay_by(&network.words());
    let bytes = stage.draw(1, 40_000, 100_000);
    let workload = closed(stage, stage.draw(2, 8, 24), &format!("select repeat('x', {bytes})"));
    let target = Target::parse("testbed:postgres").map_err(|error| error.to_string())?;
    stage.run_as(&target, None, &workload, command, &[])
}

fn long_by_kernel(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let network = Network::new(&format!("netem delay {}ms", stage.draw(0, 5, 20)))?;
    let command = stage.assay_by(&network.words());
    let workload = closed(stage, stage.draw(1, 4, 16), "select 1");
    let target = Target::parse("testbed:postgres").map_err(|error| error.to_string())?;
    stage.run_as(&target, None, &workload, command, &[])
}

fn long(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let relay = Relay::start(([127, 0, 0, 1], server.port()).into())?;
    relay.delay(Nanos::from_millis(stage.draw(0, 5, 20)));
    let target = through(&server, relay.address().port());
    let workload = closed(stage, stage.draw(1, 4, 16), "select 1");
    stage.run_as(&target, Some(server.password()), &workload, stage.assay_by(&[]), &[])
}

/// Reads answers that are larger than the kernel buffers for a relay that does not read them.
fn narrow_relay(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let relay = Relay::start(([127, 0, 0, 1], server.port()).into())?;
    relay.bandwidth(Some(stage.draw(0, 10, 40) * 125_000));
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

fn too_few(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
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
    let rows = stage.draw(1, 500, 3_000);
    let query = format!("select count(*) from generate_series(1, {rows})");
    stage.run(&server, &closed(stage, stage.draw(2, 8, 24), &query))
}

fn other_sessions(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let query = "select count(*) from generate_series(1, 5000000)";
    let file = stage.path("others.ini");
    let clients = stage.draw(0, 2, 4);
    let text = format!("duration = 60s\n[others]\nquery = {query}\nconcurrency = {clients}\n");
    std::fs::write(&file, text)?;
    let mut target = server.url();
    target.options.push(("application-name".to_owned(), "batch".to_owned()));
    let mut command: Command = stage.assay_by(&[]);
    command.arg("run").arg(&file).arg("--url").arg(target.to_string());
    command.env("ASSAY_PASSWORD", server.password().expose());
    command.args(["--quiet", "--out"]).arg(stage.path("others.assay"));
    let _others = stage.beside(command)?;
    stage.run(&server, &closed(stage, stage.draw(1, 4, 8), "select count(*) from pg_class"))
}

/// Runs busy loops on both processors, and requests that need some processor time.
fn other_programs(
    stage: &ScenarioEnv,
    options: &Options,
    query: &str,
) -> Result<Answer, RepetitionError> {
    let server = server(options)?;
    let count = stage.draw(0, 3, 6);
    let _loops = [stage.busy_loops(0, count)?, stage.busy_loops(1, count)?];
    let rows = stage.draw(1, 500, 1_500).to_string();
    stage.run(&server, &closed(stage, stage.draw(2, 4, 8), &query.replace('?', &rows)))
}

/// Runs sessions that vacuum clean tables, which takes processor time but no contended locks.
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
        vacuums.push(stage.beside(command)?);
    }
    let workload = closed(stage, sessions, "select count(*) from generate_series(1, 300)");
    let command = stage.assay_by(&["taskset", "-c", "0"]);
    stage.run_as(&server.url(), Some(server.password()), &workload, command, &[])
}

/// Runs a job whose log writes delay the commits of the others. It updates half of its rows in one
/// statement, which makes most of the log its own.
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
fn slow_reads(
    stage: &ScenarioEnv,
    options: Options,
    rows: &str,
) -> Result<Answer, RepetitionError> {
    let disk = SlowDisk { read_us: stage.draw(0, 1_000, 4_000), ..SlowDisk::default() };
    let server = server(&options.preload(&stage.slow_disk(disk)?))?;
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

/// Observes a client whose input delivers a few statements per second.
fn held_back(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    server.sql("create table t (v varchar(100)); alter table t owner to assay")?;
    let pause = 1.0 / stage.draw(0, 5, 50) as f64;
    let feed = format!("while sleep {pause}; do echo \"insert into t values ('x');\"; done");
    observe_script(stage, &server, &format!("({feed}) | \"$@\""))
}

/// Observes a client that reads rows only as fast as the reader of its output does. Two series are
/// joined because PostgreSQL would first write a single one of that length to a file.
fn slow_reader(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let pause = 0.05 / stage.draw(0, 1, 4) as f64;
    let rows = "copy (select repeat('x', 1000) from generate_series(1, 10000) a, \
                generate_series(1, 10000) b) to stdout";
    let reader = format!("while head -c 25000 | grep -q x; do sleep {pause}; done");
    observe_script(stage, &server, &format!("\"$@\" -c \"{rows}\" | ({reader})"))
}

fn program_cpu(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    bind(&server, 1)?;
    let rows = stage.draw(0, 500, 3_000);
    let script = format!("select count(*) from generate_series(1, {rows});\n");
    pgbench(stage, &server, stage.draw(1, 4, 12), &script)
}

fn program_hot_row(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    server.sql(
        "create table acct (id int primary key, v bigint); insert into acct values (1, 0); alter \
         table acct owner to assay",
    )?;
    let reads = "select count(*) from acct;\n".repeat(stage.draw(1, 2, 4) as usize);
    let script = format!("begin;\nupdate acct set v = v + 1 where id = 1;\n{reads}commit;\n");
    pgbench(stage, &server, stage.draw(0, 16, 32), &script)
}

fn program_one_client(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    pgbench(stage, &server, 1, &format!("select {};\n", stage.draw(0, 1, 1_000)))
}
