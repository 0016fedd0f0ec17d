//! Tests of the environment of a run in its record, and of the doctor's findings before a run.

use rusqlite::Connection;
use serde_json::Value;
use testbed::Kind;
use testbed::wire_server::{Simulation, WireServer};

use crate::example::assert_matches_schema;
use crate::support::{TestFolder, UNUSED_ADDRESS, number};

const QUICK: &str = "duration = 200ms\n[read]\nquery = select 1\nrate = 50\n";

/// Returns the settings of `r.assay` as a flat object.
fn facts(place: &TestFolder) -> serde_json::Map<String, Value> {
    let ran = place.assay(&["report", "r.assay", "--environment", "--json"]).expect(0);
    ran.json().as_object().unwrap().clone()
}

#[test]
fn record_has_known_and_unknown_facts_of_the_environment() {
    let place = TestFolder::with(QUICK);
    place.assay(&["run", "w.ini", "--out", "r.assay", "--url", "sqlite:m.db"]);
    let record = Connection::open(place.at("r.assay")).unwrap();
    record
        .execute("update setting set value = 'unknown' where name = 'host.cpu.governor'", [])
        .unwrap();
    let facts = facts(&place);
    assert_eq!(facts["host.cpu.governor"], "unknown");
    assert!(facts["host.kernel"].as_str().unwrap().starts_with("Linux"), "{facts:?}");
    assert!(facts.contains_key("journal_mode") && !facts.contains_key("network.path"));
    assert!(facts.keys().filter(|name| name.starts_with("host.")).count() >= 35);
    let text = place.assay(&["report", "r.assay", "--environment"]).expect(0).stdout;
    for (name, value) in &facts {
        let value = value.as_str().unwrap().lines().next().unwrap_or_default();
        let is_it = |line: &str| line.starts_with(&format!("  {name} ")) && line.ends_with(value);
        assert!(text.lines().any(is_it), "{name} = {value} is not in:\n{text}");
    }
    // The run and the program.
    assert_eq!(facts["assay.seed"], "42");
    assert_eq!(facts["assay.version"], env!("CARGO_PKG_VERSION"));
    assert!(facts["assay.command"].as_str().unwrap().starts_with("assay run w.ini"), "{facts:?}");
    assert!(text.lines().any(|line| line.trim_start() == "rate = 50"), "{text}");
    let commit = facts["assay.commit"].as_str().unwrap();
    let is_commit = |text: &str| text.len() == 12 && text.chars().all(|c| c.is_ascii_hexdigit());
    let is_known = is_commit(commit.trim_end_matches("-dirty"));
    assert!(is_known || commit == "unknown", "{commit}");
    // The answer does not list the settings, but says where they are.
    let answer = place.assay(&["report", "r.assay", "--full"]).stdout;
    assert!(!answer.contains("host.") && answer.contains("r.assay --environment"), "{answer}");
}

#[test]
fn virtual_record_has_no_facts_of_the_machine() {
    let place = TestFolder::with(QUICK);
    place.run_virtually("sim:mm1?service=1ms", &[]).expect(0);
    let machine_facts = "select count(*) from setting where name like '%.%'";
    assert_eq!(number(&place.at("r.assay"), machine_facts), 0);
    let text = place.assay(&["report", "r.assay", "--environment"]).expect(0).stdout;
    assert!(text.contains("in virtual time nothing of the machine"), "{text}");
}

#[test]
fn network_path_to_each_server_is_recorded() {
    let place = TestFolder::with(&format!(
        "{QUICK}target = copy\n[target copy]\nurl = testbed:postgres\n[write]\nquery = select 2\n\
         count = 1\n"
    ));
    let run = ["run", "w.ini", "--allow-commands", "--out", "r.assay"];
    place.assay(&[&run[..], &["--url", "testbed:mariadb"]].concat());
    let facts = facts(&place);
    for name in ["network.path", "network.copy.path"] {
        assert_eq!(facts[name], "loopback", "{name}");
    }
    assert_eq!(facts["network.round_trip_us"], "none");
    let text = place.assay(&["report", "r.assay", "--environment"]).expect(0).stdout;
    for heading in ["Host", "Network", "Server", "Server of [target copy]"] {
        assert!(text.lines().any(|line| line == heading), "{heading}:\n{text}");
    }
    // Only the main target is observed, and the answer says so.
    let report = place.assay(&["report", "r.assay", "--json"]);
    // A run of a fifth of a second may be INVALID if the machine is briefly busy.
    assert!([0, 3].contains(&report.code), "{}", report.stderr);
    let document = report.json();
    let unseen = document["limiter"]["unseen"].as_array().unwrap();
    assert!(unseen.iter().any(|it| it["what"] == "database of target copy"), "{unseen:?}");
}

