//! Undeclared differences between the arms of an experiment, and differences that may follow from a
//! declared one.

use serde_json::{Value, json};
use testbed::{Kind, Options, Server};

use crate::example::assert_matches_schema;
use crate::experiment_end::assert_all_runs_executed;
use crate::experiment_losses::HOLD;
use crate::experiment_records::set_in_record;
use crate::support::{Running, TestFolder, number, wait_until};

const UPDATE: &str = "duration = 4s\nwarmup = 1s\n[write]\nconcurrency = 2\n\
                      query = update account set balance = 1\n";

/// Two servers, as in a comparison for a pull request.
const TARGETS: &str = "[arm main]\nurl = sim:mm1?service=1ms\n\
                       [arm change]\nurl = sim:mm1?service=0.8ms\n";

/// Returns a folder with the record of an experiment with these arms in `r.assay`.
fn place(arms: &str) -> TestFolder {
    let place = TestFolder::new();
    place.write("write.ini", format!("url = sim:mm1?service=1ms\n{UPDATE}"));
    place.write("e.ini", format!("[question]\nask = ?\nworkload = write.ini\nrounds = 6\n{arms}"));
    place.assay(&["run", "e.ini", "--virtual", "--quiet", "--out", "r.assay"]).expect(0);
    place
}

/// Sets a setting to `own` in the runs of the arm `change`, and to `baseline` in the other runs.
fn differ(place: &TestFolder, name: &str, [baseline, own]: [&str; 2]) {
    let value = format!("iif(arm = 'change', '{own}', '{baseline}')");
    set_in_record(&place.at("r.assay"), name, &value);
}

