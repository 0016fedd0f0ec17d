//! Checks on both sides of their thresholds: one planted fault, one check that detects it.

use analyze::finding::{
    Completeness, Connections, Failures, Files, LatePart, Outages, Requests, RunEnd, WrongResults,
};
use analyze::{Check, Domain, Evidence, Finding, Status, summarize};
use base::{Class, Code, Nanos};
use record::{EndKind, Event, EventError, EventKind, Kind};

use crate::support::{
    CHECKS, MIXED, OPEN, PER_S, add_times, answered, check, end_at, event, nothing, only,
    set_medians, set_times, steady, turn_bad,
};

/// First second of the window.
const FIRST: usize = 10;

/// Requests in the window.
const MEASURED: u64 = 50 * PER_S;

#[test]
fn a_run_without_a_fault_passes_every_check() {
    const CLOSED: [&str; 7] = [
        "arrivals",
        "gaps",
        "other-programs",
        "warm-up",
        "wrong-results",
        "commits",
        "checkpoints",
    ];
    const EVEN: [&str; 8] = [
        "arrivals",
        "gaps",
        "other-programs",
        "warm-up",
        "little",
        "wrong-results",
        "commits",
        "checkpoints",
    ];
    for (workload, impossible) in [(OPEN, &EVEN[..]), (MIXED, &CLOSED)] {
        let mut evidence = steady(workload);
        for place in 0..evidence.jobs.len() {
            set_medians(&mut evidence, place, |part| 1.0 + 0.001 * (part % 3) as f64);
        }
        let summary = summarize(&evidence);
        assert_eq!(summary.verdict.word(), "VALID");
        let of =
            |status| summary.verdict.with(status).map(|check| check.name()).collect::<Vec<_>>();
        assert_eq!(of(Status::NotPossible), impossible);
        assert_eq!(of(Status::Pass).len(), CHECKS.len() - impossible.len(), "{summary:?}");
    }
}

/// Returns the end of a run that the check `complete` reports.
#[track_caller]
fn end_of(check: Check) -> (RunEnd, Option<Nanos>) {
    match check.finding {
        Finding::Complete(Completeness::Ended { end, at, unread_plan: None }) => (end, at),
        other => panic!("{other:?}"),
    }
}

#[test]
fn complete_reports_how_the_run_ended() {
    for (ended, status, end) in [
        (Some(EndKind::Completed), Status::Pass, RunEnd::Completed { exhausted: None }),
        (Some(EndKind::Interrupted), Status::Suspect, RunEnd::Interrupted),
        (Some(EndKind::StoppedByError), Status::Suspect, RunEnd::StoppedByError),
        (Some(EndKind::TargetLost), Status::Suspect, RunEnd::TargetLost),
        (Some(EndKind::FileFailed), Status::Suspect, RunEnd::FileFailed),
        (Some(EndKind::RecorderFailed), Status::Invalid, RunEnd::RecorderFailed),
        (Some(EndKind::QueueFull), Status::Invalid, RunEnd::QueueFull { job: None }),
        (Some(EndKind::InternalError), Status::Invalid, RunEnd::InternalError),
        (None, Status::Suspect, RunEnd::Killed { open: 0 }),
    ] {
        let mut evidence = steady(OPEN);
        evidence.ended = ended;
        end_at(&mut evidence, Nanos::from_secs(30));
        let check = only("complete", status, &evidence);
        assert_eq!(end_of(check.clone()), (end, Some(Nanos::from_secs(30))));
        assert_eq!((check.value, check.limit), (Some(30.0), Some(60.0)));
    }
}

#[test]
fn complete_names_the_queue_that_ended_the_run() {
    let mut evidence = steady(MIXED);
    evidence.ended = Some(EndKind::QueueFull);
    evidence.events.push(event(30_000, Some(1), EventKind::QueueFull, "1000 requests wait"));
    end_at(&mut evidence, Nanos::from_secs(30));
    let job = Some(evidence.plan.jobs[1].name().to_owned());
    let complete = check("complete", &evidence);
    assert_eq!(complete.status, Status::Invalid);
    assert_eq!(end_of(complete), (RunEnd::QueueFull { job }, Some(Nanos::from_secs(30))));
    assert_eq!(summarize(&evidence).verdict.word(), "INVALID");
}

