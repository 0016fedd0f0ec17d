//! The frame of a figure: headings, grid, ticks, titles, labels and legend.

use super::canvas::{Anchor, Canvas, TEXT, TITLE, number};
use super::data;
use super::layout::{LABEL_LINE_HEIGHT, LINE, Layout, SWATCH_WIDTH, WIDTH, label_lines, wrap};
use super::measure::{cut, width};
use super::palette::PLAIN;
use super::path::PixelPoint;
use super::shapes;
use super::small_texts::{SMALL, SmallText};
use crate::figure::{Figure, Mark, Scale};

/// Writes title and caption.
pub(super) fn write_headings(canvas: &mut Canvas, layout: &Layout) {
    for (point, height, line) in &layout.headings {
        let attributes = match *height == TITLE {
            true => format!(" font-size=\"{}\" font-weight=\"bold\"", number(TITLE)),
            false => String::new(),
        };
        canvas.text(*point, Anchor::Start, &attributes, line);
    }
}

/// Writes the reason why there is nothing to draw.
pub(super) fn write_reason(canvas: &mut Canvas, figure: &Figure, layout: &Layout) {
    let lines = wrap(figure.sentence(), TEXT, WIDTH - 32.0);
    let middle = (layout.top + layout.bottom) / 2.0;
    let first = middle - (lines.len() as f64 - 1.0) * LINE / 2.0;
    for (row, line) in lines.iter().enumerate() {
        let point = PixelPoint { x: WIDTH / 2.0, y: first + row as f64 * LINE };
        canvas.text(point, Anchor::Middle, "", line);
    }
    let box_of = format!(
        "<rect x=\"0.5\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" \
         stroke=\"{PLAIN}\" stroke-opacity=\"0.25\" stroke-dasharray=\"4 3\"/>",
        number(layout.top),
        number(WIDTH - 1.0),
        number(layout.bottom - layout.top)
    );
    canvas.raw(&box_of);
}

/// Writes the grid, the ticks and the titles of both axes.
pub(super) fn write_axes(canvas: &mut Canvas, figure: &Figure, layout: &Layout) {
    let grid = format!(" stroke=\"{PLAIN}\" stroke-opacity=\"0.14\"");
    canvas.part("data-part=\"y\"", |canvas| write_ticks_of_y(canvas, figure, layout, &grid));
    canvas.part("data-part=\"x\"", |canvas| write_ticks_of_x(canvas, figure, layout, &grid));
    let axis = format!(" stroke=\"{PLAIN}\" stroke-opacity=\"0.6\"");
    let corner = PixelPoint { x: layout.left, y: layout.bottom };
    canvas.line(corner, PixelPoint { x: layout.right, ..corner }, &axis);
    canvas.part("data-part=\"title\"", |canvas| {
        canvas.text(layout.title_of_y, Anchor::Start, QUIET, &figure.y.title);
    });
    let below = PixelPoint { x: layout.right, y: layout.bottom + 2.0 * LINE + 2.0 };
    if !figure.x.title.is_empty() {
        canvas.text(below, Anchor::End, QUIET, &figure.x.title);
    }
}

fn write_ticks_of_y(canvas: &mut Canvas, figure: &Figure, layout: &Layout, grid: &str) {
    for tick in &figure.y.ticks {
        let Some(y) = layout.y(figure, tick.at) else { continue };
        if tick.label.is_empty() {
            let (from, to) =
                (PixelPoint { x: layout.left, y }, PixelPoint { x: layout.left + MINOR, y });
            canvas.line(from, to, MINOR_TICK);
            continue;
        }
        if figure.y.scale != Scale::Category {
            let (from, to) = (PixelPoint { x: layout.left, y }, PixelPoint { x: layout.right, y });
            canvas.line(from, to, grid);
        }
        let lines = label_lines(&tick.label);
        let first = y + 4.0 - (lines.len() as f64 - 1.0) * LABEL_LINE_HEIGHT / 2.0;
        for (row, line) in lines.iter().enumerate() {
            let y = first + row as f64 * LABEL_LINE_HEIGHT;
            let point = PixelPoint { x: layout.left - 6.0, y };
            canvas.text(point, Anchor::End, "", line);
        }
    }
}

/// Distance from the horizontal axis down to the base line of its labels, in pixels. It leaves room
/// for the lowest label of the vertical axis.
const BELOW: f64 = 18.0;

/// Length of a tick without a label, in pixels.
const MINOR: f64 = 4.0;

/// Attributes of ticks without labels.
const MINOR_TICK: &str = " stroke=\"currentColor\" stroke-opacity=\"0.4\"";

/// Distance of a label from the line at its left, in pixels.
const LEFT_OF_LABEL: f64 = 3.0;

/// Attributes of a label. It has the ink of the page, because no fixed colour has a contrast of
/// 4.5:1 (WCAG 2.2, 1.4.3) on both light and dark pages. The colour of the adjacent line or area
/// shows to which mark a label belongs.
const SMALL_TEXT: &str = " font-size=\"10\"";

/// Attributes of the titles of axes.
const QUIET: &str = " fill-opacity=\"0.75\"";

