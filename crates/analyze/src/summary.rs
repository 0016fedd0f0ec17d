//! All numbers that the report of one run contains.

use base::Nanos;
use record::metric::generator;
use record::{ComponentKind, MeasuredSide};

use crate::check::Verdict;
use crate::checks;
use crate::checks::input::CheckInput;
use crate::effects::{self, Effect};
use crate::evidence::{Evidence, LoadEvidence, LoadPoint};
use crate::job::{self, ErrorTexts, JobSummary};
use crate::limiter::finding::UnobservedSource;
use crate::limiter::{self, Candidate, Limiter, ObservedComponents};
use crate::observed::Growth;
use crate::phases::{self, SideEffects};
use crate::program::{self, ProgramSummary};
use crate::storage::StorageSize;

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Verdict on the credibility of the numbers.
    pub verdict: Verdict,
    /// Measured period.
    pub window: Window,
    /// Jobs in the file's order.
    pub jobs: Vec<JobSummary>,
    /// Side effects on the other jobs: of intermittent jobs, in the file's order, then of
    /// background work.
    pub side_effects: Vec<SideEffects>,
    /// Changes caused by intermittent jobs and background work.
    pub effects: Vec<Effect>,
    /// Tables that were filled.
    pub loads: Vec<LoadSummary>,
    /// Limiter of the run.
    pub limiter: Limiter,
    /// Resource usage of the generator; `None` in virtual time, and if it was not sampled twice in
    /// the window.
    pub client: Option<ClientSummary>,
    /// Throughput of an observed program; `None` if there was none, or if it is unknown.
    pub program: Option<ProgramSummary>,
    /// Mean number of processors used for observing the machine and the database, in the window or,
    /// if there were only loads, during the loads; `None` if it was not recorded.
    pub observing_share: Option<f64>,
}

/// The measured part of the run, by intended start, in seconds since time zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Length of the warm-up, in seconds.
    pub warmup_s: f64,
    /// Start of the window.
    pub start_s: f64,
    /// End of the window.
    pub end_s: f64,
}

/// Resource usage of the generator's process in the window, from the first sample to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientSummary {
    /// Processor time in user mode, in seconds.
    pub user_s: f64,
    /// Processor time in the kernel, in seconds.
    pub system_s: f64,
    /// Processor time in both modes per request completed in the same period, in microseconds;
    /// `None` if no request was completed.
    pub us_per_query: Option<f64>,
    /// Largest resident memory of the run, in bytes.
    pub peak_rss_bytes: u64,
    /// Number of lanes, the threads that send requests, in the measured phase.
    pub threads: u16,
}

/// A table that was filled.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSummary {
    /// Name of the table.
    pub table: String,
    /// Number of rows.
    pub rows: u64,
    /// Bytes of values.
    pub bytes: u64,
    /// Duration of the load.
    pub took: Nanos,
    /// Rows per second over the whole load; `None` if it took no time.
    pub rows_per_s: Option<f64>,
    /// Rows per second at the end of the load, over a twentieth to a tenth of the rows; `None` if
    /// no progress was recorded there. Progress is recorded once a second.
    pub exit_rows_per_s: Option<f64>,
    /// Processor time of the generator, from the first point to the last; `None` with fewer than
    /// two points.
    pub client_cpu: Option<Nanos>,
    /// Processor time of the database from its first sample on; `None` if the database was not
    /// observed.
    pub server_cpu: Option<Nanos>,
    /// Limiter of the load.
    pub limiter: Candidate,
    /// Observations of each component during the load.
    pub seen: ObservedComponents,
    /// Sources that could not be observed during the load.
    pub unseen: Vec<UnobservedSource>,
    /// Reason why the rows were inserted although the server has a faster method, with the remedy.
    pub fallback: Option<String>,
    /// Size of the table when the jobs had ended; `None` if it was not read.
    pub size: Option<StorageSize>,
    /// Progress over time.
    pub points: Vec<LoadPoint>,
}

