//! Checks of the observations other than the requests, with planted faults.

use analyze::finding::{ObservationObstacle, Stalls};
use analyze::{DatabaseLocation, Evidence, Finding, Obstacle, Status, UsedTarget};
use base::Nanos;

use crate::observed::hold;
use crate::support::{OPEN, check, grow, near, only, replace_readings, stand_still, steady};

/// A closed job whose four clients make 1,000 requests per second in cycles of 4 ms.
const CLOSED: &str = "duration = 60s\n[read]\nquery = select 1\nconcurrency = 4\nthink = 2400us\n";

#[test]
fn generator_stall_is_suspect() {
    for (stalls, status) in [
        (&[][..], Status::Pass),
        (&[(20.0, 0.040)], Status::Pass),
        (&[(20.0, 0.041)], Status::Suspect),
        // In the warm-up, or after the end.
        (&[(3.0, 0.3), (60.0, 0.3)], Status::Pass),
        // Across the end of the warm-up.
        (&[(9.9, 0.3)], Status::Suspect),
        (&[(20.0, 2.5)], Status::Suspect),
        (&[(20.0, 2.6)], Status::Invalid),
    ] {
        let mut evidence = steady(OPEN);
        stand_still(&mut evidence, stalls);
        only("stall", status, &evidence);
    }
    let mut evidence = steady(OPEN);
    stand_still(&mut evidence, &[(12.0, 0.012), (27.4, 0.3), (30.0, 0.02)]);
    let found = check("stall", &evidence);
    let at = Nanos::from_millis(27_400);
    let longest = Finding::Stall(Stalls::Longest { length_s: 0.3, at, others: 2 });
    assert_eq!((found.finding, found.value), (longest, Some(300.0)));
}

#[test]
fn threads_waiting_for_a_processor_are_suspect() {
    for (share, status) in [(0.049, Status::Pass), (0.051, Status::Suspect)] {
        let mut evidence = steady(OPEN);
        grow(&mut evidence, "lane-1", "waited", share);
        let found = only("processor-wait", status, &evidence);
        let is_it = |thread: &str| thread == "lane-1";
        assert!(
            matches!(&found.finding, Finding::ProcessorWait(it) if is_it(&it.thread)),
            "{found:?}"
        );
    }
}

#[test]
fn generator_cpu_is_judged_for_open_jobs_only() {
    for (workload, share, status) in
        [(OPEN, 0.79, Status::Pass), (OPEN, 0.81, Status::Suspect), (CLOSED, 1.0, Status::Pass)]
    {
        let mut evidence = steady(workload);
        grow(&mut evidence, "lane-0", "ran", share);
        only("generator-cpu", status, &evidence);
    }
    let mut spinning = steady(OPEN);
    grow(&mut spinning, "lane-0", "ran", 1.0);
    spinning.spins = true;
    only("generator-cpu", Status::NotPossible, &spinning);
}

#[test]
fn stolen_time_counts_as_a_share_of_all_time() {
    for (per_s, status) in [(0.0199, Status::Pass), (0.0201, Status::Suspect)] {
        let mut evidence = steady(OPEN);
        grow(&mut evidence, "host", "stolen", per_s);
        only("stolen-time", status, &evidence);
    }
}

/// Returns a run alongside other programs that use `used` of two processors, on this host.
fn crowded(host: &str, used: f64) -> Evidence {
    let mut evidence = steady(OPEN);
    for (component, metric, per_s) in [
        ("server", "processes", 0.0),
        ("host", "processors", 2.0),
        ("host", "other-programs", used),
        ("program cc1plus", "used", used * 0.75),
        ("program sh", "used", used * 0.25),
        ("program sh", "pid", 0.0),
        ("program sh", "processes", 0.0),
    ] {
        let start = if per_s > 0.0 { 0.0 } else { 3.0 };
        let looks = (0..=60).map(Nanos::from_secs);
        let component = format!("{host}{component}");
        let observed = &mut evidence.observed;
        replace_readings(observed, &component, metric, looks, |s| start + per_s * s);
    }
    evidence
}

#[test]
fn other_programs_that_use_the_processors_make_a_run_suspect() {
    for (used, status) in [(0.099, Status::Pass), (0.101, Status::Suspect)] {
        only("other-programs", status, &crowded("", used));
        only("other-programs", status, &crowded("db1/", used));
    }
    let found = check("other-programs", &crowded("", 0.3));
    assert_eq!(found.value.map(f64::round), Some(15.0));
    let Finding::OtherPrograms(others) = found.finding else { panic!("{found:?}") };
    assert!(near(others.used, 0.3) && near(others.processors, 2.0), "{others:?}");
    let named: Vec<_> = others.largest().iter().map(|it| (it.name.as_str(), it.pid)).collect();
    assert_eq!(named, [("cc1plus", None), ("sh", Some(3))]);
    let there = check("other-programs", &crowded("db1/", 0.3));
    let host = |finding: Finding| match finding {
        Finding::OtherPrograms(others) => others.host,
        _ => None,
    };
    assert_eq!((others.host, host(there.finding)), (None, Some("db1".to_owned())));
}

