//! The histogram of response times, fine enough to show several peaks.

use hdrhistogram::Histogram;
use record::Kind;

use super::subject::{FigureTexts, Job, NO_TIMES, Run, highest};
use crate::figure::{Axis, Bar, Figure, Ink, Mark, Unit};
use crate::number::time;

/// Numbers of bars per decade that a histogram may have, from the finest.
const DENSITIES: [u32; 6] = [160, 80, 40, 20, 10, 5];

/// Maximum number of bars.
const MOST_BARS: usize = 70;

/// Maximum number of bars of a histogram with few requests; at the coarsest density, there may be
/// more. The number grows with the requests, up to [`MOST_BARS`].
const MOST_BARS_OF_FEW_REQUESTS: usize = 12;

/// Quantile that lies in the first bar. The faster requests share this bar.
const SHORTEST_FRACTION: f64 = 0.005;

/// Largest height of a valley between two peaks, as a fraction of the lower peak.
const VALLEY_FRACTION: f64 = 0.5;

/// Smallest height of a peak, as a fraction of the highest peak.
const PEAK_FRACTION: f64 = 0.08;

/// Number of standard deviations of a count by which a peak must exceed the valley next to it. A
/// smaller difference may be due to chance.
const SIGNIFICANT_DEVIATIONS: f64 = 5.0;

/// Returns the histogram of a job.
pub(super) fn figure(run: &Run<'_>, job: &Job<'_>) -> Figure {
    let times = run.view.evidence.jobs[job.account.index()].histogram(Kind::Response);
    let bars = times.map(bars).unwrap_or_default();
    let words = FigureTexts {
        name: job.figure_name("histogram"),
        title: format!("Distribution of response times: {}", job.summary.name),
        caption: caption(job, &bars),
    };
    if let Some(reason) = job.missing() {
        return words.into_empty_figure(reason);
    }
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
        return words.into_empty_figure(NO_TIMES.to_owned());
    };
    let x = Axis::logarithmic("response time, logarithmic", Unit::Time, [first.from, last.to]);
    let y = Axis::from_zero("requests", Unit::Number, highest(bars.iter().map(|bar| bar.high)));
    let mut marks = vec![Mark::Bars { is_solid: true, ink: Ink::Series(0), bars: bars.clone() }];
    for name in ["p50", "p99"] {
        if let Some(ns) = job.summary.response.quantile_ns(name) {
            marks.push(Mark::Rule { ink: Ink::Plain, at: ns as f64, label: name.to_owned() });
        }
    }
    words.into_figure([x, y], marks, Vec::new())
}

/// Returns the finest bars that are few enough, or else the coarsest. If there are few times, fewer
/// bars are allowed, because most would be empty.
fn bars(times: &Histogram<u64>) -> Vec<Bar> {
    let most = (2.0 * (times.len() as f64).sqrt()) as usize;
    let most = most.clamp(MOST_BARS_OF_FEW_REQUESTS, MOST_BARS);
    let all = DENSITIES.into_iter().map(|density| bars_of(times, density));
    let finest = all.reduce(|finer, coarser| if finer.len() <= most { finer } else { coarser });
    finest.unwrap_or_default()
}

fn bars_of(times: &Histogram<u64>, density: u32) -> Vec<Bar> {
    let density = f64::from(density);
    let number = |ns: u64| (ns.max(1) as f64).log10() * density;
    if times.is_empty() {
        return Vec::new();
    }
    // A few short times share the first bar and take no room from the others.
    let first = number(times.lowest_equivalent(times.value_at_quantile(SHORTEST_FRACTION)));
    let first = first.floor() as i64;
    let last = number(times.max()).floor() as i64;
    let edge = |number: i64| 10f64.powf(number as f64 / density);
    let bar = |n: i64| Bar { from: edge(n), to: edge(n + 1), low: 0.0, high: 0.0 };
    let mut bars: Vec<Bar> = (first..=last).map(bar).collect();
    for value in times.iter_recorded() {
        let middle = times.median_equivalent(value.value_iterated_to());
        let place = (number(middle).floor() as i64).clamp(first, last) - first;
        bars[place as usize].high += value.count_since_last_iteration() as f64;
    }
    bars
}

