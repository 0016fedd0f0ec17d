//! The reasons of an experiment's verdict, and the evidence for its limiters.

use std::collections::BTreeMap;

use analyze::compare::ArmId;
use analyze::{Check, CheckKind, Status};
use base::units::grouped;

use super::capacity::CapacityView;
use super::sweep::{self, SweepView};
use super::view::{ArmLimiter, ExperimentState, ExperimentView, RunPhase, RunView};
use crate::number::{count, significant, trimmed};
use crate::words;

/// A check that is suspect or invalid in judged runs.
pub(super) struct ObjectingCheck {
    pub(super) kind: CheckKind,
    /// Gravest status in any of these runs.
    pub(super) status: Status,
    /// Finding in the worst run; `None` if the record has none.
    pub(super) finding: Option<String>,
    pub(super) remedy: &'static str,
}

impl ObjectingCheck {
    /// Returns the finding and the remedy.
    pub(super) fn sentence(&self) -> String {
        match &self.finding {
            Some(finding) => format!("{finding}. What to do: {}", self.remedy),
            None => self.remedy.to_owned(),
        }
    }
}

impl ExperimentView {
    /// Returns the runs that determine the verdict: those with the state `counts`, except the steps
    /// of `[saturate]`; for a capacity search, the trials that confirmed its value.
    pub(super) fn judged_runs(&self) -> Vec<&RunView> {
        let confirming = self.capacity.as_ref().map(CapacityView::confirming_runs);
        let is_judged = |run: &&RunView| match &confirming {
            Some(runs) => runs.contains(&run.number),
            None => run.state == "counts" && run.phase != RunPhase::Saturate,
        };
        self.runs.iter().filter(is_judged).collect()
    }

    /// Returns the word of the verdict with the number of runs in which a check has this status or
    /// a graver one: `SUSPECT, 1 of 120 runs`. Without such runs, or before the experiment has
    /// ended, it is the word alone.
    pub(super) fn verdict_in_words(&self) -> String {
        let verdict = self.verdict();
        verdict_of_runs(verdict, self.runs_of_verdict(), &self.all_judged_runs())
    }

    /// Returns the number of judged runs in words: `12 runs`, `6 runs at the confirmed value`.
    fn all_judged_runs(&self) -> String {
        let runs = count(self.judged_runs().len() as u64, "run");
        match self.capacity {
            Some(_) => format!("{runs} at the confirmed value"),
            None => runs,
        }
    }

    /// Returns the number of judged runs in which a check is as grave as the verdict; 0 if the
    /// experiment is VALID or unfinished.
    fn runs_of_verdict(&self) -> usize {
        let verdict = self.verdict();
        let counts = self.state == ExperimentState::Complete && verdict.objects();
        let is_as_grave = |run: &&RunView| self.objections_of(run).iter().any(|it| it.1 >= verdict);
        if counts { self.judged_runs().into_iter().filter(is_as_grave).count() } else { 0 }
    }

    /// Returns the suspect or invalid checks of a run, each with its status. For a trial of a
    /// search, failed requests that the conditions allow are no objection, as in the verdict.
    pub(super) fn objections_of(&self, run: &RunView) -> Vec<(CheckKind, Status)> {
        let mut trials = self.capacity.iter().flat_map(|search| &search.trials);
        match trials.find(|trial| trial.run == run.number) {
            Some(trial) => CapacityView::objections_to(trial).collect(),
            None => run.objections.clone(),
        }
    }

    /// Returns the text that follows the verdict on the same line and gives the reason for it:
    /// `check send-lag objects`.
    pub(super) fn reason(&self) -> String {
        let reasons: Vec<String> = match self.state {
            ExperimentState::Complete => self.doubts().collect(),
            ExperimentState::Interrupted => vec![self.progress()],
            ExperimentState::InstrumentFailed => {
                vec!["the load generator or the machine failed".to_owned()]
            }
            ExperimentState::NotInEffect => {
                vec!["the difference of an arm is not in effect".into()]
            }
            ExperimentState::NotObserved => vec!["the search for a load saw no quantity".into()],
        };
        match reasons.is_empty() {
            true => self.number_of_runs(),
            false => reasons.join("; "),
        }
    }

