//! Checks of experiment files.

use std::collections::BTreeMap;
use std::rc::Rc;

use base::{Diagnostic, Severity, Span, Target, TargetKind};

use super::arm::{self, ArmDraft, bare};
use super::beside::WorkloadFolder;
use super::capacity_section;
use super::difference::{self, Difference};
use super::draft::{self, QuestionDraft, WorkloadSource, own_workload};
use super::experiment::{Arm, Design, Experiment, Restore, Sweep};
use super::fields::Fields;
use super::fixed;
use super::judge::{self, Judged};
use super::sweep::{self, Points, SweepDraft};
use crate::check::{Overrides, check};
use crate::folder::Folder;
use crate::keys::{self, Owner};
use crate::missing;
use crate::plan::{FixedStatement, Plan};
use crate::read::{Excerpt, File, Section, parse};
use crate::sink::{ReferencedFile, Sink};
use crate::wording::{self, nearest, quoted};

/// Name of the section that makes a file an experiment.
const QUESTION: &str = "question";

/// Name of the section of a capacity search.
const CAPACITY: &str = "capacity";

/// First word of the names of arms.
const ARM: &str = "arm";

/// Name of the section of a sweep.
const SWEEP: &str = "sweep";

/// Highest number of arms.
const MOST_ARMS: usize = 20;

