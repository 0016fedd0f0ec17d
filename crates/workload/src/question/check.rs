//! Checks of experiment files.

use std::collections::BTreeSet;
use std::rc::Rc;

use base::{Diagnostic, Severity, Span, Target, TargetKind};

use super::arm::{self, ArmDraft, printable_name};
use super::capacity::VariedLoad;
use super::capacity_section;
use super::difference::{self, Difference};
use super::draft::{self, QuestionDraft, WorkloadSource, own_workload};
use super::effect_of_statements;
use super::experiment::{Arm, Experiment, Restore, Sweep};
use super::fields::Fields;
use super::fixed;
use super::judge::{self, ArmRuns, JudgedMetric};
use super::saturate::SaturateQuestion;
use super::saturate_section::{self, SaturateDraft};
use super::sections::{QUESTION, SATURATE, SWEEP, Sections};
use super::statement_key::StatementKey;
use super::sweep::{self, SweepDraft, SweptValues};
use super::target_options::normalized;
use super::workload_folder::WorkloadFolder;
use crate::check::{Overrides, check, check_with_tables};
use crate::folder::Folder;
use crate::generate::Tables;
use crate::keys::{self, SectionKind};
use crate::plan::{FixedStatement, JobTarget, Plan};
use crate::read::{File, Section, parse};
use crate::sink::{ReferencedFile, Sink};
use crate::wording::{self, quoted};

/// Returns true if a text is an experiment file: it has a section `[question]` that is not a job.
pub fn is_experiment(source: &str) -> bool {
    let has_header = |line: &str| line.trim_start().starts_with("[question");
    if !source.lines().any(has_header) {
        return false;
    }
    let (file, _) = parse(source);
    file.sections.iter().any(|section| {
        let is_job = section.entries.iter().any(|one| keys::makes_a_job(one.key().text()));
        section.name == QUESTION && !is_job
    })
}

/// Returns the experiment of an experiment file, and the diagnostics about it and its workload
/// file.
///
/// There is an experiment if and only if no diagnostic is an error. `overrides` apply to the
/// workload; `folder` gives access to the files below the folder of the experiment file.
pub fn experiment_in(
    source: &str,
    overrides: &Overrides,
    folder: &dyn Folder,
) -> (Option<Experiment>, Vec<Diagnostic>) {
    let (file, mut found) = parse(source);
    let mut checker = Checker { file: &file, overrides, folder, sink: Sink::default() };
    let experiment = checker.experiment();
    let sound = file.errors() == 0 && checker.sink.errors() == 0;
    found.extend(checker.sink.finish());
    crate::sink::sort(&mut found);
    (experiment.filter(|_| sound), found)
}

impl Experiment {
    /// Returns true if the workload may change data; the order of runs may then matter.
    pub fn writes(&self) -> bool {
        self.arm_points().iter().any(|arm| judge::writes(&arm.plan))
    }

    /// Returns the plan of a run of an arm; `seed` replaces the seed of the workload file.
    ///
    /// `overrides` and `folder` are the same as in the check of the experiment. Returns `None` if
    /// the workload's files have changed since that check and the plan now has errors.
    pub fn plan(
        &self,
        arm: &Arm,
        seed: u64,
        overrides: &Overrides,
        folder: &dyn Folder,
    ) -> Option<Plan> {
        let overrides = difference::overrides(&arm.differences, overrides);
        let secrets = arm.plan.secret_params().map(str::to_owned);
        let overrides = overrides.with_global("seed", seed).with_secrets(secrets);
        let (file, _) = parse(&self.source);
        let (file, name) = match &self.workload {
            Some(name) => (file, name.as_str()),
            None => (own_workload(&file), ""),
        };
        let (plan, _) = check(&file, &overrides, &WorkloadFolder::of(name, folder));
        let mut plan = plan?;
        difference::adjust(&arm.differences, &mut plan);
        Some(plan)
    }
}

struct Checker<'f> {
    file: &'f File<'f>,
    overrides: &'f Overrides,
    folder: &'f dyn Folder,
    sink: Sink,
}

