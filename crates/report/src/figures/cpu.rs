//! Processor time of the load generator, of the database and of other programs.

use analyze::compare::ObservedServer;
use analyze::{Evidence, Observed};
use base::Nanos;
use record::metric::{ObservedMetric, host, processes, program};
use record::{ComponentKind, MeasuredSide, ObservedComponent};
use workload::question::CpuOwner;

use super::readings::{Rates, Series, caption_of_readings, draw, rates, rates_of};
use super::subject::{FigureTexts, Run};
use super::timeline;
use crate::figure::{Axis, Figure, Ink, Stroke, Unit};
use crate::number::{significant, trimmed};

/// Maximum number of programs other than the load generator and the database.
const MOST_PROGRAMS: usize = 3;

/// Fraction of one processor from which another program is shown.
const NOTABLE: f64 = 0.05;

/// Metrics of the processor time of processes, in user mode and in system mode.
const PROCESSES: [ObservedMetric; 2] = [processes::USER, processes::SYSTEM];

/// Processors in use over time.
struct Usage {
    name: String,
    stroke: Stroke,
    rates: Rates,
}

/// Returns the processors that each component used.
pub(super) fn figure(run: &Run<'_>) -> Figure {
    let series = all_usages(run);
    let words = FigureTexts {
        name: "cpu".to_owned(),
        title: "Processors in use".to_owned(),
        caption: caption(&series),
    };
    if series.is_empty() {
        let reason = match run.view.evidence.is_virtual {
            true => "In virtual time no processor works for the simulated server.",
            false => "No processor time was recorded.",
        };
        return words.into_empty_figure(reason.to_owned());
    }
    let mut marks = timeline::marks(run);
    let mut legend = Vec::new();
    let lines = series.into_iter().enumerate().map(|(number, Usage { name, stroke, rates })| {
        let Rates { points, extents, .. } = rates;
        Series { name, ink: Ink::Series(number), stroke, points, extents }
    });
    let time = run.time();
    let most = draw(lines, time.to, &mut marks, &mut legend);
    let y = Axis::from_zero("processors", Unit::Number, most);
    words.into_figure([time, y], marks, legend)
}

fn all_usages(run: &Run<'_>) -> Vec<Usage> {
    let evidence = &run.view.evidence;
    let generator = match run.view.has_database_inside() {
        true => "load generator and database, one process",
        false => "load generator",
    };
    let here = ComponentKind::Processes(MeasuredSide::Generator);
    let generator = Usage {
        name: generator.to_owned(),
        stroke: Stroke::Solid,
        rates: processors_used(evidence, &ObservedComponent::here(here), &PROCESSES)
            .unwrap_or_else(|| processors_of_generator(evidence)),
    };
    let host = ObservedComponent::here(ComponentKind::Host);
    let machine = processors_used(evidence, &host, &[host::BUSY]).map(|rates| Usage {
        name: "whole machine".to_owned(),
        stroke: Stroke::Dotted,
        rates,
    });
    // A single database in the generator's process has no processes of its own.
    let has_server =
        !run.view.has_database_inside() || evidence.plan.named_targets().next().is_some();
    let servers = if has_server { usages_of_servers(evidence) } else { Vec::new() };
    let programs = usages_of_programs(evidence);
    let all = [generator].into_iter().chain(servers).chain(programs).chain(machine);
    all.filter(|series| !series.rates.points.is_empty()).collect()
}

/// Returns the processors used by the database, and those used by the proxy in front of it.
fn usages_of_servers(evidence: &Evidence) -> Vec<Usage> {
    let Some(server) = ObservedServer::of(evidence) else { return Vec::new() };
    let of = |component: &ObservedComponent, name: &str| {
        let name = with_host(name, component);
        let rates = processors_used(evidence, component, &PROCESSES)?;
        Some(Usage { name, stroke: Stroke::Solid, rates })
    };
    let upstream = server.upstream().and_then(|upstream| of(&upstream, "database"));
    let name = match (server.owner, &upstream) {
        (CpuOwner::Proxy, Some(_)) => "proxy",
        (CpuOwner::Proxy, None) => "proxy, without the database behind it",
        (CpuOwner::Database | CpuOwner::Generator, _) => "database",
    };
    of(&server.processes, name).into_iter().chain(upstream).collect()
}

/// Returns a name, followed by the host if the component was observed on another host.
fn with_host(name: &str, component: &ObservedComponent) -> String {
    match &component.place {
        Some(host) => format!("{name}, on {host}"),
        None => name.to_owned(),
    }
}

/// Returns the programs, other than the load generator and the database, that used the most
/// processor time.
fn usages_of_programs(evidence: &Evidence) -> Vec<Usage> {
    let mut found: Vec<Usage> = Vec::new();
    for observed in evidence.observed.iter().filter(|it| it.has_metric(program::USED)) {
        let Some(component) = ObservedComponent::parse(&observed.component) else { continue };
        let ComponentKind::Program(name) = &component.kind else { continue };
        let name = with_host(name, &component);
        let rates = rates_of(observed);
        if rates.mean >= NOTABLE {
            found.push(Usage { name, stroke: Stroke::Dashed, rates });
        }
    }
    found.sort_by(|one, other| other.rates.mean.total_cmp(&one.rates.mean));
    found.truncate(MOST_PROGRAMS);
    found
}

/// Returns the growth per second of the sum of counters; `None` if one of them was not recorded.
fn processors_used(
    evidence: &Evidence,
    component: &ObservedComponent,
    metrics: &[ObservedMetric],
) -> Option<Rates> {
    let of_metric = |metric: &ObservedMetric| evidence.observed_on(component, *metric);
    let counters: Vec<&Observed> = metrics.iter().map(of_metric).collect::<Option<_>>()?;
    let rates = match counters.as_slice() {
        [] => return None,
        // The extremes of a sum are not known from the extremes of its parts.
        [first, others @ ..] if !others.is_empty() => rates(&sums_of_counters(first, others)),
        [only, ..] => rates_of(only),
    };
    Some(rates).filter(|rates| !rates.points.is_empty())
}

/// Returns the sums of counters at the times at which the counter `first` was read; NaN at times at
/// which one of the others was not read.
fn sums_of_counters(first: &Observed, others: &[&Observed]) -> Vec<(Nanos, f64)> {
    let at_time = |observed: &&Observed, at: &Nanos| {
        let place = observed.points.binary_search_by_key(at, |(at, _)| *at);
        place.map_or(f64::NAN, |place| observed.points[place].1)
    };
    let sum = |(at, value): &(Nanos, f64)| {
        (*at, value + others.iter().map(|other| at_time(other, at)).sum::<f64>())
    };
    first.points.iter().map(sum).collect()
}

/// Returns the number of processors that the generator used, by its own measurement. Older records
/// need this, because they have no counters of its processes.
fn processors_of_generator(evidence: &Evidence) -> Rates {
    let sample = |it: &analyze::ClientSample| (it.at, (it.user + it.system).as_secs_f64());
    rates(&evidence.client.iter().map(sample).collect::<Vec<_>>())
}

fn caption(series: &[Usage]) -> String {
    let mean =
        |series: &Usage| format!("{} {}", series.name, trimmed(&significant(series.rates.mean)));
    let means: Vec<String> = series.iter().map(mean).collect();
    let caption = format!("Mean number of processors in use: {}.", means.join("; "));
    caption_of_readings(caption, series.iter().map(|series| &series.rates))
}
