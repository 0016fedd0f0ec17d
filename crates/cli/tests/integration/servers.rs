//! Tests of runs on real servers, including servers that misbehave.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base::Target;
use serde_json::Value;
use testbed::{Auth, Kind, Options, Server, Tls};

use crate::example::{assert_matches_schema, assert_valid};
use crate::support::{
    CommandResult, Running, TestFolder, assert_balanced, check, job, number_after,
};

const KINDS: [Kind; 2] = [Kind::Postgres, Kind::Mariadb];

/// Returns the URL of a server without its password, which is passed in the environment.
fn url_of(server: &Server) -> String {
    server.url().to_string()
}

fn start(place: &TestFolder, server: &Server, url: &str, more: &[&str]) -> Running {
    let mut args = vec!["run", "w.ini", "--json", "--out", "r.assay", "--url", url];
    args.extend(more);
    Running::of(place.command(&args).env("ASSAY_PASSWORD", server.password().expose()))
}

fn run(place: &TestFolder, server: &Server, more: &[&str]) -> CommandResult {
    start(place, server, &url_of(server), more).wait_for_end()
}

/// Waits until requests are answered.
fn wait_until_answered(run: &mut Running) {
    run.wait_for_matching_line("some are answered", |line| {
        number_after(line, "achieved/s").is_some_and(|n| n > 0.0)
    });
}

/// Waits until no request was answered for a second.
fn wait_until_silent(run: &mut Running) {
    run.wait_for_matching_line("none is answered", |line| {
        number_after(line, "achieved/s") == Some(0.0)
    });
}

const ACCOUNTS: &str = include_str!("../../../../workloads/accounts.ini");

/// Returns the bundled workload `accounts.ini`, shortened: a setup, a load, an open and a closed
/// job, a timetable, and a teardown.
fn example() -> String {
    let less = [
        ("duration = 60s", "duration = 4s"),
        ("warmup   = 10s", "warmup = 1s"),
        ("rows = 100k", "rows = 5k"),
        ("batch   = 10000", "batch = 1000"),
        ("rate    = 1000", "rate = 300"),
        ("p99 < 30ms", "p99 < 10s"),
        ("every = 10s", "every = 1s"),
    ];
    less.iter().fold(ACCOUNTS.to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text.replace(from, to)
    })
}

#[test]
fn example_runs_on_each_server_with_a_changed_url() {
    for kind in KINDS {
        let server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(&example());
        let ran = run(&place, &server, &[]);
        let summary = ran.json();
        assert_balanced(&summary);
        let read = job(&summary, "read");
        assert_eq!(read["completed"], read["scheduled"], "{kind:?}: {read}");
        assert_eq!(read["rows"], read["completed"], "{kind:?}");
        let transfer = job(&summary, "transfer");
        assert!(transfer["completed"].as_u64().unwrap() > 0, "{kind:?}: {transfer}");
        assert_eq!(transfer["errors"], transfer["accepted_errors"], "{kind:?}: {transfer}");
        assert_eq!(job(&summary, "report")["completed"], 3, "{kind:?}");
        assert_eq!(summary["loads"][0]["rows"], 5_000, "{kind:?}");
        let tables = server.sql(
            "select count(*) from information_schema.tables \
             where table_name = 'accounts' and table_schema in ('public', 'assay')",
        );
        assert_eq!(tables.unwrap(), "0\n", "{kind:?}");
        let figures = place.assay(&["report", "r.assay", "--figures"]).expect(0).stdout;
        for name in ["cpu", "waits", "processors", "network"] {
            assert!(figures.contains(&format!("\n{name} ")), "{kind:?}, {name}: {figures}");
        }
        let settings = &place.export_json("r.assay")["settings"];
        for name in ["server", "tls", "isolation", "durability"] {
            let value = settings[name].as_str().unwrap_or("unknown");
            assert!(!value.contains("unknown"), "{kind:?}: {name} in {settings}");
        }
        let password = server.password().expose();
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(password));
    }
}

const READ: &str = "\
duration = 8s
drain = 10s
[read]
query = select 1
rate = 500
arrival = uniform
";

