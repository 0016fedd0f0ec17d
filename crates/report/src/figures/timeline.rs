//! Events of a run, behind everything that is drawn over time: the warm-up, outages, stalls of the
//! generator, events, the start and end of jobs, and checkpoints of databases.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use analyze::Observed;
use base::Nanos;
use record::metric::{CHECKPOINT, generator};
use record::statistic::{ServerStatistic, pg_stat_bgwriter, pg_stat_checkpointer};
use record::{ComponentKind, Event, EventKind, MeasuredSide};

use super::readings::by_place;
use super::subject::Run;
use crate::figure::{Ink, Mark};
use crate::number::count;

/// Maximum number of vertical lines and periods, checkpoints not counted; the caption has the
/// number of those left out.
const MOST_MARKS: usize = 24;

/// Maximum number of checkpoints: if there are more, they would hide the series, so none is drawn,
/// and the caption has their number.
const MOST_CHECKPOINTS: usize = 40;

/// Counters of the checkpoints that PostgreSQL has begun. The version decides which of the two
/// views has them.
const CHECKPOINTS: [ServerStatistic; 4] = [
    pg_stat_bgwriter::CHECKPOINTS_TIMED,
    pg_stat_bgwriter::CHECKPOINTS_REQ,
    pg_stat_checkpointer::NUM_TIMED,
    pg_stat_checkpointer::NUM_REQUESTED,
];

/// Returns the marks of the run's events.
pub(super) fn marks(run: &Run<'_>) -> Vec<Mark> {
    let mut marks = event_marks(run);
    marks.truncate(MOST_MARKS);
    marks.extend(drawable_checkpoints(checkpoints(run)));
    name_once(&mut marks);
    marks
}

/// Returns the clause about events that are not drawn; `None` if all are drawn.
pub(super) fn note(run: &Run<'_>) -> Option<String> {
    let checkpoints = checkpoints(run).len();
    let left_out = [
        (event_marks(run).len().saturating_sub(MOST_MARKS), "event"),
        (if checkpoints > MOST_CHECKPOINTS { checkpoints } else { 0 }, "checkpoint"),
    ];
    let texts = left_out.into_iter().filter(|(number, _)| *number > 0);
    let texts: Vec<String> = texts.map(|(number, what)| count(number as u64, what)).collect();
    (!texts.is_empty()).then(|| format!("not drawn: {}", texts.join(" and ")))
}

/// Returns the marks of all events except checkpoints. The most important ones come first, because
/// only the first [`MOST_MARKS`] are drawn.
fn event_marks(run: &Run<'_>) -> Vec<Mark> {
    let mut marks = warm_up(run);
    marks.extend(jobs(run));
    marks.extend(outages(run));
    marks.extend(events(run, |kind| kind != EventKind::FirstError));
    marks.extend(stalls(run));
    marks.extend(events(run, |kind| kind == EventKind::FirstError));
    marks
}

fn drawable_checkpoints(checkpoints: Vec<Mark>) -> Vec<Mark> {
    if checkpoints.len() > MOST_CHECKPOINTS { Vec::new() } else { checkpoints }
}

/// Removes the label of each mark that has the same label as an earlier mark. The ink still
/// identifies the event.
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

/// Returns the outages: periods in which a target, or one of its servers, accepted no connection.
fn outages(run: &Run<'_>) -> Vec<Mark> {
    let period = |outage: Range<Nanos>| {
        let [from, to] = [outage.start, outage.end].map(|at| at.as_secs_f64());
        Mark::Period { ink: Ink::Bad, from, to, label: "outage".to_owned() }
    };
    run.view.evidence.outages().into_iter().map(period).collect()
}

fn stalls(run: &Run<'_>) -> Vec<Mark> {
    let kind = ComponentKind::Processes(MeasuredSide::Generator);
    let stalls: &[(Nanos, f64)] =
        run.view.evidence.observed(&kind, generator::STALL).map_or(&[], |it: &Observed| &it.points);
    let period = |(at, length): &(Nanos, f64)| {
        let from = at.as_secs_f64();
        let label = "generator stalled".to_owned();
        Mark::Period { ink: Ink::Doubtful, from, to: from + length, label }
    };
    stalls.iter().map(period).collect()
}

/// Returns a vertical line at each event of the wanted kinds. The start and the end of an outage
/// have none, because [`outages`] returns the period.
fn events(run: &Run<'_>, is_wanted: impl Fn(EventKind) -> bool) -> Vec<Mark> {
    let is_period =
        |event: &Event| matches!(event.kind, EventKind::OutageBegan | EventKind::OutageEnded);
    let rule = |event: &Event| Mark::Rule {
        ink: Ink::Doubtful,
        at: event.at.as_secs_f64(),
        label: event.kind.name().replace('-', " "),
    };
    let events = run.view.evidence.events.iter();
    events.filter(|event| is_wanted(event.kind) && !is_period(event)).map(rule).collect()
}

