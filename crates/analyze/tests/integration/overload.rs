//! Loads beyond the capacity, and loads that only seem to be beyond it.

use analyze::finding::{Backlog, JobObstacle};
use analyze::limiting::{Inconclusive, LimiterFinding};
use analyze::{Evidence, Finding, Obstacle, Status, Step, Unit, summarize};
use base::{Class, Code, Nanos, Seed, Stamp, Stream};
use record::{Balance, Counts, EndKind, EventKind};
use sim::{Config, Hints, Server, Service};
use workload::Pacing;

use crate::support::{MIXED, OPEN, PER_S, answer_only, check, event, near, only, steady, turn_bad};

/// First second of the window, and one in its middle.
const FIRST: usize = 10;
const MIDDLE: usize = 35;

#[test]
fn a_backlog_that_grows_makes_a_run_suspect_and_withholds_its_response_times() {
    let mut evidence = steady(OPEN);
    answer_only(&mut evidence, 0, 0, PER_S * 9 / 10);
    let check = only("backlog", Status::Suspect, &evidence);
    assert!(check.value > check.limit, "{check:?}");
    assert_eq!(check.finding, grows("read"));
    assert!(summarize(&evidence).jobs[0].exceeds_capacity);
}

fn grows(job: &str) -> Finding {
    Finding::Backlog(Backlog::Grows { jobs: vec![job.to_owned()] })
}

#[test]
fn constant_backlog_is_not_an_overload() {
    let mut evidence = steady(OPEN);
    let check = only("backlog", Status::Pass, &evidence);
    assert_eq!(check.finding, Finding::Backlog(Backlog::Stable));
    evidence.jobs[0].steps[FIRST - 1].ends.completed -= 900;
    only("backlog", Status::Pass, &evidence);
    assert!(!summarize(&evidence).jobs[0].exceeds_capacity);
}

#[test]
fn negligible_backlog_growth_is_not_an_overload() {
    // Of 50,000 requests, chance changes the length of a queue by 447, and half a percent is 250.
    // Growth up to the larger number is negligible: the backlog grows by 400, then by 500.
    let mut evidence = steady(OPEN);
    answer_only(&mut evidence, 0, 0, PER_S - 8);
    let check = only("backlog", Status::Pass, &evidence);
    assert_eq!(check.finding, Finding::Backlog(Backlog::Immaterial));
    answer_only(&mut evidence, 0, 0, PER_S - 10);
    only("backlog", Status::Suspect, &evidence);
}

#[test]
fn recovered_stall_is_not_an_overload() {
    for length in [1, 3, 8] {
        for from in [FIRST, MIDDLE, 60 - 2 * length] {
            let mut evidence = steady(OPEN);
            let seconds = &mut evidence.jobs[0].steps[from..];
            for (second, interval) in seconds.iter_mut().enumerate().take(2 * length) {
                interval.ends.completed = if second < length { 0 } else { 2 * PER_S };
            }
            only("backlog", Status::Pass, &evidence);
        }
    }
}

#[test]
fn a_backlog_that_shrinks_is_not_an_overload() {
    let mut evidence = steady(OPEN);
    answer_only(&mut evidence, 0, 0, 0);
    for interval in &mut evidence.jobs[0].steps[FIRST..] {
        interval.ends.completed = PER_S + 150;
    }
    let check = only("backlog", Status::Pass, &evidence);
    assert!(check.value < Some(0.0), "{check:?}");
}

#[test]
fn a_queue_that_was_full_is_overloaded() {
    let mut evidence = steady(OPEN);
    turn_bad(&mut evidence, 0, MIDDLE, [0, 1, 0]);
    let check = only("backlog", Status::Suspect, &evidence);
    let full = Backlog::QueuesFull { jobs: vec!["read".to_owned()] };
    assert_eq!(check.finding, Finding::Backlog(full));
    assert_eq!((check.value, check.limit), (Some(1.0), Some(0.0)));
    assert_eq!(check.unit, Unit::RejectedRequests);
    let mut evidence = steady(OPEN);
    turn_bad(&mut evidence, 0, FIRST - 1, [0, 1, 0]);
    only("backlog", Status::Pass, &evidence);
}

#[test]
fn errors_and_rejections_are_not_part_of_the_backlog() {
    let mut evidence = steady(OPEN);
    for second in 0..60 {
        turn_bad(&mut evidence, 0, second, [600, 0, 0]);
        evidence.jobs[0].steps[second].counts.accepted_errors = 600;
    }
    only("backlog", Status::Pass, &evidence);
}

