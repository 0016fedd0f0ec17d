//! Semantic checks of a workload file, which turn its sections into a plan.
//!
//! `File -> sections -> Plan`, with one source file per kind of section. Checking is pure: it
//! touches no file, no database and no clock; the files that the workload names are read through a
//! [`Folder`]. It continues after each error and reports all of them at once.

mod blame;
mod condition;
mod dialect;
mod fault;
mod feed;
mod fields;
mod fixed;
mod foreign;
mod global;
mod job;
mod list;
mod load;
mod mix;
mod named;
mod observe;
mod pacing;
mod params;
mod scan;
pub(crate) use scan::holds_several;
mod secrets;
mod section;
mod shape;
mod shell;
mod statement;
mod target;
mod trace;
mod unset;
mod value;

use std::collections::BTreeMap;
use std::path::PathBuf;

use base::{Diagnostic, Dialect, Nanos, Seed, Severity, Target, TargetKind};

use crate::expr::{Compiled, Constant, NO_VARIABLES, Position, Refused, Scope, Site, Variables};
use crate::folder::Folder;
use crate::generate::{Points, Tables};
use crate::plan::{Arrival, Hidden, Job, MixPart, NamedTarget, Observe, Pacing, Plan, Warmup};
use crate::read::{Excerpt, File};
use crate::sink::Sink;
use crate::wording;
pub(crate) use feed::written as written_delimiter;
pub use global::MOST_CONNECTIONS;
use job::{Membership, Role};
use section::Kind;
pub(crate) use statement::PrintedSyntax;

/// Settings from the command line that override those of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `--set NAME=VALUE`: parameters; the last value of a name wins.
    pub set: Vec<(String, String)>,
    /// `--duration`
    pub duration: Option<Nanos>,
    /// `--warmup`
    pub warmup: Option<Warmup>,
    /// `--arrival`: applies to every job with a rate that is not a timetable.
    pub arrival: Option<Arrival>,
    /// `--seed`
    pub seed: Option<Seed>,
    /// `--url`
    pub target: Option<Target>,
    /// Meaning of a `rate`.
    pub rates: Rates,
    /// `--max-active-conns` of `assay dbbench`: `max-connections`.
    pub max_connections: Option<u32>,
}

/// Meaning of a `rate` without `arrival` in a job that has no queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rates {
    /// Poisson arrivals from 1/s on, a timetable below that.
    #[default]
    AsTraffic,
    /// A timetable at any rate: one arrival every ⌊10⁹/rate⌋ ns, as dbbench's ticks.
    AsDbbench,
}

/// Checks a file and returns its plan together with all diagnostics.
///
/// The plan is `Some` exactly if there is no error, including errors from parsing the file. A file
/// with only `[setup]`, `[load TABLE]` and `[teardown]` gives a plan without jobs.
pub fn check(
    file: &File<'_>,
    overrides: &Overrides,
    folder: &dyn Folder,
) -> (Option<Plan>, Vec<Diagnostic>) {
    let Checked { plan, mut found, hidden } = check_as_given(file, overrides, folder, None);
    if let Some(plan) = plan {
        let concealed = secrets::conceal(file, overrides, folder, plan, hidden.clone());
        let plan = concealed.map_err(|error| found.push(error)).ok();
        return (plan, secrets::clean(file, &hidden.0, found));
    }
    if !overrides.set.is_empty() {
        let as_written = Overrides { set: Vec::new(), ..overrides.clone() };
        let own = check_as_given(file, &as_written, folder, None).found;
        found = blame::attribute_errors(file.text(), overrides, &own, found);
    }
    (None, secrets::clean(file, &hidden.0, found))
}

/// The result of checking a file.
struct Checked {
    plan: Option<Plan>,
    found: Vec<Diagnostic>,
    /// The secrets of the plan, and true if one of them is also used where it is shown.
    hidden: (Hidden, bool),
}

