//! Sentences about the findings of checks.

use analyze::finding::{
    Backlog, CeilingUse, Checkpoints, ClockCost, Commits, Completeness, Connections, Coverage,
    Cycles, Failures, Files, Floor, Frequencies, Gaps, Headroom, Lag, LatePart, MedianChange,
    Outages, ProcessorWait, Requests, RunEnd, Seconds, Sending, Stalls, ThreadUse, WallClock,
    WarmUp, WindowThird, WrongResults,
};
use analyze::{Check, Finding, OtherPrograms};
use base::Nanos;
use base::units::grouped;

use super::counters::{comparison, counted};
use super::digits::{percent_or_less, signed};
use super::obstacle;
use super::programs::other_programs;
use crate::number::{count, fixed, plain, significant};

/// Returns the finding of a check in one sentence. For some suspect or invalid checks, the sentence
/// adds the consequence.
pub(crate) fn check_sentence(check: &Check) -> String {
    let objects = check.status.objects();
    match &check.finding {
        Finding::NotPossible(obstacle) => obstacle::reason(obstacle),
        Finding::Complete(finding) => complete(finding),
        Finding::Window(finding) => window(*finding),
        Finding::Balance(it) => format!(
            "{} came due; {} completed, {} ended in errors, {} were rejected, {} stayed unsent",
            grouped(it.due),
            grouped(it.completed),
            grouped(it.errors),
            grouped(it.rejected),
            grouped(it.unsent),
        ),
        Finding::Rate(it) => format!(
            "the number of due requests of [{}] differs by {} from its schedule",
            it.job,
            signed(it.by, 2)
        ),
        Finding::EachSecond(finding) => each_second(finding),
        Finding::Achieved(finding) => achieved(finding),
        Finding::Arrivals(it) => format!(
            "the number of due requests of [{}] per second varies {:.2} times as much as in a \
             Poisson process",
            it.job, it.index
        ),
        Finding::Gaps(finding) => gaps(finding),
        Finding::SendLag(lag) => send_lag(lag),
        Finding::Stall(finding) => stall(*finding),
        Finding::ProcessorWait(finding) => processor_wait(finding, objects),
        Finding::GeneratorCpu(finding) => generator_cpu(finding),
        Finding::StolenTime { share } => stolen_time(*share, objects),
        Finding::OtherPrograms(others) => programs(others, objects),
        Finding::Ceiling(finding) => ceiling(finding),
        Finding::Floor(finding) => floor(finding, objects),
        Finding::Clock(finding) => clock(finding, objects),
        Finding::WallClock(finding) => wall_clock(*finding),
        Finding::Frequency(finding) => frequency(*finding, objects),
        Finding::Backlog(finding) => backlog(finding),
        Finding::WarmUp(finding) => warm_up(*finding),
        Finding::Drift(change) | Finding::Step(change) => median_change(change),
        Finding::Little(it) => format!(
            "Little's law gives {} busy clients of [{}]; {} are configured",
            fixed(it.busy, 2),
            it.job,
            plain(it.clients)
        ),
        Finding::Errors(finding) => errors(finding),
        Finding::WrongResults(finding) => wrong_results(finding),
        Finding::Outage(finding) => outage(finding),
        Finding::Connections(finding) => connections(finding),
        Finding::Overflow { times: 0 } => "no time was longer than an hour".to_owned(),
        Finding::Overflow { times: 1 } => "1 time was longer than an hour".to_owned(),
        Finding::Overflow { times } => {
            format!("{} times were longer than an hour", grouped(*times))
        }
        Finding::Files(finding) => files(finding),
        Finding::Commits(finding) => commits(finding),
        Finding::Checkpoints(finding) => checkpoints(*finding),
    }
}

