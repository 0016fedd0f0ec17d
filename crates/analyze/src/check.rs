//! What a check is, and what all of them together mean.

use crate::remedy::remedy;

/// Whether a measurement can be believed in one respect.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its name, by which `assay explain` and the guide know it.
    pub name: &'static str,
    /// What was found.
    pub status: Status,
    /// The number that was judged.
    pub value: Option<f64>,
    /// The number that it was compared with.
    pub limit: Option<f64>,
    /// Their unit.
    pub unit: &'static str,
    /// What was found, in one sentence.
    pub explain: String,
}

/// What a check found, from harmless to grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The check could not be made here.
    NotPossible,
    /// Nothing is wrong.
    Pass,
    /// The numbers may mislead.
    Suspect,
    /// The numbers are not to be believed.
    Invalid,
}

impl Status {
    /// The word for this status in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::NotPossible => "not-possible",
            Status::Pass => "pass",
            Status::Suspect => "suspect",
            Status::Invalid => "invalid",
        }
    }
}

impl Check {
    /// A check of a number against a limit.
    pub fn new(name: &'static str, unit: &'static str, value: f64, limit: f64) -> Check {
        Check {
            name,
            status: Status::Pass,
            value: Some(value),
            limit: Some(limit),
            unit,
            explain: String::new(),
        }
    }

    /// A check that cannot be made here, and why.
    pub fn not_possible(name: &'static str, why: impl Into<String>) -> Check {
        Check {
            name,
            status: Status::NotPossible,
            value: None,
            limit: None,
            unit: "",
            explain: why.into(),
        }
    }

    /// With this status and sentence.
    pub fn found(self, status: Status, explain: impl Into<String>) -> Check {
        Check { status, explain: explain.into(), ..self }
    }

    /// Returns the remedy if the check objects: an imperative without a period.
    pub fn remedy(&self) -> Option<&'static str> {
        match self.status {
            Status::Suspect | Status::Invalid => remedy(self.name),
            Status::NotPossible | Status::Pass => None,
        }
    }
}

/// All checks, and what they mean together.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Every check that there is, whatever it found.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// The gravest finding: a run without one is valid.
    pub fn status(&self) -> Status {
        let gravest = self.checks.iter().map(|check| check.status).max();
        gravest.unwrap_or(Status::NotPossible).max(Status::Pass)
    }

    /// The word for the verdict: VALID, SUSPECT or INVALID.
    pub fn word(&self) -> &'static str {
        match self.status() {
            Status::NotPossible | Status::Pass => "VALID",
            Status::Suspect => "SUSPECT",
            Status::Invalid => "INVALID",
        }
    }

    /// The checks with this status.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.status == status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(statuses: &[Status]) -> &'static str {
        let check = |status: &Status| Check::new("x", "", 0.0, 0.0).found(*status, "");
        Verdict { checks: statuses.iter().map(check).collect() }.word()
    }

    #[test]
    fn only_a_check_that_objects_has_a_remedy() {
        let has_remedy = |status| Check::new("rate", "%", 2.0, 1.0).found(status, "").remedy();
        assert!(has_remedy(Status::Suspect).is_some() && has_remedy(Status::Invalid).is_some());
        assert_eq!(has_remedy(Status::Pass).or(has_remedy(Status::NotPossible)), None);
    }

    #[test]
    fn the_gravest_check_decides() {
        assert_eq!(verdict(&[Status::Pass, Status::NotPossible]), "VALID");
        assert_eq!(verdict(&[Status::Pass, Status::Suspect, Status::NotPossible]), "SUSPECT");
        assert_eq!(verdict(&[Status::Invalid, Status::Suspect]), "INVALID");
    }
}
