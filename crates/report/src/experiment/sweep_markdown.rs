//! The parts of a Markdown report that a sweep has.

use analyze::curve::{ArmCurve, PointSummary};
use workload::question::TimeStatistic;

use super::sweep::{self, SweepView};
use super::view::{ArmView, ExperimentView};
use crate::markdown::{Document, Table, escaped};
use crate::page::Align;

/// Writes the models of each arm.
pub(super) fn models(out: &mut Document, view: &ExperimentView) {
    let Some(sweep) = &view.sweep else { return };
    let curves = || view.arms.iter().zip(&sweep.curves);
    let of_arm = |arm: &ArmView| match view.arms.len() {
        1 => String::new(),
        _ => format!(" of {}", arm.name),
    };
    let mut lines = Vec::new();
    for (arm, curve) in curves() {
        lines.extend(sweep::excluded(sweep, curve));
        let named = |what: &str, sentences: Vec<String>| {
            (!sentences.is_empty())
                .then(|| format!("{what}{}: {}", of_arm(arm), sentences.join(". ")))
        };
        lines.extend(curve.usl.iter().filter_map(|usl| named("USL", sweep::usl(usl))));
        lines.extend(curve.model.iter().filter_map(|it| named("Model", sweep::model(it))));
    }
    out.list(&all_escaped(&lines), 6);
}

/// Returns the table of the points of all arms.
pub(super) fn table(view: &ExperimentView, sweep: &SweepView) -> Table {
    let titles = [
        (sweep.vary.as_str(), Align::Right),
        ("arm", Align::Left),
        ("requests/s", Align::Right),
        ("p50", Align::Right),
        ("p95", Align::Right),
        ("p99", Align::Right),
        ("verdict", Align::Left),
        ("limiter", Align::Left),
    ];
    let columns = titles.map(|(title, align)| (escaped(title), align)).to_vec();
    let arms = view.arms.iter().zip(&sweep.curves);
    let rows = arms.flat_map(|(arm, curve): (&ArmView, &ArmCurve)| {
        curve.points.iter().map(move |point| row(sweep, arm, point))
    });
    Table { columns, rows: rows.collect() }
}

fn row(sweep: &SweepView, arm: &ArmView, point: &PointSummary) -> Vec<String> {
    let job = sweep.job_at(point);
    let completed = job.and_then(|job| job.completed_per_s.as_ref().ok()).copied();
    let time = |statistic| sweep::cell(job.and_then(|job| job.response(statistic)), " ms");
    all_escaped(&[
        point.value.clone(),
        arm.name.clone(),
        sweep::cell(completed, ""),
        time(TimeStatistic::P50),
        time(TimeStatistic::P95),
        time(TimeStatistic::P99),
        sweep::verdict(point).to_owned(),
        sweep::limiters(point),
    ])
}

fn all_escaped(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| escaped(text)).collect()
}
