//! Estimated widths of texts. The font is chosen by the reader's browser.

use unicode_width::UnicodeWidthChar;

/// Mean width of a character of one column, as a fraction of its height. Digits have 0.56 in most
/// sans-serif fonts, capitals more.
const COLUMN_WIDTH: f64 = 0.58;

/// Width of the widest letters, as a fraction of their height.
const WIDEST_LETTER: f64 = 0.95;

/// Estimates the width of a text of this height, in pixels.
pub(super) fn width(text: &str, height: f64) -> f64 {
    text.chars().map(|character| character_width(character, height)).sum()
}

fn character_width(character: char, height: f64) -> f64 {
    match character {
        // A control character is shown as a code of eight characters.
        code if base::is_terminal_control(code) => 8.0 * COLUMN_WIDTH * height,
        // Wide letters of labels. An underestimated label would be cut off at the edge, and might
        // be mistaken for a different one.
        '%' | '+' | '−' | 'm' | 'M' | 'W' => WIDEST_LETTER * height,
        other => other.width().unwrap_or(0) as f64 * COLUMN_WIDTH * height,
    }
}

/// Cuts a text with letters of this height to `room` pixels; a text that was cut ends with `…`.
pub(super) fn cut(text: &str, height: f64, room: f64) -> String {
    if width(text, height) <= room {
        return text.to_owned();
    }
    let mut left = room - COLUMN_WIDTH * height;
    let mut short = String::new();
    for character in text.chars() {
        left -= character_width(character, height);
        if left < 0.0 {
            break;
        }
        short.push(character);
    }
    short.truncate(short.trim_end().len());
    short + "…"
}
