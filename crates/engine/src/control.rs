//! The phases on control connections: setup, loads and teardown.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use base::{Class, Clock, Code, Nanos, Stamp, Values, WallTime};
use driver::{Batches, Connection, Driver, Duplicates, Error, Insert, Method};
use rt::{Rt, Timer, unless_fired, within};
use workload::{
    FixedStatement, Indexes, JobTarget, Load, LoadMethod, OnDuplicate, Plan, RowGenerator,
};

use crate::error::{Failed, Place};
use crate::news::RunEvent;
use crate::run_context::RunContext;
use crate::stop::Stop;
use crate::targets::unreachable;
use crate::waits::{unless, unless_ended};

/// A table that was filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The table.
    pub table: String,
    /// The number of rows that were committed.
    pub rows: u64,
    /// Bytes of values that were sent.
    pub bytes: u64,
    /// Beginning of the load, on the run's clock.
    pub began: Stamp,
    /// Duration of the load.
    pub took: Nanos,
}

/// The progress of the preparation.
pub(crate) enum Prepared {
    /// All of it is done.
    Ready(Vec<Loaded>),
    /// The user ended the run first.
    Interrupted {
        /// True if everything was set up that teardown undoes.
        setup_done: bool,
        /// True if a statement was given up whose answer is still outstanding on the connection.
        owes_answer: bool,
        loaded: Vec<Loaded>,
    },
}

/// The progress through a list of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatementProgress {
    /// All of them ran.
    End,
    /// The user ended the run between two of them.
    Break,
    /// The user ended the run within one of them, which was given up.
    Within,
}

/// The context of the control phases.
pub(crate) struct Control<'a, D> {
    pub(crate) rt: &'a Rt,
    pub(crate) context: &'a RunContext<D>,
}

/// A failed preparation. `setup_done` says if teardown may run: objects that were never set up must
/// not be torn down, because they may belong to another user.
pub(crate) struct PrepareError {
    pub(crate) failed: Failed,
    pub(crate) setup_done: bool,
}

