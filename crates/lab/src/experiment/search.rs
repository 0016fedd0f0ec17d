//! Capacity searches: their parameters ([`CapacityOrder`]), and their recorded trials.
//!
//! The progress of a search is a pure function of its parameters and its trials, which are both in
//! the record. A resumed search therefore continues from its last trial, and every reader of the
//! record finds the same answer. A program with another version of the search method cannot do
//! this; it shows the answer that was stored at the end of the search.

use std::path::Path;

use analyze::capacity::{
    Capacity, CapacityOrder, Step, Trial, TrialContext, TrialOutcome, TrialRequest, judge_trial,
    next_step,
};
use analyze::compare::RunFigures;
use analyze::summarize;
use archive::{Archive, ExperimentContent, Phase, RecordError, RunRow, RunState};
use base::{Nanos, Seed};
use record::environment::generator::BEFORE_TRIAL;
use record::environment::known;
use workload::question::{CapacityQuestion, Experiment};

use super::canary::canary_length;
use super::effect;
use super::recorded::STATE;
use super::stored_answer;
use crate::evidence::{count_dispersions, evidence};

/// Name of the fact with the seed of a search.
const SEED_FACT: &str = "search-seed";

/// Name of the fact with the minimum warm-up of a trial, in nanoseconds.
const WARMUP_FACT: &str = "search-warmup-ns";

/// Name of the fact with the expected time between trials, in nanoseconds.
const DRAIN_FACT: &str = "search-drain-ns";

/// Name of the fact with the calibrated ceiling of the generator, in requests per second.
const CEILING_FACT: &str = "search-ceiling-per-s";

/// Name of the fact with the version of the search method. The first version did not record this
/// fact.
const METHOD_FACT: &str = "search-method";

/// Name of the fact with the answer of a search that has ended.
pub(super) const ANSWER_FACT: &str = "search-answer";

/// Largest difference between a value in the stored answer and the same value in the record of its
/// trial, as a fraction of the value. JSON may change the last digit.
const MAX_RELATIVE_ERROR: f64 = 1e-12;

/// Shortest warm-up of a trial.
const MIN_WARMUP: Nanos = Nanos::from_secs(1);

/// Expected time between trials, in addition to the canary, for the end of one run and the start of
/// the next one.
const TRIAL_OVERHEAD: Nanos = Nanos::from_secs(1);

/// Minimum time between trials, in which an overloaded server becomes idle. In virtual time, the
/// time between trials always has this length, with which the published errors of the search were
/// measured.
pub(super) const MIN_DRAIN: Nanos = Nanos::from_secs(2);

/// Returns the parameters of a capacity search; `None` if the experiment is not a search.
/// `ceiling_per_s` is the calibrated ceiling of the generator, in requests per second.
pub fn search_order(
    experiment: &Experiment,
    is_virtual: bool,
    ceiling_per_s: Option<f64>,
) -> Option<CapacityOrder> {
    let question = experiment.capacity.as_ref()?;
    let plan = &experiment.arms.first()?.plan;
    let warmup = plan.warmup.known().max(MIN_WARMUP);
    let drain = match is_virtual {
        true => MIN_DRAIN,
        false => MIN_DRAIN.max(canary_length(Some(warmup + question.trial)) + TRIAL_OVERHEAD),
    };
    // The ceiling is a rate, so it does not limit a varied number of clients.
    let ceiling_per_s = ceiling_per_s.filter(|_| !question.vary.is_whole());
    let parameters = SearchParameters { seed: plan.seed, warmup, drain, ceiling_per_s };
    Some(order_of_question(question, parameters))
}

/// Returns the facts from which `recorded_order` restores the parameters of a search.
pub fn search_facts(order: &CapacityOrder) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        (SEED_FACT, order.seed.0.to_string()),
        (WARMUP_FACT, order.warmup.0.to_string()),
        (DRAIN_FACT, order.drain.0.to_string()),
        (METHOD_FACT, CapacityOrder::METHOD.to_string()),
    ];
    facts.extend(order.ceiling_per_s.map(|ceiling| (CEILING_FACT, ceiling.to_string())));
    facts
}

/// The parameters of a search that its [`CapacityQuestion`] does not contain.
struct SearchParameters {
    seed: Seed,
    warmup: Nanos,
    drain: Nanos,
    ceiling_per_s: Option<f64>,
}

fn order_of_question(question: &CapacityQuestion, parameters: SearchParameters) -> CapacityOrder {
    let SearchParameters { seed, warmup, drain, ceiling_per_s } = parameters;
    CapacityOrder {
        conditions: question.conditions.clone(),
        vary: question.vary.clone(),
        first: question.first,
        highest: Some(question.highest),
        ceiling_per_s,
        trial: question.trial,
        warmup,
        drain,
        budget: question.budget,
        hold: question.hold,
        confirmations: CapacityOrder::CONFIRMATIONS,
        seed,
    }
}

