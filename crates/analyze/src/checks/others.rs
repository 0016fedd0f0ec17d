//! Check for programs that belong neither to the load generator nor to the database.

use workload::JobTarget;

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{Finding, ObservationObstacle, Obstacle};
use crate::limiter::{other_programs, sees_database};
use crate::surroundings::DatabaseLocation;

/// Fraction of a machine's processors that other programs may use.
const ALLOWED: f64 = 0.05;

impl CheckInput<'_> {
    /// Checks the fraction of the processors that other programs used.
    pub(super) fn other_programs(&self) -> Check {
        let kind = CheckKind::OtherPrograms;
        if let Some(why) = self.reason_not_observed().or_else(|| self.reason_not_distinguished()) {
            return kind.not_possible(why);
        }
        let others = other_programs(self.evidence).into_iter();
        let Some(most) = others.max_by(|a, b| a.share().total_cmp(&b.share())) else {
            return kind.not_possible(ObservationObstacle::ProgramsUnreadable);
        };
        let share = most.share();
        let status = if share <= ALLOWED { Status::Pass } else { Status::Suspect };
        let judged = kind.of(Unit::Percent, share * 100.0, ALLOWED * 100.0);
        judged.conclude(status, Finding::OtherPrograms(most))
    }

    /// Returns the reason why a database cannot be distinguished from other programs; `None` if
    /// it can.
    fn reason_not_distinguished(&self) -> Option<Obstacle> {
        let plan = &self.evidence.plan;
        let named = plan.target_ids().map(JobTarget::Named);
        let mut used = named.filter(|target| plan.uses(*target));
        let is_here = |target| {
            self.evidence.surroundings.of_target(target).location == DatabaseLocation::ThisHost
        };
        let has_main = plan.uses(JobTarget::Main) && is_here(JobTarget::Main);
        if used.any(is_here) {
            Some(ObservationObstacle::SeveralTargetsHere.into())
        } else if has_main && !sees_database(self.evidence) {
            Some(ObservationObstacle::DatabaseNotIdentified.into())
        } else {
            None
        }
    }
}
