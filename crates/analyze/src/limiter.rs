//! What limited the result, and on what evidence.

use record::{Event, EventKind};

use crate::checks::Findings;

/// The component whose relief would raise the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Nothing: every open job got what it was offered.
    NotSaturated,
    /// The number of connections.
    Connections,
    /// The threads of the load generator.
    GeneratorThread,
    /// It is not known.
    Unknown,
}

impl Component {
    /// The word for this component in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Component::NotSaturated => "not-saturated",
            Component::Connections => "connections",
            Component::GeneratorThread => "generator-thread",
            Component::Unknown => "unknown",
        }
    }
}

/// The limiter of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Limiter {
    /// Which component.
    pub component: Component,
    /// Why it and not another, in one sentence.
    pub because: String,
    /// The numbers behind it: names and values.
    pub evidence: Vec<(String, f64)>,
}

/// Names the limiter, as far as the generator alone can tell.
pub(crate) fn name(findings: &Findings<'_>) -> Limiter {
    if let Some(event) = limit_of_an_overloaded_job(findings) {
        return Limiter {
            component: Component::Connections,
            because: format!("requests wait while {}", event.text),
            evidence: Vec::new(),
        };
    }
    if let Some(limiter) = threads_of_a_closed_job(findings) {
        return limiter;
    }
    if let Some(because) = why_unknown(findings) {
        return Limiter { component: Component::Unknown, because, evidence: Vec::new() };
    }
    let jobs = 0..findings.evidence.jobs.len();
    let offered: f64 = jobs.filter_map(|place| findings.offered_per_s(place)).sum();
    Limiter {
        component: Component::NotSaturated,
        because: "every open job was answered at the rate at which requests arrived".to_owned(),
        evidence: vec![
            ("offered_per_s".to_owned(), offered),
            ("answered_per_s".to_owned(), findings.ended_per_s()),
        ],
    }
}

/// The server's refusal of further connections to a job whose requests wait for one.
fn limit_of_an_overloaded_job<'a>(findings: &Findings<'a>) -> Option<&'a Event> {
    let jobs = findings.evidence.jobs.len();
    findings.evidence.events.iter().filter(|e| e.kind == EventKind::ConnectionLimit).find(|event| {
        match event.job {
            Some(job) => findings.is_overloaded(usize::from(job.0)),
            None => (0..jobs).any(|place| findings.is_overloaded(place)),
        }
    })
}

/// The threads of the load generator, if all jobs take what they can get and that is nearly all
/// that so many threads can make.
fn threads_of_a_closed_job(findings: &Findings<'_>) -> Option<Limiter> {
    if findings.places().any(|place| findings.has_schedule(place)) {
        return None;
    }
    let (because, name, share) = match findings.limited_by_its_threads() {
        Some((because, share)) => (because, "share_of_ceiling", share),
        None => {
            let (thread, share) = findings.busy_thread()?;
            let because = format!("its thread {thread} used {:.0} % of a processor", share * 100.0);
            (because, "share_of_processor", share)
        }
    };
    let evidence = vec![(name.to_owned(), share)];
    Some(Limiter { component: Component::GeneratorThread, because, evidence })
}

/// Why the generator alone cannot tell; `None` if it can.
fn why_unknown(findings: &Findings<'_>) -> Option<String> {
    let places = || findings.places();
    let why = if findings.overloaded().next().is_some() {
        "requests arrive faster than they are answered"
    } else if !places().all(|place| findings.has_schedule(place)) {
        "a closed job takes what it can get"
    } else if findings.window_is_empty() {
        "there were no requests"
    } else if places().any(|place| findings.fails(place)) {
        "a request that fails says nothing of what the target can do"
    } else if findings.some_unsent() {
        "some requests were never sent"
    } else if places().any(|place| findings.trend(place).is_none()) {
        let why = "the window is too short to tell whether requests arrive faster than they are \
                   answered";
        return Some(why.to_owned());
    } else {
        return None;
    };
    Some(format!("{why}, and no component of the database was observed"))
}
