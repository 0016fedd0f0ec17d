//! Heat maps: a path for each intensity, in few bytes.
//!
//! Intensities are painted over each other: the first path has all cells, and each further path has
//! the cells of at least its intensity. Neighbours of nearly equal intensity then share most of
//! their outlines. If all rows have the same height, adjacent cells are painted as one line, whose
//! width is this height. Otherwise, they are painted as one rectangle.

use super::canvas::Canvas;
use super::palette::color;
use super::path::{Path, PixelPoint};
use super::plot::Plot;
use crate::figure::{HeatCell, Ink};

/// Difference of heights that is too small to be visible, in pixels.
const INVISIBLE_DIFFERENCE: f64 = 0.02;

/// Cells at the same vertical position, from left to right.
struct Row<'c> {
    cells: Vec<&'c HeatCell>,
    /// Upper and lower edge, in pixels.
    edges: [f64; 2],
}

/// Adjacent cells of a row, as a rectangle in pixels.
struct Run {
    x: [f64; 2],
    edges: [f64; 2],
}

/// Writes the cells of a heat map.
pub(super) fn write(canvas: &mut Canvas, plot: &Plot<'_>, ink: Ink, cells: &[HeatCell]) {
    let rows = rows(plot, cells);
    let height = |row: &Row<'_>| row.edges[1] - row.edges[0];
    let first = rows.first().map_or(0.0, height);
    let are_equal = rows.iter().all(|row| (height(row) - first).abs() < INVISIBLE_DIFFERENCE);
    for level in 1..=HeatCell::LEVELS {
        let runs: Vec<Run> = rows.iter().flat_map(|row| runs(plot, row, level)).collect();
        if runs.is_empty() {
            continue;
        }
        // Painted over the paths of lower intensities, this opacity adds up to the intensity's
        // fraction.
        let over = format!("{:.3}", 1.0 / f64::from(HeatCell::LEVELS + 1 - level));
        let mut path = Path::default();
        runs.iter().for_each(|run| add(&mut path, run, are_equal));
        let color = color(ink);
        let attributes = match are_equal {
            true => {
                format!(" stroke=\"{color}\" stroke-width=\"{first:.2}\" stroke-opacity=\"{over}\"")
            }
            false => format!(" fill=\"{color}\" fill-opacity=\"{over}\""),
        };
        canvas.path(&path.into_text(), &attributes);
    }
}

/// Returns the opacity of an intensity.
pub(super) fn opacity(level: u8) -> String {
    format!("{:.2}", f64::from(level) / f64::from(HeatCell::LEVELS))
}

fn add(path: &mut Path, Run { x, edges: [top, bottom] }: &Run, is_line: bool) {
    if !is_line {
        return path.rectangle(*x, [*top, *bottom]);
    }
    let y = (top + bottom) / 2.0;
    path.move_to(PixelPoint { x: x[0], y });
    path.line_to(PixelPoint { x: x[1], y });
}

fn rows<'c>(plot: &Plot<'_>, cells: &'c [HeatCell]) -> Vec<Row<'c>> {
    let mut sorted: Vec<&HeatCell> = cells.iter().collect();
    sorted.sort_by(|a, b| a.y[0].total_cmp(&b.y[0]).then(a.x[0].total_cmp(&b.x[0])));
    let rows = sorted.chunk_by(|a, b| a.y == b.y);
    let row = |cells: &[&'c HeatCell]| {
        let [x, y] = [cells.first()?.x, cells.first()?.y];
        let (low, high) = (plot.place(x[0], y[0])?, plot.place(x[0], y[1])?);
        Some(Row { cells: cells.to_vec(), edges: [high.y, low.y] })
    };
    rows.filter_map(row).collect()
}

/// Returns the parts of a row with at least this intensity.
fn runs(plot: &Plot<'_>, row: &Row<'_>, level: u8) -> Vec<Run> {
    let mut runs: Vec<[f64; 2]> = Vec::new();
    for cell in row.cells.iter().filter(|cell| cell.level >= level) {
        match runs.last_mut() {
            Some(last) if last[1] == cell.x[0] => last[1] = cell.x[1],
            _ => runs.push(cell.x),
        }
    }
    let y = row.cells.first().map_or(0.0, |cell| cell.y[0]);
    let run = |[from, to]: [f64; 2]| {
        let (from, to) = plot.place(from, y).zip(plot.place(to, y))?;
        Some(Run { x: [from.x, to.x], edges: row.edges })
    };
    runs.into_iter().filter_map(run).collect()
}
