//! The shape of a distribution: the number of times between consecutive edges, drawn with bars.
//!
//! The edges grow by a constant factor, so the relative resolution is the same for milliseconds and
//! seconds. They are preferred numbers (ISO 3, series R20 and coarser): short to read, and the same
//! in every report.

use base::units::grouped;
use hdrhistogram::Histogram;

use crate::number::{share, time};
use crate::text::table::{Align, Table};

/// Maximum number of lines of a picture.
const LINES: usize = 20;

/// Maximum width of a bar, in columns.
const WIDEST: usize = 48;

/// Twenty steps per decade, in hundredths.
const R20: [u64; 20] = [
    100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800,
    900,
];

/// Step widths that use 20, 10, 5, 2 or 1 edges per decade.
const STRIDES: [usize; 5] = [1, 2, 4, 10, 20];

/// Number of decades from a nanosecond on; the last edge is beyond any recorded time.
const DECADES: usize = 14;

/// The times up to an edge and above the edge before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    edge_ns: f64,
    count: u64,
}

/// Divisor for the number of shortest times that share the first line, to prevent a few of them
/// from taking the room of the others. The longest are never merged, as they are the most
/// interesting ones.
const SHORTEST_IN: u64 = 200;

/// Draws a histogram for a page with this much room.
pub(super) fn picture(histogram: &Histogram<u64>, room: usize) -> Table {
    let bins = bins(histogram);
    let table = drawn(&bins, WIDEST);
    match table.room_for_last(room) {
        WIDEST.. => table,
        narrow => drawn(&bins, narrow.max(1)),
    }
}

/// Draws bins as lines of a table, with bars up to a width.
fn drawn(bins: &[Bin], widest: usize) -> Table {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0);
    let total: u64 = bins.iter().map(|bin| bin.count).sum();
    let mut table = Table::new([
        ("response up to", Align::Right),
        ("requests", Align::Right),
        ("cumulative", Align::Right),
        ("", Align::Left),
    ])
    .with_optional_columns(&["cumulative"]);
    let mut so_far = 0;
    for bin in bins {
        so_far += bin.count;
        table.row([
            time(bin.edge_ns),
            grouped(bin.count),
            share(so_far, total),
            bar(bin.count, most, widest),
        ]);
    }
    table
}

/// Returns the finest division with few enough lines.
fn bins(histogram: &Histogram<u64>) -> Vec<Bin> {
    let divisions = STRIDES.into_iter().map(|stride| divided(histogram, stride));
    divisions
        .reduce(|finer, coarser| if finer.len() <= LINES { finer } else { coarser })
        .unwrap_or_default()
}

fn divided(histogram: &Histogram<u64>, stride: usize) -> Vec<Bin> {
    let mut bins: Vec<Bin> = edges(stride).map(|edge_ns| Bin { edge_ns, count: 0 }).collect();
    let mut place = 0;
    for value in histogram.iter_recorded() {
        // All times in a bucket of the histogram count as its lowest: 1 ms is up to 1 ms.
        let lowest = histogram.lowest_equivalent(value.value_iterated_to()) as f64;
        while place + 1 < bins.len() && lowest > bins[place].edge_ns {
            place += 1;
        }
        bins[place].count += value.count_since_last_iteration();
    }
    let Some(last) = bins.iter().rposition(|bin| bin.count > 0) else { return Vec::new() };
    let mut shorter = 0;
    let first = bins.iter().position(|bin| {
        shorter += bin.count;
        shorter > histogram.len() / SHORTEST_IN
    });
    let first = first.unwrap_or(last);
    bins[first].count = shorter;
    bins[first..=last].to_vec()
}

/// Returns every edge, in nanoseconds.
fn edges(stride: usize) -> impl Iterator<Item = f64> {
    (0..DECADES * R20.len()).step_by(stride).map(|step| {
        let power = 10u64.pow((step / R20.len()) as u32);
        (R20[step % R20.len()] * power) as f64 / 100.0
    })
}

