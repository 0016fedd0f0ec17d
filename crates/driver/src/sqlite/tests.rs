//! Tests specific to SQLite; the conformance suite covers the behaviour common to all drivers.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use base::{
    Class, Clock, Endpoint, Field, Monotonic, Nanos, RowMemory, RowPart, Seed, Stream, Target,
    Value,
};
use rt::{Options as RtOptions, run_real, run_virtual};

use super::session::Session;
use super::*;
use crate::Step;

pub(crate) fn real<T>(program: impl AsyncFnOnce(Rt) -> T) -> T {
    run_real(&RtOptions::default(), |rt| program(rt)).unwrap()
}

pub(super) fn open(url: &str) -> Result<Sqlite, Error> {
    Sqlite::open(&Target::parse(url).unwrap())
}

fn open_file(path: &Path, options: &str) -> Result<Sqlite, Error> {
    let mut target = Target::parse(&format!("sqlite:?{options}")).unwrap();
    target.endpoint = Endpoint::File(path.to_owned());
    Sqlite::open(&target)
}

/// Returns a driver and its temporary folder, which is removed with the driver.
pub(crate) fn scratch() -> (Sqlite, PathBuf) {
    let driver = open("sqlite:").unwrap();
    let folder = driver.path().parent().unwrap().to_owned();
    (driver, folder)
}

pub(super) fn execute(statement: PreparedId, first: u32, count: u32) -> Step {
    Step::Execute { statement, first, count }
}

pub(super) fn work<const N: usize>(steps: [Step; N], values: &[Value]) -> Work {
    let mut work = Work::default();
    work.steps.extend(steps);
    for value in values {
        work.values.push(*value);
    }
    work
}

/// Builds work that consists of texts, between `begin` and `commit` if there are several.
pub(crate) fn texts(texts: &[&str]) -> Work {
    let mut work = Work::default();
    for text in texts {
        let first = work.values.items().len() as u32;
        work.values.push_text(|buffer| buffer.push_str(text));
        work.steps.push(Step::ExecuteText { text: first });
    }
    if texts.len() > 1 {
        work.steps.insert(0, Step::Begin);
        work.steps.push(Step::Commit);
    }
    work
}

const ENDLESS: &str = "with recursive n (i) as (select 1 union all select i + 1 from n) \
                       select count(*) from n";

async fn setting(connection: &mut SqliteConnection, name: &str) -> String {
    let settings = connection.settings().await;
    let found = settings.into_iter().find(|(known, _)| known == name);
    found.expect("a setting of this name").1
}

// Locating and opening the file.

#[test]
fn temporary_database_is_removed_with_its_last_user() {
    let driver = open("sqlite:").unwrap();
    let (path, clone) = (driver.path().to_owned(), driver.clone());
    let folder = path.parent().unwrap().to_owned();
    real(async move |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        drop((driver, clone));
        connection.query_text("create table t (i)").await.unwrap();
        assert!(folder.join("database-wal").exists());
        connection.close().await;
        assert!(!folder.exists());
    });
}

#[test]
fn new_file_gets_a_write_ahead_log_and_existing_one_keeps_its_journal() {
    let (_scratch, folder) = scratch();
    real(async move |rt| {
        let journal = async |file: &str, options: &str| {
            let driver = open_file(&folder.join(file), options).unwrap();
            let mut connection = driver.connect(&rt).await.unwrap();
            let journal = setting(&mut connection, "journal_mode").await;
            connection.close().await;
            journal
        };
        assert_eq!(journal("new", "").await, "wal");
        assert_eq!(journal("old", "journal=delete").await, "delete");
        assert_eq!(journal("old", "").await, "delete");
        for mode in ["truncate", "persist", "memory", "off", "wal"] {
            assert_eq!(journal("old", &format!("journal={mode}")).await, mode);
        }
        assert_eq!(journal("old", "").await, "wal");
    });
}

