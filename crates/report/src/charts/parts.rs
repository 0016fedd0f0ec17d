//! Parts of the response times: service, wait and send lag.

use analyze::TimeColumn;
use record::Kind;

use super::subject::{Job, Run, Words, highest, middle};
use super::timeline;
use crate::figure::{Axis, Extent, Figure, Ink, LegendEntry, Mark, Swatch, Unit};
use crate::number::{percent, time};

/// The parts from the bottom: the database's, and then the generator's.
const PARTS: [(&str, usize); 3] = [
    ("service: the database", 0),
    ("wait for a free connection or worker", 1),
    ("send lag of the generator", 2),
];

/// Returns the mean parts of a job's response times over time.
pub(super) fn figure(run: &Run<'_>, job: &Job<'_>) -> Figure {
    let words = Words {
        name: job.figure_name("time-parts"),
        title: format!("Where the time went: {}", job.summary.name),
        caption: caption(job),
    };
    if let Some(reason) = job.missing() {
        return words.empty(reason);
    }
    let stacks: Vec<(f64, [f64; 3])> =
        job.course.columns.iter().map(|it| (middle(it), stack(it))).collect();
    let mut marks = timeline::marks(run);
    for (_, part) in PARTS {
        let extent = |(at, stack): &(f64, [f64; 3])| {
            let low = if part == 0 { 0.0 * stack[0] } else { stack[part - 1] };
            Extent { at: *at, low, high: stack[part] }
        };
        let extents = stacks.iter().map(extent).collect();
        marks.push(Mark::Band { ink: Ink::Series(part), is_solid: true, extents });
    }
    let legend = PARTS.map(|(name, part)| LegendEntry::new(Ink::Series(part), Swatch::Area, name));
    let most = highest(stacks.iter().map(|(_, stack)| stack[2]));
    let y = Axis::from_zero("mean time of a request", Unit::Time, most);
    words.with([run.time(), y], marks, legend.to_vec())
}

/// Returns the upper ends of the parts of a column; not numbers without requests.
fn stack(column: &TimeColumn) -> [f64; 3] {
    let service = match column.service.count {
        0 => f64::NAN,
        _ => column.service.mean_ns,
    };
    let wait = service + column.wait_mean_ns.unwrap_or(0.0);
    [service, wait, wait + column.send_lag_mean_ns.unwrap_or(0.0)]
}

fn caption(job: &Job<'_>) -> String {
    let summary = job.summary;
    let parts = [
        ("service", summary.service.mean_ns),
        ("wait", summary.wait.mean_ns),
        ("send lag", summary.send_lag.mean_ns),
    ];
    let whole: f64 = parts.iter().map(|(_, ns)| ns).sum();
    if whole <= 0.0 || summary.is_withheld(Kind::Response) {
        return "There is no time to divide.".to_owned();
    }
    let part = |(name, ns): (&str, f64)| format!("{name} {}", percent(ns / whole));
    let parts = parts.map(part).join(", ");
    format!("Of a mean response of about {}: {parts}.", time(whole))
}