#[test]
fn a_run_without_a_duration_is_complete_when_the_user_ends_it() {
    let file = "warmup = 10s\n[read]\nquery = select 1\nrate = 1000\narrival = uniform\n";
    let mut evidence = steady(file);
    evidence.ended = Some(EndKind::Interrupted);
    let check = only("complete", Status::Pass, &evidence);
    assert_eq!(check.limit, None);
    assert_eq!(end_of(check).0, RunEnd::EndedByUser);
    evidence.ended = None;
    only("complete", Status::Suspect, &evidence);
}

#[test]
fn run_without_started_jobs_is_not_complete() {
    let mut evidence = nothing("[read]\nquery = select 1\nrate = 1000\n");
    end_at(&mut evidence, Nanos::ZERO);
    for (ended, end) in [
        (Some(EndKind::Interrupted), RunEnd::Interrupted),
        (None, RunEnd::Killed { open: 0 }),
        (Some(EndKind::TargetLost), RunEnd::TargetLost),
    ] {
        evidence.ended = ended;
        let check = check("complete", &evidence);
        assert_eq!(check.status, Status::Suspect);
        assert_eq!(end_of(check), (end, None));
        assert_eq!(summarize(&evidence).verdict.word(), "INVALID", "there is no result");
    }
}

/// A disk may be full before the first second is written. The reported end then has no time.
#[test]
fn record_failed_in_its_first_second_is_reported_as_recorder_failure() {
    let mut evidence = nothing("[read]\nquery = select 1\nrate = 1000\n");
    end_at(&mut evidence, Nanos::ZERO);
    evidence.ended = Some(EndKind::RecorderFailed);
    let check = check("complete", &evidence);
    assert_eq!(check.status, Status::Invalid);
    assert_eq!(end_of(check), (RunEnd::RecorderFailed, None));
}

#[test]
fn record_with_missing_intervals_is_not_complete() {
    let mut evidence = steady(OPEN);
    let text = "lane 0 handed over faster than the record could be written: 3 parts are missing";
    evidence.events.push(event(59_000, None, EventKind::RecorderFailed, text));
    let missing = Completeness::PartsMissing { text: text.to_owned() };
    let check = only("complete", Status::Invalid, &evidence);
    assert_eq!(check.finding, Finding::Complete(missing));
}

#[test]
fn complete_says_how_many_requests_were_open_when_the_run_was_killed() {
    for open in [0, 1, 40] {
        let mut evidence = steady(OPEN);
        evidence.ended = None;
        turn_bad(&mut evidence, 0, 59, [0, 0, open]);
        let check = only("complete", Status::Suspect, &evidence);
        assert_eq!(end_of(check), (RunEnd::Killed { open }, Some(Nanos::from_secs(60))));
    }
}

#[test]
fn a_window_without_a_request_is_invalid() {
    let mut evidence = steady(OPEN);
    evidence.jobs[0].steps.truncate(FIRST);
    let empty = check("window", &evidence);
    let none = Finding::Window(Requests::None { has_warmup: true });
    assert_eq!((empty.status, empty.finding), (Status::Invalid, none));
    evidence.jobs[0].steps.push(answered(1));
    let check = check("window", &evidence);
    assert_eq!((check.status, check.value), (Status::Pass, Some(1.0)));
    let one = Requests::Scheduled { requests: 1, length: Nanos::from_secs(50) };
    assert_eq!(check.finding, Finding::Window(one));
}

#[test]
fn a_request_that_is_lost_in_the_window_is_a_fault_of_the_balance() {
    let lose = |evidence: &mut Evidence, second: usize| {
        evidence.jobs[0].steps[second].counts.arrivals += 1;
    };
    let mut evidence = steady(OPEN);
    lose(&mut evidence, FIRST - 1);
    only("balance", Status::Pass, &evidence);
    lose(&mut evidence, 59);
    assert_eq!(only("balance", Status::Invalid, &evidence).value, Some(1.0));
}

