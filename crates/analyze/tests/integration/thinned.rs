//! Runs of three hours, whose later samples are merged: the answers are the same as with all
//! samples.

use analyze::limiting::{LimiterFinding, ProcessorLimit};
use analyze::{Check, Component, Evidence, Observed, Status, Summary, Surroundings, summarize};
use base::Nanos;
use record::{Kind, SampleBins, SampleKind, SampleRange, Series, Thinning};

use crate::support::{PER_S, add_times, answered, check, near, nothing, replace_readings};

const WORKLOAD: &str = "duration = 3h\nwarmup = 10s\n[read]\nquery = select 1\nconcurrency = 2\n";

const SECONDS: u64 = 10_800;

/// Returns a closed job of two clients with a database whose processors are busy for a growing
/// fraction of the time, so every mean depends on the weight of each hour.
fn long() -> Evidence {
    let mut evidence = nothing(WORKLOAD);
    evidence.surroundings = Surroundings::default();
    let step = |step: usize| {
        let length = evidence.steps.start(step + 1).saturating_sub(evidence.steps.start(step));
        answered(length.0 / 1_000_000_000 * PER_S)
    };
    evidence.jobs[0].steps = (0..evidence.steps.len()).map(step).collect();
    for (kind, ms) in
        [(Kind::Response, 1.6), (Kind::Service, 1.6), (Kind::Wait, 0.01), (Kind::SendLag, 0.02)]
    {
        add_times(&mut evidence, 0, kind, ms, (SECONDS - 10) * PER_S);
    }
    // Growth is faster in the last hour, with a ripple within each bin.
    let counter = |per_s: f64| {
        move |s: f64| per_s * (s + 2.0 * (s - 7_200.0).max(0.0)) + 0.1 * per_s * (s * 0.3).sin()
    };
    for (component, metric, per_s) in [
        ("server", "user", 0.9),
        ("server", "system", 0.1),
        ("server", "waited", 0.01),
        ("generator", "user", 0.02),
        ("generator", "system", 0.01),
        ("cpu 0", "busy", 0.3),
        ("cpu 1", "busy", 0.3),
        ("sessions", "looks", 10.0),
        ("sessions", "active", 14.0),
        ("sessions", "idle", 6.0),
        ("waits", "cpu", 12.0),
        ("waits", "Timeout:PgSleep", 2.0),
    ] {
        read(&mut evidence, component, metric, counter(per_s));
    }
    read(&mut evidence, "server", "processes", |_| 9.0);
    read(&mut evidence, "server", "processors", |_| 2.0);
    read(&mut evidence, "server", "busiest", |s| if s < 3_600.0 { 0.85 } else { 1.0 });
    read(&mut evidence, "host", "frequency", |s| 3_000.0 + (s * 7_919.0) % 17.0);
    evidence
}

fn read(evidence: &mut Evidence, component: &str, metric: &str, value: impl Fn(f64) -> f64) {
    let looks = (0..=SECONDS).map(Nanos::from_secs);
    replace_readings(&mut evidence.observed, component, metric, looks, value);
}

/// Merges the samples as a recorder does.
fn thinned(evidence: &Evidence) -> Evidence {
    let bins = SampleBins::new(evidence.plan.warmup.known(), evidence.plan.duration);
    let merged = |observed: &Observed| {
        let Observed { component, metric, points, .. } = observed.clone();
        let unit = String::new();
        let series = Series { component: component.clone(), metric: metric.clone(), unit };
        let (mut thinning, mut rows) = (Thinning::new(bins), Vec::new());
        let kind = SampleKind::of(&series);
        points.iter().for_each(|point| thinning.add(0, kind, *point, &mut rows));
        rows.extend(thinning.end().into_iter().map(|(_, row)| row));
        let ranges: Vec<SampleRange> = rows.iter().filter_map(|row| row.range).collect();
        let points = rows.iter().map(|row| (row.at, row.value)).collect();
        Observed { component, metric, points, ranges }
    };
    let observed: Vec<Observed> = evidence.observed.iter().map(merged).collect();
    assert!(observed.iter().all(|it| it.points.len() == 7_201 + 60 + 1), "an hour of minutes");
    Evidence { observed, ..evidence.clone() }
}

