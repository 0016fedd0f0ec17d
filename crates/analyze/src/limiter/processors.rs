//! The database's processors as the limiter: all that it may use, or a single one. Also the quota
//! of a control group, of the database or the load generator.

use record::metric::{cgroup, processes, sessions};
use record::{ComponentKind, MeasuredSide};

use super::candidate::Candidate;
use super::component::Component;
use super::demand::LoadSource;
use super::evidence::EvidenceKind;
use super::finding::{LimiterFinding, ProcessorLimit};
use super::input::LimiterInput;
use super::signals::HostProcessors;
use super::usage::CPU_FULL;
use super::waits::DECISIVE_WAIT;
use crate::surroundings::DatabaseLocation;

/// The database has processors to spare if it uses less than this fraction of its processors. One
/// processor counts as busy if, on average, at least this many sessions run, or if the processes of
/// one kind of background work use at least this many processors.
const SPARE_BELOW: f64 = 0.8;

/// A thread that uses at least this fraction of a processor has no time to spare.
const THREAD_FULL: f64 = 0.85;

/// A quota is the limiter if its control group is throttled for at least this fraction of the time.
const THROTTLED: f64 = 0.1;

/// The quota of a group that is hardly throttled is the limiter only if the group uses at least
/// this fraction of it.
const QUOTA_USED: f64 = 0.9;

impl LimiterInput<'_, '_> {
    /// Returns true if the database has processors to spare; `None` if that is not known. The
    /// answer is not known if clearly more sessions run than the observed processes explain. If the
    /// processes of the database were not seen, the answer is known only if fewer than
    /// [`SPARE_BELOW`] sessions ran.
    pub(super) fn database_has_time(&self) -> Option<bool> {
        match self.database_share() {
            Some(share) => {
                // The observed process may be a tunnel to the database, not the database itself.
                let (used, waited) = (self.database_cpu()?, self.database_waited());
                let running = self.running();
                let elsewhere = running.unwrap_or(0.0) - used - waited.unwrap_or(0.0);
                if share < SPARE_BELOW && elsewhere >= SPARE_BELOW {
                    return None;
                }
                let gets_it = self.database_demand().is_none_or(|wants| wants < 1.0);
                Some(share < SPARE_BELOW * self.unstolen_share() && gets_it && !self.is_host_full())
            }
            None => {
                let running = self.running()?;
                (running < SPARE_BELOW).then_some(true)
            }
        }
    }

    /// Returns a candidate if a control group is throttled by its quota.
    pub(super) fn throttled(&self, side: MeasuredSide) -> Option<Candidate> {
        let kind = ComponentKind::Cgroup(side);
        let quota = self.signals.mean(&kind, cgroup::QUOTA)?;
        // The kernel adds up the throttled time of each processor.
        let available = self
            .signals
            .mean(&ComponentKind::Processes(side), processes::PROCESSORS)
            .unwrap_or(1.0);
        let throttled = self.signals.rate(&kind, cgroup::THROTTLED)? / available.max(1.0);
        let used = self.signals.used_processors(&ComponentKind::Processes(side)).unwrap_or(0.0);
        let share = throttled.min(1.0).max(used / quota.max(f64::MIN_POSITIVE));
        // The throttled fraction of all processors is small if the group had work for only a few of
        // them.
        let uses_all = used >= QUOTA_USED * quota && throttled > 0.0;
        if throttled < THROTTLED && !uses_all {
            return None;
        }
        let finding = ProcessorLimit::Throttled { side, throttled, quota, used };
        let finding = LimiterFinding::Processors(finding);
        let candidate = Candidate::new(Component::Cgroup, share, finding)
            .with(EvidenceKind::ThrottledSPerS, throttled)
            .with(EvidenceKind::QuotaProcessors, quota)
            .with(EvidenceKind::UsedProcessors, used);
        Some(candidate)
    }

    /// Returns a candidate if the database saturates the processors that it may use, or if the
    /// processors of its host are saturated and the database is their largest user.
    pub(super) fn processors(&self) -> Option<Candidate> {
        let (used, available) = (self.database_cpu()?, self.database_processors()?);
        let share = used / available;
        let wants = self.database_demand();
        // The processors of the database are identified only if it may use all of the machine's.
        let all = self.signals.host_processors().filter(|all| all.count <= available);
        let busy = all.map(HostProcessors::share);
        let is_busy = busy.is_some_and(|busy| busy >= CPU_FULL);
        let is_crowded = is_busy && wants.is_none_or(|wants| wants >= 1.0);
        let wants = wants.unwrap_or(share);
        // On a shared host the database can lack processors without using all of them.
        let generator = self.generator_cpu().unwrap_or(0.0);
        let rest = busy.map_or(0.0, |busy| busy * available - used - generator);
        let is_largest = used >= generator && used >= rest;
        let is_full =
            share >= CPU_FULL * self.unstolen_share() || (is_crowded && is_largest && share >= 0.4);
        if !is_full {
            return None;
        }
        let finding = LimiterFinding::Processors(ProcessorLimit::Full {
            used,
            may_use: available,
            wanted: wants * available,
            generator: self.generator_on_same_host(),
            is_starved: false,
        });
        let share = if is_crowded { share.max(CPU_FULL) } else { share };
        let component = self.proxy_or(Component::DatabaseCpu);
        let candidate = Candidate::new(component, share, finding)
            .with(EvidenceKind::UsedProcessors, used)
            .with(EvidenceKind::Processors, available)
            .with(EvidenceKind::WantedProcessors, wants * available)
            .with_any(EvidenceKind::BusyProcessorsShare, busy)
            .with_any(EvidenceKind::SessionsActive, self.active());
        Some(candidate)
    }

