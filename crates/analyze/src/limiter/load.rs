//! Limiter of the load of a table.
//!
//! A load sends as fast as it is answered, so it is examined like a closed job, by the observations
//! during the load. One thread generates and sends the rows of all writers, so this thread may be
//! the limiter, too.

use base::Nanos;
use record::metric::processes;
use record::{ComponentKind, MeasuredSide};

use super::candidate::Candidate;
use super::component::Component;
use super::demand::Demand;
use super::finding::{Inconclusive, LimiterFinding, Saturation};
use super::input::LimiterInput;
use super::observed_components::ObservedComponents;
use super::signals::Signals;
use crate::checks::input::CheckInput;
use crate::evidence::LoadEvidence;

/// Minimum duration of a load whose limiter is determined. Observation begins some time after the
/// start of the load; a load of this length leaves time for a few samples of the database's
/// sessions.
pub const SHORTEST_LOAD: Nanos = Nanos::from_secs(1);

/// Returns the limiter of the load of a table.
pub(crate) fn of_load(check_input: &CheckInput<'_>, load: &LoadEvidence) -> Candidate {
    let unknown = |why| Candidate::new(Component::Unknown, 1.0, LimiterFinding::Inconclusive(why));
    if check_input.evidence.is_virtual {
        return unknown(Inconclusive::VirtualTime);
    }
    if load.took < SHORTEST_LOAD {
        return unknown(Inconclusive::ShortLoad);
    }
    if load.observed.is_empty() {
        return unknown(Inconclusive::NothingObserved);
    }
    let demand = Demand::of_load(&check_input.evidence.plan, load);
    let input =
        LimiterInput { check_input, signals: Signals::of_load(load), demand, side_effects: &[] };
    input.ranked(Saturation::Load).swap_remove(0)
}

/// Returns the observations of each component while a table was filled.
pub(crate) fn observed_during_load(
    check_input: &CheckInput<'_>,
    load: &LoadEvidence,
) -> ObservedComponents {
    let demand = Demand::of_load(&check_input.evidence.plan, load);
    LimiterInput { check_input, signals: Signals::of_load(load), demand, side_effects: &[] }
        .observed_components()
}

/// Returns the processor time of the database while a table was filled, from the first sample on;
/// `None` if the processes of the database were not seen.
pub(crate) fn server_cpu(load: &LoadEvidence) -> Option<Nanos> {
    let server = ComponentKind::Processes(MeasuredSide::Server);
    let signals = Signals::of_load(load);
    Some(Nanos::from_secs_f64(
        signals.grown(&server, processes::USER)? + signals.grown(&server, processes::SYSTEM)?,
    ))
}
