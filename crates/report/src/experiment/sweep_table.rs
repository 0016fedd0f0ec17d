//! The tables of a sweep: its points, their processor time, the model and the compared arms.

use analyze::compare::{ArmComparison, MetricChange};
use analyze::curve::{ArmCurve, ModelPoint, PointSummary};
use workload::question::{CpuOwner, Scale, TimeStatistic};

use super::metric_tables::{INTERVAL, MetricForm, cells};
use super::sweep::{self, SweepView};
use super::view::{ArmView, ExperimentView};
use super::{lines, sentence};
use crate::number::{NONE, percent, significant};
use crate::page::{Align, Cell, Table};

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
pub(super) fn point_row(sweep: &SweepView, arm: &ArmView, point: &PointSummary) -> [String; 8] {
    let job = sweep.job_at(point);
    let completed = job.and_then(|job| job.completed_per_s.as_ref().ok());
    let time = |statistic| sweep::cell(job.and_then(|job| job.response(statistic)), " ms");
    [
        point.value.clone(),
        arm.name.clone(),
        sweep::cell(completed, ""),
        time(TimeStatistic::P50),
        time(TimeStatistic::P95),
        time(TimeStatistic::P99),
        sweep::verdict(point).to_owned(),
        sweep::limiters(point),
    ]
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
pub(super) fn shares(point: &PointSummary, owner: CpuOwner) -> String {
    let share = point.cpu.iter().find(|share| share.owner == owner);
    share.map_or_else(
        || NONE.to_owned(),
        |share| {
            let all = [share.user, share.system, share.idle()];
            let shown = all.map(|part| format!("{:.0}", part * 100.0));
            shown.join("/")
        },
    )
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
pub(super) fn model_row(point: &ModelPoint) -> [String; 5] {
    let ms = |value: f64| format!("{} ms", significant(value));
    let none = || NONE.to_owned();
    let deviation = point.deviation.map(|deviation| sentence::signed(deviation, Scale::Ratio));
    [
        significant(point.rate_per_s),
        percent(point.utilisation),
        point.predicted_ms.map_or_else(none, ms),
        ms(point.measured_ms),
        deviation.unwrap_or_else(none),
    ]
}

/// Returns the comparison of the arms at points of a sweep, below the title of their values. A
/// narrow page drops the intervals first.
pub(super) fn comparison_table<'v>(
    title: &str,
    rows: impl IntoIterator<Item = (&'v str, [Cell; 5])>,
) -> Table {
    let titles = [
        (title, Align::Right),
        ("metric", Align::Left),
        ("arm", Align::Left),
        ("change", Align::Right),
        (INTERVAL, Align::Right),
        ("", Align::Left),
    ];
    let titles = titles.map(|(title, align)| (title.to_owned(), align));
    let mut table = Table::new(titles).with_optional_columns([INTERVAL, "change"]);
    for (value, cells) in rows {
        table.row([Cell::from(value)].into_iter().chain(cells));
    }
    table
}

/// Returns the declared metrics of the arms at each point: the value, and the cells behind it.
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

/// Returns the bets on the arms at each point with their outcomes.
pub(super) fn bets(view: &ExperimentView, sweep: &SweepView) -> Vec<String> {
    let points = sweep.values.iter().zip(&sweep.comparisons);
    let arms = points.flat_map(|(value, it)| it.arms.iter().map(move |arm| (value, arm)));
    arms.flat_map(|(value, arm)| {
        let name = &view.arms[arm.arm.index()].name;
        lines::bets(arm).map(move |bet| format!("{name} at {value}: {bet}"))
    })
    .collect()
}
