//! Tests of the records and results of experiments: in virtual time, and in real time on SQLite.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

use analyze::Status;
use analyze::compare::{ArmId, BetOutcome, Conclusion, SampleSize};
use archive::{Archive, ExperimentContent, RunState};
use base::{Seed, Target};
use engine::{Options, Stop};
use lab::experiment::{
    ExperimentEnd, ExperimentError, ExperimentEvent, ExperimentListener, ExperimentOrder,
    ExperimentResults, INVALID_ARM, Problem, RunMaker, design, evidence_of_run, read_results,
    run_experiment,
};
use lab::{Order, RecordPlace};
use workload::Overrides;
use workload::question::{Arm, Experiment, Quantity, RunMetric, TimeStatistic, experiment_in};

use crate::support::TestFolder;

const SERVICE: &str = "\
url = sim:mm1?service=1ms
duration = 4s
warmup = 500ms
[setup]
query = create table t (id integer primary key)
[load t]
rows = 10
columns = id: row()
[read]
query = select * from t where id = ${uniform(1, 10)}
concurrency = 4
[teardown]
query = drop table t
";

const SLOWER: &str = "\
[question]
ask = What does a slower disk cost?
workload = read.ini
bet = throughput -5% .. -25%
[arm fast]
[arm slow]
option.service = 1.15ms
";

fn experiment(text: &str) -> Experiment {
    experiment_on(SERVICE, text)
}

fn experiment_on(workload: &str, text: &str) -> Experiment {
    let files = BTreeMap::from([("read.ini".to_owned(), workload.as_bytes().to_vec())]);
    let (experiment, found) = experiment_in(text, &Overrides::default(), &files);
    experiment.unwrap_or_else(|| panic!("{found:?}"))
}

/// A [`RunMaker`] that interrupts the experiment before one of its runs.
struct Runs<'a> {
    experiment: &'a Experiment,
    stop: Stop,
    /// Number of further calls of [`RunMaker::order`] up to the one that interrupts the experiment.
    left: Cell<u32>,
}

impl RunMaker for Runs<'_> {
    fn order(&self, arm: &Arm, seed: Seed) -> Option<Order> {
        self.left.set(self.left.get().saturating_sub(1));
        if self.left.get() == 0 {
            self.stop.interrupt();
        }
        let files = BTreeMap::<String, Vec<u8>>::new();
        let plan = self.experiment.plan(arm, seed.0, &Overrides::default(), &files)?;
        let target = plan.target.clone().unwrap_or_else(|| Target::parse("sim:mm1").unwrap());
        Some(Order {
            workload: "read.ini".to_owned(),
            command: "assay run slower.ini --virtual".to_owned(),
            version: "0.1.0".to_owned(),
            stop: self.stop.clone(),
            ..Order::new(plan, target, Options::simulated(), RecordPlace::Exactly("".into()))
        })
    }
}

struct Quiet;

impl ExperimentListener for Quiet {
    fn on_event(&self, _: &ExperimentEvent<'_>) {}
}

/// Runs an experiment that is interrupted at call `left` of [`RunMaker::order`].
fn run(
    experiment: &Experiment,
    record: &Path,
    is_resumed: bool,
    left: u32,
) -> Result<ExperimentEnd, ExperimentError> {
    let stop = Stop::default();
    let runs = Runs { experiment, stop: stop.clone(), left: Cell::new(left) };
    let facts = [("experiment", experiment.to_text())];
    let order = new_order(experiment, &runs, record, stop);
    run_experiment(&ExperimentOrder { facts: &facts, is_resumed, ..order }, &Quiet)
}

/// Returns the [`ExperimentOrder`] of a new experiment, without facts and files.
fn new_order<'a>(
    experiment: &'a Experiment,
    runs: &'a dyn RunMaker,
    record: &'a Path,
    stop: Stop,
) -> ExperimentOrder<'a> {
    ExperimentOrder {
        experiment,
        runs,
        record,
        facts: &[],
        files: &[],
        origin: &[],
        is_resumed: false,
        keeps_record_if_unreachable: false,
        stop,
    }
}

const ALL: u32 = u32::MAX;

