//! Tests of pipelined transactions on real servers.

use testbed::{Kind, Options, Server};

use crate::support::{CommandResult, TestFolder, assert_balanced, job};

/// Three rows per transaction. In some transactions, the second row violates a constraint.
const PARTS: &str = "\
duration = 2s
[setup]
query = create table parts (request bigint, part int, n int, check (n < 10))
[prepared]
let = id: client() * 1000000 + sequence(), n: uniform(0, 14)
transaction = yes
pipeline = yes
query = insert into parts values (${id}, 1, 0)
query = insert into parts values (${id}, 2, ${n})
query = insert into parts values (${id}, 3, 0)
concurrency = 2
[literal]
let = id: -(client() * 1000000 + sequence()), n: uniform(0, 14)
transaction = yes
pipeline = yes
prepare = no
query = insert into parts values (${id}, 1, 0)
query = insert into parts values (${id}, 2, ${n})
query = insert into parts values (${id}, 3, 0)
concurrency = 2
";

/// PostgreSQL skips the statements after the failed one. MariaDB executes them, and the roll-back
/// undoes their effect.
#[test]
fn a_statement_that_fails_in_the_midst_of_a_pipeline_leaves_nothing_of_its_transaction() {
    for (kind, code) in [(Kind::Postgres, "23514"), (Kind::Mariadb, "4025")] {
        let server = Server::start(&Options::new(kind)).unwrap();
        let place = TestFolder::with(PARTS);
        let url = server.url().to_string();
        let args = ["run", "w.ini", "--json", "--out", "r.assay", "--quiet", "--url", &url];
        let mut command = place.command(&args);
        let ran = CommandResult::of(command.env("ASSAY_PASSWORD", server.password().expose()));
        assert!([0, 3].contains(&ran.code), "{kind:?}: {} {}", ran.code, ran.stderr);
        let summary = ran.json();
        assert_balanced(&summary);
        for (name, side) in [("prepared", "request > 0"), ("literal", "request < 0")] {
            let job = job(&summary, name);
            let count = |key: &str| job[key].as_u64().unwrap();
            let (done, failed) = (count("completed"), count("errors"));
            assert!(done > 0 && failed > 0, "{kind:?}: {job}");
            assert_eq!(done + failed, count("scheduled"), "{kind:?}: {job}");
            let errors = job["errors_by_code"].as_array().unwrap();
            assert_eq!(errors.len(), 1, "{kind:?}: {job}");
            let said = (&errors[0]["class"], &errors[0]["code"], &errors[0]["count"]);
            let expected = (&"constraint".into(), &code.into(), &failed.into());
            assert_eq!(said, expected, "{kind:?}: {job}");
            // All three rows of every completed transaction, and no others.
            let found = server.sql(&format!(
                "select count(*), count(distinct request), min(parts), max(parts) from \
                 (select request, count(*) as parts from parts where {side} group by request) t",
            ));
            assert_eq!(found.unwrap(), format!("{done}\t{done}\t3\t3\n"), "{kind:?}: {job}");
            assert_eq!(job["rows"].as_u64(), Some(3 * done), "{kind:?}: {job}");
        }
    }
}