/// Returns true if a text is an experiment file: it has a section `[question]` that is no job.
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
/// There is an experiment exactly if no diagnostic is an error. `overrides` apply to the workload;
/// `folder` gives access to the files below the folder of the experiment file.
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
    /// Returns true if the workload may change data, so that the order of runs may matter.
    pub fn writes(&self) -> bool {
        self.cells().iter().any(|arm| judge::writes(&arm.plan))
    }

    /// Returns the plan of a run of an arm; `seed` replaces the seed of the workload file.
    ///
    /// The overrides and the folder are those with which the experiment was checked. `None` if the
    /// workload's files have changed meanwhile so that the plan is wrong.
    pub fn plan(
        &self,
        arm: &Arm,
        seed: u64,
        overrides: &Overrides,
        folder: &dyn Folder,
    ) -> Option<Plan> {
        let overrides = difference::overrides(&arm.differences, overrides);
        let overrides = overrides.with_global("seed", seed);
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

/// The sections of an experiment file by their kinds.
#[derive(Default)]
struct Sections<'f> {
    question: Option<&'f Section<'f>>,
    /// The arms with their names.
    arms: Vec<(&'f str, &'f Section<'f>)>,
    sweep: Option<&'f Section<'f>>,
    capacity: Option<&'f Section<'f>>,
    /// All others, which belong to a workload.
    others: Vec<&'f Section<'f>>,
}

/// The files from which the plans of the arms are made.
#[derive(Clone, Copy)]
struct Planner<'p, 'f> {
    draft: &'p QuestionDraft<'f>,
    workload: &'p WorkloadSource<'f>,
    /// The parsed workload file.
    parsed: &'p File<'p>,
}

/// An arm with its plan.
struct Checked {
    arm: Arm,
    /// Position of its header, or of its point.
    span: Span,
    /// Diagnostics of the workload file with its differences.
    found: Vec<Diagnostic>,
}

impl<'f> Checker<'f> {
    fn experiment(&mut self) -> Option<Experiment> {
        let sections = self.sections();
        let Sections { arms, sweep, capacity, .. } = &sections;
        let (question, sweep) = (sections.question?, *sweep);
        let fields = Fields::of(self.file, question, Owner::Question, &mut self.sink);
        let draft = draft::read(&fields, self.folder, &mut self.sink);
        let search = capacity.map(|it| capacity_section::read(self.file, it, &mut self.sink));
        self.require(question, &fields, &sections);
        match &search {
            Some(_) => self.reject_beside_capacity(&fields, &sections),
            None => self.count_arms(question, &draft, arms, sweep.is_some()),
        }
        let sweep_draft = sweep.and_then(|section| sweep::read(self.file, section, &mut self.sink));
        if let Some(section) = sweep {
            self.reject_beside_sweep(section, &fields, &draft, arms);
        }
        let workload = draft.workload.as_ref()?;
        if fields.one("workload").is_none() && !self.has_own_workload(&sections) {
            return None;
        }
        let before = self.sink.errors();
        let (parsed, of_parsing) = workload.parsed(self.file);
        let planner = Planner { draft: &draft, workload, parsed: &parsed };
        let drafts = match &search {
            Some(search) => search.arm(&parsed, &mut self.sink).into_iter().collect(),
            None => self.drafts(&planner, arms, sweep),
        };
        let arms = self.arms(&planner, drafts, &of_parsing);
        let is_sound = self.sink.errors() == before;
        if is_sound {
            self.reject_same(&arms);
            self.reject_other_data(&arms);
            self.reject_servers_without_restart(&arms);
        }
        let best = sweep_draft.as_ref().and_then(|draft| draft.best.as_ref());
        let mut judged: Vec<Judged<'_, '_>> =
            draft.bets.iter().map(|(bet, place)| (&bet.metric, *place)).collect();
        judged.extend(best.map(|(rule, place)| (&rule.metric, *place)));
        let plan = &arms.first()?.arm.plan;
        judge::metrics(&judged, plan, &mut self.sink);
        judge::metrics_of_loads(&judged, &draft.restore, &mut self.sink);
        self.reject_repeated_inserts(&draft, &arms);
        let capacity = search.and_then(|search| search.check(plan, &mut self.sink));
        let sweep = sweep_draft.filter(|_| is_sound);
        let sweep = sweep.and_then(|sweep| self.sweep(&planner, sweep, &arms));
        Some(Experiment {
            ask: draft.ask?,
            workload: workload.name().map(str::to_owned),
            source: match workload {
                WorkloadSource::File { text, .. } => text.clone(),
                WorkloadSource::Own => self.file.text().to_owned(),
            },
            bets: draft.bets.into_iter().map(|(bet, _)| bet).collect(),
            rounds: draft.rounds,
            restore: draft.restore,
            has_several_differences: draft.has_several_differences,
            design: draft.design,
            deltas: draft.deltas,
            arms: arms.into_iter().map(|checked| checked.arm).collect(),
            sweep,
            capacity,
        })
    }

    /// Returns true if the file has more than the sections of an experiment.
    fn has_own_workload(&self, sections: &Sections<'_>) -> bool {
        !sections.others.is_empty() || !self.file.globals.is_empty()
    }

    /// Reports keys and sections of a workload in a file that names another one.
    fn reject_own_workload(&mut self, sections: &Sections<'_>) {
        for entry in &self.file.globals {
            self.sink.error(|| {
                let message =
                    format!("{} is not a key of an experiment file", quoted(entry.key().text()));
                entry.key().error(message).help("write it into the workload file")
            });
        }
        for section in &sections.others {
            self.sink.error(|| other_section(section));
        }
    }

    /// Reports the parts of a comparison beside a search.
    fn reject_beside_capacity(&mut self, fields: &Fields<'_>, sections: &Sections<'_>) {
        for name in ["bet", "rounds", "differences", "design", "delta"] {
            for value in fields.values(name) {
                self.sink.error(|| {
                    let message = format!("`{name}` has no meaning beside [capacity]");
                    value.error(message).help("a search compares nothing: leave it out")
                });
            }
        }
        let arms = sections.arms.iter().map(|(_, section)| *section);
        for section in arms.chain(sections.sweep) {
            self.sink.error(|| {
                let message = format!("[{}] stands beside [capacity]", bare(&section.name));
                Diagnostic::error(section.span, message)
                    .help("write an experiment file for each question and each case")
            });
        }
    }

    /// Returns the sections by their kinds; reports duplicates.
    fn sections(&mut self) -> Sections<'f> {
        let mut sections = Sections::default();
        let mut first: BTreeMap<String, Span> = BTreeMap::new();
        for section in &self.file.sections {
            if !keys::is_of_experiment(&section.name) {
                sections.others.push(section);
                continue;
            }
            let words: Vec<&str> = section.name.split_whitespace().collect();
            if let Some(span) = first.insert(words.join(" "), section.span) {
                let line = self.file.line_number(span.start);
                self.sink.error(|| {
                    let message = format!(
                        "the section [{}] occurs twice; the first is in line {line}",
                        bare(&section.name)
                    );
                    Diagnostic::error(section.span, message).help("give it another name")
                });
                continue;
            }
            match words.as_slice() {
                [QUESTION] => sections.question = Some(section),
                [SWEEP] => sections.sweep = Some(section),
                [CAPACITY] => sections.capacity = Some(section),
                [ARM, name @ ..] if name.len() == 1 => sections.arms.push((name[0], section)),
                [ARM, ..] => self.sink.error(|| {
                    Diagnostic::error(section.span, "the name of an arm is one word")
                        .help("write for example `[arm tls]`")
                }),
                _ => self.sink.error(|| other_section(section)),
            }
        }
        sections
    }

    fn require(&mut self, question: &Section<'_>, fields: &Fields<'_>, sections: &Sections<'_>) {
        let has_own = self.has_own_workload(sections);
        let mut missing = |key: &str, help: &str| {
            let is_set = question.entries.iter().any(|entry| entry.key().text() == key);
            if fields.one(key).is_none() && !is_set {
                self.sink.error(|| {
                    Diagnostic::error(question.span, format!("[question] has no `{key}`"))
                        .help(help)
                });
            }
        };
        missing("ask", "write for example `ask = What does TLS cost?`");
        if !has_own {
            missing(
                "workload",
                "write for example `workload = read.ini`, or the sections of the workload into \
                 this file",
            );
        }
        if fields.one("workload").is_some() {
            self.reject_own_workload(sections);
        }
    }

    fn count_arms(
        &mut self,
        question: &Section<'_>,
        draft: &QuestionDraft<'_>,
        arms: &[(&str, &Section<'_>)],
        has_sweep: bool,
    ) {
        let (message, help) = match (draft.design, arms.len()) {
            (Design::Aa, 1) => return,
            (Design::Arms, 0) if has_sweep => return,
            (Design::Arms, 2..=MOST_ARMS) => return,
            (Design::Arms, 1) if has_sweep => (
                "there is one arm, which is compared with nothing".to_owned(),
                "write its lines into the workload file: a sweep needs no arm",
            ),
            (Design::Aa, _) => (
                format!("`design = aa` compares one arm with itself, and there are {}", arms.len()),
                "write one `[arm NAME]`",
            ),
            (Design::Arms, 0 | 1) => (
                format!("an experiment compares at least two arms, and there are {}", arms.len()),
                "write an `[arm NAME]` for each case; the first one is the baseline",
            ),
            (Design::Arms, many) => {
                (format!("there are {many} arms: at most {MOST_ARMS}"), "split it")
            }
        };
        self.sink.error(|| Diagnostic::error(question.span, message).help(help));
    }

    /// Reports keys of `[question]` that have no meaning beside a sweep.
    fn reject_beside_sweep(
        &mut self,
        section: &Section<'_>,
        fields: &Fields<'_>,
        draft: &QuestionDraft<'_>,
        arms: &[(&str, &Section<'_>)],
    ) {
        let mut refuse = |span: Option<Span>, message: &str, help: &str| {
            let span = span.or(Some(section.span));
            self.sink.error(|| wording::error(span, message).help(help));
        };
        if draft.design == Design::Aa {
            let place = fields.one("design").and_then(Excerpt::span);
            let help = "write an experiment of its own for `design = aa`";
            refuse(place, "`design = aa` compares an arm with itself, without [sweep]", help);
        }
        if let Some(rounds) = fields.one("rounds") {
            let help = "remove it: `repeats` in [sweep] is the number of runs at each point";
            refuse(rounds.span(), "`rounds` has no meaning beside [sweep]", help);
        }
        if let (Some((_, place)), []) = (draft.bets.first(), arms) {
            let help = "write an `[arm NAME]` for each case; for the best point, write `best` in \
                        [sweep]";
            refuse(place.span(), "a bet compares arms, and the sweep has none", help);
        }
    }

    /// Returns the drafts of the arms; a sweep without arms has one, the workload as it is.
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
        match (drafts.is_empty(), sweep) {
            (true, Some(section)) => vec![ArmDraft::of_workload(section.span)],
            _ => drafts,
        }
    }

    /// Returns the arms with their plans.
    fn arms(
        &mut self,
        planner: &Planner<'_, '_>,
        drafts: Vec<ArmDraft>,
        of_parsing: &[Diagnostic],
    ) -> Vec<Checked> {
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
        self.about_workload(workload, workload.span(), of_parsing.iter().chain(&shared));
        let mut arms = Vec::new();
        for (arm, plan, found) in plans {
            let own: Vec<&Diagnostic> = found.iter().filter(|one| !shared.contains(one)).collect();
            self.about_arm(workload, &arm, &own);
            let Some(plan) = plan else { continue };
            arm::reject_idle_options(&arm, plan.target.as_ref(), &mut self.sink);
            let arm = self.arm(planner, arm, plan);
            arms.push(Checked { found, ..arm });
        }
        arms
    }

    /// Checks the workload with the differences of an arm.
    fn plan(&self, planner: &Planner<'_, '_>, arm: &ArmDraft) -> (Option<Plan>, Vec<Diagnostic>) {
        let folder = WorkloadFolder::of(planner.workload.name().unwrap_or_default(), self.folder);
        check(planner.parsed, &arm.overrides(self.overrides), &folder)
    }

    /// Returns the sweep with its cells; `None` if one of them is wrong.
    fn sweep(
        &mut self,
        planner: &Planner<'_, '_>,
        draft: SweepDraft<'_>,
        arms: &[Checked],
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
        let mut cells = Vec::new();
        for checked in arms {
            sweep::reject_fixed(&points.vary, &checked.arm, checked.span, &mut self.sink);
            if self.sink.errors() > before {
                return None;
            }
            let own = self.cells_of(planner, &points, checked);
            self.reject_same_points(&points, &own);
            cells.extend(own);
        }
        if self.sink.errors() == before {
            self.reject_other_tables(&points, &cells);
            self.reject_servers_without_restart(&cells);
        }
        Some(Sweep {
            values: points.texts(),
            vary: points.vary,
            repeats: draft.repeats,
            best: draft.best.map(|(rule, _)| rule),
            cells: cells.into_iter().map(|checked| checked.arm).collect(),
        })
    }

    /// Returns an arm at each point that has a plan; reports what the arm alone does not have.
    fn cells_of(
        &mut self,
        planner: &Planner<'_, '_>,
        points: &Points<'_>,
        checked: &Checked,
    ) -> Vec<Checked> {
        let mut cells = Vec::new();
        for (place, value) in points.values.iter().enumerate() {
            let draft = ArmDraft::at_point(&checked.arm, &points.vary, value);
            let target = checked.arm.plan.target.as_ref();
            if let Err(error) = points.vary.refuse_value(&value.text, value.place, target) {
                self.sink.error(|| *error);
                continue;
            }
            let (plan, found) = self.plan(planner, &draft);
            let own = found.iter().filter(|one| !checked.found.contains(one));
            self.about_arm(planner.workload, &draft, &own.collect::<Vec<_>>());
            let Some(plan) = plan else { continue };
            if place == 0 {
                arm::reject_idle_options(&draft, plan.target.as_ref(), &mut self.sink);
            }
            let mut cell = self.arm(planner, draft, plan);
            cell.arm.point = Some(value.text.clone());
            cells.push(cell);
        }
        cells
    }

    /// Returns an arm with its plan and the statements around its runs.
    fn arm(&mut self, planner: &Planner<'_, '_>, arm: ArmDraft, mut plan: Plan) -> Checked {
        let overrides = arm.overrides(self.overrides);
        let folder = WorkloadFolder::of(planner.workload.name().unwrap_or_default(), self.folder);
        let context =
            fixed::Context { workload: planner.parsed, overrides: &overrides, folder: &folder };
        let mut statements = |key: &str, texts: &[&str], span: Option<Span>| {
            fixed::statements(context, key, texts, span, &mut self.sink)
        };
        let of_arm = |wanted: fn(&Difference) -> Option<&str>| -> (Vec<&str>, Option<Span>) {
            let mut all = arm.differences.iter().zip(&arm.spans);
            let first = all.clone().find(|(one, _)| wanted(one).is_some());
            let texts = all.by_ref().filter_map(|(one, _)| wanted(one)).collect();
            (texts, first.and_then(|(_, span)| *span))
        };
        let restore = match &planner.draft.restore {
            Restore::Statements(all) => all.iter().map(String::as_str).collect(),
            Restore::None | Restore::Reload => Vec::new(),
        };
        let restore = statements("restore", &restore, planner.draft.restore_span);
        let (before, at) = of_arm(|one| match one {
            Difference::Before(text) => Some(text),
            _ => None,
        });
        let before = statements("before", &before, at);
        let (after, at) = of_arm(|one| match one {
            Difference::After(text) => Some(text),
            _ => None,
        });
        let after = statements("after", &after, at);
        difference::adjust(&arm.differences, &mut plan);
        let ArmDraft { name, span, differences, .. } = arm;
        let arm = Arm { name, point: None, differences, plan, restore, before, after };
        Checked { arm, span, found: Vec::new() }
    }

    /// Reports diagnostics of the workload file at the line of the experiment file that causes
    /// them.
    fn about_workload<'d>(
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

    /// Reports the diagnostics that only this arm has, at the line that causes them.
    fn about_arm(&mut self, workload: &WorkloadSource<'_>, draft: &ArmDraft, own: &[&Diagnostic]) {
        for one in own {
            let lines = draft.differences.iter().zip(&draft.spans);
            let culprit = lines.into_iter().find_map(|(difference, span)| {
                let rest = one.message.strip_prefix(&format!("{}: ", option(difference)?))?;
                Some((rest.to_owned(), span.unwrap_or(draft.span)))
            });
            let (message, at) = culprit.unwrap_or_else(|| (one.message.clone(), draft.span));
            let told = Diagnostic { message, ..(*one).clone() };
            let here = Diagnostic { span: Some(at), ..told.clone() };
            match (told.span, told.severity) {
                (None, Severity::Error) => self.sink.error(|| here),
                (None, Severity::Warning) => self.sink.warning(|| here),
                (Some(_), _) => self.about_workload(workload, Some(at), std::iter::once(&told)),
            }
        }
    }

    /// Reports two arms whose runs are the same.
    fn reject_same(&mut self, arms: &[Checked]) {
        for (same, checked) in pairs_of_same(arms) {
            self.sink.error(|| {
                let (first, second) = (bare(&same.arm.name), bare(&checked.arm.name));
                let message = format!("[arm {second}] is the same as [arm {first}]");
                Diagnostic::error(checked.span, message).help(
                    "change one thing in it; to compare an arm with itself, write `design = aa`",
                )
            });
        }
    }

    /// Reports two values of a sweep at which the runs of an arm are the same.
    fn reject_same_points(&mut self, points: &Points<'_>, cells: &[Checked]) {
        let value = |checked: &Checked| quoted(checked.arm.point.as_deref().unwrap_or_default());
        for (same, checked) in pairs_of_same(cells) {
            let (first, second) = (value(same), value(checked));
            let message = match first == second {
                true => format!("{second} is given twice"),
                false => format!("{first} and {second} mean the same for `{}`", points.vary),
            };
            let error = Diagnostic::error(checked.span, message).help("remove one of the two");
            self.sink.error_once(error);
        }
    }

    /// Reports a sweep whose points need other tables, because setup and loads run once.
    fn reject_other_tables(&mut self, points: &Points<'_>, cells: &[Checked]) {
        for other in cells.iter().filter(|other| needs_other_data(&cells[0], other)) {
            let message = format!("`{}` changes the tables: setup and loads run once", points.vary);
            let help = "vary something that only jobs use";
            self.sink.error_once(Diagnostic::error(other.span, message).help(help));
        }
    }

    /// Reports an arm that needs other data than the baseline on the same server, because setup and
    /// loads run once.
    fn reject_other_data(&mut self, arms: &[Checked]) {
        let Some((first, others)) = arms.split_first() else { return };
        for other in others {
            if needs_other_data(first, other) {
                self.sink.error(|| {
                    let message = format!(
                        "[arm {}] needs other tables than [arm {}]: setup and loads run once",
                        bare(&other.arm.name),
                        bare(&first.arm.name)
                    );
                    Diagnostic::error(other.span, message)
                        .help("change something that only jobs use, or give the arm its own `url`")
                });
            }
        }
    }

    /// Reports an arm whose server cannot be restarted, if the servers of the others are restarted
    /// before each run.
    fn reject_servers_without_restart(&mut self, arms: &[Checked]) {
        let changes_setting = |checked: &&Checked| {
            checked.arm.differences.iter().any(|one| matches!(one, Difference::Server { .. }))
        };
        let is_private = |checked: &&Checked| {
            let target = checked.arm.plan.target.as_ref();
            target.is_some_and(|target| target.kind == TargetKind::Testbed)
        };
        let Some(changing) = arms.iter().find(changes_setting) else { return };
        for other in arms.iter().filter(|checked| !is_private(checked)) {
            self.sink.error(|| {
                let message = format!(
                    "[arm {}] asks a server that is not restarted before each run",
                    bare(&other.arm.name)
                );
                let help = format!(
                    "[arm {}] changes a setting, for which the server restarts: give both a \
                     `testbed:` URL",
                    bare(&changing.arm.name)
                );
                Diagnostic::error(other.span, message).help(help)
            });
        }
    }

    /// Reports jobs that would insert the same keys in every run.
    fn reject_repeated_inserts(&mut self, draft: &QuestionDraft<'_>, arms: &[Checked]) {
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
                bare(job.name())
            );
            wording::error(draft.workload.as_ref().and_then(WorkloadSource::span), message).help(
                "write `restore = reload`, or a statement that removes them: \
                 `restore = delete from …`",
            )
        });
    }
}

