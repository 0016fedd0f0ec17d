//! Accounting: every scheduled request has an outcome, under any fault.

use base::{Code, Nanos, Rate, Stamp};
use driver::Simulated;
use engine::Stop;
use record::{Balance, EndKind, EventKind, Kind, Totals};
use sim::Config;
use workload::{JobTarget, OnError, OnOutage, OnQueueFull, Pacing, Plan, Retry, Schedule};

use crate::support::{
    JOB, arrivals, constant, even, exponential, only, plan, poisson, queue, rate, run_on, simulate,
    virtually,
};

fn secs(s: u64) -> Nanos {
    Nanos::from_secs(s)
}

fn balance(totals: &Totals) -> Balance {
    let counts = &totals.account(JOB).window.counts;
    assert_eq!(counts.arrivals, counts.balance.scheduled(), "every request is settled");
    counts.balance
}

fn events(totals: &Totals, kind: EventKind) -> Vec<Nanos> {
    totals.events.iter().filter(|event| event.kind == kind).map(|event| event.at).collect()
}

/// Invariant 1: the intended starts of a schedule are computed before and independently of any
/// response.
#[test]
fn invariant_1_the_schedule_is_the_same_against_a_fast_and_a_stalled_server() {
    for pacing in [poisson(500), even(333), queue(500, 3)] {
        let plan = plan(pacing, 0.0, 20.0, 3);
        let (fast, _) = simulate(&plan, &constant(1, None));
        let stalled = Config { stall: secs(9), ..constant(1_000, Some(1)) };
        let (slow, _) = simulate(&plan, &stalled);
        assert_eq!(arrivals(&fast), arrivals(&slow));
    }
}

/// Schedules that are shared among the threads, with their numbers of requests; `None` for Poisson
/// arrivals without a `count`, whose number depends on the seed.
const SCHEDULES: [(&str, Option<u64>); 13] = [
    ("rate = 500", None),
    ("rate = 500\narrival = uniform", Some(9_999)),
    ("rate = 500\nconcurrency = 3", None),
    ("rate = 500\narrival = uniform\nconcurrency = 3\nbatch-size = 4", Some(39_996)),
    ("rate = 500\nconcurrency = 1\ncount = 777", Some(777)),
    ("every = 700ms", Some(28)),
    ("every = 700ms\nstart = 3s\nstop = 11s", Some(11)),
    ("every = 300ms\nbatch-size = 7\ncount = 9", Some(63)),
    ("rate = 90\nbatch-size = 6\nstart = 1500ms\nstop = 17s", None),
    ("rate = 90\nbatch-size = 6\ncount = 101", Some(606)),
    ("rate = 500\ncount = 4321", Some(4_321)),
    ("rate = 0.3", Some(5)),
    ("rate = 0.7\narrival = poisson\nbatch-size = 2", None),
];

/// Returns the plan of a job with the given keys.
fn twenty_seconds_of(job: &str) -> Plan {
    let run = "duration = 20s\nwarmup = 0s\nseed = 3";
    let text = format!("{run}\n[read]\nquery = select 1\n{job}\n");
    let (plan, diagnostics) = workload::plan(&text, &workload::Overrides::default());
    plan.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

#[test]
fn another_number_of_threads_gives_the_same_schedule() {
    for (job, requests) in SCHEDULES {
        let plan = twenty_seconds_of(job);
        let on = |threads| {
            let server = Simulated::new(constant(1_000, Some(4)), plan.seed);
            arrivals(&run_on(&plan, server, &virtually(threads), &Stop::default()).0)
        };
        let one = on(1);
        let sum: u64 = one.iter().sum();
        assert!(sum > 1 && requests.is_none_or(|requests| sum == requests), "{job}: {one:?}");
        for threads in [2, 5] {
            assert_eq!(on(threads), one, "{job}: {threads} threads");
        }
    }
}

#[test]
fn one_seed_gives_one_result_to_the_last_request() {
    let faulty = Config { errors: 0.1, disconnects: 0.01, ..exponential(1_000, Some(2)) };
    let run = |seed| {
        let (totals, _) = simulate(&plan(poisson(1_000), 1.0, 10.0, seed), &faulty);
        let window = &totals.account(JOB).window;
        let response = window.histograms.of(Kind::Response);
        (window.counts, window.ends, response, totals.events)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).2, run(2).2);
}

