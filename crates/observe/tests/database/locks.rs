//! Who waits for whom.

use base::Clock;
use driver::{Connection, Driver, Step, Work};
use testbed::{Kind, shared};

use crate::{LONGEST, Told, ask, in_real_time, mariadb, postgres};

/// A row that somebody has changed in a transaction that stays open, and three others who would
/// change it too.
fn a_hot_row<D: Driver>(driver: &D, table: &str, is_seen: impl Fn(&Told) -> bool) -> Told {
    ask(
        driver,
        &[
            &format!("create table {table} (id int primary key, n int)"),
            &format!("insert into {table} values (1, 0)"),
        ],
    );
    let text = format!("update {table} set n = n + 1 where id = 1");
    in_real_time(async |rt| {
        let mut holder = driver.connect(&rt).await.expect("a connection");
        let mut held = Work::default();
        held.values.push_text(|buffer| buffer.push_str(&text));
        held.steps = vec![Step::Begin, Step::ExecuteText { text: 0 }];
        holder.run(&mut held).await.expect("the row was free");
        let mut waiters = Vec::new();
        for _ in 0..3 {
            let mut waiter = driver.connect(&rt).await.expect("a connection");
            let text = text.clone();
            waiters.push(rt.spawn(async move {
                waiter.query_text(&text).await.expect("the row becomes free");
                waiter.close().await;
            }));
        }
        // The waiters are sent on their way by this thread, which then waits for the observer's.
        rt::yield_now().await;
        let (watch, mut told) = Told::begin(driver);
        let late = rt.now() + LONGEST;
        while !is_seen(&told) {
            assert!(rt.now() < late, "it never came: {:?}", told.samples.last());
            rt.sleep(base::Nanos::from_millis(10)).await;
            told.take();
        }
        let mut end = Work { steps: vec![Step::Commit], ..Work::default() };
        holder.run(&mut end).await.expect("a commit");
        for waiter in waiters {
            waiter.await;
        }
        holder.close().await;
        watch.end();
        told.take();
        told
    })
}

#[test]
fn postgres_shows_the_table_of_a_hot_row() {
    let driver = postgres(&shared(Kind::Postgres).url());
    let told = a_hot_row(&driver, "hot_row", |told| {
        told.last("locks", "hot_row") >= 6.0 && told.last("waits", "Lock:tuple") >= 2.0
    });
    assert!(told.last("waits", "Lock:transactionid") >= 1.0);
    assert!(told.last("statements", "update hot_row set n = n + ? where id = ?") >= 3.0);
    assert!(told.last("sessions", "idle-in-transaction") >= 1.0);
    assert!(told.last("sessions", "active") >= 3.0 && told.last("sessions", "most") == 100.0);
    assert!(told.last("statistics", "pg_stat_database.xact_commit") > 0.0);
    assert!(told.last("statistics", "pg_stat_bgwriter.buffers_alloc") > 0.0);
    assert_eq!(told.last("sessions", "others"), 0.0, "they have our application_name");
}

#[test]
fn mariadb_shows_the_table_of_a_hot_row() {
    let driver = mariadb(&shared(Kind::Mariadb).url());
    let told = a_hot_row(&driver, "hot_row", |told| told.last("locks", "hot_row") >= 6.0);
    assert!(told.last("waits", "Lock:row") >= 6.0);
    assert!(told.last("statements", "update hot_row set n = n + ? where id = ?") >= 3.0);
    assert!(told.last("sessions", "idle-in-transaction") >= 1.0);
    assert!(told.last("sessions", "most") > 0.0);
    assert!(told.last("statistics", "status.innodb_row_lock_waits") >= 3.0);
}
