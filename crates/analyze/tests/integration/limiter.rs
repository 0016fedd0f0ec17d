//! The limiter of a run, found from observations of the generator alone.

use analyze::limiting::{
    ConnectionLimit, FullThread, GeneratorLimit, Inconclusive, LimiterFinding, Saturation,
};
use analyze::{
    Component, Evidence, EvidenceKind, EvidenceNumber, Limiter, Step, Surroundings,
    UtilisedComponent, summarize,
};
use base::{Class, Code};
use record::{EventError, EventKind, Kind};

use crate::support::{
    MIXED, OPEN, PER_S, answer_only, answered, event, grow, near, nothing, set_times, steady,
    turn_bad,
};

/// A closed job of 20 clients.
const CLOSED: &str = "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nconcurrency = 20\n";

#[track_caller]
fn check(evidence: &Evidence, component: Component, finding: LimiterFinding) {
    let limiter = summarize(evidence).limiter;
    assert_eq!((limiter.component, limiter.finding), (component, finding));
}

#[track_caller]
fn is_inconclusive(evidence: &Evidence, reason: Inconclusive) {
    check(evidence, Component::Unknown, LimiterFinding::Inconclusive(reason));
}

/// Returns the finding of a run whose database was not observed.
fn unobserved(why: Saturation) -> LimiterFinding {
    LimiterFinding::NothingSaturated { why, sees_server: false, saturated: Vec::new() }
}

fn numbers_of(numbers: [(EvidenceKind, f64); 2]) -> [EvidenceNumber; 2] {
    numbers.map(|(kind, value)| EvidenceNumber { kind, value })
}

#[test]
fn open_jobs_that_get_what_they_are_offered_are_not_limited() {
    let evidence = steady(OPEN);
    check(&evidence, Component::NotSaturated, LimiterFinding::Satisfied);
    let numbers = summarize(&evidence).limiter.evidence;
    let expected = [(EvidenceKind::OfferedPerS, 1_000.0), (EvidenceKind::AnsweredPerS, 1_000.0)];
    assert_eq!(numbers, numbers_of(expected));
}

#[test]
fn requests_of_a_mix_are_counted_once() {
    let evidence = steady(
        "duration = 60s\nwarmup = 10s\n[pay]\nmix = read: 4, write: 1\nrate = 1000\n\
         [read]\nquery = select 1\n[write]\nquery = select 2\n",
    );
    assert_eq!(evidence.jobs.len(), 3);
    let limiter = summarize(&evidence).limiter;
    assert_eq!(limiter.component, Component::NotSaturated);
    let offered = limiter
        .evidence
        .iter()
        .find(|number| number.kind == EvidenceKind::OfferedPerS)
        .unwrap()
        .value;
    assert!(near(offered, 1_000.0), "{offered}");
}

#[test]
fn limiter_of_unobserved_overloaded_or_closed_job_is_unknown() {
    let mut evidence = steady(OPEN);
    answer_only(&mut evidence, 0, 0, PER_S / 2);
    check(&evidence, Component::Unknown, unobserved(Saturation::Overload));
    check(&steady(MIXED), Component::Unknown, unobserved(Saturation::ClosedJob));
    is_inconclusive(&nothing(OPEN), Inconclusive::NoRequests);
}

#[test]
fn limiter_of_a_run_without_any_request_is_unknown() {
    let fed = CLOSED.replace("select 1", "select ?\nquery-args-file = empty.csv");
    is_inconclusive(&nothing(&fed), Inconclusive::NoRequests);
    // The only request of each client takes the whole window.
    let mut long = nothing(CLOSED);
    long.jobs[0].steps = vec![answered(20)];
    check(&long, Component::Unknown, unobserved(Saturation::ClosedJob));
    for section in ["setup", "teardown"] {
        let statements = nothing(&format!("[{section}]\nquery = create table t (v int)\n"));
        is_inconclusive(&statements, Inconclusive::NoRequests);
    }
}

/// The clients keep their connections, but have no input in the whole window.
#[test]
fn pipe_that_stalls_in_the_warmup_limits() {
    let fed = CLOSED.replace("select 1", "select ?\nquery-args-file = pipe");
    let mut stalled = nothing(&fed);
    stalled.jobs[0].steps = vec![answered(400)];
    let slow = GeneratorLimit::SlowFeed { clients: 20.0, idle_share: 1.0 };
    check(&stalled, Component::GeneratorInput, LimiterFinding::Generator(slow));
}

/// Returns a run with a schedule and a job with one request, which has these times in milliseconds.
fn with_one_request(times: &[(Kind, f64)]) -> Evidence {
    let once = format!("{OPEN}[once]\nquery = select 2\ncount = 1\nstart = 30s\n");
    let mut evidence = steady(&once);
    for kind in [Kind::Response, Kind::Service, Kind::Wait] {
        set_times(&mut evidence, 1, kind, 0.01, 1);
    }
    times.iter().for_each(|(kind, ms)| set_times(&mut evidence, 1, *kind, *ms, 1));
    evidence
}

