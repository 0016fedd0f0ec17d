//! Checks of experiment files.

use std::collections::BTreeMap;
use std::rc::Rc;

use base::{Diagnostic, Severity, Span, Target, TargetKind};

use super::arm::{self, ArmDraft, bare};
use super::beside::WorkloadFolder;
use super::draft::{self, QuestionDraft, WorkloadText};
use super::experiment::{self, Arm, Design, Difference, Experiment, Restore};
use super::fields::Fields;
use super::fixed;
use super::judge;
use crate::check::{Overrides, check};
use crate::folder::Folder;
use crate::keys::Owner;
use crate::missing;
use crate::plan::{FixedStatement, Plan};
use crate::read::{File, Section, parse};
use crate::sink::{ReferencedFile, Sink};
use crate::wording::{self, nearest, quoted};

/// Name of the section that makes a file an experiment.
const QUESTION: &str = "question";

/// First word of the names of arms.
const ARM: &str = "arm";

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
        let is_job = section.entries.iter().any(|one| crate::keys::makes_a_job(one.key().text()));
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
        self.arms.iter().any(|arm| judge::writes(&arm.plan))
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
        let overrides = experiment::overrides(&arm.differences, overrides);
        let overrides = overrides.with_global("seed", seed);
        let (file, _) = parse(&self.source);
        let (plan, _) = check(&file, &overrides, &WorkloadFolder::of(&self.workload, folder));
        let mut plan = plan?;
        experiment::adjust(&arm.differences, &mut plan);
        Some(plan)
    }
}

struct Checker<'f> {
    file: &'f File<'f>,
    overrides: &'f Overrides,
    folder: &'f dyn Folder,
    sink: Sink,
}

/// An arm with its plan and the position of its header.
struct Checked {
    arm: Arm,
    span: Span,
}

impl<'f> Checker<'f> {
    fn experiment(&mut self) -> Option<Experiment> {
        self.reject_globals();
        let (question, arms) = self.sections();
        let question = question?;
        let fields = Fields::of(self.file, question, Owner::Question, &mut self.sink);
        let draft = draft::read(&fields, self.folder, &mut self.sink);
        self.require(question, &fields);
        self.count_arms(question, &draft, &arms);
        let workload = draft.workload.as_ref()?;
        let before = self.sink.errors();
        let arms = self.arms(&draft, workload, &arms)?;
        if self.sink.errors() == before {
            self.reject_same(&arms);
            self.reject_other_data(&arms);
            self.reject_servers_without_restart(&arms);
        }
        judge::bets(&draft.bets, &arms.first()?.arm.plan, &mut self.sink);
        judge::bets_on_loads(&draft.bets, &draft.restore, &mut self.sink);
        self.reject_repeated_inserts(&draft, &arms);
        Some(Experiment {
            ask: draft.ask?,
            workload: workload.name.text().to_owned(),
            source: workload.text.clone(),
            bets: draft.bets.into_iter().map(|(bet, _)| bet).collect(),
            rounds: draft.rounds,
            restore: draft.restore,
            has_several_differences: draft.has_several_differences,
            design: draft.design,
            deltas: draft.deltas,
            arms: arms.into_iter().map(|checked| checked.arm).collect(),
        })
    }

    fn reject_globals(&mut self) {
        for entry in &self.file.globals {
            self.sink.error(|| {
                let message =
                    format!("{} is not a key of an experiment file", quoted(entry.key().text()));
                entry.key().error(message).help("write it into the workload file")
            });
        }
    }

    /// Returns the sections by their kinds; reports other ones and duplicates.
    fn sections(&mut self) -> (Option<&'f Section<'f>>, Vec<(&'f str, &'f Section<'f>)>) {
        let (mut question, mut arms) = (None, Vec::new());
        let mut first: BTreeMap<String, Span> = BTreeMap::new();
        for section in &self.file.sections {
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
                [QUESTION] => question = Some(section),
                [ARM, name @ ..] if name.len() == 1 => arms.push((name[0], section)),
                [ARM, ..] => self.sink.error(|| {
                    Diagnostic::error(section.span, "the name of an arm is one word")
                        .help("write for example `[arm tls]`")
                }),
                _ => self.sink.error(|| other_section(section)),
            }
        }
        (question, arms)
    }

    fn require(&mut self, question: &Section<'_>, fields: &Fields<'_>) {
        for (key, example) in
            [("ask", "ask = What does TLS cost?"), ("workload", "workload = read.ini")]
        {
            let is_set = question.entries.iter().any(|entry| entry.key().text() == key);
            if fields.one(key).is_none() && !is_set {
                self.sink.error(|| {
                    Diagnostic::error(question.span, format!("[question] has no `{key}`"))
                        .help(format!("write for example `{example}`"))
                });
            }
        }
    }

