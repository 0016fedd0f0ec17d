//! Tests of the checks of rate, evenness, steady state and the times of closed jobs, on runs with
//! and without a planted fault.

use std::ops::Range;

use analyze::finding::{Gaps, JobObstacle, MedianChange, Seconds, WarmUp};
use analyze::{Evidence, Finding, Obstacle, Status, SteadyStart, WarmupEnd};
use base::Nanos;
use record::{EventKind, Kind};

use crate::support::{
    MIXED, OPEN, PER_S, add_times, answer_only, answered, check, event, near, only, set_medians,
    set_probes, steady, turn_bad,
};

/// A job with a thousand random arrivals per second.
const POISSON: &str = "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nrate = 1000\n";

/// Returns a run whose seconds have these numbers of due requests, in turn.
fn counted(workload: &str, counts: &[u64]) -> Evidence {
    let mut evidence = steady(workload);
    for (step, count) in evidence.jobs[0].steps.iter_mut().zip(counts.iter().cycle()) {
        *step = answered(*count);
    }
    evidence
}

#[test]
fn fewer_or_more_requests_than_the_schedule_says_are_noticed() {
    for (per_s, status) in [
        (1_000, Status::Pass),
        (991, Status::Pass),
        (989, Status::Suspect),
        (980, Status::Suspect),
        (1_011, Status::Suspect),
        (951, Status::Suspect),
        (949, Status::Invalid),
        (1_051, Status::Invalid),
    ] {
        let found = check("rate", &counted(OPEN, &[per_s]));
        assert_eq!(found.status, status, "{per_s}");
        assert_eq!(found.limit, Some(1.0));
    }
    // 50,000 requests of a Poisson process differ by 1.4 % only twice in a thousand runs.
    let of_poisson = |per_s| check("rate", &counted(POISSON, &[per_s])).status;
    assert_eq!(of_poisson(987), Status::Pass);
    assert_eq!(of_poisson(985), Status::Suspect);
    // Only jobs with random arrivals make a difference by chance more likely.
    let limit = |more: &str| check("rate", &counted(&format!("{POISSON}{more}"), &[1_010])).limit;
    let closed = "[closed]\nquery = select 1\nconcurrency = 4\n";
    assert_eq!(limit(closed), limit(""));
    let uniform = "[uniform]\nquery = select 1\nrate = 1000\narrival = uniform\n";
    assert_eq!(limit(uniform), limit(""));
    let random = POISSON.split_once("[read]").unwrap().1;
    assert!(limit(&format!("[random]{random}")) > limit(""));
    let found = check("rate", &counted(OPEN, &[980]));
    let Finding::Rate(difference) = found.finding else { panic!("{found:?}") };
    assert!(difference.job == "read" && near(difference.by, -0.02), "{difference:?}");
}

#[test]
fn a_job_that_ends_with_its_requests_has_no_rate_to_keep() {
    let count = format!("{OPEN}count = 20000\n");
    assert_eq!(check("rate", &counted(&count, &[400])).status, Status::NotPossible);
    let closed = "duration = 60s\n[read]\nquery = select 1\nconcurrency = 4\n";
    assert_eq!(check("rate", &steady(closed)).status, Status::NotPossible);
}

#[test]
fn arrivals_that_are_too_even_or_come_in_bursts_are_noticed() {
    for (counts, status) in [
        (&[1_032, 968][..], Status::Pass),
        (&[1_000], Status::Suspect),
        (&[1_060, 940], Status::Suspect),
        (&[1_020, 980], Status::Suspect),
    ] {
        only("arrivals", status, &counted(POISSON, counts));
    }
    let even = check("arrivals", &counted(OPEN, &[1_000]));
    assert_eq!(even.status, Status::NotPossible, "{even:?}");
}

