//! Tests of painted figures.

use std::path::Path;

use super::*;
use crate::figure::{
    Axis, Bar, Extent, HeatCell, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Symbol, Unit,
};

/// Returns a figure with every mark.
pub(super) fn full_figure() -> Figure {
    let ink = Ink::Series(0);
    let points = [[1.0, 2.0], [2.0, 4.0], [3.0, f64::NAN], [4.0, 1.0]];
    let points = points.map(|[x, y]| Point { x, y }).to_vec();
    let extents =
        vec![Extent { at: 2.0, low: 1.0, high: 3.0 }, Extent { at: 3.0, low: 1.0, high: 2.0 }];
    let cells = vec![HeatCell { x: [6.0, 7.0], y: [1.0, 2.0], level: 3 }];
    let label = || "warm-up".to_owned();
    let symbols = [
        Symbol::Disc,
        Symbol::Ring,
        Symbol::Square,
        Symbol::Slash,
        Symbol::Cross,
        Symbol::Diamond,
        Symbol::Triangle,
        Symbol::Down,
        Symbol::HollowDisc,
        Symbol::HollowDiamond,
        Symbol::HollowDown,
    ];
    let symbols = (0..).map(f64::from).zip(symbols).map(|(x, symbol)| Mark::Symbols {
        ink: Ink::Series(3),
        symbol,
        points: vec![Point { x, y: 0.5 }],
    });
    let mut marks = vec![
        Mark::Period { ink: Ink::Quiet, from: 0.0, to: 1.0, label: label() },
        Mark::Band { ink, is_solid: false, extents: extents.clone() },
        Mark::Line { ink, stroke: Stroke::Dashed, points: points.clone() },
        Mark::Steps { ink: Ink::Series(1), stroke: Stroke::Solid, points: points.clone() },
        Mark::Dots { ink: Ink::Series(2), points: points.clone() },
        Mark::Specks { ink: Ink::Series(2), points },
        Mark::Bars {
            ink,
            is_solid: true,
            bars: vec![Bar { from: 8.0, to: 9.0, low: 0.0, high: 3.0 }],
        },
        Mark::ErrorBars { ink, extents: vec![Extent { at: 9.5, low: 1.0, high: 99.0 }] },
        Mark::Ranges { ink: Ink::Doubtful, extents: extents.clone() },
        Mark::Intervals { ink: Ink::Plain, extents },
        Mark::Cells { ink, cells },
        Mark::Rule { ink: Ink::Bad, at: 5.0, label: "<outage>".to_owned() },
        Mark::Text { at: Point { x: 9.5, y: 2.0 }, is_below: true, text: "beside <it>".to_owned() },
        Mark::Level { ink: Ink::Plain, at: 4.5, label: "limit".to_owned() },
    ];
    marks.extend(symbols);
    Figure {
        name: "all".to_owned(),
        title: "All marks & <more>".to_owned(),
        caption: "A line, and everything else.".to_owned(),
        x: Axis::time(0.0, 10.0),
        y: Axis::from_zero("requests per second", Unit::Number, 5.0),
        marks,
        legend: vec![LegendEntry::new(ink, Swatch::Line(Stroke::Dashed), "read \u{202e}x")],
        missing: None,
    }
}

/// Compares a text with a file, or writes the file if `UPDATE` is set.
fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/snapshots").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{} differs; run the test once with UPDATE=1", path.display());
}

#[test]
fn figure_with_every_mark_has_these_bytes() {
    check("figure.svg", &svg(&full_figure()));
}

#[test]
fn figures_have_no_styles_and_no_foreign_markup() {
    for text in [svg(&full_figure()), painted(&full_figure(), FigureContext::Page("f1"))] {
        for absent in ["style=", "<style", "<script", "href", "NaN", "inf", "<more>", "\u{202e}"] {
            assert!(!text.contains(absent), "{absent} in {text}");
        }
        assert!(text.contains("<title id=") && text.contains("<desc id="), "{text}");
    }
}

#[test]
fn figure_in_a_page_takes_the_ink_of_the_page() {
    let text = painted(&full_figure(), FigureContext::Page("f1"));
    assert!(!text.contains("#ffffff") && text.contains("currentColor"), "{text}");
    assert!(text.contains("aria-labelledby=\"f1-title f1-desc\""), "{text}");
}

