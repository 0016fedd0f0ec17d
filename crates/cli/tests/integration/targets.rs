//! Tests of jobs in one run that use different targets.

use crate::support::{TestFolder, UNUSED_ADDRESS, assert_balanced, job, number};

const TWO: &str = "\
duration = 1s
[target model]
url = sim:mm1?service=20ms&servers=unlimited
[setup]
query = create table t (id integer primary key)
[write]
query = insert into t default values
rate = 50
[ask]
target = model
query = select 1
rate = 50
";

#[test]
fn one_run_uses_sqlite_and_a_simulated_server() {
    let place = TestFolder::with(TWO);
    let run = ["run", "w.ini", "--url", "sqlite:m.db", "--out", "r.assay", "--json", "--quiet"];
    let summary = place.assay(&run).json();
    assert_balanced(&summary);
    let (write, ask) = (job(&summary, "write"), job(&summary, "ask"));
    assert_eq!((&write["target"], &ask["target"]), (&serde_json::Value::Null, &"model".into()));
    assert!(ask["service_ms"]["p50"].as_f64() > Some(5.0), "{ask}");
    assert_eq!(ask["errors"], 0);
    let rows = number(&place.at("m.db"), "select count(*) from t");
    assert_eq!(write["completed"].as_i64(), Some(rows));

    let run = &summary["run"];
    assert_eq!(run["target"], "sqlite:m.db");
    let model = "sim:mm1?service=20ms&servers=unlimited";
    assert_eq!(run["targets"], serde_json::json!([{"name": "model", "url": model}]));
    assert_eq!(run["settings"]["model.server"], "simulated");
    assert!(run["settings"]["server"].as_str().unwrap().starts_with("SQLite"), "{run}");

    let text = place.assay(&["report", "r.assay", "--full"]).stdout;
    for words in ["target        sqlite:m.db", "target model  sim:mm1", "; asks [target model]"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn unused_main_target_is_neither_created_nor_recorded() {
    let place = TestFolder::with(
        "duration = 10s\n[target a]\nurl = sim:mm1\n[target b]\n\
         url = sim:md1?service=2ms&servers=unlimited\n\
         [one]\ntarget = a\nquery = select 1\nrate = 50\n\
         [two]\ntarget = b\nquery = select 1\nrate = 50\n",
    );
    let run = ["run", "w.ini", "--virtual", "--out", "r.assay", "--json", "--quiet"];
    let ran = place.assay(&run).expect(0);
    assert_eq!(ran.stderr, "");
    let summary = ran.json();
    assert_eq!(summary["run"]["target"], "");
    assert_eq!(summary["run"]["targets"][1]["name"], "b");
    assert_eq!(job(&summary, "two")["service_ms"]["max"].as_f64().map(f64::floor), Some(2.0));
    let text = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    assert!(!text.contains("sqlite") && text.contains("target a  sim:mm1"), "{text}");

    let idle = place.run_virtually("sqlite:m.db", &["--quiet"]);
    assert!(
        idle.stderr.contains("warning: no job uses the target of the command line"),
        "{}",
        idle.stderr
    );
    assert_eq!(place.names(), ["r.assay", "w.ini"]);
}

#[test]
fn virtual_time_demands_that_all_targets_are_simulated() {
    let place =
        TestFolder::with(&TWO.replace("sim:mm1?service=20ms&servers=unlimited", "sqlite:c.db"));
    let ran = place.run_virtually("sim:mm1", &[]);
    ran.refuses(&["w.ini: [target model] is not a simulated server", "leave out --virtual"]);
    place.run_virtually("sqlite:m.db", &[]).refuses(&["--url sim:mm1"]);
    assert_eq!(place.names(), ["w.ini"]);
}

#[test]
fn errors_of_a_named_target_contain_its_name() {
    for (url, words) in [
        ("sim:mn1", "w.ini: [target model]: "),
        ("sqlite:?jurnal=wal", "did you mean `journal`?"),
        ("mysql://ann:hunter2@h/d?tsl=off", "MySQL has no option `tsl`; did you mean `tls`?"),
    ] {
        let place = TestFolder::with(&TWO.replace("sim:mm1?service=20ms&servers=unlimited", url));
        for command in ["run", "check"] {
            let ran = place.assay(&[command, "w.ini", "--url", "sqlite:m.db"]);
            assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
            ran.refuses(&[words]);
        }
        assert_eq!(place.names(), ["w.ini"]);
    }
}

#[test]
fn a_target_that_cannot_be_reached_is_found_before_anything_is_changed() {
    let place = TestFolder::with(
        &TWO.replace("sim:mm1?service=20ms&servers=unlimited", "sqlite:no/such/folder/c.db"),
    );
    let ran = place.assay(&["run", "w.ini", "--url", "sim:mm1", "--out", "r.assay"]).expect(4);
    assert!(ran.stderr.contains("[target model]: "), "{}", ran.stderr);
    assert_eq!(place.names(), ["w.ini"]);
}

/// Another target of the run answers before, and this does not make the unreachable target a lost
/// one.
#[test]
fn target_that_never_answered_is_not_reported_as_lost() {
    let far = format!("postgres://ann@{UNUSED_ADDRESS}/shop");
    let job = "[look]\ntarget = far\nquery = select 1\nrate = 50\n";
    for (workload, main, words) in [
        (TWO.to_owned(), far.as_str(), "error: the target could not be reached: "),
        (
            format!("{TWO}[target far]\nurl = {far}\n{job}"),
            "sim:mm1",
            "error: a target could not be reached: [target far]: ",
        ),
    ] {
        let place = TestFolder::with(&workload);
        let ran = place.assay(&["run", "w.ini", "--url", main, "--out", "r.assay"]).expect(4);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        assert_eq!(place.names(), ["w.ini"]);
    }
}

#[test]
fn lost_target_is_reported_by_name() {
    let place = TestFolder::with(
        &TWO.replace("duration = 1s", "duration = 10s")
            .replace("sim:mm1?service=20ms&servers=unlimited", "sim:mm1?outage=5s..60s"),
    );
    let summary = place.run_virtually("sim:mm1", &["--quiet"]).expect(4).json();
    assert_eq!(summary["run"]["ended"], "target-lost");
    assert_eq!(summary["run"]["ended_because"], "[target model] refuses connections");
    assert_eq!(job(&summary, "write")["errors"], 0);
    assert!(job(&summary, "ask")["errors"].as_u64() > Some(200));
}

/// Expects every command to refuse the URL. If the socket took precedence over the host, the run
/// would measure another server than the one that the host names.
#[test]
fn socket_together_with_a_host_is_refused_by_every_command() {
    let words = ["`socket=/run/s` and the host `127.0.0.1:9` exclude each other", "leave out one"];
    for scheme in ["postgres", "mysql"] {
        let url = format!("{scheme}://ann@127.0.0.1:9/shop?socket=/run/s");
        let place = TestFolder::with("[a]\nquery = select 1\ncount = 1\n");
        for command in ["check", "run", "load"] {
            place.assay(&[command, "w.ini", "--url", &url]).refuses(&words);
        }
        for command in ["doctor", "calibrate"] {
            place.assay(&[command, &url]).refuses(&words);
        }
        place.assay(&["observe", &url, "--duration", "1s"]).refuses(&words);
        place.write("w.ini", format!("url = {url}\n[a]\nquery = select 1\ncount = 1\n"));
        for command in ["check", "run"] {
            place.assay(&[command, "w.ini", "--allow-files"]).refuses(&words);
        }
        assert!(!place.names().iter().any(|name| name.ends_with(".assay")));
    }
}
