//! The checks that every run goes through. Each is a function of the evidence alone.

use base::Nanos;
use base::units::grouped;
use record::{Counts, EventKind, Kind};

use crate::backlog::{SIGNIFICANT, trend};
use crate::check::{Check, Status, Verdict};
use crate::evidence::{Evidence, HowEnded, JobEvidence};

/// A send lag at p99 that does not matter whatever the response time.
const LAG_ALLOWED: Nanos = Nanos::from_micros(100);

/// The part of the median response time, or of p99, that the send lag at p99 may make up.
const LAG_SHARE_OF_MEDIAN: f64 = 0.05;
const LAG_SHARE_OF_P99: f64 = 0.10;

/// At this many times its limit, the send lag makes up half of p99: it is not a blemish of the
/// result but its content.
const LAG_HOPELESS: f64 = 5.0;

/// Error rates, accepted errors left out, beyond which a run is suspect or invalid.
const ERRORS_SUSPECT: f64 = 0.001;
const ERRORS_INVALID: f64 = 0.01;

/// What the checks look at: the evidence, and its sums over the window.
pub(crate) struct Findings<'a> {
    pub(crate) evidence: &'a Evidence,
    /// One per job.
    pub(crate) counts: Vec<Counts>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(evidence: &'a Evidence) -> Findings<'a> {
        let window = evidence.window();
        let counts = evidence.jobs.iter().map(|job| job.counts(window.clone())).collect();
        Findings { evidence, counts }
    }

    fn jobs(&self) -> impl Iterator<Item = (&'a str, &'a JobEvidence, &Counts)> {
        let names = self.evidence.plan.jobs.iter().map(|job| job.name.as_str());
        names.zip(&self.evidence.jobs).zip(&self.counts).map(|((name, job), c)| (name, job, c))
    }

    /// The counts of all jobs together.
    fn all(&self) -> Counts {
        let mut all = Counts::default();
        self.counts.iter().for_each(|counts| all.merge(counts));
        all
    }

    pub(crate) fn window_is_empty(&self) -> bool {
        self.all().balance.scheduled() == 0
    }

    /// Requests per second that ended in the window, answered or not.
    pub(crate) fn ended_per_s(&self) -> f64 {
        let window = self.evidence.window();
        let ended: u64 = self
            .evidence
            .jobs
            .iter()
            .map(|job| job.ends(window.clone()))
            .map(|ends| ends.completed + ends.errors)
            .sum();
        ended as f64 / self.evidence.window_length().as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Whether the backlog of a job grew through the window, or its queue overflowed.
    pub(crate) fn is_overloaded(&self, place: usize) -> bool {
        let Some(job) = self.evidence.jobs.get(place) else { return false };
        let counts = &self.counts[place];
        let open = self.evidence.plan.jobs[place].arrivals().is_some();
        open && (counts.balance.rejected() > 0
            || trend(&self.backlog(job)).is_some_and(|t| t.exceeds_capacity(counts.arrivals)))
    }

    /// The names of the jobs that are overloaded.
    pub(crate) fn overloaded(&self) -> impl Iterator<Item = &'a str> {
        let jobs = self.evidence.plan.jobs.iter().enumerate();
        jobs.filter(|(place, _)| self.is_overloaded(*place)).map(|(_, job)| job.name.as_str())
    }

    /// Requests that had come due and not ended, at the end of each interval of the window that
    /// is a whole second.
    fn backlog(&self, job: &JobEvidence) -> Vec<f64> {
        let window = self.evidence.window();
        let mut open = 0i64;
        let mut backlog = Vec::new();
        for (interval, row) in job.range(0..window.end).enumerate() {
            let ended = row.ends.completed + row.ends.errors + row.counts.balance.rejected();
            open += row.counts.arrivals as i64 - ended as i64;
            if interval >= window.start as usize {
                backlog.push(open as f64);
            }
        }
        backlog
    }

    /// All checks.
    pub(crate) fn verdict(&self) -> Verdict {
        let is_idle = self.evidence.plan.jobs.is_empty();
        let of_requests = |check: Check| match is_idle {
            true => Check::not_possible(check.name, "there is no job, so nothing was requested"),
            false => check,
        };
        let checks = vec![
            self.complete(),
            of_requests(self.window()),
            of_requests(self.balance()),
            of_requests(self.send_lag()),
            of_requests(self.backlog_check()),
            of_requests(self.errors()),
            of_requests(self.outage()),
            of_requests(self.connections()),
            of_requests(self.overflow()),
        ];
        Verdict { checks }
    }

    /// Did the run end as it was meant to, and is its record whole?
    fn complete(&self) -> Check {
        let check = Check::new("complete", "s", self.evidence.end.as_secs_f64(), 0.0);
        let planned = self.evidence.plan.duration;
        let check = Check { limit: planned.map(Nanos::as_secs_f64), ..check };
        let until = format!("after {:.1} s", self.evidence.end.as_secs_f64());
        match self.evidence.ended {
            Some(HowEnded::Completed) => check.found(Status::Pass, "the run ended by itself"),
            Some(HowEnded::Interrupted) if planned.is_none() => {
                check.found(Status::Pass, "the run was ended by the user, as it has no duration")
            }
            Some(HowEnded::Interrupted) => {
                check.found(Status::Suspect, format!("the user ended the run {until}"))
            }
            Some(HowEnded::StoppedByError) => {
                check.found(Status::Suspect, format!("an error ended the run {until}"))
            }
            Some(HowEnded::TargetLost) => {
                let sentence = "the target was not reachable any more when the run ended";
                check.found(Status::Suspect, sentence)
            }
            Some(HowEnded::RecorderFailed) => check.found(
                Status::Invalid,
                format!("the record could not be written any longer {until}: the run was ended"),
            ),
            None => check.found(
                Status::Suspect,
                format!("the run was killed: the record is whole until {until}"),
            ),
        }
    }

    /// Is there anything to speak of?
    fn window(&self) -> Check {
        let scheduled = self.all().balance.scheduled();
        let check = Check::new("window", "requests", scheduled as f64, 1.0);
        if scheduled == 0 {
            let sentence = "no request was meant to begin after the warm-up: there is no result";
            return check.found(Status::Invalid, sentence);
        }
        let length = self.evidence.window_length().as_secs_f64();
        let sentence = format!("{} requests in {length:.1} s", grouped(scheduled));
        check.found(Status::Pass, sentence)
    }

    /// Is every request that came due accounted for?
    fn balance(&self) -> Check {
        let all = self.all();
        let lost = all.arrivals.abs_diff(all.balance.scheduled());
        let check = Check::new("balance", "requests", lost as f64, 0.0);
        let sentence = format!(
            "{} came due; {} completed, {} ended in errors, {} were rejected, {} stayed unsent",
            grouped(all.arrivals),
            grouped(all.balance.completed()),
            grouped(all.balance.errors()),
            grouped(all.balance.rejected()),
            grouped(all.balance.unsent()),
        );
        check.found(if lost == 0 { Status::Pass } else { Status::Invalid }, sentence)
    }

    /// Were requests sent when they were meant to be?
    fn send_lag(&self) -> Check {
        let worst = self
            .jobs()
            .filter_map(|(name, job, _)| lag_of(job).map(|(lag, limit)| (name, lag, limit)))
            .max_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
        let Some((name, lag, limit)) = worst else {
            return Check::not_possible("send-lag", "no request was sent");
        };
        let check = Check::new("send-lag", "ms", lag / 1e6, limit / 1e6);
        let sentence =
            format!("1 % of the requests of [{name}] were sent {:.3} ms late or more", lag / 1e6);
        let status = match lag / limit {
            ratio if ratio <= 1.0 => Status::Pass,
            ratio if ratio <= LAG_HOPELESS => Status::Suspect,
            _ => Status::Invalid,
        };
        check.found(status, sentence)
    }

    /// Did requests arrive faster than they were answered?
    fn backlog_check(&self) -> Check {
        let open: Vec<usize> = (0..self.evidence.jobs.len())
            .filter(|&place| self.evidence.plan.jobs[place].arrivals().is_some())
            .collect();
        if open.is_empty() {
            return Check::not_possible("backlog", "no job has a schedule of arrivals");
        }
        let overloaded: Vec<&str> = self.overloaded().collect();
        let trends =
            open.iter().filter_map(|&place| trend(&self.backlog(&self.evidence.jobs[place])));
        let steepest = trends.map(|trend| trend.t).fold(f64::NAN, f64::max);
        let check = Check::new("backlog", "standard errors", steepest, SIGNIFICANT);
        if !overloaded.is_empty() {
            let sentence = format!(
                "the offered load exceeds the capacity for [{}]: response times would say how \
                 long the run was, and are withheld",
                overloaded.join("], [")
            );
            return check.found(Status::Suspect, sentence);
        }
        if steepest.is_nan() {
            let sentence = "the window is shorter than ten intervals";
            return Check::not_possible("backlog", sentence);
        }
        check.found(Status::Pass, "the backlog did not grow")
    }

    /// Did requests fail that were not expected to?
    fn errors(&self) -> Check {
        let all = self.all();
        let unexpected = all.balance.errors().saturating_sub(all.accepted_errors);
        let rate = unexpected as f64 / all.balance.scheduled().max(1) as f64;
        let check = Check::new("errors", "%", rate * 100.0, ERRORS_SUSPECT * 100.0);
        let sentence = format!("{} requests failed unexpectedly", grouped(unexpected));
        let status = match rate {
            rate if rate <= ERRORS_SUSPECT => Status::Pass,
            rate if rate <= ERRORS_INVALID => Status::Suspect,
            _ => Status::Invalid,
        };
        check.found(status, sentence)
    }

    /// Was the target there all the time?
    fn outage(&self) -> Check {
        let began: Vec<Nanos> = self.events(EventKind::OutageBegan).collect();
        let mut ended = self.events(EventKind::OutageEnded);
        let away: Nanos = began
            .iter()
            .map(|from| ended.next().unwrap_or(self.evidence.end).saturating_sub(*from))
            .sum();
        let check = Check::new("outage", "s", away.as_secs_f64(), 0.0);
        if began.is_empty() {
            return check.found(Status::Pass, "the target was reachable all the time");
        }
        let sentence = format!(
            "the target refused connections for {:.1} s, first {:.1} s after time zero",
            away.as_secs_f64(),
            began[0].as_secs_f64()
        );
        check.found(Status::Suspect, sentence)
    }

    /// Were as many connections open as were asked for?
    fn connections(&self) -> Check {
        let limited = self.events(EventKind::ConnectionLimit).count();
        let check = Check::new("connections", "limits met", limited as f64, 0.0);
        match self.evidence.events.iter().find(|e| e.kind == EventKind::ConnectionLimit) {
            None => check.found(Status::Pass, "the target accepted every connection"),
            Some(event) => check.found(Status::Suspect, event.text.clone()),
        }
    }

    /// Were all times within the range of the histograms?
    fn overflow(&self) -> Check {
        let overflows = self.all().overflows;
        let check = Check::new("overflow", "times", overflows as f64, 0.0);
        if overflows == 0 {
            return check.found(Status::Pass, "no time was longer than an hour");
        }
        let sentence = format!("{} times were longer than an hour", grouped(overflows));
        check.found(Status::Invalid, sentence)
    }

    fn events(&self, kind: EventKind) -> impl Iterator<Item = Nanos> {
        self.evidence.events.iter().filter(move |event| event.kind == kind).map(|event| event.at)
    }
}

/// The send lag of a job at p99 and its limit, in nanoseconds.
fn lag_of(job: &JobEvidence) -> Option<(f64, f64)> {
    let lag = job.histogram(Kind::SendLag).filter(|histogram| !histogram.is_empty())?;
    let response = job.histogram(Kind::Response)?;
    let at = |quantile: f64| response.value_at_quantile(quantile) as f64;
    let share = (at(0.5) * LAG_SHARE_OF_MEDIAN).max(at(0.99) * LAG_SHARE_OF_P99);
    Some((lag.value_at_quantile(0.99) as f64, share.max(LAG_ALLOWED.0 as f64)))
}
