//! Strokes that distinguish the lines of a figure without their colours.

use super::Figure;
use super::mark::{Ink, Mark, Stroke, Swatch};

/// A line of a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    ink: Ink,
    stroke: Stroke,
}

impl Figure {
    /// Gives each line of the legend its own stroke. Of several lines with the same stroke, the
    /// first keeps it, and the others get strokes that no line has. With more lines than strokes,
    /// no two lines have both the stroke and the colour in common.
    pub(crate) fn with_distinct_strokes(mut self) -> Figure {
        let wanted: Vec<Line> = self.legend.iter().filter_map(line_of_entry).collect();
        let strokes = distinct_strokes(&wanted);
        let given = |line: Line| {
            let place = wanted.iter().position(|other| *other == line);
            place.map_or(line.stroke, |place| strokes[place])
        };
        for mark in &mut self.marks {
            if let Mark::Line { ink, stroke, .. } | Mark::Steps { ink, stroke, .. } = mark {
                *stroke = given(Line { ink: *ink, stroke: *stroke });
            }
        }
        for entry in &mut self.legend {
            if let Swatch::Line(stroke) = &mut entry.swatch {
                *stroke = given(Line { ink: entry.ink, stroke: *stroke });
            }
        }
        self
    }
}

fn line_of_entry(entry: &super::LegendEntry) -> Option<Line> {
    match entry.swatch {
        Swatch::Line(stroke) => Some(Line { ink: entry.ink, stroke }),
        Swatch::Area
        | Swatch::Spread
        | Swatch::Cell(_)
        | Swatch::Dot
        | Swatch::Speck
        | Swatch::Interval
        | Swatch::ErrorBar
        | Swatch::Symbol(_) => None,
    }
}

/// Returns a stroke for each line: its own, or another one if an earlier line has the same stroke.
fn distinct_strokes(wanted: &[Line]) -> Vec<Stroke> {
    let is_first =
        |place: usize| !wanted[..place].iter().any(|it| it.stroke == wanted[place].stroke);
    let own_stroke = |place: usize| is_first(place).then_some(wanted[place].stroke);
    let mut given: Vec<Option<Stroke>> = (0..wanted.len()).map(own_stroke).collect();
    for place in 0..wanted.len() {
        if given[place].is_none() {
            given[place] = Some(rarest_stroke(wanted[place].ink, wanted, &given));
        }
    }
    given.into_iter().flatten().collect()
}

/// Returns the stroke that the fewest lines of this colour have. Of several such strokes, it is the
/// one that the fewest lines of any colour have.
fn rarest_stroke(ink: Ink, wanted: &[Line], given: &[Option<Stroke>]) -> Stroke {
    let uses = |stroke: Stroke| {
        let lines = wanted.iter().zip(given).filter(|(_, it)| **it == Some(stroke));
        let of_color = lines.clone().filter(|(line, _)| line.ink.hue() == ink.hue()).count();
        (of_color, lines.count())
    };
    Stroke::ALL.into_iter().min_by_key(|stroke| uses(*stroke)).unwrap_or(Stroke::Solid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: usize, stroke: Stroke) -> Line {
        Line { ink: Ink::Series(number), stroke }
    }

    #[test]
    fn first_line_keeps_its_stroke_and_others_get_free_ones() {
        use Stroke::{DashDotted, Dashed, Dotted, LongDashed, Solid};
        let jobs = [line(0, Solid), line(0, Dotted), line(1, Solid), line(1, Dotted)];
        assert_eq!(distinct_strokes(&jobs), [Solid, Dotted, Dashed, DashDotted]);
        let usual = [line(0, Solid), line(1, Dashed), line(2, DashDotted), line(3, Dotted)];
        assert_eq!(distinct_strokes(&usual), usual.map(|it| it.stroke));
        let all_wanted = [line(0, Solid), line(1, Solid), line(2, Dashed), line(3, Solid)];
        assert_eq!(distinct_strokes(&all_wanted), [Solid, DashDotted, Dashed, LongDashed]);
    }

    #[test]
    fn lines_beyond_the_strokes_differ_in_stroke_or_color() {
        let solid: Vec<Line> = (0..40).map(|number| line(number, Stroke::Solid)).collect();
        let pairs: Vec<Line> = (0..20)
            .flat_map(|number| [line(number, Stroke::Solid), line(number, Stroke::Dotted)])
            .collect();
        for wanted in [solid, pairs] {
            let given = distinct_strokes(&wanted);
            let looks: Vec<(Ink, Stroke)> =
                wanted.iter().zip(&given).map(|(line, stroke)| (line.ink.hue(), *stroke)).collect();
            for (place, look) in looks.iter().enumerate() {
                assert!(!looks[..place].contains(look), "{place}: {look:?} in {looks:?}");
            }
            let mut first = given[..Stroke::ALL.len()].to_vec();
            first.sort_by_key(|stroke| Stroke::ALL.iter().position(|it| it == stroke));
            assert_eq!(first, Stroke::ALL, "the first lines differ in print");
        }
    }
}
