//! The phases on control connections: setup, loads and teardown.

use base::{Class, Clock, Code, Nanos, Stamp, after_comments, begins_comment};
use driver::{Connection, Driver, Error, Table};
use rt::{Rt, within};
use workload::keys::{SETUP_TIMEOUT, STALL_TIMEOUT};
use workload::{FixedStatement, Indexes, JobTarget, Load, Plan};

use crate::error::{Location, RunFailure, statement_timeout};
use crate::events::RunEvent;
use crate::example_results::ExampleResults;
use crate::excerpts::{AnswerState, ExcerptTable, TableExcerpts, closing_quote, schema_and_name};
use crate::loading::{self, LoadedTable};
use crate::run_context::RunContext;
use crate::targets::unreachable;
use crate::waits::{unless, unless_ended};

/// The outcome of a preparation that has not failed.
pub(crate) enum PreparationOutcome {
    /// Setup and loads are done, if the run uses its main target. The list has the tables that were
    /// filled.
    Ready(Vec<LoadedTable>),
    /// The user ended the run before the preparation was complete.
    Interrupted {
        /// True if every statement of `[setup]` before the loads has run: teardown may undo them.
        setup_done: bool,
        /// The tables that were filled.
        loaded: Vec<LoadedTable>,
    },
}

/// The progress through a list of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatementProgress {
    /// All statements ran.
    AllRan,
    /// The user ended the run, and no statement was abandoned.
    StoppedBetween,
    /// The user ended the run during a statement, which was abandoned.
    StoppedWithin,
}

impl StatementProgress {
    /// Returns the state of the connection's answers after these statements.
    fn answer_state(self) -> AnswerState {
        match self {
            StatementProgress::AllRan | StatementProgress::StoppedBetween => AnswerState::Complete,
            StatementProgress::StoppedWithin => AnswerState::Outstanding,
        }
    }
}

/// The phases of a run on control connections, with their context.
pub(crate) struct Control<'a, D> {
    pub(crate) rt: &'a Rt,
    pub(crate) context: &'a RunContext<D>,
}

/// A failed preparation. `setup_done` is true if teardown may run: objects that this run did not
/// set up must not be torn down, because they may belong to another user.
pub(crate) struct PrepareError {
    pub(crate) failed: RunFailure,
    pub(crate) setup_done: bool,
}

