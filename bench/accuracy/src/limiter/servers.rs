//! Statements and settings that differ between the servers of the scenarios.

use testbed::{Kind, Options};

/// The kinds of servers on which most bottlenecks are created.
pub(super) const ALL: &[Kind] = &[Kind::Postgres, Kind::Mariadb, Kind::Mysql];

/// Returns the options of a server that allows the recursions of [`rows`] and `load data local`.
pub(super) fn options(kind: Kind) -> Options {
    let options = Options::new(kind);
    match kind {
        Kind::Postgres => options,
        Kind::Mariadb => options.set("max_recursive_iterations", "1000000"),
        Kind::Mysql => options.set("cte_max_recursion_depth", "1000000").set("local_infile", "ON"),
    }
}

/// Returns the options of a server whose commits do not wait for the disk.
pub(super) fn options_without_flush(kind: Kind) -> Options {
    let options = options(kind);
    match kind {
        Kind::Postgres => options.set("fsync", "off"),
        Kind::Mariadb => options.set("innodb_flush_log_at_trx_commit", "0"),
        Kind::Mysql => options.set("innodb_flush_log_at_trx_commit", "0").set("sync_binlog", "0"),
    }
}

/// Returns the options of a server whose memory is too small for a table of 20 MB.
pub(super) fn options_with_little_memory(kind: Kind) -> Options {
    match kind {
        Kind::Postgres => options(kind).set("shared_buffers", "1MB"),
        Kind::Mariadb | Kind::Mysql => options(kind).set("innodb_buffer_pool_size", "6M"),
    }
}

/// Returns a table expression with a column `i` of the numbers from 1 to `count`.
pub(super) fn rows(kind: Kind, count: u64) -> String {
    match kind {
        Kind::Postgres => format!("generate_series(1, {count}) i"),
        Kind::Mariadb | Kind::Mysql => format!(
            "(with recursive n as (select 1 as i union all select i + 1 from n where i < {count}) \
             select i from n) s"
        ),
    }
}

/// Returns a query that takes processor time in proportion to a number of rows.
pub(super) fn counting_query(kind: Kind, count: u64) -> String {
    format!("select count(*) from {}", rows(kind, count))
}

/// Returns a query that keeps a processor busy for longer than a run.
pub(super) fn endless_query(kind: Kind) -> &'static str {
    match kind {
        Kind::Postgres => "select count(*) from generate_series(1, 2000000000) i where i % 2 = 3",
        Kind::Mariadb | Kind::Mysql => "select benchmark(2000000000, sha2('x', 512))",
    }
}

/// Returns a query that sleeps for some milliseconds.
pub(super) fn short_sleep(kind: Kind, ms: u64) -> String {
    let seconds = ms as f64 / 1e3;
    match kind {
        Kind::Postgres => format!("select pg_sleep({seconds})"),
        Kind::Mariadb | Kind::Mysql => format!("select sleep({seconds})"),
    }
}

/// Returns a query that sleeps for longer than a run.
pub(super) fn endless_sleep(kind: Kind) -> &'static str {
    match kind {
        Kind::Postgres => "select pg_sleep(60)",
        Kind::Mariadb | Kind::Mysql => "select sleep(60)",
    }
}

/// Returns the definition of a column `v` with a check that takes some microseconds per row; the
/// time grows with `cost`.
pub(super) fn expensive_column(kind: Kind, cost: u64) -> String {
    match kind {
        Kind::Postgres => format!("v bigint check (factorial({cost} + v % 2) > 0)"),
        Kind::Mariadb | Kind::Mysql => {
            format!("v bigint check (length(sha2(repeat(v, {}), 512)) > 0)", 10 * cost)
        }
    }
}
