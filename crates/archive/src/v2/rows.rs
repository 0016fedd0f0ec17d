//! The rows of the tables of an experiment.

use base::WallTime;
use record::{Excerpt, Note};
use rusqlite::{Connection, params};

use super::schema::{SHARED_TABLE, rows_of_a_run, tables_of_both};
use crate::error::RowError;
use crate::v1;

/// A run of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Number of the run, from 1.
    pub run: u32,
    /// Round of the run, from 0; for a step or a trial, the number of the step or trial, from 0.
    pub round: u32,
    /// Position of the run in its round, from 0.
    pub position: u32,
    /// Name of the run's arm.
    pub arm: String,
    /// The value of the key that is varied in the phase of the run, as written in a file; `None` if
    /// none is varied in it.
    pub point: Option<String>,
    /// The part of the experiment that the run belongs to.
    pub phase: Phase,
    /// Number of earlier attempts at the round or step; 0 for a trial.
    pub attempt: u32,
    /// The use of the run in the experiment.
    pub state: RunState,
    /// Name of the run's verdict; empty if the run was not judged.
    pub verdict: String,
    /// Names of the suspect and invalid checks, separated by commas.
    pub objections: String,
    /// Seed of the run's schedule and values.
    pub seed: u64,
}

impl RunRow {
    /// Returns the row of an unjudged run that counts, at the first position of the first round in
    /// which arms are compared.
    pub fn new(run: u32, arm: impl Into<String>) -> RunRow {
        RunRow {
            run,
            round: 0,
            position: 0,
            arm: arm.into(),
            point: None,
            phase: Phase::Compare,
            attempt: 0,
            state: RunState::Counts,
            verdict: String::new(),
            objections: String::new(),
            seed: 0,
        }
    }
}

/// A part of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Rounds in which arms are compared.
    Compare,
    /// Rounds over the points of a sweep.
    Sweep,
    /// Steps that look for the load at which a component is saturated.
    Saturate,
    /// Trials of a capacity search.
    Capacity,
}

/// The use of a run in its experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run counts. In a phase with rounds, it counts only together with all runs of its round.
    Counts,
    /// The run does not count: its round or step was repeated, because the load generator or its
    /// machine failed, or because a sweep over the number of servers lost a server.
    Repeated,
    /// The run does not count: its server was lost, its arm was not in effect, or its round was
    /// incomplete when the experiment was resumed. A resumed experiment begins the round again.
    Abandoned,
}

/// A metric of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The job or table that the metric describes; empty for the whole run.
    pub of: String,
    /// The name of the metric.
    pub metric: String,
    /// The value, in the unit of the metric.
    pub value: f64,
}

/// A look: an evaluation of an experiment that has taken place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookRow {
    /// Number of pairs that were evaluated.
    pub pairs: u32,
    /// True if the look decided the experiment, which then needs no further pairs.
    pub is_decided: bool,
}

impl Phase {
    const ALL: [Phase; 4] = [Phase::Compare, Phase::Sweep, Phase::Saturate, Phase::Capacity];

    /// Returns the name of this phase in records.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Compare => "compare",
            Phase::Sweep => "sweep",
            Phase::Saturate => "saturate",
            Phase::Capacity => "capacity",
        }
    }

    /// Returns true if the runs of this phase form rounds. A round counts only if it is complete.
    pub fn has_rounds(self) -> bool {
        matches!(self, Phase::Compare | Phase::Sweep)
    }

    fn from_name(name: &str) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

impl RunState {
    const ALL: [RunState; 3] = [RunState::Counts, RunState::Repeated, RunState::Abandoned];

    /// Returns the name of this state in records.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Counts => "counts",
            RunState::Repeated => "repeated",
            RunState::Abandoned => "abandoned",
        }
    }

    fn from_name(name: &str) -> Option<RunState> {
        RunState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// Copies all rows from the attached record `from` of version 1, except for the files, and adds the
/// number of the run to each.
pub(crate) fn merge(to: &Connection, from: &str, run: u32) -> Result<(), RowError> {
    for table in tables_of_both(to, from)? {
        let sql = format!("insert into main.{table} select {run}, * from {from}.{table}");
        to.execute_batch(&sql)?;
    }
    Ok(())
}

/// Copies the rows of a run from the attached record `from` of an experiment into the tables of
/// version 1.
pub(crate) fn split(to: &Connection, from: &str, run: u32) -> Result<(), RowError> {
    for table in tables_of_both(to, from)?.into_iter().chain([SHARED_TABLE]) {
        let rows = rows_of_a_run(to, from, table, run)?;
        to.execute_batch(&format!("insert into main.{table} {rows}"))?;
    }
    Ok(())
}

pub(crate) fn write_fact(to: &Connection, key: &str, value: &str) -> Result<(), RowError> {
    let sql = "insert or replace into experiment values (?, ?)";
    to.prepare_cached(sql)?.execute([key, value])?;
    Ok(())
}

pub(crate) fn remove_fact(from: &Connection, key: &str) -> Result<(), RowError> {
    from.prepare_cached("delete from experiment where key = ?")?.execute([key])?;
    Ok(())
}

pub(crate) fn read_facts(from: &Connection) -> Result<Vec<(String, String)>, RowError> {
    let mut select = from.prepare("select key, value from experiment order by key")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn write_run(to: &Connection, row: &RunRow, figures: &[Figure]) -> Result<(), RowError> {
    let sql = "insert into run values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    to.prepare_cached(sql)?.execute(params![
        row.run,
        row.round,
        row.position,
        row.arm,
        row.point,
        row.phase.name(),
        row.attempt,
        row.state.name(),
        row.verdict,
        row.objections,
        row.seed.cast_signed(),
    ])?;
    let mut insert = to.prepare_cached("insert into figure values (?, ?, ?, ?)")?;
    for Figure { of, metric, value } in figures {
        insert.execute(params![row.run, of, metric, value])?;
    }
    Ok(())
}

