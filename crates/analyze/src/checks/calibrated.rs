//! Checks that the result reflects the database, not the load generator's own overhead.
//!
//! The overhead cannot be derived from a run. `assay calibrate` measures it on a machine, and the
//! records of later runs on this machine carry its figures.

use base::AccountId;
use record::Kind;

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{
    CalibrationObstacle, CeilingUse, ClockCost, Finding, Floor, Headroom, JobObstacle, Obstacle,
};
use crate::surroundings::{Calibration, Route};

/// Fraction of the load generator's ceiling that a schedule may use. The calibration took place at
/// a different time; beyond this fraction, requests that come close together delay each other.
const CEILING_ALLOWED: f64 = 0.5;

/// Fraction of the service time at p50 that an empty statement may take.
const FLOOR_ALLOWED: f64 = 0.5;

/// Fraction of the service time at p50 that reading the clock may cost (Hoefler and Belli, SC'15).
const CLOCK_COST_ALLOWED: f64 = 0.05;

/// Minimum ratio of the service time at p50 to the clock's resolution (Hoefler and Belli, SC'15).
const CLOCK_STEPS: f64 = 10.0;

/// Smallest used fraction of the ceiling at which the ceiling may be the limiter of a run.
const CEILING_LIMITS: f64 = 0.8;

