//! Sessions that break, and targets that are not databases.

use base::{Clock, Monotonic, Nanos, Seed, Target};
use driver::{Connection, Count, Counter, Driver, Null, Simulated};
use testbed::{Kind, Options, Server, shared};

use crate::{Readings, ask, for_user, in_real_time, mariadb, postgres};

/// Longest time that a watch may take to end, including a margin for a busy machine.
const WATCH_END_TIMEOUT: Nanos = Nanos::from_millis(3_000);

/// Checks that a session that was killed is replaced by another one, and that the sums continue to
/// grow.
fn check_killed_session_is_replaced<D: Driver>(driver: &D, kill: impl FnOnce()) {
    let (watch, mut readings) = Readings::begin(driver);
    readings.wait_blocking(|readings| readings.last("sessions", "looks") >= 3.0);
    kill();
    readings.wait_blocking(|readings| !readings.missing("database").is_empty());
    let before = readings.last("sessions", "looks");
    readings.wait_blocking(|readings| readings.last("sessions", "looks") >= before + 3.0);
    watch.end();
    let why = readings.missing("database");
    assert!(matches!(&why[..], [why] if why.starts_with("for a while: ")), "{why:?}");
}

#[test]
fn session_that_postgres_ends_is_replaced() {
    let server = shared(Kind::Postgres);
    server.sql("create role mortal superuser login password 'mortal'").expect("a role");
    check_killed_session_is_replaced(&postgres(&for_user(&server.url(), "mortal")), || {
        let text =
            "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'mortal'";
        assert_eq!(server.sql(text).expect("an answer"), "t\n");
    });
}

#[test]
fn session_that_mariadb_ends_is_replaced() {
    let server = shared(Kind::Mariadb);
    let text = "create user mortal identified by 'mortal'; grant process on *.* to mortal; \
        grant all on assay.* to mortal";
    server.sql(text).expect("a user");
    check_killed_session_is_replaced(&mariadb(&for_user(&server.url(), "mortal")), || {
        server.sql("kill user mortal").expect("it is there");
    });
}

#[test]
fn connection_without_a_listener_is_refused() {
    // A port that the kernel never assigns to other sockets.
    let url = "postgres://ann:ann@127.0.0.1:1/shop";
    let (watch, mut readings) = Readings::begin(&postgres(&Target::parse(url).expect("a URL")));
    readings.wait_blocking(|readings| !readings.missing("database").is_empty());
    watch.end();
    assert!(readings.missing("database")[0].contains("no server listens there"));
}

#[test]
fn refused_login_is_reported() {
    let stranger = for_user(&shared(Kind::Mariadb).url(), "stranger");
    let (watch, mut readings) = Readings::begin(&mariadb(&stranger));
    readings.wait_blocking(|readings| !readings.missing("database").is_empty());
    watch.end();
    readings.receive_pending();
    let why = readings.missing("database");
    assert!(matches!(&why[..], [why] if why.contains("stranger")), "{why:?}");
}

#[test]
fn non_database_file_is_reported() {
    let config = sim();
    for (watch, mut readings) in
        [Readings::begin(&Null), Readings::begin(&Simulated::new(config, Seed(1)))]
    {
        readings.wait_blocking(|readings| !readings.missing("database").is_empty());
        watch.end();
        assert!(readings.missing("database")[0].contains("gave no version"));
    }
}

fn sim() -> sim::Config {
    sim::Config::from_options("mm1", &[]).expect("a simulation")
}

/// Returns the growth of a count.
fn growth(before: &[Count], after: &[Count], counter: Counter) -> f64 {
    let value = |counts: &[Count]| {
        counts.iter().find(|count| count.counter == counter).map_or(f64::NAN, |count| count.value)
    };
    value(after) - value(before)
}

/// Returns the server's statistics, read before and after a watch.
fn counters_around_a_watch<D: Driver>(driver: &D) -> [Vec<Count>; 2] {
    let counters = || {
        in_real_time(async |rt| {
            let mut connection = driver.connect(&rt).await.expect("a connection");
            let counters = connection.activity_counters().await.expect("the counters");
            connection.close().await;
            counters
        })
    };
    let before = counters();
    let (watch, mut readings) = Readings::begin(driver);
    readings.wait_blocking(|readings| readings.last("sessions", "looks") >= 10.0);
    watch.end();
    assert_eq!(readings.last("sessions", "active"), 0.0, "only the observer is connected");
    [before, counters()]
}

#[test]
fn observer_counts_as_ours_and_frozen_postgres_does_not_delay_its_end() {
    let options = Options::postgres()
        .set("shared_preload_libraries", "pg_stat_statements")
        // Some seconds after the start of the server, an autovacuum worker would commit in each
        // database.
        .set("autovacuum", "off");
    let mut server = Server::start(&options).expect("a server");
    server.sql("create extension pg_stat_statements").expect("it comes with the server");
    let driver = postgres(&server.url());
    let [before, after] = counters_around_a_watch(&driver);
    let own = growth(&before, &after, Counter::CommitsOfAssay);
    assert!(own > 15.0, "{own}");
    assert_eq!(growth(&before, &after, Counter::Commits), own);
    let (watch, mut readings) = Readings::begin(&driver);
    readings.wait_blocking(|readings| readings.last("sessions", "looks") >= 2.0);
    assert!(readings.last("statistics", "pg_stat_statements.") > 0.0);
    server.freeze();
    let begun = Monotonic.now();
    watch.end();
    let took = Monotonic.now().since(begun);
    server.thaw();
    assert!(took < WATCH_END_TIMEOUT, "{took}");
    // The session was abandoned during a statement. The server ends the session when it notices
    // this.
    ask(&driver, &["select 1"]);
}

#[test]
fn mariadb_counts_the_observer_as_ours() {
    let options = Options::mariadb().set("performance_schema", "on");
    let server = Server::start(&options).expect("a server");
    let driver = mariadb(&server.url());
    let [before, after] = counters_around_a_watch(&driver);
    let own = growth(&before, &after, Counter::StatementsOfAssay);
    assert!(own > 20.0, "{own}");
    assert_eq!(growth(&before, &after, Counter::Statements), own);
    let (watch, mut readings) = Readings::begin(&driver);
    let has_wait =
        |readings: &Readings| readings.last("statistics", "performance_schema.wait/") > 0.0;
    readings.wait_blocking(has_wait);
    watch.end();
}
