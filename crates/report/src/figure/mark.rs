//! Marks: the shapes of a figure, in the units of its axes.

/// A point. A coordinate that is not a number interrupts the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Horizontal coordinate.
    pub x: f64,
    /// Vertical coordinate.
    pub y: f64,
}

/// A range of one coordinate at a position of the other coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Position on the other axis.
    pub at: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A bar, or a part of a bar above another part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Left edge.
    pub from: f64,
    /// Right edge.
    pub to: f64,
    /// Lower end; 0 for a bar that stands on the axis.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A cell of a heat map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatCell {
    /// Left and right edge.
    pub x: [f64; 2],
    /// Lower and upper edge.
    pub y: [f64; 2],
    /// Intensity, from 1 to [`HeatCell::LEVELS`].
    pub level: u8,
}

impl HeatCell {
    /// Highest intensity.
    pub const LEVELS: u8 = 6;

    /// Intensities that a legend shows: the highest, one between, and the lowest.
    pub(crate) const SAMPLES: [u8; 3] = [6, 3, 1];
}

/// The ink of a mark. Painters map it to a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Colour of a series, by its number.
    Series(usize),
    /// Colour of text.
    Plain,
    /// Colour of marks of secondary importance.
    Quiet,
    /// Colour of a doubt.
    Doubtful,
    /// Colour of a bad result.
    Bad,
}

impl Ink {
    /// Number of hues of series: a further series has the hue of an earlier one.
    pub(crate) const HUES: usize = 6;

    /// Returns the first ink of the same colour.
    pub(crate) fn hue(self) -> Ink {
        match self {
            Ink::Series(number) => Ink::Series(number % Ink::HUES),
            Ink::Plain | Ink::Quiet | Ink::Doubtful | Ink::Bad => self,
        }
    }
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A filled circle.
    Disc,
    /// An empty circle of the same size.
    HollowDisc,
    /// An empty circle, wide enough to surround another symbol.
    Ring,
    /// An empty square, as wide as a [`Symbol::Ring`].
    Square,
    /// A line through another symbol, from the lower left to the upper right.
    Slash,
    /// Two crossing lines.
    Cross,
    /// A filled rhombus.
    Diamond,
    /// An empty rhombus.
    HollowDiamond,
    /// A filled triangle that points upwards.
    Triangle,
    /// A filled triangle that points downwards.
    Down,
    /// An empty triangle that points downwards.
    HollowDown,
}

/// The stroke of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Unbroken.
    Solid,
    /// Dashes.
    Dashed,
    /// A dash and a dot in turn.
    DashDotted,
    /// Long dashes.
    LongDashed,
    /// A dash and two dots in turn.
    DashDoubleDotted,
    /// A long and a short dash in turn.
    LongShortDashed,
    /// A dash and three dots in turn.
    DashTripleDotted,
    /// Dots.
    Dotted,
}

impl Stroke {
    /// All strokes, in order of preference for a line whose own stroke another line already has.
    pub(crate) const ALL: [Stroke; 8] = [
        Stroke::Solid,
        Stroke::Dashed,
        Stroke::DashDotted,
        Stroke::LongDashed,
        Stroke::DashDoubleDotted,
        Stroke::LongShortDashed,
        Stroke::DashTripleDotted,
        Stroke::Dotted,
    ];
}

/// A shape of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line through points.
    Line {
        /// Its ink.
        ink: Ink,
        /// Its stroke.
        stroke: Stroke,
        /// Its points, from left to right.
        points: Vec<Point>,
    },
    /// A line that keeps its height up to the next point.
    Steps {
        /// Its ink.
        ink: Ink,
        /// Its stroke.
        stroke: Stroke,
        /// Its points, from left to right.
        points: Vec<Point>,
    },
    /// An area between two lines.
    Band {
        /// Its ink.
        ink: Ink,
        /// True if it is a quantity of its own, false if it is the spread of a line.
        is_solid: bool,
        /// Its vertical ranges, from left to right.
        extents: Vec<Extent>,
    },
    /// Translucent dots.
    Dots {
        /// Their ink.
        ink: Ink,
        /// Positions of the dots.
        points: Vec<Point>,
    },
    /// Small, more translucent dots, for large numbers of them.
    Specks {
        /// Their ink.
        ink: Ink,
        /// Positions of the dots.
        points: Vec<Point>,
    },
    /// Points with a shape.
    Symbols {
        /// Their ink.
        ink: Ink,
        /// Their shape.
        symbol: Symbol,
        /// Positions of the points.
        points: Vec<Point>,
    },
    /// Bars.
    Bars {
        /// Their ink.
        ink: Ink,
        /// True if the bars are a quantity, false if they are the unused rest of a quantity.
        is_solid: bool,
        /// The bars.
        bars: Vec<Bar>,
    },
    /// Horizontal intervals with ends, each around a point. An end beyond the axis is open, with
    /// an arrow.
    Intervals {
        /// Their ink.
        ink: Ink,
        /// The intervals, at their vertical positions.
        extents: Vec<Extent>,
    },
    /// Vertical intervals with ends, each around a point. An end beyond the axis is open.
    ErrorBars {
        /// Their ink.
        ink: Ink,
        /// The intervals, at their horizontal positions.
        extents: Vec<Extent>,
    },
    /// Horizontal ranges as wide stripes, behind intervals. An end beyond the axis is an arrow.
    Ranges {
        /// Their ink.
        ink: Ink,
        /// The ranges, at their vertical positions.
        extents: Vec<Extent>,
    },
    /// Cells of a heat map.
    Cells {
        /// Their ink.
        ink: Ink,
        /// The cells that are not empty.
        cells: Vec<HeatCell>,
    },
    /// A small text above or below a point.
    Text {
        /// The point. The text begins there, or further left if it would not fit.
        at: Point,
        /// True if the text is below the point.
        is_below: bool,
        /// The text.
        text: String,
    },
    /// A vertical line across the figure.
    Rule {
        /// Its ink.
        ink: Ink,
        /// Position on the horizontal axis.
        at: f64,
        /// Its label; may be empty.
        label: String,
    },
    /// A horizontal line across the figure.
    Level {
        /// Its ink.
        ink: Ink,
        /// Position on the vertical axis.
        at: f64,
        /// Its label; may be empty.
        label: String,
    },
    /// A shaded period.
    Period {
        /// Its ink.
        ink: Ink,
        /// Start on the horizontal axis.
        from: f64,
        /// End on the horizontal axis.
        to: f64,
        /// Its label; may be empty.
        label: String,
    },
}

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    /// Its ink.
    pub ink: Ink,
    /// Its sample.
    pub swatch: Swatch,
    /// Its text.
    pub text: String,
}

/// The sample of a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swatch {
    /// A line.
    Line(Stroke),
    /// A filled area.
    Area,
    /// The translucent area of a spread or a range.
    Spread,
    /// A cell of a heat map with this intensity.
    Cell(u8),
    /// A dot.
    Dot,
    /// A small translucent dot.
    Speck,
    /// A horizontal interval.
    Interval,
    /// A vertical interval.
    ErrorBar,
    /// A shape of points.
    Symbol(Symbol),
}

impl LegendEntry {
    /// Creates an entry.
    pub(crate) fn new(ink: Ink, swatch: Swatch, text: impl Into<String>) -> LegendEntry {
        LegendEntry { ink, swatch, text: text.into() }
    }
}
