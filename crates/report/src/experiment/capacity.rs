//! The view of a capacity search, and its sentences.

use std::collections::BTreeSet;

use analyze::capacity::{
    Boundary, Capacity, CapacityOrder, FailReason, Interval, InvalidReason, Irregular, LoadLimit,
    Measure, Phase, Trial, TrialOutcome,
};
use analyze::compare::RunVerdict;
use analyze::{CheckKind, Component, Status};
use workload::question::{Condition, VariedLoad};
use workload::{Metric, Side};

use super::irregular_words::{drift, during, limited_by, metastable, report_of_run};
use crate::number::{self, NONE};

/// A capacity search with its trials.
#[derive(Clone, Debug)]
pub struct CapacityView {
    /// The settings of the search.
    pub order: CapacityOrder,
    /// The trials with the state `counts`, in the order in which they ran.
    pub trials: Vec<TrialView>,
    /// The result; `None` if the search has not ended.
    pub found: Option<Capacity>,
    /// Number of different servers, or of different starts of one server, on which the trials ran;
    /// `None` if it is unknown.
    pub server_starts: Option<u32>,
    /// Version of the search method that stored this result in the record; `None` if the result was
    /// computed from the trials.
    pub stored_method: Option<u32>,
}

/// A trial of a search.
#[derive(Clone, Debug)]
pub struct TrialView {
    /// Number of the trial's run.
    pub run: u32,
    /// The trial.
    pub trial: Trial,
    /// Outcome of the trial.
    pub outcome: TrialOutcome,
    /// Verdict on the trial's run.
    pub verdict: RunVerdict,
    /// Limiter of the trial's run.
    pub limiter: Component,
}

impl CapacityView {
    /// Returns the verdict on a search; INVALID if the search has not ended. Trials beyond the
    /// capacity have errors and backlogs on purpose, so only the trials that confirmed the value
    /// are judged. The verdict is INVALID if no value was confirmed and unmet conditions are not
    /// the reason. It is SUSPECT if a check objects to a judged trial, or if the result is
    /// irregular.
    pub(super) fn verdict(&self) -> Status {
        let Some(found) = &self.found else { return Status::Invalid };
        if found.sustained.is_none() && !self.misses_conditions() {
            return Status::Invalid;
        }
        // The load generator worked in these trials. An overload that the conditions allow is a
        // reason to doubt the value, but does not make it INVALID.
        let of_run = |trial| match RunVerdict::new(Self::objections_to(trial)).status() {
            Status::Invalid => Status::Suspect,
            other => other,
        };
        let of_trials = self.confirming().map(of_run).max().unwrap_or(Status::Pass);
        match found.irregular.is_empty() {
            true => of_trials,
            false => of_trials.max(Status::Suspect),
        }
    }

    /// Returns true if no value meets the conditions, if the hold at the confirmed value failed, or
    /// if a condition that does not limit the load is not met at the confirmed value.
    pub(super) fn misses_conditions(&self) -> bool {
        let is_missed = |why: &Irregular| {
            matches!(
                why,
                Irregular::AlwaysFails { .. }
                    | Irregular::HoldFailed { .. }
                    | Irregular::Unmet { .. }
            )
        };
        self.found.as_ref().is_some_and(|found| found.irregular.iter().any(is_missed))
    }

    /// Returns the valid trials that confirmed the sustained value, including the hold.
    fn confirming(&self) -> impl Iterator<Item = &TrialView> {
        let sustained = self.found.as_ref().and_then(|found| found.sustained);
        self.trials.iter().filter(move |it| {
            let confirms = matches!(it.trial.phase, Phase::Confirm(_) | Phase::Hold);
            confirms && Some(it.trial.value) == sustained && it.trial.invalid.is_empty()
        })
    }

    /// Returns the numbers of the runs that confirmed the sustained value.
    pub(super) fn confirming_runs(&self) -> Vec<u32> {
        self.confirming().map(|it| it.run).collect()
    }

    /// Returns the numbers of the valid runs at the smallest failing value above the sustained one.
    pub(super) fn failing_runs(&self) -> Vec<u32> {
        let counts = |it: &&TrialView| self.is_at_failing_value(it) && it.trial.invalid.is_empty();
        self.trials.iter().filter(counts).map(|it| it.run).collect()
    }

    /// Returns true for a trial at the smallest failing value above the sustained one.
    fn is_at_failing_value(&self, it: &TrialView) -> bool {
        self.found.as_ref().is_some_and(|found| found.fails == Some(it.trial.value))
    }

    /// Returns the highest value that passes although a lower one fails; `None` if there is none.
    /// No interval describes a boundary with such a value.
    pub(super) fn highest_passing_beyond(&self) -> Option<f64> {
        self.found.as_ref()?.irregular.iter().find_map(Irregular::passes_beyond)
    }

    /// Returns the sentence with the measures of all confirming trials together, without the hold,
    /// by condition. A single trial may be undecided. `None` if there are no measures.
    fn confirmation(&self) -> Option<String> {
        let trials: Vec<&TrialView> =
            self.confirming().filter(|it| matches!(it.trial.phase, Phase::Confirm(_))).collect();
        let pooled = |(position, condition): (usize, &Condition)| {
            let allowed = condition.allowed_share()?;
            let (mut exceeded, mut total) = (0, 0);
            for it in &trials {
                let Measure::Count(counted) = it.trial.measures.get(position)? else { return None };
                exceeded += counted.exceeded;
                total += counted.total;
            }
            Some(format!(
                "{} of {} {}, {} allowed: pass",
                number::percent(exceeded as f64 / total.max(1) as f64),
                number::count(total, "request"),
                counted_ones(condition),
                number::percent(allowed)
            ))
        };
        let averaged = |(position, condition): (usize, &Condition)| {
            let value = |it: &&TrialView| match it.trial.measures.get(position)? {
                Measure::Value { value, .. } => Some(*value),
                Measure::Count(_) | Measure::Missing => None,
            };
            let values = trials.iter().map(value).collect::<Option<Vec<f64>>>()?;
            let value = values.iter().sum::<f64>() / values.len() as f64;
            let holds = condition.slo.is_met_by(value);
            let measure = Measure::Value { value, standard_error: None };
            let outcome = if holds { "pass" } else { "not met" };
            Some(format!("{}: {outcome}", measure_in_words(condition, measure)))
        };
        let conditions = self.order.conditions.iter().enumerate();
        let all: Vec<String> =
            conditions.filter_map(|it| pooled(it).or_else(|| averaged(it))).collect();
        let number = number::count(trials.len() as u64, "trial");
        (!all.is_empty() && !trials.is_empty())
            .then(|| format!("{number} together: {}", all.join("; ")))
    }