/// The files from which the plans of the arms are derived.
#[derive(Clone, Copy)]
struct Planner<'p, 'f> {
    draft: &'p QuestionDraft<'f>,
    workload: &'p WorkloadSource<'f>,
    /// The parsed workload file.
    parsed: &'p File<'p>,
    /// The parameters that are secret in the plans of all arms.
    secrets: &'p BTreeSet<String>,
    /// The folder of the workload file, with the CSV files that were read.
    tables: &'p Tables<'p>,
}

/// An arm with its plan.
struct CheckedArm {
    arm: Arm,
    /// Position of the arm's header, or of its point.
    span: Span,
    /// Diagnostics of the workload file after the arm's differences were applied to it.
    found: Vec<Diagnostic>,
}

impl<'f> Checker<'f> {
    fn experiment(&mut self) -> Option<Experiment> {
        let sections = Sections::of(self.file, &mut self.sink);
        let (question, file) = (sections.question?, self.file);
        let fields = Fields::of(file, question, SectionKind::Question, &mut self.sink);
        let draft = draft::read(&fields, self.folder, &mut self.sink);
        sections.check(question, &fields, &draft, &mut self.sink);
        let search = sections.capacity.map(|it| capacity_section::read(file, it, &mut self.sink));
        let saturate = sections.saturate.map(|it| saturate_section::read(file, it, &mut self.sink));
        let sweep = sections.sweep.and_then(|section| sweep::read(file, section, &mut self.sink));
        let workload = draft.workload.as_ref()?;
        if fields.one("workload").is_none() && !sections.has_own_workload() {
            return None;
        }
        let before = self.sink.errors();
        let (parsed, of_parsing) = workload.parsed(file);
        let folder = WorkloadFolder::of(workload.name().unwrap_or_default(), self.folder);
        let (secrets, tables) = (&BTreeSet::new(), &Tables::new(&folder));
        let planner = Planner { draft: &draft, workload, parsed: &parsed, secrets, tables };
        let drafts = match &search {
            Some(search) => search.arm(&parsed, &mut self.sink).into_iter().collect(),
            None => self.drafts(&planner, &sections.arms, sections.sweep),
        };
        let secrets = drafts.iter().flat_map(|draft| self.secrets(&planner, draft)).collect();
        let planner = Planner { secrets: &secrets, ..planner };
        let arms = self.arms(&planner, drafts, &of_parsing);
        let is_sound = self.sink.errors() == before;
        if is_sound {
            self.report_arms(&draft, &arms);
        }
        let saturated_load = saturate.as_ref().and_then(SaturateDraft::load);
        let saturate = saturate.filter(|_| is_sound && search.is_none());
        let saturate = saturate.and_then(|saturate| self.saturate(&planner, &saturate, &arms));
        let own_plan = &arms.first()?.arm.plan;
        let best = sweep.as_ref().and_then(|draft| draft.best.clone());
        let sweep = sweep.filter(|_| is_sound).and_then(|it| self.sweep(&planner, it, &arms));
        let mut judged: Vec<JudgedMetric<'_, '_>> =
            draft.bets.iter().map(|(bet, place)| (&bet.metric, *place)).collect();
        judged.extend(best.iter().map(|(rule, place)| (&rule.metric, *place)));
        let saturated = saturate.as_ref().map(|(_, saturated)| saturated.as_slice());
        let runs = runs_of_arms(&arms, sweep.as_ref(), saturated);
        let job = saturated_load.as_ref().map(VariedLoad::job);
        judge::metrics(&judged, &runs, job, &mut self.sink);
        judge::metrics_of_loads(&judged, &draft.restore, &mut self.sink);
        if let Some(list) = fields.one("delta") {
            judge::deltas(list, own_plan, &mut self.sink);
        }
        if draft.bets.is_empty() && self.sink.errors() == before {
            judge::default_metrics(&runs, &mut self.sink);
        }
        self.reject_repeated_inserts(&draft, &arms);
        let capacity = search.and_then(|search| search.check(own_plan, &mut self.sink));
        Some(Experiment {
            ask: draft.ask?,
            workload: workload.name().map(str::to_owned),
            source: match workload {
                WorkloadSource::File { text, .. } => text.clone(),
                WorkloadSource::Own => file.text().to_owned(),
            },
            bets: draft.bets.into_iter().map(|(bet, _)| bet).collect(),
            rounds: draft.rounds,
            restore: draft.restore,
            has_several_differences: draft.has_several_differences,
            design: draft.design,
            deltas: draft.deltas,
            arms: arms.into_iter().map(|checked| checked.arm).collect(),
            sweep,
            saturate: saturate.map(|(question, _)| question),
            capacity,
        })
    }