#[test]
fn job_with_too_few_arrivals_does_not_widen_the_limit_of_arrivals() {
    let limit = |more: &str| {
        let mut evidence = counted(&format!("{POISSON}{more}"), &[1_032, 968]);
        evidence.jobs.iter_mut().skip(1).for_each(|job| job.steps.fill(answered(1)));
        check("arrivals", &evidence).limit
    };
    assert_eq!(limit("[seldom]\nquery = select 1\nrate = 1\n"), limit(""));
    let random = POISSON.split_once("[read]").unwrap().1;
    let two = counted(&format!("{POISSON}[random]{random}"), &[1_032, 968]);
    assert!(check("arrivals", &two).limit > limit(""));
}

/// Two irregular seconds make no difference to the rate of a minute, but the check of each second
/// notices them.
#[test]
fn a_second_that_has_too_much_or_too_little_is_noticed() {
    let mut evidence = steady(OPEN);
    evidence.jobs[0].steps[30] = answered(PER_S - 100);
    evidence.jobs[0].steps[31] = answered(PER_S + 100);
    let found = only("each-second", Status::Suspect, &evidence);
    let Finding::EachSecond(Seconds::Odd { job, begin, by }) = found.finding else {
        panic!("{found:?}");
    };
    assert!(job == "read" && begin == Nanos::from_secs(31) && near(by, 0.1), "{begin} {by}");
    let seconds = |pair| check("each-second", &counted(POISSON, pair)).status;
    assert_eq!(seconds(&[1_100, 900]), Status::Pass);
    assert_eq!(seconds(&[1_200, 800]), Status::Suspect);
    // A second without any of ten expected requests may be chance in a Poisson process.
    let few = POISSON.replace("1000", "10");
    assert_eq!(check("each-second", &counted(&few, &[0, 20])).status, Status::NotPossible);
    let closed = "duration = 60s\n[read]\nquery = select 1\nconcurrency = 4\n";
    assert_eq!(check("each-second", &steady(closed)).status, Status::NotPossible);
}

#[test]
fn offered_rate_is_judged_within_start_and_stop_of_the_job() {
    let mut evidence = counted(&format!("{OPEN}start = 20500ms\nstop = 40s\n"), &[0]);
    for (second, step) in evidence.jobs[0].steps.iter_mut().enumerate() {
        *step = answered(match second {
            20 => PER_S / 2,
            21..40 => PER_S,
            _ => 0,
        });
    }
    only("rate", Status::Pass, &evidence);
    only("each-second", Status::Pass, &evidence);
    evidence.jobs[0].steps[45] = answered(PER_S);
    assert_eq!(check("rate", &evidence).status, Status::Invalid);
    assert_eq!(check("each-second", &evidence).status, Status::Suspect);
}

#[test]
fn clusters_within_seconds_are_noticed() {
    let mut evidence = counted(POISSON, &[1_032, 968]);
    evidence.threads = 1;
    // Exponential times between arrivals with a mean of 1 ms: one for each thousandth of the
    // distribution.
    for rank in 0..1_000 {
        let ms = -(1.0 - (f64::from(rank) + 0.5) / 1_000.0).ln();
        add_times(&mut evidence, 0, Kind::Gap, ms, 20);
    }
    only("gaps", Status::Pass, &evidence);
    evidence.jobs[0].window.iter_mut().for_each(|(kind, times)| {
        if *kind == Kind::Gap {
            times.clear();
        }
    });
    // The same times as seen by a timer that ticks each millisecond.
    let ticks = [(0.0, 7_358), (1.0, 7_992), (2.0, 2_940), (3.0, 1_082), (4.0, 398), (5.0, 230)];
    for (ms, count) in ticks {
        add_times(&mut evidence, 0, Kind::Gap, ms, count);
    }
    let found = only("gaps", Status::Suspect, &evidence);
    let is_odd = |gaps: &Gaps| matches!(gaps, Gaps::Odd { job, .. } if job == "read");
    assert!(matches!(&found.finding, Finding::Gaps(gaps) if is_odd(gaps)), "{found:?}");
    evidence.plan = counted(OPEN, &[1]).plan;
    assert_eq!(check("gaps", &evidence).status, Status::NotPossible);
}