/// A job with one short request, such as a `drop table`, does not hide that the other jobs achieve
/// their rates. A job with one long request does.
#[test]
fn single_request_next_to_a_schedule_is_not_a_limit() {
    let busy_for = |ms| with_one_request(&[(Kind::Response, ms), (Kind::Service, ms)]);
    check(&busy_for(200.0), Component::NotSaturated, LimiterFinding::Satisfied);
    check(&busy_for(45_000.0), Component::Unknown, unobserved(Saturation::ClosedJob));
}

/// The service time of a request includes neither its wait for a connection nor its failure.
#[test]
fn client_is_busy_while_its_request_waits_or_fails() {
    let waiting = with_one_request(&[(Kind::Response, 45_000.0), (Kind::Wait, 44_800.0)]);
    let failed = with_one_request(&[(Kind::Error, 45_000.0)]);
    for evidence in [waiting, failed] {
        check(&evidence, Component::Unknown, unobserved(Saturation::ClosedJob));
    }
}

#[test]
fn a_target_that_fails_is_not_called_unsaturated() {
    let mut evidence = steady(OPEN);
    (10..60).for_each(|second| turn_bad(&mut evidence, 0, second, [11, 0, 0]));
    is_inconclusive(&evidence, Inconclusive::FailingRequests);
}

/// A target with timeouts may be saturated, even if the timeouts are accepted errors.
#[test]
fn a_target_that_fails_as_expected_is_not_called_unsaturated() {
    let with_failures = |per_s| {
        let mut evidence = steady(OPEN);
        for second in 10..60 {
            turn_bad(&mut evidence, 0, second, [per_s, 0, 0]);
            evidence.jobs[0].steps[second].counts.accepted_errors = per_s;
        }
        summarize(&evidence).limiter.component
    };
    assert_eq!(with_failures(10), Component::NotSaturated);
    assert_eq!(with_failures(11), Component::Unknown);
}

#[test]
fn a_window_too_short_for_a_trend_does_not_say_that_nothing_is_limited() {
    let mut evidence = steady("duration = 4s\n[read]\nquery = select 1\nrate = 1000\n");
    answer_only(&mut evidence, 0, 0, PER_S * 4 / 5);
    is_inconclusive(&evidence, Inconclusive::ShortWindow);
    answer_only(&mut evidence, 0, 0, PER_S / 2);
    check(&evidence, Component::Unknown, unobserved(Saturation::Overload));
}

#[test]
fn connections_limit_the_job_that_waits_for_them() {
    let two = format!("{OPEN}[other]\nquery = select 1\nrate = 1000\n");
    let text = "3 connections are the limit: too many connections";
    let limited = |place: Option<u16>, overloaded: usize| {
        let mut evidence = steady(&two);
        evidence.events.push(event(500, place, EventKind::ConnectionLimit, text));
        answer_only(&mut evidence, overloaded, 0, PER_S / 2);
        evidence
    };
    let waits = ConnectionLimit::RequestsWait { text: text.to_owned() };
    let waits = LimiterFinding::Connections(waits);
    check(&limited(Some(0), 0), Component::Connections, waits.clone());
    check(&limited(None, 1), Component::Connections, waits);
    check(&limited(Some(0), 1), Component::Unknown, unobserved(Saturation::Overload));
    let mut evidence = steady(OPEN);
    evidence.events.push(event(500, Some(0), EventKind::ConnectionLimit, text));
    check(&evidence, Component::NotSaturated, LimiterFinding::Satisfied);
}

#[test]
fn unconnected_clients_limit_the_job() {
    let text = "8 connections are the limit, and clients without one send nothing: too many";
    let mut evidence = steady(CLOSED);
    evidence.events.push(event(500, Some(0), EventKind::ConnectionLimit, text));
    evidence.jobs[0].steps.iter_mut().for_each(|step| step.connections = Some(8));
    let (clients, connections, text) = (20.0, 8.0, text.to_owned());
    let without = ConnectionLimit::UnconnectedClients { clients, connections, text };
    check(&evidence, Component::Connections, LimiterFinding::Connections(without));
    let limiter = summarize(&evidence).limiter;
    assert_eq!(limiter.ranked[0].share, 0.6);
    let numbers = [(EvidenceKind::Clients, 20.0), (EvidenceKind::Connections, 8.0)];
    assert_eq!(limiter.evidence, numbers_of(numbers));
    // All clients have a connection.
    evidence.jobs[0].steps.iter_mut().for_each(|step| step.connections = Some(20));
    assert_ne!(summarize(&evidence).limiter.component, Component::Connections);
}

