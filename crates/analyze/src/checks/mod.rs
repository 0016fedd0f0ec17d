//! The checks that every run goes through. Each is a function of the evidence alone.

mod calibrated;
mod gaps;
mod generator;
mod little;
mod machine;
mod offered;
mod others;
mod punctual;
mod server;
mod steady;
mod target;

use base::units::grouped;
use base::{Class, Code, Nanos};
use record::{Counts, EndKind, EventKind};

use crate::backlog::{Arrivals, INTERVALS, Trend, trend, trend_of_varying};
use crate::check::{Check, Status, Verdict};
use crate::evidence::{Evidence, JobEvidence, Step};

pub(crate) use steady::step_at;

/// Unexpected error rates beyond which a run is suspect or invalid.
const ERRORS_SUSPECT: f64 = 0.001;
const ERRORS_INVALID: f64 = 0.01;

/// Fraction of a job's requests that may stay unsent after the run has waited for them.
const UNSENT_ALLOWED: f64 = 0.05;

/// Input of the checks: the evidence, and its sums over the window.
pub(crate) struct CheckInput<'a> {
    pub(crate) evidence: &'a Evidence,
    /// Counts by job.
    pub(crate) counts: Vec<Counts>,
}

/// State at the ends of consecutive intervals.
#[derive(Default)]
struct Backlog {
    /// Requests that had come due and not ended.
    open: Vec<f64>,
    /// Requests that came due in each of these intervals and in all before.
    arrivals: Vec<f64>,
}

impl<'a> CheckInput<'a> {
    pub(crate) fn new(evidence: &'a Evidence) -> CheckInput<'a> {
        let window = evidence.steps.window();
        let counts = evidence.jobs.iter().map(|job| job.counts(window.clone())).collect();
        CheckInput { evidence, counts }
    }

    /// Returns the jobs that count every request once.
    fn jobs(&self) -> impl Iterator<Item = (&'a str, &'a JobEvidence, &Counts)> {
        self.places().map(|place| {
            let name = self.evidence.plan.jobs[place].name.as_str();
            (name, &self.evidence.jobs[place], &self.counts[place])
        })
    }

    /// Returns the indices of the jobs that count every request once. A part of a mix is judged
    /// with it.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + Clone {
        let plan = &self.evidence.plan;
        let known = self.evidence.jobs.len();
        (0..known).filter(|place| plan.pacing_index_of(*place) == *place)
    }

    /// Returns the counts of all jobs together.
    fn all(&self) -> Counts {
        let mut all = Counts::default();
        self.jobs().for_each(|(.., counts)| all.merge(counts));
        all
    }

    pub(crate) fn window_is_empty(&self) -> bool {
        self.all().balance.scheduled() == 0
    }

    /// Returns true if there are requests that the generator never sent.
    pub(crate) fn some_unsent(&self) -> bool {
        self.all().balance.unsent() > 0
    }

