//! Sparklines: a series of values as a row of bars.

/// Bars from the lowest to the full height.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The value that has the lowest bar of a sparkline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SparklineBottom {
    /// The least of the values: small differences are visible.
    Least,
    /// Zero: heights are in proportion.
    Zero,
}

/// Draws values as bars. If there are more than `widest` values, each bar is the mean of
/// neighbouring ones. If all values are equal and the bottom is the least of them, the bars have
/// half the height. A value that is not finite counts as missing; a bar with only missing values is
/// blank.
pub fn sparkline(values: &[f64], bottom: SparklineBottom, widest: usize) -> String {
    let width = values.len().min(widest);
    let part = |column: usize| {
        let end = |column: usize| column * values.len() / width;
        let part = &values[end(column)..end(column + 1)];
        let finite: Vec<f64> = part.iter().copied().filter(|value| value.is_finite()).collect();
        (!finite.is_empty()).then(|| finite.iter().sum::<f64>() / finite.len() as f64)
    };
    let means: Vec<Option<f64>> = (0..width).map(part).collect();
    let known = || means.iter().copied().flatten();
    let least = match bottom {
        SparklineBottom::Least => known().fold(f64::INFINITY, f64::min),
        SparklineBottom::Zero => 0.0,
    };
    let span = known().fold(f64::NEG_INFINITY, f64::max) - least;
    let bar = |mean: f64| match (span > 0.0, bottom) {
        (true, _) => BARS[((mean - least) / span * (BARS.len() - 1) as f64).round() as usize],
        (false, SparklineBottom::Least) => BARS[BARS.len() / 2 - 1],
        (false, SparklineBottom::Zero) => BARS[0],
    };
    means.iter().map(|mean| mean.map_or(' ', bar)).collect()
}

#[cfg(test)]
mod tests {
    use super::SparklineBottom::{Least, Zero};
    use super::*;

    #[test]
    fn values_are_drawn_between_the_bottom_and_the_greatest() {
        assert_eq!(sparkline(&[0.0, 1.0, 2.0, 7.0], Least, 24), "▁▂▃█");
        assert_eq!(sparkline(&[6.0, 7.0], Least, 24), "▁█");
        assert_eq!(sparkline(&[6.0, 7.0], Zero, 24), "▇█");
        assert_eq!(sparkline(&[3.0, 3.0], Least, 24), "▄▄");
        assert_eq!(sparkline(&[3.0, 0.0], Zero, 24), "█▁");
        assert_eq!(sparkline(&[0.0, 0.0], Zero, 24), "▁▁");
        assert_eq!(sparkline(&[], Least, 24), "");
    }

    #[test]
    fn missing_values_are_blank() {
        assert_eq!(sparkline(&[7.0, f64::NAN, 7.0], Zero, 24), "█ █");
        assert_eq!(sparkline(&[f64::NAN], Least, 24), " ");
    }

    #[test]
    fn long_series_is_drawn_by_its_means() {
        let values: Vec<f64> = (0..250).map(|n| f64::from(u8::from(n >= 125))).collect();
        let drawn = sparkline(&values, Least, 24);
        assert_eq!(drawn, format!("{}{}", "▁".repeat(12), "█".repeat(12)));
    }
}
