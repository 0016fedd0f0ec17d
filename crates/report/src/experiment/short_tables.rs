//! The tables of a short answer of an experiment: the rows that are nearest to the answer.

use analyze::compare::{ArmComparison, ArmId, MetricChange};
use analyze::curve::ArmCurve;
use base::units::grouped;
use workload::question::{BestRule, Quantity};

use super::capacity::CapacityView;
use super::lines;
use super::metric_tables::{MetricForm, cells, reasons, titles_of_values, without_rows};
use super::saturation::SaturationView;
use super::sentence;
use super::shown_changes;
use super::sweep::{self, SweepView};
use super::sweep_table::{comparison_rows, comparison_table, point_columns, point_row};
use super::view::ExperimentView;
use crate::number::count;
use crate::page::{Align, Cell, Table};

/// Maximum number of metrics in the table. Most metrics are exploratory.
pub(super) const MOST_METRICS: usize = 8;

/// Maximum number of trials of a search.
const MOST_TRIALS: usize = 8;

/// Maximum numbers of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct MostRows {
    /// Rows of a table, and lines of a list.
    pub(super) of_each: usize,
    /// Rows of declared metrics, if more than [`MOST_METRICS`] metrics are declared. Otherwise, all
    /// declared metrics stay when exploratory ones are left out.
    pub(super) declared: usize,
}

/// A table with its heading and notes.
pub(super) struct ShortTable {
    /// Heading; may be empty.
    pub(super) heading: String,
    /// The rows that are shown.
    pub(super) table: Table,
    /// Confidence of the intervals, shown if the page has room for the intervals.
    pub(super) levels: Option<String>,
    /// Notes below the table.
    pub(super) notes: Vec<String>,
}

/// Returns the tables of an experiment that are not empty. Each shows at least one row, even if
/// `rows` allows none.
pub(super) fn tables(view: &ExperimentView, rows: MostRows) -> Vec<ShortTable> {
    let most = rows.of_each.max(1);
    let metrics = metrics(view, MostRows { of_each: most, ..rows });
    let steps = view.saturation.iter().map(|search| steps(view, search, most));
    let trials = view.capacity.iter().map(|search| trials(search, most));
    let points = view.sweep.iter().map(|sweep| points(view, sweep, most));
    let compared = view.sweep.iter().map(|sweep| comparisons(view, sweep, most));
    let details = steps.chain([metrics]).chain(trials).chain(points).chain(compared);
    details.filter(|it| !it.table.is_empty()).collect()
}

/// Returns the numbers of shown rows and of all rows, as the end of a heading; empty if all rows
/// are shown.
fn shown_of_all(shown: usize, all: usize) -> String {
    if shown < all {
        format!(", {} of {}", grouped(shown as u64), grouped(all as u64))
    } else {
        String::new()
    }
}

/// Returns a table of metrics of all arms, the declared ones first, with a limited number of rows.
fn metrics(view: &ExperimentView, most: MostRows) -> ShortTable {
    let changes = shown_changes::changes(view.comparison.as_ref());
    let is_declared = |(_, change): &&(&ArmComparison, &MetricChange)| !change.is_exploratory;
    let declared = changes.iter().filter(is_declared).count();
    let of_declared = if declared <= MOST_METRICS { declared } else { most.declared };
    let rows = most.of_each.max(of_declared).min(MOST_METRICS);
    let (shown, others) = changes.split_at(rows.min(changes.len()));
    let arms: &[_] = view.comparison.as_ref().map_or(&[], |it| &it.arms);
    let mut table = table_of_metrics(view, arms);
    let all: Vec<&MetricChange> = changes.iter().map(|(_, change)| *change).collect();
    let arm_name =
        |arm: &ArmComparison| (arms.len() > 1).then(|| view.arms[arm.arm.index()].name.as_str());
    for (arm, change) in shown {
        let name = arm_name(arm).map(Cell::from);
        let [metric, rest @ ..] = cells(change, &all, MetricForm::ShortText);
        table.row([metric].into_iter().chain(name).chain(rest));
    }
    let is_exploratory = shown.iter().any(|(_, change)| change.is_exploratory);
    let exploratory = is_exploratory.then(|| format!("* {}", lines::EXPLORATORY));
    let mut notes = reasons(shown.iter().map(|(arm, change)| (arm_name(arm), *change)));
    notes.extend(exploratory);
    notes.extend(left_out_note(others.len(), declared.saturating_sub(shown.len())));
    let levels = lines::levels(shown.iter().map(|(_, change)| *change));
    ShortTable { heading: String::new(), table, levels, notes }
}

