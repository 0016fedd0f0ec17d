//! The lines of an experiment's answer that text, page and Markdown have in common.

use std::fmt::Write as _;

use analyze::CheckKind;
use analyze::compare::{ArmComparison, ArmId, ArmSlo, MachineChange, MetricChange};
use workload::question::{Scale, URL_KEY};

use super::capacity::CapacityView;
use super::load_fallbacks;
use super::longest_times;
use super::saturation::SaturationView;
use super::sentence;
use super::sweep;
use super::terms::terms;
use super::view::{
    ArmLimiter, ArmView, DifferenceView, DifferingRuns, ExperimentState, ExperimentView,
};
use crate::note;
use crate::number::{NONE, count};
use crate::page::{MOST_FIRST, first_of};
use crate::text::one_line;
use crate::words;

/// Returns the sentences that answer the question, or the reason why there are none. `record` is
/// the path of the record, for the commands in these sentences.
pub(super) fn answers(view: &ExperimentView, record: &str) -> Vec<String> {
    let unfinished = match view.state {
        ExperimentState::Complete => None,
        ExperimentState::Interrupted => {
            let progress = view.saturation.as_ref().and_then(SaturationView::progress);
            let progress = progress.map_or_else(String::new, |progress| format!("; {progress}"));
            Some(match view.may_be_running {
                true => format!(
                    "the experiment was killed, or is still running{progress}. Once it has ended, \
                     --resume continues it"
                ),
                false => {
                    format!("the experiment was interrupted{progress}. --resume continues it")
                }
            })
        }
        ExperimentState::InstrumentFailed | ExperimentState::NotObserved => {
            let failure = view.saturation.as_ref().and_then(SaturationView::failure);
            let in_rounds = "the load generator or the machine failed in too many rounds";
            Some(failure.unwrap_or_else(|| in_rounds.to_owned()))
        }
        ExperimentState::NotInEffect => {
            let reason = view.invalid_arm.as_deref().unwrap_or("its difference is not in effect");
            Some(format!("an arm is INVALID. {reason}"))
        }
    };
    match (unfinished, &view.capacity) {
        (Some(reason), _) => vec![format!("No answer: {reason}")],
        (None, Some(search)) => search.answers(record),
        (None, None) if view.sweep.is_some() => view.sweep_answers(),
        (None, None) => {
            let changes = view.declared_changes().map(|(arm, change)| view.sentence(arm, change));
            changes.chain(view.load_sentence()).chain(view.overload_sentences()).collect()
        }
    }
}

/// Returns the answers for a page with room for `most` sentences. Those of a sweep name few points
/// each. If not all have room, the best points come first, because the last sentences are left out.
pub(super) fn short_answers(view: &ExperimentView, record: &str, most: usize) -> Vec<String> {
    let is_answered = view.state == ExperimentState::Complete && view.capacity.is_none();
    match view.sweep.as_ref().filter(|_| is_answered) {
        Some(sweep) => sweep::short_answers(sweep, &view.names(), most),
        None => answers(view, record),
    }
}

/// Returns the first of the short answers, for the top of a page and for a list of records; the
/// last text counts those left out.
pub fn first_answers(view: &ExperimentView, record: &str) -> Vec<String> {
    first_of(&short_answers(view, record, MOST_FIRST), |more| more)
}

impl ExperimentView {
    /// Returns the sentences that answer a sweep, arm by arm; empty without a sweep.
    pub(super) fn sweep_answers(&self) -> Vec<String> {
        self.sweep.as_ref().map_or_else(Vec::new, |sweep| sweep::answers(sweep, &self.names()))
    }

