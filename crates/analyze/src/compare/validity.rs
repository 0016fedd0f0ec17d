//! The runs of an experiment that count.
//!
//! A run that is INVALID because the load generator or the machine failed says nothing about the
//! database. The whole round is repeated, because its other runs were measured on the same machine
//! at the same time. A run that is INVALID because of the database, such as one with errors, is the
//! result of its arm and is never repeated. SUSPECT runs count: to leave out the SUSPECT runs of
//! one arm would favour this arm.

use super::arm_id::ArmId;
use super::figures::RunVerdict;
use crate::check::{CheckKind, Status};

/// Maximum number of repetitions of one round.
pub const MOST_REPEATS: u32 = 2;

/// The state of a round after all of its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundState {
    /// The runs of the round count.
    Counts,
    /// The load generator or its machine failed: the round must be repeated.
    Repeat,
    /// The load generator or its machine failed, and no further repetition is allowed: the
    /// experiment has no answer.
    Lost,
}

/// The repetitions of an experiment so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// Number of times that this round was repeated.
    pub of_round: u32,
    /// Number of other rounds that were repeated.
    pub other_rounds: u32,
    /// Number of pairs of the next look.
    pub pairs: u32,
}

/// Returns the largest number of rounds that may be repeated: a quarter of the pairs.
pub fn most_repeated_rounds(pairs: u32) -> u32 {
    pairs / 4
}

/// Judges a round by the verdicts of its runs.
pub fn judge_round<'a>(
    runs: impl IntoIterator<Item = &'a RunVerdict>,
    repeats: Repeats,
) -> RoundState {
    let is_sound = runs.into_iter().all(|verdict| verdict.instrument < Status::Invalid);
    let may_repeat = repeats.of_round < MOST_REPEATS
        && repeats.other_rounds < most_repeated_rounds(repeats.pairs);
    match (is_sound, may_repeat) {
        (true, _) => RoundState::Counts,
        (false, true) => RoundState::Repeat,
        (false, false) => RoundState::Lost,
    }
}

/// The verdict of a run at its place in an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedRun {
    /// Number of the round.
    pub round: u32,
    /// The arm.
    pub arm: ArmId,
    /// True if the round of the run was not repeated afterwards.
    pub counts: bool,
    /// Verdict of the run.
    pub verdict: RunVerdict,
}

/// The validity of an arm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArmValidity {
    /// Number of runs that count.
    pub runs: u32,
    /// Number of runs that were repeated, because the load generator or its machine failed in their
    /// round.
    pub repeated: u32,
    /// Runs that count and are INVALID: the number of the round, and the INVALID checks. In an
    /// experiment, the reason is the database; in a group of single runs, it may also be the load
    /// generator or the machine.
    pub invalid: Vec<(u32, Vec<CheckKind>)>,
    /// Runs that count and are SUSPECT: the number of the round, and the SUSPECT checks.
    pub suspect: Vec<(u32, Vec<CheckKind>)>,
}

/// Returns the validity of an arm.
pub fn validity_of(arm: ArmId, runs: &[JudgedRun]) -> ArmValidity {
    let mut validity = ArmValidity::default();
    for run in runs.iter().filter(|run| run.arm == arm) {
        if !run.counts {
            validity.repeated += 1;
            continue;
        }
        validity.runs += 1;
        let with = |status| run.verdict.with(status).collect();
        match run.verdict.status() {
            Status::Invalid => validity.invalid.push((run.round, with(Status::Invalid))),
            Status::Suspect => validity.suspect.push((run.round, with(Status::Suspect))),
            Status::Pass | Status::NotPossible => {}
        }
    }
    validity
}

impl ArmValidity {
    /// Returns the gravest status of the runs that count.
    pub fn status(&self) -> Status {
        match (self.invalid.is_empty(), self.suspect.is_empty()) {
            (false, _) => Status::Invalid,
            (true, false) => Status::Suspect,
            (true, true) => Status::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(objections: &[(CheckKind, Status)]) -> RunVerdict {
        RunVerdict::new(objections.iter().copied())
    }

    const STALL: (CheckKind, Status) = (CheckKind::Stall, Status::Invalid);
    const ERRORS: (CheckKind, Status) = (CheckKind::Errors, Status::Invalid);
    const DRIFT: (CheckKind, Status) = (CheckKind::Drift, Status::Suspect);

    fn check(arms: [&[(CheckKind, Status)]; 2], repeats: [u32; 3], expected: RoundState) {
        let verdicts = arms.map(verdict);
        let [of_round, other_rounds, pairs] = repeats;
        let state = judge_round(&verdicts, Repeats { of_round, other_rounds, pairs });
        assert_eq!(state, expected, "{arms:?} {repeats:?}");
    }

    #[test]
    fn failed_instrument_repeats_the_round() {
        check([&[], &[]], [0, 0, 8], RoundState::Counts);
        check([&[STALL], &[]], [0, 0, 8], RoundState::Repeat);
        check([&[], &[STALL]], [1, 1, 8], RoundState::Repeat);
        check([&[], &[]], [2, 2, 8], RoundState::Counts);
    }

    #[test]
    fn round_is_repeated_twice_and_a_quarter_of_the_rounds_at_most() {
        check([&[STALL], &[]], [2, 0, 8], RoundState::Lost);
        check([&[STALL], &[]], [0, 2, 8], RoundState::Lost);
        check([&[STALL], &[]], [0, 2, 12], RoundState::Repeat);
        check([&[STALL], &[]], [0, 0, 0], RoundState::Lost);
    }

    #[test]
    fn failed_database_and_suspect_runs_count() {
        check([&[ERRORS], &[]], [0, 0, 8], RoundState::Counts);
        check([&[DRIFT], &[DRIFT]], [0, 0, 8], RoundState::Counts);
        check([&[ERRORS, STALL], &[]], [0, 0, 8], RoundState::Repeat);
    }

    #[test]
    fn runs_of_each_arm_are_counted_and_named() {
        let run = |round, arm, counts, objections: &[(CheckKind, Status)]| JudgedRun {
            round,
            arm: ArmId(arm),
            counts,
            verdict: verdict(objections),
        };
        let runs = [
            run(1, 0, true, &[]),
            run(1, 1, true, &[DRIFT]),
            run(2, 0, false, &[STALL]),
            run(2, 1, false, &[]),
            run(2, 0, true, &[]),
            run(2, 1, true, &[ERRORS, DRIFT]),
        ];
        let plain = validity_of(ArmId(0), &runs);
        assert_eq!((plain.runs, plain.repeated, plain.status()), (2, 1, Status::Pass));
        let other = validity_of(ArmId(1), &runs);
        assert_eq!((other.runs, other.repeated, other.status()), (2, 1, Status::Invalid));
        assert_eq!(other.suspect, [(1, vec![CheckKind::Drift])]);
        assert_eq!(other.invalid, [(2, vec![CheckKind::Errors])]);
    }
}
