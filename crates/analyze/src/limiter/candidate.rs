//! A candidate: a component that hinders requests, and so may be the limiter.

use std::cmp::Ordering;

use super::component::Component;
use super::evidence::{EvidenceKind, EvidenceNumber};
use super::finding::LimiterFinding;

/// A component that takes the time of requests, or has no capacity left.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Suspected component.
    pub component: Component,
    /// Weight of the suspicion, 0 to 1, such as the used fraction of the component's capacity, or
    /// the fraction of the requests' time that was spent in the component.
    pub share: f64,
    /// Facts behind the suspicion.
    pub finding: LimiterFinding,
    /// Numbers behind the suspicion.
    pub evidence: Vec<EvidenceNumber>,
}

impl Candidate {
    pub(super) fn new(component: Component, share: f64, finding: LimiterFinding) -> Candidate {
        Candidate { component, share: share.clamp(0.0, 1.0), finding, evidence: Vec::new() }
    }

    /// Adds a number as evidence.
    pub(super) fn with(mut self, kind: EvidenceKind, value: f64) -> Candidate {
        // The sum of no numbers is -0, which would be shown with its sign.
        self.evidence.push(EvidenceNumber { kind, value: value + 0.0 });
        self
    }

    /// Adds a number as evidence, if there is one.
    pub(super) fn with_any(self, kind: EvidenceKind, value: Option<f64>) -> Candidate {
        match value {
            Some(value) => self.with(kind, value),
            None => self,
        }
    }

    /// Orders candidates: a control group first, then background work and other programs, then all
    /// others. Within each of these three groups, the candidate with the largest share comes first.
    pub(super) fn order(a: &Candidate, b: &Candidate) -> Ordering {
        let explains = |candidate: &Candidate| match candidate.component {
            // A configured limit makes processors look full and sessions look slow.
            Component::Cgroup => 0,
            // Background work and other programs fill a processor or a disk.
            Component::BackgroundTask | Component::OtherPrograms => 1,
            _ => 2,
        };
        explains(a).cmp(&explains(b)).then(b.share.total_cmp(&a.share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_rank_before_their_symptoms() {
        let of = |component, share| Candidate::new(component, share, LimiterFinding::Satisfied);
        let mut all = [
            of(Component::DatabaseCpu, 0.9),
            of(Component::DatabaseLocks, 0.95),
            of(Component::BackgroundTask, 0.4),
            of(Component::Cgroup, 0.3),
        ];
        all.sort_by(Candidate::order);
        let order = all.map(|candidate| candidate.component);
        assert_eq!(
            order,
            [
                Component::Cgroup,
                Component::BackgroundTask,
                Component::DatabaseLocks,
                Component::DatabaseCpu
            ]
        );
    }
}
