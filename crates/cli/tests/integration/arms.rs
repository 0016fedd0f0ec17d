//! Arms that change settings of a private server or run programs, and arms whose difference is not
//! in effect.

use std::process::Command;
use std::sync::{Arc, Mutex};

use nix::sys::signal::Signal;
use rusqlite::Connection;
use testbed::{Kind, Options, Server, Tls};

use crate::example::assert_matches_schema;
use crate::experiment_end::assert_ended;
use crate::faulty_server::{EndlessAnswer, FaultyRequest, FaultyServer, TlsAnswer};
use crate::support::{CommandResult, Running, TestFolder, number, wait_until};

const READ: &str = "url = testbed:postgres\nduration = 200ms\n[setup]\n\
                    query = create table t (a int)\n[load t]\nrows = 10\ncolumns = a: row()\n\
                    [read]\nquery = select count(*) from t\nconcurrency = 1\nthink = 5ms\n";

const SQLITE: &str = "duration = 200ms\n[read]\nquery = select 1\nconcurrency = 1\nthink = 5ms\n";

/// Returns a folder with a workload and an experiment of two arms.
fn place(workload: &str, arms: &str) -> TestFolder {
    let place = TestFolder::new();
    place.write("read.ini", workload);
    let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 6\ndifferences = several\n";
    place.write("e.ini", format!("{question}{arms}"));
    place
}

fn run(place: &TestFolder, more: &[&str]) -> CommandResult {
    let line = ["run", "e.ini", "--out", "r.assay", "--allow-commands", "--quiet"];
    place.assay(&[&line[..], more].concat())
}

/// Returns the values that a query on the record returns.
fn values(place: &TestFolder, sql: &str) -> Vec<String> {
    let record = Connection::open(place.at("r.assay")).unwrap();
    let mut select = record.prepare(sql).unwrap();
    let rows = select.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Expects one restart of the server before every run. A program of the arms queries the start time
/// of the server after each run.
#[test]
fn settings_of_arms_restart_one_server_before_every_run() {
    let asks = "after-command = psql -X -h $ASSAY_HOST -p $ASSAY_PORT -U $ASSAY_USER \
                -d $ASSAY_DATABASE -Atc 'select pg_postmaster_start_time()' >> starts\n";
    let arms = format!("[arm small]\n{asks}[arm large]\nserver.work_mem = 65536kB\n{asks}");
    let place = place(READ, &arms);
    let ran = run(&place, &[]);
    let document = assert_ended(&place, &ran, 6);
    let settings = "select distinct arm || ' ' || value from setting join run using (run) \
                    where name = 'work_mem' order by 1";
    assert_eq!(values(&place, settings), ["large 64MB", "small 4MB"]);
    let starts = std::fs::read_to_string(place.at("starts")).unwrap();
    let mut starts: Vec<&str> = starts.lines().collect();
    let runs = values(&place, "select cast(count(*) as text) from run");
    assert_eq!(starts.len().to_string(), runs[0]);
    let canaries = "select cast(count(*) as text) from setting where name = 'generator.canary_ns'";
    assert_eq!(values(&place, canaries), runs);
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len().to_string(), runs[0], "each run has a server of its own start");
    assert!(!ran.stdout.contains("undeclared difference"), "{}", ran.stdout);
    assert!(ran.stdout.contains("large: server.work_mem = 65536kB"), "{}", ran.stdout);
    let difference = serde_json::json!({ "key": "server.work_mem", "value": "65536kB" });
    assert_eq!(document["arms"][1]["differences"][0], difference);
}

#[test]
fn setting_that_the_server_does_not_accept_ends_the_experiment_before_its_first_run() {
    for (url, setting, words) in [
        ("testbed:postgres", "nonsense = 1", "unrecognized configuration parameter"),
        ("testbed:postgres", "shared_buffers = 9999TB", "does not start with `server.shared_"),
        ("testbed:postgres", "no.thing = 1", "the server has no such setting; correct its name"),
        ("testbed:mariadb", "nonsense = 1", "unknown variable"),
    ] {
        let arms = format!("[arm a]\n[arm b]\nserver.{setting}\n");
        let place = place(&READ.replace("testbed:postgres", url), &arms);
        let ran = run(&place, &[]).expect(2);
        assert!(ran.stderr.contains("[arm b]: ") && ran.stderr.contains(words), "{}", ran.stderr);
        assert_eq!(place.names(), ["e.ini", "read.ini"]);
    }
}