/// Returns the table of the metrics of these arms, without rows. A narrow page drops the intervals
/// first and then the values, and always shows the changes.
fn table_of_metrics(view: &ExperimentView, arms: &[ArmComparison]) -> Table {
    let names = |of: ArmId| view.arms[of.index()].name.clone();
    let titles = match arms {
        [only] => titles_of_values([names(only.baseline), names(only.arm)]),
        _ => ["baseline", "value"].map(str::to_owned),
    };
    without_rows(titles, arms.len() > 1, MetricForm::ShortText)
}

/// Returns the note on rows that are left out, which also states how many of them are of declared
/// metrics; `None` if no row is left out.
fn left_out_note(rows: usize, declared: usize) -> Option<String> {
    let declared = match declared {
        0 => String::new(),
        declared => format!(" ({declared} declared)"),
    };
    let metrics = count(rows as u64, "more metric");
    (rows > 0).then(|| format!("{metrics}{declared} in the full answer"))
}

/// Returns the last steps of a search for saturation, because the load is found at its end.
fn steps(view: &ExperimentView, search: &SaturationView, most: usize) -> ShortTable {
    let baseline = view.arms.first().map_or("", |arm| &arm.name);
    let mut table = Table::new(search.columns()).with_optional_columns([
        "limiter",
        "run",
        "gain",
        "requests/s",
    ]);
    let rows = search.rows();
    let shown = &rows[rows.len().saturating_sub(most)..];
    shown.iter().for_each(|row| table.row(row.clone()));
    let part = shown_of_all(shown.len(), rows.len());
    let heading = format!("Steps of [saturate] on {}{part}", sentence::name_as_code(baseline));
    ShortTable { heading, table, levels: None, notes: Vec::new() }
}

/// Returns the trials of a search that are nearest to the answer.
pub(super) fn trials(search: &CapacityView, most: usize) -> ShortTable {
    let [run, value, phase, _, outcome, reason] = search.columns();
    let columns = [run, value, phase, outcome, reason];
    let mut table = Table::new(columns).with_optional_columns(["phase"]);
    let shown = search.nearest_trials(most.min(MOST_TRIALS));
    for trial in &shown {
        let [run, value, phase, _, outcome, _] = trial.row(search);
        table.row([run, value, phase, outcome, Cell::from(trial.short_reason(&search.order))]);
    }
    let heading = match (shown.len(), search.trials.len()) {
        (part, all) if part < all => {
            format!("{part} of {} trials, nearest to the answer", grouped(all as u64))
        }
        _ => "Trials".to_owned(),
    };
    ShortTable { heading, table, levels: None, notes: Vec::new() }
}

/// Returns the points of each arm that are nearest to its best point or to its last point,
/// whichever is nearer. Without a best point, only the last one counts.
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
    let is_throughput = |rule: &BestRule| rule.metric.quantity == Quantity::Throughput;
    let least = match sweep.best.as_ref().is_none_or(is_throughput) {
        true => "p99",
        false => "requests/s",
    };
    let mut table = Table::new(titles.chain([(String::new(), Align::Left)]))
        .with_optional_columns(["p95", "limiter", "p50", "verdict", least]);
    let of_each = (most / view.arms.len().max(1)).max(1);
    for (arm, curve) in view.arms.iter().zip(&sweep.curves) {
        for place in nearest_points(curve, of_each) {
            let cells = point_row(sweep, arm, &curve.points[place]).into_iter().enumerate();
            let cells = cells.filter(|(place, _)| is_shown(*place)).map(|(_, cell)| cell);
            let standing = Cell::from(sweep::rank(curve, place));
            table.row(cells.chain([standing]));
        }
    }
    let job = sweep.job_name().unwrap_or_default();
    let all = sweep.curves.iter().map(|curve| curve.points.len()).sum();
    let part = shown_of_all(table.rows.len(), all);
    let heading = format!("{job} by {} (± half of the 95 % interval){part}", sweep.vary);
    ShortTable { heading, table, levels: None, notes: Vec::new() }
}