/// Checks a file once. `live` is the plan that will run, if the file is checked again for the plan
/// that is shown: the targets are then those of `live`.
fn check_as_given<'f>(
    file: &'f File<'f>,
    overrides: &'f Overrides,
    folder: &'f dyn Folder,
    live: Option<&'f Plan>,
) -> Checked {
    let mut checker = Checker {
        file,
        overrides,
        folder,
        dialect: TargetKind::Sqlite.dialect(),
        sink: Sink::default(),
        has_records: false,
        params: BTreeMap::new(),
        seed: Seed::default(),
        targets: Vec::new(),
        parts: 0,
        offered_per_s: 0.0,
        results_files: Vec::new(),
        traced: 0,
        points: Points::NoTable,
        tables: Tables::new(folder),
        secrets: secrets::Known::default(),
        live,
    };
    let plan = checker.plan();
    if checker.sink.errors() == 0 && file.errors() == 0 {
        checker.printable(&plan);
    }
    let sound = checker.sink.errors() == 0 && file.errors() == 0;
    let hidden = checker.hidden();
    Checked { plan: sound.then_some(plan), found: checker.sink.finish(), hidden }
}

/// State that is shared by the checks of all sections.
struct Checker<'f> {
    file: &'f File<'f>,
    overrides: &'f Overrides,
    folder: &'f dyn Folder,
    /// SQL dialect of the target.
    dialect: Dialect,
    sink: Sink,
    /// True if the requests of the current job take records from a file.
    has_records: bool,
    /// The parameters; `None` for one whose error has been reported.
    params: BTreeMap<String, Option<Constant>>,
    seed: Seed,
    /// The targets that jobs can name.
    targets: Vec<NamedTarget>,
    /// Number of parts in all expressions of the plan so far.
    parts: usize,
    /// Sum of the highest rates of the jobs so far, in requests per second.
    offered_per_s: f64,
    /// The results files of the jobs so far, with the names of these jobs.
    results_files: Vec<(String, PathBuf)>,
    /// Size of the traces so far in the printed plan, in bytes.
    traced: usize,
    /// Number of points in the loaded tables.
    points: Points,
    /// The CSV files that supply values.
    tables: Tables<'f>,
    /// Uses of parameters, from which the secret ones are determined.
    secrets: secrets::Known,
    /// The plan that will run, if this check makes the plan that is shown.
    live: Option<&'f Plan>,
}

/// The job that an expression belongs to.
#[derive(Clone, Copy)]
struct JobContext<'j> {
    job: &'j str,
    /// Number of clients of a closed job; `None` for other models.
    clients: Option<u32>,
}

/// Highest number of values, operators and calls in all expressions of a file together.
const MOST_PARTS: usize = 1_000_000;