    /// Returns the requests per second that ended in the window, answered or not.
    pub(crate) fn ended_per_s(&self) -> f64 {
        let window = self.evidence.steps.window();
        let ended: u64 = self
            .jobs()
            .map(|(_, job, _)| job.ends(window.clone()))
            .map(|ends| ends.completed + ends.errors)
            .sum();
        ended as f64 / self.evidence.window_length().as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Returns the errors of a job that it does not accept. Requests of an overloaded job that were
    /// still in flight when the drain ended belong to its backlog and are not errors. The same
    /// applies to requests in flight when the user interrupted the run, unless the job completed
    /// fewer than that: then it hung already.
    fn unexpected(&self, place: usize) -> u64 {
        self.failed(place).saturating_sub(self.counts[place].accepted_errors)
    }

    /// Returns the errors of a job including those that it accepts.
    fn failed(&self, place: usize) -> u64 {
        let counts = &self.counts[place];
        let drained = self.evidence.jobs[place].failed_with(Code::DRAIN);
        let was_given_up = self.evidence.ended == Some(EndKind::Interrupted)
            && drained <= counts.balance.completed();
        let drained = if was_given_up || self.is_overloaded(place) { drained } else { 0 };
        counts.balance.errors().saturating_sub(drained)
    }

    fn error_rate(&self, place: usize) -> f64 {
        self.share(place, self.unexpected(place))
    }

    /// Returns a number of requests as a fraction of the job's scheduled ones.
    fn share(&self, place: usize, requests: u64) -> f64 {
        requests as f64 / self.counts[place].balance.scheduled().max(1) as f64
    }

    /// Returns true if so many requests of a job failed that the rest says little of the target.
    /// Accepted errors count too, as they were not answered either.
    pub(crate) fn fails(&self, place: usize) -> bool {
        self.share(place, self.failed(place)) > ERRORS_INVALID
    }

    /// Returns true if the backlog of a job grew through the window, its queue overflowed, or the
    /// run ended before most of its requests were sent.
    pub(crate) fn is_overloaded(&self, place: usize) -> bool {
        let place = self.evidence.plan.pacing_index_of(place);
        let Some(counts) = self.counts.get(place) else { return false };
        // A backlog that built up after the target was lost says nothing of its capacity.
        let is_lost = self.evidence.ended == Some(EndKind::TargetLost);
        !is_lost
            && self.has_schedule(place)
            && (counts.balance.rejected() > 0 || self.leaves_unsent(place) || self.grows(place))
    }

    /// Returns true if the backlog of a job grew through the window.
    fn grows(&self, place: usize) -> bool {
        let job = &self.evidence.plan.jobs[place];
        let arrivals = Arrivals::of(job, self.counts[place].arrivals);
        self.trend(place).is_some_and(|trend| trend.exceeds_capacity(arrivals))
    }

    /// Returns true if too many requests of a job were still in line after the run had waited for
    /// them.
    fn leaves_unsent(&self, place: usize) -> bool {
        self.was_waited_for(place)
            && self.share(place, self.counts[place].balance.unsent()) > UNSENT_ALLOWED
    }

    /// Returns true if the run has waited for all requests of a job: it completed, and no file that
    /// failed kept requests back.
    fn was_waited_for(&self, place: usize) -> bool {
        let leader = |job: usize| self.evidence.plan.pacing_index_of(job);
        let lacks_input = self.evidence.events.iter().any(|event| {
            event.kind == EventKind::FileFailed
                && event.job.is_some_and(|job| leader(job.0.into()) == place)
        });
        self.evidence.ended == Some(EndKind::Completed) && !lacks_input
    }

    /// Returns the trend of a job's backlog; `None` if it has no schedule or the window is too
    /// short.
    pub(crate) fn trend(&self, place: usize) -> Option<Trend> {
        let job = self.evidence.jobs.get(place)?;
        let (schedule, _) = self.evidence.plan.jobs[place].arrivals()?;
        let Backlog { open, arrivals } = self.backlog(job);
        match schedule.varies() {
            true => trend_of_varying(&open, &arrivals),
            false => trend(&open),
        }
    }

    /// Returns the requests per second that the schedule of a job offers in the window.
    pub(crate) fn offered_per_s(&self, place: usize) -> Option<f64> {
        let (from, until) = (self.evidence.steps.warmup(), self.evidence.end());
        self.evidence.plan.offered_per_s(place, from, Some(until))
    }

    /// Returns true if requests of the job arrive independently of its answers.
    pub(crate) fn has_schedule(&self, place: usize) -> bool {
        self.evidence.plan.leader(place).has_arrivals()
    }

    /// Returns the names of the overloaded jobs.
    pub(crate) fn overloaded(&self) -> impl Iterator<Item = &'a str> {
        let places = self.places().filter(|place| self.is_overloaded(*place));
        places.map(|place| self.evidence.plan.jobs[place].name.as_str())
    }

    /// Returns the number of due but unended requests at the end of each step of the window in
    /// which the job's schedule lasted. Later steps are left out, as a backlog shrinks after the
    /// last arrival.
    fn backlog(&self, job: &JobEvidence) -> Backlog {
        let window = self.evidence.steps.window();
        let mut open = 0i64;
        let mut backlog = Backlog::default();
        let (mut began, mut lasted) = (false, 0);
        for (place, step) in job.range(0..window.end).enumerate() {
            let ended = step.ends.completed + step.ends.errors + step.counts.balance.rejected();
            open += step.counts.arrivals as i64 - ended as i64;
            backlog.arrivals.push(step.counts.arrivals as f64);
            if place < window.start {
                continue;
            }
            let arrives = step.counts.arrivals > 0;
            began |= arrives || open > 0;
            if began {
                backlog.open.push(open as f64);
            }
            lasted = if arrives { backlog.open.len() } else { lasted };
        }
        let behind = backlog.open.len() - lasted;
        backlog.open.truncate(lasted);
        backlog.arrivals.truncate(backlog.arrivals.len() - behind);
        backlog
    }

