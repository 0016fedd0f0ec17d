//! The bounds of the window, and the numbers derived from it.

use analyze::{Distribution, Evidence, LoadEvidence, LoadPoint, summarize};
use base::Nanos;
use record::{Grid, Kind};

use crate::support::{MIXED, OPEN, PER_S, answered, end_at, nothing, steady, used};

/// Returns a run with this warm-up and end, in milliseconds, and one request at an instant.
fn one_request(warmup: u64, end: u64, at: u64) -> Evidence {
    let mut evidence = nothing(OPEN);
    evidence.plan.warmup = workload::Warmup::Lasts(Nanos::from_millis(warmup));
    evidence.plan.duration = Some(Nanos::from_millis(end));
    end_at(&mut evidence, Nanos::from_millis(end));
    let grid = Grid::new(evidence.plan.warmup.known(), evidence.plan.duration);
    evidence.jobs[0].steps = vec![answered(0); grid.interval(Nanos::from_millis(at)) as usize];
    evidence.jobs[0].steps.push(answered(1));
    evidence
}

#[test]
fn window_includes_its_start_and_excludes_its_end() {
    for (warmup, end, at, inside) in [
        (10_000, 60_000, 9_999, 0),
        (10_000, 60_000, 10_000, 1),
        (10_000, 60_000, 59_999, 1),
        (10_000, 60_000, 60_000, 0),
        (2_500, 60_000, 2_499, 0),
        (2_500, 60_000, 2_500, 1),
        (0, 60_000, 0, 1),
        (0, 2_700, 2_699, 1),
        (0, 2_700, 3_000, 0),
        (10_000, 10_000, 10_000, 0),
        (10_000, 4_000, 3_000, 0),
    ] {
        let job = summarize(&one_request(warmup, end, at)).jobs.remove(0);
        let scheduled = job.counts.balance.scheduled();
        assert_eq!(scheduled, inside, "{at} ms of {warmup} to {end} ms");
    }
}

#[test]
fn the_window_begins_after_the_warm_up_and_ends_with_the_schedule() {
    let window = |warmup, end| summarize(&one_request(warmup, end, 0)).window;
    let whole = window(2_500, 60_000);
    assert_eq!((whole.warmup_s, whole.start_s, whole.end_s), (2.5, 2.5, 60.0));
    let none = window(10_000, 4_000);
    assert_eq!((none.start_s, none.end_s), (10.0, 10.0), "it ended in its warm-up");
}

#[test]
fn throughput_counts_what_ends_in_the_window() {
    let mut evidence = steady(OPEN);
    let steps = &mut evidence.jobs[0].steps;
    steps[10].ends.completed += 500;
    steps[59].ends.completed -= 250;
    steps[9].ends.completed = 0;
    steps.push(answered(PER_S));
    steps[60].counts = Default::default();
    let job = summarize(&evidence).jobs.remove(0);
    assert_eq!(job.throughput_per_s, Some((50_000.0 + 250.0) / 50.0));
    assert_eq!(job.rows_per_s, Some(1_000.0));
    assert_eq!(job.counts.balance.completed(), 50_000);
}

#[test]
fn offered_rate_is_the_mean_over_the_window() {
    let of = |workload: &str| summarize(&nothing(workload)).jobs[0].offered_per_s;
    let offered = |more: &str| of(&format!("{OPEN}{more}"));
    assert_eq!(offered(""), Some(1_000.0));
    assert_eq!(offered("stop = 35s\n"), Some(500.0));
    assert_eq!(offered("start = 35s\n"), Some(500.0));
    assert_eq!(offered("start = 20s\nstop = 30s\n"), Some(200.0));
    assert_eq!(offered("stop = 5s\n"), Some(0.0), "the job ends in the warm-up");
    // The mean is 750/s between 10 s and 20 s.
    let ramp = OPEN.replace("rate = 1000", "rate = ramp(0, 1000, 20s)\nstop = 20s");
    assert_eq!(of(&ramp).map(f64::round), Some(150.0));
    let closed = "duration = 60s\n[read]\nquery = select 1\nconcurrency = 4\nstop = 30s\n";
    assert_eq!(of(closed), None);
}

#[test]
fn run_without_a_window_has_the_offered_rate_of_its_schedule() {
    let mut evidence = nothing(OPEN);
    end_at(&mut evidence, Nanos::from_secs(4));
    assert_eq!(summarize(&evidence).jobs[0].offered_per_s, Some(1_000.0));
}

#[test]
fn window_may_end_within_a_second() {
    let mut evidence = steady(OPEN);
    end_at(&mut evidence, Nanos::from_millis(59_500));
    let job = summarize(&evidence).jobs.remove(0);
    assert_eq!(job.throughput_per_s, Some(50_000.0 / 49.5));
    end_at(&mut evidence, Nanos::from_secs(10));
    assert_eq!(summarize(&evidence).jobs[0].throughput_per_s, None);
}

/// Returns a run with a probe every ten seconds. The nth probe has n requests of n milliseconds
/// each.
fn with_probes() -> Evidence {
    let mut evidence = steady(OPEN);
    evidence.jobs[0].probes = (1..=5usize)
        .map(|ten| {
            let mut response = Kind::Response.histogram();
            response.record_n(ten as u64 * 1_000_000, ten as u64).unwrap();
            (ten * 10..ten * 10 + 10, Distribution::of(&response))
        })
        .collect();
    evidence.jobs[0].steps[20].ends.completed += 10 * PER_S;
    evidence
}

