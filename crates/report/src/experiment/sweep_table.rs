//! The tables of a sweep: its points, their processor time, the model and the compared arms.

use analyze::compare::{ArmComparison, MetricChange};
use analyze::curve::{ArmCurve, Interval, ModelPoint, PointMean, PointRole, PointSummary};
use workload::question::{CpuOwner, Scale, TimeStatistic};

use super::cells::change_cell;
use super::metric_tables::{INTERVAL, MetricForm, cells, change_cells};
use super::sweep::{self, SweepView};
use super::view::{ArmView, ExperimentView};
use crate::number::significant;
use crate::page::{Align, Cell, Datum, FRACTION, Quantity, Table};

/// Returns the columns of the points of all arms.
pub(super) fn point_columns(sweep: &SweepView) -> [(&str, Align); 8] {
    [
        (sweep.vary.as_str(), Align::Right),
        ("arm", Align::Left),
        ("requests/s", Align::Right),
        ("p50", Align::Right),
        ("p95", Align::Right),
        ("p99", Align::Right),
        ("verdict", Align::Left),
        ("limiter", Align::Left),
    ]
}

/// Returns the cells of a point, one for each of [`point_columns`].
pub(super) fn point_row(sweep: &SweepView, arm: &ArmView, point: &PointSummary) -> [Cell; 8] {
    let [p50, p95, p99] = [TimeStatistic::P50, TimeStatistic::P95, TimeStatistic::P99]
        .map(|statistic| response_at(sweep, point, statistic));
    [
        Cell::from(point.value.as_str()),
        Cell::from(arm.name.as_str()),
        completed_at(sweep, point),
        p50,
        p95,
        p99,
        Cell::from(sweep::verdict(point)),
        Cell::from(sweep::limiters(point)),
    ]
}

/// Returns the table of the points of all arms.
pub(super) fn points(view: &ExperimentView, sweep: &SweepView) -> Table {
    let titles = point_columns(sweep).map(|(title, align)| (title.to_owned(), align));
    let none = PointMean {
        values: Vec::new(),
        mean: 0.0,
        interval: Some(Interval { low: 0.0, high: 0.0 }),
    };
    let values = ["", "ms", "ms", "ms"].map(|unit| mean_cell(Some(&none), unit));
    let values = [Cell::Empty, Cell::Empty].into_iter().chain(values);
    let mut table = Table::new(titles).with_values_of(values);
    for (arm, curve) in view.arms.iter().zip(&sweep.curves) {
        curve.points.iter().for_each(|point| table.row(point_row(sweep, arm, point)));
    }
    table
}

/// Returns the throughput at a point, in requests per second.
pub(super) fn completed_at(sweep: &SweepView, point: &PointSummary) -> Cell {
    let job = sweep.job_at(point);
    mean_cell(job.and_then(|job| job.completed_per_s.as_ref().ok()), "")
}

/// Returns a statistic of the response times at a point.
pub(super) fn response_at(
    sweep: &SweepView,
    point: &PointSummary,
    statistic: TimeStatistic,
) -> Cell {
    mean_cell(sweep.job_at(point).and_then(|job| job.response(statistic)), "ms")
}

/// Returns a mean with half the width of its interval in percent: `15.7 ms ±3.1 %`.
fn mean_cell(mean: Option<&PointMean>, unit: &'static str) -> Cell {
    let Some(PointMean { mean, interval, .. }) = mean else { return Cell::Missing };
    let space = if unit.is_empty() { "" } else { " " };
    let mut text = format!("{}{space}{unit}", significant(*mean));
    let mut data = vec![Datum::number("", *mean, unit)];
    if let Some(Interval { low, high }) = interval {
        let half = match (high - low) / 2.0 / mean * 100.0 {
            half if half >= 1_000.0 => ">999".to_owned(),
            half => two_digits(half),
        };
        text += &format!(" ±{half} %");
        let ends = [("95 % from", *low), ("95 % to", *high)];
        data.extend(ends.map(|(name, end)| Datum::number(name, end, unit)));
    }
    Cell::Text(text).with_data(data)
}

