//! Users with restricted privileges: the observer reports what they cannot see, and reads the rest.

use testbed::{Kind, shared};

use crate::{Told, for_user, mariadb, postgres};

#[test]
fn postgres_without_pg_monitor() {
    let server = shared(Kind::Postgres);
    server.sql("create role poor login password 'poor'").expect("a role");
    // A user whose sessions the unprivileged one may not see.
    let rich = postgres(&server.url());
    let (other, _) = Told::begin(&rich);
    let (watch, mut told) = Told::begin(&postgres(&for_user(&server.url(), "poor")));
    told.until(|told| {
        !told.missing("sessions of others").is_empty() && told.last("sessions", "looks") >= 2.0
    });
    watch.end();
    other.end();
    for what in ["sessions of others", "background"] {
        let why = told.missing(what);
        assert!(matches!(&why[..], [why] if why.contains("grant pg_monitor to poor")), "{why:?}");
    }
    assert!(told.last("statistics", "pg_stat_database.xact_commit") > 0.0);
}

#[test]
fn mariadb_without_process() {
    let server = shared(Kind::Mariadb);
    let text = "create user poor identified by 'poor'; grant all on assay.* to poor";
    server.sql(text).expect("a user");
    let (watch, mut told) = Told::begin(&mariadb(&for_user(&server.url(), "poor")));
    told.until(|told| told.last("sessions", "looks") >= 2.0);
    watch.end();
    for what in ["sessions of others", "locks"] {
        let why = told.missing(what);
        let is_told = matches!(&why[..], [why] if why.contains("grant process on *.* to poor"));
        assert!(is_told, "{what}: {why:?}");
    }
    assert!(told.last("statistics", "status.questions") > 0.0);
}
