//! Execution of a search for saturation: runs of the baseline at increasing loads, before the
//! rounds.

use analyze::saturate::{NextSaturationStep, SaturationStep, next_saturation_step};
use archive::{Archive, Phase, RunRow, RunState};
use workload::question::SaturateQuestion;

use super::arm_point::ArmPointId;
use super::error::ExperimentError;
use super::event::ExperimentEvent;
use super::execution::{Execution, ExperimentEnd, RunEnd, with_verdict};
use super::experiment_servers::FixedLoad;
use super::recorded::figures;
use super::saturation;

/// The baseline, which is the first arm.
const BASELINE: ArmPointId = ArmPointId(0);

/// A run of the baseline at one value of the load.
#[derive(Clone, Copy)]
struct StepRun {
    /// Number of the step, from 0.
    step: usize,
    /// Number of earlier attempts at this step.
    attempt: usize,
    value: f64,
}

impl Execution<'_> {
    /// Finds the load for the runs of all arms, if the experiment requests a search for it. Returns
    /// the end of the experiment if the search finds no load.
    pub(super) fn saturate(&mut self) -> Result<Option<ExperimentEnd>, ExperimentError> {
        let Some(question) = &self.servers.order.experiment.saturate else { return Ok(None) };
        loop {
            let steps = saturation::steps_of(self.record.path(), question, self.runs.all())?;
            let run = match next_saturation_step(question, &steps) {
                NextSaturationStep::Run { step, attempt, value } => {
                    StepRun { step, attempt, value }
                }
                NextSaturationStep::Found(found) => {
                    let (vary, value) = (&question.vary, found.value);
                    self.servers.load = Some(FixedLoad { vary: vary.clone(), value });
                    self.servers.listener.on_event(&ExperimentEvent::LoadFound { vary, value });
                    return Ok(None);
                }
                NextSaturationStep::InstrumentFailed { .. } => {
                    return Ok(Some(ExperimentEnd::InstrumentFailed));
                }
                NextSaturationStep::NotObserved => return Ok(Some(ExperimentEnd::NotObserved)),
            };
            match self
                .run_with_hooks(BASELINE, |execution| execution.step(question, &steps, run))?
            {
                RunEnd::Done => {}
                RunEnd::Interrupted => return Ok(Some(ExperimentEnd::Interrupted)),
            }
        }
    }

    /// Measures a step and moves it into the record.
    fn step(
        &mut self,
        question: &SaturateQuestion,
        earlier: &[SaturationStep],
        run: StepRun,
    ) -> Result<RunEnd, ExperimentError> {
        if self.servers.is_interrupted() {
            return Ok(RunEnd::Interrupted);
        }
        let number = self.runs.len() as u32 + 1;
        let (vary, StepRun { step, attempt, value }) = (&question.vary, run);
        let most = question.values.len() as u32;
        self.servers.listener.on_event(&ExperimentEvent::StepStarted {
            number,
            step: step as u32,
            most,
            attempt: attempt as u32,
            vary,
            value,
        });
        let base = &self.servers.order.experiment.arm_points()[BASELINE.0];
        let planned = self.schedule.step(step as u32, attempt as u32);
        let load = FixedLoad { vary: vary.clone(), value };
        let order = self.servers.order_at(BASELINE, planned, Some(&load))?;
        let done = self.servers.measure_order(BASELINE, planned, order, |_| {})?;
        let Some(done) = self.discard_if_interrupted(done)? else { return Ok(RunEnd::Interrupted) };
        let figures = figures(&Archive::open(&done.record)?)?;
        let row = RunRow {
            round: step as u32,
            position: planned.position,
            point: Some(saturation::point_text(value)),
            phase: Phase::Saturate,
            attempt: attempt as u32,
            state: state_of(question, earlier, SaturationStep::of(question, value, &figures)),
            seed: planned.seed.0,
            ..RunRow::new(number, base.name.as_str())
        };
        self.record_run(base, with_verdict(row, &figures), figures, &done)?;
        Ok(RunEnd::Done)
    }
}

/// Returns the state of a step: `Repeated` if the load generator or the machine failed and another
/// attempt at the step follows.
fn state_of(
    question: &SaturateQuestion,
    earlier: &[SaturationStep],
    step: SaturationStep,
) -> RunState {
    match next_saturation_step(question, &[earlier, &[step]].concat()) {
        NextSaturationStep::Run { attempt: 1.., .. } => RunState::Repeated,
        NextSaturationStep::Run { .. }
        | NextSaturationStep::Found(_)
        | NextSaturationStep::InstrumentFailed { .. }
        | NextSaturationStep::NotObserved => RunState::Counts,
    }
}