/// Requests of an overloaded job in flight at the end of the drain are its backlog, not errors.
#[test]
fn requests_unsent_after_the_drain_are_failures_unless_overloaded() {
    let mut evidence = steady(OPEN);
    turn_bad(&mut evidence, 0, 59, [900, 0, 0]);
    evidence.jobs[0].failures = vec![(Class::Timeout, Code::DRAIN, 900)];
    assert_eq!(check("errors", &evidence).status, Status::Invalid);
    evidence.ended = Some(EndKind::Interrupted);
    assert_eq!(check("errors", &evidence).status, Status::Pass);
    evidence.ended = Some(EndKind::Completed);
    answer_only(&mut evidence, 0, 0, 500);
    only("backlog", Status::Suspect, &evidence);
    evidence.jobs[0].failures[0].1 = Code::TIMEOUT;
    assert_eq!(check("errors", &evidence).status, Status::Invalid);
}

/// Accepted requests in flight after the drain are left out once, not twice.
#[test]
fn accepted_drain_of_an_overloaded_job_does_not_offset_other_errors() {
    let mut evidence = steady(&format!("{OPEN}error = drain\n"));
    turn_bad(&mut evidence, 0, 59, [900, 0, 0]);
    evidence.jobs[0].steps[59].counts.accepted_errors = 300;
    let other = (Class::Server, Code::new("53100"), 600);
    evidence.jobs[0].failures = vec![(Class::Timeout, Code::DRAIN, 300), other];
    answer_only(&mut evidence, 0, 0, 500);
    let errors = check("errors", &evidence);
    assert_eq!((errors.status, errors.value), (Status::Invalid, Some(1.2)));
}

/// If nothing was answered until the interrupt, the target hangs: the open requests are errors.
#[test]
fn interrupt_does_not_excuse_a_job_without_answers() {
    let mut evidence = steady(OPEN);
    evidence.ended = Some(EndKind::Interrupted);
    for second in 0..60 {
        turn_bad(&mut evidence, 0, second, [PER_S, 0, 0]);
    }
    evidence.jobs[0].failures = vec![(Class::Timeout, Code::DRAIN, 50 * PER_S)];
    assert_eq!(check("errors", &evidence).status, Status::Invalid);
}

#[test]
fn a_closed_job_has_no_backlog() {
    let mut evidence = steady(MIXED);
    answer_only(&mut evidence, 1, 0, 100);
    only("backlog", Status::Pass, &evidence);
    let closed = "duration = 60s\n[write]\nquery = select 1\nconcurrency = 4\nthink = 2400us\n";
    let closed = steady(closed);
    only("backlog", Status::NotPossible, &closed);
}

/// Returns a run that replays a log with these requests. Each has its time and its duration, in
/// seconds.
fn replayed(requests: impl IntoIterator<Item = (f64, f64)>) -> Evidence {
    let mut evidence = steady(OPEN);
    evidence.plan.jobs[0].pacing = Pacing::Replay;
    let steps = &mut evidence.jobs[0].steps;
    for step in steps.iter_mut() {
        step.counts.arrivals = 0;
        step.counts.balance = Balance::default();
        step.ends.completed = 0;
    }
    for (due, takes) in requests {
        let start = &mut steps[due as usize].counts;
        start.arrivals += 1;
        start.balance = Balance::of(start.balance.completed() + 1, 0, 0, 0);
        if let Some(end) = steps.get_mut((due + takes) as usize) {
            end.ends.completed += 1;
        }
    }
    evidence
}

/// Returns the requests of a log with `per_s` requests in each of 60 seconds.
fn log(per_s: impl Fn(u32) -> u32) -> impl Iterator<Item = f64> {
    let second = move |second| {
        let per_s = per_s(second);
        (0..per_s).map(move |n| f64::from(second) + f64::from(n) / f64::from(per_s))
    };
    (0..60).flat_map(second)
}

#[test]
fn replay_is_overloaded_if_its_log_comes_faster_than_the_answers() {
    // A server that answers 900 of 1,000 requests per second.
    let slow = replayed(log(|_| 1_000).map(|due| (due, due / 9.0)));
    assert_eq!(check("backlog", &slow).finding, grows("read"));
    assert!(summarize(&slow).jobs[0].exceeds_capacity);
    let steady = replayed(log(|_| 1_000).map(|due| (due, 0.5)));
    assert_eq!(check("backlog", &steady).status, Status::Pass);
}