    /// Returns the warnings about meaningless successes, tables that were filled by a slow method,
    /// and quantiles of few requests, with their remedies.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = self.remarks.warnings(&self.names());
        warnings.extend(load_fallbacks::sentences(&self.load_fallbacks, &self.names()));
        warnings.extend(longest_times::sentences(self.declared_changes()));
        warnings
    }

    /// Returns the most frequent errors with the first text of each.
    pub(super) fn errors(&self) -> Vec<String> {
        self.remarks.errors(&self.names())
    }

    fn names(&self) -> Vec<&str> {
        self.arms.iter().map(|arm| arm.name.as_str()).collect()
    }

    /// Returns the checks that are suspect or invalid in runs, with a remedy for each, in the order
    /// of [`CheckKind::ALL`]. In a search, only the runs at the confirmed value count, because
    /// other runs fail on purpose.
    pub(super) fn remedies(&self) -> Vec<(CheckKind, &'static str)> {
        let of_arm = |arm: &ArmView| {
            let runs = arm.validity.invalid.iter().chain(&arm.validity.suspect);
            runs.flat_map(|(_, checks)| checks.clone()).collect::<Vec<CheckKind>>()
        };
        let found: Vec<CheckKind> = match &self.capacity {
            Some(search) => search.objections().collect(),
            None => self.arms.iter().flat_map(of_arm).collect(),
        };
        let seeks_rate = self.capacity.as_ref().is_some_and(CapacityView::is_rate);
        let remedy = |kind| {
            let own = seeks_rate.then(|| words::remedy_at_highest_rate(kind)).flatten();
            own.unwrap_or_else(|| words::remedy(kind))
        };
        let all = CheckKind::ALL.into_iter().filter(|kind| found.contains(kind));
        all.map(|kind| (kind, remedy(kind))).collect()
    }

    /// Returns the sentence about the load at which the arms were compared, if a search found this
    /// load.
    pub(super) fn load_sentence(&self) -> Option<String> {
        self.saturation.as_ref().and_then(SaturationView::sentence)
    }

    /// Returns the sentences about arms that are overloaded at the load that a search for
    /// saturation has found.
    pub(super) fn overload_sentences(&self) -> impl Iterator<Item = String> {
        self.compared().filter_map(|arm| {
            let names = [arm.baseline, arm.arm].map(|of| self.arms[of.index()].name.as_str());
            self.saturation.as_ref()?.overload(names, arm.overloaded)
        })
    }

    /// Returns the sentence about a metric.
    pub(super) fn sentence(&self, arm: &ArmComparison, change: &MetricChange) -> String {
        let [baseline, name] = [arm.baseline, arm.arm].map(|of| &self.arms[of.index()].name);
        sentence::answer(name, baseline, change)
    }
}

/// Returns the name of the workload.
pub(super) fn workload(view: &ExperimentView) -> &str {
    view.workload.as_deref().unwrap_or("in the experiment file")
}

/// Returns the differences of an arm: `option.tls = require`.
pub(super) fn differences(arm: &ArmView) -> String {
    let differences: Vec<String> =
        arm.differences.iter().map(|(key, value)| format!("{key} = {}", one_line(value))).collect();
    match differences.is_empty() {
        true => "the workload as it is".to_owned(),
        false => differences.join("; "),
    }
}

/// Returns how many runs an arm has, how many of them are INVALID or SUSPECT, with the checks that
/// object, and how many were repeated.
pub(super) fn counts(arm: &ArmView) -> String {
    let validity = &arm.validity;
    let mut text = count(validity.runs.into(), "run");
    for (word, runs) in [("INVALID", &validity.invalid), ("SUSPECT", &validity.suspect)] {
        let mut checks: Vec<&str> =
            runs.iter().flat_map(|(_, checks)| checks.iter().map(|check| check.name())).collect();
        checks.sort_unstable();
        checks.dedup();
        if !runs.is_empty() {
            let _ = write!(text, "; {} {word} ({})", runs.len(), checks.join(", "));
            if runs.len() < validity.runs as usize {
                let _ = write!(text, " in {}", rounds(runs.iter().map(|(round, _)| *round)));
            }
        }
    }
    if validity.repeated > 0 {
        let _ = write!(text, "; {} repeated", validity.repeated);
    }
    text
}

