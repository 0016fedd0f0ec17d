//! Tests of each exit code, and of the precedence if two apply.

use crate::support::{MM1, TestFolder, check};

const READ: &str = "duration = 20s\n[read]\nquery = select 1\nrate = 100\n";

/// Checks exit code and verdict of a run in virtual time.
#[track_caller]
fn expect(workload: &str, url: &str, more: &[&str], code: i32, status: &str) {
    let place = TestFolder::with(workload);
    let ran = place.run_virtually(url, more).expect(code);
    let summary = ran.json();
    assert_eq!(summary["verdict"]["status"], status, "{}", ran.stdout);
    // The report of the record has the same verdict.
    let again = place.assay(&[&["report", "r.assay", "--json"][..], strict(more)].concat());
    assert_eq!(again.stdout, ran.stdout);
    let of_the_verdict = match status {
        "INVALID" => 3,
        "SUSPECT" if more.contains(&"--strict") => 3,
        _ => i32::from(summary["jobs"][0]["slo"][0]["met"] == false),
    };
    again.expect(of_the_verdict);
}

fn strict<'a>(more: &[&'a str]) -> &'a [&'a str] {
    if more.contains(&"--strict") { &["--strict"] } else { &[] }
}

#[test]
fn a_valid_run_that_met_its_threshold_exits_with_0() {
    expect(&format!("{READ}slo = p99 < 100ms\n"), MM1, &[], 0, "VALID");
    expect(&format!("{READ}slo = p99 < 100ms\n"), MM1, &["--strict"], 0, "VALID");
}

#[test]
fn a_missed_threshold_exits_with_1() {
    expect(&format!("{READ}slo = p99 < 1us\n"), MM1, &[], 1, "VALID");
    expect(&format!("{READ}slo = p99 < 1us\n"), MM1, &["--strict"], 1, "VALID");
}

#[test]
fn a_full_queue_that_ends_the_run_exits_with_3() {
    let queue = "duration = 20s\n[read]\nquery = select 1\nrate = 2000\nconcurrency = 1\n\
                 queue-limit = 100\n";
    expect(queue, MM1, &[], 0, "SUSPECT");
    expect(&format!("{queue}on-queue-full = stop\n"), MM1, &[], 3, "INVALID");
}

#[test]
fn a_missed_condition_of_the_section_for_thresholds_exits_with_1() {
    let with = |condition: &str| format!("{READ}[threshold]\nslo = {condition}\n");
    expect(&with("p99(read) < 100ms"), MM1, &[], 0, "VALID");
    expect(&with("service.p99(read) < 1us"), MM1, &[], 1, "VALID");
}

#[test]
fn an_invalid_run_exits_with_3_even_if_it_missed_its_threshold() {
    expect(READ, "sim:mm1?errors=0.2", &[], 3, "INVALID");
    expect(&format!("{READ}slo = p99 < 1us\n"), "sim:mm1?errors=0.2", &[], 3, "INVALID");
}

/// A condition that was not judged may have been missed.
#[test]
fn a_run_whose_plan_cannot_be_read_exits_with_3() {
    let place = TestFolder::with(&format!("{READ}slo = p99 < 1us\n"));
    place.run_virtually(MM1, &[]).expect(1);
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let statement = "update meta set value = '[read' where key = 'plan'";
    assert_eq!(record.execute(statement, []).unwrap(), 1);
    record.close().unwrap();
    let ran = place.assay(&["report", "r.assay", "--json"]).expect(3);
    assert_eq!(ran.json()["verdict"]["status"], "SUSPECT", "{}", ran.stdout);
}

#[test]
fn suspect_run_exits_with_0_and_with_3_if_strict() {
    let url = "sim:mm1?errors=0.004";
    expect(READ, url, &[], 0, "SUSPECT");
    expect(READ, url, &["--strict"], 3, "SUSPECT");
    let missed = format!("{READ}slo = p99 < 1us\n");
    expect(&missed, url, &[], 1, "SUSPECT");
    expect(&missed, url, &["--strict"], 3, "SUSPECT");
}

#[test]
fn a_target_that_is_lost_until_the_end_exits_with_4_even_if_the_run_is_invalid() {
    let missed = format!("{READ}slo = p99 < 1us\n");
    expect(&missed, "sim:mm1?outage=5s..1h", &[], 4, "INVALID");
    expect(&missed, "sim:mm1?outage=0s..1h", &[], 4, "INVALID");
    // The server is lost for the last 100 ms only, so nothing else is wrong with the run.
    expect(READ, "sim:mm1?outage=19900ms..1h", &[], 4, "SUSPECT");
}

