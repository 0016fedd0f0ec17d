//! Processor time of the load generator, of the database and of other programs.

use analyze::compare::owner_of_server;
use analyze::{Evidence, Observed};
use base::Nanos;
use record::metric::{Metric, host, processes, program};
use record::{ObservedComponent, Part, Side};
use workload::question::CpuOwner;

use super::readings::{Series, draw, mean, rates};
use super::subject::{Run, Words};
use super::timeline;
use crate::figure::{Axis, Figure, Ink, Point, Stroke, Unit};
use crate::number::{significant, trimmed};

/// Most programs that belong to neither side.
const MOST_PROGRAMS: usize = 3;

/// Fraction of one processor from which another program is shown.
const NOTABLE: f64 = 0.05;

/// Returns the processors that each component used.
pub(super) fn figure(run: &Run<'_>) -> Figure {
    let series = all(run);
    let words = Words {
        name: "cpu".to_owned(),
        title: "Processors in use".to_owned(),
        caption: caption(&series),
    };
    if series.is_empty() {
        let reason = match run.view.evidence.is_virtual {
            true => "In virtual time no processor works for the simulated server.",
            false => "No processor time was recorded.",
        };
        return words.empty(reason.to_owned());
    }
    let mut marks = timeline::marks(run);
    let mut legend = Vec::new();
    let most = draw(series, &mut marks, &mut legend);
    let y = Axis::from_zero("processors", Unit::Number, most);
    words.with([run.time(), y], marks, legend)
}

fn all(run: &Run<'_>) -> Vec<Series> {
    let evidence = &run.view.evidence;
    let generator = match run.view.has_database_inside() {
        true => "load generator and database, one process",
        false => "load generator",
    };
    let server = match owner_of_server(evidence) {
        CpuOwner::Proxy => "proxy, without the database behind it",
        CpuOwner::Database | CpuOwner::Generator => "database",
    };
    let sides = [(Side::Generator, generator), (Side::Server, server)];
    let of_side = |(side, name): (Side, &str)| {
        let points = used(evidence, &Part::Processes(side), &[processes::USER, processes::SYSTEM]);
        let of_client = || if side == Side::Generator { client(evidence) } else { Vec::new() };
        let points = points.unwrap_or_else(of_client);
        line(name, Stroke::Solid, points)
    };
    let of_machine = used(evidence, &Part::Host, &[host::BUSY]).unwrap_or_default();
    let machine = line("whole machine", Stroke::Dotted, of_machine);
    // A single database in the generator's process has no processes of its own.
    let has_server =
        !run.view.has_database_inside() || evidence.plan.named_targets().next().is_some();
    let sides = sides.into_iter().filter(|(side, _)| has_server || *side == Side::Generator);
    let all = sides.map(of_side).chain(programs(evidence)).chain([machine]);
    let drawn = all.filter(|series| !series.points.is_empty()).enumerate();
    drawn.map(|(number, series)| Series { ink: Ink::Series(number), ..series }).collect()
}

/// Returns a line that has no ink of its own yet.
fn line(name: &str, stroke: Stroke, points: Vec<Point>) -> Series {
    Series { name: name.to_owned(), ink: Ink::Plain, stroke, points }
}

/// Returns the programs of neither side that used most.
fn programs(evidence: &Evidence) -> Vec<Series> {
    let mut found: Vec<(f64, Series)> = Vec::new();
    for observed in evidence.observed.iter().filter(|it| it.is(program::USED)) {
        let component = ObservedComponent::parse(&observed.component);
        let Some(ObservedComponent { part: Part::Program(name), .. }) = component else { continue };
        let points = rates(&observed.points);
        let mean = mean(&points);
        if mean >= NOTABLE {
            found.push((mean, line(&name, Stroke::Dashed, points)));
        }
    }
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().take(MOST_PROGRAMS).map(|(_, series)| series).collect()
}

/// Returns the growth per second of the sum of counters; `None` if one was not recorded.
fn used(evidence: &Evidence, part: &Part, metrics: &[Metric]) -> Option<Vec<Point>> {
    let counters: Vec<&Observed> =
        metrics.iter().map(|metric| evidence.observed(part, *metric)).collect::<Option<_>>()?;
    let (first, others) = counters.split_first()?;
    let sum = |(place, (at, value)): (usize, &(Nanos, f64))| {
        let others = others.iter().map(|it| it.points.get(place).filter(|(time, _)| time == at));
        let others = others.map(|found| found.map_or(f64::NAN, |(_, value)| *value));
        (*at, value + others.sum::<f64>())
    };
    let sums: Vec<(Nanos, f64)> = first.points.iter().enumerate().map(sum).collect();
    Some(rates(&sums)).filter(|points| !points.is_empty())
}

/// Returns the processors that the generator used by its own account, which older records have.
fn client(evidence: &Evidence) -> Vec<Point> {
    let sample = |it: &analyze::ClientSample| (it.at, (it.user + it.system).as_secs_f64());
    rates(&evidence.client.iter().map(sample).collect::<Vec<_>>())
}

fn caption(series: &[Series]) -> String {
    let mean = |series: &Series| {
        format!("{} {}", series.name, trimmed(&significant(mean(&series.points))))
    };
    let means: Vec<String> = series.iter().map(mean).collect();
    format!("Mean number of processors in use: {}.", means.join("; "))
}
