//! Tests of poolers.

use testbed::{Auth, Cache, Options, Server, Tls, Via};

use crate::support::{Login, ask, ask_plainly, is_running, start, text};

const CACHING: Via = Via::Pgpool { cache: Some(Cache { ttl: None }) };

#[test]
fn pooler_supports_each_login_and_leaves_nothing() {
    for via in [Via::Pgbouncer, Via::Pgpool { cache: None }] {
        for auth in [Auth::Scram, Auth::Md5] {
            let server = start(&Options::postgres().via(via).auth(auth));
            let after = server.sql("SHOW port").unwrap();
            assert_ne!(after.trim(), server.port().to_string());
            assert_eq!(ask_plainly(&server, "SHOW port"), Ok(after.trim().to_owned()));
            let refused = ask(&server, Login { password: "wrong", extra: &[] }, "SELECT 1");
            assert!(refused.is_err(), "{refused:?}");
            let (pooler, folder) = (server.pooler_pid().unwrap(), server.folder().to_owned());
            assert!(is_running(pooler));
            drop(server);
            assert!(!is_running(pooler) && !folder.exists());
        }
    }
}

#[test]
fn sessions_of_pgbouncer_can_prepare_statements() {
    let server = start(&Options::postgres().via(Via::Pgbouncer));
    let sql = "PREPARE p AS SELECT 41 + $1::int; EXECUTE p(1)";
    assert_eq!(ask_plainly(&server, sql), Ok("PREPARE\n42".to_owned()));
}

/// Changes a row over a direct connection to the server, between two equal queries through the
/// pooler. Returns the answer to the second query.
fn change_behind_the_pooler(server: &Server) -> String {
    let change = |sql| server.sql(sql).expect("a change");
    change("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
    assert_eq!(ask_plainly(server, "SELECT a FROM t"), Ok("1".to_owned()));
    change("UPDATE t SET a = 2");
    ask_plainly(server, "SELECT a FROM t").expect("an answer")
}

#[test]
fn pgpool_cache_serves_repeated_queries() {
    let server = start(&Options::postgres().via(CACHING));
    assert_eq!(change_behind_the_pooler(&server), "1", "{}", server.pooler_log());
    let through = ask_plainly(&server, "UPDATE t SET a = 3");
    assert_eq!(through, Ok("UPDATE 1".to_owned()));
    assert_eq!(ask_plainly(&server, "SELECT a FROM t"), Ok("3".to_owned()));
}

#[test]
fn pgpool_cache_expires() {
    let ttl = Some(base::Nanos::from_millis(1_500));
    let server = start(&Options::postgres().via(Via::Pgpool { cache: Some(Cache { ttl }) }));
    assert_eq!(ask_plainly(&server, "PGPOOL SHOW memqcache_expire"), Ok("2s".to_owned()));
}

#[test]
fn pgpool_without_cache_queries_each_time() {
    let server = start(&Options::postgres().via(Via::Pgpool { cache: None }));
    assert_eq!(change_behind_the_pooler(&server), "2", "{}", server.pooler_log());
}

#[test]
fn pooler_offers_tls_if_the_server_does() {
    for via in [Via::Pgbouncer, Via::Pgpool { cache: None }] {
        let server = start(&Options::postgres().via(via).tls(Tls::Server));
        let files = server.certificates().unwrap();
        let password = server.password().expose();
        let verify = |authority| {
            let extra = [("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", authority)];
            ask(&server, Login { password, extra: &extra }, "SELECT 1")
        };
        assert_eq!(verify(text(&files.authority)), Ok("1".to_owned()), "{via:?}");
        assert!(verify(text(&files.unrelated_authority)).is_err());
    }
}

#[test]
fn pooler_reconnects_to_a_restarted_server() {
    for via in [Via::Pgbouncer, Via::Pgpool { cache: None }] {
        let mut server = start(&Options::postgres().via(via));
        server.kill();
        server.restart().unwrap();
        let answers = || ask_plainly(&server, "SELECT 1").is_ok();
        crate::support::wait_until("the pooler answers", answers);
    }
}

#[test]
fn pooler_settings_take_effect_or_are_refused() {
    let options = Options::postgres().via(Via::Pgbouncer);
    let server = start(&options.clone().set_via("default_pool_size", "1"));
    let settings = std::fs::read_to_string(server.folder().join("via/pgbouncer.ini")).unwrap();
    assert!(settings.contains("default_pool_size = 1\n"));
    let refused = Server::start(&options.set_via("pool_mode", "swimming")).err().unwrap();
    assert!(refused.to_string().contains("pool_mode"), "{refused}");
}
