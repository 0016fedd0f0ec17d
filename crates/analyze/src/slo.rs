//! Judgement of the SLOs of a job.

use record::{Counts, Kind};
use workload::{Metric, Slo, Statistic};

use crate::evidence::JobEvidence;

/// An SLO and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Text of the SLO as it was written.
    pub text: String,
    /// Judged metric, which determines the unit of `value`.
    pub metric: Metric,
    /// True if the SLO was met. A number that does not exist or is withheld does not meet it.
    pub met: bool,
    /// Judged number, in nanoseconds, per second, or as a fraction; `None` if it does not exist or
    /// is withheld.
    pub value: Option<f64>,
}

/// Measurements of a job that its SLOs are judged by.
pub(crate) struct JobMeasurements<'a> {
    pub(crate) job: &'a JobEvidence,
    pub(crate) counts: &'a Counts,
    pub(crate) throughput_per_s: Option<f64>,
    /// True if response times are withheld because the offered load exceeds the capacity. Service
    /// times are not withheld: they show the speed of the database independently of the number of
    /// waiting requests.
    pub(crate) withheld: bool,
}

/// Judges one SLO.
pub(crate) fn judge(slo: &Slo, measured: &JobMeasurements<'_>) -> Judgement {
    let value = match slo.metric {
        Metric::Response(_) if measured.withheld => None,
        Metric::Response(statistic) => measured.time(Kind::Response, statistic),
        Metric::Service(statistic) => measured.time(Kind::Service, statistic),
        Metric::Throughput => measured.throughput_per_s,
        Metric::Failed => failed(measured.counts),
    };
    let met = value.is_some_and(|value| slo.is_met_by(value));
    Judgement { text: slo.text.clone(), metric: slo.metric, met, value }
}

impl JobMeasurements<'_> {
    fn time(&self, kind: Kind, statistic: Statistic) -> Option<f64> {
        let histogram = self.job.histogram(kind).filter(|histogram| !histogram.is_empty())?;
        Some(match statistic {
            Statistic::Quantile(q) => histogram.value_at_quantile(q) as f64,
            Statistic::Mean => histogram.mean(),
            Statistic::Max => histogram.max() as f64,
        })
    }
}

/// Returns (errors − accepted + rejected + unsent) / scheduled; `None` if nothing was scheduled.
pub(crate) fn failed(counts: &Counts) -> Option<f64> {
    let balance = &counts.balance;
    let failed = balance.errors() - counts.accepted_errors.min(balance.errors())
        + balance.rejected()
        + balance.unsent();
    let scheduled = balance.scheduled();
    (scheduled > 0).then(|| failed as f64 / scheduled as f64)
}
