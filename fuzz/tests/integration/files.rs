//! Fuzz tests of files.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use analyze::saturate::NextSaturationStep;
use archive::{ExperimentWriter, LookRow, Phase, RunRow, RunState};
use base::Target;
use engine::{NoListener, Options, Stop};
use fuzz::{files, run_kept};
use lab::{Order, RecordPlace};
use workload::Overrides;
use workload::question::Outline;

use crate::support::{bytes_of, files_in};

#[test]
fn workload_files_of_any_bytes_are_accepted_or_rejected() {
    let corpus: Vec<Vec<u8>> =
        files_in("crates/workload/corpus").into_iter().map(|(_, bytes)| bytes).collect();
    run_kept("workload", &corpus, files::workload, 4_000);
}

#[test]
fn printed_plans_of_any_file_read_as_the_same_plan() {
    run_kept("plan", &whole_files(), files::plan, 6_000);
}

/// Returns the workloads of the corpus in each dialect, with settings and files beside them.
fn whole_files() -> Vec<Vec<u8>> {
    let beside = "\0select 1;\nselect '\\$${x}', ?, '${raw(p)}';\n\0a,b\n1,\"x;\"\n\
                  \x00001000,select 1\n\x00000.5\n1.25\n\0p=it''s\0rows=${p}k";
    let named = "[params]\np = '$${y}'\n[setup]\nquery-file = a.sql\n[a]\n\
                 query-file = a.sql\nquery-args-file = b.csv\nquery = ?1$$, \\$${x}, $t$ ' $t$\n\
                 [b]\nquery-log-file = c.log\n[c]\nquery = ${csv('b.csv', 'a')}\n\
                 rate = trace(d.txt)\n[d]\ncommand = echo \\$${x} '$${HOME}' ${row()} ${p}\n";
    let texts = files_in("crates/workload/corpus").into_iter();
    let texts = texts.filter(|(name, _)| name.starts_with("good")).map(|(_, text)| text);
    let texts = texts.chain([named.as_bytes().to_vec()]);
    let case = |(number, text): (usize, Vec<u8>)| {
        [&[number as u8 % 5, (number * 7) as u8], &text[..], beside.as_bytes()].concat()
    };
    texts.enumerate().map(case).collect()
}

#[test]
fn scripts_of_any_bytes_are_taken_apart_in_every_dialect() {
    let texts = [
        "select 1; -- it's ; ?\nselect '?', \"$1\", `;` from t where a = ? and b = $2;",
        "# ; '\nselect 'it\\'s; ?' /* /* ; */ ${uniform(1, 9)} */;\r\nselect $tag$ ; ? $tag$, $1;",
        "insert into t values (E'\\';', '$${x}', ${raw('a')}, ?2, ${field(1)});;\n/* ; */",
        "select a--1, b -- ${1}\n, $$ ; $$ # $$\n;select '${raw(\"\\n\")}' ;",
    ];
    run_kept("script", &bytes_of(&texts), files::script, 3_000);
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
    run_kept("expression", &bytes_of(&texts), files::expression, 6_000);
}

#[test]
fn input_records_of_any_bytes_decode_alike_in_any_pieces() {
    let texts = [
        "a,b\n1,\"x\"\"y,\n\"\r\n\n3,4",
        "1000,select 1\n2000,select 2, 3\n\n500,x\n",
        "\u{feff}a\tb\r\n\"\",\n",
        "\"open\n",
    ];
    run_kept("records", &bytes_of(&texts), files::records, 6_000);
}

#[test]
fn records_of_any_bytes_are_read_or_refused() {
    let whole = a_record();
    let others = [&b"SQLite format 3\0"[..], b"not a record", b""].map(<[u8]>::to_vec);
    // Most mutations should be of the record.
    let corpus: Vec<Vec<u8>> = std::iter::repeat_n(whole, 12).chain(others).collect();
    run_kept("record", &corpus, files::record, 500);
}

#[test]
fn records_of_experiments_of_any_bytes_are_read_or_refused() {
    run_kept("record", &[an_experiment("")], files::record, 60);
}