/// Returns a vertical line at each planned start or end of a job that lies within the run.
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

/// Returns the checkpoints of the databases that [`by_place`] chooses: vertical lines at the times
/// at which a counter of checkpoints grows or, without such a counter, the periods whose samples
/// show the work of a checkpoint.
fn checkpoints(run: &Run<'_>) -> Vec<Mark> {
    let key = |kind| {
        matches!(kind, ComponentKind::Statistics | ComponentKind::Background).then_some(kind)
    };
    let places = by_place(&run.view.evidence.observed, key);
    places
        .iter()
        .flat_map(|(place, by_kind)| {
            let label = place.as_ref().map(|place| format!("{place}: {CHECKPOINT}"));
            checkpoints_of(by_kind, &label.unwrap_or_else(|| CHECKPOINT.to_owned()))
        })
        .collect()
}

fn checkpoints_of(by_kind: &BTreeMap<ComponentKind, Vec<&Observed>>, label: &str) -> Vec<Mark> {
    let named = |kind: &ComponentKind, is_it: &dyn Fn(&str) -> bool| -> Vec<&Observed> {
        let all = by_kind.get(kind).into_iter().flatten().copied();
        all.filter(|observed| is_it(&observed.metric)).collect()
    };
    let is_counter = |name: &str| CHECKPOINTS.iter().any(|it| it.name == name);
    let counters = named(&ComponentKind::Statistics, &is_counter);
    let is_uncounted = counters.is_empty();
    let seen = named(&ComponentKind::Background, &|name| is_uncounted && name == CHECKPOINT);
    let rule = |[from, to]: [f64; 2]| {
        let at = (from + to) / 2.0;
        Mark::Rule { ink: Ink::Quiet, at, label: label.to_owned() }
    };
    let period =
        |[from, to]: [f64; 2]| Mark::Period { ink: Ink::Quiet, from, to, label: label.to_owned() };
    let rules = counters.into_iter().flat_map(|it| periods_of_growth(&it.points)).map(rule);
    let seen = seen.into_iter().flat_map(|it| join_adjacent(periods_of_growth(&it.points)));
    rules.chain(seen.map(period)).collect()
}

/// Returns the periods between readings, in seconds, in which a counter has grown.
fn periods_of_growth(readings: &[(Nanos, f64)]) -> Vec<[f64; 2]> {
    let has_grown = |pair: &&[(Nanos, f64)]| pair[1].1 > pair[0].1;
    let ends = |pair: &[(Nanos, f64)]| [pair[0].0.as_secs_f64(), pair[1].0.as_secs_f64()];
    readings.windows(2).filter(has_grown).map(ends).collect()
}

/// Joins adjacent periods.
fn join_adjacent(periods: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let mut joined: Vec<[f64; 2]> = Vec::new();
    for [from, to] in periods {
        match joined.last_mut() {
            Some(last) if last[1] == from => last[1] = to,
            _ => joined.push([from, to]),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(component: &str, metric: &str, values: &[f64]) -> Observed {
        let at = |(second, value): (usize, &f64)| (Nanos::from_secs(second as u64), *value);
        Observed {
            component: component.to_owned(),
            metric: metric.to_owned(),
            points: values.iter().enumerate().map(at).collect(),
            ranges: Vec::new(),
        }
    }

    #[test]
    fn checkpoint_is_marked_where_its_counter_steps() {
        let timed = pg_stat_checkpointer::NUM_TIMED.name;
        let timed = counter("statistics", timed, &[7.0, 7.0, 8.0, 8.0]);
        let seen = counter("background", CHECKPOINT, &[0.0, 4.0, 9.0, 9.0, 9.0, 12.0]);
        let mut by_kind = BTreeMap::from([(ComponentKind::Background, vec![&seen])]);
        let period = |from: f64, to: f64| Mark::Period {
            ink: Ink::Quiet,
            from,
            to,
            label: "checkpoint".into(),
        };
        let expected = [period(0.0, 2.0), period(4.0, 5.0)];
        assert_eq!(checkpoints_of(&by_kind, "checkpoint"), expected);
        by_kind.insert(ComponentKind::Statistics, vec![&timed]);
        let expected = Mark::Rule { ink: Ink::Quiet, at: 1.5, label: "checkpoint".into() };
        assert_eq!(checkpoints_of(&by_kind, "checkpoint"), [expected]);
    }

    #[test]
    fn equal_marks_are_named_once() {
        let rule =
            |at: f64, label: &str| Mark::Rule { ink: Ink::Doubtful, at, label: label.into() };
        let mut marks =
            [rule(1.0, "first error"), rule(2.0, "first error"), rule(3.0, "queue full")];
        name_once(&mut marks);
        let expected = [rule(1.0, "first error"), rule(2.0, ""), rule(3.0, "queue full")];
        assert_eq!(marks, expected);
    }
}