/// Compares the whole judgement of a run with the judgement after its samples are merged.
#[track_caller]
fn same(evidence: &Evidence) -> Summary {
    let [whole, merged] = [summarize(evidence), summarize(&thinned(evidence))];
    assert_eq!(whole.limiter.component, merged.limiter.component);
    assert_eq!(whole.limiter.evidence.len(), merged.limiter.evidence.len());
    for (one, other) in whole.limiter.evidence.iter().zip(&merged.limiter.evidence) {
        assert_eq!(one.kind, other.kind);
        assert!(near(other.value, one.value), "{one:?} {other:?}");
    }
    for (one, other) in whole.verdict.checks.iter().zip(&merged.verdict.checks) {
        assert_eq!((one.name(), one.status), (other.name(), other.status), "{one:?} {other:?}");
        let value = |check: &Check| check.value.unwrap_or_default();
        let is_near = (value(one) - value(other)).abs() <= 0.01 * value(one).abs().max(1.0);
        assert!(is_near, "{one:?} {other:?}");
    }
    merged
}

#[test]
fn merged_samples_give_the_same_limiter_and_checks() {
    let mut evidence = long();
    let limiter = same(&evidence).limiter;
    // One processor in use for two hours and three for one: 1.67 on average.
    assert_eq!(limiter.component, Component::DatabaseSingleCore, "{limiter:?}");
    let LimiterFinding::Processors(ProcessorLimit::OneThread { share, .. }) = limiter.finding
    else {
        panic!("{limiter:?}");
    };
    // A share of 0.85 for one hour, and of 1 for two hours.
    assert!((share - 0.95).abs() < 0.001, "{share}");
    read(&mut evidence, "server", "busiest", |_| 0.5);
    read(&mut evidence, "server", "user", |s| 1.8 * s + (s * 0.3).sin());
    assert_eq!(same(&evidence).limiter.component, Component::DatabaseCpu);
    read(&mut evidence, "server", "user", |s| 0.2 * s + 0.1 * (s * 0.3).sin());
    same(&evidence);
}

/// A mean that counts each reading once would be the mean of the first two hours.
#[test]
fn merged_samples_weigh_as_much_as_all_of_theirs() {
    let mut evidence = long();
    read(&mut evidence, "server", "busiest", |s| if s < 7_200.0 { 0.9 } else { 1.0 });
    let busiest = |evidence: &Evidence| {
        let readings = evidence.observed.iter().find(|it| it.metric == "busiest").unwrap();
        let values = readings.points.iter().map(|(_, value)| value);
        let share = match summarize(evidence).limiter.finding {
            LimiterFinding::Processors(ProcessorLimit::OneThread { share, .. }) => share,
            other => panic!("{other:?}"),
        };
        (share, values.sum::<f64>() / readings.points.len() as f64)
    };
    let (share, unweighted) = busiest(&thinned(&evidence));
    assert!((share - (0.9 * 2.0 + 1.0) / 3.0).abs() < 0.001, "{share}");
    assert!((unweighted - 0.9).abs() < 0.001, "{unweighted}");
}

#[test]
fn set_clock_in_a_merged_hour_is_suspect_and_drifting_clock_is_not() {
    let at = |by_s: f64| move |s: f64| if s < 9_030.0 { 0.0 } else { by_s };
    for (by_s, status) in
        [(0.009, Status::Pass), (0.012, Status::Suspect), (-0.35, Status::Suspect)]
    {
        let mut evidence = long();
        read(&mut evidence, "host", "wall-clock", at(by_s));
        same(&evidence);
        let found = check("wall-clock", &thinned(&evidence));
        assert_eq!(found.status, status, "{found:?}");
        assert!(near(found.value.unwrap(), by_s.abs() * 1e3), "{found:?}");
    }
    let mut evidence = long();
    read(&mut evidence, "host", "wall-clock", |s| 0.0005 * s + 1e-4 * (s * 0.3).sin());
    same(&evidence);
    assert_eq!(check("wall-clock", &thinned(&evidence)).status, Status::Pass);
}

#[test]
fn falling_frequency_in_a_merged_hour_is_suspect() {
    for (mhz, status) in [(2_860.0, Status::Pass), (2_600.0, Status::Suspect)] {
        let mut evidence = long();
        let falling = |s: f64| if s < 7_200.0 { 3_000.0 } else { mhz } + (s * 7_919.0) % 17.0;
        read(&mut evidence, "host", "frequency", falling);
        same(&evidence);
        assert_eq!(check("frequency", &thinned(&evidence)).status, status);
    }
}

/// A killed run lacks the samples of the bin that was open.
#[test]
fn killed_run_counts_as_sampled_until_its_last_bin() {
    let status = |lost: usize| {
        let mut evidence = thinned(&long());
        for observed in &mut evidence.observed {
            let kept = observed.points.len() - lost;
            observed.points.truncate(kept);
        }
        check("stall", &evidence).status
    };
    // Two rows may be missing: that of the last sample, and that of the merged samples of the last
    // minute.
    assert_eq!([0, 2, 3].map(status), [Status::Pass, Status::Pass, Status::NotPossible]);
}
