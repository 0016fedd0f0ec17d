//! Tests of the statistics of real servers: their count of commits compared with the client's, and
//! the facts recorded about them.

use nix::sys::signal::Signal;
use serde_json::Value;
use testbed::{Kind, Options, Server, Via};

use crate::support::{CommandResult, Running, TestFolder, check, number_after};

const KINDS: [Kind; 2] = [Kind::Postgres, Kind::Mariadb];

/// A workload with every way in which requests may commit.
const JOBS: &str = "\
duration = 3s
warmup = 1s
[setup]
query = create table counter (id int primary key, n bigint)
query = create table more (id int primary key, n bigint)
[load counter]
rows = 1000
columns = id: row(), n: 0
[alone]
query = update counter set n = n + 1 where id = ${uniform(1, 900)}
query = select n from counter where id = ${uniform(1, 900)}
rate = 40
[together]
transaction = yes
query = select n from counter where id = ${uniform(1, 900)}
query = update counter set n = n + 1 where id = 950
concurrency = 2
think = 10ms
[at once]
transaction = yes
pipeline = yes
query = update counter set n = n + 1 where id = 951
query = select 1
concurrency = 1
think = 10ms
[both]
mix = text: 1, session: 1
rate = 40
[text]
prepare = no
query = select n + ${uniform(1, 5)} from counter where id = 3
[session]
session = yes
think = 1ms
query = select 1
query = select 2
[fresh]
reconnect = per-transaction
query = select 3
rate = 20
[refused]
query = insert into more values (1, ${uniform(1, 100)})
rate = 20
error = 23505, 1062
";

fn run_as(place: &TestFolder, server: &Server, url: &str) -> Running {
    let args = ["run", "w.ini", "--json", "--out", "r.assay", "--url", url];
    Running::of(place.command(&args).env("ASSAY_PASSWORD", server.password().expose()))
}

fn run(place: &TestFolder, server: &Server) -> CommandResult {
    run_as(place, server, &server.url().to_string()).wait_for_end()
}

#[test]
fn server_counters_agree_with_the_requests() {
    for kind in KINDS {
        let server = Server::start(&Options::new(kind)).unwrap();
        let summary = run(&TestFolder::with(JOBS), &server).json();
        let commits = check(&summary, "commits");
        assert_eq!(commits["status"], "pass", "{kind:?}: {commits}");
        assert_ne!(check(&summary, "checkpoints")["status"], "not-possible", "{kind:?}");
    }
}

/// Commits at least 1,000 times in a session that does not belong to the run.
fn commit_in_other_session(server: &Server) {
    let text = match server.kind() {
        Kind::Postgres => {
            "do $$ begin for i in 1..2000 loop perform 1; commit; end loop; end $$".to_owned()
        }
        Kind::Mariadb | Kind::Mysql => "commit; select 1;".repeat(1_000),
    };
    server.sql(&text).unwrap();
}

const READ: &str = "duration = 4s\n[read]\nquery = select 1\nrate = 100\n";

/// Calls `disturb` while requests are answered, then ends the run and returns its summary.
fn run_disturbed(server: &Server, disturb: impl Fn()) -> Value {
    let place = TestFolder::with(&READ.replace("4s", "60s"));
    let mut running = run_as(&place, server, &server.url().to_string());
    running.wait_for_matching_line("some are answered", |line| {
        number_after(line, "achieved/s").is_some_and(|achieved| achieved > 0.0)
    });
    disturb();
    running.signal(Signal::SIGINT);
    running.wait_for_end().expect(130).json()
}

#[test]
fn foreign_commits_are_noticed() {
    for kind in KINDS {
        let server = Server::start(&Options::new(kind)).unwrap();
        let summary = run_disturbed(&server, || commit_in_other_session(&server));
        let commits = check(&summary, "commits");
        assert_eq!(commits["status"], "suspect", "{kind:?}: {commits}");
        assert!(commits["value"].as_f64().unwrap() >= 1_000.0, "{kind:?}: {commits}");
        let words = commits["explain"].as_str().unwrap();
        assert!(words.contains("other sessions used this database"), "{words}");
    }
}

