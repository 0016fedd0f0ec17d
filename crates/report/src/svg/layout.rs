//! The layout of a figure: the positions of its plot, its legend and its texts.

use super::canvas::{Size, TEXT, TITLE};
use super::context::FigureContext;
use super::measure::{cut, width};
use super::path::PixelPoint;
use super::small_texts::{SmallText, further_height, small_texts};
use crate::figure::{Figure, LegendEntry, Scale};

/// Width of every figure, in pixels. It is small enough to keep the texts legible on a phone.
pub(super) const WIDTH: f64 = 480.0;

/// Width of the sample in an entry of a legend, in pixels.
pub(super) const SWATCH_WIDTH: f64 = 30.0;

/// Height of a plot, in pixels, unless its vertical axis has categories. A figure without data has
/// half of this height.
const PLOT_HEIGHT: f64 = 200.0;

/// Height of a category with a row of small texts above and below its marks, in pixels.
const CATEGORY_HEIGHT: f64 = 48.0;

/// Height of a line of text, in pixels.
pub(super) const LINE: f64 = 16.0;

/// Maximum width of the labels of a vertical axis, in pixels.
const WIDEST_LABEL: f64 = 170.0;

/// Height of a line in the label of a vertical axis, in pixels.
pub(super) const LABEL_LINE_HEIGHT: f64 = 14.0;

/// Maximum number of letters of a short word that should not be alone on a line: `of`, `at`, `in`.
const LONGEST_STRAY: usize = 2;

/// Maximum number of lines of a title in a figure that is a file.
const MOST_TITLE_LINES: usize = 2;

/// Maximum number of lines of a caption in a figure that is a file.
const MOST_LINES: usize = 5;

/// The positions of the parts of a figure, in pixels.
pub(super) struct Layout {
    pub(super) size: Size,
    /// Left edge of the plot; the next three fields are its right, top and bottom edges.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Lines of title and caption, each with its start and the height of its letters.
    pub(super) headings: Vec<(PixelPoint, f64, String)>,
    pub(super) title_of_y: PixelPoint,
    /// Entries of the legend, each with its position and its text, which may be cut.
    pub(super) legend: Vec<(PixelPoint, LegendEntry, String)>,
    pub(super) small_texts: Vec<SmallText>,
}

impl Layout {
    pub(super) fn of(figure: &Figure, context: FigureContext<'_>) -> Layout {
        let (headings, mut y) = headings(figure, context);
        let labels = figure.y.ticks.iter().flat_map(|tick| label_lines(&tick.label));
        let widest = labels.map(|line| width(&line, TEXT)).fold(0.0, f64::max);
        let left = if figure.missing.is_some() { 12.0 } else { (widest + 10.0).max(24.0) };
        let right = WIDTH - 14.0;
        let legend = match figure.missing {
            Some(_) => Vec::new(),
            None => legend(&figure.legend, y + 12.0),
        };
        y = legend.last().map_or(y, |(point, ..)| point.y + 4.0);
        let title_of_y = PixelPoint { x: 2.0, y: y + 13.0 };
        let has_title = figure.missing.is_none() && !figure.y.title.is_empty();
        y += if has_title { LINE + 8.0 } else { 8.0 };
        let small_texts = small_texts(figure, [left, right]);
        let category = CATEGORY_HEIGHT + further_height(&small_texts);
        let plot = match (figure.y.scale, figure.missing.is_some()) {
            (_, true) => PLOT_HEIGHT / 2.0,
            (Scale::Category, false) => category * figure.y.ticks.len().max(1) as f64,
            (_, false) => PLOT_HEIGHT,
        };
        let bottom = y + plot;
        let below = match (figure.missing.is_some(), figure.x.title.is_empty()) {
            (true, _) => 4.0,
            (false, true) => LINE + 8.0,
            (false, false) => 2.0 * LINE + 8.0,
        };
        let size = Size { width: WIDTH, height: bottom + below };
        Layout { size, left, right, top: y, bottom, headings, title_of_y, legend, small_texts }
    }

    /// Returns the horizontal position of a value, in pixels; `None` if the value has no position.
    pub(super) fn x(&self, figure: &Figure, value: f64) -> Option<f64> {
        Some(self.left + figure.x.place(value)? * (self.right - self.left))
    }

