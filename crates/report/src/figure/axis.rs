//! Axes: a scale with its range, and labelled ticks at round numbers.

use super::ticks::{self, Tick};
use super::unit::Unit;
use crate::number::seconds;

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Quantity and unit; may be empty.
    pub title: String,
    /// Mapping of values to positions.
    pub scale: Scale,
    /// Unit of the values; [`Unit::Number`] for the scales [`Scale::Time`] and [`Scale::Category`].
    pub unit: Unit,
    /// Value at the left or lower end.
    pub from: f64,
    /// Value at the right or upper end.
    pub to: f64,
    /// Ticks, in order.
    pub ticks: Vec<Tick>,
    /// First and last value in words, if the axis extends beyond them.
    pub values: Option<[String; 2]>,
}

/// The mapping of values to positions on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal lengths on the axis.
    Linear,
    /// Equal ratios have equal lengths.
    Logarithmic,
    /// Changes as fractions, by their ratios 1 + change: a doubling and a halving have equal
    /// lengths. Intervals of ratios, which are computed from logarithms, are symmetric.
    Ratio,
    /// Fractions q of the requests, as log 1/(1 − q): each further nine (0.9, 0.99, …) has the same
    /// length.
    Tail,
    /// Seconds since an event, such as the start of a run.
    Time,
    /// Names, from top to bottom or from left to right.
    Category,
}

/// Largest change, as a fraction, for which an axis is linear: a change to four times the baseline.
/// On a longer linear axis, changes of a few percent could not be told apart.
const LARGEST_LINEAR: f64 = 3.0;

/// Maximum number of decades of a logarithmic axis; lower values are drawn at its edge.
const MOST_DECADES: f64 = 12.0;

/// Smallest ratio of the largest to the smallest value for which an axis with ticks at given values
/// can be logarithmic.
const WIDE_RATIO: f64 = 4.0;

/// Distance of the middle value from the smallest, as a fraction of the distance of the largest
/// from the smallest, below which a linear axis would be crowded.
const CROWDED_FRACTION: f64 = 0.4;

/// Room next to the outer values of an axis, as a fraction of their distance.
const ROOM_FRACTION: f64 = 0.06;

impl Scale {
    /// Returns the scale of an axis of changes, of which `highest` is the largest.
    pub(crate) fn for_changes(highest: f64) -> Scale {
        if highest > LARGEST_LINEAR { Scale::Ratio } else { Scale::Linear }
    }

    /// Returns the coordinate of a value. Equal differences of coordinates have equal lengths on
    /// the axis. NaN if the value has no coordinate.
    pub(crate) fn coordinate(self, value: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Time | Scale::Category => value,
            Scale::Logarithmic if value <= 0.0 => f64::NAN,
            Scale::Logarithmic => value.ln(),
            // A change of −100 % has no finite coordinate: it lies beyond the end of every axis.
            Scale::Ratio if value <= -1.0 => f64::MIN_POSITIVE.ln(),
            Scale::Ratio => value.ln_1p(),
            Scale::Tail if value >= 1.0 => f64::INFINITY,
            Scale::Tail => -(1.0 - value).ln(),
        }
    }

    /// Returns the value at a coordinate: the inverse of [`Scale::coordinate`].
    pub(crate) fn value_at_coordinate(self, place: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Time | Scale::Category => place,
            Scale::Logarithmic => place.exp(),
            Scale::Ratio => place.exp_m1(),
            Scale::Tail => 1.0 - (-place).exp(),
        }
    }
}

impl Axis {
    /// Creates an axis from zero to a round number that is not below `highest`.
    pub(crate) fn from_zero(title: &str, unit: Unit, highest: f64) -> Axis {
        let highest = if highest > 0.0 && highest.is_finite() { highest } else { 1.0 };
        Axis::linear(title, unit, [0.0, highest])
    }