impl<'f> Checker<'f> {
    fn plan(&mut self) -> Plan {
        let sections = self.classify();
        let params = self.params(&sections);
        let global = self.global();
        if let Some(target) = &global.target {
            self.dialect = target.dialect();
        }
        self.points = self.points(&sections);
        let mut plan = Plan {
            target: global.target.clone(),
            targets: Vec::new(),
            duration: global.duration,
            warmup: global.warmup,
            seed: self.seed,
            drain: global.drain,
            stall_timeout: global.stall_timeout,
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
        for (kind, section) in &sections {
            match kind {
                Kind::Observe => plan.observe = self.observe(section),
                Kind::Setup => plan.setup = self.fixed(section),
                Kind::Teardown => plan.teardown = self.fixed(section),
                Kind::Load(table) => plan.loads.push(self.load(section, table)),
                Kind::Job if mixes.runs_only_in_mixes(section) => {}
                Kind::Job => {
                    let place = plan.jobs.len();
                    let job = self.job(section, &global, Role::Alone);
                    plan.jobs.push(job);
                    for part in mixes.parts(section) {
                        let mix = &plan.jobs[place];
                        let membership = Membership {
                            of: place,
                            mix: section,
                            target: mix.target,
                            arrives: mix.has_arrivals(),
                            runs_alone_too: part.has_pacing,
                        };
                        let job = self.job(part.section, &global, Role::Part(membership));
                        let portion = MixPart { job: plan.jobs.len(), weight: part.weight };
                        plan.jobs[place].mix.push(portion);
                        plan.jobs.push(job);
                    }
                }
                Kind::Params | Kind::Threshold | Kind::Target(_) | Kind::Silent => {}
            }
        }
        for (_, section) in sections.iter().filter(|(kind, _)| *kind == Kind::Threshold) {
            self.thresholds(section, &mut plan.jobs);
        }
        plan.targets = std::mem::take(&mut self.targets);
        self.reject_duplicate_part_names(&plan);
        self.reject_empty_file(&plan);
        self.unasked(&plan);
        plan
    }

    /// Reports a plan whose text is too large for a workload file: the text is stored in the record
    /// and parsed again from there.
    fn printable(&mut self, plan: &Plan) {
        let (_, found) = crate::read::parse(&plan.to_text());
        if let Some(first) = found.into_iter().find(|found| found.severity == Severity::Error) {
            let message =
                format!("the plan of this file would be too large to record: {}", first.message);
            self.sink.error(|| {
                wording::error(None, message).help(
                    "name long parameters less often, and give data in a `[load TABLE]` section \
                     or in a file with `csv(…)`",
                )
            });
        }
    }

    /// Counts the parts of an expression; an error beyond the limit, reported only once.
    fn counted(&mut self, compiled: Compiled, place: Excerpt<'_>) -> Result<Compiled, Refused> {
        let before = self.parts;
        self.parts += match &compiled {
            Compiled::Constant(_) => 1,
            Compiled::Dynamic(node, _) => {
                if node.most_fields() > 0 && !self.has_records {
                    return Err(feed::no_records(place).into());
                }
                node.parts()
            }
        };
        if self.parts <= MOST_PARTS {
            return Ok(compiled);
        }
        let first = before <= MOST_PARTS;
        let message = "all expressions of the file together have more than 1,000,000 parts";
        Err(Refused(first.then(|| Box::new(place.error(message)))))
    }

    /// Returns the scope of an expression that must be known before the run; `what` names it in
    /// messages.
    fn fixed_scope<'s>(&'s self, what: &'s str) -> Scope<'s> {
        self.scope(&NO_VARIABLES, Site::Fixed(what))
    }

    fn scope<'s>(&'s self, variables: &'s Variables, site: Site<'s>) -> Scope<'s> {
        Scope {
            params: &self.params,
            variables,
            site,
            points: self.points,
            tables: Some(&self.tables),
        }
    }

    /// Returns the scope of an expression in a request.
    fn request_scope<'s>(
        &'s self,
        variables: &'s Variables,
        job_context: JobContext<'s>,
        place: &'s str,
    ) -> Scope<'s> {
        let position = Position { seed: self.seed, job: job_context.job, place };
        self.scope(variables, Site::Request(position, job_context.clients))
    }

    /// Returns the scope of an expression in a row.
    fn row_scope<'s>(&'s self, section: &'s str, place: &'s str) -> Scope<'s> {
        let position = Position { seed: self.seed, job: section, place };
        self.scope(&NO_VARIABLES, Site::Row(position))
    }

    /// Reports a job that has the same name as a part of a mix.
    fn reject_duplicate_part_names(&mut self, plan: &Plan) {
        let is_part = |job: &Job| matches!(job.pacing, Pacing::Part { .. });
        for part in plan.jobs.iter().filter(|job| is_part(job)) {
            let same = plan.jobs.iter().find(|job| !is_part(job) && job.name == part.name);
            if let Some(other) = same {
                let message = format!("[{}] is also the name of a part of a mix", other.name);
                self.sink.error(|| {
                    Diagnostic::error(other.span, message).help("give the section another name")
                });
            }
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