    /// Reports arms that cannot be compared, and warns of statements before their runs.
    fn report_arms(&mut self, draft: &QuestionDraft<'_>, arms: &[CheckedArm]) {
        self.reject_same(arms, &as_single_arms(arms), "");
        self.reject_other_data(arms);
        self.reject_servers_without_restart(arms);
        self.warn_of_statements(draft, arms);
    }

    /// Returns the search for saturation, and the arms at its largest load. Returns `None`, and
    /// reports errors, if an arm cannot have this load.
    fn saturate(
        &mut self,
        planner: &Planner<'_, '_>,
        draft: &SaturateDraft<'_>,
        arms: &[CheckedArm],
    ) -> Option<(SaturateQuestion, Vec<CheckedArm>)> {
        let before = self.sink.errors();
        let vary = draft.vary(planner.parsed, &mut self.sink)?;
        for checked in arms {
            sweep::reject_fixed(SATURATE, &vary, &checked.arm, checked.span, &mut self.sink);
        }
        let question = draft.question(&arms.first()?.arm.plan, &mut self.sink)?;
        if self.sink.errors() > before {
            return None;
        }
        let mut saturated = Vec::new();
        for checked in arms {
            let at_largest = draft.at_largest(&checked.arm, &question);
            let (plan, found) = self.plan(planner, &at_largest);
            let own = found.iter().filter(|one| !checked.found.contains(one));
            self.report_in_arm(planner.workload, &at_largest, &own.collect::<Vec<_>>());
            let Some(plan) = plan else { continue };
            draft.check(&plan, &mut self.sink);
            saturated.push(self.arm(planner, at_largest, plan));
        }
        if self.sink.errors() == before {
            self.reject_same(arms, &as_single_arms(&saturated), " at the load of [saturate]");
        }
        (self.sink.errors() == before).then_some((question, saturated))
    }

