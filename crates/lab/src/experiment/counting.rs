//! The runs and the rounds that count.

use analyze::compare::{ArmId, CountedRun, Look, RunFigures};
use archive::{RunRow, RunState};

/// Returns a run for the comparison of the arms, as a run of this arm; `None` if the run does not
/// count. SUSPECT runs count.
pub fn counted_run<'f>(
    row: &RunRow,
    arm: ArmId,
    figures: &'f RunFigures,
) -> Option<CountedRun<'f>> {
    let RunRow { round, position, .. } = *row;
    is_counted(row).then_some(CountedRun { round, arm, position, figures })
}

/// Returns true if a run belongs to a round and counts.
pub(super) fn is_counted(row: &RunRow) -> bool {
    row.phase.has_rounds() && row.state == RunState::Counts
}

/// Returns the number of leading rounds in which all runs count: `arm_points` runs in each round.
pub(super) fn complete_rounds<'r>(
    runs: impl Iterator<Item = &'r RunRow> + Clone,
    arm_points: usize,
) -> u32 {
    let is_of = |row: &&RunRow, round: u32| is_counted(row) && row.round == round;
    let is_complete =
        |round: &u32| runs.clone().filter(|row| is_of(row, *round)).count() == arm_points;
    (0..).take_while(is_complete).count() as u32
}

/// Returns the number of leading rounds after which an interrupted experiment continues, from the
/// runs and the looks in its record. The last complete round is judged again unless a look has used
/// it, because the process may have ended before judging the round.
pub fn rounds_to_continue_from<'r>(
    runs: impl Iterator<Item = &'r RunRow> + Clone,
    arm_points: usize,
    looks: &[Look],
) -> u32 {
    let looked = looks.iter().map(|look| look.pairs).max().unwrap_or_default();
    complete_rounds(runs, arm_points).saturating_sub(1).max(looked)
}

#[cfg(test)]
mod tests {

    use super::*;

    fn rows(rounds: u32) -> Vec<RunRow> {
        let row = |run: u32| RunRow {
            round: run / 2,
            position: run % 2,
            ..RunRow::new(run + 1, format!("arm-{}", run % 2))
        };
        (0..2 * rounds).map(row).collect()
    }

    fn check(rows: &[RunRow], looks: &[u32], expected: u32) {
        let looks: Vec<Look> =
            looks.iter().map(|pairs| Look { pairs: *pairs, is_decided: false }).collect();
        assert_eq!(rounds_to_continue_from(rows.iter(), 2, &looks), expected, "{looks:?}");
    }

    #[test]
    fn last_complete_round_is_judged_again_unless_a_look_used_it() {
        check(&[], &[], 0);
        check(&rows(5), &[], 4);
        check(&rows(8), &[], 7);
        check(&rows(8), &[8], 8);
        check(&rows(9), &[8], 8);
        check(&rows(11), &[8], 10);
    }

    #[test]
    fn round_that_is_repeated_or_incomplete_ends_the_count() {
        let mut all = rows(5);
        all[5].state = RunState::Repeated;
        check(&all, &[], 1);
        check(&rows(5)[..9], &[], 3);
    }
}
