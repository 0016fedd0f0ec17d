//! Saturation: the load at which the baseline of a comparison is measured, found by steps.
//!
//! [`next_saturation_step`] is a pure function of the question and of the steps so far: a resumed
//! experiment continues where it ended, and every reader of its record finds the same load.

use workload::question::{SaturateQuestion, Saturated};

use crate::check::Status;
use crate::compare::RunFigures;

/// Maximum number of repetitions of a step that the load generator or the machine made INVALID.
const MOST_REPETITIONS: usize = 2;

/// A run at one value of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaturationStep {
    /// The value: requests per second, or clients.
    pub value: f64,
    /// Completed requests per second of the job whose load varies, if measured.
    pub throughput_per_s: Option<f64>,
    /// Share of its processors that the component of the condition used; `None` if it was not
    /// observed, or if the condition is a gain of throughput.
    pub cpu: Option<f64>,
    /// True if the load of the job exceeds the capacity.
    pub exceeds_capacity: bool,
    /// True if the load generator or the machine made the run INVALID.
    pub is_instrument_invalid: bool,
}

/// A load at which all arms are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// The value: requests per second, or clients.
    pub value: f64,
    /// The way in which the load was found.
    pub kind: SaturationKind,
    /// Share of the processors, or gain of throughput, at which the steps ended, as a fraction. If
    /// no step met the condition, it is the last measured share or gain. A gain over a throughput
    /// of zero is infinite.
    pub measured: f64,
}

/// The way in which a load was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaturationKind {
    /// The condition was met after smaller loads that did not meet it.
    Reached,
    /// The smallest load already meets the condition.
    AtFirst,
    /// The next load exceeds the capacity. At that load the backlog grows, and response times
    /// depend on the length of the run.
    Overloaded,
    /// The smallest load already exceeds the capacity.
    AllOverloaded,
    /// The largest load does not meet the condition: only a larger load could.
    NotReached,
}

/// The next action of a search for saturation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextSaturationStep {
    /// A run at this value.
    Run {
        /// Number of the step, from 0.
        step: usize,
        /// Number of earlier attempts at this step.
        attempt: usize,
        /// The value: requests per second, or clients.
        value: f64,
    },
    /// The load is found.
    Found(Saturation),
    /// The load generator or the machine failed in every attempt at a step.
    InstrumentFailed {
        /// Number of the step, from 0.
        step: usize,
    },
    /// A run lacks the quantity that the condition limits.
    NotObserved,
}

impl SaturationStep {
    /// Returns the step of a run that the load generator or the machine made INVALID.
    pub fn instrument_invalid(value: f64) -> SaturationStep {
        SaturationStep {
            value,
            throughput_per_s: None,
            cpu: None,
            exceeds_capacity: false,
            is_instrument_invalid: true,
        }
    }

    /// Returns the step of a run at a value.
    pub fn of(question: &SaturateQuestion, value: f64, figures: &RunFigures) -> SaturationStep {
        let cpu = match question.until {
            Saturated::Cpu { owner, .. } => figures.cpu_share(owner).map(|share| share.used()),
            Saturated::Gain { .. } => None,
        };
        SaturationStep {
            value,
            throughput_per_s: figures.completed(question.vary.job()),
            cpu,
            exceeds_capacity: figures.exceeds_capacity(question.vary.job()),
            is_instrument_invalid: figures.verdict.instrument == Status::Invalid,
        }
    }
}

/// Returns the next action after the given runs, which are in the order of their execution.
pub fn next_saturation_step(
    question: &SaturateQuestion,
    runs: &[SaturationStep],
) -> NextSaturationStep {
    let mut usable: Vec<SaturationStep> = Vec::new();
    let mut attempt = 0;
    for run in runs {
        if run.is_instrument_invalid {
            if attempt == MOST_REPETITIONS {
                return NextSaturationStep::InstrumentFailed { step: usable.len() };
            }
            attempt += 1;
            continue;
        }
        attempt = 0;
        usable.push(*run);
        match judge_last_step(question.until, &usable) {
            None => return NextSaturationStep::NotObserved,
            Some(Some(found)) => return NextSaturationStep::Found(found),
            Some(None) => {}
        }
    }
    match question.values.get(usable.len()) {
        Some(value) => NextSaturationStep::Run { step: usable.len(), attempt, value: *value },
        None => not_reached(question.until, &usable),
    }
}

