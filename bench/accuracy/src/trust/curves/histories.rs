//! Histories of records, drawn from a model. A step is a lasting change of the mean throughput.

use analyze::compare::RunVerdict;
use analyze::history::{HistoryRun, history};
use base::{Draw, Seed, Stream};

use crate::trust::comparison::ComparisonRate;
use crate::trust::drawn_figures;

/// Number of records of a series.
const RECORDS: u32 = 40;

/// Standard deviation of the noise from record to record, as a fraction.
const NOISE: f64 = 0.02;

/// Size of the step, as a fraction.
const STEP: f64 = -0.05;

/// Minimum number of records before and after a step.
const MARGIN: u64 = 8;

/// Largest distance of a change point from the true step, in records, at which the step counts as
/// found.
const NEAR: u32 = 3;

/// Number of records before a step that is near the end of a series.
const BEFORE: u32 = 20;

/// Throughput of a different plan, as a multiple of the usual throughput.
const OTHER_PLAN: f64 = 1.5;

/// Number of times that each value is counted if copies are mistaken for records.
const COPIES: u32 = 4;

/// Rates of change points.
#[derive(Clone, Debug)]
pub(super) struct HistoryRates {
    /// Rate of finding a step that has at least [`MARGIN`] records before it and after it.
    pub(super) found: ComparisonRate,
    /// Rates of finding a step as soon as four, six and eight records exist from the step on. With
    /// fewer than four such records, no step can be found.
    pub(super) found_soon: [ComparisonRate; 3],
    /// Rate of finding a step if every second record has a different plan.
    pub(super) found_in_mixed: ComparisonRate,
    /// Rate of change points in series without a step.
    pub(super) alarms: ComparisonRate,
    /// Rate of change points in series in which there is no step and each record is repeated.
    pub(super) alarms_of_copies: ComparisonRate,
}

/// Counts the series with change points among `number` series of each kind.
pub(super) fn rates(number: u32) -> HistoryRates {
    let finds = |plans| move |seed| finds_step(seed, plans);
    let soon = |name, least, after| {
        ComparisonRate::count(name, number, least..=100.0, |seed| finds_new_step(seed, after))
    };
    let alarms = |copies| move |seed| !changes(&unchanged(seed, copies)).is_empty();
    let found = "history of 40 records, noise 2 %, step of 5 %: placed within 3 records";
    let alarm = "history of 40 records without a step: a change point";
    HistoryRates {
        found: ComparisonRate::count(found, number, 90.0..=100.0, finds(Plans::One)),
        found_soon: [
            soon("the same, 20 records before the step and 4 after it", 50.0, 4),
            soon("the same, 20 records before the step and 6 after it", 80.0, 6),
            soon("the same, 20 records before the step and 8 after it", 90.0, 8),
        ],
        found_in_mixed: ComparisonRate::count(found, number, 90.0..=100.0, finds(Plans::Two)),
        alarms: ComparisonRate::count(alarm, number, 0.0..=5.0, alarms(1)),
        alarms_of_copies: ComparisonRate::count(alarm, number, 0.0..=5.0, alarms(COPIES)),
    }
}

/// The plans of the records of a series.
#[derive(Clone, Copy, Debug)]
enum Plans {
    One,
    /// A different plan in every second record: the planted mistake.
    Two,
}

fn finds_step(seed: u64, plans: Plans) -> bool {
    let mut draw = Stream::new(Seed(seed), "histories", "step").draw(0);
    let at = (MARGIN + draw.below(u64::from(RECORDS) - 2 * MARGIN + 1)) as u32;
    is_placed(at, &stepped(&mut draw, RECORDS, at, plans))
}

/// Returns true if a step is found with `after` records from the step on.
fn finds_new_step(seed: u64, after: u32) -> bool {
    let mut draw = Stream::new(Seed(seed), "histories", "new step").draw(0);
    is_placed(BEFORE, &stepped(&mut draw, BEFORE + after, BEFORE, Plans::One))
}

/// Returns true if a change point is at most [`NEAR`] records from the true step, which is at the
/// record `at`.
fn is_placed(at: u32, values: &[f64]) -> bool {
    changes(values).into_iter().any(|found| found.abs_diff(at) <= NEAR)
}

/// Returns a series with a step at a record.
fn stepped(draw: &mut Draw, records: u32, at: u32, plans: Plans) -> Vec<f64> {
    let value = |record: u32| {
        let step = if record >= at { 1.0 + STEP } else { 1.0 };
        let plan = match plans {
            Plans::Two if record % 2 == 1 => OTHER_PLAN,
            Plans::One | Plans::Two => 1.0,
        };
        1_000.0 * step * plan * (1.0 + NOISE * draw.normal())
    };
    (0..records).map(value).collect()
}

/// Returns a series without a step, in which each value occurs `copies` times in succession.
fn unchanged(seed: u64, copies: u32) -> Vec<f64> {
    let mut draw = Stream::new(Seed(seed), "histories", "unchanged").draw(0);
    let mut values = Vec::new();
    while values.len() < RECORDS as usize {
        let value = 1_000.0 * (1.0 + NOISE * draw.normal());
        values.extend((0..copies).map(|_| value));
    }
    values
}

/// Returns the index of the first record after each change of the throughput.
fn changes(values: &[f64]) -> Vec<u32> {
    let record =
        |value: &f64| HistoryRun::Runs(vec![drawn_figures(*value, RunVerdict::new([]))], None);
    let records: Vec<HistoryRun> = values.iter().map(record).collect();
    let all = history(&records.iter().collect::<Vec<_>>(), &[]);
    all.iter().flat_map(|metric| &metric.changes).map(|change| change.after as u32).collect()
}