#[test]
fn warm_up_end_is_reported_or_suspect() {
    let length = Nanos::from_secs(10);
    let given = Finding::NotPossible(Obstacle::Jobs(JobObstacle::GivenWarmUp));
    for (warmup, status, finding) in [
        (WarmupEnd::Given, Status::NotPossible, given),
        (WarmupEnd::TooShort, Status::Suspect, Finding::WarmUp(WarmUp::TooShort)),
        (WarmupEnd::NoSteadyJob, Status::Suspect, Finding::WarmUp(WarmUp::NoSteadyJob)),
        (found(0, None), Status::Pass, Finding::WarmUp(WarmUp::SteadyAtOnce)),
        (found(10, None), Status::Pass, Finding::WarmUp(WarmUp::Found { length })),
        (
            found(30, Some(-0.07)),
            Status::Invalid,
            Finding::WarmUp(WarmUp::NeverSteady { by: -0.07 }),
        ),
    ] {
        let mut evidence = steady(OPEN);
        evidence.warmup = warmup;
        let check = only("warm-up", status, &evidence);
        assert_eq!(check.finding, finding);
    }
}

/// An overload is never steady, which is not a fault of the run.
#[test]
fn overloaded_job_has_no_warm_up_end() {
    let mut evidence = steady(OPEN);
    answer_only(&mut evidence, 0, 0, PER_S / 2);
    evidence.warmup = found(30, Some(0.8));
    let check = check("warm-up", &evidence);
    assert_eq!(check.status, Status::Suspect, "{check:?}");
    assert_eq!(check.finding, Finding::WarmUp(WarmUp::Overloaded));
}

fn found(steps: usize, never_steady: Option<f64>) -> WarmupEnd {
    WarmupEnd::Found(SteadyStart { steps, never_steady })
}

#[test]
fn drift_and_step_are_distinguished_from_scatter() {
    let scatter = |part: usize| 1.0 + 0.002 * ((part * 7) % 5) as f64;
    let mut found = Vec::new();
    for (name, change) in [
        ("none", Box::new(|_: usize| 1.0) as Box<dyn Fn(usize) -> f64>),
        ("drift of 10 %", Box::new(|part| 1.0 + 0.1 * part as f64 / 19.0)),
        ("drift of 3 %", Box::new(|part| 1.0 + 0.03 * part as f64 / 19.0)),
        ("step of 5 %", Box::new(|part| if part < 12 { 1.0 } else { 1.05 })),
        ("step of 2 %", Box::new(|part| if part < 12 { 1.0 } else { 1.02 })),
    ] {
        let mut evidence = steady(OPEN);
        set_medians(&mut evidence, 0, |part| scatter(part) * change(part));
        let [drift, step] = ["drift", "step"].map(|check_name| check(check_name, &evidence));
        found.push((name, drift.status, step.status));
        if name == "step of 5 %" {
            let Finding::Step(MedianChange::Abrupt { job, by, at_s }) = step.finding else {
                panic!("{step:?}");
            };
            assert!(job == "read" && by > 0.0 && at_s == 40.0, "{job} {by} {at_s}");
        }
    }
    use Status::{Pass, Suspect};
    assert_eq!(
        found,
        [
            ("none", Pass, Pass),
            ("drift of 10 %", Suspect, Suspect),
            ("drift of 3 %", Pass, Pass),
            ("step of 5 %", Suspect, Suspect),
            ("step of 2 %", Pass, Pass),
        ]
    );
}

#[test]
fn drift_is_not_judged_if_the_workload_changes() {
    for (more, why) in [
        ("[clean]\nquery = delete from t\nevery = 7s\n", JobObstacle::IntermittentJobs),
        ("[late]\nquery = select 2\nrate = 5\nstart = 30s\n", JobObstacle::IntermittentJobs),
        ("[wave]\nquery = select 2\nrate = sine(10, 5, 10s)\n", JobObstacle::VaryingRate),
    ] {
        let mut evidence = steady(&format!("{OPEN}{more}"));
        set_medians(&mut evidence, 0, |part| if part < 10 { 1.0 } else { 2.0 });
        for name in ["drift", "step"] {
            let found = check(name, &evidence);
            assert_eq!(found.finding, Finding::NotPossible(Obstacle::Jobs(why)));
        }
    }
    let mut few = steady(OPEN);
    set_medians(&mut few, 0, |_| 1.0);
    few.jobs[0].parts.truncate(9);
    assert_eq!(check("step", &few).status, Status::NotPossible);
}

