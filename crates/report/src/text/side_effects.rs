//! Side effects of intermittent jobs on the others: a table for each pair.

use analyze::{
    Change, Effect, Estimate, FEWEST_BATCHES, Figure, PhaseFigures, PhaseSummary, Quantile,
    SideEffects,
};

use crate::number::seconds;
use crate::number::{NONE, range, rate, time};
use crate::text::layout::Tone;
use crate::text::page::{Line, Page};
use crate::text::table::{Align, Table};
use crate::view::View;

/// Figures of the table; a claim may be about another one.
const SHOWN: [Figure; 3] = [Figure::Throughput, Figure::Quantile(0), Figure::Quantile(3)];

/// Title of a column of intervals.
const INTERVAL: &str = "95 %";

/// Mark of an interval that is not used for conclusions.
const OPTIMISTIC: &str = "*";

/// Explanation of that mark.
const MARKED: &str =
    "* neighbouring seconds resemble each other: the interval is too narrow, up to five times";

/// Maximum number of listed effects.
const EFFECTS: usize = 4;

/// Writes the changes at a moment, one sentence each.
pub(super) fn write_effects(page: &mut Page, view: &View) {
    view.summary.effects.iter().take(EFFECTS).for_each(|effect| page.note(&in_words(effect)));
}

/// Formats the change and the activity that began or ended at the time.
fn in_words(effect: &Effect) -> String {
    let Effect { job, figure, from, to, at_s, cause, is_background, began, times } = effect;
    let what = match figure {
        Figure::Throughput => "the throughput",
        Figure::Mean => "the mean response time",
        Figure::Quantile(place) => {
            &format!("the {} of the response times", Quantile::ALL[*place].name)
        }
    };
    let direction = if to > from { "rose" } else { "fell" };
    let name =
        if *is_background { format!("the database's {cause}") } else { format!("[{cause}]") };
    let again = match times {
        0 | 1 => String::new(),
        times if *began => format!(", the first of {times} times"),
        times => format!(", the last of {times} times"),
    };
    format!(
        "{what} of [{job}] {direction} from {} to {} {} {}, when {name} {}{again}.",
        said(*figure, *from),
        said(*figure, *to),
        if *began || *times < 2 { "at" } else { "by" },
        seconds(*at_s),
        if *began { "began" } else { "ended" },
    )
}

/// Writes the tables of a run.
pub(super) fn write(page: &mut Page, view: &View) {
    let is_told = |it: &&SideEffects| !it.is_background || !it.changes.is_empty();
    for side_effects in view.summary.side_effects.iter().filter(is_told) {
        for place in 0..side_effects.phases[0].jobs.len() {
            write_other(page, side_effects, place);
        }
    }
}

/// Writes the side effects of a job on one other.
fn write_other(page: &mut Page, side_effects: &SideEffects, place: usize) {
    let phases: Vec<(&PhaseSummary, &PhaseFigures)> =
        side_effects.phases.iter().map(|phase| (phase, &phase.jobs[place])).collect();
    let name = &phases[0].1.name;
    page.gap();
    page.heading(&match side_effects.is_background {
        true => format!("[{name}] beside the database's {}", side_effects.job),
        false => format!("[{name}] beside [{}]", side_effects.job),
    });
    let numbers = ["time", "completed", INTERVAL, "response p50", INTERVAL, "p99", INTERVAL];
    let titles = numbers.map(|title| (title, Align::Right)).into_iter();
    let mut table = Table::new([("", Align::Left)].into_iter().chain(titles))
        .with_optional_columns(&[INTERVAL, "time", INTERVAL, INTERVAL, "p99"]);
    for (phase, figures) in &phases {
        let head = [phase.name.name().to_owned(), seconds(phase.length_s)];
        let cells = SHOWN.map(|figure| cells(figures, figure));
        match figures.is_withheld {
            true => table.row_with_note(head.into_iter().chain(cells[0].clone()), "withheld"),
            false => table.row(head.into_iter().chain(cells.into_iter().flatten())),
        }
    }
    page.table(&table);
    write_claims(page, side_effects, &phases);
    let mut estimates = phases.iter().flat_map(|(_, figures)| estimates(figures));
    let is_marked =
        estimates.any(|estimate| estimate.bounds.is_some_and(|bounds| bounds.is_optimistic));
    if is_marked && page.shows(&table, INTERVAL) {
        page.note(MARKED);
    }
}

/// Returns the figures of the table that exist.
fn estimates(figures: &PhaseFigures) -> impl Iterator<Item = Estimate> {
    SHOWN.into_iter().filter_map(|figure| figures.figure(figure))
}

/// Formats a figure and its interval.
fn cells(figures: &PhaseFigures, figure: Figure) -> [String; 2] {
    let Some(Estimate { value, bounds, .. }) = figures.figure(figure) else {
        return [NONE, NONE].map(str::to_owned);
    };
    let interval = bounds.map(|bounds| {
        let mark = if bounds.is_optimistic { OPTIMISTIC } else { "" };
        range(&said(figure, bounds.low), &said(figure, bounds.high)) + mark
    });
    [said(figure, value), interval.unwrap_or_else(|| NONE.to_owned())]
}

fn said(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Throughput => rate(value),
        Figure::Mean | Figure::Quantile(_) => time(value),
    }
}

/// Writes the figures that differ, phase by phase, or that none does; then the phases that were too
/// short.
fn write_claims(
    page: &mut Page,
    side_effects: &SideEffects,
    phases: &[(&PhaseSummary, &PhaseFigures)],
) {
    let reference = side_effects.reference.name();
    let mut lines = Vec::new();
    for (phase, figures) in phases {
        let is_its = |change: &&Change| change.phase == phase.name && change.job == figures.name;
        let differs = |change: &Change| {
            let [from, to] = [change.from, change.to].map(|value| said(change.figure, value));
            format!("{} {to} instead of {from}", change.figure.name())
        };
        let changes: Vec<String> =
            side_effects.changes.iter().filter(is_its).map(differs).collect();
        if !changes.is_empty() {
            let label = format!("{}, not {reference}", phase.name.name());
            lines.push(Line::new(label, changes.join(", ")).in_tone(Tone::Strong));
        }
    }
    page.lines(2, &lines);
    let has_intervals =
        |figures: &PhaseFigures| estimates(figures).any(|estimate| estimate.bounds.is_some());
    let (known, unknown): (Vec<_>, Vec<_>) =
        phases.iter().partition(|(_, figures)| has_intervals(figures));
    if known.len() > 1 && lines.is_empty() {
        page.note("figures with intervals differ by no more than chance explains");
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|(phase, _)| phase.name.name()).collect();
        let least = seconds(FEWEST_BATCHES as f64 * side_effects.resolution_s);
        let names = names.join(", ");
        page.note(&format!(
            "{names}: too short to tell from chance, which takes {least} with requests"
        ));
    }
}
