//! Widths and colours of texts.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::page::Tone;

/// Returns the parameters of the escape sequence "select graphic rendition" (ECMA-48, 8.3.117) for
/// a tone.
pub(super) fn sequence(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Strong => "1",
        Tone::Quiet => "2",
        Tone::Good => "1;32",
        Tone::Doubtful => "1;33",
        Tone::Bad => "1;31",
    }
}

/// Returns the number of terminal columns of a text.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Pads the text with blanks up to a width.
pub(super) fn padded(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// Returns the text on one line: line ends and repeated blanks become one blank each.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts the text on one line and cuts it to a width in columns; a text that was cut ends with `…`.
pub(crate) fn cut(text: &str, width: usize) -> String {
    cut_line(&one_line(text), width)
}

/// Cuts a line to a width in columns; a line that was cut ends with `…`.
pub(crate) fn cut_line(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let mut short = String::new();
    let mut room = width.saturating_sub(1);
    for character in line.chars() {
        let needed = character.width().unwrap_or(0);
        if needed > room {
            break;
        }
        room -= needed;
        short.push(character);
    }
    // Some characters are wider together than separately.
    while columns(&short) + 1 > width && short.pop().is_some() {}
    short.truncate(short.trim_end().len());
    short + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_width() {
        assert_eq!(cut("select  1\n from t", 20), "select 1 from t");
        assert_eq!(cut("select 1 from t", 10), "select 1…");
        assert_eq!(cut("表表表表", 5), "表表…");
        let clouds = "☁\u{fe0f}".repeat(4);
        assert_eq!(columns(&cut(&clouds, 5)), 5, "a cloud in colour takes two columns");
    }
}