#[test]
fn sqlite_options_are_applied_and_read_back() {
    let url = "sqlite:?busy-timeout=7s&synchronous=extra&cache-size=-4k&mmap-size=1M";
    let driver = open(url).unwrap();
    let settings = real(async |rt| driver.connect(&rt).await.unwrap().settings().await);
    for (name, value) in [
        ("journal_mode", "wal"),
        ("synchronous", "extra"),
        ("cache_size", "-4000"),
        ("mmap_size", "1000000"),
        ("busy_timeout", "7s"),
        ("page_size", "4096"),
        ("database_bytes", "4096"),
        ("foreign_keys", "0"),
        ("encoding", "UTF-8"),
    ] {
        let found = settings.iter().find(|(known, _)| known == name);
        assert_eq!(found.map(|(_, value)| value.as_str()), Some(value), "{name}");
    }
    assert_eq!(settings[0].1, format!("SQLite {}", rusqlite::version()));
}

#[test]
fn an_option_that_sqlite_does_not_grant_is_refused() {
    let error = open("sqlite:?mmap-size=1000000M").unwrap_err();
    assert_eq!(error.class(), Class::Statement);
    let message = error.message();
    assert!(message.contains("`mmap-size` is not granted for"), "{message}");
    assert!(message.contains("SQLite keeps `2147418112`"), "{message}");
}

#[test]
fn file_that_is_not_a_database_is_named() {
    let (_scratch, folder) = scratch();
    let path = folder.join("letter.txt");
    fs::write(&path, "Dear reader, this is a letter and no database. ".repeat(100)).unwrap();
    let error = open_file(&path, "").unwrap_err();
    assert_eq!(error.class(), Class::Disconnect);
    assert_eq!(error.code().as_str(), "SQLITE_NOTADB");
    let path = path.display();
    assert_eq!(
        error.message(),
        format!("cannot use the database file `{path}`: file is not a database; name another file")
    );
}

#[test]
fn names_special_to_sqlite_are_plain_names() {
    let (_scratch, folder) = scratch();
    let path = folder.join("file:x?mode=memory");
    let driver = open_file(&path, "").unwrap();
    let file = real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        let table = connection.query_text("select file from pragma_database_list").await;
        table.unwrap().single().map(PathBuf::from)
    });
    assert_eq!(file.map(|file| fs::canonicalize(file).unwrap()), fs::canonicalize(path).ok());
}

#[test]
fn sqlite_is_refused_in_virtual_time() {
    let driver = open("sqlite:").unwrap();
    let refused = run_virtual(|rt| async move { driver.connect(&rt).await.err() }).unwrap();
    let error = refused.expect("no connection");
    assert_eq!(error.class(), Class::Statement);
    assert!(error.message().contains("`sim:`"), "{error}");
}

/// The recorder and the measured connections share no lock of the allocator or the page cache.
#[test]
fn sqlite_is_compiled_without_statistics_that_lock_the_process() {
    let driver = open("sqlite:").unwrap();
    let table = real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        connection.query_text("pragma compile_options").await.unwrap()
    });
    let options: Vec<&str> = table.rows.iter().filter_map(|row| row[0].as_deref()).collect();
    for wanted in ["DEFAULT_MEMSTATUS=0", "DISABLE_PAGECACHE_OVERFLOW_STATS", "THREADSAFE=1"] {
        assert!(options.contains(&wanted), "{wanted} is set in .cargo/config.toml: {options:?}");
    }
    assert!(!options.contains(&"ENABLE_MEMORY_MANAGEMENT"));
}

// Ends of threads.

#[test]
fn no_thread_outlives_its_connection() {
    let driver = open("sqlite:").unwrap();
    for ending in ["close", "abandon idle", "abandon at work", "drop", "failed"] {
        let thread = real(async |rt| {
            let mut connection = driver.connect(&rt).await.unwrap();
            let thread = connection.thread.take().unwrap();
            match ending {
                "close" => connection.close().await,
                "abandon idle" => connection.abandon(),
                "abandon at work" => {
                    begin(&connection, ENDLESS).await;
                    connection.abandon();
                }
                "drop" => drop(connection),
                _ => assert!(connection.query_text("nonsense").await.is_err()),
            }
            thread
        });
        joined(thread);
    }
}

/// Returns the result of a thread that must end soon.
pub(crate) fn joined<T>(thread: JoinHandle<T>) -> T {
    let until = Monotonic.now() + Nanos::from_secs(30);
    while !thread.is_finished() {
        assert!(Monotonic.now() < until, "the thread goes on and on");
        std::thread::yield_now();
    }
    thread.join().expect("the thread ends in peace")
}

