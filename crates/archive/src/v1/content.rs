//! The table `meta`: the header before the run, the run's time zero, its end, and other facts that
//! are written once.

use std::collections::{BTreeMap, BTreeSet};

use base::{AccountId, Nanos, Seed, StatementId, WallTime};
use record::{End, EndKind, Header, OpFormat, OpLogReport, Pace, TargetText};
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::jobs::{read_jobs, write_job};
use super::schema::VERSION;
use crate::error::RowError;

/// Writes the facts that are known before the run, the jobs included.
pub(crate) fn write_header(to: &Connection, header: &Header) -> Result<(), RowError> {
    let Header {
        assay,
        commit,
        started,
        pace,
        lanes,
        seed,
        target,
        command,
        workload,
        plan,
        warmup,
        duration,
        jobs,
    } = header;
    let facts = [
        ("format", Value::from("assay.record".to_owned())),
        ("version", VERSION.into()),
        ("assay", assay.clone().into()),
        ("started", started.to_string().into()),
        ("started_ns", started.0.into()),
        ("pace", pace.name().to_owned().into()),
        ("lanes", i64::from(*lanes).into()),
        ("seed", seed.0.to_string().into()),
        ("target", target.as_str().to_owned().into()),
        ("command", command.clone().into()),
        ("workload", workload.clone().into()),
        ("plan", plan.clone().into()),
        ("warmup_ns", to_integer(*warmup).into()),
    ];
    for (key, value) in facts {
        write_fact(to, key, value)?;
    }
    if let Some(commit) = commit {
        write_fact(to, "commit", commit.clone().into())?;
    }
    if let Some(duration) = duration {
        write_fact(to, "duration_ns", to_integer(*duration).into())?;
    }
    for (job, place) in jobs.iter().zip(0..) {
        write_job(to, place, job)?;
    }
    Ok(())
}

/// Writes the wall-clock time of time zero.
pub(crate) fn write_time_zero(to: &Connection, zero: WallTime) -> Result<(), RowError> {
    write_fact(to, "time_zero_ns", zero.0.into())
}

/// Writes the end of the run.
pub(crate) fn write_end(to: &Connection, end: &End) -> Result<(), RowError> {
    let End { at, kind, text } = end;
    write_fact(to, "ended", kind.name().to_owned().into())?;
    write_fact(to, "ended_at_ns", to_integer(*at).into())?;
    write_fact(to, "ended_because", text.clone().into())
}

/// Writes the number of events that were not recorded because there were too many.
pub(crate) fn write_events_dropped(to: &Connection, number: u64) -> Result<(), RowError> {
    write_fact(to, "events_dropped", i64::try_from(number).unwrap_or(i64::MAX).into())
}

/// Reads the number of events that were not recorded; 0 if the record does not say.
pub(crate) fn read_events_dropped(from: &Connection) -> Result<u64, RowError> {
    let facts = Facts::read(from)?;
    facts.get("events_dropped").map_or(Ok(0), |_| facts.natural("events_dropped"))
}

/// Writes the number of rows of `sample_range` into `meta`, if there are any. The seal cannot
/// contain this number, because earlier versions of Assay compare all sums of the seal.
pub(super) fn write_sample_ranges(to: &Connection, number: u64) -> Result<(), RowError> {
    match number {
        0 => Ok(()),
        _ => write_fact(to, "sample_ranges", i64::try_from(number).unwrap_or(i64::MAX).into()),
    }
}

/// Reads the number of rows of `sample_range`; 0 if the record does not say.
pub(super) fn read_sample_ranges(from: &Connection) -> Result<u64, RowError> {
    let facts = Facts::read(from)?;
    facts.get("sample_ranges").map_or(Ok(0), |_| facts.natural("sample_ranges"))
}

/// The key of the statements that returned or changed a row.
const WITH_ROWS: &str = "statements_with_rows";

/// Writes the statements that returned or changed a row, each as `JOB.STATEMENT`: the index of the
/// account, from 0, and the number of the statement, from 1.
pub(crate) fn write_with_rows(
    to: &Connection,
    statements: impl Iterator<Item = (AccountId, StatementId)>,
) -> Result<(), RowError> {
    let names = statements.map(|(job, statement)| format!("{}.{}", job.0, statement.0 + 1));
    write_fact(to, WITH_ROWS, names.collect::<Vec<_>>().join(" ").into())
}

/// Reads the statements that returned or changed a row; `None` if the record does not say, because
/// it is older or the run was killed.
pub(crate) fn read_with_rows(
    from: &Connection,
) -> Result<Option<BTreeSet<(AccountId, StatementId)>>, RowError> {
    let facts = Facts::read(from)?;
    if facts.get(WITH_ROWS).is_none() {
        return Ok(None);
    }
    let read = |name: &str| {
        let (job, statement) = name.split_once('.')?;
        let statement = statement.parse::<u16>().ok()?.checked_sub(1)?;
        Some((AccountId(job.parse().ok()?), StatementId(statement)))
    };
    let statements = facts.text(WITH_ROWS)?.split_whitespace().map(read).collect::<Option<_>>();
    statements.map(Some).ok_or_else(|| Facts::invalid_fact(WITH_ROWS))
}

/// Writes the result of the op-log.
pub(crate) fn write_op_log(to: &Connection, outcome: &OpLogReport) -> Result<(), RowError> {
    let OpLogReport { format, rows, dropped, failure } = outcome;
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX).into();
    write_fact(to, "op_log_format", format.name().to_owned().into())?;
    write_fact(to, "op_log_rows", number(*rows))?;
    write_fact(to, "op_log_dropped", number(*dropped))?;
    match failure {
        Some(failure) => write_fact(to, "op_log_failure", failure.clone().into()),
        None => Ok(()),
    }
}

