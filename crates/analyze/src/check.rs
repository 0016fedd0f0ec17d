//! A check, its status, and the verdict over all checks.

use crate::finding::{ComparedCounter, Completeness, Finding, Obstacle, Outages, RunEnd};

/// A finding about one aspect of the measurement's credibility.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Aspect that was judged.
    pub kind: CheckKind,
    /// Status of the check.
    pub status: Status,
    /// Number that was judged; `None` if the check was not possible, or judges no number.
    pub value: Option<f64>,
    /// Number that `value` was compared with; `None` if there is no such number.
    pub limit: Option<f64>,
    /// Unit of `value` and `limit`.
    pub unit: Unit,
    /// Facts behind the judgement.
    pub finding: Finding,
}

/// The aspects of credibility that are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// The run ended as intended and its record is complete.
    Complete,
    /// There are requests in the window.
    Window,
    /// Every request that came due has an outcome.
    Balance,
    /// The number of due requests matches the schedules.
    Rate,
    /// The number of due requests matches the schedules in each second.
    EachSecond,
    /// Nearly all due requests were sent.
    Achieved,
    /// Poisson arrivals were as irregular as expected.
    Arrivals,
    /// Poisson arrivals were as far apart as expected.
    Gaps,
    /// Requests were sent at their intended times.
    SendLag,
    /// The process did not stall.
    Stall,
    /// Request threads hardly waited for a processor.
    ProcessorWait,
    /// Request threads had time to spare.
    GeneratorCpu,
    /// The hypervisor took hardly any processor time.
    StolenTime,
    /// Other programs used few processors.
    OtherPrograms,
    /// The load generator had headroom.
    Ceiling,
    /// Most of the service time is the database's.
    Floor,
    /// The clock was quick to read, and fine enough.
    Clock,
    /// The wall clock was not set.
    WallClock,
    /// The processors kept their frequency.
    Frequency,
    /// Requests did not arrive faster than they were answered.
    Backlog,
    /// The end of the warm-up was found.
    WarmUp,
    /// Response times did not drift.
    Drift,
    /// Response times did not change abruptly.
    Step,
    /// Times of closed jobs satisfy Little's law.
    Little,
    /// No requests failed unexpectedly.
    Errors,
    /// Results had the expected number of rows.
    WrongResults,
    /// The target was reachable all the time.
    Outage,
    /// All configured connections were open.
    Connections,
    /// All times were within the range of the histograms.
    Overflow,
    /// No file of the workload failed, and none was cut off.
    Files,
    /// The server committed everything that it confirmed, and nothing else.
    Commits,
    /// Checkpoints of the server in the run; never SUSPECT or INVALID.
    Checkpoints,
}

/// The part of a benchmark that a check judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// The load generator and its machine: a failure says nothing about the database, and the run
    /// can be repeated.
    Instrument,
    /// The database and the workload: a failure is a result.
    System,
}

impl Domain {
    /// Returns the name of this domain in documents.
    pub fn name(self) -> &'static str {
        match self {
            Domain::Instrument => "instrument",
            Domain::System => "system",
        }
    }
}

/// The unit of a judged number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit, because there is no number.
    None,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Percent.
    Percent,
    /// Unsent requests in percent.
    PercentUnsent,
    /// Requests that stayed open, in percent.
    PercentOpen,
    /// Requests.
    Requests,
    /// Rejected requests.
    RejectedRequests,
    /// Standard deviations of a normally distributed number.
    StandardDeviations,
    /// Standard errors of an estimate.
    StandardErrors,
    /// Reached limits.
    Limits,
    /// Files.
    Files,
    /// Measured times.
    Times,
    /// A counter of the server.
    Counted(ComparedCounter),
    /// Cycles.
    Cycles,
}

/// Finding of a check, from harmless to grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The check was not possible here.
    NotPossible,
    /// Nothing is wrong.
    Pass,
    /// The numbers may mislead.
    Suspect,
    /// The numbers must not be believed.
    Invalid,
}

impl Status {
    /// Returns the word for a verdict with this status: VALID, SUSPECT or INVALID.
    pub fn verdict(self) -> &'static str {
        match self {
            Status::NotPossible | Status::Pass => "VALID",
            Status::Suspect => "SUSPECT",
            Status::Invalid => "INVALID",
        }
    }
}