    /// Returns up to `most` trials nearest to the answer, sorted by value. They are chosen in this
    /// order: the failed one next to the answer, then one of each value, then more of the same
    /// values. If there is neither a confirmed value nor an estimate, the value that fails counts
    /// as the answer. If no value fails either, the last trials are returned.
    pub(super) fn nearest_trials(&self, most: usize) -> Vec<&TrialView> {
        let found = self.found.as_ref();
        let answer = found.and_then(|it| it.sustained.or(it.estimate).or(it.fails));
        let Some(answer) = answer else {
            return self.trials[self.trials.len().saturating_sub(most)..].iter().collect();
        };
        let fails_alone = |it: &TrialView| {
            self.is_at_failing_value(it) && matches!(it.outcome, TrialOutcome::Fail(_))
        };
        let neighbour = self.trials.iter().position(fails_alone);
        let neighbour =
            neighbour.or_else(|| self.trials.iter().position(|it| self.is_at_failing_value(it)));
        let rank = |place: usize| {
            let value = self.trials[place].trial.value;
            let earlier = self.trials[..place].iter().filter(|it| it.trial.value == value);
            (Some(place) != neighbour, earlier.count(), (value / answer).ln().abs())
        };
        let mut ranked: Vec<(usize, (bool, usize, f64))> =
            (0..self.trials.len()).map(|place| (place, rank(place))).collect();
        ranked.sort_by(|(_, one), (_, other)| {
            (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2))
        });
        ranked.truncate(most);
        let mut nearest: Vec<&TrialView> =
            ranked.into_iter().map(|(place, _)| &self.trials[place]).collect();
        nearest.sort_by(|one, other| {
            one.trial.value.total_cmp(&other.trial.value).then(one.run.cmp(&other.run))
        });
        nearest
    }

    /// Returns the checks that are suspect or invalid in trials at the confirmed value, once for
    /// each such trial.
    pub(super) fn objections(&self) -> impl Iterator<Item = CheckKind> {
        self.confirming().flat_map(|it| Self::objections_to(it).map(|(kind, _)| kind))
    }

    /// Returns the checks that are suspect or invalid in a trial. If requests failed only in jobs
    /// whose failures a condition of the search limits, the check `errors` is left out: the
    /// condition itself decides then.
    pub(super) fn objections_to(trial: &TrialView) -> impl Iterator<Item = (CheckKind, Status)> {
        let are_limited = trial.trial.limited_failures > 0 && trial.trial.errors == 0;
        let objections = trial.verdict.objections.iter().copied();
        objections.filter(move |(kind, _)| !are_limited || *kind != CheckKind::Errors)
    }

    /// Returns the most frequent limiter of the trials that confirmed the value, the first of
    /// several equally frequent ones; `None` if there are no such trials.
    pub(super) fn limiter(&self) -> Option<Component> {
        let all: Vec<Component> = self.confirming().map(|it| it.limiter).collect();
        Component::most_frequent(&all)
    }

    /// Returns the number of connections if their limit restricts the load; otherwise `None`. A
    /// value confirmed under such a limit is not the capacity of the server.
    pub(super) fn limit_of_connections(&self) -> Option<u64> {
        let of = |why: &Irregular| match why {
            Irregular::LimitedBy(
                LoadLimit::OwnConnections(connections)
                | LoadLimit::AcceptedConnections(connections),
            ) => Some(*connections),
            _ => None,
        };
        self.found.as_ref()?.irregular.iter().find_map(of)
    }

    /// Returns the length of the hold; empty if no hold was requested.
    pub(super) fn hold_length(&self) -> String {
        self.order.hold.map_or_else(String::new, |hold| hold.to_string())
    }

    /// Returns the valid trial of the hold, if there is one.
    fn final_trial(&self) -> Option<&TrialView> {
        let is_final =
            |it: &&TrialView| it.trial.phase == Phase::Hold && it.trial.invalid.is_empty();
        self.trials.iter().rfind(is_final)
    }

    /// Returns a sentence about a failed hold: the reason, and a command that shows the failed
    /// trial.
    fn failed_hold_text(&self, value: f64, record: &str) -> String {
        let reason = self.final_trial().map_or_else(String::new, |it| {
            let report = report_of_run(record, it.run);
            format!(": {}. Look at that run with {report}", it.short_reason(&self.order))
        });
        format!("Irregular: {} did not hold for {}{reason}", self.value(value), self.hold_length())
    }

    /// Returns true if a hold was requested, and at least one of its trials was valid.
    pub(super) fn was_held(&self, found: &Capacity) -> bool {
        let is_not_held = |why: &Irregular| matches!(why, Irregular::NotHeld { .. });
        self.order.hold.is_some() && !found.irregular.iter().any(is_not_held)
    }

    /// Returns a sentence about a hold whose trials were all invalid, with a command that shows the
    /// last of them.
    fn invalid_hold_text(&self, value: f64, record: &str) -> String {
        let last = self.invalid_holds().last();
        let look = last.map_or_else(String::new, |it| {
            let report = report_of_run(record, it.run);
            format!(". Look at the last one with {report}, and ask again on a quiet machine")
        });
        format!(
            "Irregular: {} was confirmed by shorter trials, but not held for {}: {} by checks of \
             the load generator{look}",
            self.value(value),
            self.hold_length(),
            self.invalid_holds_in_words()
        )
    }

    /// Returns the number of invalid trials of the hold in words, with the checks that they failed.
    fn invalid_holds_in_words(&self) -> String {
        let of_trial = |it: &TrialView| it.trial.invalid.clone();
        let checks: BTreeSet<String> = self.invalid_holds().flat_map(of_trial).collect();
        let checks = Vec::from_iter(checks).join(", ");
        let number = self.invalid_holds().count() as u64;
        let were = if number == 1 { "was" } else { "were" };
        format!("{} {were} INVALID ({checks})", number::count(number, "final trial"))
    }

    fn invalid_holds(&self) -> impl Iterator<Item = &TrialView> {
        let holds = self.trials.iter().filter(|it| it.trial.phase == Phase::Hold);
        holds.filter(|it| !it.trial.invalid.is_empty())
    }

    /// Returns a value of the load: `742/s`, `16 clients`.
    pub(super) fn value(&self, value: f64) -> String {
        match self.is_rate() {
            true => number::rate(value),
            false if value.fract() == 0.0 => number::count(value as u64, "client"),
            false => format!("{} clients", number::significant(value)),
        }
    }

    pub(super) fn is_rate(&self) -> bool {
        match self.order.vary {
            VariedLoad::Rate { .. } => true,
            VariedLoad::Concurrency { .. } => false,
        }
    }

    /// Returns an irregularity in words, with its remedy.
    pub(super) fn irregularity_text(&self, why: &Irregular, record: &str) -> String {
        let value = |it: &f64| self.value(*it);
        match why {
            Irregular::GeneratorLimited { value: at } => format!(
                "Irregular: the load generator cannot produce {}, so the server may take more. Use \
                 more --threads or a faster machine, and look at `assay doctor`",
                value(at)
            ),
            Irregular::NeverFails { highest } => self.never_fails_text(*highest),
            Irregular::AlwaysFails { lowest } => format!(
                "Irregular: every value down to {} fails. {}",
                value(lowest),
                self.remedy_of_always_failing(record)
            ),
            Irregular::NotMeasured { condition } => format!(
                "Irregular: a trial has nothing to judge `{}` by: did its job make requests?",
                self.condition(*condition)
            ),
            Irregular::LossInversion { fails, passes } => format!(
                "Irregular: {} fails although {} passes. Something disturbs the server at times: \
                 use a longer `trial`, and look at the trials",
                value(fails),
                value(passes)
            ),
            Irregular::Metastable(found) => metastable(found),
            Irregular::BoundaryMoved { fails, low } => format!(
                "Irregular: {} fails in the confirmation, and the search saw the boundary above \
                 {}: the capacity fell in between. Look for background work, and ask again",
                value(fails),
                value(low)
            ),
            Irregular::NotLocated { low, high } => self.not_located(*low, *high),
            Irregular::BudgetSpent { phase } => format!(
                "Irregular: the budget ended {}{}",
                during(phase),
                self.remedy_unless_explained("Write a larger `budget`")
            ),
            Irregular::LimitedBy(limit) => limited_by(*limit),
            Irregular::FitsDisagree { regression, isotonic } => format!(
                "Irregular: two fits disagree, {} and {}{}",
                value(regression),
                value(isotonic),
                self.remedy_unless_explained("Use a longer `trial` or a larger `budget`")
            ),
            Irregular::Drifts { change } => drift(*change),
            Irregular::NotConfirmed { lowest } => format!(
                "Irregular: no value down to {} was confirmed with fresh seeds{}",
                value(lowest),
                self.remedy_unless_explained(&self.remedy_of_confirmation())
            ),
            Irregular::HoldFailed { value } => self.failed_hold_text(*value, record),
            Irregular::NotHeld { value } => self.invalid_hold_text(*value, record),
            Irregular::Unmet { condition } => {
                format!("Irregular: {} does not hold at the result", self.condition(*condition))
            }
            Irregular::Curved => format!(
                "Irregular: no line and no curve describes the trials{}",
                self.remedy_unless_explained("Look at them, and use a longer `trial`")
            ),
            Irregular::Independent { condition, value, share } => {
                self.load_independent_text((*condition, *value, *share), record)
            }
        }
    }

    /// Returns advice for a search that confirmed no value. More trials do not help if some of the
    /// confirming trials had failed requests.
    fn remedy_of_confirmation(&self) -> String {
        let failed = self.failed_jobs(|trial| matches!(trial.phase, Phase::Confirm(_)));
        remedy_of_failures(&failed)
            .unwrap_or_else(|| "Write a larger `budget`, or a longer `trial`".to_owned())
    }

    /// Returns in words that every value passes, with the remedy. A larger load does not help if
    /// requests of this load already wait for connections.
    fn never_fails_text(&self, highest: f64) -> String {
        // A search tries exactly `highest` in place of a larger value.
        let is_at_limit = self.order.highest.is_some_and(|limit| highest >= limit);
        let rest = match (self.limiter() == Some(Component::Connections), self.is_rate()) {
            (true, _) => {
                ", but a part of this load waits for connections. Raise the limit of connections \
                 of the server or the pool"
            }
            // The search rounds the double to five digits.
            (false, _) if !is_at_limit && self.order.is_far_above_first(highest * 2.0001) => {
                ". Write a larger `first`"
            }
            (false, true) => ". Write a larger `highest`",
            (false, false) => ". Write a larger `highest`, and `max-connections` in the workload",
        };
        format!("Irregular: every value up to {} passes{rest}", self.value(highest))
    }

    /// Returns the remedy if every value fails. A condition that allows failed requests does not
    /// help if the other conditions made some trials fail.
    fn remedy_of_always_failing(&self, record: &str) -> String {
        let of_failures = || remedy_of_failures(&self.jobs_failing_at_boundary());
        let remedy = self.always_has_errors().then(of_failures).flatten();
        remedy.unwrap_or_else(|| self.remedy_of_low_load(record))
    }

    /// Returns the remedy if the lowest load does not meet the binding condition.
    fn remedy_of_low_load(&self, record: &str) -> String {
        let binding = self.found.as_ref().and_then(|found| found.binding);
        let condition = binding.and_then(|position| self.order.conditions.get(position));
        let least = condition.filter(|condition| condition.slo.side == Side::Above);
        let look = match (least, self.run_with_few_slow_requests(), self.is_rate()) {
            (Some(condition), ..) => format!("Look at [{}] without this load", condition.job),
            (None, Some(run), _) => {
                format!("Look for a stall of the server with {}", report_of_run(record, run))
            }
            (None, None, true) => {
                "Look at a single request with `assay run` at a low rate".to_owned()
            }
            (None, None, false) => {
                "Look at a single request with `assay run` and one client".to_owned()
            }
        };
        format!("{look}, or relax the condition")
    }

    /// Returns, of the runs at the smallest value that fails, the one with the largest share of
    /// requests beyond the bound. `None` if this share is half or more, because then most requests
    /// are slow.
    fn run_with_few_slow_requests(&self) -> Option<u32> {
        let binding = self.found.as_ref()?.binding?;
        let failing = self.failing_runs();
        let of_run = |it: &&TrialView| failing.contains(&it.run);
        let slow = self.trials.iter().filter(of_run).filter_map(|it| {
            let Measure::Count(counted) = it.trial.measures.get(binding)? else { return None };
            Some((it.run, counted.share()))
        });
        let worst = slow.max_by(|one, other| one.1.total_cmp(&other.1));
        worst.filter(|(_, share)| *share < 0.5).map(|(run, _)| run)
    }

    /// Returns true if there are valid trials, and failed requests made all of them fail.
    pub(super) fn always_has_errors(&self) -> bool {
        let mut valid = self.trials.iter().filter(|it| it.trial.invalid.is_empty()).peekable();
        valid.peek().is_some() && valid.all(TrialView::has_errors)
    }

    /// Returns the names of the jobs whose failed requests made trials fail. Only trials for which
    /// `is_one` returns true count.
    fn failed_jobs(&self, is_one: impl Fn(&Trial) -> bool) -> BTreeSet<&str> {
        let trials = self.trials.iter().filter(|it| it.has_errors() && is_one(&it.trial));
        trials.flat_map(|it| it.trial.failed_jobs.iter().map(String::as_str)).collect()
    }

    /// Returns the names of the jobs whose failed requests made the smallest value above the
    /// sustained one fail.
    fn jobs_failing_at_boundary(&self) -> BTreeSet<&str> {
        let fails = self.found.as_ref().and_then(|found| found.fails);
        self.failed_jobs(|trial| Some(trial.value) == fails)
    }

    /// Returns true if clients without a connection made the smallest value above the sustained one
    /// fail.
    fn lacks_connections(&self) -> bool {
        self.trials.iter().any(|it| {
            let lacks = matches!(it.outcome, TrialOutcome::Fail(FailReason::Connections { .. }));
            lacks && self.is_at_failing_value(it)
        })
    }

    /// Returns in words that the boundary was not located, with the range in which it lies.
    fn not_located(&self, low: f64, high: f64) -> String {
        let range = match low > 0.0 {
            true => format!("between {} and {}", self.value(low), self.value(high)),
            false => format!("below {}", self.value(high)),
        };
        let remedy = self.remedy_unless_explained("Write a larger `budget`, or a longer `trial`");
        format!("Irregular: the boundary is not located: it lies {range}{remedy}")
    }

    /// Returns `remedy` as a further sentence. Returns an empty text if the load is not the reason
    /// for slow requests, or if an overload sustains itself: more or longer trials do not help
    /// then, and another sentence names the remedy.
    fn remedy_unless_explained(&self, remedy: &str) -> String {
        let is_explanation = |why: &Irregular| {
            matches!(why, Irregular::Independent { .. } | Irregular::Metastable(_))
        };
        let mut irregular = self.found.iter().flat_map(|found| &found.irregular);
        match irregular.any(is_explanation) {
            true => String::new(),
            false => format!(". {remedy}"),
        }
    }

    /// Returns a sentence: the fraction `share` of the requests exceeds the bound of the condition
    /// at `position` even at low loads, up to `value`. The sentence ends with a command that shows
    /// the run with most of these requests.
    fn load_independent_text(
        &self,
        (position, value, share): (usize, f64, f64),
        record: &str,
    ) -> String {
        let condition = self.order.conditions.get(position);
        let are = condition.map_or_else(String::new, counted_requests);
        let allowed = condition.and_then(Condition::allowed_share).unwrap_or(0.0);
        let exceeded = |it: &&TrialView| match it.trial.measures.get(position) {
            Some(Measure::Count(counted)) => counted.exceeded,
            Some(Measure::Value { .. } | Measure::Missing) | None => 0,
        };
        let low = self.trials.iter().filter(|it| it.trial.value <= value);
        let look = low.max_by_key(exceeded).map_or_else(String::new, |it| {
            format!(". Look for a stall of the server with {}", report_of_run(record, it.run))
        });
        format!(
            "Irregular: {} of the requests {are} at {} or less ({} allowed): the load is not the \
             reason, and more trials do not help{look}",
            number::percent(share),
            self.value(value),
            number::percent(allowed)
        )
    }

    fn condition(&self, position: usize) -> String {
        self.order.conditions.get(position).map_or_else(|| NONE.to_owned(), ToString::to_string)
    }

    /// Returns the line that describes the search.
    pub(super) fn goal(&self) -> String {
        let slos: Vec<String> = self.order.conditions.iter().map(ToString::to_string).collect();
        let CapacityOrder { vary, trial, budget, .. } = &self.order;
        let hold = self.order.hold.map(|hold| format!(", hold {hold}")).unwrap_or_default();
        let slos = slos.join(", ");
        format!("highest {vary} with {slos}; trials of {trial} or longer, budget {budget}{hold}")
    }

    /// Returns the lines with the numbers of the result: a name, and its value.
    pub(super) fn numbers(&self) -> Vec<(&'static str, String)> {
        let Some(found) = &self.found else { return Vec::new() };
        let none = || NONE.to_owned();
        let value = |it: Option<f64>| it.map_or_else(none, |it| self.value(it));
        let binding = match found.binding {
            Some(binding) => self.condition(binding),
            None if !self.jobs_failing_at_boundary().is_empty() => {
                "none: requests failed".to_owned()
            }
            None if self.lacks_connections() => "none: clients had no connection".to_owned(),
            None if found.fails.is_some() => "none: the load itself was not carried".to_owned(),
            None => none(),
        };
        let limiter = self.limiter().map_or_else(none, |it| it.name().to_owned());
        let sustained = value(found.sustained);
        let is_limited = found.sustained.is_some() && self.limit_of_connections().is_some();
        let mut numbers = vec![
            ("sustained", if is_limited { format!("at least {sustained}") } else { sustained }),
            ("confirmed", self.confirmation().unwrap_or_else(none)),
        ];
        if let Some(held) = self.hold_result(found) {
            numbers.push(("held", held));
        }
        numbers.extend([
            ("fails", value(found.fails)),
            ("estimate", self.estimate()),
            ("binding", binding),
            ("boundary", found.boundary.name().to_owned()),
            ("limiter", limiter),
        ]);
        numbers
    }

    /// Returns the result of the hold at a confirmed value in words, or that every trial of the
    /// hold was invalid; `None` if no value was confirmed or no hold was requested.
    fn hold_result(&self, found: &Capacity) -> Option<String> {
        found.sustained?;
        let hold = self.order.hold?;
        match self.final_trial() {
            Some(held) => Some(format!("for {hold}: {}", held.measures_text(&self.order))),
            None => Some(format!("not for {hold}: {}", self.invalid_holds_in_words())),
        }
    }

    /// Returns the numbers that explain why no larger value holds: the boundary if it is not
    /// smooth, and the binding condition. A search's only condition is left out, because the answer
    /// already names it. The limiter is left out, because its evidence says more.
    pub(super) fn reasons(&self) -> impl Iterator<Item = (&'static str, String)> {
        let binding = self.found.as_ref().and_then(|found| found.binding);
        let is_known = self.order.conditions.len() == 1 && binding.is_some();
        let is_usual = self.found.as_ref().is_none_or(|it| it.boundary == Boundary::Smooth);
        let is_reason =
            move |name: &str| name == "boundary" && !is_usual || name == "binding" && !is_known;
        self.numbers().into_iter().filter(move |(name, _)| is_reason(name))
    }

    /// Returns the interval of the estimate, if it describes the boundary.
    pub(super) fn interval(&self) -> Option<Interval> {
        self.found.as_ref()?.interval.filter(|_| self.highest_passing_beyond().is_none())
    }

    /// Returns the estimate with its interval.
    pub(super) fn estimate(&self) -> String {
        let found = self.found.as_ref();
        if let (Some(passes), Some(estimate)) =
            (self.highest_passing_beyond(), found.and_then(|it| it.estimate))
        {
            return format!(
                "about {}, without an interval: irregular up to {}",
                self.value(estimate),
                self.value(passes)
            );
        }
        match (found.and_then(|it| it.estimate), self.interval()) {
            (Some(estimate), Some(interval)) => format!(
                "{} (95 % interval of the search {})",
                self.value(estimate),
                number::range(&self.value(interval.low), &self.value(interval.high))
            ),
            (Some(estimate), None) => self.value(estimate),
            (None, _) => NONE.to_owned(),
        }
    }
}