impl<D: Driver> Control<'_, D> {
    /// Runs `[setup]`, fills the tables and makes their indexes.
    pub(crate) async fn prepare(&self) -> Result<Prepared, PrepareError> {
        let before = |failed| PrepareError { failed, setup_done: false };
        self.reach_named_targets().await.map_err(before)?;
        if !self.plan().asks(JobTarget::Main) {
            return Ok(Prepared::Ready(Vec::new()));
        }
        let mut connection = self.reach().await.map_err(before)?;
        let prepared = self.prepare_on(&mut connection).await;
        match prepared {
            Ok(Prepared::Interrupted { owes_answer: true, .. }) => connection.abandon(),
            _ => connection.close().await,
        }
        prepared
    }

    async fn prepare_on(&self, connection: &mut D::Connection) -> Result<Prepared, PrepareError> {
        let before = |failed| PrepareError { failed, setup_done: false };
        for load in &self.plan().loads {
            self.check_load(load).map_err(before)?;
        }
        let after = |failed| PrepareError { failed, setup_done: true };
        self.report_settings(connection).await;
        let (now, later): (Vec<_>, Vec<_>) = (0..self.plan().setup.len())
            .partition(|&place| !is_deferred(&self.plan().setup[place], &self.plan().loads));
        let setup = self.run_fixed(connection, "setup", &self.plan().setup, &now).await;
        let interrupted = |reached, setup_done, loaded| {
            let owes_answer = reached == StatementProgress::Within;
            Prepared::Interrupted { setup_done, owes_answer, loaded }
        };
        match setup.map_err(before)? {
            StatementProgress::End => {}
            reached => return Ok(interrupted(reached, false, Vec::new())),
        }
        let mut loaded = Vec::new();
        for load in &self.plan().loads {
            loaded.push(self.load(load).await.map_err(after)?);
            if self.context.stop.is_asked() {
                return Ok(interrupted(StatementProgress::Break, true, loaded));
            }
        }
        let indexed = self.run_fixed(connection, "setup", &self.plan().setup, &later).await;
        match indexed.map_err(after)? {
            StatementProgress::End => {}
            reached => return Ok(interrupted(reached, true, loaded)),
        }
        // Setup may have changed settings, and loads have made the database larger.
        self.report_settings(connection).await;
        self.report_facts(connection).await;
        Ok(Prepared::Ready(loaded))
    }

    /// Checks that every table has the expected rows, in place of setup and loads.
    pub(crate) async fn verify(&self) -> Result<(), Failed> {
        self.reach_named_targets().await?;
        if !self.plan().asks(JobTarget::Main) {
            return Ok(());
        }
        let mut connection = self.reach().await?;
        match unless_ended(self.verify_on(&mut connection), self.rt, &self.context.stop).await {
            Some(verified) => {
                connection.close().await;
                verified
            }
            // The lanes notice for themselves that the run is over.
            None => {
                connection.abandon();
                Ok(())
            }
        }
    }

    async fn verify_on(&self, connection: &mut D::Connection) -> Result<(), Failed> {
        self.report_settings(connection).await;
        for load in &self.plan().loads {
            let place = place_of(load);
            if !self.driver().keeps_data() {
                let reason = "this target keeps no data: leave out --loaded".to_owned();
                return Err(Failed::Unsupported { place, reason });
            }
            self.context.listener.hear(&RunEvent::Counting { table: &load.table });
            let sql = format!("select count(*) from {}", load.table);
            let result = connection.query_text(&sql).await;
            let refused = |why: String, help: &str| Failed::Unsupported {
                place: place.clone(),
                reason: format!("{why}: {help}"),
            };
            let count = result.map_err(|error| match failure(place.clone(), error) {
                Failed::Statement { error, .. } => {
                    let why =
                        format!("the rows of table {} cannot be counted: {error}", load.table);
                    refused(why, "run without --loaded")
                }
                other => other,
            })?;
            let found = count.single().unwrap_or("no");
            if found != load.rows.to_string() {
                let (table, rows) = (&load.table, load.rows);
                let why = format!("table {table} has {found} rows instead of {rows}");
                return Err(refused(why, &other_rows(found)));
            }
        }
        self.report_facts(connection).await;
        Ok(())
    }

    /// Runs all of `[teardown]`: a failed statement is reported and the next one runs.
    ///
    /// A statement that is not answered within the plan's `stall-timeout` is given up, and the next
    /// one gets a new connection, since one table may be locked and the others not. All statements
    /// after the first unanswered one share one more such time, because the server may be gone. A
    /// stop request during the teardown ends it; a run that is ended at once has no teardown.
    pub(crate) async fn tear_down(&self) {
        let statements = &self.plan().teardown;
        let stop = &self.context.stop;
        if statements.is_empty() || stop.is_at_once() {
            return;
        }
        let was_asked = stop.is_asked();
        let is_over = || stop.is_at_once() || stop.is_asked() && !was_asked;
        let mut patience = TeardownTimeout::new(self.plan().stall_timeout);
        let mut connection = None;
        for (place, statement) in statements.iter().enumerate() {
            if patience.is_over(self.rt.now()) {
                return self.report_skipped(place);
            }
            self.context.listener.hear(&RunEvent::Teardown { done: place, of: statements.len() });
            let failed = |error| {
                let place = fixed_place("teardown", place, statement);
                self.context
                    .listener
                    .hear(&RunEvent::TeardownFailed(Failed::Statement { place, error }));
            };
            let mut open = match connection.take() {
                Some(open) => open,
                None => match unless(self.connect(), self.rt, is_over).await {
                    None => return,
                    Some(Ok(open)) => open,
                    Some(Err(failed)) => {
                        self.context.listener.hear(&RunEvent::TeardownFailed(failed));
                        return self.report_skipped(place);
                    }
                },
            };
            let limit = patience.left(self.rt.now());
            let answer = within(self.rt, limit, open.query_text(&statement.text));
            let Some(answer) = unless(answer, self.rt, is_over).await else {
                return open.abandon();
            };
            match answer {
                Some(Ok(_)) => connection = Some(open),
                Some(Err(error)) => {
                    failed(error);
                    connection = Some(open);
                }
                None => {
                    open.abandon();
                    failed(patience.lose(self.rt.now()));
                }
            }
        }
        if let Some(open) = connection {
            open.close().await;
        }
    }

    /// Reports that the statements of `[teardown]` from index `from` on are not run.
    fn report_skipped(&self, from: usize) {
        let of = self.plan().teardown.len();
        self.context.listener.hear(&RunEvent::TeardownSkipped { from, of });
    }

    /// Connects to the targets other than the main one before anything is changed there, and reads
    /// their settings.
    async fn reach_named_targets(&self) -> Result<(), Failed> {
        for (target, driver) in self.context.drivers.iter() {
            let Some(name) = self.plan().name_of(target) else { continue };
            let refused = |error| unreachable(self.plan(), target, error);
            let mut connection = reach(driver, self.rt).await.map_err(refused)?;
            let mut settings = connection.settings().await;
            settings.extend(connection.facts().await);
            self.context.listener.hear(&RunEvent::Settings { target: Some(name), settings });
            connection.close().await;
        }
        Ok(())
    }

    async fn report_settings(&self, connection: &mut D::Connection) {
        let settings = connection.settings().await;
        self.context.listener.hear(&RunEvent::Settings { target: None, settings });
    }

    /// Reports facts about the server beyond its settings. Comes last on its connection, because an
    /// answer that was too late may still arrive.
    async fn report_facts(&self, connection: &mut D::Connection) {
        let settings = connection.facts().await;
        self.context.listener.hear(&RunEvent::Settings { target: None, settings });
    }

    fn plan(&self) -> &Plan {
        &self.context.plan
    }

    /// Returns the driver of the main target, which alone is set up, loaded and torn down.
    fn driver(&self) -> &D {
        self.context.drivers.of(JobTarget::Main)
    }

    async fn connect(&self) -> Result<D::Connection, Failed> {
        self.driver().connect(self.rt).await.map_err(Failed::Unreachable)
    }

    /// Connects for the first time, to every server of the target.
    async fn reach(&self) -> Result<D::Connection, Failed> {
        reach(self.driver(), self.rt).await.map_err(Failed::Unreachable)
    }

    /// Runs the statements at `places` in order, until the user ends the run.
    async fn run_fixed(
        &self,
        connection: &mut D::Connection,
        section: &str,
        statements: &[FixedStatement],
        places: &[usize],
    ) -> Result<StatementProgress, Failed> {
        for &place in places {
            if self.context.stop.is_asked() {
                return Ok(StatementProgress::Break);
            }
            self.context.listener.hear(&RunEvent::Setup { done: place, of: statements.len() });
            let statement = &statements[place];
            let answer = connection.query_text(&statement.text);
            let Some(answer) = unless_ended(answer, self.rt, &self.context.stop).await else {
                return Ok(StatementProgress::Within);
            };
            answer.map_err(|error| failure(fixed_place(section, place, statement), error))?;
        }
        match self.context.stop.is_asked() {
            true => Ok(StatementProgress::Break),
            false => Ok(StatementProgress::End),
        }
    }

    async fn load(&self, load: &Load) -> Result<Loaded, Failed> {
        let began = self.rt.now();
        let shared = Rc::new(LoadProgress::new(load, self.rt));
        let writers: Vec<_> = (0..load.writers as usize)
            .map(|place| {
                let (filling, driver) = (Rc::clone(&shared), self.driver().clone());
                let (rt, stop, started) =
                    (self.rt.clone(), self.context.stop.clone(), self.context.started);
                let writing =
                    async move { filling.write(place, &driver, &rt, &stop, started).await };
                self.rt.spawn(writing)
            })
            .collect();
        self.watch(load, &shared, began).await;
        let mut connections = Vec::new();
        for writer in writers {
            connections.extend(writer.await);
        }
        if let Some(why) = shared.fallback.take() {
            self.context.listener.hear(&RunEvent::LoadFallback { table: &load.table, why: &why });
        }
        let took = shared.last_commit.get().since(began);
        self.report(load, &shared, took);
        // Before the sessions end, while their resource use can still be read.
        self.context.listener.hear(&RunEvent::LoadEnds);
        for connection in connections {
            connection.close().await;
        }
        if let Some(error) = shared.failed.take() {
            return Err(failure(place_of(load), error));
        }
        let is_short = shared.committed.get() < load.rows && !self.context.stop.is_asked();
        if let Some(error) = shared.refused.take().filter(|_| is_short) {
            return Err(Failed::Unreachable(error));
        }
        Ok(Loaded {
            table: load.table.clone(),
            rows: shared.committed.get(),
            bytes: shared.bytes.get(),
            began,
            took,
        })
    }

    /// Reports the progress of a load until all of its rows are written, and once that it will take
    /// longer. That report waits until all writers are connected or refused, because an observer
    /// that connects then must not take a writer's connection.
    ///
    /// Writers that are still at work at the end have [`LAST_BATCH`] to finish, and no time if the
    /// load stalled.
    async fn watch(&self, load: &Load, filling: &LoadProgress, began: Stamp) {
        let step = (load.rows / PROGRESS_POINTS).max(1);
        let (mut reported, mut is_known_to_last) = (0, false);
        let (mut progress, mut moved_at) = (filling.progress(), began);
        while !filling.is_over(load, &self.context.stop) {
            self.rt.sleep(PROGRESS_POLL).await;
            let now = self.rt.now();
            let elapsed = now.since(began);
            if !is_known_to_last && elapsed >= LASTS && filling.opening.get() == 0 {
                self.context.listener.hear(&RunEvent::LongLoad {
                    table: &load.table,
                    began,
                    elapsed,
                });
                is_known_to_last = true;
            }
            let committed = filling.committed.get();
            if committed >= reported + step {
                reported = committed - committed % step;
                self.report(load, filling, filling.last_commit.get().since(began));
            }
            if progress != filling.progress() {
                (progress, moved_at) = (filling.progress(), now);
            } else if now.since(moved_at) >= self.plan().stall_timeout {
                let what = format!(
                    "{committed} of {} rows are committed, and the database takes no more",
                    load.rows
                );
                filling.fail(stalled(self.plan().stall_timeout, &what));
                return filling.give_up_at(now);
            }
        }
        filling.give_up_at(self.rt.now() + LAST_BATCH);
    }

    fn report(&self, load: &Load, filling: &LoadProgress, elapsed: Nanos) {
        self.context.listener.hear(&RunEvent::Loading {
            table: &load.table,
            rows: filling.committed.get(),
            of: load.rows,
            bytes: filling.bytes.get(),
            elapsed,
        });
    }

    /// Checks that a table can be filled by the requested method.
    fn check_load(&self, load: &Load) -> Result<(), Failed> {
        let columns = column_names(load);
        let checked = self.driver().check_load(&into(load, &columns), method(load));
        checked.map_err(|error| failure(place_of(load), error))
    }
}

