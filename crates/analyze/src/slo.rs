//! Whether a job met the conditions that it is judged by.

use record::{Counts, Kind};
use workload::{Metric, Side, Slo, Statistic};

use crate::evidence::JobEvidence;

/// A condition and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The condition as it was written.
    pub text: String,
    /// What is judged; it says what the number is.
    pub metric: Metric,
    /// Whether it was met. A number that does not exist or is withheld meets nothing.
    pub met: bool,
    /// The number that was judged: nanoseconds, per second, or a fraction.
    pub value: Option<f64>,
}

/// What a job is judged by.
pub(crate) struct Measured<'a> {
    pub(crate) job: &'a JobEvidence,
    pub(crate) counts: &'a Counts,
    pub(crate) throughput_per_s: Option<f64>,
    /// Whether response times are withheld because the backlog grew. Service times are not: they
    /// say how fast the database is, however many requests wait for it.
    pub(crate) withheld: bool,
}

/// Judges one condition.
pub(crate) fn judge(slo: &Slo, measured: &Measured<'_>) -> Judgement {
    let value = match slo.metric {
        Metric::Response(_) if measured.withheld => None,
        Metric::Response(statistic) => measured.time(Kind::Response, statistic),
        Metric::Service(statistic) => measured.time(Kind::Service, statistic),
        Metric::Throughput => measured.throughput_per_s,
        Metric::Failed => measured.failed(),
    };
    let met = value.is_some_and(|value| match slo.side {
        Side::Below => value < slo.bound,
        Side::Above => value > slo.bound,
    });
    Judgement { text: slo.text.clone(), metric: slo.metric, met, value }
}

impl Measured<'_> {
    fn time(&self, kind: Kind, statistic: Statistic) -> Option<f64> {
        let histogram = self.job.histogram(kind).filter(|histogram| !histogram.is_empty())?;
        Some(match statistic {
            Statistic::Quantile(q) => histogram.value_at_quantile(q) as f64,
            Statistic::Mean => histogram.mean(),
            Statistic::Max => histogram.max() as f64,
        })
    }

    /// (errors − accepted + rejected + unsent) / scheduled.
    fn failed(&self) -> Option<f64> {
        let balance = &self.counts.balance;
        let failed = balance.errors() - self.counts.accepted_errors.min(balance.errors())
            + balance.rejected()
            + balance.unsent();
        let scheduled = balance.scheduled();
        (scheduled > 0).then(|| failed as f64 / scheduled as f64)
    }
}
