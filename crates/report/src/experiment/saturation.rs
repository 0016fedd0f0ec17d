//! The view of a search for saturation, and its sentences.

use analyze::compare::{CpuShare, RunVerdict};
use analyze::saturate::{self, NextSaturationStep, Saturation, SaturationKind};
use analyze::{Component, Status};
use workload::question::{SaturateQuestion, Saturated, Scale, VariedLoad};

use super::cells::change_cell;
use super::repetition::{LoadDifference, RepeatedLoads};
use super::sentence;
use super::value_list::short_values;
use crate::number::{self, NONE};
use crate::page::{Align, Cell, Quantity, Table};

/// A search for the load at which the arms of an experiment are compared.
#[derive(Clone, Debug)]
pub struct SaturationView {
    /// The question.
    pub question: SaturateQuestion,
    /// The steps in the order in which they ran, including repeated ones.
    pub steps: Vec<SaturationStepView>,
    /// The result of the steps: the load that was found, the next step, or the reason why the
    /// search failed.
    pub next: NextSaturationStep,
    /// Number of different servers, or of different starts of one server, on which the steps ran;
    /// `None` if it is unknown, or if the server is restarted before each run.
    pub server_starts: Option<u32>,
}

/// A step of a search for saturation.
#[derive(Clone, Debug)]
pub struct SaturationStepView {
    /// Number of the step's run.
    pub run: u32,
    /// Number of the step, from 0.
    pub step: u32,
    /// Number of earlier attempts at the step.
    pub attempt: u32,
    /// The value of the load.
    pub value: f64,
    /// The state of the run: `counts`, `repeated` or `abandoned`.
    pub state: &'static str,
    /// Completed requests per second of the job whose load varies, if measured.
    pub completed_per_s: Option<f64>,
    /// Processor time of the component in the condition; `None` if the condition has no component,
    /// or if it was not observed.
    pub cpu: Option<CpuShare>,
    /// Verdict on the step's run.
    pub verdict: RunVerdict,
    /// Limiter of the step's run.
    pub limiter: Component,
}

impl SaturationStepView {
    /// Returns true if the step can decide whether the condition is met.
    fn is_judged(&self) -> bool {
        self.state == "counts" && self.verdict.instrument != Status::Invalid
    }
}

impl SaturationView {
    /// Returns the load, if it is found.
    pub(super) fn found(&self) -> Option<Saturation> {
        match self.next {
            NextSaturationStep::Found(found) => Some(found),
            NextSaturationStep::Run { .. }
            | NextSaturationStep::InstrumentFailed { .. }
            | NextSaturationStep::NotObserved => None,
        }
    }

    /// Returns the load, if it is found: `concurrency(read) = 16`, or `concurrency(read) at least
    /// 16` if even 16, the largest value to try, does not meet the condition for saturation.
    pub(super) fn load(&self) -> Option<String> {
        let found = self.found()?;
        let relation = if is_saturated(&found) { "=" } else { "at least" };
        Some(format!("{} {relation} {}", self.question.vary, self.value(found.value)))
    }

    /// Returns the loads of this search and of its repetition, if both found one.
    pub(super) fn compare_loads(&self, second: &SaturationView) -> Option<RepeatedLoads> {
        let (one, two) = (self.found()?, second.found()?);
        let is_same = self.question.vary == second.question.vary && one.value == two.value;
        let difference = match is_same {
            false => Some(LoadDifference::Value),
            true if is_saturated(&one) != is_saturated(&two) => Some(LoadDifference::Saturation),
            true => None,
        };
        Some(RepeatedLoads { first: self.load()?, second: second.load()?, difference })
    }

    /// Returns the line that describes the search.
    pub(super) fn goal(&self) -> String {
        self.goal_with(|values| values.join(", "))
    }

    /// Returns the line that describes the search, for a short answer.
    pub(super) fn short_goal(&self) -> String {
        self.goal_with(short_values)
    }

    fn goal_with(&self, join: fn(&[String]) -> String) -> String {
        let SaturateQuestion { vary, values, until } = &self.question;
        let values: Vec<String> = values.iter().map(|value| self.value(*value)).collect();
        format!("{vary}: {} until {until}", join(&values))
    }

