//! Tests of users with restricted privileges: the observer reports the sources that such a user
//! cannot see, and reads the others.

use testbed::{Kind, shared};

use crate::{Readings, for_user, mariadb, postgres};

#[test]
fn missing_pg_monitor_is_reported() {
    let server = shared(Kind::Postgres);
    server.sql("create role \"poor-1\" login password 'poor-1'").expect("a role");
    // A user whose sessions are hidden from the unprivileged user.
    let rich = postgres(&server.url());
    let (other, _) = Readings::begin(&rich);
    let (watch, mut readings) = Readings::begin(&postgres(&for_user(&server.url(), "poor-1")));
    readings.wait_blocking(|readings| {
        !readings.missing("sessions of others").is_empty()
            && readings.last("sessions", "looks") >= 2.0
    });
    watch.end();
    other.end();
    for what in ["sessions of others", "background"] {
        let why = readings.missing(what);
        let remedy = "grant pg_monitor to \"poor-1\"";
        assert!(matches!(&why[..], [why] if why.contains(remedy)), "{why:?}");
    }
    assert!(readings.last("statistics", "pg_stat_database.xact_commit") > 0.0);
}

#[test]
fn missing_process_privilege_is_reported() {
    let server = shared(Kind::Mariadb);
    let text = "create user poor identified by 'poor'; grant all on assay.* to poor";
    server.sql(text).expect("a user");
    let (watch, mut readings) = Readings::begin(&mariadb(&for_user(&server.url(), "poor")));
    readings.wait_blocking(|readings| readings.last("sessions", "looks") >= 2.0);
    watch.end();
    for what in ["sessions of others", "locks"] {
        let why = readings.missing(what);
        let remedy = "grant process on *.* to 'poor'@'%'";
        let is_reported = matches!(&why[..], [why] if why.contains(remedy));
        assert!(is_reported, "{what}: {why:?}");
    }
    assert!(readings.last("statistics", "status.questions") > 0.0);
}