/// Returns the paths of a heat map with these cells: column, row and intensity.
fn heat_map(cells: &[(u32, u32, u8)]) -> Vec<String> {
    let cell = |&(column, row, level): &(u32, u32, u8)| {
        let edges = |at: u32| [at, at + 1].map(f64::from);
        HeatCell { x: edges(column), y: edges(row), level }
    };
    let cells = cells.iter().map(cell).collect();
    let marks = vec![Mark::Cells { ink: Ink::Series(0), cells }];
    let text =
        painted(&Figure { marks, legend: Vec::new(), ..full_figure() }, FigureContext::Page("f"));
    let paths = text.split("<path ").filter(|path| path.contains("#0072b2"));
    paths.map(|path| path.split("/>").next().unwrap().to_owned()).collect()
}

#[test]
fn equal_neighbours_of_a_heat_map_are_one_line_of_their_height() {
    let [path] = &*heat_map(&[(0, 0, 1), (1, 0, 1), (2, 0, 1), (4, 0, 1)]) else { panic!("one") };
    let data = path.split('"').nth(1).unwrap();
    assert_eq!((data.matches('M').count(), data.matches('h').count()), (2, 2), "{path}");
    assert!(path.contains(" stroke-width=\"40.00\" stroke-opacity=\"0.167\""), "{path}");
}

#[test]
fn strong_cells_lie_above_weak_ones() {
    let paths = heat_map(&[(0, 0, 1), (1, 0, 2), (2, 0, 1)]);
    let lines: Vec<usize> = paths.iter().map(|path| path.matches('M').count()).collect();
    assert_eq!(lines, [1, 1], "the weak ones go on below: {paths:?}");
    let opacities = paths.iter().map(|path| {
        let (_, rest) = path.split_once("stroke-opacity=\"").unwrap();
        rest.split('"').next().unwrap().parse::<f64>().unwrap()
    });
    let both = opacities.fold(0.0, |below, above| below + above * (1.0 - below));
    assert!((both - 2.0 / 6.0).abs() < 0.001, "{both}");
}

#[test]
fn rows_of_a_heat_map_may_differ_in_height() {
    let paths = heat_map(&[(0, 0, 1), (0, 4, 1)]);
    assert!(paths[0].contains("stroke-width"), "{paths:?}");
    // The upper cell is cut by the end of the axis.
    let marks = vec![Mark::Cells {
        ink: Ink::Series(0),
        cells: vec![
            HeatCell { x: [0.0, 1.0], y: [0.0, 1.0], level: 1 },
            HeatCell { x: [0.0, 1.0], y: [4.5, 6.0], level: 1 },
        ],
    }];
    let text = painted(&Figure { marks, ..full_figure() }, FigureContext::Page("f"));
    assert!(text.contains("fill-opacity=\"0.167\""), "{text}");
}

#[test]
fn range_and_interval_beyond_the_axis_end_in_an_arrow() {
    let width = |low: f64, high: f64, is_range: bool| {
        let (ink, extents) = (Ink::Series(0), vec![Extent { at: 2.0, low, high }]);
        let mark = match is_range {
            true => Mark::Ranges { ink, extents },
            false => Mark::Intervals { ink, extents },
        };
        let text =
            painted(&Figure { marks: vec![mark], ..full_figure() }, FigureContext::Page("f"));
        let path = text.split("<path d=\"").find(|path| path.contains("#0072b2")).unwrap();
        path.split('"').next().unwrap().matches('l').count()
    };
    for is_range in [true, false] {
        assert_eq!(width(1.0, 9.0, is_range), 0);
        assert_eq!(width(1.0, 99.0, is_range), 1, "an oblique outline at one end");
        assert_eq!(width(-5.0, 99.0, is_range), 2);
    }
}

#[test]
fn label_of_a_narrow_period_has_no_remark() {
    let label = |to: f64| {
        let label = "warm-up, not counted".to_owned();
        let marks = vec![Mark::Period { ink: Ink::Quiet, from: 0.0, to, label }];
        let text = painted(&Figure { marks, ..full_figure() }, FigureContext::Page("f"));
        let found = text.split("<text ").find(|text| text.contains(">warm-up")).unwrap();
        found.split("</text>").next().unwrap().to_owned()
    };
    let [wide, narrow] = [5.0, 1.0].map(label);
    assert!(wide.ends_with(">warm-up, not counted"), "{wide}");
    assert!(narrow.ends_with(">warm-up"), "{narrow}");
}