impl TrialView {
    /// Returns true if failed requests made the trial fail.
    fn has_errors(&self) -> bool {
        matches!(self.outcome, TrialOutcome::Fail(FailReason::Errors { .. }))
    }

    /// Returns the reason for the outcome in words.
    pub(super) fn reason(&self, order: &CapacityOrder) -> String {
        match &self.outcome {
            TrialOutcome::Pass => self.measures_text(order),
            TrialOutcome::Fail(FailReason::Condition { condition, .. }) => {
                self.measure_text(order, *condition)
            }
            TrialOutcome::Undecided { .. } => {
                format!("{}, within chance", self.short_reason(order))
            }
            TrialOutcome::Fail(FailReason::Missing { condition }) => {
                let slo = order.conditions.get(*condition).map(ToString::to_string);
                format!("nothing was measured for {}", slo.unwrap_or_default())
            }
            TrialOutcome::Fail(FailReason::Backlog) => "the backlog grew".to_owned(),
            TrialOutcome::Fail(FailReason::Achieved { share }) => {
                format!("only {} of the requests were answered", number::percent(*share))
            }
            TrialOutcome::Fail(FailReason::Errors { errors }) => {
                format!("{} failed", number::count(*errors, "request"))
            }
            TrialOutcome::Fail(FailReason::QueueFull { rejected }) => {
                format!("the queue was full for {}", number::count(*rejected, "request"))
            }
            TrialOutcome::Fail(FailReason::Connections { connections }) => {
                format!("only {} had a connection", number::count(*connections, "client"))
            }
            TrialOutcome::Invalid(InvalidReason::Instrument { checks }) => checks.join(", "),
        }
    }

