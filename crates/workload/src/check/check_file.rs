//! One check of a file, from its sections to a plan.

use std::collections::{BTreeMap, HashMap, HashSet};

use base::{Diagnostic, Seed, Severity, TargetKind};

use super::applied;
use super::checker::Checker;
use super::global::Global;
use super::kind::Kind;
use super::mix;
use super::name::bracketed;
use super::overrides::Overrides;
use super::parameter_uses::ParameterUses;
use super::role::Membership;
use crate::expr::InsertedText;
use crate::generate::{Points, Tables};
use crate::plan::{Hidden, Job, Observe, Plan, names_of_wholes};
use crate::read::{File, Section};
use crate::sink::Sink;
use crate::wording;

/// Maximum number of jobs and parts of mixes together. Each takes megabytes of memory in a run.
const MOST_JOBS_AND_PARTS: usize = 10_000;

/// The result of checking a file.
pub(super) struct CheckResult {
    pub(super) plan: Option<Plan>,
    pub(super) found: Vec<Diagnostic>,
    /// The secrets of the plan, and true if one of them is also used in the shown part of a URL.
    pub(super) hidden: (Hidden, bool),
}

/// Checks a file once. If the file is checked a second time, for the plan that is shown without
/// secrets, `running_plan` is the plan that will run: the targets are taken from it.
pub(super) fn check_as_given(
    file: &File<'_>,
    overrides: &Overrides,
    tables: &Tables<'_>,
    running_plan: Option<&Plan>,
) -> CheckResult {
    let mut sink = Sink::default();
    let file = &*applied::apply(file, overrides, &mut sink);
    let globals = applied::globals(overrides, &mut sink);
    let mut checker = Checker {
        file,
        globals: &globals,
        overrides,
        folder: tables.folder,
        dialect: TargetKind::Sqlite.dialect(),
        sink,
        params: BTreeMap::new(),
        seed: Seed::default(),
        targets: Vec::new(),
        nodes: 0,
        inserted: InsertedText::default(),
        offered_per_s: 0.0,
        results_files: HashMap::new(),
        trace_bytes: 0,
        polygon_points: Points::NoTable,
        tables,
        secrets: ParameterUses::with_secrets(&overrides.secrets),
        searched: HashSet::new(),
        running_plan,
    };
    let plan = checker.plan();
    if checker.sink.errors() == 0 && file.errors() == 0 {
        checker.printable(&plan);
    }
    let sound = checker.sink.errors() == 0 && file.errors() == 0;
    let hidden = checker.hidden_parts();
    CheckResult { plan: sound.then_some(plan), found: checker.sink.finish(), hidden }
}

impl<'f> Checker<'f> {
    fn plan(&mut self) -> Plan {
        let sections = self.classify();
        let params = self.params(&sections);
        let global = self.global();
        if let Some(target) = &global.target {
            self.dialect = target.dialect();
        }
        self.polygon_points = self.count_polygon_points(&sections);
        let mut plan = Plan {
            target: global.target.clone(),
            targets: Vec::new(),
            duration: global.duration,
            warmup: global.warmup,
            seed: self.seed,
            drain: global.drain,
            stall_timeout: global.stall_timeout,
            setup_timeout: global.setup_timeout,
            probe: global.probe,
            connections: global.connections,
            max_connections: global.max_connections,
            params,
            setup: Vec::new(),
            observe: Observe::default(),
            loads: Vec::new(),
            jobs: Vec::new(),
            teardown: Vec::new(),
            hidden: None,
        };
        self.targets(&sections);
        let mixes = self.mixes(&sections);
        let mut jobs_and_parts = 0;
        for (kind, section) in &sections {
            match kind {
                Kind::Observe => plan.observe = self.observe(section),
                Kind::Setup => plan.setup = self.fixed(section),
                Kind::Teardown => plan.teardown = self.fixed(section),
                Kind::Load(table) => plan.loads.push(self.load(section, table)),
                Kind::Job if mixes.runs_only_in_mixes(section) => {}
                Kind::Job => {
                    let parts = mixes.parts(section);
                    jobs_and_parts += 1 + parts.len();
                    if jobs_and_parts > MOST_JOBS_AND_PARTS {
                        self.sink.error(|| too_many_jobs(section));
                        // What follows would be compared with an incomplete list of jobs.
                        return plan;
                    }
                    let mut job = self.job(section, &global);
                    self.add_parts(&mut job, section, parts, &global);
                    plan.jobs.push(job);
                }
                Kind::Params | Kind::Threshold | Kind::Target(_) | Kind::Ignored => {}
            }
        }
        for (_, section) in sections.iter().filter(|(kind, _)| *kind == Kind::Threshold) {
            self.thresholds(section, &mut plan);
        }
        plan.targets = std::mem::take(&mut self.targets);
        self.report_names_of_parts(&plan);
        self.reject_parts_with_one_name(&plan);
        self.reject_empty_file(&plan);
        self.warn_of_unused_targets(&plan);
        plan
    }