#[test]
fn replay_within_the_capacity_is_not_overloaded_by_changes_of_its_log() {
    let busier = log(|second| if second < 35 { 1_000 } else { 2_000 });
    let much_busier = log(|second| if second < 35 { 1 } else { 1_000 });
    let slower = |due: f64| if due < 35.0 { 0.001 } else { 3.0 };
    let bursts = (0..55).flat_map(|burst| (0..150).map(move |_| f64::from(burst) * 1.09));
    let logs: [(&str, Vec<(f64, f64)>); 4] = [
        ("more requests", busier.map(|due| (due, 1.0)).collect()),
        ("after a quiet time", much_busier.map(|due| (due, 0.5)).collect()),
        ("slower statements", log(|_| 200).map(|due| (due, slower(due))).collect()),
        ("bursts", bursts.map(|due| (due, 0.9)).collect()),
    ];
    for (name, log) in logs {
        let evidence = replayed(log);
        assert_eq!(check("backlog", &evidence).status, Status::Pass, "{name}");
        assert!(!summarize(&evidence).jobs[0].exceeds_capacity, "{name}");
    }
}

#[test]
fn response_times_are_withheld_of_the_overloaded_job_alone() {
    let two = format!("{OPEN}[other]\nquery = select 1\nrate = 1000\narrival = uniform\n");
    let mut evidence = steady(&two);
    answer_only(&mut evidence, 1, 0, 500);
    let check = only("backlog", Status::Suspect, &evidence);
    assert_eq!(check.finding, grows("other"));
    let exceeds: Vec<bool> =
        summarize(&evidence).jobs.iter().map(|job| job.exceeds_capacity).collect();
    assert_eq!(exceeds, [false, true]);
}

/// Returns a run of some seconds whose requests are answered at this rate from the first second on.
fn answered_at(seconds: u64, warmup: u64, per_s: u64) -> Evidence {
    let job = "[read]\nquery = select 1\nrate = 1000\narrival = uniform\n";
    let file = format!("duration = {seconds}s\nwarmup = {warmup}s\n{job}");
    let mut evidence = steady(&file);
    answer_only(&mut evidence, 0, 0, per_s);
    evidence
}

#[test]
fn short_window_shows_an_overload_by_its_shortfall() {
    let trend = only("backlog", Status::Suspect, &answered_at(5, 0, PER_S / 2));
    assert_eq!(trend.unit, Unit::StandardErrors);
    for (seconds, warmup) in [(2, 0), (3, 0), (4, 0), (4, 1), (2, 1)] {
        let evidence = answered_at(seconds, warmup, PER_S / 2);
        let check = only("backlog", Status::Suspect, &evidence);
        assert_eq!(check.finding, grows("read"));
        let numbers = (check.value, check.limit, check.unit);
        assert_eq!(numbers, (Some(50.0), Some(25.0), Unit::PercentOpen));
        assert!(summarize(&evidence).jobs[0].exceeds_capacity);
    }
}

#[test]
fn short_window_without_a_large_shortfall_is_not_judged() {
    for (seconds, per_s) in [(1, PER_S / 2), (2, PER_S * 3 / 4), (4, PER_S * 3 / 4), (4, 0)] {
        let evidence = answered_at(seconds, 0, per_s);
        let check = check("backlog", &evidence);
        // The share of open requests shows that the load may exceed the capacity.
        let open_share = Some(1.0 - per_s as f64 / PER_S as f64);
        let few = Obstacle::Jobs(JobObstacle::FewIntervals { fewest: 5, open_share });
        assert_eq!(check.finding, Finding::NotPossible(few), "{seconds} {per_s}");
        assert!(!summarize(&evidence).jobs[0].exceeds_capacity);
    }
    for (seconds, per_s) in [(1, PER_S * 9 / 10), (4, PER_S)] {
        let few = Obstacle::Jobs(JobObstacle::FewIntervals { fewest: 5, open_share: None });
        let check = check("backlog", &answered_at(seconds, 0, per_s));
        assert_eq!(check.finding, Finding::NotPossible(few), "{seconds} {per_s}");
    }
}