/// Invariant 2: completed + errors + rejected + unsent = scheduled, exactly, in every model and
/// under every fault.
#[test]
fn invariant_2_every_model_balances_under_every_fault() {
    let models = [
        poisson(2_000),
        even(2_000),
        queue(2_000, 3),
        Pacing::Closed { clients: 7, think: None },
        Pacing::Timetable { schedule: Schedule::Every(Nanos::from_millis(7)), batch: 5 },
    ];
    let healthy = exponential(1_000, Some(2));
    let faults = [
        healthy.clone(),
        Config { errors: 0.3, ..healthy.clone() },
        Config { disconnects: 0.1, connect: Nanos::from_millis(3), ..healthy.clone() },
        Config { stall: secs(3), stall_every: secs(4), ..healthy.clone() },
        Config { capacity: Some(3), ..healthy.clone() },
        Config { max_connections: Some(5), ..healthy.clone() },
        Config { outages: vec![Stamp(2_000_000_000)..Stamp(3_500_000_000)], ..healthy },
    ];
    for pacing in &models {
        for config in &faults {
            for timeout in [None, Some(Nanos::from_millis(40))] {
                let mut plan = plan(pacing.clone(), 1.0, 6.0, 9);
                plan.jobs[0].requests.timeout = timeout;
                plan.drain = Nanos::from_millis(500);
                let (totals, finished) = simulate(&plan, config);
                let scheduled = balance(&totals).scheduled();
                assert!(scheduled > 100, "{pacing:?} {config:?}");
                let length = finished.measured.map(|measured| measured.length);
                assert_eq!(length, Some(secs(6)), "{pacing:?} {config:?}");
            }
        }
    }
}

#[test]
fn arrivals_beyond_the_limit_of_a_queue_are_rejected() {
    // One worker, a second per request, ten arrivals a second: one in service, three wait.
    let schedule = Schedule::Uniform(rate(10));
    let pacing =
        Pacing::Queue { schedule, batch: 1, workers: 1, limit: 3, on_full: OnQueueFull::Reject };
    let mut plan = plan(pacing, 0.0, 3.05, 1);
    plan.drain = secs(60);
    let (totals, _) = simulate(&plan, &constant(1_000_000, None));
    // Arrivals at 0.1, 0.2, … 3.0; services begin at 0.1, 1.1, 2.1.
    assert_eq!(balance(&totals), Balance::of(6, 0, 24, 0));
    assert_eq!(events(&totals, EventKind::QueueFull), [Nanos::from_millis(500)]);
}

#[test]
fn a_full_queue_may_end_the_run() {
    // One worker, a second per request, ten arrivals a second: the fifth finds three waiting.
    for threads in [1, 3] {
        let schedule = Schedule::Uniform(rate(10));
        let on_full = OnQueueFull::Stop;
        let pacing = Pacing::Queue { schedule, batch: 1, workers: 1, limit: 3, on_full };
        let mut plan = plan(pacing, 0.0, 60.0, 1);
        plan.drain = secs(60);
        let server = Simulated::new(constant(1_000_000, None), plan.seed);
        let (totals, finished) = run_on(&plan, server, &virtually(threads), &Stop::default());
        assert_eq!(finished.end, EndKind::QueueFull);
        assert_eq!(events(&totals, EventKind::QueueFull), [Nanos::from_millis(500)]);
        // Waiting requests are still served, and the one that found the queue full belongs to the
        // run.
        assert_eq!(balance(&totals), Balance::of(4, 0, 1, 0));
        let length = finished.measured.expect("it was measured").length;
        let notice = if threads == 1 { Nanos::ZERO } else { Nanos::from_millis(60) };
        assert_eq!(length, Nanos::from_millis(500) + notice + Nanos(1));
    }
}

#[test]
fn a_queue_that_is_never_full_ends_no_run() {
    let schedule = Schedule::Uniform(rate(10));
    let on_full = OnQueueFull::Stop;
    let pacing = Pacing::Queue { schedule, batch: 1, workers: 1, limit: 3, on_full };
    let (totals, finished) = simulate(&plan(pacing, 0.0, 3.05, 1), &constant(50_000, None));
    assert_eq!(finished.end, EndKind::Completed);
    assert_eq!(balance(&totals), Balance::of(30, 0, 0, 0));
}

