//! Conditions by which jobs are judged.

/// A condition that a job is judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    /// The condition without the name of a job: `p99 < 30ms`.
    pub text: String,
    /// The measured quantity.
    pub metric: Metric,
    /// Side of the bound on which the quantity must be.
    pub side: Side,
    /// The bound: nanoseconds for times, per second for throughput, a fraction for `failed`.
    pub bound: f64,
}

impl Slo {
    /// Returns true if a value, in the unit of the bound, is on the right side of the bound.
    pub fn is_met_by(&self, value: f64) -> bool {
        match self.side {
            Side::Below => value < self.bound,
            Side::Above => value > self.bound,
        }
    }
}

/// A quantity that a condition judges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Response time.
    Response(Statistic),
    /// Service time.
    Service(Statistic),
    /// Completions per second.
    Throughput,
    /// (errors − accepted + rejected + unsent) / scheduled.
    Failed,
}

/// A statistic that summarizes a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The quantile at this fraction, between 0 and 1.
    Quantile(f64),
    /// The arithmetic mean.
    Mean,
    /// The largest value.
    Max,
}

/// The side of a bound on which a condition is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `<`
    Below,
    /// `>`
    Above,
}