    /// Returns the measures of all conditions.
    fn measures_text(&self, order: &CapacityOrder) -> String {
        let all = order.conditions.iter().zip(&self.trial.measures);
        let texts = all.map(|(one, measure)| measure_in_words(one, *measure));
        texts.collect::<Vec<String>>().join("; ")
    }

    /// Returns the reason for the outcome, without the words that repeat the outcome.
    pub(super) fn short_reason(&self, order: &CapacityOrder) -> String {
        match &self.outcome {
            TrialOutcome::Undecided { condition, .. } => self.measure_text(order, *condition),
            TrialOutcome::Pass | TrialOutcome::Fail(_) | TrialOutcome::Invalid(_) => {
                self.reason(order)
            }
        }
    }

    fn measure_text(&self, order: &CapacityOrder, position: usize) -> String {
        let condition = order.conditions.get(position);
        let measure = self.trial.measures.get(position);
        let in_words = |(one, measure): (_, &Measure)| measure_in_words(one, *measure);
        condition.zip(measure).map_or_else(String::new, in_words)
    }
}

/// Returns the advice to write a condition that allows failed requests of these jobs; `None` if
/// there are no jobs.
fn remedy_of_failures(jobs: &BTreeSet<&str>) -> Option<String> {
    let conditions: Vec<String> = jobs.iter().map(|job| format!("failed({job}) < 0.1%")).collect();
    let conditions = conditions.join(", ");
    let remedy = || format!("Requests failed: if that may be, write `slo = {conditions}`");
    (!jobs.is_empty()).then(remedy)
}

