//! Disks and network interfaces over time.

use std::collections::BTreeMap;

use analyze::Observed;
use record::metric::{disk, interface, sockets};
use record::{ComponentKind, MeasuredSide, ObservedMetric};

use super::readings::{
    Places, Rates, Series, by_place, caption_of_readings, draw, figure_texts, of_metric, rates_of,
};
use super::subject::{Run, highest};
use super::timeline;
use crate::figure::{Axis, Extent, Figure, Ink, Point, Stroke, Unit};
use crate::number::{bytes, percent, rate};

/// Maximum number of devices of a figure, which shows the busiest ones.
const MOST_DEVICES: usize = 3;

/// A quantity of devices that a figure shows.
struct Quantity {
    name: &'static str,
    title: &'static str,
    /// Counters with their names and strokes.
    counters: &'static [(ObservedMetric, &'static str, Stroke)],
    kind: Kind,
    /// The sentence if no device did anything.
    idle: &'static str,
}

/// The kind of a quantity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bytes,
    Operations,
    /// Seconds in which the device was busy.
    Use,
}

const DISK_BYTES: Quantity = Quantity {
    name: "disk-bytes",
    title: "Bytes of the disks",
    counters: &[
        (disk::WRITTEN_BYTES, "written", Stroke::Solid),
        (disk::READ_BYTES, "read", Stroke::Dashed),
    ],
    kind: Kind::Bytes,
    idle: "No disk read or wrote anything.",
};

const DISK_OPERATIONS: Quantity = Quantity {
    name: "disk-operations",
    title: "Operations of the disks",
    counters: &[
        (disk::WRITES, "writes", Stroke::Solid),
        (disk::READS, "reads", Stroke::Dashed),
        (disk::FLUSHES, "flushes", Stroke::Dotted),
    ],
    kind: Kind::Operations,
    idle: "No disk had anything to do.",
};

const DISK_USE: Quantity = Quantity {
    name: "disk-use",
    title: "Use of the disks",
    counters: &[(disk::BUSY, "busy", Stroke::Solid)],
    kind: Kind::Use,
    idle: "No disk had anything to do.",
};

const NETWORK: Quantity = Quantity {
    name: "network",
    title: "Bytes of the network",
    counters: &[
        (interface::SENT_BYTES, "sent", Stroke::Solid),
        (interface::RECEIVED_BYTES, "received", Stroke::Dashed),
        (sockets::BYTES_SENT, "sent", Stroke::Solid),
        (sockets::BYTES_RECEIVED, "received", Stroke::Dashed),
    ],
    kind: Kind::Bytes,
    idle: "No interface sent or received anything.",
};

/// Returns the figures of the disks and of the network.
pub(super) fn figures(run: &Run<'_>) -> Vec<Figure> {
    let disks = by_place(&run.view.evidence.observed, |kind| match kind {
        ComponentKind::Disk(name) => Some(format!("disk {name}")),
        _ => None,
    });
    let interfaces = by_place(&run.view.evidence.observed, |kind| match kind {
        ComponentKind::Interface(name) => Some(format!("interface {name}")),
        ComponentKind::Sockets(MeasuredSide::Generator) => {
            Some("connections of the load generator".to_owned())
        }
        _ => None,
    });
    let mut figures = Vec::new();
    for quantity in [DISK_BYTES, DISK_OPERATIONS, DISK_USE] {
        figures.extend(of_places(run, &quantity, &disks));
    }
    figures.extend(of_places(run, &NETWORK, &interfaces));
    figures
}

/// Returns the figures of a quantity, one for each place where it was recorded.
fn of_places(run: &Run<'_>, quantity: &Quantity, places: &Places<'_, String>) -> Vec<Figure> {
    let figure = |(place, devices): (&Option<String>, &BTreeMap<String, Vec<&Observed>>)| {
        figure(run, place.as_deref(), quantity, devices)
    };
    places.iter().filter_map(figure).collect()
}

/// A device with its rates.
struct Device<'a> {
    name: &'a str,
    rates: Vec<(&'static str, Stroke, Rates)>,
}

impl Device<'_> {
    /// Returns the sum of the means of the device's rates.
    fn amount(&self) -> f64 {
        self.rates.iter().map(|(.., rates)| rates.mean).sum()
    }
}

