//! Checks that the result is that of the database, not of the load generator's own overhead.
//!
//! The overhead cannot be derived from a run. `assay calibrate` has measured it on this machine,
//! and each record carries its figures.

use record::Kind;

use super::CheckInput;
use crate::check::{Check, Status};
use crate::surroundings::{Calibration, Route};

/// Fraction of the load generator's ceiling that a schedule may use. The calibration was made at
/// another time; beyond this fraction, requests that come close together delay each other.
const CEILING_ALLOWED: f64 = 0.5;

/// Fraction of the service time at p50 that an empty statement may take.
const FLOOR_ALLOWED: f64 = 0.5;

/// Fraction of the service time at p50 that reading the clock may cost (Hoefler and Belli, SC'15).
const CLOCK_COST_ALLOWED: f64 = 0.05;

/// Minimum ratio of the service time at p50 to the clock's resolution (Hoefler and Belli, SC'15).
const CLOCK_STEPS: f64 = 10.0;

/// Minimum fraction of the ceiling at which it limits a closed job.
const CEILING_LIMITS: f64 = 0.8;

/// Load of a run on the load generator.
pub(crate) struct Use {
    /// Statements per second of the jobs whose route is calibrated.
    per_s: f64,
    /// Load as a fraction of the ceiling of the run's threads.
    pub(crate) share: f64,
}

