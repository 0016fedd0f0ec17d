//! Tests of sizes on disk, and of the processor time of a database and of a pooler, on real
//! servers.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::experiment_end::assert_ended;
use crate::support::TestFolder;

/// Returns a workload with a table of 20,000 rows that compress well, and a short run.
fn workload(url: &str, table: &str) -> String {
    format!(
        "url = {url}\nduration = 2s\n[setup]\n{table}\n[load notes]\nrows = 20k\n\
         columns = id: row(), body: '{}'\n[read]\n\
         query = select body from notes where id = ${{uniform(1, 20k)}}\nconcurrency = 1\n\
         think = 20ms\n[teardown]\nquery = drop table notes\n",
        "abcdefgh".repeat(25)
    )
}

/// Runs the workload and returns the logical and the allocated bytes of its table.
fn sizes(url: &str, table: &str) -> [Option<f64>; 2] {
    let place = TestFolder::with(&workload(url, table));
    let line = ["run", "w.ini", "--allow-commands", "--json", "--quiet", "--out", "r.assay"];
    let ran = place.assay(&line);
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let document = ran.json();
    let load = &document["loads"][0];
    let excerpts = document["excerpts"].as_array().unwrap();
    let excerpt = |kind: &str| &excerpts.iter().find(|one| one["kind"] == kind).unwrap()["rows"];
    assert_eq!([&excerpt("columns")[0][0], &excerpt("columns")[1][0]], ["id", "body"]);
    assert_eq!(excerpt("rows").as_array().unwrap().len(), 5);
    let body = excerpt("rows")[0][1].as_str().unwrap();
    assert_eq!(body.chars().count(), 81, "a long value is cut: {body}");
    let indexes = excerpt("indexes").as_array().unwrap().len();
    assert_eq!(indexes, usize::from(!url.starts_with("sqlite:")), "{document}");
    let text = place.assay(&["report", "r.assay", "--full"]).stdout;
    let has_sizes = load["allocated_bytes"] != Value::Null;
    assert_eq!(text.contains("notes occupies"), has_sizes, "{text}");
    ["logical_bytes", "allocated_bytes"].map(|name| load[name].as_f64())
}

const PLAIN: &str = "query = create table notes (id integer primary key, body varchar(300))";

#[test]
fn table_of_a_private_server_has_its_size_on_the_disk() {
    let [logical, allocated] = sizes("testbed:postgres", PLAIN);
    // 20,000 rows of 200 bytes, and the index of their keys.
    assert!((4e6..8e6).contains(&logical.unwrap()), "{logical:?}");
    assert!((4e6..9e6).contains(&allocated.unwrap()), "{allocated:?}");
    // SQLite reports only the size of the whole file.
    assert_eq!(sizes("sqlite:", PLAIN), [None, None]);
}

#[test]
fn compressed_pages_occupy_less_than_their_logical_size() {
    // Pages are compressed when they are written. With this setting, the server writes them at
    // once.
    let url = "testbed:mariadb?server.innodb_max_dirty_pages_pct=0";
    let table = "query = create table notes (id integer primary key, body varchar(300)) \
                 page_compressed = 1";
    let [logical, allocated] = sizes(url, table);
    let (logical, allocated) = (logical.unwrap(), allocated.unwrap());
    assert!(logical > 4e6 && allocated < 0.7 * logical, "{allocated} of {logical}");
}