#[test]
fn surplus_request_does_not_hide_a_lost_one() {
    let mut evidence = steady(MIXED);
    evidence.jobs[0].steps[20].counts.arrivals += 1;
    evidence.jobs[1].steps[20].counts.arrivals -= 1;
    assert_eq!(only("balance", Status::Invalid, &evidence).value, Some(2.0));
    let mut evidence = steady(OPEN);
    evidence.jobs[0].steps[20].counts.arrivals += 1;
    evidence.jobs[0].steps[21].counts.arrivals -= 1;
    assert_eq!(only("balance", Status::Invalid, &evidence).value, Some(2.0));
}

/// The accounts are the mix, then its parts.
#[test]
fn lost_request_of_a_mix_counts_once() {
    let mix = "duration = 60s\nwarmup = 10s\n[all]\nmix = a: 1, b: 1\nrate = 1000\n\
               [a]\nquery = select 1\n[b]\nquery = select 2\n";
    for (lost, value) in [([2, 1, 1], 2.0), ([0, 1, 1], 2.0), ([1, 0, 0], 1.0)] {
        let mut evidence = steady(mix);
        for (place, lost) in lost.into_iter().enumerate() {
            evidence.jobs[place].steps[20].counts.arrivals += lost;
        }
        let check = check("balance", &evidence);
        assert_eq!((check.status, check.value), (Status::Invalid, Some(value)), "{lost:?}");
    }
}

/// Returns a run with these response times in which one of fifty requests was sent `lag`
/// milliseconds late.
fn lagging(lag: f64, responses: [(f64, u64); 2]) -> Evidence {
    let mut evidence = steady(OPEN);
    set_times(&mut evidence, 0, Kind::SendLag, 0.002, MEASURED * 49 / 50);
    add_times(&mut evidence, 0, Kind::SendLag, lag, MEASURED / 50);
    let [(most, count), (others, more)] = responses;
    set_times(&mut evidence, 0, Kind::Response, most, count);
    add_times(&mut evidence, 0, Kind::Response, others, more);
    evidence
}

#[track_caller]
fn check_lag(limit: f64, responses: [(f64, u64); 2]) {
    for (part, status) in [
        (0.98, Status::Pass),
        (1.03, Status::Suspect),
        (4.9, Status::Suspect),
        (5.15, Status::Invalid),
    ] {
        let check = only("send-lag", status, &lagging(limit * part, responses));
        assert!((check.limit.unwrap() / limit - 1.0).abs() < 0.01, "{check:?}");
        assert!((check.value.unwrap() / (limit * part) - 1.0).abs() < 0.02, "{check:?}");
    }
}

#[test]
fn send_lag_of_200_us_always_passes() {
    check_lag(0.2, [(0.05, MEASURED), (0.0, 0)]);
}

#[test]
fn median_send_lag_may_be_a_tenth_of_the_median_response_time() {
    let late = |lag: f64, response: f64| {
        let mut evidence = steady(OPEN);
        set_times(&mut evidence, 0, Kind::SendLag, lag, MEASURED);
        set_times(&mut evidence, 0, Kind::Response, response, MEASURED);
        evidence
    };
    for (lag, response, status) in [
        (0.098, 1.0, Status::Pass),
        (0.103, 1.0, Status::Suspect),
        (0.0195, 0.06, Status::Pass),
        (0.0205, 0.06, Status::Suspect),
        // The run is not INVALID, because its service times are right.
        (0.15, 0.16, Status::Suspect),
    ] {
        let found = only("send-lag", status, &late(lag, response));
        let of_half = matches!(
            &found.finding,
            Finding::SendLag(it) if it.part == LatePart::Half && it.job == "read"
        );
        assert!(of_half || status == Status::Pass, "{found:?}");
    }
}

