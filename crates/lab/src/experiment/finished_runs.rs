//! The finished runs of an experiment.

use analyze::Finding;
use analyze::compare::{ArmId, CountedRun, RunFigures};
use analyze::finding::Outages;
use archive::{RunRow, RunState};
use record::environment::{SERVER, known};

use super::counting::{self, is_counted};

/// A finished run; it has figures only if it may count.
struct FinishedRun {
    row: RunRow,
    figures: Option<RunFigures>,
    /// Product and version of the run's server, if the server reported them and the run counts or
    /// has counted.
    server: Option<String>,
}

impl FinishedRun {
    fn new(row: RunRow, figures: Option<RunFigures>) -> FinishedRun {
        let server = figures.as_ref().and_then(|figures| known(&figures.facts, SERVER));
        let server = server.map(str::to_owned);
        FinishedRun { row, figures, server }
    }
}

/// All finished runs, in the order in which they were executed.
#[derive(Default)]
pub(super) struct FinishedRuns(Vec<FinishedRun>);

impl FinishedRuns {
    pub(super) fn push(&mut self, row: RunRow, figures: Option<RunFigures>) {
        self.0.push(FinishedRun::new(row, figures));
    }

    /// Adds a run of a repeated round. `settings` are those in the record of the run; they show its
    /// server, which must also be the server of later rounds.
    pub(super) fn push_repeated(&mut self, row: RunRow, settings: &[(String, String)]) {
        let server = known(settings, SERVER).map(str::to_owned);
        self.0.push(FinishedRun { row, figures: None, server });
    }

    /// Returns the number of runs, whatever their state.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns all runs, each with its figures if the run counts.
    pub(super) fn all(&self) -> impl Iterator<Item = (&RunRow, Option<&RunFigures>)> + Clone {
        self.0.iter().map(|run| (&run.row, run.figures.as_ref()))
    }

    /// Returns the number of runs that belong to rounds and count.
    pub(super) fn counting_runs(&self) -> usize {
        self.0.iter().filter(|run| is_counted(&run.row)).count()
    }

    /// Returns true if there is a run that counts for a position of a round.
    pub(super) fn has_run(&self, round: u32, position: u32) -> bool {
        self.of_round(round).any(|run| run.row.position == position)
    }

    /// Returns the figures of the counted runs of a round.
    pub(super) fn figures_of_round(&self, round: u32) -> impl Iterator<Item = &RunFigures> {
        self.of_round(round).filter_map(|run| run.figures.as_ref())
    }

    /// For a sweep over the number of servers, returns a text about the first run of a round that
    /// lost a server: the run and the event that shows the loss, as in `run 2: db2:5432 closed the
    /// connection`.
    pub(super) fn lost_server(&self, round: u32) -> Option<String> {
        self.of_round(round).find_map(|run| {
            let checks = &run.figures.as_ref()?.verdict.checks;
            let text = checks.iter().find_map(|check| match &check.finding {
                Finding::Outage(Outages::FewerServers { text, .. }) => Some(text),
                _ => None,
            })?;
            Some(format!("run {}: {text}", run.row.run))
        })
    }

    /// Returns the rows of the runs of a round that count.
    pub(super) fn rows_of_round(&self, round: u32) -> Vec<RunRow> {
        self.of_round(round).map(|run| run.row.clone()).collect()
    }

    /// Replaces the row and the figures of a run.
    pub(super) fn replace(&mut self, row: RunRow, figures: RunFigures) {
        if let Some(run) = self.0.iter_mut().find(|run| run.row.run == row.run) {
            *run = FinishedRun::new(row, Some(figures));
        }
    }

    fn of_round(&self, round: u32) -> impl Iterator<Item = &FinishedRun> {
        let of_round = move |run: &&FinishedRun| is_counted(&run.row) && run.row.round == round;
        self.0.iter().filter(of_round)
    }

    /// Sets the state of those runs of a round that count to [`RunState::Repeated`], drops their
    /// figures, and returns their numbers.
    pub(super) fn mark_repeated(&mut self, round: u32) -> Vec<u32> {
        let runs: Vec<u32> = self.of_round(round).map(|run| run.row.run).collect();
        for run in self.0.iter_mut().filter(|run| runs.contains(&run.row.run)) {
            run.row.state = RunState::Repeated;
            run.figures = None;
        }
        runs
    }

    /// Returns the number of earlier attempts at a round.
    pub(super) fn attempts(&self, round: u32) -> u32 {
        let of_round = self.repeated_rows().filter(|row| row.round == round);
        of_round.map(|row| row.attempt + 1).max().unwrap_or_default()
    }

    /// Returns the number of repeated rounds other than this one.
    pub(super) fn other_repeated_rounds(&self, round: u32) -> u32 {
        let mut rounds: Vec<u32> =
            self.repeated_rows().map(|row| row.round).filter(|other| *other != round).collect();
        rounds.sort_unstable();
        rounds.dedup();
        rounds.len() as u32
    }

