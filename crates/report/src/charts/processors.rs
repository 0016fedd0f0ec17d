//! Use of each processor over time, as a heat map.

use std::collections::BTreeMap;

use analyze::Observed;
use record::Part;
use record::metric::processor;

use super::readings::{by_place, of_metric, words};
use super::subject::Run;
use super::timeline;
use crate::figure::{Axis, Figure, HeatCell, Ink, Mark};
use crate::number::{count, percent, significant, trimmed};

/// Most rows; neighbouring processors share one.
const MOST_ROWS: usize = 16;

/// Most rows of which each has a label.
const MOST_LABELS: usize = 8;

/// Most columns.
const MOST_COLUMNS: usize = 120;

/// Use below which a cell stays empty.
const IDLE: f64 = 0.02;

/// Returns the processors of each observed machine.
pub(super) fn figures(run: &Run<'_>) -> Vec<Figure> {
    let number = |part| match part {
        Part::Processor(number) => Some(number),
        _ => None,
    };
    let places = by_place(&run.view.evidence, number);
    places.into_iter().filter_map(|(place, of_it)| figure(run, place.as_deref(), of_it)).collect()
}

fn figure(
    run: &Run<'_>,
    place: Option<&str>,
    of_place: BTreeMap<u32, Vec<&Observed>>,
) -> Option<Figure> {
    let all: Vec<Processor> = of_place
        .into_iter()
        .filter_map(|(number, series)| Processor::of(number, &series))
        .collect();
    let words = words("processors", "Use of each processor", place, caption(&all)?);
    let shared = all.len().div_ceil(MOST_ROWS);
    let rows: Vec<&[Processor]> = all.chunks(shared).collect();
    let cells = rows.iter().enumerate().flat_map(|(row, shared)| cells(row, shared)).collect();
    let mut marks = vec![Mark::Cells { ink: Ink::Series(0), cells }];
    marks.extend(timeline::marks(run));
    let labels: Vec<(f64, String)> = rows
        .iter()
        .enumerate()
        .step_by(rows.len().div_ceil(MOST_LABELS))
        .map(|(row, shared)| (row as f64, label(shared)))
        .collect();
    let labels: Vec<(f64, &str)> = labels.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let y = Axis::at_values("processor", &labels, None).within([-0.5, rows.len() as f64 - 0.5]);
    Some(words.with([run.time(), y], marks, Vec::new()))
}

/// The use of a processor.
struct Processor {
    number: u32,
    uses: Vec<Use>,
}

/// The use of a processor between two readings.
#[derive(Clone, Copy)]
struct Use {
    /// Begin and end in seconds since time zero.
    x: [f64; 2],
    /// Seconds in which it worked, and all of its seconds.
    busy: f64,
    total: f64,
}

impl Processor {
    fn of(number: u32, series: &[&Observed]) -> Option<Processor> {
        let total = of_metric(series, processor::TOTAL)?;
        let busy = of_metric(series, processor::BUSY)?;
        let both: Vec<(f64, f64, f64)> = total
            .points
            .iter()
            .zip(&busy.points)
            .filter(|((at, _), (other, _))| at == other)
            .map(|((at, total), (_, busy))| (at.as_secs_f64(), *total, *busy))
            .collect();
        let size = both.len().saturating_sub(1).div_ceil(MOST_COLUMNS).max(1);
        let ends: Vec<(f64, f64, f64)> = both.iter().copied().step_by(size).collect();
        let between = |pair: &[(f64, f64, f64)]| {
            let [from, to] = [pair[0], pair[1]];
            Use { x: [from.0, to.0], total: to.1 - from.1, busy: to.2 - from.2 }
        };
        let uses: Vec<Use> =
            ends.windows(2).map(between).filter(|it| it.total > 0.0 && it.busy >= 0.0).collect();
        (!uses.is_empty()).then_some(Processor { number, uses })
    }

    fn mean(&self) -> f64 {
        let sum = |of: fn(&Use) -> f64| self.uses.iter().map(of).sum::<f64>();
        (sum(|it| it.busy) / sum(|it| it.total)).min(1.0)
    }
}

/// Returns the cells of a row: equal neighbours are one.
fn cells(row: usize, shared: &[Processor]) -> Vec<HeatCell> {
    let mut cells: Vec<HeatCell> = Vec::new();
    let columns = shared.iter().map(|it| it.uses.len()).min().unwrap_or_default();
    for column in 0..columns {
        let sum = |of: fn(&Use) -> f64| shared.iter().map(|it| of(&it.uses[column])).sum::<f64>();
        let x = shared[0].uses[column].x;
        let Some(level) = level(sum(|it| it.busy) / sum(|it| it.total)) else { continue };
        match cells.last_mut() {
            Some(last) if last.level == level && last.x[1] == x[0] => last.x[1] = x[1],
            _ => cells.push(HeatCell { x, y: [row as f64 - 0.5, row as f64 + 0.5], level }),
        }
    }
    cells
}

/// Returns the intensity of a use; `None` if it is idle.
fn level(part: f64) -> Option<u8> {
    let levels = f64::from(HeatCell::LEVELS);
    (part >= IDLE).then(|| (part * levels).ceil().clamp(1.0, levels) as u8)
}

fn label(shared: &[Processor]) -> String {
    match shared {
        [one] => one.number.to_string(),
        [first, .., last] => format!("{}–{}", first.number, last.number),
        [] => String::new(),
    }
}

fn caption(all: &[Processor]) -> Option<String> {
    let busiest = all.iter().max_by(|one, other| one.mean().total_cmp(&other.mean()))?;
    let busy: f64 = all.iter().map(Processor::mean).sum();
    Some(format!(
        "The stronger the colour, the busier the processor: on average {} of {} worked, and number \
         {} most, {} of the time.",
        trimmed(&significant(busy)),
        count(all.len() as u64, "processor"),
        busiest.number,
        percent(busiest.mean())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strength_is_a_sixth_of_the_time_and_idle_is_empty() {
        let levels = [0.0, 0.019, 0.02, 1.0 / 6.0, 0.17, 0.84, 1.0, 1.01].map(level);
        let expected = [None, None, Some(1), Some(1), Some(2), Some(6), Some(6), Some(6)];
        assert_eq!(levels, expected);
    }

    #[test]
    fn equal_neighbours_are_one_cell() {
        let uses = |busy: &[f64]| {
            let of = |(n, busy): (usize, &f64)| Use {
                x: [n as f64, n as f64 + 1.0],
                busy: *busy,
                total: 1.0,
            };
            busy.iter().enumerate().map(of).collect::<Vec<Use>>()
        };
        let one = Processor { number: 0, uses: uses(&[0.9, 0.95, 0.0, 0.9]) };
        let cells: Vec<([f64; 2], u8)> =
            cells(0, &[one]).iter().map(|cell| (cell.x, cell.level)).collect();
        assert_eq!(cells, [([0.0, 2.0], 6), ([3.0, 4.0], 6)]);
    }
}