    /// Returns the sentence about the load: `Load: concurrency(read) = 16, where cpu(database)
    /// reached 96.1 % of 2 processors`; `None` if no load was found.
    pub(super) fn sentence(&self) -> Option<String> {
        Some(format!("{}{}", self.load_sentence()?, self.starts()))
    }

    /// Returns the number of server starts as the end of a sentence; empty for a single start.
    /// Steps on different servers may differ in more than their loads.
    fn starts(&self) -> String {
        let several = self.server_starts.filter(|starts| *starts > 1);
        several.map_or_else(String::new, |it| {
            format!("; the steps are of {it} server starts, which may differ in more than the load")
        })
    }

    fn load_sentence(&self) -> Option<String> {
        let found = self.found()?;
        let (vary, value) = (&self.question.vary, self.value(found.value));
        let measured = self.measured_text(&found);
        Some(match (found.kind, self.question.until) {
            (SaturationKind::Overloaded, Saturated::Cpu { .. } | Saturated::Gain { .. }) => {
                let last = self.steps.iter().rfind(|step| step.is_judged());
                let next = last.map_or_else(String::new, |step| self.value(step.value));
                format!("Load: {vary} = {value}; the next value, {next}, exceeds the capacity")
            }
            (SaturationKind::AllOverloaded, Saturated::Cpu { .. } | Saturated::Gain { .. }) => {
                format!(
                    "Load: {vary} = {value}, the smallest value, exceeds the capacity. Write \
                     smaller `values` to compare response times"
                )
            }
            (SaturationKind::Reached, Saturated::Cpu { owner, .. }) => {
                format!("Load: {vary} = {value}, where cpu({}) reached {measured}", owner.name())
            }
            (SaturationKind::AtFirst, Saturated::Cpu { owner, .. }) => {
                let cpu = format!("cpu({}) is {measured}", owner.name());
                format!("Load: {vary} = {value}, the smallest value: {cpu} already")
            }
            (SaturationKind::NotReached, Saturated::Cpu { owner, .. }) => {
                let cpu = format!("cpu({}) {measured}", owner.name());
                format!("Load: {vary} at least {value}, not saturated: {cpu}")
            }
            (SaturationKind::Reached, Saturated::Gain { .. }) => {
                format!("Load: {vary} = {value}; {measured}")
            }
            (SaturationKind::AtFirst, Saturated::Gain { .. }) => {
                format!("Load: {vary} = {value}, the smallest value; {measured}")
            }
            (SaturationKind::NotReached, Saturated::Gain { .. }) => {
                format!("Load: {vary} at least {value}, not saturated; {measured}")
            }
        })
    }

    /// Returns the sentence about a baseline and an arm that the load overloads on purpose; `None`
    /// if both sustain the load.
    pub(super) fn overload(&self, names: [&str; 2], overloaded: [bool; 2]) -> Option<String> {
        let (vary, found) = (&self.question.vary, self.found()?);
        let [baseline, arm] = names.map(sentence::name_as_code);
        let load = format!("{vary} = {}", self.value(found.value));
        let compared = format!(
            "throughput({}) compares the requests per second that each completes at this load",
            vary.job()
        );
        let one = |slow: &str, fast: &str| {
            format!(
                "At {load}, {slow} is overloaded on purpose, and {fast} keeps up: {compared}. \
                 {fast} may be able to complete more"
            )
        };
        match overloaded {
            [false, false] => None,
            [false, true] => Some(one(&arm, &baseline)),
            [true, false] => Some(one(&baseline, &arm)),
            [true, true] => Some(format!(
                "At {load}, {baseline} and {arm} are overloaded on purpose: {compared}"
            )),
        }
    }

