//! Checks that the load generator was not hindered.
//!
//! Requests cannot show this: late answers look the same whether the generator or the database was
//! late. Therefore a thread that sends no requests observes the process, and its samples are judged
//! here.

use base::Nanos;
use record::metric::{generator, host, lane};
use record::{ComponentKind, LANE_PREFIX, MeasuredSide, ObservedMetric};

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{Finding, ObservationObstacle, Obstacle, ProcessorWait, Stalls, ThreadUse};
use crate::observed::{Growth, Observed};

/// Longest allowed stall of the process. A scheduler's time slice on a busy machine is a few
/// milliseconds; longer stalls show in the quantiles of a run of usual length.
const STALL_ALLOWED: Nanos = Nanos::from_millis(40);

/// The result is INVALID if one stall lasts longer than this fraction of the window.
const STALL_INVALID: f64 = 0.05;

/// Maximum time from the last sample to the end of the window. There is one sample each second, and
/// a run that was killed may lack the last one.
const LATEST_SAMPLE_AGE: Nanos = Nanos::from_secs(3);

/// Fraction of the window that a request thread may wait for a processor.
const WAIT_ALLOWED: f64 = 0.05;

/// Fraction of a processor that a request thread may use while requests follow a schedule: beyond
/// that it has no time left for requests that come close together.
const BUSY_ALLOWED: f64 = 0.8;

/// Fraction of the processors' time that may be stolen.
const STOLEN_ALLOWED: f64 = 0.01;

/// Processor time of a request thread, as fractions of the window.
pub(crate) struct Lane<'a> {
    /// Name of the thread.
    pub(crate) name: &'a str,
    /// Fraction of the window in which the thread ran.
    pub(crate) ran: f64,
    /// Fraction of the window in which the thread was runnable but had no processor.
    pub(crate) waited: f64,
}

