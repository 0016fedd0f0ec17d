//! A figure with its layout: the places of its values.

use super::layout::Layout;
use super::path::PixelPoint;
use crate::figure::Figure;

/// A figure with its layout.
pub(super) struct Plot<'a> {
    pub(super) figure: &'a Figure,
    pub(super) layout: &'a Layout,
}

impl Plot<'_> {
    /// Returns the place of a point, at the edge of the plot if it lies beyond an axis.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<PixelPoint> {
        Some(PixelPoint { x: self.layout.x(self.figure, x)?, y: self.layout.y(self.figure, y)? })
    }
}