fn complete(finding: &Completeness) -> String {
    match finding {
        Completeness::PartsMissing { text } => text.clone(),
        Completeness::Ended { end, at, unread_plan: None } => run_end(end, *at),
        Completeness::Ended { end, at, unread_plan: Some(why) } => format!(
            "{}; the plan in the record cannot be read ({why}), so what depends on it, such as \
             conditions and pauses, was not judged",
            run_end(end, *at)
        ),
    }
}

fn run_end(end: &RunEnd, at: Option<Nanos>) -> String {
    let after = at.map(|at| format!("after {} s", fixed(at.as_secs_f64(), 1)));
    let until = after.clone().unwrap_or_else(|| "before its jobs began".to_owned());
    // Requests may have been measured in a second that is missing from the record.
    let recorded = after.unwrap_or_else(|| "before its first second was recorded".to_owned());
    match end {
        // The file may have ended its mix long before the run ended.
        RunEnd::Completed { exhausted: Some(text) } => format!("the run ended by itself; {text}"),
        RunEnd::Completed { exhausted: None } => "the run ended by itself".to_owned(),
        RunEnd::EndedByUser => "the run was ended by the user, as it has no duration".to_owned(),
        RunEnd::Interrupted => format!("the user ended the run {until}"),
        RunEnd::StoppedByError => format!("an error ended the run {until}"),
        RunEnd::TargetLost => match at {
            Some(_) => "the target was unreachable at the end of the run".to_owned(),
            None => "the target was lost before the jobs of the run began".to_owned(),
        },
        RunEnd::FileFailed => format!("a file that failed ended the run {until}"),
        RunEnd::RecorderFailed => {
            format!("the record could no longer be written {recorded}, and the run was ended")
        }
        RunEnd::QueueFull { job: Some(job) } => {
            format!("the queue of [{job}] was full {until}, which ended the run")
        }
        RunEnd::QueueFull { job: None } => {
            format!("a queue was full {until}, which ended the run")
        }
        RunEnd::InternalError => format!("an internal error of assay ended the run {until}"),
        RunEnd::Killed { open } => {
            let killed =
                format!("the run was killed, or is still running: its record ends {recorded}");
            match open {
                0 => killed,
                1 => format!("{killed}, when 1 request was open, which counts as unsent"),
                open => {
                    let open = grouped(*open);
                    format!("{killed}, when {open} requests were open, which count as unsent")
                }
            }
        }
    }
}

fn window(finding: Requests) -> String {
    match finding {
        Requests::None { has_warmup } => {
            let when = if has_warmup { " after the warm-up" } else { "" };
            format!("no request was scheduled{when}: there is no result")
        }
        Requests::Scheduled { requests, length } => {
            format!("{} in {} s", count(requests, "request"), fixed(length.as_secs_f64(), 1))
        }
    }
}

fn each_second(finding: &Seconds) -> String {
    match finding {
        Seconds::AsScheduled => {
            "the number of due requests per second matches the schedules".to_owned()
        }
        Seconds::Odd { job, begin, by } => format!(
            "in the second from {begin}, the number of due requests of [{job}] differs by {} from \
             its schedule",
            signed(*by, 0)
        ),
    }
}

fn achieved(finding: &Sending) -> String {
    match finding {
        Sending::AllSent => "every due request was sent".to_owned(),
        Sending::Short { job, share } => format!(
            "{:.1} % of the due requests of [{job}] were never sent: their response times \
             count only until they were given up",
            share * 100.0
        ),
    }
}

fn gaps(finding: &Gaps) -> String {
    match finding {
        Gaps::Poisson => "the gaps between arrivals match a Poisson process".to_owned(),
        Gaps::Odd { job, share } => format!(
            "{:.0} % of the gaps between arrivals of [{job}] differ from those of a Poisson \
             process",
            share * 100.0
        ),
    }
}

