//! Excerpts of the loaded tables, over connections that answer in different ways.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use base::{Clock, Dialect, Nanos, Stamp};
use driver::{Connection, Driver, Error, PreparedId, Table, Work};
use engine::{LaneOutlet, Listener, Options, Prepare, RunEvent, Stop, run};
use record::{ExcerptKind, Grid, MemoryOutlet, Totals};
use rt::Rt;
use workload::Overrides;

use crate::support::{only, virtually};

const WORKLOAD: &str = "duration = 100ms\n[load a]\nrows = 3\ncolumns = id: row()\n[load b]\n\
                        rows = 3\ncolumns = id: row()\n[read]\nquery = select 1\n\
                        concurrency = 1\n";

/// The answer to a query about a table, except for a count of its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// One row if the query asks whether `b` has rows, otherwise none; after this time.
    After(Nanos),
    /// A result without its rows, which were too long.
    Cut,
    /// No answer, and the user ends the run.
    Never,
}

/// A server with the tables `a` and `b`. Every count of rows is 3, but a query that looks for rows
/// before a load finds one only in `b`.
#[derive(Clone)]
struct Server {
    answer: Answer,
    stop: Stop,
    opened: Arc<Mutex<Vec<Stamp>>>,
    abandoned: Arc<AtomicU32>,
}

struct Session {
    server: Server,
    rt: Rt,
}

impl Driver for Server {
    type Connection = Session;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn stores_data(&self) -> bool {
        true
    }

    async fn connect(&self, rt: &Rt) -> Result<Session, Error> {
        self.opened.lock().expect("no panic").push(rt.now());
        Ok(Session { server: self.clone(), rt: rt.clone() })
    }
}

impl Connection for Session {
    async fn prepare(&mut self, _text: &str) -> Result<PreparedId, Error> {
        Ok(PreparedId(0))
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        work.reply.sent = Some(self.rt.now());
        self.rt.sleep(Nanos::from_millis(1)).await;
        work.reply.done = self.rt.now();
        Ok(())
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        if sql.contains("count(*)") {
            return Ok(Table { rows: vec![vec![Some("3".to_owned())]], ..Table::default() });
        }
        let rows = match sql {
            "select 1 from b limit 1" => vec![vec![Some("1".to_owned())]],
            _ => Vec::new(),
        };
        match self.server.answer {
            Answer::After(span) => self.rt.sleep(span).await,
            Answer::Cut => return Ok(Table { is_cut: true, ..Table::default() }),
            Answer::Never => {
                self.server.stop.interrupt();
                pending::<()>().await;
            }
        }
        Ok(Table { rows, ..Table::default() })
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }

    async fn close(self) {}

    fn abandon(self) {
        self.server.abandoned.fetch_add(1, Ordering::Relaxed);
    }
}

/// The table and the kind of an excerpt, and its first value.
type Entry = (String, ExcerptKind, Option<String>);

/// A listener that keeps excerpts.
#[derive(Default)]
struct ExcerptListener(Mutex<Vec<Entry>>);

impl Listener for ExcerptListener {
    fn on_event(&self, event: &RunEvent<'_>) {
        if let RunEvent::Excerpt(excerpt) = event {
            let value = excerpt.rows.first().and_then(|row| row[0].clone());
            self.0.lock().expect("no panic").push((excerpt.subject.clone(), excerpt.kind, value));
        }
    }
}

/// Runs the workload on tables that exist. Returns the excerpts, and the server.
fn shown(answer: Answer, options: Options) -> (Vec<Entry>, Server) {
    prepared(answer, Options { prepare: Prepare::Verify, ..options })
}

/// Prepares the tables and runs the workload. Returns the excerpts, and the server.
fn prepared(answer: Answer, options: Options) -> (Vec<Entry>, Server) {
    let listener = Arc::new(ExcerptListener::default());
    let server = run_workload(WORKLOAD, answer, &options, Arc::clone(&listener) as _);
    let shown = std::mem::take(&mut *listener.0.lock().expect("no panic"));
    (shown, server)
}

/// Prepares the tables of a workload and runs it. Returns the server.
fn run_workload(
    file: &str,
    answer: Answer,
    options: &Options,
    listener: Arc<dyn Listener>,
) -> Server {
    let (plan, found) = workload::plan(file, &Overrides::default());
    let plan = plan.unwrap_or_else(|| panic!("{found:?}"));
    let totals = Totals::new(Grid::new(plan.warmup.known(), plan.duration), &[1]);
    let memory = MemoryOutlet::new(totals);
    let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let (stop, opened, abandoned) = (Stop::default(), Arc::default(), Arc::default());
    let server = Server { answer, stop: stop.clone(), opened, abandoned };
    let drivers = only(server.clone());
    run(&plan, drivers, options, outlet, &stop, listener).expect("a run");
    server
}

