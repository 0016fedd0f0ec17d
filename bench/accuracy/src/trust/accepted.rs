//! Accepted numbers of objections to valid runs.
//!
//! A statistical check objects to at most [`DESIGNED_SHARE`] of the valid runs, so among many runs
//! some objections are expected. The accepted number is exceeded by chance alone with at most the
//! probability [`LEVEL`]: it is a quantile of the binomial distribution. A check that counts
//! exactly may never object.
//!
//! A check of the machine may not object in virtual time. In real time, an idle machine may disturb
//! up to [`DISTURBED_SHARE`] of the runs, whichever checks notice it. A machine that disturbs more
//! runs is not idle, and its runs say nothing about false alarms.

use analyze::CheckKind;

/// Largest fraction of valid runs to which a statistical check objects.
const DESIGNED_SHARE: f64 = 0.002;

/// Largest fraction of the runs that an idle machine disturbs.
const DISTURBED_SHARE: f64 = 0.05;

/// Largest probability with which chance alone exceeds an accepted number.
const LEVEL: f64 = 0.005;

/// The kind of time in which the runs execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeKind {
    /// Simulated time, in which no machine disturbs a run.
    Virtual,
    /// The time of this machine.
    Real,
}

/// The reason for which a check may object to a valid run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// No reason: the check counts exactly, or it concerns the machine and time is virtual.
    Nothing,
    /// Chance, which exceeds the limit of the check in few runs.
    Chance,
    /// A real disturbance of the machine.
    Machine,
}

impl TimeKind {
    /// Returns the reason for which a check may object to a valid run.
    pub(super) fn cause(self, check: CheckKind) -> Cause {
        match check {
            CheckKind::Complete
            | CheckKind::Window
            | CheckKind::Balance
            | CheckKind::Achieved
            | CheckKind::Little
            | CheckKind::Errors
            | CheckKind::WrongResults
            | CheckKind::Outage
            | CheckKind::Connections
            | CheckKind::Overflow
            | CheckKind::Files
            | CheckKind::Commits
            | CheckKind::Checkpoints => Cause::Nothing,
            CheckKind::Rate
            | CheckKind::EachSecond
            | CheckKind::Arrivals
            | CheckKind::Backlog
            | CheckKind::WarmUp => Cause::Chance,
            // These checks are statistical too, but a change of the machine also changes the times.
            CheckKind::Gaps | CheckKind::Drift | CheckKind::Step => match self {
                TimeKind::Virtual => Cause::Chance,
                TimeKind::Real => Cause::Machine,
            },
            CheckKind::SendLag
            | CheckKind::Stall
            | CheckKind::ProcessorWait
            | CheckKind::GeneratorCpu
            | CheckKind::StolenTime
            | CheckKind::OtherPrograms
            | CheckKind::Ceiling
            | CheckKind::Floor
            | CheckKind::Clock
            | CheckKind::WallClock
            | CheckKind::Frequency => match self {
                TimeKind::Virtual => Cause::Nothing,
                TimeKind::Real => Cause::Machine,
            },
        }
    }
}

impl Cause {
    /// Returns the accepted number of objections in a number of runs.
    pub(super) fn accepted(self, runs: u64) -> u64 {
        let rate = match self {
            Cause::Nothing => return 0,
            Cause::Chance => DESIGNED_SHARE,
            Cause::Machine => DISTURBED_SHARE,
        };
        quantile(runs, rate)
    }
}

/// Returns the smallest number that a binomial distribution exceeds with a probability of at most
/// [`LEVEL`].
fn quantile(runs: u64, rate: f64) -> u64 {
    let mut of_number = (1.0 - rate).powf(runs as f64);
    let mut up_to = of_number;
    let mut number = 0;
    while 1.0 - up_to > LEVEL && number < runs {
        of_number *= (runs - number) as f64 / (number + 1) as f64 * rate / (1.0 - rate);
        number += 1;
        up_to += of_number;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected numbers are quantiles of the binomial distribution, computed with exact
    /// fractions.
    #[test]
    fn chance_alone_exceeds_an_accepted_number_in_one_of_200_tables() {
        for (runs, by_chance) in [(20, 1), (100, 2), (737, 5), (1_005, 6), (5_360, 20)] {
            assert_eq!(Cause::Chance.accepted(runs), by_chance, "{runs}");
        }
        assert_eq!([0, 100].map(|runs| Cause::Machine.accepted(runs)), [0, 11]);
        assert_eq!(Cause::Nothing.accepted(1_000), 0);
    }

    #[test]
    fn machine_is_judged_in_real_time_only() {
        let by_machine = |time: TimeKind| {
            let checks = CheckKind::ALL.into_iter();
            checks.filter(|check| time.cause(*check) == Cause::Machine).count()
        };
        assert_eq!((by_machine(TimeKind::Virtual), by_machine(TimeKind::Real)), (0, 14));
    }
}
