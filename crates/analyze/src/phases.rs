//! Side effects of one job, or of background work of the database, on all other jobs.
//!
//! An intermittent job divides the window into the time before it was active, during its activity,
//! and after it; a timetable (arrivals at fixed times, one period apart) also has the times between
//! its requests. The figures of the other jobs in each of these [`Phase`]s, with their intervals,
//! show the cost of the intermittent job to the other jobs. A [`Change`] is reported only if two
//! intervals lie well apart. A change says that the figures differ. Only the reader, who knows of
//! other events at the time, can conclude that the job is the reason.
//!
//! The resolution is that of the record's counts: a second, or in runs of more than half an hour a
//! step of [`Steps`](crate::Steps). If the job had a request in flight at any time in a step, the
//! whole step belongs to the activity. Requests belong to the step of their intended start,
//! completions to the step of their end.

use base::AccountId;
use std::ops::Range;

use record::{BucketCount, ComponentKind, Counts, ObservedComponent};
use workload::{JobTarget, Pacing, Plan};

use crate::confidence::{Batch, Estimate, FEWEST_BATCHES, ratio};
use crate::distribution::Quantile;
use crate::disturbance::{Cause, Disturbance, Phase, PhaseName};
use crate::evidence::{Evidence, JobEvidence, Step};
use crate::observed::Observed;
use crate::responses::{ResponseCollector, Responses};

/// Maximum number of jobs whose side effects are examined: the first ones in the file. A file with
/// more intermittent jobs has no steady traffic to disturb; it does many things in turn.
pub const MOST_DISTURBANCES: usize = 20;

/// Maximum number of kinds of background work whose side effects are examined: the most frequent
/// ones.
const MOST_WORK: usize = 3;

/// Side effects of a job, or of background work, on the other jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct SideEffects {
    /// Name of the job, or of the work.
    pub job: String,
    /// True if the cause is background work of the database.
    pub is_background: bool,
    /// Length of the longest step of the window, in seconds: the precision with which the ends of
    /// its phases are known. For background work, at least the time between two samples.
    pub resolution_s: f64,
    /// Phase that the others are compared with: the first phase without the job that is long enough
    /// for intervals. If none is, the first phase without the job.
    pub reference: PhaseName,
    /// Phases of the window, in the order of [`PhaseName::ALL`].
    pub phases: Vec<PhaseSummary>,
    /// Differences from the reference.
    pub changes: Vec<Change>,
}

/// The figures of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSummary {
    /// Name of the phase.
    pub name: PhaseName,
    /// Length of the phase, in seconds.
    pub length_s: f64,
    /// Start and end of each stretch of the phase, in seconds since time zero.
    pub stretches_s: Vec<(f64, f64)>,
    /// Other jobs, in the file's order.
    pub jobs: Vec<PhaseFigures>,
}

/// The figures of another job in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseFigures {
    /// Account of the job.
    pub account: AccountId,
    /// Name of the job.
    pub name: String,
    /// Counts by intended start in the phase.
    pub counts: Counts,
    /// Completions whose end lies in the phase, per second; `None` if the phase has no length.
    pub throughput_per_s: Option<Estimate>,
    /// Response times.
    pub response: Responses,
    /// True if response times are withheld because the offered load exceeds the capacity.
    pub is_withheld: bool,
}

/// A figure that is compared between phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Completions per second.
    Throughput,
    /// Mean response time, in nanoseconds.
    Mean,
    /// Quantile of the response time, in nanoseconds: its index in [`Quantile::ALL`].
    Quantile(usize),
}

/// A figure that differs from the figure of the reference by more than chance explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name of the job that the figure belongs to.
    pub job: String,
    /// Phase in which the figure differs.
    pub phase: PhaseName,
    /// Figure that differs.
    pub figure: Figure,
    /// Value in the reference.
    pub from: f64,
    /// Value in the phase.
    pub to: f64,
}

/// A step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobStep {
    /// The job or part.
    pub job: AccountId,
    /// Index of the step.
    pub step: usize,
}