/// Returns each arm that is the same as an earlier one, with the first such.
fn pairs_of_same(arms: &[Checked]) -> Vec<(&Checked, &Checked)> {
    let essence = |checked: &Checked| {
        let arm = &checked.arm;
        let mut plan = arm.plan.as_printed();
        plan.params.clear();
        let commands = [true, false]
            .map(|before| arm.commands(before).map(str::to_owned).collect::<Vec<String>>());
        (plan, [texts(&arm.before), texts(&arm.after)], commands)
    };
    let essences: Vec<_> = arms.iter().map(essence).collect();
    let of = |place: usize| {
        let first = essences[..place].iter().position(|other| *other == essences[place])?;
        Some((&arms[first], &arms[place]))
    };
    (0..arms.len()).filter_map(of).collect()
}

/// Returns true if two arms use one server and need different tables on it.
fn needs_other_data(first: &Checked, other: &Checked) -> bool {
    let data = |checked: &Checked| {
        let plan = checked.arm.plan.as_printed();
        (plan.setup, plan.loads, plan.teardown)
    };
    let place = |target: &Target| Target { options: Vec::new(), ..target.clone() };
    let server = |checked: &Checked| checked.arm.plan.target.as_ref().map(place);
    server(other) == server(first) && data(other) != data(first)
}

fn texts(statements: &[FixedStatement]) -> Vec<String> {
    statements.iter().map(|one| one.text.clone()).collect()
}

/// Returns the option by which messages of the workload's check name a difference.
fn option(difference: &Difference) -> Option<String> {
    match difference {
        Difference::Param { name, value } => Some(quoted(&format!("--set {name}={value}"))),
        Difference::Key { section, key, .. } => Some(quoted(&format!("{key}({section})"))),
        _ => None,
    }
}

fn other_section(section: &Section<'_>) -> Diagnostic {
    if missing::section(&section.name) {
        return missing::error(Some(section.span), &format!("[{}]", bare(&section.name)));
    }
    let message = format!("unknown section [{}] in an experiment file", bare(&section.name));
    let error = Diagnostic::error(section.span, message);
    let word = section.name.split_whitespace().next().unwrap_or_default();
    match nearest(word, [QUESTION, ARM, SWEEP, CAPACITY]) {
        Some(ARM) => error.help("did you mean `[arm NAME]`?"),
        Some(near) => error.help(format!("did you mean `[{near}]`?")),
        None => error.help("it belongs into the workload file, which `workload` names"),
    }
}