/// Returns the comparisons of the arms at the points that are nearest to the best point or to the
/// last point of the baseline.
fn comparisons(view: &ExperimentView, sweep: &SweepView, most: usize) -> ShortTable {
    let all = comparison_rows(view, sweep);
    let of_each = all.len().div_ceil(sweep.values.len().max(1)).max(1);
    let nearest = sweep.curves.first().map(|curve| nearest_points(curve, (most / of_each).max(1)));
    let nearest = nearest.unwrap_or_default();
    let is_near = |value: &str| nearest.iter().any(|place| sweep.values[*place] == value);
    let number = all.len();
    let near = all.into_iter().filter(|(value, _)| is_near(value)).take(most);
    let table = comparison_table(["", ""], near);
    let baseline = view.arms.first().map_or("", |arm| &arm.name);
    let part = shown_of_all(table.rows.len(), number);
    let heading = format!("Arms against {} at each point{part}", sentence::name_as_code(baseline));
    ShortTable { heading, table, levels: None, notes: Vec::new() }
}

/// Returns the points that are nearest to the best one or to the last one, whichever is nearer, in
/// the order of the sweep.
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

#[cfg(test)]
mod tests {
    use analyze::compare::{ChangeInterval, Comparison, Missing, NotCompared};
    use analyze::saturate::SaturationKind;
    use workload::question::{CpuOwner, RunMetric, Saturated};

    use super::super::fixtures::{comparison, experiment, search, sweep};
    use super::super::short_text::experiment_text;
    use super::*;
    use crate::text::Style;

    const DECLARED: [&str; 2] = ["throughput(read)", "response.mean(read)"];
    const EXPLORATORY: [&str; 4] =
        ["rows(read)", "response.p50(read)", "response.p99(read)", "response.p99_9(read)"];

    /// Returns an experiment with the arms plain, tls and many more, whose metrics are declared or
    /// exploratory.
    fn with_metrics(arms: usize) -> ExperimentView {
        let first = comparison(-0.1).arms.remove(0);
        let change = |metric: &&str, is_exploratory| MetricChange {
            metric: RunMetric::parse(metric).unwrap(),
            is_exploratory,
            ..first.changes[0].clone()
        };
        let declared = DECLARED.iter().map(|metric| change(metric, false));
        let exploratory = EXPLORATORY.iter().map(|metric| change(metric, true));
        let changes: Vec<MetricChange> = declared.chain(exploratory).collect();
        let compared = |arm| ArmComparison { arm, changes: changes.clone(), ..first.clone() };
        let mut view = experiment();
        view.arms.resize(arms, view.arms[1].clone());
        let compared = (1..arms).map(ArmId).map(compared).collect();
        ExperimentView { comparison: Some(Comparison { arms: compared }), ..view }
    }

    fn shown(view: &ExperimentView, of_each: usize, declared: usize) -> (Vec<String>, Vec<String>) {
        let ShortTable { table, notes, .. } = metrics(view, MostRows { of_each, declared });
        (table.rows.iter().map(|row| row.cells[0].to_string()).collect(), notes)
    }

    #[test]
    fn declared_metrics_stay_when_exploratory_ones_are_left_out() {
        let (names, notes) = shown(&with_metrics(2), 1, MOST_METRICS);
        assert_eq!(names, DECLARED);
        assert_eq!(notes, ["4 more metrics in the full answer"]);
        let (names, _) = shown(&with_metrics(4), 1, MOST_METRICS);
        assert_eq!(names, [DECLARED; 3].concat());
        assert_eq!(shown(&with_metrics(4), 1, 1).0, names, "even if the answer does not fit");
        let (names, notes) = shown(&with_metrics(6), 1, 5);
        assert_eq!(names.len(), 5);
        assert_eq!(notes, ["25 more metrics (5 declared) in the full answer"]);
        let (names, _) = shown(&with_metrics(2), 12, MOST_METRICS);
        assert_eq!(names.len(), DECLARED.len() + EXPLORATORY.len());
    }

