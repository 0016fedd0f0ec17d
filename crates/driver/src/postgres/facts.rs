//! Further facts about a PostgreSQL server that affect its performance: the settings that somebody
//! has set, replication and sizes.
//!
//! They come from six statements. If the server refuses a statement, the facts from it are unknown.

use std::sync::Arc;

use record::environment::{NONE, database, database_default, database_setting};

use super::PostgresConnection;
use crate::facts::{MOST_TABLES, columns, recorded_text, settings, tables};
use crate::service::REPORTING_SETTINGS;
use crate::{Connection, Table};

/// Query for the settings that somebody has set, with their defaults; those set by the server
/// itself or by this session are left out. The server lists a default that is a size in the unit of
/// the setting, such as blocks. The query writes it like the values, in the largest unit that
/// divides it.
const SETTINGS: &str = "select name, value, case \
        when setting = boot_val then value \
        when unit is null or boot_val = '0' or boot_val like '-%' then boot_val \
        when unit in ('ms', 's', 'min') then boot_val || unit \
        when size is null then null \
        when boot_val::bigint * size % 1073741824 = 0 \
            then boot_val::bigint * size / 1073741824 || 'GB' \
        when boot_val::bigint * size % 1048576 = 0 \
            then boot_val::bigint * size / 1048576 || 'MB' \
        when boot_val::bigint * size % 1024 = 0 \
            then boot_val::bigint * size / 1024 || 'kB' \
        else boot_val::bigint * size || 'B' end \
    from (select name, setting, boot_val, unit, source, current_setting(name) as value, \
        case unit when 'B' then 1 when 'kB' then 1024 when '8kB' then 8192 \
            when 'MB' then 1048576 end as size from pg_settings) as settings \
    where source not in ('default', 'override', 'client', 'session') order by name";

/// Query for the replication state. Users without the privilege see that there are standbys, but
/// not their states; for these users, the states are NULL.
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

/// Query for the identity of the server and of its database: the same over every address and proxy.
/// A copy of the data has a different identity, because its server started at a different time.
/// `md5` is not used: a server whose OpenSSL conforms to FIPS 140 refuses it.
const IDENTITY: &str = "select left(encode(sha256(convert_to(concat_ws(' ', system_identifier, \
    extract(epoch from pg_postmaster_start_time()), current_database()), 'UTF8')), 'hex'), 32) \
    from pg_control_system()";

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
                *reply = self.query_short(text).await.ok();
            }
            Ok(())
        };
        // Answers that do not arrive in time are unknown.
        let _ = service.in_time(&rt, node, REPORTING_SETTINGS, asked).await;
        let [set, replication, sizes, libraries, identity, largest] =
            reply.each_ref().map(Option::as_ref);
        let mut facts = settings(set);
        let library = recorded_text(libraries.and_then(Table::single));
        let name = database_setting("shared_preload_libraries");
        let default = database_default("shared_preload_libraries");
        facts.retain(|(known, _)| *known != name && *known != default);
        facts.extend([(name, library), (default, NONE.to_owned())]);
        let names = [
            database::REPLICATION_ROLE,
            database::REPLICATION_SYNCHRONOUS,
            database::REPLICATION_STANDBYS,
        ];
        facts.extend(columns(&names, replication));
        facts
            .extend(columns(&[database::SIZE, database::BUFFER, database::SIZE_PER_BUFFER], sizes));
        facts.extend(columns(&[database::SERVER_ID], identity));
        facts.extend(tables(largest));
        facts
    }
}
