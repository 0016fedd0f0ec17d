//! The shapes of marks.

use super::canvas::{Canvas, number};
use super::heat;
use super::layout::{Layout, SWATCH_WIDTH};
use super::palette::color;
use super::path::{Path, PixelPoint};
use super::plot::Plot;
use crate::figure::{Bar, Extent, Figure, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Symbol};

/// Half the length of the stroke across each end of an interval, in pixels.
const INTERVAL_END: f64 = 5.0;

/// Half the width of a band that has only one point, in pixels.
const LONE_BAND: f64 = 1.5;

/// Half the height of a range's stripe, in pixels.
const HALF_STRIPE: f64 = 10.0;

/// Writes a mark without its label.
pub(super) fn write(canvas: &mut Canvas, figure: &Figure, layout: &Layout, mark: &Mark) {
    let plot = Plot { figure, layout };
    match mark {
        Mark::Line { ink, stroke, points } => {
            canvas.path(&line(&plot, points, false), &stroke_attributes(*ink, *stroke));
        }
        Mark::Steps { ink, stroke, points } => {
            canvas.path(&line(&plot, points, true), &stroke_attributes(*ink, *stroke));
        }
        Mark::Band { ink, is_solid, extents } => {
            let opacity = if *is_solid { "0.7" } else { "0.2" };
            canvas.path(&band(&plot, extents), &fill_attributes(*ink, opacity));
        }
        Mark::Dots { ink, points } => dots(canvas, &plot, points, &dot_attributes(*ink)),
        Mark::Specks { ink, points } => dots(canvas, &plot, points, &speck_attributes(*ink)),
        Mark::Symbols { ink, symbol, points } => {
            let mut path = Path::default();
            let drawn = points.iter().filter_map(|point| plot.place(point.x, point.y));
            drawn.for_each(|point| path.around(point, &outline(*symbol, 1.0)));
            canvas.path(&path.into_text(), &symbol_attributes(*ink, *symbol));
        }
        Mark::ErrorBars { ink, extents } => {
            canvas.path(&error_bars(&plot, extents), &stroke_attributes(*ink, Stroke::Solid));
        }
        Mark::Bars { ink, is_solid, bars } => {
            let opacity = if *is_solid { "0.75" } else { "0.15" };
            canvas.path(&boxes(&plot, bars), &fill_attributes(*ink, opacity));
        }
        Mark::Intervals { ink, extents } => {
            let attributes = stroke_attributes(*ink, Stroke::Solid);
            canvas.path(&intervals(&plot, extents), &attributes);
        }
        Mark::Ranges { ink, extents } => {
            canvas.path(&ranges(&plot, extents), &fill_attributes(*ink, "0.22"));
        }
        Mark::Cells { ink, cells } => heat::write(canvas, &plot, *ink, cells),
        // Texts are written above all shapes.
        Mark::Text { .. } => {}
        Mark::Rule { ink, at, .. } => {
            if let Some(x) = layout.x(figure, *at) {
                let (from, to) =
                    (PixelPoint { x, y: layout.top }, PixelPoint { x, y: layout.bottom });
                canvas.line(from, to, &thin_stroke_attributes(*ink));
            }
        }
        Mark::Level { ink, at, .. } => {
            if let Some(y) = layout.y(figure, *at) {
                let (from, to) =
                    (PixelPoint { x: layout.left, y }, PixelPoint { x: layout.right, y });
                canvas.line(from, to, &thin_stroke_attributes(*ink));
            }
        }
        Mark::Period { ink, from, to, .. } => period(canvas, &plot, *ink, [*from, *to]),
    }
}

fn stroke_attributes(ink: Ink, stroke: Stroke) -> String {
    let dashes = match stroke {
        Stroke::Solid => "",
        Stroke::Dashed => " stroke-dasharray=\"6 4\"",
        Stroke::DashDotted => " stroke-dasharray=\"7 4 .1 4\"",
        Stroke::LongDashed => " stroke-dasharray=\"15 4\"",
        Stroke::DashDoubleDotted => " stroke-dasharray=\"7 4 .1 4 .1 4\"",
        Stroke::LongShortDashed => " stroke-dasharray=\"15 4 3 4\"",
        Stroke::DashTripleDotted => " stroke-dasharray=\"7 4 .1 4 .1 4 .1 4\"",
        Stroke::Dotted => " stroke-dasharray=\".1 3.4\"",
    };
    let color = color(ink);
    format!(
        " stroke=\"{color}\" stroke-width=\"1.6\" stroke-linecap=\"round\" \
         stroke-linejoin=\"round\"{dashes}"
    )
}