fn column_names(load: &Load) -> Vec<&str> {
    load.columns.iter().map(|column| column.name.as_str()).collect()
}

fn into<'a>(load: &'a Load, columns: &'a [&'a str]) -> Insert<'a> {
    let duplicates = match load.on_duplicate {
        OnDuplicate::Error => Duplicates::Fail,
        OnDuplicate::Ignore => Duplicates::Ignore,
        OnDuplicate::Replace => Duplicates::Replace,
    };
    Insert { table: &load.table, columns, duplicates }
}

fn method(load: &Load) -> Method {
    match load.method {
        LoadMethod::Auto => Method::Auto,
        LoadMethod::Insert => Method::Insert,
        LoadMethod::Copy => Method::Copy,
        LoadMethod::LoadData => Method::LoadData,
    }
}

/// Maximum number of progress reports of a load.
const PROGRESS_POINTS: u64 = 1_000;

/// Time after which a load is reported as long. Observing a shorter one costs more than it is
/// worth.
const LASTS: Nanos = Nanos::from_millis(250);

/// Time for the last batches after all rows are committed or a stop was requested. Batches that
/// take longer are given up.
const LAST_BATCH: Nanos = Nanos::from_secs(5);

/// Interval between checks of a load's progress.
const PROGRESS_POLL: Nanos = Nanos::from_millis(20);

