//! A bounded, deterministic run of the fuzz targets: the corpus, and mutations of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Target, WallTime};
use engine::{Options, Silence, Stop};
use lab::{Order, RecordPlace};
use workload::Overrides;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the root").to_owned()
}

/// The files of a folder, in order.
fn corpus(folder: &str) -> Vec<Vec<u8>> {
    let folder = root().join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "the corpus in {} is empty", folder.display());
    paths.iter().map(|path| std::fs::read(path).expect("a readable file")).collect()
}

#[test]
fn workload_files_of_any_bytes_are_accepted_or_rejected() {
    let corpus = corpus("crates/workload/corpus");
    corpus.iter().for_each(|data| fuzz::workload(data));
    for number in 0..4_000 {
        let original = &corpus[number as usize % corpus.len()];
        fuzz::workload(&fuzz::mutate(original, &corpus, number));
    }
}

/// Runs a target over texts and mutations of them.
fn run(texts: &[&str], target: fn(&[u8]), mutations: u64) {
    let corpus: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    corpus.iter().for_each(|data| target(data));
    for number in 0..mutations {
        let original = &corpus[number as usize % corpus.len()];
        target(&fuzz::mutate(original, &corpus, number));
    }
}

#[test]
fn scripts_of_any_bytes_are_taken_apart_in_every_dialect() {
    let texts = [
        "select 1; -- it's ; ?\nselect '?', \"$1\", `;` from t where a = ? and b = $2;",
        "# ; '\nselect 'it\\'s; ?' /* /* ; */ ${uniform(1, 9)} */;\r\nselect $tag$ ; ? $tag$, $1;",
        "insert into t values (E'\\';', '$${x}', ${raw('a')}, ?2, ${field(1)});;\n/* ; */",
        "select a--1, b -- ${1}\n, $$ ; $$ # $$\n;select '${raw(\"\\n\")}' ;",
    ];
    run(&texts, fuzz::script, 3_000);
}

#[test]
fn expressions_of_any_bytes_are_understood_or_refused() {
    let texts = [
        "uniform(1, 2 + 3 * -4) % pick(5, 7)",
        "zipf(1, 1M, s=0.99) + sequence(start=-2) / 1k",
        "weighted('a':3, 'b':1)",
        "json(a: 1, b: text(3, 9), c: null(0.5, uuid()))",
        "exp(20ms) * 2 - uniform(1s, 1m30s)",
        "polygon(hits=80, points=1000)",
        "timestamp(-uniform(0s, 1h))",
        "digits('###-##') ; \"\\u{1F600}\\n\"",
        "ramp(1, 100, 60s)",
        "steps(1..128 x2, 10s)",
        "p99 < 30ms, service.p50(a) < 1s",
        "hotspot(1, 100, hot=0.2, share=0.8)",
        "csv('a.csv', 'b')",
        "trace(rates 0 1, 2 3)",
    ];
    run(&texts, fuzz::expression, 6_000);
}

#[test]
fn records_of_any_bytes_are_the_same_however_they_come() {
    let texts = [
        "a,b\n1,\"x\"\"y,\n\"\r\n\n3,4",
        "1000,select 1\n2000,select 2, 3\n\n500,x\n",
        "\u{feff}a\tb\r\n\"\",\n",
        "\"open\n",
    ];
    run(&texts, fuzz::records, 6_000);
}

/// What was sent in the exchanges with real servers: by a client (`>`) or by a server (`<`).
fn exchanges(folder: &str, side: &str) -> Vec<Vec<u8>> {
    let files = corpus(folder);
    let texts = files.iter().map(|file| String::from_utf8_lossy(file));
    let sent = |text: &str| -> Vec<u8> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(side));
        let digits: String = lines.map(str::trim).collect();
        let pairs = digits.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair));
        pairs.map(|pair| u8::from_str_radix(&pair, 16).expect("a byte")).collect()
    };
    texts.map(|text| sent(&text)).filter(|bytes| !bytes.is_empty()).collect()
}

/// Runs a target over exchanges and mutations of them.
fn run_exchanges(corpus: &[Vec<u8>], target: fn(&[u8]), mutations: u64) {
    corpus.iter().for_each(|data| target(data));
    for number in 0..mutations {
        let original = &corpus[number as usize % corpus.len()];
        target(&fuzz::mutate(original, corpus, number));
    }
}

const POSTGRES: &str = "lib/wire-postgres/tests/fixtures";

#[test]
fn postgres_servers_of_any_bytes_are_read_or_refused() {
    let corpus = exchanges(POSTGRES, "<");
    run_exchanges(&corpus, fuzz::postgres_backend, 6_000);
    run_exchanges(&corpus, fuzz::postgres_replies, 3_000);
    run_exchanges(&corpus, fuzz::postgres_startup, 3_000);
}

#[test]
fn postgres_clients_of_any_bytes_are_read_or_refused() {
    let corpus = exchanges(POSTGRES, ">");
    run_exchanges(&corpus, fuzz::postgres_frontend, 6_000);
    run_exchanges(&corpus, fuzz::postgres_startup, 3_000);
}

#[test]
fn postgres_values_of_any_text_fit_or_are_refused() {
    let texts = [
        "-42",
        "1e-300",
        "Infinity",
        "yes",
        "2024-02-29 13:45:00.25+02:30",
        "13:45",
        "a\t\\\n",
        "{00112233-4455-6677-8899-aabbccddeeff}",
        "0001-01-01",
        "9223372036854775808",
    ];
    run(&texts, fuzz::postgres_values, 6_000);
}

#[test]
fn records_of_any_bytes_are_read_or_refused() {
    let whole = a_record();
    let corpus = vec![whole.clone(), b"SQLite format 3\0".to_vec(), b"not a record".to_vec()];
    corpus.iter().for_each(|data| fuzz::record(data));
    fuzz::record(b"");
    for number in 0..400 {
        fuzz::record(&fuzz::mutate(&whole, &corpus, number));
    }
}

/// The bytes of a small record of a virtual run.
fn a_record() -> Vec<u8> {
    let text = "duration = 3s\nwarmup = 1s\n[a]\nquery = select ${uniform(1, 9)}\nrate = 50\n\
                slo = p99 < 1ms\n[b]\nquery = select 1\nquery = select 2\nconcurrency = 2\n\
                think = exp(50ms)\n";
    let (plan, _) = workload::plan(text, &Overrides::default());
    let path = std::env::temp_dir().join(format!("assay-corpus-{}.assay", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let order = Order {
        plan: plan.expect("the test's own workload"),
        target: Target::parse("sim:mm1?errors=0.1").expect("a target"),
        options: Options {
            threads: 1,
            cpus: Vec::new(),
            spin: false,
            is_virtual: true,
            loaded: false,
            folder: std::path::PathBuf::new(),
            started: WallTime::EPOCH,
        },
        record: RecordPlace::Exactly(path.clone()),
        op_log: None,
        workload: "corpus.ini".to_owned(),
        command: "test".to_owned(),
        version: "0".to_owned(),
        stop: Stop::default(),
    };
    lab::run(order, Arc::new(Silence), |_| {}).expect("a virtual run is made");
    let bytes = std::fs::read(&path).expect("the record");
    std::fs::remove_file(&path).expect("the record is ours");
    bytes
}