/// A listener that keeps the progress of `[setup]`.
#[derive(Default)]
struct SetupListener(Mutex<Vec<(usize, usize)>>);

impl Listener for SetupListener {
    fn on_event(&self, event: &RunEvent<'_>) {
        if let RunEvent::Setup { done, of } = event {
            self.0.lock().expect("no panic").push((*done, *of));
        }
    }
}

#[test]
fn progress_of_setup_grows_although_an_index_is_created_last() {
    let setup = "[setup]\nquery = create index i on b (id)\nquery = create table b (id int)\n";
    let file = WORKLOAD
        .replace("[load a]", &format!("{setup}[load a]"))
        .replace("[read]", "indexes = after\n[read]");
    let listener = Arc::new(SetupListener::default());
    let answer = Answer::After(Nanos::ZERO);
    run_workload(&file, answer, &virtually(1), Arc::clone(&listener) as _);
    assert_eq!(*listener.0.lock().expect("no panic"), [(0, 2), (1, 2)]);
}

fn entry(table: &str, kind: ExcerptKind, value: Option<&str>) -> Entry {
    (table.to_owned(), kind, value.map(str::to_owned))
}

#[test]
fn rows_of_tables_that_the_run_has_not_loaded_are_not_read() {
    let (shown, server) = shown(Answer::After(Nanos::ZERO), virtually(1));
    let parts = [ExcerptKind::Columns, ExcerptKind::Indexes];
    let expected = ["a", "b"].map(|table| parts.map(|kind| entry(table, kind, None)));
    assert_eq!(shown, expected.concat());
    assert_eq!(server.abandoned.load(Ordering::Relaxed), 0);
    let opened = server.opened.lock().expect("no panic").len();
    assert_eq!(opened, 2, "a control connection and that of the client, with its turn");
}

#[test]
fn rows_of_a_loaded_table_are_read_only_if_all_are_of_the_run() {
    let (shown, _) = prepared(Answer::After(Nanos::ZERO), virtually(1));
    let expected = [
        entry("a", ExcerptKind::Columns, None),
        entry("a", ExcerptKind::Indexes, None),
        entry("a", ExcerptKind::Rows, None),
        entry("b", ExcerptKind::Columns, None),
        entry("b", ExcerptKind::Indexes, None),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn table_that_is_not_answered_before_its_load_is_filled_over_another_connection() {
    let (shown, server) = prepared(Answer::After(Nanos::from_millis(1_900)), virtually(1));
    let expected = [
        entry("a", ExcerptKind::Columns, None),
        entry("a", ExcerptKind::Unreadable, Some("no answer within 2s")),
        entry("b", ExcerptKind::Unreadable, Some("no answer within 2s")),
    ];
    assert_eq!(shown, expected);
    // These are the connection that looked for rows, and the one that read the tables.
    assert_eq!(server.abandoned.load(Ordering::Relaxed), 2);
}

#[test]
fn tables_have_two_seconds_together_and_a_late_answer_is_cancelled() {
    let (shown, server) = shown(Answer::After(Nanos::from_millis(900)), virtually(1));
    let expected = [
        entry("a", ExcerptKind::Columns, None),
        entry("a", ExcerptKind::Indexes, None),
        entry("b", ExcerptKind::Unreadable, Some("no answer within 2s")),
    ];
    assert_eq!(shown, expected);
    let opened = server.opened.lock().expect("no panic");
    let waited = opened[1].since(opened[0]);
    assert!((1.9..2.1).contains(&waited.as_secs_f64()), "{waited}");
    assert_eq!(server.abandoned.load(Ordering::Relaxed), 1);
}

#[test]
fn end_of_the_run_cancels_the_reading_of_a_table() {
    let options = Options { is_virtual: false, ..virtually(1) };
    let (shown, server) = shown(Answer::Never, options);
    assert_eq!(shown, []);
    assert_eq!(server.abandoned.load(Ordering::Relaxed), 1);
}

#[test]
fn answer_without_its_rows_is_not_an_empty_table() {
    let (shown, _) = shown(Answer::Cut, virtually(1));
    let why = Some("the answer exceeds 16 MiB");
    let unreadable = |table| entry(table, ExcerptKind::Unreadable, why);
    assert_eq!(shown, ["a", "a", "b", "b"].map(unreadable));
}

#[test]
fn tables_are_read_only_if_requested() {
    let options = Options { shows_tables: false, ..virtually(1) };
    assert_eq!(shown(Answer::After(Nanos::ZERO), options).0, []);
}
