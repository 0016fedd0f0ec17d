//! Tests of thinning: rows compared with their samples, and planted faults.

use proptest::prelude::*;

use super::*;

const HOUR: u64 = 3_600;

/// Returns the bins of a run of four hours: a minute each.
fn bins() -> SampleBins {
    SampleBins::new(Nanos::ZERO, Some(Nanos::from_secs(4 * HOUR)))
}

fn thinned(kind: SampleKind, samples: &[Sample]) -> Vec<ThinnedRow> {
    let mut thinning = Thinning::new(bins());
    let mut rows = Vec::new();
    samples.iter().for_each(|sample| thinning.add(7, kind, *sample, &mut rows));
    let ended = thinning.end();
    assert!(ended.iter().all(|(series, _)| *series == 7));
    rows.extend(ended.into_iter().map(|(_, row)| row));
    rows
}

/// Returns samples with these values, one per second, the first at second `from`.
fn each_second(from: u64, values: impl IntoIterator<Item = f64>) -> Vec<Sample> {
    (from..).map(Nanos::from_secs).zip(values).collect()
}

fn points(rows: &[ThinnedRow]) -> Vec<Sample> {
    rows.iter().map(|row| (row.at, row.value)).collect()
}

/// Returns the mean of the samples, each weighted by the time since the previous sample. The first
/// sample has no weight.
fn mean(points: &[Sample]) -> f64 {
    let weighted = points.windows(2).map(|pair| {
        let weight = pair[1].0.saturating_sub(pair[0].0).as_secs_f64();
        (weight * pair[1].1, weight)
    });
    let (sum, weight) = weighted.fold((0.0, 0.0), |all, it| (all.0 + it.0, all.1 + it.1));
    sum / weight
}

/// Returns the growth of a counter. The first value after a reset counts as growth from zero.
fn growth(points: &[Sample]) -> f64 {
    let grown = |pair: &[Sample]| match pair[1].1 >= pair[0].1 {
        true => pair[1].1 - pair[0].1,
        false => pair[1].1.max(0.0),
    };
    points.windows(2).map(grown).sum()
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}

/// Compares rows with their samples; returns the first difference, or `None` if they agree.
fn difference(kind: SampleKind, samples: &[Sample], rows: &[ThinnedRow]) -> Option<&'static str> {
    let kept = points(rows);
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return None };
    if kept.first() != Some(first) || kept.last() != Some(last) {
        return Some("the ends");
    }
    if !kept.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return Some("the order");
    }
    match kind {
        SampleKind::Gauge if !is_near(mean(samples), mean(&kept)) => Some("the mean"),
        SampleKind::Counter if !is_near(growth(samples), growth(&kept)) => Some("the growth"),
        _ => None,
    }
}

#[test]
fn samples_of_two_hours_are_kept_as_they_are() {
    for kind in [SampleKind::Gauge, SampleKind::Counter, SampleKind::Longest, SampleKind::Label] {
        let samples = each_second(0, (0..=7_200).map(|n| f64::from(n % 7)));
        let rows = thinned(kind, &samples);
        assert_eq!(points(&rows), samples);
        assert!(rows.iter().all(|row| row.range.is_none()));
    }
}

#[test]
fn bins_are_as_long_as_a_long_run_needs() {
    let length = |hours: Option<u64>| {
        let duration = hours.map(|hours| Nanos::from_secs(hours * HOUR));
        SampleBins::new(Nanos::ZERO, duration).length().0 / MINUTE.0
    };
    let lengths = [Some(1), Some(3), Some(16), Some(24), Some(168), Some(720), None].map(length);
    assert_eq!(lengths, [1, 1, 1, 2, 10, 43, 10]);
}

#[test]
fn bin_ends_at_a_multiple_of_its_length_and_at_the_edges_of_the_window() {
    let [warmup, duration] = [7_290, 7_500].map(Nanos::from_secs);
    let bins = SampleBins::new(warmup, Some(duration));
    let mut ends: Vec<u64> = Vec::new();
    for second in 7_200..7_600 {
        if bins.of(Nanos::from_secs(second)) != bins.of(Nanos::from_secs(second + 1)) {
            ends.push(second);
        }
    }
    assert_eq!(ends, [7_200, 7_260, 7_290, 7_320, 7_380, 7_440, 7_500, 7_560]);
    assert_eq!(bins.of(UNMERGED_PERIOD), None);
    let within = Nanos(UNMERGED_PERIOD.0 + 1);
    assert_eq!(bins.of(within), bins.of(Nanos::from_secs(7_260)));
}