fn two_digits(percent: f64) -> String {
    match percent {
        below if below < 9.95 => format!("{below:.1}"),
        above => format!("{above:.0}"),
    }
}

/// Returns the components whose processor time was observed at a point of these curves.
pub(super) fn owners(curves: &[&ArmCurve]) -> Vec<CpuOwner> {
    let seen = |owner: &CpuOwner| {
        let points = curves.iter().flat_map(|curve| &curve.points);
        points.flat_map(|point| &point.cpu).any(|share| share.owner == *owner)
    };
    let owners = [CpuOwner::Generator, CpuOwner::Proxy, CpuOwner::Database];
    owners.into_iter().filter(seen).collect()
}

/// Returns the processor time of a component at a point: `33/12/55`.
pub(super) fn shares(point: &PointSummary, owner: CpuOwner) -> Cell {
    let share = point.cpu.iter().find(|share| share.owner == owner);
    share.map_or(Cell::Missing, |share| {
        let all = [("user", share.user), ("system", share.system), ("idle", share.idle())];
        let shown = all.map(|(_, part)| format!("{:.0}", part * 100.0));
        Cell::Text(shown.join("/"))
            .with_data(all.map(|(name, part)| Datum::number(name, part, FRACTION)))
    })
}

/// Meaning of the cells of [`shares`].
pub(super) const SHARES: &str = "processors: user/system/idle in % of those that each may use";

/// The columns of the response-time model.
pub(super) const MODEL_COLUMNS: [(&str, Align); 5] = [
    ("requests/s", Align::Right),
    ("busy", Align::Right),
    ("model", Align::Right),
    ("measured mean", Align::Right),
    ("deviation", Align::Right),
];

/// Returns the cells of a prediction, one for each of [`MODEL_COLUMNS`].
pub(super) fn model_row(point: &ModelPoint) -> [Cell; 5] {
    let ms = |value: f64| Cell::formatted(format!("{} ms", significant(value)), value, "ms");
    // Beyond the peak, the utilisation computed from the peak would be too low.
    let busy = (point.role != PointRole::BeyondPeak).then_some(point.utilisation);
    [
        Cell::formatted(significant(point.rate_per_s), point.rate_per_s, ""),
        busy.map_or(Cell::Missing, |it| Quantity::Share(it).into()),
        point.predicted_ms.map_or(Cell::Missing, ms),
        ms(point.measured_ms),
        point.deviation.map_or(Cell::Missing, |it| change_cell(it, Scale::Ratio)),
    ]
}

/// Returns the table that compares the arms at points of a sweep. `value` is the title of the first
/// column, and `conclusion` that of the last. A narrow page drops the intervals first.
pub(super) fn comparison_table<'v>(
    [value, conclusion]: [&str; 2],
    rows: impl IntoIterator<Item = (&'v str, [Cell; 5])>,
) -> Table {
    let titles = [
        (value, Align::Right),
        ("metric", Align::Left),
        ("arm", Align::Left),
        ("change", Align::Right),
        (INTERVAL, Align::Right),
        (conclusion, Align::Left),
    ];
    let titles = titles.map(|(title, align)| (title.to_owned(), align));
    let empty = [Cell::Empty, Cell::Empty, Cell::Empty];
    let mut table = Table::new(titles)
        .with_values_of(empty.into_iter().chain(change_cells()))
        .with_optional_columns([INTERVAL, "change"]);
    for (value, cells) in rows {
        table.row([Cell::from(value)].into_iter().chain(cells));
    }
    table
}

