//! Further facts about a MySQL or MariaDB server that affect its performance: the settings that
//! somebody has set, replication and sizes.
//!
//! They come from several statements, which differ between MySQL and MariaDB. If the server refuses
//! a statement, the facts from it are unknown.

use std::sync::Arc;

use record::environment::{NONE, UNKNOWN, database};

use super::MysqlConnection;
use crate::facts::{MOST_TABLES, columns, recorded_text, settings, tables};
use crate::service::REPORTING_SETTINGS;
use crate::{Connection, Table};

/// Query for the settings that somebody has set; those chosen by the server itself are left out.
const SETTINGS_OF_MARIADB: &str = "select variable_name, global_value, default_value \
     from information_schema.system_variables \
     where global_value_origin not in ('COMPILE-TIME', 'AUTO', 'ENVIRONMENT') \
     order by variable_name";

const SETTINGS_OF_MYSQL: &str = "select i.variable_name, v.variable_value \
     from performance_schema.variables_info i \
     join performance_schema.global_variables v using (variable_name) \
     where i.variable_source <> 'COMPILED' order by i.variable_name";

const SOURCES_OF_MARIADB: &str = "show all slaves status";
const SOURCES_OF_MYSQL: &str = "show replica status";
const REPLICAS_OF_MARIADB: &str = "show slave hosts";
const REPLICAS_OF_MYSQL: &str = "show replicas";

/// Queries for the size of this database's files, the size of the buffer pool, and the quotient of
/// both. The names of tablespaces are compared as bytes. MariaDB writes them as names of files:
/// those of the database `a-b` begin with `a@002db/`.
const FILES_OF_MARIADB: &str = "select sum(file_size), @@innodb_buffer_pool_size, \
     round(sum(file_size) / @@innodb_buffer_pool_size, 3) \
     from information_schema.innodb_sys_tablespaces \
     where substring_index(name, '/', 1) = cast(convert(database() using filename) as binary)";

const FILES_OF_MYSQL: &str = "select sum(file_size), @@innodb_buffer_pool_size, \
     round(sum(file_size) / @@innodb_buffer_pool_size, 3) \
     from information_schema.innodb_tablespaces \
     where substring_index(name, '/', 1) = cast(database() as binary)";

/// Queries for a hash of the server's identity, its start time and the session's database. The hash
/// is the same over every address and proxy. MariaDB has no `server_uuid`, but a `server_uid`: a
/// hash of the machine's network address and the port, since 10.6.16 and 10.11.6. The uptime and
/// `unix_timestamp()` are those at the start of the statement, so their difference is the same in
/// every reading. `md5` is not used: in MySQL 9.7 it requires a component.
const IDENTITY_OF_MARIADB: &str = "select left(sha2(concat_ws(' ', @@server_uid, @@port, \
     @@datadir, unix_timestamp() - cast(variable_value as signed), database()), 256), 32) \
     from information_schema.global_status where variable_name = 'UPTIME'";
const IDENTITY_OF_MYSQL: &str = "select left(sha2(concat_ws(' ', @@server_uuid, \
     unix_timestamp() - cast(variable_value as signed), database()), 256), 32) \
     from performance_schema.global_status where variable_name = 'Uptime'";

/// Query for a server that speaks MySQL's protocol and does not show its uptime in a table.
const IDENTITY_WITHOUT_START: &str =
    "select left(sha2(concat_ws(' ', @@server_uuid, database()), 256), 32)";

/// Returns the query for the largest tables by the server's estimate; tables that the user may not
/// see are missing.
fn table_sizes() -> String {
    format!(
        "select table_name, data_length, index_length from information_schema.tables \
         where table_schema = database() and table_type = 'BASE TABLE' \
         order by data_length + index_length desc, table_name limit {MOST_TABLES}"
    )
}

/// Statement for fresh estimates: MySQL caches the sizes of tables for a day
/// (`information_schema_stats_expiry`).
const FRESH_ESTIMATES: &str = "set session information_schema_stats_expiry = 0";

impl MysqlConnection {
    pub(super) async fn read_facts(&mut self) -> Vec<(String, String)> {
        let texts = match self.is_mariadb() {
            true => [
                SETTINGS_OF_MARIADB,
                SOURCES_OF_MARIADB,
                REPLICAS_OF_MARIADB,
                FILES_OF_MARIADB,
                IDENTITY_OF_MARIADB,
            ],
            false => [
                SETTINGS_OF_MYSQL,
                SOURCES_OF_MYSQL,
                REPLICAS_OF_MYSQL,
                FILES_OF_MYSQL,
                IDENTITY_OF_MYSQL,
            ],
        };
        let (config, rt, node) = (Arc::clone(self.config()), self.line.rt.clone(), self.node());
        let mut answers: [Option<Table>; 6] = Default::default();
        let asked = async {
            if !self.is_mariadb() {
                // An older server has neither the setting nor the cache.
                let _ = self.query_short(FRESH_ESTIMATES).await;
            }
            let largest = table_sizes();
            let texts = texts.into_iter().chain([largest.as_str()]);
            for (answer, text) in answers.iter_mut().zip(texts) {
                *answer = self.query_short(text).await.ok();
            }
            let [.., identity, _] = &mut answers;
            if identity.as_ref().is_none_or(|table| table.rows.is_empty()) {
                *identity = self.query_short(IDENTITY_WITHOUT_START).await.ok();
            }
            Ok(())
        };
        // Answers that do not arrive in time are unknown.
        let _ = config.service.in_time(&rt, node, REPORTING_SETTINGS, asked).await;
        let [set, sources, replicas, sizes, identity, largest] =
            answers.each_ref().map(Option::as_ref);
        let mut facts = settings(set);
        facts.push((database::REPLICATION_SOURCES.to_owned(), source_states(sources)));
        let count = |table: &Table| match table.rows.len() {
            0 => NONE.to_owned(),
            count => count.to_string(),
        };
        let replicas = replicas.map_or_else(|| UNKNOWN.to_owned(), count);
        facts.push((database::REPLICATION_REPLICAS.to_owned(), replicas));
        facts
            .extend(columns(&[database::SIZE, database::BUFFER, database::SIZE_PER_BUFFER], sizes));
        facts.extend(columns(&[database::SERVER_ID], identity));
        facts.extend(tables(largest));
        facts
    }
}

/// Returns the state of the replication from each source, without the source's host or user.
fn source_states(table: Option<&Table>) -> String {
    let Some(table) = table else { return UNKNOWN.to_owned() };
    let running = |row: &Vec<Option<String>>| {
        let place = table
            .columns
            .iter()
            .position(|name| ["Slave_SQL_Running", "Replica_SQL_Running"].contains(&name.as_str()));
        let is_running = place.and_then(|place| row.get(place)?.as_deref()) == Some("Yes");
        if is_running { "running" } else { "stopped" }
    };
    match table.rows.as_slice() {
        [] => NONE.to_owned(),
        rows => recorded_text(Some(&rows.iter().map(running).collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replication_source_is_reported_by_state_only() {
        let row = |state: &str| vec![Some("geheim".to_owned()), Some(state.to_owned())];
        let columns = vec!["Master_User".to_owned(), "Slave_SQL_Running".to_owned()];
        let table = Table { columns, rows: vec![row("Yes"), row("No")], is_cut: false };
        assert_eq!(source_states(Some(&table)), "running, stopped");
        assert_eq!(source_states(Some(&Table::default())), NONE);
        assert_eq!(source_states(None), UNKNOWN);
    }
}