    /// Runs all checks.
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
            of_requests(self.rate()),
            of_requests(self.each_second()),
            of_requests(self.achieved()),
            of_requests(self.arrivals()),
            of_requests(self.gaps()),
            of_requests(self.send_lag()),
            of_requests(self.stall()),
            of_requests(self.processor_wait()),
            of_requests(self.generator_cpu()),
            of_requests(self.stolen_time()),
            of_requests(self.other_programs()),
            of_requests(self.ceiling()),
            of_requests(self.floor()),
            of_requests(self.clock()),
            of_requests(self.wall_clock()),
            of_requests(self.frequency()),
            of_requests(self.backlog_check()),
            of_requests(self.warm_up()),
            of_requests(self.drift()),
            of_requests(self.step()),
            of_requests(self.little()),
            of_requests(self.errors()),
            of_requests(self.wrong_results()),
            of_requests(self.outage()),
            of_requests(self.connections()),
            of_requests(self.overflow()),
            of_requests(self.files()),
            of_requests(self.commits()),
            of_requests(self.checkpoints()),
        ];
        Verdict { checks }
    }

    /// Checks that the run ended as intended and its record is complete.
    fn complete(&self) -> Check {
        let check = Check::new("complete", "s", self.evidence.end().as_secs_f64(), 0.0);
        let limit = self.evidence.plan.duration.map(Nanos::as_secs_f64);
        let check = Check { limit, ..check };
        let mut events = self.evidence.events.iter();
        match events.find(|event| event.kind == EventKind::RecorderFailed) {
            Some(event) => check.found(Status::Invalid, event.text.clone()),
            None => {
                let (status, sentence) = self.how_it_ended();
                match &self.evidence.unread_plan {
                    Some(why) => check.found(
                        status.max(Status::Suspect),
                        format!(
                            "{sentence}; the plan in the record cannot be read ({why}), so what \
                             depends on it, such as conditions and pauses, was not judged"
                        ),
                    ),
                    None => check.found(status, sentence),
                }
            }
        }
    }

    fn how_it_ended(&self) -> (Status, String) {
        let has_begun = self.evidence.end() > Nanos::ZERO;
        let until = match has_begun {
            true => format!("after {:.1} s", self.evidence.end().as_secs_f64()),
            false => "before its jobs began".to_owned(),
        };
        // Requests of a second that is not in the record may have been measured.
        let until_recorded = match has_begun {
            true => until.clone(),
            false => "before its first second was recorded".to_owned(),
        };
        let is_endless = self.evidence.plan.duration.is_none();
        match self.evidence.ended {
            Some(EndKind::Completed) => (Status::Pass, self.how_it_completed()),
            Some(EndKind::Interrupted) if is_endless && has_begun => {
                let sentence = "the run was ended by the user, as it has no duration";
                (Status::Pass, sentence.to_owned())
            }
            Some(EndKind::Interrupted) => {
                (Status::Suspect, format!("the user ended the run {until}"))
            }
            Some(EndKind::StoppedByError) => {
                (Status::Suspect, format!("an error ended the run {until}"))
            }
            Some(EndKind::TargetLost) => {
                let sentence = match has_begun {
                    true => "the target was not reachable any more when the run ended",
                    false => "the target was lost before the jobs of the run began",
                };
                (Status::Suspect, sentence.to_owned())
            }
            Some(EndKind::FileFailed) => {
                (Status::Suspect, format!("a file that failed ended the run {until}"))
            }
            Some(EndKind::RecorderFailed) => {
                let sentence = "the record could not be written any longer";
                (Status::Invalid, format!("{sentence} {until_recorded}: the run was ended"))
            }
            Some(EndKind::QueueFull) => {
                (Status::Invalid, format!("{} was full {until}, which ended the run", self.queue()))
            }
            Some(EndKind::InternalError) => {
                (Status::Invalid, format!("a mistake in assay itself ended the run {until}"))
            }
            None => (Status::Suspect, self.how_it_was_killed(&until_recorded)),
        }
    }

    /// Describes the end of a completed run, with the exhausted file if one ended it.
    fn how_it_completed(&self) -> String {
        let mut events = self.evidence.events.iter();
        match events.find(|event| event.kind == EventKind::FileExhausted) {
            Some(event) => format!("the run ended by itself: {}", event.text),
            None => "the run ended by itself".to_owned(),
        }
    }

    /// Names the queue that was full first.
    fn queue(&self) -> String {
        let mut events = self.evidence.events.iter();
        let job = events.find(|e| e.kind == EventKind::QueueFull).and_then(|event| event.job);
        let jobs = &self.evidence.plan.jobs;
        match job.and_then(|job| jobs.get(usize::from(job.0))) {
            Some(job) => format!("the queue of [{}]", job.name),
            None => "a queue".to_owned(),
        }
    }

    fn how_it_was_killed(&self, until: &str) -> String {
        let steps = self.jobs().flat_map(|(_, job, _)| &job.steps);
        // A killed run could not mark them as unsent: every unsent request here was still open.
        let open: u64 = steps.map(|step| step.counts.balance.unsent()).sum();
        let sentence = format!("the run was killed, or is still running: its record ends {until}");
        match open {
            0 => sentence,
            1 => format!("{sentence}, when 1 request was open, which counts as unsent"),
            _ => format!(
                "{sentence}, when {} requests were open, which count as unsent",
                grouped(open)
            ),
        }
    }

    /// Checks that there are requests in the window.
    fn window(&self) -> Check {
        let scheduled = self.all().balance.scheduled();
        let check = Check::new("window", "requests", scheduled as f64, 1.0);
        if scheduled == 0 {
            let when = match self.evidence.steps.warmup() {
                Nanos::ZERO => "",
                _ => " after the warm-up",
            };
            let sentence = format!("no request was scheduled{when}: there is no result");
            return check.found(Status::Invalid, sentence);
        }
        let length = self.evidence.window_length().as_secs_f64();
        let sentence = format!("{} requests in {length:.1} s", grouped(scheduled));
        check.found(Status::Pass, sentence)
    }

    /// Checks that every request that came due has an outcome.
    fn balance(&self) -> Check {
        let all = self.all();
        // Summed step by step, so one too many does not hide another that was lost.
        let window = self.evidence.steps.window();
        let steps = self.evidence.jobs.iter().flat_map(|job| job.range(window.clone()));
        let lost: u64 = steps
            .map(|Step { counts, .. }| counts.arrivals.abs_diff(counts.balance.scheduled()))
            .sum();
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

    /// Checks that requests did not arrive faster than they were answered.
    fn backlog_check(&self) -> Check {
        let scheduled = self.places().filter(|place| self.has_schedule(*place));
        if scheduled.clone().count() == 0 {
            return Check::not_possible("backlog", "no job has a schedule of arrivals");
        }
        let steepest = scheduled
            .filter_map(|place| self.trend(place))
            .max_by(|a, b| (a.t / a.limit).total_cmp(&(b.t / b.limit)));
        let overloaded: Vec<&str> = self.overloaded().collect();
        let rejected = self.all().balance.rejected();
        if rejected > 0 {
            let check = Check::new("backlog", "rejected requests", rejected as f64, 0.0);
            let full = self.jobs().filter(|(.., counts)| counts.balance.rejected() > 0);
            let sentence = format!(
                "the offered load exceeds the capacity: the queue of [{}] was full, response \
                 times would say how long it may be, and are withheld",
                full.map(|(name, ..)| name).collect::<Vec<_>>().join("], [")
            );
            return check.found(Status::Suspect, sentence);
        }
        if let Some(check) = self.unsent_check() {
            return check;
        }
        let sentence = match steepest {
            _ if !overloaded.is_empty() => format!(
                "the offered load exceeds the capacity for [{}]: response times would say how \
                 long the run was, and are withheld",
                overloaded.join("], [")
            ),
            None => {
                let why = format!("requests arrive in fewer than {INTERVALS} intervals");
                return Check::not_possible("backlog", why);
            }
            Some(trend) if trend.is_significant() => {
                "the backlog grew by less than matters".to_owned()
            }
            Some(_) => "the backlog did not grow".to_owned(),
        };
        let status = if overloaded.is_empty() { Status::Pass } else { Status::Suspect };
        Check {
            name: "backlog",
            status,
            value: steepest.map(|trend| trend.t),
            limit: steepest.map(|trend| trend.limit),
            unit: "standard errors",
            explain: sentence,
        }
    }

    /// Returns a finding if jobs left too many requests unsent and no backlog grew.
    fn unsent_check(&self) -> Option<Check> {
        let places = || self.places().filter(|place| self.has_schedule(*place));
        if places().any(|place| self.grows(place)) {
            return None;
        }
        let names: Vec<&str> = places()
            .filter(|place| self.leaves_unsent(*place))
            .map(|place| self.evidence.plan.jobs[place].name.as_str())
            .collect();
        let shares = places().map(|place| self.share(place, self.counts[place].balance.unsent()));
        let worst = shares.max_by(f64::total_cmp).filter(|_| !names.is_empty())? * 100.0;
        let check = Check::new("backlog", "% unsent", worst, UNSENT_ALLOWED * 100.0);
        let sentence = format!(
            "the offered load exceeds the capacity for [{}]: {worst:.0} % of the requests were \
             never sent, and the response times of the others are withheld",
            names.join("], [")
        );
        Some(check.found(Status::Suspect, sentence))
    }

    /// Checks that no requests failed unexpectedly. The job with the largest error rate counts: one
    /// that fails completely must not hide behind a busier one.
    fn errors(&self) -> Check {
        let rates = (0..self.counts.len()).map(|place| (place, self.error_rate(place)));
        let Some((place, rate)) = rates.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Check::not_possible("errors", "nothing was requested");
        };
        let check = Check::new("errors", "%", rate * 100.0, ERRORS_SUSPECT * 100.0);
        let sentence = match self.unexpected(place) {
            0 => "0 requests failed unexpectedly".to_owned(),
            failed => format!(
                "{} of the {} requests of [{}] failed unexpectedly",
                grouped(failed),
                grouped(self.counts[place].balance.scheduled()),
                self.evidence.plan.jobs[place].name
            ),
        };
        let status = match rate {
            rate if rate <= ERRORS_SUSPECT => Status::Pass,
            rate if rate <= ERRORS_INVALID => Status::Suspect,
            _ => Status::Invalid,
        };
        check.found(status, sentence)
    }

    /// Checks that results had the number of rows that the workload expects.
    fn wrong_results(&self) -> Check {
        const NAME: &str = "wrong-results";
        let plan = &self.evidence.plan;
        let is_asked = |place: &usize| plan.jobs[*place].expect_rows.is_some();
        let asked: Vec<usize> = (0..self.evidence.jobs.len()).filter(is_asked).collect();
        if asked.is_empty() {
            let why = "no job says how many rows its statements return (`expect-rows`)";
            return Check::not_possible(NAME, why);
        }
        let wrong = |place: usize| {
            let failures = self.evidence.jobs[place].failures.iter();
            let unexpected = failures.filter(|(class, code, _)| {
                *class == Class::WrongResult && !plan.jobs[place].accepted.contains(code)
            });
            unexpected.map(|(.., count)| count).sum::<u64>()
        };
        let counts = asked.into_iter().map(|place| (wrong(place), place));
        let (count, place) = counts.max().unwrap_or_default();
        let check = Check::new(NAME, "requests", count as f64, 0.0);
        match count {
            0 => check.found(Status::Pass, "every result had as many rows as it should"),
            count => {
                let job = &plan.jobs[place].name;
                let sentence = match count {
                    1 => format!("a result of [{job}] had another number of rows"),
                    _ => {
                        format!("{} results of [{job}] had another number of rows", grouped(count))
                    }
                };
                check.found(Status::Invalid, sentence)
            }
        }
    }

    /// Checks that all files of the workload were read and written. Requests that a failed file
    /// left out were not sent, or are not known.
    fn files(&self) -> Check {
        let events = self.evidence.events.iter();
        let faults: Vec<_> = events.filter(|event| event.kind == EventKind::FileFailed).collect();
        let check = Check::new("files", "files", faults.len() as f64, 0.0);
        let mut events = self.evidence.events.iter();
        let doubt = events.find(|event| event.kind == EventKind::FileCutOff);
        match (faults.first(), doubt) {
            (Some(event), _) => check.found(Status::Invalid, event.text.clone()),
            (None, Some(event)) => check.found(Status::Suspect, event.text.clone()),
            (None, None) => {
                check.found(Status::Pass, "every file of the jobs was read and written")
            }
        }
    }

    /// Checks that all times were within the range of the histograms.
    fn overflow(&self) -> Check {
        let overflows = self.all().overflows;
        let check = Check::new("overflow", "times", overflows as f64, 0.0);
        if overflows == 0 {
            return check.found(Status::Pass, "no time was longer than an hour");
        }
        let sentence = format!("{} times were longer than an hour", grouped(overflows));
        check.found(Status::Invalid, sentence)
    }
}