/// Reads the result of the op-log, if there was one.
pub(crate) fn read_op_log(from: &Connection) -> Result<Option<OpLogReport>, RowError> {
    let facts = Facts::read(from)?;
    if facts.get("op_log_rows").is_none() {
        return Ok(None);
    }
    let failure = facts.get("op_log_failure").map(|_| facts.text("op_log_failure"));
    let format = facts.get("op_log_format").map(|_| facts.text("op_log_format")).transpose()?;
    // Records from versions with a single format do not name the format.
    let format = format.map_or(Some(OpFormat::Csv), |name| {
        OpFormat::ALL.into_iter().find(|known| known.name() == name)
    });
    Ok(Some(OpLogReport {
        format: format.ok_or_else(|| Facts::invalid_fact("op_log_format"))?,
        rows: facts.natural("op_log_rows")?,
        dropped: facts.natural("op_log_dropped")?,
        failure: failure.transpose()?,
    }))
}

/// The key of the start of the window that all runs of a round share.
const WINDOW_FROM: &str = "window_from_ns";

/// Writes into a sealed record the start of the window that all runs of a round share, in
/// nanoseconds after time zero, and adds the new row of `meta` to the seal. The record must not
/// have this fact yet.
pub(crate) fn write_window_from(to: &Connection, at: Nanos) -> Result<(), RowError> {
    write_fact(to, WINDOW_FROM, to_integer(at).into())?;
    to.execute("update seal set total = total + 1 where what = 'rows of meta'", [])?;
    Ok(())
}

/// Reads the start of the window that all runs of a round share; `None` unless the run was exported
/// from an experiment.
pub(crate) fn read_window_from(from: &Connection) -> Result<Option<Nanos>, RowError> {
    let facts = Facts::read(from)?;
    facts.get(WINDOW_FROM).map(|_| facts.nanos(WINDOW_FROM)).transpose()
}

fn write_fact(to: &Connection, key: &str, value: Value) -> Result<(), RowError> {
    to.prepare_cached("insert or replace into meta values (?, ?)")?.execute(params![key, value])?;
    Ok(())
}

/// Reads the facts that were known before the run, and its time zero if it was reached.
pub(crate) fn read_header(from: &Connection) -> Result<(Header, Option<WallTime>), RowError> {
    let facts = Facts::read(from)?;
    let pace = facts.text("pace")?;
    let pace = Pace::ALL.into_iter().find(|known| known.name() == pace);
    let seed = facts.text("seed")?.parse().map_err(|_| Facts::invalid_fact("seed"))?;
    let lanes = u16::try_from(facts.integer("lanes")?).map_err(|_| Facts::invalid_fact("lanes"))?;
    let duration = facts.get("duration_ns").map(|_| facts.nanos("duration_ns"));
    let zero = facts.get("time_zero_ns").map(|_| facts.integer("time_zero_ns"));
    let header = Header {
        assay: facts.text("assay")?,
        commit: facts.get("commit").map(|_| facts.text("commit")).transpose()?,
        started: WallTime(facts.integer("started_ns")?),
        pace: pace.ok_or_else(|| Facts::invalid_fact("pace"))?,
        lanes,
        seed: Seed(seed),
        target: TargetText::recorded(facts.text("target")?),
        command: facts.text("command")?,
        workload: facts.text("workload")?,
        plan: facts.text("plan")?,
        warmup: facts.nanos("warmup_ns")?,
        duration: duration.transpose()?,
        jobs: read_jobs(from)?,
    };
    Ok((header, zero.transpose()?.map(WallTime)))
}

/// Reads the end of the run; `None` if the run was killed or is in progress.
pub(crate) fn read_end(from: &Connection) -> Result<Option<End>, RowError> {
    let facts = Facts::read(from)?;
    if facts.get("ended").is_none() {
        return Ok(None);
    }
    let kind = facts.text("ended")?;
    let kind = EndKind::ALL.into_iter().find(|known| known.name() == kind);
    Ok(Some(End {
        at: facts.nanos("ended_at_ns")?,
        kind: kind.ok_or_else(|| Facts::invalid_fact("ended"))?,
        text: facts.text("ended_because")?,
    }))
}

/// The rows of `meta`.
struct Facts(BTreeMap<String, Value>);

impl Facts {
    fn read(from: &Connection) -> Result<Facts, RowError> {
        let mut select = from.prepare("select key, value from meta")?;
        let facts = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Facts(facts.collect::<Result<_, _>>()?))
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    fn text(&self, key: &str) -> Result<String, RowError> {
        match self.get(key) {
            Some(Value::Text(text)) => Ok(text.clone()),
            Some(_) | None => Err(Facts::invalid_fact(key)),
        }
    }

    fn integer(&self, key: &str) -> Result<i64, RowError> {
        match self.get(key) {
            Some(Value::Integer(integer)) => Ok(*integer),
            Some(_) | None => Err(Facts::invalid_fact(key)),
        }
    }

    fn natural(&self, key: &str) -> Result<u64, RowError> {
        u64::try_from(self.integer(key)?).map_err(|_| Facts::invalid_fact(key))
    }

    fn nanos(&self, key: &str) -> Result<Nanos, RowError> {
        self.natural(key).map(Nanos)
    }

    fn invalid_fact(key: &str) -> RowError {
        RowError::content(format!("table `meta` has no `{key}` with a valid value"))
    }
}

/// Converts a duration to an integer of SQLite. Durations beyond 292 years are cut to that limit.
fn to_integer(span: Nanos) -> i64 {
    i64::try_from(span.0).unwrap_or(i64::MAX)
}