#[test]
fn probes_are_the_parts_of_the_window() {
    let probes = summarize(&with_probes()).jobs.remove(0).probes;
    let starts: Vec<f64> = probes.iter().map(|probe| probe.start_s).collect();
    assert_eq!(starts, [10.0, 20.0, 30.0, 40.0, 50.0]);
    let rates: Vec<f64> = probes.iter().map(|probe| probe.throughput_per_s).collect();
    assert_eq!(rates, [1_000.0, 2_000.0, 1_000.0, 1_000.0, 1_000.0]);
    let counts: Vec<u64> = probes.iter().map(|probe| probe.response.count).collect();
    assert_eq!(counts, [1, 2, 3, 4, 5]);
    assert!(probes[4].response.max_ns.abs_diff(5_000_000) < 5_000);
}

#[test]
fn the_last_probe_is_as_long_as_the_window_reaches() {
    let mut evidence = with_probes();
    end_at(&mut evidence, Nanos::from_secs(52));
    evidence.jobs[0].steps.truncate(52);
    evidence.jobs[0].probes[4].0.end = 52;
    let probes = summarize(&evidence).jobs.remove(0).probes;
    assert_eq!(probes[4].throughput_per_s, 1_000.0);
}

#[test]
fn processor_time_per_query_is_measured_in_the_window() {
    let mut evidence = steady(OPEN);
    // The generator uses 40 ms in each second of the window for 1,000 requests. In the last second
    // before the window, it uses 130 ms.
    for sample in &mut evidence.client[..10] {
        sample.user = Nanos::ZERO;
    }
    let client = summarize(&evidence).client.unwrap();
    assert!((client.us_per_query.unwrap() - 40.0).abs() < 1e-9, "{client:?}");
    assert!((client.user_s - 0.5).abs() < 1e-9 && (client.system_s - 1.5).abs() < 1e-9);
    assert_eq!((client.peak_rss_bytes, client.threads), (1_000_060, 2));
    let both = summarize(&steady(MIXED)).client.unwrap();
    assert!((both.us_per_query.unwrap() - 20.0).abs() < 1e-9, "{both:?}");
}

#[test]
fn requests_after_the_last_sample_have_no_processor_time() {
    let mut evidence = steady(OPEN);
    end_at(&mut evidence, Nanos::from_millis(59_900));
    evidence.client.truncate(60);
    let client = summarize(&evidence).client.unwrap();
    assert!((client.us_per_query.unwrap() - 40.0).abs() < 1e-9, "{client:?}");
}

#[test]
fn unmeasured_processor_time_is_not_zero() {
    let mut evidence = steady(OPEN);
    evidence.client = vec![used(10, 40)];
    assert_eq!(summarize(&evidence).client, None);
    evidence.client = vec![used(9, 40), used(61, 40)];
    assert_eq!(summarize(&evidence).client, None);
    let mut evidence = steady(OPEN);
    evidence.is_virtual = true;
    assert_eq!(summarize(&evidence).client, None);
    assert_eq!(summarize(&nothing(OPEN)).client.unwrap().us_per_query, None);
}

/// Returns a load of 1,000,000 rows in 30 s with this progress. `points` are seconds and rows.
fn load(points: &[(u64, u64)]) -> LoadEvidence {
    let point = |(seconds, rows): &(u64, u64)| LoadPoint {
        rows: *rows,
        at: Nanos::from_secs(*seconds),
        client_cpu: Some(Nanos::from_millis(seconds * 100)),
    };
    LoadEvidence {
        table: "t".to_owned(),
        rows: 1_000_000,
        bytes: 8_000_000,
        took: Nanos::from_secs(30),
        points: points.iter().map(point).collect(),
        observed: Vec::new(),
        unseen: Vec::new(),
        fallback: None,
    }
}

#[test]
fn exit_rate_of_a_load_is_measured_in_its_last_twentieth() {
    let mut evidence = nothing(OPEN);
    let slow = (11..=30).map(|second| (second, 900_000 + (second - 10) * 5_000));
    let points: Vec<(u64, u64)> =
        (1..=10).map(|second| (second, second * 90_000)).chain(slow).collect();
    evidence.loads = vec![load(&points), load(&[(30, 1_000_000)]), load(&[])];
    let loads = summarize(&evidence).loads;
    assert_eq!(loads[0].rows_per_s, Some(1_000_000.0 / 30.0));
    assert_eq!(loads[0].exit_rows_per_s, Some(5_000.0));
    assert_eq!(loads[0].client_cpu, Some(Nanos::from_secs(3)));
    assert_eq!(loads[0].points.len(), 30);
    for load in &loads[1..] {
        assert_eq!(
            (load.exit_rows_per_s, load.client_cpu),
            (None, None),
            "nothing to compare with"
        );
    }
}

/// Fast loads have few points, because progress is recorded once a second.
#[test]
fn exit_rate_needs_a_point_near_the_last_twentieth() {
    let exit = |rows| {
        let mut evidence = nothing(OPEN);
        evidence.loads = vec![load(&[(10, rows), (29, 990_000)])];
        summarize(&evidence).loads[0].exit_rows_per_s
    };
    assert_eq!(exit(500_000), None);
    assert_eq!(exit(899_999), None);
    assert_eq!(exit(900_000), Some(5_000.0));
    assert_eq!(exit(950_000), Some(2_500.0));
    assert_eq!(exit(950_001), None);
}

#[test]
fn empty_load_has_no_rate() {
    let mut evidence = nothing(OPEN);
    let nothing = LoadEvidence { rows: 0, took: Nanos::ZERO, ..load(&[(0, 0)]) };
    evidence.loads = vec![nothing];
    let load = summarize(&evidence).loads.remove(0);
    assert_eq!((load.rows_per_s, load.exit_rows_per_s), (None, None));
}
