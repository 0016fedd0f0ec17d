//! Tests of invariant 8: a password appears only where the user put it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use testbed::Kind;

use crate::faulty_server::{FaultyServer, RefusedRequest};
use crate::support::{CommandResult, TestFolder};

const PASSWORD: &str = "s3cr3t-Pa55";

/// A port on which nothing listens.
const UNUSED_PORT: u16 = 1;

fn assert_silent(what: &str, bytes: &[u8]) {
    let found = bytes.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes());
    assert!(!found, "{what}: {}", String::from_utf8_lossy(bytes));
}

#[test]
fn invariant_8_a_password_is_in_no_complaint_and_in_no_plan() {
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\n");
    for url in [
        format!("postgres://ann:{PASSWORD}@localhost:{UNUSED_PORT}/db"),
        format!("postgres://ann:{PASSWORD}@localhost:x/db"),
        format!("postgrs://ann:{PASSWORD}@localhost/db"),
        format!("ann:{PASSWORD}@localhost"),
        format!("mysql://ann:{PASSWORD}%zz@localhost/db"),
        format!("postgres://ann:{PASSWORD}@localhost/db?tls"),
        format!("postgres://localhost/db?password={PASSWORD}"),
        format!("postgres://ann:{PASSWORD}/x@localhost/db"),
        format!("postgres://ann:1/{PASSWORD}@localhost/db"),
        format!("postgres://ann:1?{PASSWORD}@localhost/db"),
    ] {
        for args in [&["run", "w.ini", "--json"][..], &["check", "w.ini"], &["load", "w.ini"]] {
            let ran = place.assay(&[args, &["--url", &url]].concat());
            assert_silent(&url, ran.stdout.as_bytes());
            assert_silent(&url, ran.stderr.as_bytes());
            assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        }
    }
    // The URL is an argument without its option. The message quotes it without its password.
    let url = format!("postgres://ann:{PASSWORD}@localhost/db");
    let ran = place.assay(&["run", "w.ini", &url]).refuses(&["postgres://ann:", "@localhost/db"]);
    assert_silent(&url, ran.stderr.as_bytes());
    for name in place.names() {
        assert_silent(&name, &fs::read(place.at(&name)).unwrap());
    }
}

/// A URL is given where a file, a folder, a record or a name is expected, for example by a script
/// that uses `$URL`.
#[test]
fn invariant_8_a_misplaced_url_is_quoted_without_its_password() {
    let place = TestFolder::with("[read]\nquery = select 1\nrate = 1\ncount = 1\n");
    let url = format!("postgres://ann:{PASSWORD}@localhost:{UNUSED_PORT}/db");
    let server = format!("testbed:{url}");
    let quoted = "ann:***********@localhost";
    for args in [
        &["run", &url][..],
        &["check", "w.ini", "--url", &server],
        &["run", "w.ini", "--url", "sim:mm1", "--out", &url],
        &["run", "w.ini", "--url", "sim:mm1", "--op-log", &url],
        &["report", &url],
        &["compare", &url, "r.assay"],
        &["compare", "r.assay", "r.assay", "--fail-on", &url],
        &["history", &url],
        &["serve", &url],
        &["note", &url, "a remark"],
        &["publish", &url],
        &["export", &url, "--format", "csv"],
        &["explain", &url],
        &["workloads", &url],
        &["doctor", &server],
    ] {
        let ran = place.assay(args).refuses(&[quoted]);
        assert_silent(&args.join(" "), &[ran.stdout, ran.stderr].concat().into_bytes());
    }
}

/// The password is an option of the misplaced URL, or one of several settings.
#[test]
fn invariant_8_a_misplaced_password_setting_is_masked() {
    let place = TestFolder::with("[read]\nquery = select 1\nrate = 1\ncount = 1\n");
    let quoted = format!("password={}", "*".repeat(PASSWORD.len()));
    for target in [
        format!("postgres://127.0.0.1:{UNUSED_PORT}/d?user=ann&password={PASSWORD}"),
        format!("jdbc:postgresql://127.0.0.1/d?user=ann&password={PASSWORD}"),
        format!("host=127.0.0.1 password={PASSWORD}"),
    ] {
        for args in [
            &["run", &target][..],
            &["run", "w.ini", &target],
            &["report", &target],
            &["compare", &target, "r.assay"],
            &["history", &target],
            &["serve", &target],
        ] {
            let ran = place.assay(args).refuses(&[quoted.as_str()]);
            assert_silent(&args.join(" "), ran.stderr.as_bytes());
        }
    }
}