/// Judges and summarizes a run.
pub fn summarize(evidence: &Evidence) -> Summary {
    let check_input = CheckInput::new(evidence);
    let warmup_s = evidence.steps.warmup().as_secs_f64();
    let side_effects = phases::summarize(evidence, |account| check_input.is_overloaded(account));
    let texts = ErrorTexts::of(evidence);
    let jobs: Vec<JobSummary> =
        evidence.accounts().map(|account| job::summarize(&check_input, &texts, account)).collect();
    Summary {
        verdict: checks::verdict(&check_input),
        window: Window {
            warmup_s,
            start_s: warmup_s,
            end_s: evidence.end().as_secs_f64().max(warmup_s),
        },
        effects: effects::effects(&side_effects),
        limiter: limiter::of_run(&check_input, &side_effects),
        side_effects,
        loads: evidence.loads.iter().map(|it| load(&check_input, it)).collect(),
        client: client(evidence),
        program: program::summarize(evidence),
        observing_share: observing_share(evidence),
        jobs,
    }
}

/// Returns the process's resource usage between the first sample of the window and the last.
fn client(evidence: &Evidence) -> Option<ClientSummary> {
    if evidence.is_virtual {
        return None;
    }
    let start = evidence.steps.warmup();
    let inside =
        |at: Nanos| at >= start && at.saturating_sub(Nanos::from_millis(500)) <= evidence.end();
    let samples: Vec<_> = evidence.client.iter().filter(|sample| inside(sample.at)).collect();
    let (first, last) = (samples.first()?, samples.last()?);
    if first.at == last.at {
        return None;
    }
    let user_s = last.user.saturating_sub(first.user).as_secs_f64();
    let system_s = last.system.saturating_sub(first.system).as_secs_f64();
    // The last sample may be up to a second before the window's end. Requests completed after it
    // are left out, because no sample has their processor time. Samples lie between intervals.
    let meanwhile = evidence.steps.between(first.at, last.at);
    let jobs = evidence.plan.jobs_by_id().map(|(id, _)| evidence.plan.account_of(id));
    let jobs = jobs.filter_map(|account| evidence.jobs.get(account.index()));
    let completed: u64 = jobs.map(|job| job.ends(meanwhile.clone()).completed).sum();
    let us_per_query = (completed > 0).then(|| (user_s + system_s) * 1e6 / completed as f64);
    Some(ClientSummary {
        user_s,
        system_s,
        us_per_query,
        peak_rss_bytes: last.peak_rss_bytes,
        threads: evidence.threads,
    })
}

/// Returns the mean number of processors used for observing in the window or, if there were only
/// loads, during the loads.
fn observing_share(evidence: &Evidence) -> Option<f64> {
    let kind = ComponentKind::Processes(MeasuredSide::Generator);
    let of_window = evidence
        .observed(&kind, generator::OBSERVING)
        .and_then(|observing| observing.growth(&evidence.window()));
    let of_load = |load: &LoadEvidence| {
        load.observed(&kind, generator::OBSERVING)?.growth(&(Nanos::ZERO..load.took))
    };
    let of_loads = || evidence.loads.iter().filter_map(of_load).reduce(Growth::plus);
    let Growth { by, span } = of_window.or_else(of_loads)?;
    Some(by / span.as_secs_f64())
}

fn load(check_input: &CheckInput<'_>, load: &LoadEvidence) -> LoadSummary {
    let per_s =
        |rows: u64, time: Nanos| (time > Nanos::ZERO).then(|| rows as f64 / time.as_secs_f64());
    // A fast load has few points, and none of them may be near the last twentieth.
    let exit_from = load.rows - load.rows / 10..=load.rows - load.rows.div_ceil(20);
    let before = load.points.iter().rev().find(|point| exit_from.contains(&point.rows));
    let exit = before.map(|p| (load.rows - p.rows, load.took.saturating_sub(p.at)));
    LoadSummary {
        table: load.table.clone(),
        rows: load.rows,
        bytes: load.bytes,
        took: load.took,
        rows_per_s: per_s(load.rows, load.took),
        exit_rows_per_s: exit.and_then(|(rows, time)| per_s(rows, time)),
        client_cpu: load.points.iter().skip(1).next_back().and_then(|point| point.client_cpu),
        server_cpu: limiter::server_cpu(load),
        limiter: limiter::of_load(check_input, load),
        seen: limiter::observed_during_load(check_input, load),
        unseen: UnobservedSource::reported(&load.unseen),
        fallback: load.fallback.clone(),
        size: StorageSize::of_table(check_input.evidence, &load.table),
        points: load.points.clone(),
    }
}