#[test]
fn arms_with_urls_of_other_durability_are_not_compared() {
    let place = place(TARGETS);
    differ(&place, "fsync", ["on", "off"]);
    let answer = "throughput(write) is not compared: the durability of commits differs";
    let ran = place.assay(&["report", "r.assay", "--full"]).expect(3);
    assert!(ran.stdout.starts_with(answer), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nSUSPECT: 1 undeclared difference\n"), "{}", ran.stdout);
    let limit = ["compare", "r.assay", "--fail-on", "throughput < -3%"];
    for line in [&limit[..2], &limit[..]] {
        let ran = place.assay(line).expect(3);
        assert!(ran.stdout.starts_with(answer), "{}", ran.stdout);
    }
    let accepted = place.assay(&[&limit[..], &["--despite", "durability"]].concat()).expect(0);
    for words in ["`r.assay#change` raises throughput(write) by", "\nSUSPECT\n", "not exceeded"] {
        assert!(accepted.stdout.contains(words), "{words}: {}", accepted.stdout);
    }
    place.assay(&[&limit[..], &["--despite", "data"]].concat()).expect(3);
}

#[test]
fn other_settings_of_arms_with_urls_make_the_answer_suspect() {
    let place = place(TARGETS);
    differ(&place, "work_mem", ["4MB", "64MB"]);
    for line in [["report", "r.assay"], ["compare", "r.assay"]] {
        let ran = place.assay(&line).expect(0);
        let words = "undeclared difference: setting, work_mem is `4MB` in";
        assert!(ran.stdout.contains(words), "{}", ran.stdout);
        assert!(ran.stdout.contains("\nSUSPECT"), "{}", ran.stdout);
    }
}

#[test]
fn servers_of_other_versions_are_named_with_their_settings() {
    let place = place(TARGETS);
    let version = "update setting set value = iif((select arm from run where run = setting.run) = \
                   'change', 'PostgreSQL 18.0', 'PostgreSQL 17.2') where name = 'server'";
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    assert_eq!(record.execute(version, []).unwrap(), 12);
    drop(record);
    differ(&place, "jit", ["on", "off"]);
    let ran = place.assay(&["report", "r.assay", "--full"]).expect(0);
    let words = "\ndiffers    server is `PostgreSQL 17.2` in `main`, `PostgreSQL 18.0` in `change` \
                 (by `url`)\ndiffers    configuration is `jit=on` in `main`, `jit=off` in \
                 `change` (by `url`)\n";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nVALID: "), "{}", ran.stdout);
    for line in [["report", "r.assay"], ["compare", "r.assay"]] {
        let markdown = place.assay(&[&line[..], &["--markdown"]].concat()).expect(0).stdout;
        assert!(markdown.contains("differs: server is"), "{markdown}");
        let document = place.assay(&[&line[..], &["--json"]].concat()).expect(0).json();
        assert_eq!(document["undeclared_differences"], json!([]));
        assert_eq!(document["differences"][1]["cause"], "url");
    }
    differ(&place, "fsync", ["on", "off"]);
    place.assay(&["report", "r.assay"]).expect(3);
}

#[test]
fn statement_before_the_runs_hides_no_difference() {
    let arms = "[arm main]\n[arm change]\nbefore = select 1\n";
    for (name, values, kind, verdict) in [
        ("fsync", ["on", "off"], "durability", "SUSPECT"),
        ("work_mem", ["4MB", "64MB"], "setting", "VALID"),
        ("database.size_bytes", ["1000", "9000"], "data", "VALID"),
    ] {
        let place = place(arms);
        differ(&place, name, values);
        for (line, schema) in
            [(["report", "r.assay"], "experiment"), (["compare", "r.assay"], "comparison")]
        {
            let full = [&line[..], if schema == "experiment" { &["--full"] } else { &[] }].concat();
            let ran = place.assay(&full).expect(0);
            let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            let [first, second] = values;
            for words in [
                format!("{name} is `{first}` in "),
                format!(" `{second}` in "),
                "(perhaps by `before`)".to_owned(),
            ] {
                assert!(said.contains(&words), "{words}: {}", ran.stdout);
            }
            let document = place.assay(&[&line[..], &["--json"]].concat()).expect(0).json();
            assert_matches_schema(&format!("schemas/{schema}.schema.json"), &document);
            assert_eq!(document["verdict"], verdict);
            let list = if verdict == "VALID" { "differences" } else { "undeclared_differences" };
            let one = &document[list][0];
            assert_eq!((&one["kind"], &one["cause"]), (&json!(kind), &json!("before")));
        }
    }
}

#[test]
fn arms_with_several_differences_are_warned_of_in_every_answer() {
    let warning = "The arms may differ in several things: the cause of a change is unknown";
    for (differences, warns) in [("several", true), ("one", false)] {
        let arms = "[arm main]\n[arm change]\noption.service = 1.2ms\n";
        let place = place(&format!("differences = {differences}\n{arms}"));
        for line in [["report", "r.assay"], ["compare", "r.assay"]] {
            let mut answers = vec![place.assay(&line).expect(0).stdout];
            for form in [&["--markdown"][..], &["--junit", "x.xml"], &["--html", "x.html"]] {
                let ran = place.assay(&[&line[..], form].concat()).expect(0);
                let file = form.get(1).map(|name| std::fs::read_to_string(place.at(name)));
                answers.push(file.map_or(ran.stdout, Result::unwrap));
            }
            for answer in answers {
                let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(answer.contains(warning), warns, "{line:?}: {answer}");
            }
            let document = place.assay(&[&line[..], &["--json"]].concat()).expect(0).json();
            assert_eq!(document["several_differences"], warns);
            for file in ["x.html", "x.xml"] {
                std::fs::remove_file(place.at(file)).unwrap();
            }
        }
    }
}

/// At a point, all arms have the same value of the setting that the sweep varies, so this setting
/// cannot be the cause of a difference between them.
#[test]
fn setting_that_a_sweep_varies_excuses_no_difference() {
    let place = TestFolder::new();
    place.write("write.ini", format!("url = sim:mm1?service=1ms\n{UPDATE}"));
    let sweep = "[question]\nask = ?\nworkload = write.ini\n[sweep]\n\
                 vary = option.service: 1ms, 2ms\nrepeats = 3\n\
                 [arm main]\n[arm change]\nconcurrency(write) = 3\n";
    place.write("e.ini", sweep);
    place.assay(&["run", "e.ini", "--virtual", "--quiet", "--out", "sweep.assay"]).expect(0);
    for (varied, name, values) in [
        ("shared_buffers", "work_mem", ["4MB", "64MB"]),
        ("shared_buffers", "fsync", ["on", "off"]),
        ("fsync", "durability", ["synchronous_commit=on", "synchronous_commit=off"]),
    ] {
        std::fs::copy(place.at("sweep.assay"), place.at("r.assay")).unwrap();
        // A simulated server has no settings.
        let vary = format!(
            "update experiment set value = replace(value, 'vary = option.service', \
             'vary = server.{varied}') where key = 'experiment'"
        );
        let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
        assert_eq!(record.execute(&vary, []).unwrap(), 1);
        drop(record);
        differ(&place, name, values);
        let document = place.assay(&["report", "r.assay", "--json"]).json();
        assert_eq!(document["verdict"], "SUSPECT", "{varied} {name}");
        let found = document["undeclared_differences"].as_array().unwrap();
        let names: Vec<_> = found.iter().map(|one| (&one["name"], &one["cause"])).collect();
        assert_eq!(names, [(&json!(name), &json!(null))], "{varied}");
    }
}

/// Expects the differing settings of two databases of one server to be found, as for a pull
/// request; one of the databases was tuned by hand.
#[test]
fn settings_in_which_two_databases_really_differ_are_found() {
    let server = testbed::shared(Kind::Postgres);
    let databases = "create database near owner assay; create database far owner assay; \
                     alter database far set work_mem = '64MB'; \
                     alter database far set synchronous_commit = off";
    server.sql(databases).unwrap();
    let (login, port) = (server.password().expose(), server.port());
    let arm = |name: &str| {
        format!("[arm {name}]\nurl = postgres://assay:{login}@127.0.0.1:{port}/{name}\n")
    };
    let place = TestFolder::new();
    let write = "duration = 100ms\n[setup]\nquery = create table t (a integer)\n[write]\n\
                 query = insert into t values (1)\nconcurrency = 1\nthink = 5ms\n\
                 [teardown]\nquery = drop table t\n";
    place.write("write.ini", write);
    let question = "[question]\nask = ?\nworkload = write.ini\nrounds = 6\n";
    place.write("e.ini", format!("{question}{}{}", arm("near"), arm("far")));
    let ran = place.assay(&["run", "e.ini", "--quiet", "--out", "r.assay"]).expect(3);
    let said = ran.stdout_line();
    for words in [
        "durability, synchronous_commit is `on` in `near`, `off` in `far`",
        "setting, work_mem is `4MB` in `near`, `64MB` in `far`",
    ] {
        assert!(said.contains(&format!("undeclared difference: {words}")), "{words}: {said}");
    }
    // A short run may complete no request if the machine is busy.
    let is_invalid = said.contains("its baseline are INVALID");
    let document = place.assay(&["report", "r.assay", "--json"]).expect(3).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    if assert_all_runs_executed(&document, 6) && !is_invalid {
        let reason = "the durability of commits differs between the arms, which is not declared";
        assert!(
            said.starts_with(&format!("throughput(write) is not compared: {reason}")),
            "{said}"
        );
        let row = &document["comparison"][0];
        assert_eq!((&row["verdict"], &row["reason"]), (&json!("not-compared"), &json!(reason)));
    }
    let found = document["undeclared_differences"].as_array().unwrap();
    for (kind, name) in [("durability", "synchronous_commit"), ("setting", "work_mem")] {
        let is_it = |one: &&Value| one["name"] == name && one["kind"] == kind;
        let one = found.iter().find(is_it).unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!((&one["arm"], &one["cause"]), (&json!("far"), &json!(null)));
    }
}

/// Expects the answer to name the data in which two servers, an original and an older backup,
/// differ.
#[test]
fn data_in_which_two_servers_really_differ_are_named() {
    for (kind, scheme, fill) in [
        (
            Kind::Postgres,
            "postgres",
            "create table t as select id, repeat('x', 100) as note \
             from generate_series(1, ROWS) id; grant select on t to public",
        ),
        (
            Kind::Mariadb,
            "mysql",
            "create table t as select seq as id, repeat('x', 100) as note from seq_1_to_ROWS",
        ),
    ] {
        let filled = |rows: &str| {
            let server = Server::start(&Options::new(kind)).unwrap();
            server.sql(&fill.replace("ROWS", rows)).unwrap();
            server
        };
        let servers = [filled("90000"), filled("30000")];
        let arms = servers.each_ref().map(|server| {
            let (login, port) = (server.password().expose(), server.port());
            format!("url = {scheme}://assay:{login}@127.0.0.1:{port}/assay\n")
        });
        let place = TestFolder::new();
        let read = "duration = 100ms\n[read]\nquery = select note from t limit 1\n\
                    concurrency = 1\nthink = 5ms\n";
        place.write("read.ini", read);
        let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 6\n";
        let [original, backup] = arms;
        place.write("e.ini", format!("{question}[arm original]\n{original}[arm backup]\n{backup}"));
        let line = ["run", "e.ini", "--strict", "--quiet", "--out", "r.assay"];
        let ran = place.assay(&line).expect(3);
        let document = place.assay(&["report", "r.assay", "--json"]).json();
        assert_matches_schema("schemas/experiment.schema.json", &document);
        // A short run may complete no request if the machine is busy.
        let is_invalid = ran.stdout_line().contains("its baseline are INVALID");
        if assert_all_runs_executed(&document, 6) && !is_invalid {
            assert_eq!(document["verdict"], "SUSPECT", "{document}");
        }
        // The difference is named, and the arms are compared nevertheless.
        let rows = document["comparison"].as_array().unwrap();
        let is_compared = |row: &Value| row["verdict"] != "not-compared" || is_invalid;
        assert!(rows.iter().all(is_compared), "{document}");
        let found = document["undeclared_differences"].as_array().unwrap();
        let of_data = ["database.size_bytes", "database.table.t.bytes"];
        let names: Vec<&str> = found.iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, of_data, "{}", ran.stdout);
        for one in found {
            assert_eq!((&one["kind"], &one["arm"]), (&json!("data"), &json!("backup")));
            let sizes = ["baseline_value", "value"].map(|side| one[side].as_str().unwrap());
            let [large, small] = sizes.map(|bytes| bytes.parse::<f64>().unwrap());
            assert!(large > 1.3 * small && small > 1e6, "{kind:?}: {one}");
            let (name, [large, small]) = (one["name"].as_str().unwrap(), sizes);
            let words = format!(
                "undeclared difference: data, {name} is `{large}` in `original`, `{small}` in \
                 `backup`"
            );
            assert!(ran.stdout_line().contains(&words), "{words}: {}", ran.stdout);
        }
    }
}

