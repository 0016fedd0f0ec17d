//! Ticks: round numbers with short labels of one precision.

use base::Nanos;

use super::unit::Unit;
use crate::number::{fixed, percent, plain, span, trimmed};

/// A marked value on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Its value.
    pub at: f64,
    /// Its label; empty between labelled ticks of a logarithmic axis.
    pub label: String,
}

impl Tick {
    pub(super) fn new(at: f64, label: impl Into<String>) -> Tick {
        Tick { at, label: label.into() }
    }
}

/// Distances between the ticks of a time axis, in seconds.
const SECONDS: [f64; 24] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0,
    3_600.0, 7_200.0, 14_400.0, 21_600.0, 43_200.0, 86_400.0, 172_800.0, 432_000.0, 864_000.0,
];

/// Maximum number of ticks of a time axis.
const MOST_TIMES: f64 = 7.0;

/// End of a time axis, in seconds, from which labels are minutes and seconds.
const MINUTES_FROM: f64 = 180.0;

/// End of a time axis, in seconds, from which labels are hours and minutes.
const HOURS_FROM: f64 = 7_200.0;

/// Maximum number of decades of an axis on which every power of ten has a label. A decade that the
/// axis covers only in part counts as a whole one.
const MOST_POWERS: i32 = 7;

/// Maximum number of decades of an axis on which 1, 2 and 5 times the powers of ten have labels.
const FEW_DECADES: f64 = 2.5;

/// Maximum number of decades of an axis on which 1 and 3 times the powers of ten have labels.
const SOME_DECADES: f64 = 4.2;

/// Returns a distance between ticks: the smallest of 1, 2 and 5 times a power of ten that divides
/// `length` into at most 1.25 · `parts` parts.
pub(super) fn step(length: f64, parts: u32) -> f64 {
    let least = (length / f64::from(parts)).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= least * 0.8).unwrap_or(10.0 * power)
}