/// Hands over a command and returns when the thread is working on it, without waiting for the
/// answer.
async fn begin(connection: &SqliteConnection, text: &str) {
    let mut command = Some(Command::Query(text.into()));
    poll_fn(|context| {
        let exchange = connection.mailbox.poll_exchange(&mut command, context);
        assert!(exchange.is_pending());
        Poll::Ready(())
    })
    .await;
    while !connection.mailbox.is_working() {
        std::thread::yield_now();
    }
}

#[test]
fn an_interrupt_ends_a_statement_and_not_the_connection() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        begin(&connection, ENDLESS).await;
        let interrupt = connection.interrupt.take().expect("an open connection has one");
        let answer = poll_fn(|context| {
            // Repeated, because the statement may not have begun yet.
            interrupt.interrupt();
            context.waker().wake_by_ref();
            connection.mailbox.poll_exchange(&mut None, context)
        })
        .await;
        let Some(Response::Table(Err(error))) = answer else {
            panic!("an interrupted statement has no rows");
        };
        assert_eq!((error.class(), error.code().as_str()), (Class::Timeout, "SQLITE_INTERRUPT"));
        connection.query_text("select 1").await.unwrap();
    });
}

#[test]
fn statement_stops_if_its_caller_has_gone() {
    let driver = open("sqlite:").unwrap();
    let thread = real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        // As if the interrupt had come between two statements and been forgotten.
        connection.interrupt = None;
        begin(&connection, ENDLESS).await;
        connection.thread.take().unwrap()
    });
    joined(thread);
}

#[test]
fn a_dropped_connection_interrupts_its_statement() {
    let running = Arc::new(AtomicBool::new(false));
    let mut database = rusqlite::Connection::open_in_memory().unwrap();
    let flag = Arc::clone(&running);
    let raise = move || {
        flag.store(true, Ordering::Relaxed);
        false
    };
    database.progress_handler(100, Some(raise)).unwrap();
    let connection = SqliteConnection {
        driver: open("sqlite:").unwrap(),
        // A new mailbox is in the state of a working thread.
        mailbox: Arc::new(ConnectionMailbox::new()),
        thread: None,
        interrupt: Some(database.get_interrupt_handle()),
        placeholders: Vec::new(),
    };
    let thread = std::thread::spawn(move || {
        let endless = database.query_row(ENDLESS, [], |_| Ok(()));
        endless.unwrap_err().to_string()
    });
    while !running.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    drop(connection);
    assert_eq!(joined(thread), "interrupted");
}

#[test]
fn a_request_stops_between_its_statements_when_its_caller_goes() {
    let driver = open("sqlite:").unwrap();
    let database = rusqlite::Connection::open(driver.path()).unwrap();
    database.execute_batch("create table t (n)").unwrap();
    let mailbox = ConnectionMailbox::new();
    mailbox.hang_up();
    let waits = busy_timeout::BusyWaits::default();
    let counted = ConnectionCounts::new(&driver.shared.counters);
    let mut session = Session::new(&database, driver.path(), &mailbox, waits, counted).unwrap();
    let command = Command::Run(texts(&["insert into t values (1)"]));
    let Response::Finished(_, Err(error)) = session.execute(command) else {
        panic!("the command of a caller that hung up is not refused");
    };
    assert_eq!(error.class(), Class::Timeout);
    let count = database.query_row("select count(*) from t", [], |row| row.get::<_, i64>(0));
    assert_eq!(count.unwrap(), 0);
}

#[test]
fn a_wait_for_a_lock_ends_when_its_caller_goes() {
    let driver = open("sqlite:?busy-timeout=1h").unwrap();
    let thread = real(async |rt| {
        let mut holder = driver.connect(&rt).await.unwrap();
        holder.query_text("begin immediate").await.unwrap();
        let mut waiting = driver.connect(&rt).await.unwrap();
        begin(&waiting, "begin immediate").await;
        let thread = waiting.thread.take().unwrap();
        waiting.abandon();
        thread
    });
    joined(thread);
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn panic_on_the_thread_resumes_in_the_task() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        let mut unknown = work([execute(PreparedId(7), 0, 0)], &[]);
        let _ = connection.run(&mut unknown).await;
    });
}

