//! Check for programs that belong neither to the load generator nor to the database.

use workload::JobTarget;

use super::input::CheckInput;
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{Finding, ObservationObstacle, Obstacle};
use crate::limiter::{Identification, identification, identifies_named_targets, other_programs};
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
        // The databases of named targets on other machines are never identified.
        let is_remote = |location| location == DatabaseLocation::Elsewhere;
        let only_here = self.named_targets().any(is_remote);
        let others = other_programs(self.evidence).into_iter();
        let others = others.filter(|others| others.host.is_none() || !only_here);
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
        let mut named = self.named_targets();
        let is_here = |location| location == DatabaseLocation::ThisHost;
        let main = self.evidence.surroundings.of_target(JobTarget::Main).location;
        if named.any(is_here) && !identifies_named_targets(self.evidence) {
            return Some(ObservationObstacle::NamedTargetNotIdentified.into());
        }
        if !plan.uses(JobTarget::Main) || !is_here(main) {
            return None;
        }
        match identification(self.evidence) {
            Identification::Complete => None,
            Identification::ProxyOnly => Some(ObservationObstacle::UpstreamNotIdentified.into()),
            Identification::None => Some(ObservationObstacle::DatabaseNotIdentified.into()),
        }
    }

    /// Returns the locations of the named targets that jobs use.
    fn named_targets(&self) -> impl Iterator<Item = DatabaseLocation> {
        let plan = &self.evidence.plan;
        let named = plan.target_ids().map(JobTarget::Named);
        let used = named.filter(|target| plan.uses(*target));
        used.map(|target| self.evidence.surroundings.of_target(target).location)
    }
}