/// Returns the load if the last step meets the condition or exceeds the capacity. `Some(None)`
/// means that a further step is needed, `None` that the quantity was not observed.
fn judge_last_step(until: Saturated, steps: &[SaturationStep]) -> Option<Option<Saturation>> {
    let (last, before) = steps.split_last()?;
    let found = |step: &SaturationStep, is_first: bool, measured: f64| Saturation {
        value: step.value,
        kind: if is_first { SaturationKind::AtFirst } else { SaturationKind::Reached },
        measured,
    };
    let overloaded = |measured: f64| {
        let (value, kind) = match before.last() {
            _ if !last.exceeds_capacity => return None,
            Some(previous) => (previous.value, SaturationKind::Overloaded),
            None => (last.value, SaturationKind::AllOverloaded),
        };
        Some(Saturation { value, kind, measured })
    };
    match until {
        Saturated::Cpu { least, .. } => {
            let share = last.cpu?;
            let reached = || (share >= least).then(|| found(last, before.is_empty(), share));
            Some(overloaded(share).or_else(reached))
        }
        Saturated::Gain { least } => {
            let Some(previous) = before.last() else {
                return last.throughput_per_s.map(|_| overloaded(0.0));
            };
            let gain = step_gain(previous, last)?;
            let reached = || (gain < least).then(|| found(previous, before.len() == 1, gain));
            Some(overloaded(gain).or_else(reached))
        }
    }
}

fn step_gain(previous: &SaturationStep, step: &SaturationStep) -> Option<f64> {
    Some(gain(previous.throughput_per_s?, step.throughput_per_s?))
}

/// Returns the gain of throughput from one load to the next, as a fraction. The gain is infinite if
/// requests were completed only at the next load, and 0 if none were completed at either.
pub fn gain(before: f64, now: f64) -> f64 {
    // Nothing completed at either load: more load gains nothing.
    if before > 0.0 || now > 0.0 { now / before - 1.0 } else { 0.0 }
}

fn not_reached(until: Saturated, steps: &[SaturationStep]) -> NextSaturationStep {
    let measured = match (until, steps) {
        (Saturated::Cpu { .. }, [.., last]) => last.cpu,
        (Saturated::Gain { .. }, [.., previous, last]) => step_gain(previous, last),
        (Saturated::Cpu { .. } | Saturated::Gain { .. }, _) => None,
    };
    match (measured, steps.last()) {
        (Some(measured), Some(last)) => NextSaturationStep::Found(Saturation {
            value: last.value,
            kind: SaturationKind::NotReached,
            measured,
        }),
        (None, _) | (_, None) => NextSaturationStep::NotObserved,
    }
}

#[cfg(test)]
mod tests {
    use workload::question::{CpuOwner, VariedLoad};

    use super::*;

    const CPU: Saturated = Saturated::Cpu { owner: CpuOwner::Database, least: 0.95 };
    const GAIN: Saturated = Saturated::Gain { least: 0.02 };

    fn question(until: Saturated) -> SaturateQuestion {
        let vary = VariedLoad::Concurrency { job: "read".to_owned() };
        SaturateQuestion { vary, values: vec![1.0, 2.0, 4.0, 8.0], until }
    }

    fn step(value: f64, measured: f64) -> SaturationStep {
        SaturationStep {
            value,
            throughput_per_s: Some(measured),
            cpu: Some(measured),
            exceeds_capacity: false,
            is_instrument_invalid: false,
        }
    }

    fn next(until: Saturated, measured: &[f64]) -> NextSaturationStep {
        let question = question(until);
        let runs: Vec<SaturationStep> =
            question.values.iter().zip(measured).map(|(value, it)| step(*value, *it)).collect();
        next_saturation_step(&question, &runs)
    }

    fn found(value: f64, kind: SaturationKind) -> impl Fn(NextSaturationStep) -> bool {
        move |next| match next {
            NextSaturationStep::Found(it) => (it.value, it.kind) == (value, kind),
            _ => false,
        }
    }