#[test]
fn requests_left_after_the_drain_count_with_their_age() {
    let schedule = Schedule::Uniform(rate(10));
    let pacing =
        Pacing::Queue { schedule, batch: 1, workers: 1, limit: 100, on_full: OnQueueFull::Reject };
    let mut plan = plan(pacing, 0.0, 1.0, 1);
    plan.drain = Nanos::from_millis(700);
    let (totals, _) = simulate(&plan, &constant(1_000_000, None));
    // Nine arrivals; the first is answered at 1.1 s, the second is in service when the drain ends
    // at 1.7 s, the others wait.
    assert_eq!(balance(&totals), Balance::of(1, 1, 0, 7));
    let window = &totals.account(JOB).window;
    assert_eq!(window.counts.timeouts, 1);
    let failures: Vec<_> = window.failures.iter().collect();
    assert_eq!((failures.len(), failures[0].1), (1, Code::DRAIN));
    let response = window.histograms.of(Kind::Response);
    assert_eq!(response.len(), 9);
    let oldest = Nanos::from_millis(1_500).0;
    assert!(response.equivalent(response.max(), oldest), "{}", response.max());
    assert!(response.equivalent(response.min(), Nanos::from_millis(800).0));
}

#[test]
fn retryable_errors_are_retried_and_counted() {
    let mut plan = plan(poisson(1_000), 0.0, 30.0, 4);
    plan.jobs[0].requests.retry = Some(Retry { times: 3, codes: vec![Code::new("40001")] });
    let (totals, _) = simulate(&plan, &Config { errors: 0.3, ..constant(1_000, None) });
    let counts = &totals.account(JOB).window.counts;
    let n = balance(&totals).scheduled() as f64;
    // Four failures in a row: 0.3⁴ of the requests; five standard errors.
    let failed = counts.balance.errors() as f64 / n;
    assert!((failed - 0.0081).abs() < 5.0 * (0.0081 / n).sqrt(), "{failed}");
    let retries = counts.retries as f64 / n;
    assert!((retries - (0.3 + 0.09 + 0.027)).abs() < 0.02, "{retries}");
    // A retry is inside the service time: three in ten take at least two services.
    let service = totals.account(JOB).window.histograms.of(Kind::Service);
    let once = service.quantile_below(Nanos::from_micros(1_500).0);
    assert!((once - 0.7 / 0.9919).abs() < 0.02, "{once}");
}

#[test]
fn accepted_errors_are_counted_separately() {
    let mut plan = plan(poisson(1_000), 0.0, 10.0, 4);
    plan.jobs[0].requests.accepted = vec![Code::new("40001")];
    plan.jobs[0].requests.on_error = OnError::Stop;
    let config = Config { errors: 0.2, ..constant(1_000, None) };
    let (totals, finished) = simulate(&plan, &config);
    let counts = &totals.account(JOB).window.counts;
    assert!(counts.balance.errors() > 1_500);
    assert_eq!(counts.accepted_errors, counts.balance.errors());
    assert_eq!(finished.end, EndKind::Completed);
    assert_eq!(totals.account(JOB).window.histograms.of(Kind::Error).len(), counts.accepted_errors);
}