#[test]
fn gauge_keeps_mean_and_extremes_of_a_bin() {
    let samples = each_second(7_200, (0..=60).map(|n| if n == 30 { 61.0 } else { 1.0 }));
    let rows = thinned(SampleKind::Gauge, &samples);
    // The last sample has a row of its own.
    let [first, merged, last] = *rows else { panic!("{rows:?}") };
    assert_eq!((first.range, last.range), (None, None));
    assert_eq!((merged.at, last.at), (Nanos::from_secs(7_259), Nanos::from_secs(7_260)));
    assert!(is_near(merged.value, 1.0 + 60.0 / 59.0), "{merged:?}");
    let range = SampleRange { at: merged.at, samples: 59, least: 1.0, most: 61.0 };
    assert_eq!(merged.range, Some(range));
}

#[test]
fn counter_keeps_its_last_value_and_its_extreme_growth() {
    let samples = each_second(7_200, (0..=200).map(|n| f64::from(n + 40 * (n / 100))));
    let rows = thinned(SampleKind::Counter, &samples);
    let at: Vec<u64> = rows.iter().map(|row| row.at.0 / 1_000_000_000).collect();
    assert_eq!(at, [7_200, 7_260, 7_320, 7_380, 7_399, 7_400]);
    assert_eq!(rows[1].range, None, "it grew evenly");
    let range = SampleRange { at: rows[2].at, samples: 60, least: 1.0, most: 41.0 };
    assert_eq!((rows[2].value, rows[2].range), (160.0, Some(range)));
}

#[test]
fn drift_keeps_its_largest_step_in_either_direction() {
    let samples = each_second(7_200, (0..=120).map(|n| if n < 30 { 0.0 } else { -0.5 }));
    let rows = thinned(SampleKind::Drift, &samples);
    let range = SampleRange { at: rows[1].at, samples: 60, least: -0.5, most: 0.0 };
    assert_eq!((rows[1].value, rows[1].range), (-0.5, Some(range)));
    assert_eq!(rows[2].range, None);
}

#[test]
fn longest_of_a_bin_keeps_its_own_time() {
    let samples = each_second(7_201, [0.02, 0.9, 0.03, 0.01]);
    let rows = points(&thinned(SampleKind::Longest, &samples));
    assert_eq!(rows, [samples[1], samples[3]]);
}

#[test]
fn label_keeps_a_value_that_it_had() {
    let samples = each_second(7_201, (0..300).map(|n| f64::from(4_000 + n % 2)));
    let rows = thinned(SampleKind::Label, &samples);
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| samples.contains(&(row.at, row.value)) && row.range.is_none()));
}

#[test]
fn reset_counter_has_the_growth_of_its_samples_in_three_rows() {
    let mut samples = each_second(7_195, (0..20).map(|n| 100.0 + f64::from(n)));
    samples.extend(each_second(7_215, [4.0, 9.0, 2.0, 3.0, 8.0, 1.0, 5.0]));
    samples.extend(each_second(7_222, (0..60).map(|n| 6.0 + f64::from(n))));
    let rows = thinned(SampleKind::Counter, &samples);
    let kept = points(&rows);
    assert!(is_near(growth(&kept), growth(&samples)), "{kept:?}");
    let second = |(at, _): &Sample| at.0 / 1_000_000_000;
    let merged: Vec<u64> = kept.iter().map(second).filter(|at| *at > 7_200).collect();
    assert_eq!(merged, [7_219, 7_220, 7_260, 7_280, 7_281]);
    assert!(kept.windows(2).any(|pair| pair[1].1 < pair[0].1), "the reset shows");
}

