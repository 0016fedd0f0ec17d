//! A figure with its layout, which maps values to positions.

use super::layout::Layout;
use super::path::PixelPoint;
use crate::figure::Figure;

/// A figure with its layout.
pub(super) struct Plot<'a> {
    pub(super) figure: &'a Figure,
    pub(super) layout: &'a Layout,
}

impl Plot<'_> {
    /// Returns the position of a point; a point beyond an axis is placed at the edge of the plot.
    /// `None` if a coordinate has no position.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<PixelPoint> {
        Some(PixelPoint { x: self.layout.x(self.figure, x)?, y: self.layout.y(self.figure, y)? })
    }
}
