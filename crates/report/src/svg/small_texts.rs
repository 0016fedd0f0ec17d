//! Placement of small texts above or below their points. If a text would touch the text of another
//! point at the same height, it moves to a row farther from its point.

use super::measure::{cut, width};
use crate::figure::{Figure, Mark, Point};

/// Height of small texts, in pixels.
pub(super) const SMALL: f64 = 10.0;

/// Distance between the rows of small texts, in pixels.
const ROW_DISTANCE: f64 = 11.0;

/// Minimum distance between two texts in a row, in pixels.
const GAP: f64 = 6.0;

/// Distance between the point and the base line of a text above it, in pixels. The next constant is
/// the distance for a text below it.
const DISTANCE_ABOVE: f64 = 13.0;
const DISTANCE_BELOW: f64 = 20.0;

/// A small text with its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SmallText {
    /// Left end, in pixels.
    pub(super) left: f64,
    /// Number of rows between the text and its point.
    pub(super) row: usize,
    /// The text, cut to the width of the plot.
    pub(super) text: String,
    /// The point that the text belongs to.
    pub(super) at: Point,
    is_below: bool,
}

impl SmallText {
    /// Returns the position of the base line, relative to the point, in pixels.
    pub(super) fn offset(&self) -> f64 {
        let rows = self.row as f64 * ROW_DISTANCE;
        if self.is_below { DISTANCE_BELOW + rows } else { -DISTANCE_ABOVE - rows }
    }

    fn right(&self) -> f64 {
        self.left + width(&self.text, SMALL)
    }

    /// Returns true if two texts would touch if they were in the same row.
    fn touches(&self, other: &SmallText) -> bool {
        let is_beside = self.at.y == other.at.y && self.is_below == other.is_below;
        is_beside && self.left < other.right() + GAP && other.left < self.right() + GAP
    }
}

/// Returns the small texts of a figure whose plot has these ends, in the order of their marks. A
/// text whose point has no position is left out.
pub(super) fn small_texts(figure: &Figure, [left, right]: [f64; 2]) -> Vec<SmallText> {
    let mut placed: Vec<SmallText> = Vec::new();
    for mark in &figure.marks {
        let Mark::Text { at, is_below, text } = mark else { continue };
        let Some(x) = figure.x.place(at.x) else { continue };
        let text = cut(text, SMALL, right - left);
        let begin = left + x * (right - left);
        let left = begin.min(right - width(&text, SMALL)).max(left);
        let mut one = SmallText { left, row: 0, text, at: *at, is_below: *is_below };
        let touching: Vec<&SmallText> = placed.iter().filter(|other| one.touches(other)).collect();
        one.row = (0..).find(|row| touching.iter().all(|it| it.row != *row)).unwrap_or_default();
        placed.push(one);
    }
    placed
}

/// Returns the height that the further rows of the texts need above and below each point, in
/// pixels.
pub(super) fn further_height(texts: &[SmallText]) -> f64 {
    let rows = texts.iter().map(|text| text.row).max().unwrap_or_default();
    2.0 * ROW_DISTANCE * rows as f64
}
