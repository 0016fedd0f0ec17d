//! Figures without pixels: axes, marks, legend and caption.
//!
//! A [`Figure`] determines everything that is drawn: numbers, scales, ticks, labels and inks. A
//! painter turns positions into coordinates and decides nothing. Values that are not numbers
//! interrupt a line, and a figure without data gives the reason.

mod axis;
mod mark;
mod strokes;
mod thin;
mod ticks;
mod unit;

pub use axis::{Axis, Scale};
pub use mark::{Bar, Extent, HeatCell, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Symbol};
pub(crate) use thin::thin_series_to;
pub use thin::{MOST_POINTS, MOST_SERIES, ThinnedSeries, thin_series};
pub use ticks::Tick;
pub use unit::Unit;

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Name for commands and files: `throughput`, `percentiles.read`.
    pub name: String,
    /// Heading.
    pub title: String,
    /// One sentence about the content.
    pub caption: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Marks, from the back to the front.
    pub marks: Vec<Mark>,
    /// Meaning of the inks, strokes and symbols; may be empty.
    pub legend: Vec<LegendEntry>,
    /// Reason why the figure is empty; `None` if it is not.
    pub missing: Option<String>,
}

impl Figure {
    /// Returns the caption, or the reason why the figure is empty.
    pub fn sentence(&self) -> &str {
        self.missing.as_deref().unwrap_or(&self.caption)
    }

    /// Adds a clause to the caption, which stays one sentence.
    pub(crate) fn add_clause(&mut self, clause: &str) {
        self.caption = with_clause(&self.caption, clause);
    }
}

/// Returns a sentence with one more clause: `A.` and `b` are `A; b.`.
pub(crate) fn with_clause(sentence: &str, clause: &str) -> String {
    format!("{}; {clause}.", sentence.trim_end_matches('.'))
}