fn stall(finding: Stalls) -> String {
    match finding {
        Stalls::None => "the load generator had no long stall".to_owned(),
        Stalls::Longest { length_s, at, others } => {
            let more = match others {
                0 => String::new(),
                more => format!(", and {} more times, each shorter", grouped(more as u64)),
            };
            format!(
                "the load generator or its machine, not the database, stalled for {} ms, {} s \
                 after time zero{more}",
                fixed(length_s * 1e3, 0),
                fixed(at.as_secs_f64(), 1)
            )
        }
    }
}

fn processor_wait(finding: &ProcessorWait, objects: bool) -> String {
    let ProcessorWait { thread, share, has_database_here } = finding;
    let waited = format!(
        "thread {thread} was runnable but waited for a processor for {:.1} % of the window",
        share * 100.0
    );
    match (objects, has_database_here) {
        (false, _) => waited,
        (true, Some(true)) => format!(
            "{waited}: another program used it, perhaps the database, which is on the same host"
        ),
        (true, Some(false)) => format!("{waited}: something else on its host used it"),
        (true, None) => format!("{waited}: the database or something else used it"),
    }
}

/// Returns the end of a sentence about closed jobs whose rate the load generator limits.
fn limits_closed_jobs() -> &'static str {
    "which limits a closed job but does not distort its times"
}

fn generator_cpu(finding: &ThreadUse) -> String {
    let ThreadUse { thread, share, headroom } = finding;
    let used = format!("thread {thread} used {:.0} % of a processor", share * 100.0);
    match headroom {
        Headroom::Enough => used,
        Headroom::LimitsClosedJobs => format!("{used}, {}", limits_closed_jobs()),
        Headroom::DelaysRequests => {
            format!("{used}: the load generator may be what was measured")
        }
    }
}

fn stolen_time(share: f64, objects: bool) -> String {
    let stolen = format!("{:.2} % of the processors' time was stolen", share * 100.0);
    match objects {
        false => stolen,
        true => format!("{stolen} by other machines of the same host"),
    }
}

fn programs(others: &OtherPrograms, objects: bool) -> String {
    match objects {
        false => other_programs(others),
        true => format!("{}: the benchmark could not use that capacity", other_programs(others)),
    }
}

fn ceiling(finding: &CeilingUse) -> String {
    let used = ceiling_use(finding);
    match finding.headroom {
        Headroom::Enough => used,
        Headroom::LimitsClosedJobs => format!("{used}, {}", limits_closed_jobs()),
        Headroom::DelaysRequests => {
            format!("{used}: requests that arrive close together delay each other there")
        }
    }
}

/// Describes a rate of statements as a fraction of the calibrated maximum of the load generator.
pub(super) fn ceiling_use(finding: &CeilingUse) -> String {
    let threads = match finding.threads {
        1 => "a thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    format!(
        "{} statements/s are {} of the calibrated maximum of {threads} of the load generator",
        fixed(finding.per_s, 0),
        percent_or_less(finding.share)
    )
}

fn floor(finding: &Floor, objects: bool) -> String {
    let takes = format!(
        "a statement that does nothing takes {} µs here, {} of the service time of [{}] at p50",
        fixed(finding.ns / 1e3, 1),
        percent_or_less(finding.share),
        finding.job
    );
    match objects {
        false => takes,
        true => format!("{takes}: most of that is the path to the database, not its work"),
    }
}

fn clock(finding: &ClockCost, objects: bool) -> String {
    let ClockCost { cost_ns, step_ns, service_p50_ns } = finding;
    let costs = format!(
        "reading the clock costs {} ns and its resolution is {} ns, at a service time of {} µs at \
         p50",
        fixed(*cost_ns, 0),
        fixed(*step_ns, 0),
        fixed(service_p50_ns / 1e3, 1)
    );
    match objects {
        false => costs,
        true => format!("{costs}: the clock is too coarse for such short times"),
    }
}

