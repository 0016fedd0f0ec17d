//! Converts a record into the evidence that the analysis uses.

use std::ops::Range;

use analyze::capacity::count_dispersion;
use analyze::{
    ClientSample, Distribution, Evidence, JobEvidence, JobStep, LoadEvidence, LoadPoint,
    NodeEvidence, Observed, ROWS, SteadyStart, Step, Steps, WarmupEnd, keeps_its_level,
};
use archive::{Archive, IntervalCounts, RangeTimes, RecordError, SeriesReadings};
use base::{AccountId, Nanos};
use hdrhistogram::Histogram;
use record::component_name::DATABASE;
use record::environment::generator;
use record::{
    AccountKind, Balance, BucketCount, Counts, EndKind, HIGHEST, Interval, Kind, Pace, Series,
    TimesSum,
};
use workload::question::Condition;
use workload::{JobOrPart, Metric, NoFiles, Overrides, Plan, Statistic, Warmup};

use crate::{observation, surroundings, unread_plan};

use crate::server_counters::server_counters;

/// The maximum number of consecutive intervals without a row: one day. Every interval of a run has
/// a row, except while the generator was stalled.
const MAX_GAP: Interval = 86_400;

/// The value of a fact that is true, such as [`generator::SPIN`] for threads that spin instead of
/// sleeping.
pub(crate) const YES: &str = "yes";

/// Reads the evidence of a record.
///
/// # Errors
/// As for [`evidence_of_run`].
pub fn evidence(archive: &Archive) -> Result<Evidence, RecordError> {
    evidence_of_run(archive, None)
}

/// Reads the evidence of a record. `known` is the end of the run, used if the record itself has
/// none.
///
/// The evidence of a killed run ends with its last complete interval. Requests that were still open
/// at that time count as unsent, because the killed generator could not settle them.
///
/// # Errors
/// The record is damaged. A plan that this version cannot read is not an error: the evidence then
/// has the reason in `unread_plan`, and all measurements.
pub fn evidence_of_run(archive: &Archive, known: Option<EndKind>) -> Result<Evidence, RecordError> {
    evidence_after(archive, known, Nanos::ZERO)
}

/// Reads the evidence. If the plan has `warmup = auto`, the window begins at the detected end of
/// the warm-up, but no earlier than `warmup`, and no earlier than the start that the record gives
/// for the runs of a round. A start after the end of the run is ignored.
///
/// # Errors
/// As for [`evidence_of_run`].
pub(crate) fn evidence_after(
    archive: &Archive,
    known: Option<EndKind>,
    warmup: Nanos,
) -> Result<Evidence, RecordError> {
    archive.in_transaction(|| read_evidence(archive, known, warmup))
}

fn read_evidence(
    archive: &Archive,
    known: Option<EndKind>,
    warmup: Nanos,
) -> Result<Evidence, RecordError> {
    let header = archive.header();
    let (plan, unread_plan) = plan(archive);
    let end = match archive.end() {
        Some(end) => end.at,
        None => complete_until(archive)?,
    };
    let settings = archive.settings()?;
    let (of_server, observed): (Vec<Observed>, Vec<Observed>) =
        observed_series(archive)?.into_iter().partition(|it| it.component == DATABASE);
    let mut evidence = Evidence {
        is_virtual: header.pace == Pace::Virtual,
        threads: header.lanes,
        spins: spins(&settings),
        steps: Steps::new(archive.grid(), end, plan.probe),
        warmup: WarmupEnd::Given,
        ended: archive.end().map(|end| end.kind).or(known),
        jobs: Vec::new(),
        nodes: Vec::new(),
        disturbances: Vec::new(),
        events: archive.events()?,
        client: client_samples(archive)?,
        loads: loads(archive, &settings)?,
        server_counters: analyze::ServerCounters::default(),
        observed,
        unseen: observation::unobserved(&settings),
        surroundings: surroundings::of_run(archive.header(), &plan, &settings),
        plan,
        unread_plan,
    };
    if evidence.plan.warmup == Warmup::Auto {
        find_warmup(archive, &mut evidence)?;
        let of_round = archive.window_from()?.unwrap_or_default();
        begin_window_after(archive, &mut evidence, warmup.max(of_round));
    }
    let (mut responses, mut jobs) = (Vec::new(), Vec::new());
    for account in archive.accounts() {
        let StepCounts { steps, open_at_kill, whole } =
            read_step_counts(archive, &evidence, account)?;
        let response = Responses { archive, account, open_at_kill };
        let requests = job_evidence(&evidence, steps, &response)?;
        match &header.jobs[account.index()].kind {
            AccountKind::Job | AccountKind::Part { .. } => {
                evidence.jobs.push(requests);
                responses.push(response);
                jobs.push(whole);
            }
            AccountKind::Node { job, address } => {
                let odd = || archive.damaged(format!("its plan has no job {}", job.index()));
                let job = evidence.plan.job_of(*job).ok_or_else(odd)?;
                evidence.nodes.push(NodeEvidence { job, address: address.clone(), requests });
            }
        }
    }
    evidence.server_counters = server_counters(archive, &settings, of_server, &jobs)?;
    let mut read = RangeTimes::new(Kind::Response);
    evidence.disturbances = analyze::disturbances(&evidence, |JobStep { job, step }| {
        responses[job.index()].times(evidence.steps.intervals(step..step + 1), &mut read)
    })?;
    Ok(evidence)
}