// Statements and transactions.

#[test]
fn a_text_holds_exactly_one_statement() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        for (text, accepted) in [
            ("select 1", true),
            ("select 1;", true),
            ("select 1 ; -- and no more\n /* at all */ ", true),
            ("-- first a word\nselect 1", true),
            ("pragma optimize", true),
            ("", false),
            (" ; ", false),
            ("-- nothing", false),
            ("select 1; select 2", false),
            ("create table t (i); insert into t values (1)", false),
            ("select 1; nonsense", false),
        ] {
            let outcome = connection.prepare(text).await;
            assert_eq!(outcome.is_ok(), accepted, "{text:?}: {outcome:?}");
            if let Err(error) = outcome {
                assert_eq!(error.class(), Class::Statement);
                assert!(error.message().contains("write exactly one statement"), "{error}");
            }
        }
    });
}

/// Expects transactions that read before they write to wait for each other. If they began as
/// readers, one would overtake the other, which would then fail.
#[test]
fn a_transaction_that_writes_has_the_lock_from_its_beginning() {
    let driver = open("sqlite:?synchronous=off").unwrap();
    let total = real(async |rt| {
        let mut witness = driver.connect(&rt).await.unwrap();
        witness.query_text("create table t (n)").await.unwrap();
        witness.query_text("insert into t values (0)").await.unwrap();
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let (driver, rt) = (driver.clone(), rt.clone());
                rt.clone().spawn(async move {
                    let mut connection = driver.connect(&rt).await?;
                    let read = connection.prepare("select n from t").await?;
                    let write = connection.prepare("update t set n = n + 1").await?;
                    let steps = [Step::Begin, execute(read, 0, 0), execute(write, 0, 0)];
                    let mut work = work(steps, &[]);
                    work.steps.push(Step::Commit);
                    for _ in 0..50 {
                        work.reply.reset();
                        connection.run(&mut work).await?;
                    }
                    Ok::<(), Error>(())
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        witness.query_text("select n from t").await.unwrap()
    });
    assert_eq!(total.single(), Some("200"));
}

#[test]
fn read_only_transaction_blocks_no_writer() {
    let driver = open("sqlite:?busy-timeout=0").unwrap();
    real(async |rt| {
        let mut reader = driver.connect(&rt).await.unwrap();
        reader.query_text("create table t (n)").await.unwrap();
        let mut text = texts(&["select * from t"]);
        text.steps.insert(0, Step::Begin);
        reader.run(&mut text).await.unwrap();
        let mut writer = driver.connect(&rt).await.unwrap();
        writer.query_text("insert into t values (1)").await.unwrap();
    });
}

#[test]
fn texts_of_a_transaction_may_build_on_each_other() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        let mut work = texts(&["create table t (n)", "insert into t values (1), (2)"]);
        connection.run(&mut work).await.unwrap();
        assert_eq!(work.reply.rows, 2);
        assert_eq!(work.reply.statements.len(), 2);
        assert_eq!(work.reply.bytes_sent, 18 + 29);
    });
}

#[test]
fn a_transaction_that_fails_at_its_end_is_rolled_back() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        connection.query_text("pragma foreign_keys = on").await.unwrap();
        connection.query_text("create table a (i primary key)").await.unwrap();
        let child = "create table b (i references a (i) deferrable initially deferred)";
        connection.query_text(child).await.unwrap();
        let mut orphan = texts(&["insert into a values (1)", "insert into b values (2)"]);
        let error = connection.run(&mut orphan).await.unwrap_err();
        assert_eq!(error.class(), Class::Constraint);
        assert_eq!(error.code().as_str(), "SQLITE_CONSTRAINT_FOREIGNKEY");
        let left = connection.query_text("select count(*) from a").await.unwrap();
        assert_eq!(left.single(), Some("0"));
        let mut family = texts(&["insert into a values (1)", "insert into b values (1)"]);
        connection.run(&mut family).await.unwrap();
    });
}