    /// Returns the quantity by which the load was found: `96.1 % of 2 processors`, `from 8 to 16
    /// the throughput changes by +0.40 %`.
    fn measured_text(&self, found: &Saturation) -> String {
        let mut judged = self.steps.iter().filter(|step| step.is_judged());
        match self.question.until {
            Saturated::Cpu { .. } => {
                let step = judged.find(|step| step.value == found.value);
                let of = step
                    .and_then(|step| step.cpu)
                    .map(|cpu| cpu.processors)
                    .map(number::processors);
                let share = number::percent(found.measured);
                of.map_or_else(|| share.clone(), |processors| format!("{share} of {processors}"))
            }
            Saturated::Gain { .. } => {
                let values: Vec<String> = judged.map(|step| self.value(step.value)).collect();
                let [.., from, to] = values.as_slice() else { return NONE.to_owned() };
                if found.measured.is_infinite() {
                    return format!("nothing was completed at {from}, and something at {to}");
                }
                let gain = sentence::signed(found.measured, Scale::Ratio);
                format!("from {from} to {to} the throughput changes by {gain}")
            }
        }
    }

    /// Returns the reason why there is no load, if the search ended without one.
    pub(super) fn failure(&self) -> Option<String> {
        let vary = &self.question.vary;
        match self.next {
            NextSaturationStep::Run { .. } | NextSaturationStep::Found(_) => None,
            NextSaturationStep::InstrumentFailed { step } => {
                let value = self.question.values.get(step).map(|value| self.value(*value));
                let value = value.unwrap_or_default();
                Some(format!(
                    "the load generator or the machine failed in every attempt at {vary} = {value}"
                ))
            }
            NextSaturationStep::NotObserved => {
                let run = self.steps.last().map(|step| step.run).unwrap_or_default();
                Some(match self.question.until {
                    Saturated::Cpu { owner, .. } => {
                        format!("cpu({}) was not observed in run {run}", owner.name())
                    }
                    Saturated::Gain { .. } => {
                        format!("the throughput of {} was not measured in run {run}", vary.job())
                    }
                })
            }
        }
    }

    /// Returns the sentence on the progress of the steps, if they have not ended.
    pub(super) fn progress(&self) -> Option<String> {
        match self.next {
            NextSaturationStep::Run { .. } => {
                let made = self.steps.iter().filter(|step| step.state == "counts").count();
                let were = if made == 1 { "was" } else { "were" };
                let steps = number::count(made as u64, "step");
                Some(format!("the load is not found yet: {steps} {were} made"))
            }
            NextSaturationStep::Found(_)
            | NextSaturationStep::InstrumentFailed { .. }
            | NextSaturationStep::NotObserved => None,
        }
    }

    /// Formats a value of the load: `16`, `500/s`.
    fn value(&self, value: f64) -> String {
        match self.question.vary {
            VariedLoad::Rate { .. } => format!("{value}/s"),
            VariedLoad::Concurrency { .. } => value.to_string(),
        }
    }

    /// Returns the gain of a step's throughput over that of the previous step, as a fraction;
    /// `None` if one of the two was not judged or not measured, or if the gain is infinite.
    pub(super) fn gain(&self, step: &SaturationStepView) -> Option<f64> {
        let of =
            |number: u32| self.steps.iter().find(|other| other.step == number && other.is_judged());
        let before = of(step.step.checked_sub(1)?)?.completed_per_s?;
        let now = step.completed_per_s.filter(|_| step.is_judged())?;
        Some(saturate::gain(before, now)).filter(|gain| gain.is_finite())
    }

    /// Returns the columns of the table of steps.
    pub(super) fn columns(&self) -> [(String, Align); 6] {
        let observed = match self.question.until {
            Saturated::Cpu { owner, .. } => format!("cpu({})", owner.name()),
            Saturated::Gain { .. } => "limiter".to_owned(),
        };
        [
            ("run".to_owned(), Align::Right),
            (self.question.vary.key().to_owned(), Align::Right),
            ("requests/s".to_owned(), Align::Right),
            ("gain".to_owned(), Align::Right),
            (observed, Align::Right),
            ("verdict".to_owned(), Align::Left),
        ]
    }

    /// Returns the cells of the steps, one for each of [`columns`](Self::columns).
    pub(super) fn rows(&self) -> Vec<[Cell; 6]> {
        self.steps.iter().map(|step| self.row(step)).collect()
    }