/// Returns the figures of a record of an experiment, by run and metric.
fn figures(record: &Path) -> BTreeMap<(u32, String), f64> {
    let connection = Connection::open_with_flags(record, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut select = connection.prepare("select run, metric, value from figure").unwrap();
    let rows = select.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// The processor time per request, multiplied by the requests per second, is the number of busy
/// processors.
#[test]
fn runs_on_a_private_server_have_the_processor_time_of_a_request() {
    let place = TestFolder::with(
        "url = testbed:postgres\nduration = 1s\n[read]\n\
         query = select count(*) from generate_series(1, 100)\nconcurrency = 1\n",
    );
    let sweep = "[question]\nask = ?\nworkload = w.ini\n\
                 [sweep]\nvary = concurrency(read): 1, 2\nrepeats = 1\n";
    place.write("e.ini", sweep);
    let line = ["run", "e.ini", "--allow-commands", "--quiet", "--out", "r.assay"];
    let ran = place.assay(&line);
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let figures = figures(&place.at("r.assay"));
    let processors = std::thread::available_parallelism().unwrap().get() as f64;
    // On a busy machine a sample may come too late for a run of a second.
    for component in ["database", "generator"] {
        let total = format!("cpu.{component}");
        let is_known = |run: u32| {
            let mut names = ["", ".user", ".system"].iter().map(|part| format!("{total}{part}"));
            names.all(|name| figures.contains_key(&(run, name)))
        };
        let runs: Vec<u32> = (1..=2).filter(|run| is_known(*run)).collect();
        assert!(!runs.is_empty(), "{component}: {figures:?}");
        for run in runs {
            let value = |metric: &str| figures[&(run, metric.to_owned())];
            let (whole, user) = (value(&total), value(&format!("{total}.user")));
            let system = value(&format!("{total}.system"));
            assert!(user > 0.0 && system > 0.0, "{component} {run}: {figures:?}");
            assert!((user + system - whole).abs() < 1e-6 * whole, "{component} {run}: {figures:?}");
            let used = whole / 1e6 * value("throughput");
            assert!(used > 0.01 && used < processors * 1.1, "{component} {run}: {used}");
        }
    }
}

/// Returns the number of runs that have a figure.
fn runs_with(record: &Path, metric: &str) -> u32 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(record, flags).unwrap();
    let sql = "select count(*) from figure where metric = ?1 and job = ''";
    connection.query_row(sql, [metric], |row| row.get(0)).unwrap()
}

/// Returns the number of rounds in which both arms have a figure.
fn pairs_with(record: &Path, metric: &str) -> u32 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(record, flags).unwrap();
    let sql = "select count(*) from (select 1 from figure join run using (run) \
               where metric = ?1 and job = '' and state = 'counts' \
               group by round having count(*) = 2)";
    connection.query_row(sql, [metric], |row| row.get(0)).unwrap()
}

#[test]
fn experiment_behind_a_pooler_has_the_processor_time_of_both() {
    let place = TestFolder::new();
    place.write(
        "read.ini",
        "url = testbed:postgres?via=pgbouncer\nduration = 1s\n[read]\nquery = select 1\n\
         concurrency = 2\nthink = 1ms\n",
    );
    place.write(
        "e.ini",
        "[question]\nask = ?\nworkload = read.ini\ndesign = aa\nrounds = 6\n[arm same]\n",
    );
    let line = ["run", "e.ini", "--allow-commands", "--quiet", "--full", "--out", "r.assay"];
    let ran = place.assay(&line);
    let record = place.at("r.assay");
    for metric in
        ["cpu.proxy", "cpu.proxy.user", "cpu.proxy.system", "cpu.database", "size", "size.logical"]
    {
        // On a busy machine a sample may come too late for a run of a second.
        assert!(runs_with(&record, metric) >= 2, "{metric}: {}", ran.stdout);
    }
    let document = assert_ended(&place, &ran, 6);
    let rows = document["comparison"].as_array().unwrap();
    let row = rows.iter().find(|row| row["metric"] == "cpu.proxy");
    let is_compared = row.is_some_and(|row| row["change_percent"].is_number());
    assert_eq!(ran.stdout.contains("cpu.proxy *"), is_compared, "{}", ran.stdout);
    // There is no table if the machine was too busy in too many rounds, and no row without pairs.
    let pairs = pairs_with(&record, "cpu.proxy");
    assert!(is_compared || pairs < 3 || document["state"] != "complete", "{document}");
    assert!(!is_compared || pairs >= 2, "{pairs} pairs: {document}");
}