#[test]
fn send_lag_may_be_a_tenth_of_the_median_and_of_the_response_time_at_p99() {
    check_lag(1.0, [(10.0, MEASURED * 3 / 4), (40.0, MEASURED / 4)]);
    check_lag(4.0, [(40.0, MEASURED), (0.0, 0)]);
    check_lag(0.24, [(1.0, MEASURED * 3 / 4), (2.4, MEASURED / 4)]);
}

#[test]
fn send_lag_may_be_a_quarter_of_a_millisecond_where_p99_is_long() {
    check_lag(0.25, [(1.0, MEASURED * 3 / 4), (40.0, MEASURED / 4)]);
}

#[test]
fn send_lag_is_judged_by_its_own_p99() {
    let late = |requests: u64| {
        let mut evidence = steady(OPEN);
        set_times(&mut evidence, 0, Kind::SendLag, 0.02, MEASURED - requests);
        add_times(&mut evidence, 0, Kind::SendLag, 1.0, requests);
        evidence
    };
    only("send-lag", Status::Pass, &late(MEASURED / 100));
    only("send-lag", Status::Suspect, &late(MEASURED / 100 + 1));
}

#[test]
fn send_lag_reports_the_worst_job() {
    let mut evidence = steady(MIXED);
    set_times(&mut evidence, 1, Kind::SendLag, 1.0, MEASURED);
    let check = only("send-lag", Status::Suspect, &evidence);
    assert!(matches!(&check.finding, Finding::SendLag(it) if it.job == "write"), "{check:?}");
}

#[test]
fn without_a_sent_request_there_is_no_send_lag() {
    let mut evidence = steady(OPEN);
    evidence.jobs[0].window.retain(|(kind, _)| *kind != Kind::SendLag);
    only("send-lag", Status::NotPossible, &evidence);
}

/// Returns a run in which this many requests of the first job failed.
fn failing(workload: &str, failed: u64, accepted: u64) -> Evidence {
    let mut evidence = steady(workload);
    turn_bad(&mut evidence, 0, 20, [failed, 0, 0]);
    evidence.jobs[0].steps[20].counts.accepted_errors = accepted;
    evidence
}

#[test]
fn errors_are_judged_by_their_share_of_the_requests() {
    let (suspect, invalid) = (MEASURED / 1_000, MEASURED / 100);
    for (failed, status) in [
        (0, Status::Pass),
        (suspect, Status::Pass),
        (suspect + 1, Status::Suspect),
        (invalid, Status::Suspect),
        (invalid + 1, Status::Invalid),
    ] {
        let check = only("errors", status, &failing(OPEN, failed, 0));
        let percent = 100.0 * failed as f64 / MEASURED as f64;
        assert!((check.value.unwrap() - percent).abs() < 1e-9);
    }
}

#[test]
fn one_wrong_result_makes_a_run_invalid() {
    let expecting = format!("{OPEN}expect-rows = 1\n");
    only("wrong-results", Status::Pass, &steady(&expecting));
    let wrong = |workload: &str| {
        let mut evidence = steady(workload);
        turn_bad(&mut evidence, 0, FIRST, [1, 0, 0]);
        evidence.jobs[0].failures.push((Class::WrongResult, Code::ROWS, 1));
        evidence
    };
    let found = only("wrong-results", Status::Invalid, &wrong(&expecting));
    let one = WrongResults::Some { job: "read".to_owned(), results: 1 };
    assert_eq!(found.finding, Finding::WrongResults(one));
    only("wrong-results", Status::Pass, &wrong(&format!("{expecting}error = rows\n")));
}

#[test]
fn wrong_results_that_a_mix_accepts_in_its_parts_are_not_a_fault() {
    let mix = "duration = 60s\nwarmup = 10s\n[all]\nmix = a\nrate = 1000\nerror = rows\n\
               [a]\nquery = select 1\nexpect-rows = 1\n";
    let mut evidence = steady(mix);
    turn_bad(&mut evidence, 1, FIRST, [1, 0, 0]);
    evidence.jobs[1].failures.push((Class::WrongResult, Code::ROWS, 1));
    assert_eq!(check("wrong-results", &evidence).status, Status::Pass);
}

