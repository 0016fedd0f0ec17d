//! Kinds of scenarios that observe another program, with the limiter in the program itself, in the
//! database, or in their environment.

use testbed::{Kind, Options, Server, Via};

use super::parts::{flushes, observe_clients, observe_script, others, pgbench, through};
use super::scenario::{
    RunOn, ScenarioKind, names_acct, names_pgbouncer, names_sh, sees_both_sockets,
};
use super::servers::{
    ALL, counting_query, endless_query, endless_sleep, expensive_column, options,
    options_without_flush,
};
use super::stage::{bind, server};
use super::{Answer, RepetitionError, ScenarioEnv};

/// The kinds of scenarios in which a program is observed.
pub(super) const KINDS: &[ScenarioKind] = &[
    ScenarioKind {
        name: "program, database processor",
        bottleneck: "`pgbench` (for MariaDB and MySQL `mariadb-slap`) with 4 to 12 clients that \
               read, and a server that may use one processor, observed",
        accepted: &["database-cpu"],
        fact: None,
        run: RunOn::Each(ALL, processor),
    },
    ScenarioKind {
        name: "program, hot row",
        bottleneck: "`pgbench` (for MariaDB and MySQL `mariadb-slap`) with 16 to 32 clients that \
               update one row in a transaction, observed",
        accepted: &["database-locks"],
        fact: Some(names_acct),
        run: RunOn::Each(ALL, hot_row),
    },
    ScenarioKind {
        name: "program, one client",
        bottleneck: "`pgbench` (for MariaDB and MySQL `mariadb-slap`) with one client against an \
               idle server, observed",
        accepted: &["concurrency"],
        fact: None,
        run: RunOn::Each(ALL, one_client),
    },
    ScenarioKind {
        name: "self-throttled program",
        bottleneck: "the client program, which is given 5 to 50 statements per second, observed",
        accepted: &["generator-input"],
        fact: None,
        run: RunOn::Each(ALL, slow_input),
    },
    ScenarioKind {
        name: "program with a slow reader",
        bottleneck: "`psql` that copies out rows to a reader of 0.5 to 2 MB per second, observed",
        accepted: &["generator-input"],
        fact: None,
        run: RunOn::One(slow_reader),
    },
    ScenarioKind {
        name: "self-throttled loader",
        bottleneck: "the client program that copies (for MariaDB and MySQL `load data local`) 200 \
               to 2,000 rows from a pipe, and gets the next 5 to 40 ms later, observed",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: RunOn::Each(ALL, throttled),
    },
    ScenarioKind {
        name: "self-throttled loader beside other sessions",
        bottleneck: "the same beside 2 to 4 sessions of others that sleep in a query",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: RunOn::Each(ALL, throttled_beside_others),
    },
    ScenarioKind {
        name: "bursts with pauses",
        bottleneck: "the client program, which sends 50 to 250 inserts, one after the other, and \
               sleeps for 50 to 200 ms after them, observed",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: RunOn::Each(ALL, bursts),
    },
    ScenarioKind {
        name: "bursts with short pauses",
        bottleneck: "the same with 5 to 15 inserts, and pauses of 3 to 5 ms",
        accepted: &["generator-input"],
        fact: Some(sees_both_sockets),
        run: RunOn::Each(ALL, short_bursts),
    },
    ScenarioKind {
        name: "program behind a pool of two",
        bottleneck: "`pgbench` with 16 to 32 clients behind pgbouncer with two sessions, observed",
        accepted: &["connections"],
        fact: None,
        run: RunOn::One(pooled),
    },
    ScenarioKind {
        name: "transaction pool, URL of the pooler",
        bottleneck: "`pgbench` with 12 to 24 clients that sleep 50 to 300 ms in a query, behind \
               pgbouncer with 2 to 4 sessions, observed",
        accepted: &["connections"],
        fact: Some(names_pgbouncer),
        run: RunOn::One(|stage| slow_pool(stage, "transaction", Url::Pooler)),
    },
    ScenarioKind {
        name: "transaction pool, URL of the database",
        bottleneck: "the same",
        accepted: &["connections"],
        fact: Some(names_pgbouncer),
        run: RunOn::One(|stage| slow_pool(stage, "transaction", Url::Database)),
    },
    ScenarioKind {
        name: "session pool, URL of the pooler",
        bottleneck: "the same with sessions that are pooled for the life of a client",
        accepted: &["connections"],
        fact: Some(names_pgbouncer),
        run: RunOn::One(|stage| slow_pool(stage, "session", Url::Pooler)),
    },
    ScenarioKind {
        name: "session pool, URL of the database",
        bottleneck: "the same",
        accepted: &["connections"],
        fact: Some(names_pgbouncer),
        run: RunOn::One(|stage| slow_pool(stage, "session", Url::Database)),
    },
    ScenarioKind {
        name: "program, one session that flushes",
        bottleneck: "every flush of a file takes 5 to 15 ms longer, `pgbench` (for MariaDB and \
               MySQL `mariadb-slap`) with one client that inserts, observed",
        accepted: &["database-flush"],
        fact: None,
        run: RunOn::Each(ALL, one_flushes),
    },
    ScenarioKind {
        name: "program beside queries of other sessions",
        bottleneck: "2 to 4 sessions of others that read all the time, `pgbench` (for MariaDB and \
               MySQL `mariadb-slap`) with 4 to 8 clients that read, on a server that may use one \
               processor, observed",
        accepted: &["background-task"],
        fact: None,
        run: RunOn::Each(ALL, beside_others),
    },
    ScenarioKind {
        name: "program beside busy programs",
        bottleneck: "2 to 4 busy loops on each processor, `pgbench` (for MariaDB and MySQL \
               `mariadb-slap`) with 1 to 4 clients that read, observed",
        accepted: &["other-programs"],
        fact: Some(names_sh),
        run: RunOn::Each(ALL, beside_busy_programs),
    },
    ScenarioKind {
        name: "fast loader",
        bottleneck: "the client program that copies rows from a file (for MariaDB and MySQL `load \
               data local`) into a table with an expensive check, observed",
        accepted: &["database-single-core"],
        fact: None,
        run: RunOn::Each(ALL, fast_copy),
    },
];