    /// Creates an axis between round numbers that enclose a range.
    pub(crate) fn linear(title: &str, unit: Unit, [low, high]: [f64; 2]) -> Axis {
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        let step = ticks::step(high - low, 5);
        let from = (low / step).floor() * step;
        let to = (high / step - 1e-9).ceil() * step;
        let number = ((to - from) / step).round() as usize;
        let values: Vec<f64> = (0..=number).map(|n| from + n as f64 * step).collect();
        let ticks = ticks::label_ticks(unit, &values, step);
        Axis { title: title.to_owned(), scale: Scale::Linear, unit, from, to, ticks, values: None }
    }

    /// Sets the ends of the axis; ticks beyond them are left out.
    pub(crate) fn within(self, [from, to]: [f64; 2]) -> Axis {
        let ticks = self.ticks.into_iter().filter(|tick| (from..=to).contains(&tick.at));
        Axis { from, to, ticks: ticks.collect(), ..self }
    }

    /// Sets the first and the last value in words.
    pub(crate) fn with_values(self, first: impl Into<String>, last: impl Into<String>) -> Axis {
        Axis { values: Some([first.into(), last.into()]), ..self }
    }

    /// Creates a logarithmic axis that encloses a range of positive numbers.
    pub(crate) fn logarithmic(title: &str, unit: Unit, range: [f64; 2]) -> Axis {
        let (from, to, ticks) = ticks::logarithmic(unit, positive(range));
        Axis {
            title: title.to_owned(),
            scale: Scale::Logarithmic,
            unit,
            from,
            to,
            ticks,
            values: None,
        }
    }

    /// Creates an axis of changes that encloses a range: linear, or of ratios.
    pub(crate) fn changes(title: &str, scale: Scale, [low, high]: [f64; 2]) -> Axis {
        if scale != Scale::Ratio {
            return Axis::linear(title, Unit::Change, [low, high]);
        }
        let (from, to, ticks) = ticks::ratios(positive([1.0 + low, 1.0 + high]));
        let (title, unit) = (format!("{title}, logarithmic"), Unit::Change);
        Axis { title, scale, unit, from, to, ticks, values: None }
    }

    /// Creates an axis of the fractions of `count` values, from zero to the fraction of the largest
    /// value, and at least to 0.9.
    pub(crate) fn tail(title: &str, count: u64) -> Axis {
        let to = 1.0 - 1.0 / (count.max(10) as f64);
        let (title, ticks) = (title.to_owned(), ticks::tail(to));
        Axis { title, scale: Scale::Tail, unit: Unit::Share, from: 0.0, to, ticks, values: None }
    }

    /// Creates an axis of the time since the start of a run, in seconds.
    pub(crate) fn time(from: f64, to: f64) -> Axis {
        Axis::time_since("the start", from, to)
    }

    /// Creates an axis of the time since the event that `zero` names, in seconds.
    pub(crate) fn time_since(zero: &str, from: f64, to: f64) -> Axis {
        let to = if to > from { to } else { from + 1.0 };
        let (form, ticks) = ticks::time(from, to);
        let (title, unit) = (format!("time since {zero}{form}"), Unit::Number);
        Axis { title, scale: Scale::Time, unit, from, to, ticks, values: None }
    }

    /// Creates an axis of names; the first has the value 0, and is at the top.
    pub(crate) fn categories(title: &str, names: &[String]) -> Axis {
        let tick = |(place, name): (usize, &String)| Tick::new(place as f64, name.as_str());
        Axis {
            title: title.to_owned(),
            scale: Scale::Category,
            unit: Unit::Number,
            from: names.len().max(1) as f64 - 0.5,
            to: -0.5,
            ticks: names.iter().enumerate().map(tick).collect(),
            values: None,
        }
    }