fn results(experiment: &Experiment, record: &Path) -> ExperimentResults {
    let outline = experiment.outline();
    let design = design(&outline, experiment.writes());
    read_results(record, &outline, &design).unwrap()
}

#[test]
fn slower_server_is_found_and_its_bet_held() {
    let place = TestFolder::new();
    let (experiment, record) = (experiment(SLOWER), place.record());
    assert_eq!(run(&experiment, &record, false, ALL).unwrap(), ExperimentEnd::Complete);
    let results = results(&experiment, &record);
    let comparison = results.comparison.as_ref().unwrap();
    let change = &comparison.arms[0].changes[0];
    let compared = change.compared.as_ref().unwrap();
    assert_eq!(compared.conclusion, Conclusion::Worse);
    assert!((-0.16..-0.10).contains(&compared.change), "{compared:?}");
    assert_eq!(change.bets[0].1, Some(BetOutcome::Held));
    assert_eq!(comparison.arms[0].size, SampleSize::Pairs(8));
    assert_eq!(results.runs.len(), 16);
    assert_eq!(results.validity[0].status(), Status::Pass, "{:?}", results.validity);
    let keys = ["option.service".to_owned()];
    assert_eq!(results.undeclared_differences(ArmId::BASELINE, ArmId(1), &keys), []);
    let own = record.with_file_name(format!("{}-run", record.file_name().unwrap().display()));
    assert!(!own.exists());
}

#[test]
fn runs_of_a_round_share_their_schedule_and_not_their_server() {
    let place = TestFolder::new();
    let text = "[question]\nask = ?\nworkload = read.ini\ndesign = aa\nrounds = 6\n[arm a]\n";
    let (experiment, record) = (experiment(text), place.record());
    assert_eq!(run(&experiment, &record, false, ALL).unwrap(), ExperimentEnd::Complete);
    let results = results(&experiment, &record);
    for round in 0..6 {
        let runs: Vec<_> = results.runs.iter().filter(|run| run.row.round == round).collect();
        assert_eq!(runs[0].row.seed, runs[1].row.seed);
        assert_ne!(runs[0].figures.metrics, runs[1].figures.metrics);
        let seed = |run: u32| Archive::open_run(&record, run).unwrap().header().seed;
        assert_eq!(seed(runs[0].row.run), Seed(runs[0].row.seed));
    }
    let names: Vec<&str> = results.runs.iter().map(|run| run.row.arm.as_str()).collect();
    assert!(names.contains(&"a") && names.contains(&"a-again"), "{names:?}");
    assert!(!results.comparison.unwrap().arms[0].changes[0].is_exploratory);
}

/// Returns everything in the record of an experiment except its path.
fn parts(content: ExperimentContent) -> impl PartialEq + Debug {
    let ExperimentContent { facts, files, runs, looks, notes, excerpts, .. } = content;
    (facts, files, runs, looks, notes, excerpts)
}

#[test]
fn resumed_experiment_is_the_same_as_an_undisturbed_one() {
    let place = TestFolder::new();
    let experiment = experiment(SLOWER);
    let whole = place.record();
    run(&experiment, &whole, false, ALL).unwrap();
    let cut = whole.with_file_name("cut.assay");
    // `RunMaker::order` is called once for each of the two servers, twice for the data of each
    // server, and then once for each run. Call 12 therefore interrupts the sixth run.
    assert_eq!(run(&experiment, &cut, false, 12).unwrap(), ExperimentEnd::Interrupted);
    let so_far = ExperimentContent::read(&cut).unwrap();
    assert_eq!((so_far.runs.len() % 2, so_far.looks.len()), (1, 0), "{so_far:?}");
    assert_eq!(so_far.fact("state"), Some("interrupted"));
    assert_eq!(run(&experiment, &cut, true, ALL).unwrap(), ExperimentEnd::Complete);
    let mut continued = ExperimentContent::read(&cut).unwrap();
    let notes: Vec<String> =
        std::mem::take(&mut continued.notes).into_iter().map(|note| note.text).collect();
    assert_eq!(notes, [format!("resumed after {} runs", so_far.runs.len())]);
    assert_eq!(parts(continued), parts(ExperimentContent::read(&whole).unwrap()));
    for run in 1..=16 {
        let export = |path: &Path| {
            let mut bytes = Vec::new();
            let archive = Archive::open_run(path, run).unwrap();
            archive::export::json(&archive, &mut bytes).unwrap();
            bytes
        };
        assert_eq!(export(&cut), export(&whole), "run {run}");
    }
    let error = run(&experiment, &cut, true, ALL).unwrap_err();
    assert!(matches!(*error.problem, Problem::AlreadyComplete), "{error}");
}

