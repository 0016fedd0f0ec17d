//! Processor time of each component at the points of a sweep: user, system and idle time.

use analyze::compare::CpuShare;
use analyze::curve::PointSummary;
use workload::question::CpuOwner;

use super::super::sentence;
use super::positions::Positions;
use super::subject::Subject;
use crate::figure::{Axis, Bar, Figure, Ink, LegendEntry, Mark, Swatch, Unit};
use crate::number::{percent, processors};

/// Total width of all bars at a point, as a fraction of the slot of the point.
const BARS: f64 = 0.76;

/// The parts of a bar from the bottom, with their inks.
const PARTS: [(&str, Ink); 3] =
    [("user", Ink::Series(0)), ("system", Ink::Series(1)), ("idle", Ink::Quiet)];

/// Returns a figure for each component that was observed, the database first. If none was observed,
/// returns one figure that says so.
pub(super) fn figures(subject: &Subject<'_>) -> Vec<Figure> {
    let owners = [CpuOwner::Database, CpuOwner::Proxy, CpuOwner::Generator];
    let of_owner = |owner: CpuOwner| {
        let shares = shares(subject, owner);
        (!shares.is_empty()).then(|| figure(subject, owner, &shares))
    };
    let figures: Vec<Figure> = owners.into_iter().filter_map(of_owner).collect();
    match figures.is_empty() {
        true => {
            let reason = "No component's processor time was observed in every run of a point.";
            let empty = figure(subject, CpuOwner::Database, &[]);
            vec![Figure { name: "cpu".to_owned(), missing: Some(reason.to_owned()), ..empty }]
        }
        false => figures,
    }
}

/// The processor time of a component in the runs of an arm at a point. `arm` and `point` are
/// indexes.
struct Share<'a> {
    arm: usize,
    point: usize,
    share: &'a CpuShare,
}

fn shares<'a>(subject: &Subject<'a>, owner: CpuOwner) -> Vec<Share<'a>> {
    let of_point = |arm: usize, (point, summary): (usize, &'a PointSummary)| {
        let share = summary.cpu.iter().find(|share| share.owner == owner)?;
        Some(Share { arm, point, share })
    };
    let arms = subject.arms();
    arms.flat_map(|(arm, _, curve)| {
        curve.points.iter().enumerate().filter_map(move |point| of_point(arm, point))
    })
    .collect()
}

fn figure(subject: &Subject<'_>, owner: CpuOwner, shares: &[Share<'_>]) -> Figure {
    let positions = Positions::in_slots(subject.sweep);
    let mut bars: [Vec<Bar>; 3] = Default::default();
    let count = subject.names.len() as f64;
    for Share { arm, point, share } in shares {
        let width = BARS / count;
        let from = *point as f64 - BARS / 2.0 + *arm as f64 * width;
        let to = from + width * if count > 1.0 { 0.94 } else { 1.0 };
        let ends = [0.0, share.user, share.user + share.system, 1.0];
        for (part, bars) in bars.iter_mut().enumerate() {
            let high = ends[part + 1].max(ends[part]);
            bars.push(Bar { from, to, low: ends[part], high });
        }
    }
    let [user, system, idle] = bars;
    let marks = vec![
        Mark::Bars { ink: PARTS[0].1, is_solid: true, bars: user },
        Mark::Bars { ink: PARTS[1].1, is_solid: true, bars: system },
        // Idle time is the rest of the bar, in a quiet ink.
        Mark::Bars { ink: PARTS[2].1, is_solid: false, bars: idle },
    ];
    let swatch = |part: usize| if part == 2 { Swatch::Spread } else { Swatch::Area };
    let legend = PARTS.iter().enumerate();
    let legend = legend.map(|(part, (text, ink))| LegendEntry::new(*ink, swatch(part), *text));
    let name = owner.name();
    let most = shares.iter().map(|it| it.share.user + it.share.system).fold(1.0, f64::max);
    Figure {
        name: format!("cpu.{name}"),
        title: format!("Processor time of the {name} by {}", subject.sweep.vary),
        caption: caption(subject, shares),
        x: positions.axis,
        y: Axis::from_zero("share of the processors that it may use", Unit::Share, most),
        marks,
        legend: legend.collect(),
        missing: None,
    }
}

fn caption(subject: &Subject<'_>, shares: &[Share<'_>]) -> String {
    let busy = |it: &&Share<'_>| it.share.user + it.share.system;
    let busiest = shares.iter().max_by(|a, b| busy(a).total_cmp(&busy(b)));
    let Some(most) = busiest else { return "Nothing was observed.".to_owned() };
    let name = match subject.names.len() {
        1 => String::new(),
        _ => format!(
            " with {}; bars from left to right: {}",
            sentence::name_as_code(subject.names[most.arm]),
            subject.names.join(", ")
        ),
    };
    format!(
        "At most {} of {} busy, at {}{name}.",
        percent(busy(&most)),
        processors(most.share.processors),
        subject.sweep.values[most.point]
    )
}