#[test]
fn invariant_8_a_password_in_the_file_is_in_no_complaint_about_its_line() {
    for line in [
        format!("url = postgres://ann:{PASSWORD}@localhost/db\nrat = 1"),
        format!("url = postgres://ann:{PASSWORD}@localhost:x/db"),
        format!("url = postgrs://ann:{PASSWORD}@localhost/db"),
        format!("urll = postgres://ann:{PASSWORD}@localhost/db"),
        format!("urll = postgres://ann:1/{PASSWORD}@localhost/db"),
    ] {
        let place = TestFolder::with(&format!("{line}\n[read]\nquery = select 1\n"));
        let ran = place.assay(&["check", "w.ini"]).refuses(&["--> w.ini"]);
        assert_silent(&line, ran.stderr.as_bytes());
    }
}

#[test]
fn invariant_8_a_password_that_the_shell_passed_on_is_in_no_record() {
    let place = TestFolder::with("duration = 2s\n[read]\nquery = select 1\nrate = 10\n");
    let url = format!("postgres://ann:{PASSWORD}@localhost:{UNUSED_PORT}/db");
    let warned =
        place.assay(&["run", "w.ini", "--json", "--url", &url, "--out", "none.assay"]).expect(4);
    assert!(warned.stderr.contains("list of processes"), "{}", warned.stderr);
    assert_silent("stderr", warned.stderr.as_bytes());
    assert_silent("the record", &fs::read(place.at("none.assay")).unwrap());

    // The record and the other outputs of a run on another target.
    place.write(
        "w.ini",
        format!("url = {url}\nduration = 2s\n[read]\nquery = select 1\nrate = 10\n"),
    );
    let ran = place.run_virtually("sim:mm1", &[]).expect(0);
    assert_silent("stdout", ran.stdout.as_bytes());
    assert_silent("stderr", ran.stderr.as_bytes());
    assert_silent("the record", &fs::read(place.at("r.assay")).unwrap());
    for format in ["hlog", "csv", "json"] {
        assert_silent(format, place.export("r.assay", format).as_bytes());
    }
    for form in [&[][..], &["--full"]] {
        let ran = place.assay(&[&["report", "r.assay"][..], form].concat());
        assert_silent("the report", ran.stdout.as_bytes());
    }
}

/// Returns a workload whose password comes from parameters, and is also sent in a statement.
fn of_parameters(setup: &str) -> String {
    format!(
        "url = postgres://ann:${{pw}}@localhost:{UNUSED_PORT}/db\nduration = 2s\n\
         [params]\nbase = x\npw = ${{base}}-{PASSWORD}\n[setup]\n{setup}\n\
         [read]\nquery = select ${{pw}}\nrate = 10\n"
    )
}

#[test]
fn invariant_8_a_password_that_comes_through_parameters_is_never_shown() {
    let place = TestFolder::with(&of_parameters("query = create user ann password ${pw}"));
    let set = format!("pw={PASSWORD}");
    for args in [&["check", "w.ini"][..], &["check", "w.ini", "--set", &set]] {
        let ran = place.assay(args).expect(0);
        assert_silent("the plan", ran.stdout.as_bytes());
        assert!(ran.stdout.contains("pw = (secret)"), "{}", ran.stdout);
        assert_silent("stderr", ran.stderr.as_bytes());
        let warns = ran.stderr.contains("`--set pw=…` can be seen in the list of processes");
        assert_eq!(warns, args.len() > 2, "{}", ran.stderr);
    }
    let args = ["run", "w.ini", "--json", "--set", &set, "--out", "none.assay"];
    let ran = place.assay(&args).expect(4);
    assert_silent("stdout", ran.stdout.as_bytes());
    assert_silent("stderr", ran.stderr.as_bytes());
    assert_silent("the record", &fs::read(place.at("none.assay")).unwrap());

    let ran = place.run_virtually("sim:mm1", &["--set", &set]).expect(0);
    assert_silent("stdout", ran.stdout.as_bytes());
    assert_silent("stderr", ran.stderr.as_bytes());
    assert_silent("the record", &fs::read(place.at("r.assay")).unwrap());
    for format in ["hlog", "csv", "json"] {
        assert_silent(format, place.export("r.assay", format).as_bytes());
    }
    for form in [&[][..], &["--full"], &["--json"]] {
        let ran = place.assay(&[&["report", "r.assay"][..], form].concat());
        assert_silent("the report", ran.stdout.as_bytes());
        assert!(!ran.stdout.contains("damaged"), "{}", ran.stdout);
    }
    let shown = place.assay(&["report", "r.assay", "--environment"]);
    assert_silent("the environment", shown.stdout.as_bytes());
    assert!(shown.stdout.contains("--set 'pw=(secret)'"), "{}", shown.stdout);
}

