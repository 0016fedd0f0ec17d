//! Something that stands in the way of requests.

use std::cmp::Ordering;

use super::Component;

/// A component that takes the time of requests, or has no more to give.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// Which component.
    pub component: Component,
    /// The part of the window in which it was full, or the part of the requests' time that was
    /// spent there, 0 to 1.
    pub share: f64,
    /// Why, in one sentence.
    pub because: String,
    /// The numbers behind it: names and values.
    pub evidence: Vec<(String, f64)>,
}

impl Suspect {
    pub(super) fn new(component: Component, share: f64, because: impl Into<String>) -> Suspect {
        let because = because.into();
        Suspect { component, share: share.clamp(0.0, 1.0), because, evidence: Vec::new() }
    }

    /// The same with a number behind it.
    pub(super) fn with(mut self, name: &str, value: f64) -> Suspect {
        // The sum of no numbers is -0.
        self.evidence.push((name.to_owned(), value + 0.0));
        self
    }

    /// The same with a number, if there is one.
    pub(super) fn with_any(self, name: &str, value: Option<f64>) -> Suspect {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// What comes first in the ranking: what explains others before what it explains, and
    /// otherwise what takes more.
    pub(super) fn order(a: &Suspect, b: &Suspect) -> Ordering {
        let explains = |suspect: &Suspect| match suspect.component {
            // A limit that was set makes processors look full and sessions look slow.
            Component::Cgroup => 0,
            // Their work is what fills a processor or a disk.
            Component::BackgroundTask | Component::OtherPrograms => 1,
            _ => 2,
        };
        explains(a).cmp(&explains(b)).then(b.share.total_cmp(&a.share))
    }
}

/// A number for a sentence, with as many digits as it takes.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A share in percent, for a sentence.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_explains_others_comes_first() {
        let of = |component, share| Suspect::new(component, share, "so");
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