/// The server stalls for a second. Requests that become due meanwhile wait, and their response
/// times include the wait.
#[test]
fn a_stall_of_a_second_shows_in_the_response_time_and_not_only_in_a_few_service_times() {
    for kind in KINDS {
        let mut server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(READ);
        let url = url_of(&server);
        let mut running = start(&place, &server, &url, &[]);
        wait_until_answered(&mut running);
        server.freeze();
        wait_until_silent(&mut running);
        server.thaw();
        let summary = running.wait_for_end().json();
        assert_balanced(&summary);
        let read = job(&summary, "read");
        assert_eq!(read["completed"], read["scheduled"], "{kind:?}: {read}");
        let ms = |part: &str, what: &str| read[part][what].as_f64().unwrap();
        // An eighth of the requests were due within that second.
        assert!(ms("response_ms", "p99") > 800.0, "{kind:?}: {read}");
        assert!(ms("response_ms", "max") > 950.0, "{kind:?}: {read}");
        // The time is attributed correctly: to the service of the few requests that had been sent,
        // to the wait of the requests that found every connection taken, and never to the
        // generator.
        assert!(ms("service_ms", "max") > 950.0, "{kind:?}: {read}");
        assert!(ms("wait_ms", "p99") > 800.0, "{kind:?}: {read}");
        let [wait, send_lag, service, whole] =
            ["wait_ms", "send_lag_ms", "service_ms", "response_ms"].map(|part| ms(part, "mean"));
        let parts = wait + send_lag + service;
        assert!((parts / whole - 1.0).abs() < 0.02, "{kind:?}: {parts} of {whole}");
        assert!(service < wait / 2.0, "{kind:?}: {read}");
        // A busy machine may have stalled the generator, too.
        let is_in_time = check(&summary, "stall")["status"] == "pass";
        let is_blamed = is_in_time && send_lag >= wait / 10.0;
        assert!(!is_blamed, "{kind:?}: the generator did not stall: {read}");
    }
}

/// The server is killed and restarted. The requests in flight fail, the requests that are due
/// meanwhile fail at once, and the run continues.
#[test]
fn a_server_that_is_killed_and_comes_back_costs_errors_and_not_the_run() {
    for kind in KINDS {
        let mut server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(READ);
        let url = url_of(&server);
        let mut running = start(&place, &server, &url, &["--duration", "60s"]);
        wait_until_answered(&mut running);
        server.kill();
        wait_until_silent(&mut running);
        server.restart().unwrap();
        wait_until_answered(&mut running);
        running.signal(nix::sys::signal::Signal::SIGINT);
        let summary = running.wait_for_end().expect(130).json();
        assert_balanced(&summary);
        assert_eq!(check(&summary, "outage")["status"], "suspect", "{kind:?}");
        let read = job(&summary, "read");
        let classes: Vec<&Value> =
            read["errors_by_code"].as_array().unwrap().iter().map(|e| &e["class"]).collect();
        assert!(
            !classes.is_empty() && classes.iter().all(|class| *class == "disconnect"),
            "{read}"
        );
        assert!(read["completed"].as_u64().unwrap() > 0, "{kind:?}: {read}");
        // The observing session was lost with the server and reopened, which is reported. Ended
        // processes are not a missing component.
        let unseen = summary["limiter"]["unseen"].as_array().unwrap();
        let why = |what: &str| unseen.iter().find(|it| it["what"] == what).map(|it| &it["why"]);
        let gap = why("database").and_then(Value::as_str).unwrap_or_default();
        assert!(gap.contains("for a while"), "{kind:?}: {unseen:?}");
        assert!(why("server read-bytes").is_none(), "{kind:?}: {unseen:?}");
        // The events name their job and the server.
        let export = place.export_json("r.assay");
        let said = |kind: &str| {
            let events = export["events"].as_array().unwrap();
            let event = events.iter().find(|event| event["kind"] == kind).unwrap();
            (event["job"].clone(), event["text"].as_str().unwrap().to_owned())
        };
        let address = format!("127.0.0.1:{}", server.port());
        let (job, first) = said("first-error");
        assert!(job == "read" && first.contains(&address), "{kind:?}: {job}: {first}");
        let (_, began) = said("outage-began");
        let words = began.contains("the target refuses connections: ") && began.contains(&address);
        assert!(words, "{kind:?}: {began}");
        assert!(!export.to_string().contains(server.password().expose()), "{kind:?}");
        let open = export["intervals"].as_array().unwrap().iter().map(|row| &row["open"]);
        assert!(open.into_iter().all(|open| *open == 0), "{kind:?}: {export}");
    }
}

