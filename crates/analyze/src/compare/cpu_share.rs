//! The share of its processors that a component used in one run.
//!
//! The unit is the processors that the component's processes may use. These are the processors of
//! their affinity, by default all of the machine, or fewer if their control group has a quota. A
//! server that is bound to one of eight processors and uses all of it has a share of 1.

use std::ops::Range;

use base::Nanos;
use record::metric::{cgroup, processes, server};
use record::{ComponentKind, MeasuredSide, ObservedComponent, ObservedMetric};
use workload::question::CpuOwner;

use crate::evidence::Evidence;
use crate::limiter::server_processes;

/// The processor time of a component in the window of a run, as shares of the processors that it
/// may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuShare {
    /// The component.
    pub owner: CpuOwner,
    /// Share used in user mode, 0 to 1.
    pub user: f64,
    /// Share used in the kernel, 0 to 1.
    pub system: f64,
    /// Number of processors that the component may use.
    pub processors: f64,
}

impl CpuShare {
    /// Returns the share used in user mode and in the kernel: the utilisation.
    pub fn used(&self) -> f64 {
        self.user + self.system
    }

    /// Returns the share that the component did not use: idle, or used by other programs.
    pub fn idle(&self) -> f64 {
        (1.0 - self.used()).max(0.0)
    }
}

/// The observed processes that accept the connections of the main target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedServer {
    /// The processes, on the load generator's machine or on another one.
    pub processes: ObservedComponent,
    /// Their owner: the database, or a pooler or another proxy in front of it.
    pub owner: CpuOwner,
}

impl ObservedServer {
    /// Returns the server's processes in a run, on the machine on which they use the most processor
    /// time; `None` if the target has servers on several machines, because no machine shows the use
    /// of all of them.
    pub fn of(evidence: &Evidence) -> Option<ObservedServer> {
        let processes = server_processes(evidence)?;
        let proxies = evidence.observed_on(&processes, server::PROXIES);
        let is_proxy =
            proxies.is_some_and(|seen| seen.points.iter().any(|(_, proxies)| *proxies > 0.0));
        let owner = if is_proxy { CpuOwner::Proxy } else { CpuOwner::Database };
        Some(ObservedServer { processes, owner })
    }

    /// Returns the processes of the database behind a proxy, on the proxy's machine; `None` if the
    /// database itself accepts the connections.
    pub fn upstream(&self) -> Option<ObservedComponent> {
        let place = self.processes.place.clone();
        let upstream = ObservedComponent { place, kind: ComponentKind::Upstream };
        (self.owner == CpuOwner::Proxy).then_some(upstream)
    }
}

/// Returns the shares of the components whose processes were observed.
pub(super) fn cpu_shares(evidence: &Evidence, server: Option<&ObservedServer>) -> Vec<CpuShare> {
    let generator = ObservedComponent::here(ComponentKind::Processes(MeasuredSide::Generator));
    let generator = (CpuOwner::Generator, generator, Some(MeasuredSide::Generator));
    let accepting =
        server.map(|server| (server.owner, server.processes.clone(), Some(MeasuredSide::Server)));
    // The control group of a database behind a proxy is not observed.
    let upstream = server.and_then(ObservedServer::upstream);
    let upstream = upstream.map(|upstream| (CpuOwner::Database, upstream, None));
    let all = [generator].into_iter().chain(accepting).chain(upstream);
    all.filter_map(|(owner, component, group)| cpu_share(evidence, owner, &component, group))
        .collect()
}

/// Returns the share of a component; `group` is the side whose control group may limit it.
fn cpu_share(
    evidence: &Evidence,
    owner: CpuOwner,
    component: &ObservedComponent,
    group: Option<MeasuredSide>,
) -> Option<CpuShare> {
    let window = evidence.window();
    let quota = group.and_then(|side| {
        let kind = ComponentKind::Cgroup(side);
        let group = ObservedComponent { place: component.place.clone(), kind };
        mean(evidence, &window, &group, cgroup::QUOTA)
    });
    let may = mean(evidence, &window, component, processes::PROCESSORS)?;
    let processors = may.min(quota.unwrap_or(may));
    let used = |metric| {
        let growth = evidence.observed_on(component, metric)?.growth(&window)?;
        Some(growth.by / growth.span.as_secs_f64() / processors)
    };
    let (user, system) = (used(processes::USER)?, used(processes::SYSTEM)?);
    let is_sound = [user, system].iter().all(|share| share.is_finite() && *share >= 0.0);
    (processors > 0.0 && is_sound).then_some(CpuShare { owner, user, system, processors })
}

/// Returns the mean of a gauge's readings in the window, or its last reading if there are none.
fn mean(
    evidence: &Evidence,
    window: &Range<Nanos>,
    component: &ObservedComponent,
    metric: ObservedMetric,
) -> Option<f64> {
    let observed = evidence.observed_on(component, metric)?;
    let last = || observed.points.last().map(|(_, value)| *value);
    observed.mean(window).or_else(last)
}