/// Lets a commit wait for a reader, as it must with a rollback journal, until the lock timeout.
/// Expects the transaction to be rolled back.
#[test]
fn commit_that_times_out_on_a_lock_is_rolled_back() {
    let driver = open("sqlite:?journal=delete&busy-timeout=3ms").unwrap();
    real(async |rt| {
        let mut writer = driver.connect(&rt).await.unwrap();
        writer.query_text("create table t (n)").await.unwrap();
        let mut reader = driver.connect(&rt).await.unwrap();
        let mut reading = texts(&["select * from t"]);
        reading.steps.insert(0, Step::Begin);
        reader.run(&mut reading).await.unwrap();
        let mut writing = texts(&["insert into t values (1)", "insert into t values (2)"]);
        let error = writer.run(&mut writing).await.unwrap_err();
        assert_eq!((error.class(), error.code().as_str()), (Class::Conflict, "SQLITE_BUSY"));
        assert_eq!(writing.reply.busy_waits, 1);
        // Waits between requests are not counted for a request.
        writer.query_text("insert into t values (3)").await.unwrap_err();
        reader.run(&mut work([Step::Commit], &[])).await.unwrap();
        writing.reply.reset();
        writer.run(&mut writing).await.unwrap();
        assert_eq!(writing.reply.busy_waits, 0);
    });
}

// Results.

#[test]
fn rows_as_text_keep_their_types_apart() {
    let driver = open("sqlite:").unwrap();
    let query = "select 1, 1.0, 1e300, 'x', x'00ff', null, cast(x'ff41' as text)";
    let table = real(async |rt| driver.connect(&rt).await.unwrap().query_text(query).await);
    let row = table.unwrap().rows.remove(0);
    let row: Vec<_> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
    assert_eq!(row, ["1", "1.0", "1e300", "x", "X'00FF'", "NULL", "\u{fffd}A"]);
}

#[test]
fn bytes_and_rows_are_counted_by_type() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        let echo = connection.prepare("select ?, ?, ?, x'0000'").await.unwrap();
        let mut work = work([execute(echo, 0, 3)], &[Value::Int(1), Value::Null]);
        work.values.push_text(|buffer| buffer.push_str("größer"));
        connection.run(&mut work).await.unwrap();
        assert_eq!((work.reply.bytes_sent, work.reply.bytes_received), (8 + 8, 8 + 8 + 2));
        assert_eq!(work.reply.rows, 1);
    });
}

#[test]
fn statement_that_fails_midway_has_no_rows() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        let minimum = "select 1 union all select abs(-9223372036854775808)";
        let mut work = texts(&["select x'00ff', 'a'", minimum]);
        work.capture = RowMemory::default().buffer();
        connection.run(&mut work).await.unwrap_err();
        let row = [Field::Bytes(b"\x00\xff"), Field::Bytes(b"a")].map(RowPart::Field);
        assert!(work.capture.parts().eq(row.into_iter().chain([RowPart::End])));
    });
}

#[test]
fn a_statement_follows_a_changed_table() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        connection.query_text("create table t (a)").await.unwrap();
        connection.query_text("insert into t values (1)").await.unwrap();
        let all = connection.prepare("select * from t").await.unwrap();
        for columns in 1..4 {
            let mut work = work([execute(all, 0, 0)], &[]);
            connection.run(&mut work).await.unwrap();
            assert_eq!(work.reply.bytes_received, 8 * columns);
            let wider = format!("alter table t add column c{columns} default 7");
            connection.query_text(&wider).await.unwrap();
        }
    });
}

#[test]
fn not_a_number_is_null() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        connection.query_text("create table t (a)").await.unwrap();
        let insert = connection.prepare("insert into t values (?)").await.unwrap();
        let mut work = work([execute(insert, 0, 1)], &[Value::Real(f64::NAN)]);
        connection.run(&mut work).await.unwrap();
        let table = connection.query_text("select a from t").await.unwrap();
        assert_eq!(table.rows, [[None]]);
    });
}

// Missing, replaced and damaged files.