#[test]
fn a_server_that_is_frozen_times_requests_out_and_replaces_their_sessions() {
    for kind in KINDS {
        let mut server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(&READ.replace("[read]\n", "[read]\ntimeout = 200ms\n"));
        let url = url_of(&server) + "?connect-timeout=500ms";
        let mut running = start(&place, &server, &url, &["--duration", "60s"]);
        wait_until_answered(&mut running);
        server.freeze();
        wait_until_silent(&mut running);
        wait_until_silent(&mut running);
        server.thaw();
        wait_until_answered(&mut running);
        running.signal(nix::sys::signal::Signal::SIGINT);
        let summary = running.wait_for_end().expect(130).json();
        assert_balanced(&summary);
        let read = job(&summary, "read");
        assert!(read["timeouts"].as_u64().unwrap() > 0, "{kind:?}: {read}");
        // A timed-out request ends when it is given up. No service time is therefore much longer
        // than the timeout of 200 ms, unless the machine stalled.
        let stalled = check(&summary, "stall")["value"].as_f64().unwrap_or_default();
        let longest = read["service_ms"]["max"].as_f64().unwrap();
        assert!(longest < 2_000.0 + stalled, "{kind:?}: {read}");
    }
}

/// Each request records its session.
const NOTE: &str = "\
duration = 3s
[note]
query.postgres = insert into seen values (pg_backend_pid())
query.mysql = insert into seen values (connection_id())
concurrency = 4
";

/// Starts a server with a fixed account and password, which makes one URL valid for several
/// servers.
fn server_with_notes(kind: Kind) -> Server {
    with_notes(&Options::new(kind))
}

fn with_notes(options: &Options) -> Server {
    let server = Server::start(options).unwrap();
    let account = match options.kind {
        Kind::Postgres => "create role ann login password 'both'; grant insert on seen to ann;",
        Kind::Mariadb | Kind::Mysql => {
            "grant insert on assay.seen to ann@'%' identified by 'both';"
        }
    };
    server.sql(&format!("create table seen (session bigint);\n{account}")).unwrap();
    server
}

#[test]
fn a_url_with_two_hosts_spreads_its_connections_and_reports_each() {
    for kind in KINDS {
        let servers = [kind, kind].map(server_with_notes);
        let place = TestFolder::with(NOTE);
        let addresses = [0, 1].map(|i: usize| format!("127.0.0.1:{}", servers[i].port()));
        let [first, second] = &addresses;
        let url = url_of(&servers[0]).replace("assay@", "ann@");
        let both = url.replace(first, &format!("{first},{second}"));
        let mut command =
            place.command(&["run", "w.ini", "--json", "--out", "r.assay", "--url", &both]);
        let summary = Running::of(command.env("ASSAY_PASSWORD", "both")).wait_for_end().json();
        assert_balanced(&summary);
        assert_valid(&summary);
        let note = job(&summary, "note");
        assert_eq!(note["completed"], note["scheduled"], "{kind:?}: {note}");
        let nodes = note["nodes"].as_array().unwrap();
        assert!(nodes.iter().map(|node| &node["address"]).eq(&addresses), "{kind:?}: {note}");
        // The report of each server has the requests that this server received. Each server had two
        // of the four connections.
        for (node, server) in nodes.iter().zip(&servers) {
            let seen = server.sql("select count(*), count(distinct session) from seen").unwrap();
            assert_eq!(seen, format!("{}\t2\n", node["completed"]), "{kind:?}: {note}");
            assert!(node["completed"].as_u64().unwrap() > 0, "{kind:?}: {note}");
        }
        let counts = nodes.iter().map(|node| node["completed"].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), note["completed"], "{kind:?}: {note}");
        let export = place.export_json("r.assay");
        assert_matches_schema("schemas/export.schema.json", &export);
        let accounts = export["jobs"].as_array().unwrap().iter().map(|job| &job["name"]);
        assert!(accounts.eq(["note", &format!("note@{first}"), &format!("note@{second}")]));
        let text = place.assay(&["report", "r.assay", "--full"]).stdout;
        assert!(text.contains(first) && text.contains(second), "{text}");
    }
}

