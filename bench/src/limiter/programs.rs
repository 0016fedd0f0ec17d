//! Limiter scenarios that observe another program, with the limiter in the program itself or in its
//! environment.

use testbed::{Kind, Options, Server, Via};

use super::parts::{flushes, observe_script, pgbench, pgbench_at, through};
use super::scenario::{Scenario, names_pgbouncer, names_sh, sees_both_sockets};
use super::stage::{BackgroundProgram, bind, psql, server};
use super::{Answer, RepetitionError, ScenarioEnv};

/// The scenarios.
pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "loader that throttles itself, PostgreSQL",
        made: "`psql` that copies 200 to 2,000 rows from a pipe, and gets the next 5 to 40 ms \
               later, observed",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: |stage| throttled(stage, &Options::postgres()),
    },
    Scenario {
        name: "loader that throttles itself, MariaDB",
        made: "the same with `load data local`",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: |stage| throttled(stage, &Options::mariadb()),
    },
    Scenario {
        name: "loader that throttles itself, MySQL",
        made: "the same",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: |stage| throttled(stage, &Options::mysql().set("local_infile", "ON")),
    },
    Scenario {
        name: "loader beside queries of others",
        made: "the same with PostgreSQL, beside 2 to 4 sessions of others that sleep in a query",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: throttled_beside_others,
    },
    Scenario {
        name: "bursts with pauses, PostgreSQL",
        made: "`psql` that is given 100 to 300 inserts at once, and the next 60 to 120 ms later, \
               observed",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: |stage| bursts(stage, &Options::postgres().set("synchronous_commit", "off")),
    },
    Scenario {
        name: "bursts with pauses, MariaDB",
        made: "the same",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: |stage| bursts(stage, &Options::mariadb().set("innodb_flush_log_at_trx_commit", "0")),
    },
    Scenario {
        name: "program behind a pool of two",
        made: "`pgbench` with 16 to 32 clients behind pgbouncer with two sessions, observed",
        accepted: &["connections"],
        fact: None,
        run: pooled,
    },
    Scenario {
        name: "transaction pool, URL of the pooler",
        made: "`pgbench` with 12 to 24 clients that sleep 50 to 300 ms in a query, behind \
               pgbouncer with 2 to 4 sessions, observed",
        accepted: &["connections"],
        fact: Some(names_pgbouncer),
        run: |stage| slow_pool(stage, "transaction", Url::Pooler),
    },
    Scenario {
        name: "transaction pool, URL of the database",
        made: "the same",
        accepted: &["connections"],
        fact: Some(names_pgbouncer),
        run: |stage| slow_pool(stage, "transaction", Url::Database),
    },
    Scenario {
        name: "session pool, URL of the pooler",
        made: "the same with sessions that are pooled for the life of a client",
        accepted: &["connections"],
        fact: Some(names_pgbouncer),
        run: |stage| slow_pool(stage, "session", Url::Pooler),
    },
    Scenario {
        name: "session pool, URL of the database",
        made: "the same",
        accepted: &["connections"],
        fact: Some(names_pgbouncer),
        run: |stage| slow_pool(stage, "session", Url::Database),
    },
    Scenario {
        name: "program, one session that flushes",
        made: "every flush of a file takes 5 to 15 ms longer, `pgbench` with one client that \
               inserts, observed",
        accepted: &["database-flush"],
        fact: None,
        run: one_flushes,
    },
    Scenario {
        name: "program beside others' queries",
        made: "2 to 4 sessions of others that read all the time, `pgbench` with 4 to 8 clients \
               that read, on a server that may use one processor, observed",
        accepted: &["background-task"],
        fact: None,
        run: beside_others,
    },
    Scenario {
        name: "program beside busy programs",
        made: "2 to 4 busy loops on each processor, `pgbench` with 1 to 4 clients that read, \
               observed",
        accepted: &["other-programs"],
        fact: Some(names_sh),
        run: beside_busy_programs,
    },
    Scenario {
        name: "program that copies fast",
        made: "`psql` that copies rows from a file which a check of the table reckons with for \
               long, observed",
        accepted: &["database-single-core"],
        fact: None,
        run: fast_copy,
    },
];

/// Creates a table that the observed program's user may fill.
fn table(server: &Server) -> Result<(), RepetitionError> {
    let owned = match server.kind() {
        Kind::Postgres => "; alter table t owner to assay",
        Kind::Mariadb | Kind::Mysql => "",
    };
    server.sql(&format!("create table t (v varchar(100)){owned}"))?;
    Ok(())
}

