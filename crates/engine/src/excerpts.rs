//! Excerpts of the loaded tables: their columns, indexes and first rows, for readers of the record.

use base::{Clock, Dialect, Nanos};
use driver::{Connection, Driver, Error, Table};
use record::{Excerpt, ExcerptKind};
use rt::{Rt, within};
use workload::Load;

use crate::events::RunEvent;
use crate::run_context::RunContext;

/// Time for the excerpts of all tables.
const TIMEOUT: Nanos = Nanos::from_secs(2);

/// Rows of a table that are shown.
const ROWS: usize = 5;

/// Shows the tables of `loads` to the listener, on a connection of its own. What cannot be read in
/// time is an excerpt that says so, and never the end of the run.
pub(crate) async fn show_tables<D: Driver>(
    rt: &Rt,
    context: &RunContext<D>,
    driver: &D,
    loads: &[Load],
) {
    if loads.is_empty() || !driver.keeps_data() {
        return;
    }
    let mut connection = match within(rt, TIMEOUT, driver.connect(rt)).await {
        Some(Ok(connection)) => connection,
        Some(Err(error)) => return loads.iter().for_each(|load| refused(context, load, &error)),
        None => return loads.iter().for_each(|load| unanswered(context, load)),
    };
    let ends = rt.now() + TIMEOUT;
    for (place, load) in loads.iter().enumerate() {
        let dialect = driver.dialect();
        let left = ends.since(rt.now());
        match within(rt, left, show_table(context, &mut connection, dialect, &load.table)).await {
            Some(Ok(())) => {}
            Some(Err(error)) if error.class().ends_connection() => {
                loads[place..].iter().for_each(|load| refused(context, load, &error));
                return connection.abandon();
            }
            Some(Err(error)) => refused(context, load, &error),
            None => {
                loads[place..].iter().for_each(|load| unanswered(context, load));
                return connection.abandon();
            }
        }
    }
    // A session that does not close in time ends with its connection.
    let _ = within(rt, TIMEOUT, connection.close()).await;
}

async fn show_table<D: Driver>(
    context: &RunContext<D>,
    connection: &mut D::Connection,
    dialect: Dialect,
    table: &str,
) -> Result<(), Error> {
    for (kind, sql) in queries(dialect, table) {
        let Table { columns, rows, is_cut: _ } = connection.query_text(&sql).await?;
        let subject = table.to_owned();
        show(context, Excerpt { subject, kind, titles: columns, rows });
    }
    Ok(())
}

fn refused<D>(context: &RunContext<D>, load: &Load, error: &Error) {
    unreadable(context, load, error.to_string());
}

fn unanswered<D>(context: &RunContext<D>, load: &Load) {
    unreadable(context, load, format!("no answer within {TIMEOUT}"));
}

fn unreadable<D>(context: &RunContext<D>, load: &Load, why: String) {
    let (subject, kind) = (load.table.clone(), ExcerptKind::Unreadable);
    let (titles, rows) = (vec!["reason".to_owned()], vec![vec![Some(why)]]);
    show(context, Excerpt { subject, kind, titles, rows });
}

fn show<D>(context: &RunContext<D>, excerpt: Excerpt) {
    context.listener.on_event(&RunEvent::Excerpt(excerpt));
}

/// Returns the statements that describe a table, which is an SQL identifier as the file has it.
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
    // The server reads the name as it does in a statement.
    let table = format!("to_regclass({})", literal(table));
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
    let name = literal(&name);
    (
        format!(
            "select name as \"column\", type, case when \"notnull\" then 'not null' else '' end \
             as nulls, coalesce(dflt_value, '') as \"default\" \
             from pragma_table_info({name}, {}) order by cid",
            literal(&schema)
        ),
        format!(
            "select name as \"index\", coalesce(sql, '') as definition from \"{}\".sqlite_schema \
             where type = 'index' and tbl_name = {name} collate nocase order by name",
            schema.replace('"', "\"\"")
        ),
    )
}

/// Returns a text as a literal, without characters that some databases take for escapes.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\\', ""))
}

/// Splits an SQL identifier into its last part and the one before, without quotes.
fn schema_and_name(table: &str) -> (Option<String>, String) {
    let mut parts = Vec::new();
    let mut rest = table;
    while let Some(first) = rest.chars().next() {
        let quoted = matches!(first, '"' | '`').then_some(first);
        let (part, behind) = match quoted {
            Some(quote) => rest[1..].split_once(quote).unwrap_or((&rest[1..], "")),
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                rest.split_at(end)
            }
        };
        parts.push(part.to_owned());
        rest = behind.strip_prefix('.').unwrap_or("");
    }
    let name = parts.pop().unwrap_or_default();
    (parts.pop(), name)
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
    }

    #[test]
    fn no_name_of_a_table_ends_its_literal() {
        for dialect in Dialect::ALL {
            for (kind, sql) in queries(dialect, "\"it's\\\"") {
                let is_balanced = sql.matches('\'').count().is_multiple_of(2);
                assert!(is_balanced || kind == ExcerptKind::Rows, "{sql}");
                assert!(kind == ExcerptKind::Rows || !sql.contains('\\'), "{sql}");
            }
        }
    }
}