    /// Returns the vertical position of a value, in pixels; `None` if the value has no position.
    pub(super) fn y(&self, figure: &Figure, value: f64) -> Option<f64> {
        Some(self.bottom - figure.y.place(value)? * (self.bottom - self.top))
    }
}

/// Returns the lines of title and caption of a file, and the vertical position below them.
fn headings(figure: &Figure, context: FigureContext<'_>) -> (Vec<(PixelPoint, f64, String)>, f64) {
    let mut y = 0.0;
    let mut headings = Vec::new();
    if context != FigureContext::File {
        return (headings, y);
    }
    y += 22.0 - LINE;
    for line in wrap_at_most(&figure.title, TITLE, WIDTH - 24.0, MOST_TITLE_LINES) {
        y += LINE;
        headings.push((PixelPoint { x: 12.0, y }, TITLE, line));
    }
    if figure.missing.is_none() {
        for line in wrap_at_most(&figure.caption, TEXT, WIDTH - 24.0, MOST_LINES) {
            y += LINE;
            headings.push((PixelPoint { x: 12.0, y }, TEXT, line));
        }
    }
    (headings, y + 6.0)
}

/// Places the entries of a legend in rows.
fn legend(entries: &[LegendEntry], top: f64) -> Vec<(PixelPoint, LegendEntry, String)> {
    let mut point = PixelPoint { x: 2.0, y: top };
    let mut placed = Vec::with_capacity(entries.len());
    for entry in entries {
        let text = cut(&entry.text, TEXT, WIDTH - SWATCH_WIDTH - 24.0);
        let needed = SWATCH_WIDTH + 5.0 + width(&text, TEXT);
        if point.x > 2.0 && point.x + needed > WIDTH - 2.0 {
            point = PixelPoint { x: 2.0, y: point.y + LINE };
        }
        placed.push((point, entry.clone(), text));
        point.x += needed + 14.0;
    }
    placed
}

/// Wraps a text with letters of this height into lines of at most `room` pixels; words that are too
/// long are cut.
pub(super) fn wrap(text: &str, height: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, height) + width(word, height) + height / 2.0 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, height, room)),
        }
    }
    lines
}

/// Wraps a text into at most `most` lines. If it needs more, the last of them has the rest of the
/// text, cut to its width.
fn wrap_at_most(text: &str, height: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines = wrap(text, height, room);
    if lines.len() > most {
        let rest = lines.split_off(most - 1).join(" ");
        lines.push(cut(&rest, height, room));
    }
    lines
}

/// Maximum number of pieces of a label for which all divisions into lines are compared. The number
/// of divisions is half the square of the number of pieces, and a name may have any length.
const MOST_PIECES: usize = 40;

/// Returns the lines of a label of a vertical axis: one line if the label fits on it, otherwise at
/// most three that show as much of the label as possible. If there is a choice, no short word such
/// as `of` is alone on a line, line breaks of the label are kept, and the lines are few and of
/// similar widths.
pub(super) fn label_lines(label: &str) -> Vec<String> {
    let whole = label.replace('\n', " ");
    if width(&whole, TEXT) <= WIDEST_LABEL {
        return vec![whole];
    }
    let pieces: Vec<Piece<'_>> = label.split('\n').flat_map(pieces).collect();
    let end = pieces.len();
    if end > MOST_PIECES {
        return wrap_at_most(&whole, TEXT, WIDEST_LABEL, 3);
    }
    let breaks = (0..=end).flat_map(|first| (first..=end).map(move |second| [first, second]));
    let divided = breaks.map(|[first, second]| {
        let lines = [&pieces[..first], &pieces[first..second], &pieces[second..]];
        lines.into_iter().filter(|line| !line.is_empty())
    });
    let best = divided.min_by_key(|lines| penalties(lines.clone()));
    best.into_iter().flatten().map(|line| cut(&join_pieces(line), TEXT, WIDEST_LABEL)).collect()
}

/// A part of a label that is never divided: a word, or the part of a word before its parenthesis,
/// or from the parenthesis on. The job of a metric such as `response.p99(read)` may therefore have
/// its own line; if it were cut, it might be mistaken for a different job.
#[derive(Clone, Copy, Debug)]
struct Piece<'t> {
    text: &'t str,
    /// Space before the piece within a line; empty if it continues a word.
    space: &'static str,
    /// True for the first piece after a line break of the label itself.
    begins_line: bool,
}