    /// Adds the parts of a mix to its job. Stops if the texts of the plan exceed their limit: each
    /// further copy of a part would take more memory.
    fn add_parts(
        &mut self,
        job: &mut Job,
        section: &'f Section<'f>,
        parts: &[mix::Part<'f>],
        global: &Global,
    ) {
        for part in parts {
            if self.inserted.is_full() {
                return;
            }
            let membership = Membership {
                mix: section,
                weight: part.weight,
                arrives: job.has_arrivals(),
                also_runs_alone: part.has_pacing,
            };
            job.parts.push(self.part(part.section, global, membership));
        }
    }

    /// Reports a plan whose text is not a valid workload file, for example because the text is too
    /// large. The text is stored in the record, and parsed again when the record is read.
    fn printable(&mut self, plan: &Plan) {
        let (_, found) = crate::read::parse(&plan.to_text());
        if let Some(first) = found.into_iter().find(|found| found.severity == Severity::Error) {
            // Only errors about the size of a file have no position in the file.
            let (why, help) = match first.span {
                None => (
                    "would be too large to record",
                    "use long parameters less often, and give data in a `[load TABLE]` section or \
                     in a file with `csv(…)`",
                ),
                Some(_) => (
                    "cannot be recorded",
                    "write the values of its parameters without line ends and other control \
                     characters",
                ),
            };
            let message = format!("the plan of this file {why}: {}", first.message);
            self.sink.error(|| wording::error(None, message).help(help));
        }
    }

    /// Reports jobs whose name is the name of a part of another job, such as `[m/a]` beside `[m]`.
    ///
    /// If `[m]` is a mix with the part `a`, this is an error, because records could not tell the
    /// two apart. Otherwise it is a warning: metrics and conditions of `[m]` then include the
    /// requests of `[m/a]`.
    fn report_names_of_parts(&mut self, plan: &Plan) {
        let by_name: HashMap<&str, &Job> = plan.jobs.iter().map(|job| (job.name(), job)).collect();
        for job in &plan.jobs {
            let wholes: Vec<&Job> =
                names_of_wholes(job.name()).filter_map(|name| by_name.get(name).copied()).collect();
            let has_part = |whole: &&&Job| whole.parts.iter().any(|part| part.name == job.name());
            // A mix with this part must be reported, even if a plain job has a shorter name.
            let mix = wholes.iter().find(has_part);
            let Some(whole) = mix.or(wholes.first()) else { continue };
            let [name, of] = [job, whole].map(|it| bracketed(it.name()));
            let message = format!("{name} has the name of a part of {of}");
            let span = job.requests.span;
            let help = "give the section another name, without the slash";
            match mix.is_some() {
                true => self.sink.error(|| Diagnostic::error(span, message).help(help)),
                false => self.sink.warning(|| Diagnostic::warning(span, message).help(help)),
            }
        }
    }

    /// Reports parts of two mixes that have the same name, such as the part `a/b` of `[m]` and the
    /// part `b` of `[m/a]`: records could not tell the two apart.
    fn reject_parts_with_one_name(&mut self, plan: &Plan) {
        let mut mixes: HashMap<&str, &Job> = HashMap::new();
        let parts = plan.jobs.iter().flat_map(|job| job.parts.iter().map(move |part| (job, part)));
        for (job, part) in parts {
            let Some(other) = mixes.insert(&part.name, job) else { continue };
            let [name, mix, other] = [part.name.as_str(), job.name(), other.name()].map(bracketed);
            self.sink.error(|| {
                let message = format!("{other} and {mix} both have a part {name}");
                Diagnostic::error(job.requests.span, message)
                    .help("give one of the mixes another name, without a slash")
            });
        }
    }

    /// Reports a file that does nothing.
    fn reject_empty_file(&mut self, plan: &Plan) {
        let has_statements = !plan.setup.is_empty() || !plan.teardown.is_empty();
        let idle = !has_statements && plan.loads.is_empty() && plan.jobs.is_empty();
        let observes = self.file.sections.iter().any(|section| section.name == "observe");
        let sound = self.sink.errors() == 0 && self.file.errors() == 0;
        if idle && !observes && sound {
            self.sink.error(|| {
                wording::error(None, "the file has no job: there is nothing to run").help(
                    "a job is a section with a statement:\n\
                     [read]\n\
                     query = select 1\n\
                     rate = 100",
                )
            });
        }
    }
}

fn too_many_jobs(section: &Section<'_>) -> Diagnostic {
    let most = base::units::grouped(MOST_JOBS_AND_PARTS as u64);
    let message = format!("the file has more than {most} jobs and parts of mixes");
    Diagnostic::error(section.span, message).help("name fewer sections in its mixes")
}