#[test]
fn shortfall_after_the_target_was_lost_is_not_an_overload() {
    let lost = |evidence| Evidence { ended: Some(EndKind::TargetLost), ..evidence };
    let why = Finding::NotPossible(Obstacle::Jobs(JobObstacle::TargetLost));
    let evidence = lost(answered_at(4, 0, PER_S / 2));
    assert_eq!(check("backlog", &evidence).finding, why);
    let file = "duration = 3s\n[read]\nquery = select 1\nrate = 1000\nconcurrency = 2\n";
    let mut evidence = steady(file);
    turn_bad(&mut evidence, 0, 1, [0, 7, 0]);
    assert_eq!(check("backlog", &lost(evidence)).finding, why);
    let mut evidence = steady(OPEN);
    answer_only(&mut evidence, 0, 0, PER_S * 9 / 10);
    let evidence = lost(evidence);
    assert_eq!(check("backlog", &evidence).finding, why);
    let inconclusive = LimiterFinding::Inconclusive(Inconclusive::TargetLost);
    assert_eq!(summarize(&evidence).limiter.finding, inconclusive);
    // Without a backlog, the loss does not matter to this check.
    assert_eq!(check_of(&lost(steady(OPEN))), Status::Pass);
}

/// Four seconds are too few for a slope, but enough to leave requests behind.
#[test]
fn requests_that_were_never_sent_show_an_overload_of_any_length() {
    let left = |seconds: u64, unsent: u64| {
        let job = "[read]\nquery = select 1\nrate = 1000\narrival = uniform\n";
        let file = format!("duration = {seconds}s\n{job}");
        let mut evidence = steady(&file);
        turn_bad(&mut evidence, 0, seconds as usize - 1, [0, 0, unsent]);
        evidence
    };
    let fewer = left(4, 200);
    assert_eq!(check_of(&fewer), Status::NotPossible);
    only("achieved", Status::Suspect, &fewer);
    let found = only("backlog", Status::Suspect, &left(4, 201));
    assert_eq!((found.limit, found.unit), (Some(5.0), Unit::PercentUnsent));
    let Finding::Backlog(Backlog::Unsent { jobs, share }) = found.finding else {
        panic!("{found:?}");
    };
    assert!(jobs == ["read"] && near(share, 0.05025), "{jobs:?} {share}");
    let summary = summarize(&left(4, 201));
    assert!(summary.jobs[0].exceeds_capacity);
    assert_eq!(summary.limiter.component.name(), "unknown");
    only("backlog", Status::Suspect, &left(10, 501));
    // After an interrupt, a lost target or a kill, the run has not waited for these requests; and a
    // file that failed may have prevented them.
    for ended in [Some(EndKind::Interrupted), Some(EndKind::TargetLost), None] {
        let evidence = Evidence { ended, ..left(4, 900) };
        assert_eq!(check_of(&evidence), Status::NotPossible, "{ended:?}");
        assert_eq!(check("achieved", &evidence).status, Status::NotPossible, "{ended:?}");
    }
    let mut evidence = left(4, 900);
    evidence.events.push(event(10, Some(0), EventKind::FileFailed, "nothing for requests"));
    assert_eq!(check_of(&evidence), Status::NotPossible);
    assert_eq!(check("achieved", &evidence).status, Status::NotPossible);
}

fn check_of(evidence: &Evidence) -> Status {
    check("backlog", evidence).status
}

#[test]
fn queue_overflow_of_a_short_run_is_noticed() {
    let file = "duration = 3s\n[read]\nquery = select 1\nrate = 1000\nconcurrency = 2\n";
    let mut evidence = steady(file);
    turn_bad(&mut evidence, 0, 1, [0, 7, 0]);
    let check = only("backlog", Status::Suspect, &evidence);
    assert_eq!((check.value, check.limit), (Some(7.0), Some(0.0)));
}

/// A load on a server with `servers` parallel services.
#[derive(Clone, Copy)]
struct Load {
    per_s: u32,
    servers: u32,
    utilisation: f64,
}