#[test]
fn accepted_errors_and_errors_of_the_warm_up_are_not_a_fault() {
    only("errors", Status::Pass, &failing(OPEN, 900, 900));
    only("errors", Status::Pass, &failing(OPEN, 900, 850));
    only("errors", Status::Suspect, &failing(OPEN, 900, 849));
    let mut evidence = steady(OPEN);
    turn_bad(&mut evidence, 0, FIRST - 1, [PER_S, 0, 0]);
    only("errors", Status::Pass, &evidence);
}

#[test]
fn failing_job_is_not_hidden_by_a_busier_job() {
    let mut evidence = steady(MIXED);
    evidence.jobs[1].steps = vec![answered(0); 60];
    evidence.jobs[1].steps[30] = answered(20);
    turn_bad(&mut evidence, 1, 30, [20, 0, 0]);
    evidence.jobs[1].failures = vec![
        (Class::Disconnect, Code::new("57P01"), 11),
        (Class::Conflict, Code::new("40001"), 5),
        (Class::Conflict, Code::new("40P01"), 4),
    ];
    let check = only("errors", Status::Invalid, &evidence);
    let all = Failures::Some {
        job: "write".to_owned(),
        failed: 20,
        scheduled: 20,
        error: Some(EventError { class: Class::Disconnect, code: Code::new("57P01") }),
        runs_program: false,
    };
    assert_eq!(check.finding, Finding::Errors(all));
    assert_eq!(check.value, Some(100.0));
    // The class decides first, then its most frequent code.
    evidence.jobs[1].failures = vec![
        (Class::Server, Code::new("53100"), 6),
        (Class::Timeout, Code::DRAIN, 5),
        (Class::Timeout, Code::TIMEOUT, 4),
        (Class::Conflict, Code::new("40001"), 5),
    ];
    let check = only("errors", Status::Invalid, &evidence);
    let Finding::Errors(Failures::Some { error, .. }) = check.finding else { panic!("{check:?}") };
    assert_eq!(error, Some(EventError { class: Class::Timeout, code: Code::DRAIN }));
}

fn away(changes: &[(u64, EventKind)]) -> Evidence {
    let mut evidence = steady(OPEN);
    evidence.events.extend(changes.iter().map(|(at, kind)| event(*at, None, *kind, "")));
    evidence
}

#[test]
fn an_outage_makes_a_run_suspect() {
    use EventKind::{OutageBegan as Began, OutageEnded as Ended};
    let evidence = away(&[(20_000, Began), (21_500, Ended), (30_000, Began), (30_500, Ended)]);
    let check = only("outage", Status::Suspect, &evidence);
    assert_eq!(check.value, Some(2.0));
    let (length, first) = (Nanos::from_secs(2), Nanos::from_secs(20));
    let outages = Outages::Some { length, first, text: Some(String::new()) };
    assert_eq!(check.finding, Finding::Outage(outages));
}

/// In a sweep over the number of servers, a run that loses one of them is useless and is repeated.
#[test]
fn server_that_is_lost_in_a_sweep_over_servers_makes_the_run_invalid() {
    use EventKind::{FirstError, OutageBegan as Began, OutageEnded as Ended};
    let varied = |mut evidence: Evidence| {
        evidence.surroundings.varies_servers = true;
        evidence
    };
    let lost = only("outage", Status::Invalid, &varied(away(&[(20_000, Began), (21_500, Ended)])));
    assert_eq!((lost.value, lost.domain()), (Some(1.5), Domain::Instrument));
    only("outage", Status::Pass, &varied(away(&[])));
    // Clients of the lost server may reach the others at once.
    let of_class = |class| {
        let mut evidence = varied(away(&[]));
        let error = Some(EventError { class, code: Code::new("08006") });
        let text = "db2 closed the connection";
        evidence.events.push(Event { error, ..event(20_000, Some(0), FirstError, text) });
        evidence
    };
    let moved = only("outage", Status::Invalid, &of_class(Class::Disconnect));
    let (length, first) = (Nanos::ZERO, Nanos::from_secs(20));
    let text = "db2 closed the connection".to_owned();
    let finding = Finding::Outage(Outages::FewerServers { length, first, text });
    assert_eq!((moved.finding, moved.value), (finding, Some(0.0)));
    only("outage", Status::Pass, &of_class(Class::Conflict));
    let mut elsewhere = of_class(Class::Disconnect);
    elsewhere.surroundings.varies_servers = false;
    only("outage", Status::Pass, &elsewhere);
}