#[test]
fn changed_experiment_is_not_resumed() {
    let place = TestFolder::new();
    let record = place.record();
    run(&experiment(SLOWER), &record, false, 8).unwrap();
    let other = experiment(&SLOWER.replace("1.15ms", "1.2ms"));
    let error = run(&other, &record, true, ALL).unwrap_err();
    assert!(matches!(*error.problem, Problem::Changed { key: "experiment", .. }), "{error}");
}

/// A [`RunMaker`] that ignores the differences of the arms.
struct SameRuns<'a>(Runs<'a>);

impl RunMaker for SameRuns<'_> {
    fn order(&self, _: &Arm, seed: Seed) -> Option<Order> {
        self.0.order(&self.0.experiment.arms[0], seed)
    }
}

#[test]
fn arm_whose_difference_is_not_in_the_run_is_invalid() {
    for (difference, words) in [
        ("option.service = 1.15ms", "is not in effect: the run uses sim:mm1?service=1ms, not"),
        (
            "concurrency(read) = 8",
            "is not in effect: the plan of the run has `concurrency = 4`, not",
        ),
    ] {
        let place = TestFolder::new();
        let (record, stop) = (place.record(), Stop::default());
        let experiment = experiment(&SLOWER.replace("option.service = 1.15ms", difference));
        let left = Cell::new(ALL);
        let runs = SameRuns(Runs { experiment: &experiment, stop: stop.clone(), left });
        let order = new_order(&experiment, &runs, &record, stop);
        assert_eq!(run_experiment(&order, &Quiet).unwrap(), ExperimentEnd::NotInEffect);
        let content = ExperimentContent::read(&record).unwrap();
        let reason = content.fact(INVALID_ARM).unwrap();
        assert!(reason.starts_with("[arm slow]: `") && reason.contains(words), "{reason}");
        assert_eq!(content.fact("state"), Some("not-in-effect"));
        assert!(content.runs.iter().all(|run| run.arm == "fast"), "{content:?}");
    }
}

#[test]
fn latest_warm_up_of_a_round_holds_for_all_of_its_runs() {
    let workload = SERVICE
        .replace("duration = 4s\nwarmup = 500ms", "duration = 60s\nwarmup = auto")
        .replace("concurrency = 4", "concurrency = 2\nthink = 40ms");
    let text = "[question]\nask = ?\nworkload = read.ini\ndesign = aa\nrounds = 6\n[arm a]\n";
    let place = TestFolder::new();
    let (experiment, record) = (experiment_on(&workload, text), place.record());
    assert_eq!(run(&experiment, &record, false, ALL).unwrap(), ExperimentEnd::Complete);
    let results = results(&experiment, &record);
    let own = |run: u32| {
        let archive = Archive::open_run(&record, run).unwrap();
        lab::evidence(&archive).unwrap().steps.warmup()
    };
    let mut moved = 0;
    for round in results.runs.chunk_by(|one, other| one.row.round == other.row.round) {
        let latest = round.iter().map(|run| own(run.row.run)).max().unwrap();
        for run in round {
            let archive = Archive::open_run(&record, run.row.run).unwrap();
            let evidence = evidence_of_run(&archive, run.row.run).unwrap();
            assert_eq!(evidence.steps.warmup(), latest);
            moved += u32::from(own(run.row.run) < latest);
            let p99 = RunMetric::of(Quantity::Response(TimeStatistic::P99), "read");
            let summary = analyze::summarize(&evidence);
            let expected = summary.jobs[0].response.quantile_ns("p99").unwrap() as f64 / 1e6;
            assert_eq!(run.figures.get(&p99), Ok(expected));
            let stored: f64 = rusqlite::Connection::open(&record)
                .unwrap()
                .query_row(
                    "select value from figure where run = ? and metric = 'response.p99'",
                    [run.row.run],
                    |row| row.get(0),
                )
                .unwrap();
            assert_eq!(stored, expected);
        }
    }
    assert!(moved > 0, "every round had one cut, and nothing was tested");
    // An experiment that is interrupted and resumed produces the same record.
    let cut = record.with_file_name("cut.assay");
    assert_eq!(run(&experiment, &cut, false, 8).unwrap(), ExperimentEnd::Interrupted);
    // Make the record look as if the process had ended before it judged its last complete round.
    let connection = rusqlite::Connection::open(&cut).unwrap();
    let last = "(select max(round) from (select round from run where state = 'counts' \
                group by round having count(*) = 2))";
    let spoil = format!(
        "update figure set value = -1 where run in (select run from run where round = {last})"
    );
    assert!(connection.execute(&spoil, []).unwrap() > 0);
    assert_eq!(run(&experiment, &cut, true, ALL).unwrap(), ExperimentEnd::Complete);
    let spoilt = "select count(*) from figure where value = -1";
    let spoilt: u32 = connection.query_row(spoilt, [], |row| row.get(0)).unwrap();
    assert_eq!(spoilt, 0, "the round was judged again");
    let mut continued = ExperimentContent::read(&cut).unwrap();
    assert_eq!(std::mem::take(&mut continued.notes).len(), 1);
    assert_eq!(parts(continued), parts(ExperimentContent::read(&record).unwrap()));
}

