//! The part of its processors that a component used in one run.
//!
//! The unit is the processors on which the component's processes may run: the processors of their
//! affinity, or all of the machine, or fewer by the quota of their control group. A server that is
//! bound to one of eight processors and uses all of it has a share of 1.

use std::ops::Range;

use base::Nanos;
use record::metric::{cgroup, processes, server};
use record::{ComponentKind, Metric, Side};
use workload::question::CpuOwner;

use crate::evidence::Evidence;

/// The processor time of a component in the window of a run, as shares of the processors that it
/// may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuShare {
    /// The component.
    pub owner: CpuOwner,
    /// Share used in programs, 0 to 1.
    pub user: f64,
    /// Share used in the kernel, 0 to 1.
    pub system: f64,
    /// Number of processors that the component may use.
    pub processors: f64,
}

impl CpuShare {
    /// Returns the share used in programs and in the kernel: the utilisation.
    pub fn used(&self) -> f64 {
        self.user + self.system
    }

    /// Returns the share that the component left: idle, or used by other programs.
    pub fn idle(&self) -> f64 {
        (1.0 - self.used()).max(0.0)
    }
}

/// Returns the owner of the observed server processes: those that accept the connections may be a
/// pooler or another proxy.
pub fn owner_of_server(evidence: &Evidence) -> CpuOwner {
    let proxies = evidence.observed(&ComponentKind::Processes(Side::Server), server::PROXIES);
    match proxies.is_some_and(|seen| seen.points.iter().any(|(_, proxies)| *proxies > 0.0)) {
        true => CpuOwner::Proxy,
        false => CpuOwner::Database,
    }
}

/// Returns the shares of the components whose processes were observed on the load generator's
/// machine.
pub(super) fn cpu_shares(evidence: &Evidence) -> Vec<CpuShare> {
    let sides = [(Side::Generator, CpuOwner::Generator), (Side::Server, owner_of_server(evidence))];
    sides.into_iter().filter_map(|(side, owner)| cpu_share(evidence, side, owner)).collect()
}

fn cpu_share(evidence: &Evidence, side: Side, owner: CpuOwner) -> Option<CpuShare> {
    let window = evidence.window();
    let kind = ComponentKind::Processes(side);
    let may = mean(evidence, &window, &kind, processes::PROCESSORS)?;
    let quota = mean(evidence, &window, &ComponentKind::Cgroup(side), cgroup::QUOTA);
    let processors = may.min(quota.unwrap_or(may));
    let used = |metric| {
        let growth = evidence.observed(&kind, metric)?.growth(&window)?;
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
    kind: &ComponentKind,
    metric: Metric,
) -> Option<f64> {
    let observed = evidence.observed(kind, metric)?;
    let last = || observed.points.last().map(|(_, value)| *value);
    observed.mean(window).or_else(last)
}