    /// Returns the server versions of an arm's first run with a known server and of a new run of
    /// the arm, if they differ.
    pub(super) fn other_server(&self, arm: &str, new: &RunFigures) -> Option<[String; 2]> {
        let mut of_arm = self.0.iter().filter(|run| run.row.arm == arm);
        match (of_arm.find_map(|run| run.server.as_deref()), known(&new.facts, SERVER)) {
            (Some(before), Some(now)) if before != now => Some([before.to_owned(), now.to_owned()]),
            _ => None,
        }
    }

    fn repeated_rows(&self) -> impl Iterator<Item = &RunRow> {
        let rows = self.0.iter().map(|run| &run.row).filter(|row| row.phase.has_rounds());
        rows.filter(|row| row.state == RunState::Repeated)
    }

    /// Returns the runs that count, for the comparison of the arms with these names.
    pub(super) fn counted_runs(&self, names: &[String]) -> Vec<CountedRun<'_>> {
        let counted = self.0.iter().filter_map(|FinishedRun { row, figures, .. }| {
            let arm = names.iter().position(|name| *name == row.arm)?;
            counting::counted_run(row, ArmId(arm), figures.as_ref()?)
        });
        counted.collect()
    }
}

#[cfg(test)]
mod tests {
    use analyze::compare::RunVerdict;
    use analyze::{CheckKind, Component, Status};
    use archive::Phase;

    use super::super::counting::complete_rounds;
    use super::*;

    fn row(run: u32, round: u32, position: u32, attempt: u32) -> RunRow {
        let arm = if position == 0 { "plain" } else { "tls" };
        RunRow { round, position, attempt, ..RunRow::new(run, arm) }
    }

    fn figures() -> RunFigures {
        RunFigures {
            verdict: RunVerdict::new([]),
            jobs: Vec::new(),
            metrics: Vec::new(),
            slos: Vec::new(),
            empty_success: Vec::new(),
            errors: Vec::new(),
            missing: Vec::new(),
            carried: Vec::new(),
            rates: Vec::new(),
            cpu: Vec::new(),
            limiter: Component::Unknown,
            limiter_finding: analyze::limiting::LimiterFinding::Satisfied,
            facts: Vec::new(),
        }
    }

    fn complete(made: &FinishedRuns) -> u32 {
        complete_rounds(made.0.iter().map(|run| &run.row), 2)
    }

    /// Leaving out the SUSPECT runs of one arm would favour it.
    #[test]
    fn suspect_runs_count() {
        let suspect = RunVerdict::new([(CheckKind::OtherPrograms, Status::Suspect)]);
        let mut made = FinishedRuns::default();
        for run in 0..4 {
            let verdict = if run == 1 { suspect.clone() } else { RunVerdict::new([]) };
            made.push(row(run + 1, run / 2, run % 2, 0), Some(RunFigures { verdict, ..figures() }));
        }
        let counted = made.counted_runs(&["plain".to_owned(), "tls".to_owned()]);
        let runs: Vec<(u32, usize)> =
            counted.iter().map(|run| (run.round, run.arm.index())).collect();
        assert_eq!(runs, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    }

    #[test]
    fn repeated_round_counts_again_when_both_arms_have_run_again() {
        let names = ["plain".to_owned(), "tls".to_owned()];
        let mut made = FinishedRuns::default();
        for run in 0..4 {
            made.push(row(run + 1, run / 2, run % 2, 0), Some(figures()));
        }
        assert_eq!((complete(&made), made.counting_runs()), (2, 4));
        assert_eq!(made.mark_repeated(1), [3, 4]);
        assert_eq!((complete(&made), made.counting_runs(), made.len()), (1, 2, 4));
        assert_eq!((made.attempts(1), made.attempts(0)), (1, 0));
        assert_eq!((made.other_repeated_rounds(0), made.other_repeated_rounds(1)), (1, 0));
        made.push(row(5, 1, 0, 1), Some(figures()));
        assert!(made.has_run(1, 0) && !made.has_run(1, 1));
        assert_eq!(complete(&made), 1);
        made.push(row(6, 1, 1, 1), Some(figures()));
        let counted = made.counted_runs(&names);
        let runs: Vec<(u32, usize)> =
            counted.iter().map(|run| (run.round, run.arm.index())).collect();
        assert_eq!(runs, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!((complete(&made), made.mark_repeated(1).len(), made.attempts(1)), (2, 2, 2));
    }

    #[test]
    fn search_steps_belong_to_no_round() {
        let mut runs = FinishedRuns::default();
        for phase in [Phase::Saturate, Phase::Capacity] {
            runs.push(RunRow { phase, ..row(1, 0, 0, 0) }, Some(figures()));
            let repeated = RunRow { phase, state: RunState::Repeated, ..row(2, 0, 0, 0) };
            runs.push(repeated, None);
        }
        assert_eq!(runs.figures_of_round(0).count(), 0);
        assert_eq!((runs.attempts(0), runs.other_repeated_rounds(1)), (0, 0));
        assert!(!runs.has_run(0, 0));
        assert_eq!((runs.counting_runs(), runs.all().count()), (0, 4));
        assert!(runs.counted_runs(&["plain".to_owned()]).is_empty());
        let step = RunRow { phase: Phase::Saturate, ..row(1, 0, 0, 0) };
        assert_eq!(complete_rounds([step].iter(), 1), 0);
    }
}