fn thin_stroke_attributes(ink: Ink) -> String {
    format!(" stroke=\"{}\" stroke-dasharray=\"3 2\"", color(ink))
}

fn fill_attributes(ink: Ink, opacity: &str) -> String {
    format!(" fill=\"{}\" fill-opacity=\"{opacity}\"", color(ink))
}

/// Returns the path of a line, which is interrupted at missing points. A point without neighbours
/// is a disc.
fn line(plot: &Plot<'_>, points: &[Point], has_steps: bool) -> String {
    let mut path = Path::default();
    let mut before: Option<PixelPoint> = None;
    let mut is_alone = false;
    for point in points {
        let pixel = plot.place(point.x, point.y);
        match (pixel, before) {
            (Some(pixel), Some(before)) => {
                if has_steps {
                    path.line_to(PixelPoint { y: before.y, ..pixel });
                }
                if !has_steps || number(pixel.y) != number(before.y) {
                    path.line_to(pixel);
                }
                is_alone = false;
            }
            (Some(pixel), None) => {
                path.move_to(pixel);
                is_alone = true;
            }
            (None, _) if is_alone => {
                path.disc();
                is_alone = false;
            }
            (None, _) => {}
        }
        before = pixel;
    }
    if is_alone {
        path.disc();
    }
    path.into_text()
}

/// Returns the path of a band: each stretch without missing points is one area, drawn from its
/// upper edge. A point without neighbours is a stripe.
fn band(plot: &Plot<'_>, extents: &[Extent]) -> String {
    let mut path = Path::default();
    let edges = extents.iter().map(|extent| {
        Some((plot.place(extent.at, extent.low)?, plot.place(extent.at, extent.high)?))
    });
    let edges: Vec<Option<(PixelPoint, PixelPoint)>> = edges.collect();
    for stretch in edges.split(Option::is_none) {
        if let [Some((low, high))] = stretch {
            path.rectangle([high.x - LONE_BAND, high.x + LONE_BAND], [high.y, low.y]);
            continue;
        }
        let upper = stretch.iter().flatten().map(|(_, high)| *high);
        let lower = stretch.iter().rev().flatten().map(|(low, _)| *low);
        for (number, point) in upper.chain(lower).enumerate() {
            if number == 0 {
                path.move_to(point);
            } else {
                path.line_to(point);
            }
        }
        if !stretch.is_empty() {
            path.close();
        }
    }
    path.into_text()
}

fn dots(canvas: &mut Canvas, plot: &Plot<'_>, points: &[Point], attributes: &str) {
    let mut path = Path::default();
    for point in points.iter().filter_map(|point| plot.place(point.x, point.y)) {
        path.move_to(point);
        path.dot();
    }
    canvas.path(&path.into_text(), attributes);
}

fn dot_attributes(ink: Ink) -> String {
    round_stroke_attributes(ink, "6", "0.45")
}

fn speck_attributes(ink: Ink) -> String {
    round_stroke_attributes(ink, "3", "0.3")
}

fn round_stroke_attributes(ink: Ink, width: &str, opacity: &str) -> String {
    format!(
        " stroke=\"{}\" stroke-width=\"{width}\" stroke-linecap=\"round\" \
         stroke-opacity=\"{opacity}\"",
        color(ink)
    )
}

fn boxes(plot: &Plot<'_>, bars: &[Bar]) -> String {
    let mut path = Path::default();
    for bar in bars {
        let ends = plot.place(bar.from, bar.high).zip(plot.place(bar.to, bar.low));
        let Some((from, to)) = ends else { continue };
        // Half a pixel of background separates adjacent bars.
        path.rectangle([from.x, (to.x - 0.5).max(from.x)], [from.y, to.y]);
    }
    path.into_text()
}

fn rectangle(across: [f64; 2], down: [f64; 2]) -> String {
    let mut path = Path::default();
    path.rectangle(across, down);
    path.into_text()
}