    fn number_of_runs(&self) -> String {
        let runs = match &self.capacity {
            Some(search) => {
                let runs = search.confirming_runs().len() as u64;
                format!("{} at the confirmed value", count(runs, "trial"))
            }
            None => count(self.judged_runs().len() as u64, "run"),
        };
        match self.verdict() {
            Status::Pass => format!("{runs}, no check objects"),
            Status::Suspect | Status::Invalid | Status::NotPossible => runs,
        }
    }

    /// Returns the suspect or invalid checks in words: `check backlog objects`, or, with the number
    /// of runs of each, `2 checks object: backlog (3), send-lag (8)`; `None` if none objects. The
    /// number of runs with any objection follows if it differs from the number of runs of the
    /// verdict: ` in 9 of 18 runs`.
    fn objections_in_words(&self) -> Option<String> {
        let judged = self.judged_runs().into_iter();
        let objections: Vec<Vec<(CheckKind, Status)>> =
            judged.map(|run| self.objections_of(run)).collect();
        let objected = objections.iter().filter(|of_run| !of_run.is_empty()).count();
        let place = match objected == self.runs_of_verdict() {
            true => String::new(),
            false => format!(" in {objected} of {}", self.all_judged_runs()),
        };
        let runs_of = |kind: CheckKind| {
            let objects = |of_run: &&Vec<(CheckKind, Status)>| of_run.iter().any(|it| it.0 == kind);
            objections.iter().filter(objects).count()
        };
        let kinds = CheckKind::ALL.into_iter().map(|kind| (kind, runs_of(kind)));
        let kinds: Vec<(CheckKind, usize)> = kinds.filter(|(_, runs)| *runs > 0).collect();
        match kinds.as_slice() {
            [] => None,
            [(only, _)] => Some(format!("check {} objects{place}", only.name())),
            several => {
                let names = several.iter().map(|(kind, runs)| format!("{} ({runs})", kind.name()));
                let names: Vec<String> = names.collect();
                Some(format!("{} checks object{place}: {}", several.len(), names.join(", ")))
            }
        }
    }

    fn doubts(&self) -> impl Iterator<Item = String> {
        let of_checks = self.objections_in_words();
        let undeclared = self.undeclared.len() as u64;
        let undeclared = (undeclared > 0).then(|| count(undeclared, "undeclared difference"));
        let machine = self.machine_status() == Status::Suspect;
        let machine = machine.then(|| "the machine changed".to_owned());
        let found = self.capacity.as_ref().and_then(|search| search.found.as_ref());
        let irregular = found.is_some_and(|found| !found.irregular.is_empty());
        let irregular = irregular.then(|| "the search is irregular".to_owned());
        of_checks.into_iter().chain(undeclared).chain(machine).chain(irregular)
    }

    /// Returns the progress of an interrupted experiment: `5 of 12 rounds are complete`.
    fn progress(&self) -> String {
        if let Some(search) = &self.capacity {
            let trials = count(search.trials.len() as u64, "trial");
            return format!("the search has not ended: {trials} so far");
        }
        let mut rounds: BTreeMap<u32, usize> = BTreeMap::new();
        for run in self.judged_runs() {
            *rounds.entry(run.round).or_default() += 1;
        }
        let points = self.sweep.as_ref().map_or(1, |sweep| sweep.values.len());
        let whole = self.arms.len() * points;
        let complete = rounds.values().filter(|runs| **runs >= whole).count() as u64;
        let needed = self.rounds.iter().find(|look| u64::from(**look) > complete);
        match needed.or(self.rounds.last()) {
            Some(needed) => format!("{complete} of {} complete", rounds_in_words(*needed)),
            None => format!("{} complete", rounds_in_words(complete as u32)),
        }
    }

