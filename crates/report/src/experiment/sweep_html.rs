//! The parts of a page about a sweep.

use std::iter::{once, repeat};

use super::bets;
use super::lines;
use super::sentence;
use super::sweep::{self, SweepView};
use super::sweep_table::{
    self, MODEL_COLUMNS, SHARES, comparison_rows, comparison_table, model_row, owners, shares,
};
use super::terms::has_undecided_change;
use super::view::{ArmView, ExperimentView};
use crate::html::Document;
use crate::page::{Align, Cell, Line, Table};

/// Writes the tables of the points, of their processor time and of the compared arms, and the
/// models of each arm.
pub(super) fn points(out: &mut Document, view: &ExperimentView, sweep: &SweepView) {
    let curves = || view.arms.iter().zip(&sweep.curves);
    out.table("Points", &sweep_table::points(view, sweep));
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
        add("not best", sweep::excluded_points(sweep, curve));
        curve.usl.iter().for_each(|usl| add("USL", sweep::usl(usl)));
        curve.model.iter().for_each(|model| add("model", sweep::model(model)));
        out.lines(&entries);
        if let Some(Ok(model)) = &curve.model {
            let titles = MODEL_COLUMNS.map(|(title, align)| (title.to_owned(), align));
            let value = (sweep.vary.clone(), Align::Right);
            let mut table = Table::new([value].into_iter().chain(titles));
            for point in &model.points {
                let value = Cell::from(sweep.values[point.point].as_str());
                table.row([value].into_iter().chain(model_row(point)));
            }
            out.table(&format!("Response-time model{of_arm}"), &table);
        }
    }
}

fn of(view: &ExperimentView, arm: &ArmView) -> String {
    match view.arms.len() {
        1 => String::new(),
        _ => format!(" of {}", sentence::name_as_code(&arm.name)),
    }
}

/// Writes the processor time of each component at each point.
fn processors(out: &mut Document, view: &ExperimentView, sweep: &SweepView) {
    let owners = owners(&sweep.curves.iter().collect::<Vec<_>>());
    if owners.is_empty() {
        return;
    }
    let mut titles = vec![(sweep.vary.clone(), Align::Right), ("arm".to_owned(), Align::Left)];
    titles.extend(owners.iter().map(|owner| (owner.name().to_owned(), Align::Right)));
    let mut table = Table::new(titles);
    for (arm, curve) in view.arms.iter().zip(&sweep.curves) {
        for point in &curve.points {
            let head = [point.value.as_str(), arm.name.as_str()].map(Cell::from);
            let shares = owners.iter().map(|owner| shares(point, *owner));
            table.row(head.into_iter().chain(shares));
        }
    }
    out.table("Processor time", &table);
    out.paragraph(SHARES);
}

/// Writes the comparison of the arms at each point.
fn comparisons(out: &mut Document, view: &ExperimentView, sweep: &SweepView) {
    let baseline = sentence::name_as_code(&view.arms[0].name);
    let caption = format!("Arms against {baseline} at each point");
    let titles = [sweep.vary.as_str(), "conclusion"];
    out.table(&caption, &comparison_table(titles, comparison_rows(view, sweep)));
    if has_undecided_change(sweep) {
        out.paragraph(lines::UNDECIDED);
    }
    out.lines(
        &bets::at_points(view).into_iter().map(|it| Line::new("bet", it)).collect::<Vec<_>>(),
    );
}