/// Expects a SUSPECT run. The run has fewer connections than configured because its database role
/// may no longer log in, and not because of a limit on connections.
#[test]
fn ended_sessions_that_cannot_reconnect_make_the_run_suspect() {
    let server = server_with_notes(Kind::Postgres);
    let place = TestFolder::with(&(NOTE.replace("3s", "60s") + "think = 5ms\n"));
    let url = url_of(&server).replace("assay@", "ann@");
    let mut command = place.command(&["run", "w.ini", "--json", "--out", "r.assay", "--url", &url]);
    let mut running = Running::of(command.env("ASSAY_PASSWORD", "both"));
    wait_until_answered(&mut running);
    let some = "select pid from pg_stat_activity where usename = 'ann' limit 2";
    let end = format!("select pg_terminate_backend(pid) from ({some}) ended");
    server.sql(&format!("alter role ann nologin; {end}")).unwrap();
    (0..4).for_each(|_| wait_until_answered(&mut running));
    running.signal(nix::sys::signal::Signal::SIGINT);
    let summary = running.wait_for_end().expect(130).json();
    let found = check(&summary, "connections");
    assert_eq!(found["status"], "suspect", "{summary}");
    let words = found["explain"].as_str().unwrap();
    assert!(words.contains(" of the 4 connections of [note] were open"), "{words}");
    assert!(found["value"].as_f64().unwrap() > 20.0, "{words}");
}

/// A refusal during a run is reported with its reason, and the run ends with a lost target.
#[test]
fn password_that_is_changed_and_database_that_is_dropped_are_outages() {
    let server = Server::start(&Options::postgres()).unwrap();
    server.sql("create role ann login password 'both'").unwrap();
    let end = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ann'";
    for (database, change, reason) in [
        (
            "assay",
            format!("alter role ann password 'other'; {end}"),
            "password authentication failed for user",
        ),
        ("gone", "drop database gone with (force)".to_owned(), "database `gone`: "),
    ] {
        let change_during_a_run = || {
            server.sql("alter role ann password 'both'").unwrap();
            server.sql("drop database if exists gone").unwrap();
            server.sql("create database gone").unwrap();
            let url = format!("postgres://ann@127.0.0.1:{}/{database}", server.port());
            run_with_change(&server, READ, &url, &change)
        };
        assert_target_is_lost(change_during_a_run, reason);
    }
}

/// Runs `file` for two seconds instead of eight, and executes `change` on the server during the
/// run. The user of `url` is `ann`.
fn run_with_change(
    server: &Server,
    file: &str,
    url: &str,
    change: &str,
) -> (TestFolder, CommandResult) {
    let place = TestFolder::with(&file.replace("duration = 8s", "duration = 2s"));
    let args = ["run", "w.ini", "--out", "r.assay", "--url", url];
    let mut run = Running::of(place.command(&args).env("ASSAY_PASSWORD", "both"));
    wait_until_answered(&mut run);
    server.sql(change).unwrap();
    (place, run.wait_for_end())
}

/// Checks that a run ends with a lost target, after an outage for this reason.
fn assert_target_is_lost(run: impl FnMut() -> (TestFolder, CommandResult), reason: &str) {
    // On a busy machine, the change may come after the run. It may also terminate a connection that
    // is being opened, instead of causing a refusal. Neither happens in every attempt.
    let refused = |(place, ran): (TestFolder, CommandResult)| {
        let lost = (ran.code == 4).then(|| outage(&place))?;
        lost.contains(reason).then_some((place, ran, lost))
    };
    let mut runs = std::iter::repeat_with(run).take(5);
    let (place, ran, printed) = runs.find_map(refused).expect("a run without its target");
    assert!(!ran.stdout.contains("exceeds the capacity"), "{}", ran.stdout);
    let summary = place.assay(&["report", "r.assay", "--json"]).json();
    let outage = check(&summary, "outage");
    assert_eq!(outage["status"], "suspect", "{outage}");
    assert!(outage["explain"].as_str().unwrap().contains(&printed), "{outage}");
}

/// The server admits no further connection of the job, although it may admit connections of other
/// users.
#[test]
fn limit_that_leaves_a_job_no_connection_is_an_outage() {
    for (kind, close, open, reason) in [
        (
            Kind::Postgres,
            "alter role ann connection limit 0;\n\
             select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ann';",
            "alter role ann connection limit -1",
            "too many connections for role",
        ),
        (
            Kind::Mariadb,
            "set global max_user_connections = -1;\nkill user ann;",
            "set global max_user_connections = 100",
            "max_user_connections",
        ),
    ] {
        // MariaDB checks the limit only if the server started with one.
        let options = match kind {
            Kind::Postgres => Options::new(kind),
            Kind::Mariadb | Kind::Mysql => Options::new(kind).set("max_user_connections", "100"),
        };
        let server = with_notes(&options);
        let url = url_of(&server).replace("assay@", "ann@");
        let closed = READ.replace("rate = 500\narrival = uniform", "concurrency = 4");
        for file in [READ, &closed] {
            let change_during_a_run = || {
                server.sql(open).unwrap();
                run_with_change(&server, file, &url, close)
            };
            assert_target_is_lost(change_during_a_run, reason);
        }
    }
}