#[test]
fn invariant_8_secret_of_a_program_is_in_no_plan_and_no_record() {
    for command in
        ["true mysql -p${pw} -e x", "true curl -H \"Authorization: Bearer ${raw(pw)}\" http://h/"]
    {
        let workload = format!("[params]\npw = none\n[a]\ncommand = {command}\ncount = 1\n");
        let place = TestFolder::with(&workload);
        let set = format!("pw={PASSWORD}");
        let ran = place.assay(&["check", "w.ini", "--set", &set]).expect(0);
        assert_silent("the plan", ran.stdout.as_bytes());
        let args = ["run", "w.ini", "--json", "--allow-commands", "--out", "r.assay"];
        let ran = place.assay(&[&args[..], &["--set", &set]].concat());
        assert_ne!(ran.code, 2, "{ran:?}");
        assert_silent("stdout", ran.stdout.as_bytes());
        assert_silent("stderr", ran.stderr.as_bytes());
        assert_silent("the record", &fs::read(place.at("r.assay")).unwrap());
        let shown = place.assay(&["report", "r.assay", "--environment"]);
        assert_silent("the environment", shown.stdout.as_bytes());
        assert!(shown.stdout.contains("--set 'pw=(secret)'"), "{}", shown.stdout);
    }
}

#[test]
fn invariant_8_a_database_that_repeats_a_secret_is_quoted_without_it() {
    // SQLite's message names the missing table.
    let text = of_parameters("query = insert into ${raw(base)}_t values (1)");
    let text = text.replace("-s3cr3t-Pa55", "").replace("base = x", &format!("base = {PASSWORD}"));
    let text = text.replace(PASSWORD, "s3cr3t_Pa55");
    let place = TestFolder::with(&text);
    let ran = place.assay(&["run", "w.ini", "--url", "sqlite:"]).expect(2);
    assert!(ran.stderr.contains("no such table: (secret)_t"), "{}", ran.stderr);
    let place = TestFolder::with(
        "url = postgres://ann:${pw}@h/d\n[params]\npw = s3cr3t_Pa55\n[a]\n\
         command = psql -c ${pw} password=${pw}\n",
    );
    let ran = place.assay(&["run", "w.ini"]).expect(2);
    assert!(!ran.stderr.contains("s3cr3t_Pa55"), "{}", ran.stderr);
    assert!(ran.stderr.contains("psql -c '(secret)'"), "{}", ran.stderr);
}

#[test]
fn invariant_8_a_password_that_an_arm_sets_is_refused_unseen() {
    let place = TestFolder::with(&of_parameters("query = select 1"));
    let question = "[question]\nask = Which?\nworkload = w.ini\n";
    for file in [
        format!("{question}[arm a]\n[arm b]\nset.pw = {PASSWORD}\n"),
        format!("{question}[sweep]\nvary = set.pw: {PASSWORD}, other\n"),
    ] {
        place.write("e.ini", file);
        for args in [&["check", "e.ini"][..], &["run", "e.ini", "--out", "e.assay"]] {
            let ran = place.assay(args).expect(2);
            assert!(ran.stderr.contains("`set.pw` sets a password"), "{}", ran.stderr);
            assert_silent("stdout", ran.stdout.as_bytes());
            assert_silent("stderr", ran.stderr.as_bytes());
        }
        assert!(!place.at("e.assay").exists());
    }
    place.write("e.ini", format!("{question}[arm a]\n[arm b]\nrate(read) = 20\n"));
    let ran = place.assay(&["check", "e.ini", "--set", "pw=other"]).expect(0);
    let warning = "`--set pw=…` can be seen in the list of processes";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
}