/// Returns the command that explains the names in the answer: of the objecting checks of judged
/// runs, of the limiters and of the terms. `None` if the answer contains no such name.
pub(super) fn explanation(view: &ExperimentView) -> Option<String> {
    let mut names: Vec<&str> = view
        .judged_runs()
        .into_iter()
        .flat_map(|run| view.objections_of(run))
        .map(|(kind, _)| kind.name())
        .collect();
    names.sort_unstable();
    let limiters: Vec<ArmLimiter> = match (&view.capacity, &view.sweep) {
        (Some(search), _) => view.limiters_of_search(search).into_iter().map(|it| it.1).collect(),
        (None, Some(sweep)) => view.limiters_of_sweep(sweep).into_iter().map(|it| it.1).collect(),
        (None, None) => view.arms.iter().filter_map(|arm| arm.limiter.clone()).collect(),
    };
    for limiter in limiters {
        let name = limiter.component.name();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.dedup();
    names.extend(terms(view));
    (!names.is_empty()).then(|| format!("assay explain {}", names.join(" ")))
}

/// Maximum number of rounds that are named.
const MOST_ROUNDS: usize = 8;

/// Names rounds, which are given from 0 and named from 1: `round 3`, `rounds 1, 3, 4`.
fn rounds(rounds: impl Iterator<Item = u32>) -> String {
    let mut all: Vec<u32> = rounds.collect();
    // A round of a sweep has several runs of an arm.
    all.sort_unstable();
    all.dedup();
    let all: Vec<String> = all.into_iter().map(|round| (round + 1).to_string()).collect();
    let named = all[..all.len().min(MOST_ROUNDS)].join(", ");
    match all.len() {
        1 => format!("round {named}"),
        2..=MOST_ROUNDS => format!("rounds {named}"),
        more => format!("rounds {named} and {} more", more - MOST_ROUNDS),
    }
}

/// Returns caveats about the differences of the arms: differences that were not read back, TLS that
/// does not reach the server, and different targets that lead to the same database of one server.
pub(super) fn effects(arms: &[ArmView]) -> Vec<String> {
    let of_arm = |ArmView { name, effect, .. }: &ArmView| {
        let unread = (!effect.not_read_back.is_empty())
            .then(|| format!("{name}: not read back: {}", effect.not_read_back.join(", ")));
        let ended = effect.ended_tls.as_ref().map(|[client, fact, server]| {
            let name = sentence::name_as_code(name);
            format!(
                "undeclared fact: the client's connection of {name} uses {client}, and the server \
                 reports one without TLS ({fact} is `{server}`): TLS ends between them"
            )
        });
        let shared = effect.shares_server.then(|| {
            format!(
                "{name}: its `url` reached the same database of the same server as that of the \
                 baseline"
            )
        });
        unread.into_iter().chain(ended).chain(shared)
    };
    arms.iter().flat_map(of_arm).collect()
}

/// Returns the sentence about a difference that is not declared.
pub(super) fn undeclared(arms: &[ArmView], one: &DifferenceView) -> String {
    let DifferenceView { kind, name, .. } = one;
    let what = if kind == name { String::new() } else { format!("{kind}, ") };
    format!("undeclared difference: {what}{}", difference(arms, one))
}

/// Returns a difference between runs, with the values of both sides.
pub(super) fn difference(arms: &[ArmView], one: &DifferenceView) -> String {
    let DifferenceView { name, baseline, arm, between, values: [first, second], cause, .. } = one;
    let [base, own] = [baseline, arm].map(|of| sentence::name_as_code(&arms[of.index()].name));
    let in_round = |round: u32, arm: &str| format!("round {} of {arm}", round + 1);
    let [here, there] = match *between {
        DifferingRuns::Arms => [base, own],
        DifferingRuns::Rounds(rounds) => rounds.map(|round| in_round(round, &own)),
        DifferingRuns::Pair(round) => [base, own].map(|arm| in_round(round, &arm)),
    };
    let cause = match cause.as_deref() {
        None => String::new(),
        Some(URL_KEY) => format!(" (by `{URL_KEY}`)"),
        Some(key) => format!(" (perhaps by `{key}`)"),
    };
    // The identity of the server is the only fact that may differ between rounds, but not within a
    // pair.
    let meaning = match between {
        DifferingRuns::Pair(_) => ": their pair spans two starts of the server, or two servers",
        DifferingRuns::Arms | DifferingRuns::Rounds(_) => "",
    };
    format!("{name} is `{first}` in {here}, `{second}` in {there}{cause}{meaning}")
}

/// Returns the sentences about the changes of the machine that the canaries show.
pub(super) fn machine(view: &ExperimentView) -> Vec<String> {
    view.machine.iter().map(|one| machine_change(&view.arms, ArmId::BASELINE, one)).collect()
}

/// Returns the sentence about a change of the machine: "the machine was 8.1 % slower before the
/// runs of `tls` than before those of `plain` (99 % CI …): …".
pub(super) fn machine_change(arms: &[ArmView], baseline: ArmId, change: &MachineChange) -> String {
    let speed = |change: f64| {
        let word = if change > 0.0 { "slower" } else { "faster" };
        format!("{} {word}", sentence::percent(change.abs(), Scale::Ratio))
    };
    match change {
        MachineChange::BetweenArms { arm, change, interval, alpha, is_decisive } => {
            let [name, baseline] =
                [*arm, baseline].map(|of| sentence::name_as_code(&arms[of.index()].name));
            let so = match is_decisive {
                Some(true) => ": the change of the arm may be that of the machine",
                Some(false) => ": much less than the change of the arm",
                None => "",
            };
            format!(
                "the machine was {} before the runs of {name} than before those of {baseline} \
                 ({} CI {}){so}",
                speed(*change),
                sentence::level(*alpha),
                sentence::range(*interval, Scale::Ratio)
            )
        }
        MachineChange::Drift { change } => format!(
            "the machine became {} during the experiment, before the runs of every arm",
            speed(*change)
        ),
    }
}

/// Maximum number of notes in an answer; the record and the JSON document have all notes.
const MOST_NOTES: usize = 8;

/// Returns the latest notes with their times.
pub(super) fn notes(view: &ExperimentView) -> Vec<String> {
    note::latest_notes(&view.notes, MOST_NOTES)
}

/// Returns the SLOs of all arms with their outcomes.
pub(super) fn slos(view: &ExperimentView) -> Vec<String> {
    slos_with(view, |_| true)
}

/// Returns the SLOs of all arms for which `is_one` returns true, with their outcomes.
pub(super) fn slos_with(view: &ExperimentView, is_one: fn(&ArmSlo) -> bool) -> Vec<String> {
    if view.capacity.is_some() {
        // Runs of a search miss their SLOs on purpose.
        return Vec::new();
    }
    let of_arm = |arm: &ArmView| {
        let name = arm.name.clone();
        arm.slos.clone().into_iter().filter(is_one).map(move |slo| {
            let (job, text) = (&slo.job, &slo.text);
            format!("{name}: {job} {text}: {}", slo_outcome(&slo))
        })
    };
    view.arms.iter().flat_map(of_arm).collect()
}

/// Returns the outcome of an SLO over the runs of an arm.
pub(super) fn slo_outcome(slo: &ArmSlo) -> String {
    match slo.missed {
        0 => format!("met in {} of {}", slo.runs, count(slo.runs.into(), "run")),
        missed => format!("missed in {missed} of {}", count(slo.runs.into(), "run")),
    }
}

/// Returns the limiters of the baseline and of an arm.
pub(super) fn limiters(arms: &[ArmView], arm: &ArmComparison) -> String {
    let [baseline, own] = arm.limiters.map(|component| component.name());
    let (first, name) = (&arms[arm.baseline.index()].name, &arms[arm.arm.index()].name);
    format!("{first}: {baseline}; {name}: {own}")
}

/// Returns the evidence for the limiter of each arm, once for arms that share it.
///
/// For a sweep, it is the evidence at the best and at the last point of each arm; for a capacity
/// search, at the confirmed value and at the lowest value that fails.
pub(super) fn limiter_evidence(view: &ExperimentView) -> Vec<String> {
    let found: Vec<(String, ArmLimiter)> = match (&view.capacity, &view.sweep) {
        (Some(search), _) => view.limiters_of_search(search),
        (None, Some(sweep)) => view.limiters_of_sweep(sweep),
        (None, None) => {
            let arms = view.arms.iter();
            arms.filter_map(|arm| Some((arm.name.clone(), arm.limiter.clone()?))).collect()
        }
    };
    let mut shared: Vec<(Vec<String>, String)> = Vec::new();
    for (name, limiter) in found {
        let evidence = limiter.sentence();
        match shared.iter_mut().find(|(_, known)| *known == evidence) {
            Some((names, _)) => names.push(name),
            None => shared.push((vec![name], evidence)),
        }
    }
    shared.iter().map(|(names, evidence)| format!("{}: {evidence}", names.join(", "))).collect()
}

/// Returns the limiters with their evidence or, from a record without evidence, their names alone.
pub(super) fn limiters_once(view: &ExperimentView) -> Vec<String> {
    let evidence = limiter_evidence(view);
    if !evidence.is_empty() {
        return evidence;
    }
    let of_arms = view.compared().map(|arm| limiters(&view.arms, arm));
    let names = view.names();
    let at_points = view.sweep.iter().flat_map(|it| sweep::limiters_of_arms(it, &names));
    of_arms.chain(at_points).collect()
}

/// Returns true if the arms of a comparison have different limiters.
pub(super) fn has_different_limiters(view: &ExperimentView) -> bool {
    view.compared().any(|arm| arm.limiters[0] != arm.limiters[1])
}

/// Warning about arms with different limiters.
pub(super) const DIFFERENT_LIMITERS: &str =
    "The arms have different limiters: the change is not the cost of one thing";

/// Warning about arms that may change several things.
pub(super) const SEVERAL_DIFFERENCES: &str =
    "The arms may differ in several things: the cause of a change is unknown";

/// Note on the metrics that are marked with a star.
pub(super) const EXPLORATORY: &str = "exploratory: not declared before; no claim follows from it";

/// Note on undecided conclusions in a table of metrics.
pub(super) const UNDECIDED: &str =
    "undecided: the interval has changes that matter and changes that do not";

/// Note on the values of a table of metrics.
pub(super) const MEANS: &str =
    "values are geometric means over the runs, whose ratio is the change; shares arithmetic ones";

/// Returns the confidence of the intervals of a table: `intervals of 98.3 %`, or
/// `intervals of 99.2 %, of exploratory metrics 98.3 %`; `None` if there are no intervals.
pub(super) fn levels<'c>(changes: impl Iterator<Item = &'c MetricChange>) -> Option<String> {
    let has_interval = |change: &&MetricChange| {
        change.compared.as_ref().is_ok_and(|compared| compared.interval.is_some())
    };
    let mut levels: [Vec<String>; 2] = Default::default();
    for change in changes.filter(has_interval) {
        let of_kind = &mut levels[usize::from(change.is_exploratory)];
        let level = sentence::level(change.alpha);
        if !of_kind.contains(&level) {
            of_kind.push(level);
        }
    }
    let [declared, exploratory] = levels.map(|levels| levels.join(" or "));
    match (declared.as_str(), exploratory.as_str()) {
        ("", "") => None,
        (all, "") | ("", all) => Some(format!("intervals of {all}")),
        (one, other) if one == other => Some(format!("intervals of {one}")),
        (one, other) => Some(format!("intervals of {one}, of exploratory metrics {other}")),
    }
}