#[test]
fn an_outage_that_does_not_end_lasts_until_the_end() {
    let check = only("outage", Status::Suspect, &away(&[(57_000, EventKind::OutageBegan)]));
    assert_eq!(check.value, Some(3.0));
}

#[test]
fn an_outage_that_several_lanes_notice_is_one_outage() {
    use EventKind::{OutageBegan as Began, OutageEnded as Ended};
    let evidence = away(&[
        (20_000, Began),
        (20_100, Began),
        (21_000, Ended),
        (22_000, Ended),
        (40_000, Began),
        (41_000, Ended),
    ]);
    assert_eq!(only("outage", Status::Suspect, &evidence).value, Some(3.0));
}

#[test]
fn an_outage_is_measured_in_the_order_of_time() {
    use EventKind::{OutageBegan as Began, OutageEnded as Ended};
    let evidence = away(&[(20_000, Began), (22_000, Ended), (20_500, Began), (21_000, Ended)]);
    assert_eq!(only("outage", Status::Suspect, &evidence).value, Some(2.0));
}

#[test]
fn a_server_that_takes_fewer_connections_makes_a_run_suspect() {
    let mut evidence = steady(OPEN);
    let text = "3 connections are the limit: too many connections";
    evidence.events.push(event(10, Some(0), EventKind::ConnectionLimit, text));
    let check = only("connections", Status::Suspect, &evidence);
    let limited = Finding::Connections(Connections::Limited { text: text.to_owned() });
    assert_eq!((check.value, check.finding), (Some(1.0), limited));
}

#[test]
fn a_closed_job_without_its_connections_makes_a_run_suspect() {
    only("connections", Status::Pass, &steady(MIXED));
    let mut evidence = steady(MIXED);
    // One of four connections is missing for a second, and then for 25 seconds.
    evidence.jobs[1].steps[20].connections = Some(3);
    only("connections", Status::Pass, &evidence);
    evidence.jobs[1].steps[20..45].iter_mut().for_each(|step| step.connections = Some(3));
    let found = only("connections", Status::Suspect, &evidence);
    // One connection is missing for 25 of the 49 seconds that count.
    let open = (49.0 * 4.0 - 25.0) / 49.0;
    let missing = |refusal| {
        let job = "write".to_owned();
        Finding::Connections(Connections::Missing { job, configured: 4, open, refusal })
    };
    assert_eq!(found.finding, missing(None));
    // The target refused logins during the outage.
    let refused = Some(EventError { class: Class::Statement, code: Code::new("28P01") });
    let away = event(20_000, None, EventKind::OutageBegan, "the target refuses connections");
    evidence.events.push(Event { error: refused, ..away });
    assert_eq!(check("connections", &evidence).finding, missing(refused));
    evidence.events.clear();
    // The connections were not counted.
    evidence.jobs[1].steps.iter_mut().for_each(|step| step.connections = None);
    only("connections", Status::Pass, &evidence);
    // The job has closed its connections when the run ends.
    let mut evidence = steady(MIXED);
    evidence.jobs[1].steps.last_mut().unwrap().connections = Some(0);
    only("connections", Status::Pass, &evidence);
}

#[test]
fn requests_that_were_never_sent_make_a_run_suspect() {
    let unsent = |count: u64| {
        let mut evidence = steady(OPEN);
        turn_bad(&mut evidence, 0, 59, [0, 0, count]);
        evidence
    };
    only("achieved", Status::Pass, &unsent(400));
    let found = only("achieved", Status::Suspect, &unsent(600));
    assert_eq!((found.value, found.limit), (Some(1.2), Some(1.0)));
    let mut interrupted = unsent(600);
    interrupted.ended = Some(EndKind::Interrupted);
    assert_eq!(check("achieved", &interrupted).status, Status::NotPossible);
}