/// Expects each of these lines to be refused, because its text would be in the record.
#[test]
fn invariant_8_a_password_in_a_line_of_an_experiment_is_refused_unseen() {
    let arms = "differences = several\nrounds = 6\n[arm a]\nurl = testbed:postgres\n[arm b]\n\
                url = testbed:postgres\nrate(read) = 20\n";
    for (key, value) in [
        ("before-command", format!("PGPASSWORD={PASSWORD} psql -c checkpoint")),
        ("after-command", format!("MYSQL_PWD='{PASSWORD}' mysql -e x")),
        ("before-command", format!("psql postgres://ann:{PASSWORD}@h/d")),
        ("server.primary_conninfo", format!("host=h password={PASSWORD}")),
        ("before", format!("alter system set primary_conninfo = 'password={PASSWORD}'")),
        ("after", format!("select dblink('postgres://ann:{PASSWORD}@h', 'select 1')")),
        ("restore", format!("select dblink('password={PASSWORD}', 'select 1')")),
    ] {
        let place = TestFolder::with(SIMULATED);
        let line = format!("{key} = {value}\n");
        let (of_question, of_arm) = if key == "restore" { (&*line, "") } else { ("", &*line) };
        let question = "[question]\nask = Which?\nworkload = w.ini\n";
        place.write("e.ini", format!("{question}{of_question}{arms}{of_arm}"));
        let ran = place.assay(&["check", "e.ini"]).expect(2);
        assert!(ran.stderr.contains(&format!("`{key}` sets a password")), "{}", ran.stderr);
        assert_silent(key, ran.stdout.as_bytes());
        assert_silent(key, ran.stderr.as_bytes());
    }
    let place = TestFolder::with(SIMULATED);
    let command = "before-command = PGPASSWORD=$(cat pw) PGPASSWORD=\"$PW\" psql -c checkpoint";
    let question = "[question]\nask = Which?\nworkload = w.ini\n";
    place.write("e.ini", format!("{question}{arms}{command}\n"));
    place.assay(&["check", "e.ini"]).expect(0);
}

/// A workload that uses its parameter nowhere.
const SIMULATED: &str = "url = sim:mm1\nduration = 2s\n[params]\npw = none\n[read]\n\
                         query = select 1\nrate = 10\n";

#[test]
fn invariant_8_secret_of_a_statement_around_the_runs_is_never_shown() {
    for (of_question, of_arm) in [
        ("", "before = alter role ann password ${pw}"),
        ("", "before = analyze\nafter = alter role ann password '${raw(pw)}'"),
        ("restore = alter role ann password ${pw}\n", "rate(read) = 20"),
    ] {
        for in_file in [false, true] {
            let workload =
                if in_file { SIMULATED.replace("none", PASSWORD) } else { SIMULATED.into() };
            let place = TestFolder::with(&workload);
            place.write(
                "e.ini",
                format!(
                    "[question]\nask = Which?\nworkload = w.ini\nrounds = 6\n{of_question}\
                     [arm a]\n[arm b]\n{of_arm}\n"
                ),
            );
            let set = format!("pw={PASSWORD}");
            let set: &[&str] = if in_file { &[] } else { &["--set", &set] };
            let run = ["run", "e.ini", "--virtual", "--out", "e.assay"];
            let ran = place.assay(&[&run[..], set].concat());
            assert!(matches!(ran.code, 0 | 1 | 3), "{ran:?}");
            let warns = ran.stderr.contains("`--set pw=…` can be seen in the list of processes");
            assert_eq!(warns, !in_file, "{}", ran.stderr);
            assert_silent("stdout", ran.stdout.as_bytes());
            assert_silent("stderr", ran.stderr.as_bytes());
            assert_silent("the record", &fs::read(place.at("e.assay")).unwrap());
            for form in [&["--full"][..], &["--json"], &["--environment"]] {
                let ran = place.assay(&[&["report", "e.assay"][..], form].concat());
                assert_silent("the report", ran.stdout.as_bytes());
            }
            let checked = place.assay(&[&["check", "e.ini"][..], set].concat()).expect(0);
            assert_silent("the plan", checked.stdout.as_bytes());
            place.assay(&["publish", "e.assay"]).expect(0);
            let mut unpack = Command::new("tar");
            unpack.args(["xzOf", "e.tar.gz"]).current_dir(place.path());
            let bundle = unpack.output().unwrap().stdout;
            assert!(String::from_utf8_lossy(&bundle).contains("value of `pw`"), "{of_arm}");
            assert_silent("the bundle", &bundle);
        }
    }
}

/// SQLite does not change its journal mode, so the answer quotes the statement that should have
/// changed it.
#[test]
fn invariant_8_secret_in_a_difference_that_is_not_in_effect_is_never_shown() {
    let place = TestFolder::with(
        "url = sqlite:t.db\nduration = 100ms\n[params]\npw = none\n[read]\n\
         query = select 1 where 'password' = ${pw}\nconcurrency = 1\nthink = 5ms\n",
    );
    place.write(
        "e.ini",
        "[question]\nask = Which?\nworkload = w.ini\nrounds = 6\n[arm a]\n[arm b]\n\
         before = pragma journal_mode = '${raw(pw)}'\n",
    );
    let set = format!("pw={PASSWORD}");
    let ran = place.assay(&["run", "e.ini", "--out", "e.assay", "--set", &set]).expect(3);
    let reason = "[arm b]: `before = pragma journal_mode = (secret)` is not in effect";
    assert!(ran.stdout_line().contains(reason), "{}", ran.stdout);
    assert_silent("stdout", ran.stdout.as_bytes());
    assert_silent("stderr", ran.stderr.as_bytes());
    assert_silent("the record", &fs::read(place.at("e.assay")).unwrap());
}

