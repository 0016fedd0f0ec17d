//! The parts of a page that a sweep has.

use std::iter::{once, repeat};

use super::sweep::{self, SweepView};
use super::sweep_table::{
    MODEL_COLUMNS, SHARES, bets, comparison_rows, comparison_table, model_row, owners,
    point_columns, point_row, shares,
};
use super::view::{ArmView, ExperimentView};
use crate::html::Document;
use crate::page::{Align, Line};

/// Writes the tables of the points, and the models of each arm.
pub(super) fn points(out: &mut Document, view: &ExperimentView, sweep: &SweepView) {
    let curves = || view.arms.iter().zip(&sweep.curves);
    let all = curves().flat_map(|(arm, curve)| curve.points.iter().map(move |it| (arm, it)));
    let rows = all.map(|(arm, point)| point_row(sweep, arm, point).to_vec());
    out.rows("Points", &point_columns(sweep), &rows.collect::<Vec<_>>());
    out.paragraph("± is half of the 95 % interval of the mean.");
    processors(out, view, sweep);
    comparisons(out, view, sweep);
    for (arm, curve) in curves() {
        let of_arm = of(view, arm);
        let mut entries: Vec<Line> = Vec::new();
        let mut add = |label: &str, sentences: Vec<String>| {
            let labels = once(format!("{label}{of_arm}")).chain(repeat(String::new()));
            entries.extend(labels.zip(sentences).map(|(label, it)| Line::new(label, it)));
        };
        add("not best", sweep::excluded(sweep, curve));
        curve.usl.iter().for_each(|usl| add("USL", sweep::usl(usl)));
        curve.model.iter().for_each(|model| add("model", sweep::model(model)));
        out.lines(&entries);
        if let Some(Ok(model)) = &curve.model {
            let columns = [&[(sweep.vary.as_str(), Align::Right)][..], &MODEL_COLUMNS].concat();
            let rows = model.points.iter().map(|point| {
                [&[sweep.values[point.point].clone()][..], &model_row(point)].concat()
            });
            let caption = format!("Response-time model{of_arm}");
            out.rows(&caption, &columns, &rows.collect::<Vec<_>>());
        }
    }
}

fn of(view: &ExperimentView, arm: &ArmView) -> String {
    match view.arms.len() {
        1 => String::new(),
        _ => format!(" of {}", arm.name),
    }
}

/// Writes the processor time of each component at each point.
fn processors(out: &mut Document, view: &ExperimentView, sweep: &SweepView) {
    let owners = owners(&sweep.curves.iter().collect::<Vec<_>>());
    if owners.is_empty() {
        return;
    }
    let mut columns = vec![(sweep.vary.as_str(), Align::Right), ("arm", Align::Left)];
    columns.extend(owners.iter().map(|owner| (owner.name(), Align::Right)));
    let mut rows = Vec::new();
    for (arm, curve) in view.arms.iter().zip(&sweep.curves) {
        rows.extend(curve.points.iter().map(|point| {
            let mut row = vec![point.value.clone(), arm.name.clone()];
            row.extend(owners.iter().map(|owner| shares(point, *owner)));
            row
        }));
    }
    out.rows("Processor time", &columns, &rows);
    out.paragraph(SHARES);
}

/// Writes the comparison of the arms at each point.
fn comparisons(out: &mut Document, view: &ExperimentView, sweep: &SweepView) {
    let caption = format!("Arms against {} at each point", view.arms[0].name);
    out.table(&caption, &comparison_table(&sweep.vary, comparison_rows(view, sweep)));
    out.lines(&bets(view, sweep).into_iter().map(|it| Line::new("bet", it)).collect::<Vec<_>>());
}