/// A label may lie on cells of any colour, and close to the lines of a search, so it has an
/// outline.
#[test]
fn labels_have_an_outline_of_the_ground() {
    let in_page = painted(&full_figure(), FigureContext::Page("f"));
    for (text, ground) in [(svg(&full_figure()), "#ffffff"), (in_page, "Canvas")] {
        let outline = format!(" paint-order=\"stroke\" stroke=\"{ground}\" stroke-width=\"3\"");
        let (_, labels) = text.split_once(&outline).unwrap();
        assert!(labels.contains(">warm-up</text>") && labels.contains(">limit</text>"), "{text}");
        assert!(labels.contains(">beside &lt;it&gt;</text>"), "{text}");
    }
}

#[test]
fn description_has_the_range_of_the_axes() {
    let figure =
        Figure { y: Axis::logarithmic("time", Unit::Time, [220e3, 48e6]), ..full_figure() };
    let text = svg(&figure);
    let words = "Horizontal axis: time since the start, 0 s to 10 s. \
                 Vertical axis: time, 200 µs to 50 ms.";
    assert!(text.contains(words), "{text}");
    let names = vec!["throughput(read)".to_owned()];
    let text = svg(&Figure { y: Axis::categories("", &names), ..full_figure() });
    assert!(text.contains(" Vertical axis: throughput(read)."), "{text}");
}

#[test]
fn missing_value_splits_a_line() {
    let ink = Ink::Series(0);
    let ys = [1.0, 2.0, f64::NAN, 3.0, f64::INFINITY, f64::NAN, 4.0];
    let points = (0..).map(f64::from).zip(ys).map(|(x, y)| Point { x, y }).collect();
    let marks = vec![Mark::Line { ink, stroke: Stroke::Solid, points }];
    let text = painted(&Figure { marks, ..full_figure() }, FigureContext::Page("f"));
    let path = text.split("<path d=\"").find(|path| path.contains("#0072b2")).unwrap();
    assert_eq!(path.split('"').next().unwrap().matches('M').count(), 3, "{path}");
    assert!(path.split('"').next().unwrap().ends_with('z'), "a lone point is a disc: {path}");
}

/// Returns the width of the shape that is drawn in the first colour of a figure, in pixels.
fn drawn_width(mark: Mark) -> f64 {
    let picture = Figure { marks: vec![mark], legend: Vec::new(), ..full_figure() };
    let tree = resvg::usvg::Tree::from_str(&svg(&picture), &Default::default()).unwrap();
    let size = tree.size().to_int_size();
    let mut pixels = resvg::tiny_skia::Pixmap::new(size.width(), size.height()).unwrap();
    resvg::render(&tree, Default::default(), &mut pixels.as_mut());
    let is_drawn = |pixel: &resvg::tiny_skia::PremultipliedColorU8| {
        let color = pixel.demultiply();
        i32::from(color.blue()) - i32::from(color.red()) > 20
    };
    let width = size.width() as usize;
    let drawn = pixels.pixels().iter().enumerate().filter(|(_, pixel)| is_drawn(pixel));
    let columns: Vec<usize> = drawn.map(|(place, _)| place % width).collect();
    let ends = columns.iter().min().zip(columns.iter().max());
    ends.map_or(0.0, |(first, last)| (last - first + 1) as f64)
}

#[test]
fn lone_point_of_a_line_or_a_band_is_visible() {
    let ink = Ink::Series(0);
    let points = vec![Point { x: 5.0, y: 2.0 }];
    for stroke in Stroke::ALL {
        let width = drawn_width(Mark::Line { ink, stroke, points: points.clone() });
        assert!(width >= 4.0, "{stroke:?}: {width}");
    }
    let steps = drawn_width(Mark::Steps { ink, stroke: Stroke::Solid, points });
    assert!(steps >= 4.0, "{steps}");
    for is_solid in [false, true] {
        let extents = vec![Extent { at: 5.0, low: 1.0, high: 3.0 }];
        // Of three pixels, those at the edges may be covered in part.
        let width = drawn_width(Mark::Band { ink, is_solid, extents });
        assert!(width >= 2.0, "{is_solid}: {width}");
    }
}

#[test]
fn empty_figure_says_why() {
    let missing = Some("No request ended in an error.".to_owned());
    let text = svg(&Figure { missing, ..full_figure() });
    assert!(text.contains(">No request ended in an error.</text>"), "{text}");
    assert!(!text.contains("stroke-linecap"), "nothing is drawn: {text}");
}

