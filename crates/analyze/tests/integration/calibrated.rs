//! Checks against the calibration of the machine, and for changes of the machine during a run.

use analyze::finding::{
    CalibrationObstacle, CeilingUse, Headroom, ObservationObstacle, ProcessorWait, WallClock,
    WindowThird,
};
use analyze::limiting::{FullThread, GeneratorLimit, LimiterFinding};
use analyze::{
    Check, Component, DatabaseLocation, Evidence, Finding, Obstacle, Status, UsedTarget, summarize,
};
use base::{Nanos, StatementId};
use record::Kind;

use crate::support::{
    CHECKS, OPEN, add_times, answered, check, grow, near, only, read_as, set_times, steady, used,
};

/// A closed job whose four clients make 1,000 requests per second in cycles of 4 ms.
const CLOSED: &str = "duration = 60s\n[read]\nquery = select 1\nconcurrency = 4\nthink = 2400us\n";

/// Checks that need a calibration.
const CALIBRATED: [&str; 3] = ["ceiling", "floor", "clock"];

/// Sets the ceiling of a thread, per second.
fn set_ceiling(evidence: &mut Evidence, per_s: f64) {
    let calibration = evidence.surroundings.calibration.as_mut().unwrap();
    calibration.routes[0].1.per_s = Some(per_s);
}

#[test]
fn rate_near_the_generator_ceiling_is_suspect() {
    // The run sends 1,000 requests per second on two threads.
    for (per_s, status) in [(1_001.0, Status::Pass), (999.0, Status::Suspect)] {
        let mut evidence = steady(OPEN);
        set_ceiling(&mut evidence, per_s);
        only("ceiling", status, &evidence);
    }
    let mut evidence = steady(OPEN);
    set_ceiling(&mut evidence, 800.0);
    let CeilingUse { per_s, share, threads, headroom } = ceiling(&check("ceiling", &evidence));
    assert!(near(per_s, 1_000.0) && near(share, 0.625), "{per_s} {share}");
    assert_eq!((threads, headroom), (2, Headroom::DelaysRequests));
}

fn ceiling(check: &Check) -> CeilingUse {
    match check.finding {
        Finding::Ceiling(used) => used,
        _ => panic!("{check:?}"),
    }
}

#[test]
fn ceiling_counts_statements_and_not_requests() {
    let mut evidence = steady(OPEN);
    set_ceiling(&mut evidence, 1_001.0);
    add_times(&mut evidence, 0, Kind::Statement(StatementId(0)), 1.0, 3 * 50_000);
    assert_eq!(check("ceiling", &evidence).status, Status::Suspect);
}

#[test]
fn closed_job_at_the_ceiling_is_limited_and_not_suspect() {
    let mut evidence = steady(CLOSED);
    set_ceiling(&mut evidence, 650.0);
    let found = only("ceiling", Status::Pass, &evidence);
    assert_eq!(ceiling(&found).headroom, Headroom::LimitsClosedJobs);
    assert_eq!(summarize(&evidence).limiter.component, Component::Unknown);
    set_ceiling(&mut evidence, 620.0);
    let limiter = summarize(&evidence).limiter;
    assert_eq!(limiter.component, Component::GeneratorThread);
    let LimiterFinding::Generator(GeneratorLimit::ThreadFull { use_of_thread, .. }) =
        &limiter.finding
    else {
        panic!("{limiter:?}");
    };
    let of_ceiling = |it: &CeilingUse| near(it.share, 0.806) && it.threads == 2;
    assert!(matches!(use_of_thread, FullThread::Ceiling(it) if of_ceiling(it)), "{limiter:?}");
    // A job with a schedule achieved its rate.
    let mut evidence = steady(OPEN);
    set_ceiling(&mut evidence, 620.0);
    assert_eq!(summarize(&evidence).limiter.component, Component::NotSaturated);
}

#[test]
fn service_time_near_the_floor_is_suspect() {
    for (ms, status) in [(0.051, Status::Pass), (0.049, Status::Suspect)] {
        let mut evidence = steady(OPEN);
        set_times(&mut evidence, 0, Kind::Service, ms, 50_000);
        only("floor", status, &evidence);
    }
    let mut evidence = steady(OPEN);
    set_times(&mut evidence, 0, Kind::Service, 0.040, 50_000);
    let Finding::Floor(floor) = check("floor", &evidence).finding else { panic!("no floor") };
    assert_eq!((floor.job.as_str(), floor.ns), ("read", 25e3));
    assert!(near(floor.share, 0.625), "{floor:?}");
}

