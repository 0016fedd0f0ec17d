//! A component that hinders requests.

use std::cmp::Ordering;

use super::component::Component;
use super::evidence::{EvidenceKind, EvidenceNumber};
use super::finding::LimiterFinding;

/// A component that takes the time of requests, or has no capacity left.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// Suspected component.
    pub component: Component,
    /// Fraction of the window in which the component was saturated, or of the requests' time that
    /// was spent in it, 0 to 1.
    pub share: f64,
    /// Facts behind the suspicion.
    pub finding: LimiterFinding,
    /// Numbers behind the suspicion.
    pub evidence: Vec<EvidenceNumber>,
}

impl Suspect {
    pub(super) fn new(component: Component, share: f64, finding: LimiterFinding) -> Suspect {
        Suspect { component, share: share.clamp(0.0, 1.0), finding, evidence: Vec::new() }
    }

    /// Adds a number as evidence.
    pub(super) fn with(mut self, kind: EvidenceKind, value: f64) -> Suspect {
        // The sum of no numbers is -0.
        self.evidence.push(EvidenceNumber { kind, value: value + 0.0 });
        self
    }

    /// Adds a number as evidence, if there is one.
    pub(super) fn with_any(self, kind: EvidenceKind, value: Option<f64>) -> Suspect {
        match value {
            Some(value) => self.with(kind, value),
            None => self,
        }
    }

    /// Orders the ranking: causes come before their consequences, otherwise the larger share first.
    pub(super) fn order(a: &Suspect, b: &Suspect) -> Ordering {
        let explains = |suspect: &Suspect| match suspect.component {
            // A configured limit makes processors look full and sessions look slow.
            Component::Cgroup => 0,
            // Their work fills a processor or a disk.
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
        let of = |component, share| Suspect::new(component, share, LimiterFinding::Satisfied);
        let mut all = [
            of(Component::DatabaseCpu, 0.9),
            of(Component::DatabaseLocks, 0.95),
            of(Component::BackgroundTask, 0.4),
            of(Component::Cgroup, 0.3),
        ];
        all.sort_by(Suspect::order);
        let order = all.map(|suspect| suspect.component);
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