/// Expects the run to be INVALID. The test simulates a server that has counted one commit too few.
#[test]
fn commit_missing_on_the_server_makes_a_run_invalid() {
    for (kind, metric) in [(Kind::Postgres, "commits"), (Kind::Mariadb, "statements")] {
        let server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(READ);
        let summary = run(&place, &server).json();
        let commits = check(&summary, "commits");
        assert_eq!(commits["status"], "pass", "{kind:?}: {commits}");
        let strange = commits["value"].as_f64().unwrap();
        let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
        let lose = "update sample set value = value - ?1 - 1 where at_s > 0 and series = \
                    (select series from series where component = 'database' and metric = ?2)";
        assert_eq!(record.execute(lose, (strange, metric)).unwrap(), 1);
        drop(record);
        let again = place.assay(&["report", "r.assay", "--json"]).json();
        let commits = check(&again, "commits");
        assert_eq!(commits["status"], "invalid", "{kind:?}: {commits}");
        assert_eq!(again["verdict"]["status"], "INVALID");
    }
}

#[test]
fn server_that_loses_its_counters_is_not_judged() {
    let server = Server::start(&Options::postgres()).unwrap();
    let summary = run_disturbed(&server, || {
        server.sql("select pg_stat_reset()").unwrap();
    });
    let commits = check(&summary, "commits");
    assert_eq!(commits["status"], "not-possible", "{commits}");
    assert!(commits["explain"].as_str().unwrap().contains("statistics were reset"), "{commits}");
}

/// pgbouncer assigns its own process IDs to sessions; pgpool-II passes on those of the server.
#[test]
fn sessions_of_a_pooler_are_not_counted_as_ours() {
    for (via, words) in
        [(Via::Pgbouncer, "a proxy or pooler"), (Via::Pgpool { cache: None }, "were still there")]
    {
        let server = Server::start(&Options::postgres().via(via)).unwrap();
        let commits = commits_of_a_server_that_reports(&server);
        assert_eq!(commits["status"], "not-possible", "{commits}");
        assert!(commits["explain"].as_str().unwrap().contains(words), "{commits}");
    }
}

/// Returns the check `commits` of a run. If the disk is busy, a run may end before the server
/// reports its statistics; the run is then repeated.
fn commits_of_a_server_that_reports(server: &Server) -> Value {
    let commits = |_| check(&run(&TestFolder::with(READ), server).json(), "commits").clone();
    let is_reported =
        |commits: &Value| !commits["explain"].as_str().unwrap().contains("did not report it");
    (0..5).map(commits).find(is_reported).expect("the server did not report in five runs")
}

/// Returns the settings and facts of `r.assay`.
fn facts(place: &TestFolder) -> serde_json::Map<String, Value> {
    let ran = place.assay(&["report", "r.assay", "--environment", "--json"]).expect(0);
    ran.json().as_object().unwrap().clone()
}

const TABLE: &str = "\
duration = 1s
[setup]
query = create table t (id int primary key, n int)
[load t]
rows = 5000
columns = id: row(), n: 0
[read]
query = select n from t where id = ${uniform(1, 5000)}
rate = 50
";

#[test]
fn non_default_server_settings_are_recorded() {
    for (options, name, value) in [
        (Options::postgres(), "work_mem", "7MB"),
        (Options::mariadb(), "join_buffer_size", "524288"),
    ] {
        let mut options = options;
        options.settings.push((name.to_owned(), value.to_owned()));
        let kind = options.kind;
        let server = Server::start(&options).unwrap();
        let place = TestFolder::with(TABLE);
        run(&place, &server);
        let facts = facts(&place);
        assert_eq!(facts[&format!("database.setting.{name}")], value, "{kind:?}: {facts:?}");
        let number = |name: &str| facts[name].as_str().unwrap().parse::<f64>().unwrap();
        assert!(number("database.size_bytes") > 100_000.0, "{kind:?}: {facts:?}");
        assert_eq!(number("database.buffer_bytes"), 134_217_728.0, "{kind:?}");
        assert_eq!(number("database.tables"), 1.0, "{kind:?}");
        assert_eq!(facts["database.server_id"].as_str().unwrap().len(), 32, "{kind:?}");
        assert!(number("database.table.t.bytes") > 0.0, "{kind:?}");
        let unknown: Vec<_> = facts
            .iter()
            .filter(|(name, value)| name.starts_with("database.") && *value == "unknown")
            .collect();
        assert!(unknown.is_empty(), "{kind:?}: {unknown:?}");
        let text = place.assay(&["report", "r.assay", "--environment"]).expect(0).stdout;
        let (_, server_part) = text.split_once("\nServer\n").unwrap();
        assert!(server_part.contains("  database.size_bytes "), "{text}");
    }
}