/// Returns a plan of one job whose requests return two rows and one row.
fn plan_of_rows(keys: &str) -> Plan {
    let file = format!(
        "duration = 2s\n[read]\nquery = select 1 /* sim: rows=2 */\nquery = select 2\n\
         rate = 100\narrival = uniform\n{keys}\n"
    );
    let (plan, diagnostics) = workload::plan(&file, &workload::Overrides::default());
    plan.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

#[test]
fn unexpected_number_of_rows_is_an_error() {
    let counted = |keys: &str| {
        let (totals, finished) = simulate(&plan_of_rows(keys), &constant(1_000, None));
        (balance(&totals), totals, finished)
    };
    let (total, ..) = counted("");
    assert_eq!(total, Balance::of(199, 0, 0, 0));
    for right in ["3", "0..3", "3..3", "1..1M"] {
        assert_eq!(counted(&format!("expect-rows = {right}")).0, total, "{right}");
    }
    for wrong in ["0", "2", "4..9", "0..2"] {
        let (balance, totals, _) = counted(&format!("expect-rows = {wrong}"));
        assert_eq!(balance, Balance::of(0, 199, 0, 0), "{wrong}");
        let window = &totals.account(JOB).window;
        let failures: Vec<_> = window.failures.iter().collect();
        assert_eq!((failures.len(), failures[0].1), (1, Code::ROWS));
        assert_eq!(window.histograms.of(Kind::Error).len(), 199, "errors have times of their own");
        let events: Vec<&str> = totals.events.iter().map(|event| event.text.as_str()).collect();
        let text = format!("3 rows were returned or changed; expected {wrong} (rows)");
        assert_eq!(events, [text]);
    }
}

#[test]
fn row_count_error_is_subject_to_error_rules() {
    let plan = plan_of_rows("expect-rows = 2\nerror = rows\nretry = 2 on rows");
    let (totals, _) = simulate(&plan, &constant(1_000, None));
    let counts = &totals.account(JOB).window.counts;
    assert_eq!((counts.accepted_errors, counts.retries), (199, 2 * 199));
    let plan = plan_of_rows("expect-rows = 2\non-error = stop");
    let (_, finished) = simulate(&plan, &constant(1_000, None));
    assert_eq!(finished.end, EndKind::StoppedByError);
}

#[test]
fn an_error_may_stop_the_run() {
    let mut plan = plan(even(1_000), 0.0, 10.0, 4);
    plan.jobs[0].requests.on_error = OnError::Stop;
    let (totals, finished) = simulate(&plan, &Config { errors: 0.001, ..constant(1_000, None) });
    assert_eq!(finished.end, EndKind::StoppedByError);
    let counts = balance(&totals);
    assert!(counts.errors() >= 1 && counts.scheduled() < 9_999, "{counts:?}");
    let stopped = events(&totals, EventKind::StoppedByError);
    let length = finished.measured.expect("it was measured").length;
    assert_eq!(stopped, [length], "the schedule ends with the error");
}

#[test]
fn arrivals_may_wait_for_an_unreachable_target() {
    let on_full = OnQueueFull::Reject;
    let schedule = Schedule::Uniform(rate(100));
    let limited = Pacing::Queue { schedule, batch: 1, workers: 4, limit: 50, on_full };
    let timetable = Schedule::Every(Nanos::from_millis(10));
    for (pacing, rejected) in [
        (even(100), 0..=0),
        (queue(100, 4), 0..=0),
        (Pacing::Timetable { schedule: timetable, batch: 1 }, 0..=0),
        // The arrivals of two seconds, and of up to one more until the next attempt to connect. The
        // queue holds the arrivals of half a second.
        (limited, 140..=250),
    ] {
        let mut plan = plan(pacing.clone(), 0.0, 10.0, 4);
        plan.jobs[0].on_outage = OnOutage::Wait;
        let (totals, finished) = simulate(&plan, &away(4, 6));
        let balance = balance(&totals);
        // Requests in flight when the outage began are errors in any case.
        assert!(balance.errors() <= 4, "{pacing:?} {balance:?}");
        assert!(rejected.contains(&balance.rejected()), "{pacing:?} {balance:?}");
        let settled = balance.completed() + balance.errors() + balance.rejected();
        assert_eq!(settled, balance.scheduled(), "{pacing:?} {balance:?}");
        // The oldest requests waited for the whole outage, which counts as wait.
        let oldest = totals.account(JOB).window.histograms.of(Kind::Wait).max();
        assert!(oldest >= secs(1).0, "{pacing:?} {oldest}");
        assert_eq!(finished.measured.expect("it was measured").lost, []);
        plan.jobs[0].on_outage = OnOutage::Fail;
        let (failed, _) = simulate(&plan, &away(4, 6));
        let errors = failed.account(JOB).window.counts.balance.errors();
        assert!(errors > 150, "{pacing:?} {errors}");
    }
}

/// Expects requests that wait for the target to count as unsent when the run ends during the
/// outage.
#[test]
fn arrivals_waiting_until_the_end_are_unsent() {
    let mut plan = plan(even(100), 0.0, 10.0, 4);
    plan.jobs[0].on_outage = OnOutage::Wait;
    let (totals, finished) = simulate(&plan, &away(8, 1_000));
    let balance = balance(&totals);
    assert!(balance.unsent() >= 190 && balance.errors() <= 4, "{balance:?}");
    assert_eq!(finished.measured.expect("it was measured").lost, [JobTarget::Main]);
}

fn away(from_s: u64, to_s: u64) -> Config {
    let outage = Stamp(secs(from_s).0)..Stamp(secs(to_s).0);
    Config { outages: vec![outage], ..constant(1_000, None) }
}

#[test]
fn temporary_outage_is_measured_and_does_not_end_the_run() {
    let (totals, finished) = simulate(&plan(even(1_000), 0.0, 20.0, 4), &away(5, 8));
    let counts = balance(&totals);
    // The outage lasts three seconds. The arrivals during the outage fail, and so do those until
    // the next attempt to connect after it.
    assert!((2_950..4_050).contains(&counts.errors()), "{counts:?}");
    assert_eq!(counts.completed() + counts.errors(), 19_999);
    let failures: Vec<_> = totals.account(JOB).window.failures.iter().collect();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].1, Code::DISCONNECT);
    let began = events(&totals, EventKind::OutageBegan);
    let ended = events(&totals, EventKind::OutageEnded);
    assert!(began.len() == 1 && ended.len() == 1, "{began:?} {ended:?}");
    assert!(began[0] >= secs(5) && began[0] < Nanos::from_millis(5_100), "{began:?}");
    assert!(ended[0] >= secs(8) && ended[0] <= secs(9), "{ended:?}");
    assert_eq!(finished.measured.map(|measured| measured.lost), Some(vec![]));
    // While the target refuses connections, arrivals fail at once and do not pile up.
    let errors = totals.account(JOB).window.histograms.of(Kind::Error);
    assert!(errors.value_at_quantile(0.99) < Nanos::from_millis(60).0);
    let last_second = &totals.account(JOB).intervals[19].0;
    assert_eq!(last_second.balance.completed(), 1_000);
}

