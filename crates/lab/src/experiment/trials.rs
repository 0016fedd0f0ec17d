//! Execution of a capacity search: one run for each trial.

use analyze::capacity::{Step, Trial, TrialRequest, next_step};
use archive::{Archive, Phase, RunRow, RunState};
use base::{Clock, Monotonic, Nanos, Stamp};
use record::EndKind;
use record::environment::generator::BEFORE_TRIAL;
use workload::question::Arm;

use super::arm_point::ArmPointId;
use super::error::{ExperimentError, Problem};
use super::event::ExperimentEvent;
use super::execution::{Execution, ExperimentEnd, figure_rows, with_verdict};
use super::order::order_of;
use super::schedule::PlannedRun;
use super::search::{self, RecordedSearch, RecordedTrial};
use super::stored_answer;
use crate::pause::wait_while;

/// The only arm of a search.
const ONLY_ARM: ArmPointId = ArmPointId(0);

/// End of the last trial, or the beginning of the search.
#[derive(Clone, Copy, Debug)]
struct LastTrial {
    /// Instant at which the trial was over, including the requests that were still open.
    ended: Stamp,
    /// Instant up to which time has been charged to the budget: the end of the trial's schedule.
    /// Requests that are still open then may run for up to `drain` longer.
    charged: Stamp,
}

impl LastTrial {
    /// Returns the end of the next trial, which ended at `now` and used `took` of the budget.
    fn next(self, took: Nanos, now: Stamp) -> LastTrial {
        LastTrial { ended: now, charged: self.charged + took }
    }

    /// Returns the time up to `now` that has not been charged to the budget yet.
    fn uncharged_time(self, now: Stamp) -> Nanos {
        now.since(self.charged)
    }
}

impl Execution<'_> {
    /// Runs trials until the search ends.
    pub(super) fn search(
        &mut self,
        known: &RecordedSearch,
    ) -> Result<ExperimentEnd, ExperimentError> {
        let order = &known.order;
        let mut trials: Vec<Trial> = known.trials.iter().map(|one| one.trial.clone()).collect();
        let now = Monotonic.now();
        let mut last = LastTrial { ended: now, charged: now };
        loop {
            let request = match next_step(order, &trials) {
                Step::Done(capacity) => {
                    self.answer = Some(stored_answer::write(&capacity, &trials));
                    return Ok(ExperimentEnd::Complete);
                }
                Step::Run(request) => request,
            };
            let spent = trials.iter().fold(Nanos::ZERO, |sum, trial| sum + trial.took);
            let left = order.budget.saturating_sub(spent);
            let Some(trial) = self.trial(known, &request, last, left)? else {
                return Ok(ExperimentEnd::Interrupted);
            };
            last = last.next(trial.took, Monotonic.now());
            trials.push(trial);
        }
    }

    /// Runs a trial and moves it into the record; `None` if the user has ended the experiment.
    fn trial(
        &mut self,
        known: &RecordedSearch,
        request: &TrialRequest,
        last: LastTrial,
        left: Nanos,
    ) -> Result<Option<Trial>, ExperimentError> {
        if !self.servers.is_interrupted() {
            self.restore(ONLY_ARM)?;
        }
        if self.servers.is_interrupted() {
            return Ok(None);
        }
        let search = &known.order;
        let base = &self.servers.order.experiment.arms[ONLY_ARM.0];
        let [warmup, length] = [request.warmup, request.window].map(whole_millis);
        let arm = base.at(&search.vary, request.value, warmup, length);
        let run = self.runs.len() as u32 + 1;
        let (vary, TrialRequest { value, phase, window, .. }) = (&search.vary, *request);
        let number = request.number as u32 + 1;
        self.servers.listener.on_event(&ExperimentEvent::TrialStarted {
            number,
            vary,
            value,
            phase,
            window,
            left,
        });
        let planned = self.schedule.trial(request.number as u32);
        let order = order_of(self.servers.order, &arm, planned.seed)?;
        let waited = |order: &mut crate::run::Order| {
            if order.options.is_virtual {
                return;
            }
            // If the system provides no timer, the run fails as well.
            let _ = wait_while(&order.stop, |now| now < last.ended + search::MIN_DRAIN);
            let time = last.uncharged_time(Monotonic.now()).0.to_string();
            order.facts.push((BEFORE_TRIAL.to_owned(), time));
        };
        let done = self.servers.measure_order(ONLY_ARM, planned, order, waited)?;
        let Some(done) = self.discard_if_interrupted(done)? else { return Ok(None) };
        let archive = Archive::open(&done.record)?;
        let tried = search::read_trial(search, request, run, &archive)?;
        drop(archive);
        self.record_trial(base, &tried, row(run, request, planned, &arm), done.end, &done.record)?;
        self.servers
            .listener
            .on_event(&ExperimentEvent::TrialFinished { number, outcome: &tried.outcome });
        Ok(Some(tried.trial))
    }

    /// Moves a trial into the record. A trial whose server was lost is recorded but does not count.
    ///
    /// # Errors
    /// The server was lost, or the record cannot be written; or the trial ran on another server
    /// than the earlier runs, and is discarded.
    fn record_trial(
        &mut self,
        arm: &Arm,
        tried: &RecordedTrial,
        row: RunRow,
        end: EndKind,
        own: &std::path::Path,
    ) -> Result<(), ExperimentError> {
        let figures = &tried.figures;
        if let Some(versions) = self.runs.other_server(&arm.name, figures) {
            let _ = std::fs::remove_file(own);
            return Err(ExperimentError::of(arm, Problem::OtherServer { versions }));
        }
        let mut row = with_verdict(row, figures);
        let is_lost = end == EndKind::TargetLost && !arm.is_simulated();
        if is_lost {
            row.state = RunState::Abandoned;
        }
        self.record_resumption()?;
        self.record.add_run(&row, &figure_rows(figures), own)?;
        if is_lost {
            return Err(ExperimentError::of_lost_target(arm));
        }
        self.runs.push(row, Some(figures.clone()));
        Ok(())
    }
}

fn row(run: u32, request: &TrialRequest, planned: PlannedRun, arm: &Arm) -> RunRow {
    RunRow {
        round: request.number as u32,
        position: planned.position,
        point: Some(search::point_text(request)),
        phase: Phase::Capacity,
        seed: planned.seed.0,
        ..RunRow::new(run, arm.name.as_str())
    }
}

/// Rounds a time up to whole milliseconds, which have a short text form.
fn whole_millis(time: Nanos) -> Nanos {
    Nanos::from_millis(time.0.div_ceil(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial that begins 2 s after the previous one has ended, has a schedule of 11 s, and then
    /// waits 8 s for its open requests.
    #[test]
    fn wait_for_the_requests_of_a_trial_counts_before_the_next_one() {
        let at = |seconds: u64| Stamp(Nanos::from_secs(seconds).0);
        let last = LastTrial { ended: at(100), charged: at(100) };
        let before = last.uncharged_time(at(102));
        let next = last.next(before + Nanos::from_secs(11), at(121));
        assert_eq!((before, next.ended), (Nanos::from_secs(2), at(121)));
        assert_eq!(next.uncharged_time(at(123)), Nanos::from_secs(8 + 2));
    }
}