impl CheckKind {
    /// All checks, in the order of the verdict.
    pub const ALL: [CheckKind; 32] = [
        CheckKind::Complete,
        CheckKind::Window,
        CheckKind::Balance,
        CheckKind::Rate,
        CheckKind::EachSecond,
        CheckKind::Achieved,
        CheckKind::Arrivals,
        CheckKind::Gaps,
        CheckKind::SendLag,
        CheckKind::Stall,
        CheckKind::ProcessorWait,
        CheckKind::GeneratorCpu,
        CheckKind::StolenTime,
        CheckKind::OtherPrograms,
        CheckKind::Ceiling,
        CheckKind::Floor,
        CheckKind::Clock,
        CheckKind::WallClock,
        CheckKind::Frequency,
        CheckKind::Backlog,
        CheckKind::WarmUp,
        CheckKind::Drift,
        CheckKind::Step,
        CheckKind::Little,
        CheckKind::Errors,
        CheckKind::WrongResults,
        CheckKind::Outage,
        CheckKind::Connections,
        CheckKind::Overflow,
        CheckKind::Files,
        CheckKind::Commits,
        CheckKind::Checkpoints,
    ];

    /// Returns the name in documents and in the guide.
    pub fn name(self) -> &'static str {
        match self {
            CheckKind::Complete => "complete",
            CheckKind::Window => "window",
            CheckKind::Balance => "balance",
            CheckKind::Rate => "rate",
            CheckKind::EachSecond => "each-second",
            CheckKind::Achieved => "achieved",
            CheckKind::Arrivals => "arrivals",
            CheckKind::Gaps => "gaps",
            CheckKind::SendLag => "send-lag",
            CheckKind::Stall => "stall",
            CheckKind::ProcessorWait => "processor-wait",
            CheckKind::GeneratorCpu => "generator-cpu",
            CheckKind::StolenTime => "stolen-time",
            CheckKind::OtherPrograms => "other-programs",
            CheckKind::Ceiling => "ceiling",
            CheckKind::Floor => "floor",
            CheckKind::Clock => "clock",
            CheckKind::WallClock => "wall-clock",
            CheckKind::Frequency => "frequency",
            CheckKind::Backlog => "backlog",
            CheckKind::WarmUp => "warm-up",
            CheckKind::Drift => "drift",
            CheckKind::Step => "step",
            CheckKind::Little => "little",
            CheckKind::Errors => "errors",
            CheckKind::WrongResults => "wrong-results",
            CheckKind::Outage => "outage",
            CheckKind::Connections => "connections",
            CheckKind::Overflow => "overflow",
            CheckKind::Files => "files",
            CheckKind::Commits => "commits",
            CheckKind::Checkpoints => "checkpoints",
        }
    }
}

impl CheckKind {
    /// Returns the part of a benchmark that the check judges.
    pub fn judged_domain(self) -> Domain {
        match self {
            CheckKind::Complete
            | CheckKind::Balance
            | CheckKind::Rate
            | CheckKind::EachSecond
            | CheckKind::Arrivals
            | CheckKind::Gaps
            | CheckKind::SendLag
            | CheckKind::Stall
            | CheckKind::ProcessorWait
            | CheckKind::GeneratorCpu
            | CheckKind::StolenTime
            | CheckKind::OtherPrograms
            | CheckKind::Ceiling
            | CheckKind::Floor
            | CheckKind::Clock
            | CheckKind::WallClock
            | CheckKind::Frequency
            | CheckKind::Little
            | CheckKind::Overflow
            | CheckKind::Files => Domain::Instrument,
            CheckKind::Window
            | CheckKind::Achieved
            | CheckKind::Backlog
            | CheckKind::WarmUp
            | CheckKind::Drift
            | CheckKind::Step
            | CheckKind::Errors
            | CheckKind::WrongResults
            | CheckKind::Outage
            | CheckKind::Connections
            | CheckKind::Commits
            | CheckKind::Checkpoints => Domain::System,
        }
    }
}

