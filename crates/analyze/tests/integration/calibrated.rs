//! Checks against the calibration of the machine, and for changes of the machine during a run.

use analyze::{Asked, Component, Evidence, Place, Status, summarize};
use base::Nanos;
use record::Kind;

use crate::support::{
    CHECKS, OPEN, add_times, answered, check, grow, only, read_as, set_times, steady, used,
};

/// A closed job with as many clients as its requests keep busy.
const CLOSED: &str = "duration = 60s\n[read]\nquery = select 1\nconcurrency = 4\nthink = 2400us\n";

/// Checks that need a calibration.
const CALIBRATED: [&str; 3] = ["ceiling", "floor", "clock"];

/// Sets the ceiling of a thread, per second.
fn set_ceiling(evidence: &mut Evidence, per_s: f64) {
    let calibration = evidence.surroundings.calibration.as_mut().unwrap();
    calibration.routes[0].1.per_s = Some(per_s);
}

#[test]
fn a_rate_near_what_the_threads_can_make_is_said_so() {
    // 1,000 per second on two threads.
    for (per_s, status) in [(1_001.0, Status::Pass), (999.0, Status::Suspect)] {
        let mut evidence = steady(OPEN);
        set_ceiling(&mut evidence, per_s);
        only("ceiling", status, &evidence);
    }
    let mut evidence = steady(OPEN);
    set_ceiling(&mut evidence, 800.0);
    let found = check("ceiling", &evidence);
    let words = "1000 statements/s are 62 % of the most that 2 threads of the load generator made \
                 here when calibrated";
    assert!(found.explain.starts_with(words), "{found:?}");
    set_ceiling(&mut evidence, 1e6);
    let found = check("ceiling", &evidence);
    assert!(found.explain.contains("are less than 1 % of the most"), "{found:?}");
}

#[test]
fn statements_count_and_not_requests() {
    let mut evidence = steady(OPEN);
    set_ceiling(&mut evidence, 1_001.0);
    add_times(&mut evidence, 0, Kind::Statement(0), 1.0, 3 * 50_000);
    assert_eq!(check("ceiling", &evidence).status, Status::Suspect);
}

#[test]
fn a_closed_job_at_the_ceiling_is_limited_and_not_doubted() {
    let mut evidence = steady(CLOSED);
    set_ceiling(&mut evidence, 650.0);
    let found = only("ceiling", Status::Pass, &evidence);
    assert!(found.explain.contains("limits a closed job"), "{found:?}");
    assert_eq!(summarize(&evidence).limiter.component, Component::Unknown);
    set_ceiling(&mut evidence, 620.0);
    let limiter = summarize(&evidence).limiter;
    assert_eq!(limiter.component, Component::GeneratorThread);
    assert!(limiter.because.contains("81 % of the most that 2 threads"), "{limiter:?}");
    // A job with a schedule got what it asked for.
    let mut evidence = steady(OPEN);
    set_ceiling(&mut evidence, 620.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::NotSaturated);
}

#[test]
fn a_service_time_that_is_mostly_the_way_is_said_so() {
    for (ms, status) in [(0.051, Status::Pass), (0.049, Status::Suspect)] {
        let mut evidence = steady(OPEN);
        set_times(&mut evidence, 0, Kind::Service, ms, 50_000);
        only("floor", status, &evidence);
    }
    let mut evidence = steady(OPEN);
    set_times(&mut evidence, 0, Kind::Service, 0.040, 50_000);
    let words = "a statement that does nothing takes 25.0 µs here, 62 % of the service time of \
                 [read] at p50: most of that is the way to the database, and not its work";
    assert_eq!(check("floor", &evidence).explain, words);
}

#[test]
fn a_clock_that_is_dear_or_coarse_is_said_so() {
    // Relative to a service time of 1 ms.
    for (cost_ns, step_ns, status) in [
        (49_900.0, 99_000.0, Status::Pass),
        (50_100.0, 20.0, Status::Suspect),
        (25.0, 101_000.0, Status::Suspect),
    ] {
        let mut evidence = steady(OPEN);
        let calibration = evidence.surroundings.calibration.as_mut().unwrap();
        calibration.clock_cost_ns = Some(cost_ns);
        calibration.clock_resolution_ns = Some(step_ns);
        only("clock", status, &evidence);
    }
}

#[test]
fn without_a_calibration_it_is_said_how_there_is_one() {
    let mut evidence = steady(OPEN);
    evidence.surroundings.calibration = None;
    for name in CALIBRATED {
        let found = only(name, Status::NotPossible, &evidence);
        assert_eq!(found.explain, "run `assay calibrate` once on this machine");
    }
    // In virtual time the calibration of the machine means nothing.
    let mut evidence = steady(OPEN);
    evidence.is_virtual = true;
    for name in CALIBRATED.into_iter().chain(["wall-clock", "frequency"]) {
        let found = check(name, &evidence);
        assert_eq!(
            (found.status, found.explain.as_str()),
            (Status::NotPossible, "time was simulated")
        );
    }
}

