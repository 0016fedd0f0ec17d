//! Observations of each component, limiting or not: the numbers behind "nothing is saturated".

use record::metric::{disk, host, processes};
use record::{ComponentKind, MeasuredSide};

use super::input::LimiterInput;
use super::usage::CPU_FULL;
use super::utilised::UtilisedComponent;
use crate::other_programs::OtherProgram;

/// Largest number of waits that are listed.
const WAITS: usize = 5;

/// Waits with a smaller mean number of sessions are not reported.
const LEAST_REPORTED: f64 = 0.05;

/// Observations of the components, as means over the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedComponents {
    /// Used fraction of each component, 0 to 1.
    pub utilisations: Vec<(UtilisedComponent, f64)>,
    /// Waits of the database's active sessions with the mean number of sessions, the largest first;
    /// at most five. `cpu` denotes sessions that run; `unexplained` those that the database shows
    /// as running but that cannot have run.
    pub waits: Vec<(String, f64)>,
    /// Programs on all observed hosts, other than the load generator and the database, that used at
    /// least a hundredth of a processor.
    pub programs: Vec<OtherProgram>,
}

impl LimiterInput<'_, '_> {
    /// Returns the observations of each component.
    pub(super) fn observed_components(&self) -> ObservedComponents {
        let mut waits = self.all_waits();
        waits.retain(|(_, sessions)| *sessions >= LEAST_REPORTED);
        waits.truncate(WAITS);
        let others = self.signals.other_programs().into_iter();
        ObservedComponents {
            utilisations: self.utilisations(),
            waits,
            programs: others.flat_map(|others| others.programs).collect(),
        }
    }

    /// Returns the saturated components, each with its used fraction.
    pub(super) fn saturated(&self) -> Vec<(UtilisedComponent, f64)> {
        self.utilisations().into_iter().filter(|(_, share)| *share >= CPU_FULL).collect()
    }

    fn utilisations(&self) -> Vec<(UtilisedComponent, f64)> {
        let (server, generator) = (MeasuredSide::Server, MeasuredSide::Generator);
        let busiest = |side| self.signals.mean(&ComponentKind::Processes(side), processes::BUSIEST);
        let mut all = vec![
            (
                UtilisedComponent::GeneratorThread,
                // A thread that spins is always busy, which says nothing about its load.
                self.generator_share()
                    .or_else(|| busiest(generator))
                    .filter(|_| !self.check_input.evidence.spins),
            ),
            (UtilisedComponent::DatabaseProcessors, self.database_share()),
            (UtilisedComponent::DatabaseThread, busiest(server)),
        ];
        for component in self.signals.components(|component| component.kind == ComponentKind::Host)
        {
            let rate = |metric| self.signals.rate_of(&component, metric);
            let busy = rate(host::BUSY).zip(rate(host::PROCESSORS).filter(|all| *all > 0.0));
            let (host, pressure) = (component.place.clone(), rate(host::PRESSURE_MEMORY));
            let share = busy.map(|(busy, all)| busy / all);
            all.push((UtilisedComponent::Processors { host: host.clone() }, share));
            all.push((UtilisedComponent::MemoryPressure { host }, pressure));
        }
        let disks =
            self.signals.components(|component| matches!(component.kind, ComponentKind::Disk(_)));
        let busy = disks.into_iter().filter_map(|disk| {
            let share = self.signals.rate_of(&disk, disk::BUSY)?;
            Some((UtilisedComponent::Disk(disk), share))
        });
        let busiest_disk = busy.max_by(|a, b| a.1.total_cmp(&b.1));
        all.extend(busiest_disk.map(|(disk, busy)| (disk, Some(busy))));
        let known = all.into_iter().filter_map(|(it, share)| Some((it, share?)));
        known.map(|(it, share)| (it, share.clamp(0.0, 1.0))).collect()
    }
}
