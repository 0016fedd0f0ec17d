//! Use of each processor over time, as a heat map.

use std::collections::BTreeMap;

use analyze::Observed;
use base::Nanos;
use record::ComponentKind;
use record::metric::processor;

use super::readings::{by_place, ends, figure_texts, of_metric};
use super::subject::Run;
use super::timeline;
use crate::figure::{Axis, Figure, HeatCell, Ink, LegendEntry, Mark, Swatch};
use crate::number::{count, percent, range, significant, trimmed};

/// The title.
const TITLE: &str = "Use of each processor (heat map)";

/// Maximum number of rows. If there are more processors, neighbouring ones share a row.
const MOST_ROWS: usize = 16;

/// Maximum number of rows with a label.
const MOST_LABELS: usize = 8;

/// Maximum number of columns.
const MOST_COLUMNS: usize = 120;

/// Use of a processor below which a cell stays empty, as a fraction.
const IDLE: f64 = 0.02;

/// Returns a figure of the processors for each machine that [`by_place`] chooses.
pub(super) fn figures(run: &Run<'_>) -> Vec<Figure> {
    let number = |kind| match kind {
        ComponentKind::Processor(number) => Some(number),
        _ => None,
    };
    let places = by_place(&run.view.evidence.observed, number);
    places.into_iter().filter_map(|(place, of_it)| figure(run, place.as_deref(), of_it)).collect()
}

fn figure(
    run: &Run<'_>,
    place: Option<&str>,
    of_place: BTreeMap<u32, Vec<&Observed>>,
) -> Option<Figure> {
    let of_number = |(number, series): (u32, Vec<&Observed>)| Some((number, readings(&series)?));
    let read: Vec<(u32, Vec<Reading>)> = of_place.into_iter().filter_map(of_number).collect();
    let periods = periods(&read, run.view.evidence.end());
    let all: Vec<Processor> = read
        .iter()
        .filter_map(|(number, readings)| Processor::of(*number, readings, &periods))
        .collect();
    let words = figure_texts("processors", TITLE, place, caption(&all)?);
    let shared = all.len().div_ceil(MOST_ROWS);
    let rows: Vec<&[Processor]> = all.chunks(shared).collect();
    let cells = |(row, shared): (usize, &&[Processor])| cells(row, shared, &periods);
    let cells = rows.iter().enumerate().flat_map(cells).collect();
    let mut marks = vec![Mark::Cells { ink: Ink::Series(0), cells }];
    marks.extend(timeline::marks(run));
    let labels: Vec<(f64, String)> = rows
        .iter()
        .enumerate()
        .step_by(rows.len().div_ceil(MOST_LABELS))
        .map(|(row, shared)| (row as f64, label(shared)))
        .collect();
    let labels: Vec<(f64, &str)> = labels.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let ends = all.first().zip(all.last());
    let y = Axis::at_values("processor", &labels, None).within([-0.5, rows.len() as f64 - 0.5]);
    let y = ends.map_or(y.clone(), |(first, last)| {
        y.with_values(first.number.to_string(), last.number.to_string())
    });
    Some(words.into_figure([run.time(), y], marks, legend()))
}

/// Returns samples of the intensities, from the highest.
fn legend() -> Vec<LegendEntry> {
    let entry = |level: u8| {
        let part = |level: u8| f64::from(level) / f64::from(HeatCell::LEVELS);
        let low = if level == 1 { IDLE } else { part(level - 1) };
        let text = range(&percent(low), &percent(part(level)));
        LegendEntry::new(Ink::Series(0), Swatch::Cell(level), format!("{text} of the time"))
    };
    HeatCell::SAMPLES.map(entry).to_vec()
}

/// A reading of the counters of a processor.
#[derive(Clone, Copy)]
struct Reading {
    at: Nanos,
    /// Seconds in which the processor worked. The field `total` also includes the idle seconds.
    busy: f64,
    total: f64,
}

/// Returns the readings of a processor at the times at which both counters were read; `None` if one
/// of them was not recorded.
fn readings(series: &[&Observed]) -> Option<Vec<Reading>> {
    let total = of_metric(series, processor::TOTAL)?;
    let busy = &of_metric(series, processor::BUSY)?.points;
    let reading = |(at, total): &(Nanos, f64)| {
        let place = busy.binary_search_by_key(at, |(at, _)| *at).ok()?;
        Some(Reading { at: *at, busy: busy[place].1, total: *total })
    };
    Some(total.points.iter().filter_map(reading).collect())
}

/// Returns the start and the end of each column. The columns are the same for all processors of a
/// place, even if one of them lacks readings. All begin before the end of the schedule.
fn periods(read: &[(u32, Vec<Reading>)], end: Nanos) -> Vec<[Nanos; 2]> {
    let mut times: Vec<Nanos> = Vec::new();
    for (_, readings) in read {
        let own = readings.iter().map(|reading| reading.at);
        // Nearly always, all processors have the same times.
        if !own.clone().eq(times.iter().copied()) {
            times.extend(own);
            times.sort();
            times.dedup();
        }
    }
    let ends = ends(&times, MOST_COLUMNS, |at| *at);
    let periods = ends.windows(2).map(|pair| [pair[0], pair[1]]);
    periods.filter(|[from, _]| *from < end).collect()
}

