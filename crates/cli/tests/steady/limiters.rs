//! Tests that the limiter of a run is identified. They need an idle machine: otherwise the limiter
//! would be other programs that use the processors.

use testbed::Kind;

use crate::support::{CommandResult, TestFolder, check};
use crate::{reserve_machine, share_machine};

/// A `psql` that sends a statement and waits, repeatedly, in one session.
const SELF_THROTTLED: &str = "(i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo 'select 1;'; \
     sleep 0.2; done) | psql -q -o /dev/null";

#[test]
fn self_throttling_program_is_detected() {
    let _machine = share_machine();
    let server = testbed::shared(Kind::Postgres);
    let place = TestFolder::new();
    let url = server.url().to_string();
    let mut command = place.command(&[
        "observe",
        &url,
        "--json",
        "--out",
        "r.assay",
        "--",
        "sh",
        "-c",
        SELF_THROTTLED,
    ]);
    command.env("ASSAY_PASSWORD", server.password().expose());
    command.env("PGPASSWORD", server.password().expose()).env("PGHOST", "127.0.0.1");
    command.env("PGPORT", server.port().to_string()).env("PGUSER", "assay");
    command.env("PGDATABASE", "assay");
    let document = CommandResult::of(&mut command).expect(0).json();
    let limiter = &document["limiter"];
    assert_eq!(limiter["component"], "generator-input", "{document:#}");
    assert!(limiter["because"].as_str().unwrap().contains("nothing to do"), "{limiter}");
    let text = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    assert!(text.contains("exit status: 0") && text.contains("psql"), "{text}");
    assert!(!text.contains("VALID"), "{text}");
}

/// Returns the command of a loader whose input pauses after every 1,500 rows.
fn throttled(into: &str) -> String {
    format!("(i=0; while [ $i -lt 60 ]; do i=$((i+1)); seq 1500; sleep 0.05; done) | {into}")
}

#[test]
fn self_throttling_loader_is_named_by_its_session_and_both_sockets() {
    let _machine = share_machine();
    let copy = "psql -q -c '\\copy throttled from stdin'";
    let load = "mariadb --no-defaults --local-infile=1 -h 127.0.0.1 -P \"$PORT\" -u assay assay -e \
                \"load data local infile '/dev/stdin' into table throttled\"";
    let owned = "create table throttled (v int); alter table throttled owner to assay";
    std::thread::scope(|scope| {
        scope.spawn(|| check_loader(Kind::Postgres, owned, copy, "Client:ClientRead"));
        let table = "create table throttled (v int)";
        scope.spawn(|| check_loader(Kind::Mariadb, table, load, "Client:read"));
    });
}

/// Observes a loader that waits for its rows; `event` is the wait event that the server reports.
fn check_loader(kind: Kind, table: &str, loader: &str, event: &str) {
    let server = testbed::shared(kind);
    server.sql(table).unwrap();
    let (url, script) = (server.url().to_string(), throttled(loader));
    let place = TestFolder::new();
    let mut command = place.command(&["observe", &url, "--json", "--", "sh", "-c", &script]);
    let password = server.password().expose();
    command.env("ASSAY_PASSWORD", password).env("MYSQL_PWD", password);
    command.env("PGPASSWORD", password).env("PGHOST", "127.0.0.1").env("PGUSER", "assay");
    command.env("PORT", server.port().to_string()).env("PGDATABASE", "assay");
    command.env("PGPORT", server.port().to_string());
    let ran = CommandResult::of(&mut command).expect(0);
    let document = ran.json();
    let limiter = &document["limiter"];
    assert_eq!(limiter["component"], "generator-input", "{document:#}");
    let because = limiter["because"].as_str().unwrap();
    assert!(because.contains(&format!("for the program's rows ({event})")), "{because}");
    assert!(because.contains("without a request at the server or an answer at the"), "{because}");
    assert!(!limiter["relief"].as_str().unwrap().contains("--"), "{limiter}");
    let sent = &document["program"]["sent_bytes_per_s"];
    assert!(sent.as_f64().is_some_and(|sent| sent > 0.0), "{document:#}");
    server.sql("drop table throttled").unwrap();
}

const HOT: &str = "\
duration = 6s
warmup = 1s
[setup]
query = create table hot_spot (id int primary key, v bigint)
query = insert into hot_spot values (1, 0)
query = create table other (id int primary key)
[job]
transaction = yes
query = update hot_spot set v = v + 1 where id = 1
query = select count(*) from other
query = select count(*) from other
concurrency = 24
";

#[test]
fn a_hot_row_is_named_with_its_table() {
    let _machine = reserve_machine();
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let server = testbed::shared(kind);
        let place = TestFolder::with(HOT);
        let mut command =
            place.command(&["run", "w.ini", "--json", "--url", &server.url().to_string()]);
        command.env("ASSAY_PASSWORD", server.password().expose());
        let document = CommandResult::of(&mut command).json();
        let limiter = &document["limiter"];
        assert_eq!(limiter["component"], "database-locks", "{limiter:#}");
        assert!(limiter["because"].as_str().unwrap().contains("hot_spot"), "{limiter:#}");
        // The server's statistics also count Assay's own queries, which are not requests. The check
        // must allow for them.
        let commits = check(&document, "commits");
        assert_eq!(commits["status"], "pass", "{commits}");
        server.sql("drop table hot_spot, other").unwrap();
    }
}
