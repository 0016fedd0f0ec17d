//! Closed forms against numerical integration, and inverses against their functions.

use base::Nanos;

use super::level::ONE;
use super::*;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn level(per_s: f64) -> Level {
    Level::from_billionths((per_s * 1e9) as u64).unwrap()
}

fn ramp(from: f64, to: f64, span: u64) -> Shape {
    Shape::Ramp { from: level(from), to: level(to), span: Nanos::from_secs(span) }
}

fn sine(mean: f64, amplitude: f64, period: u64) -> Shape {
    Shape::Sine { mean: level(mean), amplitude: level(amplitude), period: Nanos::from_secs(period) }
}

fn steps(levels: &[f64], span: u64) -> Shape {
    let levels = levels.iter().map(|per_s| level(*per_s)).collect();
    Shape::Steps { levels, span: Nanos::from_secs(span) }
}

fn trace(rows: &[(u64, f64)]) -> Shape {
    Shape::Trace(rows.iter().map(|(at, per_s)| (Nanos::from_secs(*at), level(*per_s))).collect())
}

fn all() -> Vec<Shape> {
    vec![
        ramp(100.0, 5_000.0, 60),
        ramp(700.0, 0.5, 7),
        ramp(0.0, 1_000.0, 30),
        ramp(50.0, 50.0, 5),
        sine(1_000.0, 900.0, 20),
        sine(10.0, 10.0, 3),
        sine(200.0, 0.0, 4),
        steps(&[100.0, 200.0, 0.0, 400.0], 10),
        steps(&[16.7], 1),
        trace(&[(3, 10.0), (5, 1_000.0), (5, 20.0), (40, 300.0)]),
    ]
}

fn uniform(shape: &Shape, n: usize) -> Vec<u64> {
    let mut inverse = Inverse::new(shape);
    (1..=n as u64).filter_map(|n| inverse.at(Expected::whole(n))).map(|at| at.0).collect()
}

#[test]
fn the_expected_arrivals_are_the_integral_of_the_rate() {
    // Simpson's rule on intervals of 1 ms: rates jump or bend only at ends of intervals, and are
    // nearly parabolas in between.
    for shape in all() {
        let mut sum = 0.0;
        for part in 0..70_000_u64 {
            let at = |micros| shape.rate_at(Nanos::from_micros(part * 1_000 + micros));
            // The value just before a possible edge.
            let end = shape.rate_at(Nanos((part + 1) * 1_000_000 - 1));
            sum += (at(0) + 4.0 * at(500) + end) / 6.0 * 1e-3;
            if part % 997 == 0 || part == 69_999 {
                let expected = shape.expected(Nanos::from_millis(part + 1)).as_f64();
                assert!((sum - expected).abs() < 1e-6 * sum + 1e-6, "{shape}: {sum} {expected}");
            }
        }
    }
}

#[test]
fn rates_are_those_that_are_written() {
    let at = |shape: &Shape, t: u64| shape.rate_at(Nanos::from_secs(t));
    let shape = ramp(100.0, 500.0, 4);
    assert_eq!([0, 1, 4, 9].map(|t| at(&shape, t)), [100.0, 200.0, 500.0, 500.0]);
    let shape = steps(&[1.0, 0.0, 3.0], 10);
    assert_eq!([0, 9, 10, 20, 99].map(|t| at(&shape, t)), [1.0, 1.0, 0.0, 3.0, 3.0]);
    let shape = trace(&[(1, 5.0), (2, 7.0)]);
    assert_eq!([0, 1, 2, 3].map(|t| at(&shape, t)), [0.0, 5.0, 7.0, 7.0]);
    let shape = sine(10.0, 4.0, 8);
    for (t, expected) in [(0, 10.0), (2, 14.0), (4, 10.0), (6, 6.0), (10, 14.0)] {
        assert!((at(&shape, t) - expected).abs() < 1e-9, "{t}");
    }
}

#[test]
fn the_highest_rate_is_reached_and_never_passed() {
    for shape in all() {
        let highest = shape.highest().as_f64();
        let rates: Vec<f64> =
            (0..7_000).map(|part| shape.rate_at(Nanos::from_millis(part * 10))).collect();
        let reached = rates.iter().copied().fold(0.0, f64::max);
        assert!(reached <= highest * (1.0 + 1e-12), "{shape}");
        // The trace reaches its highest rate for a single instant only.
        let is_instant = shape == all()[9];
        assert!(is_instant || reached > highest * (1.0 - 1e-6), "{shape}: {reached}");
    }
}

#[test]
fn even_arrivals_at_constant_rates_are_exact() {
    let third = |n: u64| n * 1_000_000_000 / 3;
    let expected: Vec<u64> = (1..=30)
        .map(third)
        .chain((1..=70).map(|n| 10_000_000_000 + n * 1_000_000_000 / 7))
        .collect();
    assert_eq!(uniform(&steps(&[3.0, 7.0], 10), 100), expected);
    // A rate that no double represents exactly.
    let tenths = Shape::Steps { levels: [Level(16_700_000_000)].into(), span: Nanos(1) };
    let sixteen: Vec<u64> = (1..=500).map(|n| n * 10_000_000_000 / 167).collect();
    assert_eq!(uniform(&tenths, 500), sixteen);
    let far = Inverse::new(&tenths).at(Expected::whole(167_000_000_000));
    assert_eq!(far, Some(Nanos::from_secs(10_000_000_000)));
}

