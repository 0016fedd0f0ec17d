//! Changes of values in the tables of records.

use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use crate::seeds;

/// Records of the first version, which earlier versions of Assay wrote.
const RELEASED: [&str; 4] = ["postgres", "hosts", "mix", "sqlite"];

/// Maximum number of changes of one record. After more changes, a reader rarely gets far into it.
const MOST_CHANGES: usize = 6;

/// Integers that arithmetic may not survive.
const EXTREMES: [i64; 10] = [
    i64::MAX,
    i64::MIN,
    -1,
    0,
    1,
    1 << 53,
    u32::MAX as i64,
    i64::MAX / 1_000_000_000,
    3_600_000_000_000,
    1 << 62,
];

/// Real numbers that arithmetic may not survive. SQLite stores no NaN.
const REAL_EXTREMES: [f64; 8] =
    [f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, -0.0, 5e-324, 1e15, -1e-9];

/// A record to be changed.
struct Template {
    bytes: Vec<u8>,
    tables: Vec<Table>,
}

/// A table of a record.
struct Table {
    name: String,
    columns: Vec<String>,
    /// Columns of the primary key, separated by commas.
    key: String,
}

/// Writes a record with changes to a path. Returns false if the bytes select no record.
///
/// The first byte selects the record and its seal. The seal stays as it was, is removed as in the
/// record of a killed run, or is made to fit the changed rows. A change begins with four bytes:
/// table, column, row, and the kind of the change. A kind may have more bytes, for a new value.
/// SQLite refuses some changes, such as a second row with the same key; they are left out.
///
/// # Panics
/// Panics if the record cannot be written.
pub(crate) fn change(data: &[u8], path: &Path) -> bool {
    let Some((&selection, mut rest)) = data.split_first() else { return false };
    let Some(template) = templates().get(usize::from(selection / 3)) else { return false };
    std::fs::write(path, &template.bytes).expect("a scratch file");
    let database = Connection::open(path).expect("a readable template");
    let begin = "pragma journal_mode = off; pragma synchronous = off; begin";
    database.execute_batch(begin).expect("a transaction");
    for _ in 0..MOST_CHANGES {
        let Some((&[table, column, row, kind], after)) = rest.split_first_chunk::<4>() else {
            break;
        };
        rest = after;
        let table = &template.tables[usize::from(table) % template.tables.len()];
        let column = &table.columns[usize::from(column) % table.columns.len()];
        table.change(&database, column, row, kind, &mut rest);
    }
    match selection % 3 {
        0 => {}
        1 => {
            let unsealed = "delete from meta where key like 'ended%'";
            database.execute_batch(unsealed).expect("a table of metadata");
        }
        // A sum of changed values may exceed the integers of SQLite. The seal then does not fit.
        _ => template.seal(&database).unwrap_or_default(),
    }
    database.execute_batch("commit").expect("the changes are kept");
    true
}

impl Table {
    /// Changes a column in one row or in all rows, deletes a row, or inserts a changed copy of one.
    fn change(&self, database: &Connection, column: &str, row: u8, kind: u8, rest: &mut &[u8]) {
        let Table { name, columns, key } = self;
        let column_name = format!("\"{column}\"");
        let (expression, value, at) = match kind & 7 {
            0 => ("?1".to_owned(), Value::Integer(i64::from_le_bytes(eight(rest))), 0),
            1 => ("?1".to_owned(), Value::Real(f64::from_le_bytes(eight(rest))), 0),
            2 => ("cast(?1 as text)".to_owned(), Value::Blob(piece(rest)), 0),
            // Part of a text or blob is replaced.
            3 => {
                let at = i64::from(byte(rest)) << (kind >> 6);
                let patched = format!(
                    "case typeof({column_name}) when 'blob' then cast(substr({column_name}, 1, ?2) \
                     || ?1 || substr({column_name}, ?2 + 1 + length(?1)) as blob) else \
                     substr({column_name}, 1, ?2) || cast(?1 as text) \
                     || substr({column_name}, ?2 + 1 + length(?1)) end"
                );
                (patched, Value::Blob(piece(rest)), at)
            }
            4 => ("?1".to_owned(), Value::Null, 0),
            5 => {
                let extreme = EXTREMES[usize::from(byte(rest)) % EXTREMES.len()];
                ("?1".to_owned(), Value::Integer(extreme), 0)
            }
            6 => {
                let extreme = REAL_EXTREMES[usize::from(byte(rest)) % REAL_EXTREMES.len()];
                ("?1".to_owned(), Value::Real(extreme), 0)
            }
            _ => (format!("{column_name} + ?1"), Value::Integer(i64::from(byte(rest) as i8)), 0),
        };
        let selected = format!("select {key} from \"{name}\" limit 1 offset ?3");
        let statement = match kind >> 3 & 7 {
            0..4 => format!(
                "update or ignore \"{name}\" set {column_name} = {expression} \
                 where ({key}) = ({selected})"
            ),
            4 => format!(
                "update or ignore \"{name}\" set {column_name} = {expression} where ?3 >= 0"
            ),
            5 => format!("delete from \"{name}\" where ({key}) = ({selected})"),
            _ => {
                let values = columns.iter().map(|it| match it == column {
                    true => expression.clone(),
                    false => format!("\"{it}\""),
                });
                let values: Vec<String> = values.collect();
                format!(
                    "insert or ignore into \"{name}\" select {} from \"{name}\" limit 1 offset ?3",
                    values.join(", ")
                )
            }
        };
        // A constraint of the table may forbid the change.
        let _ = database.execute(&statement, params![value, at, i64::from(row)]);
    }
}

