//! Sentences of the findings of checks.

use analyze::finding::{
    Backlog, BusyClients, CeilingUse, Checkpoints, ClockCost, Commits, ComparedCounter,
    Completeness, Connections, CounterComparison, Coverage, Cycles, Failures, Files, Floor,
    Frequencies, Gaps, Headroom, Irregularity, Lag, LatePart, MedianChange, Outages, Outcomes,
    ProcessorWait, RateDifference, Requests, RunEnd, Seconds, Sending, Stalls, ThreadUse,
    WallClock, WarmUp, WindowThird, WrongResults,
};
use analyze::{Check, CheckKind, Finding, OtherProgram, OtherPrograms, Status, Unit};
use base::{Class, Code, Nanos};
use record::EventError;

use super::assert_complete;
use crate::words::check_sentence;

/// A finding, the status of its check, and its sentence.
type ExpectedSentence = (Finding, Status, &'static str);

const PASS: Status = Status::Pass;
const SUSPECT: Status = Status::Suspect;
const INVALID: Status = Status::Invalid;

/// Number of findings, by their innermost variants.
const ALL: usize = 72;

fn place(finding: &Finding) -> usize {
    match finding {
        Finding::NotPossible(_) => unreachable!("obstacles have a table of their own"),
        Finding::Complete(Completeness::PartsMissing { .. }) => 0,
        Finding::Complete(Completeness::Ended { unread_plan: Some(_), .. }) => 1,
        Finding::Complete(Completeness::Ended { end, .. }) => 2 + place_of_end(end),
        Finding::Window(Requests::None { .. }) => 12,
        Finding::Window(Requests::Scheduled { .. }) => 13,
        Finding::Balance(_) => 14,
        Finding::Rate(_) => 15,
        Finding::EachSecond(Seconds::AsScheduled) => 16,
        Finding::EachSecond(Seconds::Odd { .. }) => 17,
        Finding::Achieved(Sending::AllSent) => 18,
        Finding::Achieved(Sending::Short { .. }) => 19,
        Finding::Arrivals(_) => 20,
        Finding::Gaps(Gaps::Poisson) => 21,
        Finding::Gaps(Gaps::Odd { .. }) => 22,
        Finding::SendLag(Lag { part: LatePart::Hundredth, .. }) => 23,
        Finding::SendLag(Lag { part: LatePart::Half, .. }) => 24,
        Finding::Stall(Stalls::None) => 25,
        Finding::Stall(Stalls::Longest { .. }) => 26,
        Finding::ProcessorWait(_) => 27,
        Finding::GeneratorCpu(it) => 28 + place_of_headroom(it.headroom),
        Finding::StolenTime { .. } => 31,
        Finding::OtherPrograms(_) => 32,
        Finding::Ceiling(it) => 33 + place_of_headroom(it.headroom),
        Finding::Floor(_) => 36,
        Finding::Clock(_) => 37,
        Finding::WallClock(WallClock::Steady) => 38,
        Finding::WallClock(WallClock::Set { .. }) => 39,
        Finding::Frequency(_) => 40,
        Finding::Backlog(backlog) => 41 + place_of_backlog(backlog),
        Finding::WarmUp(warm_up) => 46 + place_of_warm_up(*warm_up),
        Finding::Drift(change) | Finding::Step(change) => 52 + place_of_change(change),
        Finding::Little(_) => 55,
        Finding::Errors(Failures::None) => 56,
        Finding::Errors(Failures::Some { .. }) => 57,
        Finding::WrongResults(WrongResults::None) => 58,
        Finding::WrongResults(WrongResults::Some { .. }) => 59,
        Finding::Outage(Outages::None) => 60,
        Finding::Outage(Outages::Some { .. }) => 61,
        Finding::Connections(Connections::AllAccepted) => 62,
        Finding::Connections(Connections::AllOpen) => 63,
        Finding::Connections(Connections::Missing { .. }) => 64,
        Finding::Connections(Connections::Limited { .. }) => 65,
        Finding::Overflow { .. } => 66,
        Finding::Files(Files::Whole) => 67,
        Finding::Files(Files::CutOff { .. } | Files::Failed { .. }) => 68,
        Finding::Commits(_) => 69,
        Finding::Checkpoints(_) => 70,
        Finding::Outage(Outages::FewerServers { .. }) => 71,
    }
}

fn place_of_end(end: &RunEnd) -> usize {
    match end {
        RunEnd::Completed { .. } => 0,
        RunEnd::EndedByUser => 1,
        RunEnd::Interrupted => 2,
        RunEnd::StoppedByError => 3,
        RunEnd::TargetLost => 4,
        RunEnd::FileFailed => 5,
        RunEnd::RecorderFailed => 6,
        RunEnd::QueueFull { .. } => 7,
        RunEnd::InternalError => 8,
        RunEnd::Killed { .. } => 9,
    }
}

fn place_of_headroom(headroom: Headroom) -> usize {
    match headroom {
        Headroom::Enough => 0,
        Headroom::LimitsClosedJobs => 1,
        Headroom::DelaysRequests => 2,
    }
}

fn place_of_backlog(backlog: &Backlog) -> usize {
    match backlog {
        Backlog::Stable => 0,
        Backlog::Immaterial => 1,
        Backlog::QueuesFull { .. } => 2,
        Backlog::Grows { .. } => 3,
        Backlog::Unsent { .. } => 4,
    }
}

fn place_of_warm_up(warm_up: WarmUp) -> usize {
    match warm_up {
        WarmUp::TooShort => 0,
        WarmUp::NoSteadyJob => 1,
        WarmUp::Overloaded => 2,
        WarmUp::NeverSteady { .. } => 3,
        WarmUp::SteadyAtOnce => 4,
        WarmUp::Found { .. } => 5,
    }
}

fn place_of_change(change: &MedianChange) -> usize {
    match change {
        MedianChange::None => 0,
        MedianChange::Gradual { .. } => 1,
        MedianChange::Abrupt { .. } => 2,
    }
}

fn read() -> String {
    "read".to_owned()
}

fn ended(end: RunEnd, at: Option<Nanos>) -> Finding {
    Finding::Complete(Completeness::Ended { end, at, unread_plan: None })
}

fn of_complete() -> Vec<ExpectedSentence> {
    let at = Some(Nanos::from_secs(30));
    let text = || "the file `a.csv` of [write] has no record left".to_owned();
    let unread_plan = Some("it is empty".to_owned());
    let end = RunEnd::Completed { exhausted: None };
    let unread = Finding::Complete(Completeness::Ended { end, at, unread_plan });
    let missing = Completeness::PartsMissing { text: "3 parts are missing".to_owned() };
    vec![
        (Finding::Complete(missing), Status::Invalid, "3 parts are missing"),
        (
            unread,
            SUSPECT,
            "the run ended by itself; the plan in the record cannot be read (it is empty), so what \
             depends on it, such as conditions and pauses, was not judged",
        ),
        (ended(RunEnd::Completed { exhausted: None }, at), PASS, "the run ended by itself"),
        (
            ended(RunEnd::Completed { exhausted: Some(text()) }, at),
            PASS,
            "the run ended by itself; the file `a.csv` of [write] has no record left",
        ),
        (
            ended(RunEnd::EndedByUser, at),
            PASS,
            "the run was ended by the user, as it has no duration",
        ),
        (ended(RunEnd::Interrupted, at), SUSPECT, "the user ended the run after 30.0 s"),
        (ended(RunEnd::Interrupted, None), SUSPECT, "the user ended the run before its jobs began"),
        (ended(RunEnd::StoppedByError, at), SUSPECT, "an error ended the run after 30.0 s"),
        (
            ended(RunEnd::TargetLost, at),
            SUSPECT,
            "the target was unreachable at the end of the run",
        ),
        (
            ended(RunEnd::TargetLost, None),
            SUSPECT,
            "the target was lost before the jobs of the run began",
        ),
        (ended(RunEnd::FileFailed, at), SUSPECT, "a file that failed ended the run after 30.0 s"),
    ]
}

fn of_faults() -> Vec<ExpectedSentence> {
    let at = Some(Nanos::from_secs(30));
    let killed = |open| ended(RunEnd::Killed { open }, at);
    let invalid = Status::Invalid;
    vec![
        (
            ended(RunEnd::RecorderFailed, at),
            invalid,
            "the record could no longer be written after 30.0 s, and the run was ended",
        ),
        (
            ended(RunEnd::RecorderFailed, None),
            invalid,
            "the record could no longer be written before its first second was recorded, and the \
             run was ended",
        ),
        (
            ended(RunEnd::QueueFull { job: Some(read()) }, at),
            invalid,
            "the queue of [read] was full after 30.0 s, which ended the run",
        ),
        (
            ended(RunEnd::QueueFull { job: None }, at),
            invalid,
            "a queue was full after 30.0 s, which ended the run",
        ),
        (
            ended(RunEnd::InternalError, at),
            invalid,
            "an internal error of assay ended the run after 30.0 s",
        ),
        (
            killed(0),
            SUSPECT,
            "the run was killed, or is still running: its record ends after 30.0 s",
        ),
        (
            killed(1),
            SUSPECT,
            "the run was killed, or is still running: its record ends after 30.0 s, when 1 request \
             was open, which counts as unsent",
        ),
        (
            killed(1_040),
            SUSPECT,
            "the run was killed, or is still running: its record ends after 30.0 s, when 1,040 \
             requests were open, which count as unsent",
        ),
        (
            ended(RunEnd::Killed { open: 0 }, None),
            SUSPECT,
            "the run was killed, or is still running: its record ends before its first second was \
             recorded",
        ),
    ]
}

fn of_requests() -> Vec<ExpectedSentence> {
    let window = |requests| Finding::Window(requests);
    let length = Nanos::from_secs(50);
    let outcomes = Outcomes { due: 1_000, completed: 990, errors: 4, rejected: 3, unsent: 3 };
    let failed = Failures::Some {
        job: read(),
        failed: 1_020,
        scheduled: 2_000,
        error: None,
        runs_program: false,
    };
    let wrong = |results| Finding::WrongResults(WrongResults::Some { job: read(), results });
    vec![
        (
            window(Requests::None { has_warmup: false }),
            Status::Invalid,
            "no request was scheduled: there is no result",
        ),
        (
            window(Requests::None { has_warmup: true }),
            Status::Invalid,
            "no request was scheduled after the warm-up: there is no result",
        ),
        (
            window(Requests::Scheduled { requests: 50_000, length }),
            PASS,
            "50,000 requests in 50.0 s",
        ),
        (window(Requests::Scheduled { requests: 1, length }), PASS, "1 request in 50.0 s"),
        (
            Finding::Balance(outcomes),
            PASS,
            "1,000 came due; 990 completed, 4 ended in errors, 3 were rejected, 3 stayed unsent",
        ),
        (Finding::Errors(Failures::None), PASS, "0 requests failed unexpectedly"),
        (
            Finding::Errors(failed),
            Status::Invalid,
            "1,020 of the 2,000 requests of [read] failed unexpectedly",
        ),
        (
            Finding::WrongResults(WrongResults::None),
            PASS,
            "every result had the expected number of rows",
        ),
        (wrong(1), Status::Invalid, "a result of [read] had an unexpected number of rows"),
        (wrong(1_200), Status::Invalid, "1,200 results of [read] had an unexpected number of rows"),
        (Finding::Overflow { times: 0 }, PASS, "no time was longer than an hour"),
        (Finding::Overflow { times: 1 }, Status::Invalid, "1 time was longer than an hour"),
        (Finding::Overflow { times: 2 }, Status::Invalid, "2 times were longer than an hour"),
        (Finding::Files(Files::Whole), PASS, "every file of the jobs was read and written"),
        (Finding::Files(Files::CutOff { text: "cut off".to_owned() }), SUSPECT, "cut off"),
        (Finding::Files(Files::Failed { text: "failed".to_owned() }), Status::Invalid, "failed"),
    ]
}

fn of_schedules() -> Vec<ExpectedSentence> {
    let second = Seconds::Odd { job: read(), begin: Nanos::from_secs(31), by: 0.1 };
    let lag = |part| Finding::SendLag(Lag { job: read(), part, ns: 250_000.0 });
    let on_time = |part| Finding::SendLag(Lag { job: read(), part, ns: 499.0 });
    vec![
        (
            Finding::Rate(RateDifference { job: read(), by: -0.02 }),
            SUSPECT,
            "the number of due requests of [read] differs by −2.00 % from its schedule",
        ),
        (
            Finding::EachSecond(Seconds::AsScheduled),
            PASS,
            "the number of due requests per second matches the schedules",
        ),
        (
            Finding::EachSecond(second),
            SUSPECT,
            "in the second from 31s, the number of due requests of [read] differs by +10 % from \
             its schedule",
        ),
        (Finding::Achieved(Sending::AllSent), PASS, "every due request was sent"),
        (
            Finding::Achieved(Sending::Short { job: read(), share: 0.012 }),
            SUSPECT,
            "1.2 % of the due requests of [read] were never sent: their response times count only \
             until they were given up",
        ),
        (
            Finding::Arrivals(Irregularity { job: read(), index: 0.5 }),
            SUSPECT,
            "the number of due requests of [read] per second varies 0.50 times as much as in a \
             Poisson process",
        ),
        (Finding::Gaps(Gaps::Poisson), PASS, "the gaps between arrivals match a Poisson process"),
        (
            Finding::Gaps(Gaps::Odd { job: read(), share: 0.4 }),
            SUSPECT,
            "40 % of the gaps between arrivals of [read] differ from those of a Poisson process",
        ),
        (
            lag(LatePart::Hundredth),
            SUSPECT,
            "1 % of the requests of [read] were sent at least 0.250 ms late",
        ),
        (
            lag(LatePart::Half),
            SUSPECT,
            "half of the requests of [read] were sent at least 0.250 ms late",
        ),
        (
            on_time(LatePart::Half),
            PASS,
            "half of the requests of [read] were sent within 0.001 ms of their time",
        ),
        (
            on_time(LatePart::Hundredth),
            PASS,
            "99 % of the requests of [read] were sent within 0.001 ms of their time",
        ),
    ]
}

fn of_generator() -> Vec<ExpectedSentence> {
    let at = Nanos::from_millis(27_400);
    let stall = |others| Finding::Stall(Stalls::Longest { length_s: 0.3, at, others });
    let wait = |has_database_here| {
        let thread = "lane-0".to_owned();
        Finding::ProcessorWait(ProcessorWait { thread, share: 0.06, has_database_here })
    };
    let busy = |headroom| {
        Finding::GeneratorCpu(ThreadUse { thread: "lane-1".to_owned(), share: 0.9, headroom })
    };
    vec![
        (Finding::Stall(Stalls::None), PASS, "the load generator had no long stall"),
        (
            stall(0),
            SUSPECT,
            "the load generator or its machine, not the database, stalled for 300 ms, 27.4 s after \
             time zero",
        ),
        (
            stall(2),
            SUSPECT,
            "the load generator or its machine, not the database, stalled for 300 ms, 27.4 s after \
             time zero, and 2 more times, each shorter",
        ),
        (
            wait(Some(true)),
            PASS,
            "thread lane-0 was runnable but waited for a processor for 6.0 % of the window",
        ),
        (
            wait(Some(true)),
            SUSPECT,
            "thread lane-0 was runnable but waited for a processor for 6.0 % of the window: \
             another program used it, perhaps the database, which is on the same host",
        ),
        (
            wait(Some(false)),
            SUSPECT,
            "thread lane-0 was runnable but waited for a processor for 6.0 % of the window: \
             something else on its host used it",
        ),
        (
            wait(None),
            SUSPECT,
            "thread lane-0 was runnable but waited for a processor for 6.0 % of the window: the \
             database or something else used it",
        ),
        (busy(Headroom::Enough), PASS, "thread lane-1 used 90 % of a processor"),
        (
            busy(Headroom::LimitsClosedJobs),
            PASS,
            "thread lane-1 used 90 % of a processor, which limits a closed job but does not \
             distort its times",
        ),
        (
            busy(Headroom::DelaysRequests),
            SUSPECT,
            "thread lane-1 used 90 % of a processor: the load generator may be what was measured",
        ),
    ]
}

fn of_calibration() -> Vec<ExpectedSentence> {
    let ceiling = |share, threads, headroom| {
        Finding::Ceiling(CeilingUse { per_s: 1_000.0, share, threads, headroom })
    };
    let floor = || Finding::Floor(Floor { job: read(), ns: 25e3, share: 0.625 });
    let cost = ClockCost { cost_ns: 25.0, step_ns: 20.0, service_p50_ns: 1_500.0 };
    vec![
        (
            ceiling(0.005, 1, Headroom::Enough),
            PASS,
            "1,000 statements/s are less than 1 % of the calibrated maximum of a thread of the \
             load generator",
        ),
        (
            ceiling(0.62, 2, Headroom::LimitsClosedJobs),
            PASS,
            "1,000 statements/s are 62 % of the calibrated maximum of 2 threads of the load \
             generator, which limits a closed job but does not distort its times",
        ),
        (
            ceiling(0.62, 2, Headroom::DelaysRequests),
            SUSPECT,
            "1,000 statements/s are 62 % of the calibrated maximum of 2 threads of the load \
             generator: requests that arrive close together delay each other there",
        ),
        (
            floor(),
            PASS,
            "a statement that does nothing takes 25.0 µs here, 62 % of the service time of [read] \
             at p50",
        ),
        (
            floor(),
            SUSPECT,
            "a statement that does nothing takes 25.0 µs here, 62 % of the service time of [read] \
             at p50: most of that is the path to the database, not its work",
        ),
        (
            Finding::Clock(cost),
            PASS,
            "reading the clock costs 25 ns and its resolution is 20 ns, at a service time of 1.5 \
             µs at p50",
        ),
        (
            Finding::Clock(cost),
            SUSPECT,
            "reading the clock costs 25 ns and its resolution is 20 ns, at a service time of 1.5 \
             µs at p50: the clock is too coarse for such short times",
        ),
    ]
}

fn of_machine() -> Vec<ExpectedSentence> {
    let program = |name: &str, processors, processes, pid| OtherProgram {
        name: name.to_owned(),
        host: None,
        processors,
        processes,
        pid,
    };
    let others = |host: Option<&str>| {
        let names =
            [("cc1plus", 0.22, 0, None), ("sh", 0.075, 3, Some(3)), ("a", 0.05, 1, Some(7))];
        let programs = names.map(|(name, used, all, pid)| program(name, used, all, pid)).into();
        let host = host.map(str::to_owned);
        Finding::OtherPrograms(OtherPrograms { host, used: 0.3, processors: 2.0, programs })
    };
    let frequencies = Frequencies {
        earlier: (WindowThird::First, 3_000.0),
        later: (WindowThird::Middle, 2_000.0),
    };
    let frequency = || Finding::Frequency(frequencies);
    let set = |by_s| Finding::WallClock(WallClock::Set { by_s, at: Nanos::from_secs(30) });
    vec![
        (Finding::StolenTime { share: 0.001 }, PASS, "0.10 % of the processors' time was stolen"),
        (
            Finding::StolenTime { share: 0.02 },
            SUSPECT,
            "2.00 % of the processors' time was stolen by other machines of the same host",
        ),
        (
            others(None),
            SUSPECT,
            "other programs used 0.30 of the 2.00 processors of the machine: `cc1plus` 0.22, `sh` \
             0.075 (3 processes, most by pid 3), `a` 0.050 (pid 7): the benchmark could not use \
             that capacity",
        ),
        (
            others(Some("db1")),
            PASS,
            "other programs used 0.30 of the 2.00 processors of `db1`: `cc1plus` 0.22, `sh` 0.075 \
             (3 processes, most by pid 3), `a` 0.050 (pid 7)",
        ),
        (
            Finding::WallClock(WallClock::Steady),
            PASS,
            "the wall clock agreed with the monotonic clock",
        ),
        (
            set(-0.35),
            SUSPECT,
            "the wall clock was set back by 350 ms, 30 s after time zero, or the machine was \
             suspended: response times use another clock, but time stamps, statements with `now()` \
             and a database that sees the step are affected",
        ),
        (
            frequency(),
            PASS,
            "the processors' mean frequency was 3,000 MHz in the first third of the window and \
             2,000 MHz in the middle",
        ),
        (
            frequency(),
            SUSPECT,
            "the processors' mean frequency was 3,000 MHz in the first third of the window and \
             2,000 MHz in the middle: the same work took a different time",
        ),
    ]
}

fn of_steady_state() -> Vec<ExpectedSentence> {
    let jobs = || vec!["read".to_owned(), "write".to_owned()];
    let length = Nanos::from_secs(10);
    let gradual = MedianChange::Gradual { job: read(), by: 0.101 };
    let abrupt = MedianChange::Abrupt { job: read(), by: -0.05, at_s: 40.0 };
    vec![
        (Finding::Backlog(Backlog::Stable), PASS, "the backlog did not grow"),
        (Finding::Backlog(Backlog::Immaterial), PASS, "the growth of the backlog is negligible"),
        (
            Finding::Backlog(Backlog::QueuesFull { jobs: jobs() }),
            SUSPECT,
            "the offered load exceeds the capacity: the queue of [read], [write] was full; \
             response times would only show its length limit and are withheld",
        ),
        (
            Finding::Backlog(Backlog::Grows { jobs: jobs() }),
            SUSPECT,
            "the offered load exceeds the capacity for [read], [write]: response times would only \
             show the length of the run and are withheld",
        ),
        (
            Finding::Backlog(Backlog::Unsent { jobs: jobs(), share: 0.05 }),
            SUSPECT,
            "the offered load exceeds the capacity for [read], [write]: 5 % of the requests were \
             never sent, and the response times of the others are withheld",
        ),
        (
            Finding::WarmUp(WarmUp::TooShort),
            SUSPECT,
            "the run ended before the end of its warm-up could be found: the run is measured from \
             its beginning",
        ),
        (
            Finding::WarmUp(WarmUp::NoSteadyJob),
            SUSPECT,
            "no job sent requests evenly throughout the run: the run is measured from its \
             beginning",
        ),
        (
            Finding::WarmUp(WarmUp::Overloaded),
            SUSPECT,
            "the offered load exceeds the capacity: there is no steady state",
        ),
        (
            Finding::WarmUp(WarmUp::NeverSteady { by: -0.07 }),
            Status::Invalid,
            "there was no steady state: the second half of the run differs from the first by −7.0 \
             %",
        ),
        (
            Finding::WarmUp(WarmUp::SteadyAtOnce),
            PASS,
            "the run was steady at once: the run is measured from its beginning",
        ),
        (
            Finding::WarmUp(WarmUp::Found { length }),
            PASS,
            "the first 10s are less steady than the rest and are excluded",
        ),
        (Finding::Drift(MedianChange::None), PASS, "the median response time did not change"),
        (
            Finding::Drift(gradual),
            SUSPECT,
            "the median response time of [read] changed by +10.1 % from the beginning to the end \
             of the window",
        ),
        (
            Finding::Step(abrupt),
            SUSPECT,
            "the median response time of [read] changed by −5.0 %, 40 s after time zero",
        ),
        (
            Finding::Little(BusyClients { job: read(), busy: 7.216, clients: 8.0 }),
            SUSPECT,
            "Little's law gives 7.22 busy clients of [read]; 8 are configured",
        ),
    ]
}

fn of_target() -> Vec<ExpectedSentence> {
    let outage = |text: Option<&str>| {
        let (length, first) = (Nanos::from_secs(2), Nanos::from_secs(20));
        Finding::Outage(Outages::Some { length, first, text: text.map(str::to_owned) })
    };
    let fewer_servers = |seconds: u64| {
        let (length, first) = (Nanos::from_secs(seconds), Nanos::from_secs(20));
        let text = "db2 refuses connections".to_owned();
        Finding::Outage(Outages::FewerServers { length, first, text })
    };
    let missing = |refusal: Option<&str>| {
        let refused = |code| EventError { class: Class::Statement, code: Code::new(code) };
        let (job, refusal) = (read(), refusal.map(refused));
        Finding::Connections(Connections::Missing { job, configured: 4, open: 3.5, refusal })
    };
    let limited = Connections::Limited { text: "3 connections are the limit".to_owned() };
    vec![
        (Finding::Outage(Outages::None), PASS, "the target was reachable all the time"),
        (
            outage(None),
            SUSPECT,
            "for up to 2.0 s, first 20.0 s after time zero, the target refused connections",
        ),
        (
            outage(Some("db1 refuses connections")),
            SUSPECT,
            "for up to 2.0 s, first 20.0 s after time zero, db1 refuses connections",
        ),
        (
            fewer_servers(2),
            INVALID,
            "for up to 2.0 s, first 20.0 s after time zero, db2 refuses connections; the run had \
             fewer servers than its point",
        ),
        (
            fewer_servers(0),
            INVALID,
            "first 20.0 s after time zero, db2 refuses connections; the run had fewer servers than \
             its point",
        ),
        (
            Finding::Connections(Connections::AllAccepted),
            PASS,
            "the target accepted every connection",
        ),
        (Finding::Connections(Connections::AllOpen), PASS, "all configured connections were open"),
        (missing(None), SUSPECT, "3.5 of the 4 connections of [read] were open on average"),
        (
            missing(Some("28P01")),
            SUSPECT,
            "3.5 of the 4 connections of [read] were open on average; the target refused \
             connections (28P01)",
        ),
        (Finding::Connections(limited), SUSPECT, "3 connections are the limit"),
    ]
}

fn of_server() -> Vec<ExpectedSentence> {
    let compared = CounterComparison {
        counter: ComparedCounter::Commits,
        server: 60_006.0,
        own: [7.0, 7.0],
        requests: [60_000.0, 60_000.0],
    };
    let excess =
        CounterComparison { server: 70_000.0, counter: ComparedCounter::Statements, ..compared };
    let agree = CounterComparison { server: 60_007.0, ..compared };
    let only_one = CounterComparison { server: 1.0, ..compared };
    let written = |cycles, written_bytes, coverage| {
        Finding::Checkpoints(Checkpoints { cycles, written_bytes, coverage })
    };
    let cycles = |timed, requested| Cycles::Checkpoints { timed, requested };
    vec![
        (
            Finding::Commits(Commits::Agree(agree)),
            PASS,
            "the server counted 60,007 commits; requests account for 60,000, assay's own sessions \
             for 7",
        ),
        (
            Finding::Commits(Commits::Missing(compared)),
            Status::Invalid,
            "1 commit is missing: the server counted 60,006 commits; requests account for 60,000, \
             assay's own sessions for 7. The server, or a proxy before it, answered without \
             executing it",
        ),
        (
            Finding::Commits(Commits::Missing(only_one)),
            Status::Invalid,
            "60,006 commits are missing: the server counted 1 commit; requests account for 60,000, \
             assay's own sessions for 7. The server, or a proxy before it, answered without \
             executing them",
        ),
        (
            Finding::Commits(Commits::Excess(excess)),
            SUSPECT,
            "the server counted 70,000 statements; requests account for 60,000, assay's own \
             sessions for 7: other sessions used this database, or statements count more often \
             than expected",
        ),
        (
            written(cycles(0.0, 0.0), 50e6, Coverage::FewCycles),
            PASS,
            "no checkpoint began in the run; 50.0 MB of log were written: a run of several cycles \
             also includes the write-back that this one left for later",
        ),
        (
            written(cycles(1.0, 0.0), 50e6, Coverage::Representative),
            PASS,
            "1 checkpoint began in the run; 50.0 MB of log were written",
        ),
        (
            written(cycles(1.0, 2.0), 50e6, Coverage::Representative),
            PASS,
            "3 checkpoints began in the run, 2 of them ahead of schedule; 50.0 MB of log were \
             written",
        ),
        (
            written(cycles(1.0, 0.0), 1e5, Coverage::NothingToWrite),
            PASS,
            "0.1 MB of log were written: the run wrote too little for checkpoints to matter",
        ),
        (
            written(Cycles::Turns(2.5), 250e6, Coverage::Representative),
            PASS,
            "250.0 MB of log were written, 2.50 times its capacity",
        ),
    ]
}

#[test]
fn every_finding_has_a_sentence() {
    let tables = [
        of_complete(),
        of_faults(),
        of_requests(),
        of_schedules(),
        of_generator(),
        of_calibration(),
        of_machine(),
        of_steady_state(),
        of_target(),
        of_server(),
    ];
    let all: Vec<ExpectedSentence> = tables.into_iter().flatten().collect();
    let places: Vec<usize> = all.iter().map(|(finding, ..)| place(finding)).collect();
    let mut sentences = Vec::new();
    for (finding, status, words) in all {
        // The kind does not matter for the sentence.
        let (kind, unit) = (CheckKind::Complete, Unit::None);
        let check = Check { kind, status, value: None, limit: None, unit, finding };
        assert_eq!(check_sentence(&check), words);
        sentences.push(words.to_owned());
    }
    assert_complete(places, ALL, &sentences);
}