/// Returns true if the settings say that the threads spin instead of sleeping.
pub(crate) fn spins(settings: &[(String, String)]) -> bool {
    settings.iter().any(|(name, value)| name == generator::SPIN && value == YES)
}

/// Returns the time from time zero to the start of the window, after a given or detected warm-up.
///
/// # Errors
/// As for [`evidence_of_run`].
pub fn end_of_warmup(archive: &Archive) -> Result<Nanos, RecordError> {
    match plan(archive).0.warmup {
        Warmup::Lasts(_) => Ok(archive.grid().warmup()),
        Warmup::Auto => Ok(evidence(archive)?.steps.warmup()),
    }
}

/// The minimum number of response times in a step (a section of the run, see [`Steps`]) from which
/// a median is computed.
const MIN_TIMES_FOR_MEDIAN: u64 = 5;

/// Detects the end of the warm-up from the completions and the median response times of all jobs
/// with a constant rate or number of clients, and moves the start of the window there.
fn find_warmup(archive: &Archive, run: &mut Evidence) -> Result<(), RecordError> {
    // The last step may be shorter than the others.
    let steps = 0..run.steps.len().saturating_sub(1);
    let mut completions = vec![0.0; steps.len()];
    let mut series = Vec::new();
    let mut has_constant_load = false;
    let jobs = run.plan.jobs_by_id().filter(|(_, job)| keeps_its_level(job, run.end()));
    let accounts: Vec<AccountId> = jobs.map(|(id, _)| run.plan.account_of(id)).collect();
    for account in accounts {
        let StepCounts { steps: step_counts, open_at_kill, whole: _ } =
            read_step_counts(archive, run, account)?;
        let responses = Responses { archive, account, open_at_kill };
        let mut read = RangeTimes::new(Kind::Response);
        let mut medians = Vec::with_capacity(steps.len());
        let mut fewest = u64::MAX;
        for step in steps.clone() {
            let length = run.steps.start(step + 1).saturating_sub(run.steps.start(step));
            let completed = step_counts.get(step).map_or(0, |step| step.ends.completed);
            completions[step] += completed as f64 / length.as_secs_f64();
            let intervals = run.steps.intervals(step..step + 1);
            let times = Distribution::of_times(&responses.times(intervals, &mut read)?);
            medians.push(times.quantile_ns("p50").unwrap_or_default() as f64);
            fewest = fewest.min(times.count);
        }
        has_constant_load = true;
        // A job with too few requests in one of the steps has no series of medians.
        if fewest >= MIN_TIMES_FOR_MEDIAN {
            series.push(medians);
        }
    }
    let all = series.iter().chain(has_constant_load.then_some(&completions));
    run.warmup = analyze::end_of_warmup(all.map(Vec::as_slice));
    if let WarmupEnd::Found(SteadyStart { steps, .. }) = run.warmup {
        let first = run.steps.intervals(steps..steps).start;
        run.steps = Steps::with_window(archive.grid(), run.end(), run.plan.probe, first);
    }
    Ok(())
}

/// Moves the start of the window to the interval of `warmup`. Does nothing if the window begins
/// later anyway, or if `warmup` is after the end of the run.
fn begin_window_after(archive: &Archive, run: &mut Evidence, warmup: Nanos) {
    if warmup <= run.steps.warmup() || warmup >= run.end() {
        return;
    }
    let first = archive.grid().interval(warmup);
    run.steps = Steps::with_window(archive.grid(), run.end(), run.plan.probe, first);
    if let WarmupEnd::Found(start) = &mut run.warmup {
        start.steps = run.steps.window().start;
    }
}