/// Labels values with one unit and one number of decimals.
pub(super) fn label_ticks(unit: Unit, values: &[f64], step: f64) -> Vec<Tick> {
    let highest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let (size, suffix) = size(unit, highest);
    // The tolerance covers rounding errors of quotients such as 0.1 / 0.001.
    let decimals = (-((step / size).log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
    let label = |value: f64| format!("{}{suffix}", decimal(unit, value / size, decimals));
    values.iter().map(|value| Tick::new(*value, label(*value))).collect()
}

/// Returns the unit in which labels show values, in units of the axis, and the suffix of the
/// labels.
fn size(unit: Unit, highest: f64) -> (f64, &'static str) {
    match (unit, highest) {
        (Unit::Number, 1e10..) => (1e9, " G"),
        (Unit::Number, 1e7..) => (1e6, " M"),
        (Unit::Number, 1e5..) => (1e3, " k"),
        (Unit::Number, _) => (1.0, ""),
        (Unit::Time, 1e9..) => (1e9, " s"),
        (Unit::Time, 1e6..) => (1e6, " ms"),
        (Unit::Time, 1e3..) => (1e3, " µs"),
        (Unit::Time, _) => (1.0, " ns"),
        (Unit::Share | Unit::Change, _) => (0.01, " %"),
    }
}

/// Formats a number with these decimals; changes have signs.
fn decimal(unit: Unit, value: f64, decimals: usize) -> String {
    let digits = fixed(value, decimals);
    let is_raised = value > 0.0 && digits.contains(|digit| ('1'..='9').contains(&digit));
    match unit {
        Unit::Change if is_raised => format!("+{digits}"),
        Unit::Change | Unit::Number | Unit::Time | Unit::Share => digits,
    }
}

/// Width of the labels of changes, such as `+1,900 %`, relative to the width of the labels of other
/// logarithmic axes, such as `50 ms`.
const WIDTH_OF_CHANGES: f64 = 1.5;

/// Returns the ends of a logarithmic axis and its ticks. The ends are 1, 2 or 5 times a power of
/// ten.
pub(super) fn logarithmic(unit: Unit, range: [f64; 2]) -> (f64, f64, Vec<Tick>) {
    by_powers(range, 1.0, |at| tick_text(unit, at))
}

/// Returns the ends of an axis of changes that encloses a range of ratios, and its ticks. The
/// ratios at the ends are 1, 2 or 5 times a power of ten.
pub(super) fn ratios(range: [f64; 2]) -> (f64, f64, Vec<Tick>) {
    let label = |ratio: f64| tick_text(Unit::Change, ratio - 1.0);
    let (from, to, ticks) = by_powers(range, WIDTH_OF_CHANGES, label);
    let ticks = ticks.into_iter().map(|tick| Tick { at: tick.at - 1.0, ..tick });
    (from - 1.0, to - 1.0, ticks.collect())
}

/// Returns the ends of a logarithmic axis that encloses a range of positive numbers, and its ticks.
/// `width` is the relative width of their labels.
fn by_powers(
    [low, high]: [f64; 2],
    width: f64,
    label: impl Fn(f64) -> String,
) -> (f64, f64, Vec<Tick>) {
    let first = (low.log10() + 1e-9).floor() as i32;
    let last = ((high.log10() - 1e-9).ceil() as i32).max(first + 1);
    let steps = (first..=last).flat_map(|power| {
        [1.0, 2.0, 5.0].map(|factor| (power, factor, factor * 10f64.powi(power)))
    });
    let steps: Vec<(i32, f64, f64)> = steps.collect();
    let is_below = |at: f64| at <= low * (1.0 + 1e-9);
    let from = steps.iter().rposition(|(.., at)| is_below(*at)).unwrap_or(0);
    let to = steps.iter().position(|(.., at)| *at >= high * (1.0 - 1e-9));
    let to = to.unwrap_or(steps.len() - 1).max(from + 1);
    let (from, to) = (steps[from].2, steps[to].2);
    let stride = (last - first) / (MOST_POWERS + 1) + 1;
    let powers = (first..=last).map(|power| (power, 10f64.powi(power)));
    let chosen = factors(width * (to / from).log10(), stride);
    let ticks = powers.flat_map(|(power, one)| {
        let is_labelled = (power - first) % stride == 0;
        let at = chosen.iter().map(move |(factor, has_label)| (factor * one, *has_label));
        at.map(move |(at, has_label)| (at, has_label && is_labelled))
    });
    let ticks = ticks.map(|(at, is_labelled)| Tick {
        at,
        label: if is_labelled { label(at) } else { String::new() },
    });
    let is_shown = |tick: &Tick| (from * (1.0 - 1e-9)..=to * (1.0 + 1e-9)).contains(&tick.at);
    (from, to, ticks.filter(is_shown).collect())
}

/// Returns the factors by which the powers of ten are multiplied to give the ticks. Every
/// `stride`-th power of ten has labels. The flag of a factor is true if its ticks may have labels.
fn factors(decades: f64, stride: i32) -> &'static [(f64, bool)] {
    match decades {
        ..=FEW_DECADES => &[(1.0, true), (2.0, true), (5.0, true)],
        ..=SOME_DECADES => &[(1.0, true), (2.0, false), (3.0, true), (5.0, false)],
        _ if stride == 1 => &[(1.0, true), (2.0, false), (5.0, false)],
        _ => &[(1.0, true)],
    }
}

/// Formats the value of one tick on its own, without regard to the other ticks.
pub(super) fn tick_text(unit: Unit, value: f64) -> String {
    match (unit, value < 0.0) {
        (Unit::Number, _) => plain(value),
        (Unit::Time, _) => span(Nanos(value.round() as u64)),
        (Unit::Share, _) => percent(value),
        (Unit::Change, true) => format!("−{}", percent(-value)),
        (Unit::Change, false) if value == 0.0 => percent(value),
        (Unit::Change, false) => format!("+{}", percent(value)),
    }
}

/// Formats a fraction of requests with the digits that distinguish it from 100 %.
pub(super) fn tail_text(fraction: f64) -> String {
    let decimals = (-(1.0 - fraction).log10()).ceil().clamp(1.0, 12.0) as usize - 1;
    format!("{} %", trimmed(&format!("{:.decimals$}", fraction * 100.0)))
}

/// Returns the ticks of an axis of fractions up to `to`.
pub(super) fn tail(to: f64) -> Vec<Tick> {
    let mut ticks = vec![Tick::new(0.0, "0 %"), Tick::new(0.5, "50 %")];
    for nines in 1..=9u32 {
        let q = 1.0 - 10f64.powi(-(nines as i32));
        if q > to + 1e-12 {
            break;
        }
        let decimals = nines.saturating_sub(2) as usize;
        ticks.push(Tick::new(q, format!("{:.decimals$} %", q * 100.0)));
    }
    ticks
}

/// Returns the form of the labels of a time axis, as the end of its title (` (min:s)`), and the
/// ticks.
pub(super) fn time(from: f64, to: f64) -> (&'static str, Vec<Tick>) {
    let length = to - from;
    let step = SECONDS.into_iter().find(|step| length / step <= MOST_TIMES);
    // A longer distance is ten days times a power of ten.
    let step =
        step.unwrap_or_else(|| 864_000.0 * 10f64.powf((length / 6_048_000.0).log10().ceil()));
    let form = match to {
        HOURS_FROM.. => " (h:min)",
        MINUTES_FROM.. => " (min:s)",
        _ => "",
    };
    let first = (from / step).ceil() as i64;
    let last = (to / step + 1e-9).floor() as i64;
    let ticks = (first..=last).map(|n| {
        let at = n as f64 * step;
        Tick::new(at, clock(at, form))
    });
    (form, ticks.collect())
}

fn clock(at: f64, form: &str) -> String {
    let whole = at.round() as i64;
    match form {
        " (h:min)" => format!("{}:{:02}", whole / 3_600, whole % 3_600 / 60),
        " (min:s)" => format!("{}:{:02}", whole / 60, whole % 60),
        _ if at == 0.0 => "0".to_owned(),
        _ if (at - at.round()).abs() > 1e-6 => format!("{at:.1} s"),
        _ => format!("{whole} s"),
    }
}
