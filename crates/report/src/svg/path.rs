//! Paths of shapes, in few bytes. An outline begins at an absolute position, and each further
//! position is relative to the previous one. The script of a page can move these positions to other
//! axes. The outline of a symbol is relative to the symbol's point, and keeps its size.

/// A point in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PixelPoint {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Number of parts of a pixel that a coordinate distinguishes. Such small parts are needed because
/// a page can enlarge a part of a figure to the whole width.
const PARTS_PER_PIXEL: f64 = 100.0;

/// A writer of the data of a path element.
#[derive(Default)]
pub(super) struct Path {
    out: String,
    /// The last point, in units of 1/[`PARTS_PER_PIXEL`] pixel.
    at: [i64; 2],
    /// The point at which the last outline began, in the same unit.
    begin: [i64; 2],
    command: Option<char>,
}

impl Path {
    pub(super) fn into_text(self) -> String {
        self.out
    }

    /// Begins an outline.
    pub(super) fn move_to(&mut self, point: PixelPoint) {
        let to = parts(point);
        self.command('M', &to);
        self.at = to;
        self.begin = to;
    }

    /// Draws a straight line.
    pub(super) fn line_to(&mut self, point: PixelPoint) {
        let to = parts(point);
        let by = [to[0] - self.at[0], to[1] - self.at[1]];
        match by {
            [across, 0] => self.command('h', &[across]),
            [0, down] => self.command('v', &[down]),
            both => self.command('l', &both),
        }
        self.at = to;
    }

    /// Draws a line of length zero. Round line ends turn it into a dot as wide as the line.
    pub(super) fn dot(&mut self) {
        self.command('h', &[0]);
    }

    /// Draws a disc at the last point: a dot and a ring around it. The disc is wider than a thin
    /// line.
    pub(super) fn disc(&mut self) {
        self.outline("m0,0h0m-1.5,0a1.5,1.5,0,1,0,3,0a1.5,1.5,0,1,0-3,0z");
    }

    /// Closes the outline.
    pub(super) fn close(&mut self) {
        self.command('z', &[]);
        self.at = self.begin;
    }

    /// Draws a rectangle.
    pub(super) fn rectangle(&mut self, [left, right]: [f64; 2], [top, bottom]: [f64; 2]) {
        self.move_to(PixelPoint { x: left, y: top });
        self.line_to(PixelPoint { x: right, y: top });
        self.line_to(PixelPoint { x: right, y: bottom });
        self.line_to(PixelPoint { x: left, y: bottom });
        self.close();
    }

    /// Draws an outline of relative commands around a point.
    pub(super) fn around(&mut self, point: PixelPoint, outline: &str) {
        self.move_to(point);
        self.outline(outline);
    }

    /// Draws an outline of relative commands around the last point.
    fn outline(&mut self, outline: &str) {
        self.out.push_str(outline);
        self.command = None;
    }

    fn command(&mut self, letter: char, numbers: &[i64]) {
        let is_repeated = self.command == Some(letter) && letter != 'M' && letter != 'z';
        if !is_repeated {
            self.out.push(letter);
        }
        for (place, value) in numbers.iter().enumerate() {
            let is_first = place == 0 && !is_repeated;
            if !is_first && *value >= 0 {
                self.out.push(',');
            }
            self.out.push_str(&number(*value));
        }
        self.command = Some(letter);
    }
}

fn parts(point: PixelPoint) -> [i64; 2] {
    [point.x, point.y].map(|value| (value * PARTS_PER_PIXEL).round() as i64)
}

/// Formats a number of 1/[`PARTS_PER_PIXEL`] pixels as pixels, without trailing zeros.
fn number(parts: i64) -> String {
    let sign = if parts < 0 { "-" } else { "" };
    let (whole, rest) = (parts.unsigned_abs() / 100, parts.unsigned_abs() % 100);
    let whole = if whole == 0 && rest > 0 { String::new() } else { whole.to_string() };
    match rest {
        0 => format!("{sign}{whole}"),
        rest if rest.is_multiple_of(10) => format!("{sign}{whole}.{}", rest / 10),
        rest => format!("{sign}{whole}.{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_relative_and_short() {
        let mut path = Path::default();
        let point = |x, y| PixelPoint { x, y };
        path.move_to(point(10.0, 20.0));
        path.line_to(point(10.5, 17.75));
        path.line_to(point(12.0, 18.0));
        path.line_to(point(13.0, 18.0));
        path.line_to(point(13.0, 9.004));
        path.move_to(point(0.0, 0.0));
        path.dot();
        assert_eq!(path.into_text(), "M10,20l.5-2.25,1.5,.25h1v-9M0,0h0");
    }

    #[test]
    fn rounding_does_not_add_up() {
        let mut path = Path::default();
        path.move_to(PixelPoint { x: 0.0, y: 0.0 });
        for step in 1..=300 {
            path.line_to(PixelPoint { x: f64::from(step) * 0.334, y: 1.0 });
        }
        assert_eq!(path.at, [10_020, 100]);
    }

    #[test]
    fn closed_outline_ends_where_it_began() {
        let mut path = Path::default();
        path.rectangle([1.0, 3.0], [5.0, 9.0]);
        assert_eq!(path.at, [100, 500]);
        path.line_to(PixelPoint { x: 1.0, y: 6.0 });
        assert_eq!(path.into_text(), "M1,5h2v4h-2zv1");
    }
}
