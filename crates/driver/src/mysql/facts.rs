//! What of a server of MySQL or MariaDB beyond its settings decides what numbers mean.
//!
//! Some statements, each of which may be refused: what it would tell is then unknown. The two
//! makers tell the same in different words.

use std::sync::Arc;

use super::MysqlConnection;
use crate::facts::{DATABASE, MOST_TABLES, NONE, columns, settings, tables, told};
use crate::net::{TELLING, UNKNOWN};
use crate::{Connection, Table};

/// What somebody has set: those that the server has chosen by itself are left out.
const SETTINGS_OF_MARIADB: &str = "select variable_name, global_value \
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

/// The files of this database, which are written in the server's own character set for names.
const FILES_OF_MARIADB: &str = "select sum(file_size), @@innodb_buffer_pool_size, \
     round(sum(file_size) / @@innodb_buffer_pool_size, 3) \
     from information_schema.innodb_sys_tablespaces where name like concat(database(), '/%')";

const FILES_OF_MYSQL: &str = "select sum(file_size), @@innodb_buffer_pool_size, \
     round(sum(file_size) / @@innodb_buffer_pool_size, 3) \
     from information_schema.innodb_tablespaces where name like concat(database(), '/%')";

/// The largest tables by the server's estimate; those that the user may not see are not among them.
fn table_sizes() -> String {
    format!(
        "select table_name, data_length, index_length from information_schema.tables \
         where table_schema = database() and table_type = 'BASE TABLE' \
         order by data_length + index_length desc, table_name limit {MOST_TABLES}"
    )
}

/// MySQL keeps the estimated sizes of tables for a day (`information_schema_stats_expiry`).
const FRESH_ESTIMATES: &str = "set session information_schema_stats_expiry = 0";

impl MysqlConnection {
    pub(super) async fn read_facts(&mut self) -> Vec<(String, String)> {
        let texts = match self.is_mariadb() {
            true => {
                [SETTINGS_OF_MARIADB, SOURCES_OF_MARIADB, REPLICAS_OF_MARIADB, FILES_OF_MARIADB]
            }
            false => [SETTINGS_OF_MYSQL, SOURCES_OF_MYSQL, REPLICAS_OF_MYSQL, FILES_OF_MYSQL],
        };
        let (site, rt, place) = (Arc::clone(self.site()), self.line.rt.clone(), self.node());
        let mut answers: [Option<Table>; 5] = Default::default();
        let asked = async {
            if !self.is_mariadb() {
                // An older server does not have the setting, and does not keep them.
                let _ = self.query_text(FRESH_ESTIMATES).await;
            }
            let largest = table_sizes();
            let texts = texts.into_iter().chain([largest.as_str()]);
            for (answer, text) in answers.iter_mut().zip(texts) {
                *answer = self.query_text(text).await.ok();
            }
            Ok(())
        };
        // What was not told in time is unknown.
        let _ = site.service.in_time(&rt, place, TELLING, asked).await;
        let [set, sources, replicas, sizes, largest] = answers.each_ref().map(Option::as_ref);
        let mut facts = settings(set);
        facts.push((format!("{DATABASE}replication.sources"), sources_in_words(sources)));
        let count = |table: &Table| match table.rows.len() {
            0 => NONE.to_owned(),
            count => count.to_string(),
        };
        let replicas = replicas.map_or_else(|| UNKNOWN.to_owned(), count);
        facts.push((format!("{DATABASE}replication.replicas"), replicas));
        facts.extend(columns(&["size_bytes", "buffer_bytes", "size_per_buffer"], sizes));
        facts.extend(tables(largest));
        facts
    }
}

/// From how many servers this one copies, and whether it does; never from which, or as whom.
fn sources_in_words(table: Option<&Table>) -> String {
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
        rows => told(Some(&rows.iter().map(running).collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_source_only_its_state_is_told() {
        let row = |state: &str| vec![Some("geheim".to_owned()), Some(state.to_owned())];
        let columns = vec!["Master_User".to_owned(), "Slave_SQL_Running".to_owned()];
        let table = Table { columns, rows: vec![row("Yes"), row("No")], is_cut: false };
        assert_eq!(sources_in_words(Some(&table)), "running, stopped");
        assert_eq!(sources_in_words(Some(&Table::default())), NONE);
        assert_eq!(sources_in_words(None), UNKNOWN);
    }
}