/// Plants the event of a first refused connection while the clients of [read] reconnect, at 30.5 s.
/// `open` returns the number of their connections at the end of each second.
fn lose_connections(evidence: &mut Evidence, open: impl Fn(usize) -> u64) {
    let mut refused = event(30_500, Some(0), EventKind::FirstError, "while reconnecting: too many");
    refused.error = Some(EventError { class: Class::TooManyConnections, code: Code::new("53300") });
    evidence.events.push(refused);
    for (second, step) in evidence.jobs[0].steps.iter_mut().enumerate() {
        step.connections = Some(open(second));
    }
}

#[test]
fn clients_that_lose_their_connections_in_mid_run_limit_the_job() {
    let mut evidence = steady(CLOSED);
    lose_connections(&mut evidence, |second| if second < 30 { 20 } else { 8 });
    let (clients, connections) = (20.0, 8.0);
    let text = "while reconnecting: too many".to_owned();
    let without = ConnectionLimit::UnconnectedClients { clients, connections, text };
    check(&evidence, Component::Connections, LimiterFinding::Connections(without));
    // The clients lacked 12 of 20 connections for 29 of 49 seconds.
    let share = summarize(&evidence).limiter.ranked[0].share;
    assert!(near(share, 0.6 * 29.0 / 49.0), "{share}");
}

#[test]
fn clients_that_regain_their_connections_at_once_do_not_limit_the_job() {
    let mut evidence = steady(CLOSED);
    lose_connections(&mut evidence, |second| if second == 30 { 18 } else { 20 });
    check(&evidence, Component::Unknown, unobserved(Saturation::ClosedJob));
}

#[test]
fn connections_limit_the_open_job_that_does_not_regain_them() {
    let with = |after_30_s| {
        let mut evidence = steady(OPEN);
        lose_connections(&mut evidence, |second| if second < 30 { 8 } else { after_30_s });
        answer_only(&mut evidence, 0, 30, PER_S / 2);
        evidence
    };
    let text = "while reconnecting: too many".to_owned();
    let waits = LimiterFinding::Connections(ConnectionLimit::RequestsWait { text });
    check(&with(3), Component::Connections, waits);
    check(&with(8), Component::Unknown, unobserved(Saturation::Overload));
}

/// The clients of a job that ended have no connections because they need none.
#[test]
fn refused_clients_of_a_job_that_ended_before_the_window_limit_nothing() {
    for end in ["count = 1000", "stop = 5s"] {
        let fill = format!("{CLOSED}[fill]\nquery = select 2\nconcurrency = 20\n{end}\n");
        let mut evidence = steady(&fill);
        for (second, step) in evidence.jobs[1].steps.iter_mut().enumerate() {
            let open = if second < 4 { 8 } else { 0 };
            *step = if second < 5 { answered(200) } else { Step::default() };
            step.connections = Some(open);
        }
        let text = "8 connections are the limit, and clients without one send nothing: too many";
        evidence.events.push(event(500, Some(1), EventKind::ConnectionLimit, text));
        check(&evidence, Component::Unknown, unobserved(Saturation::ClosedJob));
    }
}

/// Without a calibration, a full thread is sufficient evidence.
#[test]
fn a_closed_job_whose_thread_is_busy_all_the_time_is_limited_by_it() {
    let closed = "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nconcurrency = 4\n";
    let mut evidence = steady(closed);
    evidence.surroundings = Surroundings::default();
    grow(&mut evidence, "lane-1", "ran", 0.97);
    let limiter = summarize(&evidence).limiter;
    assert_eq!(limiter.component, Component::GeneratorThread);
    let LimiterFinding::Generator(finding) = limiter.finding else {
        panic!("{:?}", limiter.finding);
    };
    let GeneratorLimit::ThreadFull { use_of_thread, underused, threads } = finding else {
        panic!("{finding:?}");
    };
    assert_eq!((underused, threads), (1, 2));
    let FullThread::Processor { thread, share } = use_of_thread else {
        panic!("{use_of_thread:?}");
    };
    assert!(thread == "lane-1" && near(share, 0.97), "{thread} {share}");
    grow(&mut evidence, "lane-1", "ran", 0.5);
    assert_eq!(summarize(&evidence).limiter.component, Component::Unknown);
    grow(&mut evidence, "lane-1", "ran", 0.97);
    let shows_thread = |limiter: &Limiter| {
        limiter.seen.utilisations.iter().any(|(it, _)| *it == UtilisedComponent::GeneratorThread)
    };
    assert!(shows_thread(&summarize(&evidence).limiter));
    // A thread that spins is always busy.
    evidence.spins = true;
    let limiter = summarize(&evidence).limiter;
    assert_eq!(limiter.component, Component::Unknown);
    assert!(!shows_thread(&limiter), "{:?}", limiter.seen);
}