#[test]
fn a_file_that_failed_makes_a_run_invalid() {
    let mut evidence = steady(OPEN);
    // Missing entries of the op-log do not affect the result.
    evidence.events.push(event(10, None, EventKind::OpLogIncomplete, "5 are missing"));
    only("files", Status::Pass, &evidence);
    let text = "the results file `found.csv` of [read] could not be written";
    evidence.events.push(event(10, Some(0), EventKind::FileFailed, text));
    let check = only("files", Status::Invalid, &evidence);
    let failed = Finding::Files(Files::Failed { text: text.to_owned() });
    assert_eq!((check.value, check.finding), (Some(1.0), failed));
}

#[test]
fn a_pipe_that_may_have_been_cut_off_makes_a_run_suspect() {
    let mut evidence = steady(OPEN);
    let text = "the file `pipe` of [read] ended within a line";
    evidence.events.push(event(10, Some(0), EventKind::FileCutOff, text));
    let cut_off = Finding::Files(Files::CutOff { text: text.to_owned() });
    assert_eq!(only("files", Status::Suspect, &evidence).finding, cut_off);
}

#[test]
fn complete_names_the_file_whose_end_ended_the_mix() {
    let mut evidence = steady(OPEN);
    let text = "the file `a.csv` of [write] has no more records, which ended the mix [both]";
    evidence.events.push(event(10, Some(0), EventKind::FileExhausted, text));
    let (end, _) = end_of(only("complete", Status::Pass, &evidence));
    assert_eq!(end, RunEnd::Completed { exhausted: Some(text.to_owned()) });
}

#[test]
fn a_time_beyond_the_histograms_makes_a_run_invalid() {
    let mut evidence = steady(OPEN);
    evidence.jobs[0].steps[FIRST - 1].counts.overflows = 1;
    only("overflow", Status::Pass, &evidence);
    evidence.jobs[0].steps[FIRST].counts.overflows = 1;
    assert_eq!(only("overflow", Status::Invalid, &evidence).value, Some(1.0));
}

#[test]
fn without_a_job_only_completeness_can_be_judged() {
    let evidence = nothing("duration = 60s\n[load t]\nrows = 10\ncolumns = a: row()\n");
    let verdict = summarize(&evidence).verdict;
    assert_eq!(verdict.word(), "VALID");
    let passed: Vec<&str> = verdict.with(Status::Pass).map(|check| check.name()).collect();
    assert_eq!(passed, ["complete"]);
    assert_eq!(verdict.with(Status::NotPossible).count(), CHECKS.len() - 1);
}

#[test]
fn the_worst_of_several_faults_is_the_verdict() {
    let mut evidence = steady(OPEN);
    evidence.jobs[0].window.retain(|(kind, _)| *kind != Kind::SendLag);
    assert_eq!(summarize(&evidence).verdict.word(), "VALID", "what is not possible is no fault");
    evidence.ended = Some(EndKind::Interrupted);
    assert_eq!(summarize(&evidence).verdict.word(), "SUSPECT");
    evidence.jobs[0].steps[20].counts.overflows = 1;
    let verdict = summarize(&evidence).verdict;
    assert_eq!(verdict.word(), "INVALID");
    let names = |status| verdict.with(status).map(|check| check.name()).collect::<Vec<_>>();
    assert_eq!(names(Status::Invalid), ["overflow"]);
    assert_eq!(names(Status::Suspect), ["complete"]);
    assert_eq!(
        names(Status::NotPossible),
        [
            "achieved",
            "arrivals",
            "gaps",
            "send-lag",
            "other-programs",
            "warm-up",
            "drift",
            "step",
            "little",
            "wrong-results",
            "commits",
            "checkpoints"
        ]
    );
}