/// Returns the values of the declared metrics: `throughput(read): plain 7,402 requests/s, tls 6,671
/// requests/s`. They complement an answer that states changes only.
pub(super) fn measured_values(view: &ExperimentView) -> Vec<String> {
    let declared = view.compared().flat_map(|arm| {
        let declared = arm.changes.iter().filter(|it| !it.is_exploratory && it.compared.is_ok());
        declared.map(move |change| (arm, change))
    });
    let words = declared.map(|(arm, change)| {
        let [metric, baseline, own, ..] = row(change);
        let [first, second] = [arm.baseline, arm.arm].map(|of| &view.arms[of.index()].name);
        format!("{metric}: {first} {baseline}, {second} {own}")
    });
    words.collect()
}

/// Returns the cells of a metric: its name, both values, change, interval and conclusion.
pub(super) fn row(change: &MetricChange) -> [String; 6] {
    row_with(change, sentence::value)
}

/// Returns the cells of a metric as [`row`] does, with values that `value` formats.
pub(super) fn row_with(change: &MetricChange, value: fn(f64, &str) -> String) -> [String; 6] {
    let mark = if change.is_exploratory { " *" } else { "" };
    let metric = format!("{}{mark}", change.metric);
    let scale = change.metric.quantity.scale();
    match &change.compared {
        Ok(compared) => {
            let [baseline, own] = sentence::values(compared, &change.metric, value);
            let interval = compared.interval.map(|interval| sentence::range(interval, scale));
            let conclusion = match change.is_exploratory {
                true => String::new(),
                false => compared.conclusion.name().to_owned(),
            };
            let size = match compared.change == 0.0 {
                true => "no change".to_owned(),
                false => sentence::signed(compared.change, scale),
            };
            [metric, baseline, own, size, interval.unwrap_or_default(), conclusion]
        }
        Err(reason) => {
            let none = NONE.to_owned();
            let why = sentence::not_compared(*reason);
            [metric, none.clone(), none, String::new(), String::new(), why]
        }
    }
}