/// Returns a phrase for the requests that a condition counts: `at or beyond 30ms`, or `failed`.
pub(super) fn counted_ones(condition: &Condition) -> String {
    match condition.slo.metric {
        Metric::Failed => "failed".to_owned(),
        Metric::Response(_) | Metric::Service(_) | Metric::Throughput => {
            format!("at or beyond {}", bound_text(condition))
        }
    }
}

/// Returns a phrase that continues "of the requests" for the requests that a condition counts:
/// `take 30ms or longer`, or `fail`.
fn counted_requests(condition: &Condition) -> String {
    match condition.slo.metric {
        Metric::Failed => "fail".to_owned(),
        Metric::Response(_) | Metric::Service(_) | Metric::Throughput => {
            format!("take {} or longer", bound_text(condition))
        }
    }
}

/// Returns the bound of a condition as it was written.
fn bound_text(condition: &Condition) -> &str {
    condition.slo.text.rsplit(' ').next().unwrap_or_default()
}

/// Returns the measure of a condition: `0.42 % at or beyond 30ms (1 % allowed)`.
fn measure_in_words(condition: &Condition, measure: Measure) -> String {
    match (measure, condition.allowed_share()) {
        (Measure::Count(counted), Some(allowed)) => {
            let share = number::percent(counted.share());
            format!("{share} {} ({} allowed)", counted_ones(condition), number::percent(allowed))
        }
        (Measure::Count(counted), None) => number::percent(counted.share()),
        (Measure::Value { value, .. }, _) => {
            let value = match condition.slo.metric {
                Metric::Response(_) | Metric::Service(_) => number::time(value),
                Metric::Throughput => number::rate(value),
                Metric::Failed => number::percent(value),
            };
            format!("{value} for {condition}")
        }
        (Measure::Missing, _) => format!("nothing was measured for {condition}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use analyze::capacity::{ExceedanceCount, Metastable, judge_trial};
    use base::{Nanos, Seed};
    use workload::{Slo, Statistic};

    use super::super::fixtures::{experiment, text_of};
    use super::super::view::ExperimentView;
    use super::super::{experiment_html, experiment_json, experiment_markdown};
    use super::*;

    const RECORD: &str = "my search.assay";

    /// Returns the settings of a search for the highest rate with a p99 below 20 ms.
    pub(in crate::experiment) fn order() -> CapacityOrder {
        let slo = Slo {
            text: "p99(read) < 20ms".to_owned(),
            metric: Metric::Response(Statistic::Quantile(0.99)),
            side: Side::Below,
            bound: 20e6,
        };
        CapacityOrder {
            conditions: vec![Condition { job: "read".to_owned(), slo }],
            vary: VariedLoad::Rate { job: "read".to_owned() },
            first: 100.0,
            highest: None,
            ceiling_per_s: None,
            trial: Nanos::from_secs(10),
            warmup: Nanos::ZERO,
            drain: Nanos::ZERO,
            budget: Nanos::from_secs(900),
            hold: None,
            confirmations: 6,
            seed: Seed(1),
        }
    }

    /// Returns a trial in which `exceeded` of 10,000 requests exceed the bound.
    pub(in crate::experiment) fn trial(value: f64, phase: Phase, exceeded: u64) -> TrialView {
        let counted = ExceedanceCount { exceeded, total: 10_000, dispersion: Some(1.0) };
        let trial = Trial {
            value,
            phase,
            window: Nanos::from_secs(10),
            took: Nanos::from_secs(10),
            measures: vec![Measure::Count(counted)],
            offered_per_s: Some(value),
            achieved_per_s: value,
            exceeds_capacity: false,
            backlog_t: None,
            errors: 0,
            failed_jobs: Vec::new(),
            rejected: 0,
            limited_failures: 0,
            invalid: Vec::new(),
            load_limit: None,
            service: None,
            relaxation: None,
        };
        TrialView {
            run: 1,
            outcome: judge_trial(&order(), &trial),
            trial,
            verdict: RunVerdict::new([]),
            limiter: Component::Unknown,
        }
    }

    /// Returns a search that confirmed 740/s, with the runs 1 to 5.
    pub(in crate::experiment) fn search() -> CapacityView {
        let mut overloaded = trial(1_600.0, Phase::Bracket, 0);
        overloaded.trial.measures = vec![Measure::Missing];
        overloaded.outcome = TrialOutcome::Fail(FailReason::Backlog);
        let mut trials = vec![
            trial(100.0, Phase::Bracket, 0),
            overloaded,
            trial(820.0, Phase::Round(1), 400),
            trial(770.0, Phase::Round(1), 105),
            trial(740.0, Phase::Confirm(1), 20),
        ];
        (1..).zip(&mut trials).for_each(|(run, trial)| trial.run = run);
        let found = Capacity {
            slo: "p99(read) < 20ms".to_owned(),
            sustained: Some(740.0),
            fails: Some(820.0),
            estimate: Some(770.0),
            interval: Some(Interval { low: 755.0, high: 785.0 }),
            slope: Some(15.0),
            confirmations: 6,
            binding: Some(0),
            boundary: Boundary::Smooth,
            irregular: Vec::new(),
            trials: Vec::new(),
            isotonic: None,
            took: Nanos::from_secs(50),
        };
        let (found, server_starts, stored_method) = (Some(found), None, None);
        CapacityView { order: order(), trials, found, server_starts, stored_method }
    }

    /// The overload of a real search: `select 1` on PostgreSQL bound to one processor.
    pub(in crate::experiment) const METASTABLE: Metastable = Metastable {
        fails: 58_861.0,
        answered_per_s: 42_677.5,
        passes: 64_322.0,
        connections: Some(97),
        advised: Some(11),
    };

    fn with_search(search: CapacityView) -> ExperimentView {
        ExperimentView { capacity: Some(search), ..experiment() }
    }

    /// Returns all kinds of irregularities. If a kind is missing in the `match`, this function does
    /// not compile. The kind must also be added to the list, which the compiler does not check.
    fn all() -> Vec<Irregular> {
        let all = vec![
            Irregular::GeneratorLimited { value: 700.0 },
            Irregular::NeverFails { highest: 700.0 },
            Irregular::AlwaysFails { lowest: 700.0 },
            Irregular::NotMeasured { condition: 0 },
            Irregular::LossInversion { fails: 700.0, passes: 800.0 },
            Irregular::Metastable(METASTABLE),
            Irregular::BoundaryMoved { fails: 700.0, low: 800.0 },
            Irregular::NotLocated { low: 700.0, high: 900.0 },
            Irregular::BudgetSpent { phase: Phase::Bracket },
            Irregular::LimitedBy(LoadLimit::OwnConnections(16)),
            Irregular::LimitedBy(LoadLimit::AcceptedConnections(16)),
            Irregular::FitsDisagree { regression: 700.0, isotonic: 800.0 },
            Irregular::Drifts { change: -0.1 },
            Irregular::Drifts { change: 0.1 },
            Irregular::NotConfirmed { lowest: 700.0 },
            Irregular::HoldFailed { value: 700.0 },
            Irregular::NotHeld { value: 700.0 },
            Irregular::Unmet { condition: 0 },
            Irregular::Curved,
            Irregular::Independent { condition: 0, value: 300.0, share: 0.009 },
        ];
        for why in &all {
            match why {
                Irregular::GeneratorLimited { .. }
                | Irregular::NeverFails { .. }
                | Irregular::AlwaysFails { .. }
                | Irregular::NotMeasured { .. }
                | Irregular::LossInversion { .. }
                | Irregular::Metastable(_)
                | Irregular::BoundaryMoved { .. }
                | Irregular::NotLocated { .. }
                | Irregular::BudgetSpent { .. }
                | Irregular::LimitedBy(
                    LoadLimit::OwnConnections(_) | LoadLimit::AcceptedConnections(_),
                )
                | Irregular::FitsDisagree { .. }
                | Irregular::Drifts { .. }
                | Irregular::NotConfirmed { .. }
                | Irregular::HoldFailed { .. }
                | Irregular::NotHeld { .. }
                | Irregular::Unmet { .. }
                | Irregular::Curved
                | Irregular::Independent { .. } => {}
            }
        }
        all
    }

    #[test]
    fn search_on_several_server_starts_names_their_number() {
        let on = |server_starts| CapacityView { server_starts, ..search() };
        let words = "; the trials are of 2 server starts";
        assert!(on(Some(2)).outcomes().ends_with(words), "{}", on(Some(2)).outcomes());
        for one in [None, Some(1)] {
            assert!(!on(one).outcomes().contains("starts"), "{}", on(one).outcomes());
        }
    }

    #[test]
    fn every_irregularity_has_its_words_and_a_row_of_the_guide() {
        let guide = include_str!("../../../../docs/capacity.md");
        let view = CapacityView { trials: Vec::new(), found: None, ..search() };
        let mut seen: Vec<String> = Vec::new();
        for why in all() {
            let words = view.irregularity_text(&why, RECORD);
            assert!(words.starts_with("Irregular: "), "{words}");
            assert!(!words.contains(NONE), "{words}");
            assert!(guide.contains(&format!("\n| {}", why.name())), "{}", why.name());
            assert!(!seen.contains(&words), "{words}");
            seen.push(words);
        }
    }

    #[test]
    fn requests_of_all_valid_trials_together_confirm_a_value() {
        let mut view = search();
        // 1.5 % of the requests of a short trial are beyond the bound.
        let mut short = trial(740.0, Phase::Confirm(1), 30);
        let counted = ExceedanceCount { exceeded: 30, total: 2_000, dispersion: Some(1.0) };
        short.trial.measures = vec![Measure::Count(counted)];
        let mut invalid = trial(740.0, Phase::Confirm(1), 900);
        invalid.trial.invalid = vec!["stall".to_owned()];
        let higher = trial(760.0, Phase::Confirm(1), 900);
        let held = trial(740.0, Phase::Hold, 900);
        view.trials.extend([short, invalid, higher, held]);
        let words = "2 trials together: 0.417 % of 12,000 requests at or beyond 20ms, 1 % allowed: \
                     pass";
        assert_eq!(view.confirmation().as_deref(), Some(words));
        let text = text_of(&with_search(view));
        assert!(text.contains(&format!("\nconfirmed  {words}\n")), "{text}");
    }

    #[test]
    fn missed_condition_is_left_out_of_the_answer() {
        let mut view = search();
        let (metric, side) = (Metric::Throughput, Side::Above);
        let slo = Slo { text: "throughput(read) > 900".to_owned(), metric, side, bound: 900.0 };
        view.order.conditions.push(Condition { job: "read".to_owned(), slo });
        let of = |view: &CapacityView| view.answers(RECORD).remove(0);
        let both = "The server sustains 740 requests per second with p99(read) < 20ms, \
                    throughput(read) > 900 (confirmed 6 times); it fails at 820/s";
        assert_eq!(of(&view), both);
        view.found.as_mut().unwrap().irregular = vec![Irregular::Unmet { condition: 1 }];
        assert_eq!(of(&view), both.replace(", throughput(read) > 900", ""));
        view.order.conditions.remove(0);
        view.found.as_mut().unwrap().irregular = vec![Irregular::Unmet { condition: 0 }];
        let none = "The server sustains 740 requests per second (confirmed 6 times); it fails at \
                    820/s";
        assert_eq!(of(&view), none);
    }

    #[test]
    fn value_unconfirmed_because_of_failed_requests_has_a_remedy() {
        let mut view = search();
        let why = Irregular::NotConfirmed { lowest: 740.0 };
        let text = view.irregularity_text(&why, RECORD);
        assert!(text.contains("larger `budget`"), "{text}");
        let mut failed = trial(740.0, Phase::Confirm(1), 0);
        failed.outcome = TrialOutcome::Fail(FailReason::Errors { errors: 2 });
        let mut add = |jobs: &[&str]| {
            failed.trial.failed_jobs = jobs.iter().map(|job| (*job).to_owned()).collect();
            view.trials.push(failed.clone());
            view.irregularity_text(&why, RECORD)
        };
        // The varied job is [read].
        let words = "Requests failed: if that may be, write `slo = failed(batch) < 0.1%";
        let text = add(&["batch"]);
        assert!(text.ends_with(&format!("{words}`")), "{text}");
        let text = add(&["read", "batch"]);
        assert!(text.ends_with(&format!("{words}, failed(read) < 0.1%`")), "{text}");
    }

    #[test]
    fn stalls_at_every_load_suggest_no_larger_budget() {
        let mut view = search();
        view.trials[0] = TrialView { run: 7, ..trial(100.0, Phase::Bracket, 90) };
        let found = view.found.as_mut().unwrap();
        (found.sustained, found.estimate, found.interval) = (None, None, None);
        found.irregular = vec![
            Irregular::NotConfirmed { lowest: 700.0 },
            Irregular::Independent { condition: 0, value: 100.0, share: 0.009 },
        ];
        let answers = [
            "No rate was confirmed to keep p99(read) < 20ms",
            "Irregular: no value down to 700/s was confirmed with fresh seeds",
            "Irregular: 0.9 % of the requests take 20ms or longer at 100/s or less (1 % allowed): \
             the load is not the reason, and more trials do not help. Look for a stall of the \
             server with `assay report 'my search.assay' --run 7`",
        ];
        assert_eq!(view.answers(RECORD), answers);
    }

    /// A larger load would wait for the same few connections, for example for the four sessions
    /// that a pool shares among 1,000 clients.
    #[test]
    fn search_limited_by_connections_suggests_no_larger_load() {
        let mut view = search();
        let why = Irregular::NeverFails { highest: 740.0 };
        let text = view.irregularity_text(&why, RECORD);
        assert!(text.ends_with("larger `highest`"), "{text}");
        view.order.first = 740.0 / 131_072.0;
        let text = view.irregularity_text(&why, RECORD);
        assert!(text.ends_with("larger `first`"), "{text}");
        // The double would be more than 131,072 times `first`, but the search may have ended at
        // `highest`.
        view.order.first = 740.0 / 100_000.0;
        for (highest, key) in [(740.0, "highest"), (740.01, "first"), (1e6, "first")] {
            view.order.highest = Some(highest);
            let text = view.irregularity_text(&why, RECORD);
            assert!(text.ends_with(&format!("larger `{key}`")), "{highest}: {text}");
        }
        view.trials.iter_mut().for_each(|it| it.limiter = Component::Connections);
        let words = "Irregular: every value up to 740/s passes, but a part of this load waits for \
                     connections. Raise the limit of connections of the server or the pool";
        assert_eq!(view.irregularity_text(&why, RECORD), words);
    }

    /// Returns a search whose only trial fails at 3/s: two requests of the job `batch` failed.
    fn always_failing() -> CapacityView {
        let mut view = search();
        let mut failed = trial(3.0, Phase::Bracket, 0);
        failed.outcome = TrialOutcome::Fail(FailReason::Errors { errors: 2 });
        failed.trial.failed_jobs = vec!["batch".to_owned()];
        view.trials = vec![failed];
        let found = view.found.as_mut().unwrap();
        (found.sustained, found.estimate, found.interval) = (None, None, None);
        (found.fails, found.binding) = (Some(3.0), None);
        found.irregular = vec![Irregular::AlwaysFails { lowest: 3.0 }];
        view
    }

    #[test]
    fn search_in_which_requests_always_fail_blames_their_job() {
        let mut view = always_failing();
        // An invalid trial says nothing about the requests.
        let mut invalid = trial(6.0, Phase::Bracket, 900);
        invalid.trial.invalid = vec!["stall".to_owned()];
        view.trials.push(invalid);
        let answers = [
            "Requests failed at every rate that was tried",
            "Irregular: every value down to 3/s fails. Requests failed: if that may be, write \
             `slo = failed(batch) < 0.1%`",
        ];
        assert_eq!(view.answers(RECORD), answers);
        let binding = view.numbers().into_iter().find(|(name, _)| *name == "binding");
        assert_eq!(binding, Some(("binding", "none: requests failed".to_owned())));
    }

    #[test]
    fn search_with_another_failure_does_not_blame_failed_requests() {
        let mut view = always_failing();
        let slow = trial(6.0, Phase::Bracket, 900);
        assert!(matches!(slow.outcome, TrialOutcome::Fail(FailReason::Condition { .. })));
        view.trials.insert(0, slow);
        let answers = [
            "No rate that was tried keeps p99(read) < 20ms",
            "Irregular: every value down to 3/s fails. Look at a single request with `assay run` \
             at a low rate, or relax the condition",
        ];
        assert_eq!(view.answers(RECORD), answers);
        // At 3/s, 4 % of the requests are slow.
        let few = TrialView { run: 9, ..trial(3.0, Phase::Bracket, 400) };
        view.trials = vec![few];
        view.found.as_mut().unwrap().binding = Some(0);
        let remedy = "Irregular: every value down to 3/s fails. Look for a stall of the server \
                      with `assay report 'my search.assay' --run 9`, or relax the condition";
        assert_eq!(view.answers(RECORD)[1], remedy);
        let least = &mut view.order.conditions[0];
        (least.job, least.slo.side) = ("batch".to_owned(), Side::Above);
        let remedy = "Look at [batch] without this load, or relax the condition";
        assert!(view.answers(RECORD)[1].ends_with(remedy), "{:?}", view.answers(RECORD));
    }

    #[test]
    fn mean_of_all_trials_together_confirms_a_value() {
        let slo = Slo {
            text: "mean(read) < 5ms".to_owned(),
            metric: Metric::Response(Statistic::Mean),
            side: Side::Below,
            bound: 5e6,
        };
        let mut view = search();
        view.order.conditions = vec![Condition { job: "read".to_owned(), slo }];
        let timed = |mean_ns: f64| {
            let mut timed = trial(740.0, Phase::Confirm(1), 0);
            timed.trial.measures = vec![Measure::Value { value: mean_ns, standard_error: None }];
            timed
        };
        view.trials = vec![timed(4e6), timed(4.4e6)];
        let words = "2 trials together: 4.20 ms for mean(read) < 5ms: pass";
        assert_eq!(view.confirmation().as_deref(), Some(words));
    }

    #[test]
    fn value_that_fails_by_its_trials_together_is_among_the_nearest() {
        let mut view = search();
        view.trials.retain(|it| it.trial.value != 820.0);
        let values = (0..12).map(|step| 741.0 + f64::from(step));
        view.trials.extend(values.map(|value| trial(value, Phase::Round(1), 50)));
        let undecided = trial(820.0, Phase::Round(1), 120);
        assert_eq!(undecided.outcome.name(), "undecided");
        view.trials.extend([undecided.clone(), undecided]);
        let values: Vec<f64> = view.nearest_trials(8).iter().map(|it| it.trial.value).collect();
        assert!(values.len() == 8 && values.contains(&820.0), "{values:?}");
    }

    #[test]
    fn value_that_fails_is_among_the_nearest_without_another_answer() {
        let mut view = search();
        let later = (0..12).map(|step| trial(200.0 + f64::from(step), Phase::Bracket, 50));
        view.trials.extend(later);
        let found = view.found.as_mut().unwrap();
        (found.sustained, found.estimate, found.interval) = (None, None, None);
        found.irregular = vec![Irregular::NotLocated { low: 0.0, high: 820.0 }];
        let values: Vec<f64> = view.nearest_trials(8).iter().map(|it| it.trial.value).collect();
        assert!(values.len() == 8 && values.contains(&820.0), "{values:?}");
        let words = "Irregular: the boundary is not located: it lies below 820/s. Write a larger \
                     `budget`, or a longer `trial`";
        assert_eq!(view.answers(RECORD)[1], words);
    }

    #[test]
    fn value_that_held_says_for_how_long() {
        let mut view = search();
        view.order.hold = Some(Nanos::from_secs(3_600));
        view.trials.push(trial(740.0, Phase::Hold, 72));
        let words = "with p99(read) < 20ms (confirmed 6 times, held for 1h); it fails at";
        assert!(view.answers(RECORD)[0].contains(words), "{:?}", view.answers(RECORD));
        let text = text_of(&with_search(view));
        let held = "\nheld       for 1h: 0.72 % at or beyond 20ms (1 % allowed)\n";
        assert!(text.contains(held), "{text}");
    }

    #[test]
    fn value_with_invalid_holds_stays_confirmed_with_the_reason() {
        let mut view = search();
        view.order.hold = Some(Nanos::from_secs(3_600));
        for (run, check) in [(6, "send-lag"), (7, "stall"), (8, "send-lag")] {
            let mut hold = TrialView { run, ..trial(740.0, Phase::Hold, 20) };
            hold.trial.invalid = vec![check.to_owned()];
            view.trials.push(hold);
        }
        view.found.as_mut().unwrap().irregular = vec![Irregular::NotHeld { value: 740.0 }];
        let answers = [
            "The server sustains 740 requests per second with p99(read) < 20ms (confirmed 6 times, \
             not held for 1h); it fails at 820/s",
            "Irregular: 740/s was confirmed by shorter trials, but not held for 1h: 3 final trials \
             were INVALID (send-lag, stall) by checks of the load generator. Look at the last one \
             with `assay report 'my search.assay' --run 8`, and ask again on a quiet machine",
        ];
        assert_eq!(view.answers(RECORD), answers);
        assert!(!view.misses_conditions() && view.verdict() == Status::Suspect);
        let text = text_of(&with_search(view)).replace("\n           ", " ");
        let held = "\nheld       not for 1h: 3 final trials were INVALID (send-lag, stall)\n";
        assert!(text.contains(held), "{text}");
    }

    #[test]
    fn failures_allowed_by_a_condition_raise_no_objection() {
        let mut view = search();
        let errors = [(CheckKind::Errors, Status::Suspect), (CheckKind::SendLag, Status::Suspect)];
        view.trials.last_mut().unwrap().verdict = RunVerdict::new(errors);
        let objections = |view: &CapacityView| view.objections().collect::<Vec<_>>();
        assert_eq!(objections(&view), [CheckKind::Errors, CheckKind::SendLag]);
        view.trials.last_mut().unwrap().trial.limited_failures = 5;
        assert_eq!(objections(&view), [CheckKind::SendLag]);
        assert_eq!(view.verdict(), Status::Suspect);
        view.trials.last_mut().unwrap().verdict = RunVerdict::new([errors[0]]);
        assert_eq!(view.verdict(), Status::Pass);
    }

    #[test]
    fn value_that_did_not_hold_has_its_reason_and_run() {
        let mut view = search();
        view.order.hold = Some(Nanos::from_secs(3_600));
        view.trials.push(TrialView { run: 6, ..trial(740.0, Phase::Hold, 210) });
        let found = view.found.as_mut().unwrap();
        found.sustained = None;
        found.irregular = vec![Irregular::HoldFailed { value: 740.0 }];
        let answers = [
            "740/s did not keep p99(read) < 20ms for 1h, although shorter trials confirmed it",
            "Irregular: 740/s did not hold for 1h: 2.1 % at or beyond 20ms (1 % allowed). Look at \
             that run with `assay report 'my search.assay' --run 6`",
        ];
        assert_eq!(view.answers(RECORD), answers);
        assert!(view.misses_conditions() && view.verdict() == Status::Suspect);
        let mut view = with_search(view);
        view.record = "/home/ann/r.assay".to_owned();
        let text = text_of(&view).replace("\n  ", " ");
        assert!(text.contains("`assay report /home/ann/r.assay --run 6`"), "{text}");
        for page in [experiment_html(&view), experiment_markdown(&view)] {
            let page = page.replace('\u{a0}', " ");
            assert!(page.contains("assay report r.assay --run 6"), "{page}");
            assert!(!page.contains("/home/ann"), "{page}");
        }
    }

    #[test]
    fn loss_inversion_is_in_the_answer_and_replaces_the_interval() {
        let mut view = search();
        let found = view.found.as_mut().unwrap();
        found.irregular = vec![Irregular::LossInversion { fails: 700.0, passes: 800.0 }];
        found.boundary = Boundary::NonMonotone;
        let answers = [
            "The server sustains 740 requests per second with p99(read) < 20ms (confirmed 6 \
             times); the boundary is irregular up to 800/s",
            "Irregular: 700/s fails although 800/s passes. Something disturbs the server at times: \
             use a longer `trial`, and look at the trials",
        ];
        assert_eq!(view.answers(RECORD), answers);
        let view = with_search(view);
        let text = text_of(&view);
        assert!(text.starts_with(&format!("{}\n{}\n", answers[0], answers[1])), "{text}");
        for line in [
            "\nestimate   about 770/s, without an interval: irregular up to 800/s\n",
            "\nboundary   non-monotone\n",
            "\nSUSPECT: the search is irregular\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let [page, markdown] = [experiment_html(&view), experiment_markdown(&view)];
        assert!(!page.contains("95 % interval of the estimate"), "{page}");
        let capacity = &experiment_json(&view)["capacity"];
        assert!(capacity["interval"].is_null() && capacity["interval_per_s"].is_null());
        assert_eq!(capacity["estimate"], 770.0);
        for words in ["irregular up to 800/s", "700/s fails although 800/s passes"] {
            assert!(page.contains(words) && markdown.contains(words), "{words}: {page} {markdown}");
        }
    }

    #[test]
    fn metastable_failure_has_its_numbers_and_is_the_only_one_with_a_remedy() {
        let mut view = search();
        let found = view.found.as_mut().unwrap();
        (found.sustained, found.estimate, found.interval) = (None, Some(58_401.0), None);
        found.irregular = vec![
            Irregular::Metastable(METASTABLE),
            Irregular::BudgetSpent { phase: Phase::Shrink },
            Irregular::NotConfirmed { lowest: 44_450.0 },
        ];
        let words = "Irregular: an overload seems to sustain itself (metastable failure). At \
                     58,861/s the server answered only 42,678/s, with 97 connections busy, \
                     although 64,322/s passed in another trial. A backlog made it slower, or \
                     something else did. Write `max-connections = 11`, or `concurrency = 11` if \
                     the job has that key";
        let answers = [
            "No rate was confirmed to keep p99(read) < 20ms; the estimate is 58,401/s",
            words,
            "Irregular: the budget ended before the boundary was located",
            "Irregular: no value down to 44,450/s was confirmed with fresh seeds",
        ];
        assert_eq!(view.answers(RECORD), answers);
        let view = with_search(view);
        let text = text_of(&view);
        assert!(text.contains(&format!("\n{words}\n")), "{text}");
        let [page, markdown] = [experiment_html(&view), experiment_markdown(&view)];
        let page = page.replace('\u{a0}', " ");
        for words in ["(metastable failure)", "max-connections = 11", "irregular up to 64,322/s"] {
            assert!(page.contains(words) && markdown.contains(words), "{words}: {page} {markdown}");
        }
    }

    #[test]
    fn limiter_of_a_search_is_the_most_frequent_in_its_confirming_trials() {
        let mut view = search();
        let limited = |limiter| TrialView { limiter, ..trial(740.0, Phase::Confirm(1), 20) };
        let others = [Component::DatabaseCpu, Component::DatabaseLocks, Component::DatabaseCpu];
        view.trials.extend(others.map(limited));
        view.trials[2].limiter = Component::DatabaseFlush;
        let elsewhere = TrialView { limiter: Component::DatabaseFlush, ..view.trials[3].clone() };
        view.trials.extend(vec![elsewhere; 4]);
        assert_eq!(view.limiter(), Some(Component::DatabaseCpu));
        // Of equally frequent limiters the first counts, as in the evidence of an arm.
        let mut tied = view.clone();
        tied.trials.push(limited(Component::DatabaseLocks));
        assert_eq!(tied.limiter(), Some(Component::DatabaseCpu));
        let text = text_of(&with_search(view));
        assert!(text.contains("\nlimiter    database-cpu\n"), "{text}");
    }
}
