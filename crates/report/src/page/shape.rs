//! The shape of a distribution: the number of times between consecutive edges.
//!
//! The edges grow by a nearly constant factor, so the relative resolution is the same for
//! milliseconds and seconds. They are preferred numbers (ISO 3, series R20 and coarser): short to
//! read, and the same in every report.

use hdrhistogram::Histogram;

/// Twenty edges per decade, in hundredths.
const DECADE_EDGES: [u64; 20] = [
    100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800,
    900,
];

/// Strides through [`DECADE_EDGES`] that leave 20, 10, 5, 2 or 1 edges per decade.
const STRIDES: [usize; 5] = [1, 2, 4, 10, 20];

/// Number of decades from a nanosecond on; the last edge is beyond any recorded time.
const DECADES: usize = 14;

/// A bin of a distribution: the times above the previous edge, up to and including the bin's edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Upper edge, in nanoseconds.
    pub edge_ns: f64,
    /// Number of times.
    pub count: u64,
}

/// The shortest times, at most one in this number of times, are counted in the first bin shown. If
/// they had bins of their own, all bins would be coarser. The longest times always have their own
/// bins, because they are the most interesting ones.
const SHORTEST_IN: u64 = 200;

/// Returns the finest division of a distribution into at most `most` bins. If even one bin per
/// decade is more than `most`, returns one bin per decade.
pub(super) fn bins(histogram: &Histogram<u64>, most: usize) -> Vec<Bin> {
    let divisions = STRIDES.into_iter().map(|stride| divide(histogram, stride));
    divisions
        .reduce(|finer, coarser| if finer.len() <= most { finer } else { coarser })
        .unwrap_or_default()
}

fn divide(histogram: &Histogram<u64>, stride: usize) -> Vec<Bin> {
    let mut bins: Vec<Bin> = edges(stride).map(|edge_ns| Bin { edge_ns, count: 0 }).collect();
    let mut place = 0;
    for value in histogram.iter_recorded() {
        // All times in a bucket of the histogram count as its lowest time, so 1 ms is in the bin up
        // to 1 ms.
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

/// Returns every `stride`-th edge, in nanoseconds.
fn edges(stride: usize) -> impl Iterator<Item = f64> {
    (0..DECADES * DECADE_EDGES.len()).step_by(stride).map(|step| {
        let power = 10u64.pow((step / DECADE_EDGES.len()) as u32);
        (DECADE_EDGES[step % DECADE_EDGES.len()] * power) as f64 / 100.0
    })
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
        bins(&histogram(times), 20).iter().map(|bin| (bin.edge_ns, bin.count)).collect()
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
        let few = bins(&histogram(&[(1_000_000, 1), (8_900_000, 1)]), 8);
        let edges: Vec<f64> = few.iter().map(|bin| bin.edge_ns / 1e6).collect();
        assert_eq!(edges, [1.0, 1.6, 2.5, 4.0, 6.3, 10.0]);
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
}