#[test]
fn removed_file_loses_open_connections_and_refuses_new_ones() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        fs::remove_file(driver.path()).unwrap();
        let error = connection.run(&mut texts(&["select 1"])).await.unwrap_err();
        assert!(error.class().ends_connection());
        assert!(error.message().contains("removed or replaced"), "{error}");
        drop(connection);
        let error = driver.connect(&rt).await.err().expect("no connection");
        assert_eq!(error.class(), Class::Disconnect);
        let path = driver.path().display();
        assert_eq!(
            error.message(),
            format!(
                "cannot open the database file `{path}`: No such file or directory (os error 2)"
            )
        );
        assert!(!driver.path().exists(), "a lost file is not made again");
    });
}

#[test]
fn full_disk_is_an_error_and_leaves_connection_usable() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        connection.query_text("create table t (a)").await.unwrap();
        connection.query_text("pragma max_page_count = 10").await.unwrap();
        let fill = "insert into t values (zeroblob(100000))";
        let error = connection.run(&mut texts(&[fill, fill])).await.unwrap_err();
        assert_eq!((error.class(), error.code().as_str()), (Class::Server, "SQLITE_FULL"));
        connection.run(&mut texts(&["insert into t values (1)"])).await.unwrap();
    });
}

#[test]
fn a_read_only_database_can_be_read() {
    let driver = open("sqlite:").unwrap();
    real(async |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        connection.query_text("create table t (a)").await.unwrap();
        connection.query_text("pragma query_only = on").await.unwrap();
        connection.run(&mut texts(&["select * from t"])).await.unwrap();
        let write = connection.run(&mut texts(&["insert into t values (1)"])).await;
        let error = write.unwrap_err();
        assert_eq!((error.class(), error.code().as_str()), (Class::Server, "SQLITE_READONLY"));
    });
}

/// Invariant 7: whatever a file contains, the driver returns values or errors.
#[test]
fn invariant_7_no_file_makes_the_driver_panic() {
    let (_scratch, folder) = scratch();
    let path = folder.join("good");
    let driver = open_file(&path, "journal=delete").unwrap();
    real(async move |rt| {
        let mut connection = driver.connect(&rt).await.unwrap();
        for text in [
            "create table t (id integer primary key, \"größe\" text, n real)",
            "create index by_n on t (n)",
            "create view v as select \"größe\" as \"wie groß\" from t",
            "with recursive n (i) as (select 1 union all select i + 1 from n limit 300) \
             insert into t select i, printf('%.*c', 10 * i, 'x'), i / 3.0 from n",
        ] {
            connection.query_text(text).await.unwrap();
        }
        connection.close().await;
        let good = fs::read(&path).unwrap();
        let randomness = Stream::new(Seed(7), "test", "damage");
        for round in 0..150 {
            let mut draw = randomness.draw(round);
            let mut bytes = good.clone();
            for _ in 0..1 << (round % 8) {
                // Half of the damage is to the first page, which holds the schema.
                let range = if draw.unit() < 0.5 { 4_096 } else { bytes.len() };
                let place = (draw.unit() * range as f64) as usize;
                bytes[place] = (draw.unit() * 256.0) as u8;
            }
            let path = folder.join(format!("bad-{round}"));
            fs::write(&path, bytes).unwrap();
            use_all(&rt, &path).await;
            fs::remove_file(&path).unwrap();
        }
    });
}

/// Uses a database in all ways and ignores the outcome.
async fn use_all(rt: &Rt, path: &Path) {
    let Ok(driver) = open_file(path, "synchronous=off") else {
        return;
    };
    let Ok(mut connection) = driver.connect(rt).await else {
        return;
    };
    for text in ["select * from t", "select * from v", "pragma integrity_check"] {
        let _ = connection.query_text(text).await;
        let _ = connection.run(&mut texts(&[text])).await;
    }
    let writing = ["update t set n = n + 1", "insert into t (n) values (1)"];
    let _ = connection.run(&mut texts(&writing)).await;
    let _ = connection.settings().await;
    connection.close().await;
}

