//! Exact distributions of the response time of simulated servers.
//!
//! Response time runs from the intended arrival to the answer. Unless stated otherwise, arrivals
//! are Poisson, the discipline is first come, first served, and the queue is unlimited. Times are
//! in seconds, rates per second. Formulas are from Kleinrock, *Queueing Systems* I (1975), unless
//! another source is named.

mod finite;
mod infinite;
mod scalability;
mod stall;

pub use finite::{ClosedLoop, loss_probability};
pub use infinite::{DM1, MDc, MH21, MMc};
pub use scalability::Scalability;
pub use stall::Stall;

/// A response time with a known distribution.
pub trait ClosedForm {
    /// Returns P(T > t), the probability that a response takes longer than `t` seconds.
    fn exceeds(&self, t: f64) -> f64;

    /// Returns the mean response time in seconds.
    fn mean(&self) -> f64;

    /// Returns the response time in seconds that a fraction `q` of the responses does not exceed.
    fn quantile(&self, q: f64) -> f64 {
        let tail = 1.0 - q;
        let mut high = self.mean();
        while self.exceeds(high) > tail {
            high *= 2.0;
        }
        bisect(0.0, high, |t| self.exceeds(t) > tail)
    }
}

/// Returns the number between `low` and `high` at which `is_below` turns false.
pub(crate) fn bisect(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    // A double has 53 bits, so nothing changes after 80 halvings.
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a case against exact values in milliseconds, computed with 50 digits:
    /// mean, p50, p90, p95, p99, p99.9.
    fn check(case: &str, form: &impl ClosedForm, expected_ms: [f64; 6]) {
        let quantiles = [0.5, 0.9, 0.95, 0.99, 0.999].map(|q| form.quantile(q));
        let got = std::iter::once(form.mean()).chain(quantiles).map(|s| s * 1_000.0);
        for (got, expected) in got.zip(expected_ms) {
            assert!((got - expected).abs() < 6e-5, "{case}: {got} instead of {expected}");
        }
    }

    #[test]
    fn worked_values_of_open_queues() {
        let mmc = |servers, mu, lambda| MMc { servers, service_rate: mu, arrival_rate: lambda };
        check("O1", &mmc(1, 1e3, 700.0), [3.3333, 2.3105, 7.6753, 9.9858, 15.3506, 23.0259]);
        check("O2", &mmc(4, 250.0, 800.0), [6.9822, 5.3848, 15.1038, 18.9521, 27.5728, 39.5187]);
        let md1 = MDc::new(1, 1e-3, 700.0);
        check("O3", &md1, [2.1667, 1.7298, 4.0771, 5.1029, 7.4855, 10.8944]);
        let mh21 = MH21 { fast_s: 0.5e-3, slow_s: 5.5e-3, slow_share: 0.1, arrival_rate: 700.0 };
        check("O4", &mh21, [8.5833, 3.4012, 24.0397, 32.9613, 53.6766, 83.3135]);
        let dm1 = DM1 { service_rate: 1e3, arrival_rate: 800.0 };
        check("O5", &dm1, [2.6927, 1.8665, 6.2002, 8.0667, 12.4005, 18.6007]);
        check("O5'", &mmc(1, 1e3, 800.0), [5.0, 3.4657, 11.5129, 14.9787, 23.0259, 34.5388]);
        check("O7", &mmc(16, 250.0, 3_200.0), [4.3811, 3.2074, 9.7272, 12.5016, 18.9398, 28.1502]);
    }

    #[test]
    fn worked_values_of_the_closed_loop() {
        let form = ClosedLoop { clients: 32, service_s: 1e-3, think_s: 20e-3 };
        check("O6", &form, [12.1085, 11.7243, 19.4599, 21.8642, 26.6305, 32.3770]);
        assert!((form.throughput() - 996.620).abs() < 5e-4, "{}", form.throughput());
    }

    #[test]
    fn worked_values_of_the_stall() {
        for (service_s, [p90, p95, p99, p999, mean]) in [
            (0.0, [0.0, 0.5, 0.9, 0.99, 0.05]),
            (1e-4, [0.1001, 0.5501, 0.9101, 0.9911, 0.0557]),
            (5e-4, [0.5005, 0.7505, 0.9505, 0.9955, 0.1005]),
        ] {
            let form = Stall { service_s, stall_s: 1.0, period_s: 10.0, arrival_rate: 1_000.0 };
            for (q, expected) in [(0.9, p90), (0.95, p95), (0.99, p99), (0.999, p999)] {
                assert!((form.quantile(q) - expected).abs() < 1e-4, "{service_s} {q}");
            }
            assert!((form.mean() - mean).abs() < 1e-4, "{service_s}: {}", form.mean());
        }
    }

    #[test]
    fn worked_values_of_a_finite_queue() {
        assert!((loss_probability(10, 0.9) - 0.050_814).abs() < 1e-6);
        assert!((loss_probability(50, 1.2) - 0.166_682).abs() < 1e-6);
        assert!((loss_probability(9, 1.0) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn several_constant_servers_are_between_one_and_unlimited_ones() {
        let two = MDc::new(2, 1e-3, 1_400.0);
        let one_fast = MDc::new(1, 0.5e-3, 1_400.0);
        assert!(two.exceeds(1e-3) < one_fast.exceeds(0.5e-3), "an idle server is likelier");
        assert_eq!(two.exceeds(0.999e-3), 1.0);
        // By Cosmetatos' approximation (1975), accurate to a few tenths of a percent, the mean wait
        // is that of M/M/c times ½·(1 + (1 − ρ)(c − 1)(√(4 + 5c) − 2) / (16ρc)).
        let markov = MMc { servers: 2, service_rate: 1e3, arrival_rate: 1_400.0 };
        let ratio = (two.mean() - 1e-3) / (markov.mean() - 1e-3);
        let approximation = 0.5 * (1.0 + 0.3 * (14f64.sqrt() - 2.0) / (16.0 * 0.7 * 2.0));
        assert!((ratio / approximation - 1.0).abs() < 0.005, "{ratio} and {approximation}");
    }
}
