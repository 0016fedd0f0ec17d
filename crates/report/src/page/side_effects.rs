//! Side effects of intermittent jobs and of background work: for each of these, a table for every
//! other job.

use analyze::{
    Change, Effect, Estimate, FEWEST_BATCHES, Figure, PhaseFigures, PhaseSummary, Quantile,
    SideEffects,
};
use base::AccountId;

use super::quantity::Quantity;
use super::remark::{Line, Remark, Tone};
use super::table::{Align, Cell, Table};
use crate::number::seconds;

/// Figures in the table. A claim may concern a figure that is not in the table.
const SHOWN_FIGURES: [Figure; 3] = [Figure::Throughput, Figure::Quantile(0), Figure::Quantile(3)];

/// Title of a column of intervals.
const CI_TITLE: &str = "95 %";

/// Mark of an interval that is not used for conclusions.
const OPTIMISTIC_MARK: &str = "*";

/// Explanation of [`OPTIMISTIC_MARK`].
const MARK_EXPLANATION: &str =
    "* neighbouring seconds resemble each other: the interval is too narrow, up to five times";

/// Maximum number of listed effects.
const MOST_EFFECTS: usize = 4;

/// Side effects of a job, or of work of the database, on one other job.
#[derive(Clone, Debug, PartialEq)]
pub struct SideEffectSection {
    /// Names of the cause and of the affected job.
    pub heading: String,
    /// A row for each phase.
    pub table: Table,
    /// Figures that differ from those of the reference phase, phase by phase.
    pub claims: Vec<Line>,
    /// Notes on the claims.
    pub notes: Vec<Remark>,
    /// Explanation of the marks in the columns of intervals, if there are any.
    pub legend: Option<Legend>,
}

/// The explanation of a mark, which is shown with the columns that contain the mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Legend {
    /// Title of the columns that contain the mark.
    pub column: &'static str,
    /// Explanation.
    pub note: Remark,
}

/// Returns the largest changes as sentences, each with the moment of the change. The order of the
/// changes is kept.
pub(super) fn changes(effects: &[Effect]) -> Vec<Remark> {
    let mut shown: Vec<(usize, &Effect)> = effects.iter().enumerate().collect();
    shown.sort_by(|(_, one), (_, other)| factor(other).total_cmp(&factor(one)));
    shown.truncate(MOST_EFFECTS);
    shown.sort_by_key(|(place, _)| *place);
    shown.into_iter().map(|(_, effect)| Remark::Note(in_words(effect))).collect()
}

/// Returns the factor between the two values of a change, at least 1.
fn factor(effect: &Effect) -> f64 {
    (effect.to / effect.from).max(effect.from / effect.to)
}

/// Formats a change and the activity that began or ended at that time.
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
        quantity(*figure, *from),
        quantity(*figure, *to),
        if *began || *times < 2 { "at" } else { "by" },
        seconds(*at_s),
        if *began { "began" } else { "ended" },
    )
}

/// Returns the tables of a run. Background work of a database has a table only if it changed a
/// figure.
pub(super) fn sections(side_effects: &[SideEffects]) -> Vec<SideEffectSection> {
    let is_reported = |it: &&SideEffects| !it.is_background || !it.changes.is_empty();
    let of_one = |it: &SideEffects| {
        let others = it.phases[0].jobs.iter().map(|figures| figures.account);
        others.map(|other| section(it, other)).collect::<Vec<_>>()
    };
    side_effects.iter().filter(is_reported).flat_map(of_one).collect()
}

/// Returns the side effects of a job on one other job.
fn section(side_effects: &SideEffects, other: AccountId) -> SideEffectSection {
    let of_other = |figures: &&PhaseFigures| figures.account == other;
    let phases = side_effects.phases.iter();
    let phases: Vec<(&PhaseSummary, &PhaseFigures)> =
        phases.filter_map(|phase| Some((phase, phase.jobs.iter().find(of_other)?))).collect();
    let name = &phases[0].1.name;
    let claims = claims(side_effects, &phases);
    let mut estimates = phases.iter().flat_map(|(_, figures)| estimates(figures));
    let is_marked =
        estimates.any(|estimate| estimate.bounds.is_some_and(|bounds| bounds.is_optimistic));
    SideEffectSection {
        heading: match side_effects.is_background {
            true => format!("[{name}] beside the database's {}", side_effects.job),
            false => format!("[{name}] beside [{}]", side_effects.job),
        },
        table: table(&phases),
        notes: notes(side_effects, &phases, claims.is_empty()),
        claims,
        legend: is_marked
            .then(|| Legend { column: CI_TITLE, note: Remark::note(MARK_EXPLANATION) }),
    }
}

