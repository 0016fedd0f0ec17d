//! A check, its status, and the verdict over all checks.

use crate::remedy::remedy;

/// A finding about one aspect of the measurement's credibility.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Name, as used by `assay explain` and the guide.
    pub name: &'static str,
    /// Finding.
    pub status: Status,
    /// Number that was judged.
    pub value: Option<f64>,
    /// Number that `value` was compared with.
    pub limit: Option<f64>,
    /// Unit of both.
    pub unit: &'static str,
    /// Finding in one sentence.
    pub explain: String,
}

/// Finding of a check, from harmless to grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The check could not be made here.
    NotPossible,
    /// Nothing is wrong.
    Pass,
    /// The numbers may mislead.
    Suspect,
    /// The numbers must not be believed.
    Invalid,
}

impl Status {
    /// Returns the word for this status in records and reports.
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
    /// Creates a passed check of a number against a limit.
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

    /// Creates a check that cannot be made here, with the reason.
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

    /// Sets the status and the sentence.
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

/// All checks and their overall meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Every check, whatever its finding.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// Returns the gravest finding; a run without one is valid.
    pub fn status(&self) -> Status {
        let gravest = self.checks.iter().map(|check| check.status).max();
        gravest.unwrap_or(Status::NotPossible).max(Status::Pass)
    }

    /// Returns the word for the verdict: VALID, SUSPECT or INVALID.
    pub fn word(&self) -> &'static str {
        match self.status() {
            Status::NotPossible | Status::Pass => "VALID",
            Status::Suspect => "SUSPECT",
            Status::Invalid => "INVALID",
        }
    }

    /// Returns the checks with this status.
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