/// The use of a processor.
struct Processor {
    number: u32,
    /// Use in each period; `None` if the processor was not read, or its counters were reset.
    uses: Vec<Option<Use>>,
}

/// The use of a processor in a period: seconds in which it worked, and all seconds of the period.
#[derive(Clone, Copy)]
struct Use {
    busy: f64,
    total: f64,
}

impl Use {
    /// Returns the use between the first and the last of some readings; `None` if there are fewer
    /// than two, or if a counter was reset.
    fn of(readings: &[Reading]) -> Option<Use> {
        let [first, .., last] = readings else { return None };
        let found = Use { busy: last.busy - first.busy, total: last.total - first.total };
        (found.total > 0.0 && found.busy >= 0.0).then_some(found)
    }

    /// Returns the fraction of the time for which the processors worked, over all `uses`; `None` if
    /// there are no uses.
    fn part<'u>(uses: impl Iterator<Item = &'u Use>) -> Option<f64> {
        let sum =
            |sum: Use, one: &Use| Use { busy: sum.busy + one.busy, total: sum.total + one.total };
        let sum = uses.fold(Use { busy: 0.0, total: 0.0 }, sum);
        (sum.total > 0.0).then(|| (sum.busy / sum.total).min(1.0))
    }
}

impl Processor {
    /// Returns the use of a processor in each period; `None` if it is unknown for every period.
    fn of(number: u32, readings: &[Reading], periods: &[[Nanos; 2]]) -> Option<Processor> {
        let within = |[from, to]: &[Nanos; 2]| {
            let begin = readings.partition_point(|reading| reading.at < *from);
            let end = readings.partition_point(|reading| reading.at <= *to);
            Use::of(&readings[begin..end])
        };
        let uses: Vec<Option<Use>> = periods.iter().map(within).collect();
        uses.iter().any(Option::is_some).then_some(Processor { number, uses })
    }

    fn mean(&self) -> f64 {
        Use::part(self.uses.iter().flatten()).unwrap_or_default()
    }
}

/// Returns the cells of a row; neighbouring cells with the same intensity are merged.
fn cells(row: usize, shared: &[Processor], periods: &[[Nanos; 2]]) -> Vec<HeatCell> {
    let mut cells: Vec<HeatCell> = Vec::new();
    for (column, ends) in periods.iter().enumerate() {
        let part = Use::part(shared.iter().filter_map(|it| it.uses[column].as_ref()));
        let Some(level) = part.and_then(level) else { continue };
        let x = ends.map(|end| end.as_secs_f64());
        match cells.last_mut() {
            Some(last) if last.level == level && last.x[1] == x[0] => last.x[1] = x[1],
            _ => cells.push(HeatCell { x, y: [row as f64 - 0.5, row as f64 + 0.5], level }),
        }
    }
    cells
}

/// Returns the intensity of a cell for this fraction of use; `None` if the cell stays empty.
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

    /// Returns the cells of a row of processors. Each reading is a second and the processor time
    /// used until then, in seconds.
    fn row(readings: &[&[(u64, f64)]]) -> Vec<([f64; 2], u8)> {
        let reading = |(second, busy): &(u64, f64)| Reading {
            at: Nanos::from_secs(*second),
            busy: *busy,
            total: *second as f64,
        };
        let read: Vec<(u32, Vec<Reading>)> = (0..)
            .zip(readings)
            .map(|(number, readings)| (number, readings.iter().map(reading).collect()))
            .collect();
        let periods = periods(&read, Nanos::MAX);
        let of_number =
            |(number, readings): &(u32, Vec<Reading>)| Processor::of(*number, readings, &periods);
        let shared: Vec<Processor> = read.iter().filter_map(of_number).collect();
        cells(0, &shared, &periods).iter().map(|cell| (cell.x, cell.level)).collect()
    }

    #[test]
    fn equal_neighbours_are_one_cell() {
        let cells = row(&[&[(0, 0.0), (1, 0.9), (2, 1.85), (3, 1.85), (4, 2.75)]]);
        assert_eq!(cells, [([0.0, 2.0], 6), ([3.0, 4.0], 6)]);
    }

    #[test]
    fn processors_of_a_row_are_added_by_time_if_one_was_not_read() {
        let always = [(0, 0.0), (1, 0.0), (2, 0.0), (3, 1.0), (4, 2.0), (5, 2.0)];
        // The second processor works in the last second only, after it was off.
        let at_times = [(0, 0.0), (1, 0.0), (4, 0.0), (5, 1.0)];
        let cells = row(&[&always, &at_times]);
        assert_eq!(cells, [([2.0, 4.0], 6), ([4.0, 5.0], 3)]);
    }

    #[test]
    fn last_seconds_of_a_long_run_are_drawn() {
        let readings: Vec<(u64, f64)> = (0..500).map(|second| (second, second as f64)).collect();
        assert_eq!(row(&[&readings]), [([0.0, 499.0], 6)]);
    }
}