    fn count_arms(
        &mut self,
        question: &Section<'_>,
        draft: &QuestionDraft<'_>,
        arms: &[(&str, &Section<'_>)],
    ) {
        let (message, help) = match (draft.design, arms.len()) {
            (Design::Aa, 1) => return,
            (Design::Arms, 2..=MOST_ARMS) => return,
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

    /// Returns the arms with their plans; `None` if there are none.
    fn arms(
        &mut self,
        draft: &QuestionDraft<'_>,
        workload: &WorkloadText<'_>,
        sections: &[(&str, &Section<'_>)],
    ) -> Option<Vec<Checked>> {
        let (parsed, of_parsing) = parse(&workload.text);
        let drafts: Vec<ArmDraft> = sections
            .iter()
            .map(|(name, section)| arm::read(self.file, section, name, &parsed, &mut self.sink))
            .collect();
        if !draft.has_several_differences {
            drafts.iter().for_each(|draft| arm::reject_several(draft, &mut self.sink));
        }
        let folder = WorkloadFolder::of(workload.name.text(), self.folder);
        let mut plans = Vec::new();
        for draft in drafts.into_iter().filter(|draft| draft.is_sound) {
            let (plan, found) = check(&parsed, &draft.overrides(self.overrides), &folder);
            plans.push((draft, plan, found));
        }
        let everywhere = |one: &&Diagnostic| plans.iter().all(|(.., found)| found.contains(one));
        let shared: Vec<Diagnostic> = match plans.first() {
            Some((.., found)) => found.iter().filter(everywhere).cloned().collect(),
            None => Vec::new(),
        };
        self.about_workload(workload, workload.name.span(), of_parsing.iter().chain(&shared));
        let mut arms = Vec::new();
        for (arm, plan, found) in plans {
            let own: Vec<&Diagnostic> = found.iter().filter(|one| !shared.contains(one)).collect();
            self.about_arm(workload, &arm, &own);
            let Some(plan) = plan else { continue };
            arm::reject_idle_options(&arm, plan.target.as_ref(), &mut self.sink);
            arms.push(self.arm(draft, &parsed, &folder, arm, plan));
        }
        Some(arms)
    }

    /// Returns an arm with its plan and the statements around its runs.
    fn arm(
        &mut self,
        draft: &QuestionDraft<'_>,
        workload: &File<'_>,
        folder: &WorkloadFolder<'_>,
        arm: ArmDraft,
        mut plan: Plan,
    ) -> Checked {
        let overrides = arm.overrides(self.overrides);
        let context = fixed::Context { workload, overrides: &overrides, folder };
        let mut statements = |key: &str, texts: &[&str], span: Option<Span>| {
            fixed::statements(context, key, texts, span, &mut self.sink)
        };
        let of_arm = |wanted: fn(&Difference) -> Option<&str>| -> (Vec<&str>, Option<Span>) {
            let mut all = arm.differences.iter().zip(&arm.spans);
            let first = all.clone().find(|(one, _)| wanted(one).is_some());
            let texts = all.by_ref().filter_map(|(one, _)| wanted(one)).collect();
            (texts, first.and_then(|(_, span)| *span))
        };
        let restore = match &draft.restore {
            Restore::Statements(all) => all.iter().map(String::as_str).collect(),
            Restore::None | Restore::Reload => Vec::new(),
        };
        let restore = statements("restore", &restore, draft.restore_span);
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
        experiment::adjust(&arm.differences, &mut plan);
        let ArmDraft { name, span, differences, .. } = arm;
        Checked { arm: Arm { name, differences, plan, restore, before, after }, span }
    }

    /// Reports diagnostics of the workload file at the line of the experiment file that causes
    /// them.
    fn about_workload<'d>(
        &mut self,
        workload: &WorkloadText<'_>,
        named_at: Option<Span>,
        found: impl Iterator<Item = &'d Diagnostic>,
    ) {
        let (name, text) = (workload.name.text().to_owned(), Rc::from(workload.text.as_str()));
        self.sink.set_file(Some(ReferencedFile { name, text, named_at }));
        for one in found {
            match one.severity {
                Severity::Error => self.sink.error(|| one.clone()),
                Severity::Warning => self.sink.warning(|| one.clone()),
            }
        }
        self.sink.set_file(None);
    }

    /// Reports the diagnostics that only this arm has, at the line that causes them.
    fn about_arm(&mut self, workload: &WorkloadText<'_>, draft: &ArmDraft, own: &[&Diagnostic]) {
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
        let essence = |checked: &Checked| {
            let arm = &checked.arm;
            let mut plan = arm.plan.as_printed();
            plan.params.clear();
            let commands = [true, false]
                .map(|before| arm.commands(before).map(str::to_owned).collect::<Vec<String>>());
            (plan, [texts(&arm.before), texts(&arm.after)], commands)
        };
        for (place, checked) in arms.iter().enumerate() {
            let Some(same) = arms[..place].iter().find(|other| essence(other) == essence(checked))
            else {
                continue;
            };
            self.sink.error(|| {
                let (first, second) = (bare(&same.arm.name), bare(&checked.arm.name));
                let message = format!("[arm {second}] is the same as [arm {first}]");
                Diagnostic::error(checked.span, message).help(
                    "change one thing in it; to compare an arm with itself, write `design = aa`",
                )
            });
        }
    }

    /// Reports an arm that needs other data than the baseline on the same server, because setup and
    /// loads run once.
    fn reject_other_data(&mut self, arms: &[Checked]) {
        let data = |checked: &Checked| {
            let plan = checked.arm.plan.as_printed();
            (plan.setup, plan.loads, plan.teardown)
        };
        let place = |target: &Target| Target { options: Vec::new(), ..target.clone() };
        let server = |checked: &Checked| checked.arm.plan.target.as_ref().map(place);
        let Some((first, others)) = arms.split_first() else { return };
        for other in others {
            if server(other) == server(first) && data(other) != data(first) {
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
            wording::error(draft.workload.as_ref().and_then(|one| one.name.span()), message).help(
                "write `restore = reload`, or a statement that removes them: \
                 `restore = delete from …`",
            )
        });
    }
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
    match nearest(word, [QUESTION, ARM]) {
        Some(ARM) => error.help("did you mean `[arm NAME]`?"),
        Some(_) => error.help("did you mean `[question]`?"),
        None => error.help("it belongs into the workload file, which `workload` names"),
    }
}