/// Returns the figure of a quantity in one place; `None` if the quantity was not recorded there.
fn figure(
    run: &Run<'_>,
    place: Option<&str>,
    quantity: &Quantity,
    devices: &BTreeMap<String, Vec<&Observed>>,
) -> Option<Figure> {
    let mut devices: Vec<Device<'_>> =
        devices.iter().filter_map(|(name, series)| device(name, series, quantity)).collect();
    if devices.is_empty() {
        return None;
    }
    devices.retain(|device| device.amount() > 0.0);
    devices.sort_by(|one, other| other.amount().total_cmp(&one.amount()));
    devices.truncate(MOST_DEVICES);
    let words = figure_texts(quantity.name, quantity.title, place, caption(quantity, &devices));
    if devices.is_empty() {
        return Some(words.into_empty_figure(quantity.idle.to_owned()));
    }
    let all = devices.iter().flat_map(|it| &it.rates).flat_map(|(.., rates)| &rates.points);
    let scale = scale(quantity.kind, highest(all.map(|point| point.y)));
    let series = devices.into_iter().enumerate().flat_map(|(number, Device { name, rates })| {
        rates.into_iter().map(move |(what, stroke, Rates { points, extents, .. })| Series {
            name: format!("{name}: {what}"),
            ink: Ink::Series(number),
            stroke,
            points: points.iter().map(|it| Point { y: it.y / scale.divisor, ..*it }).collect(),
            extents: extents.iter().map(|it| divide_extent(it, scale.divisor)).collect(),
        })
    });
    let mut marks = timeline::marks(run);
    let mut legend = Vec::new();
    let time = run.time();
    let most = draw(series, time.to, &mut marks, &mut legend);
    Some(words.into_figure([time, Axis::from_zero(scale.title, scale.unit, most)], marks, legend))
}

fn device<'a>(name: &'a str, series: &[&Observed], quantity: &Quantity) -> Option<Device<'a>> {
    let rates: Vec<(&'static str, Stroke, Rates)> = quantity
        .counters
        .iter()
        .filter_map(|(metric, what, stroke)| {
            let rates = rates_of(of_metric(series, *metric)?);
            (!rates.points.is_empty()).then_some((*what, *stroke, rates))
        })
        .collect();
    (!rates.is_empty()).then_some(Device { name, rates })
}

/// The scale of a quantity on its axis.
struct Scale {
    title: &'static str,
    unit: Unit,
    /// Divisor that converts a value to the unit of the axis.
    divisor: f64,
}

fn divide_extent(extent: &Extent, by: f64) -> Extent {
    Extent { low: extent.low / by, high: extent.high / by, ..*extent }
}

fn scale(kind: Kind, highest: f64) -> Scale {
    let (title, unit, divisor) = match kind {
        Kind::Bytes if highest >= 1e6 => ("MB per second", Unit::Number, 1e6),
        Kind::Bytes if highest >= 1e3 => ("kB per second", Unit::Number, 1e3),
        Kind::Bytes => ("bytes per second", Unit::Number, 1.0),
        Kind::Operations => ("operations per second", Unit::Number, 1.0),
        Kind::Use => ("part of the time with an operation in progress", Unit::Share, 1.0),
    };
    Scale { title, unit, divisor }
}

fn caption(quantity: &Quantity, devices: &[Device<'_>]) -> String {
    let amount = |(what, _, rates): &(&str, Stroke, Rates)| {
        let mean = rates.mean;
        match quantity.kind {
            Kind::Bytes => format!("{what} {}/s", bytes(mean.round() as u64)),
            Kind::Operations => format!("{what} {}", rate(mean)),
            Kind::Use => format!("{what} {}", percent(mean)),
        }
    };
    let device = |it: &Device<'_>| {
        let amounts: Vec<String> = it.rates.iter().map(amount).collect();
        format!("{} {}", it.name, amounts.join(", "))
    };
    let names: Vec<String> = devices.iter().map(device).collect();
    let all = devices.iter().flat_map(|it| &it.rates);
    let caption = format!("On average: {}.", names.join("; "));
    caption_of_readings(caption, all.map(|(.., rates)| rates))
}
