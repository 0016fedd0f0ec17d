//! Tests of `warmup = auto`: the end of the warm-up is detected after the run.

use crate::support::{Place, check};

const AUTO: &str = "duration = 120s\nwarmup = auto\n[read]\nquery = select 1\nrate = 500\n";

/// A server that is unreachable for the first eight seconds, which must not be measured.
const COLD: &str = "sim:mmc?service=1ms&servers=unlimited&outage=0s..8s";

#[test]
fn automatic_warm_up_excludes_a_cold_start() {
    let place = Place::with(AUTO);
    let summary = place.virtually(COLD, &[]).json();
    let warmup_s = summary["window"]["warmup_s"].as_f64().unwrap();
    assert!((8.0..=60.0).contains(&warmup_s), "{warmup_s}");
    assert_eq!(check(&summary, "warm-up")["status"], "pass");
    // The errors were before the window.
    assert_eq!(summary["jobs"][0]["errors"], 0);
    let text = place.assay(&["report", "r.assay", "--full"]).stdout;
    assert!(text.contains("found by MSER-5"), "{text}");
    let table = place.export("r.assay", "csv");
    let in_window = |second: usize| table.lines().nth(1 + second).unwrap().contains(",yes,");
    assert!(!in_window(warmup_s as usize - 1) && in_window(warmup_s as usize), "{table:.2000}");
}

#[test]
fn a_run_that_changes_at_its_half_was_never_steady() {
    let place = Place::with(AUTO);
    let ran =
        place.virtually("sim:mmc?service=1ms&servers=unlimited&slower=0.5&slower-from=60s", &[]);
    let summary = ran.expect(3).json();
    let found = check(&summary, "warm-up");
    assert_eq!(found["status"], "invalid", "{found}");
    assert!(found["explain"].as_str().unwrap().contains("there was no steady state"), "{found}");
}

#[test]
fn run_too_short_for_its_automatic_warm_up_is_suspect() {
    let place = Place::with(&AUTO.replace("rate = 500", "rate = 500\ncount = 5000"));
    let summary = place.virtually("sim:mm1?service=1ms", &[]).json();
    let found = check(&summary, "warm-up");
    assert_eq!(
        (&found["status"], &summary["window"]["warmup_s"]),
        (&"suspect".into(), &0.0.into())
    );
}