#[test]
fn column_with_an_unreadable_name_is_called_question_mark() {
    let (_scratch, folder) = scratch();
    let path = folder.join("odd");
    real(async move |rt| {
        let driver = open_file(&path, "journal=delete").unwrap();
        let mut connection = driver.connect(&rt).await.unwrap();
        connection.query_text("create table t (abcdefgh)").await.unwrap();
        connection.close().await;
        let mut bytes = fs::read(&path).unwrap();
        let place = bytes.windows(8).position(|bytes| bytes == b"abcdefgh").unwrap();
        bytes[place] = 0xff;
        fs::write(&path, bytes).unwrap();
        let mut connection = driver.connect(&rt).await.unwrap();
        let table = connection.query_text("select * from t").await.unwrap();
        assert_eq!(table.columns, ["?"]);
    });
}

// Costs of a request.

/// Runs `requests` requests on a connection that another thread of the test serves.
fn request_again_and_again(mut connection: SqliteConnection, requests: u32) {
    real(async move |_| {
        let opened = connection.exchange(None).await.unwrap();
        assert!(matches!(opened, Response::Opened(Ok(_))));
        connection.query_text("create table t (n, s)").await.unwrap();
        let insert = connection.prepare("insert into t values (?, ?)").await.unwrap();
        let select = connection.prepare("select * from t where n = ?").await.unwrap();
        let mut work = Work { capture: RowMemory::default().buffer(), ..Work::default() };
        for number in 0..requests {
            work.reply.reset();
            work.capture.clear();
            work.values.clear();
            work.steps.clear();
            work.values.push(Value::Int(number.into()));
            work.values.push_text(|buffer| buffer.push_str("a text"));
            work.values.push_text(|buffer| buffer.push_str("select 1 where 2 = 3"));
            work.steps.push(Step::Begin);
            work.steps.push(execute(insert, 0, 2));
            work.steps.push(execute(select, 0, 1));
            work.steps.push(Step::ExecuteText { text: 2 });
            work.steps.push(Step::Commit);
            connection.run(&mut work).await.unwrap();
            assert_eq!(work.reply.rows, 2);
        }
    });
}

/// Invariant 3: the measured path allocates nothing, on either side of the handoff. SQLite's own
/// allocations are not made through Rust's allocator and are not counted.
#[test]
fn invariant_3_a_request_allocates_nothing() {
    let count = |requests: u32| {
        let driver = open("sqlite:?synchronous=off").unwrap();
        let mailbox = Arc::new(ConnectionMailbox::new());
        let connection = SqliteConnection {
            driver: driver.clone(),
            mailbox: Arc::clone(&mailbox),
            thread: None,
            interrupt: None,
            placeholders: Vec::new(),
        };
        let caller = std::thread::spawn(move || {
            allocation_counter::measure(|| request_again_and_again(connection, requests))
        });
        let serving = allocation_counter::measure(|| {
            let counted = ConnectionCounts::new(&driver.shared.counters);
            thread::run_thread(driver.path(), &driver.shared.options, &mailbox, counted);
        });
        (caller.join().unwrap().count_total, serving.count_total)
    };
    assert_eq!(count(10), count(1_010), "allocations of the task and of the thread");
}

/// Returns the processors that a thread may run on, as the system prints them.
fn processors(task: &Path) -> Option<String> {
    // A thread may end meanwhile.
    let status = fs::read_to_string(task.join("status")).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

#[test]
fn a_bound_lane_does_not_bind_the_threads_of_its_connections() {
    let driver = open("sqlite:").unwrap();
    let cpus = rt::processors().unwrap();
    let options = RtOptions { cpu: Some(cpus[0]), ..RtOptions::default() };
    // A separate thread is bound, not the one that runs other tests.
    let bound = std::thread::spawn(move || {
        run_real(&options, async |rt| {
            let _connection = driver.connect(&rt).await.unwrap();
            let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
            let name = |task: &PathBuf| fs::read_to_string(task.join("comm")).unwrap_or_default();
            let threads = tasks.filter(|task| name(task).trim() == "sqlite");
            let threads: Vec<_> = threads.filter_map(|task| processors(&task)).collect();
            (processors(Path::new("/proc/thread-self")), threads)
        })
        .unwrap()
    });
    let (lane, threads) = joined(bound);
    assert_eq!(lane, Some(cpus[0].to_string()));
    // Threads of other tests are not bound at all.
    let is_free = |list: &String| cpus.len() == 1 || *list != cpus[0].to_string();
    assert!(!threads.is_empty() && threads.iter().all(is_free), "{threads:?}");
}
