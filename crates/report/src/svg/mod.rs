//! The painter of figures: SVG with presentation attributes only, so that a page may forbid styles
//! and scripts.
//!
//! Text stays text. The bytes depend on the figure alone: numbers have fixed decimals, and nothing
//! is measured or drawn at random. Inside a page, the ink of texts and lines is that of the page
//! (`currentColor`); a figure alone has a white ground, for documents and wikis.

mod canvas;
mod escape;
mod frame;
mod ground;
mod layout;
mod palette;
mod shapes;
#[cfg(test)]
mod tests;

pub(crate) use escape::escaped;
pub(crate) use ground::Ground;

use canvas::Canvas;
use layout::Layout;

use crate::figure::Figure;

/// Paints a figure as an SVG file.
pub fn svg(figure: &Figure) -> String {
    painted(figure, Ground::File) + "\n"
}

/// Paints a figure.
pub(crate) fn painted(figure: &Figure, ground: Ground<'_>) -> String {
    let layout = Layout::of(figure, ground);
    let mut canvas = Canvas::new(figure, layout.size, ground);
    if ground == Ground::File {
        frame::write_headings(&mut canvas, &layout);
    }
    if figure.missing.is_some() {
        frame::write_reason(&mut canvas, figure, &layout);
    } else {
        frame::write_axes(&mut canvas, figure, &layout);
        figure.marks.iter().for_each(|mark| shapes::write(&mut canvas, figure, &layout, mark));
        frame::write_labels(&mut canvas, figure, &layout);
        frame::write_legend(&mut canvas, &layout);
    }
    canvas.into_text()
}