#[cfg(test)]
mod tests {
    use analyze::Component;
    use analyze::compare::{
        ChangeInterval, Compared, Conclusion, Missing, NotCompared, SampleSize, SampleValues,
    };
    use workload::question::RunMetric;

    use super::super::fixtures::{experiment, run_of, text_of, with_limiters};
    use super::super::html::experiment_html;
    use super::super::view::RunView;
    use super::super::{experiment_json, experiment_markdown, shown_changes};
    use super::*;

    fn change(metric: &str, alpha: f64, compared: Result<(), Missing>) -> MetricChange {
        let compared = compared.map(|()| Compared {
            values: SampleValues::Groups([vec![1.0; 2], vec![2.0; 2]]),
            means: [1.0, 2.0],
            change: 1.0,
            interval: Some(ChangeInterval { low: 0.9, high: 1.1 }),
            hodges_lehmann: 1.0,
            spread: None,
            order_effect: None,
            conclusion: Conclusion::Worse,
        });
        MetricChange {
            metric: RunMetric::parse(metric).unwrap(),
            is_exploratory: !metric.starts_with("throughput"),
            alpha,
            delta: 0.01,
            compared: compared.map_err(NotCompared::Missing),
            bets: Vec::new(),
        }
    }

    #[test]
    fn levels_of_declared_and_exploratory_metrics_are_distinguished() {
        let declared = change("throughput(read)", 0.05 / 6.0, Ok(()));
        let exploratory = change("rows(read)", 0.05 / 3.0, Ok(()));
        let missing = change("failed(read)", 0.9, Err(Missing::NotMeasured));
        let shown_levels = |all: &[&MetricChange]| levels(all.iter().copied()).unwrap_or_default();
        let both = "intervals of 99.2 %, of exploratory metrics 98.3 %";
        assert_eq!(shown_levels(&[&declared, &exploratory, &missing]), both);
        assert_eq!(shown_levels(&[&declared, &declared]), "intervals of 99.2 %");
        assert_eq!(shown_levels(&[&exploratory]), "intervals of 98.3 %");
        let same = MetricChange { alpha: 0.05 / 3.0, ..declared };
        assert_eq!(shown_levels(&[&same, &exploratory]), "intervals of 98.3 %");
        assert_eq!(shown_levels(&[&missing]), "");
    }

