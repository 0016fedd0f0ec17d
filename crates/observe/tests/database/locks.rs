//! Lock waits between sessions.

use driver::{Connection, Driver, Step, Work};
use testbed::{Kind, shared};

use crate::{Readings, ask, in_real_time, mariadb, postgres};

/// Returns a request that consists of a single statement.
fn request(text: &str) -> Work {
    let mut work = Work::default();
    work.values.push_text(|buffer| buffer.push_str(text));
    work.steps.push(Step::ExecuteText { text: 0 });
    work
}

/// Creates a row that an open transaction has changed and that three other sessions want to change,
/// and returns the observer's reports.
fn observe_hot_row<D: Driver>(
    driver: &D,
    table: &str,
    is_reached: impl Fn(&Readings) -> bool,
) -> Readings {
    ask(
        driver,
        &[
            &format!("create table {table} (id int primary key, n int)"),
            &format!("insert into {table} values (1, 0)"),
        ],
    );
    observe_while_locked(driver, &format!("update {table} set n = n + 1 where id = 1"), is_reached)
}

/// Returns the observer's reports while one session holds the locks of a statement in an open
/// transaction, and three others execute the same statement.
fn observe_while_locked<D: Driver>(
    driver: &D,
    text: &str,
    is_reached: impl Fn(&Readings) -> bool,
) -> Readings {
    in_real_time(async |rt| {
        let mut holder = driver.connect(&rt).await.expect("a connection");
        let mut held = request(text);
        held.steps.insert(0, Step::Begin);
        holder.run(&mut held).await.expect("the lock was free");
        let mut waiters = Vec::new();
        for _ in 0..3 {
            let mut waiter = driver.connect(&rt).await.expect("a connection");
            let text = text.to_owned();
            waiters.push(rt.spawn(async move {
                waiter.query_text(&text).await.expect("the way becomes free");
                waiter.close().await;
            }));
        }
        // Yielding starts the waiting requests before the observer begins.
        rt::yield_now().await;
        let (watch, mut readings) = Readings::begin(driver);
        readings.wait(&rt, is_reached).await;
        let mut end = Work { steps: vec![Step::Commit], ..Work::default() };
        holder.run(&mut end).await.expect("a commit");
        for waiter in waiters {
            waiter.await;
        }
        holder.close().await;
        watch.end();
        readings.receive_pending();
        readings
    })
}

#[test]
fn postgres_reports_the_table_of_a_hot_row() {
    let driver = postgres(&shared(Kind::Postgres).url());
    let readings = observe_hot_row(&driver, "hot_row", |readings| {
        readings.last("locks", "hot_row") >= 6.0 && readings.last("waits", "Lock:tuple") >= 2.0
    });
    assert!(readings.last("waits", "Lock:transactionid") >= 1.0);
    assert!(readings.last("statements", "update hot_row set n = n + ? where id = ?") >= 3.0);
    assert!(readings.last("sessions", "idle-in-transaction") >= 1.0);
    assert!(
        readings.last("sessions", "active") >= 3.0 && readings.last("sessions", "most") == 100.0
    );
    assert!(readings.last("statistics", "pg_stat_database.xact_commit") > 0.0);
    assert!(readings.last("statistics", "pg_stat_bgwriter.buffers_alloc") > 0.0);
}

#[test]
fn mariadb_reports_the_table_of_a_hot_row() {
    let driver = mariadb(&shared(Kind::Mariadb).url());
    let readings =
        observe_hot_row(&driver, "hot_row", |readings| readings.last("locks", "hot_row") >= 6.0);
    assert!(readings.last("waits", "Lock:row") >= 6.0);
    assert!(readings.last("statements", "update hot_row set n = n + ? where id = ?") >= 3.0);
    assert!(readings.last("sessions", "idle-in-transaction") >= 1.0);
    assert!(readings.last("sessions", "most") > 0.0);
    assert!(readings.last("statistics", "status.innodb_row_lock_waits") >= 3.0);
}

#[test]
fn postgres_reports_the_table_of_a_conflicting_insert() {
    let driver = postgres(&shared(Kind::Postgres).url());
    ask(&driver, &["create table one_key (id int primary key)"]);
    let insert = "insert into one_key values (1) on conflict do nothing";
    let readings =
        observe_while_locked(&driver, insert, |readings| readings.last("locks", "one_key") >= 2.0);
    assert!(readings.last("waits", "Lock:transactionid") >= 2.0);
    assert_eq!(readings.last("locks", "transactionid"), 0.0, "that is no table");
}

#[test]
fn mariadb_reports_metadata_lock_waits() {
    let driver = mariadb(&shared(Kind::Mariadb).url());
    ask(&driver, &["create table in_use (id int primary key)"]);
    in_real_time(async |rt| {
        let mut holder = driver.connect(&rt).await.expect("a connection");
        let mut held = request("select count(*) from in_use");
        held.steps.insert(0, Step::Begin);
        holder.run(&mut held).await.expect("a number");
        let mut waiter = driver.connect(&rt).await.expect("a connection");
        let change = rt.spawn(async move {
            waiter.query_text("alter table in_use add column n int").await.expect("a column");
            waiter.close().await;
        });
        rt::yield_now().await;
        let (watch, mut readings) = Readings::begin(&driver);
        readings.wait(&rt, |readings| readings.last("waits", "Lock:metadata") >= 2.0).await;
        assert!(readings.last("background", "alter table: in_use") >= 1.0);
        let mut end = Work { steps: vec![Step::Commit], ..Work::default() };
        holder.run(&mut end).await.expect("a commit");
        change.await;
        holder.close().await;
        watch.end();
    });
}
