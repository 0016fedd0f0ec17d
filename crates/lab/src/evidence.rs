//! From a record to what the analysis looks at.

use analyze::{ClientSample, Evidence, HowEnded, Interval, JobEvidence, LoadEvidence, LoadPoint};
use base::Nanos;
use record::{
    Archive, Balance, EndKind, HIGHEST, IntervalCounts, JobIndex, Kind, Pace, RecordError,
};
use workload::{Overrides, Plan};

/// The most intervals that may follow each other without a row: those of a day. Every interval that
/// the run lived through has one, unless the generator itself stood still.
const GAP: u32 = 86_400;

/// Reads a record.
///
/// Of a killed run, the evidence ends with the last interval that is whole, and the requests that
/// were open there are unsent: nobody was left to give them up.
///
/// # Errors
/// The record is damaged, or its plan is one that this version does not understand.
pub fn evidence(archive: &Archive) -> Result<Evidence, RecordError> {
    let header = archive.header();
    let plan = plan(archive)?;
    let grid = archive.grid();
    let end = match archive.end() {
        Some(end) => end.at,
        None => written_until(archive)?,
    };
    let mut evidence = Evidence {
        is_virtual: header.pace == Pace::Virtual,
        threads: header.lanes,
        grid,
        ended: archive.end().map(|end| how(end.kind)),
        end,
        jobs: Vec::new(),
        events: archive.events()?,
        client: client(archive)?,
        loads: loads(archive)?,
        plan,
    };
    for job in archive.jobs() {
        evidence.jobs.push(job_evidence(archive, &evidence, job)?);
    }
    Ok(evidence)
}

/// The plan that the record carries in words.
fn plan(archive: &Archive) -> Result<Plan, RecordError> {
    let text = &archive.header().plan;
    let (plan, diagnostics) = workload::plan(text, &Overrides::default());
    plan.ok_or_else(|| {
        let first = diagnostics.first().map(|diagnostic| diagnostic.message.as_str());
        archive.damaged(format!("its plan: {}", first.unwrap_or("no plan")))
    })
}

fn how(end: EndKind) -> HowEnded {
    match end {
        EndKind::Completed => HowEnded::Completed,
        EndKind::Interrupted => HowEnded::Interrupted,
        EndKind::StoppedByError => HowEnded::StoppedByError,
        EndKind::TargetLost => HowEnded::TargetLost,
        EndKind::RecorderFailed => HowEnded::RecorderFailed,
    }
}

/// Until when the record of a killed run is whole. An interval has a gauge when every lane has left
/// it; late answers and faster lanes may have begun a row behind it.
fn written_until(archive: &Archive) -> Result<Nanos, RecordError> {
    let mut last = None;
    for job in archive.jobs() {
        let intervals = archive.intervals(job)?;
        let whole = intervals.iter().rev().find(|interval| interval.gauge.is_some());
        last = last.max(whole.map(|interval| interval.interval));
    }
    Ok(last.map_or(Nanos::ZERO, |interval| archive.grid().end(interval)))
}

fn job_evidence(
    archive: &Archive,
    run: &Evidence,
    job: JobIndex,
) -> Result<JobEvidence, RecordError> {
    let window = run.window();
    let mut evidence = JobEvidence {
        intervals: intervals(archive, run, job)?,
        window: Vec::new(),
        probes: Vec::new(),
        failures: Vec::new(),
    };
    for kind in archive.kinds(job) {
        evidence.window.push((kind, archive.histogram(job, kind, window.clone())?));
    }
    let step = u32::try_from(run.plan.probe.0.div_ceil(1_000_000_000)).unwrap_or(u32::MAX).max(1);
    for start in window.clone().step_by(step as usize) {
        let range = start..start.saturating_add(step).min(window.end);
        let response = archive.histogram(job, Kind::Response, range.clone())?;
        evidence.probes.push((range, response));
    }
    for failure in archive.failures(job, window)? {
        evidence.failures.push((failure.class, failure.code, failure.count));
    }
    if run.ended.is_none() {
        give_up_open(&mut evidence, run);
    }
    Ok(evidence)
}

/// The intervals of a job from the first; of a killed run, as far as they are whole.
fn intervals(
    archive: &Archive,
    run: &Evidence,
    job: JobIndex,
) -> Result<Vec<Interval>, RecordError> {
    let mut rows = archive.intervals(job)?;
    if run.ended.is_none() {
        rows.retain(|row| run.grid.start(row.interval) < run.end);
    }
    let mut intervals: Vec<Interval> = Vec::new();
    for IntervalCounts { interval, counts, ends, gauge } in rows {
        let next = intervals.len();
        if interval as usize > next + GAP as usize {
            return Err(archive.damaged(format!("no interval from {next} to {interval}")));
        }
        intervals.resize(interval as usize, Interval::default());
        intervals.push(Interval { counts, ends, gauge: gauge.unwrap_or_default() });
    }
    if run.window().end as usize > intervals.len() + GAP as usize {
        let what = format!("it ends after {} intervals of {}", intervals.len(), run.window().end);
        return Err(archive.damaged(what));
    }
    Ok(intervals)
}

/// Counts the requests of a killed run that were open at its end as unsent, and times them at the
/// least age that each can have had: as if it had come due at the end of its interval. That is
/// nothing for those of the last interval, and since a time of nothing would flatter the quantiles,
/// they have no time.
fn give_up_open(evidence: &mut JobEvidence, run: &Evidence) {
    let window = run.window();
    let JobEvidence { intervals, window: distributions, probes, failures: _ } = evidence;
    let response = distributions.iter_mut().filter(|(kind, _)| *kind == Kind::Response);
    let response = response.map(|(_, histogram)| (window.clone(), histogram));
    let probes = probes.iter_mut().map(|(range, histogram)| (range.clone(), histogram));
    let mut parts: Vec<_> = response.chain(probes).collect();
    for (interval, row) in (0..).zip(intervals) {
        let (open, counts) = (row.counts.open(), &mut row.counts);
        let balance = counts.balance;
        counts.balance = Balance::of(
            balance.completed(),
            balance.errors(),
            balance.rejected(),
            balance.unsent() + open,
        );
        let age = run.end.saturating_sub(run.grid.end(interval));
        if open == 0 || age == Nanos::ZERO {
            continue;
        }
        if age > HIGHEST {
            counts.overflows += open;
        }
        for (_, histogram) in parts.iter_mut().filter(|(part, _)| part.contains(&interval)) {
            histogram.saturating_record_n(age.min(HIGHEST).0, open);
        }
    }
}

fn client(archive: &Archive) -> Result<Vec<ClientSample>, RecordError> {
    let samples = archive.client()?.into_iter().map(|reading| ClientSample {
        at: reading.at,
        user: reading.sample.cpu_user,
        system: reading.sample.cpu_system,
        peak_rss_bytes: reading.sample.peak_rss_bytes.unwrap_or(0),
    });
    Ok(samples.collect())
}

fn loads(archive: &Archive) -> Result<Vec<LoadEvidence>, RecordError> {
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
            table: report.load.table,
            rows: report.load.rows,
            bytes: report.load.bytes,
            took: report.load.length,
        }
    });
    Ok(loads.collect())
}