fn intervals(plot: &Plot<'_>, extents: &[Extent]) -> String {
    let mut path = Path::default();
    for extent in extents {
        let low = plot.place(extent.low, extent.at);
        let Some((low, high)) = low.zip(plot.place(extent.high, extent.at)) else { continue };
        path.move_to(low);
        path.line_to(high);
        let arrows = [
            (continues_left(plot, extent), INTERVAL_END),
            (continues_right(plot, extent), -INTERVAL_END),
        ];
        for (end, value, (continues, inwards)) in
            [(low, extent.low, arrows[0]), (high, extent.high, arrows[1])]
        {
            // An interval that lies wholly beyond the axis is only an arrow.
            if !continues && !plot.figure.x.has(value) {
                continue;
            }
            let across = if continues { inwards } else { 0.0 };
            path.move_to(PixelPoint { x: end.x + across, y: end.y - INTERVAL_END });
            if continues {
                path.line_to(end);
            }
            path.line_to(PixelPoint { x: end.x + across, y: end.y + INTERVAL_END });
        }
    }
    path.into_text()
}

/// Returns true if a horizontal range continues beyond the left end of the axis.
fn continues_left(plot: &Plot<'_>, extent: &Extent) -> bool {
    extent.low < plot.figure.x.from
}

/// Returns true if a horizontal range continues beyond the right end of the axis.
fn continues_right(plot: &Plot<'_>, extent: &Extent) -> bool {
    extent.high > plot.figure.x.to
}

fn error_bars(plot: &Plot<'_>, extents: &[Extent]) -> String {
    let mut path = Path::default();
    for extent in extents {
        let low = plot.place(extent.at, extent.low);
        let Some((low, high)) = low.zip(plot.place(extent.at, extent.high)) else { continue };
        path.move_to(low);
        path.line_to(high);
        for (value, end) in [(extent.low, low), (extent.high, high)] {
            if plot.figure.y.has(value) {
                path.move_to(PixelPoint { x: end.x - INTERVAL_END, ..end });
                path.line_to(PixelPoint { x: end.x + INTERVAL_END, ..end });
            }
        }
    }
    path.into_text()
}

/// Returns the outline of a symbol relative to its point, in its usual size times `scale`.
fn outline(symbol: Symbol, scale: f64) -> String {
    let size = scale * size(symbol);
    let (s, d) = (number(size), number(2.0 * size));
    match symbol {
        Symbol::Disc | Symbol::HollowDisc | Symbol::Ring => {
            format!("m-{s},0a{s},{s},0,1,0,{d},0a{s},{s},0,1,0-{d},0z")
        }
        Symbol::Square => format!("m-{s}-{s}h{d}v{d}h-{d}z"),
        Symbol::Slash => {
            let (across, twice) = (number(0.5 * size), number(size));
            format!("m-{across},{s}l{twice}-{d}")
        }
        Symbol::Cross => format!("m-{s}-{s}l{d},{d}m-{d},0l{d}-{d}"),
        Symbol::Diamond | Symbol::HollowDiamond => {
            format!("m-{s},0l{s}-{s}l{s},{s}l-{s},{s}z")
        }
        Symbol::Triangle => format!("m-{s},{s}h{d}l-{s}-{d}z"),
        Symbol::Down | Symbol::HollowDown => format!("m-{s}-{s}h{d}l-{s},{d}z"),
    }
}

/// Returns half the width of a symbol, or half the height of a slash, in pixels.
fn size(symbol: Symbol) -> f64 {
    match symbol {
        Symbol::Disc | Symbol::HollowDisc => 3.5,
        Symbol::Ring | Symbol::Square => 8.0,
        Symbol::Slash => 6.0,
        Symbol::Cross | Symbol::Triangle | Symbol::Down | Symbol::HollowDown => 4.0,
        Symbol::Diamond | Symbol::HollowDiamond => 5.0,
    }
}

fn symbol_attributes(ink: Ink, symbol: Symbol) -> String {
    match symbol {
        Symbol::Disc | Symbol::Diamond | Symbol::Triangle | Symbol::Down => {
            fill_attributes(ink, "1")
        }
        Symbol::HollowDisc
        | Symbol::HollowDiamond
        | Symbol::HollowDown
        | Symbol::Ring
        | Symbol::Square
        | Symbol::Slash
        | Symbol::Cross => stroke_attributes(ink, Stroke::Solid),
    }
}

fn ranges(plot: &Plot<'_>, extents: &[Extent]) -> String {
    let mut path = Path::default();
    for extent in extents {
        let low = plot.place(extent.low, extent.at);
        let Some((low, high)) = low.zip(plot.place(extent.high, extent.at)) else { continue };
        stripe(&mut path, plot, extent, [low, high]);
    }
    path.into_text()
}