/// Returns the intermittent jobs of a run. Each divides the window into phases with the response
/// times of the other jobs. The background work of the database is treated in the same way. `read`
/// returns the response times of the requests whose intended start lies in a step.
///
/// A job is intermittent if it has a `start`, a `stop` or a `count`, is a timetable, or runs
/// programs. In addition, some step of the window must lie outside of its activity; otherwise there
/// is nothing to compare with. So a timetable as dense as continuous traffic is not intermittent.
/// Parts of mixes are not judged on their own.
///
/// # Errors
/// The first error that `read` returns.
pub fn disturbances<E>(
    evidence: &Evidence,
    mut read: impl FnMut(JobStep) -> Result<Vec<BucketCount>, E>,
) -> Result<Vec<Disturbance>, E> {
    let accounts = evidence.accounts();
    let window = Window::of(evidence);
    let candidates = accounts.clone().filter(|account| is_intermittent(&evidence.plan, *account));
    let of_jobs = candidates.filter_map(|account| window.divide_by_job(account));
    let of_work = background(evidence).filter_map(|work| window.divide_by_work(work));
    let mut disturbances: Vec<Disturbance> = of_jobs.take(MOST_DISTURBANCES).collect();
    disturbances.extend(of_work.take(MOST_WORK));
    for job in accounts {
        let with_it = disturbances.iter_mut().filter(|it| it.others.contains(&job));
        let phases: Vec<&mut Phase> = with_it.flat_map(|it| &mut it.phases).collect();
        add_responses(phases, &window.asked[job.index()], |step| read(JobStep { job, step }))?;
    }
    Ok(disturbances)
}

/// Returns true if a job does not run all the time, by its plan.
pub(crate) fn is_intermittent(plan: &Plan, account: AccountId) -> bool {
    let job = plan.account(account).job();
    let is_timed = job.start > base::Nanos::ZERO || job.stop.is_some() || job.count.is_some();
    let is_timetable = matches!(job.pacing, Pacing::Timetable { .. });
    let runs_programs = matches!(job.target, JobTarget::Programs);
    !plan.account(account).is_part() && (is_timed || is_timetable || runs_programs)
}

/// Returns the background work that was seen, the most frequent first.
fn background(evidence: &Evidence) -> impl Iterator<Item = &Observed> {
    let is_work = |observed: &&Observed| {
        let kind = ObservedComponent::parse(&observed.component).map(|component| component.kind);
        kind == Some(ComponentKind::Background)
    };
    let mut work: Vec<&Observed> = evidence.observed.iter().filter(is_work).collect();
    let seen = |work: &Observed| work.points.last().map_or(0.0, |(_, looks)| *looks);
    work.sort_by(|a, b| seen(b).total_cmp(&seen(a)));
    work.into_iter()
}

/// The window of a run, which is divided into phases.
struct Window<'e> {
    evidence: &'e Evidence,
    /// The steps with arrivals of each account.
    asked: Vec<Vec<usize>>,
}