/// Parses the plan stored in the record. If the plan cannot be read or its jobs differ from the
/// jobs of the record, returns a plan built from the header, and the reason.
fn plan(archive: &Archive) -> (Plan, Option<String>) {
    let header = archive.header();
    let (plan, found) = workload::plan_in(&header.plan, &Overrides::default(), &NoFiles);
    let is_node = |kind: &AccountKind| matches!(kind, AccountKind::Node { .. });
    let jobs = header.jobs.iter().filter(|job| !is_node(&job.kind));
    let names = jobs.map(|job| job.name.as_str());
    let has_jobs = |plan: &Plan| plan.jobs_and_parts().map(JobOrPart::name).eq(names.clone());
    let why = match plan {
        Some(plan) if has_jobs(&plan) => return (plan, None),
        Some(_) => "its jobs differ from those of the record".to_owned(),
        None => found.into_iter().next().map_or_else(String::new, |first| first.sentence()),
    };
    (unread_plan::of(header), Some(why))
}

/// Returns the time up to which the record of a killed run is complete. An interval has a gauge
/// (its numbers of requests in flight, waiting requests and open connections) once every lane has
/// passed it. Rows of later intervals may exist without a gauge: faster lanes and late answers have
/// added them.
fn complete_until(archive: &Archive) -> Result<Nanos, RecordError> {
    let mut last = None;
    for account in archive.accounts() {
        archive.each_interval(account, |row| {
            if row.gauge.is_some() {
                last = last.max(Some(row.interval));
            }
            Ok(())
        })?;
    }
    Ok(last.map_or(Nanos::ZERO, |interval| archive.grid().end(interval)))
}

fn job_evidence(
    run: &Evidence,
    steps: Vec<Step>,
    responses: &Responses<'_>,
) -> Result<JobEvidence, RecordError> {
    let Responses { archive, account, open_at_kill: _ } = *responses;
    let window = run.steps.intervals(run.steps.window());
    let WindowTimes { estimates, whole, probes, course, parts } = window_times(run, responses)?;
    let mut evidence = JobEvidence {
        steps,
        window: Vec::new(),
        estimates,
        probes,
        course,
        parts,
        failures: Vec::new(),
        statements: archive.statement_answers(account)?,
    };
    for kind in archive.kinds(account) {
        let histogram = match kind {
            Kind::Response => whole.clone(),
            other => archive.histogram(account, other, window.clone())?,
        };
        evidence.window.push((kind, histogram));
    }
    for failure in archive.failures(account, window)? {
        evidence.failures.push((failure.class, failure.code, failure.count));
    }
    Ok(evidence)
}

/// The response times of the whole window, and of its probes and other sections.
struct WindowTimes {
    estimates: analyze::Responses,
    whole: Histogram<u64>,
    probes: Vec<(Range<usize>, Distribution)>,
    course: Vec<(Range<usize>, Distribution)>,
    parts: Vec<(Range<usize>, Distribution)>,
}

/// Reads the response times of the window, step by step. The estimates of quantiles need every step
/// twice; the sums over sections of the window are made while a step is read for the first time.
fn window_times(run: &Evidence, responses: &Responses<'_>) -> Result<WindowTimes, RecordError> {
    let window = run.steps.window();
    let probes = run.steps.probes(run.plan.probe);
    let rows = probes.chunks(probes.len().div_ceil(ROWS).max(1));
    let course = rows.map(|part| part[0].start..part[part.len() - 1].end).collect();
    let mut whole = Kind::Response.histogram();
    let mut sums = [probes, course, run.steps.parts()].map(RangeSums::new);
    let mut next = window.start;
    let mut read = RangeTimes::new(Kind::Response);
    let estimates = analyze::Responses::of(window, |step| {
        let times = responses.times(run.steps.intervals(step..step + 1), &mut read)?;
        if step == next {
            times.iter().for_each(|it| whole.saturating_record_n(it.bucket.highest, it.count));
            sums.iter_mut().for_each(|sums| sums.add(step, &times));
            next += 1;
        }
        Ok(times)
    })?;
    let [probes, course, parts] = sums.map(RangeSums::into_distributions);
    Ok(WindowTimes { estimates, whole, probes, course, parts })
}

/// The response times of several ranges of steps. The ranges are in ascending order and do not
/// overlap.
struct RangeSums {
    ranges: Vec<Range<usize>>,
    /// Response times of the complete ranges, which come before the incomplete ones.
    complete: Vec<(Range<usize>, Distribution)>,
    /// Sum of the times added so far for the first incomplete range.
    sum: TimesSum,
}

impl RangeSums {
    fn new(ranges: Vec<Range<usize>>) -> RangeSums {
        RangeSums { ranges, complete: Vec::new(), sum: TimesSum::new(Kind::Response) }
    }

