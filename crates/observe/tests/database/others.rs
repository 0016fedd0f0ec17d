//! Sessions of other clients that log in as the load generator does.

use base::{Endpoint, Target};
use driver::{Connection, Driver, SessionId};
use rt::Rt;
use testbed::{Options, Server, Via};

use crate::{Readings, for_user, in_real_time, mariadb, postgres};

/// The statements of a session that keeps a processor busy until it is ended.
struct EndlessQuery {
    /// Query for the session's id.
    id: &'static str,
    query: &'static str,
    end: fn(SessionId) -> String,
}

const ON_POSTGRES: EndlessQuery = EndlessQuery {
    id: "select pg_backend_pid()",
    query: "select count(*) from generate_series(1, 2000000000) i where i % 2 = 3",
    end: |SessionId(id)| format!("select pg_terminate_backend({id})"),
};

const ON_MARIADB: EndlessQuery = EndlessQuery {
    id: "select connection_id()",
    query: "select benchmark(2000000000, sha2('x', 512))",
    end: |SessionId(id)| format!("kill {id}"),
};

/// Starts a server on which there are no sessions of other tests.
fn start_private(options: &Options) -> Server {
    Server::start(options).expect("a server")
}

/// The sessions of a test: a session of `driver` is idle, and a session of `busy` runs a query.
struct Sessions<'d, D> {
    driver: &'d D,
    busy: &'d D,
    /// True if `busy` is the driver of a second target of the run; false if it belongs to another
    /// client.
    is_second_target: bool,
}

/// Returns the observer's reports once `is_reached` returns true for them, while a session of
/// `driver` is idle and a session of `other` runs a query.
fn observe_idle_and_busy<D: Driver>(
    server: &Server,
    [driver, other]: [&D; 2],
    endless: &EndlessQuery,
    is_reached: impl Fn(&Readings) -> bool,
) -> Readings {
    let sessions = Sessions { driver, busy: other, is_second_target: false };
    observe_sessions(server, &sessions, endless, is_reached)
}

/// Returns the observer's reports of these sessions once `is_reached` returns true for them.
fn observe_sessions<D: Driver>(
    server: &Server,
    sessions: &Sessions<'_, D>,
    endless: &EndlessQuery,
    is_reached: impl Fn(&Readings) -> bool,
) -> Readings {
    let Sessions { driver, busy: other, is_second_target } = *sessions;
    in_real_time(async |rt| {
        let idle = driver.connect(&rt).await.expect("a connection");
        let mut busy = other.connect(&rt).await.expect("a connection");
        let EndlessQuery { id, query, end } = *endless;
        let id = busy.query_text(id).await.expect("an id");
        let id = id.single().and_then(|id| id.parse().ok()).expect("a number");
        let task = rt.spawn(async move {
            busy.query_text(query).await.expect_err("the session is ended");
            busy.abandon();
        });
        rt::yield_now().await;
        // A run identifies the servers of each target before it begins.
        let mut reached = other.connect(&rt).await.expect("a connection");
        reached.identify().await;
        reached.close().await;
        let second = is_second_target.then_some(other);
        let (watch, mut readings) = Readings::begin_with(driver, second);
        readings.wait(&rt, is_reached).await;
        watch.end();
        readings.receive_pending();
        server.sql(&end(SessionId(id))).expect("its end");
        task.await;
        idle.close().await;
        readings
    })
}

/// Checks that a query of another client with the same login is attributed to that client, and that
/// a query of the observed driver is attributed to the run.
fn other_clients_are_recognised<D: Driver>(
    server: &Server,
    open: impl Fn() -> D,
    endless: &EndlessQuery,
) {
    let (driver, other) = (open(), open());
    let readings = observe_idle_and_busy(server, [&driver, &other], endless, |readings| {
        readings.last("sessions", "others") >= 3.0
    });
    assert_eq!(readings.last("sessions", "active"), 0.0);
    assert!(readings.last("sessions", "idle") >= 1.0);
    let readings = observe_idle_and_busy(server, [&driver, &driver], endless, |readings| {
        readings.last("sessions", "active") >= 3.0
    });
    // The server may not have ended the first session yet.
    assert!(readings.last("sessions", "others") < 3.0);
}