impl CheckInput<'_> {
    /// Returns the reason why there are no observations besides the requests; `None` if there are
    /// some.
    pub(super) fn reason_not_observed(&self) -> Option<Obstacle> {
        match (self.evidence.is_virtual, self.evidence.observed.is_empty()) {
            (true, _) => Some(Obstacle::VirtualTime),
            (false, true) => Some(Obstacle::NothingObserved),
            (false, false) => None,
        }
    }

    /// Checks that the process did not stall.
    pub(super) fn stall(&self) -> Check {
        if let Some(why) = self.reason_not_observed() {
            return CheckKind::Stall.not_possible(why);
        }
        let window = self.evidence.window();
        let stalls = self
            .evidence
            .observed(&ComponentKind::Processes(MeasuredSide::Generator), generator::STALL);
        let stalls = stalls.map_or(&[][..], |stalls| &stalls.points);
        let lasts = |at: Nanos, length_s: f64| at + Nanos((length_s.max(0.0) * 1e9) as u64);
        let within: Vec<(Nanos, f64)> = stalls
            .iter()
            .copied()
            .filter(|(at, length)| *at < window.end && lasts(*at, *length) > window.start)
            .collect();
        let longest = within.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let (at, length_s) = longest.unwrap_or((Nanos::ZERO, 0.0));
        let allowed = STALL_ALLOWED.as_secs_f64();
        let others = self.evidence.observed.iter().filter(|it| !it.has_metric(generator::STALL));
        let last = others.filter_map(sampled_until).max();
        let did_last = last.is_some_and(|last| last + LATEST_SAMPLE_AGE >= window.end);
        if length_s <= allowed && !did_last {
            return CheckKind::Stall.not_possible(ObservationObstacle::WatcherEnded);
        }
        let judged = CheckKind::Stall.of(Unit::Milliseconds, length_s * 1e3, allowed * 1e3);
        if length_s <= allowed {
            return judged.conclude(Status::Pass, Finding::Stall(Stalls::None));
        }
        let window_s = self.evidence.window_length().as_secs_f64();
        let is_hopeless = length_s > window_s * STALL_INVALID;
        let status = if is_hopeless { Status::Invalid } else { Status::Suspect };
        let finding = Stalls::Longest { length_s, at, others: within.len() - 1 };
        judged.conclude(status, Finding::Stall(finding))
    }

    /// Checks that request threads hardly waited for a processor.
    pub(super) fn processor_wait(&self) -> Check {
        let Some((thread, share)) = self.largest_share(lane::WAITED) else {
            return CheckKind::ProcessorWait.not_possible(self.no_threads_obstacle());
        };
        let has_database_here = self.evidence.surroundings.has_database_here(&self.evidence.plan);
        let finding = ProcessorWait { thread: thread.to_owned(), share, has_database_here };
        let status = if share <= WAIT_ALLOWED { Status::Pass } else { Status::Suspect };
        let judged =
            CheckKind::ProcessorWait.of(Unit::Percent, share * 100.0, WAIT_ALLOWED * 100.0);
        judged.conclude(status, Finding::ProcessorWait(finding))
    }

    /// Checks that request threads had time to spare.
    pub(super) fn generator_cpu(&self) -> Check {
        if self.evidence.spins {
            return CheckKind::GeneratorCpu.not_possible(ObservationObstacle::Spinning);
        }
        let Some((thread, share)) = self.largest_share(lane::RAN) else {
            return CheckKind::GeneratorCpu.not_possible(self.no_threads_obstacle());
        };
        let headroom = self.headroom(share <= BUSY_ALLOWED);
        let finding = ThreadUse { thread: thread.to_owned(), share, headroom };
        let judged = CheckKind::GeneratorCpu.of(Unit::Percent, share * 100.0, BUSY_ALLOWED * 100.0);
        judged.conclude(headroom.status(), Finding::GeneratorCpu(finding))
    }

    /// Returns the busiest request thread and its fraction of a processor, if it had hardly any
    /// time to spare. With `--spin` it returns `None`, because a thread that spins is always busy.
    pub(crate) fn busy_thread(&self) -> Option<(&str, f64)> {
        let busiest = self.largest_share(lane::RAN).filter(|_| !self.evidence.spins);
        busiest.filter(|(_, share)| *share > BUSY_ALLOWED)
    }

    /// Checks that the hypervisor took hardly any processor time from this machine.
    pub(super) fn stolen_time(&self) -> Check {
        let growth = |metric| self.growth_of(self.evidence.observed(&ComponentKind::Host, metric)?);
        let stolen = growth(host::STOLEN).zip(growth(host::PROCESSORS));
        let Some((stolen, all)) = stolen.filter(|(_, all)| all.by > 0.0) else {
            let why = self
                .reason_not_observed()
                .unwrap_or(ObservationObstacle::ProcessorsUnreadable.into());
            return CheckKind::StolenTime.not_possible(why);
        };
        let share = stolen.by / all.by;
        let status = if share <= STOLEN_ALLOWED { Status::Pass } else { Status::Suspect };
        let judged = CheckKind::StolenTime.of(Unit::Percent, share * 100.0, STOLEN_ALLOWED * 100.0);
        judged.conclude(status, Finding::StolenTime { share })
    }

    fn growth_of(&self, observed: &Observed) -> Option<Growth> {
        observed.growth(&self.evidence.window())
    }

    /// Returns the request thread whose metric (a time in seconds) grew fastest, and the growth as
    /// a fraction of the elapsed time.
    fn largest_share(&self, metric: ObservedMetric) -> Option<(&str, f64)> {
        let lanes = self.observed_lanes().filter(|observed| observed.has_metric(metric));
        let shares = lanes.filter_map(|observed| {
            let Growth { by, span } = self.growth_of(observed)?;
            Some((observed.component.as_str(), by / span.as_secs_f64()))
        });
        shares.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Returns the processor time of each request thread.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = Lane<'_>> {
        let share = |name: &str, metric: ObservedMetric| {
            let mut of_it = self.observed_lanes().filter(|observed| observed.component == name);
            let observed = of_it.find(|observed| observed.has_metric(metric))?;
            let Growth { by, span } = self.growth_of(observed)?;
            Some(by / span.as_secs_f64())
        };
        let lanes = self.observed_lanes().filter(|observed| observed.has_metric(lane::RAN));
        lanes.filter_map(move |observed| {
            let name = observed.component.as_str();
            Some(Lane { name, ran: share(name, lane::RAN)?, waited: share(name, lane::WAITED)? })
        })
    }

    /// Returns the observations of the request threads.
    fn observed_lanes(&self) -> impl Iterator<Item = &Observed> {
        let all = self.evidence.observed.iter();
        all.filter(|observed| observed.component.starts_with(LANE_PREFIX))
    }

    fn no_threads_obstacle(&self) -> Obstacle {
        let was_read = || self.observed_lanes().next().is_some();
        match self.reason_not_observed() {
            Some(why) => why,
            None if was_read() => ObservationObstacle::ThreadsReadOnce.into(),
            None => ObservationObstacle::ThreadsUnreadable.into(),
        }
    }
}

/// Returns the time until which a series was sampled. If its last reading represents several
/// samples, the run was killed, and the samples of an equally long time after it are lost.
fn sampled_until(observed: &Observed) -> Option<Nanos> {
    let (before, last) = match observed.points.as_slice() {
        [] => return None,
        [(only, _)] => (*only, *only),
        [.., (before, _), (last, _)] => (*before, *last),
    };
    let lost = observed.range_at(last).map_or(Nanos::ZERO, |_| last.saturating_sub(before));
    Some(last + lost)
}