fn wall_clock(finding: WallClock) -> String {
    match finding {
        WallClock::Steady => "the wall clock agreed with the monotonic clock".to_owned(),
        WallClock::Set { by_s, at } => {
            let direction = if by_s > 0.0 { "forward" } else { "back" };
            format!(
                "the wall clock was set {direction} by {} ms, {} s after time zero, or the \
                 machine was suspended: response times use another clock, but time stamps, \
                 statements with `now()` and a database that sees the step are affected",
                fixed(by_s.abs() * 1e3, 0),
                fixed(at.as_secs_f64(), 0)
            )
        }
    }
}

fn frequency(finding: Frequencies, objects: bool) -> String {
    let third = |third: WindowThird| match third {
        WindowThird::First => "first",
        WindowThird::Middle => "middle",
        WindowThird::Last => "last",
    };
    let Frequencies { earlier: (earlier, from), later: (later, to) } = finding;
    let was = format!(
        "the processors' mean frequency was {} MHz in the {} third of the window and {} MHz in the \
         {}",
        fixed(from, 0),
        third(earlier),
        fixed(to, 0),
        third(later)
    );
    match objects {
        false => was,
        true => format!("{was}: the same work took a different time"),
    }
}

/// Returns the sentence on a send lag. A lag of less than half a microsecond counts as none.
fn send_lag(Lag { job, part, ns }: &Lag) -> String {
    let late_ms = significant(ns / 1e6);
    let (late, others) = match part {
        LatePart::Hundredth => ("1 %", "99 %"),
        LatePart::Half => ("half", "half"),
    };
    match *ns < 500.0 {
        true => {
            format!("{others} of the requests of [{job}] were sent within 0.001 ms of their time")
        }
        false => format!("{late} of the requests of [{job}] were sent at least {late_ms} ms late"),
    }
}

fn backlog(finding: &Backlog) -> String {
    match finding {
        Backlog::Stable => "the backlog did not grow".to_owned(),
        Backlog::Immaterial => "the growth of the backlog is negligible".to_owned(),
        Backlog::QueuesFull { jobs } => format!(
            "the offered load exceeds the capacity: the queue of [{}] was full; response times \
             would only show its length limit and are withheld",
            jobs.join("], [")
        ),
        Backlog::Grows { jobs } => format!(
            "the offered load exceeds the capacity for [{}]: response times would only show the \
             length of the run and are withheld",
            jobs.join("], [")
        ),
        Backlog::Unsent { jobs, share } => format!(
            "the offered load exceeds the capacity for [{}]: {:.0} % of the requests were never \
             sent, and the response times of the others are withheld",
            jobs.join("], ["),
            share * 100.0
        ),
    }
}

fn warm_up(finding: WarmUp) -> String {
    let measured = "the run is measured from its beginning";
    match finding {
        WarmUp::TooShort => {
            format!("the run ended before the end of its warm-up could be found: {measured}")
        }
        WarmUp::NoSteadyJob => {
            format!("no job sent requests evenly throughout the run: {measured}")
        }
        WarmUp::Overloaded => {
            "the offered load exceeds the capacity: there is no steady state".to_owned()
        }
        WarmUp::NeverSteady { by } => format!(
            "there was no steady state: the second half of the run differs from the first by \
             {}",
            signed(by, 1)
        ),
        WarmUp::SteadyAtOnce => format!("the run was steady at once: {measured}"),
        WarmUp::Found { length } => {
            format!("the first {length} are less steady than the rest and are excluded")
        }
    }
}

fn median_change(change: &MedianChange) -> String {
    match change {
        MedianChange::None => "the median response time did not change".to_owned(),
        MedianChange::Gradual { job, by } => format!(
            "the median response time of [{job}] changed by {} from the beginning to the end of \
             the window",
            signed(*by, 1)
        ),
        MedianChange::Abrupt { job, by, at_s } => format!(
            "the median response time of [{job}] changed by {}, {} s after time zero",
            signed(*by, 1),
            fixed(*at_s, 0)
        ),
    }
}