impl<D: Driver> Control<'_, D> {
    /// Connects to the named targets. Then runs `[setup]` on the main target, fills its tables and
    /// creates their indexes, if the plan uses the main target.
    pub(crate) async fn prepare(&self) -> Result<PreparationOutcome, PrepareError> {
        let before = |failed| PrepareError { failed, setup_done: false };
        self.connect_to_named_targets().await.map_err(before)?;
        if !self.plan().uses(JobTarget::Main) {
            return Ok(PreparationOutcome::Ready(Vec::new()));
        }
        let mut connection = self.connect_to_all_servers().await.map_err(before)?;
        match self.prepare_on(&mut connection).await {
            Ok((prepared, answers)) => {
                end_session(connection, answers).await;
                Ok(prepared)
            }
            Err(error) => {
                end_session(connection, answer_state_after(&error.failed)).await;
                Err(error)
            }
        }
    }

    /// Sends the listener excerpts of the main target's tables, and results of examples that read
    /// only tables filled by this run.
    ///
    /// This must be the last use of the connection, so a late answer cannot be taken for the answer
    /// to another statement. The excerpts have no connection of their own, because it could take
    /// the place of a client's connection.
    async fn show_excerpts(
        &self,
        connection: &mut D::Connection,
        shown: &[ExcerptTable<'_>],
    ) -> AnswerState {
        if !self.shows_tables() {
            return AnswerState::Complete;
        }
        let (stop, listener) = (&self.context.stop, &*self.context.listener);
        let dialect = self.driver().dialect();
        match (TableExcerpts { shown, dialect, listener }).show(self.rt, stop, connection).await {
            AnswerState::Complete => {}
            AnswerState::Outstanding => return AnswerState::Outstanding,
        }
        let filled: Vec<&str> = shown.iter().filter_map(ExcerptTable::with_rows).collect();
        let (examples, tables) = (&*self.context.examples, filled.as_slice());
        let results = ExampleResults { examples, tables, dialect, listener };
        results.show(self.rt, stop, connection).await
    }

    fn shows_tables(&self) -> bool {
        self.context.shows_tables && self.driver().stores_data()
    }

    /// Returns, before the loads, the tables to show once they are filled; `None` if the user ends
    /// the run. If an answer does not arrive in time, the connection is replaced, and the rows of
    /// no table will be shown.
    async fn tables_before_loads(
        &self,
        connection: &mut D::Connection,
    ) -> Result<Option<Vec<ExcerptTable<'_>>>, RunFailure> {
        let (loads, stop) = (&self.plan().loads, &self.context.stop);
        if !self.shows_tables() {
            return Ok(Some(Vec::new()));
        }
        let tables = ExcerptTable::before_loads(loads, self.rt, stop, connection).await;
        if tables.is_some() || stop.is_requested() {
            return Ok(tables);
        }
        let replacement = self.connect(|| stop.is_requested()).await?;
        std::mem::replace(connection, replacement).abandon();
        Ok(Some(ExcerptTable::structures(loads)))
    }

    /// Prepares the main target on a connection.
    async fn prepare_on(
        &self,
        connection: &mut D::Connection,
    ) -> Result<(PreparationOutcome, AnswerState), PrepareError> {
        let before = |failed| PrepareError { failed, setup_done: false };
        for load in &self.plan().loads {
            loading::check(self.driver(), load).map_err(before)?;
        }
        let after = |failed| PrepareError { failed, setup_done: true };
        self.report_settings(connection).await;
        let (now, later): (Vec<_>, Vec<_>) = (0..self.plan().setup.len())
            .partition(|&index| !is_deferred(&self.plan().setup[index], &self.plan().loads));
        let setup = self.run_fixed(connection, "setup", &self.plan().setup, &now, 0).await;
        let interrupted = |reached: StatementProgress, setup_done, loaded| {
            Ok((PreparationOutcome::Interrupted { setup_done, loaded }, reached.answer_state()))
        };
        match setup.map_err(before)? {
            StatementProgress::AllRan => self.context.listener.on_event(&RunEvent::SetupDone),
            reached => return interrupted(reached, false, Vec::new()),
        }
        let Some(tables) = self.tables_before_loads(connection).await.map_err(after)? else {
            return interrupted(StatementProgress::StoppedWithin, true, Vec::new());
        };
        let mut loaded = Vec::new();
        for load in &self.plan().loads {
            loaded.push(loading::fill(self.rt, self.context, load).await.map_err(after)?);
            if self.context.stop.is_requested() {
                return interrupted(StatementProgress::StoppedBetween, true, loaded);
            }
        }
        let (all, done) = (&self.plan().setup, now.len());
        let indexed = self.run_fixed(connection, "setup", all, &later, done).await;
        match indexed.map_err(after)? {
            StatementProgress::AllRan => {}
            reached => return interrupted(reached, true, loaded),
        }
        // Setup may have changed settings, and loads have made the database larger.
        self.report_settings(connection).await;
        self.report_facts(connection).await;
        let answers = self.show_excerpts(connection, &tables).await;
        Ok((PreparationOutcome::Ready(loaded), answers))
    }

    /// Checks, in place of setup and loads, that the table of every load has the number of rows
    /// that the load would give it.
    pub(crate) async fn verify(&self) -> Result<(), RunFailure> {
        self.use_existing(&self.plan().loads).await
    }

    /// Uses the data as it is, in place of setup and loads.
    pub(crate) async fn keep(&self) -> Result<(), RunFailure> {
        self.use_existing(&[]).await
    }

    /// Reports the settings of all targets that the plan uses, checks that the tables of the loads
    /// in `counted` have the expected numbers of rows, and shows excerpts of these tables.
    async fn use_existing(&self, counted: &[Load]) -> Result<(), RunFailure> {
        self.connect_to_named_targets().await?;
        if !self.plan().uses(JobTarget::Main) {
            return Ok(());
        }
        let mut connection = self.connect_to_all_servers().await?;
        let verified = self.verify_on(&mut connection, counted);
        match unless_ended(verified, self.rt, &self.context.stop).await {
            Some(Ok(())) => {
                let tables = ExcerptTable::structures(counted);
                let answers = self.show_excerpts(&mut connection, &tables).await;
                end_session(connection, answers).await;
                Ok(())
            }
            Some(Err(failed)) => {
                end_session(connection, answer_state_after(&failed)).await;
                Err(failed)
            }
            // The lanes notice for themselves that the run is over.
            None => {
                connection.abandon();
                Ok(())
            }
        }
    }

    /// Reports the settings of the main target, and checks the numbers of rows in its tables.
    async fn verify_on(
        &self,
        connection: &mut D::Connection,
        counted: &[Load],
    ) -> Result<(), RunFailure> {
        self.report_settings(connection).await;
        for load in counted {
            let place = Location::of_load(load);
            if !self.driver().stores_data() {
                let reason = "this target keeps no data".to_owned();
                let help = "leave out --loaded".to_owned();
                return Err(RunFailure::Unsupported { place, reason, help });
            }
            self.context.listener.on_event(&RunEvent::Counting { table: &load.table });
            let sql = format!("select count(*) from {}", load.table);
            let result = self.query(connection, &sql).await;
            let refused = |reason: String, help: String| {
                let place = place.clone();
                RunFailure::Unsupported { place, reason, help }
            };
            let count = result.map_err(|error| {
                match RunFailure::from_control_error(place.clone(), error) {
                    RunFailure::Statement { error, .. } if error.class() != Class::Timeout => {
                        let why =
                            format!("the rows of table {} cannot be counted: {error}", load.table);
                        refused(why, "run without --loaded".to_owned())
                    }
                    other => other,
                }
            })?;
            let found = count.single().unwrap_or("no");
            if found != load.rows.to_string() {
                let (table, rows) = (&load.table, load.rows);
                let why = format!("table {table} has {found} rows; expected {rows}");
                return Err(refused(why, row_count_remedy(found)));
            }
        }
        self.report_facts(connection).await;
        Ok(())
    }

    /// Runs `[teardown]`. A failed statement is reported and the next one runs.
    ///
    /// A statement that is not answered within the plan's `stall-timeout` is given up, since one
    /// table may be locked and other tables not. After such a statement, or one that breaks the
    /// connection, the next statement gets a new connection; without one, the remaining statements
    /// are skipped. All statements after the first unanswered one share one more `stall-timeout`,
    /// because the server may be gone.
    ///
    /// An immediate stop ends the teardown, or prevents it. A graceful stop ends the teardown only
    /// if no stop was requested before it. In virtual time, a stop is noticed only before the
    /// teardown.
    pub(crate) async fn tear_down(&self) {
        let statements = &self.plan().teardown;
        let stop = &self.context.stop;
        if statements.is_empty() || stop.is_at_once() {
            return;
        }
        let was_requested = stop.is_requested();
        let is_over = || stop.is_at_once() || stop.is_requested() && !was_requested;
        let mut timeout = TeardownTimeout::new(self.plan().stall_timeout);
        let mut connection = None;
        for (index, statement) in statements.iter().enumerate() {
            if timeout.is_over(self.rt.now()) {
                return self.report_skipped(index);
            }
            self.context
                .listener
                .on_event(&RunEvent::Teardown { done: index, of: statements.len() });
            let failed = |error| {
                let place = Location::of_fixed("teardown", index, statement);
                self.context
                    .listener
                    .on_event(&RunEvent::TeardownFailed(RunFailure::Statement { place, error }));
            };
            let mut open = match connection.take() {
                Some(open) => open,
                None => {
                    let connected = self.connect(|| timeout.is_over(self.rt.now()));
                    match unless(connected, self.rt, is_over).await {
                        None => return,
                        Some(Ok(open)) => open,
                        Some(Err(failed)) => {
                            self.context.listener.on_event(&RunEvent::TeardownFailed(failed));
                            return self.report_skipped(index);
                        }
                    }
                }
            };
            let limit = timeout.time_left(self.rt.now());
            let answer = within(self.rt, limit, open.query_text(&statement.text));
            let Some(answer) = unless(answer, self.rt, is_over).await else {
                return open.abandon();
            };
            match answer {
                Some(Ok(_)) => connection = Some(open),
                Some(Err(error)) => {
                    // The next statement needs a connection that is not broken.
                    match error.class().ends_connection() {
                        true => open.abandon(),
                        false => connection = Some(open),
                    }
                    failed(error);
                }
                None => {
                    open.abandon();
                    failed(timeout.record_unanswered(self.rt.now()));
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
        self.context.listener.on_event(&RunEvent::TeardownSkipped { from, of });
    }

    /// Connects to every server of the named targets before the jobs change anything there, and
    /// reports the settings of these targets and facts about them.
    async fn connect_to_named_targets(&self) -> Result<(), RunFailure> {
        for (target, driver) in self.context.drivers.iter() {
            let Some(name) = self.plan().name_of(target) else { continue };
            let refused = |error| unreachable(self.plan(), target, None, error);
            let mut connection = connect_to_all_servers(driver, self.rt).await.map_err(refused)?;
            let mut settings = connection.settings().await;
            settings.extend(connection.facts().await);
            self.context.listener.on_event(&RunEvent::Settings { target: Some(name), settings });
            connection.close().await;
        }
        Ok(())
    }

    /// Reports the settings of the main target.
    async fn report_settings(&self, connection: &mut D::Connection) {
        let settings = connection.settings().await;
        self.context.listener.on_event(&RunEvent::Settings { target: None, settings });
    }

    /// Reports further facts about the main target's server. If an answer does not arrive in time,
    /// later statements on this connection fail. Afterwards, the connection is therefore used only
    /// for excerpts, whose failure does not fail the run.
    async fn report_facts(&self, connection: &mut D::Connection) {
        let settings = connection.facts().await;
        self.context.listener.on_event(&RunEvent::Settings { target: None, settings });
    }

    fn plan(&self) -> &Plan {
        &self.context.plan
    }

    /// Returns the driver of the main target, which alone is set up, loaded and torn down.
    fn driver(&self) -> &D {
        self.context.drivers.of(JobTarget::Main)
    }

    /// Connects to one of the main target's servers, in at most as many attempts as there are
    /// servers. Makes no further attempt once `is_over` returns true. If every attempt fails,
    /// returns the last error.
    async fn connect(&self, is_over: impl Fn() -> bool) -> Result<D::Connection, RunFailure> {
        let mut servers_left = self.driver().nodes().len();
        loop {
            servers_left = servers_left.saturating_sub(1);
            match self.driver().connect(self.rt).await {
                Ok(connection) => return Ok(connection),
                Err(_) if servers_left > 0 && !is_over() => {}
                Err(error) => return Err(RunFailure::Unreachable(error.into())),
            }
        }
    }

    /// Connects to the main target for the first time: to every server of the target.
    async fn connect_to_all_servers(&self) -> Result<D::Connection, RunFailure> {
        connect_to_all_servers(self.driver(), self.rt)
            .await
            .map_err(|error| RunFailure::Unreachable(error.into()))
    }

    /// Executes a statement before the jobs, for at most `setup-timeout`.
    async fn query(&self, connection: &mut D::Connection, sql: &str) -> Result<Table, Error> {
        let limit = self.plan().setup_timeout;
        let answer = within(self.rt, limit, connection.query_text(sql)).await;
        answer.unwrap_or_else(|| Err(statement_timeout(SETUP_TIMEOUT, limit)))
    }

    /// Runs the statements at `indexes` in order, until all have run or the user ends the run.
    /// `before` is the number of statements that have run before.
    async fn run_fixed(
        &self,
        connection: &mut D::Connection,
        section: &str,
        statements: &[FixedStatement],
        indexes: &[usize],
        before: usize,
    ) -> Result<StatementProgress, RunFailure> {
        for (done, &index) in (before..).zip(indexes) {
            if self.context.stop.is_requested() {
                return Ok(StatementProgress::StoppedBetween);
            }
            self.context.listener.on_event(&RunEvent::Setup { done, of: statements.len() });
            let statement = &statements[index];
            let answer = self.query(connection, &statement.text);
            let Some(answer) = unless_ended(answer, self.rt, &self.context.stop).await else {
                return Ok(StatementProgress::StoppedWithin);
            };
            answer.map_err(|error| {
                let place = Location::of_fixed(section, index, statement);
                RunFailure::from_control_error(place, error)
            })?;
        }
        match self.context.stop.is_requested() {
            true => Ok(StatementProgress::StoppedBetween),
            false => Ok(StatementProgress::AllRan),
        }
    }
}

/// Returns advice for a table with an unexpected number of rows; `found` is that number as text.
/// Before a run without `--loaded`, the table must be dropped, because setup cannot create a table
/// that exists.
fn row_count_remedy(found: &str) -> String {
    let anew = "drop the table and run without --loaded";
    match found.parse() {
        Ok(1u64..) => format!("write `rows = {found}` to use it as it is, or {anew}"),
        Ok(0) | Err(_) => anew.to_owned(),
    }
}

/// Returns true if a setup statement creates an index on a table whose load has `indexes = after`,
/// so the statement runs after the loads.
fn is_deferred(statement: &FixedStatement, loads: &[Load]) -> bool {
    let Some(table) = indexed_table(&statement.text) else { return false };
    loads.iter().any(|load| load.indexes == Indexes::After && is_same_table(&load.table, table))
}

/// Returns the table on which a statement creates an index, as the statement names it; `None` for
/// any other statement.
fn indexed_table(statement: &str) -> Option<&str> {
    let words = words(statement);
    let is = |at: usize, wanted: &str| {
        words.get(at).is_some_and(|word| word.eq_ignore_ascii_case(wanted))
    };
    let kind = if is(1, "or") && is(2, "replace") { 3 } else { 1 };
    // A word such as `unique` may precede `index`.
    if !is(0, "create") || !(is(kind, "index") || is(kind + 1, "index")) {
        return None;
    }
    let on = words.iter().position(|word| word.eq_ignore_ascii_case("on"))?;
    words.get(on + 1).copied()
}

/// Returns true if two names, quoted or not, may belong to the same table. A name without a schema
/// matches any schema; case is ignored.
fn is_same_table(one: &str, other: &str) -> bool {
    let (schema, name) = schema_and_name(&one.to_lowercase());
    let (other_schema, other_name) = schema_and_name(&other.to_lowercase());
    name == other_name && schema.zip(other_schema).is_none_or(|(one, other)| one == other)
}

/// Returns the words of a statement, without its comments. A quoted name is one word, and keeps its
/// quotes.
fn words(statement: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = after_comments(statement);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(word_length(rest));
        if !word.is_empty() {
            words.push(word);
        }
        rest = after_comments(after.strip_prefix('(').unwrap_or(after));
    }
    words
}

/// Returns the length, in bytes, of the word at the beginning of a text; 0 if there is none.
fn word_length(text: &str) -> usize {
    let mut quote: Option<char> = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None if c.is_whitespace() || c == '(' || begins_comment(&text[at..]) => return at,
            None => quote = closing_quote(c),
        }
    }
    text.len()
}