#[test]
fn clients_of_a_closed_job_wait_for_the_server_to_come_back() {
    let closed = Pacing::Closed { clients: 4, think: None };
    let (totals, _) = simulate(&plan(closed, 0.0, 20.0, 4), &away(5, 8));
    let counts = balance(&totals);
    // Each client loses its in-flight request; the next one waits.
    assert_eq!(counts.errors(), 4);
    let wait = totals.account(JOB).window.histograms.of(Kind::Wait);
    assert!((secs(3).0..secs(4).0 + secs(1).0).contains(&wait.max()), "{}", wait.max());
}

#[test]
fn unrecovered_outage_is_reported_as_lost_target() {
    let (totals, finished) = simulate(&plan(even(100), 0.0, 10.0, 4), &away(5, 60));
    assert_eq!(finished.measured.map(|measured| measured.lost), Some(vec![JobTarget::Main]));
    assert_eq!(balance(&totals).completed(), 499);
}

#[test]
fn too_many_connections_become_the_limit_and_not_an_error() {
    let config = Config { max_connections: Some(6), ..constant(10_000, None) };
    let (totals, _) = simulate(&plan(even(1_000), 0.0, 5.0, 4), &config);
    let counts = balance(&totals);
    assert_eq!(counts.errors(), 0);
    assert_eq!(events(&totals, EventKind::ConnectionLimit).len(), 1);
    // Six connections at 10 ms each complete 600 of the 1,000 requests per second; the drain of ten
    // seconds completes the rest.
    assert_eq!(counts.completed(), 4_999);
    assert_eq!(totals.account(JOB).intervals[4].1.completed, 600);
}

#[test]
fn open_job_grows_its_connections_up_to_the_limit() {
    // 1,000/s at 100 ms need a hundred connections; Little's law at 20 ms opens twenty.
    for (most, completed_per_s) in [(1_000, 1_000), (50, 500)] {
        let mut plan = plan(even(1_000), 5.0, 10.0, 4);
        plan.max_connections = most;
        plan.drain = secs(60);
        let (totals, _) = simulate(&plan, &constant(100_000, None));
        assert_eq!(balance(&totals).completed(), 5_000);
        assert_eq!(totals.account(JOB).intervals[8].1.completed, completed_per_s);
    }
}

/// The window has its full length even if the last arrival comes before the end.
#[test]
fn a_run_lasts_as_long_as_its_duration() {
    for (pacing, stop, length) in [
        (poisson(3), None, secs(10)),
        (queue(3, 2), None, secs(10)),
        (Pacing::Timetable { schedule: Schedule::Every(secs(4)), batch: 1 }, None, secs(10)),
        (poisson(3), Some(secs(6)), secs(6)),
    ] {
        let mut plan = plan(pacing, 0.0, 10.0, 1);
        plan.jobs[0].stop = stop;
        let (_, finished) = simulate(&plan, &constant(1_000, None));
        assert_eq!(finished.measured.expect("it was measured").length, length, "{stop:?}");
    }
}

