//! Results of the examples of statements, for readers of the record.
//!
//! The results are read before time zero, after the excerpts of the loaded tables and over the same
//! connection. An example is executed only if [`refusal`] returns `None`, and only in a transaction
//! that cannot write or, in SQLite, while the connection cannot write.

use base::{Clock, Dialect, Nanos};
use driver::{Connection, Error, Table};
use record::{Excerpt, ExcerptKind};
use rt::{Rt, within};

use crate::events::{Listener, RunEvent};
use crate::excerpts::AnswerState;
use crate::options::JobExamples;
use crate::read_only::refusal;
use crate::stop::Stop;
use crate::waits::unless_ended;

/// Time limit for the results of all examples together.
const TIMEOUT: Nanos = Nanos::from_secs(1);

/// Maximum number of rows of a result that are shown.
const ROWS: usize = 5;

/// Maximum number of columns of a result that are shown.
const COLUMNS: usize = 10;

/// The examples of a run, whose results are shown to a listener.
pub(crate) struct ExampleResults<'a> {
    pub(crate) examples: &'a [JobExamples],
    /// Names of the tables that were empty before the run filled them.
    pub(crate) tables: &'a [&'a str],
    pub(crate) dialect: Dialect,
    pub(crate) listener: &'a dyn Listener,
}

impl ExampleResults<'_> {
    /// Executes the examples over `connection` and shows an excerpt for each job or part. A
    /// statement that is not executed, fails, or is not answered in time has the reason in place of
    /// a result; the run continues. Shows nothing if the run has filled no table, and nothing more
    /// if the run is ended. Returns the state of the connection's answers.
    pub(crate) async fn show(
        &self,
        rt: &Rt,
        stop: &Stop,
        connection: &mut impl Connection,
    ) -> AnswerState {
        let mut answers = AnswerState::Complete;
        // If the run has filled no table, there is nothing to show, and nothing is sent.
        if self.tables.is_empty() {
            return answers;
        }
        let ends = rt.now() + TIMEOUT;
        for job in self.examples {
            let mut results = Results::default();
            for (number, text) in (1..).zip(&job.statements) {
                if let Some(refusal) = refusal(text, self.tables) {
                    results.remark(number, refusal.to_string());
                    continue;
                }
                if answers == AnswerState::Outstanding {
                    results.remark(number, "not executed: an earlier one has no answer".to_owned());
                    continue;
                }
                let read = within(rt, ends.since(rt.now()), self.read(connection, text));
                match unless_ended(read, rt, stop).await {
                    None => return AnswerState::Outstanding,
                    Some(Some(Ok(table))) => results.table(number, table),
                    Some(Some(Err(error))) => {
                        if error.class().ends_connection() {
                            answers = AnswerState::Outstanding;
                        }
                        results.remark(number, format!("failed: {error}"));
                    }
                    Some(None) => {
                        answers = AnswerState::Outstanding;
                        results.remark(number, format!("no answer within {TIMEOUT}"));
                    }
                }
            }
            let excerpt = results.into_excerpt(job.subject.clone());
            self.listener.on_event(&RunEvent::Excerpt(excerpt));
        }
        answers
    }

    /// Executes a statement in a transaction that can only read; in SQLite, while the connection
    /// can only read.
    async fn read(&self, connection: &mut impl Connection, text: &str) -> Result<Table, Error> {
        let (begin, end) = match self.dialect {
            Dialect::Postgres => ("begin read only", "rollback"),
            Dialect::Mysql => ("start transaction read only", "rollback"),
            Dialect::Sqlite => ("pragma query_only = on", "pragma query_only = off"),
        };
        connection.query_text(begin).await?;
        let read = connection.query_text(text).await;
        let ended = connection.query_text(end).await;
        let table = read?;
        ended?;
        Ok(table)
    }
}

/// The results of the statements of a job or part: a row for each value or remark.
#[derive(Default)]
struct Results {
    rows: Vec<Vec<Option<String>>>,
}

impl Results {
    fn table(&mut self, number: usize, table: Table) {
        if table.is_cut {
            let most = Table::LIMIT >> 20;
            return self.remark(number, format!("the answer exceeds {most} MiB"));
        }
        let (rows, columns) = (table.rows.len(), table.columns.len());
        for (row, values) in (1..).zip(table.rows).take(ROWS) {
            for (column, value) in table.columns.iter().zip(values).take(COLUMNS) {
                self.line(number, Some(row), Some(column.clone()), value);
            }
        }
        if rows == 0 {
            self.remark(number, "no rows".to_owned());
        }
        if rows > ROWS {
            self.remark(number, format!("{ROWS} of {rows} rows"));
        }
        if columns > COLUMNS {
            self.remark(number, format!("{COLUMNS} of {columns} columns"));
        }
    }

