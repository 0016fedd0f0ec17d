//! The record of an experiment: its files, and its single runs.

use rusqlite::{Connection, OpenFlags};

use crate::support::Place;

const WORKLOAD: &str = "url = sim:md1?service=1ms\nduration = 20s\nwarmup = 2s\n\
                        [read]\nquery = select 1\nrate = 100\n\
                        [write]\nquery = ${1}\nquery-args-file = ids.csv\nconcurrency = 1\n\
                        think = 50ms\n\
                        [clean-up]\nquery = delete from history /* sim: service=20ms */\n\
                        start = 8s\ncount = 150\n";

const QUESTION: &str = "[question]\nask = What does a slower disk cost?\nworkload = load.ini\n\
                        rounds = 6\nbet = response.p50(read) +0% .. +40%\n[arm fast]\n[arm slow]\n\
                        option.service = 1.2ms\n";

fn place() -> Place {
    let place = Place::new();
    place.write("load.ini", WORKLOAD);
    let ids: String = (1..=1_000).map(|id| format!("{id}\n")).collect();
    place.write("ids.csv", ids);
    place.write("slower.ini", QUESTION);
    place
}

const RUN: [&str; 6] = ["run", "slower.ini", "--virtual", "--quiet", "--out", "r.assay"];

fn rows(record: &std::path::Path, sql: &str) -> Vec<Vec<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(record, flags).unwrap();
    let mut select = connection.prepare(sql).unwrap();
    let columns = select.column_count();
    let text = |row: &rusqlite::Row<'_>, column| row.get::<_, String>(column);
    let rows =
        select.query_map([], |row| (0..columns).map(|column| text(row, column)).collect()).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn exported_run_is_reported_like_the_run_of_the_experiment() {
    let place = place();
    place.assay(&RUN).expect(0);
    let exported = ["export", "r.assay", "--run", "4", "--format", "assay", "--out", "4.assay"];
    place.assay(&exported).expect(0);
    assert_eq!(
        rows(&place.at("4.assay"), "select user_version || '' from pragma_user_version"),
        [["1"]]
    );
    for form in [&[][..], &["--json"][..]] {
        let of_run = place.assay(&[&["report", "r.assay", "--run", "4"], form].concat()).expect(0);
        let alone = place.assay(&[&["report", "4.assay"], form].concat()).expect(0);
        assert!(of_run.stdout.contains("clean-up"), "{}", of_run.stdout);
        assert_eq!(alone.stdout.replace("4.assay", "r.assay"), of_run.stdout);
    }
    for format in ["json", "csv", "hlog"] {
        let of_run = place.assay(&["export", "r.assay", "--run", "4", "--format", format]);
        let alone = place.assay(&["export", "4.assay", "--format", format]).expect(0);
        assert_eq!(alone.stdout, of_run.expect(0).stdout, "{format}");
    }
}

#[test]
fn record_that_is_exported_needs_a_run_and_a_file() {
    let place = place();
    place.assay(&RUN).expect(0);
    let line = ["export", "r.assay", "--format", "assay"];
    let ran = place.assay(&[&line[..], &["--out", "4.assay"]].concat()).expect(2);
    assert!(ran.stderr.contains("name the run with --run"), "{}", ran.stderr);
    let ran = place.assay(&[&line[..], &["--run", "4"]].concat()).expect(2);
    assert!(ran.stderr.contains("name the new file with --out"), "{}", ran.stderr);
    let ran = place.assay(&[&line[..], &["--run", "4", "--out", "load.ini"]].concat()).expect(2);
    assert!(ran.stderr.contains("load.ini` exists"), "{}", ran.stderr);
}

#[test]
fn record_keeps_the_files_that_were_read() {
    let place = place();
    place.assay(&RUN).expect(0);
    place.assay(&["run", "load.ini", "--virtual", "--quiet", "--out", "one.assay"]).expect(0);
    let sql = "select path, sha256, text from file order by path";
    let files = rows(&place.at("r.assay"), sql);
    let paths: Vec<&str> = files.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(paths, ["ids.csv", "load.ini", "slower.ini"]);
    assert_eq!((files[1][2].as_str(), files[2][2].as_str()), (WORKLOAD, QUESTION));
    assert!(files.iter().all(|row| row[1].len() == 64), "{files:?}");
    assert_eq!(rows(&place.at("one.assay"), sql), files[..2]);
}

#[test]
fn resume_names_the_file_that_has_changed() {
    let place = place();
    place.assay(&RUN).expect(0);
    let resumed = ["run", "slower.ini", "--virtual", "--resume", "r.assay"];
    let interrupted = "update experiment set value = 'interrupted' where key = 'state'";
    Connection::open(place.at("r.assay")).unwrap().execute(interrupted, []).unwrap();
    let before = std::fs::read_to_string(place.at("ids.csv")).unwrap();
    place.write("ids.csv", before.replace("17\n", "18\n"));
    let ran = place.assay(&resumed).expect(2);
    let words = "`ids.csv` has changed since the experiment began";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    place.write("ids.csv", before);
    place.assay(&resumed).expect(0);
}

#[test]
fn invariant_8_text_of_a_file_with_a_password_is_not_kept() {
    let place = Place::new();
    let secret = "url = sim:mm1\nduration = 5s\n[params]\npw = hunter2-kept\n[target other]\n\
                  url = postgres://ann:${pw}@localhost:1/d\n[read]\nquery = select 1\nrate = 5\n";
    place.write("secret.ini", secret);
    place.assay(&["run", "secret.ini", "--virtual", "--quiet", "--out", "r.assay"]).expect(0);
    let found =
        rows(&place.at("r.assay"), "select path, iif(text is null, 'withheld', text) from file");
    assert_eq!(found, [["secret.ini", "withheld"]]);
    let bytes = std::fs::read(place.at("r.assay")).unwrap();
    assert!(!bytes.windows(12).any(|part| part == b"hunter2-kept"));
}