    #[test]
    fn exploratory_metric_that_was_not_measured_is_not_shown() {
        let changes = vec![
            change("throughput(read)", 0.05, Err(Missing::NotMeasured)),
            change("rows(read)", 0.05, Ok(())),
            change("failed(read)", 0.05, Err(Missing::NotMeasured)),
            change("load(t)", 0.05, Err(Missing::Ambiguous)),
        ];
        let size = SampleSize::Groups([2, 2]);
        let limiters = [Component::Unknown; 2];
        let (baseline, arm) = (ArmId::BASELINE, ArmId(1));
        let overloaded = [false; 2];
        let verdicts = Vec::new();
        let arm = ArmComparison { baseline, arm, size, verdicts, changes, limiters, overloaded };
        let names: Vec<String> =
            shown_changes::table_changes(&arm).map(|change| change.metric.to_string()).collect();
        assert_eq!(names, ["throughput(read)", "rows(read)", "load(t)"]);
    }

    /// If a check is suspect or invalid only in an abandoned run, it is not in the answer, so no
    /// command explains it.
    #[test]
    fn command_explains_only_checks_that_the_answer_names() {
        let backlog = vec![(CheckKind::Backlog, analyze::Status::Suspect)];
        let abandoned = RunView { state: "abandoned", ..run_of(0, backlog.clone()) };
        let view = ExperimentView { runs: vec![abandoned], ..experiment() };
        assert_eq!(explanation(&view), None);
        let view = ExperimentView { runs: vec![run_of(0, backlog)], ..view };
        assert_eq!(explanation(&view).as_deref(), Some("assay explain backlog"));
    }