    /// Returns the checks that are suspect or invalid in judged runs, each with its worst finding
    /// and the remedy.
    pub(super) fn objecting(&self) -> Vec<ObjectingCheck> {
        let judged = self.judged_runs();
        let of_cause = |check: &Check| {
            words::remedy_of(check).filter(|remedy| *remedy != words::remedy(check.kind))
        };
        let check = |(kind, usual): (CheckKind, &'static str)| {
            let objects = |run: &&RunView| self.objections_of(run).iter().any(|it| it.0 == kind);
            let runs: Vec<&RunView> = judged.iter().copied().filter(objects).collect();
            let objections = runs.iter().flat_map(|run| self.objections_of(run));
            let status = objections.filter(|it| it.0 == kind).map(|it| it.1).max();
            let worst = worst(kind, &runs);
            let number = format!("in {} of {}", runs.len(), count(judged.len() as u64, "run"));
            ObjectingCheck {
                kind,
                status: status.unwrap_or(Status::Suspect),
                finding: worst.map(|(run, check)| format!("{number}, {}", finding(run, check))),
                remedy: worst.and_then(|(_, check)| of_cause(check)).unwrap_or(usual),
            }
        };
        self.remedies().into_iter().map(check).collect()
    }

    /// Returns a row for each check: its name, and how many of the runs with the state `counts` had
    /// each finding: passed, SUSPECT, INVALID, not possible. A number that is 0 is left empty.
    pub(super) fn check_rows(&self) -> Vec<Vec<String>> {
        let counted: Vec<&RunView> = self.runs.iter().filter(|run| run.state == "counts").collect();
        let checks = || counted.iter().flat_map(|run| &run.checks);
        let row = |kind: CheckKind| {
            let with = |status: Status| {
                let found = checks().filter(|it| it.kind == kind && it.status == status).count();
                if found == 0 { String::new() } else { found.to_string() }
            };
            let of =
                [Status::Pass, Status::Suspect, Status::Invalid, Status::NotPossible].map(with);
            [&[kind.name().to_owned()][..], &of].concat()
        };
        let known = CheckKind::ALL.into_iter().filter(|kind| checks().any(|it| it.kind == *kind));
        known.map(row).collect()
    }

    /// Returns the evidence for the limiters of a search: at the confirmed value, and at the
    /// smallest value above it that fails when its trials are judged together.
    pub(super) fn limiters_of_search(&self, search: &CapacityView) -> Vec<(String, ArmLimiter)> {
        let found = search.found.as_ref();
        let limiter = |value: Option<f64>, runs: &[u32], state: &str| {
            let runs = self.runs.iter().filter(|run| runs.contains(&run.number));
            let at = format!("at {} ({state})", search.value(value?));
            Some((at, ArmLimiter::of_runs(runs)?))
        };
        let sustained = found.and_then(|found| found.sustained);
        let fails = found.and_then(|found| found.fails);
        let both = [
            limiter(sustained, &search.confirming_runs(), "confirmed"),
            limiter(fails, &search.failing_runs(), "fails"),
        ];
        both.into_iter().flatten().collect()
    }

    /// Returns the evidence for the limiters of a sweep: for each arm at its best point, and at the
    /// last one.
    pub(super) fn limiters_of_sweep(&self, sweep: &SweepView) -> Vec<(String, ArmLimiter)> {
        let mut all = Vec::new();
        for (index, (arm, curve)) in self.arms.iter().zip(&sweep.curves).enumerate() {
            let name = match self.arms.len() {
                1 => String::new(),
                _ => format!("{} ", arm.name),
            };
            for point in sweep::notable_points(curve) {
                let value = &curve.points[point].value;
                let runs = self.judged_runs().into_iter();
                let is_own = |run: &&RunView| run.arm == ArmId(index);
                let at_point = runs.filter(is_own).filter(|run| run.point.as_ref() == Some(value));
                let limiter = ArmLimiter::of_runs(at_point);
                all.extend(limiter.map(|limiter| (format!("{name}at {value}"), limiter)));
            }
        }
        all
    }
}

/// Returns the word of a verdict, followed by the number of runs that are the reason for it:
/// `SUSPECT, 1 of 120 runs`, where `all` is `120 runs`. Returns the word alone if that number is 0.
pub(super) fn verdict_of_runs(verdict: Status, runs: usize, all: &str) -> String {
    match runs {
        0 => verdict.verdict().to_owned(),
        runs => format!("{}, {} of {all}", verdict.verdict(), grouped(runs as u64)),
    }
}

fn rounds_in_words(number: u32) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("{} {verb}", count(number.into(), "round"))
}