    /// Returns the text of an experiment on a page of this width, without commands to copy.
    fn text(view: &ExperimentView, width: usize) -> String {
        let text = experiment_text(view, &Style { color: false, width });
        let lines = text.lines().filter(|line| !line.contains("  assay "));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    fn change<'v>(view: &'v mut ExperimentView, metric: &str) -> &'v mut MetricChange {
        let changes = &mut view.comparison.as_mut().unwrap().arms[0].changes;
        changes.iter_mut().find(|change| change.metric.to_string() == metric).unwrap()
    }

    #[test]
    fn one_wide_interval_is_abbreviated_and_the_others_stay() {
        let mut view = with_metrics(2);
        let wide = change(&mut view, "response.p99_9(read)").compared.as_mut().unwrap();
        wide.change = 123.72;
        wide.interval = Some(ChangeInterval { low: 122.04, high: 125.43 });
        let long = text(&view, 100);
        assert!(long.contains("+12,372 %  +12,204 … +12,543 %\n"), "{long}");
        let short = text(&view, 76);
        assert!(short.contains("+12,372 %      ×123 … ×126\n"), "{short}");
        assert!(short.contains("−10.0 %  −10.3 … −9.70 %\n"), "{short}");
    }

    #[test]
    fn confidence_is_named_only_next_to_intervals() {
        let view = with_metrics(2);
        for (width, has_intervals) in [(80, true), (45, false)] {
            let text = text(&view, width);
            assert_eq!(text.contains("interval\n"), has_intervals, "{text}");
            assert_eq!(text.contains("intervals of 95 %; "), has_intervals, "{text}");
        }
    }

    #[test]
    fn reason_not_to_compare_is_a_note_and_takes_no_column() {
        let mut view = with_metrics(2);
        for metric in ["throughput(read)", "rows(read)"] {
            let reason = NotCompared::Missing(Missing::OfferedRate);
            change(&mut view, metric).compared = Err(reason);
        }
        let shown = text(&view, 80);
        let note = "; throughput(read), rows(read): it is the rate that is\n  offered; ";
        assert!(shown.contains(note), "{shown}");
        assert!(shown.contains("−10.3 … −9.70 %\n"), "{shown}");
        let (_, notes) = self::shown(&view, 12, MOST_METRICS);
        assert_eq!(notes[0], "throughput(read), rows(read): it is the rate that is offered");
    }

    #[test]
    fn tables_fit_the_narrowest_page_and_their_rows_differ() {
        let points = [("100", 100.0, 4.56), ("1000", 1_009.0, 10.1), ("2000", 1_012.0, 1_600.0)];
        let points_of = |arms: usize| ExperimentView {
            sweep: Some(sweep(&points, arms)),
            arms: with_metrics(arms).arms,
            ..experiment()
        };
        let steps = |until| ExperimentView {
            saturation: Some(search(until, SaturationKind::Reached, 0.96)),
            ..experiment()
        };
        let cpu = Saturated::Cpu { owner: CpuOwner::Database, least: 0.95 };
        let mut of_long_arms = with_metrics(3);
        of_long_arms.arms.iter_mut().for_each(|arm| arm.name = "a long name of an arm".to_owned());
        for view in [
            with_metrics(2),
            with_metrics(3),
            of_long_arms,
            points_of(1),
            points_of(2),
            steps(cpu),
            steps(Saturated::Gain { least: 0.02 }),
        ] {
            let text = text(&view, 40);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(40), "{text}");
        }
        let narrow = text(&with_metrics(2), 40);
        let names = ["  throughput  ", "  p50 *  ", "  p99 *  ", "  p99_9 *  ", "  rows *  "];
        let is_shown = |name: &&str| narrow.contains(name.trim_end());
        assert!(names.iter().all(is_shown), "{narrow}");
    }
}