/// Divides a line of the label into pieces.
fn pieces(line: &str) -> impl Iterator<Item = Piece<'_>> {
    line.split_whitespace().enumerate().flat_map(|(place, word)| {
        let (name, rest) = word.split_at(word.find('(').unwrap_or(word.len()));
        let space = if name.is_empty() { " " } else { "" };
        let name = Piece { text: name, space: " ", begins_line: place == 0 };
        let rest = Piece { text: rest, space, begins_line: place == 0 && name.text.is_empty() };
        [name, rest].into_iter().filter(|piece| !piece.text.is_empty())
    })
}

fn join_pieces(line: &[Piece<'_>]) -> String {
    let text: String = line.iter().flat_map(|piece| [piece.space, piece.text]).collect();
    text.trim_start().to_owned()
}

/// Returns the penalties of a division of a label into lines, the most important first: pixels that
/// do not fit, short words such as `of` alone on a line, lost line breaks of the label, the number
/// of lines, and the width of the widest line in pixels.
fn penalties<'p>(lines: impl Iterator<Item = &'p [Piece<'p>]>) -> [u64; 5] {
    let mut reasons = [0; 5];
    for line in lines {
        let parts = line.iter().enumerate().flat_map(|(place, piece)| {
            let space = if place == 0 { "" } else { piece.space };
            [space, piece.text]
        });
        let pixels: f64 = parts.map(|part| width(part, TEXT)).sum();
        let is_stray = line.len() == 1 && line[0].text.len() <= LONGEST_STRAY;
        let hidden = line[1..].iter().filter(|piece| piece.begins_line).count();
        reasons[0] += (pixels - WIDEST_LABEL).max(0.0).ceil() as u64;
        reasons[1] += u64::from(is_stray);
        reasons[2] += hidden as u64;
        reasons[3] += 1;
        reasons[4] = reasons[4].max(pixels as u64);
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_label_has_its_metric_job_and_arm_on_lines() {
        for (label, expected) in [
            ("throughput(read)\nat 4", &["throughput(read) at 4"][..]),
            ("throughput(read)\nof without-index", &["throughput(read)", "of without-index"]),
            (
                "response.p99_9(checkout)\nof an arm at 16",
                &["response.p99_9", "(checkout)", "of an arm at 16"],
            ),
            (
                "response.p99_9(checkout)\nof an arm with a long name at 8",
                &["response.p99_9", "(checkout) of an arm", "with a long name at 8"],
            ),
            (
                "throughput(read)\nof without_any_index_at_all at 16",
                &["throughput(read) of", "without_any_index_at_…", "at 16"],
            ),
        ] {
            assert_eq!(label_lines(label), expected, "{label}");
        }
        let lines = label_lines(&"a ".repeat(100_000));
        assert!(lines.len() == 3 && lines[2].ends_with('…'), "{lines:?}");
        let job = "x".repeat(300);
        let lines = label_lines(&format!("throughput({job})\nof tls"));
        assert_eq!((lines.len(), lines[2].as_str()), (3, "of tls"), "{lines:?}");
        assert!(lines.iter().all(|line| width(line, TEXT) <= WIDEST_LABEL), "{lines:?}");
    }

    #[test]
    fn title_and_caption_that_are_cut_end_in_an_ellipsis() {
        let long = ["word"; 200].join(" ");
        let lines = wrap_at_most(&long, TEXT, 456.0, MOST_LINES);
        assert_eq!(lines.len(), MOST_LINES);
        assert!(lines[MOST_LINES - 1].ends_with('…'), "{lines:?}");
        let whole = wrap_at_most("Heat map of the job payments_by_card", TITLE, 200.0, 2);
        assert_eq!(whole.join(" "), "Heat map of the job payments_by_card");
    }

    #[test]
    fn long_texts_are_cut_and_wrapped() {
        let long = "x".repeat(300);
        let short = cut(&long, TEXT, 100.0);
        assert!(short.ends_with('…') && width(&short, TEXT) <= 100.0, "{short}");
        assert_eq!(cut("short", TEXT, 100.0), "short");
        assert!(width("+40 %", TEXT) > width("140 k", TEXT));
        let lines = wrap("one two three four", TEXT, 85.0);
        assert_eq!(lines, ["one two", "three four"]);
    }
}