    #[test]
    fn load_grows_until_the_component_is_busy() {
        let run = |step: usize, value: f64| NextSaturationStep::Run { step, attempt: 0, value };
        assert_eq!(next(CPU, &[]), run(0, 1.0));
        assert_eq!(next(CPU, &[0.4, 0.949]), run(2, 4.0));
        let reached = Saturation { value: 4.0, kind: SaturationKind::Reached, measured: 0.95 };
        assert_eq!(next(CPU, &[0.4, 0.8, 0.95]), NextSaturationStep::Found(reached));
    }

    #[test]
    fn saturation_at_the_first_load_is_distinguished() {
        assert!(found(1.0, SaturationKind::AtFirst)(next(CPU, &[0.97])));
        assert!(found(1.0, SaturationKind::AtFirst)(next(GAIN, &[100.0, 101.0])));
        assert!(found(2.0, SaturationKind::Reached)(next(GAIN, &[100.0, 150.0, 151.0])));
    }

    #[test]
    fn range_that_ends_before_saturation_gives_a_lower_bound() {
        assert!(found(8.0, SaturationKind::NotReached)(next(CPU, &[0.1, 0.2, 0.4, 0.8])));
        assert!(found(8.0, SaturationKind::NotReached)(next(GAIN, &[1.0, 2.0, 4.0, 8.0])));
    }

    #[test]
    fn load_before_the_gain_vanishes_is_used_also_if_throughput_falls() {
        assert!(found(2.0, SaturationKind::Reached)(next(GAIN, &[100.0, 150.0, 90.0])));
        assert!(found(1.0, SaturationKind::AtFirst)(next(GAIN, &[0.0, 0.0])));
        let run = NextSaturationStep::Run { step: 2, attempt: 0, value: 4.0 };
        assert_eq!(next(GAIN, &[0.0, 5.0]), run);
    }

    /// Beyond the capacity, response times depend on the length of the run, so the next smaller
    /// load is used.
    #[test]
    fn load_beyond_the_capacity_is_not_used() {
        for until in [CPU, GAIN] {
            let beyond = SaturationStep { exceeds_capacity: true, ..step(4.0, 0.99) };
            let runs = [step(1.0, 0.3), step(2.0, 0.6), beyond];
            let next = next_saturation_step(&question(until), &runs);
            assert!(found(2.0, SaturationKind::Overloaded)(next), "{until} {next:?}");
        }
    }

    #[test]
    fn smallest_load_beyond_the_capacity_is_reported() {
        for until in [CPU, GAIN] {
            let beyond = SaturationStep { exceeds_capacity: true, ..step(1.0, 0.5) };
            let next = next_saturation_step(&question(until), &[beyond]);
            assert!(found(1.0, SaturationKind::AllOverloaded)(next), "{until} {next:?}");
        }
    }

    #[test]
    fn gain_over_nothing_is_infinite() {
        assert_eq!((gain(0.0, 5.0), gain(0.0, 0.0), gain(4.0, 5.0)), (f64::INFINITY, 0.0, 0.25));
    }

    /// A run that the load generator spoiled proves nothing, even with a busy database.
    #[test]
    fn invalid_step_is_repeated_and_never_saturation() {
        let invalid = SaturationStep { is_instrument_invalid: true, ..step(2.0, 0.99) };
        let (question, first) = (question(CPU), step(1.0, 0.5));
        let after = |runs: &[SaturationStep]| next_saturation_step(&question, runs);
        let run = |step, attempt, value| NextSaturationStep::Run { step, attempt, value };
        assert_eq!(after(&[first, invalid]), run(1, 1, 2.0));
        assert_eq!(after(&[first, invalid, invalid]), run(1, 2, 2.0));
        let failed = NextSaturationStep::InstrumentFailed { step: 1 };
        assert_eq!(after(&[first, invalid, invalid, invalid]), failed);
        // Each step has its own attempts.
        let all = [first, invalid, invalid, step(2.0, 0.6), invalid];
        assert_eq!(after(&all), run(2, 1, 4.0));
    }

    #[test]
    fn quantity_that_is_not_observed_ends_the_steps() {
        for until in [CPU, GAIN] {
            let unseen = SaturationStep { cpu: None, throughput_per_s: None, ..step(1.0, 0.5) };
            let next = next_saturation_step(&question(until), &[unseen]);
            assert_eq!(next, NextSaturationStep::NotObserved, "{until}");
        }
    }
}