#[test]
fn postgres_client_with_our_name_is_another_client() {
    let server = start_private(&Options::postgres());
    other_clients_are_recognised(&server, || postgres(&server.url()), &ON_POSTGRES);
}

#[test]
fn mariadb_client_with_our_user_is_another_client() {
    let server = start_private(&Options::mariadb());
    other_clients_are_recognised(&server, || mariadb(&server.url()), &ON_MARIADB);
}

/// Checks that a query of a second target on the same server is attributed to the run.
fn second_target_is_ours<D: Driver>(
    server: &Server,
    [main, second]: [&D; 2],
    endless: &EndlessQuery,
) {
    let sessions = Sessions { driver: main, busy: second, is_second_target: true };
    let readings = observe_sessions(server, &sessions, endless, |readings| {
        readings.last("sessions", "active") >= 3.0
    });
    assert_eq!(readings.last("sessions", "others"), 0.0);
}

/// A session that changes its name, as applications do, before it runs a query.
const RENAMED: EndlessQuery = EndlessQuery {
    query: "set application_name = 'reports'; \
            select count(*) from generate_series(1, 2000000000) i where i % 2 = 3",
    ..ON_POSTGRES
};

#[test]
fn session_that_changes_its_name_is_ours() {
    let server = start_private(&Options::postgres());
    let driver = postgres(&server.url());
    let readings = observe_idle_and_busy(&server, [&driver, &driver], &RENAMED, |readings| {
        let of = |metric| readings.last("sessions", metric);
        of("active") + of("others") >= 3.0
    });
    assert_eq!(readings.last("sessions", "others"), 0.0);
}

/// A query with parallel workers, for a server with [`parallel_options`] and a table `t`.
const PARALLEL_QUERY: EndlessQuery = EndlessQuery {
    query: "select sum(length(repeat(md5(x::text), 400000))) from t",
    ..ON_POSTGRES
};

/// Returns options with which the server uses parallel workers for every query that permits them.
fn parallel_options() -> Options {
    let none = ["parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"];
    let options = none.iter().fold(Options::postgres(), |options, name| options.set(name, "0"));
    options.set("max_parallel_workers_per_gather", "2")
}

#[test]
fn parallel_workers_of_another_client_with_our_name_are_its_own() {
    let server = start_private(&parallel_options());
    let table = "create table t as select i::bigint x from generate_series(1, 100000) i; \
                 grant select on t to public; analyze t";
    server.sql(table).expect("a table");
    let (driver, other) = (postgres(&server.url()), postgres(&server.url()));
    let readings = observe_idle_and_busy(&server, [&driver, &other], &PARALLEL_QUERY, |readings| {
        readings.last("sessions", "others") >= 12.0
    });
    assert_eq!(readings.last("sessions", "parallel-workers"), 0.0);
    // A session without parallel workers would add one to the sum in each sample.
    let [others, looks] = ["others", "looks"].map(|metric| readings.last("sessions", metric));
    assert!(others > looks, "{others} in {looks} samples");
    observe_idle_and_busy(&server, [&driver, &driver], &PARALLEL_QUERY, |readings| {
        readings.last("sessions", "parallel-workers") >= 3.0
    });
}

/// Returns connections to two servers whose sessions have the same id.
async fn connect_with_equal_ids<D: Driver>(rt: &Rt, drivers: [&D; 2]) -> [D::Connection; 2] {
    let mut found = Vec::new();
    for driver in drivers {
        found.push(driver.connect(rt).await.expect("a connection"));
    }
    for _ in 0..1_000 {
        let [first, second] = [0, 1].map(|place: usize| found[place].session_id());
        if first == second {
            break;
        }
        let lagging = usize::from(first.map(|id| id.0) > second.map(|id| id.0));
        let next = drivers[lagging].connect(rt).await.expect("a connection");
        std::mem::replace(&mut found[lagging], next).close().await;
    }
    let found: [D::Connection; 2] = found.try_into().ok().expect("two connections");
    let [first, second] = found.each_ref().map(Connection::session_id);
    assert_eq!(first, second);
    found
}