/// Returns the parameters of a recorded search; `None` if a fact is missing or unreadable.
pub(super) fn recorded_order<'f>(
    question: &CapacityQuestion,
    fact: impl Fn(&str) -> Option<&'f str>,
) -> Option<CapacityOrder> {
    let nanos = |name: &str| fact(name)?.parse().ok().map(Nanos);
    let ceiling_per_s = match fact(CEILING_FACT) {
        Some(ceiling) => Some(ceiling.parse().ok().filter(|it: &f64| it.is_finite())?),
        None => None,
    };
    let seed = Seed(fact(SEED_FACT)?.parse().ok()?);
    // Sums of these times must not overflow.
    let is_possible = |time: &Nanos| *time < Nanos(u64::MAX / 8);
    let warmup = nanos(WARMUP_FACT).filter(is_possible)?;
    let drain = nanos(DRAIN_FACT).filter(is_possible)?;
    Some(order_of_question(question, SearchParameters { seed, warmup, drain, ceiling_per_s }))
}

/// A search that was read from its record.
#[derive(Clone, Debug)]
pub struct RecordedSearch {
    /// The parameters of the search.
    pub order: CapacityOrder,
    /// The trials that count, in the order in which they ran.
    pub trials: Vec<RecordedTrial>,
    /// The result; `None` if the search has not ended.
    pub capacity: Option<Capacity>,
    /// Version of the search method that stored this result in the record; `None` if the result was
    /// computed from the trials.
    pub stored_method: Option<u32>,
}

/// A trial of a search.
#[derive(Clone, Debug)]
pub struct RecordedTrial {
    /// Number of the trial's run in the record.
    pub run: u32,
    /// The trial.
    pub trial: Trial,
    /// The outcome of this trial, judged without the other trials; in a search by another version
    /// of the method, the outcome in the stored answer.
    pub outcome: TrialOutcome,
    /// The figures of the trial's run.
    pub figures: RunFigures,
}

impl RecordedSearch {
    /// Returns the number of different servers, or different starts of one server, on which the
    /// trials ran; `None` if no trial's server is known. A search that is resumed on a private
    /// server ran on several.
    pub fn server_starts(&self) -> Option<u32> {
        effect::server_starts(self.trials.iter().map(|one| one.figures.facts.as_slice()))
    }
}

/// Reads the trials of a search, and its result. The result is computed from the trials; if another
/// version of the search method executed the trials, the result is the stored answer.
///
/// # Errors
/// The record is damaged, or another version of the method executed the trials and stored no
/// answer.
pub fn read_search(
    path: &Path,
    question: &CapacityQuestion,
) -> Result<RecordedSearch, RecordError> {
    let content = ExperimentContent::read(path)?;
    let Some(order) = recorded_order(question, |name| content.fact(name)) else {
        let what = "the order of its search cannot be read".to_owned();
        return Err(ExperimentContent::damaged(path, what));
    };
    let search = match is_of_another_search(&content) {
        true => read_stored_search(path, order, &content)?,
        false => replay_search(path, order, &content)?,
    };
    if content.fact(STATE) == Some("complete") && search.capacity.is_none() {
        let what = "it is marked as complete without its last trial".to_owned();
        return Err(ExperimentContent::damaged(path, what));
    }
    Ok(search)
}

/// Reads the recorded trials of a search and computes the result from them, if the search has
/// ended.
///
/// # Errors
/// The record is damaged, or another version of the method executed the trials.
pub(super) fn replay_search(
    path: &Path,
    order: CapacityOrder,
    content: &ExperimentContent,
) -> Result<RecordedSearch, RecordError> {
    if is_of_another_search(content) {
        return Err(ExperimentContent::of_another_search(path));
    }
    let mut search =
        RecordedSearch { order, trials: Vec::new(), capacity: None, stored_method: None };
    for row in trials_of(content) {
        let trials: Vec<Trial> = search.trials.iter().map(|one| one.trial.clone()).collect();
        let request = match next_step(&search.order, &trials) {
            Step::Run(request) if is_trial_of(&request, row) => request,
            Step::Run(_) | Step::Done(_) => {
                let what = format!("run {} is not a trial of its search", row.run);
                return Err(ExperimentContent::damaged(path, what));
            }
        };
        let archive = content.open_run(row.run)?;
        search.trials.push(read_trial(&search.order, &request, row.run, &archive)?);
    }
    let trials: Vec<Trial> = search.trials.iter().map(|one| one.trial.clone()).collect();
    search.capacity = match next_step(&search.order, &trials) {
        Step::Done(capacity) => Some(*capacity),
        Step::Run(_) => None,
    };
    Ok(search)
}

