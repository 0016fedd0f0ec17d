//! Tests of the observation of SQLite, whose files are examined.

use base::Target;
use driver::{Connection, Driver, PreparedId, Sqlite, Step, Work};

use crate::{Readings, in_real_time};

/// Observes a new database while a table of a megabyte is written.
fn watched(options: &str) -> Readings {
    let driver = Sqlite::open(&Target::parse(&format!("sqlite:{options}")).expect("a URL"));
    let driver = driver.expect("a database");
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a connection");
        let (watch, mut readings) = Readings::begin(&driver);
        connection.query_text("create table t (a)").await.expect("a table");
        let fill = "insert into t values (zeroblob(1000000))";
        connection.query_text(fill).await.expect("a row");
        connection.query_text("delete from t").await.expect("no row");
        let mut other = driver.connect(&rt).await.expect("a connection");
        other.prepare("select a from t order by a").await.expect("a statement");
        let mut work = Work::default();
        work.steps.push(Step::Execute { statement: PreparedId(0), first: 0, count: 0 });
        other.run(&mut work).await.expect("no row");
        other.close().await;
        watch.end();
        readings.receive_pending();
        connection.close().await;
        readings
    })
}

#[test]
fn wal_pages_and_statement_counters_are_sampled() {
    let readings = watched("");
    assert!(readings.last("statistics", "wal_bytes") > 1e6);
    assert!(readings.last("statistics", "page_count") > 200.0);
    assert!(readings.last("statistics", "freelist_count") > 200.0);
    // The counter covers requests, and not the queries of the observer and of the setup.
    assert_eq!(readings.last("statistics", "sqlite3_stmt_status.sort"), 1.0);
    assert!(readings.last("statistics", "sqlite3_stmt_status.vm_step") > 1.0);
    assert_eq!(readings.last("sessions", "looks"), 0.0, "it has no sessions");
}

#[test]
fn sampling_keeps_a_rollback_journal() {
    let readings = watched("?journal=delete");
    assert!(readings.last("statistics", "page_count") > 200.0);
    assert_eq!(readings.missing("statistics freelist_count").len(), 1);
}