    /// Returns the drafts of the arms; for a sweep without arms a single one, the workload as it
    /// is.
    fn drafts(
        &mut self,
        planner: &Planner<'_, '_>,
        sections: &[(&str, &Section<'_>)],
        sweep: Option<&Section<'_>>,
    ) -> Vec<ArmDraft> {
        let draft = |(name, section): &(&str, &Section<'_>)| {
            arm::read(self.file, section, name, planner.parsed, &mut self.sink)
        };
        let drafts: Vec<ArmDraft> = sections.iter().map(draft).collect();
        if !planner.draft.has_several_differences {
            drafts.iter().for_each(|draft| arm::reject_several(draft, &mut self.sink));
        }
        drafts.iter().for_each(|draft| arm::reject_repeated_options(draft, &mut self.sink));
        match (drafts.is_empty(), sweep) {
            (true, Some(section)) => vec![ArmDraft::of_workload(section.span)],
            _ => drafts,
        }
    }

    /// Returns the arms with their plans. Diagnostics that all arms have are reported once, for the
    /// workload, together with those of parsing the workload (`of_parsing`). The others are
    /// reported for their arm.
    fn arms(
        &mut self,
        planner: &Planner<'_, '_>,
        drafts: Vec<ArmDraft>,
        of_parsing: &[Diagnostic],
    ) -> Vec<CheckedArm> {
        let workload = planner.workload;
        let mut plans = Vec::new();
        for draft in drafts.into_iter().filter(|draft| draft.is_sound) {
            let (plan, found) = self.plan(planner, &draft);
            plans.push((draft, plan, found));
        }
        let everywhere = |one: &&Diagnostic| plans.iter().all(|(.., found)| found.contains(one));
        let shared: Vec<Diagnostic> = match plans.first() {
            Some((.., found)) => found.iter().filter(everywhere).cloned().collect(),
            None => Vec::new(),
        };
        self.report_in_workload(workload, workload.span(), of_parsing.iter().chain(&shared));
        let mut arms = Vec::new();
        for (arm, plan, found) in plans {
            let own: Vec<&Diagnostic> = found.iter().filter(|one| !shared.contains(one)).collect();
            self.report_in_arm(workload, &arm, &own);
            let Some(plan) = plan else { continue };
            arm::reject_unused_options(&arm, plan.target.as_ref(), &mut self.sink);
            let arm = self.arm(planner, arm, plan);
            arms.push(CheckedArm { found, ..arm });
        }
        arms
    }

    /// Returns the parameters that are secret in the workload of an arm, or in a statement before
    /// or after its runs. They must be secret in the plans of all arms, which otherwise would show
    /// their values.
    fn secrets(&self, planner: &Planner<'_, '_>, arm: &ArmDraft) -> BTreeSet<String> {
        let statements = arm.differences.iter().filter_map(|one| match one {
            Difference::Before(text) | Difference::After(text) => Some(text.as_str()),
            _ => None,
        });
        let statements: Vec<&str> = planner.draft.restore.statements().chain(statements).collect();
        let (overrides, tables) = (self.overrides_of(planner, arm), planner.tables);
        let context = fixed::Context { workload: planner.parsed, overrides: &overrides, tables };
        fixed::secrets(context, &statements)
    }

    /// Checks the workload with the differences of an arm.
    fn plan(&self, planner: &Planner<'_, '_>, arm: &ArmDraft) -> (Option<Plan>, Vec<Diagnostic>) {
        check_with_tables(planner.parsed, &self.overrides_of(planner, arm), planner.tables)
    }

    fn overrides_of(&self, planner: &Planner<'_, '_>, arm: &ArmDraft) -> Overrides {
        arm.overrides(self.overrides).with_secrets(planner.secrets.iter().cloned())
    }

    /// Returns the sweep with its arms at points, and reports their errors; `None` if the points
    /// are invalid, or if an arm sets the varied key.
    fn sweep(
        &mut self,
        planner: &Planner<'_, '_>,
        draft: SweepDraft<'_>,
        arms: &[CheckedArm],
    ) -> Option<Sweep> {
        let run = arms.iter().filter_map(|checked| checked.arm.plan.duration).max();
        let points = match draft.points(arms.len(), run, planner.parsed) {
            Ok(points) => points,
            Err(error) => {
                self.sink.error(|| *error);
                return None;
            }
        };
        let before = self.sink.errors();
        let mut arm_points = Vec::new();
        for checked in arms {
            sweep::reject_fixed(SWEEP, &points.vary, &checked.arm, checked.span, &mut self.sink);
            if self.sink.errors() > before {
                return None;
            }
            let own = self.arm_points_of(planner, &points, checked);
            self.reject_same_points(&points, &own);
            arm_points.extend(own);
        }
        if self.sink.errors() == before {
            let grid: Vec<&[CheckedArm]> = arm_points.chunks(points.values.len()).collect();
            self.reject_same(arms, &grid, " at every point of [sweep]");
            self.reject_other_tables(&points, &arm_points);
            self.reject_servers_without_restart(&arm_points);
        }
        Some(Sweep {
            values: points.texts(),
            vary: points.vary,
            repeats: draft.repeats,
            best: draft.best.map(|(rule, _)| rule),
            arm_points: arm_points.into_iter().map(|checked| checked.arm).collect(),
        })
    }

    /// Returns the arm at each point for which there is a plan. Reports the errors at a point that
    /// the arm does not have without the point.
    fn arm_points_of(
        &mut self,
        planner: &Planner<'_, '_>,
        points: &SweptValues<'_>,
        checked: &CheckedArm,
    ) -> Vec<CheckedArm> {
        let mut arm_points = Vec::new();
        for (place, value) in points.values.iter().enumerate() {
            let draft = ArmDraft::at_point(&checked.arm, &points.vary, value);
            let target = checked.arm.plan.target.as_ref();
            if let Err(error) = points.vary.refuse_value(&value.text, value.place, target) {
                self.sink.error(|| *error);
                continue;
            }
            let (plan, found) = self.plan(planner, &draft);
            let own = found.iter().filter(|one| !checked.found.contains(one));
            self.report_in_arm(planner.workload, &draft, &own.collect::<Vec<_>>());
            let Some(plan) = plan else { continue };
            if place == 0 {
                arm::reject_unused_options(&draft, plan.target.as_ref(), &mut self.sink);
            }
            let mut arm_point = self.arm(planner, draft, plan);
            arm_point.arm.point = Some(value.text.clone());
            arm_points.push(arm_point);
        }
        arm_points
    }

    /// Returns an arm with its plan, and with the statements before and after its runs.
    fn arm(&mut self, planner: &Planner<'_, '_>, arm: ArmDraft, mut plan: Plan) -> CheckedArm {
        let (overrides, tables) = (self.overrides_of(planner, &arm), planner.tables);
        let context = fixed::Context { workload: planner.parsed, overrides: &overrides, tables };
        let mut statements = |key: StatementKey, texts: &[&str], span: Option<Span>| {
            fixed::statements(context, key, texts, span, &mut self.sink)
        };
        let of_arm = |wanted: fn(&Difference) -> Option<&str>| -> (Vec<&str>, Option<Span>) {
            let mut all = arm.differences.iter().zip(&arm.spans);
            let first = all.clone().find(|(one, _)| wanted(one).is_some());
            let texts = all.by_ref().filter_map(|(one, _)| wanted(one)).collect();
            (texts, first.and_then(|(_, span)| *span))
        };
        let restore: Vec<&str> = planner.draft.restore.statements().collect();
        let restore = statements(StatementKey::Restore, &restore, planner.draft.restore_span);
        let (before, at) = of_arm(|one| match one {
            Difference::Before(text) => Some(text),
            _ => None,
        });
        let before = statements(StatementKey::Before, &before, at);
        let dialect = plan.dialect(JobTarget::Main);
        let idle_before = effect_of_statements::change_session_only(&before, dialect).then_some(at);
        let (after, at) = of_arm(|one| match one {
            Difference::After(text) => Some(text),
            _ => None,
        });
        let after = statements(StatementKey::After, &after, at);
        if let Some(at) = idle_before {
            self.sink.error_once(ineffective_statements(&arm.name, at));
        }
        difference::adjust(&arm.differences, &mut plan);
        let ArmDraft { name, span, differences, .. } = arm;
        let arm = Arm { name, point: None, differences, plan, restore, before, after };
        CheckedArm { arm, span, found: Vec::new() }
    }

    /// Reports diagnostics of the workload. If it is a file of its own, they point to `named_at` in
    /// the experiment file, and name the line of the workload file. Otherwise they point to their
    /// own line or, without one, to `named_at` or `[question]`.
    fn report_in_workload<'d>(
        &mut self,
        workload: &WorkloadSource<'_>,
        named_at: Option<Span>,
        found: impl Iterator<Item = &'d Diagnostic>,
    ) {
        let mut at = None;
        match workload {
            WorkloadSource::File { name, text } => {
                let (name, text) = (name.text().to_owned(), Rc::from(text.as_str()));
                self.sink.set_file(Some(ReferencedFile { name, text, named_at }));
            }
            WorkloadSource::Own => {
                let question = self.file.sections.iter().find(|section| section.name == QUESTION);
                at = named_at.or(question.map(|question| question.span));
            }
        }
        for one in found {
            let one = Diagnostic { span: one.span.or(at), ..one.clone() };
            match one.severity {
                Severity::Error => self.sink.error(|| one),
                Severity::Warning => self.sink.warning(|| one),
            }
        }
        self.sink.set_file(None);
    }

    /// Reports `own`, the diagnostics that the differences of an arm cause, at the lines that cause
    /// them.
    fn report_in_arm(
        &mut self,
        workload: &WorkloadSource<'_>,
        draft: &ArmDraft,
        own: &[&Diagnostic],
    ) {
        for one in own {
            let lines = draft.differences.iter().zip(&draft.spans);
            let cause = lines.into_iter().find_map(|(difference, span)| {
                let is_cause = one.option.is_some()
                    && option_text(difference).as_deref() == one.option.as_deref();
                is_cause.then(|| span.unwrap_or(draft.span))
            });
            // If the cause is known, the diagnostic points to it and needs no option.
            let option = one.option.clone().filter(|_| cause.is_none());
            let at = cause.unwrap_or(draft.span);
            let found = Diagnostic { option, ..(*one).clone() };
            let here = Diagnostic { span: Some(at), ..found.clone() };
            match (found.span, found.severity) {
                (None, Severity::Error) => self.sink.error(|| here),
                (None, Severity::Warning) => self.sink.warning(|| here),
                (Some(_), _) => {
                    self.report_in_workload(workload, Some(at), std::iter::once(&found));
                }
            }
        }
    }

    /// Reports two arms whose runs are the same. `runs` has the runs of each arm. `location` names
    /// the place in the experiment at which they are the same; it is added to the message.
    fn reject_same(&mut self, arms: &[CheckedArm], runs: &[&[CheckedArm]], location: &str) {
        for (first, second) in equal_pairs(runs) {
            self.sink.error(|| {
                let [first_name, second_name] =
                    [first, second].map(|place| printable_name(&arms[place].arm.name));
                let message =
                    format!("[arm {second_name}] is the same as [arm {first_name}]{location}");
                Diagnostic::error(arms[second].span, message).help(
                    "change one thing in it; to compare an arm with itself, write `design = aa`",
                )
            });
        }
    }

    /// Reports two values of a sweep at which the runs of an arm are the same.
    fn reject_same_points(&mut self, points: &SweptValues<'_>, arm_points: &[CheckedArm]) {
        let value = |checked: &CheckedArm| quoted(checked.arm.point.as_deref().unwrap_or_default());
        for (first, second) in equal_pairs(&as_single_arms(arm_points)) {
            let span = arm_points[second].span;
            let [first, second] = [first, second].map(|place| value(&arm_points[place]));
            let message = match first == second {
                true => format!("{second} is given twice"),
                false => format!("{first} and {second} mean the same for `{}`", points.vary),
            };
            let error = Diagnostic::error(span, message).help("remove one of the two");
            self.sink.error_once(error);
        }
    }

    /// Reports a sweep whose points need different tables, because setup and loads run once.
    fn reject_other_tables(&mut self, points: &SweptValues<'_>, arm_points: &[CheckedArm]) {
        for other in arm_points.iter().filter(|other| needs_other_data(&arm_points[0], other)) {
            let message = format!("`{}` changes the tables: setup and loads run once", points.vary);
            let help = "vary something that only jobs use";
            self.sink.error_once(Diagnostic::error(other.span, message).help(help));
        }
    }

    /// Reports an arm that needs other tables than the baseline on the same server, because setup
    /// and loads run once.
    fn reject_other_data(&mut self, arms: &[CheckedArm]) {
        let Some((first, others)) = arms.split_first() else { return };
        for other in others {
            if needs_other_data(first, other) {
                self.sink.error(|| {
                    let message = format!(
                        "[arm {}] needs other tables than [arm {}]: setup and loads run once",
                        printable_name(&other.arm.name),
                        printable_name(&first.arm.name)
                    );
                    Diagnostic::error(other.span, message)
                        .help("change something that only jobs use, or give the arm its own `url`")
                });
            }
        }
    }

    /// Reports an arm whose server cannot be restarted, if the servers of other arms are restarted
    /// before each run.
    fn reject_servers_without_restart(&mut self, arms: &[CheckedArm]) {
        let changes_setting = |checked: &&CheckedArm| {
            checked.arm.differences.iter().any(|one| matches!(one, Difference::Server { .. }))
        };
        let is_private = |checked: &&CheckedArm| {
            let target = checked.arm.plan.target.as_ref();
            target.is_some_and(|target| target.kind == TargetKind::Testbed)
        };
        let Some(changing) = arms.iter().find(changes_setting) else { return };
        for other in arms.iter().filter(|checked| !is_private(checked)) {
            self.sink.error(|| {
                let message = format!(
                    "[arm {}] uses a server that is not restarted before each run",
                    printable_name(&other.arm.name)
                );
                let help = format!(
                    "[arm {}] changes a setting, for which the server restarts: give both a \
                     `testbed:` URL",
                    printable_name(&changing.arm.name)
                );
                Diagnostic::error(other.span, message).help(help)
            });
        }
    }

    /// Warns of statements before a run that have a lasting effect on other arms, or no effect.
    fn warn_of_statements(&mut self, draft: &QuestionDraft<'_>, arms: &[CheckedArm]) {
        self.warn_of_lasting_statements(draft, arms);
        self.warn_of_statements_without_reader(arms);
    }

    /// Warns of an arm whose statements before a run change the server of other arms for good.
    fn warn_of_lasting_statements(&mut self, draft: &QuestionDraft<'_>, arms: &[CheckedArm]) {
        if draft.restore != Restore::None {
            return;
        }
        for checked in arms {
            let CheckedArm { arm, span, .. } = checked;
            let shares = |other: &CheckedArm| {
                other.arm.before.is_empty() && server_of(other) == server_of(checked)
            };
            if !arm.is_simulated()
                && arm.after.is_empty()
                && effect_of_statements::have_lasting_effect(
                    &arm.before,
                    arm.plan.dialect(JobTarget::Main),
                )
                && arms.iter().any(shares)
            {
                self.sink.warning(|| {
                    let message = format!(
                        "[arm {}] has `before` without `after`: what it changes stays for the \
                         later runs of the other arms",
                        printable_name(&arm.name)
                    );
                    let help = "undo it with `after`, or bring the data back with `restore`";
                    Diagnostic::warning(*span, message).help(help)
                });
            }
        }
    }

    /// Warns of an arm whose statements before a run have no effect, because its server is
    /// simulated.
    fn warn_of_statements_without_reader(&mut self, arms: &[CheckedArm]) {
        let idle =
            |checked: &&CheckedArm| !checked.arm.before.is_empty() && checked.arm.is_simulated();
        for CheckedArm { arm, span, .. } in arms.iter().filter(idle) {
            self.sink.warning(|| {
                let message = format!(
                    "`before` of [arm {}] has no effect: a simulated server answers statements \
                     without reading them",
                    printable_name(&arm.name)
                );
                Diagnostic::warning(*span, message).help(
                    "change an option of the server, such as `option.service = 2ms`, or name a \
                     database with --url",
                )
            });
        }
    }

    /// Reports the first job that would insert the same keys in every run.
    fn reject_repeated_inserts(&mut self, draft: &QuestionDraft<'_>, arms: &[CheckedArm]) {
        if draft.restore != Restore::None {
            return;
        }
        let jobs = arms.first().into_iter().flat_map(|checked| checked.arm.plan.jobs_and_parts());
        let Some(job) = jobs.into_iter().find(|job| judge::inserts_numbered_keys(job.requests()))
        else {
            return;
        };
        self.sink.error(|| {
            let message = format!(
                "[{}] inserts the keys of `sequence()` or `permute()` again in every run",
                printable_name(job.name())
            );
            wording::error(draft.workload.as_ref().and_then(WorkloadSource::span), message).help(
                "write `restore = reload`, or a statement that removes them: \
                 `restore = delete from …`",
            )
        });
    }
}

/// Returns each arm as a slice of its own.
fn as_single_arms(arms: &[CheckedArm]) -> Vec<&[CheckedArm]> {
    arms.iter().map(std::slice::from_ref).collect()
}

/// Returns the arms with the plans of their runs: at the points of a sweep, or at the largest load
/// of a search for saturation.
fn runs_of_arms<'a>(
    arms: &'a [CheckedArm],
    sweep: Option<&'a Sweep>,
    saturated: Option<&'a [CheckedArm]>,
) -> Vec<ArmRuns<'a>> {
    let runs = |(place, checked): (usize, &'a CheckedArm)| {
        let arm = saturated.and_then(|saturated| saturated.get(place)).unwrap_or(checked);
        let arm_points = sweep.into_iter().flat_map(|sweep| &sweep.arm_points);
        let own = arm_points.filter(|arm_point| arm_point.name == checked.arm.name);
        let mut plans: Vec<&Plan> = own.map(|arm_point| &arm_point.plan).collect();
        if plans.is_empty() {
            plans.push(&arm.arm.plan);
        }
        ArmRuns { name: &checked.arm.name, span: checked.span, plans }
    };
    arms.iter().enumerate().map(runs).collect()
}