#[test]
fn counter_that_is_reset_between_bins_has_its_peak_once() {
    let mut samples = each_second(7_200, (0..=60).map(f64::from));
    samples.extend(each_second(7_261, (0..59).map(f64::from)));
    let kept = points(&thinned(SampleKind::Counter, &samples));
    assert_eq!(growth(&kept), growth(&samples));
    assert_eq!(kept.iter().filter(|(at, _)| *at == Nanos::from_secs(7_260)).count(), 1);
}

#[test]
fn sample_at_the_time_of_the_one_before_replaces_it() {
    let at = Nanos::from_secs(7_300);
    let rows = thinned(SampleKind::Gauge, &[(at, 1.0), (at, 2.0), (Nanos(at.0 - 1), 3.0)]);
    assert_eq!(points(&rows), [(at, 3.0)]);
}

#[test]
fn planted_faults_of_merging_are_noticed() {
    let values = |n: u32| f64::from(n % 50) + if n > 7_230 { 90.0 } else { 0.0 };
    // The samples become rarer, so their weights differ.
    let rare = (7_000..7_200).chain((7_200..9_000).step_by(7));
    let samples: Vec<Sample> = rare.map(|n| (Nanos::from_secs(u64::from(n)), values(n))).collect();
    let rows = thinned(SampleKind::Gauge, &samples);
    assert_eq!(difference(SampleKind::Gauge, &samples, &rows), None);
    let lost = &rows[..rows.len() - 2];
    assert_eq!(difference(SampleKind::Gauge, &samples, lost), Some("the ends"));
    // Counterexample: all rows have the same weight.
    let even: Vec<Sample> = each_second(0, rows.iter().map(|row| row.value));
    assert!(!is_near(mean(&even), mean(&samples)));
    let mut unweighted = rows.clone();
    for row in unweighted.iter_mut().filter(|row| row.range.is_some()) {
        row.value = row.range.map_or(row.value, |range| (range.least + range.most) / 2.0);
    }
    assert_eq!(difference(SampleKind::Gauge, &samples, &unweighted), Some("the mean"));
    // Counterexample: a counter that is treated as a gauge.
    let counted = each_second(7_000, (0..2_000).map(|n| f64::from(n * n % 70_000)));
    let averaged = thinned(SampleKind::Gauge, &counted);
    assert_eq!(difference(SampleKind::Counter, &counted, &averaged), Some("the growth"));
    assert_eq!(
        difference(SampleKind::Counter, &counted, &thinned(SampleKind::Counter, &counted)),
        None
    );
}

/// Generates samples of up to nine hours, with pauses, falls and repeated values.
fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let step = (1u64..40_000, 0u32..2_000);
    prop::collection::vec(step, 2..800).prop_map(|steps| {
        let mut at = Nanos::from_secs(7_000);
        let sample = |(step_ms, value): (u64, u32)| {
            at += Nanos::from_millis(step_ms);
            (at, f64::from(value / 10))
        };
        steps.into_iter().map(sample).collect()
    })
}

proptest! {
    #[test]
    fn rows_have_mean_growth_and_extremes_of_their_samples(samples in samples()) {
        for kind in [SampleKind::Gauge, SampleKind::Counter, SampleKind::Drift, SampleKind::Label] {
            let rows = thinned(kind, &samples);
            prop_assert_eq!(difference(kind, &samples, &rows), None);
        }
        let rows = thinned(SampleKind::Gauge, &samples);
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let kept = most(&mut rows.iter().map(|row| row.range.map_or(row.value, |it| it.most)));
        prop_assert_eq!(kept, most(&mut samples.iter().map(|(_, value)| *value)));
        prop_assert_eq!(thinned(SampleKind::Gauge, &samples), rows, "the same each time");
    }

    #[test]
    fn number_of_rows_is_bounded(samples in samples()) {
        use SampleKind::{Counter, Drift, Gauge, Longest};
        for kind in [Gauge, Counter, Drift, Longest] {
            let rows = thinned(kind, &samples);
            let in_bins = rows.iter().filter(|row| row.at > UNMERGED_PERIOD).count() as u64;
            let (first, last) = (samples[0].0.max(UNMERGED_PERIOD), samples[samples.len() - 1].0);
            let most = last.saturating_sub(first).0 / MINUTE.0 + 2;
            prop_assert!(in_bins <= 3 * most + 1, "{in_bins} rows, {most} bins");
        }
    }
}
