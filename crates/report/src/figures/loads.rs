//! The rows per second at which tables are loaded, over their growing numbers of rows.

use analyze::{LoadPoint, LoadSummary};

use super::readings::without_short_periods;
use super::subject::{FigureTexts, Run, highest};
use crate::figure::{
    Axis, Figure, Ink, LegendEntry, MOST_SERIES, Mark, Point, Stroke, Swatch, Unit, thin_series,
};
use crate::number::rate;

/// Maximum number of points of a load that is drawn with dots in addition to its line.
const FEW_POINTS: usize = 20;

/// Maximum number of loads that the caption names.
const MOST_NAMED: usize = 3;

/// Returns the figure of the loads: rows per second as a function of the rows in the table.
pub(super) fn figure(run: &Run<'_>) -> Figure {
    let loads = &run.view.summary.loads;
    let series: Vec<(&LoadSummary, Vec<Point>)> =
        loads.iter().take(MOST_SERIES).map(|load| (load, rates(&load.points))).collect();
    let words = FigureTexts {
        name: "loads".to_owned(),
        title: "Loads over the growing table".to_owned(),
        caption: caption(loads),
    };
    if series.iter().all(|(_, points)| points.is_empty()) {
        return words
            .into_empty_figure("The loads were too short for a rate over time.".to_owned());
    }
    let mut marks = Vec::new();
    let mut legend = Vec::new();
    let rows = loads.iter().map(|load| load.rows as f64);
    let most = highest(series.iter().flat_map(|(_, points)| points).map(|point| point.y));
    for (number, (load, points)) in series.iter().enumerate() {
        let (ink, stroke) = (Ink::Series(number), Stroke::Solid);
        let thin = thin_series(points);
        marks.push(Mark::Band { ink, is_solid: false, extents: thin.spread });
        if points.len() <= FEW_POINTS {
            marks.push(Mark::Dots { ink, points: points.clone() });
        }
        marks.push(Mark::Line { ink, stroke, points: thin.means });
        legend.push(LegendEntry::new(ink, Swatch::Line(stroke), load.table.as_str()));
    }
    let x = Axis::from_zero("rows in the table", Unit::Number, highest(rows));
    let y = Axis::from_zero("rows per second", Unit::Number, most);
    words.into_figure([x, y], marks, legend)
}

/// Returns the rows per second between the points of a load.
fn rates(points: &[LoadPoint]) -> Vec<Point> {
    let rate = |pair: &[LoadPoint]| {
        let took = pair[1].at.saturating_sub(pair[0].at).as_secs_f64();
        let rows = pair[1].rows.saturating_sub(pair[0].rows) as f64;
        (took > 0.0 && rows > 0.0)
            .then(|| Point { x: (pair[0].rows + pair[1].rows) as f64 / 2.0, y: rows / took })
    };
    without_short_periods(points, |point| point.at).windows(2).filter_map(rate).collect()
}

fn caption(loads: &[LoadSummary]) -> String {
    let sentences = loads.iter().filter_map(|load| {
        let whole = rate(load.rows_per_s?);
        Some(match load.exit_rows_per_s {
            Some(exit) => {
                let exit = rate(exit);
                format!("{} {whole} over all, {exit} over the last 5 to 10 % of rows", load.table)
            }
            None => format!("{} {whole}", load.table),
        })
    });
    let sentences: Vec<String> = sentences.take(MOST_NAMED).collect();
    let others = if loads.len() > MOST_NAMED { "; and other loads" } else { "" };
    match sentences.is_empty() {
        true => "The rates of the loads are unknown.".to_owned(),
        false => {
            format!(
                "{}{others}: a falling line is a table that becomes slower to fill.",
                sentences.join("; ")
            )
        }
    }
}
