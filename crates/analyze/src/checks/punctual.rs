//! Were requests sent when they were meant to be?

use base::Nanos;
use record::Kind;

use super::Findings;
use crate::check::{Check, Status};
use crate::evidence::JobEvidence;

/// A send lag at p99 that does not matter whatever the response time: what a machine with nothing
/// else to do is late to wake a thread now and then.
pub(super) const ALLOWED: Nanos = Nanos::from_micros(200);

/// The same of its median, by which every response time is too long.
const ALLOWED_AT_MEDIAN: Nanos = Nanos::from_micros(20);

/// The part of the response time at p99, and of its median, that the send lag may make up.
const SHARE: f64 = 0.10;

/// A send lag at p99 that does not matter as long as it is small beside p99: few medians are that
/// short and belong to a p99 that is so much longer.
const BESIDE_MEDIAN: Nanos = Nanos::from_micros(250);

/// At this many times its limit, the send lag makes up half of p99 or of the median: it is not a
/// blemish of the result but its content.
const HOPELESS: f64 = 5.0;

/// How late the requests of a job were sent.
struct Lag<'a> {
    job: &'a str,
    /// Which of them.
    part: &'static str,
    ns: f64,
    limit_ns: f64,
    /// What is found beyond so many times the limit.
    hopeless: f64,
}

impl Lag<'_> {
    fn ratio(&self) -> f64 {
        self.ns / self.limit_ns
    }

    fn status(&self) -> Status {
        match self.ratio() {
            ratio if ratio <= 1.0 => Status::Pass,
            ratio if ratio <= self.hopeless => Status::Suspect,
            _ => Status::Invalid,
        }
    }
}

impl<'a> Findings<'a> {
    /// Were requests sent when they were meant to be, nearly all of them and most of them?
    pub(super) fn send_lag(&self) -> Check {
        let lags = self.jobs().filter_map(|(job, evidence, _)| lags_of(job, evidence)).flatten();
        let worst =
            lags.max_by(|a, b| a.status().cmp(&b.status()).then(a.ratio().total_cmp(&b.ratio())));
        let Some(lag) = worst else {
            return Check::not_possible("send-lag", "no request was sent");
        };
        let Lag { job, part, ns, limit_ns, .. } = lag;
        let check = Check::new("send-lag", "ms", ns / 1e6, limit_ns / 1e6);
        let sentence =
            format!("{part} of the requests of [{job}] were sent {:.3} ms late or more", ns / 1e6);
        check.found(lag.status(), sentence)
    }
}

/// The send lag of a job at p99 and at p50.
fn lags_of<'a>(job: &'a str, evidence: &JobEvidence) -> Option<[Lag<'a>; 2]> {
    let lag = evidence.histogram(Kind::SendLag).filter(|histogram| !histogram.is_empty())?;
    let response = evidence.histogram(Kind::Response)?;
    let at = |fraction| lag.value_at_quantile(fraction) as f64;
    let share = |fraction| response.value_at_quantile(fraction) as f64 * SHARE;
    let of_most = share(0.5).max(BESIDE_MEDIAN.0 as f64).min(share(0.99));
    Some([
        Lag {
            job,
            part: "1 %",
            ns: at(0.99),
            limit_ns: of_most.max(ALLOWED.0 as f64),
            hopeless: HOPELESS,
        },
        // The service time is as it is: such a run has something to say.
        Lag {
            job,
            part: "half",
            ns: at(0.5),
            limit_ns: share(0.5).max(ALLOWED_AT_MEDIAN.0 as f64),
            hopeless: f64::INFINITY,
        },
    ])
}