/// Returns the boxes of the small texts of a painted figure, by the widths that the painter
/// estimates: left, right, top and bottom.
fn boxes_of_small_texts(svg: &str) -> Vec<([f64; 4], String)> {
    let texts = svg.split("<text ").skip(1).filter(|text| text.contains("font-size=\"10\""));
    let of = |element: &str| {
        let number = |name: &str| -> f64 {
            let (_, rest) = element.split_once(&format!("{name}=\"")).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let (_, rest) = element.split_once('>').unwrap();
        let text = rest.split('<').next().unwrap().replace("&gt;", ">").replace("&lt;", "<");
        let (x, y) = (number("x"), number("y"));
        ([x, x + measure::width(&text, 10.0), y - 8.0, y + 2.0], text)
    };
    texts.map(of).collect()
}

/// Checks that the small texts next to the points of two categories are all shown, lie within the
/// height of their category and do not overlap.
#[track_caller]
fn check_texts_apart(texts: &[(f64, bool, &str)]) {
    let names = ["throughput(read)", "response.p99(read)"].map(str::to_owned);
    let x = Axis::linear("change", Unit::Change, [-0.25, 0.25]);
    let of_category = |y: f64| {
        let text = move |&(x, is_below, text): &(f64, bool, &str)| Mark::Text {
            at: Point { x, y },
            is_below,
            text: text.to_owned(),
        };
        texts.iter().map(text)
    };
    let marks: Vec<Mark> = of_category(0.0).chain(of_category(1.0)).collect();
    let y = Axis::categories("", &names);
    let figure = Figure { x, y, marks, legend: Vec::new(), ..full_figure() };
    let layout = Layout::of(&figure, FigureContext::File);
    let boxes = boxes_of_small_texts(&svg(&figure));
    assert_eq!(boxes.len(), 2 * texts.len(), "{boxes:?}");
    let middle = (layout.top + layout.bottom) / 2.0;
    for (number, ([left, right, top, bottom], text)) in boxes.iter().enumerate() {
        let ends =
            if number < texts.len() { [layout.top, middle] } else { [middle, layout.bottom] };
        assert!(*left >= layout.left && *right <= layout.right + 0.01, "{text}: {boxes:?}");
        assert!(*top >= ends[0] && *bottom <= ends[1], "{text}: {ends:?} {boxes:?}");
        for ([other_left, other_right, other_top, other_bottom], other) in &boxes[number + 1..] {
            let is_apart = right <= other_left
                || other_right <= left
                || bottom <= other_top
                || other_bottom <= top;
            assert!(is_apart, "{text} covers {other}: {boxes:?}");
        }
    }
}

#[test]
fn texts_next_to_one_point_never_overlap() {
    check_texts_apart(&[(0.0, false, "bet -5% .. +5%"), (0.01, true, "±1 %")]);
    check_texts_apart(&[(-0.2, false, "bet -20% .. -5%"), (0.1, false, "limit > +10%")]);
    let near = [
        (-0.05, false, "bet -5% .. -25%"),
        (-0.02, false, "bet -2% .. +2%"),
        (0.0, false, "limit < -5%"),
        (0.01, true, "±1 %"),
        (0.3, false, "+2,067 % (+2,067 … +2,067 %)"),
        (0.25, false, "limit > +25%"),
        (f64::INFINITY, false, "limit > +1000%"),
    ];
    check_texts_apart(&near);
    let long = "x".repeat(300);
    check_texts_apart(&[(0.0, false, &long), (0.2, false, &long), (0.2, true, &long)]);
}

#[test]
fn texts_that_have_room_share_a_row() {
    let height = |texts: &[f64]| {
        let text = |x: &f64| Mark::Text {
            at: Point { x: *x, y: 0.0 },
            is_below: false,
            text: "limit".to_owned(),
        };
        let y = Axis::categories("", &["a".to_owned()]);
        let marks = texts.iter().map(text).collect();
        Layout::of(&Figure { y, marks, ..full_figure() }, FigureContext::File).size.height
    };
    assert_eq!(height(&[1.0, 6.0]), height(&[1.0]));
    assert_eq!(height(&[1.0, 1.1, 6.0]), height(&[1.0]) + 22.0, "one more row above and below");
}