    /// Returns the table of all steps.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(self.columns());
        self.rows().into_iter().for_each(|row| table.row(row));
        table
    }

    /// Returns the steps in one line: `steps: 1: 99.2/s; 2: 196/s, cpu(database) 40 %`; `None`
    /// before the first one.
    pub(super) fn steps_in_a_line(&self) -> Option<String> {
        let step = |step: &SaturationStepView| {
            let rate = step.completed_per_s.map_or_else(|| NONE.to_owned(), number::rate);
            let cpu = step.cpu.map_or_else(String::new, |cpu| {
                format!(", cpu({}) {}", cpu.owner.name(), number::percent(cpu.used()))
            });
            let state = match step.state {
                "counts" => String::new(),
                other => format!(", {other}"),
            };
            format!("{}: {rate}{cpu}{state}", self.value(step.value))
        };
        let steps: Vec<String> = self.steps.iter().map(step).collect();
        (!steps.is_empty()).then(|| format!("steps: {}", steps.join("; ")))
    }

    fn row(&self, step: &SaturationStepView) -> [Cell; 6] {
        let unit = match self.question.vary {
            VariedLoad::Rate { .. } => "1/s",
            VariedLoad::Concurrency { .. } => "",
        };
        let completed = step.completed_per_s;
        let completed = completed.map(|it| Cell::formatted(number::significant(it), it, ""));
        let gain = self.gain(step).map(|gain| change_cell(gain, Scale::Ratio));
        let observed: Cell = match self.question.until {
            Saturated::Cpu { .. } => step.cpu.map(|cpu| Quantity::Share(cpu.used())).into(),
            Saturated::Gain { .. } => Cell::from(step.limiter.name()),
        };
        [
            Cell::from(step.run.to_string()),
            Cell::formatted(self.value(step.value), step.value, unit),
            completed.unwrap_or(Cell::Missing),
            gain.unwrap_or(Cell::Empty),
            observed,
            Cell::from(verdict(step)),
        ]
    }
}

/// Returns the verdict of a step, its objecting checks, and its state unless that is `counts`.
fn verdict(step: &SaturationStepView) -> String {
    let checks: Vec<&str> = step.verdict.objections.iter().map(|(kind, _)| kind.name()).collect();
    let mut verdict = step.verdict.status().verdict().to_owned();
    if !checks.is_empty() {
        verdict = format!("{verdict} ({})", checks.join(", "));
    }
    if step.state != "counts" {
        verdict = format!("{verdict}, {}", step.state);
    }
    verdict
}

/// Returns true if a larger load is pointless: the condition was met, or this load or the next one
/// exceeds the capacity.
fn is_saturated(found: &Saturation) -> bool {
    match found.kind {
        SaturationKind::Reached
        | SaturationKind::AtFirst
        | SaturationKind::Overloaded
        | SaturationKind::AllOverloaded => true,
        SaturationKind::NotReached => false,
    }
}

#[cfg(test)]
mod tests {
    use workload::question::CpuOwner;

    use super::super::fixtures::search;
    use super::*;

    const CPU: Saturated = Saturated::Cpu { owner: CpuOwner::Database, least: 0.95 };
    const GAIN: Saturated = Saturated::Gain { least: 0.02 };

    #[test]
    fn arms_that_the_load_overloads_are_named() {
        let search = search(GAIN, SaturationKind::Overloaded, 0.4);
        let sentence = |overloaded| search.overload(["old", "new"], overloaded).unwrap_or_default();
        assert_eq!(sentence([false, false]), "");
        assert_eq!(
            sentence([false, true]),
            "At concurrency(read) = 16, `new` is overloaded on purpose, and `old` keeps up: \
             throughput(read) compares the requests per second that each completes at this load. \
             `old` may be able to complete more"
        );
        let first = "At concurrency(read) = 16, `old` is overloaded on purpose, and `new` keeps up";
        assert!(sentence([true, false]).starts_with(first), "{}", sentence([true, false]));
        assert_eq!(
            sentence([true, true]),
            "At concurrency(read) = 16, `old` and `new` are overloaded on purpose: \
             throughput(read) compares the requests per second that each completes at this load"
        );
    }