/// The state that the writers of one table share.
struct LoadProgress {
    load: Arc<Load>,
    next_row: Cell<u64>,
    committed: Cell<u64>,
    bytes: Cell<u64>,
    last_commit: Cell<Stamp>,
    /// Number of rows generated so far.
    made: Cell<u64>,
    /// One timer per writer, which fires when the writer is to give up.
    give_up: Vec<Timer>,
    /// Writers that have not ended.
    writers: Cell<u32>,
    /// Number of writers that are not yet connected or refused.
    opening: Cell<u32>,
    /// Error of a writer that got no connection; the others go on without it.
    refused: RefCell<Option<Error>>,
    /// Error of a batch that was not written; it ends the load.
    failed: RefCell<Option<Error>>,
    /// Reason why rows were inserted although the server has a faster method.
    fallback: RefCell<Option<Error>>,
}

impl LoadProgress {
    fn new(load: &Load, rt: &Rt) -> LoadProgress {
        LoadProgress {
            load: Arc::new(load.clone()),
            next_row: Cell::new(0),
            committed: Cell::new(0),
            bytes: Cell::new(0),
            last_commit: Cell::new(rt.now()),
            made: Cell::new(0),
            give_up: (0..load.writers).map(|_| rt.timer()).collect(),
            writers: Cell::new(load.writers),
            opening: Cell::new(load.writers),
            refused: RefCell::new(None),
            failed: RefCell::new(None),
            fallback: RefCell::new(None),
        }
    }

