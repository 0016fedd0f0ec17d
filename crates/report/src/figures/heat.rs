//! The heat map of response times: the numbers of requests by time and by response time.

use std::collections::BTreeMap;

use analyze::{TimeClass, TimeColumn};

use super::subject::{FigureTexts, Job, NO_TIMES, Run};
use super::timeline;
use crate::figure::{Axis, Figure, HeatCell, Ink, LegendEntry, Mark, Swatch, Unit};
use crate::number::{range, rate, seconds};

/// Maximum number of columns.
const MOST_COLUMNS: usize = 120;

/// Maximum number of rows. If there are more classes of times, several share a row.
const MOST_ROWS: u16 = 40;

/// Range of the colour scale, in powers of ten: it begins at a thousandth of the highest density.
const DECADES: f64 = 3.0;

/// Returns the heat map of a job.
pub(super) fn figure(run: &Run<'_>, job: &Job<'_>) -> Figure {
    let columns = &job.course.columns;
    let size = columns.len().div_ceil(MOST_COLUMNS).max(1);
    let width = columns.first().map_or(0.0, |first| {
        let last = &columns[size.min(columns.len()) - 1];
        last.to.as_secs_f64() - first.from.as_secs_f64()
    });
    let words = FigureTexts {
        name: job.figure_name("heat-map"),
        title: format!("Response times over time (heat map): {}", job.summary.name),
        caption: format!(
            "Each column is {} of the run, each row a class of response times; the stronger the \
             colour, the more requests per second: groups of slow requests show as stripes of \
             their own.",
            seconds(width)
        ),
    };
    if let Some(reason) = job.missing() {
        return words.into_empty_figure(reason);
    }
    let numbers = || columns.iter().flat_map(|it| &it.classes).map(|class| class.number);
    let (Some(lowest), Some(highest)) = (numbers().min(), numbers().max()) else {
        return words.into_empty_figure(NO_TIMES.to_owned());
    };
    let stride = classes_per_row([lowest, highest]);
    let counted: Vec<ColumnCounts> =
        columns.chunks(size).map(|part| ColumnCounts::of(part, stride)).collect();
    let densities = counted.iter().flat_map(|it| it.rows.values().map(|count| it.density(*count)));
    let most = densities.fold(0.0, f64::max);
    let ink = Ink::Series(0);
    let cells = counted.iter().flat_map(|it| it.cells(stride, most)).collect();
    let mut marks = vec![Mark::Cells { ink, cells }];
    marks.extend(timeline::marks(run));
    // The ends are edges of rows, so the axis, which encloses them, cuts off no row.
    let ends = [lowest / stride * stride, (highest / stride + 1) * stride].map(TimeClass::edge_ns);
    let y = Axis::logarithmic("response time, logarithmic", Unit::Time, ends);
    words.into_figure([run.time(), y], marks, legend(ink, most))
}

/// Returns the smallest number of classes per row with which there are few enough rows. Each row
/// begins with a multiple of this number, so the first one may begin below the lowest class.
fn classes_per_row([lowest, highest]: [u16; 2]) -> u16 {
    let is_enough = |stride: &u16| highest / stride - lowest / stride < MOST_ROWS;
    (1..u16::MAX).find(is_enough).unwrap_or(u16::MAX)
}

/// Returns samples of the intensities, from the highest, with the requests per second of a cell.
fn legend(ink: Ink, most: f64) -> Vec<LegendEntry> {
    let entry = |level: u8| {
        let high = rate(most * fraction(level));
        let text = match level {
            1 => format!("up to {high}"),
            _ => range(&rate(most * fraction(level - 1)), &high),
        };
        LegendEntry::new(ink, Swatch::Cell(level), text)
    };
    HeatCell::SAMPLES.map(entry).to_vec()
}

/// The numbers of response times in a column, by row.
struct ColumnCounts {
    x: [f64; 2],
    rows: BTreeMap<u16, u64>,
}

impl ColumnCounts {
    fn of(part: &[TimeColumn], stride: u16) -> ColumnCounts {
        let mut rows = BTreeMap::new();
        for class in part.iter().flat_map(|column| &column.classes) {
            *rows.entry(class.number / stride).or_insert(0) += class.count;
        }
        let ends = part.first().zip(part.last());
        let x =
            ends.map_or([0.0; 2], |(first, last)| [first.from, last.to].map(|at| at.as_secs_f64()));
        ColumnCounts { x, rows }
    }

    /// Converts a number of requests in this column to requests per second. The last column may be
    /// shorter than the others.
    fn density(&self, count: u64) -> f64 {
        count as f64 / (self.x[1] - self.x[0]).max(1e-9)
    }

    fn cells(&self, stride: u16, most: f64) -> impl Iterator<Item = HeatCell> + '_ {
        self.rows.iter().map(move |(row, count)| HeatCell {
            x: self.x,
            y: [row * stride, (row + 1) * stride].map(TimeClass::edge_ns),
            level: level(self.density(*count) / most),
        })
    }
}

/// Returns the largest fraction of the highest density that has this intensity.
fn fraction(level: u8) -> f64 {
    10f64.powf(DECADES * (f64::from(level) / f64::from(HeatCell::LEVELS) - 1.0))
}

/// Returns the intensity of a fraction of the highest density.
fn level(fraction: f64) -> u8 {
    let levels = f64::from(HeatCell::LEVELS);
    let level = (levels * (1.0 + fraction.log10() / DECADES)).ceil();
    level.clamp(1.0, levels) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_slow_request_stays_visible() {
        assert_eq!(level(1.0), HeatCell::LEVELS);
        assert_eq!(level(1e-9), 1);
        assert!(level(0.1) < level(1.0) && level(0.01) < level(0.1));
    }

    #[test]
    fn rows_are_few_for_any_first_class() {
        for (ends, expected) in
            [([50, 50], 1), ([51, 90], 1), ([51, 91], 2), ([50, 129], 2), ([51, 130], 3)]
        {
            assert_eq!(classes_per_row(ends), expected, "{ends:?}");
        }
    }

    #[test]
    fn legend_has_the_requests_per_second_of_three_intensities() {
        let legend = legend(Ink::Series(0), 2_000.0);
        let texts: Vec<&str> = legend.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, ["632–2,000/s", "20–63.2/s", "up to 6.32/s"]);
        for entry in legend {
            let Swatch::Cell(sample) = entry.swatch else { panic!("{entry:?}") };
            assert_eq!(level(0.999 * fraction(sample)), sample);
            assert_eq!(level(1.001 * fraction(sample)), (sample + 1).min(HeatCell::LEVELS));
        }
    }
}