#[test]
fn records_of_searches_for_saturation_of_any_bytes_are_read_or_refused() {
    let section = "[saturate]\nvary = concurrency(b)\nvalues = 1, 2, 4\n\
                   until = throughput gains < 2%\n";
    run_kept("record", &[an_experiment(section)], files::record, 60);
}

/// Returns the bytes of a small record of an experiment: two steps of a search for saturation if
/// its section is given, six rounds of two arms, and a look.
fn an_experiment(saturate: &str) -> Vec<u8> {
    let folder = own_path("");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (path, own, single) = (folder.join("e"), folder.join("run"), a_record());
    let question = format!(
        "[question]\nask = What?\nworkload = corpus.ini\nrounds = 6\nbet = failed -5% .. +5%\n\
         [arm one]\n[arm two]\nset.x = 1\n{saturate}"
    );
    let facts = [
        ("experiment", question.clone()),
        ("counterbalanced", "no".to_owned()),
        ("state", "complete".to_owned()),
    ];
    let mut writer = ExperimentWriter::create(&path, &facts, &[]).expect("a new record");
    let row = |run: u32| RunRow {
        run,
        round: (run - 1) / 2,
        position: (run - 1) % 2,
        arm: if run % 2 == 1 { "one" } else { "two" }.to_owned(),
        point: None,
        phase: Phase::Compare,
        attempt: 0,
        state: RunState::Counts,
        verdict: "valid".to_owned(),
        objections: String::new(),
        seed: 42,
    };
    let step = |step: u32| RunRow {
        run: step + 1,
        round: step,
        position: 0,
        arm: "one".to_owned(),
        point: Some((step + 1).to_string()),
        phase: Phase::Saturate,
        ..row(1)
    };
    let steps = if saturate.is_empty() { 0 } else { 2 };
    let rounds = (1..=12).map(|run| RunRow { run: run + steps, ..row(run) });
    for row in (0..steps).map(step).chain(rounds) {
        std::fs::write(&own, &single).expect("the record of a run");
        writer.add_run(&row, &[], &own).expect("its rows");
    }
    writer.add_look(LookRow { pairs: 6, is_decided: true }).expect("a look");
    drop(writer);
    let outline = Outline::of_text(&question).expect("the outline of the test's own question");
    let design = lab::experiment::design(&outline, false);
    let results = lab::experiment::read_results(&path, &outline, &design);
    let results = results.expect("an intact record");
    assert!(results.comparison.is_some());
    if let Some(question) = &outline.saturate {
        let next = lab::experiment::recorded_saturation(&path, question, &results);
        assert!(matches!(next, Ok(NextSaturationStep::Found(_))), "{next:?}");
    }
    let bytes = std::fs::read(&path).expect("the record");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    bytes
}

/// Returns a path that no other test uses, also of this process.
fn own_path(suffix: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("assay-corpus-{}-{number}{suffix}", std::process::id());
    std::env::temp_dir().join(name)
}

/// Returns the bytes of a small record of a virtual run.
fn a_record() -> Vec<u8> {
    let text = "duration = 3s\nwarmup = 1s\n[a]\nquery = select ${uniform(1, 9)}\nrate = 50\n\
                slo = p99 < 1ms\n[b]\nquery = select 1\nquery = select 2\nconcurrency = 2\n\
                think = exp(50ms)\n";
    let (plan, _) = workload::plan(text, &Overrides::default());
    let path = own_path(".assay");
    let _ = std::fs::remove_file(&path);
    let order = Order {
        plan: plan.expect("the test's own workload"),
        target: Target::parse("sim:mm1?errors=0.1").expect("a target"),
        options: Options::simulated(),
        record: RecordPlace::Exactly(path.clone()),
        op_log: None,
        calibration: None,
        workload: "corpus.ini".to_owned(),
        command: "test".to_owned(),
        version: "0".to_owned(),
        commit: None,
        stop: Stop::default(),
        facts: Vec::new(),
        server_seed: None,
        label: None,
        inputs: Vec::new(),
        loads: Vec::new(),
    };
    lab::run(order, Arc::new(NoListener), |_| {}).expect("a virtual run is made");
    let bytes = std::fs::read(&path).expect("the record");
    std::fs::remove_file(&path).expect("the record is ours");
    bytes
}