    /// Returns counters of which one changes as long as the load makes progress. Generated rows
    /// count, because they are generated when there is room to send them.
    fn progress(&self) -> (u64, u64, u32, u32) {
        (self.made.get(), self.committed.get(), self.opening.get(), self.writers.get())
    }

    fn fail(&self, error: Error) {
        self.failed.borrow_mut().get_or_insert(error);
    }

    fn give_up_at(&self, at: Stamp) {
        self.give_up.iter().for_each(|timer| timer.arm(at));
    }

    fn is_over(&self, load: &Load, stop: &Stop) -> bool {
        let nobody_writes = self.writers.get() == 0;
        self.committed.get() >= load.rows || nobody_writes || stop.is_asked()
    }

    /// Writes batches until none is left, and returns the connection if it got one.
    async fn write<D: Driver>(
        &self,
        place: usize,
        driver: &D,
        rt: &Rt,
        stop: &Stop,
        started: WallTime,
    ) -> Option<D::Connection> {
        let opened = unless(self.open(driver, rt), rt, || self.is_over(&self.load, stop)).await;
        self.opening.set(self.opening.get() - 1);
        let mut connection = match opened {
            Some(Ok(connection)) => Some(connection),
            Some(Err(error)) => {
                self.refused.borrow_mut().get_or_insert(error);
                None
            }
            None => None,
        };
        let mut is_given_up = false;
        if let Some(open) = &mut connection {
            let writing = pin!(self.write_on(open, rt, stop, started));
            match unless_fired(writing, &self.give_up[place]).await {
                Some(Ok(())) => {}
                Some(Err(error)) => self.fail(error),
                None => is_given_up = true,
            }
        }
        if is_given_up {
            connection.take().into_iter().for_each(Connection::abandon);
        }
        self.writers.set(self.writers.get() - 1);
        connection
    }

    /// Connects, and waits until the connection has a session that answers. A connection that waits
    /// for the others to end gets no batches.
    async fn open<D: Driver>(&self, driver: &D, rt: &Rt) -> Result<D::Connection, Error> {
        let mut connection = driver.connect(rt).await?;
        match connection.await_session().await {
            Ok(()) => Ok(connection),
            Err(error) => {
                connection.abandon();
                Err(error)
            }
        }
    }

    /// Takes batches of rows from the shared counter until none is left. A row's values depend on
    /// its number alone, so any writer may take it.
    async fn write_on(
        &self,
        connection: &mut impl Connection,
        rt: &Rt,
        stop: &Stop,
        started: WallTime,
    ) -> Result<(), Error> {
        let rows = RowGenerator::new(&self.load, started);
        let columns = column_names(&self.load);
        let mut writer = Writer { filling: self, rt, stop, rows, batch: 0..0 };
        connection.load(&into(&self.load, &columns), method(&self.load), &mut writer).await
    }
}

/// A task that fills a table, together with others.
struct Writer<'a> {
    filling: &'a LoadProgress,
    rt: &'a Rt,
    stop: &'a Stop,
    rows: RowGenerator,
    /// The row numbers of the present batch that are still to be generated.
    batch: Range<u64>,
}

impl Batches for Writer<'_> {
    fn next_batch(&mut self) -> bool {
        let LoadProgress { load, next_row, failed, .. } = self.filling;
        let first = next_row.get();
        if first >= load.rows || self.stop.is_asked() || failed.borrow().is_some() {
            return false;
        }
        let after = load.rows.min(first + u64::from(load.batch));
        next_row.set(after);
        self.batch = first..after;
        true
    }

    fn next_row(&mut self, values: &mut Values) -> bool {
        let Some(number) = self.batch.next() else { return false };
        self.filling.made.set(self.filling.made.get() + 1);
        self.rows.fill(number, values);
        true
    }

    fn committed(&mut self, rows: u64, bytes: u64) {
        let LoadProgress { last_commit, committed, bytes: sent, .. } = self.filling;
        last_commit.set(self.rt.now());
        committed.set(committed.get() + rows);
        sent.set(sent.get() + bytes);
    }

    fn is_ascii(&self) -> bool {
        self.rows.is_ascii()
    }

    fn falls_back(&mut self, why: &Error) {
        self.filling.fallback.borrow_mut().get_or_insert_with(|| why.clone());
    }
}