    /// Adds the times of a step. Steps must be added in ascending order.
    fn add(&mut self, step: usize, times: &[BucketCount]) {
        self.complete_before(step);
        if self.ranges.get(self.complete.len()).is_some_and(|range| range.contains(&step)) {
            self.sum.add(times);
        }
    }

    fn complete_before(&mut self, step: usize) {
        while let Some(range) = self.ranges.get(self.complete.len())
            && range.end <= step
        {
            let times: Vec<BucketCount> = self.sum.times().collect();
            self.complete.push((range.clone(), Distribution::of_times(&times)));
            self.sum.clear();
        }
    }

    fn into_distributions(mut self) -> Vec<(Range<usize>, Distribution)> {
        self.complete_before(usize::MAX);
        self.complete
    }
}

/// Returns, for each condition on a quantile, the dispersion of the number of requests beyond its
/// bound. The result is `None` for other conditions, and if there are too few steps. `run` is the
/// evidence of the record.
///
/// # Errors
/// The record is damaged.
pub fn count_dispersions(
    archive: &Archive,
    run: &Evidence,
    conditions: &[Condition],
) -> Result<Vec<Option<f64>>, RecordError> {
    let dispersion = |condition: &Condition| {
        let kind = match condition.slo.metric {
            Metric::Response(Statistic::Quantile(_)) => Kind::Response,
            Metric::Service(Statistic::Quantile(_)) => Kind::Service,
            Metric::Response(_) | Metric::Service(_) | Metric::Throughput | Metric::Failed => {
                return Ok(None);
            }
        };
        let mut named = run.accounts().zip(run.plan.jobs_and_parts());
        let Some((account, _)) = named.find(|(_, it)| it.name() == condition.job) else {
            return Ok(None);
        };
        let open_at_kill = read_step_counts(archive, run, account)?.open_at_kill;
        let responses = Responses { archive, account, open_at_kill };
        count_dispersion(run.steps.window(), condition.slo.bound, |step| {
            let intervals = run.steps.intervals(step..step + 1);
            match kind {
                Kind::Response => responses.of(intervals),
                other => archive.histogram(account, other, intervals),
            }
        })
    };
    conditions.iter().map(dispersion).collect()
}

/// The response times of one account: of a job, of a part of a mix, or of a job at one server.
pub(crate) struct Responses<'a> {
    pub(crate) archive: &'a Archive,
    pub(crate) account: AccountId,
    pub(crate) open_at_kill: OpenAtKill,
}

impl Responses<'_> {
    /// Returns the response times of the requests whose intended start lies in `intervals`.
    pub(crate) fn of(&self, intervals: Range<Interval>) -> Result<Histogram<u64>, RecordError> {
        let mut read = RangeTimes::new(Kind::Response);
        self.read(intervals, &mut read)?;
        let mut response = Kind::Response.histogram();
        read.sum.add_to(&mut response);
        Ok(response)
    }

    /// Returns the response times of the requests whose intended start lies in `intervals`, as
    /// counts by bucket. `read` is a buffer that is reused for several ranges.
    fn times(
        &self,
        intervals: Range<Interval>,
        read: &mut RangeTimes,
    ) -> Result<Vec<BucketCount>, RecordError> {
        self.read(intervals, read)?;
        Ok(read.sum.times().collect())
    }

    fn read(&self, intervals: Range<Interval>, read: &mut RangeTimes) -> Result<(), RecordError> {
        self.archive.read_times(self.account, intervals.clone(), read)?;
        self.open_at_kill.add(intervals, &mut read.sum);
        Ok(())
    }
}

/// The counts of the steps of an account, and the requests that a killed run left open in them.
#[derive(Default)]
pub(crate) struct StepCounts {
    pub(crate) steps: Vec<Step>,
    pub(crate) open_at_kill: OpenAtKill,
    /// The counts of the whole record, including those after the end of the run.
    whole: Counts,
}

pub(crate) fn read_step_counts(
    archive: &Archive,
    run: &Evidence,
    account: AccountId,
) -> Result<StepCounts, RecordError> {
    let mut step_counts = StepCounts::default();
    let mut next = 0;
    archive.each_interval(account, |row| {
        check_gap(archive, next, row.interval)?;
        next = row.interval.saturating_add(1);
        step_counts.whole.merge(&row.counts);
        let Some(place) = run.steps.of(row.interval) else { return Ok(()) };
        let IntervalCounts { interval, mut counts, ends, gauge } = row;
        if was_killed(run) {
            let age = run.end().saturating_sub(archive.grid().end(interval));
            step_counts.open_at_kill.note(interval, age, &mut counts);
        }
        let connections = gauge.map(|gauge| gauge.connections);
        if step_counts.steps.len() <= place {
            step_counts.steps.resize(place + 1, Step::default());
        }
        step_counts.steps[place].merge(&Step { counts, ends, connections });
        Ok(())
    })?;
    check_gap(archive, next, run.steps.intervals(0..run.steps.len()).end)?;
    Ok(step_counts)
}