#[test]
fn expensive_or_coarse_clock_is_suspect() {
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
fn missing_calibration_names_the_command() {
    let mut evidence = steady(OPEN);
    evidence.surroundings.calibration = None;
    for name in CALIBRATED {
        let found = only(name, Status::NotPossible, &evidence);
        let missing = Obstacle::Calibration(CalibrationObstacle::NotCalibrated);
        assert_eq!(found.finding, Finding::NotPossible(missing));
    }
    // In virtual time the calibration of the machine means nothing.
    let mut evidence = steady(OPEN);
    evidence.is_virtual = true;
    for name in CALIBRATED.into_iter().chain(["wall-clock", "frequency"]) {
        let found = check(name, &evidence);
        assert_eq!(found.finding, Finding::NotPossible(Obstacle::VirtualTime));
    }
}

#[test]
fn uncalibrated_figures_are_not_judged() {
    let mut evidence = steady(OPEN);
    evidence.surroundings.main = UsedTarget::default();
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
fn set_wall_clock_is_suspect() {
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
    let back = WallClock::Set { by_s: -0.35, at: Nanos::from_secs(30) };
    assert_eq!(check("wall-clock", &evidence).finding, Finding::WallClock(back));
}

#[test]
fn falling_processor_frequency_is_suspect() {
    for (end_mhz, status) in [(2_860.0, Status::Pass), (2_840.0, Status::Suspect)] {
        let mut evidence = steady(OPEN);
        read_as(&mut evidence, "frequency", |s| if s < 35.0 { 3_000.0 } else { end_mhz });
        only("frequency", status, &evidence);
    }
}

#[test]
fn temporarily_lower_processor_frequency_is_suspect() {
    let mut evidence = steady(OPEN);
    read_as(&mut evidence, "frequency", |s| if (28.0..42.0).contains(&s) { 2_000.0 } else { 3e3 });
    let found = only("frequency", Status::Suspect, &evidence);
    let Finding::Frequency(frequencies) = found.finding else { panic!("{found:?}") };
    let thirds = [frequencies.earlier.0, frequencies.later.0];
    assert!(thirds.contains(&WindowThird::Middle), "{frequencies:?}");
}

#[test]
fn steadily_oscillating_frequency_is_not_a_change() {
    let mut evidence = steady(OPEN);
    let restless = |s: f64| 1_200.0 + (s * 7_919.0) % 17.0 * 150.0;
    read_as(&mut evidence, "frequency", restless);
    let found = only("frequency", Status::Pass, &evidence);
    assert!(found.value.unwrap().abs() < 60.0, "{found:?}");
}

#[test]
fn unreadable_processor_frequency_is_not_possible() {
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
fn processor_frequency_of_zero_is_unknown() {
    let mut evidence = steady(OPEN);
    read_as(&mut evidence, "frequency", |_| 0.0);
    let unknown = Obstacle::Observation(ObservationObstacle::FrequencyUnknown);
    assert_eq!(check("frequency", &evidence).finding, Finding::NotPossible(unknown));
}

#[test]
fn processor_wait_names_the_likely_user_by_database_location() {
    for (place, expected) in [
        (DatabaseLocation::Inside, Some(true)),
        (DatabaseLocation::ThisHost, Some(true)),
        (DatabaseLocation::Elsewhere, Some(false)),
        (DatabaseLocation::Unknown, None),
    ] {
        let mut evidence = steady(OPEN);
        evidence.surroundings.main.location = place;
        grow(&mut evidence, "lane-0", "waited", 0.06);
        let found = only("processor-wait", Status::Suspect, &evidence);
        let Finding::ProcessorWait(ProcessorWait { thread, has_database_here, .. }) = found.finding
        else {
            panic!("{found:?}");
        };
        assert_eq!((thread.as_str(), has_database_here), ("lane-0", expected));
    }
    // A database on the same host raises no doubt if neither it nor the generator lacks a
    // processor.
    let mut evidence = steady(OPEN);
    evidence.client = vec![used(0, 0), used(60, 900)];
    assert!(CHECKS.iter().all(|name| check(name, &evidence).status <= Status::Pass));
}

/// The requests of a mix are the requests of its parts, and count once.
#[test]
fn mix_sends_the_statements_of_its_parts() {
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
