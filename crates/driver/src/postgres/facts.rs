//! Facts about a PostgreSQL server, other than its settings, that affect its performance.
//!
//! They come from six statements, each of which may be refused; its facts are then unknown.

use std::sync::Arc;

use super::PostgresConnection;
use crate::facts::{DATABASE, MOST_TABLES, SERVER_ID, columns, settings, tables};
use crate::server_facts::UNKNOWN;
use crate::service::TELLING;
use crate::{Connection, Table};

/// Query for the settings that somebody has set; those set by the server itself or by this session
/// are left out.
const SETTINGS: &str = "select name, current_setting(name) from pg_settings \
    where source not in ('default', 'override', 'client', 'session') order by name";

/// Query for the replication state. Users without the privilege see that there are standbys, but
/// not their states.
const REPLICATION: &str = "select case when pg_is_in_recovery() then 'standby' else 'primary' end, \
    coalesce(nullif(current_setting('synchronous_standby_names'), ''), 'none'), \
    case when not pg_has_role('pg_read_all_stats', 'usage') then null else \
        coalesce((select string_agg(state || ' ' || sync_state, ', ' order by state, sync_state) \
        from pg_stat_replication), 'none') end";

const SIZES: &str = "select pg_database_size(current_database()), \
    pg_size_bytes(current_setting('shared_buffers')), \
    round(pg_database_size(current_database()) \
        / pg_size_bytes(current_setting('shared_buffers'))::numeric, 3)";

/// Query for a setting that only administrators see.
const LIBRARIES: &str = "select coalesce(nullif(setting, ''), 'none') from pg_settings \
    where name = 'shared_preload_libraries'";

/// Query for the identity of the server and of its database: the same over every address and proxy,
/// and another one for a copy of its data, which starts at another time.
const IDENTITY: &str = "select md5(concat_ws(' ', system_identifier, \
    extract(epoch from pg_postmaster_start_time()), current_database())) from pg_control_system()";

/// Returns the query for the largest tables by their own size, which the server reads from the file
/// system.
fn table_sizes() -> String {
    format!(
        "select name, pg_table_size(oid), pg_indexes_size(oid) from (\
         select c.oid, case when n.nspname = 'public' then c.relname \
             else n.nspname || '.' || c.relname end as name \
         from pg_class c join pg_namespace n on n.oid = c.relnamespace \
         where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' \
             and n.nspname <> 'information_schema' \
         order by pg_relation_size(c.oid) desc, name limit {MOST_TABLES}) largest"
    )
}

impl PostgresConnection {
    pub(super) async fn read_facts(&mut self) -> Vec<(String, String)> {
        let (service, rt) = (Arc::clone(self.service()), self.rt().clone());
        let node = self.node();
        let mut reply: [Option<Table>; 6] = Default::default();
        let asked = async {
            let texts = [SETTINGS, REPLICATION, SIZES, LIBRARIES, IDENTITY, &table_sizes()];
            for (reply, text) in reply.iter_mut().zip(texts) {
                *reply = self.query_text(text).await.ok();
            }
            Ok(())
        };
        // Answers that do not arrive in time are unknown.
        let _ = service.in_time(&rt, node, TELLING, asked).await;
        let [set, replication, sizes, libraries, identity, largest] =
            reply.each_ref().map(Option::as_ref);
        let mut facts = settings(set);
        let library = libraries.and_then(Table::single).unwrap_or(UNKNOWN);
        let name = format!("{DATABASE}setting.shared_preload_libraries");
        facts.retain(|(known, _)| *known != name);
        facts.push((name, library.to_owned()));
        let names = ["replication.role", "replication.synchronous", "replication.standbys"];
        facts.extend(columns(&names, replication));
        facts.extend(columns(&["size_bytes", "buffer_bytes", "size_per_buffer"], sizes));
        facts.extend(columns(&[SERVER_ID], identity));
        facts.extend(tables(largest));
        facts
    }
}
