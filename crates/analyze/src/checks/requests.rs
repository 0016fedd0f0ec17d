//! Checks of the requests and their outcomes.

use base::{AccountId, Class, Code, Nanos};
use record::{EventError, EventKind};
use workload::Job;

use super::input::{CheckInput, ERRORS_INVALID};
use crate::check::{Check, CheckKind, Status, Unit};
use crate::evidence::{JobEvidence, Step};
use crate::finding::{Failures, Files, Finding, JobObstacle, Outcomes, Requests, WrongResults};

/// A run is SUSPECT if more than this fraction of a job's requests had unexpected errors.
const ERRORS_SUSPECT: f64 = 0.001;

impl CheckInput<'_> {
    /// Checks that there are requests in the window.
    pub(super) fn window(&self) -> Check {
        let requests = self.all().balance.scheduled();
        let judged = CheckKind::Window.of(Unit::Requests, requests as f64, 1.0);
        let (status, finding) = match requests {
            0 => {
                let has_warmup = self.evidence.steps.warmup() != Nanos::ZERO;
                (Status::Invalid, Requests::None { has_warmup })
            }
            requests => {
                let length = self.evidence.window_length();
                (Status::Pass, Requests::Scheduled { requests, length })
            }
        };
        judged.conclude(status, Finding::Window(finding))
    }

    /// Checks that every request that came due has an outcome.
    pub(super) fn balance(&self) -> Check {
        let all = self.all();
        let lost = self.requests_without_one_outcome();
        let outcomes = Outcomes {
            due: all.arrivals,
            completed: all.balance.completed(),
            errors: all.balance.errors(),
            rejected: all.balance.rejected(),
            unsent: all.balance.unsent(),
        };
        let status = if lost == 0 { Status::Pass } else { Status::Invalid };
        let judged = CheckKind::Balance.of(Unit::Requests, lost as f64, 0.0);
        judged.conclude(status, Finding::Balance(outcomes))
    }

    /// Returns the number of requests in the window that do not have exactly one outcome.
    fn requests_without_one_outcome(&self) -> u64 {
        let window = self.evidence.steps.window();
        // Sum step by step: an excess in one step must not hide a lost request in another.
        let of_account = |job: &JobEvidence| -> u64 {
            let steps = job.range(window.clone());
            let open =
                |Step { counts, .. }: Step| counts.arrivals.abs_diff(counts.balance.scheduled());
            steps.map(open).sum()
        };
        let mut accounts = self.evidence.jobs.iter().map(of_account);
        // A request of a mix is counted for the mix and for a part, and may be lost in either.
        let of_job = |job: &Job| {
            let whole = accounts.next().unwrap_or_default();
            let parts: u64 = accounts.by_ref().take(job.parts.len()).sum();
            whole.max(parts)
        };
        self.evidence.plan.jobs.iter().map(of_job).sum()
    }

    /// Checks that hardly any requests failed unexpectedly. The job with the largest error rate
    /// decides: a busier job must not hide one that fails completely.
    pub(super) fn errors(&self) -> Check {
        let accounts = (0..self.counts.len() as u16).map(AccountId);
        let rates = accounts.map(|account| (account, self.error_rate(account)));
        let Some((account, rate)) = rates.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return CheckKind::Errors.not_possible(JobObstacle::NothingRequested);
        };
        let failing = self.evidence.plan.account(account);
        let finding = match self.unexpected(account) {
            0 => Failures::None,
            failed => Failures::Some {
                job: failing.name().to_owned(),
                failed,
                scheduled: self.counts[account.index()].balance.scheduled(),
                error: self.most_frequent_error(account),
                runs_program: failing.job().command().is_some(),
            },
        };
        let status = match rate {
            rate if rate <= ERRORS_SUSPECT => Status::Pass,
            rate if rate <= ERRORS_INVALID => Status::Suspect,
            _ => Status::Invalid,
        };
        let judged = CheckKind::Errors.of(Unit::Percent, rate * 100.0, ERRORS_SUSPECT * 100.0);
        judged.conclude(status, Finding::Errors(finding))
    }

    /// Returns the class with the most unexpected errors of a job, and the code with the most of
    /// them in that class; `None` without such errors.
    fn most_frequent_error(&self, account: AccountId) -> Option<EventError> {
        let excuses_drain = self.excuses_drain(account);
        let is_excused = |code: Code| code == Code::DRAIN && excuses_drain;
        let failures = &self.evidence.jobs[account.index()].failures;
        let number = |wanted: Class, wanted_code: Option<Code>| -> u64 {
            let is_counted = |class: Class, code: Code| {
                let is_wanted = wanted_code.is_none_or(|wanted| wanted == code);
                class == wanted && is_wanted && !is_excused(code)
            };
            let counted = failures.iter().filter(|(class, code, _)| is_counted(*class, *code));
            let failed: u64 = counted.map(|(.., count)| count).sum();
            failed.saturating_sub(self.evidence.accepted_errors(account, is_counted))
        };
        let classes = Class::ALL.into_iter().map(|class| (number(class, None), class));
        let (_, class) = classes.filter(|(number, _)| *number > 0).max_by_key(|it| it.0)?;
        let codes = failures.iter().filter(|it| it.0 == class).map(|it| it.1);
        let code = codes.max_by_key(|code| number(class, Some(*code)))?;
        Some(EventError { class, code })
    }

    /// Checks that results had the number of rows that the workload expects.
    pub(super) fn wrong_results(&self) -> Check {
        let plan = &self.evidence.plan;
        let is_asked =
            |account: &AccountId| plan.account(*account).requests().expect_rows.is_some();
        let asked: Vec<AccountId> = self.evidence.accounts().filter(is_asked).collect();
        if asked.is_empty() {
            return CheckKind::WrongResults.not_possible(JobObstacle::NoExpectedRows);
        }
        let wrong = |account: AccountId| {
            let failures = self.evidence.jobs[account.index()].failures.iter();
            let is_wrong = |class: Class, _: Code| class == Class::WrongResult;
            let counted = failures.filter(|(class, code, _)| is_wrong(*class, *code));
            let failed: u64 = counted.map(|(.., count)| count).sum();
            failed.saturating_sub(self.evidence.accepted_errors(account, is_wrong))
        };
        let counts = asked.into_iter().map(|account| (wrong(account), account));
        let (results, account) = counts.max().unwrap_or((0, AccountId(0)));
        let judged = CheckKind::WrongResults.of(Unit::Requests, results as f64, 0.0);
        let (status, finding) = match results {
            0 => (Status::Pass, WrongResults::None),
            results => {
                let job = plan.account(account).name().to_owned();
                (Status::Invalid, WrongResults::Some { job, results })
            }
        };
        judged.conclude(status, Finding::WrongResults(finding))
    }

    /// Checks that no file of the workload failed, and that none was cut off. If a file failed,
    /// some requests were not sent, or are unknown.
    pub(super) fn files(&self) -> Check {
        let events = self.evidence.events.iter();
        let faults: Vec<_> = events.filter(|event| event.kind == EventKind::FileFailed).collect();
        let mut events = self.evidence.events.iter();
        let doubt = events.find(|event| event.kind == EventKind::FileCutOff);
        let (status, finding) = match (faults.first(), doubt) {
            (Some(event), _) => (Status::Invalid, Files::Failed { text: event.text.clone() }),
            (None, Some(event)) => (Status::Suspect, Files::CutOff { text: event.text.clone() }),
            (None, None) => (Status::Pass, Files::Whole),
        };
        let judged = CheckKind::Files.of(Unit::Files, faults.len() as f64, 0.0);
        judged.conclude(status, Finding::Files(finding))
    }

    /// Checks that all times were within the range of the histograms.
    pub(super) fn overflow(&self) -> Check {
        let times = self.all().overflows;
        let status = if times == 0 { Status::Pass } else { Status::Invalid };
        let judged = CheckKind::Overflow.of(Unit::Times, times as f64, 0.0);
        judged.conclude(status, Finding::Overflow { times })
    }
}
