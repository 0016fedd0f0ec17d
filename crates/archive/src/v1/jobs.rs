//! The jobs of a record: the rows of `job`, `account` and `statement`.

use base::AccountId;
use record::{AccountKind, JobHeader};
use rusqlite::{Connection, params};

use super::schema::is_missing;
use crate::error::RowError;

/// The column `kind` of `account` for a part of a mix, and for a job at a single server.
const PART_KIND: &str = "part";
const NODE_KIND: &str = "node";

/// Writes a job, a part of a job, or a job at one server, and its statements.
pub(super) fn write_job(to: &Connection, place: i64, job: &JobHeader) -> Result<(), RowError> {
    let JobHeader { name, kind, model, arrival, offered_per_s, connections_asked, statements } =
        job;
    to.prepare_cached("insert into job values (?, ?, ?, ?, ?, ?)")?.execute(params![
        place,
        name,
        model,
        arrival,
        offered_per_s,
        connections_asked
    ])?;
    write_kind(to, place, kind)?;
    for (text, number) in statements.iter().zip(1..) {
        to.prepare_cached("insert into statement values (?, ?, ?)")?
            .execute(params![place, number, text])?;
    }
    Ok(())
}

fn write_kind(to: &Connection, place: i64, kind: &AccountKind) -> Result<(), RowError> {
    let (kind, of, name) = match kind {
        AccountKind::Job => return Ok(()),
        AccountKind::Part { mix, section } => (PART_KIND, mix, section),
        AccountKind::Node { job, address } => (NODE_KIND, job, address),
    };
    to.prepare_cached("insert into account values (?, ?, ?, ?)")?
        .execute(params![place, kind, of.0, name])?;
    Ok(())
}

/// Reads the jobs, their parts, and the entries of each job for single servers.
pub(super) fn read_jobs(from: &Connection) -> Result<Vec<JobHeader>, RowError> {
    let mut select = from.prepare(
        "select job, name, model, arrival, offered_per_s, connections_asked from job order by job",
    )?;
    let mut rows = select.query([])?;
    let mut jobs: Vec<JobHeader> = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(0)? != jobs.len() as i64 {
            return Err(RowError::content(format!("table `job` has no job {}", jobs.len())));
        }
        jobs.push(JobHeader {
            name: row.get(1)?,
            kind: AccountKind::Job,
            model: row.get(2)?,
            arrival: row.get(3)?,
            offered_per_s: row.get(4)?,
            connections_asked: row.get(5)?,
            statements: Vec::new(),
        });
    }
    read_statements(from, &mut jobs)?;
    match is_missing(from, "account")? {
        true => split_names(&mut jobs)?,
        false => read_kinds(from, &mut jobs)?,
    }
    Ok(jobs)
}

fn read_statements(from: &Connection, jobs: &mut [JobHeader]) -> Result<(), RowError> {
    let mut select = from.prepare("select job, place, text from statement order by job, place")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (job, place): (i64, i64) = (row.get(0)?, row.get(1)?);
        let statements = usize::try_from(job).ok().and_then(|job| jobs.get_mut(job));
        let statements = statements.map(|job| &mut job.statements);
        let Some(statements) = statements.filter(|known| place == known.len() as i64 + 1) else {
            let odd = format!("table `statement` has statement {place} of job {job} out of order");
            return Err(RowError::content(odd));
        };
        statements.push(row.get(2)?);
    }
    Ok(())
}

/// Reads the kinds of the accounts that are not whole jobs.
fn read_kinds(from: &Connection, jobs: &mut [JobHeader]) -> Result<(), RowError> {
    let mut select = from.prepare("select job, kind, of_job, name from account order by job")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (place, of): (i64, u16) = (row.get(0)?, row.get(2)?);
        let (kind, name): (String, String) = (row.get(1)?, row.get(3)?);
        let kind = match kind.as_str() {
            PART_KIND => AccountKind::Part { mix: AccountId(of), section: name },
            NODE_KIND => AccountKind::Node { job: AccountId(of), address: name },
            _ => return Err(RowError::content(format!("there is no kind of account `{kind}`"))),
        };
        let job = usize::try_from(place).ok().and_then(|place| jobs.get_mut(place));
        let odd = || RowError::content(format!("table `job` has no job {place} of `account`"));
        job.ok_or_else(odd)?.kind = kind;
    }
    check_kinds(jobs)
}

/// Checks that parts follow their mix, and that jobs at single servers follow everything else.
fn check_kinds(jobs: &[JobHeader]) -> Result<(), RowError> {
    let mut mix = None;
    let mut has_nodes = false;
    for (index, job) in jobs.iter().enumerate() {
        let is_in_order = match &job.kind {
            AccountKind::Job => {
                mix = Some(index);
                !has_nodes
            }
            AccountKind::Part { mix: of, .. } => mix == Some(of.index()) && !has_nodes,
            AccountKind::Node { job: of, .. } => {
                has_nodes = true;
                jobs.get(of.index()).is_some_and(|of| of.kind == AccountKind::Job)
            }
        };
        if !is_in_order {
            let odd = format!("table `account` has job {index} out of order");
            return Err(RowError::content(odd));
        }
    }
    Ok(())
}