    /// Creates an axis with ticks at these values only, in ascending order, and with room next to
    /// the outermost ones. `reach` is a further value that the axis includes. The axis is
    /// logarithmic if most values would otherwise be close together at its lower end.
    pub(crate) fn at_values(title: &str, values: &[(f64, &str)], reach: Option<f64>) -> Axis {
        let all = values.iter().map(|(at, _)| *at).chain(reach);
        let low = all.clone().fold(f64::INFINITY, f64::min);
        let high = all.fold(f64::NEG_INFINITY, f64::max);
        let middle = values.get(values.len() / 2).map_or(high, |(at, _)| *at);
        let is_wide = low > 0.0 && high >= WIDE_RATIO * low;
        let is_crowded = is_wide && middle < low + CROWDED_FRACTION * (high - low);
        let (scale, from, to) = match is_crowded {
            true => {
                let room = (high / low).powf(ROOM_FRACTION);
                (Scale::Logarithmic, low / room, high * room)
            }
            false => {
                let room = match high > low {
                    true => ROOM_FRACTION * (high - low),
                    false => low.abs().max(1.0),
                };
                (Scale::Linear, low - room, high + room)
            }
        };
        let ticks = values.iter().map(|(at, label)| Tick::new(*at, *label)).collect();
        let ends = values.first().zip(values.last());
        let ends = ends.map(|(first, last)| [first.1, last.1].map(str::to_owned));
        let title = title.to_owned();
        Axis { title, scale, unit: Unit::Number, from, to, ticks, values: ends }
    }

    /// Creates a horizontal axis of names; the first has the value 0, and is at the left.
    pub(crate) fn slots(title: &str, names: &[&str]) -> Axis {
        let tick = |(place, name): (usize, &&str)| Tick::new(place as f64, *name);
        Axis {
            title: title.to_owned(),
            scale: Scale::Category,
            unit: Unit::Number,
            from: -0.5,
            to: names.len().max(1) as f64 - 0.5,
            ticks: names.iter().enumerate().map(tick).collect(),
            values: None,
        }
    }

    /// Returns the value that lies at a distance from another value. The distance is a fraction of
    /// the length of the axis.
    pub(crate) fn value_at_distance(&self, value: f64, distance: f64) -> f64 {
        let [from, to, value] = [self.from, self.to, value].map(|it| self.scale.coordinate(it));
        self.scale.value_at_coordinate(value + distance * (to - from))
    }

    /// Returns true if a value lies within the axis.
    pub(crate) fn has(&self, value: f64) -> bool {
        (self.from.min(self.to)..=self.from.max(self.to)).contains(&value)
    }

    /// Returns the range of the axis in words; for an axis of categories, their labels.
    pub(crate) fn range_text(&self) -> String {
        /// Maximum number of labels.
        const MOST_NAMES: usize = 24;
        if self.scale == Scale::Category {
            let names = self.ticks.iter().map(|tick| tick.label.as_str()).take(MOST_NAMES);
            let names = names.collect::<Vec<&str>>().join(", ");
            return match self.ticks.len().saturating_sub(MOST_NAMES) {
                0 => names,
                more => format!("{names} and {more} more"),
            };
        }
        let ends = [self.from, self.to].map(|end| self.value_text(end));
        let [first, last] = self.values.clone().unwrap_or(ends);
        if first == last { first } else { format!("{first} to {last}") }
    }

    /// Formats a value as the ticks do; on a time axis, as a span.
    fn value_text(&self, value: f64) -> String {
        let at_it = |tick: &&Tick| tick.at == value && !tick.label.is_empty();
        match (self.ticks.iter().find(at_it), self.scale) {
            (_, Scale::Time) => seconds(value),
            (Some(tick), _) => tick.label.clone(),
            (None, Scale::Tail) => ticks::tail_text(value),
            (None, Scale::Linear | Scale::Logarithmic | Scale::Ratio | Scale::Category) => {
                ticks::tick_text(self.unit, value)
            }
        }
    }