/// Expects a session of another client to be recognised although a session of the run at a second
/// server has the same id and user. Both servers number their sessions from one.
#[test]
fn session_of_a_second_server_does_not_hide_another_client() {
    let servers = [(); 2].map(|()| start_private(&Options::mariadb()));
    let [main, second] = servers.each_ref().map(|server| mariadb(&server.url()));
    let stranger = mariadb(&servers[0].url());
    in_real_time(async |rt| {
        let [mut busy, mut ours] = connect_with_equal_ids(&rt, [&stranger, &second]).await;
        let SessionId(id) = busy.session_id().expect("an id");
        ours.identify().await;
        let task = rt.spawn(async move {
            busy.query_text(ON_MARIADB.query).await.expect_err("the session is ended");
            busy.abandon();
        });
        rt::yield_now().await;
        let (watch, mut readings) = Readings::begin_with(&main, Some(&second));
        let is_reached = |readings: &Readings| {
            let of = |metric| readings.last("sessions", metric);
            of("others") + of("active") >= 3.0
        };
        readings.wait(&rt, is_reached).await;
        watch.end();
        readings.receive_pending();
        servers[0].sql(&(ON_MARIADB.end)(SessionId(id))).expect("its end");
        task.await;
        ours.close().await;
        assert_eq!(readings.last("sessions", "active"), 0.0);
    });
}

/// Returns the URL of the server itself, without its pooler.
fn without_pooler(server: &Server) -> Target {
    let mut target = server.url();
    if let Endpoint::Network { addresses, .. } = &mut target.endpoint {
        addresses.iter_mut().for_each(|address| address.port = Some(server.own_port()));
    }
    target
}

#[test]
fn second_target_behind_a_pooler_of_the_same_server_is_ours() {
    let options = Options::postgres().via(Via::Pgbouncer).set_via("pool_mode", "session");
    let server = start_private(&options);
    let (main, second) = (postgres(&without_pooler(&server)), postgres(&server.url()));
    second_target_is_ours(&server, [&main, &second], &ON_POSTGRES);
}

#[test]
fn second_target_with_another_user_of_the_same_server_is_ours() {
    let server = start_private(&Options::mariadb());
    let main = mariadb(&server.url());
    let text = "create user clerk identified by 'clerk'; grant all on assay.* to clerk";
    server.sql(text).expect("a user");
    let second = mariadb(&for_user(&server.url(), "clerk"));
    second_target_is_ours(&server, [&main, &second], &ON_MARIADB);
}

/// Expects no session to count as ours if the run has no session at the observed server, for
/// example because its jobs use another server.
#[test]
fn sessions_of_others_are_not_ours_if_the_run_has_none() {
    let server = start_private(&Options::postgres());
    let (driver, other) = (postgres(&server.url()), postgres(&server.url()));
    in_real_time(async |rt| {
        let mut busy = other.connect(&rt).await.expect("a connection");
        let task = rt.spawn(async move {
            busy.query_text(ON_POSTGRES.query).await.expect_err("the session is ended");
            busy.abandon();
        });
        rt::yield_now().await;
        let (watch, mut readings) = Readings::begin(&driver);
        readings.wait(&rt, |readings| readings.last("sessions", "others") >= 3.0).await;
        watch.end();
        readings.receive_pending();
        let all = "select pg_terminate_backend(pid) from pg_stat_activity \
                   where backend_type = 'client backend' and pid <> pg_backend_pid()";
        server.sql(all).expect("its end");
        task.await;
        assert_eq!(readings.last("sessions", "active"), 0.0);
    });
}

/// Behind a pooler, the ids of sessions are not those of the server, so only the name identifies
/// them.
#[test]
fn sessions_behind_a_pooler_are_recognised_by_their_name() {
    let options = Options::postgres().via(Via::Pgbouncer).set_via("pool_mode", "session");
    let server = start_private(&options);
    let (driver, other) = (postgres(&server.url()), postgres(&server.url()));
    let readings = observe_idle_and_busy(&server, [&driver, &other], &ON_POSTGRES, |readings| {
        readings.last("sessions", "active") >= 3.0
    });
    assert_eq!(readings.last("sessions", "others"), 0.0);
}