/// Creates a table that the observed program's user may change.
fn table(server: &Server, name: &str, columns: &str) -> Result<(), RepetitionError> {
    let owned = match server.kind() {
        Kind::Postgres => format!("; alter table {name} owner to assay"),
        Kind::Mariadb | Kind::Mysql => String::new(),
    };
    server.sql(&format!("create table {name} ({columns}){owned}"))?;
    Ok(())
}

/// Creates a table `t` of texts.
fn texts(server: &Server) -> Result<(), RepetitionError> {
    table(server, "t", "v varchar(100)")
}

/// Returns a script of one query that takes some processor time.
fn reads(stage: &ScenarioEnv, server: &Server) -> String {
    format!("{};\n", counting_query(server.kind(), stage.draw(0, 500, 3_000)))
}

fn processor(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    bind(&server, 1)?;
    observe_clients(stage, &server, stage.draw(1, 4, 12), &reads(stage, &server))
}

fn hot_row(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    table(&server, "acct", "id int primary key, v bigint")?;
    server.sql("insert into acct values (1, 0)")?;
    let reads = "select count(*) from acct;\n".repeat(stage.draw(1, 2, 4) as usize);
    let script = format!("begin;\nupdate acct set v = v + 1 where id = 1;\n{reads}commit;\n");
    observe_clients(stage, &server, stage.draw(0, 16, 32), &script)
}

fn one_client(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    observe_clients(stage, &server, 1, &format!("select {};\n", stage.draw(0, 1, 1_000)))
}

/// Observes a client whose input delivers a few statements per second.
fn slow_input(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    texts(&server)?;
    let pause = 1.0 / stage.draw(0, 5, 50) as f64;
    let feed = format!("while sleep {pause}; do echo \"insert into t values ('x');\"; done");
    observe_script(stage, &server, &format!("({feed}) | \"$@\""))
}

/// Observes a client that reads rows only as fast as the reader of its output does. The query joins
/// two series, because PostgreSQL would first write a single series of that length to a file.
fn slow_reader(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let server = server(&Options::postgres())?;
    let pause = 0.05 / stage.draw(0, 1, 4) as f64;
    let rows = "copy (select repeat('x', 1000) from generate_series(1, 10000) a, \
                generate_series(1, 10000) b) to stdout";
    let reader = format!("while head -c 25000 | grep -q x; do sleep {pause}; done");
    observe_script(stage, &server, &format!("\"$@\" -c \"{rows}\" | ({reader})"))
}