impl Unit {
    /// Returns the name in documents and reports; empty if there is no number.
    pub fn name(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            Unit::Percent => "%",
            Unit::PercentUnsent => "% unsent",
            Unit::PercentOpen => "% open",
            Unit::Requests => "requests",
            Unit::RejectedRequests => "rejected requests",
            Unit::StandardDeviations => "standard deviations",
            Unit::StandardErrors => "standard errors",
            Unit::Limits => "limits",
            Unit::Files => "files",
            Unit::Times => "times",
            Unit::Counted(counter) => counter.name(),
            Unit::Cycles => "cycles",
        }
    }
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

    /// Returns true for SUSPECT and INVALID: the check gives a reason to doubt the numbers.
    pub fn objects(self) -> bool {
        self > Status::Pass
    }
}

/// A check without its finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingCheck {
    pub(crate) kind: CheckKind,
    pub(crate) unit: Unit,
    /// Number that was judged.
    pub(crate) value: f64,
    /// Number that `value` was compared with.
    pub(crate) limit: f64,
}

impl PendingCheck {
    /// Adds the status and the finding.
    pub(crate) fn conclude(self, status: Status, finding: Finding) -> Check {
        let PendingCheck { kind, unit, value, limit } = self;
        Check { kind, status, value: Some(value), limit: Some(limit), unit, finding }
    }
}

impl CheckKind {
    /// Begins a check of a number against a limit.
    pub(crate) fn of(self, unit: Unit, value: f64, limit: f64) -> PendingCheck {
        PendingCheck { kind: self, unit, value, limit }
    }

    /// Returns a check that is not possible, with the reason.
    pub(crate) fn not_possible(self, obstacle: impl Into<Obstacle>) -> Check {
        Check {
            kind: self,
            status: Status::NotPossible,
            value: None,
            limit: None,
            unit: Unit::None,
            finding: Finding::NotPossible(obstacle.into()),
        }
    }
}

impl Check {
    /// Returns the name of the check.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Returns the part of a benchmark that is to blame if the check is SUSPECT or INVALID. A run
    /// that ended because of an error, a full queue or a lost target is incomplete because of the
    /// database. The servers whose number a sweep varies belong to the instrument: a run without
    /// one of them says nothing about their number.
    pub fn domain(&self) -> Domain {
        match &self.finding {
            Finding::Complete(Completeness::Ended { end, .. }) => match end {
                RunEnd::StoppedByError | RunEnd::TargetLost | RunEnd::QueueFull { .. } => {
                    Domain::System
                }
                RunEnd::Completed { .. }
                | RunEnd::EndedByUser
                | RunEnd::Interrupted
                | RunEnd::FileFailed
                | RunEnd::RecorderFailed
                | RunEnd::InternalError
                | RunEnd::Killed { .. } => Domain::Instrument,
            },
            Finding::Outage(Outages::FewerServers { .. }) => Domain::Instrument,
            _ => self.kind.judged_domain(),
        }
    }
}

/// All checks of a run, from which its verdict follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Every check, whatever its finding.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// Returns the gravest status, but at least [`Status::Pass`]: a run without SUSPECT or INVALID
    /// checks is VALID.
    pub fn status(&self) -> Status {
        let gravest = self.checks.iter().map(|check| check.status).max();
        gravest.unwrap_or(Status::NotPossible).max(Status::Pass)
    }

    /// Returns the word for the verdict: VALID, SUSPECT or INVALID.
    pub fn word(&self) -> &'static str {
        self.status().verdict()
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
        let judged = CheckKind::Overflow.of(Unit::Times, 0.0, 0.0);
        let check = |status: &Status| judged.conclude(*status, Finding::Overflow { times: 0 });
        Verdict { checks: statuses.iter().map(check).collect() }.word()
    }

    #[test]
    fn names_of_checks_differ() {
        for (place, kind) in CheckKind::ALL.iter().enumerate() {
            assert!(CheckKind::ALL[place + 1..].iter().all(|other| other.name() != kind.name()));
        }
    }

    #[test]
    fn verdict_agrees_with_the_gravest_check() {
        assert_eq!(verdict(&[Status::Pass, Status::NotPossible]), "VALID");
        assert_eq!(verdict(&[Status::Pass, Status::Suspect, Status::NotPossible]), "SUSPECT");
        assert_eq!(verdict(&[Status::Invalid, Status::Suspect]), "INVALID");
    }
}
