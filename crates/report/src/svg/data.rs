//! Attributes that name the parts of a figure in a page. With them, the script of the page moves a
//! cursor over the marks, shows a part of the time, hides series and draws them on another axis.
//! Without the script, the figure is complete, too.

use super::layout::Layout;
use crate::figure::{Axis, Figure, Ink, LegendEntry, Mark, Scale, Stroke, Swatch, Unit};

/// Returns the attributes of a figure: the edges of its plot in pixels, and its axes as scale, unit
/// and ends. Empty for a figure without data.
pub(super) fn figure_attributes(figure: &Figure, layout: &Layout) -> String {
    if figure.missing.is_some() {
        return String::new();
    }
    let Layout { left, top, right, bottom, .. } = layout;
    format!(
        " data-plot=\"{left:.2} {top:.2} {right:.2} {bottom:.2}\" data-x=\"{}\" data-y=\"{}\"",
        axis_attributes(&figure.x),
        axis_attributes(&figure.y)
    )
}

fn axis_attributes(axis: &Axis) -> String {
    let scale = match axis.scale {
        Scale::Linear => "linear",
        Scale::Logarithmic => "log",
        Scale::Ratio => "ratio",
        Scale::Tail => "tail",
        Scale::Time => "time",
        Scale::Category => "names",
    };
    let unit = match axis.unit {
        Unit::Number => "number",
        Unit::Time => "ns",
        Unit::Share => "share",
        Unit::Change => "change",
    };
    format!("{scale} {unit} {} {}", axis.from, axis.to)
}

/// Returns the attributes of a label: its position, in pixels, along each axis with which the
/// script moves it.
pub(super) fn label_attributes(x: Option<f64>, y: Option<f64>) -> String {
    let at = |name: &str, place: Option<f64>| {
        place.map(|place| format!("data-at-{name}=\"{place:.2}\"")).unwrap_or_default()
    };
    [at("x", x), at("y", y)].join(" ")
}

/// Returns the attributes of a mark: its kind, and the number of its entry in the legend.
pub(super) fn mark_attributes(figure: &Figure, mark: &Mark) -> String {
    let kind = match mark {
        Mark::Line { .. } => "line",
        Mark::Steps { .. } => "steps",
        Mark::Band { is_solid: true, .. } => "area",
        Mark::Band { is_solid: false, .. } => "spread",
        Mark::Dots { .. } | Mark::Specks { .. } => "dots",
        Mark::Symbols { .. } => "symbols",
        Mark::Bars { .. } => "bars",
        Mark::Intervals { .. } => "intervals",
        Mark::ErrorBars { .. } => "error-bars",
        Mark::Ranges { .. } => "ranges",
        Mark::Cells { .. } => "cells",
        Mark::Text { .. } => "text",
        Mark::Rule { .. } => "rule",
        Mark::Level { .. } => "level",
        Mark::Period { .. } => "period",
    };
    match entry_of(&figure.legend, mark) {
        Some(entry) => format!("data-kind=\"{kind}\" data-entry=\"{entry}\""),
        None => format!("data-kind=\"{kind}\""),
    }
}

/// Returns the number of the legend entry for a mark: the entry that looks like the mark; or else
/// the solid line of the same ink, of which the mark may be the spread; or else the first entry of
/// the same ink.
fn entry_of(legend: &[LegendEntry], mark: &Mark) -> Option<usize> {
    let (ink, swatch) = appearance(mark)?;
    let entry_with =
        |swatch: Swatch| legend.iter().position(|it| it.ink == ink && it.swatch == swatch);
    let of_ink = || legend.iter().position(|it| it.ink == ink);
    entry_with(swatch).or_else(|| entry_with(Swatch::Line(Stroke::Solid))).or_else(of_ink)
}

/// Returns the ink of a mark and the sample that looks like it; `None` for a mark that no legend
/// names.
fn appearance(mark: &Mark) -> Option<(Ink, Swatch)> {
    Some(match mark {
        Mark::Line { ink, stroke, .. } | Mark::Steps { ink, stroke, .. } => {
            (*ink, Swatch::Line(*stroke))
        }
        Mark::Band { ink, is_solid: true, .. } | Mark::Bars { ink, is_solid: true, .. } => {
            (*ink, Swatch::Area)
        }
        Mark::Band { ink, .. } | Mark::Bars { ink, .. } | Mark::Ranges { ink, .. } => {
            (*ink, Swatch::Spread)
        }
        Mark::Dots { ink, .. } => (*ink, Swatch::Dot),
        Mark::Specks { ink, .. } => (*ink, Swatch::Speck),
        Mark::Symbols { ink, symbol, .. } => (*ink, Swatch::Symbol(*symbol)),
        Mark::ErrorBars { ink, .. } => (*ink, Swatch::ErrorBar),
        Mark::Intervals { ink, .. } => (*ink, Swatch::Interval),
        // The legend of a heat map shows intensities, each of which is in a part of the mark only.
        Mark::Cells { .. }
        | Mark::Text { .. }
        | Mark::Rule { .. }
        | Mark::Level { .. }
        | Mark::Period { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_of_a_line_belongs_to_the_entry_of_the_line() {
        let ink = Ink::Series(0);
        let entry = |swatch: Swatch, ink: Ink| LegendEntry::new(ink, swatch, "x");
        let legend = [
            entry(Swatch::Line(Stroke::Dotted), ink),
            entry(Swatch::Line(Stroke::Solid), ink),
            entry(Swatch::Area, Ink::Series(1)),
        ];
        let band = |ink: Ink, is_solid: bool| Mark::Band { ink, is_solid, extents: Vec::new() };
        let line = |stroke: Stroke| Mark::Line { ink, stroke, points: Vec::new() };
        for (mark, expected) in [
            (line(Stroke::Dotted), Some(0)),
            (line(Stroke::Solid), Some(1)),
            (band(ink, false), Some(1)),
            (band(Ink::Series(1), true), Some(2)),
            (band(Ink::Series(1), false), Some(2)),
            (band(Ink::Bad, true), None),
        ] {
            assert_eq!(entry_of(&legend, &mark), expected, "{mark:?}");
        }
    }
}