/// Adds the stripe of a range, with an arrow where it continues beyond the axis.
fn stripe(path: &mut Path, plot: &Plot<'_>, extent: &Extent, [low, high]: [PixelPoint; 2]) {
    let (top, bottom) = (low.y - HALF_STRIPE, low.y + HALF_STRIPE);
    let (is_left, is_right) = (continues_left(plot, extent), continues_right(plot, extent));
    let (mut left, mut right) = (low.x, high.x);
    // A range that lies wholly beyond the axis is only an arrow.
    if is_right {
        right -= HALF_STRIPE;
        left = left.min(right);
    }
    if is_left {
        left += HALF_STRIPE;
        right = right.max(left);
    }
    path.move_to(PixelPoint { x: left, y: top });
    path.line_to(PixelPoint { x: right, y: top });
    if is_right {
        path.line_to(high);
    }
    path.line_to(PixelPoint { x: right, y: bottom });
    path.line_to(PixelPoint { x: left, y: bottom });
    if is_left {
        path.line_to(low);
    }
    path.close();
}

fn period(canvas: &mut Canvas, plot: &Plot<'_>, ink: Ink, [from, to]: [f64; 2]) {
    let Plot { figure, layout } = plot;
    let ends = layout.x(figure, from).zip(layout.x(figure, to));
    if let Some((from, to)) = ends {
        // A short period has a minimum width that keeps it visible.
        let area = rectangle([from, to.max(from + 1.0)], [layout.top, layout.bottom]);
        canvas.path(&area, &fill_attributes(ink, "0.15"));
    }
}

/// Writes the sample of a legend entry.
pub(super) fn write_swatch(canvas: &mut Canvas, point: PixelPoint, entry: &LegendEntry) {
    let middle = point.y - 4.0;
    let (left, right) = (point.x, point.x + SWATCH_WIDTH);
    let area = rectangle([left + 4.0, right - 4.0], [middle - 5.0, middle + 5.0]);
    let (from, to) = (PixelPoint { x: left, y: middle }, PixelPoint { x: right, y: middle });
    match entry.swatch {
        Swatch::Line(stroke) => canvas.line(from, to, &stroke_attributes(entry.ink, stroke)),
        Swatch::Area => canvas.path(&area, &fill_attributes(entry.ink, "0.7")),
        Swatch::Spread => canvas.path(&area, &fill_attributes(entry.ink, "0.22")),
        Swatch::Cell(level) => {
            canvas.path(&area, &fill_attributes(entry.ink, &heat::opacity(level)));
        }
        Swatch::Dot | Swatch::Speck => {
            let dot = format!("M{} {}h0", number(left + SWATCH_WIDTH / 2.0), number(middle));
            let is_speck = entry.swatch == Swatch::Speck;
            let attributes = match is_speck {
                true => speck_attributes(entry.ink),
                false => dot_attributes(entry.ink),
            };
            canvas.path(&dot, &attributes);
        }
        Swatch::Symbol(symbol) => {
            // A wide symbol would touch the next line of the legend.
            let shown = match symbol {
                Symbol::Ring | Symbol::Square => 5.5 / size(symbol),
                Symbol::Disc
                | Symbol::HollowDisc
                | Symbol::Slash
                | Symbol::Cross
                | Symbol::Diamond
                | Symbol::HollowDiamond
                | Symbol::Triangle
                | Symbol::Down
                | Symbol::HollowDown => 1.0,
            };
            let at = PixelPoint { x: left + SWATCH_WIDTH / 2.0, y: middle };
            let mut path = Path::default();
            path.around(at, &outline(symbol, shown));
            canvas.path(&path.into_text(), &symbol_attributes(entry.ink, symbol));
        }
        Swatch::ErrorBar => {
            let x = left + SWATCH_WIDTH / 2.0;
            let ends = format!("M{0} {1}h8m-4 0v12m-4 0h8", number(x - 4.0), number(middle - 6.0),);
            canvas.path(&ends, &stroke_attributes(entry.ink, Stroke::Solid));
        }
        Swatch::Interval => {
            let ends = format!(
                "M{0} {1}v8M{0} {2}H{3}M{3} {1}v8",
                number(left + 2.0),
                number(middle - 4.0),
                number(middle),
                number(right - 2.0)
            );
            canvas.path(&ends, &stroke_attributes(entry.ink, Stroke::Solid));
        }
    }
}
