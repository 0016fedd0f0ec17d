//! Does the offered load exceed the capacity?
//!
//! When more requests arrive than are answered, the backlog grows as long as the run does, and so
//! does every quantile of the response time: it says how long the run was, not how fast the
//! database is.

/// How the backlog of a job developed over the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trend {
    /// By how many requests it grew over the window, by a straight line through its block means.
    pub(crate) growth: f64,
    /// The growth in its own standard errors.
    pub(crate) t: f64,
}

/// The number of blocks that the window is divided into. Their means are nearly independent of
/// each other where single seconds are not.
const BLOCKS: usize = 10;

/// A growth of fewer standard errors than this is chance: t with eight degrees of freedom exceeds
/// it once in a thousand.
pub(crate) const SIGNIFICANT: f64 = 4.5;

/// A growth below this fraction of the requests of the window does not matter.
pub(crate) const MATERIAL_SHARE: f64 = 0.005;

/// A growth below this number of requests does not matter.
pub(crate) const MATERIAL_COUNT: f64 = 10.0;

/// The trend of the backlog at the ends of the window's intervals. `None` if there are too few.
pub(crate) fn trend(backlog: &[f64]) -> Option<Trend> {
    if backlog.len() < BLOCKS {
        return None;
    }
    let bound = |block: usize| block * backlog.len() / BLOCKS;
    let means: Vec<f64> = (0..BLOCKS)
        .map(|block| {
            let part = &backlog[bound(block)..bound(block + 1)];
            part.iter().sum::<f64>() / part.len() as f64
        })
        .collect();
    let n = BLOCKS as f64;
    let center = (n - 1.0) / 2.0;
    let mean = means.iter().sum::<f64>() / n;
    let places = || (0..BLOCKS).map(|block| block as f64 - center);
    let squares: f64 = places().map(|x| x * x).sum();
    let slope = places().zip(&means).map(|(x, y)| x * (y - mean)).sum::<f64>() / squares;
    let residuals: f64 = places().zip(&means).map(|(x, y)| (y - mean - slope * x).powi(2)).sum();
    let error = (residuals / (n - 2.0) / squares).sqrt();
    let t = if error > 0.0 { slope / error } else { slope * f64::INFINITY };
    Some(Trend { growth: slope * n, t: if slope == 0.0 { 0.0 } else { t } })
}

impl Trend {
    /// Whether the backlog grew, among this many requests.
    pub(crate) fn exceeds_capacity(&self, arrivals: u64) -> bool {
        let material = MATERIAL_COUNT.max(MATERIAL_SHARE * arrivals as f64);
        self.t > SIGNIFICANT && self.growth > material
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Seed, Stream};

    #[test]
    fn a_backlog_that_grows_is_noticed() {
        let overload: Vec<f64> = (0..60).map(|second| f64::from(second) * 20.0).collect();
        let trend = trend(&overload).unwrap();
        assert!((trend.growth - 1_200.0).abs() < 1.0, "{trend:?}");
        assert!(trend.exceeds_capacity(60_000));
        assert!(!trend.exceeds_capacity(600_000), "a fifth of a percent does not matter");
    }

    #[test]
    fn a_backlog_that_only_fluctuates_is_not() {
        let noise = Stream::new(Seed(1), "test", "noise");
        let alarms = (0..1_000)
            .filter(|run| {
                let mut draw = noise.draw(*run);
                let backlog: Vec<f64> = (0..60).map(|_| 20.0 * draw.exponential()).collect();
                trend(&backlog).unwrap().exceeds_capacity(1_000)
            })
            .count();
        assert!(alarms <= 3, "{alarms} false alarms in a thousand runs");
    }

    #[test]
    fn a_constant_backlog_and_a_short_window_say_nothing() {
        assert_eq!(trend(&[5.0; 60]), Some(Trend { growth: 0.0, t: 0.0 }));
        assert_eq!(trend(&[5.0; 9]), None);
    }
}
