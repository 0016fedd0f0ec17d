//! Contrasts of the texts of figures and pages, by their colours.

use super::palette::PLAIN;
use super::tests::full_figure;
use super::{FigureContext, painted, svg};

/// Minimum contrast of texts (WCAG 2.2, 1.4.3).
const LEAST_CONTRAST: f64 = 4.5;

/// The style of pages.
const STYLE: &str = include_str!("../html/style.css");

/// A colour: red, green and blue, each from 0 to 255.
pub(super) type Rgb = [f64; 3];

/// Reads a colour such as `#1a1a1a` or `#000`.
pub(super) fn rgb(text: &str) -> Rgb {
    let digits = text.strip_prefix('#').unwrap();
    let size = digits.len() / 3;
    [0, 1, 2].map(|place| {
        let part = &digits[place * size..][..size];
        f64::from(u8::from_str_radix(&part.repeat(2 / size), 16).unwrap())
    })
}

/// Returns the contrast of two colours (WCAG 2.2).
pub(super) fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

/// Returns the relative luminance of a colour (WCAG 2.2).
fn luminance(color: Rgb) -> f64 {
    let [red, green, blue] = color.map(|value| {
        let value = value / 255.0;
        match value <= 0.04045 {
            true => value / 12.92,
            false => ((value + 0.055) / 1.055).powf(2.4),
        }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Returns the colour that a translucent colour has on a background.
fn on_ground(color: Rgb, opacity: f64, ground: Rgb) -> Rgb {
    [0, 1, 2].map(|part| opacity * color[part] + (1.0 - opacity) * ground[part])
}

/// Returns the colours of each mode of pages by their names: light, dark and print.
fn modes() -> Vec<Vec<(&'static str, Rgb)>> {
    let blocks = STYLE.split(":root{").skip(1).map(|rest| rest.split('}').next().unwrap());
    let colors = |block: &'static str| {
        let rules = block.split(';').filter_map(|rule| rule.strip_prefix("--")?.split_once(':'));
        rules.map(|(name, value)| (name, rgb(value))).collect()
    };
    blocks.map(colors).collect()
}

fn attribute<'t>(element: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

/// Returns the least contrast of the texts of a painted figure on a background, where
/// `currentColor` is `ink`.
fn least_text_contrast(svg: &str, ink: Rgb, ground: Rgb) -> f64 {
    let texts = svg.split("<text ").skip(1).map(|text| text.split('>').next().unwrap());
    let contrasts = texts.map(|text| {
        let text = format!(" {text}");
        let color = match attribute(&text, "fill") {
            None | Some(PLAIN) => ink,
            Some(color) => rgb(color),
        };
        let opacity = attribute(&text, "fill-opacity").map_or(1.0, |it| it.parse().unwrap());
        contrast(on_ground(color, opacity, ground), ground)
    });
    contrasts.fold(f64::INFINITY, f64::min)
}

#[test]
fn texts_of_figures_are_legible_on_light_and_dark_pages_and_on_paper() {
    assert!((contrast(rgb("#000"), rgb("#ffffff")) - 21.0).abs() < 1e-9);
    let modes = modes();
    assert_eq!(modes.len(), 3);
    for colors in modes {
        let color = |name: &str| colors.iter().find(|(known, _)| *known == name).unwrap().1;
        for ground in ["ground", "panel"].map(color) {
            let figure = painted(&full_figure(), FigureContext::Page("f"));
            let least = least_text_contrast(&figure, color("ink"), ground);
            assert!(least >= LEAST_CONTRAST && least.is_finite(), "{least:.2} on {ground:?}");
            for name in ["ink", "soft", "good", "doubt", "bad"] {
                let found = contrast(color(name), ground);
                assert!(found >= LEAST_CONTRAST, "{name} on {ground:?}: {found:.2}");
            }
        }
    }
    let file = svg(&full_figure());
    let ink = rgb(attribute(&file, "color").unwrap());
    assert!(least_text_contrast(&file, ink, rgb("#ffffff")) >= LEAST_CONTRAST);
}
