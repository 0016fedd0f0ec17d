//! Figures as pixels: the SVG file of a figure, rendered with a font that is part of the program.
//! The bytes are the same on every machine.

use std::io::Read as _;

use flate2::read::DeflateDecoder;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::figure::Figure;
use crate::svg::svg;

/// Liberation Sans 2, under the SIL Open Font License 1.1 (`fonts/LICENSE`), compressed.
const FONT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/font.deflate"));

/// Family of the font.
const FAMILY: &str = "Liberation Sans";

/// Pixels of the picture for each pixel of the figure, for high-resolution screens and for print.
const SCALE: u32 = 2;

/// Renders a figure as a PNG file on a white background. A character that the font does not have
/// becomes a box.
pub fn png(figure: &Figure) -> Vec<u8> {
    let mut options = Options { font_family: FAMILY.to_owned(), ..Options::default() };
    let fonts = options.fontdb_mut();
    let mut font = Vec::new();
    DeflateDecoder::new(FONT).read_to_end(&mut font).expect("the font was compressed by the build");
    fonts.load_font_data(font);
    fonts.set_sans_serif_family(FAMILY);
    let tree = Tree::from_str(&svg(figure), &options).expect("a figure is well-formed SVG");
    let size = tree.size().to_int_size();
    let (width, height) = (SCALE * size.width(), SCALE * size.height());
    let mut picture = Pixmap::new(width, height).expect("a figure has a size");
    let scale = SCALE as f32;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().expect("a picture in memory is encoded")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Unit};

    fn figure(title: &str) -> Figure {
        Figure {
            name: "a".to_owned(),
            title: title.to_owned(),
            caption: "A sentence.".to_owned(),
            x: Axis::time(0.0, 10.0),
            y: Axis::from_zero("requests", Unit::Number, 10.0),
            marks: Vec::new(),
            legend: Vec::new(),
            missing: None,
        }
    }

    #[test]
    fn picture_is_a_png_of_twice_the_size_with_its_texts() {
        let bytes = png(&figure("Throughput"));
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(number(16), 960, "the width");
        assert_eq!(bytes, png(&figure("Throughput")), "the same figure, the same bytes");
        assert_ne!(bytes, png(&figure("Response")), "texts are drawn");
    }

    #[test]
    fn texts_from_outside_are_drawn_or_boxes() {
        for title in ["<b>&\u{202e}x\u{0}", "表 😀 مرحبا", ""] {
            assert_eq!(png(&figure(title))[..4], *b"\x89PNG");
        }
    }
}
