//! The tables of a short answer of an experiment: the rows that are nearest to the answer.

use analyze::curve::ArmCurve;
use base::units::grouped;

use super::capacity::CapacityView;
use super::saturation::SaturationView;
use super::shown_changes;
use super::sweep::{self, SweepView};
use super::sweep_table::{COMPARISON_COLUMNS, comparison_rows, point_columns, point_row};
use super::view::ExperimentView;
use super::{lines, sentence};
use crate::number::count;
use crate::page::{Align, Cell, Table};

/// Maximum number of metrics: most are exploratory.
const MOST_METRICS: usize = 8;

/// Maximum number of characters of the name of an arm that is the title of a column.
const LONGEST_TITLE: usize = 16;

/// The titles of a table of metrics beside the names of its arms.
const TITLES: [&str; 3] = ["metric", "change", "interval"];

/// Maximum number of trials of a search.
const MOST_TRIALS: usize = 8;

/// A table with its heading and notes.
pub(super) struct ShortTable {
    /// Heading; may be empty.
    pub(super) heading: String,
    /// The rows that are shown.
    pub(super) table: Table,
    /// Notes below it.
    pub(super) notes: Vec<String>,
}

/// Returns the tables of an experiment that have rows, each with at most `most` of them.
pub(super) fn tables(view: &ExperimentView, most: usize) -> Vec<ShortTable> {
    let steps = view.saturation.iter().map(|search| steps(view, search, most));
    let trials = view.capacity.iter().map(|search| trials(search, most));
    let points = view.sweep.iter().map(|sweep| points(view, sweep, most));
    let compared = view.sweep.iter().map(|sweep| comparisons(view, sweep, most));
    let details = steps.chain([metrics(view, most)]).chain(trials).chain(points).chain(compared);
    details.filter(|it| !it.table.is_empty()).collect()
}

/// Returns the words for a part of all rows, as the end of a heading; empty for all of them.
fn part(shown: usize, all: usize) -> String {
    if shown < all {
        format!(", {} of {}", grouped(shown as u64), grouped(all as u64))
    } else {
        String::new()
    }
}

/// Returns true if the name of an arm can be the title of its column: it is short, and no other
/// column has it.
fn is_title(name: &str) -> bool {
    name.chars().count() <= LONGEST_TITLE && !TITLES.contains(&name)
}

/// Returns the metrics of all arms, the declared ones first.
fn metrics(view: &ExperimentView, most: usize) -> ShortTable {
    let changes = shown_changes::changes(view.comparison.as_ref());
    let names = |of: usize| view.arms[of].name.clone();
    let arms: &[_] = view.comparison.as_ref().map_or(&[], |it| &it.arms);
    let has_arms = arms.len() > 1;
    let [baseline, value] = match arms {
        [only] => Some([names(only.baseline), names(only.arm)]),
        _ => None,
    }
    .filter(|names| names.iter().all(|name| is_title(name)))
    .unwrap_or_else(|| ["baseline", "value"].map(str::to_owned));
    let [metric, change, interval] = TITLES.map(str::to_owned);
    let mut titles = vec![(metric, Align::Left)];
    titles.extend(has_arms.then(|| ("arm".to_owned(), Align::Left)));
    let numbers = [baseline, value, change, interval];
    titles.extend(numbers.map(|title| (title, Align::Right)));
    titles.push((String::new(), Align::Left));
    let mut table = Table::new(titles).with_optional_columns(&["interval"]);
    let shown = &changes[..most.min(MOST_METRICS).min(changes.len())];
    for (arm, change) in shown {
        let [metric, rest @ ..] = lines::row_with(change, sentence::short_value);
        let arm = has_arms.then(|| names(arm.arm));
        table.row([metric].into_iter().chain(arm).chain(rest).map(Cell::from));
    }
    let levels = lines::levels(shown.iter().map(|(_, change)| *change));
    let is_exploratory = shown.iter().any(|(_, change)| change.is_exploratory);
    let exploratory = is_exploratory.then(|| format!("* {}", lines::EXPLORATORY));
    let more = (changes.len() - shown.len()) as u64;
    let more = (more > 0).then(|| format!("{} in the full answer", count(more, "more metric")));
    let notes = levels.into_iter().chain(exploratory).chain(more).collect();
    ShortTable { heading: String::new(), table, notes }
}