fn byte(rest: &mut &[u8]) -> u8 {
    let Some((&first, after)) = rest.split_first() else { return 0 };
    *rest = after;
    first
}

fn eight(rest: &mut &[u8]) -> [u8; 8] {
    let Some((&first, after)) = rest.split_first_chunk::<8>() else { return [0; 8] };
    *rest = after;
    first
}

/// Takes up to 63 bytes, after a byte with their number.
fn piece(rest: &mut &[u8]) -> Vec<u8> {
    let length = usize::from(byte(rest) & 63).min(rest.len());
    let (piece, after) = rest.split_at(length);
    *rest = after;
    piece.to_vec()
}

/// Returns records of a virtual run, of an experiment with a search, and of runs of the first
/// version on databases.
fn templates() -> &'static [Template] {
    static TEMPLATES: OnceLock<Vec<Template>> = OnceLock::new();
    TEMPLATES.get_or_init(|| {
        let made = [seeds::record(), seeds::experiment(seeds::SATURATE)].into_iter();
        let released = RELEASED.into_iter().map(released);
        made.chain(released).map(Template::of).collect()
    })
}

/// Reads a record that an earlier version wrote.
fn released(name: &str) -> Vec<u8> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cli/tests/fixtures/records-v1");
    let packed = std::fs::File::open(folder.join(format!("{name}.assay.gz")));
    let mut bytes = Vec::new();
    GzDecoder::new(packed.expect("a stored record"))
        .read_to_end(&mut bytes)
        .expect("a packed record");
    bytes
}

impl Template {
    /// Reads the names of the tables and columns of a record.
    fn of(bytes: Vec<u8>) -> Template {
        let path = seeds::own_path(".template");
        std::fs::write(&path, &bytes).expect("a scratch file");
        let database = Connection::open(&path).expect("a record");
        let tables = tables(&database).expect("its tables");
        drop(database);
        std::fs::remove_file(&path).expect("the scratch file is ours");
        assert!(!tables.is_empty());
        Template { bytes, tables }
    }

    /// Makes the seal of a changed record fit its rows again, as a forger would do.
    fn seal(&self, database: &Connection) -> rusqlite::Result<()> {
        let by_run = |table: &Table| match table.columns.iter().any(|column| column == "run") {
            true => "of.run = seal.run",
            false => "true",
        };
        for table in &self.tables {
            let Table { name, columns, .. } = table;
            let rows = format!("(select count(*) from \"{name}\" of where {}", by_run(table));
            let of_job = match columns.iter().any(|column| column == "job") {
                true => "and (seal.job = -1 or of.job = seal.job)",
                false => "",
            };
            database.execute(
                &format!("update seal set total = {rows} {of_job}) where what = 'rows of {name}'"),
                [],
            )?;
            for column in columns.iter().filter(|_| name == "interval") {
                let sum = format!(
                    "(select coalesce(sum(of.\"{column}\"), 0) from interval of \
                     where {} and of.job = seal.job)",
                    by_run(table)
                );
                let statement = format!("update seal set total = {sum} where what = '{column}'");
                database.execute(&statement, [])?;
            }
        }
        Ok(())
    }
}

fn tables(database: &Connection) -> rusqlite::Result<Vec<Table>> {
    let mut names =
        database.prepare("select name from sqlite_schema where type = 'table' order by 1")?;
    let names = names.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    names.into_iter().map(|name| table(database, name)).collect()
}

fn table(database: &Connection, name: String) -> rusqlite::Result<Table> {
    let mut rows = database.prepare("select name, pk from pragma_table_info(?1)")?;
    let columns = rows.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let columns = columns.collect::<Result<Vec<(String, u32)>, _>>()?;
    let key = columns.iter().filter(|(_, place)| *place > 0);
    let key: Vec<String> = key.map(|(column, _)| format!("\"{column}\"")).collect();
    let columns = columns.iter().map(|(column, _)| column.clone()).collect();
    Ok(Table { name, columns, key: key.join(", ") })
}

#[cfg(test)]
mod tests {
    use archive::Archive;

    use super::*;

    /// Adds 1 to the arrivals in the first row of `interval`.
    fn with_one_more_arrival(record: u8, seal: u8) -> Option<i64> {
        let template = &templates()[usize::from(record)];
        let of =
            |names: &[String], name: &str| names.iter().position(|it| it == name).unwrap() as u8;
        let tables: Vec<String> = template.tables.iter().map(|it| it.name.clone()).collect();
        let table = of(&tables, "interval");
        let column = of(&template.tables[usize::from(table)].columns, "arrivals");
        let path = seeds::own_path(".cells");
        assert!(change(&[3 * record + seal, table, column, 0, 7, 1], &path));
        let run = template.tables.iter().any(|it| it.name == "run").then_some(1);
        let opened = match run {
            Some(run) => Archive::open_run(&path, run),
            None => Archive::open(&path),
        };
        let arrivals = opened.ok().map(|archive| {
            let connection = Connection::open(archive.path()).unwrap();
            let first = "select arrivals from interval limit 1";
            connection.query_row(first, [], |row| row.get(0)).unwrap()
        });
        std::fs::remove_file(&path).unwrap();
        arrivals
    }

    /// If no changed record could be read, nothing behind its checks would be tested.
    #[test]
    fn changed_record_is_read_if_it_has_no_seal_or_a_forged_one() {
        for record in 0..seeds::CHANGED_RECORDS {
            assert_eq!(with_one_more_arrival(record, 0), None, "{record}");
            let killed = with_one_more_arrival(record, 1);
            assert!(killed.is_some(), "{record}");
            assert_eq!(with_one_more_arrival(record, 2), killed, "{record}");
        }
    }
}