#[test]
fn a_target_that_cannot_be_reached_at_the_start_exits_with_4_and_an_answer() {
    for url in ["sqlite:no/such/folder/t.db", "sqlite:.", "sqlite:w.ini"] {
        let place = TestFolder::with(READ);
        let run = ["run", "w.ini", "--json", "--out", "r.assay", "--url", url];
        let ran = place.assay(&run).expect(4);
        let summary = ran.json();
        assert_eq!(summary["run"]["ended"], "target-lost");
        let because = summary["run"]["ended_because"].as_str().unwrap();
        assert!(because.contains("SQLITE_"), "{because}");
        assert!(ran.stderr.contains(because), "{}", ran.stderr);
        assert_eq!(check(&summary, "window")["status"], "invalid");
        assert_eq!(place.names(), ["r.assay", "w.ini"]);
        place.assay(&["report", "r.assay"]).expect(3);
    }
}

#[test]
fn a_target_that_cannot_be_reached_at_the_start_is_one_message_and_no_record() {
    for (url, remedy) in [
        ("sqlite:no/such/folder/t.db", "; create it first"),
        ("sqlite:.", "; name a file in it"),
        ("sqlite:w.ini", "; name another file"),
        ("sqlite:/dev/null", "; name another file"),
    ] {
        let place = TestFolder::with(&format!("{READ}[load t]\nrows = 1\ncolumns = a: row()\n"));
        for command in ["run", "load"] {
            let args = [command, "w.ini", "--out", "r.assay", "--url", url];
            let ran = place.assay(&args).expect(4);
            assert_eq!(ran.stdout, "");
            let words = "error: the target could not be reached: ";
            assert_eq!(ran.stderr.matches(words).count(), 1, "{}", ran.stderr);
            assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
            assert_eq!(place.names(), ["w.ini"]);
        }
    }
}

/// A file that cannot be attached is no lost database: the session continues.
#[test]
fn a_setup_that_attaches_a_file_that_is_no_database_exits_with_2() {
    let setup = "[setup]\nquery = attach database 'junk.txt' as j\n";
    let place = TestFolder::with(&format!("{READ}{setup}"));
    place.write("junk.txt", "no database ".repeat(100));
    let args = ["run", "w.ini", "--allow-files", "--url", "sqlite:t.db", "--out", "r.assay"];
    let ran = place.assay(&args).expect(2);
    let words = ["the database rejects statement 1 of [setup]", "SQLITE_NOTADB"];
    assert!(words.iter().all(|word| ran.stderr.contains(word)), "{}", ran.stderr);
}

#[test]
fn a_load_whose_target_cannot_be_reached_exits_with_4() {
    let place = TestFolder::with("[load t]\nrows = 1\ncolumns = a: row()\n");
    let url = ["--url", "sqlite:no/such/folder/t.db", "--out", "r.assay", "--json"];
    let ran = place.assay(&[&["load", "w.ini"][..], &url].concat()).expect(4);
    assert_eq!(ran.json()["run"]["ended"], "target-lost");
}

#[test]
fn invalid_target_is_a_usage_error() {
    let place = TestFolder::with(READ);
    let run = ["run", "w.ini", "--url", "testbed:postgre"];
    place.assay(&run).refuses(&["the testbed has no `postgre`; did you mean `postgres`?"]);
    assert_eq!(place.names(), ["w.ini"]);
    let run = ["run", "w.ini", "--url", "sqlite:t.db", "--virtual"];
    place.assay(&run).refuses(&["only a simulated server runs in virtual time", "--url sim:mm1"]);
    assert_eq!(place.names(), ["w.ini"]);
}

/// In virtual time, closed clients without think time are refused at a server that answers at once:
/// no event would take time, so the clock would not advance.
#[test]
fn clients_that_never_advance_virtual_time_are_refused() {
    let closed = "duration = 4s\n[read]\nquery = select 1\nconcurrency = 4\n";
    let words = "virtual time does not pass: the clients of [read] do not think";
    for url in ["sim:null", "sim:mm1?service=0s"] {
        let place = TestFolder::with(closed);
        let run = ["run", "w.ini", "--virtual", "--out", "r.assay", "--url", url];
        place.assay(&run).refuses(&[words, "`think` or a `rate`", "sim:mm1?service=1ms"]);
        assert_eq!(place.names(), ["w.ini"]);
        // In real time the same clients are accepted.
        place.assay(&["check", "w.ini", "--url", url]).expect(0);
        place.assay(&["check", "w.ini", "--virtual", "--url", url]).refuses(&[words]);
    }
    let paced = TestFolder::with(&format!("{closed}think = 10ms\n"));
    paced.assay(&["check", "w.ini", "--virtual", "--url", "sim:null"]).expect(0);
    paced.run_virtually("sim:null", &[]).expect(0);
}