/// Expects the arm to be INVALID: MariaDB reduces its setting to the highest number of connections
/// that the server can serve.
#[test]
fn setting_that_is_not_in_effect_makes_its_arm_invalid() {
    let arms = "[arm a]\n[arm b]\nserver.max_connections = 9999999\n";
    let place = place(&READ.replace("postgres", "mariadb"), arms);
    let ran = run(&place, &["--json"]).expect(3);
    let document = ran.json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    assert_eq!(
        (&document["verdict"], &document["state"]),
        (&"INVALID".into(), &"not-in-effect".into())
    );
    let reason = document["invalid_arm"].as_str().unwrap();
    let words = "[arm b]: `server.max_connections = 9999999` is not in effect: MariaDB uses `";
    assert!(reason.starts_with(words), "{reason}");
}

const TLS: &str = "[arm plain]\noption.tls = off\n[arm tls]\noption.tls = require\n";

/// Returns the TLS versions of an arm's connections, as reported by the client and by the server.
fn tls_of(place: &TestFolder, arm: &str) -> Vec<String> {
    let value = format!(
        "select distinct name || ' ' || value from setting join run using (run) \
         where arm = '{arm}' and name in ('client_tls_version', 'ssl_version') order by 1"
    );
    values(place, &value)
}

/// Expects TLS to be in effect, and its end at the pooler to be an undeclared fact. The pooler
/// terminates TLS, and connects to the server in clear text.
#[test]
fn tls_that_ends_at_a_pooler_is_in_effect_and_an_undeclared_fact() {
    let place = place(&READ.replace("testbed:postgres", "testbed:postgres?via=pgbouncer"), TLS);
    let ran = run(&place, &[]);
    let document = assert_ended(&place, &ran, 6);
    assert_eq!(tls_of(&place, "tls"), ["client_tls_version TLSv1.3", "ssl_version empty"]);
    assert_eq!(tls_of(&place, "plain"), ["client_tls_version none", "ssl_version empty"]);
    let words = " undeclared fact: the client's connection of `tls` uses TLSv1.3, and the server \
                 reports one without TLS (ssl_version is `empty`): TLS ends between them ";
    assert!(ran.stdout_line().contains(words), "{}", ran.stdout);
    assert!(!ran.stdout.contains("is not in effect"), "{}", ran.stdout);
    assert_eq!(place.assay(&["report", "r.assay"]).stdout, ran.stdout);
    let fact = serde_json::json!([
        { "name": "ssl_version", "client": "TLSv1.3", "server": "empty" }
    ]);
    assert_eq!(document["arms"][1]["undeclared_facts"], fact);
    assert_eq!(document["arms"][0]["undeclared_facts"], serde_json::json!([]));
}

/// Expects TLS to be judged by the client. The server does not report it, because the user's
/// `search_path` has an empty view `pg_stat_ssl` before that of the catalogue.
#[test]
fn server_that_does_not_report_tls_is_judged_by_the_client() {
    let server = Server::start(&Options::postgres().tls(Tls::Server)).unwrap();
    let silent = "create schema silent; create view silent.pg_stat_ssl as \
                  select * from pg_catalog.pg_stat_ssl where false; \
                  grant usage on schema silent to public; grant select on silent.pg_stat_ssl \
                  to public; alter role assay set search_path = public, silent, pg_catalog";
    server.sql(silent).unwrap();
    let place = place(&READ.replace("url = testbed:postgres\n", ""), TLS);
    let mut url = server.url();
    url.options.clear();
    let url = url.to_string();
    let line = ["run", "e.ini", "--out", "r.assay", "--quiet", "--url", &url];
    let mut command = place.command(&line);
    let ran = CommandResult::of(command.env("ASSAY_PASSWORD", server.password().expose()));
    assert_ended(&place, &ran, 6);
    assert_eq!(tls_of(&place, "tls"), ["client_tls_version TLSv1.3", "ssl_version unknown"]);
    for words in ["is not in effect", "undeclared fact"] {
        assert!(!ran.stdout.contains(words), "{}", ran.stdout);
    }
}

