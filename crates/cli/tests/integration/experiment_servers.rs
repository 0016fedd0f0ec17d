//! Tests of experiments on real servers: the server dies, or the experiment is killed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::Nanos;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testbed::{Kind, Options, Server};

use crate::example::assert_matches_schema;
use crate::experiment_end::{assert_ended, assert_exhausted};
use crate::experiment_faults::{lost_rows, record_content};
use crate::killed::wait_until_gone;
use crate::support::{CommandResult, Running, TestFolder, ended_runs, number, wait_until};

const WORKLOAD: &str = "\
duration = 1s
[setup]
query = create table t (id integer primary key, v integer)
[load t]
rows = 500
columns = id: row(), v: uniform(1, 10)
[add]
query = insert into t values (${1000 + sequence()}, 1)
concurrency = 2
think = 10ms
[teardown]
query = drop table t
";

/// Two arms whose runs add rows. After each `restore`, Assay checks that there are as many
/// rows as were loaded.
const ARMS: &str = "[question]\nask = What?\nworkload = w.ini\nrounds = 6\n\
                    restore = delete from t where id >= 1000\n[arm two]\n[arm four]\n\
                    concurrency(add) = 4\n";

fn place() -> TestFolder {
    let place = TestFolder::with(WORKLOAD);
    place.write("e.ini", ARMS);
    fs::create_dir(place.at("tmp")).unwrap();
    // If the tests run as root, private servers run as another user.
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    place
}

/// Returns a folder with an experiment of this number of rounds. Its runs are short and only read,
/// so nothing is restored between them. The requests pause in the server and not in the generator,
/// so each is due when the one before is answered, and a busy machine delays few of them.
fn place_of_short_runs(rounds: u32) -> TestFolder {
    let place = place();
    let workload = WORKLOAD.replace("duration = 1s", "duration = 150ms");
    let workload = workload.replace("think = 10ms\n", "");
    let slow = "select v from t, pg_sleep(0.05) where id = ${uniform(1, 500)}";
    let insert = "insert into t values (${1000 + sequence()}, 1)";
    place.write("w.ini", workload.replace(insert, slow));
    let arms = ARMS.replace("restore = delete from t where id >= 1000\n", "");
    place.write("e.ini", arms.replace("rounds = 6", &format!("rounds = {rounds}")));
    place
}

/// A program that appends the number of the loaded rows and a checksum over them to a file.
const SUM: &str = "psql -X -h $ASSAY_HOST -p $ASSAY_PORT -U $ASSAY_USER -d $ASSAY_DATABASE -Atc \
                   \"select count(*), md5(string_agg(t::text, ' ' order by id)) from t\" >> sums";

/// Returns the checksums that [`SUM`] has written.
fn sums(place: &TestFolder) -> Vec<String> {
    let text = fs::read_to_string(place.at("sums")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Starts an experiment whose private servers have their folders in the folder `tmp` of `place`.
fn start(place: &TestFolder, url: &str, password: Option<&str>, record: [&str; 2]) -> Running {
    Running::of(&mut command(place, url, password, record))
}

/// Starts an experiment as [`start`] does, but [in lockstep](Running::in_lockstep) with the test,
/// which acts during one of the runs.
fn start_in_lockstep(
    place: &TestFolder,
    url: &str,
    password: Option<&str>,
    record: [&str; 2],
) -> Running {
    Running::in_lockstep(&mut command(place, url, password, record))
}

fn command(place: &TestFolder, url: &str, password: Option<&str>, record: [&str; 2]) -> Command {
    let args = ["run", "e.ini", "--allow-commands", "--url", url, record[0], record[1]];
    let mut command = place.command(&args);
    command.env("TMPDIR", place.at("tmp"));
    if let Some(password) = password {
        command.env("ASSAY_PASSWORD", password);
    }
    command
}

const OUT: [&str; 2] = ["--out", "r.assay"];
const RESUME: [&str; 2] = ["--resume", "r.assay"];

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

/// Returns true if the working directory of any process is the folder or lies below it.
pub(crate) fn has_processes(folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap();
    let is_below = |process: fs::DirEntry| {
        fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))
    };
    fs::read_dir("/proc").unwrap().flatten().any(is_below)
}

