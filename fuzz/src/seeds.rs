//! Valid inputs that are larger than a stored corpus, or made by this program: the seeds from which
//! a target searches.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use analyze::saturate::NextSaturationStep;
use archive::{ExperimentWriter, LookRow, Phase, RunRow};
use base::Target;
use engine::{NoListener, Options};
use lab::{Order, RecordPlace};
use workload::Overrides;
use workload::question::Outline;

/// Section of a search for saturation for [`experiment`].
pub const SATURATE: &str =
    "[saturate]\nvary = concurrency(b)\nvalues = 1, 2, 4\nuntil = throughput gains < 2%\n";

/// Returns the seeds of a target, which are none for most.
///
/// # Panics
/// Panics as [`record`](fn@record).
pub fn of_target(target: &str) -> Vec<Vec<u8>> {
    match target {
        "record" => vec![record(), experiment(""), experiment(SATURATE)],
        "question" => questions(),
        _ => Vec::new(),
    }
}

/// Returns experiment files, each with its workload behind a zero byte.
pub fn questions() -> Vec<Vec<u8>> {
    const WORKLOAD: &str = "duration = 10s\n[params]\nrows = 100\n[load t]\nrows = ${rows}\n\
                            columns = id: row()\n[read]\nquery = select ${uniform(1, rows)}\n\
                            rate = 100\nslo = p99 < 5ms\n";
    const FILES: [&str; 5] = [
        "[question]\nask = What?\nworkload = w.ini\nbet = throughput(read) -5% .. -25%\n\
         rounds = auto\ndelta = 2%, response.p99 10%\n[arm plain]\noption.tls = off\n\
         [arm tls]\noption.tls = require\n",
        "[question]\nask = ?\nworkload = w.ini\nrounds = 12\n\
         restore = delete from t where id > ${rows}\n[arm without]\n[arm with]\n\
         before = create index i on t (id)\nafter = drop index i\nset.rows = 5k\n",
        "[question]\nask = How much?\nworkload = w.ini\n[capacity]\nslo = p99(read) < 30ms\n\
         vary = rate(read)\nfirst = 1k\nhighest = 50k\nbudget = 1h\n",
        "[question]\nask = Where?\nworkload = w.ini\n[sweep]\nvary = rate(read)\n\
         values = 1, 2, 4..32 x2\nbest = throughput(read)\nrepeats = 2\n",
        "url = postgres://db/shop\nseed = 7\n[question]\nask = How many?\n[capacity]\n\
         slo = p99 < 30ms\nvary = concurrency(read)\n[read]\nquery = select 1\n\
         concurrency = 4\n",
    ];
    FILES.iter().map(|file| [file, WORKLOAD].join("\0").into_bytes()).collect()
}

/// Returns the bytes of a small record of an experiment: two steps of a search for saturation if
/// its section is given, six rounds of two arms, and a look.
///
/// # Panics
/// Panics if it cannot be written to the folder for temporary files.
pub fn experiment(saturate: &str) -> Vec<u8> {
    let folder = own_path("");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (path, own, single) = (folder.join("e"), folder.join("run"), record());
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
        round: (run - 1) / 2,
        position: (run - 1) % 2,
        verdict: "valid".to_owned(),
        seed: 42,
        ..RunRow::new(run, if run % 2 == 1 { "one" } else { "two" })
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
///
/// # Panics
/// Panics if it cannot be written to the folder for temporary files.
pub fn record() -> Vec<u8> {
    let text = "duration = 3s\nwarmup = 1s\n[a]\nquery = select ${uniform(1, 9)}\nrate = 50\n\
                slo = p99 < 1ms\n[b]\nquery = select 1\nquery = select 2\nconcurrency = 2\n\
                think = exp(50ms)\n";
    let (plan, _) = workload::plan(text, &Overrides::default());
    let path = own_path(".assay");
    let _ = std::fs::remove_file(&path);
    let order = Order {
        workload: "corpus.ini".to_owned(),
        command: "test".to_owned(),
        version: "0".to_owned(),
        ..Order::new(
            plan.expect("the test's own workload"),
            Target::parse("sim:mm1?errors=0.1").expect("a target"),
            Options::simulated(),
            RecordPlace::Exactly(path.clone()),
        )
    };
    lab::run(order, Arc::new(NoListener), |_| {}).expect("a virtual run is made");
    let bytes = std::fs::read(&path).expect("the record");
    std::fs::remove_file(&path).expect("the record is ours");
    bytes
}
