//! Events of a run, behind everything that is drawn over time: the warm-up, outages,
//! stalls of the generator, events, and the begin and end of jobs.

use std::collections::BTreeSet;

use analyze::Observed;
use base::Nanos;
use record::metric::generator;
use record::{Event, EventKind, Part, Side};

use super::subject::Run;
use crate::figure::{Ink, Mark};

/// Most rules and periods; the record has all events.
const MOST: usize = 24;

/// Returns the marks of what happened.
pub(super) fn marks(run: &Run<'_>) -> Vec<Mark> {
    let mut marks = warm_up(run);
    marks.extend(outages(run));
    marks.extend(stalls(run));
    marks.extend(events(run));
    marks.extend(jobs(run));
    marks.truncate(MOST);
    name_once(&mut marks);
    marks
}

/// Leaves the label of the first of equal marks only: the ink tells the others.
fn name_once(marks: &mut [Mark]) {
    let mut named = BTreeSet::new();
    for mark in marks {
        if let Mark::Rule { label, .. } | Mark::Period { label, .. } = mark
            && !named.insert(label.clone())
        {
            label.clear();
        }
    }
}

fn warm_up(run: &Run<'_>) -> Vec<Mark> {
    let to = run.view.evidence.steps.warmup().as_secs_f64();
    let label = "warm-up, not counted".to_owned();
    let period = Mark::Period { ink: Ink::Quiet, from: 0.0, to, label };
    if to > 0.0 { vec![period] } else { Vec::new() }
}

/// Returns the periods in which a target refused connections. One that did not end lasts to the end
/// of the run.
fn outages(run: &Run<'_>) -> Vec<Mark> {
    let evidence = &run.view.evidence;
    let mut marks = Vec::new();
    let mut began: Option<Nanos> = None;
    let mut close = |from: Nanos, to: Nanos| {
        let [from, to] = [from, to].map(|at| at.as_secs_f64());
        marks.push(Mark::Period { ink: Ink::Bad, from, to, label: "outage".to_owned() });
    };
    for event in &evidence.events {
        match (event.kind, began) {
            (EventKind::OutageBegan, None) => began = Some(event.at),
            (EventKind::OutageEnded, Some(from)) => {
                close(from, event.at);
                began = None;
            }
            _ => {}
        }
    }
    if let Some(from) = began {
        close(from, evidence.end());
    }
    marks
}

fn stalls(run: &Run<'_>) -> Vec<Mark> {
    let part = Part::Processes(Side::Generator);
    let stalls: &[(Nanos, f64)] =
        run.view.evidence.observed(&part, generator::STALL).map_or(&[], |it: &Observed| &it.points);
    let period = |(at, length): &(Nanos, f64)| {
        let from = at.as_secs_f64();
        let label = "generator stalled".to_owned();
        Mark::Period { ink: Ink::Doubtful, from, to: from + length, label }
    };
    stalls.iter().map(period).collect()
}

/// Returns rules at the other events.
fn events(run: &Run<'_>) -> Vec<Mark> {
    let is_period =
        |event: &Event| matches!(event.kind, EventKind::OutageBegan | EventKind::OutageEnded);
    let rule = |event: &Event| Mark::Rule {
        ink: Ink::Doubtful,
        at: event.at.as_secs_f64(),
        label: event.kind.name().to_owned(),
    };
    run.view.evidence.events.iter().filter(|event| !is_period(event)).map(rule).collect()
}

/// Returns rules where a job begins or ends within the run, by its plan.
fn jobs(run: &Run<'_>) -> Vec<Mark> {
    let evidence = &run.view.evidence;
    let mut marks = Vec::new();
    let mut rule = |at: Nanos, label: String| {
        if at > Nanos::ZERO && at < evidence.end() {
            marks.push(Mark::Rule { ink: Ink::Quiet, at: at.as_secs_f64(), label });
        }
    };
    for (id, job) in evidence.plan.jobs_by_id() {
        let name = &run.view.summary.jobs[evidence.plan.account_of(id).index()].name;
        rule(job.start, format!("{name} begins"));
        if let Some(stop) = job.stop {
            rule(stop, format!("{name} ends"));
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_marks_are_named_once() {
        let rule =
            |at: f64, label: &str| Mark::Rule { ink: Ink::Doubtful, at, label: label.into() };
        let mut marks =
            [rule(1.0, "first-error"), rule(2.0, "first-error"), rule(3.0, "queue-full")];
        name_once(&mut marks);
        let expected = [rule(1.0, "first-error"), rule(2.0, ""), rule(3.0, "queue-full")];
        assert_eq!(marks, expected);
    }
}