/// Returns the process of the private server in a folder.
fn server_in(folder: &Path) -> Pid {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if let Ok(text) = fs::read_to_string(folder.join("postmaster.pid")) {
            return Pid::from_raw(text.lines().next().unwrap().parse().unwrap());
        }
        let inner = fs::read_dir(folder).into_iter().flatten().flatten();
        folders.extend(inner.map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    panic!("there is no server")
}

/// Returns the number of the last run in the record.
fn last_run(place: &TestFolder) -> i64 {
    number(&place.at("r.assay"), "select max(run) from run")
}

/// Returns the number of rounds whose runs all count. A round has `runs` runs.
fn complete_rounds(place: &TestFolder, runs: u32) -> i64 {
    let complete = format!(
        "select count(*) from (select round from run where state = 'counts' group by round \
         having count(*) = {runs})"
    );
    number(&place.at("r.assay"), &complete)
}

/// Checks that no round spans two processes; `end` is the last run of the first process.
#[track_caller]
fn assert_no_round_spans(place: &TestFolder, end: i64) {
    let spanning = format!(
        "select count(*) from (select round from run where state = 'counts' group by round \
         having min(run) <= {end} and max(run) > {end})"
    );
    assert_eq!(number(&place.at("r.assay"), &spanning), 0, "{end}");
}

/// Checks the record of an experiment that ended with `ran`: no round spans two processes. `ends`
/// are the last runs of the processes. Returns false if the load generator or the machine failed,
/// which happens on a busy machine.
#[track_caller]
fn assert_whole(place: &TestFolder, ran: &CommandResult, ends: &[i64], rounds: usize) -> bool {
    ends.iter().for_each(|end| assert_no_round_spans(place, *end));
    let document = assert_ended(place, ran, rounds);
    let is_complete = document["state"] == "complete";
    if is_complete {
        let looks = number(&place.at("r.assay"), "select count(*) from look");
        assert_eq!(looks, 1, "{document}");
    }
    assert!(!place.at("r.assay-run").exists() && !place.at("r.assay-aside").exists());
    is_complete
}

/// Kills an experiment within its next run, and checks that nothing of its private server is left.
#[track_caller]
fn kill_within_a_run(place: &TestFolder, mut run: Running) {
    // The speed of the machine is measured first.
    wait_until("the record of a run", || {
        run.read_stderr_for(Nanos::from_millis(5));
        assert!(run.is_running());
        place.at("r.assay-run").exists()
    });
    assert!(has_processes(&place.at("tmp")));
    run.signal(Signal::SIGKILL);
    run.wait_for_end();
    wait_until_gone("a process", || has_processes(&place.at("tmp")));
    wait_until_gone("a folder", || !is_empty(&place.at("tmp")));
}

/// Checks the processor time of the database per request in the runs and in the answer. This time,
/// multiplied by the requests per second, is the number of busy processors.
#[track_caller]
fn assert_has_processor_time(place: &TestFolder) {
    let processors = std::thread::available_parallelism().unwrap().get() as f64;
    let is_use = |us: f64, per_s: f64| (0.001..processors * 1.1).contains(&(us / 1e6 * per_s));
    let used = "select cpu.value, throughput.value from figure cpu \
                join figure throughput using (run) \
                where cpu.metric = 'cpu.database' and throughput.metric = 'throughput'";
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let mut select = record.prepare(used).unwrap();
    let runs = select.query_map([], |row| Ok([row.get(0)?, row.get(1)?])).unwrap();
    let runs: Vec<[f64; 2]> = runs.collect::<Result<_, _>>().unwrap();
    // On a busy machine a sample may come too late for a run of a second.
    assert!(runs.len() >= 2 && runs.iter().all(|[us, per_s]| is_use(*us, *per_s)), "{runs:?}");
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    let rows = document["comparison"].as_array().unwrap();
    let row = |metric: &str| rows.iter().find(|row| row["metric"] == metric);
    let mean = |metric: &str, side: usize| row(metric)?["means"][side].as_f64();
    let is_compared = (0..2).all(|side| {
        let means = mean("cpu.database", side).zip(mean("throughput", side));
        means.is_some_and(|(us, per_s)| is_use(us, per_s))
    });
    // There is no comparison if the machine was too busy in too many rounds.
    if !is_compared {
        assert_exhausted(&document);
    }
}

/// The earlier rounds stay unchanged, and the runs of the interrupted round are executed again on
/// the new server, with the same rows.
#[test]
fn experiment_killed_in_round_5_of_8_is_resumed_on_another_server() {
    let place = place_of_short_runs(8);
    let arms = fs::read_to_string(place.at("e.ini")).unwrap();
    let summing = format!("before-command = {SUM}");
    place.write("e.ini", arms.replace("concurrency(add) = 4", &summing));
    let mut run = start_in_lockstep(&place, "testbed:postgres", None, OUT);
    // The first run of the round is recorded, and the second one begins.
    run.wait_for_line(": round 5, ");
    run.wait_for_line(": round 5, ");
    kill_within_a_run(&place, run);
    let count = |sql: &str| number(&place.at("r.assay"), sql);
    let complete = complete_rounds(&place, 2);
    // If the test is late, the round was completed meanwhile.
    assert!((4..8).contains(&complete), "{complete}");
    let (end, before) = (last_run(&place), record_content(&place.at("r.assay")));
    let of_first_server = sums(&place).len();
    let half = format!("select count(*) from run where round = {complete} and state = 'counts'");
    let half = count(&half);
    let ran = start(&place, "testbed:postgres", None, RESUME).wait_for_end();
    let begins = |line: &&str| line.contains(&format!("run {} of ", end + 1));
    let first = ran.stderr.lines().find(begins).unwrap_or_default();
    assert!(first.contains(&format!(": round {}, ", complete + 1)), "{}", ran.stderr);
    let after = record_content(&place.at("r.assay"));
    let state_of_run = format!("run [Integer({end}), ");
    let mut lost = lost_rows(&before, &after);
    lost.retain(|row| !row.starts_with(&state_of_run));
    assert_eq!(lost, Vec::<&String>::new());
    if assert_whole(&place, &ran, &[end], 8) {
        let of_round = format!("from run where round = {complete} and state = 'counts'");
        assert_eq!(count(&format!("select count(*) {of_round}")), 2);
        assert!(count(&format!("select min(run) {of_round}")) > end);
    }
    assert_eq!(count("select count(*) from run where state = 'abandoned'"), half);
    let sums = sums(&place);
    assert!(of_first_server >= 4 && sums.len() > of_first_server, "{of_first_server}: {sums:?}");
    assert!(sums[0].starts_with("500|") && sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    assert!(is_empty(&place.at("tmp")));
}

#[test]
fn resumed_experiment_whose_server_dies_is_resumed_on_another() {
    let place = place_of_short_runs(6);
    let mut run = start_in_lockstep(&place, "testbed:postgres", None, OUT);
    run.wait_for_line("run 2 of");
    kill_within_a_run(&place, run);
    // The first run belongs to a pair whose other run would be executed on another server. If the
    // test is late, the round was completed meanwhile.
    let mut ends = vec![last_run(&place)];
    let complete = complete_rounds(&place, 2);
    let most = ends[0] + 12 - 2 * complete;
    let mut run = start_in_lockstep(&place, "testbed:postgres", None, RESUME);
    run.wait_for_line(&format!("run {} of at most {most}: round {}", ends[0] + 1, complete + 1));
    run.wait_for_line(&format!("run {}: ", ends[0] + 1));
    // The server dies between runs, or within one.
    kill(server_in(&place.at("tmp")), Signal::SIGKILL).unwrap();
    let ran = run.wait_for_end().expect(4);
    assert!(ran.stderr.contains("continue with --resume r.assay"), "{}", ran.stderr);
    wait_until_gone("a process", || has_processes(&place.at("tmp")));
    ends.push(last_run(&place));
    let ran = start(&place, "testbed:postgres", None, RESUME).wait_for_end();
    assert_whole(&place, &ran, &ends, 6);
    assert!(is_empty(&place.at("tmp")));
}

/// Expects no resumption with another version. A private server of another process is a different
/// server, but must be of the same version.
#[test]
fn experiment_is_not_resumed_on_a_private_server_of_another_version() {
    let place = place();
    place.write("w.ini", WORKLOAD.replace("duration = 1s", "duration = 200ms"));
    let mut run = start_in_lockstep(&place, "testbed:postgres", None, OUT);
    run.wait_for_line("run 3 of");
    run.signal(Signal::SIGINT);
    run.wait_for_end().expect(130);
    let record = place.at("r.assay");
    let older = "update setting set value = 'PostgreSQL 9.6.24' where name = 'server'";
    assert!(rusqlite::Connection::open(&record).unwrap().execute(older, []).unwrap() >= 2);
    let end = last_run(&place);
    let ran = start(&place, "testbed:postgres", None, RESUME).wait_for_end().expect(2);
    assert_eq!(ran.stdout, "");
    assert_says(
        &ran,
        &[
            "]: the server is PostgreSQL 1",
            ", and that of the earlier runs was PostgreSQL 9.6.24",
            "same files, options and server",
        ],
    );
    assert_eq!(last_run(&place), end);
    assert!(is_empty(&place.at("tmp")) && !place.at("r.assay-run").exists());
}

#[test]
fn experiment_continues_when_its_server_is_back() {
    let place = place();
    let mut server = Server::start(&Options::new(Kind::Postgres)).unwrap();
    let (url, password) = (server.url().to_string(), server.password().expose().to_owned());
    let mut run = start_in_lockstep(&place, &url, Some(&password), OUT);
    run.wait_for_line("run 2 of");
    server.stop();
    let ran = run.wait_for_end().expect(4);
    let at = format!("127.0.0.1:{}", server.port());
    assert!(ran.stderr.contains(&at) && ran.stderr.contains("[arm "), "{}", ran.stderr);
    assert!(ran.stderr.contains("continue with --resume r.assay"), "{}", ran.stderr);
    // The process that wrote the record also recorded that it was interrupted.
    let ended = "No answer: the experiment was interrupted";
    assert!(ran.stdout.contains(ended), "{}", ran.stdout);
    // The server is still unreachable, and the record loses nothing.
    let end = last_run(&place);
    let ran = start(&place, &url, Some(&password), RESUME).wait_for_end().expect(4);
    assert!(ran.stdout.contains(ended), "{}", ran.stdout);
    assert_eq!(last_run(&place), end);
    server.restart().unwrap();
    let ran = start(&place, &url, Some(&password), RESUME).wait_for_end();
    assert!(ran.stderr.contains(&format!("run {} of", end + 1)), "{}", ran.stderr);
    assert_whole(&place, &ran, &[end], 6);
    assert_has_processor_time(&place);
    let tables = "select count(*) from information_schema.tables where table_name = 't'";
    assert_eq!(server.sql(tables).unwrap(), "0\n");
}

/// Starts two servers, and returns them with the key that moves an arm to the second one.
fn two_servers() -> (Server, Server, String) {
    let start_server = || Server::start(&Options::new(Kind::Postgres)).unwrap();
    let (first, second) = (start_server(), start_server());
    let (login, port) = (second.password().expose(), second.port());
    let far = format!("url = postgres://assay:{login}@127.0.0.1:{port}/assay\n");
    (first, second, far)
}

/// Two arms at two points. A busy machine may end an experiment without a sweep early; a sweep
/// continues if the load generator or the machine fails.
const SWEEP: &str = "[question]\nask = What?\nworkload = w.ini\n\
                     restore = delete from t where id >= 1000\n\
                     [sweep]\nvary = concurrency(add): 2, 4\nrepeats = 4\n\
                     [arm near]\n[arm far]\n";

/// The server of the second arm dies late: exactly the rounds before its death are kept.
#[test]
fn second_server_that_dies_late_leaves_the_rounds_before() {
    let place = place();
    place.write("w.ini", WORKLOAD.replace("duration = 1s", "duration = 200ms"));
    let (first, mut second, far) = two_servers();
    place.write("e.ini", format!("{SWEEP}{far}"));
    let (url, password) = (first.url().to_string(), first.password().expose().to_owned());
    let mut run = start_in_lockstep(&place, &url, Some(&password), OUT);
    run.wait_for_line(": round 4, ");
    second.stop();
    let ran = run.wait_for_end().expect(4);
    assert!(ran.stderr.contains("[arm far]"), "{}", ran.stderr);
    assert!(ran.stderr.contains("continue with --resume r.assay"), "{}", ran.stderr);
    let whole = complete_rounds(&place, 4);
    assert!([3, 4].contains(&whole), "{whole}");
    let end = last_run(&place);
    // The server is still unreachable: nothing is lost.
    start(&place, &url, Some(&password), RESUME).wait_for_end().expect(4);
    assert_eq!(last_run(&place), end);
    second.restart().unwrap();
    let ran = start(&place, &url, Some(&password), RESUME).wait_for_end();
    assert!([0, 3].contains(&ran.code), "{}: {}", ran.code, ran.stderr);
    let document = place.assay(&["report", "r.assay", "--json"]).expect(ran.code).json();
    assert_eq!(document["state"], "complete", "{document}");
    let counting = "select count(*) from run where state = 'counts'";
    assert_eq!(number(&place.at("r.assay"), counting), 16);
    assert_eq!(complete_rounds(&place, 4), 4);
    assert_no_round_spans(&place, end);
}

/// Waits until no other experiment uses the shared server, because all experiments have their
/// tables in one database.
fn lock_shared_server() -> MutexGuard<'static, ()> {
    static SHARED_SERVER: Mutex<()> = Mutex::new(());
    SHARED_SERVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The event that ends an experiment while it waits for a statement.
#[derive(Clone, Copy, Eq, PartialEq)]
enum StatementEnd {
    Interrupt,
    OwnLimit,
}

/// Runs an experiment with a statement that sleeps. Interrupts the experiment during the statement,
/// or lets it end by its own time limit. The server has ended the statement when this returns.
fn with_a_hanging_statement(
    place: &TestFolder,
    experiment: &str,
    end: StatementEnd,
) -> CommandResult {
    let _turn = lock_shared_server();
    place.write("e.ini", experiment);
    let server = testbed::shared(Kind::Postgres);
    let (url, password) = (server.url().to_string(), server.password().expose());
    let mut run = start(place, &url, Some(password), OUT);
    let sleeping = "select count(*) from pg_stat_activity where query like 'select pg_sleep(%' \
                    and wait_event = 'PgSleep' and state = 'active'";
    run.wait_for_line("preparing the data");
    let is_sleeping = || server.sql(sleeping).unwrap() == "1\n";
    if end == StatementEnd::Interrupt {
        wait_until("the sleeping statement", || is_sleeping() || !run.is_running());
        run.signal(Signal::SIGINT);
    }
    let ran = run.wait_for_end();
    wait_until_gone("the statement", is_sleeping);
    ran
}

/// Returns an experiment whose second arm has a statement that sleeps. A statement after the run
/// does not make the arms differ, so the second arm also has one before the run.
fn hanging(key: &str) -> String {
    let before = if key == "after" { "before = analyze t\n" } else { "" };
    let statements = format!("{before}{key} = select pg_sleep(1000)");
    ARMS.replace("concurrency(add) = 4", &statements)
}

/// Checks the words on stderr, ignoring frames and line breaks, which depend on the lengths of
/// names.
#[track_caller]
fn assert_says(ran: &CommandResult, words: &[&str]) {
    let said = ran.stderr.split(|c: char| c == '|' || c.is_whitespace());
    let said = said.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    for words in words {
        assert!(said.contains(words), "`{words}` is not in: {}", ran.stderr);
    }
}

#[test]
fn statement_of_an_arm_that_hangs_is_cancelled_by_an_interrupt() {
    for key in ["before", "after"] {
        let place = place();
        let ran =
            with_a_hanging_statement(&place, &hanging(key), StatementEnd::Interrupt).expect(130);
        assert!(ran.stdout.contains("No answer: the experiment was interrupted"), "{}", ran.stdout);
        // The work of `after` is not done; `before` belongs to a run that is not recorded.
        let warning = "warning: four: an interrupt ended `after` before all of it was done\n";
        let warned = [ran.stderr.matches("warning").count(), ran.stderr.matches(warning).count()];
        assert_eq!(warned, [usize::from(key == "after"); 2], "{}", ran.stderr);
    }
}

#[test]
fn statement_after_a_run_that_hangs_ends_the_experiment_in_time() {
    let place = place();
    place.write("w.ini", format!("stall-timeout = 2s\n{WORKLOAD}"));
    let ran = with_a_hanging_statement(&place, &hanging("after"), StatementEnd::OwnLimit).expect(4);
    assert_says(
        &ran,
        &[
            "[arm four]: there is no answer to statement 1 of `after` --> e.ini:9:",
            "nothing was answered within `stall-timeout = 2s`",
            "write a longer `stall-timeout`",
            "--resume r.assay if the statement of `after` works then",
        ],
    );
    assert_eq!(number(&place.at("r.assay"), "select count(*) from run where arm = 'four'"), 1);
}

/// A restore that hangs before the first run leaves no record.
#[test]
fn restore_that_hangs_ends_the_experiment_in_time() {
    let place = place();
    place.write("w.ini", format!("setup-timeout = 6s\n{WORKLOAD}"));
    let restore = "restore = delete from t where id >= 1000";
    let arms = ARMS.replace(restore, "restore = select 1\nrestore = select pg_sleep(1000)");
    let ran = with_a_hanging_statement(&place, &arms, StatementEnd::OwnLimit).expect(4);
    assert_says(
        &ran,
        &[
            "there is no answer to statement 2 of `restore` --> e.ini:6:",
            "nothing was answered within `setup-timeout = 6s`",
            "write a longer `setup-timeout` above the first section of the workload",
        ],
    );
    assert!(!place.at("r.assay").exists(), "{}", ran.stderr);
}

/// Expects the runs before the hanging statement to be kept. Only the arm's second call of the
/// statement hangs.
#[test]
fn statement_before_a_run_that_hangs_keeps_the_runs_before_it() {
    let place = place();
    let short = WORKLOAD.replace("duration = 1s", "duration = 200ms");
    place.write("w.ini", format!("setup-timeout = 6s\n{short}"));
    let server = testbed::shared(Kind::Postgres);
    server.sql("create sequence calls; grant usage on calls to public").unwrap();
    let before = "before = select pg_sleep(case nextval('calls') when 2 then 1000 else 0 end)";
    let arms = ARMS.replace("concurrency(add) = 4", before);
    let ran = with_a_hanging_statement(&place, &arms, StatementEnd::OwnLimit).expect(4);
    assert_says(
        &ran,
        &[
            "[arm four]: there is no answer to statement 1 of `before` --> e.ini:8:",
            "nothing was answered within `setup-timeout = 6s`",
            "--resume r.assay if the statement of `before` works then",
        ],
    );
    assert_eq!(number(&place.at("r.assay"), "select count(*) from run where arm = 'four'"), 1);
    let _turn = lock_shared_server();
    let (url, password) = (server.url().to_string(), server.password().expose());
    let mut run = start(&place, &url, Some(password), RESUME);
    run.wait_for_line(&format!("run {}: ", last_run(&place) + 1));
    run.signal(Signal::SIGINT);
    let ran = run.wait_for_end();
    if ran.code != 130 {
        // On a machine with other work, the load generator may fail so often that the experiment
        // ends before the interrupt.
        assert_exhausted(&place.assay(&["report", "r.assay", "--json"]).expect(ran.code).json());
    }
}

/// Runs an experiment whose vacuum after the first run waits for another session's lock, which does
/// not affect the requests of the runs. Interrupts the experiment during the vacuum, or lets the
/// vacuum end by its own time limit.
fn with_a_waiting_vacuum(place: &TestFolder, end: StatementEnd) -> CommandResult {
    let _turn = lock_shared_server();
    let server = testbed::shared(Kind::Postgres);
    let (url, password) = (server.url().to_string(), server.password().expose());
    let locking = "begin; lock table t in share update exclusive mode; select pg_sleep(1000)";
    let is_waiting = |statement: &str| {
        let waiting = format!(
            "select count(*) from pg_stat_activity where query like '{statement} %' \
             and wait_event_type = 'Lock'"
        );
        server.sql(&waiting).unwrap() == "1\n"
    };
    let mut run = start(place, &url, Some(password), OUT);
    run.wait_for_line("run 1 of");
    std::thread::scope(|scope| {
        let lock = scope.spawn(|| server.sql(locking).unwrap_err());
        wait_until("the waiting vacuum", || {
            // The teardown waits, too, after a vacuum that reached its own time limit.
            is_waiting("vacuum") || is_waiting("drop") || !run.is_running()
        });
        if end == StatementEnd::Interrupt {
            run.signal(Signal::SIGINT);
        }
        wait_until_gone("the vacuum", || is_waiting("vacuum"));
        // While it is locked, the table cannot be dropped.
        let unlocking = "select pg_terminate_backend(pid) from pg_stat_activity \
                         where query like 'select pg_sleep(1000)%'";
        wait_until("the end of the lock", || {
            server.sql(unlocking).unwrap();
            lock.is_finished()
        });
        run.wait_for_end()
    })
}

#[test]
fn statement_that_lets_the_server_settle_is_cancelled_by_an_interrupt() {
    let place = place();
    let ran = with_a_waiting_vacuum(&place, StatementEnd::Interrupt).expect(130);
    assert!(ran.stdout.contains("No answer: the experiment was interrupted"), "{}", ran.stdout);
    assert_eq!(ended_runs(&ran.stderr).last(), Some(&last_run(&place)), "{}", ran.stderr);
}

#[test]
fn statement_that_lets_the_server_settle_ends_the_experiment_in_time() {
    let place = place();
    place.write("w.ini", format!("setup-timeout = 6s\n{WORKLOAD}"));
    let ran = with_a_waiting_vacuum(&place, StatementEnd::OwnLimit).expect(4);
    assert_says(
        &ran,
        &[
            "there is no answer to `vacuum analyze` after `restore`: nothing was answered within \
             `setup-timeout = 6s`",
            "write a longer `setup-timeout`",
            "continue with --resume r.assay",
        ],
    );
    assert_eq!(ended_runs(&ran.stderr).last(), Some(&last_run(&place)), "{}", ran.stderr);
}

#[test]
fn restart_of_a_server_is_ended_by_an_interrupt() {
    let place = place();
    let arms = ARMS.replace("concurrency(add) = 4", "server.work_mem = 8MB");
    place.write("e.ini", arms);
    let mut run = start_in_lockstep(&place, "testbed:postgres", None, OUT);
    // The server restarts before the second run, and its files are removed when the experiment
    // ends.
    run.wait_for_line("run 1: ");
    run.signal(Signal::SIGINT);
    let ran = run.wait_for_end().expect(130);
    assert!(ran.stdout.contains("No answer: the experiment was interrupted"), "{}", ran.stdout);
    assert_eq!(ended_runs(&ran.stderr).last(), Some(&last_run(&place)), "{}", ran.stderr);
    wait_until_gone("a process", || has_processes(&place.at("tmp")));
    assert!(is_empty(&place.at("tmp")));
}

#[test]
fn server_that_dies_between_two_runs_leaves_those_before() {
    let place = place();
    let tmp = place.at("tmp");
    place.write("w.ini", WORKLOAD.replace("duration = 1s", "duration = 300ms"));
    let steps = "before-command = true\nafter-command = sh die.sh";
    place.write("e.ini", ARMS.replace("concurrency(add) = 4", steps));
    place.write(
        "die.sh",
        format!(
            "cd {} && echo run >>count && [ $(wc -l <count) -ne 3 ] && exit 0\n\
             kill -9 $(head -n 1 $(find {} -name postmaster.pid))\n",
            place.path().display(),
            tmp.display()
        ),
    );
    let ran = start(&place, "testbed:postgres", None, OUT).wait_for_end().expect(4);
    assert!(ran.stderr.contains("[arm "), "{}", ran.stderr);
    assert!(ran.stderr.contains("continue with --resume r.assay"), "{}", ran.stderr);
    let count = |arm: &str| {
        let counting = format!("select count(*) from run where arm = '{arm}'");
        number(&place.at("r.assay"), &counting)
    };
    // The third run of the arm is complete, and the next one never began.
    let end = last_run(&place);
    assert_eq!(count("four"), 3, "{}", ran.stderr);
    assert!([2, 3].contains(&count("two")), "{}", ran.stderr);
    let ran = start(&place, "testbed:postgres", None, RESUME).wait_for_end();
    assert_whole(&place, &ran, &[end], 6);
    assert!(is_empty(&tmp));
}

#[test]
fn search_keeps_its_trials_when_its_server_dies() {
    let place = place();
    place.write(
        "e.ini",
        "[question]\nask = How many?\nworkload = w.ini\nrestore = delete from t where id >= 1000\n\
         [capacity]\nslo = p99(add) < 1s\nvary = concurrency(add)\ntrial = 500ms\nbudget = 1m\n",
    );
    let mut run = start_in_lockstep(&place, "testbed:postgres", None, OUT);
    run.wait_for_line("trial 3:");
    kill(server_in(&place.at("tmp")), Signal::SIGKILL).unwrap();
    let ran = run.wait_for_end().expect(4);
    assert!(ran.stderr.contains("continue with --resume r.assay"), "{}", ran.stderr);
    let report = place.assay(&["report", "r.assay", "--full"]).expect(3);
    assert!(report.stdout.starts_with("No answer: "), "{}", report.stdout);
    assert!(report.stdout.contains("\ntrials\n"), "{}", report.stdout);
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    assert_eq!(document["capacity"]["server_starts"], 1, "{document}");
    let trials = "phase = 'capacity' and state = 'counts'";
    let counting = format!("select count(*) from run where {trials}");
    let kept = number(&place.at("r.assay"), &counting);
    // If the test is late, more trials end.
    let begins = |line: &&str| line.starts_with("trial ") && line.ends_with(" of the budget left");
    let begun = ran.stderr.lines().filter(begins).count();
    assert!(kept >= 2 && kept + 1 == i64::try_from(begun).unwrap(), "{kept}: {}", ran.stderr);
    // The table is restored before each trial, because each trial repeats the keys of the one
    // before. The server also has time to settle.
    let failed = format!("select count(*) from failure join run using (run) where {trials}");
    assert_eq!(number(&place.at("r.assay"), &failed), 0);
    let rested = format!(
        "select count(*) from setting join run using (run) where {trials} and \
         name = 'generator.before_trial_ns' and cast(value as integer) >= 2000000000"
    );
    assert_eq!(number(&place.at("r.assay"), &rested), kept);
    let mut run = start(&place, "testbed:postgres", None, RESUME);
    // One line each for the beginning and the end of the trial.
    (0..2).for_each(|_| run.wait_for_line(&format!("trial {}: ", kept + 1)));
    run.signal(Signal::SIGINT);
    // On a machine with other work, the load generator may have failed in all three trials.
    let ran = run.wait_for_end();
    assert!([130, 3].contains(&ran.code), "{}: {}", ran.code, ran.stderr);
    let words = " in all; the trials are of 2 server starts";
    assert!(ran.stdout_line().contains(words), "{}", ran.stdout);
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    assert_eq!(document["capacity"]["server_starts"], 2, "{document}");
    assert!(is_empty(&place.at("tmp")));
}

#[test]
fn sweep_and_steps_name_the_point_at_which_their_server_died() {
    let question = "[question]\nask = How many?\nworkload = w.ini\n\
                    restore = delete from t where id >= 1000\n";
    let sweep = "[sweep]\nvary = concurrency(add): 1, 2, 4\nrepeats = 2\n";
    let steps = "[arm one]\n[arm two]\nbefore = select 1\n[saturate]\nvary = concurrency(add)\n\
                 values = 1, 2, 4\nuntil = throughput gains < 1%\n";
    for (section, second) in [(sweep, "run 2 of "), (steps, "run 2: step")] {
        let place = place();
        place.write("e.ini", format!("{question}{section}"));
        let mut run = start(&place, "testbed:postgres", None, OUT);
        run.wait_for_line(second);
        kill(server_in(&place.at("tmp")), Signal::SIGKILL).unwrap();
        let ran = run.wait_for_end().expect(4);
        assert!(ran.stderr.contains("continue with --resume r.assay"), "{}", ran.stderr);
        let error = ran.stderr.lines().find(|line| line.starts_with("error"));
        let names_it =
            |line: &str| line.contains("concurrency(add) = ") || line.contains("[arm one]");
        assert!(error.is_some_and(names_it), "{}", ran.stderr);
        let counting = "select count(*) from run where run = 1";
        assert_eq!(number(&place.at("r.assay"), counting), 1, "{}", ran.stderr);
        assert!(is_empty(&place.at("tmp")));
    }
}
