//! Check that requests were sent at their intended times.

use base::Nanos;
use record::Kind;

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::evidence::JobEvidence;
use crate::finding::{self, Finding, JobObstacle, LatePart};

/// Send lag at p99 that does not matter at any response time: even an idle machine is late to wake
/// a thread now and then.
pub(super) const ALLOWED: Nanos = Nanos::from_micros(200);

/// Median send lag that does not matter at any response time. It is small, because such a lag adds
/// to most response times.
const ALLOWED_AT_MEDIAN: Nanos = Nanos::from_micros(20);

/// Fraction of the response time that the send lag may make up, at p99 and at the median.
const SHARE: f64 = 0.10;

/// Send lag at p99 that is allowed however short the median response time is, if this lag is small
/// relative to the p99 response time. This matters only for the few jobs with a short median and a
/// long p99.
const ALLOWED_BESIDE_MEDIAN: Nanos = Nanos::from_micros(250);

/// Multiple of the limit beyond which the result is INVALID. If the limit is [`SHARE`] of the
/// response time, the send lag then makes up more than half of it.
const INVALID_RATIO: f64 = 5.0;

/// Send lag of the requests of a job.
struct Lag<'a> {
    job: &'a str,
    /// Part of the requests: those whose lag is at least `ns`.
    part: LatePart,
    ns: f64,
    limit_ns: f64,
    /// Multiple of the limit beyond which the result is INVALID.
    invalid_ratio: f64,
}

impl Lag<'_> {
    fn ratio(&self) -> f64 {
        self.ns / self.limit_ns
    }

    fn status(&self) -> Status {
        match self.ratio() {
            ratio if ratio <= 1.0 => Status::Pass,
            ratio if ratio <= self.invalid_ratio => Status::Suspect,
            _ => Status::Invalid,
        }
    }
}

impl<'a> CheckInput<'a> {
    /// Checks by the p99 and the median of the send lag that requests were sent at their intended
    /// times.
    pub(crate) fn send_lag(&self) -> Check {
        let lags = self.jobs().filter_map(|(job, evidence, _)| lags_of(job, evidence)).flatten();
        let worst =
            lags.max_by(|a, b| a.status().cmp(&b.status()).then(a.ratio().total_cmp(&b.ratio())));
        let Some(lag) = worst else {
            return CheckKind::SendLag.not_possible(JobObstacle::NothingSent);
        };
        let Lag { job, part, ns, limit_ns, .. } = lag;
        let judged = CheckKind::SendLag.of(Unit::Milliseconds, ns / 1e6, limit_ns / 1e6);
        let finding = finding::Lag { job: job.to_owned(), part, ns };
        judged.conclude(lag.status(), Finding::SendLag(finding))
    }
}

/// Returns the send lag of a job at p99 and at p50.
fn lags_of<'a>(job: &'a str, evidence: &JobEvidence) -> Option<[Lag<'a>; 2]> {
    let lag = evidence.histogram(Kind::SendLag).filter(|histogram| !histogram.is_empty())?;
    let response = evidence.histogram(Kind::Response)?;
    let at = |fraction| lag.value_at_quantile(fraction) as f64;
    let share = |fraction| response.value_at_quantile(fraction) as f64 * SHARE;
    let of_most = share(0.5).max(ALLOWED_BESIDE_MEDIAN.0 as f64).min(share(0.99));
    Some([
        Lag {
            job,
            part: LatePart::Hundredth,
            ns: at(0.99),
            limit_ns: of_most.max(ALLOWED.0 as f64),
            invalid_ratio: INVALID_RATIO,
        },
        // A large median lag never makes a run INVALID: its service times remain correct.
        Lag {
            job,
            part: LatePart::Half,
            ns: at(0.5),
            limit_ns: share(0.5).max(ALLOWED_AT_MEDIAN.0 as f64),
            invalid_ratio: f64::INFINITY,
        },
    ])
}