fn errors(finding: &Failures) -> String {
    match finding {
        Failures::None => "0 requests failed unexpectedly".to_owned(),
        Failures::Some { job, failed, scheduled, .. } => format!(
            "{} of the {} requests of [{job}] failed unexpectedly",
            grouped(*failed),
            grouped(*scheduled)
        ),
    }
}

fn wrong_results(finding: &WrongResults) -> String {
    match finding {
        WrongResults::None => "every result had the expected number of rows".to_owned(),
        WrongResults::Some { job, results: 1 } => {
            format!("a result of [{job}] had an unexpected number of rows")
        }
        WrongResults::Some { job, results } => {
            format!("{} results of [{job}] had an unexpected number of rows", grouped(*results))
        }
    }
}

fn outage(finding: &Outages) -> String {
    match finding {
        Outages::None => "the target was reachable all the time".to_owned(),
        Outages::Some { length, first, text } => format!(
            "for up to {} s, first {} s after time zero, {}",
            fixed(length.as_secs_f64(), 1),
            fixed(first.as_secs_f64(), 1),
            text.as_deref().unwrap_or("the target refused connections")
        ),
        Outages::FewerServers { length, first, text } => {
            let long = match *length {
                Nanos::ZERO => String::new(),
                length => format!("for up to {} s, ", fixed(length.as_secs_f64(), 1)),
            };
            let first = fixed(first.as_secs_f64(), 1);
            let after = "the run had fewer servers than its point";
            format!("{long}first {first} s after time zero, {text}; {after}")
        }
    }
}

fn connections(finding: &Connections) -> String {
    match finding {
        Connections::AllAccepted => "the target accepted every connection".to_owned(),
        Connections::AllOpen => "all configured connections were open".to_owned(),
        Connections::Missing { job, configured, open, refusal } => {
            let why = refusal
                .map(|refusal| format!("; the target refused connections ({})", refusal.code));
            format!(
                "{} of the {} connections of [{job}] were open on average{}",
                fixed(*open, 1),
                grouped((*configured).into()),
                why.unwrap_or_default()
            )
        }
        Connections::Limited { text } => text.clone(),
    }
}

fn files(finding: &Files) -> String {
    match finding {
        Files::Whole => "every file of the jobs was read and written".to_owned(),
        Files::CutOff { text } | Files::Failed { text } => text.clone(),
    }
}

fn commits(finding: &Commits) -> String {
    match finding {
        Commits::Agree(compared) => comparison(compared),
        Commits::Missing(compared) => {
            let missing = -compared.difference();
            let (are, them) = if missing as u64 == 1 { ("is", "it") } else { ("are", "them") };
            format!(
                "{} {are} missing: {}. The server, or a proxy before it, answered without \
                 executing {them}",
                counted(missing, compared.counter),
                comparison(compared)
            )
        }
        Commits::Excess(compared) => format!(
            "{}: other sessions used this database, or statements count more often than expected",
            comparison(compared)
        ),
    }
}

fn checkpoints(finding: Checkpoints) -> String {
    let log = format!("{} MB of log were written", fixed(finding.written_bytes / 1e6, 1));
    let found = match finding.cycles {
        Cycles::Checkpoints { timed, requested } => {
            let all = match (timed + requested) as u64 {
                0 => "no checkpoint".to_owned(),
                1 => "1 checkpoint".to_owned(),
                more => format!("{} checkpoints", grouped(more)),
            };
            let early = match requested as u64 {
                0 => String::new(),
                early => format!(", {} of them ahead of schedule", grouped(early)),
            };
            format!("{all} began in the run{early}; {log}")
        }
        Cycles::Turns(turns) => format!("{log}, {turns:.2} times its capacity"),
    };
    match finding.coverage {
        Coverage::NothingToWrite => {
            format!("{log}: the run wrote too little for checkpoints to matter")
        }
        Coverage::FewCycles => format!(
            "{found}: a run of several cycles also includes the write-back that this one left for \
             later"
        ),
        Coverage::Representative => found,
    }
}
