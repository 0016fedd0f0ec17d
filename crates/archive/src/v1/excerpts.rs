//! Excerpts: small tables of text for the readers of a record.

use record::{Excerpt, ExcerptKind};
use rusqlite::{Connection, params};

use crate::error::RowError;

/// Maximum number of values in a record: enough for a thousand tables or more.
const MOST_VALUES: usize = 1_000_000;

/// Writes an excerpt; a later one of the same subject and kind replaces an earlier one.
pub(crate) fn write_excerpt(to: &Connection, excerpt: &Excerpt) -> Result<(), RowError> {
    let Excerpt { subject, kind, titles, rows } = excerpt;
    let delete = "delete from excerpt where subject = ?1 and kind = ?2";
    to.prepare_cached(delete)?.execute([subject.as_str(), kind.name()])?;
    let mut insert = to.prepare_cached("insert into excerpt values (?, ?, ?, ?, ?)")?;
    for (place, title) in (0_u32..).zip(titles) {
        insert.execute(params![subject, kind.name(), 0, place, title])?;
    }
    for (row, values) in (1_u32..).zip(rows) {
        for (place, value) in (0_u32..).zip(values) {
            insert.execute(params![subject, kind.name(), row, place, value])?;
        }
    }
    Ok(())
}

/// Reads the excerpts of a run, sorted by subject and kind. Excerpts of a kind that this version
/// does not know are skipped.
pub(crate) fn read_excerpts(from: &Connection) -> Result<Vec<Excerpt>, RowError> {
    read_excerpts_of(from, "excerpt")
}

/// Reads the excerpts from a table, or from a query in parentheses.
///
/// # Errors
/// There are more values than a record may have.
pub(crate) fn read_excerpts_of(from: &Connection, source: &str) -> Result<Vec<Excerpt>, RowError> {
    read_at_most(MOST_VALUES, from, source)
}

fn read_at_most(most: usize, from: &Connection, source: &str) -> Result<Vec<Excerpt>, RowError> {
    let mut select = from.prepare(&format!(
        "select subject, kind, row, value from {source} order by subject, kind, row, place"
    ))?;
    let mut rows = select.query([])?;
    let mut excerpts: Vec<Excerpt> = Vec::new();
    let (mut latest, mut values) = (0, 0);
    while let Some(row) = rows.next()? {
        values += 1;
        if values > most {
            return Err(RowError::content(format!("there are more than {most} values")));
        }
        let (subject, word): (String, String) = (row.get(0)?, row.get(1)?);
        let Some(kind) = ExcerptKind::from_name(&word) else { continue };
        let (number, value): (u32, Option<String>) = (row.get(2)?, row.get(3)?);
        let is_same = |it: &Excerpt| it.subject == subject && it.kind == kind;
        if !excerpts.last().is_some_and(is_same) {
            excerpts.push(Excerpt { subject, kind, titles: Vec::new(), rows: Vec::new() });
            latest = 0;
        }
        let Some(excerpt) = excerpts.last_mut() else { continue };
        if number == 0 {
            excerpt.titles.push(value.unwrap_or_default());
            continue;
        }
        if number != latest {
            excerpt.rows.push(Vec::new());
            latest = number;
        }
        excerpt.rows.last_mut().into_iter().for_each(|row| row.push(value.clone()));
    }
    Ok(excerpts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1;

    #[test]
    fn excerpts_are_read_as_they_were_written() {
        let connection = Connection::open_in_memory().unwrap();
        v1::statements().for_each(|(_, text)| connection.execute_batch(text).unwrap());
        let excerpt = |subject: &str, kind, rows: &[&[Option<&str>]]| Excerpt {
            subject: subject.to_owned(),
            kind,
            titles: vec!["a".to_owned(), "b".to_owned()],
            rows: rows
                .iter()
                .map(|row| row.iter().map(|value| value.map(str::to_owned)).collect())
                .collect(),
        };
        let all = [
            excerpt("t", ExcerptKind::Columns, &[&[Some("id"), None], &[Some(""), Some("é\0")]]),
            excerpt("t", ExcerptKind::Rows, &[]),
            excerpt("u", ExcerptKind::Rows, &[&[None, None]]),
        ];
        let old: &[Option<&str>] = &[Some("old")];
        write_excerpt(&connection, &excerpt("u", ExcerptKind::Rows, &[old; 3])).unwrap();
        all.iter().for_each(|excerpt| write_excerpt(&connection, excerpt).unwrap());
        assert_eq!(read_excerpts(&connection).unwrap(), all);
        // Titles and values count: 6 in the excerpt of columns, 2 in the excerpt without rows, 4 in
        // the last excerpt.
        assert_eq!(read_at_most(12, &connection, "excerpt").unwrap(), all);
        assert!(read_at_most(11, &connection, "excerpt").is_err(), "it would be cut");
        connection.execute("update excerpt set kind = 'later' where subject = 'u'", []).unwrap();
        assert_eq!(read_excerpts(&connection).unwrap(), all[..2]);
    }
}