/// A workload that inserts the same keys in every run.
const INSERTING: &str = "\
duration = 200ms
[setup]
query = create table t (id integer primary key, a integer)
[load t]
rows = 10
columns = id: row(), a: 5
[add]
query = insert into t values (${1000 + sequence()}, 1)
concurrency = 1
think = 20ms
[teardown]
query = drop table t
";

/// Runs an experiment with two arms on a database file in real time.
fn on_sqlite(place: &TestFolder, restore: &str) -> Result<ExperimentEnd, ExperimentError> {
    on_sqlite_with(place, INSERTING, restore, |_| Box::new(Quiet))
}

/// Runs an experiment as [`on_sqlite`] does, with another workload and listener.
fn on_sqlite_with(
    place: &TestFolder,
    workload: &str,
    restore: &str,
    listener: fn(Stop) -> Box<dyn ExperimentListener>,
) -> Result<ExperimentEnd, ExperimentError> {
    let database = place.record().with_file_name("t.db");
    let workload = format!("url = sqlite:{}\n{workload}", database.display());
    let files = BTreeMap::from([("read.ini".to_owned(), workload.into_bytes())]);
    let text = format!(
        "[question]\nask = ?\nworkload = read.ini\nrounds = 6\nrestore = {restore}\n[arm without]\n\
         [arm with]\nbefore = create index i on t (a)\nafter = drop index i\n"
    );
    let (experiment, found) = experiment_in(&text, &Overrides::default(), &files);
    let experiment = experiment.unwrap_or_else(|| panic!("{found:?}"));
    let stop = Stop::default();
    let runs = RealRuns { experiment: &experiment, stop: stop.clone() };
    let record = place.record();
    let order = new_order(&experiment, &runs, &record, stop.clone());
    run_experiment(&order, &*listener(stop))
}

/// Two arms, one of which creates the table `mark` before each of its runs, and renames it to
/// `done` after the run. The renaming fails if there is already a table `done`.
const MARK_IN_AN_ARM: &str = "\
rounds = 6
[arm without]
[arm with]
before = create table mark (x)
after = alter table mark rename to done
";

/// A sweep of one round with four runs. The table `mark` is created before each run, and dropped
/// after it.
const MARK_IN_A_SWEEP: &str = "\
[arm slow]
before = create table mark (x)
after = drop table mark
[arm fast]
think(read) = 10ms
before = create table mark (x)
after = drop table mark
[sweep]
vary = concurrency(read): 1, 2
repeats = 1
";