/// Finds the kinds in a record without the table `account`, where they follow from the names:
/// `MIX/SECTION` and `JOB@ADDRESS`.
fn split_names(jobs: &mut [JobHeader]) -> Result<(), RowError> {
    for index in 0..jobs.len() {
        let (before, rest) = jobs.split_at_mut(index);
        let job = &mut rest[0];
        job.kind = match job.model == AccountKind::NODE_MODEL {
            true => node(before, &job.name)?,
            false => part(before, &job.name).unwrap_or(AccountKind::Job),
        };
    }
    check_kinds(jobs)
}

/// Returns the kind of a part if `name` is the name of a part: `MIX/SECTION`, where the mix is the
/// last job before it and has no statements.
fn part(before: &[JobHeader], name: &str) -> Option<AccountKind> {
    let index = before.iter().rposition(|job| job.kind == AccountKind::Job)?;
    let mix = before.get(index).filter(|job| job.statements.is_empty())?;
    let section = name.strip_prefix(&mix.name)?.strip_prefix('/')?.to_owned();
    Some(AccountKind::Part { mix: AccountId(index as u16), section })
}

/// Returns the kind of an account with the name `JOB@ADDRESS`, a job at one of several servers.
fn node(before: &[JobHeader], name: &str) -> Result<AccountKind, RowError> {
    let parts = name.rsplit_once('@').and_then(|(job, address)| {
        let is_job = |known: &JobHeader| known.kind == AccountKind::Job && known.name == job;
        Some((before.iter().position(is_job)?, address.to_owned()))
    });
    let odd = || RowError::content(format!("table `job` has no job for `{name}`"));
    let (index, address) = parts.ok_or_else(odd)?;
    Ok(AccountKind::Node { job: AccountId(index as u16), address })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a job with this number of statements; a mix has none.
    fn job(name: &str, model: &str, statements: usize) -> JobHeader {
        JobHeader {
            name: name.to_owned(),
            kind: AccountKind::Job,
            model: model.to_owned(),
            arrival: None,
            offered_per_s: None,
            connections_asked: None,
            statements: vec!["select 1".to_owned(); statements],
        }
    }

    /// Returns the mix `shop` of two sections, the jobs `other` and `other/x`, and two entries for
    /// single servers: one of `shop` and one of `other`.
    fn jobs() -> Vec<JobHeader> {
        vec![
            job("shop", "open", 0),
            job("shop/read", "open", 1),
            job("shop/a@b", "open", 1),
            job("other", "closed", 1),
            job("other/x", "closed", 1),
            job("shop@db1:5432", "node", 0),
            job("other@[::1]:5432", "node", 0),
        ]
    }

    fn kinds() -> Vec<AccountKind> {
        let part = |section: &str| AccountKind::Part { mix: AccountId(0), section: section.into() };
        let node =
            |job, address: &str| AccountKind::Node { job: AccountId(job), address: address.into() };
        let (first, second) = (node(0, "db1:5432"), node(3, "[::1]:5432"));
        vec![AccountKind::Job, part("read"), part("a@b"), AccountKind::Job, AccountKind::Job]
            .into_iter()
            .chain([first, second])
            .collect()
    }

    /// Creates the tables of a record, and writes jobs.
    fn written(jobs: &[JobHeader]) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::v1::schema::SCHEMA).unwrap();
        for (place, job) in (0..).zip(jobs) {
            write_job(&connection, place, job).unwrap();
        }
        connection
    }

    fn kinds_of(jobs: Vec<JobHeader>) -> Vec<AccountKind> {
        jobs.into_iter().map(|job| job.kind).collect()
    }

    #[test]
    fn kinds_are_read_from_their_table_and_not_from_names() {
        let mut all = jobs();
        all.iter_mut().zip(kinds()).for_each(|(job, kind)| job.kind = kind);
        all[1].name = "renamed".to_owned();
        all[5].name = "renamed".to_owned();
        assert_eq!(read_jobs(&written(&all)).unwrap(), all);
    }

    #[test]
    fn names_give_the_kinds_in_records_without_their_table() {
        let connection = written(&jobs());
        connection.execute_batch("drop table account").unwrap();
        assert_eq!(kinds_of(read_jobs(&connection).unwrap()), kinds());
    }

    #[test]
    fn server_of_an_unknown_job_is_damage() {
        let connection = written(&[job("read", "open", 1), job("write@db1", "node", 0)]);
        connection.execute_batch("drop table account").unwrap();
        assert!(read_jobs(&connection).is_err());
    }

    #[test]
    fn account_out_of_order_is_damage() {
        let check = |row: &str| {
            let connection = written(&[job("a", "open", 0), job("b", "open", 1)]);
            connection.execute_batch(&format!("insert into account values ({row})")).unwrap();
            read_jobs(&connection).is_err()
        };
        assert!(!check("1, 'part', 0, 'b'"), "a part after its mix");
        let odd = ["0, 'part', 0, 'a'", "0, 'node', 1, 'x'", "1, 'node', 1, 'x'"];
        for row in odd.into_iter().chain(["9, 'part', 0, 'x'", "1, 'part', 7, 'x'", "1, '', 0, ''"])
        {
            assert!(check(row), "{row}");
        }
    }
}