    /// Returns [`Component::Proxy`] in place of the component if a proxy accepts the target's
    /// connections.
    pub(super) fn proxy_or(&self, component: Component) -> Component {
        if self.sees_proxy() { Component::Proxy } else { component }
    }

    /// Returns a candidate if the database lacks processors because something other than it and the
    /// load generator uses them.
    pub(super) fn lacks_processors(&self) -> Option<Candidate> {
        let waited = self.database_waited()?;
        let (used, available) = (self.database_cpu()?, self.database_processors()?);
        let in_flight = self.demand.in_flight.max(self.active().unwrap_or(0.0)).max(1.0);
        let share = waited / in_flight;
        if share < DECISIVE_WAIT
            || used + waited < available
            || used / available >= CPU_FULL * self.unstolen_share()
        {
            return None;
        }
        let generator = self.generator_cpu().unwrap_or(0.0);
        let all = self.signals.host_processors();
        if all.is_some_and(|all| all.busy - used - generator < generator) {
            return None;
        }
        let finding = LimiterFinding::Processors(ProcessorLimit::Full {
            used,
            may_use: available,
            wanted: used + waited,
            generator: self.generator_on_same_host(),
            is_starved: true,
        });
        let component = self.proxy_or(Component::DatabaseCpu);
        let candidate = Candidate::new(component, share, finding)
            .with(EvidenceKind::UsedProcessors, used)
            .with(EvidenceKind::Processors, available)
            .with(EvidenceKind::WantedProcessors, used + waited)
            .with_any(EvidenceKind::BusyProcessorsShare, self.busy_share());
        Some(candidate.with_any(EvidenceKind::SessionsActive, self.active()))
    }

    /// Returns the number of processors that the load generator used on the database's machine;
    /// `None` unless the database is a separate program on the load generator's machine.
    fn generator_on_same_host(&self) -> Option<f64> {
        let is_here =
            self.check_input.evidence.surroundings.main.location == DatabaseLocation::ThisHost;
        self.generator_cpu().filter(|_| is_here)
    }

    /// Returns a candidate if one thread is busy all the time while other processors idle, unless
    /// this thread may serve another client or do background work.
    pub(super) fn one_processor(&self) -> Option<Candidate> {
        let busiest = self
            .signals
            .mean(&ComponentKind::Processes(MeasuredSide::Server), processes::BUSIEST)?;
        let available = self.database_processors()?;
        let used = self.database_cpu()?;
        if self.is_others_thread() {
            return None;
        }
        let given = self.unstolen_share();
        if busiest < THREAD_FULL * given || available < 1.5 || used / available >= CPU_FULL * given
        {
            return None;
        }
        let finding = ProcessorLimit::OneThread { share: busiest, may_use: available, used };
        let finding = LimiterFinding::Processors(finding);
        let component = self.proxy_or(Component::DatabaseSingleCore);
        let candidate = Candidate::new(component, busiest, finding)
            .with(EvidenceKind::BusiestThreadShare, busiest)
            .with(EvidenceKind::UsedProcessors, used)
            .with(EvidenceKind::Processors, available)
            .with_any(EvidenceKind::SessionsActive, self.active());
        Some(candidate)
    }

    /// Returns true if the busiest thread may belong to a session of another client, or do
    /// background work.
    fn is_others_thread(&self) -> bool {
        let roles = self.signals.kinds(|kind| matches!(kind, ComponentKind::Role(_)));
        let is_busy =
            |role| self.signals.used_processors(role).is_some_and(|used| used >= SPARE_BELOW);
        let others =
            self.signals.per_sample(&ComponentKind::Sessions, sessions::OTHERS).unwrap_or(0.0);
        // Sessions of an observed program may not be distinguishable from others'.
        let are_known =
            self.demand.source != LoadSource::Program || self.knows_sessions_of_program();
        (are_known && others >= SPARE_BELOW) || roles.iter().any(is_busy)
    }
}