/// Runs or continues an experiment with these arms on a database file in real time.
fn with_mark(
    place: &TestFolder,
    arms: &str,
    is_resumed: bool,
    listener: fn(Stop) -> Box<dyn ExperimentListener>,
) -> ExperimentEnd {
    try_with_mark(place, arms, is_resumed, listener).unwrap()
}

/// Does the same as [`with_mark`] for an experiment that may fail.
fn try_with_mark(
    place: &TestFolder,
    arms: &str,
    is_resumed: bool,
    listener: fn(Stop) -> Box<dyn ExperimentListener>,
) -> Result<ExperimentEnd, ExperimentError> {
    let database = place.record().with_file_name("t.db");
    let workload = format!(
        "url = sqlite:{}\nduration = 100ms\n[read]\nquery = select 1\nconcurrency = 1\n\
         think = 20ms\n",
        database.display()
    );
    let text = format!("[question]\nask = ?\nworkload = read.ini\ndifferences = several\n{arms}");
    let experiment = experiment_on(&workload, &text);
    let stop = Stop::default();
    let runs = RealRuns { experiment: &experiment, stop: stop.clone() };
    let record = place.record();
    let order = new_order(&experiment, &runs, &record, stop.clone());
    run_experiment(&ExperimentOrder { is_resumed, ..order }, &*listener(stop))
}

/// A listener that interrupts the experiment when the servers are about to be started.
struct InterruptsStart(Stop);

impl ExperimentListener for InterruptsStart {
    fn on_event(&self, event: &ExperimentEvent<'_>) {
        if let ExperimentEvent::ServersStarting = event {
            self.0.interrupt();
        }
    }
}

/// A listener that interrupts the experiment in the first run of the arm `with`.
struct InterruptsArm(Stop);

impl ExperimentListener for InterruptsArm {
    fn on_event(&self, event: &ExperimentEvent<'_>) {
        if let ExperimentEvent::RunStarted { arm: "with", .. } = event {
            self.0.interrupt();
        }
    }
}

/// A listener that ends the experiment at once after its fourth run, before the statements that
/// follow the run.
struct EndsAfterFourthRun(Stop);

impl ExperimentListener for EndsAfterFourthRun {
    fn on_event(&self, event: &ExperimentEvent<'_>) {
        if let ExperimentEvent::RunFinished { number: 4, .. } = event {
            self.0.interrupt_at_once();
        }
    }
}

/// A listener that interrupts the experiment when the tables are about to be filled.
struct InterruptsPreparation(Stop);

impl ExperimentListener for InterruptsPreparation {
    fn on_event(&self, event: &ExperimentEvent<'_>) {
        if let ExperimentEvent::Preparing { .. } = event {
            self.0.interrupt();
        }
    }
}

