//! Observations of each component, whatever the limiter is: the numbers behind "nothing is full".

use record::metric::{disk, host, processes};
use record::{ComponentKind, Side};

use super::input::LimiterInput;
use super::usage::CPU_FULL;
use crate::other_programs::OtherProgram;

/// Largest number of waits that are listed.
const WAITS: usize = 5;

/// Mean number of sessions below which a wait is not reported.
const WORTH_A_WORD: f64 = 0.05;

/// Observations of the components, as means over the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedComponents {
    /// Used fraction of each component, 0 to 1, by its name.
    pub utilisations: Vec<(String, f64)>,
    /// Waits of the database's active sessions with the mean number of sessions, the largest first.
    /// `cpu` stands for sessions that run; `unexplained` for sessions that the database shows as
    /// running but that cannot have run.
    pub waits: Vec<(String, f64)>,
    /// Programs of neither side that used most of the processors.
    pub programs: Vec<OtherProgram>,
}

impl LimiterInput<'_, '_> {
    /// Returns the observations of each component.
    pub(super) fn seen(&self) -> ObservedComponents {
        let mut waits = self.all_waits();
        waits.retain(|(_, sessions)| *sessions >= WORTH_A_WORD);
        waits.truncate(WAITS);
        let others = self.signals.other_programs().into_iter();
        ObservedComponents {
            utilisations: self.utilisations(),
            waits,
            programs: others.flat_map(|others| others.programs).collect(),
        }
    }

    /// Returns the components that are full although no request was found to wait for them.
    pub(super) fn full(&self) -> Vec<(String, f64)> {
        self.utilisations().into_iter().filter(|(_, share)| *share >= CPU_FULL).collect()
    }

    fn utilisations(&self) -> Vec<(String, f64)> {
        let (server, generator) = (Side::Server, Side::Generator);
        let busiest = |side| self.signals.mean(&ComponentKind::Processes(side), processes::BUSIEST);
        let mut all = vec![
            ("load generator's busiest thread".to_owned(), {
                self.generator_share().or_else(|| busiest(generator))
            }),
            ("processors of the database".to_owned(), self.database_share()),
            ("database's busiest thread".to_owned(), busiest(server)),
        ];
        for host in self.signals.components(|component| component.part == ComponentKind::Host) {
            let rate = |metric| self.signals.rate_of(&host, metric);
            let busy = rate(host::BUSY).zip(rate(host::PROCESSORS).filter(|all| *all > 0.0));
            let name = host.place.as_deref().unwrap_or("the machine");
            all.push((format!("processors of {name}"), busy.map(|(busy, all)| busy / all)));
            all.push((format!("memory pressure of {name}"), rate(host::PRESSURE_MEMORY)));
        }
        let disks =
            self.signals.components(|component| matches!(component.part, ComponentKind::Disk(_)));
        let busy = disks
            .iter()
            .filter_map(|disk| Some((disk.to_string(), self.signals.rate_of(disk, disk::BUSY)?)));
        let busiest_disk = busy.max_by(|a, b| a.1.total_cmp(&b.1));
        all.extend(busiest_disk.map(|(name, busy)| (name, Some(busy))));
        let known = |(name, share): (String, Option<f64>)| Some((name, share?.clamp(0.0, 1.0)));
        all.into_iter().filter_map(known).collect()
    }
}