fn write_ticks_of_x(canvas: &mut Canvas, figure: &Figure, layout: &Layout, grid: &str) {
    let mut free = 0.0;
    let is_named = figure.x.scale == Scale::Category;
    // A name is cut to its slot: unlike a number, it cannot be inferred from its neighbours, so it
    // is never left out.
    let slot = (layout.right - layout.left) / figure.x.ticks.len().max(1) as f64 - 5.0;
    for tick in &figure.x.ticks {
        let Some(x) = layout.x(figure, tick.at) else { continue };
        if tick.label.is_empty() {
            let from = PixelPoint { x, y: layout.bottom };
            canvas.line(from, PixelPoint { y: from.y - MINOR, ..from }, MINOR_TICK);
            continue;
        }
        if !is_named {
            canvas.line(PixelPoint { x, y: layout.top }, PixelPoint { x, y: layout.bottom }, grid);
        }
        let label = if is_named { cut(&tick.label, TEXT, slot) } else { tick.label.clone() };
        let half = width(&label, TEXT) / 2.0;
        // A label that would touch the previous one is left out; its line stays.
        let middle = x.clamp(half, (WIDTH - half - 1.0).max(half));
        if middle - half >= free {
            free = middle + half + 4.0;
            let point = PixelPoint { x: middle, y: layout.bottom + BELOW };
            canvas.text(point, Anchor::Middle, "", &label);
        }
    }
}

/// Writes the labels of rules, levels and periods, and small texts, above the marks. A rule's or
/// period's label that would cover another one in every row is left out; the line or area stays.
pub(super) fn write_labels(canvas: &mut Canvas, figure: &Figure, layout: &Layout) {
    let mut rules = Rules::of(figure, layout);
    for mark in &figure.marks {
        match mark {
            Mark::Rule { at, label, .. } => rules.write(canvas, figure, *at, label),
            Mark::Period { from, to, label, .. } => {
                let label = label_within(label, layout.x(figure, *from).zip(layout.x(figure, *to)));
                rules.write(canvas, figure, *from, label);
            }
            Mark::Level { at, label, .. } => {
                let Some(y) = layout.y(figure, *at) else { continue };
                let point = PixelPoint { x: layout.right - 2.0, y: y - 3.0 };
                canvas.part(&data::label_attributes(None, Some(y)), |canvas| {
                    canvas.text(point, Anchor::End, SMALL_TEXT, &cut(label, SMALL, 200.0));
                });
            }
            _ => {}
        }
    }
    layout.small_texts.iter().for_each(|text| write_small_text(canvas, figure, layout, text));
}

/// Returns the label of a period with these ends. If it does not fit, the remark after its comma is
/// left out.
fn label_within(label: &str, ends: Option<(f64, f64)>) -> &str {
    let has_room =
        ends.is_some_and(|(left, right)| LEFT_OF_LABEL + width(label, SMALL) <= right - left);
    match label.split_once(',') {
        Some((name, _)) if !has_room => name,
        Some(_) | None => label,
    }
}

fn write_small_text(canvas: &mut Canvas, figure: &Figure, layout: &Layout, text: &SmallText) {
    let SmallText { left, text: shown, at, .. } = text;
    let Some((x, y)) = layout.x(figure, at.x).zip(layout.y(figure, at.y)) else { return };
    let point = PixelPoint { x: *left, y: y + text.offset() };
    canvas.part(&data::label_attributes(Some(x), Some(y)), |canvas| {
        canvas.text(point, Anchor::Start, SMALL_TEXT, shown);
    });
}

/// The labels of vertical lines, in rows at the top of the plot.
struct Rules<'a> {
    layout: &'a Layout,
    /// Left end of the free part of each row, in pixels.
    free: [f64; 3],
    /// Horizontal positions of the lines, in pixels.
    lines: Vec<f64>,
}

impl Rules<'_> {
    fn of<'a>(figure: &Figure, layout: &'a Layout) -> Rules<'a> {
        let lines = figure.marks.iter().filter_map(|mark| match mark {
            Mark::Rule { at, .. } => layout.x(figure, *at),
            _ => None,
        });
        Rules { layout, free: [layout.left; 3], lines: lines.collect() }
    }

    fn write(&mut self, canvas: &mut Canvas, figure: &Figure, at: f64, label: &str) {
        let Rules { layout, free, lines } = self;
        let Some(x) = layout.x(figure, at) else { return };
        let text = cut(label, SMALL, 220.0);
        if text.is_empty() {
            return;
        }
        let needed = width(&text, SMALL) + 6.0;
        // True if the line of another rule would run through the label.
        let crosses = |from: f64, to: f64| lines.iter().any(|line| *line > from && *line < to);
        let has_room = x - needed >= layout.left && !crosses(x - needed, x);
        let is_left = x + needed > layout.right || crosses(x, x + needed) && has_room;
        let begin = if is_left { x - needed } else { x };
        let Some(row) = free.iter().position(|free| *free <= begin) else { return };
        free[row] = begin + needed;
        let point =
            PixelPoint { x: begin + LEFT_OF_LABEL, y: layout.top + 9.0 + row as f64 * 11.0 };
        canvas.part(&data::label_attributes(Some(x), None), |canvas| {
            canvas.text(point, Anchor::Start, SMALL_TEXT, &text);
        });
    }
}

/// Writes the legend.
pub(super) fn write_legend(canvas: &mut Canvas, layout: &Layout) {
    for (point, entry, text) in &layout.legend {
        canvas.part("data-part=\"entry\"", |canvas| {
            shapes::write_swatch(canvas, *point, entry);
            let point = PixelPoint { x: point.x + SWATCH_WIDTH + 5.0, ..*point };
            canvas.text(point, Anchor::Start, "", text);
        });
    }
}