/// Returns the bar at the top of each peak. Two peaks have a valley between them that is not due to
/// chance.
fn peaks(bars: &[Bar]) -> Vec<Bar> {
    // Neighbours are added, since a single bar is high or low by chance.
    let sum = |place: usize| {
        let part = &bars[place.saturating_sub(1)..(place + 2).min(bars.len())];
        part.iter().map(|bar| bar.high).sum::<f64>()
    };
    let heights: Vec<f64> = (0..bars.len()).map(sum).collect();
    let least = highest(heights.iter().copied()) * PEAK_FRACTION;
    let is_apart = |valley: f64, height: f64| {
        let is_significant = height - valley > SIGNIFICANT_DEVIATIONS * height.sqrt();
        valley <= VALLEY_FRACTION * height && is_significant
    };
    let mut peaks: Vec<usize> = Vec::new();
    let mut valley = f64::INFINITY;
    for (place, height) in heights.iter().copied().enumerate() {
        valley = valley.min(height);
        let last = peaks.last().copied();
        let is_new = last.is_none_or(|last| is_apart(valley, heights[last].min(height)));
        let is_higher = last.is_some_and(|last| height > heights[last]);
        if is_new && height >= least {
            peaks.push(place);
            valley = height;
        } else if !is_new && is_higher {
            peaks.pop();
            peaks.push(place);
            valley = height;
        }
    }
    peaks.into_iter().map(|place| bars[place]).collect()
}

fn caption(job: &Job<'_>, bars: &[Bar]) -> String {
    let middle = |bar: &Bar| time((bar.from * bar.to).sqrt());
    let peaks: Vec<String> = peaks(bars).iter().map(middle).collect();
    let shape = match peaks.as_slice() {
        [] => return "There is no response time.".to_owned(),
        [one] => format!("One peak near {one}"),
        [others @ .., last] => {
            format!("{} peaks, near {} and {last}", peaks.len(), others.join(", "))
        }
    };
    match job.summary.response.quantile_ns("p99").filter(|_| job.summary.response.count >= 100) {
        Some(p99) => {
            format!("{shape}; one request in a hundred took more than {}.", time(p99 as f64))
        }
        None => format!("{shape}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(modes: &[(f64, u64)]) -> Histogram<u64> {
        let mut times = Kind::Response.histogram();
        for (middle, count) in modes {
            for n in 0..*count {
                let offset = (n as f64 / *count as f64 - 0.5) * 0.3;
                times.saturating_record((middle * (1.0 + offset * offset.abs() * 4.0)) as u64);
            }
        }
        times
    }

    #[test]
    fn two_modes_are_two_peaks() {
        let peaks_of = |modes: &[(f64, u64)]| peaks(&bars(&histogram(modes))).len();
        assert_eq!(peaks_of(&[(1e6, 10_000)]), 1);
        assert_eq!(peaks_of(&[(1e6, 10_000), (8e6, 3_000)]), 2);
        assert_eq!(peaks_of(&[(1e6, 10_000), (8e6, 3)]), 1, "a few requests are no peak");
        assert_eq!(peaks_of(&[]), 0);
    }

    #[test]
    fn every_time_is_in_a_bar_and_bars_are_few() {
        for modes in [&[(1e6, 1)][..], &[(1e3, 50), (1e6, 100), (3e9, 7)], &[(2e6, 5_000)]] {
            let times = histogram(modes);
            let bars = bars(&times);
            let sum: f64 = bars.iter().map(|bar| bar.high).sum();
            assert_eq!(sum as u64, times.len());
            assert!(bars.len() <= MOST_BARS, "{}", bars.len());
        }
    }
}