impl<'e> Window<'e> {
    fn of(evidence: &'e Evidence) -> Window<'e> {
        Window { evidence, asked: evidence.jobs.iter().map(steps_with_arrivals).collect() }
    }

    /// Divides the window by background work.
    fn divide_by_work(&self, work: &Observed) -> Option<Disturbance> {
        let Window { evidence, .. } = *self;
        let steps = 0..evidence.steps.window().end;
        let is_active = steps.map(|step| {
            let span = evidence.steps.start(step)..evidence.steps.start(step + 1);
            work.growth(&span).is_some_and(|growth| growth.by > 0.0)
        });
        let everyone =
            evidence.accounts().filter(|account| !evidence.plan.account(*account).is_part());
        let cause = Cause::Background(work.metric.clone());
        self.divide(cause, &is_active.collect::<Vec<_>>(), true, everyone)
    }

    /// Divides the window by a job.
    fn divide_by_job(&self, account: AccountId) -> Option<Disturbance> {
        let Window { evidence, .. } = *self;
        let is_active =
            in_flight_steps(&evidence.jobs[account.index()], evidence.steps.window().end);
        let is_timetable =
            matches!(evidence.plan.account(account).job().pacing, Pacing::Timetable { .. });
        let own = evidence.plan.included_accounts(account);
        let others = evidence.accounts().filter(|other| !own.contains(other));
        self.divide(Cause::Job(account), &is_active, is_timetable, others)
    }

    /// Divides the window into phases by the steps in which an activity took place; `None` if there
    /// is nothing to compare. A recurring activity has a phase between its occurrences.
    fn divide(
        &self,
        cause: Cause,
        is_active: &[bool],
        is_repeated: bool,
        others: impl Iterator<Item = AccountId>,
    ) -> Option<Disturbance> {
        let window = self.evidence.steps.window();
        let first = is_active.iter().position(|&is_active| is_active)?;
        let last = is_active.iter().rposition(|&is_active| is_active)?;
        let name = |step: usize| match is_repeated && !is_active[step] {
            _ if step < first => PhaseName::Before,
            _ if step > last => PhaseName::After,
            true => PhaseName::Between,
            false => PhaseName::During,
        };
        let phases = PhaseName::ALL.map(|wanted| {
            let mut phase = Phase { name: wanted, steps: Vec::new(), responses: Vec::new() };
            window.clone().filter(|step| name(*step) == wanted).for_each(|step| phase.push(step));
            phase
        });
        let phases: Vec<Phase> =
            phases.into_iter().filter(|phase| !phase.steps.is_empty()).collect();
        let asks_in = |other: AccountId, phase: &&Phase| {
            self.asked[other.index()].iter().any(|step| phase.contains(*step))
        };
        let asks =
            |other: &AccountId| phases.iter().filter(|phase| asks_in(*other, phase)).count() > 1;
        let others: Vec<AccountId> = others.filter(asks).collect();
        (!others.is_empty()).then_some(Disturbance { cause, phases, others })
    }
}

/// Returns the indexes of the steps in which requests of a job arrived.
fn steps_with_arrivals(job: &JobEvidence) -> Vec<usize> {
    let asked = job.steps.iter().enumerate().filter(|(_, step)| step.counts.arrivals > 0);
    asked.map(|(step, _)| step).collect()
}

/// Returns a flag for each of the first `steps` steps: true if the job had a request in flight. A
/// request is in flight from its intended start to its end, or forever if it has no end.
fn in_flight_steps(job: &JobEvidence, steps: usize) -> Vec<bool> {
    let mut open = 0u64;
    let act = |step: Step| {
        open += step.counts.arrivals.saturating_sub(step.counts.balance.rejected());
        let is_active = open > 0;
        open = open.saturating_sub(step.ends.completed + step.ends.errors);
        is_active
    };
    job.range(0..steps).map(act).collect()
}

/// Adds the response times of a job to some phases, from the steps in which requests arrived. Each
/// step is read twice: once to find the quantile, and once to count the times above it.
fn add_responses<E>(
    phases: Vec<&mut Phase>,
    asked: &[usize],
    mut read: impl FnMut(usize) -> Result<Vec<BucketCount>, E>,
) -> Result<(), E> {
    let mut gathered: Vec<ResponseCollector> =
        phases.iter().map(|_| ResponseCollector::default()).collect();
    for pass in ResponseCollector::PASSES {
        for &step in asked {
            let with_it = |(phase, _): &(&&mut Phase, _)| phase.contains(step);
            let mut parts = phases.iter().zip(&mut gathered).filter(with_it).peekable();
            if parts.peek().is_some() {
                let times = read(step)?;
                parts.for_each(|(_, gathered)| pass(gathered, &times));
            }
        }
        gathered.iter_mut().for_each(ResponseCollector::find_bounds);
    }
    for (phase, gathered) in phases.into_iter().zip(&gathered) {
        phase.responses.push(gathered.responses());
    }
    Ok(())
}

impl Phase {
    /// Returns the counts of a job's requests in the phase.
    fn counts(&self, job: &JobEvidence) -> Counts {
        let mut counts = Counts::default();
        self.steps.iter().for_each(|steps| counts.merge(&job.counts(steps.clone())));
        counts
    }
}

impl Figure {
    /// All figures that are compared.
    pub const ALL: [Figure; 5] = [
        Figure::Throughput,
        Figure::Mean,
        Figure::Quantile(0),
        Figure::Quantile(2),
        Figure::Quantile(3),
    ];

    /// Returns true if two values of the figure differ by more than chance explains.
    pub(crate) fn differs(self, from: &Estimate, to: &Estimate) -> bool {
        let is_multiple = self == Figure::Throughput && to.is_multiple_of(from);
        is_multiple || to.differs_from(from)
    }

    /// Returns the name of this figure in documents and texts.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Throughput => "throughput",
            Figure::Mean => "mean",
            Figure::Quantile(place) => Quantile::ALL[place].name,
        }
    }
}

