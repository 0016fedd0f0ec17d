//! Is the result that of the database, or of the load generator's own way to it?
//!
//! What the way takes where nothing is at its end is not known from a run. `assay calibrate` has
//! measured it on this machine, and each record carries its figures.

use record::Kind;

use super::Findings;
use crate::check::{Check, Status};
use crate::surroundings::{Calibration, Route};

/// The part of what the load generator can do that a schedule may ask of it. A calibration is of
/// another time: beyond this its requests have no room to come close together.
const CEILING_ALLOWED: f64 = 0.5;

/// The part of the service time at p50 that a statement may take at which nothing is done.
const FLOOR_ALLOWED: f64 = 0.5;

/// The part of the service time at p50 that reading the clock may cost (Hoefler and Belli, SC'15).
const CLOCK_COST_ALLOWED: f64 = 0.05;

/// How many times finer than the service time at p50 the clock must be (the same).
const CLOCK_STEPS: f64 = 10.0;

/// The part of the ceiling from which it is what limits a closed job.
const CEILING_LIMITS: f64 = 0.8;

/// What the requests of a run ask of the load generator.
pub(crate) struct Use {
    /// Statements per second of the jobs whose way is calibrated.
    per_s: f64,
    /// As a part of what the threads of the run could have made.
    pub(crate) share: f64,
}

impl Findings<'_> {
    /// What this machine was found to take; or why that is not known.
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

    /// Statements that a job sent, requests if they were not counted.
    fn statements_of(&self, place: usize) -> u64 {
        let window = &self.evidence.jobs[place].window;
        let is_statement = |kind: &Kind| matches!(kind, Kind::Statement(_));
        let counted = window.iter().filter(|(kind, _)| is_statement(kind));
        match counted.map(|(_, times)| times.len()).sum() {
            0 => self.counts[place].balance.completed(),
            statements => statements,
        }
    }

    /// What the run asks of its threads; `None` if no job's way is calibrated.
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

    /// Whether a closed job takes all that the load generator can give: `Some` of how that is said.
    pub(crate) fn limited_by_its_threads(&self) -> Option<(String, f64)> {
        let used = self.used().filter(|used| used.share >= CEILING_LIMITS)?;
        Some((self.in_words(&used), used.share))
    }

    /// Had the load generator room for more?
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

    /// The service time of a job that asks a database, at p50 in nanoseconds.
    fn service_p50(&self, place: usize) -> Option<f64> {
        let service = self.evidence.jobs[place].histogram(Kind::Service)?;
        let p50 = (!service.is_empty()).then(|| service.value_at_quantile(0.5) as f64)?;
        (p50 > 0.0).then_some(p50)
    }

    /// Is the service time that of the database?
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

    /// Was the clock cheap and fine enough for what it timed?
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

/// A part in words.
fn percent(share: f64) -> String {
    match share * 100.0 {
        small if small < 1.0 => "less than 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}