#[test]
fn server_that_declines_tls_ends_the_experiment_before_a_plain_run() {
    // This test has its own server, because the table of the plain arm stays when the experiment
    // ends early.
    let server = Server::start(&Options::new(Kind::Postgres)).unwrap();
    let place = place(&READ.replace("url = testbed:postgres\n", ""), TLS);
    let url = server.url().to_string();
    let mut command =
        place.command(&["run", "e.ini", "--out", "r.assay", "--quiet", "--url", &url]);
    let ran = CommandResult::of(command.env("ASSAY_PASSWORD", server.password().expose()));
    let ran = ran.expect(4);
    for words in ["[arm tls]: ", "has no TLS, and `tls=require` asks for it"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    if place.at("r.assay").exists() {
        assert_eq!(values(&place, "select arm from run where arm = 'tls'"), [""; 0]);
    }
}

/// The runs before the refusal stay in the record, and the experiment is resumed when TLS is
/// available again. The experiment is a sweep, because a busy machine does not end a sweep early.
#[test]
fn tls_that_is_refused_from_a_run_on_ends_the_experiment_and_keeps_its_runs() {
    let server = testbed::shared_with_tls(Kind::Postgres);
    let tls = Arc::new(Mutex::new(TlsAnswer::OfServer));
    let proxy = FaultyServer::proxy(server.port(), &tls);
    let place = TestFolder::with(SQLITE);
    let sweep = "[sweep]\nvary = concurrency(read): 1, 2\nrepeats = 2\n";
    place.write("e.ini", format!("[question]\nask = ?\nworkload = w.ini\n{sweep}{TLS}"));
    let mut run = Running::in_lockstep(&mut through(&proxy, server, &place, &["--out", "r.assay"]));
    run.wait_for_line("run 3 of");
    *tls.lock().unwrap() = TlsAnswer::Refusal;
    let ran = run.wait_for_end().expect(4);
    let refused = format!("{} has no TLS, and `tls=require` asks for it", proxy.address());
    for words in ["[arm tls", &refused, "continue with --resume r.assay"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let ended = "No answer: the experiment was interrupted";
    assert!(ran.stdout.contains(ended), "{}", ran.stdout);
    let runs = || number(&place.at("r.assay"), "select count(*) from run");
    let kept = runs();
    assert!(kept >= 2, "{kept}");
    *tls.lock().unwrap() = TlsAnswer::OfServer;
    let ran = CommandResult::of(&mut through(&proxy, server, &place, &["--resume", "r.assay"]));
    assert!(matches!(ran.code, 0 | 3), "{}", ran.stderr);
    assert!(runs() > kept && !ran.stdout.contains(ended), "{}", ran.stdout);
    // Two repeats of two arms at two points.
    assert_eq!(values(&place, "select value from experiment where key = 'state'"), ["complete"]);
    let counting = "select count(*) from run where state = 'counts'";
    assert_eq!(number(&place.at("r.assay"), counting), 8);
    assert_eq!(tls_of(&place, "tls"), ["client_tls_version TLSv1.3", "ssl_version TLSv1.3"]);
    assert_eq!(tls_of(&place, "plain"), ["client_tls_version none", "ssl_version empty"]);
    assert!(!ran.stdout.contains("is not in effect"), "{}", ran.stdout);
}

#[test]
fn proxy_that_agrees_to_tls_and_goes_on_in_clear_text_ends_the_experiment() {
    let server = testbed::shared(Kind::Postgres);
    let proxy = FaultyServer::proxy(server.port(), &Arc::new(Mutex::new(TlsAnswer::ClearText)));
    let place = place(SQLITE, TLS);
    // With this seed, the first run is one of the plain arm.
    let more = ["--seed", "1", "--out", "r.assay"];
    let ran = CommandResult::of(&mut through(&proxy, server, &place, &more)).expect(4);
    let answered = format!("{} agreed to TLS, and then sent something else", proxy.address());
    for words in ["[arm tls]: ", &answered, "continue with --resume r.assay"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert!(ran.stdout.contains("No answer: the experiment was interrupted"), "{}", ran.stdout);
    assert_eq!(values(&place, "select arm || ' ' || state from run"), ["plain counts"]);
    assert_eq!(tls_of(&place, "plain"), ["client_tls_version none", "ssl_version empty"]);
}

/// Returns the command that runs the experiment of a folder on a server behind a proxy.
fn through(proxy: &FaultyServer, server: &Server, place: &TestFolder, more: &[&str]) -> Command {
    let url = format!("postgres://assay@{}/assay", proxy.address());
    let mut command = place.command(&[&["run", "e.ini", "--url", &url], more].concat());
    command.env("ASSAY_PASSWORD", server.password().expose());
    command
}

/// Returns a workload whose jobs use a target other than the one that its `url` names.
fn beside(url: &str) -> String {
    let other = "[target other]\nurl = sim:mm1\n[read]\ntarget = other\n";
    format!("url = {url}\n{}", SQLITE.replace("[read]\n", other))
}

/// The client would refuse a server that declines TLS, but here the jobs use a server other than
/// the one whose URL requests TLS.
#[test]
fn tls_that_no_connection_uses_makes_its_arm_invalid() {
    let arms = "[arm plain]\n[arm tls]\noption.tls = require\n";
    let place = place(&beside("postgres://ann@127.0.0.1:1/shop"), arms);
    let document = run(&place, &["--json"]).expect(3).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    assert_eq!(
        (&document["verdict"], &document["state"]),
        (&"INVALID".into(), &"not-in-effect".into())
    );
    let reason = "[arm tls]: `option.tls = require` is not in effect: it is not known how the \
                  connection is encrypted";
    assert_eq!(document["invalid_arm"], reason);
    let report = place.assay(&["report", "r.assay"]).expect(3);
    assert!(report.stdout_line().contains(reason), "{}", report.stdout);
    // The run that showed the missing TLS stays in the record, but does not count.
    assert_eq!(values(&place, "select state from run where arm = 'tls'"), ["abandoned"]);
}

#[test]
fn statement_before_a_run_uses_a_target_that_no_job_uses() {
    let statements = "before = create table u (a int)\nbefore = nonsense\n";
    let place = place(&beside("sqlite:t.db"), &format!("[arm a]\n[arm b]\n{statements}"));
    let ran = run(&place, &[]).expect(2);
    let words = "[arm b]: the database rejects statement 2 of `before`";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let tables = "select count(*) from sqlite_schema where name = 'u'";
    assert_eq!(number(&place.at("t.db"), tables), 1);
}

#[test]
fn option_that_nothing_confirms_is_named_as_not_read_back() {
    let server = testbed::shared(Kind::Postgres);
    let place = place(SQLITE, "[arm text]\n[arm binary]\noption.results = binary\n");
    let url = server.url().to_string();
    let line = ["run", "e.ini", "--out", "r.assay", "--quiet", "--url", &url];
    let mut command = place.command(&line);
    let ran = CommandResult::of(command.env("ASSAY_PASSWORD", server.password().expose()));
    let document = assert_ended(&place, &ran, 6);
    assert!(ran.stdout.contains("\n  binary: not read back: option.results\n"), "{}", ran.stdout);
    assert_eq!(document["arms"][1]["not_read_back"], serde_json::json!(["option.results"]));
}

/// Runs an experiment on the server of a test, as a user with all rights. Returns the folder and
/// the result.
fn run_on(server: &Server, arms: &str) -> (TestFolder, CommandResult) {
    let place = place(SQLITE, arms);
    let ran = run_there(&place, server);
    (place, ran)
}

/// Runs the experiment of a folder on the server of a test.
fn run_there(place: &TestFolder, server: &Server) -> CommandResult {
    let url = server.url().to_string();
    let line = ["run", "e.ini", "--out", "r.assay", "--quiet", "--url", &url];
    let mut command = place.command(&line);
    CommandResult::of(command.env("ASSAY_PASSWORD", server.password().expose()))
}

#[test]
fn setting_of_a_statement_before_the_runs_is_read_back() {
    let postgres = Server::start(&Options::new(Kind::Postgres)).unwrap();
    let mariadb = Server::start(&Options::new(Kind::Mariadb)).unwrap();
    for (server, steps) in [
        (
            &postgres,
            "before = alter system set work_mem = '65536kB'\nbefore = select pg_reload_conf()\n\
             after = alter system reset work_mem\nafter = select pg_reload_conf()\n",
        ),
        (
            &postgres,
            "before = alter database assay set random_page_cost to 1.5\n\
             after = alter database assay reset random_page_cost\n",
        ),
        (
            &mariadb,
            "before = set global sync_binlog = 2 * 50, @@global.innodb_adaptive_flushing = OFF\n\
             after = set global sync_binlog = 0\n\
             after = set global innodb_adaptive_flushing = on\n",
        ),
    ] {
        let (place, ran) = run_on(server, &format!("[arm plain]\n[arm tuned]\n{steps}"));
        assert_ended(&place, &ran, 6);
        for words in ["not read back", "is not in effect"] {
            assert!(!ran.stdout_line().contains(words), "{steps}: {}", ran.stdout);
        }
        let confirmed = "select distinct arm || ' ' || value from setting join run using (run) \
                         where name = 'generator.before_read_back'";
        assert_eq!(values(&place, confirmed), ["tuned yes"], "{steps}");
    }
}

#[test]
fn setting_that_a_statement_does_not_bring_into_effect_makes_its_arm_invalid() {
    let postgres = Server::start(&Options::new(Kind::Postgres)).unwrap();
    postgres.sql("alter role assay set jit = off").unwrap();
    let mariadb = Server::start(&Options::new(Kind::Mariadb)).unwrap();
    for (server, statement, found) in [
        // The server is not reloaded.
        (&postgres, "alter system set work_mem = '64MB'", "PostgreSQL uses `4MB`"),
        // `max_connections` needs a restart.
        (&postgres, "alter system set max_connections = 77", "PostgreSQL uses `100`"),
        // The setting of the role takes precedence.
        (
            &postgres,
            "alter database assay set jit = on",
            "PostgreSQL uses `off`, which comes from: user",
        ),
        (&mariadb, "set global max_allowed_packet = 1048577", "MariaDB uses `1048576` instead"),
    ] {
        let arms = format!("[arm plain]\n[arm tuned]\nbefore = {statement}\nafter = select 1\n");
        let (place, ran) = run_on(server, &arms);
        assert_eq!(ran.code, 3, "{statement}: {}{}", ran.stdout, ran.stderr);
        let reason = format!("[arm tuned]: `before = {statement}` is not in effect: {found}");
        assert!(ran.stdout_line().contains(&reason), "{reason}: {}", ran.stdout);
        let document = place.assay(&["report", "r.assay", "--json"]).expect(3).json();
        assert_eq!(document["state"], "not-in-effect", "{statement}");
        assert_eq!(values(&place, "select arm from run where arm = 'tuned'"), [""; 0]);
    }
}

/// Expects the arm to be INVALID. If a setting stays in effect for the baseline, the arms do not
/// differ, and their comparison would find no difference.
#[test]
fn setting_left_over_in_the_baseline_makes_its_arm_invalid() {
    let server = Server::start(&Options::new(Kind::Postgres)).unwrap();
    let statement = "alter database assay set work_mem = '64MB'";
    let arms = format!("[arm plain]\n[arm tuned]\nbefore = {statement}\n");
    let (place, ran) = run_on(&server, &arms);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let reason = format!(
        "[arm tuned]: `before = {statement}` is not in effect: the server has the same value \
         before a run of [arm plain]; `after` must undo it"
    );
    assert!(ran.stdout_line().contains(&reason), "{}", ran.stdout);
    let tuned = values(&place, "select cast(count(*) as text) from run where arm = 'tuned'");
    assert!(["1", "2"].contains(&tuned[0].as_str()), "{tuned:?}");
}

/// Expects the setting to be found although, at a point of a sweep, each arm also has the value
/// that the sweep varies.
#[test]
fn setting_left_over_in_the_baseline_is_found_at_the_points_of_a_sweep() {
    let server = Server::start(&Options::new(Kind::Postgres)).unwrap();
    let place = TestFolder::new();
    place.write("read.ini", SQLITE);
    let statement = "alter database assay set work_mem = '64MB'";
    let file = "[question]\nask = ?\nworkload = read.ini\n[sweep]\nvary = concurrency(read): 1, 2\n\
                repeats = 6\n[arm plain]\n[arm tuned]\n";
    place.write("e.ini", format!("{file}before = {statement}\n"));
    let ran = run_there(&place, &server);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let reason = format!("`before = {statement}` is not in effect: the server has the same value");
    assert!(ran.stdout_line().contains(&reason), "{}", ran.stdout);
}

/// Expects the arm to have its journal mode only if the file exists. A connection sets the mode
/// itself if the URL has the option or the file is new.
#[test]
fn pragma_that_the_file_keeps_is_read_back() {
    let arms = "[arm log]\n[arm rollback]\nbefore = pragma journal_mode = delete\n\
                after = pragma journal_mode = wal\n";
    let place = place(&format!("url = sqlite:t.db\n{SQLITE}"), arms);
    let ran = run(&place, &[]).expect(3);
    let reason = "[arm rollback]: `before = pragma journal_mode = delete` is not in effect: SQLite \
                  uses `wal` instead";
    assert!(ran.stdout_line().contains(reason), "{}", ran.stdout);
    std::fs::remove_file(place.at("r.assay")).unwrap();
    let ran = run(&place, &[]);
    assert_ended(&place, &ran, 6);
    let modes = "select distinct arm || ' ' || value from setting join run using (run) \
                 where name = 'journal_mode' order by 1";
    assert_eq!(values(&place, modes), ["log wal", "rollback delete"]);
    for words in ["not read back", "is not in effect"] {
        assert!(!ran.stdout_line().contains(words), "{}", ran.stdout);
    }
}

#[test]
fn change_of_a_statement_that_is_no_setting_is_named_as_not_read_back() {
    let arms = "[arm plain]\n[arm other]\nbefore = create table u (a int)\n\
                after = drop table u\n";
    let place = place(&format!("url = sqlite:t.db\n{SQLITE}"), arms);
    let ran = run(&place, &[]);
    let document = assert_ended(&place, &ran, 6);
    assert!(ran.stdout_line().contains("other: not read back: before"), "{}", ran.stdout);
    assert_eq!(document["arms"][1]["not_read_back"], serde_json::json!(["before"]));
}

/// Expects the two arms to be named. Their URLs are two addresses of one server, as if a second
/// host name still led to the old server.
#[test]
fn arms_whose_urls_reach_one_server_are_named() {
    let server = testbed::shared(Kind::Postgres);
    let (login, port) = (server.password().expose(), server.port());
    let url = |host: &str, database: &str| {
        format!("url = postgres://assay:{login}@{host}:{port}/{database}\n")
    };
    let answer = |other: &str| {
        let arms = format!("[arm old]\n{}[arm new]\n{other}", url("127.0.0.1", "assay"));
        let place = place(SQLITE, &arms);
        let ran = run(&place, &[]);
        let document = assert_ended(&place, &ran, 6);
        assert!(!ran.stdout.contains("not read back"), "{}", ran.stdout);
        (ran.stdout_line(), document["arms"][1]["shares_server"] == true)
    };
    let (text, shares_server) = answer(&url("localhost", "assay"));
    let words = " new: its `url` reached the same database of the same server";
    assert!(text.contains(words) && shares_server, "{text}");
    let (text, shares_server) = answer(&url("localhost", "postgres"));
    assert!(!text.contains("same server") && !shares_server, "{text}");
}

#[test]
fn mode_of_sqlite_is_in_effect_in_its_arm_alone() {
    let arms = "[arm full]\n[arm extra]\noption.synchronous = extra\n";
    let place = place(&format!("url = sqlite:\n{SQLITE}"), arms);
    let ran = run(&place, &[]);
    assert_ended(&place, &ran, 6);
    let modes = "select distinct arm || ' ' || value from setting join run using (run) \
                 where name = 'synchronous' order by 1";
    assert_eq!(values(&place, modes), ["extra extra", "full full"]);
    assert!(!ran.stdout.contains("not read back"), "{}", ran.stdout);
}

#[test]
fn programs_run_around_each_run_with_a_password_file_and_no_password() {
    let look = "(cat \"$ASSAY_PASSWORD_FILE\"; stat -c %a \"$ASSAY_PASSWORD_FILE\"; env; \
                mariadb --defaults-extra-file=\"$ASSAY_PASSWORD_FILE\" $ASSAY_DATABASE \
                -e 'select 40 + 2') > seen 2>&1 || exit 1";
    let arms =
        format!("[arm a]\n[arm b]\nbefore-command = {look}\nafter-command = echo >> after\n");
    let place = place(&READ.replace("postgres", "mariadb"), &arms);
    let ran = run(&place, &[]);
    assert_ended(&place, &ran, 6);
    let seen = std::fs::read_to_string(place.at("seen")).unwrap();
    assert!(seen.contains("\n600\n") && seen.contains("\n42\n"), "{seen}");
    for name in ["HOST=127.0.0.1", "PORT=", "USER=assay", "DATABASE=assay", "PASSWORD_FILE=/"] {
        assert!(seen.contains(&format!("\nASSAY_{name}")), "{name}: {seen}");
    }
    let password = seen.lines().find_map(|line| line.strip_prefix("password=")).unwrap();
    let password = password.trim_matches('"');
    assert_eq!(seen.matches(password).count(), 1, "only in the file: {seen}");
    let file = seen.lines().find_map(|line| line.strip_prefix("ASSAY_PASSWORD_FILE=")).unwrap();
    assert!(!std::path::Path::new(file).exists());
    let after = std::fs::read_to_string(place.at("after")).unwrap().len();
    let runs = values(&place, "select cast(count(*) as text) from run where arm = 'b'");
    assert_eq!(after.to_string(), runs[0]);
}

#[test]
fn failed_program_ends_the_experiment_with_its_last_output() {
    let arms = "[arm a]\n[arm b]\nbefore-command = echo one >&2; echo 'no such cache' >&2; exit 7\n\
                after-command = echo > undone\n";
    let place = place(SQLITE, arms);
    let ran = run(&place, &[]).expect(2);
    let words = "[arm b]: `before-command`: `echo one >&2; echo 'no such cache' >&2; exit 7` \
                 failed (exit-7): one no such cache";
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(words), "{}", ran.stderr);
    // A record without a run is removed.
    let is_kept = place.at("r.assay").exists();
    assert_eq!(said.contains("--resume r.assay"), is_kept, "{}", ran.stderr);
    assert!(place.at("undone").exists(), "the program after the run undoes the one before it");
}

/// The run that precedes the failed program counts, because it was measured before the failure.
#[test]
fn failed_program_after_a_run_ends_the_experiment_and_keeps_the_run() {
    let arms = "[arm a]\n[arm b]\nbefore-command = true\n\
                after-command = test -e disk || { echo 'no disk' >&2; exit 3; }\n";
    let place = place(SQLITE, arms);
    let ran = run(&place, &[]).expect(2);
    for words in ["[arm b]: `after-command`: ", "(exit-3): no disk", "continue with --resume"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert_eq!(values(&place, "select state from run where arm = 'b'"), ["counts"]);
    place.write("disk", "");
    let resume = ["run", "e.ini", "--resume", "r.assay", "--allow-commands", "--quiet"];
    assert_ended(&place, &place.assay(&resume), 6);
}

#[test]
fn programs_need_the_flag_and_real_time() {
    let place = place(SQLITE, "[arm a]\n[arm b]\nbefore-command = true\nafter-command = touch x\n");
    let ran = place.assay(&["run", "e.ini", "--out", "r.assay"]).expect(2);
    assert!(ran.stderr.contains("[arm b]  after-command = touch x"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--allow-commands"), "{}", ran.stderr);
    place.write("read.ini", format!("url = sim:mm1\n{SQLITE}"));
    let ran = place.assay(&["run", "e.ini", "--virtual", "--allow-commands"]).expect(2);
    assert!(ran.stderr.contains("take real time"), "{}", ran.stderr);
    place.write(
        "e.ini",
        std::fs::read_to_string(place.at("e.ini")).unwrap().replace("touch x", "no-such x"),
    );
    let ran = run(&place, &[]).expect(2);
    assert!(ran.stderr.contains("finds no program `no-such`"), "{}", ran.stderr);
    assert_eq!(place.names(), ["e.ini", "read.ini"]);
}

/// Expects settings to need the flag, because a setting may name a program, such as
/// `archive_command`.
#[test]
fn settings_of_a_typed_server_need_the_flag() {
    let place = place(SQLITE, "[arm a]\n[arm b]\nserver.archive_command = ./steal\n");
    let line = ["run", "e.ini", "--url", "testbed:postgres", "--out", "r.assay"];
    let ran = place.assay(&line).expect(2);
    assert!(ran.stderr.contains("[arm b]  server.archive_command = ./steal"), "{}", ran.stderr);
}

#[test]
fn interrupted_program_ends_with_its_group_and_is_undone() {
    let arms = "[arm a]\nbefore-command = echo $$ > group; sleep 1000\n\
                after-command = echo > undone\n[arm b]\n";
    let place = place(SQLITE, arms);
    let line = ["run", "e.ini", "--out", "r.assay", "--allow-commands"];
    let running = place.start(&line);
    wait_until("the group of the command", || {
        std::fs::read_to_string(place.at("group")).is_ok_and(|text| text.ends_with('\n'))
    });
    running.signal(Signal::SIGINT);
    running.wait_for_end();
    assert!(place.at("undone").exists());
    let group = std::fs::read_to_string(place.at("group")).unwrap();
    assert!(!std::path::Path::new("/proc").join(group.trim()).exists());
    assert_eq!(values(&place, "select value from experiment where key = 'state'"), ["interrupted"]);
}

/// An arm that changes a setting and undoes the change.
const CHANGED_SETTING: &str = "[arm a]\n[arm b]\nbefore = alter system set work_mem = '8MB'\n\
                               before = select pg_reload_conf()\nafter-command = echo > undone\n";

/// Starts a server that answers everything except the query that reads a setting back.
fn server_without_settings() -> FaultyServer {
    let asked = FaultyRequest::Statement("lower(name)");
    FaultyServer::endless(Kind::Postgres, asked, EndlessAnswer::Silence)
}

#[test]
fn setting_that_is_not_read_back_in_time_ends_the_experiment_and_is_undone() {
    let place = place(&format!("setup-timeout = 3s\n{SQLITE}"), CHANGED_SETTING);
    let ran = run(&place, &["--url", &server_without_settings().url()]).expect(4);
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "[arm b]: the settings of the server cannot be read back: nothing was answered \
                 within `setup-timeout = 3s`";
    assert!(said.contains(words), "{}", ran.stderr);
    assert!(place.at("undone").exists());
}

#[test]
fn interrupted_read_back_of_a_setting_is_undone() {
    let place = place(SQLITE, CHANGED_SETTING);
    let server = server_without_settings();
    let url = server.url();
    let line = ["run", "e.ini", "--out", "r.assay", "--allow-commands", "--url", &url];
    let running = place.start(&line);
    server.wait_for_answer();
    running.signal(Signal::SIGINT);
    running.wait_for_end().expect(130);
    assert!(place.at("undone").exists());
}

/// Expects the server to settle after the load and after each restore. Otherwise the next run would
/// bear the cost of the restore.
#[test]
fn server_settles_after_the_load_and_after_each_restore() {
    let postgres = "psql -X -h $ASSAY_HOST -p $ASSAY_PORT -U $ASSAY_USER -d $ASSAY_DATABASE -Atc \
                    \"select vacuum_count, analyze_count, (select checkpoint_lsn - '0/0' from \
                    pg_control_checkpoint()) from pg_stat_user_tables\"";
    let mariadb = "mariadb --defaults-extra-file=$ASSAY_PASSWORD_FILE $ASSAY_DATABASE -Ne \
                   \"show global status where variable_name in ('Com_analyze', 'Com_flush')\"";
    for (kind, asks) in [("postgres", postgres), ("mariadb", mariadb)] {
        let asks = format!("before-command = {asks} | tr -cs 0-9 ' ' >> seen; echo >> seen\n");
        let arms = format!("[arm a]\n{asks}[arm b]\nconcurrency(read) = 2\n{asks}");
        let place = place(&READ.replace("postgres", kind), &arms);
        let question = std::fs::read_to_string(place.at("e.ini")).unwrap();
        let restore = "rounds = 6\nrestore = update t set a = a + 1\n";
        place.write("e.ini", question.replace("rounds = 6\n", restore));
        let ran = run(&place, &[]);
        assert_ended(&place, &ran, 6);
        let seen = std::fs::read_to_string(place.at("seen")).unwrap();
        let seen: Vec<Vec<usize>> = seen
            .lines()
            .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
            .collect();
        // The server settles once after the load, and once before each run.
        let expected: Vec<Vec<usize>> = (2..2 + seen.len()).map(|number| vec![number; 2]).collect();
        let counts: Vec<&[usize]> = seen.iter().map(|row| &row[..2]).collect();
        assert_eq!(counts, expected, "{kind}");
        // Each restore writes, so each checkpoint has a later position in the log than the one
        // before.
        let checkpoints: Vec<usize> = seen.iter().filter_map(|row| row.get(2).copied()).collect();
        assert!(checkpoints.len() == seen.len() || kind == "mariadb", "{seen:?}");
        assert!(checkpoints.is_sorted_by(|one, next| one < next), "{seen:?}");
        let runs = number(&place.at("r.assay"), "select count(*) from run");
        assert_eq!(seen.len(), usize::try_from(runs).unwrap(), "{}", ran.stderr);
    }
}