/// Returns the last steps of a search for saturation: the load is among them.
fn steps(view: &ExperimentView, search: &SaturationView, most: usize) -> ShortTable {
    let baseline = view.arms.first().map_or("", |arm| &arm.name);
    let mut table = Table::new(search.columns());
    let rows = search.rows();
    let shown = &rows[rows.len().saturating_sub(most)..];
    shown.iter().for_each(|row| table.row(row.clone().map(Cell::from)));
    let part = part(shown.len(), rows.len());
    let heading = format!("Steps of [saturate] on {baseline}{part}");
    ShortTable { heading, table, notes: Vec::new() }
}

/// Returns the trials of a search that are nearest to the answer.
pub(super) fn trials(search: &CapacityView, most: usize) -> ShortTable {
    let [run, value, phase, _, outcome, reason] = search.columns();
    let columns = [run, value, phase, outcome, reason];
    let mut table = Table::new(columns).with_optional_columns(&["phase"]);
    let shown = search.nearest(most.min(MOST_TRIALS));
    for trial in &shown {
        let [run, value, phase, _, outcome, _] = trial.row(search);
        table.row([run, value, phase, outcome, trial.measured(&search.order)].map(Cell::from));
    }
    let heading = match (shown.len(), search.trials.len()) {
        (part, all) if part < all => {
            format!("{part} of {} trials, nearest to the answer", grouped(all as u64))
        }
        _ => "Trials".to_owned(),
    };
    ShortTable { heading, table, notes: Vec::new() }
}

/// Returns the points of each arm that are nearest to its best one, or to its last one.
fn points(view: &ExperimentView, sweep: &SweepView, most: usize) -> ShortTable {
    const ARM: usize = 1;
    let has_arms = view.arms.len() > 1;
    let is_shown = |place: usize| has_arms || place != ARM;
    let titles = point_columns(sweep).into_iter().enumerate().filter(|(place, _)| is_shown(*place));
    let titles = titles.map(|(place, (title, align))| match place {
        // The heading names the key that varies.
        0 => (String::new(), align),
        _ => (title.to_owned(), align),
    });
    let mut table = Table::new(titles.chain([(String::new(), Align::Left)]))
        .with_optional_columns(&["p95", "limiter", "p50"]);
    let of_each = (most / view.arms.len().max(1)).max(1);
    for (arm, curve) in view.arms.iter().zip(&sweep.curves) {
        for place in nearest_points(curve, of_each) {
            let cells = point_row(sweep, arm, &curve.points[place]).into_iter().enumerate();
            let cells = cells.filter(|(place, _)| is_shown(*place)).map(|(_, cell)| cell);
            let standing = sweep::standing(curve, place).to_owned();
            table.row(cells.chain([standing]).map(Cell::from));
        }
    }
    let job = sweep.job_name().unwrap_or_default();
    let all = sweep.curves.iter().map(|curve| curve.points.len()).sum();
    let part = part(table.rows.len(), all);
    let heading = format!("{job} by {} (± half of the 95 % interval){part}", sweep.vary);
    ShortTable { heading, table, notes: Vec::new() }
}

/// Returns the comparisons of the arms at the points nearest to the baseline's best one.
fn comparisons(view: &ExperimentView, sweep: &SweepView, most: usize) -> ShortTable {
    let titles = [("", Align::Right)].into_iter().chain(COMPARISON_COLUMNS);
    let mut table = Table::new(titles).with_optional_columns(&["interval"]);
    let all = comparison_rows(view, sweep);
    let of_each = all.len().div_ceil(sweep.values.len().max(1)).max(1);
    let nearest = sweep.curves.first().map(|curve| nearest_points(curve, (most / of_each).max(1)));
    let nearest = nearest.unwrap_or_default();
    let is_near = |value: &str| nearest.iter().any(|place| sweep.values[*place] == value);
    for (value, cells) in all.iter().filter(|(value, _)| is_near(value)).take(most) {
        let cells = cells.clone().map(Cell::from);
        table.row([Cell::from(*value)].into_iter().chain(cells));
    }
    let baseline = view.arms.first().map_or("", |arm| &arm.name);
    let part = part(table.rows.len(), all.len());
    let heading = format!("Arms against {baseline} at each point{part}");
    ShortTable { heading, table, notes: Vec::new() }
}

/// Returns the points nearest to the best one, or to the last one, in their order.
fn nearest_points(curve: &ArmCurve, most: usize) -> Vec<usize> {
    let notable = sweep::notable_points(curve);
    let distance = |place: &usize| {
        let distances = notable.iter().map(|other| place.abs_diff(*other));
        distances.enumerate().map(|(rank, distance)| (distance, rank)).min()
    };
    let mut places: Vec<usize> = (0..curve.points.len()).collect();
    places.sort_by_key(distance);
    places.truncate(most);
    places.sort_unstable();
    places
}
