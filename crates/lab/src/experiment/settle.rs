//! Statements that let a server settle after a load or a restore.

use base::{Dialect, Span};
use workload::{FixedStatement, JobTarget, Plan};

/// Returns the statements that let a server settle after its tables were filled or restored. They
/// update the planner's statistics and, except for SQLite, write dirty pages to disk. The server
/// would otherwise do this work during the next run. Each statement needs a session of its own.
///
/// MariaDB and MySQL offer no statement for a checkpoint. Instead, `flush tables … for export`
/// writes the dirty pages of a table before it returns; its locks end with the session. Deleted
/// rows are purged in the background, and no statement waits for that.
pub(super) fn statements(plan: &Plan) -> Vec<FixedStatement> {
    let texts: Vec<String> = match plan.dialect(JobTarget::Main) {
        Dialect::Postgres => ["vacuum analyze", "checkpoint"].map(str::to_owned).to_vec(),
        Dialect::Mysql => plan.loads.iter().flat_map(|load| of_table(&load.table)).collect(),
        Dialect::Sqlite => vec!["analyze".to_owned()],
    };
    texts
        .into_iter()
        .map(|text| FixedStatement { text, span: Span::default(), script: None })
        .collect()
}

fn of_table(table: &str) -> [String; 2] {
    [format!("analyze table {table}"), format!("flush tables {table} for export")]
}