/// Returns the runs that are trials of a search and count.
fn trials_of(content: &ExperimentContent) -> impl Iterator<Item = &RunRow> {
    let counts = |row: &&RunRow| row.phase == Phase::Capacity && row.state == RunState::Counts;
    content.runs.iter().filter(counts)
}

/// Returns a search by another version of the method, with its recorded trials and its stored
/// answer.
fn read_stored_search(
    path: &Path,
    order: CapacityOrder,
    content: &ExperimentContent,
) -> Result<RecordedSearch, RecordError> {
    let Some((method, text)) = method_and_answer(content) else {
        return Err(ExperimentContent::of_another_search(path));
    };
    let damaged = |what: &str| {
        ExperimentContent::damaged(path, format!("the stored answer of its search {what}"))
    };
    let Some(answer) = stored_answer::read(text) else { return Err(damaged("cannot be read")) };
    let mut capacity = answer.capacity;
    let rows: Vec<&RunRow> = trials_of(content).collect();
    if rows.len() != capacity.trials.len() {
        return Err(damaged("has another number of trials"));
    }
    let mut trials = Vec::new();
    for ((row, judged), window) in rows.into_iter().zip(&capacity.trials).zip(answer.windows) {
        let value = row.point.as_ref().and_then(|point| point.parse::<f64>().ok());
        let Some(value) = value.filter(|value| is_same(*value, judged.value)) else {
            return Err(damaged(&format!("has another value for the trial of run {}", row.run)));
        };
        let (phase, number) = (judged.phase, row.round as usize);
        let request = TrialRequest { value, phase, warmup: order.warmup, window, number };
        let trial = read_trial(&order, &request, row.run, &content.open_run(row.run)?)?;
        trials.push(RecordedTrial { outcome: judged.outcome.clone(), ..trial });
    }
    // Trials are looked up by their values, so the values in the answer must be exactly those of
    // the trials.
    for value in [&mut capacity.sustained, &mut capacity.fails].into_iter().flatten() {
        let mut values = trials.iter().map(|trial| trial.trial.value);
        *value = values.find(|known| is_same(*known, *value)).unwrap_or(*value);
    }
    Ok(RecordedSearch { order, trials, capacity: Some(capacity), stored_method: Some(method) })
}

fn is_same(value: f64, stored: f64) -> bool {
    (value / stored - 1.0).abs() < MAX_RELATIVE_ERROR
}

/// Returns the version of the search method and the stored answer, if the record has both.
fn method_and_answer(content: &ExperimentContent) -> Option<(u32, &str)> {
    Some((content.fact(METHOD_FACT)?.parse().ok()?, content.fact(ANSWER_FACT)?))
}

/// Returns true if another version of the search method executed the trials and stored no answer.
/// This program cannot compute the answer from these trials.
pub fn lacks_answer(content: &ExperimentContent) -> bool {
    is_of_another_search(content) && method_and_answer(content).is_none()
}

/// Returns true if another version of the search method executed the trials. This program can
/// neither continue nor judge them. The content of a new search is empty: it has neither a seed nor
/// a version.
fn is_of_another_search(content: &ExperimentContent) -> bool {
    let method = CapacityOrder::METHOD.to_string();
    content.fact(SEED_FACT).is_some() && content.fact(METHOD_FACT) != Some(&method)
}

fn is_trial_of(request: &TrialRequest, row: &RunRow) -> bool {
    request.number == row.round as usize && row.point.as_ref() == Some(&point_text(request))
}

/// Returns the value of a trial in the form in which it is written in a file.
pub(super) fn point_text(request: &TrialRequest) -> String {
    request.value.to_string()
}

/// Reads a trial from the record of its run, and judges it without the other trials.
pub(super) fn read_trial(
    order: &CapacityOrder,
    request: &TrialRequest,
    run: u32,
    archive: &Archive,
) -> Result<RecordedTrial, RecordError> {
    let (evidence, settings) = (evidence(archive)?, archive.settings()?);
    let summary = summarize(&evidence);
    let before = known(&settings, BEFORE_TRIAL).and_then(|time| time.parse().ok()).map(Nanos);
    let took = evidence.end() + before.unwrap_or(order.drain);
    let dispersions = count_dispersions(archive, &evidence, &order.conditions)?;
    let context = TrialContext { took, dispersions };
    let trial = Trial::of(order, request, &evidence, &summary, context);
    let outcome = judge_trial(order, &trial);
    let figures = RunFigures::of(&evidence, &summary, settings);
    Ok(RecordedTrial { run, trial, outcome, figures })
}
