//! Colours of inks.
//!
//! The hues come from Okabe and Ito ("Color Universal Design", 2008), and people with any kind of
//! colour blindness can distinguish them. Orange, sky blue and reddish purple are darker, and
//! yellow is missing: every colour then has a contrast of at least 3:1 (WCAG 2.2, 1.4.11) on white
//! paper and on the dark background of a page. In grey print, lines are distinguished by their
//! strokes, and areas by their order, which is that of the legend.

use crate::figure::Ink;

/// Colours of series, in their order.
const SERIES: [&str; Ink::HUES] =
    ["#0072b2", "#d55e00", "#009e73", "#b8689a", "#b57a00", "#2e8fc4"];

/// Ink of the page.
pub(super) const PLAIN: &str = "currentColor";

const QUIET: &str = "#7d7d7d";
const DOUBTFUL: &str = "#b57a00";
const BAD: &str = "#d55e00";

/// Returns the colour of an ink.
pub(super) fn color(ink: Ink) -> &'static str {
    match ink {
        Ink::Series(number) => SERIES[number % SERIES.len()],
        Ink::Plain => PLAIN,
        Ink::Quiet => QUIET,
        Ink::Doubtful => DOUBTFUL,
        Ink::Bad => BAD,
    }
}

#[cfg(test)]
mod tests {
    use super::super::contrast::{contrast, rgb};
    use super::*;

    /// The backgrounds of pages and paper.
    const GROUNDS: [&str; 2] = ["#ffffff", "#15181c"];

    #[test]
    fn colors_are_visible_on_paper_and_on_dark_pages() {
        for color in SERIES.into_iter().chain([QUIET, DOUBTFUL, BAD]) {
            for ground in GROUNDS {
                let contrast = contrast(rgb(color), rgb(ground));
                assert!(contrast >= 3.0, "{color} on {ground}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn series_have_different_colors() {
        let mut colors = SERIES.to_vec();
        colors.sort_unstable();
        colors.dedup();
        assert_eq!(colors.len(), SERIES.len());
    }
}