#[test]
fn what_is_not_calibrated_is_not_judged() {
    let mut evidence = steady(OPEN);
    evidence.surroundings.main = Asked::default();
    for name in ["ceiling", "floor"] {
        only(name, Status::NotPossible, &evidence);
    }
    only("clock", Status::Pass, &evidence);
    let mut evidence = steady(OPEN);
    evidence.surroundings.calibration.as_mut().unwrap().routes.clear();
    for name in ["ceiling", "floor"] {
        only(name, Status::NotPossible, &evidence);
    }
}

#[test]
fn a_wall_clock_that_is_set_is_said_so() {
    let at = |from_s: f64, by_s: f64| move |s: f64| if s < from_s { 0.0 } else { by_s };
    for (from_s, by_s, status) in [
        (30.0, 0.009, Status::Pass),
        (30.0, 0.011, Status::Suspect),
        (30.0, -3_600.0, Status::Suspect),
        // Steps at the start of the window.
        (11.0, 1.0, Status::Suspect),
        (10.0, 1.0, Status::Pass),
    ] {
        let mut evidence = steady(OPEN);
        read_as(&mut evidence, "wall-clock", at(from_s, by_s));
        only("wall-clock", status, &evidence);
    }
    // Two clocks at different rates: neither was set.
    let mut evidence = steady(OPEN);
    grow(&mut evidence, "host", "wall-clock", 0.0005);
    only("wall-clock", Status::Pass, &evidence);
    let mut evidence = steady(OPEN);
    read_as(&mut evidence, "wall-clock", at(30.0, -0.35));
    let words = "the wall clock was set back by 350 ms, 30 s after time zero";
    assert!(check("wall-clock", &evidence).explain.starts_with(words));
}

#[test]
fn processors_that_become_slower_are_said_so() {
    for (end_mhz, status) in [(2_860.0, Status::Pass), (2_840.0, Status::Suspect)] {
        let mut evidence = steady(OPEN);
        read_as(&mut evidence, "frequency", |s| if s < 35.0 { 3_000.0 } else { end_mhz });
        only("frequency", status, &evidence);
    }
}

#[test]
fn processors_that_are_slower_for_a_while_are_said_so() {
    let mut evidence = steady(OPEN);
    read_as(&mut evidence, "frequency", |s| if (28.0..42.0).contains(&s) { 2_000.0 } else { 3e3 });
    let found = only("frequency", Status::Suspect, &evidence);
    assert!(found.explain.contains("MHz in the middle third"), "{found:?}");
}

#[test]
fn a_governor_that_goes_up_and_down_all_the_time_is_no_change() {
    let mut evidence = steady(OPEN);
    let restless = |s: f64| 1_200.0 + (s * 7_919.0) % 17.0 * 150.0;
    read_as(&mut evidence, "frequency", restless);
    let found = only("frequency", Status::Pass, &evidence);
    assert!(found.value.unwrap().abs() < 60.0, "{found:?}");
}

#[test]
fn a_machine_that_does_not_tell_is_said_so() {
    for (metric, name) in [("frequency", "frequency"), ("wall-clock", "wall-clock")] {
        let mut evidence = steady(OPEN);
        evidence.observed.retain(|observed| observed.metric != metric);
        only(name, Status::NotPossible, &evidence);
    }
    let mut evidence = steady(OPEN);
    let frequency = evidence.observed.iter_mut().find(|o| o.metric == "frequency").unwrap();
    frequency.points.retain(|(at, _)| *at < Nanos::from_secs(40));
    only("frequency", Status::NotPossible, &evidence);
}

#[test]
fn processor_wait_names_the_likely_user_by_database_location() {
    for (place, words) in [
        (Place::Inside, "another program had it instead: perhaps the database, which is on"),
        (Place::ThisHost, "another program had it instead: perhaps the database, which is on"),
        (Place::Elsewhere, "something else on its host had it"),
        (Place::Unknown, "the database or something else had it"),
    ] {
        let mut evidence = steady(OPEN);
        evidence.surroundings.main.place = place;
        grow(&mut evidence, "lane-0", "waited", 0.06);
        let found = only("processor-wait", Status::Suspect, &evidence);
        assert!(found.explain.contains(words), "{found:?}");
    }
    // A database on the same host raises no doubt as long as neither waits.
    let mut evidence = steady(OPEN);
    evidence.client = vec![used(0, 0), used(60, 900)];
    assert!(CHECKS.iter().all(|name| check(name, &evidence).status <= Status::Pass));
}

/// The requests of a mix are those of its parts, and count once.
#[test]
fn a_mix_asks_as_much_as_its_parts() {
    let mix = "duration = 60s\nwarmup = 10s\n[all]\nmix = a: 1, b: 1\nrate = 1000\narrival = \
               uniform\n[a]\nquery = select 1\n[b]\nquery = select 2\n";
    let mut evidence = steady(mix);
    for part in [1, 2] {
        evidence.jobs[part].steps.iter_mut().for_each(|step| *step = answered(500));
    }
    // 1,000 per second are 40 % of the ceiling of two threads.
    set_ceiling(&mut evidence, 1_250.0);
    let found = check("ceiling", &evidence);
    assert_eq!(found.status, Status::Pass, "{found:?}");
    assert!((found.value.unwrap() - 40.0).abs() < 1.0, "{found:?}");
}