impl PhaseFigures {
    /// Returns one of the figures; `None` if it does not exist or is withheld.
    pub fn figure(&self, figure: Figure) -> Option<Estimate> {
        match figure {
            Figure::Throughput => self.throughput_per_s,
            Figure::Mean | Figure::Quantile(_) if self.is_withheld => None,
            Figure::Mean => self.response.mean_ns,
            Figure::Quantile(place) => self.response.quantiles_ns[place],
        }
    }
}

/// Summarizes the side effects of each disturbance. `is_withheld` returns true for jobs whose times
/// are withheld.
pub(crate) fn summarize(
    evidence: &Evidence,
    is_withheld: impl Fn(AccountId) -> bool,
) -> Vec<SideEffects> {
    let window = evidence.steps.window();
    let longest_s = window.map(|step| length_s(evidence, step..step + 1)).fold(0.0, f64::max);
    let side_effects = |disturbance: &Disturbance| {
        let Disturbance { cause, phases, others } = disturbance;
        let phases: Vec<PhaseSummary> =
            phases.iter().map(|phase| summary(evidence, phase, others, &is_withheld)).collect();
        let reference = reference(&disturbance.phases)?;
        let (job, is_background) = match cause {
            Cause::Job(account) => (evidence.plan.account(*account).name().to_owned(), false),
            Cause::Background(name) => (name.clone(), true),
        };
        // Start and end of background work are known only as precisely as it was sampled.
        let every_s = evidence.plan.observe.every.as_secs_f64();
        let resolution_s = if is_background { longest_s.max(every_s) } else { longest_s };
        Some(SideEffects {
            job,
            is_background,
            resolution_s,
            reference: phases[reference].name,
            changes: changes(&phases, reference),
            phases,
        })
    };
    evidence.disturbances.iter().filter_map(side_effects).collect()
}

/// Returns the index of the reference phase; `None` if the job was always active.
fn reference(phases: &[Phase]) -> Option<usize> {
    let without = || phases.iter().filter(|phase| phase.name != PhaseName::During);
    let is_long =
        |phase: &&Phase| phase.steps.iter().map(Range::len).sum::<usize>() >= FEWEST_BATCHES;
    let chosen = without().find(is_long).or_else(|| without().next())?.name;
    phases.iter().position(|phase| phase.name == chosen)
}

fn summary(
    evidence: &Evidence,
    phase: &Phase,
    others: &[AccountId],
    is_withheld: impl Fn(AccountId) -> bool,
) -> PhaseSummary {
    let at = |step| evidence.steps.start(step).as_secs_f64();
    let steps = phase.steps.iter();
    let jobs = others.iter().zip(&phase.responses).map(|(&job, response)| PhaseFigures {
        account: job,
        name: evidence.plan.account(job).name().to_owned(),
        counts: phase.counts(&evidence.jobs[job.index()]),
        throughput_per_s: throughput(evidence, phase, &evidence.jobs[job.index()]),
        response: *response,
        is_withheld: is_withheld(job),
    });
    PhaseSummary {
        name: phase.name,
        length_s: steps.clone().map(|steps| length_s(evidence, steps.clone())).sum(),
        stretches_s: steps.map(|steps| (at(steps.start), at(steps.end))).collect(),
        jobs: jobs.collect(),
    }
}

fn throughput(evidence: &Evidence, phase: &Phase, job: &JobEvidence) -> Option<Estimate> {
    let batches = phase.steps.iter().cloned().flatten().map(|step| Batch {
        amount: job.ends(step..step + 1).completed as f64,
        base: length_s(evidence, step..step + 1),
    });
    ratio(&batches.collect::<Vec<_>>())
}

/// Returns the differences from the phase at `reference`.
fn changes(phases: &[PhaseSummary], reference: usize) -> Vec<Change> {
    let mut changes = Vec::new();
    for phase in phases {
        for (there, here) in phases[reference].jobs.iter().zip(&phase.jobs) {
            for figure in Figure::ALL {
                if let (Some(from), Some(to)) = (there.figure(figure), here.figure(figure))
                    && figure.differs(&from, &to)
                {
                    let (job, phase) = (here.name.clone(), phase.name);
                    changes.push(Change { job, phase, figure, from: from.value, to: to.value });
                }
            }
        }
    }
    changes
}

fn length_s(evidence: &Evidence, steps: Range<usize>) -> f64 {
    let (from, to) = (evidence.steps.start(steps.start), evidence.steps.start(steps.end));
    to.saturating_sub(from).as_secs_f64()
}