#[test]
fn a_secret_of_a_server_is_in_no_record() {
    let mut options = Options::postgres();
    for (name, value) in [
        ("primary_conninfo", "host=h password=geheim"),
        ("archive_command", "cp geheim %p"),
        ("ssl_passphrase_command", "echo geheim"),
        ("app.jwt", "geheim"),
    ] {
        options.settings.push((name.to_owned(), value.to_owned()));
    }
    let server = Server::start(&options).unwrap();
    let place = TestFolder::with(TABLE);
    run(&place, &server);
    assert_eq!(facts(&place)["database.setting.primary_conninfo"], "hidden");
    let record = std::fs::read(place.at("r.assay")).unwrap();
    assert!(!record.windows(6).any(|bytes| bytes == b"geheim"));
}

/// The password comes from an environment variable. The driver removes it from errors, and the
/// record removes it from all other texts.
#[test]
fn invariant_8_password_of_a_login_is_in_no_setting_and_no_name() {
    let server = Server::start(&Options::new(Kind::Postgres)).unwrap();
    let password = server.password().expose();
    let path = format!("alter database assay set search_path = public, \"{password}\"");
    server.sql(&path).unwrap();
    server.sql(&format!("create table \"{password}\" (a int)")).unwrap();
    let place = TestFolder::with(TABLE);
    run(&place, &server);
    let facts = facts(&place);
    let path = facts["database.setting.search_path"].as_str().unwrap();
    assert_eq!(path.replace('"', ""), "public, (secret)");
    assert!(facts.contains_key("database.table.(secret).bytes"), "{facts:?}");
    let args = ["observe", "--out", "o.assay", "--duration", "1s", &server.url().to_string()];
    let mut observed = place.command(&args);
    Running::of(observed.env("ASSAY_PASSWORD", password)).wait_for_end();
    for record in ["r.assay", "o.assay"] {
        let bytes = std::fs::read(place.at(record)).unwrap();
        let found = bytes.windows(password.len()).any(|window| window == password.as_bytes());
        assert!(!found, "{record}");
    }
}

/// Creates a user who may use one database and read nothing else; returns the URL.
fn create_restricted_user(server: &Server) -> String {
    let password = server.password().expose();
    let (scheme, make) = match server.kind() {
        Kind::Postgres => (
            "postgres",
            format!(
                "create role poor login password '{password}'; grant create on schema public to \
                 poor"
            ),
        ),
        Kind::Mariadb | Kind::Mysql => (
            "mysql",
            format!(
                "create user poor@'%' identified by '{password}'; grant select, insert, create, \
                 drop on assay.* to poor@'%'"
            ),
        ),
    };
    server.sql(&make).unwrap();
    format!("{scheme}://poor@127.0.0.1:{}/assay", server.port())
}

#[test]
fn settings_hidden_from_an_unprivileged_user_are_unknown() {
    for (kind, hidden, printed) in [
        (
            Kind::Postgres,
            &["replication.standbys", "setting.shared_preload_libraries"][..],
            &["size_bytes", "replication.role", "table.t.bytes"][..],
        ),
        (
            Kind::Mariadb,
            &["size_bytes", "replication.sources", "replication.replicas"],
            &["settings", "table.t.bytes"],
        ),
    ] {
        let server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(TABLE);
        let url = create_restricted_user(&server);
        let summary = run_as(&place, &server, &url).wait_for_end().json();
        let facts = facts(&place);
        for name in hidden {
            assert_eq!(facts[&format!("database.{name}")], "unknown", "{kind:?}: {name}");
        }
        for name in printed {
            assert_ne!(facts[&format!("database.{name}")], "unknown", "{kind:?}: {name}");
        }
        let commits = check(&summary, "commits");
        assert_eq!(commits["status"], "pass", "{kind:?}: {commits}");
    }
}