/// On a busy machine the load generator may fail in the round of the restart; the test then
/// executes a new experiment, ten at most.
#[test]
fn restart_of_a_server_within_a_round_is_named() {
    for (kind, sleep) in [(Kind::Postgres, "pg_sleep(0.02)"), (Kind::Mariadb, "sleep(0.02)")] {
        let is_seen = (0..10).any(|_| restart_within_a_round(kind, sleep).is_some());
        assert!(is_seen, "the load generator or the machine failed in every round");
    }
}

/// Restarts a server of the user between the two runs of a round. Returns `None` if this round does
/// not count.
fn restart_within_a_round(kind: Kind, sleep: &str) -> Option<()> {
    let mut server = Server::start(&Options::new(kind)).unwrap();
    let place = TestFolder::new();
    let read = format!("duration = 200ms\n[read]\nquery = select {sleep}\nconcurrency = 1\n");
    place.write("read.ini", read);
    let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 6\n";
    place.write("e.ini", format!("{question}[arm near]\n[arm far]\nbefore-command = sh hold.sh\n"));
    place.write("hold.sh", HOLD);
    let url = server.url().to_string();
    let args = ["run", "e.ini", "--allow-commands", "--url", &url, "--out", "r.assay"];
    let mut command = place.command(&args);
    let mut run = Running::of(command.env("ASSAY_PASSWORD", server.password().expose()));
    let held = place.at("held");
    // The query returns 1 if the near arm ran first in the current round. The run that is held is
    // then the far arm's, the second of the round.
    let half = "select count(*) from run where arm = 'near' and state = 'counts' and run = \
                (select max(run) from run) and round not in \
                (select round from run where arm = 'far' and state = 'counts')";
    let mut spanned = None;
    while run.is_running() {
        wait_until("the next run of the far arm", || held.exists() || !run.is_running());
        let record = place.at("r.assay");
        if held.exists() && spanned.is_none() && number(&record, half) == 1 {
            // Only this round spans the restart: in every other round, both runs have the same
            // start of the server.
            spanned = Some(number(&record, "select max(run) from run"));
            server.restart().unwrap();
        }
        let _ = std::fs::remove_file(&held);
    }
    run.wait_for_end();
    let counts = format!("select count(*) from run where state = 'counts' and run = {}", spanned?);
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    if !assert_all_runs_executed(&document, 6) || number(&place.at("r.assay"), &counts) == 0 {
        return None;
    }
    assert_matches_schema("schemas/experiment.schema.json", &document);
    // The difference is attributed to the arm's program, which may restart the server on purpose.
    let found = document["differences"].as_array().unwrap();
    let one = found.iter().find(|one| one["name"] == "database.server_id");
    let one = one.unwrap_or_else(|| panic!("{document:#}"));
    assert_eq!((&one["cause"], &one["rounds"][0]), (&json!("before-command"), &one["rounds"][1]));
    assert_ne!(one["baseline_value"], one["value"]);
    let full = place.assay(&["report", "r.assay", "--full"]).stdout_line();
    let words = "(perhaps by `before-command`): their pair spans two starts of the server";
    assert!(full.contains(words), "{words}: {full}");
    Some(())
}