#[test]
fn an_arrival_at_the_edge_of_a_silence_falls_before_it() {
    let at = uniform(&steps(&[1.0, 0.0, 1.0], 2), 4);
    assert_eq!(at, [1, 2, 5, 6].map(|second| second * 1_000_000_000));
}

#[test]
fn schedule_ends_if_the_rate_stays_zero() {
    assert_eq!(uniform(&steps(&[5.0, 0.0], 2), 100).len(), 10);
    assert_eq!(uniform(&ramp(10.0, 0.0, 2), 100).len(), 10);
    assert_eq!(uniform(&trace(&[(1, 4.0), (3, 0.0)]), 100).len(), 8);
    assert_eq!(Inverse::new(&steps(&[5.0, 0.0], 2)).at(Expected::whole(11)), None);
}

#[test]
fn arrivals_beyond_the_end_of_time_do_not_exist() {
    for shape in all() {
        let at = Inverse::new(&shape).at(Expected::whole(u64::MAX));
        assert!(at.is_none_or(|at| at > Nanos::from_secs(1_000_000_000)), "{shape}: {at:?}");
    }
}

#[test]
fn descriptions_name_the_numbers() {
    let words: Vec<String> = all().iter().map(Shape::words).collect();
    assert_eq!(words[0], "from 100/s to 5000/s in 1m");
    assert_eq!(words[4], "1000/s up and down by 900/s every 20s");
    assert_eq!(words[7], "4 steps of 10s, up to 400/s");
    assert_eq!(words[9], "a trace of 4 rates, up to 1000/s");
}

#[test]
fn the_busiest_second_of_recorded_instants_is_found() {
    let recorded = |millis: &[u64]| {
        Recorded(millis.iter().map(|at| Nanos::from_millis(*at)).collect()).busiest_second()
    };
    assert_eq!(recorded(&[500]), 1);
    assert_eq!(recorded(&[0, 999, 1_000, 1_500, 1_998, 1_999]), 4);
    assert_eq!(recorded(&[7; 12]), 12);
}

fn shape() -> impl Strategy<Value = Shape> {
    let rate = || (0..2_000_000_000_000_u64).prop_map(Level);
    let span = || (1..100_000_000_000_u64).prop_map(Nanos);
    prop_oneof![
        (rate(), rate(), span()).prop_map(|(from, to, span)| Shape::Ramp { from, to, span }),
        (rate(), 0..=100_u64, span()).prop_map(|(mean, part, period)| {
            let mean = Level(mean.0.max(1_000));
            Shape::Sine { mean, amplitude: Level(mean.0 / 100 * part), period }
        }),
        (proptest::collection::vec(rate(), 1..9), span())
            .prop_map(|(levels, span)| Shape::Steps { levels: levels.into(), span }),
        proptest::collection::vec((span(), rate()), 1..9).prop_map(|mut rows| {
            rows.sort_by_key(|(at, _)| *at);
            Shape::Trace(rows.into())
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(42),
        ..ProptestConfig::default()
    })]

    /// Tolerances: where the rate is too low for a double to resolve a nanosecond, the arrivals are
    /// compared instead of the instant.
    #[test]
    fn inverse_inverts_the_expected_arrivals(shape in shape(), t in 0..500_000_000_000_u64) {
        let t = Nanos(t);
        let expected = shape.expected(t);
        let back = Inverse::new(&shape).at(expected);
        if shape.rate_at(t) < shape.highest().as_f64() / 100.0 {
            let back = back.map(|back| shape.expected(back).as_f64());
            let error = back.map_or(0.0, |back| (back - expected.as_f64()).abs());
            prop_assert!(error <= 1e-9 * expected.as_f64() + 1e-6, "{shape} {t} {error}");
        } else {
            let back = back.unwrap();
            prop_assert!(back.0.abs_diff(t.0) <= 1, "{shape} {} {}", t.0, back.0);
        }
    }

    #[test]
    fn arrivals_are_in_order(shape in shape(), gaps in proptest::collection::vec(0..ONE, 1..200)) {
        let mut inverse = Inverse::new(&shape);
        let mut sum = Expected::default();
        let mut last = Nanos::ZERO;
        for gap in gaps {
            sum += Expected(u128::from(gap));
            let Some(at) = inverse.at(sum) else { break };
            prop_assert!(at >= last);
            // The remembered position must agree with a search from the start.
            let afresh = Inverse::new(&shape).at(sum).unwrap();
            prop_assert!(afresh.0.abs_diff(at.0) <= 1, "{shape} {} {}", afresh.0, at.0);
            let expected = shape.expected(at).as_f64();
            let rate = shape.highest().as_f64();
            prop_assert!((expected - sum.as_f64()).abs() <= rate * 2e-9 + 1e-6, "{shape}");
            last = at;
        }
    }
}