/// Returns advice for a table with an unexpected number of rows: setup cannot create the table
/// while it exists.
fn other_rows(found: &str) -> String {
    let anew = "drop the table and run without --loaded";
    match found.parse() {
        Ok(1u64..) => format!("write `rows = {found}` to use it as it is, or {anew}"),
        Ok(0) | Err(_) => anew.to_owned(),
    }
}

/// Returns true if a setup statement creates an index on a table with `indexes = after`.
fn is_deferred(statement: &FixedStatement, loads: &[Load]) -> bool {
    let words: Vec<String> = statement
        .text
        .split(|c: char| c.is_whitespace() || c == '(')
        .filter(|word| !word.is_empty())
        .map(|word| word.trim_matches(['"', '`', '[', ']']).to_lowercase())
        .collect();
    let makes_index = words.first().is_some_and(|word| word == "create")
        && words.iter().take(3).any(|word| word == "index");
    let table = words.iter().skip_while(|word| *word != "on").nth(1);
    makes_index
        && loads.iter().any(|load| {
            load.indexes == Indexes::After && table.is_some_and(|t| *t == load.table.to_lowercase())
        })
}

fn place_of(load: &Load) -> Place {
    Place {
        section: format!("load {}", load.table),
        statement: None,
        span: load.span,
        script: None,
    }
}

fn fixed_place(section: &str, place: usize, statement: &FixedStatement) -> Place {
    let FixedStatement { span, script, .. } = statement;
    let (section, script) = (section.to_owned(), script.clone().map(Box::new));
    Place { section, statement: Some(place + 1), span: *span, script }
}

/// Connects to every server of a target and keeps the first connection. Changing one server before
/// another is found unreachable would leave them different.
async fn reach<D: Driver>(driver: &D, rt: &Rt) -> Result<D::Connection, Error> {
    let first = driver.connect(rt).await?;
    for _ in 1..driver.nodes().len() {
        match driver.connect(rt).await {
            Ok(other) => other.close().await,
            Err(error) => {
                first.close().await;
                return Err(error);
            }
        }
    }
    Ok(first)
}

/// The time that a teardown allows for answers.
struct TeardownTimeout {
    /// The plan's `stall-timeout`.
    limit: Nanos,
    /// End of the common wait for all statements after the first unanswered one.
    ends_at: Option<Stamp>,
}

impl TeardownTimeout {
    fn new(limit: Nanos) -> TeardownTimeout {
        TeardownTimeout { limit, ends_at: None }
    }

    fn is_over(&self, now: Stamp) -> bool {
        self.ends_at.is_some_and(|at| now >= at)
    }

    /// Returns the time left for the next statement.
    fn left(&self, now: Stamp) -> Nanos {
        self.ends_at.map_or(self.limit, |at| at.since(now))
    }

    /// Records an unanswered statement. Returns its error.
    fn lose(&mut self, now: Stamp) -> Error {
        if self.ends_at.is_some() {
            let words = format!(
                "the statements behind one without an answer have `stall-timeout = {}` together",
                self.limit
            );
            return Error::new(Class::Timeout, Code::TIMEOUT, words);
        }
        self.ends_at = Some(now + self.limit);
        stalled(self.limit, "the statement is not answered")
    }
}

/// Returns the error of a database that has stalled.
fn stalled(limit: Nanos, what: &str) -> Error {
    let words = format!("nothing was answered within `stall-timeout = {limit}`: {what}");
    Error::new(Class::Timeout, Code::TIMEOUT, words)
}

/// Returns the failure that an error in a control phase means: an unreachable target or a wrong
/// statement.
fn failure(place: Place, error: Error) -> Failed {
    match error.class() {
        _ if error.code() == Code::DISCONNECT => Failed::Unreachable(error),
        Class::Timeout => {
            let message = format!("[{}]: {}", place.section, error.message());
            Failed::Unreachable(Error::new(error.class(), error.code(), message))
        }
        _ => Failed::Statement { place, error },
    }
}