#[test]
fn times_that_do_not_add_up_to_the_clients_are_noticed() {
    // Four clients with cycles of 4 ms make 1,000 requests per second.
    for (per_s, status) in [
        (1_000, Status::Pass),
        (991, Status::Pass),
        (980, Status::Suspect),
        (1_020, Status::Suspect),
    ] {
        let mut evidence = steady(MIXED);
        set_probes(&mut evidence, 1, |_| vec![(1.6, 10 * per_s)]);
        only("little", status, &evidence);
    }
    let mut limited = steady(MIXED);
    limited.events.push(event(20_000, Some(1), EventKind::OutageBegan, "gone"));
    assert_eq!(check("little", &limited).status, Status::NotPossible);
    let mut failing = steady(MIXED);
    turn_bad(&mut failing, 1, 20, [PER_S / 100, 0, 0]);
    assert_eq!(check("little", &failing).status, Status::NotPossible);
}

fn little(evidence: &Evidence) -> Status {
    check("little", evidence).status
}

/// Returns a run of four clients with this percentage of the possible requests. In the probe
/// `stalled`, each client has one request that takes a second. Four requests are open at the end.
fn stalled_in(stalled: usize, percent: u64) -> Evidence {
    let mut evidence = steady(MIXED);
    set_probes(&mut evidence, 1, |probe| {
        let usual = (1.6, PER_S * percent / 10);
        if probe == stalled { vec![usual, (1_000.0, 4)] } else { vec![usual] }
    });
    evidence.jobs[1].steps[59].ends.completed -= 4;
    evidence
}

/// All four clients wait for a second, 2 % of the window, which explains a surplus of this size
/// only.
#[test]
fn stall_at_the_end_of_the_window_is_no_surplus() {
    assert_eq!(little(&stalled_in(4, 100)), Status::Pass);
    assert_eq!(little(&stalled_in(4, 105)), Status::Suspect);
    assert_eq!(little(&stalled_in(2, 100)), Status::Suspect);
    let mut unknown = stalled_in(4, 100);
    unknown.jobs[1].probes.clear();
    assert_eq!(little(&unknown), Status::Suspect, "records without probes show no long requests");
    let mut answered_in_time = stalled_in(4, 100);
    answered_in_time.jobs[1].steps[59].ends.completed += 4;
    assert_eq!(little(&answered_in_time), Status::Suspect);
}

/// The stall ends before the window does: its longer times and the smaller number of requests
/// balance.
#[test]
fn stall_within_the_last_probe_hides_no_surplus() {
    let mut evidence = steady(MIXED);
    set_probes(&mut evidence, 1, |probe| match probe {
        4 => vec![(1.6, 5 * PER_S * 105 / 100), (5_000.0, 4)],
        _ => vec![(1.6, 10 * PER_S * 105 / 100)],
    });
    evidence.jobs[1].steps[59].ends.completed -= 4;
    assert_eq!(little(&evidence), Status::Suspect);
}

/// The request of one client takes at most 1.25 % of the time of all clients.
#[test]
fn one_long_request_at_the_end_counts_for_one_client() {
    let with = |percent: u64| {
        let mut evidence = steady(&MIXED.replace("concurrency = 4", "concurrency = 8"));
        evidence.jobs[1].steps = vec![answered(2 * PER_S); 60];
        set_probes(&mut evidence, 1, |probe| {
            let usual = (1.6, 20 * PER_S * percent / 100);
            if probe == 4 { vec![usual, (5_000.0, 1)] } else { vec![usual] }
        });
        evidence.jobs[1].steps[59].ends.completed -= 8;
        evidence
    };
    assert_eq!(little(&with(100)), Status::Pass);
    assert_eq!(little(&with(105)), Status::Suspect);
}

