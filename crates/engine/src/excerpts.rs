//! Excerpts of the loaded tables: their columns, indexes and first rows, for readers of the record.

use base::{Clock, Dialect, Nanos};
use driver::{Connection, Error, Table};
use record::{Excerpt, ExcerptKind};
use rt::{Rt, within};
use workload::Load;

use crate::events::{Listener, RunEvent};
use crate::stop::Stop;
use crate::waits::unless_ended;

/// Time limit for the excerpts of all tables together, and for all queries before the loads
/// together.
const TIMEOUT: Nanos = Nanos::from_secs(2);

/// Maximum number of rows of a table that are shown.
const ROWS: usize = 5;

/// The parts of a table that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableParts {
    /// Only the columns and indexes, because some rows were not written by this run and may be
    /// confidential.
    Structure,
    /// The columns, indexes and first rows.
    StructureAndRows,
}

/// State of the answers to the statements of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerState {
    /// All answers have arrived.
    Complete,
    /// An answer is outstanding, or the connection is lost: the connection can only be abandoned.
    Outstanding,
}

/// A table to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExcerptTable<'a> {
    table: &'a str,
    parts: TableParts,
}

impl<'a> ExcerptTable<'a> {
    /// Returns the tables of loads without their rows.
    pub(crate) fn structures(loads: &'a [Load]) -> Vec<ExcerptTable<'a>> {
        let structure = |load: &'a Load| ExcerptTable {
            table: load.table.as_str(),
            parts: TableParts::Structure,
        };
        loads.iter().map(structure).collect()
    }

    /// Returns the name of the table if its rows are shown; otherwise `None`.
    pub(crate) fn with_rows(&self) -> Option<&'a str> {
        (self.parts == TableParts::StructureAndRows).then_some(self.table)
    }

    /// Returns the tables that loads are about to fill. The rows of a table will be shown if the
    /// table is empty now, because the run then writes all of its rows. `None` if a query is not
    /// answered in time, or if the run is ended: an answer is then outstanding.
    pub(crate) async fn before_loads(
        loads: &'a [Load],
        rt: &Rt,
        stop: &Stop,
        connection: &mut impl Connection,
    ) -> Option<Vec<ExcerptTable<'a>>> {
        let ends = rt.now() + TIMEOUT;
        let mut tables = ExcerptTable::structures(loads);
        for shown in &mut tables {
            let sql = format!("select 1 from {} limit 1", shown.table);
            let found = within(rt, ends.since(rt.now()), connection.query_text(&sql));
            // The load itself reports a table that cannot be read.
            if unless_ended(found, rt, stop).await??.is_ok_and(|found| found.rows.is_empty()) {
                shown.parts = TableParts::StructureAndRows;
            }
        }
        Some(tables)
    }
}

/// Tables of one target, to be shown to a listener.
pub(crate) struct TableExcerpts<'a> {
    pub(crate) shown: &'a [ExcerptTable<'a>],
    pub(crate) dialect: Dialect,
    pub(crate) listener: &'a dyn Listener,
}

impl TableExcerpts<'_> {
    /// Reads the tables over `connection` and shows them. A table that cannot be read, or not in
    /// time, gets an [`Unreadable`](ExcerptKind::Unreadable) excerpt; the run continues. Returns
    /// the state of the connection's answers.
    pub(crate) async fn show(
        &self,
        rt: &Rt,
        stop: &Stop,
        connection: &mut impl Connection,
    ) -> AnswerState {
        let ends = rt.now() + TIMEOUT;
        for (index, &one) in self.shown.iter().enumerate() {
            let shown = within(rt, ends.since(rt.now()), self.show_one(connection, one));
            let Some(shown) = unless_ended(shown, rt, stop).await else {
                return AnswerState::Outstanding;
            };
            match shown {
                Some(Ok(())) => {}
                Some(Err(error)) if !error.class().ends_connection() => {
                    self.unreadable(one.table, error.to_string());
                }
                unanswered => {
                    let why = match unanswered {
                        Some(Err(error)) => error.to_string(),
                        _ => format!("no answer within {TIMEOUT}"),
                    };
                    let rest = &self.shown[index..];
                    rest.iter().for_each(|rest| self.unreadable(rest.table, why.clone()));
                    return AnswerState::Outstanding;
                }
            }
        }
        AnswerState::Complete
    }

    async fn show_one(
        &self,
        connection: &mut impl Connection,
        ExcerptTable { table, parts }: ExcerptTable<'_>,
    ) -> Result<(), Error> {
        for (kind, sql) in queries(self.dialect, table) {
            if kind == ExcerptKind::Rows && parts == TableParts::Structure {
                continue;
            }
            let Table { columns, rows, is_cut } = connection.query_text(&sql).await?;
            if is_cut {
                let most = Table::LIMIT >> 20;
                self.unreadable(table, format!("the answer exceeds {most} MiB"));
            }
            // An answer of which all rows were cut is not shown: the table would look empty.
            if !is_cut || !rows.is_empty() {
                self.excerpt(Excerpt { subject: table.to_owned(), kind, titles: columns, rows });
            }
        }
        Ok(())
    }

    fn unreadable(&self, table: &str, why: String) {
        let (subject, kind) = (table.to_owned(), ExcerptKind::Unreadable);
        let (titles, rows) = (vec!["reason".to_owned()], vec![vec![Some(why)]]);
        self.excerpt(Excerpt { subject, kind, titles, rows });
    }

    fn excerpt(&self, excerpt: Excerpt) {
        self.listener.on_event(&RunEvent::Excerpt(excerpt));
    }
}

