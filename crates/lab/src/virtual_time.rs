//! The progress of virtual time: the clock jumps from event to event, so time passes only if
//! requests or pauses take time.

use base::Nanos;
use base::units::parse_duration;
use sim::Config;
use workload::{Job, Pacing, Piece, Reconnect, Statement};

/// Minimum length of a request, or of the pause after it, for the clock to make progress. A client
/// then sends at most a million requests per second of the run.
const MIN_REQUEST_TIME: Nanos = Nanos::from_micros(1);

/// Returns true if a job has no fixed number of requests, and its clients neither pause nor wait
/// for an answer. Without a `config`, the target is the null driver, which answers at once.
pub(crate) fn takes_no_time(job: &Job, config: Option<&Config>) -> bool {
    let is_served = config.is_some_and(|config| takes_time(job, config));
    !job.has_fixed_request_count() && !pauses(job) && !is_served
}

/// Returns true if something other than an answer makes time pass between two requests: arrivals,
/// or the think time of clients.
fn pauses(job: &Job) -> bool {
    match &job.pacing {
        Pacing::Open { .. } | Pacing::Queue { .. } | Pacing::Timetable { .. } | Pacing::Replay => {
            true
        }
        Pacing::Closed { think: None, .. } => false,
        Pacing::Closed { think: Some(think), .. } => {
            think.known_pause().is_none_or(|pause| pause.mean >= MIN_REQUEST_TIME)
        }
    }
}

/// Returns true if requests to a simulated server take time.
fn takes_time(job: &Job, config: &Config) -> bool {
    let connects = job.reconnect == Reconnect::PerTransaction && config.connect >= MIN_REQUEST_TIME;
    // If the server accepts a limited number of requests per second, a further request takes time
    // until it is refused.
    let is_limited = config.limit.is_some();
    let mut statements = job.sections().flat_map(|requests| &requests.statements);
    let service_s = config.service.mean_s();
    connects || is_limited || statements.any(|statement| is_served(statement, service_s))
}

/// Returns true if the execution of a statement takes time, by the hint in the statement or,
/// without a hint, by the server's configuration. A hint in a value that is inserted into the text
/// of the statement is known only when the request is sent.
fn is_served(statement: &Statement, service_s: f64) -> bool {
    if statement.pieces.iter().any(|piece| matches!(piece, Piece::Splice(_))) {
        return true;
    }
    let hinted = statement.pieces.iter().find_map(|piece| match piece {
        Piece::Text(text) => text.split_once("/* sim:").map(|(_, hints)| hints),
        Piece::Value(_) | Piece::Quoted(_) | Piece::Splice(_) => None,
    });
    let mut words = hinted.into_iter().flat_map(str::split_whitespace);
    let service = words.find_map(|word| parse_duration(word.strip_prefix("service=")?).ok());
    service.map_or(service_s, Nanos::as_secs_f64) >= MIN_REQUEST_TIME.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use base::Target;
    use workload::Overrides;

    use super::*;
    use crate::target::simulation;

    #[track_caller]
    fn check(job: &str, url: &str, expected: bool) {
        let text = format!("duration = 10s\n[read]\nquery = select 1\n{job}\n");
        let (plan, found) = workload::plan(&text, &Overrides::default());
        let plan = plan.unwrap_or_else(|| panic!("{found:?}"));
        let config = simulation(&Target::parse(url).unwrap()).unwrap();
        assert_eq!(takes_no_time(&plan.jobs[0], config.as_ref()), expected, "{text} {url}");
    }

    #[test]
    fn clients_that_wait_for_nothing_take_no_time() {
        for url in [
            "sim:null",
            "sim:null?rows=5",
            "sim:mm1?service=0s",
            "sim:mm1?service=1ns",
            "sim:usl?service=0s",
            "sim:bimodal?fast=0s&slow=0s",
            "sim:mm1?service=0s&connect=1ms",
        ] {
            check("concurrency = 4", url, true);
            check("think = 0", url, true);
        }
        for job in ["think = 1ms", "think = ${exp(1ms)}", "rate = 100", "every = 1s", "count = 9"] {
            check(job, "sim:null", false);
        }
        for url in ["sim:mm1", "sim:bimodal?fast=0s", "sim:null?limit=1k", "sim:mm1?service=1us"] {
            check("concurrency = 4", url, false);
        }
        check("reconnect = per-transaction", "sim:mm1?service=0s&connect=1ms", false);
    }

    #[test]
    fn hint_of_a_statement_decides() {
        let job = |hint: &str| format!("query = select 2 /* sim: rows=3 service={hint} */");
        check(&job("5ms"), "sim:null?rows=1", false);
        // Without options, the null driver ignores hints in statements.
        check(&job("5ms"), "sim:null", true);
        check(&job("0s"), "sim:null?rows=1", true);
        let spliced = "let = ms: uniform(1, 9)\nquery = select 2 /* sim: service=${raw(ms)}ms */";
        check(spliced, "sim:null?rows=1", false);
    }
}
