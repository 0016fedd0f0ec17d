//! Waits of the database: its active sessions by kind of wait over time.

use std::collections::BTreeMap;

use analyze::Observed;
use base::Nanos;
use record::ComponentKind;
use record::metric::{RUNNING, sessions};

use super::readings::{by_place, ends, figure_texts, of_metric};
use super::subject::{Run, highest};
use super::timeline;
use crate::figure::{Axis, Extent, Figure, Ink, LegendEntry, Mark, Swatch, Unit};
use crate::number::{significant, trimmed};

/// Maximum number of kinds of waits; rarer kinds share one area. A seventh area would have the same
/// colour as one of the other six.
const MOST_KINDS: usize = 4;

/// Maximum number of periods over which means are taken.
const MOST_PERIODS: usize = 120;

/// The name of sessions without a wait.
const WORKING: &str = "working, no wait reported";

/// The name of the rarer kinds.
const OTHERS: &str = "other waits";

/// Returns a figure of the waits for each database that [`by_place`] chooses.
pub(super) fn figures(run: &Run<'_>) -> Vec<Figure> {
    let is_ours = |kind| match kind {
        ComponentKind::Waits | ComponentKind::Sessions => Some(kind),
        _ => None,
    };
    let places = by_place(&run.view.evidence.observed, is_ours);
    let figure = |(place, by_kind): (Option<String>, BTreeMap<ComponentKind, Vec<&Observed>>)| {
        let samples = of_metric(by_kind.get(&ComponentKind::Sessions)?, sessions::SAMPLES)?;
        let waits = by_kind.get(&ComponentKind::Waits)?;
        (samples.points.len() > 1).then(|| figure_of_place(run, place.as_deref(), samples, waits))
    };
    places.into_iter().filter_map(figure).collect()
}

fn figure_of_place(
    run: &Run<'_>,
    place: Option<&str>,
    samples: &Observed,
    waits: &[&Observed],
) -> Figure {
    let periods = Periods::of(samples, run.view.evidence.end());
    let kinds = ranked_kinds(&periods, waits);
    let caption = caption(&periods, &kinds);
    let words = figure_texts("waits", "Waits of the database by kind", place, caption);
    let mut marks = timeline::marks(run);
    let mut legend = Vec::new();
    let mut below = vec![0.0; periods.between.len()];
    for (number, (name, values)) in kinds.iter().enumerate() {
        let ink = Ink::Series(number);
        let extent = |(period, value): (usize, &f64)| {
            // The product is NaN in a period without samples, which interrupts the area.
            let low = below[period];
            Extent { at: periods.middle(period), low: low + 0.0 * value, high: low + value }
        };
        let extents: Vec<Extent> = values.iter().enumerate().map(extent).collect();
        below = extents.iter().map(|extent| extent.high).collect();
        marks.push(Mark::Band { ink, is_solid: true, extents });
        legend.push(LegendEntry::new(ink, Swatch::Area, name.as_str()));
    }
    let y = Axis::from_zero("sessions that run a statement", Unit::Number, highest(below));
    words.into_figure([run.time(), y], marks, legend)
}

/// Periods between samples of the sessions.
struct Periods {
    /// Start and end of each period, and the number of samples in it.
    between: Vec<(Nanos, Nanos, f64)>,
}

impl Periods {
    /// Returns the periods that begin before the end of the schedule.
    fn of(samples: &Observed, end: Nanos) -> Periods {
        let ends = ends(&samples.points, MOST_PERIODS, |(at, _)| *at);
        let period = |pair: &[(Nanos, f64)]| (pair[0].0, pair[1].0, pair[1].1 - pair[0].1);
        let periods = ends.windows(2).map(period).filter(|(from, ..)| *from < end);
        Periods { between: periods.collect() }
    }

    fn middle(&self, period: usize) -> f64 {
        let (from, to, _) = self.between[period];
        (from.as_secs_f64() + to.as_secs_f64()) / 2.0
    }

    /// Returns the mean number of sessions in a wait, for each period; NaN for a period without
    /// samples. Before the wait first occurs, the number is 0.
    fn means(&self, wait: &Observed) -> Vec<f64> {
        let at = |end: Nanos| {
            let number = wait.points.partition_point(|(at, _)| *at <= end);
            number.checked_sub(1).map_or(0.0, |last| wait.points[last].1)
        };
        let mean = |(from, to, samples): &(Nanos, Nanos, f64)| match *samples > 0.0 {
            true => (at(*to) - at(*from)) / samples,
            false => f64::NAN,
        };
        self.between.iter().map(mean).collect()
    }

    /// Returns the mean over all samples.
    fn mean_over_all(&self, values: &[f64]) -> f64 {
        let samples: f64 = self.between.iter().map(|(.., samples)| samples.max(0.0)).sum();
        let sessions =
            self.between.iter().zip(values).map(|((.., samples), value)| samples * value);
        sessions.filter(|sum| !sum.is_nan()).sum::<f64>() / samples.max(1.0)
    }
}

/// Returns the kinds with their means: working sessions first, then the most frequent waits, and
/// the others as one.
fn ranked_kinds(periods: &Periods, waits: &[&Observed]) -> Vec<(String, Vec<f64>)> {
    let mut kinds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for wait in waits {
        let means = periods.means(wait);
        match kinds.get_mut(kind(&wait.metric)) {
            Some(sums) => sums.iter_mut().zip(means).for_each(|(sum, mean)| *sum += mean),
            None => drop(kinds.insert(kind(&wait.metric), means)),
        }
    }
    let working = kinds.remove(WORKING);
    let with_mean = |(kind, means): (_, Vec<f64>)| (periods.mean_over_all(&means), kind, means);
    let mut waiting: Vec<(f64, &str, Vec<f64>)> = kinds.into_iter().map(with_mean).collect();
    waiting.retain(|(mean, ..)| *mean > 0.0);
    waiting.sort_by(|one, other| other.0.total_cmp(&one.0));
    let rare = waiting.split_off(waiting.len().min(MOST_KINDS));
    let others = rare
        .into_iter()
        .map(|(.., means)| means)
        .reduce(|sums, means| sums.into_iter().zip(means).map(|(sum, mean)| sum + mean).collect());
    let named = |name: &str, means: Vec<f64>| (name.to_owned(), means);
    let mut ranked: Vec<(String, Vec<f64>)> = Vec::new();
    ranked.extend(working.map(|means| named(WORKING, means)));
    ranked.extend(waiting.into_iter().map(|(_, kind, means)| named(kind, means)));
    ranked.extend(others.map(|means| named(OTHERS, means)));
    ranked
}

/// Returns the kind of a wait: the type of the wait event, as in PostgreSQL.
///
/// Waits of other databases are recorded with the corresponding type, or as `state: …` if there is
/// none. Sessions without a wait have the kind [`WORKING`].
fn kind(event: &str) -> &str {
    match event.split_once(':') {
        Some(("state", _)) => "other states",
        Some((kind, _)) => kind,
        None if event == RUNNING => WORKING,
        None => event,
    }
}

fn caption(periods: &Periods, kinds: &[(String, Vec<f64>)]) -> String {
    let mean = |values: &[f64]| trimmed(&significant(periods.mean_over_all(values))).to_owned();
    let parts: Vec<String> =
        kinds.iter().map(|(name, values)| format!("{name} {}", mean(values))).collect();
    match kinds.iter().any(|(_, values)| periods.mean_over_all(values) > 0.0) {
        true => format!("Mean number of sessions in a statement: {}.", parts.join("; ")),
        false => "No sample saw a session that ran a statement.".to_owned(),
    }
}