/// Returns the statements that describe a table. `table` is an SQL identifier as written in the
/// workload file.
fn queries(dialect: Dialect, table: &str) -> [(ExcerptKind, String); 3] {
    let (columns, indexes) = match dialect {
        Dialect::Postgres => of_postgres(table),
        Dialect::Mysql => of_mysql(table),
        Dialect::Sqlite => of_sqlite(table),
    };
    let rows = format!("select * from {table} limit {ROWS}");
    let most = record::MOST_EXCERPT_ROWS;
    [
        (ExcerptKind::Columns, format!("{columns} limit {most}")),
        (ExcerptKind::Indexes, format!("{indexes} limit {most}")),
        (ExcerptKind::Rows, rows),
    ]
}

fn of_postgres(table: &str) -> (String, String) {
    // The server resolves the name by the same rules as in a statement.
    let table = format!("to_regclass({})", literal(Dialect::Postgres, table));
    (
        format!(
            "select attname as \"column\", format_type(atttypid, atttypmod) as type, \
             case when attnotnull then 'not null' else '' end as nulls, \
             coalesce(pg_get_expr(adbin, adrelid), '') as \"default\" \
             from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum \
             where attrelid = {table} and attnum > 0 and not attisdropped order by attnum"
        ),
        format!(
            "select pg_get_indexdef(indexrelid) as \"index\" from pg_index \
             where indrelid = {table} order by 1"
        ),
    )
}

fn of_mysql(table: &str) -> (String, String) {
    let (schema, name) = schema_and_name(table);
    let literal = |text: &str| literal(Dialect::Mysql, text);
    let schema = schema.map_or_else(|| "database()".to_owned(), |schema| literal(&schema));
    let of_table = format!("where table_schema = {schema} and table_name = {}", literal(&name));
    (
        format!(
            "select column_name as `column`, column_type as `type`, \
             case is_nullable when 'NO' then 'not null' else '' end as `nulls`, \
             coalesce(column_default, '') as `default` \
             from information_schema.columns {of_table} order by ordinal_position"
        ),
        format!(
            "select index_name as `index`, \
             group_concat(column_name order by seq_in_index separator ', ') as `columns`, \
             case max(non_unique) when 0 then 'unique' else '' end as `unique` \
             from information_schema.statistics {of_table} group by index_name order by index_name"
        ),
    )
}

fn of_sqlite(table: &str) -> (String, String) {
    let (schema, name) = schema_and_name(table);
    let schema = schema.unwrap_or_else(|| "main".to_owned());
    let name = literal(Dialect::Sqlite, &name);
    (
        format!(
            "select name as \"column\", type, case when \"notnull\" then 'not null' else '' end \
             as nulls, coalesce(dflt_value, '') as \"default\" \
             from pragma_table_xinfo({name}, {}) where hidden <> 1 order by cid",
            literal(Dialect::Sqlite, &schema)
        ),
        format!(
            "select name as \"index\", coalesce(sql, '') as definition from \"{}\".sqlite_schema \
             where type = 'index' and tbl_name = {name} collate nocase order by name",
            schema.replace('"', "\"\"")
        ),
    )
}

/// Returns a text as a string literal that has the same value in all modes of a session. Statements
/// of `[setup]` may have changed `sql_mode`, which decides whether MySQL takes a backslash for an
/// escape.
fn literal(dialect: Dialect, text: &str) -> String {
    let quoted = || text.replace('\'', "''");
    match dialect {
        Dialect::Sqlite => format!("'{}'", quoted()),
        Dialect::Mysql => {
            let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            format!("_utf8mb4 x'{digits}'")
        }
        Dialect::Postgres => format!("E'{}'", quoted().replace('\\', r"\\")),
    }
}

/// Returns the schema, if any, and the name in an SQL identifier, without quotes. Further
/// qualifiers before the schema are left out.
pub(crate) fn schema_and_name(table: &str) -> (Option<String>, String) {
    let mut parts = Vec::new();
    let mut rest = table;
    while let Some(first) = rest.chars().next() {
        let (part, after) = match closing_quote(first) {
            Some(quote) => rest[1..].split_once(quote).unwrap_or((&rest[1..], "")),
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                rest.split_at(end)
            }
        };
        parts.push(part.to_owned());
        rest = after.strip_prefix('.').unwrap_or("");
    }
    let name = parts.pop().unwrap_or_default();
    (parts.pop(), name)
}

/// Returns the character that ends a quoted name; `None` if `first` does not begin one.
pub(crate) fn closing_quote(first: char) -> Option<char> {
    match first {
        '"' | '`' => Some(first),
        '[' => Some(']'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_as_a_database_does() {
        let check = |table: &str, schema: Option<&str>, name: &str| {
            let expected = (schema.map(str::to_owned), name.to_owned());
            assert_eq!(schema_and_name(table), expected, "{table}");
        };
        check("accounts", None, "accounts");
        check("shop.accounts", Some("shop"), "accounts");
        check("\"a.b\".`c d`", Some("a.b"), "c d");
        check("db.shop.\"it's\"", Some("shop"), "it's");
        check("[a.b].[c d]", Some("a.b"), "c d");
    }

    #[test]
    fn no_name_of_a_table_ends_its_literal_or_becomes_another_one() {
        for dialect in Dialect::ALL {
            let expected = match dialect {
                Dialect::Sqlite => r"'it''s\'",
                Dialect::Mysql => "_utf8mb4 x'697427735c'",
                Dialect::Postgres => r#"E'"it''s\\"'"#,
            };
            for (kind, sql) in queries(dialect, r#""it's\""#) {
                assert!(kind == ExcerptKind::Rows || sql.contains(expected), "{sql}");
            }
        }
    }
}
