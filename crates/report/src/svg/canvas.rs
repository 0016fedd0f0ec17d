//! The SVG document: elements with attributes and escaped texts.

use std::fmt::Write as _;

use super::context::FigureContext;
use super::escape::escaped;
use super::path::{Path, PixelPoint};
use crate::figure::Figure;

/// A writer of an SVG document.
pub(super) struct Canvas {
    out: String,
    /// True within a page, whose script finds the parts of the figure by their attributes.
    is_in_page: bool,
}

/// The horizontal alignment of a text at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The size of a document, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The background of figures that are files.
const PAPER: &str = "#ffffff";

/// The height of ordinary texts, in pixels.
pub(super) const TEXT: f64 = 13.0;

/// The height of titles of figures that are files, in pixels.
pub(super) const TITLE: f64 = 15.0;

impl Canvas {
    /// Begins a document; `more` has further attributes of the root element `svg`.
    pub(super) fn new(
        figure: &Figure,
        size: Size,
        context: FigureContext<'_>,
        more: &str,
    ) -> Canvas {
        let (width, height) = (number(size.width), number(size.height));
        let id = match context {
            FigureContext::File => "figure",
            FigureContext::Page(id) => id,
        };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\" font-family=\"sans-serif\" \
             font-size=\"{}\" fill=\"currentColor\"{more}>",
            number(TEXT),
        );
        let _ = write!(out, "<title id=\"{id}-title\">{}</title>", escaped(&figure.title));
        let described = description(figure);
        let _ = write!(out, "<desc id=\"{id}-desc\">{}</desc>", escaped(&described));
        if context == FigureContext::File {
            let _ = write!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>");
        }
        Canvas { out, is_in_page: context != FigureContext::File }
    }

    pub(super) fn into_text(self) -> String {
        self.out + "</svg>"
    }

    /// Writes the labels. Their letters have an outline in the colour of the background, since
    /// lines and areas of any colour are behind them. Within a page, the outline has the browser's
    /// own background colour (`Canvas`): that colour is close to the page's, and is the right one
    /// if the style of the page is forbidden.
    pub(super) fn labels(&mut self, write: impl FnOnce(&mut Canvas)) {
        let (part, ground) =
            if self.is_in_page { (" data-part=\"labels\"", "Canvas") } else { ("", PAPER) };
        let _ = write!(
            self.out,
            "<g{part} paint-order=\"stroke\" stroke=\"{ground}\" stroke-width=\"3\" \
             stroke-linejoin=\"round\">"
        );
        write(self);
        self.out.push_str("</g>");
    }

    /// Writes markup unchanged; it must consist of numbers and constants only, without any text
    /// from outside.
    pub(super) fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// Writes a part of the figure. Within a page the part is a group with these attributes.
    pub(super) fn part(&mut self, attributes: &str, write: impl FnOnce(&mut Canvas)) {
        if self.is_in_page {
            let _ = write!(self.out, "<g {attributes}>");
        }
        write(self);
        if self.is_in_page {
            self.out.push_str("</g>");
        }
    }

    /// Writes a text with further attributes.
    pub(super) fn text(&mut self, point: PixelPoint, anchor: Anchor, attributes: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (number(point.x), number(point.y));
        let text = escaped(text);
        let _ = write!(self.out, "<text x=\"{x}\" y=\"{y}\"{anchor}{attributes}>{text}</text>");
    }

    /// Writes a straight line.
    pub(super) fn line(&mut self, from: PixelPoint, to: PixelPoint, attributes: &str) {
        let mut path = Path::default();
        path.move_to(from);
        path.line_to(to);
        self.path(&path.into_text(), attributes);
    }

    /// Writes a path, which is not filled unless the attributes have a fill.
    pub(super) fn path(&mut self, path: &str, attributes: &str) {
        let fill = if attributes.contains("fill=") { "" } else { " fill=\"none\"" };
        let _ = write!(self.out, "<path d=\"{path}\"{fill}{attributes}/>");
    }
}

/// Describes a figure for readers who cannot see it: caption, axes and series.
fn description(figure: &Figure) -> String {
    if let Some(missing) = &figure.missing {
        return missing.clone();
    }
    let mut text = figure.caption.clone();
    for (which, axis) in [("Horizontal", &figure.x), ("Vertical", &figure.y)] {
        let comma = if axis.title.is_empty() { "" } else { ", " };
        let _ = write!(text, " {which} axis: {}{comma}{}.", axis.title, axis.range_text());
    }
    let series: Vec<&str> = figure.legend.iter().map(|entry| entry.text.as_str()).collect();
    if !series.is_empty() {
        let _ = write!(text, " Shown: {}.", series.join("; "));
    }
    text
}

/// Formats a coordinate with at most one decimal.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}
