//! What limited the result, and on what evidence.

use record::EventKind;

use crate::checks::Findings;

/// The component whose relief would raise the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Nothing: every open job got what it was offered.
    NotSaturated,
    /// The number of connections.
    Connections,
    /// It is not known.
    Unknown,
}

impl Component {
    /// The word for this component in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Component::NotSaturated => "not-saturated",
            Component::Connections => "connections",
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
    let evidence = findings.evidence;
    let closed = evidence.plan.jobs.iter().any(|job| job.arrivals().is_none());
    let overloaded: Vec<&str> = findings.overloaded().collect();
    let limited = evidence.events.iter().find(|e| e.kind == EventKind::ConnectionLimit);
    if let (Some(event), false) = (limited, overloaded.is_empty()) {
        return Limiter {
            component: Component::Connections,
            because: format!("requests wait while {}", event.text),
            evidence: Vec::new(),
        };
    }
    if !overloaded.is_empty() || closed || findings.window_is_empty() {
        let why = if !overloaded.is_empty() {
            "requests arrive faster than they are answered"
        } else if closed {
            "a closed job takes what it can get"
        } else {
            "there were no requests"
        };
        let because = format!("{why}, and no component of the database was observed");
        return Limiter { component: Component::Unknown, because, evidence: Vec::new() };
    }
    let offered: f64 = evidence.plan.jobs.iter().filter_map(|job| job.offered_per_s()).sum();
    let achieved = findings.ended_per_s();
    Limiter {
        component: Component::NotSaturated,
        because: "every open job was answered at the rate at which requests arrived".to_owned(),
        evidence: vec![
            ("offered_per_s".to_owned(), offered),
            ("answered_per_s".to_owned(), achieved),
        ],
    }
}