fn table(phases: &[(&PhaseSummary, &PhaseFigures)]) -> Table {
    let numbers = ["time", "completed", CI_TITLE, "response p50", CI_TITLE, "p99", CI_TITLE];
    let titles = numbers.map(|title| (title, Align::Right)).into_iter();
    let none = SHOWN_FIGURES.map(|figure| [0.0; 3].map(|value| quantity(figure, value)));
    let none = none
        .into_iter()
        .flat_map(|[value, low, high]| [value.into(), Cell::Interval { low, high, mark: "" }]);
    let head = [Cell::Empty, Quantity::Span(0.0).into()];
    let mut table = Table::new([("", Align::Left)].into_iter().chain(titles))
        .with_values_of(head.into_iter().chain(none))
        .with_optional_columns([CI_TITLE, "time", CI_TITLE, CI_TITLE, "p99"]);
    for (phase, figures) in phases {
        let head = [Cell::from(phase.name.name()), Quantity::Span(phase.length_s).into()];
        let cells = SHOWN_FIGURES.map(|figure| cells(figures, figure));
        match figures.is_withheld {
            true => table.row_with_note(head.into_iter().chain(cells[0].clone()), "withheld"),
            false => table.row(head.into_iter().chain(cells.into_iter().flatten())),
        }
    }
    table
}

/// Returns the figures of a phase that the table shows, as far as they were measured.
fn estimates(figures: &PhaseFigures) -> impl Iterator<Item = Estimate> {
    SHOWN_FIGURES.into_iter().filter_map(|figure| figures.figure(figure))
}

/// Returns a figure and its interval.
fn cells(figures: &PhaseFigures, figure: Figure) -> [Cell; 2] {
    let Some(Estimate { value, bounds, .. }) = figures.figure(figure) else {
        return [Cell::Missing, Cell::Missing];
    };
    let interval = bounds.map(|bounds| Cell::Interval {
        low: quantity(figure, bounds.low),
        high: quantity(figure, bounds.high),
        mark: if bounds.is_optimistic { OPTIMISTIC_MARK } else { "" },
    });
    [quantity(figure, value).into(), interval.unwrap_or(Cell::Missing)]
}

fn quantity(figure: Figure, value: f64) -> Quantity {
    match figure {
        Figure::Throughput => Quantity::Rate(value),
        Figure::Mean | Figure::Quantile(_) => Quantity::Time(value),
    }
}

/// Returns the figures that differ from those of the reference phase, phase by phase.
fn claims(side_effects: &SideEffects, phases: &[(&PhaseSummary, &PhaseFigures)]) -> Vec<Line> {
    let reference = side_effects.reference.name();
    let mut lines = Vec::new();
    for (phase, figures) in phases {
        let is_its = |change: &&Change| change.phase == phase.name && change.job == figures.name;
        let differs = |change: &Change| {
            let [from, to] = [change.from, change.to].map(|value| quantity(change.figure, value));
            format!("{} {to} instead of {from}", change.figure.name())
        };
        let changes: Vec<String> =
            side_effects.changes.iter().filter(is_its).map(differs).collect();
        if !changes.is_empty() {
            let label = format!("{}, not {reference}", phase.name.name());
            lines.push(Line::new(label, changes.join(", ")).in_tone(Tone::Strong));
        }
    }
    lines
}

/// Returns a note if no figure differs, and a note on the phases that were too short.
fn notes(
    side_effects: &SideEffects,
    phases: &[(&PhaseSummary, &PhaseFigures)],
    nothing_differs: bool,
) -> Vec<Remark> {
    let has_intervals =
        |figures: &PhaseFigures| estimates(figures).any(|estimate| estimate.bounds.is_some());
    let (known, unknown): (Vec<_>, Vec<_>) =
        phases.iter().partition(|(_, figures)| has_intervals(figures));
    let mut notes = Vec::new();
    if known.len() > 1 && nothing_differs {
        notes.push(Remark::note("figures with intervals differ by no more than chance explains"));
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|(phase, _)| phase.name.name()).collect();
        let least = seconds(FEWEST_BATCHES as f64 * side_effects.resolution_s);
        let names = names.join(", ");
        notes.push(Remark::note(format!(
            "{names}: too short to distinguish from chance, which takes {least} with requests"
        )));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_changes_are_reported_in_their_order() {
        let effect = |number: usize, to: f64| Effect {
            job: format!("j{number}"),
            figure: Figure::Mean,
            from: 10.0,
            to,
            at_s: 30.0,
            cause: "clean-up".to_owned(),
            is_background: false,
            began: true,
            times: 1,
        };
        let after = [13.0, 20.0, 2.0, 12.5, 40.0, 7.0];
        let effects: Vec<Effect> =
            after.into_iter().enumerate().map(|(number, to)| effect(number, to)).collect();
        let shown = [1usize, 2, 4, 5].map(|place| Remark::Note(in_words(&effects[place])));
        assert_eq!(changes(&effects), shown);
        assert_eq!(changes(&effects[..2]).len(), 2);
    }
}
