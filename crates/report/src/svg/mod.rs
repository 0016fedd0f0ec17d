//! The painter of figures. It writes SVG with presentation attributes only, because a page may
//! forbid styles and scripts.
//!
//! Within a page, attributes name the parts of a figure for the script of the page ([`data`]).
//!
//! Text stays text. The bytes depend on the figure alone: numbers have fixed decimals, the widths
//! of texts are estimated without a font, and nothing is drawn at random. Inside a page, texts and
//! lines have the ink of the page (`currentColor`); a figure alone has a white background, for
//! documents and wikis.

mod canvas;
mod context;
#[cfg(test)]
mod contrast;
mod data;
mod escape;
mod frame;
mod heat;
mod layout;
mod measure;
mod palette;
mod path;
mod plot;
mod shapes;
mod small_texts;
#[cfg(test)]
mod tests;

pub(crate) use context::FigureContext;
pub(crate) use escape::{escaped, visible};

use canvas::Canvas;
use layout::Layout;

use crate::figure::Figure;

/// Paints a figure as an SVG file.
pub fn svg(figure: &Figure) -> String {
    painted(figure, FigureContext::File) + "\n"
}

/// Paints a figure.
pub(crate) fn painted(figure: &Figure, context: FigureContext<'_>) -> String {
    let layout = Layout::of(figure, context);
    let attributes = match context {
        FigureContext::File => " color=\"#1a1a1a\"".to_owned(),
        FigureContext::Page(_) => data::figure_attributes(figure, &layout),
    };
    let mut canvas = Canvas::new(figure, layout.size, context, &attributes);
    if context == FigureContext::File {
        frame::write_headings(&mut canvas, &layout);
    }
    if figure.missing.is_some() {
        frame::write_reason(&mut canvas, figure, &layout);
    } else {
        frame::write_axes(&mut canvas, figure, &layout);
        canvas.part("data-part=\"marks\"", |canvas| {
            for mark in &figure.marks {
                let attributes = data::mark_attributes(figure, mark);
                canvas.part(&attributes, |canvas| shapes::write(canvas, figure, &layout, mark));
            }
        });
        canvas.labels(|canvas| frame::write_labels(canvas, figure, &layout));
        frame::write_legend(&mut canvas, &layout);
    }
    canvas.into_text()
}
