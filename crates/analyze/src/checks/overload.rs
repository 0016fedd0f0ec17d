//! Check that requests did not arrive faster than they were answered.

use super::input::{CheckInput, UNSENT_ALLOWED};
use crate::backlog::{INTERVALS, OPEN_ALLOWED};
use crate::check::{Check, CheckKind, Status, Unit};
use crate::finding::{Backlog, Finding, JobObstacle};

impl CheckInput<'_> {
    /// Checks that requests did not arrive faster than they were answered.
    pub(super) fn backlog_check(&self) -> Check {
        let scheduled = self.whole_jobs().filter(|account| self.has_schedule(*account));
        if scheduled.clone().count() == 0 {
            return CheckKind::Backlog.not_possible(JobObstacle::NoArrivals);
        }
        if self.piles_up_at_lost_target() {
            return CheckKind::Backlog.not_possible(JobObstacle::TargetLost);
        }
        let steepest = scheduled
            .clone()
            .filter_map(|account| self.trend(account))
            .max_by(|a, b| (a.t / a.limit).total_cmp(&(b.t / b.limit)));
        if let Some(check) = self.rejected_check().or_else(|| self.unsent_check()) {
            return check;
        }
        let overloaded: Vec<String> = self.overloaded().map(str::to_owned).collect();
        let left_open = scheduled.clone().filter_map(|account| self.left_open(account));
        let open_share = scheduled.filter_map(|account| self.open_share(account));
        let open_share = open_share.max_by(f64::total_cmp).filter(|_| !overloaded.is_empty());
        if let Some(share) = open_share {
            let judged =
                CheckKind::Backlog.of(Unit::PercentOpen, share * 100.0, OPEN_ALLOWED * 100.0);
            let finding = Finding::Backlog(Backlog::Grows { jobs: overloaded });
            return judged.conclude(Status::Suspect, finding);
        }
        let (status, finding) = match steepest {
            _ if !overloaded.is_empty() => (Status::Suspect, Backlog::Grows { jobs: overloaded }),
            None => {
                let open_share = left_open.max_by(f64::total_cmp);
                return CheckKind::Backlog
                    .not_possible(JobObstacle::FewIntervals { fewest: INTERVALS, open_share });
            }
            Some(trend) if trend.is_significant() => (Status::Pass, Backlog::Immaterial),
            Some(_) => (Status::Pass, Backlog::Stable),
        };
        Check {
            kind: CheckKind::Backlog,
            status,
            value: steepest.map(|trend| trend.t),
            limit: steepest.map(|trend| trend.limit),
            unit: Unit::StandardErrors,
            finding: Finding::Backlog(finding),
        }
    }

    /// Returns the check with the status SUSPECT if requests were rejected; otherwise `None`.
    fn rejected_check(&self) -> Option<Check> {
        let rejected = Some(self.all().balance.rejected()).filter(|rejected| *rejected > 0)?;
        let full = self.jobs().filter(|(.., counts)| counts.balance.rejected() > 0);
        let jobs = full.map(|(name, ..)| name.to_owned()).collect();
        let judged = CheckKind::Backlog.of(Unit::RejectedRequests, rejected as f64, 0.0);
        Some(judged.conclude(Status::Suspect, Finding::Backlog(Backlog::QueuesFull { jobs })))
    }

    /// Returns the check with the status SUSPECT if jobs left too many requests unsent and no
    /// backlog grew; otherwise `None`.
    fn unsent_check(&self) -> Option<Check> {
        let accounts = || self.whole_jobs().filter(|account| self.has_schedule(*account));
        if accounts().any(|account| self.grows(account)) {
            return None;
        }
        let jobs: Vec<String> = accounts()
            .filter(|account| self.leaves_unsent(*account))
            .map(|account| self.evidence.plan.account(account).name().to_owned())
            .collect();
        let shares = accounts()
            .map(|account| self.share(account, self.counts[account.index()].balance.unsent()));
        let share = shares.max_by(f64::total_cmp).filter(|_| !jobs.is_empty())?;
        let judged =
            CheckKind::Backlog.of(Unit::PercentUnsent, share * 100.0, UNSENT_ALLOWED * 100.0);
        Some(judged.conclude(Status::Suspect, Finding::Backlog(Backlog::Unsent { jobs, share })))
    }
}
