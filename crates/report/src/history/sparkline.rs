//! Sparklines: a series of values as a line of bars.

/// Widest line, in columns.
const WIDEST: usize = 24;

/// Bars from the least value to the greatest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws values between the least and the greatest of them; of a series that is longer than the
/// line, each bar is the mean of neighbouring values. Equal values are in the middle.
pub(super) fn sparkline(values: &[f64]) -> String {
    let width = values.len().min(WIDEST);
    let part = |column: usize| {
        let end = |column: usize| column * values.len() / width;
        let part = &values[end(column)..end(column + 1)];
        part.iter().sum::<f64>() / part.len() as f64
    };
    let means: Vec<f64> = (0..width).map(part).collect();
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let span = means.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
    let bar = |mean: f64| match span > 0.0 {
        true => BARS[((mean - least) / span * (BARS.len() - 1) as f64).round() as usize],
        false => BARS[BARS.len() / 2 - 1],
    };
    means.into_iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_drawn_between_the_least_and_the_greatest() {
        assert_eq!(sparkline(&[0.0, 1.0, 2.0, 7.0]), "▁▂▃█");
        assert_eq!(sparkline(&[3.0, 3.0]), "▄▄");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn long_series_is_drawn_by_its_means() {
        let values: Vec<f64> = (0..250).map(|n| f64::from(u8::from(n >= 125))).collect();
        let drawn = sparkline(&values);
        assert_eq!(drawn, format!("{}{}", "▁".repeat(12), "█".repeat(12)));
    }
}