    #[test]
    fn each_kind_of_load_has_its_sentence() {
        let check = |until, kind, measured, expected: &str| {
            assert_eq!(search(until, kind, measured).sentence().as_deref(), Some(expected));
        };
        check(
            CPU,
            SaturationKind::Reached,
            0.961,
            "Load: concurrency(read) = 16, where cpu(database) reached 96.1 % of 2 processors",
        );
        check(
            CPU,
            SaturationKind::AtFirst,
            0.97,
            "Load: concurrency(read) = 16, the smallest value: cpu(database) is 97 % of 2 \
             processors already",
        );
        check(
            CPU,
            SaturationKind::NotReached,
            0.71,
            "Load: concurrency(read) at least 16, not saturated: cpu(database) 71 % of 2 \
             processors",
        );
        check(
            GAIN,
            SaturationKind::Reached,
            -0.031,
            "Load: concurrency(read) = 16; from 8 to 16 the throughput changes by −3.10 %",
        );
        check(
            GAIN,
            SaturationKind::AtFirst,
            0.004,
            "Load: concurrency(read) = 16, the smallest value; from 8 to 16 the throughput changes \
             by +0.40 %",
        );
        check(
            GAIN,
            SaturationKind::Overloaded,
            0.3,
            "Load: concurrency(read) = 16; the next value, 16, exceeds the capacity",
        );
        check(
            GAIN,
            SaturationKind::AllOverloaded,
            0.0,
            "Load: concurrency(read) = 16, the smallest value, exceeds the capacity. Write \
             smaller `values` to compare response times",
        );
        check(
            GAIN,
            SaturationKind::NotReached,
            f64::INFINITY,
            "Load: concurrency(read) at least 16, not saturated; nothing was completed at 8, and \
             something at 16",
        );
        check(
            GAIN,
            SaturationKind::NotReached,
            0.4,
            "Load: concurrency(read) at least 16, not saturated; from 8 to 16 the throughput \
             changes by +40.0 %",
        );
    }

    #[test]
    fn steps_on_several_server_starts_are_named_with_the_load() {
        let on = |server_starts| {
            let view = search(GAIN, SaturationKind::Reached, 0.004);
            SaturationView { server_starts, ..view }.sentence().unwrap()
        };
        let load = "Load: concurrency(read) = 16; from 8 to 16 the throughput changes by +0.40 %";
        let words = "; the steps are of 2 server starts, which may differ in more than the load";
        assert_eq!(on(Some(2)), format!("{load}{words}"));
        assert_eq!((on(Some(1)), on(None)), (load.to_owned(), load.to_owned()));
    }

    #[test]
    fn search_without_a_load_says_what_failed() {
        let with =
            |until, next| SaturationView { next, ..search(until, SaturationKind::Reached, 0.5) };
        let failed = with(CPU, NextSaturationStep::InstrumentFailed { step: 1 });
        let words = "the load generator or the machine failed in every attempt at \
                     concurrency(read) = 16";
        assert_eq!((failed.failure().as_deref(), failed.sentence()), (Some(words), None));
        let unseen = with(CPU, NextSaturationStep::NotObserved).failure();
        assert_eq!(unseen.as_deref(), Some("cpu(database) was not observed in run 2"));
        let unseen = with(GAIN, NextSaturationStep::NotObserved).failure();
        assert_eq!(unseen.as_deref(), Some("the throughput of read was not measured in run 2"));
    }

    #[test]
    fn repeated_step_has_no_gain() {
        let mut view = search(GAIN, SaturationKind::Reached, 0.0);
        let gains = |view: &SaturationView| -> Vec<String> {
            view.rows().into_iter().map(|[_, _, _, gain, ..]| gain.to_string()).collect()
        };
        assert_eq!(gains(&view), ["", "+100 %"]);
        view.steps[1].state = "repeated";
        assert_eq!(gains(&view), ["", ""]);
        assert_eq!(view.rows()[1][5].to_string(), "VALID, repeated");
        let line = "steps: 8: 800/s, cpu(database) 0 %; 16: 1,600/s, cpu(database) 0 %, repeated";
        assert_eq!(view.steps_in_a_line().as_deref(), Some(line));
    }
}