    /// Returns the position of a value between the ends of the axis, 0 to 1. A value beyond an end
    /// has the position of that end. `None` if the value is NaN, or has no position on a
    /// logarithmic axis.
    pub fn place(&self, value: f64) -> Option<f64> {
        let [from, to, value] = [self.from, self.to, value].map(|it| self.scale.coordinate(it));
        let place = (value - from) / (to - from);
        (!place.is_nan()).then(|| place.clamp(0.0, 1.0))
    }
}

/// Limits a range to positive numbers, and to at most [`MOST_DECADES`] decades.
fn positive([low, high]: [f64; 2]) -> [f64; 2] {
    let high = if high > 0.0 && high.is_finite() { high } else { 1.0 };
    [low.clamp(high / 10f64.powf(MOST_DECADES), high), high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(axis: &Axis, ends: [f64; 2], labels: &[&str]) {
        let labelled = axis.ticks.iter().map(|tick| tick.label.as_str());
        let found: Vec<&str> = labelled.filter(|label| !label.is_empty()).collect();
        assert_eq!(found, labels);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
        assert!(close(axis.from, ends[0]) && close(axis.to, ends[1]), "{axis:?}");
    }

    #[test]
    fn linear_axes_have_round_ticks_of_one_precision() {
        let axis = Axis::from_zero("", Unit::Number, 2_345.0);
        check(&axis, [0.0, 2_500.0], &["0", "500", "1,000", "1,500", "2,000", "2,500"]);
        let axis = Axis::from_zero("", Unit::Time, 4.1e6);
        check(&axis, [0.0, 5e6], &["0 ms", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms"]);
        let axis = Axis::linear("", Unit::Change, [-0.17, 0.02]);
        check(&axis, [-0.2, 0.05], &["−20 %", "−15 %", "−10 %", "−5 %", "0 %", "+5 %"]);
        let axis = Axis::from_zero("", Unit::Share, 0.011);
        check(
            &axis,
            [0.0, 0.012],
            &["0.0 %", "0.2 %", "0.4 %", "0.6 %", "0.8 %", "1.0 %", "1.2 %"],
        );
    }

    #[test]
    fn axis_at_values_has_their_labels_and_room_around_them() {
        let axis = Axis::at_values("", &[(1.0, "1"), (8.0, "8")], None);
        check(&axis, [0.58, 8.42], &["1", "8"]);
        assert_eq!(axis.scale, Scale::Linear);
        let rates = Axis::at_values("", &[(1.0, "1"), (7.0, "7"), (15.0, "15")], None);
        assert_eq!(rates.scale, Scale::Linear);
        let axis = Axis::at_values("", &[(1.0, "1"), (2.0, "2"), (8.0, "8")], Some(10.0));
        assert_eq!(axis.scale, Scale::Logarithmic);
        assert!(axis.from < 1.0 && axis.to > 10.0 && axis.has(10.0) && !axis.has(20.0), "{axis:?}");
        let middle = axis.value_at_distance(1.0, 0.5);
        let distance = axis.place(middle).unwrap() - axis.place(1.0).unwrap();
        assert!((distance - 0.5).abs() < 1e-9, "{axis:?}");
        let single = Axis::at_values("", &[(0.0, "off")], None);
        assert!(single.from < 0.0 && single.to > 0.0, "{single:?}");
        check(&Axis::slots("", &["on", "off"]), [-0.5, 1.5], &["on", "off"]);
    }

    #[test]
    fn axes_of_odd_ranges_still_have_ends() {
        check(
            &Axis::from_zero("", Unit::Number, f64::NAN),
            [0.0, 1.0],
            &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"],
        );
        let axis = Axis::logarithmic("", Unit::Time, [0.0, f64::NAN]);
        assert!(axis.from < axis.to && axis.ticks.len() < 20, "{axis:?}");
        let axis = Axis::logarithmic("", Unit::Time, [5e6, 5e6]);
        assert!(axis.from <= 5e6 && 5e6 < axis.to, "{axis:?}");
    }

    #[test]
    fn logarithmic_axes_have_labels_between_powers_of_ten() {
        let axis = Axis::logarithmic("", Unit::Time, [120e3, 80e6]);
        let labels = ["100 µs", "300 µs", "1 ms", "3 ms", "10 ms", "30 ms", "100 ms"];
        check(&axis, [1e5, 1e8], &labels);
        let axis = Axis::logarithmic("", Unit::Time, [220e3, 48e6]);
        let labels = ["200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms"];
        check(&axis, [2e5, 5e7], &labels);
        let axis = Axis::logarithmic("", Unit::Time, [1e3, 1e9]);
        check(&axis, [1e3, 1e9], &["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
        assert_eq!(axis.ticks.len(), 7 + 6 * 2, "2 and 5 have ticks without labels");
        let wide = Axis::logarithmic("", Unit::Time, [1.0, 1e10]);
        let labelled = wide.ticks.iter().filter(|tick| !tick.label.is_empty()).count();
        assert_eq!((labelled, wide.ticks.len()), (6, 11), "{:?}", wide.ticks);
        let axis = Axis::logarithmic("", Unit::Time, [4.1e6, 66.9e6]);
        check(&axis, [2e6, 1e8], &["2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms"]);
        let axis = Axis::logarithmic("", Unit::Time, [1.1e6, 6e6]);
        check(&axis, [1e6, 1e7], &["1 ms", "2 ms", "5 ms", "10 ms"]);
    }

    #[test]
    fn large_changes_have_an_axis_of_ratios_with_labels_in_percent() {
        let ratios = |title, range| Axis::changes(title, Scale::Ratio, range);
        assert_eq!([3.0, 3.1].map(Scale::for_changes), [Scale::Linear, Scale::Ratio]);
        assert_eq!(Axis::changes("", Scale::Linear, [0.0, 3.0]).range_text(), "0 % to +300 %");
        let axis = ratios("change", [-0.05, 13.49]);
        let labels = ["−50 %", "0 %", "+100 %", "+400 %", "+900 %", "+1,900 %"];
        check(&axis, [-0.5, 19.0], &labels);
        assert_eq!((axis.title.as_str(), axis.scale), ("change, logarithmic", Scale::Ratio));
        let wide = ratios("", [-0.3, 32.8]);
        check(&wide, [-0.5, 49.0], &["0 %", "+200 %", "+900 %", "+2,900 %"]);
        assert_eq!(wide.ticks.len(), 9, "−50, +100, +400, +1,900 and +4,900 % have no labels");
        let labels = ["−90 %", "0 %", "+900 %", "+9,900 %", "+99,900 %"];
        check(&ratios("", [-0.93, 999.0]), [-0.95, 999.0], &labels);
        let axis = ratios("", [-3.0, f64::NAN]);
        assert!(axis.from < axis.to && axis.ticks.len() < 20, "{axis:?}");
    }

    #[test]
    fn doubling_and_halving_have_equal_lengths_on_an_axis_of_ratios() {
        let axis = Axis::changes("", Scale::Ratio, [-0.05, 13.49]);
        let place = |change: f64| axis.place(change).unwrap();
        assert!((place(1.0) - place(0.0) - (place(0.0) - place(-0.5))).abs() < 1e-9, "{axis:?}");
        // The interval of a ratio of 4, which is symmetric in logarithms.
        let [low, middle, high] = [1.6, 4.0, 10.0].map(|ratio| place(ratio - 1.0));
        assert!((high - middle - (middle - low)).abs() < 1e-9, "{axis:?}");
        assert_eq!(axis.place(f64::NAN), None);
        for lost in [-1.0, -1.5] {
            assert_eq!(axis.place(lost), Some(0.0));
            assert!(!axis.has(lost), "an arrow leads there");
        }
        let beside = axis.value_at_distance(0.0, 0.25);
        assert!((axis.place(beside).unwrap() - place(0.0) - 0.25).abs() < 1e-9, "{beside}");
    }

    #[test]
    fn range_in_words_agrees_with_the_axis() {
        let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        for (axis, expected) in [
            (Axis::logarithmic("", Unit::Time, [220e3, 48e6]), "200 µs to 50 ms"),
            (Axis::logarithmic("", Unit::Share, [0.002, 0.3]), "0.2 % to 50 %"),
            (Axis::from_zero("", Unit::Number, 2_345.0), "0 to 2,500"),
            (Axis::linear("", Unit::Change, [-0.17, 0.02]), "−20 % to +5 %"),
            (Axis::changes("", Scale::Ratio, [-0.3, 32.8]), "−50 % to +4,900 %"),
            (Axis::tail("", 603_316), "0 % to 99.99983 %"),
            (Axis::tail("", 10_000), "0 % to 99.99 %"),
            (Axis::time(0.0, 301.05), "0 s to 301 s"),
            (Axis::at_values("", &[(1.0, "1"), (128.0, "128")], None), "1 to 128"),
            (Axis::at_values("", &[(1.0, "1"), (8.0, "8")], None).with_values("0", "9"), "0 to 9"),
            (Axis::at_values("", &[(1.0, "1")], None), "1"),
            (Axis::categories("", &names(&["a", "b"])), "a, b"),
            (Axis::categories("", &names(&["throughput(read)"])), "throughput(read)"),
            (Axis::slots("", &["x"; 25]), &format!("{}x and 1 more", "x, ".repeat(23))),
        ] {
            assert_eq!(axis.range_text(), expected);
        }
    }

    #[test]
    fn each_nine_of_a_tail_has_the_same_length() {
        let axis = Axis::tail("", 10_000);
        check(&axis, [0.0, 0.9999], &["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        for (q, place) in [(0.9, 0.25), (0.99, 0.5), (0.999, 0.75), (0.9999, 1.0), (1.0, 1.0)] {
            assert!((axis.place(q).unwrap() - place).abs() < 1e-9, "{q}");
        }
        assert_eq!(axis.place(2.0), Some(1.0));
        assert_eq!(axis.place(f64::NAN), None);
    }

    #[test]
    fn times_have_ticks_at_seconds_minutes_or_hours() {
        check(
            &Axis::time(0.0, 60.0),
            [0.0, 60.0],
            &["0", "10 s", "20 s", "30 s", "40 s", "50 s", "60 s"],
        );
        let hour = Axis::time(0.0, 3_600.0);
        check(
            &hour,
            [0.0, 3_600.0],
            &["0:00", "10:00", "20:00", "30:00", "40:00", "50:00", "60:00"],
        );
        assert_eq!(hour.title, "time since the start (min:s)");
        let day = Axis::time(0.0, 86_400.0);
        assert_eq!(day.ticks[1].label, "4:00");
        assert_eq!(day.title, "time since the start (h:min)");
        let short = Axis::time(0.0, 1.0);
        assert_eq!(short.ticks[1].label, "0.2 s");
    }

    #[test]
    fn places_are_on_the_axis_or_missing() {
        let axis = Axis::from_zero("", Unit::Number, 10.0);
        assert_eq!(axis.place(5.0), Some(0.5));
        assert_eq!(axis.place(50.0), Some(1.0));
        assert_eq!(axis.place(f64::NAN), None);
        let axis = Axis::logarithmic("", Unit::Number, [1.0, 100.0]);
        assert_eq!(axis.place(0.0), None);
        assert!((axis.place(10.0).unwrap() - 0.5).abs() < 1e-9);
        let axis = Axis::categories("", &["a".to_owned(), "b".to_owned()]);
        assert_eq!(axis.place(0.0), Some(0.75), "the first is at the top");
    }
}