/// Returns the worst suspect or invalid check of this kind, with the number of its run; `None` if
/// there is none.
fn worst<'r>(kind: CheckKind, runs: &[&'r RunView]) -> Option<(u32, &'r Check)> {
    let found = runs.iter().flat_map(|run| run.checks.iter().map(|check| (run.number, check)));
    let found = found.filter(|(_, check)| check.kind == kind && check.status.objects());
    found.max_by(|(_, one), (_, other)| {
        one.status.cmp(&other.status).then(excess(one).total_cmp(&excess(other)))
    })
}

/// Returns the finding of a check in its worst run: `worst in run 12: …; accepted up to 5 %`.
fn finding(run: u32, worst: &Check) -> String {
    let sentence = words::check_sentence(worst);
    format!("worst in run {run}: {sentence}{}", accepted_limit(worst))
}

/// Returns the distance of a check's value from its limit; 0 if one of them is missing.
fn excess(check: &Check) -> f64 {
    let both = check.value.zip(check.limit);
    both.map_or(0.0, |(value, limit)| (value - limit).abs())
}

/// Returns the limit of a check that was exceeded: `; accepted up to 5 %`. Empty for a limit of
/// zero, which needs no mention.
fn accepted_limit(check: &Check) -> String {
    match check.value.zip(check.limit) {
        Some((value, limit)) if value > limit && limit > 0.0 => {
            let number = significant(limit);
            let (number, unit) = (trimmed(&number), check.unit.name());
            format!("; accepted up to {number} {unit}").trim_end().to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use analyze::capacity::Phase;
    use analyze::compare::RunVerdict;
    use analyze::finding::{Backlog, Failures};
    use analyze::limiting::{Inconclusive, LimiterFinding, Saturation};
    use analyze::{Component, Finding, Unit};
    use workload::question::VariedLoad;

    use super::super::capacity::TrialView;
    use super::super::capacity::tests::{search, trial};
    use super::super::fixtures::{experiment, run_of, sweep, text_of, undeclared_setting};
    use super::super::html::experiment_html;
    use super::super::lines;
    use super::super::markdown::experiment_markdown;
    use super::super::sweep_json;
    use super::*;

    fn stolen(number: u32, percent: f64) -> RunView {
        let check = Check {
            kind: CheckKind::StolenTime,
            status: Status::Suspect,
            value: Some(percent),
            limit: Some(2.0),
            unit: Unit::Percent,
            finding: Finding::StolenTime { share: percent / 100.0 },
        };
        let passed = Check {
            kind: CheckKind::Backlog,
            status: Status::Pass,
            value: None,
            limit: None,
            unit: Unit::None,
            finding: Finding::Backlog(Backlog::Stable),
        };
        let objections = vec![(CheckKind::StolenTime, Status::Suspect)];
        RunView { number, checks: vec![check, passed], ..run_of(0, objections) }
    }

    fn suspect() -> ExperimentView {
        let mut view = experiment();
        view.runs = vec![stolen(1, 3.0), stolen(2, 29.0), run_of(1, Vec::new())];
        view.arms[0].validity.runs = 2;
        view.arms[0].validity.suspect =
            vec![(0, vec![CheckKind::StolenTime]), (1, vec![CheckKind::StolenTime])];
        view
    }

    #[test]
    fn remedy_of_a_check_follows_from_its_worst_finding() {
        let mut view = suspect();
        view.arms[0].validity.suspect = vec![(0, vec![CheckKind::Errors])];
        view.runs[0].objections = vec![(CheckKind::Errors, Status::Invalid)];
        let remedy = |view: &ExperimentView| view.objecting()[0].remedy;
        assert_eq!(remedy(&view), words::remedy(CheckKind::Errors));
        let failed = Failures::Some {
            job: "read".to_owned(),
            failed: 5,
            scheduled: 10,
            error: Some(record::EventError {
                class: base::Class::Disconnect,
                code: base::Code::DISCONNECT,
            }),
            runs_program: false,
        };
        view.runs[0].checks[0] = Check {
            kind: CheckKind::Errors,
            status: Status::Invalid,
            finding: Finding::Errors(failed),
            ..view.runs[0].checks[0].clone()
        };
        assert!(remedy(&view).contains("why the server ended"), "{}", remedy(&view));
    }

    #[test]
    fn objection_has_its_worst_finding_limit_and_run() {
        let view = suspect();
        assert_eq!(view.verdict_in_words(), "SUSPECT, 2 of 3 runs");
        assert_eq!(view.reason(), "check stolen-time objects");
        let [text, page, markdown] =
            [text_of(&view), experiment_html(&view), experiment_markdown(&view)];
        for shown in [&text, &page.replace('\u{a0}', " ")] {
            assert!(shown.contains("in 2 of 3 runs, worst in run 2: "), "{shown}");
            assert!(shown.contains("; accepted up to 2 %. What to do: "), "{shown}");
        }
        assert!(text.contains("\nSUSPECT, 2 of 3 runs: check stolen-time objects\n"), "{text}");
        let badge = "<strong class=\"badge doubt\">SUSPECT, 2 of 3 runs</strong> check stolen-time \
                     objects</p>";
        assert!(page.contains(badge), "{page}");
        let line = "**SUSPECT, 2 of 3 runs**: check stolen-time objects\n";
        assert!(markdown.contains(line), "{markdown}");
        let rows = view.check_rows();
        assert_eq!(rows, [["stolen-time", "", "2", "", ""], ["backlog", "2", "", "", ""]]);
        assert!(page.contains("Checks of all runs"), "{page}");
    }

    /// If an INVALID verdict follows from one run, the verdict counts that run alone, and not the
    /// runs in which checks are only SUSPECT.
    #[test]
    fn verdict_counts_the_runs_that_it_follows_from() {
        let mut view = suspect();
        view.runs[0].objections.push((CheckKind::Errors, Status::Invalid));
        view.arms[0].validity.invalid = vec![(0, vec![CheckKind::Errors])];
        assert_eq!(view.verdict_in_words(), "INVALID, 1 of 3 runs");
        let reason = "2 checks object in 2 of 3 runs: stolen-time (2), errors (1)";
        assert_eq!(view.reason(), reason);
        view.state = ExperimentState::Interrupted;
        assert_eq!(view.verdict_in_words(), "INVALID");
        let view = ExperimentView { undeclared: vec![undeclared_setting()], ..experiment() };
        assert_eq!(view.verdict_in_words(), "SUSPECT");
    }

    /// A run of `[saturate]` and a repeated run do not count.
    #[test]
    fn verdict_counts_judged_runs_only() {
        let step = RunView { phase: RunPhase::Saturate, ..run_of(0, Vec::new()) };
        let repeated = RunView { state: "repeated", ..run_of(1, Vec::new()) };
        let runs = vec![step, repeated, run_of(0, Vec::new()), run_of(1, Vec::new())];
        let view = ExperimentView { runs, ..experiment() };
        assert_eq!(view.reason(), "2 runs, no check objects");
    }

    /// The conditions allow the failed requests of run 5, but not those of run 6.
    #[test]
    fn failed_requests_that_a_search_allows_are_no_reason_for_its_verdict() {
        let errors = (CheckKind::Errors, Status::Invalid);
        let mut search = search();
        let first = search.trials.last_mut().unwrap();
        first.trial.limited_failures = 5;
        first.verdict = RunVerdict::new([errors]);
        let run = |number: u32| RunView {
            number,
            objections: vec![errors],
            checks: vec![Check { kind: errors.0, ..stolen(1, 3.0).checks[0].clone() }],
            ..run_of(0, Vec::new())
        };
        let runs = vec![run(5), run(6)];
        let mut view = ExperimentView { capacity: Some(search), runs, ..experiment() };
        assert_eq!(view.verdict_in_words(), "VALID");
        assert_eq!(view.reason(), "1 trial at the confirmed value, no check objects");
        let explained = lines::explanation(&view).unwrap();
        assert!(!explained.contains("errors"), "{explained}");
        let mut second = trial(740.0, Phase::Confirm(2), 20);
        second.run = 6;
        second.verdict = RunVerdict::new([errors]);
        view.capacity.as_mut().unwrap().trials.push(second);
        let words = "SUSPECT, 1 of 2 runs at the confirmed value";
        assert_eq!(view.verdict_in_words(), words);
        assert_eq!(view.reason(), "check errors objects");
        let finding = view.objecting()[0].finding.clone().unwrap();
        assert!(finding.starts_with("in 1 of 2 runs, worst in run 6: "), "{finding}");
    }

    #[test]
    fn remedy_in_a_search_for_the_highest_rate_is_not_a_lower_rate() {
        for kind in [CheckKind::SendLag, CheckKind::GeneratorCpu, CheckKind::Ceiling] {
            let mut capacity = search();
            let confirming = capacity.trials.last_mut().unwrap();
            confirming.verdict = RunVerdict::new([(kind, Status::Suspect)]);
            let mut run = run_of(0, vec![(kind, Status::Suspect)]);
            run.number = confirming.run;
            run.checks = vec![Check { kind, ..stolen(1, 3.0).checks[0].clone() }];
            let mut view = ExperimentView { runs: vec![run], ..experiment() };
            view.arms[0].validity.suspect = vec![(0, vec![kind])];
            let usual = view.objecting()[0].remedy;
            assert!(usual.contains("a lower rate"), "{usual}");
            view.capacity = Some(capacity);
            let own = view.objecting()[0].remedy;
            assert!(!own.is_empty() && !own.contains("lower rate"), "{own}");
            view.capacity.as_mut().unwrap().order.vary =
                VariedLoad::Concurrency { job: "read".to_owned() };
            assert_eq!(view.objecting()[0].remedy, usual, "{kind:?}");
        }
    }

    #[test]
    fn interrupted_experiment_reports_its_progress_and_how_to_continue() {
        let mut view = experiment();
        view.state = ExperimentState::Interrupted;
        view.rounds = vec![12];
        view.record = "/home/ann/r.assay".to_owned();
        let run = |round: u32, arm: usize| RunView { round, ..run_of(arm, Vec::new()) };
        view.runs = vec![run(0, 0), run(0, 1), run(1, 0), run(1, 1), run(2, 0)];
        assert_eq!(view.reason(), "2 of 12 rounds are complete");
        let text = text_of(&view);
        assert!(text.contains("\nINVALID: 2 of 12 rounds are complete\n"), "{text}");
        let command = "assay run e.ini --resume";
        assert!(text.contains(&format!("{command} /home/ann/r.assay\n")), "{text}");
        let page = experiment_html(&view);
        assert!(page.contains(&format!("{command} r.assay")), "{page}");
        assert!(!page.contains("/home/ann"), "{page}");
        let markdown = experiment_markdown(&view);
        assert!(markdown.contains(&format!("`{command} r.assay`")), "{markdown}");
        assert!(!markdown.contains("/home/ann"), "{markdown}");
    }

    /// Returns a run with the limiter of a satisfied run, an overloaded run or a run that is too
    /// short.
    fn limited(number: u32, by: Limited) -> RunView {
        let (limiter, limiter_finding) = match by {
            Limited::Satisfied => (Component::NotSaturated, LimiterFinding::Satisfied),
            Limited::Overloaded => {
                let why = Saturation::Overload;
                let saturated = Vec::new();
                let finding =
                    LimiterFinding::NothingSaturated { why, sees_server: true, saturated };
                (Component::Unknown, finding)
            }
            Limited::Short => {
                let reason = Inconclusive::ShortWindow;
                (Component::GeneratorInput, LimiterFinding::Inconclusive(reason))
            }
        };
        RunView { number, limiter, limiter_finding, ..run_of(0, Vec::new()) }
    }

    #[derive(Clone, Copy)]
    enum Limited {
        Satisfied,
        Overloaded,
        Short,
    }

    const SATISFIED: &str = "Throughput not limited: open jobs kept up with arrivals; this says \
                             nothing about response times";
    const OVERLOADED: &str = "The limiter is unknown: requests arrive faster than they are \
                              answered, and no observed component is saturated";

    /// Checks the lines that follow the limiters in text, page and Markdown.
    #[track_caller]
    fn check(view: &ExperimentView, expected: &[String]) {
        assert_eq!(lines::limiter_evidence(view), expected);
        let [text, page, markdown] =
            [text_of(view), experiment_html(view), experiment_markdown(view)];
        for line in expected {
            assert!(text.contains(&format!(" {line}\n")), "{line}: {text}");
            assert!(page.contains(line) && markdown.contains(line), "{line}: {page} {markdown}");
        }
    }

    /// Run 5 confirmed 740/s. The runs 3, 6 and 8 fail at 820/s, and the undecided run 7 counts
    /// with them. Run 9 fails at 790/s, but the runs 9 and 10 together pass at this value. Run 11
    /// is excluded, because it is invalid.
    #[test]
    fn trials_at_the_confirmed_value_and_the_lowest_that_fails_name_their_limiter() {
        let mut search = search();
        let others = [
            (6, 820.0, 400),
            (7, 820.0, 110),
            (8, 820.0, 400),
            (9, 790.0, 140),
            (10, 790.0, 50),
            (11, 820.0, 400),
        ];
        let more = others
            .map(|(run, value, slow)| TrialView { run, ..trial(value, Phase::Round(2), slow) });
        search.trials.extend(more);
        let last = search.trials.last_mut().unwrap();
        last.trial.invalid = vec!["stall".to_owned()];
        let mut view = ExperimentView { capacity: Some(search), ..experiment() };
        let by = |number: u32| match number {
            5 => Limited::Satisfied,
            3 | 6 | 8 => Limited::Overloaded,
            _ => Limited::Short,
        };
        view.runs = (1..=11).map(|number| limited(number, by(number))).collect();
        let fails = format!("at 820/s (fails): {OVERLOADED} (in 3 of 4 runs)");
        check(&view, &[format!("at 740/s (confirmed): {SATISFIED}"), fails]);
    }

    #[test]
    fn search_without_a_value_names_the_limiter_of_the_lowest_trial_that_fails() {
        let mut search = search();
        let found = search.found.as_mut().unwrap();
        (found.sustained, found.fails) = (None, Some(100.0));
        let mut view = ExperimentView { capacity: Some(search), ..experiment() };
        view.runs = vec![limited(1, Limited::Overloaded), limited(3, Limited::Short)];
        check(&view, &[format!("at 100/s (fails): {OVERLOADED}")]);
    }

    /// The second of three points is the best. A repeated run and a run of `[saturate]` do not
    /// count.
    #[test]
    fn best_and_last_point_of_a_sweep_name_the_limiter_of_their_runs() {
        let mut sweep = sweep(&[("1", 100.0, 2.0), ("2", 190.0, 3.0), ("4", 180.0, 4.0)], 1);
        sweep.curves[0].points[0].limiters = vec![Component::GeneratorInput];
        sweep.curves[0].points[1].limiters = vec![Component::NotSaturated];
        sweep.curves[0].points[2].limiters = vec![Component::Unknown, Component::NotSaturated];
        let mut view = ExperimentView { sweep: Some(sweep), ..experiment() };
        view.arms.truncate(1);
        let run = |number: u32, point: &str, by: Limited| RunView {
            point: Some(point.to_owned()),
            phase: RunPhase::Sweep,
            ..limited(number, by)
        };
        let repeated = RunView { state: "repeated", ..run(6, "2", Limited::Short) };
        let step = RunView { phase: RunPhase::Saturate, ..run(7, "4", Limited::Short) };
        view.runs = vec![
            run(1, "1", Limited::Short),
            run(2, "2", Limited::Satisfied),
            run(3, "4", Limited::Overloaded),
            run(4, "4", Limited::Satisfied),
            run(5, "4", Limited::Overloaded),
            repeated,
            step,
        ];
        let at_last = format!("at 4: {OVERLOADED} (in 2 of 3 runs)");
        check(&view, &[format!("at 2: {SATISFIED}"), at_last]);
        let page = experiment_html(&view);
        let (answer, points) = page.split_once("<section id=\"numbers\"").expect("points");
        assert!(!answer.contains("not-saturated"), "the evidence says more: {answer}");
        assert!(points.contains("<bdi>unknown, not-saturated</bdi>"), "{points}");
        let text = text_of(&view);
        let rows = text.lines().filter(|line| line.starts_with("  4 "));
        assert!(rows.clone().any(|row| row.ends_with("  unknown, not-saturated")), "{text}");
        let points = &sweep_json::fields(&view)["sweep"];
        assert_eq!(points[0]["limiter"], "generator-input");
        assert_eq!(points[2]["limiter"], "unknown, not-saturated");
    }
}
