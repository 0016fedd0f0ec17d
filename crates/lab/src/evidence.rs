//! From a record to what the analysis looks at.

use analyze::{ClientSample, Evidence, HowEnded, Interval, JobEvidence, LoadEvidence, LoadPoint};
use base::Nanos;
use record::{Archive, EndKind, JobIndex, Pace, RecordError};
use workload::{Overrides, Plan};

/// Reads a record.
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

/// Until when the record of a killed run is whole.
fn written_until(archive: &Archive) -> Result<Nanos, RecordError> {
    let mut last = None;
    for job in archive.jobs() {
        let intervals = archive.intervals(job)?;
        last = last.max(intervals.last().map(|interval| interval.interval));
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
        intervals: Vec::new(),
        window: Vec::new(),
        probes: Vec::new(),
        failures: Vec::new(),
    };
    for row in archive.intervals(job)? {
        evidence.intervals.resize(row.interval as usize, Interval::default());
        let gauge = row.gauge.unwrap_or_default();
        evidence.intervals.push(Interval { counts: row.counts, ends: row.ends, gauge });
    }
    for kind in archive.kinds(job) {
        evidence.window.push((kind, archive.histogram(job, kind, window.clone())?));
    }
    let step = u32::try_from(run.plan.probe.0.div_ceil(1_000_000_000)).unwrap_or(u32::MAX).max(1);
    for start in window.clone().step_by(step as usize) {
        let range = start..start.saturating_add(step).min(window.end);
        let response = archive.histogram(job, record::Kind::Response, range.clone())?;
        evidence.probes.push((range, response));
    }
    for failure in archive.failures(job, window)? {
        evidence.failures.push((failure.class, failure.code, failure.count));
    }
    Ok(evidence)
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
