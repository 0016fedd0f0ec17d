//! Execution of a search for saturation: runs of the baseline at growing loads, before the rounds.

use analyze::saturate::{NextSaturationStep, SaturationStep, next_saturation_step};
use archive::{Archive, Phase, RunRow, RunState};
use workload::question::SaturateQuestion;

use super::error::ExperimentError;
use super::event::ExperimentEvent;
use super::execute::{Execution, ExperimentEnd, RunEnd, judged};
use super::recorded::figures;
use super::saturation;
use super::site::FixedLoad;

/// The place of the baseline among the cells.
const BASELINE: usize = 0;

/// A run of the baseline at one value of the load.
#[derive(Clone, Copy)]
struct StepRun {
    /// Number of the step, from 0.
    step: usize,
    /// Number of earlier attempts at it.
    attempt: usize,
    value: f64,
}

impl Execution<'_> {
    /// Finds the load at which all arms run, if the experiment asks for it. Returns the end of the
    /// experiment if there is no load.
    pub(super) fn saturate(&mut self) -> Result<Option<ExperimentEnd>, ExperimentError> {
        let Some(question) = &self.site.order.experiment.saturate else { return Ok(None) };
        loop {
            let steps = saturation::steps_of(self.record.path(), question, self.runs.all())?;
            let run = match next_saturation_step(question, &steps) {
                NextSaturationStep::Run { step, attempt, value } => {
                    StepRun { step, attempt, value }
                }
                NextSaturationStep::Found(found) => {
                    let (vary, value) = (&question.vary, found.value);
                    self.site.load = Some(FixedLoad { vary: vary.clone(), value });
                    self.site.listener.on_event(&ExperimentEvent::Saturated { vary, value });
                    return Ok(None);
                }
                NextSaturationStep::InstrumentFailed { .. } => {
                    return Ok(Some(ExperimentEnd::InstrumentFailed));
                }
                NextSaturationStep::NotObserved => return Ok(Some(ExperimentEnd::NotObserved)),
            };
            match self.around(BASELINE, |execution| execution.step(question, &steps, run))? {
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
        if self.site.is_interrupted() {
            return Ok(RunEnd::Interrupted);
        }
        let number = self.runs.len() as u32 + 1;
        let (vary, StepRun { step, attempt, value }) = (&question.vary, run);
        let most = question.values.len() as u32;
        self.site.listener.on_event(&ExperimentEvent::Stepping {
            number,
            step: step as u32,
            most,
            attempt: attempt as u32,
            vary,
            value,
        });
        let base = &self.site.order.experiment.cells()[BASELINE];
        let planned = self.schedule.step(step as u32, attempt as u32);
        let load = FixedLoad { vary: vary.clone(), value };
        let order = self.site.order_at(BASELINE, planned, Some(&load))?;
        let done = self.site.measure_order(BASELINE, planned, order, |_| {})?;
        let Some(done) = self.unless_interrupted(done)? else { return Ok(RunEnd::Interrupted) };
        let figures = figures(&Archive::open(&done.record)?)?;
        let row = RunRow {
            run: number,
            round: step as u32,
            position: planned.position,
            arm: base.name.clone(),
            point: Some(saturation::point(value)),
            phase: Phase::Saturate,
            attempt: attempt as u32,
            state: state_of(question, earlier, SaturationStep::of(question, value, &figures)),
            verdict: String::new(),
            objections: String::new(),
            seed: planned.seed.0,
        };
        self.keep(base, judged(row, &figures), figures, &done)?;
        Ok(RunEnd::Done)
    }
}

/// Returns the state of a step: one that the load generator or the machine spoiled is repeated, as
/// long as it may be.
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