/// The parts of an arm that its runs depend on. Statements and programs after a run are left out:
/// they affect the next run, which may be of any arm.
#[derive(PartialEq)]
struct ComparedArm {
    plan: Plan,
    /// Statements before each run.
    statements: Vec<String>,
    /// Programs before each run.
    commands: Vec<String>,
}

impl ComparedArm {
    fn of(checked: &CheckedArm) -> ComparedArm {
        let arm = &checked.arm;
        let mut plan = arm.plan.as_printed();
        plan.params.clear();
        let named = plan.targets.iter_mut().map(|named| &mut named.target);
        plan.target.iter_mut().chain(named).for_each(|target| *target = normalized(target));
        ComparedArm {
            plan,
            statements: statement_texts(&arm.before),
            commands: arm.commands(true).map(str::to_owned).collect(),
        }
    }
}

/// Returns pairs of equal runs, as indices: the first of the equal runs, and a later one. A later
/// run of an arm that sets a password is left out: passwords are not compared, and an arm that sets
/// one is refused by another check.
fn equal_pairs(runs: &[&[CheckedArm]]) -> Vec<(usize, usize)> {
    let compared: Vec<Vec<ComparedArm>> =
        runs.iter().map(|own| own.iter().map(ComparedArm::of).collect()).collect();
    let of = |place: usize| {
        let first = compared[..place].iter().position(|other| *other == compared[place])?;
        let has_password = runs[place].iter().any(|checked| sets_a_password(&checked.arm));
        (!has_password).then_some((first, place))
    };
    (0..runs.len()).filter_map(of).collect()
}