    fn remark(&mut self, number: usize, text: String) {
        self.line(number, None, None, Some(text));
    }

    fn line(
        &mut self,
        number: usize,
        row: Option<usize>,
        column: Option<String>,
        value: Option<String>,
    ) {
        let row = row.map(|row: usize| row.to_string());
        self.rows.push(vec![Some(number.to_string()), row, column, value]);
    }

    fn into_excerpt(self, subject: String) -> Excerpt {
        let titles = ["statement", "row", "column", "value"].map(str::to_owned).to_vec();
        Excerpt { subject, kind: ExcerptKind::Results, titles, rows: self.rows }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use driver::{PreparedId, Work};
    use rt::run_virtual;

    use super::*;

    /// A session that stores the statements it receives, and answers those with a `limit` clause
    /// late.
    struct Session {
        rt: Rt,
        asked: Vec<String>,
    }

    impl Connection for Session {
        async fn prepare(&mut self, _text: &str) -> Result<PreparedId, Error> {
            unreachable!("examples are sent as text")
        }

        async fn run(&mut self, _work: &mut Work) -> Result<(), Error> {
            unreachable!("examples are sent as text")
        }

        async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
            self.asked.push(sql.to_owned());
            if sql.contains("limit") {
                self.rt.sleep(Nanos::from_secs(5)).await;
            }
            let row = vec![Some("7".to_owned()); COLUMNS + 1];
            let columns = vec!["id".to_owned(); COLUMNS + 1];
            Ok(Table { columns, rows: vec![row; ROWS + 1], is_cut: false })
        }

        async fn settings(&mut self) -> Vec<(String, String)> {
            Vec::new()
        }

        async fn close(self) {}

        fn abandon(self) {}
    }

    #[derive(Default)]
    struct Shown(Mutex<Vec<Excerpt>>);

    impl Listener for Shown {
        fn on_event(&self, event: &RunEvent<'_>) {
            if let RunEvent::Excerpt(excerpt) = event {
                self.0.lock().expect("no panic").push(excerpt.clone());
            }
        }
    }

    /// Returns the statements that were sent, the shown remarks, the number of shown values, and
    /// the state of the answers.
    fn shown(statements: &[&str]) -> (Vec<String>, Vec<String>, usize, AnswerState) {
        let statements = statements.iter().map(|text| (*text).to_owned()).collect();
        let examples = [JobExamples { subject: "read".to_owned(), statements }];
        let listener = Shown::default();
        let results = ExampleResults {
            examples: &examples,
            tables: &["t"],
            dialect: Dialect::Postgres,
            listener: &listener,
        };
        let (asked, answers) = run_virtual(async |rt| {
            let mut session = Session { rt: rt.clone(), asked: Vec::new() };
            let answers = results.show(&rt, &Stop::default(), &mut session).await;
            (session.asked, answers)
        })
        .expect("no deadlock");
        let lines = listener.0.into_inner().expect("no panic").remove(0).rows;
        let (values, remarks): (Vec<_>, Vec<_>) =
            lines.into_iter().partition(|line| line[2].is_some());
        let remarks = remarks.into_iter().map(|line| line[3].clone().unwrap_or_default());
        (asked, remarks.collect(), values.len(), answers)
    }

    #[test]
    fn only_reading_statements_are_sent_each_in_a_transaction_that_cannot_write() {
        let (asked, remarks, values, answers) =
            shown(&["select id from t", "delete from t", "select f(id) from t"]);
        assert_eq!(asked, ["begin read only", "select id from t", "rollback"]);
        assert_eq!(remarks[..3], ["5 of 6 rows", "10 of 11 columns", "writes"]);
        assert_eq!(values, ROWS * COLUMNS);
        assert_eq!(answers, AnswerState::Complete);
    }

    #[test]
    fn late_answer_ends_the_reading_of_results_after_one_second() {
        let (asked, remarks, _, answers) = shown(&["select id from t limit 1", "select 1"]);
        assert_eq!(asked, ["begin read only", "select id from t limit 1"]);
        let after = "not executed: an earlier one has no answer";
        assert_eq!(remarks, ["no answer within 1s", after]);
        assert_eq!(answers, AnswerState::Outstanding);
    }
}
