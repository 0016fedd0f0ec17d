//! Statements that let a server settle after a load.

use base::{Dialect, Span};
use workload::{FixedStatement, Plan};

/// Returns the statements that let a server settle after its tables were filled: statistics for its
/// planner, and dirty pages written, so that the first run does not pay for the load.
pub(super) fn statements(plan: &Plan, dialect: Dialect) -> Vec<FixedStatement> {
    let texts: Vec<String> = match dialect {
        Dialect::Postgres => ["vacuum analyze", "checkpoint"].map(str::to_owned).to_vec(),
        Dialect::Mysql => {
            plan.loads.iter().map(|load| format!("analyze table {}", load.table)).collect()
        }
        Dialect::Sqlite => vec!["analyze".to_owned()],
    };
    texts
        .into_iter()
        .map(|text| FixedStatement { text, span: Span::default(), script: None })
        .collect()
}