fn sets_a_password(arm: &Arm) -> bool {
    arm.differences.iter().any(|one| match one {
        Difference::Param { name, .. } => arm.plan.is_secret(name),
        _ => false,
    })
}

/// Returns true if two arms use the same server and need different tables on it.
fn needs_other_data(first: &CheckedArm, other: &CheckedArm) -> bool {
    let data = |checked: &CheckedArm| {
        let plan = checked.arm.plan.as_printed();
        (plan.setup, plan.loads, plan.teardown)
    };
    server_of(other) == server_of(first) && data(other) != data(first)
}

/// Returns the target of an arm without its options. Arms with the same result share a server.
fn server_of(checked: &CheckedArm) -> Option<Target> {
    let target = checked.arm.plan.target.as_ref();
    target.map(|target| Target { options: Vec::new(), ..target.clone() })
}

/// Returns the error about an arm whose statements before a run change only their own session.
fn ineffective_statements(arm: &str, at: Option<Span>) -> Diagnostic {
    let message = format!(
        "`before` of [arm {}] has no effect: the jobs have other sessions",
        printable_name(arm)
    );
    wording::error(at, message).help(
        "change the setting for every session, such as with `alter database … set …` or `set \
         global …`, by an option of the URL, such as `option.cache-size` of SQLite, or by \
         `server.NAME` of a `testbed:` server",
    )
}

fn statement_texts(statements: &[FixedStatement]) -> Vec<String> {
    statements.iter().map(|one| one.text.clone()).collect()
}

/// Returns the option that represents a difference in messages of the workload's check.
fn option_text(difference: &Difference) -> Option<String> {
    match difference {
        Difference::Param { name, value } => Some(quoted(&format!("--set {name}={value}"))),
        Difference::Key { section, key, .. } => Some(quoted(&format!("{key}({section})"))),
        _ => None,
    }
}