#[test]
fn counts_and_stops_end_a_job_and_its_run() {
    let counted = |pacing: Pacing, count: u64| {
        let mut plan = plan(pacing, 0.0, 60.0, 1);
        plan.jobs[0].count = Some(count);
        let (totals, finished) = simulate(&plan, &constant(1_000, None));
        let length = finished.measured.expect("it was measured").length;
        assert!(length < secs(60), "the run ends when its jobs have: {length}");
        balance(&totals).completed()
    };
    assert_eq!(counted(poisson(1_000), 17), 17);
    assert_eq!(counted(queue(1_000, 3), 17), 17);
    assert_eq!(counted(Pacing::Closed { clients: 4, think: None }, 17), 17);
    let batches = Pacing::Timetable { schedule: Schedule::Every(secs(1)), batch: 10 };
    assert_eq!(counted(batches, 3), 30);
    let mut plan = plan(even(100), 0.0, 60.0, 1);
    plan.jobs[0].start = secs(2);
    plan.jobs[0].stop = Some(secs(4));
    let (totals, _) = simulate(&plan, &constant(1_000, None));
    assert_eq!(arrivals(&totals), [0, 0, 99, 100]);
}

#[test]
fn a_run_without_duration_continues_until_it_is_stopped() {
    let mut plan: Plan = plan(even(100), 0.0, 1.0, 1);
    plan.duration = None;
    plan.jobs[0].requests.timeout = Some(secs(1));
    let stop = Stop::default();
    let server = Simulated::new(Config { errors: 1.0, ..constant(1_000, None) }, plan.seed);
    plan.jobs[0].requests.on_error = OnError::Stop;
    let (totals, finished) = run_on(&plan, server, &virtually(1), &stop);
    assert_eq!(finished.end, EndKind::StoppedByError);
    assert_eq!(balance(&totals).scheduled(), 1);
}

#[test]
fn a_run_that_was_interrupted_before_it_began_measures_nothing() {
    let mut plan = plan(poisson(1_000), 0.0, 1_000.0, 1);
    plan.jobs[0].pacing = Pacing::Open {
        schedule: Schedule::Poisson(Rate::per_second(1_000).expect("a rate")),
        batch: 2,
    };
    let stop = Stop::default();
    stop.interrupt();
    let server = Simulated::new(constant(1_000, None), plan.seed);
    let (totals, finished) = run_on(&plan, server, &virtually(3), &stop);
    assert_eq!(finished.end, EndKind::Interrupted);
    assert_eq!(finished.measured, None, "it was interrupted before anything was measured");
    assert_eq!(balance(&totals), Balance::default());
}

/// Two threads agree on an end slightly ahead. Until then, pauses have their full length.
#[test]
fn a_run_that_is_stopped_on_two_threads_does_not_move_the_ends_of_pauses() {
    let file = "duration = 100s\n[thinks]\nquery = select 1\nconcurrency = 200\nthink = 500ms\n\
                [stops]\nquery = select 1\nstart = 3s\nevery = 1s\ncount = 1\ntimeout = 1ms\n\
                on-error = stop\n";
    let (plan, diagnostics) = workload::plan(file, &workload::Overrides::default());
    let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let server = Simulated::new(exponential(200_000, None), plan.seed);
    let (totals, finished) = run_on(&plan, server, &virtually(2), &Stop::default());
    assert_eq!(finished.end, EndKind::StoppedByError);
    let window = &totals.account(JOB).window;
    assert!(window.counts.arrivals > 1_000, "{}", window.counts.arrivals);
    assert_eq!(window.histograms.of(Kind::SendLag).max(), 0);
}

#[test]
fn all_threads_together_keep_to_the_most_connections() {
    let most = |connections: u32, threads: u16| {
        let mut plan = plan(even(1_000), 0.0, 5.0, 4);
        plan.max_connections = connections;
        let server = Simulated::new(constant(100_000, None), plan.seed);
        let no_stop = Stop::default();
        let (totals, _) = run_on(&plan, server, &virtually(threads), &no_stop);
        // 1,000 requests per second at 0.1 s each: all connections are busy throughout.
        totals.account(JOB).intervals[3].1.completed
    };
    assert_eq!(most(10, 3), 100);
    assert_eq!(most(4, 4), 40);
}

#[test]
fn fewer_connections_than_threads_are_refused() {
    let mut plan = plan(even(1_000), 0.0, 5.0, 4);
    plan.max_connections = 3;
    let server = Simulated::new(constant(100_000, None), plan.seed);
    let outlet = |_| -> engine::LaneOutlet { unreachable!("nothing begins") };
    let (stop, listener) = (Stop::default(), std::sync::Arc::new(engine::NoListener));
    let error =
        engine::run(&plan, only(server), &virtually(4), outlet, &stop, listener).unwrap_err();
    let expected = "each of the 4 threads needs a connection, and `max-connections` is 3";
    assert!(error.to_string().contains(expected), "{error}");
}