/// Draws a bar in eighths of a column; a count above zero is always visible.
fn bar(count: u64, most: u64, widest: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let length = (u128::from(count) * (8 * widest as u128) / u128::from(most.max(1))) as usize;
    let length = length.max(usize::from(count > 0));
    "█".repeat(length / 8) + EIGHTHS[length % 8]
}

#[cfg(test)]
mod tests {
    use record::Kind;

    use super::*;

    fn histogram(times: &[(u64, u64)]) -> Histogram<u64> {
        let mut histogram = Kind::Response.histogram();
        times.iter().for_each(|(ns, count)| histogram.saturating_record_n(*ns, *count));
        histogram
    }

    fn bins_of(times: &[(u64, u64)]) -> Vec<(f64, u64)> {
        bins(&histogram(times)).iter().map(|bin| (bin.edge_ns, bin.count)).collect()
    }

    #[test]
    fn time_on_a_bin_edge_belongs_to_the_lower_bin() {
        assert_eq!(bins_of(&[(1_000_000, 7)]), [(1_000_000.0, 7)]);
        assert_eq!(bins_of(&[(1_010_000, 7)]), [(1_120_000.0, 7)]);
        assert_eq!(bins_of(&[(0, 1)]), [(1.0, 1)]);
        assert_eq!(bins_of(&[]), []);
    }

    #[test]
    fn bins_are_the_finest_readable_division() {
        let narrow = bins_of(&[(1_000_000, 1), (8_900_000, 1)]);
        assert_eq!(narrow.len(), 20);
        let wide = bins_of(&[(1_000_000, 1), (9_100_000, 1)]);
        let edges: Vec<f64> = wide.iter().map(|(edge, _)| edge / 1e6).collect();
        assert_eq!(edges, [1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0, 10.0]);
        let all = bins_of(&[(0, 1), (record::HIGHEST.0, 1)]);
        assert_eq!(all.len(), 14, "a line per decade");
    }

    #[test]
    fn a_few_short_times_share_the_first_line_and_long_ones_keep_theirs() {
        let times = [(10, 2), (3_000, 3), (1_000_000, 1_000), (1_100_000, 2_000), (9_000_000, 1)];
        let bins = bins_of(&times);
        assert_eq!(bins[..2], [(1_000_000.0, 1_005), (1_120_000.0, 2_000)]);
        assert_eq!(bins.last(), Some(&(9_000_000.0, 1)));
        assert_eq!(bins_of(&[(10, 2), (1_000_000, 100)])[0], (10.0, 2));
    }

    #[test]
    fn every_time_is_in_one_bin() {
        let times: Vec<(u64, u64)> = (0..1_000).map(|n| (n * n * n * 977, n % 7)).collect();
        let total: u64 = times.iter().map(|(_, count)| count).sum();
        let counted: u64 = bins_of(&times).iter().map(|(_, count)| count).sum();
        assert_eq!(counted, total);
    }

    #[test]
    fn bars_are_in_proportion_and_never_hide_what_is_there() {
        assert_eq!(bar(100, 100, WIDEST), "█".repeat(48));
        assert_eq!(bar(1, 1_000_000, WIDEST), "▏");
        assert_eq!(bar(0, 100, WIDEST), "");
        assert_eq!(bar(9, 384, WIDEST), "█▏");
        assert_eq!(bar(50, 100, 20), "█".repeat(10));
    }

    #[test]
    fn bars_of_a_narrow_page_keep_their_proportions() {
        let histogram = histogram(&[(1_000_000, 100), (2_000_000, 50)]);
        for (room, longest) in [(98, 48), (58, 20), (48, 22)] {
            let table = picture(&histogram, room).narrowed(room);
            let lines = table.lay_out(room);
            let bars = lines.iter().map(|(_, line)| line.matches('█').count());
            let bars: Vec<usize> = bars.filter(|bar| *bar > 0).collect();
            assert_eq!(bars, [longest, longest / 2], "{room}");
        }
    }
}