/// Returns a row for each declared metric of each arm at each point: the value of the varied key,
/// and the cells that follow it.
pub(super) fn comparison_rows<'v>(
    view: &'v ExperimentView,
    sweep: &'v SweepView,
) -> Vec<(&'v str, [Cell; 5])> {
    let points = || sweep.values.iter().zip(&sweep.comparisons);
    let changes = |arm: &'v ArmComparison| arm.changes.iter().filter(|it| !it.is_exploratory);
    let all: Vec<&MetricChange> =
        points().flat_map(|(_, it)| it.arms.iter().flat_map(changes)).collect();
    let mut rows = Vec::new();
    for (value, comparison) in points() {
        for arm in &comparison.arms {
            let name = Cell::from(view.arms[arm.arm.index()].name.as_str());
            rows.extend(changes(arm).map(|change| {
                let [metric, _, _, size, interval, conclusion] =
                    cells(change, &all, MetricForm::Page);
                (value.as_str(), [metric, name.clone(), size, interval, conclusion])
            }));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use analyze::curve::Unusable;

    use super::super::fixtures::{experiment, sweep};
    use super::*;
    use crate::html::table_csv;

    #[test]
    fn file_of_points_has_means_and_ends_of_intervals_in_columns() {
        let sweep = sweep(&[("1", 2_000.0, 2.0)], 1);
        let table = points(&experiment(), &sweep);
        assert_eq!(table.rows[0].cells[2].to_string(), "2,000 ±10 %");
        let quantile =
            |name: &str| format!("{name} (ms),{name} 95 % from (ms),{name} 95 % to (ms)");
        let quantiles = ["p50", "p95", "p99"].map(quantile).join(",");
        let head = "concurrency(read),arm,requests/s,requests/s 95 % from,requests/s 95 % to";
        let row = "1,plain,2000,1800,2200,2,1.8,2.2,2,1.8,2.2,2,1.8,2.2,VALID,";
        let expected = format!("{head},{quantiles},verdict,limiter\r\n{row}\r\n");
        assert_eq!(table_csv(&table), expected);
        let mut refused = sweep.clone();
        for job in &mut refused.curves[0].points[0].jobs {
            let missing = || Err(Unusable::Invalid);
            job.completed_per_s = missing();
            job.response_ms.iter_mut().for_each(|(_, time)| *time = missing());
        }
        let row = format!("1,plain{}VALID,", ",".repeat(13));
        let expected = format!("{head},{quantiles},verdict,limiter\r\n{row}\r\n");
        assert_eq!(table_csv(&points(&experiment(), &refused)), expected);
        let shares = shares(&sweep.curves[0].points[0], CpuOwner::Database);
        assert_eq!(shares.to_string(), "50/25/25");
        let parts = shares.data().into_iter().map(|it| format!("{} {}", it.name, it.plain()));
        assert_eq!(parts.collect::<Vec<_>>(), ["user 0.5", "system 0.25", "idle 0.25"]);
    }

    fn mean(mean: f64, interval: Option<[f64; 2]>) -> PointMean {
        let interval = interval.map(|[low, high]| Interval { low, high });
        PointMean { values: vec![mean; 3], mean, interval }
    }

    #[test]
    fn cell_has_the_mean_with_half_of_its_interval() {
        let cell = |mean: PointMean| mean_cell(Some(&mean), "ms");
        let shown = |mean: PointMean| cell(mean).to_string();
        assert_eq!(shown(mean(15.7, Some([15.2, 16.2]))), "15.7 ms ±3.2 %");
        assert_eq!(shown(mean(15.7, Some([10.0, 20.0]))), "15.7 ms ±32 %");
        assert_eq!(shown(mean(15.7, Some([0.0, 1e6]))), "15.7 ms ±>999 %");
        assert_eq!(shown(mean(15.7, None)), "15.7 ms");
        assert_eq!(mean_cell(None, "ms"), Cell::Missing);
        assert_eq!(mean_cell(Some(&mean(7_402.3, None)), "").to_string(), "7,402");
        let data: Vec<String> =
            cell(mean(15.712_5, Some([15.2, 16.25]))).data().iter().map(Datum::plain).collect();
        assert_eq!(data, ["15.7125", "15.2", "16.25"]);
    }
}