/// The plan does not contain the value from the file.
#[test]
fn invariant_8_a_password_that_the_command_line_replaces_is_in_no_record() {
    let text = of_parameters("query = create user ann password ${pw}");
    let place = TestFolder::with(&text.replace("${base}-", ""));
    place.run_virtually("sim:mm1", &["--set", "pw=other"]).expect(0);
    assert_silent("the record", &fs::read(place.at("r.assay")).unwrap());
}

/// The place in which a user puts the password of a target.
#[derive(Clone, Copy, Debug)]
enum PasswordSource {
    CommandLine,
    File,
    Environment,
    PasswordFile,
}

/// Runs a command against a server that repeats the password in an error, and checks that no output
/// shows the password. The password comes from `source`. The argument `URL` stands for the URL of
/// the server.
fn check_server_that_repeats(server: &TestServer, source: PasswordSource, args: &[&str]) {
    let &TestServer { kind, ref address, scheme } = server;
    let bare = format!("{scheme}://ann@{address}/shop");
    let full = format!("{scheme}://ann:{PASSWORD}@{address}/shop");
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nrate = 10\n");
    let url = match source {
        PasswordSource::CommandLine => &full,
        PasswordSource::Environment | PasswordSource::PasswordFile | PasswordSource::File => &bare,
    };
    let (name, text) = match kind {
        Kind::Postgres => (".pgpass", format!("*:*:*:ann:{PASSWORD}\n")),
        Kind::Mariadb | Kind::Mysql => (".my.cnf", format!("[client]\npassword={PASSWORD}\n")),
    };
    let args: Vec<&str> = args.iter().map(|arg| if *arg == "URL" { url } else { *arg }).collect();
    let mut command = place.command(&args);
    command.env("HOME", place.path()).env_remove("PGPASSFILE");
    match source {
        PasswordSource::Environment => drop(command.env("ASSAY_PASSWORD", PASSWORD)),
        PasswordSource::PasswordFile => {
            place.write(name, text);
            fs::set_permissions(place.at(name), PermissionsExt::from_mode(0o600)).unwrap();
        }
        PasswordSource::File => {
            let text = fs::read_to_string(place.at("w.ini")).unwrap();
            place.write("w.ini", format!("url = {full}\n{text}"));
        }
        PasswordSource::CommandLine => {}
    }
    let ran = CommandResult::of(&mut command);
    let at = format!("{kind:?} {source:?} {args:?}");
    assert_silent(&at, ran.stdout.as_bytes());
    assert_silent(&at, ran.stderr.as_bytes());
    let quoted = "got (secret) instead";
    assert!(ran.stderr.contains(quoted) || ran.stdout.contains(quoted), "{at}: {ran:?}");
    if place.at("r.assay").exists() {
        assert_silent(&at, &fs::read(place.at("r.assay")).unwrap());
    }
}

/// A server that repeats the password in an error.
struct TestServer {
    kind: Kind,
    scheme: &'static str,
    address: String,
}

impl TestServer {
    fn refusing(refuses: RefusedRequest) -> [TestServer; 2] {
        [(Kind::Postgres, "postgres"), (Kind::Mariadb, "mysql")].map(|(kind, scheme)| {
            let words = "got s3cr3t-Pa55 instead";
            let address = FaultyServer::refusing(kind, refuses, words).address();
            TestServer { kind, scheme, address }
        })
    }
}

#[test]
fn invariant_8_a_server_that_repeats_the_password_is_quoted_without_it() {
    const RUN: [&str; 5] = ["run", "w.ini", "--json", "--out", "r.assay"];
    let run_at_url = [&RUN[..], &["--url", "URL"]].concat();
    for server in TestServer::refusing(RefusedRequest::Login) {
        check_server_that_repeats(&server, PasswordSource::File, &RUN);
        check_server_that_repeats(&server, PasswordSource::CommandLine, &run_at_url);
        check_server_that_repeats(&server, PasswordSource::Environment, &run_at_url);
        check_server_that_repeats(&server, PasswordSource::PasswordFile, &run_at_url);
        check_server_that_repeats(&server, PasswordSource::Environment, &["doctor", "URL"]);
    }
    for server in TestServer::refusing(RefusedRequest::Statement("select 1")) {
        check_server_that_repeats(&server, PasswordSource::Environment, &run_at_url);
    }
}