/// Returns the metrics of all runs, each with the number of its run.
pub(crate) fn read_figures(from: &Connection) -> Result<Vec<(u32, Figure)>, RowError> {
    let sql = "select run, job, metric, value from main.figure order by run, job, metric";
    let mut select = from.prepare(sql)?;
    let rows = select.query_map([], |row| {
        let figure = Figure { of: row.get(1)?, metric: row.get(2)?, value: row.get(3)? };
        Ok((row.get(0)?, figure))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Removes the row and the figures of a run; the rows of its measurements are kept.
pub(crate) fn remove_run(to: &Connection, run: u32) -> Result<(), RowError> {
    for table in ["run", "figure"] {
        to.execute(&format!("delete from {table} where run = ?"), [run])?;
    }
    Ok(())
}

pub(crate) fn write_state(to: &Connection, run: u32, state: RunState) -> Result<(), RowError> {
    let sql = "update run set state = ?2 where run = ?1";
    to.prepare_cached(sql)?.execute(params![run, state.name()])?;
    Ok(())
}

pub(crate) fn read_runs(from: &Connection) -> Result<Vec<RunRow>, RowError> {
    let mut select = from.prepare(
        "select run, round, position, arm, attempt, state, verdict, objections, seed, point, phase \
         from main.run order by run",
    )?;
    let mut rows = select.query([])?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        let word: String = row.get(5)?;
        let state = RunState::from_name(&word)
            .ok_or_else(|| RowError::content(format!("unknown state `{word}` of a run")))?;
        let seed: i64 = row.get(8)?;
        let word: String = row.get(10)?;
        let phase = Phase::from_name(&word)
            .ok_or_else(|| RowError::content(format!("unknown phase `{word}` of a run")))?;
        runs.push(RunRow {
            run: row.get(0)?,
            round: row.get(1)?,
            position: row.get(2)?,
            arm: row.get(3)?,
            point: row.get(9)?,
            phase,
            attempt: row.get(4)?,
            state,
            verdict: row.get(6)?,
            objections: row.get(7)?,
            seed: seed.cast_unsigned(),
        });
    }
    Ok(runs)
}

pub(crate) fn write_look(to: &Connection, look: LookRow) -> Result<(), RowError> {
    let sql = "insert into look values (?, ?)";
    to.prepare_cached(sql)?.execute(params![look.pairs, look.is_decided])?;
    Ok(())
}

pub(crate) fn read_looks(from: &Connection) -> Result<Vec<LookRow>, RowError> {
    let mut select = from.prepare("select pairs, decided from look order by pairs")?;
    let row = |row: &rusqlite::Row<'_>| Ok(LookRow { pairs: row.get(0)?, is_decided: row.get(1)? });
    Ok(select.query_map([], row)?.collect::<Result<_, _>>()?)
}

/// Reads the excerpts of the first run that has any: those of its jobs, and of the tables that were
/// loaded into its database.
pub(crate) fn read_excerpts(from: &Connection) -> Result<Vec<Excerpt>, RowError> {
    if v1::is_missing(from, v1::EXCERPT)? {
        return Ok(Vec::new());
    }
    let first = "(select * from main.excerpt where run = (select min(run) from main.excerpt))";
    v1::read_excerpts_of(from, first)
}

pub(crate) fn write_note(to: &Connection, at: WallTime, text: &str) -> Result<(), RowError> {
    let sql = "insert into note (at_ns, text) values (?, ?)";
    to.prepare_cached(sql)?.execute(params![at.0, text])?;
    Ok(())
}

pub(crate) fn read_notes(from: &Connection) -> Result<Vec<Note>, RowError> {
    let mut select = from.prepare("select at_ns, text from note order by note")?;
    let row = |row: &rusqlite::Row<'_>| {
        Ok(Note { at: WallTime(row.get(0)?), author: None, text: row.get(1)? })
    };
    Ok(select.query_map([], row)?.collect::<Result<_, _>>()?)
}