/// Ends a session: closes its connection, or abandons it if an answer is outstanding.
async fn end_session(connection: impl Connection, answers: AnswerState) {
    match answers {
        AnswerState::Complete => connection.close().await,
        AnswerState::Outstanding => connection.abandon(),
    }
}

/// Returns the state of a connection's answers after a failure.
fn answer_state_after(failed: &RunFailure) -> AnswerState {
    let error = match failed {
        RunFailure::Statement { error, .. } => error,
        RunFailure::Unreachable(unreachable) => &unreachable.error,
        RunFailure::Unsupported { .. }
        | RunFailure::File { .. }
        | RunFailure::System(_)
        | RunFailure::Deadlock(_)
        | RunFailure::Panicked(_) => return AnswerState::Complete,
    };
    match error.class() == Class::Timeout {
        true => AnswerState::Outstanding,
        false => AnswerState::Complete,
    }
}

/// Connects to every server of a target, [identifies](Connection::identify) each, and returns the
/// first connection. Called before any server is changed: if one were changed and another turned
/// out to be unreachable, the servers would differ.
async fn connect_to_all_servers<D: Driver>(driver: &D, rt: &Rt) -> Result<D::Connection, Error> {
    let mut first = driver.connect(rt).await?;
    first.identify().await;
    for _ in 1..driver.nodes().len() {
        match driver.connect(rt).await {
            Ok(mut other) => {
                other.identify().await;
                other.close().await;
            }
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

    /// Returns the time for which to wait for the answer to the next statement.
    fn time_left(&self, now: Stamp) -> Nanos {
        self.ends_at.map_or(self.limit, |at| at.since(now))
    }

    /// Records an unanswered statement. Returns its error.
    fn record_unanswered(&mut self, now: Stamp) -> Error {
        if self.ends_at.is_some() {
            let words = format!(
                "the statements after one without an answer share `{STALL_TIMEOUT} = {}`",
                self.limit
            );
            return Error::new(Class::Timeout, Code::TIMEOUT, words);
        }
        self.ends_at = Some(now + self.limit);
        statement_timeout(STALL_TIMEOUT, self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_is_deferred_however_its_table_is_written() {
        let check = |table: &str, statement: &str, expected: bool| {
            let file = format!(
                "duration = 1s\n[setup]\nquery = {statement}\n[load {table}]\nrows = 1\n\
                 columns = id: row()\nindexes = after\n[a]\nquery = select 1\n"
            );
            let (plan, diagnostics) = workload::plan(&file, &workload::Overrides::default());
            let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
            assert_eq!(is_deferred(&plan.setup[0], &plan.loads), expected, "{table}: {statement}");
        };
        check("orders", "create index i on orders (a)", true);
        check("orders", "CREATE UNIQUE INDEX IF NOT EXISTS i ON Orders(a)", true);
        check("orders", "create or replace unique index i on `orders` (a)", true);
        check("orders", "/* a */ create index \"on\" on [orders] (a)", true);
        check("orders", "create /* c */ index/* i */i on/*/ bills */orders (a)", true);
        check("orders", "create index \"a -- b\" on orders (a)", true);
        check("\"order\"", "create index i on \"order\"(a)", true);
        check("\"odd (name\"", "create index i on \"odd (name\" (a)", true);
        check("shop.orders", "create index i on orders (a)", true);
        check("orders", "create index i on \"shop\".\"orders\" (a)", true);
        check("shop.orders", "create index i on bar.orders (a)", false);
        check("orders", "create index i on \"shop.orders\" (a)", false);
        check("orders", "create index orders on bills (a)", false);
        check("orders", "create view v as select 1 from bills join orders on orders (a)", false);
    }

    #[test]
    fn comments_between_the_words_of_a_statement_are_skipped() {
        for statement in [
            "create -- an index\n index i on -- on bills\n t (a)",
            "create # an index\n index i on t (a)",
            "create/* a */index/*/ b */i/**/on/* c */t(a)",
        ] {
            assert_eq!(indexed_table(statement), Some("t"), "{statement}");
        }
    }
}