/// Returns the reason of the only outage of `r.assay`.
fn outage(place: &TestFolder) -> String {
    let export = place.export_json("r.assay");
    let events = export["events"].as_array().unwrap();
    let outages: Vec<_> = events.iter().filter(|it| it["kind"] == "outage-began").collect();
    assert_eq!(outages.len(), 1, "{outages:?}");
    outages[0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_server_that_takes_fewer_connections_limits_the_job_and_says_so() {
    for kind in KINDS {
        let server = Server::start(&Options::new(kind).max_connections(10)).unwrap();
        let place =
            TestFolder::with(&READ.replace("rate = 500\narrival = uniform", "concurrency = 30"));
        let summary = run(&place, &server, &["--duration", "2s"]).json();
        assert_balanced(&summary);
        let read = job(&summary, "read");
        assert_eq!(read["errors"], 0, "{kind:?}: {read}");
        // MariaDB reserves one additional connection for administrators, such as the user of the
        // test.
        assert!((1..=11).contains(&read["connections"].as_u64().unwrap()), "{kind:?}: {read}");
        let events = place.export_json("r.assay")["events"].to_string();
        assert!(events.contains("connection"), "{kind:?}: {events}");
    }
}

#[test]
fn a_refused_login_ends_with_the_reason_and_the_remedy() {
    for kind in KINDS {
        let server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(READ);
        let target = server.url();
        let mut command = place.command(&["run", "w.ini", "--url", &target.to_string()]);
        let ran = CommandResult::of(command.env("ASSAY_PASSWORD", "hunter2")).expect(4);
        assert_eq!(place.names(), ["w.ini"], "no record is left: {}", ran.stderr);
        for word in ["`assay`", "ASSAY_PASSWORD", "127.0.0.1"] {
            assert!(ran.stderr.contains(word), "{kind:?}: {}", ran.stderr);
        }
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("hunter2"), "{}", ran.stderr);
        assert!(Target::parse(&target.to_string()).is_ok());
    }
}

/// The databases' own clients ignore a password file that others may read or change, with a
/// warning. So does every run of Assay, even if the server admits the user without a password.
#[test]
fn ignored_password_file_is_one_warning() {
    for (options, name, text, mode, account) in [
        (
            Options::postgres().auth(Auth::Trust),
            ".pgpass",
            "*:*:*:*:s3cret\n",
            0o644,
            "create role guest login",
        ),
        (
            Options::mariadb(),
            ".my.cnf",
            "[client]\npassword=s3cret\n",
            0o646,
            "create user guest@'%'; grant select on assay.* to guest@'%'",
        ),
    ] {
        let server = Server::start(&options).unwrap();
        server.sql(account).unwrap();
        let url = url_of(&server).replace("assay@", "guest@");
        let place = TestFolder::with("[params]\nn = 1\n[read]\nquery = select ${n}\ncount = 10\n");
        let arms = "[question]\nask = x\nworkload = w.ini\n[arm a]\n[arm b]\nset.n = 2\n";
        place.write("e.ini", arms);
        let warnings = |args: &[&str]| {
            let args = [args, &["--url", &url]].concat();
            let mut command = place.command(&args);
            command.env("HOME", place.path()).env_remove("PGPASSFILE").env_remove("ASSAY_PASSWORD");
            // A short run may be INVALID.
            let ran = CommandResult::of(&mut command);
            assert!(matches!(ran.code, 0 | 3), "{}", ran.stderr);
            assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
            let words = format!("{name}` is ignored: ");
            ran.stderr.lines().filter(|line| line.contains(&words)).count()
        };
        assert_eq!(warnings(&["run", "w.ini"]), 0, "{name}");
        place.write(name, text);
        fs::set_permissions(place.at(name), PermissionsExt::from_mode(mode)).unwrap();
        assert_eq!(warnings(&["run", "w.ini"]), 1, "{name}");
        assert_eq!(warnings(&["check", "e.ini"]), 1, "{name}");
    }
}

/// Uses URLs as a user writes them; the testbed provides everything else.
#[test]
fn private_server_is_used_over_tls() {
    for (kind, mode) in [("postgres", "verify"), ("mariadb", "require")] {
        let place = TestFolder::with(READ);
        let url = format!("testbed:{kind}?tls={mode}");
        let run = ["run", "w.ini", "--duration", "2s", "--url", &url, "--out", "r.assay", "--json"];
        let summary = place.assay(&run).json();
        assert_balanced(&summary);
        let read = job(&summary, "read");
        assert_eq!(read["completed"], read["scheduled"], "{kind}: {read}");
        let settings = &summary["run"]["settings"];
        assert_eq!((&settings["tls"], &settings["ssl_version"]), (&mode.into(), &"TLSv1.3".into()));
        let text = place.assay(&["report", "r.assay", "--full"]).stdout;
        assert!(text.contains(&format!("target    {url}, tls {mode}\n")), "{text}");
    }
}

/// If the URL names no certificate authority, those of the system are trusted, and no others.
#[test]
fn a_server_is_verified_by_the_authorities_of_the_system() {
    for kind in KINDS {
        let server = Server::start(&Options::new(kind).tls(Tls::Server)).unwrap();
        let files = server.certificates().unwrap();
        let mut target = server.url();
        target.options = vec![("tls".to_owned(), "verify".to_owned())];
        let with = |system: &std::path::Path| {
            let place = TestFolder::with(READ);
            let url = target.to_string();
            let run = ["run", "w.ini", "--duration", "1s", "--url", &url, "--quiet", "--full"];
            let mut command = place.command(&run);
            // This variable names a file whose authorities are trusted instead of those of the
            // system.
            command.env("SSL_CERT_FILE", system).env_remove("SSL_CERT_DIR");
            CommandResult::of(command.env("ASSAY_PASSWORD", server.password().expose()))
        };
        let trusted = with(&files.authority);
        assert!([0, 3].contains(&trusted.code), "{kind:?}: {}", trusted.stderr);
        assert!(trusted.stdout.contains("tls verify"), "{kind:?}: {}", trusted.stdout);
        let refused = with(&files.unrelated_authority).expect(4);
        for words in ["127.0.0.1", "is not trusted", "tls-ca=FILE"] {
            assert!(refused.stderr.contains(words), "{kind:?}: {}", refused.stderr);
        }
    }
}

#[test]
fn private_server_that_fails_to_start_is_quoted() {
    for (name, program) in [("postgres", "`postgres`"), ("mariadb", "`mariadbd`")] {
        let url = &format!("testbed:{name}?server.no_such_setting=1");
        let place = TestFolder::with(READ);
        place.assay(&["run", "w.ini", "--url", url]).refuses(&[program, "no_such_setting"]);
        assert_eq!(place.names(), ["w.ini"], "{url}: no record is left");
    }
}

/// Each method of loading writes the same rows into the table.
#[test]
fn every_method_of_loading_writes_the_same_rows() {
    const SUM: &str = "select count(*), sum(id), sum(length(owner)), sum(balance) from accounts";
    for (kind, methods) in [
        (Kind::Postgres, ["auto", "insert", "copy"]),
        (Kind::Mariadb, ["auto", "insert", "load-data"]),
    ] {
        let server = Server::start(&Options::new(kind)).unwrap();
        let found = methods.map(|method| {
            let workload = example()
                .replace("writers = 4", &format!("writers = 4\nmethod = {method}"))
                .replace("[teardown]\nquery = drop table accounts\n", "");
            let place = TestFolder::with(&workload);
            let mut command = place.command(&["load", "w.ini", "--url", &url_of(&server)]);
            command.env("ASSAY_PASSWORD", server.password().expose());
            CommandResult::of(&mut command).expect(0);
            let found = server.sql(SUM).unwrap();
            server.sql("drop table accounts").unwrap();
            found
        });
        assert!(found[0].starts_with("5000\t12502500\t"), "{kind:?}: {found:?}");
        assert!(found.iter().all(|rows| *rows == found[0]), "{kind:?}: {found:?}");
    }
}

/// If a load used a slower method than the server could offer, its output says so.
#[test]
fn load_into_a_server_that_forbids_local_files_says_how_to_allow_them() {
    let mut args = vec!["load", "w.ini", "--url", "testbed:mariadb?server.local_infile=0"];
    args.extend(["--out", "r.assay", "--full"]);
    let workload = "[setup]\nquery = create table t (id integer)\n\
                    [load t]\nrows = 100\ncolumns = id: row()\n";
    let place = TestFolder::with(workload);
    let answer = place.assay(&args).expect(0).stdout;
    for words in ["t was filled by inserts", "set global local_infile = on"] {
        assert!(answer.contains(words), "`{words}` is not in: {answer}");
    }
    assert_eq!(answer.matches("(4166)").count(), 1, "{answer}");
    let summary = place.assay(&["report", "r.assay", "--json"]).expect(0).json();
    let fallback = summary["loads"][0]["fallback"].as_str().unwrap_or_default();
    assert!(fallback.contains("set global local_infile = on"), "{fallback}");
}

/// The tables of an experiment are filled once before all runs, or again before each run.
#[test]
fn experiment_on_a_server_that_forbids_local_files_warns_of_inserts() {
    let workload = "duration = 100ms\n\
                    [setup]\nquery = create table t (id integer)\n\
                    [load t]\nrows = 100\ncolumns = id: row()\n\
                    [read]\nquery = select count(*) from t\nrate = 20\n\
                    [teardown]\nquery = drop table t\n";
    for (restore, loads) in [("none", 0), ("reload", 1)] {
        let place = TestFolder::with(workload);
        let question = format!(
            "[question]\nask = ?\nworkload = w.ini\nrounds = 6\nrestore = {restore}\n[arm one]\n\
             [arm two]\nrate(read) = 30\n"
        );
        place.write("e.ini", question);
        let url = "testbed:mariadb?server.local_infile=0";
        let run = ["run", "e.ini", "--url", url, "--full", "--quiet", "--out", "e.assay"];
        let ran = place.assay(&run);
        let words = "t was filled by inserts, which is the slower method (in all arms): ";
        assert_eq!(ran.stdout.matches(words).count(), 1, "{restore}: {}", ran.stdout);
        assert!(ran.stdout.contains("set global local_infile = on"), "{restore}: {}", ran.stdout);
        let document = place.assay(&["report", "e.assay", "--json"]).json();
        assert_matches_schema("schemas/experiment.schema.json", &document);
        let fallbacks = document["load_fallbacks"].as_array().unwrap();
        assert_eq!(fallbacks.len(), 2, "{restore}: {fallbacks:?}");
        for (found, arm) in fallbacks.iter().zip(["one", "two"]) {
            assert_eq!([&found["arm"], &found["table"]], [arm, "t"], "{restore}");
            let reason = found["reason"].as_str().unwrap();
            assert!(reason.contains("set global local_infile = on"), "{restore}: {reason}");
        }
        let run = place.assay(&["report", "e.assay", "--run", "3", "--json"]).json();
        let of_run = run["loads"].as_array().unwrap();
        assert_eq!(of_run.len(), loads, "{restore}: {run}");
        assert!(of_run.iter().all(|load| load["fallback"] == fallbacks[0]["reason"]), "{run}");
        let markdown = place.assay(&["report", "e.assay", "--markdown"]).stdout;
        assert!(markdown.contains("t was filled by inserts"), "{restore}: {markdown}");
    }
}

/// Texts that are misread unless they are quoted as each server requires.
const ODD: [&str; 16] = [
    "it's 'quoted', \"quoted\" and `quoted`",
    "'",
    "''; drop table odd; --",
    "\\",
    "\\'",
    "ends with \\",
    "\\n, \\0, \\%, \\x41, \\\\",
    "two\nlines\rand\ta tab",
    "-- no comment",
    "# no comment /* nor this",
    "one; two; three",
    "? ?? $1 $$ $a$ %s :name @name ${x}",
    "\u{1}\u{7}\u{8}\u{b}\u{c}\u{1a}\u{1b}\u{1f}\u{7f}",
    "naïve Grüße, 東京, 🚀, a\u{301}",
    "  ",
    "",
];

/// Literals in a statement have the same value as bound parameters.
#[test]
fn special_characters_arrive_unchanged_as_parameters_and_literals() {
    let record = |(id, text): (usize, &&str)| format!("{id},\"{}\"\n", text.replace('"', "\"\""));
    let file: String = ODD.iter().enumerate().map(record).collect();
    let bytes = |text: &&str| text.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
    let expected: String = ODD.iter().map(|text| format!("<{}>\n", bytes(text))).collect();
    for (kind, words, shown) in [
        (Kind::Postgres, "text", "upper(encode(convert_to(words, 'utf8'), 'hex'))"),
        (Kind::Mariadb, "text character set utf8mb4", "hex(words)"),
    ] {
        let server = Server::start(&Options::new(kind)).unwrap();
        for (table, key) in [("bound", ""), ("literal", "prepare = no\n")] {
            let place = TestFolder::with(&format!(
                "[setup]\nquery = create table {table} (id int primary key, words {words})\n\
                 [write]\nquery-args-file = odd.csv\nconcurrency = 1\n{key}\
                 query = insert into {table} values (${{field(1)}}, ${{field(2)}})\n",
            ));
            place.write("odd.csv", &file);
            let summary = run(&place, &server, &[]).json();
            assert_balanced(&summary);
            let write = job(&summary, "write");
            assert_eq!((&write["completed"], &write["errors"]), (&16.into(), &0.into()), "{write}");
            let rows = format!("select concat('<', {shown}, '>') from {table} order by id");
            assert_eq!(server.sql(&rows).unwrap(), expected, "{kind:?}: {table}");
        }
    }
}

const MIXED: &str = include_str!("../../../../workloads/mixed.ini");
const MARIADB: &str = include_str!("../../../../workloads/mixed-mariadb.ini");

/// Checks the run of a study against its table: every completed insert added a row, and the
/// clean-ups deleted loaded rows.
#[track_caller]
fn judge_mixed(server: &Server, summary: &Value, now: &str, loaded: i64) {
    assert_balanced(summary);
    let completed = |name: &str| {
        let job = job(summary, name);
        assert_eq!(job["completed"], job["scheduled"], "{job}");
        job["completed"].as_i64().unwrap()
    };
    let ask = |what: &str| {
        let text = server.sql(&format!("select {what}")).unwrap();
        text.trim().parse::<i64>().unwrap_or_else(|_| panic!("{text}"))
    };
    let (inserts, cleanups) = (completed("insert"), completed("cleanup"));
    assert!(completed("analytics") > 0 && inserts > 0 && cleanups > 0, "{summary}");
    // The loaded rows are about an hour old.
    let young = format!("insert_date > {now} - interval '30' minute");
    assert_eq!(ask(&format!("count(*) from t where {young}")), inserts);
    assert!(ask(&format!("count(*) from t where not {young}")) < loaded);
}

#[test]
fn the_mixed_study_runs_in_each_dialect() {
    let (text, _) = MIXED.split_once("[teardown]").unwrap();
    for kind in KINDS {
        let server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(text);
        let sets = ["quarter=1s", "rows=2k", "life=200ms", "pause=10ms"];
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let summary = run(&place, &server, &sets).json();
        let now = match kind {
            Kind::Postgres => "now() at time zone 'utc'",
            Kind::Mariadb | Kind::Mysql => "utc_timestamp()",
        };
        judge_mixed(&server, &summary, now, 2_000);
    }
}

/// The file has these statements in dbbench's language. The test shortens the run and the time
/// between two clean-ups, and leaves out the teardown.
#[test]
fn the_mixed_study_of_dbbench_runs_on_mariadb() {
    for statement in [
        "query=insert into t (value) select rand() * 1000\nrate=100\n",
        "query=delete from t where insert_date < now() - interval 1 hour\n",
        "query=select count(*) from t where value between 900 and 1000\nqueue-depth=8\n",
    ] {
        assert!(MARIADB.contains(statement), "{statement}");
    }
    let server = Server::start(&Options::mariadb()).unwrap();
    let (text, _) = MARIADB.split_once("[teardown]").unwrap();
    let shorter = text.replace("duration=40s", "duration=3s").replace("rate=0.1\n", "rate=1\n");
    let place = TestFolder::with(&shorter);
    let mut command = place.command(&["dbbench", "--driver", "mysql", "--host", "127.0.0.1"]);
    let port = server.port().to_string();
    command.args(["--port", &port, "--username", "assay", "--database", "assay", "w.ini"]);
    let ran = CommandResult::of(command.env("ASSAY_PASSWORD", server.password().expose()));
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let record = place.names().into_iter().find(|name| name.ends_with(".assay")).unwrap();
    let summary = place.assay(&["report", &record, "--json"]).json();
    judge_mixed(&server, &summary, "now()", 100_000);
    assert_eq!(job(&summary, "insert")["completed"], 299);
    assert_eq!(job(&summary, "cleanup")["completed"], 2);
}
