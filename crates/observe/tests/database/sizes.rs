//! Sizes of databases and their tables.

use base::Endpoint;
use testbed::{Kind, shared};

use crate::{Readings, mariadb};

/// Number of tables without partitions; one more table has partitions. Only the twenty largest
/// tables are reported one by one.
const TABLES: usize = 22;

#[test]
fn size_of_a_database_covers_all_tables_and_partitions() {
    let server = shared(Kind::Mariadb);
    let table = |number: usize| format!("create table `many-tables`.t{number} (a int primary key)");
    let mut statements = vec!["create database `many-tables`".to_owned()];
    statements.extend((0..TABLES).map(table));
    statements.push(format!("{} partition by hash (a) partitions 3", table(TABLES)));
    server.sql(&statements.join("; ")).expect("tables");
    let sum = "select sum(file_size) from information_schema.innodb_sys_tablespaces \
        where name like 'many@002dtables/%'";
    let expected: f64 = server.sql(sum).expect("a sum").trim().parse().expect("a number");
    let mut target = server.url();
    if let Endpoint::Network { database, .. } = &mut target.endpoint {
        *database = Some("many-tables".to_owned());
    }
    let (watch, mut readings) = Readings::begin(&mariadb(&target));
    readings.wait_blocking(|readings| readings.last("sessions", "looks") >= 1.0);
    watch.end();
    readings.receive_pending();
    assert!(expected > 0.0);
    assert_eq!(readings.last("storage", "logical-bytes"), expected);
    assert!(readings.last("storage", "allocated-bytes") > 0.0);
}