/// Observes a client that loads rows from a pipe, which delivers them in portions with pauses.
fn throttled_by(stage: &ScenarioEnv, server: &Server) -> Result<Answer, RepetitionError> {
    table(server)?;
    let (rows, ms) = (stage.draw(0, 200, 2_000), stage.draw(1, 5, 40));
    let load = match server.kind() {
        Kind::Postgres => r#""$@" -c '\copy t from stdin'"#,
        Kind::Mariadb | Kind::Mysql => {
            r#""$@" -e "load data local infile '/dev/stdin' into table t""#
        }
    };
    let pause = ms as f64 / 1e3;
    observe_script(stage, server, &format!("(while seq {rows}; do sleep {pause}; done) | {load}"))
}

fn throttled(stage: &ScenarioEnv, options: &Options) -> Result<Answer, RepetitionError> {
    throttled_by(stage, &server(options)?)
}

/// Starts 2 to 4 sessions that are not observed, each a `psql` that runs a query.
fn others(
    stage: &ScenarioEnv,
    server: &Server,
    query: &str,
) -> Result<Vec<BackgroundProgram>, RepetitionError> {
    let one = |_| {
        let mut command = psql(server)?;
        command.args(["-c", query]);
        stage.beside(command)
    };
    (0..stage.draw(8, 2, 4)).map(one).collect()
}

fn throttled_beside_others(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let _others = others(stage, &server, "select pg_sleep(60)")?;
    throttled_by(stage, &server)
}

fn bursts(stage: &ScenarioEnv, options: &Options) -> Result<Answer, RepetitionError> {
    let server = server(options)?;
    table(&server)?;
    let (inserts, ms) = (stage.draw(0, 100, 300), stage.draw(1, 60, 120));
    let burst = format!("yes \"insert into t values ('x');\" | head -n {inserts}");
    let pause = ms as f64 / 1e3;
    observe_script(stage, &server, &format!("(while {burst}; do sleep {pause}; done) | \"$@\""))
}

fn pooled(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let options = Options::postgres()
        .via(Via::Pgbouncer)
        .set_via("pool_mode", "transaction")
        .set_via("default_pool_size", "2");
    let server = server(&options)?;
    let ms = stage.draw(0, 2, 8) as f64 / 1e3;
    pgbench(stage, &server, stage.draw(1, 16, 32), &format!("select pg_sleep({ms});\n"))
}

/// The URL with which a program behind a pooler is observed.
enum Url {
    Pooler,
    Database,
}

fn slow_pool(stage: &ScenarioEnv, mode: &str, url: Url) -> Result<Answer, RepetitionError> {
    let sessions = stage.draw(0, 2, 4).to_string();
    let options = Options::postgres()
        .via(Via::Pgbouncer)
        .set_via("pool_mode", mode)
        .set_via("default_pool_size", &sessions);
    let server = server(&options)?;
    let target = match url {
        Url::Pooler => server.url(),
        Url::Database => through(&server, server.own_port()),
    };
    let seconds = stage.draw(1, 50, 300) as f64 / 1e3;
    let script = format!("select pg_sleep({seconds});\n");
    pgbench_at(&target, stage, &server, stage.draw(2, 12, 24), &script)
}

fn one_flushes(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let server = server(&Options::postgres().preload(&library))?;
    table(&server)?;
    pgbench(stage, &server, 1, "insert into t values ('x');\n")
}

fn beside_others(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    bind(&server, 1)?;
    let query = "select count(*) from generate_series(1, 2000000000) i where i % 2 = 3";
    let _others = others(stage, &server, query)?;
    let rows = stage.draw(0, 500, 3_000);
    let script = format!("select count(*) from generate_series(1, {rows});\n");
    pgbench(stage, &server, stage.draw(1, 4, 8), &script)
}

/// Runs busy loops alongside the observed program and the database.
fn beside_busy_programs(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let loops = stage.draw(0, 2, 4);
    let _loops = [stage.busy_loops(0, loops)?, stage.busy_loops(1, loops)?];
    let rows = stage.draw(1, 500, 3_000);
    let script = format!("select count(*) from generate_series(1, {rows});\n");
    pgbench(stage, &server, stage.draw(2, 1, 4), &script)
}

/// Observes a client that copies one file repeatedly into a table with an expensive check.
fn fast_copy(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres().set("fsync", "off"))?;
    let factors = stage.draw(0, 80, 160);
    server.sql(&format!(
        "create table c (v bigint check (factorial({factors} + v % 2) > 0)); alter table c owner \
         to assay"
    ))?;
    let file = stage.path("rows");
    let rows: String = (0..200_000).map(|row| format!("{row}\n")).collect();
    std::fs::write(&file, rows)?;
    let copy = format!("\"$@\" -c \"\\copy c from '{}'\"", file.display());
    observe_script(stage, &server, &format!("while {copy}; do :; done"))
}