impl Load {
    /// Returns the evidence of a run with exponential service times.
    fn run(self, Length { seconds, warmup }: Length, seed: u64) -> Evidence {
        let Load { per_s, servers, utilisation } = self;
        let file = format!(
            "duration = {seconds}s\nwarmup = {warmup}s\n[read]\nquery = select 1\nrate = {per_s}\n"
        );
        let mut evidence = crate::support::nothing(&file);
        let service = utilisation * f64::from(servers) / f64::from(per_s);
        let options = [
            ("service".to_owned(), format!("{}ns", (service * 1e9) as u64)),
            ("servers".to_owned(), servers.to_string()),
        ];
        let config = Config::from_options("mm1", &options).unwrap();
        assert!(matches!(config.service, Service::Exponential(_)));
        let mut server = Server::new(config, Seed(seed));
        server.time_zero(Stamp::ZERO);
        let session = server.connect(Stamp::ZERO).unwrap();
        let gaps = Stream::new(Seed(seed), "test", "gaps");
        let mut intervals = vec![Step::default(); seconds];
        let mut now = 0.0;
        for number in 0.. {
            now += gaps.draw(number).exponential() / f64::from(per_s);
            let Some(interval) = intervals.get_mut(now as usize) else { break };
            interval.counts.arrivals += 1;
            let at = Stamp::ZERO + Nanos::from_secs_f64(now);
            let answer = server.arrive(session, at, &Hints::default());
            let end = answer.at.since(Stamp::ZERO).as_secs_f64() as usize;
            if let Some(interval) = intervals.get_mut(end) {
                interval.ends.completed += 1;
            }
        }
        for Step { counts, .. } in &mut intervals {
            let arrivals = counts.arrivals;
            *counts =
                Counts { arrivals, balance: Balance::of(arrivals, 0, 0, 0), ..Counts::default() };
        }
        evidence.jobs[0].steps = intervals;
        evidence
    }

    /// Returns the number of one-minute runs, out of `runs`, in which the load is found to exceed
    /// the capacity.
    fn alarms(self, runs: u64) -> usize {
        self.alarms_in(Length { seconds: 60, warmup: 10 }, runs)
    }

    /// Returns the number of runs of the given length, out of `runs`, in which the load is found to
    /// exceed the capacity.
    fn alarms_in(self, length: Length, runs: u64) -> usize {
        let is_suspect =
            |seed: &u64| check("backlog", &self.run(length, *seed)).status == Status::Suspect;
        (1..=runs).filter(is_suspect).count()
    }
}

/// The length of a run and of its warm-up, in seconds.
#[derive(Clone, Copy)]
struct Length {
    seconds: usize,
    warmup: usize,
}

/// Runs whose window is too short for a trend.
const SHORT_RUNS: [Length; 6] = [
    Length { seconds: 1, warmup: 0 },
    Length { seconds: 2, warmup: 1 },
    Length { seconds: 2, warmup: 0 },
    Length { seconds: 3, warmup: 0 },
    Length { seconds: 4, warmup: 1 },
    Length { seconds: 4, warmup: 0 },
];

#[test]
fn a_busy_queue_gives_no_false_alarm_in_a_short_window() {
    for length in SHORT_RUNS {
        for per_s in [20, 200, 2_000] {
            for (servers, utilisation) in [(1, 0.9), (1, 0.95), (4, 0.95), (1, 1.0)] {
                let alarms = Load { per_s, servers, utilisation }.alarms_in(length, 20);
                let Length { seconds, warmup } = length;
                assert_eq!(alarms, 0, "{per_s}/s, {utilisation}, {seconds} s after {warmup} s");
            }
        }
    }
}

#[test]
fn twice_the_capacity_is_found_in_a_short_window() {
    for length in SHORT_RUNS.into_iter().filter(|length| length.seconds > 1) {
        for servers in [1, 4] {
            let load = Load { per_s: 2_000, servers, utilisation: 2.0 };
            assert_eq!(load.alarms_in(length, 20), 20);
        }
    }
}

#[test]
fn a_stationary_queue_gives_no_false_alarm() {
    for per_s in [20, 200] {
        for servers in [1, 4] {
            for utilisation in [0.5, 0.8, 0.9] {
                let alarms = Load { per_s, servers, utilisation }.alarms(300);
                let most = if utilisation > 0.8 { 3 } else { 1 };
                assert!(alarms <= most, "{per_s}/s, {servers}, {utilisation}: {alarms} of 300");
            }
        }
    }
}

#[test]
fn a_load_a_little_above_the_capacity_is_found() {
    for servers in [1, 4] {
        let found = |per_s, utilisation| Load { per_s, servers, utilisation }.alarms(100);
        assert!(found(200, 1.1) >= 99);
        assert_eq!(found(200, 1.5), 100);
        assert_eq!(found(20, 1.5), 100);
    }
}