#[test]
fn other_programs_are_not_judged_if_the_database_is_unidentified() {
    let not_possible = |evidence: &Evidence, obstacle| {
        let expected = Finding::NotPossible(Obstacle::Observation(obstacle));
        assert_eq!(check("other-programs", evidence).finding, expected);
    };
    let mut evidence = crowded("", 0.3);
    evidence.observed.retain(|observed| observed.component != "server");
    not_possible(&evidence, ObservationObstacle::DatabaseNotIdentified);
    // A database behind a pooler counts as one of the other programs on its host, unless it was
    // found.
    let mut pooled = crowded("", 0.3);
    hold(&mut pooled, "server", "proxies", 1.0);
    not_possible(&pooled, ObservationObstacle::UpstreamNotIdentified);
    hold(&mut pooled, "upstream", "processes", 0.0);
    not_possible(&pooled, ObservationObstacle::UpstreamNotIdentified);
    hold(&mut pooled, "upstream", "processes", 4.0);
    only("other-programs", Status::Suspect, &pooled);
    // If the database is on another host, the programs next to the load generator are not part of
    // it.
    evidence.surroundings.main.location = DatabaseLocation::Elsewhere;
    only("other-programs", Status::Suspect, &evidence);
    let copy = format!("{OPEN}target = copy\n[target copy]\nurl = sim:mm1\n");
    let mut beside = crowded("", 0.3);
    beside.plan = steady(&copy).plan;
    beside.surroundings.named =
        vec![UsedTarget { location: DatabaseLocation::ThisHost, ..UsedTarget::default() }];
    not_possible(&beside, ObservationObstacle::NamedTargetNotIdentified);
    hold(&mut beside, "host", "unidentified-targets", 1.0);
    not_possible(&beside, ObservationObstacle::NamedTargetNotIdentified);
    hold(&mut beside, "host", "unidentified-targets", 0.0);
    only("other-programs", Status::Suspect, &beside);
    // If a named target is on another host, only the programs on the load generator's host are
    // judged, because the database of that target is never identified.
    let mut there = crowded("db1/", 0.3);
    there.plan = beside.plan;
    there.surroundings.named =
        vec![UsedTarget { location: DatabaseLocation::Elsewhere, ..UsedTarget::default() }];
    not_possible(&there, ObservationObstacle::ProgramsUnreadable);
}

#[test]
fn missing_observations_make_checks_not_possible() {
    let names = ["stall", "processor-wait", "generator-cpu", "stolen-time", "other-programs"];
    let mut simulated = steady(OPEN);
    simulated.is_virtual = true;
    simulated.observed.clear();
    let mut blind = steady(OPEN);
    blind.observed.clear();
    for name in names {
        let found = check(name, &simulated);
        assert_eq!(found.finding, Finding::NotPossible(Obstacle::VirtualTime));
        let found = check(name, &blind);
        assert_eq!(found.finding, Finding::NotPossible(Obstacle::NothingObserved));
    }
    let lacks = |name, evidence: &Evidence, obstacle| {
        let expected = Finding::NotPossible(Obstacle::Observation(obstacle));
        assert_eq!(check(name, evidence).finding, expected);
    };
    // A system that reports figures of the host only.
    let mut half = steady(OPEN);
    half.observed.retain(|observed| observed.component == "host");
    lacks("processor-wait", &half, ObservationObstacle::ThreadsUnreadable);
    half.observed.retain(|observed| observed.metric != "stolen");
    lacks("stolen-time", &half, ObservationObstacle::ProcessorsUnreadable);
    // A thread that ended in the middle.
    let mut gone = steady(OPEN);
    gone.observed.iter_mut().for_each(|observed| observed.points.truncate(30));
    lacks("stall", &gone, ObservationObstacle::WatcherEnded);
    // The samples of the thread until its end count.
    stand_still(&mut gone, &[(20.0, 5.0)]);
    assert_eq!(check("stall", &gone).status, Status::Invalid);
    // One sample has no growth.
    let mut short = steady(OPEN);
    short.observed.iter_mut().for_each(|observed| observed.points.truncate(1));
    lacks("generator-cpu", &short, ObservationObstacle::ThreadsReadOnce);
    let at = short.observed[0].points[0].0;
    assert_eq!(at, Nanos::ZERO);
}