    #[test]
    fn sentence_that_begins_with_a_metric_keeps_its_name() {
        let mut view = with_limiters([Component::DatabaseCpu; 2]);
        let change = &mut view.comparison.as_mut().unwrap().arms[0].changes[0];
        change.metric = RunMetric::parse("response.p99(read)").unwrap();
        change.refuse(NotCompared::Missing(Missing::ExceedsCapacity));
        let words = "response.p99(read) is not compared: the load exceeds the capacity (`tls` \
                     against `plain`)";
        assert_eq!(answers(&view, "r.assay"), [words]);
        let all = [text_of(&view), experiment_html(&view), experiment_markdown(&view)];
        assert!(all.iter().all(|text| !text.contains("Response.p99")), "{all:?}");
        assert_eq!(experiment_json(&view)["answer"][0], words);
    }

    #[test]
    fn record_without_an_end_may_belong_to_a_running_experiment() {
        let unfinished = |may_be_running| {
            let state = ExperimentState::Interrupted;
            answers(&ExperimentView { state, may_be_running, ..experiment() }, "r.assay")
        };
        let words = "No answer: the experiment was killed, or is still running. Once it has ended, \
                     --resume continues it";
        assert_eq!(unfinished(true), [words]);
        let words = "No answer: the experiment was interrupted. --resume continues it";
        assert_eq!(unfinished(false), [words]);
    }

    #[test]
    fn page_has_the_values_of_declared_metrics_in_its_answer() {
        let view = with_limiters([Component::DatabaseCpu; 2]);
        let values = measured_values(&view);
        assert_eq!(values, ["throughput(read): plain 100 requests/s, tls 90.0 requests/s"]);
        let page = experiment_html(&view).replace('\u{a0}', " ");
        let answer = page.split("id=\"question\"").next().unwrap();
        assert!(answer.contains(&values[0]), "{answer}");
        let mut exploratory = view;
        for change in &mut exploratory.comparison.as_mut().unwrap().arms[0].changes {
            change.is_exploratory = true;
        }
        assert_eq!(measured_values(&exploratory), [""; 0]);
    }

    #[test]
    fn one_run_is_singular() {
        let slo = |runs, missed| {
            slo_outcome(&ArmSlo { job: "a".into(), text: "p99 < 5ms".into(), runs, missed })
        };
        assert_eq!(slo(1, 0), "met in 1 of 1 run");
        assert_eq!(slo(8, 1), "missed in 1 of 8 runs");
    }

    #[test]
    fn check_that_objects_has_its_remedy_once() {
        let mut view = experiment();
        view.arms[0].validity.runs = 8;
        view.arms[1].validity.runs = 8;
        view.arms[0].validity.suspect = vec![(0, vec![CheckKind::Drift, CheckKind::SendLag])];
        view.arms[1].validity.invalid = vec![(3, vec![CheckKind::Drift])];
        let text = text_of(&view);
        let remedy = words::remedy(CheckKind::Drift);
        assert_eq!(text.matches(&format!("\n  drift: {remedy}\n")).count(), 1, "{text}");
        assert!(text.contains("\n  send-lag: end other programs"), "{text}");
        assert!(!text_of(&experiment()).contains(remedy));
    }
}