/// Returns a run of four clients that send this percentage of the usual requests in some seconds.
/// This many requests are open from before the first of these seconds until the end of the last.
fn slowed(seconds: Range<usize>, percent: u64, open: u64) -> Evidence {
    let mut evidence = steady(MIXED);
    let steps = &mut evidence.jobs[1].steps;
    steps[seconds.clone()].fill(answered(PER_S * percent / 100));
    steps[seconds.start - 1].ends.completed -= open;
    steps[seconds.end - 1].ends.completed += open;
    set_probes(&mut evidence, 1, |probe| {
        let slow = (probe * 10 + 10..probe * 10 + 20).filter(|second| seconds.contains(second));
        let slow = slow.count() as u64;
        let requests = (10 - slow) * PER_S + slow * PER_S * percent / 100;
        if requests == 0 { Vec::new() } else { vec![(1.6, requests)] }
    });
    evidence
}

#[test]
fn clients_busy_since_before_the_window_are_not_missing() {
    assert_eq!(little(&slowed(10..11, 0, 4)), Status::Pass, "all for a second");
    assert_eq!(little(&slowed(10..15, 75, 1)), Status::Pass, "one of them for five");
    assert_eq!(little(&slowed(30..31, 0, 4)), Status::Suspect, "in the middle");
    // Busy clients explain no surplus.
    let mut surplus = slowed(10..11, 0, 4);
    set_probes(&mut surplus, 1, |_| vec![(1.6, 10 * PER_S * 102 / 100)]);
    assert_eq!(little(&surplus), Status::Suspect);
}

#[test]
fn requests_missing_at_the_begin_without_busy_clients_are_noticed() {
    assert_eq!(little(&slowed(10..11, 0, 0)), Status::Suspect);
    assert_eq!(little(&slowed(10..30, 0, 0)), Status::Suspect);
    // One client cannot be the reason for the shortfall of four.
    assert_eq!(little(&slowed(10..15, 0, 1)), Status::Suspect);
    // All four requests have ended after a second.
    let mut ended = slowed(10..30, 0, 4);
    ended.jobs[1].steps[10].ends.completed += 4;
    ended.jobs[1].steps[29].ends.completed -= 4;
    assert_eq!(little(&ended), Status::Suspect);
}

/// A client cannot have been busy since before its job began, so missing requests are reported.
#[test]
fn empty_begin_of_a_run_without_warm_up_is_noticed() {
    let mut evidence = steady(&MIXED.replace("warmup = 10s", "warmup = 0s"));
    evidence.jobs[1].steps[0] = answered(0);
    set_probes(&mut evidence, 1, |probe| match probe {
        0 => vec![(1.6, 9 * PER_S)],
        _ => vec![(1.6, 10 * PER_S)],
    });
    assert_eq!(little(&evidence), Status::Suspect);
}

/// A cold cache lengthens the response times of the first 20 seconds to 4.27 ms; these times count.
#[test]
fn cold_cache_hides_no_missing_requests() {
    let with = |percent: u64| {
        let mut evidence = slowed(10..30, 60, 4);
        set_probes(&mut evidence, 1, |probe| match probe {
            0 | 1 => vec![(4.266_667, 60 * PER_S * percent / 1_000)],
            _ => vec![(1.6, 10 * PER_S * percent / 100)],
        });
        evidence
    };
    assert_eq!(little(&with(100)), Status::Pass);
    assert_eq!(little(&with(95)), Status::Suspect);
}

#[test]
fn random_think_time_counts_with_its_mean() {
    for (think, status) in [
        ("exp(2400us)", Status::Pass),
        ("exp(3ms)", Status::Suspect),
        ("uniform(1ms, 5ms)", Status::NotPossible),
    ] {
        let file = MIXED.replace("2400us", think);
        assert_eq!(check("little", &steady(&file)).status, status, "{think}");
    }
}
