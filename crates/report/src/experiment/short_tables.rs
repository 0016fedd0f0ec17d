//! The tables of a short answer of an experiment: the rows that are nearest to the answer.

use analyze::curve::ArmCurve;

use super::capacity::CapacityView;
use super::saturation::SaturationView;
use super::sweep::{self, SweepView};
use super::sweep_table::{COMPARISON_COLUMNS, comparison_rows, point_columns, point_row};
use super::view::ExperimentView;
use super::{lines, sentence};
use crate::number::count;
use crate::page::{Align, Cell, Table};

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

/// Returns a note on the rows that are left out.
fn left_out(shown: usize, all: usize, what: &str) -> Option<String> {
    let more = all.saturating_sub(shown) as u64;
    (more > 0).then(|| format!("and {} in the full answer", count(more, what)))
}

/// Returns the metrics of all arms, the declared ones first.
fn metrics(view: &ExperimentView, most: usize) -> ShortTable {
    let changes = lines::changes(view.comparison.as_ref());
    let names = |of: usize| view.arms[of].name.clone();
    let arms: &[_] = view.comparison.as_ref().map_or(&[], |it| &it.arms);
    let (has_arms, [baseline, value]) = match arms {
        [only] => (false, [names(only.baseline), names(only.arm)]),
        _ => (true, ["baseline".to_owned(), "value".to_owned()]),
    };
    let mut titles = vec![("metric".to_owned(), Align::Left)];
    titles.extend(has_arms.then(|| ("arm".to_owned(), Align::Left)));
    let numbers = [baseline, value, "change".to_owned(), "interval".to_owned()];
    titles.extend(numbers.map(|title| (title, Align::Right)));
    titles.push((String::new(), Align::Left));
    let mut table = Table::new(titles).with_optional_columns(&["interval"]);
    let shown = &changes[..most.min(changes.len())];
    for (arm, change) in shown {
        let [metric, rest @ ..] = lines::row_with(change, sentence::short_value);
        let arm = has_arms.then(|| names(arm.arm));
        table.row([metric].into_iter().chain(arm).chain(rest).map(Cell::from));
    }
    let levels = lines::levels(shown.iter().map(|(_, change)| *change));
    let is_exploratory = shown.iter().any(|(_, change)| change.is_exploratory);
    let exploratory = is_exploratory.then(|| format!("* {}", lines::EXPLORATORY));
    let more = left_out(shown.len(), changes.len(), "more metric");
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
    let notes = left_out(shown.len(), rows.len(), "earlier step").into_iter().collect();
    ShortTable { heading: format!("Steps of [saturate] on {baseline}"), table, notes }
}

/// Returns the trials of a search that are nearest to the answer.
pub(super) fn trials(search: &CapacityView, most: usize) -> ShortTable {
    const LENGTH: usize = 3;
    let without_length = |place: usize| place != LENGTH;
    let columns = search.columns().into_iter().enumerate();
    let columns = columns.filter(|(place, _)| without_length(*place)).map(|(_, column)| column);
    let mut table = Table::new(columns).with_optional_columns(&["phase"]);
    let shown = search.nearest(most);
    for trial in &shown {
        let cells = trial.row(search).into_iter().enumerate();
        let cells = cells.filter(|(place, _)| without_length(*place));
        table.row(cells.map(|(_, cell)| Cell::from(cell)));
    }
    let heading = match shown.len() == search.trials.len() {
        true => "Trials".to_owned(),
        false => format!("{} of {} trials", shown.len(), search.trials.len()),
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
        // The heading names what varies.
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
    let heading = format!("{job} by {} (± half of the 95 % interval)", sweep.vary);
    let all = sweep.curves.iter().map(|curve| curve.points.len()).sum();
    let notes = left_out(table.rows.len(), all, "more point").into_iter().collect();
    ShortTable { heading, table, notes }
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
    let notes = left_out(table.rows.len(), all.len(), "more comparison").into_iter().collect();
    ShortTable { heading: format!("Arms against {baseline} at each point"), table, notes }
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
