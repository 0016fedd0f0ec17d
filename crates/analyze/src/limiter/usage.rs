//! Processors that the database and the load generator used, wanted and may use.

use record::metric::{cgroup, generator, host, processes};
use record::{ComponentKind, MeasuredSide};

use super::demand::LoadSource;
use super::finding::Requesters;
use super::input::LimiterInput;
use super::signals::HostProcessors;
use crate::check::Status;

/// Minimum utilisation of saturated processors. The kernel's scheduler loses the rest between two
/// tasks.
pub(super) const CPU_FULL: f64 = 0.85;

/// A thread that ran or was runnable for at least this fraction of the window has no time to spare.
pub(super) const FULL: f64 = 0.8;

/// A lack of processors on the side of the load generator is the limiter only if a thread waits for
/// a processor for at least this fraction of the window.
pub(super) const LEAST_WAIT: f64 = 0.2;

/// Processors of the database.
impl LimiterInput<'_, '_> {
    /// Returns the number of processors that the database used.
    pub(super) fn database_cpu(&self) -> Option<f64> {
        self.signals.used_processors(&ComponentKind::Processes(MeasuredSide::Server))
    }

    /// Returns the number of processors that the database may use.
    pub(super) fn database_processors(&self) -> Option<f64> {
        let available = self
            .signals
            .mean(&ComponentKind::Processes(MeasuredSide::Server), processes::PROCESSORS)?;
        let quota = self.signals.mean(&ComponentKind::Cgroup(MeasuredSide::Server), cgroup::QUOTA);
        Some(available.min(quota.unwrap_or(available))).filter(|available| *available > 0.0)
    }

    /// Returns the fraction of its processors that the database used; `None` if they were not seen.
    pub(super) fn database_share(&self) -> Option<f64> {
        Some(self.database_cpu()? / self.database_processors()?)
    }

    /// Returns the number of processors that the database used or waited for, as a fraction of
    /// those that it may use. Bursts of requests make the database wait for processors even if it
    /// does not need all of them on average.
    pub(super) fn database_demand(&self) -> Option<f64> {
        let waited = self.database_waited()?;
        Some((self.database_cpu()? + waited) / self.database_processors()?)
    }

    /// Returns the mean number of the database's threads that waited for a processor; `None` if
    /// that is not known.
    pub(super) fn database_waited(&self) -> Option<f64> {
        self.signals.rate(&ComponentKind::Processes(MeasuredSide::Server), processes::WAITED)
    }

    /// Returns the fraction of the processors' time that the hypervisor did not steal: at least
    /// 0.5, and 1 if that is not known.
    pub(super) fn unstolen_share(&self) -> f64 {
        let of = |metric| self.signals.rate_at_server(&ComponentKind::Host, metric);
        let stolen = of(host::STOLEN).zip(of(host::PROCESSORS).filter(|all| *all > 0.0));
        1.0 - stolen.map_or(0.0, |(stolen, all)| (stolen / all).clamp(0.0, 0.5))
    }

    /// Returns the number of processors that the load generator used.
    pub(super) fn generator_cpu(&self) -> Option<f64> {
        self.signals.used_processors(&ComponentKind::Processes(MeasuredSide::Generator))
    }

    /// Returns the busy fraction of all processors of the database's host.
    pub(super) fn busy_share(&self) -> Option<f64> {
        self.signals.host_processors().map(HostProcessors::share)
    }

    /// Returns true if the processors of the database's host are saturated.
    pub(super) fn is_host_full(&self) -> bool {
        self.busy_share().is_some_and(|busy| busy >= CPU_FULL)
    }

    /// Returns true if a program that is not a database accepts the target's connections.
    pub(super) fn sees_proxy(&self) -> bool {
        self.signals.sees_proxy()
    }
}

/// Processors of the load generator.
impl LimiterInput<'_, '_> {
    /// Returns the fraction of one processor that the loading thread used; `None` if no table is
    /// being loaded, or the thread was not seen. That thread generates and sends the rows.
    pub(super) fn loader_share(&self) -> Option<f64> {
        let kind = ComponentKind::Processes(MeasuredSide::Generator);
        let observing = self.signals.rate(&kind, generator::OBSERVING).unwrap_or(0.0);
        let used = self.signals.used_processors(&kind).map(|used| (used - observing).max(0.0));
        used.filter(|_| self.demand.source == LoadSource::Load)
    }

    /// Returns the mean number of threads of the load generator that lacked a processor; 0 if that
    /// is not known.
    pub(super) fn loader_waited(&self) -> f64 {
        self.signals
            .rate(&ComponentKind::Processes(MeasuredSide::Generator), processes::WAITED)
            .unwrap_or(0.0)
    }

    /// Returns the largest fraction of a processor that a thread of the load generator, or of the
    /// observed program, used for requests; `None` if no thread was observed, or the threads spin.
    pub(super) fn generator_share(&self) -> Option<f64> {
        match self.demand.source {
            LoadSource::Jobs if self.check_input.evidence.spins => None,
            LoadSource::Jobs => self.check_input.lanes().map(|lane| lane.ran).reduce(f64::max),
            LoadSource::Load => self.loader_share(),
            LoadSource::Program => self
                .signals
                .mean(&ComponentKind::Processes(MeasuredSide::Generator), processes::BUSIEST),
        }
    }

    /// Returns true if the load generator had time for more requests of these clients; `None` if
    /// that is unknown.
    pub(super) fn generator_has_time(&self, requesters: Requesters) -> Option<bool> {
        if self.demand.source != LoadSource::Jobs || !self.check_input.evidence.spins {
            return Some(self.generator_demand()? < 0.8);
        }
        // A thread that spins is always busy. Requests that are due after a pause show if the
        // thread was late; requests of clients without a pause do not.
        let is_in_time = self.check_input.send_lag().status == Status::Pass;
        (requesters == Requesters::ThinkingClients && is_in_time).then_some(true)
    }

    /// Returns the largest fraction of the window in which a thread ran or was runnable. Of an
    /// observed program, only the time for which its busiest thread ran is known.
    pub(super) fn generator_demand(&self) -> Option<f64> {
        match self.demand.source {
            LoadSource::Jobs => {
                self.check_input.lanes().map(|lane| lane.ran + lane.waited).reduce(f64::max)
            }
            LoadSource::Load => Some(self.loader_share()? + self.loader_waited()),
            LoadSource::Program => self.generator_share(),
        }
    }
}