/// Observes a client that loads rows from a pipe, which delivers them in portions with pauses.
fn throttled_by(stage: &ScenarioEnv, server: &Server) -> Result<Answer, RepetitionError> {
    texts(server)?;
    let (rows, ms) = (stage.draw(0, 200, 2_000), stage.draw(1, 5, 40));
    let pause = ms as f64 / 1e3;
    let load = match server.kind() {
        Kind::Postgres => r#""$@" -c '\copy t from stdin'"#,
        Kind::Mariadb | Kind::Mysql => {
            r#""$@" -e "load data local infile '/dev/stdin' into table t""#
        }
    };
    observe_script(stage, server, &format!("(while seq {rows}; do sleep {pause}; done) | {load}"))
}

fn throttled(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    throttled_by(stage, &server(&options(kind))?)
}

fn throttled_beside_others(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    let _others = others(stage, &server, endless_sleep(kind))?;
    throttled_by(stage, &server)
}

fn bursts(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let (inserts, ms) = (stage.draw(0, 50, 250), stage.draw(1, 50, 200));
    batches(stage, kind, inserts, ms)
}

fn short_bursts(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let (inserts, ms) = (stage.draw(0, 5, 15), stage.draw(1, 3, 5));
    batches(stage, kind, inserts, ms)
}

/// Observes a client that sends inserts and then sleeps for some milliseconds, again and again.
fn batches(
    stage: &ScenarioEnv,
    kind: Kind,
    inserts: u64,
    ms: u64,
) -> Result<Answer, RepetitionError> {
    let server = server(&options_without_flush(kind))?;
    texts(&server)?;
    // The client itself starts `sleep` and waits for it: a pause begins after the last answer.
    let file = stage.path("batch.sql");
    let insert = "insert into t values ('x');\n".repeat(inserts as usize);
    let pause = ms as f64 / 1e3;
    let batch = format!("{insert}\\! sleep {pause}\n");
    std::fs::write(&file, batch.repeat(100))?;
    let file = file.display();
    observe_script(stage, &server, &format!("(while cat '{file}'; do :; done) | \"$@\""))
}

fn pooled(stage: &ScenarioEnv) -> Result<Answer, RepetitionError> {
    let options = Options::postgres()
        .via(Via::Pgbouncer)
        .set_via("pool_mode", "transaction")
        .set_via("default_pool_size", "2");
    let server = server(&options)?;
    let ms = stage.draw(0, 2, 8) as f64 / 1e3;
    let script = format!("select pg_sleep({ms});\n");
    pgbench(&server.url(), stage, &server, stage.draw(1, 16, 32), &script)
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
    pgbench(&target, stage, &server, stage.draw(2, 12, 24), &script)
}

fn one_flushes(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let library = stage.slow_disk(flushes(stage))?;
    let server = server(&options(kind).preload(&library))?;
    texts(&server)?;
    observe_clients(stage, &server, 1, "insert into t values ('x');\n")
}

fn beside_others(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    bind(&server, 1)?;
    let _others = others(stage, &server, endless_query(kind))?;
    observe_clients(stage, &server, stage.draw(1, 4, 8), &reads(stage, &server))
}

/// Runs busy loops alongside the observed program and the database.
fn beside_busy_programs(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options(kind))?;
    let loops = stage.draw(1, 2, 4);
    let _loops = [stage.busy_loops(0, loops)?, stage.busy_loops(1, loops)?];
    observe_clients(stage, &server, stage.draw(2, 1, 4), &reads(stage, &server))
}

/// Observes a client that copies one file repeatedly into a table with an expensive check.
fn fast_copy(stage: &ScenarioEnv, kind: Kind) -> Result<Answer, RepetitionError> {
    let server = server(&options_without_flush(kind))?;
    table(&server, "c", &expensive_column(kind, stage.draw(0, 80, 160)))?;
    let file = stage.path("rows");
    let rows: String = (0..200_000).map(|row| format!("{row}\n")).collect();
    std::fs::write(&file, rows)?;
    let file = file.display();
    let copy = match kind {
        Kind::Postgres => format!("\"$@\" -c \"\\copy c from '{file}'\""),
        Kind::Mariadb | Kind::Mysql => {
            format!("\"$@\" -e \"load data local infile '{file}' into table c\"")
        }
    };
    observe_script(stage, &server, &format!("while {copy}; do :; done"))
}