impl CheckInput<'_> {
    /// Returns the calibration of this machine, or the reason why there is none.
    fn calibration(&self) -> Result<&Calibration, &'static str> {
        match (&self.evidence.surroundings.calibration, self.evidence.is_virtual) {
            (_, true) => Err("time was simulated"),
            (None, false) => Err("run `assay calibrate` once on this machine"),
            (Some(calibration), false) => Ok(calibration),
        }
    }

    fn route(&self, place: usize) -> Option<Route> {
        let job = &self.evidence.plan.jobs[place];
        self.evidence.surroundings.asked(job.target).route
    }

    /// Returns the number of statements that a job sent, or of requests if statements were not
    /// counted.
    fn statements_of(&self, place: usize) -> u64 {
        let window = &self.evidence.jobs[place].window;
        let is_statement = |kind: &Kind| matches!(kind, Kind::Statement(_));
        let counted = window.iter().filter(|(kind, _)| is_statement(kind));
        match counted.map(|(_, times)| times.len()).sum() {
            0 => self.counts[place].balance.completed(),
            statements => statements,
        }
    }

    /// Returns the load of the run on its threads; `None` if no job's route is calibrated.
    pub(crate) fn used(&self) -> Option<Use> {
        let calibration = self.calibration().ok()?;
        let window_s = self.evidence.window_length().as_secs_f64();
        let threads = f64::from(self.evidence.threads.max(1));
        let mut used: Option<Use> = None;
        // The requests of a mix are those of its parts.
        let is_whole = |place: &usize| self.evidence.plan.jobs[*place].mix.is_empty();
        for place in (0..self.evidence.jobs.len()).filter(is_whole) {
            let ceiling = self.route(place).and_then(|route| calibration.of(route).per_s);
            let Some(ceiling) = ceiling.filter(|per_s| *per_s > 0.0 && window_s > 0.0) else {
                continue;
            };
            let per_s = self.statements_of(place) as f64 / window_s;
            let sum = used.get_or_insert(Use { per_s: 0.0, share: 0.0 });
            sum.per_s += per_s;
            sum.share += per_s / (ceiling * threads);
        }
        used
    }

    /// Returns a sentence and the share of the ceiling if the run uses all that its threads can
    /// make.
    pub(crate) fn limited_by_its_threads(&self) -> Option<(String, f64)> {
        let used = self.used().filter(|used| used.share >= CEILING_LIMITS)?;
        Some((self.in_words(&used), used.share))
    }

    /// Checks that the load generator had headroom.
    pub(super) fn ceiling(&self) -> Check {
        let why = match self.calibration() {
            Err(why) => why,
            Ok(_) => "no job asks a database of a kind that is calibrated",
        };
        let Some(used) = self.used() else { return Check::not_possible("ceiling", why) };
        let limit = CEILING_ALLOWED * 100.0;
        let check = Check::new("ceiling", "%", used.share * 100.0, limit);
        let sentence = self.in_words(&used);
        let has_schedule = self.places().any(|place| self.has_schedule(place));
        match (used.share <= CEILING_ALLOWED, has_schedule) {
            (true, _) => check.found(Status::Pass, sentence),
            (false, false) => check.found(
                Status::Pass,
                format!("{sentence}, which limits a closed job and does not falsify its times"),
            ),
            (false, true) => check.found(
                Status::Suspect,
                format!("{sentence}: requests that come close together wait for each other there"),
            ),
        }
    }

    fn in_words(&self, used: &Use) -> String {
        let threads = match self.evidence.threads.max(1) {
            1 => "a thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        format!(
            "{:.0} statements/s are {} of the most that {threads} of the load generator made here \
             when calibrated",
            used.per_s,
            percent(used.share)
        )
    }

    /// Returns the service time at p50 of a job that uses a database, in nanoseconds.
    fn service_p50(&self, place: usize) -> Option<f64> {
        let service = self.evidence.jobs[place].histogram(Kind::Service)?;
        let p50 = (!service.is_empty()).then(|| service.value_at_quantile(0.5) as f64)?;
        (p50 > 0.0).then_some(p50)
    }

    /// Checks that most of the service time is the database's.
    pub(super) fn floor(&self) -> Check {
        let calibration = match self.calibration() {
            Err(why) => return Check::not_possible("floor", why),
            Ok(calibration) => calibration,
        };
        let of_job = |place: usize| {
            let route = self.route(place).filter(|route| route.has_database())?;
            let floor = calibration.of(route).service_p50_ns?;
            Some((place, floor, floor / self.service_p50(place)?))
        };
        let jobs = (0..self.evidence.jobs.len()).filter_map(of_job);
        let Some((place, floor, share)) = jobs.max_by(|a, b| a.2.total_cmp(&b.2)) else {
            let why = "no job has a service time at a database of a kind that is calibrated";
            return Check::not_possible("floor", why);
        };
        let check = Check::new("floor", "%", share * 100.0, FLOOR_ALLOWED * 100.0);
        let job = &self.evidence.plan.jobs[place].name;
        let sentence = format!(
            "a statement that does nothing takes {:.1} µs here, {} of the service time of [{job}] \
             at p50",
            floor / 1e3,
            percent(share)
        );
        match share <= FLOOR_ALLOWED {
            true => check.found(Status::Pass, sentence),
            false => check.found(
                Status::Suspect,
                format!("{sentence}: most of that is the way to the database, and not its work"),
            ),
        }
    }

    /// Checks that the clock was cheap and fine enough for the times that it measured.
    pub(super) fn clock(&self) -> Check {
        let calibration = match self.calibration() {
            Err(why) => return Check::not_possible("clock", why),
            Ok(calibration) => calibration,
        };
        let figures = calibration.clock_cost_ns.zip(calibration.clock_resolution_ns);
        let Some((cost, step)) = figures else {
            return Check::not_possible("clock", "the calibration says nothing of the clock");
        };
        let is_null = |place: &usize| self.route(*place) == Some(Route::Null);
        let jobs = (0..self.evidence.jobs.len()).filter(|place| !is_null(place));
        let shortest = jobs.filter_map(|place| self.service_p50(place)).min_by(f64::total_cmp);
        let Some(p50) = shortest else {
            return Check::not_possible("clock", "no job has a service time at a database");
        };
        let share = cost / p50;
        let check = Check::new("clock", "%", share * 100.0, CLOCK_COST_ALLOWED * 100.0);
        let sentence = format!(
            "reading the clock costs {cost:.0} ns and tells steps of {step:.0} ns, at a service \
             time of {:.1} µs at p50",
            p50 / 1e3
        );
        match share <= CLOCK_COST_ALLOWED && step * CLOCK_STEPS <= p50 {
            true => check.found(Status::Pass, sentence),
            false => check.found(
                Status::Suspect,
                format!("{sentence}: so short a time cannot be told from that of the clock"),
            ),
        }
    }
}

/// Formats a fraction as a percentage.
fn percent(share: f64) -> String {
    match share * 100.0 {
        small if small < 1.0 => "less than 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}
