//! Check for programs that belong neither to the load generator nor to the database.

use workload::JobTarget;

use super::CheckInput;
use crate::check::{Check, Status};
use crate::limiter::{OtherPrograms, other_programs, sees_database};
use crate::surroundings::Place;

/// Fraction of a machine's processors that other programs may use.
const ALLOWED: f64 = 0.05;

impl CheckInput<'_> {
    /// Checks the fraction of the processors that other programs used.
    pub(super) fn other_programs(&self) -> Check {
        const NAME: &str = "other-programs";
        if let Some(why) = self.reason_not_observed().or_else(|| self.reason_not_distinguished()) {
            return Check::not_possible(NAME, why);
        }
        let others = other_programs(self.evidence);
        let most = others.iter().max_by(|a, b| a.share().total_cmp(&b.share()));
        let Some(most) = most else {
            let why = "the run was too short, or the processes of the machine could not be read";
            return Check::not_possible(NAME, why);
        };
        let check = Check::new(NAME, "%", most.share() * 100.0, ALLOWED * 100.0);
        match most.share() <= ALLOWED {
            true => check.found(Status::Pass, OtherPrograms::in_words(most)),
            false => check.found(
                Status::Suspect,
                format!("{}: what they took was not measured", most.in_words()),
            ),
        }
    }

    /// Returns the reason why a database cannot be distinguished from other programs; `None` if
    /// it can.
    fn reason_not_distinguished(&self) -> Option<&'static str> {
        let plan = &self.evidence.plan;
        let named = (0..plan.targets.len()).map(JobTarget::Named);
        let mut asked = named.filter(|target| plan.asks(*target));
        let is_here = |target| self.evidence.surroundings.asked(target).place == Place::ThisHost;
        let has_main = plan.asks(JobTarget::Main) && is_here(JobTarget::Main);
        if asked.any(is_here) {
            Some("of several targets on this machine only the main one is told from other programs")
        } else if has_main && !sees_database(self.evidence) {
            Some("the processes of the database could not be told from other programs")
        } else {
            None
        }
    }
}