/// Returns the findings of `assay doctor`, by the names of its checks.
fn findings(url: &str) -> Vec<String> {
    let document = TestFolder::new().assay(&["doctor", url, "--json"]).expect(0).json();
    assert_eq!(document["schema"], "assay.doctor/1");
    let findings = document["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["check"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_doctor_finds_what_is_planted_in_a_server() {
    let wrong = "testbed:postgres?server.fsync=off&server.synchronous_commit=off";
    let found = findings(wrong);
    for check in ["same-processors", "fsync", "synchronous-commit"] {
        assert!(found.iter().any(|name| name == check), "{check} is not in {found:?}");
    }
    let right = findings("testbed:postgres?server.shared_buffers=200MB");
    for check in ["fsync", "synchronous-commit", "full-page-writes", "buffer-pool"] {
        assert!(!right.iter().any(|name| name == check), "{check} is in {right:?}");
    }
    let maria = findings("testbed:mariadb?server.innodb_flush_log_at_trx_commit=2");
    assert!(maria.iter().any(|name| name == "flush-log"), "{maria:?}");
    let sqlite = findings("sqlite:?synchronous=off");
    assert!(sqlite.iter().any(|name| name == "sqlite-synchronous"), "{sqlite:?}");
}

#[test]
fn doctor_lists_each_check_once() {
    let document = TestFolder::new().assay(&["doctor", "--json"]).expect(0).json();
    assert_matches_schema("schemas/doctor.schema.json", &document);
    let of = |part: &str| document[part].as_array().unwrap().len();
    assert_eq!(of("findings") + of("not_possible") + of("passed"), 8, "{document}");
    assert_eq!(document["target"], Value::Null);
    let text = TestFolder::new().assay(&["doctor"]).expect(0).stdout;
    assert!(text.lines().next().unwrap().ends_with("spoil a run"), "{text}");
}

/// Returns the document of `assay doctor`, after checking the exit code, the schema of the
/// document, and the hosts of the examined servers.
#[track_caller]
fn examined(url: &str, code: i32, hosts: &[&str]) -> Value {
    let document = TestFolder::new().assay(&["doctor", url, "--json"]).expect(code).json();
    assert_matches_schema("schemas/doctor.schema.json", &document);
    let servers = document["servers"].as_array().unwrap();
    let examined: Vec<&str> = servers.iter().map(|one| one["host"].as_str().unwrap()).collect();
    assert_eq!(examined, hosts, "{document}");
    document
}

#[test]
fn doctor_examines_each_host_of_a_url() {
    for (kind, scheme) in [(Kind::Postgres, "postgres"), (Kind::Mariadb, "mysql")] {
        let start = || WireServer::start(Simulation::at_once(kind)).unwrap();
        let servers = [start(), start()];
        let [one, two] = servers.each_ref().map(|server| server.address().to_string());
        let document = examined(&format!("{scheme}://ann@{one},{two}/shop"), 0, &[&one, &two]);
        assert!(document["passed"].as_array().unwrap().contains(&"hosts".into()), "{document}");
        let findings = document["findings"].as_array().unwrap().iter();
        let shared = findings.filter(|one| one["check"] == "same-processors");
        let hosts: Vec<&Value> = shared.map(|one| &one["host"]).collect();
        assert_eq!(hosts, [one.as_str(), two.as_str()], "{document}");

        let one_down = format!("{scheme}://ann@{UNUSED_ADDRESS},{two}/shop");
        let document = examined(&one_down, 4, &[&two]);
        let findings = document["findings"].as_array().unwrap();
        let down = findings.iter().find(|one| one["check"] == "hosts").unwrap();
        assert_eq!(down["host"], UNUSED_ADDRESS, "{document}");
        assert!(down["found"].as_str().unwrap().contains("no server listens there"), "{down}");
        let text = TestFolder::new().assay(&["doctor", &one_down]).expect(4).stdout_line();
        let found = format!("hosts {UNUSED_ADDRESS}: the server cannot be reached: ");
        assert!(text.contains(&found), "{text}");
    }
}

#[test]
fn doctor_reports_each_host_if_none_can_be_reached() {
    let ran = TestFolder::new().assay(&["doctor", "mysql://127.0.0.1:1,127.0.0.1:2/d"]).expect(4);
    for host in ["127.0.0.1:1", "127.0.0.1:2"] {
        let words = format!("error: the host {host} could not be reached: ");
        assert!(ran.stderr.contains(&words), "{}", ran.stderr);
    }
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_server_that_the_doctor_cannot_reach_is_exit_code_4_and_a_wrong_url_2() {
    let place = TestFolder::new();
    let ran = place.assay(&["doctor", "postgres://127.0.0.1:1/d"]).expect(4);
    assert!(ran.stderr.contains("the target could not be reached"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    place.assay(&["doctor", "postgre://h/d"]).refuses(&["did you mean `postgres:`?"]);
    place.assay(&["doctor", "testbed:postgre"]).refuses(&["postgres"]);
    assert_eq!(place.names(), [""; 0]);
}
