//! Tests of `warmup = auto`: the end of the warm-up is detected after the run.

use crate::support::{TestFolder, check};

const AUTO: &str = "duration = 120s\nwarmup = auto\n[read]\nquery = select 1\nrate = 500\n";

/// A server that is unreachable for the first eight seconds, which must be excluded from the
/// results.
const COLD: &str = "sim:mmc?service=1ms&servers=unlimited&outage=0s..8s";

#[test]
fn automatic_warm_up_excludes_a_cold_start() {
    let place = TestFolder::with(AUTO);
    let summary = place.run_virtually(COLD, &[]).json();
    let warmup_s = summary["window"]["warmup_s"].as_f64().unwrap();
    assert!((8.0..=60.0).contains(&warmup_s), "{warmup_s}");
    assert_eq!(check(&summary, "warm-up")["status"], "pass");
    // All errors came before the window.
    assert_eq!(summary["jobs"][0]["errors"], 0);
    let text = place.assay(&["report", "r.assay", "--full"]).stdout;
    assert!(text.contains("found by MSER-5"), "{text}");
    let table = place.export("r.assay", "csv");
    let in_window = |second: usize| table.lines().nth(1 + second).unwrap().contains(",yes,");
    assert!(!in_window(warmup_s as usize - 1) && in_window(warmup_s as usize), "{table:.2000}");
}

#[test]
fn run_that_changes_halfway_was_never_steady() {
    let place = TestFolder::with(AUTO);
    let server = "sim:mmc?service=1ms&servers=unlimited&slower=0.5&slower-from=60s";
    let ran = place.run_virtually(server, &[]);
    let summary = ran.expect(3).json();
    let found = check(&summary, "warm-up");
    assert_eq!(found["status"], "invalid", "{found}");
    assert!(found["explain"].as_str().unwrap().contains("there was no steady state"), "{found}");
}

#[test]
fn run_too_short_for_its_automatic_warm_up_is_suspect() {
    let place = TestFolder::with(&AUTO.replace("rate = 500", "rate = 500\ncount = 5000"));
    let summary = place.run_virtually("sim:mm1?service=1ms", &[]).json();
    let found = check(&summary, "warm-up");
    assert_eq!(
        (&found["status"], &summary["window"]["warmup_s"]),
        (&"suspect".into(), &0.0.into())
    );
}

#[test]
fn exported_run_has_the_window_of_its_round() {
    let place = TestFolder::with(
        "url = sim:mm1?service=1ms\nduration = 60s\nwarmup = auto\n[read]\nquery = select 1\n\
         concurrency = 2\nthink = 40ms\n",
    );
    let question = "[question]\nask = ?\nworkload = w.ini\ndesign = aa\nrounds = 6\n[arm a]\n";
    place.write("e.ini", question);
    place.assay(&["run", "e.ini", "--virtual", "--quiet", "--out", "e.assay"]).expect(0);
    let report = |line: &[&str]| place.assay(&[&["report"], line, &["--json"]].concat()).json();
    let mut moved = 0;
    for run in 1..=12 {
        let (run, record) = (run.to_string(), format!("{run}.assay"));
        let of_run = ["e.assay", "--run", &run];
        let export = [&["export"][..], &of_run].concat();
        place.assay(&[&export[..], &["--format", "assay", "--out", &record]].concat()).expect(0);
        let alone = report(&[&record]);
        assert_eq!(alone["window"], report(&of_run)["window"], "run {run}");
        let table = |line: &[&str]| place.assay(&[line, &["--format", "csv"]].concat()).stdout;
        assert_eq!(table(&["export", &record]), table(&export));
        let forget = "update meta set value = 0 where key = 'window_from_ns'";
        let connection = rusqlite::Connection::open(place.at(&record)).unwrap();
        assert_eq!(connection.execute(forget, []).unwrap(), 1);
        drop(connection);
        moved += u32::from(report(&[&record])["window"] != alone["window"]);
    }
    assert!(moved > 0, "each run has the window of its round by itself");
}