impl CheckInput<'_> {
    /// Returns the calibration of this machine, or the reason why there is none.
    fn calibration(&self) -> Result<&Calibration, Obstacle> {
        match (&self.evidence.surroundings.calibration, self.evidence.is_virtual) {
            (_, true) => Err(Obstacle::VirtualTime),
            (None, false) => Err(CalibrationObstacle::NotCalibrated.into()),
            (Some(calibration), false) => Ok(calibration),
        }
    }

    fn route(&self, account: AccountId) -> Option<Route> {
        let job = self.evidence.plan.account(account).job();
        self.evidence.surroundings.of_target(job.target).route
    }

    /// Returns the number of statements that a job sent, or of requests if statements were not
    /// counted.
    fn statements_of(&self, account: AccountId) -> u64 {
        let window = &self.evidence.jobs[account.index()].window;
        let is_statement = |kind: &Kind| matches!(kind, Kind::Statement(_));
        let counted = window.iter().filter(|(kind, _)| is_statement(kind));
        match counted.map(|(_, times)| times.len()).sum() {
            0 => self.counts[account.index()].balance.completed(),
            statements => statements,
        }
    }

    /// Returns the rate of the run's statements as a fraction of the ceiling of its threads; `None`
    /// if the machine is not calibrated, or no job uses a calibrated route.
    pub(crate) fn used(&self) -> Option<CeilingUse> {
        let calibration = self.calibration().ok()?;
        let window_s = self.evidence.window_length().as_secs_f64();
        let threads = self.evidence.threads.max(1);
        let mut used: Option<CeilingUse> = None;
        // The requests of a mix are the requests of its parts.
        let is_whole = |account: &AccountId| !self.evidence.plan.account(*account).is_mix();
        for account in self.evidence.accounts().filter(is_whole) {
            let ceiling = self.route(account).and_then(|route| calibration.of(route).per_s);
            let Some(ceiling) = ceiling.filter(|per_s| *per_s > 0.0 && window_s > 0.0) else {
                continue;
            };
            let per_s = self.statements_of(account) as f64 / window_s;
            let headroom = Headroom::Enough;
            let nothing = CeilingUse { per_s: 0.0, share: 0.0, threads, headroom };
            let sum = used.get_or_insert(nothing);
            sum.per_s += per_s;
            sum.share += per_s / (ceiling * f64::from(threads));
        }
        used.map(|used| CeilingUse {
            headroom: self.headroom(used.share <= CEILING_ALLOWED),
            ..used
        })
    }

    /// Classifies the headroom of the load generator, for a run with or without schedules.
    pub(super) fn headroom(&self, has_enough: bool) -> Headroom {
        match (has_enough, self.whole_jobs().any(|account| self.has_schedule(account))) {
            (true, _) => Headroom::Enough,
            (false, false) => Headroom::LimitsClosedJobs,
            (false, true) => Headroom::DelaysRequests,
        }
    }

    /// Returns the use of the ceiling if it is at least [`CEILING_LIMITS`]; otherwise `None`.
    pub(crate) fn limited_by_its_threads(&self) -> Option<CeilingUse> {
        self.used().filter(|used| used.share >= CEILING_LIMITS)
    }

    /// Checks that the load generator had headroom.
    pub(super) fn ceiling(&self) -> Check {
        let why = match self.calibration() {
            Err(why) => why,
            Ok(_) => CalibrationObstacle::NoCalibratedRoute.into(),
        };
        let Some(used) = self.used() else { return CheckKind::Ceiling.not_possible(why) };
        let limit = CEILING_ALLOWED * 100.0;
        let judged = CheckKind::Ceiling.of(Unit::Percent, used.share * 100.0, limit);
        judged.conclude(used.headroom.status(), Finding::Ceiling(used))
    }

    /// Returns the service time of a job at p50, in nanoseconds; `None` without service times.
    fn service_p50(&self, account: AccountId) -> Option<f64> {
        let service = self.evidence.jobs[account.index()].histogram(Kind::Service)?;
        let p50 = (!service.is_empty()).then(|| service.value_at_quantile(0.5) as f64)?;
        (p50 > 0.0).then_some(p50)
    }

    /// Checks that most of the service time is the database's.
    pub(super) fn floor(&self) -> Check {
        let calibration = match self.calibration() {
            Err(why) => return CheckKind::Floor.not_possible(why),
            Ok(calibration) => calibration,
        };
        let of_job = |account: AccountId| {
            let route = self.route(account).filter(|route| route.has_database())?;
            let floor = calibration.of(route).service_p50_ns?;
            Some((account, floor, floor / self.service_p50(account)?))
        };
        let jobs = self.evidence.accounts().filter_map(of_job);
        let Some((account, ns, share)) = jobs.max_by(|a, b| a.2.total_cmp(&b.2)) else {
            return CheckKind::Floor.not_possible(CalibrationObstacle::NoCalibratedService);
        };
        let job = self.evidence.plan.account(account).name().to_owned();
        let status = if share <= FLOOR_ALLOWED { Status::Pass } else { Status::Suspect };
        let judged = CheckKind::Floor.of(Unit::Percent, share * 100.0, FLOOR_ALLOWED * 100.0);
        judged.conclude(status, Finding::Floor(Floor { job, ns, share }))
    }

    /// Checks that the clock was quick to read, and fine enough for the times that it measured.
    pub(super) fn clock(&self) -> Check {
        let calibration = match self.calibration() {
            Err(why) => return CheckKind::Clock.not_possible(why),
            Ok(calibration) => calibration,
        };
        let figures = calibration.clock_cost_ns.zip(calibration.clock_resolution_ns);
        let Some((cost_ns, step_ns)) = figures else {
            return CheckKind::Clock.not_possible(CalibrationObstacle::ClockNotCalibrated);
        };
        let is_null = |account: &AccountId| self.route(*account) == Some(Route::Null);
        let jobs = self.evidence.accounts().filter(|account| !is_null(account));
        let shortest = jobs.filter_map(|account| self.service_p50(account)).min_by(f64::total_cmp);
        let Some(service_p50_ns) = shortest else {
            return CheckKind::Clock.not_possible(JobObstacle::NoService);
        };
        let share = cost_ns / service_p50_ns;
        let is_fine = share <= CLOCK_COST_ALLOWED && step_ns * CLOCK_STEPS <= service_p50_ns;
        let status = if is_fine { Status::Pass } else { Status::Suspect };
        let judged = CheckKind::Clock.of(Unit::Percent, share * 100.0, CLOCK_COST_ALLOWED * 100.0);
        judged.conclude(status, Finding::Clock(ClockCost { cost_ns, step_ns, service_p50_ns }))
    }
}

impl Headroom {
    /// Returns the status of a check with this finding.
    pub(super) fn status(self) -> Status {
        match self {
            Headroom::Enough | Headroom::LimitsClosedJobs => Status::Pass,
            Headroom::DelaysRequests => Status::Suspect,
        }
    }
}