/// Returns the number of tables named `t` in the database of [`on_sqlite`].
fn tables(place: &TestFolder) -> u32 {
    let database = rusqlite::Connection::open(place.record().with_file_name("t.db")).unwrap();
    let sql = "select count(*) from sqlite_schema where name = 't'";
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Returns the facts `state` and `leftovers` of an experiment.
fn state_and_leftovers(place: &TestFolder) -> [String; 2] {
    let content = ExperimentContent::read(&place.record()).unwrap();
    ["state", "leftovers"].map(|fact| content.fact(fact).unwrap_or("none").to_owned())
}

#[test]
fn table_of_another_user_survives_an_interrupt_before_setup() {
    let place = TestFolder::new();
    let database = rusqlite::Connection::open(place.record().with_file_name("t.db")).unwrap();
    database.execute_batch("create table t (id integer)").unwrap();
    let listener = |stop| Box::new(InterruptsPreparation(stop)) as Box<dyn ExperimentListener>;
    let end = on_sqlite_with(&place, INSERTING, "reload", listener).unwrap();
    assert_eq!((end, tables(&place)), (ExperimentEnd::Interrupted, 1));
}

#[test]
fn step_that_an_interrupted_experiment_left_is_undone_by_the_first_process_that_can() {
    let place = TestFolder::new();
    let database = rusqlite::Connection::open(place.record().with_file_name("t.db")).unwrap();
    database.execute_batch("create table done (x)").unwrap();
    let tables = || -> String {
        let sql = "select group_concat(name, ' ') from (select name from sqlite_schema \
                   where name not like 'sqlite_%' order by name)";
        database.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let state = || state_and_leftovers(&place);
    // The statement after the interrupted run fails.
    let arms = MARK_IN_AN_ARM;
    let end = with_mark(&place, arms, false, |stop| Box::new(InterruptsArm(stop)));
    assert_eq!((end, tables().as_str()), (ExperimentEnd::Interrupted, "done mark"));
    assert_eq!(state(), ["interrupted", "yes"]);
    database.execute_batch("drop table done").unwrap();
    // The continuation is interrupted before it can undo anything.
    let end = with_mark(&place, arms, true, |stop| Box::new(InterruptsStart(stop)));
    assert_eq!((end, tables().as_str()), (ExperimentEnd::Interrupted, "mark"));
    assert_eq!(state(), ["interrupted", "yes"]);
    // The next continuation is interrupted after that, and before its first run.
    let end = with_mark(&place, arms, true, |stop| Box::new(InterruptsPreparation(stop)));
    assert_eq!((end, tables().as_str()), (ExperimentEnd::Interrupted, "done"));
    assert_eq!(state(), ["interrupted", "none"]);
}

/// All runs are recorded, so the continuation only undoes the statement and takes the look.
#[test]
fn step_that_the_last_run_left_is_undone_before_the_experiment_is_complete() {
    let place = TestFolder::new();
    let database = rusqlite::Connection::open(place.record().with_file_name("t.db")).unwrap();
    let has_mark = || -> bool {
        let sql = "select count(*) from sqlite_schema where name = 'mark'";
        database.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let arms = MARK_IN_A_SWEEP;
    let end = with_mark(&place, arms, false, |stop| Box::new(EndsAfterFourthRun(stop)));
    assert_eq!((end, has_mark()), (ExperimentEnd::Interrupted, true));
    assert_eq!(state_and_leftovers(&place), ["interrupted", "yes"]);
    // The continuation is interrupted before it can undo anything.
    let end = with_mark(&place, arms, true, |stop| Box::new(InterruptsStart(stop)));
    assert_eq!((end, has_mark()), (ExperimentEnd::Interrupted, true));
    assert_eq!(state_and_leftovers(&place), ["interrupted", "yes"]);
    let end = with_mark(&place, arms, true, |_| Box::new(Quiet));
    assert_eq!((end, has_mark()), (ExperimentEnd::Complete, false));
    assert_eq!(state_and_leftovers(&place), ["complete", "none"]);
    let content = ExperimentContent::read(&place.record()).unwrap();
    // On a busy machine, the round may have been repeated.
    let counts = content.runs.iter().filter(|run| run.state == RunState::Counts).count();
    assert_eq!((counts, content.looks.len()), (4, 1), "{content:?}");
}

/// The second statement before the first run fails, and so does the statement after this run.
#[test]
fn step_that_a_failed_first_run_left_is_undone_when_the_experiment_is_resumed() {
    let place = TestFolder::new();
    let database = rusqlite::Connection::open(place.record().with_file_name("t.db")).unwrap();
    database.execute_batch("create table done (x)").unwrap();
    let steps = "before = nonsense\nafter = alter table mark rename to done";
    let arms = MARK_IN_A_SWEEP.replace("after = drop table mark", steps);
    let error = try_with_mark(&place, &arms, false, |_| Box::new(Quiet)).unwrap_err();
    assert!(matches!(*error.problem, Problem::Statement { number: 2, .. }), "{error}");
    assert_eq!(state_and_leftovers(&place), ["interrupted", "yes"]);
    database.execute_batch("drop table done").unwrap();
    let end = with_mark(&place, &arms, true, |stop| Box::new(InterruptsPreparation(stop)));
    assert_eq!(end, ExperimentEnd::Interrupted);
    assert_eq!(state_and_leftovers(&place), ["interrupted", "none"]);
    let sql = "select group_concat(name) from sqlite_schema where name in ('mark', 'done')";
    let left: String = database.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(left, "done");
}

/// The statement after the run fails too, because there is nothing to undo.
#[test]
fn rejected_first_statement_before_the_first_run_leaves_no_record() {
    let place = TestFolder::new();
    let arms = MARK_IN_A_SWEEP.replace("before = create table mark (x)", "before = nonsense");
    let error = try_with_mark(&place, &arms, false, |_| Box::new(Quiet)).unwrap_err();
    assert!(matches!(*error.problem, Problem::Statement { number: 1, .. }), "{error}");
    assert!(!place.record().exists());
}

#[test]
fn table_whose_load_fails_is_removed() {
    let place = TestFolder::new();
    let workload = INSERTING.replace("a integer)", "a integer check (a < 5))");
    let error = on_sqlite_with(&place, &workload, "reload", |_| Box::new(Quiet)).unwrap_err();
    assert!(matches!(*error.problem, Problem::Run(_)), "{error}");
    assert_eq!(tables(&place), 0);
    assert!(!place.record().exists());
}

struct RealRuns<'a> {
    experiment: &'a Experiment,
    stop: Stop,
}

impl RunMaker for RealRuns<'_> {
    fn order(&self, arm: &Arm, seed: Seed) -> Option<Order> {
        let virtually =
            Runs { experiment: self.experiment, stop: self.stop.clone(), left: Cell::new(ALL) };
        let order = virtually.order(arm, seed)?;
        Some(Order { options: Options::in_real_time(), ..order })
    }
}

#[test]
fn data_is_restored_before_every_run() {
    for restore in ["delete from t where id >= 1000", "reload"] {
        let place = TestFolder::new();
        let end = on_sqlite(&place, restore);
        // On a busy machine, too many rounds may fail.
        assert!(
            matches!(end, Ok(ExperimentEnd::Complete | ExperimentEnd::InstrumentFailed)),
            "{restore}: {end:?}"
        );
        let content = ExperimentContent::read(&place.record()).unwrap();
        assert!(content.runs.len() >= 2, "{content:?}");
        for run in 1..=content.runs.len() as u32 {
            let archive = Archive::open_run(&place.record(), run).unwrap();
            let settings = archive.settings().unwrap();
            let canary = settings.iter().find(|(name, _)| name == "generator.canary_ns");
            assert!(canary.unwrap().1.parse::<f64>().unwrap() > 0.0, "{canary:?}");
            // The record of each run contains the load that was executed for it, if there was one.
            let loads = archive.loads().unwrap();
            let rows: Vec<u64> = loads.iter().map(|report| report.load.rows).collect();
            let expected: &[u64] = if restore == "reload" { &[10] } else { &[] };
            assert_eq!(rows, expected, "{restore}");
        }
        let database = rusqlite::Connection::open(place.record().with_file_name("t.db")).unwrap();
        let tables: i64 = database
            .query_row("select count(*) from sqlite_schema where name in ('t', 'i')", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(tables, 0, "{restore}: teardown ran");
    }
}

#[test]
fn restore_that_leaves_rows_is_an_error() {
    let place = TestFolder::new();
    let error = on_sqlite(&place, "delete from t where id >= 100000").unwrap_err();
    let words = error.to_string();
    assert!(words.contains("after `restore`, table t has "), "{words}");
    assert!(words.contains(" rows; expected 10: ") && !words.contains("--loaded"), "{words}");
    assert_eq!(ExperimentContent::read(&place.record()).unwrap().runs.len(), 1);
}

#[test]
fn load_that_meets_other_rows_is_an_error() {
    let place = TestFolder::new();
    let database = rusqlite::Connection::open(place.record().with_file_name("t.db")).unwrap();
    let fewer = "create table t (id integer primary key, a integer);
        create trigger fewer after insert on t when new.id = 3
        begin delete from t where id = 3; end";
    database.execute_batch(fewer).unwrap();
    let setup = "[setup]\nquery = create table t (id integer primary key, a integer)\n";
    let without_setup = INSERTING.replace(setup, "");
    assert_ne!(without_setup, INSERTING);
    let error = on_sqlite_with(&place, &without_setup, "reload", |_| Box::new(Quiet)).unwrap_err();
    let words = error.to_string();
    assert!(words.contains("after the load, table t has 9 rows; expected 10"), "{words}");
}