/// Reads the requests that a killed run left open; other runs have none.
pub(crate) fn read_open_at_kill(
    archive: &Archive,
    run: &Evidence,
    account: AccountId,
) -> Result<OpenAtKill, RecordError> {
    match was_killed(run) {
        true => Ok(read_step_counts(archive, run, account)?.open_at_kill),
        false => Ok(OpenAtKill::default()),
    }
}

/// Returns true if the generator ended without recording the outcome of open requests.
fn was_killed(run: &Evidence) -> bool {
    matches!(run.ended, None | Some(EndKind::InternalError))
}

/// Returns an error if more than [`MAX_GAP`] intervals are missing between `next` and `found`.
fn check_gap(archive: &Archive, next: Interval, found: Interval) -> Result<(), RecordError> {
    match found > next.saturating_add(MAX_GAP) {
        true => Err(archive.damaged(format!("no interval from {next} to {found}"))),
        false => Ok(()),
    }
}

/// The requests that were open when a run was killed.
///
/// They count as unsent. The time of each is its minimum age: from the end of its interval to the
/// end of the evidence, which is that of the last complete interval. Requests of the last interval
/// have a minimum age of zero; they have no time here, because a zero would lower the quantiles.
#[derive(Default)]
pub(crate) struct OpenAtKill(Vec<(Interval, Nanos, u64)>);

impl OpenAtKill {
    /// Counts the requests that are open in an interval as unsent; `age` is their minimum age.
    fn note(&mut self, interval: Interval, age: Nanos, counts: &mut Counts) {
        let (open, balance) = (counts.open(), counts.balance);
        counts.balance = Balance::of(
            balance.completed(),
            balance.errors(),
            balance.rejected(),
            balance.unsent() + open,
        );
        if open > 0 && age > Nanos::ZERO {
            counts.overflows += if age > HIGHEST { open } else { 0 };
            self.0.push((interval, age.min(HIGHEST), open));
        }
    }

    /// Adds the ages of the requests of some intervals to their response times.
    pub(crate) fn add(&self, intervals: Range<Interval>, response: &mut TimesSum) {
        for (_, age, open) in self.0.iter().filter(|(at, ..)| intervals.contains(at)) {
            response.add_time(age.0, *open);
        }
    }
}

fn client_samples(archive: &Archive) -> Result<Vec<ClientSample>, RecordError> {
    let samples = archive.client()?.into_iter().map(|reading| ClientSample {
        at: reading.at,
        user: reading.sample.cpu_user,
        system: reading.sample.cpu_system,
        peak_rss_bytes: reading.sample.peak_rss_bytes.unwrap_or(0),
    });
    Ok(samples.collect())
}

fn observed_series(archive: &Archive) -> Result<Vec<Observed>, RecordError> {
    Ok(archive.series()?.into_iter().map(to_observed).collect())
}

fn to_observed(SeriesReadings { series, points, ranges }: SeriesReadings) -> Observed {
    let Series { component, metric, unit: _ } = series;
    Observed { component, metric, points, ranges }
}

fn insert_fallback_reason(settings: &[(String, String)], table: &str) -> Option<String> {
    let of_table = |name: &str| name.strip_prefix(generator::INSERTS) == Some(table);
    settings.iter().find(|(name, _)| of_table(name)).map(|(_, why)| why.clone())
}

fn loads(
    archive: &Archive,
    settings: &[(String, String)],
) -> Result<Vec<LoadEvidence>, RecordError> {
    let loads = archive.loads()?.into_iter().map(|report| {
        let first = report.progress.first().and_then(|point| point.cpu);
        let since = |cpu: (Nanos, Nanos)| {
            let (user, system) = first.unwrap_or(cpu);
            (cpu.0 + cpu.1).saturating_sub(user + system)
        };
        let points = report.progress.iter().map(|point| LoadPoint {
            rows: point.rows,
            at: point.at,
            client_cpu: point.cpu.map(since),
        });
        LoadEvidence {
            points: points.collect(),
            unseen: observation::unobserved_in_load(settings, &report.load.table),
            fallback: insert_fallback_reason(settings, &report.load.table),
            table: report.load.table,
            rows: report.load.rows,
            bytes: report.load.bytes,
            took: report.load.length,
            observed: report.series.into_iter().map(to_observed).collect(),
        }
    });
    Ok(loads.collect())
}
