//! Meaningless successes: jobs that ran without an error and did nothing.
//!
//! Every check passes, because each request of such a job was answered correctly. But a number
//! based on answers without rows may mean something other than its reader thinks.

use base::{AccountId, Nanos, StatementId, after_comments};
use workload::{Placeholders, Requests, Statement};

use crate::evidence::{Evidence, JobEvidence};

/// A reason why the success of a job is meaningless: it did nothing, although no request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmptySuccess {
    /// No request of the job came due in the whole run.
    NothingDue {
        /// Time since time zero at which its first request would have come due; `None` if this time
        /// lies within the run or is not known in advance, as for a closed job or random arrivals.
        first: Option<Nanos>,
    },
    /// No answer in the whole run returned or changed a row, although it should have: no answer of
    /// the job, or no answer to some of its statements.
    NoRows {
        /// Number of answers: those of the job's requests, or those to `statements`.
        answers: u64,
        /// The statements without a row; empty if no statement of the job had one.
        statements: Vec<StatementId>,
    },
}

impl EmptySuccess {
    /// Returns the name of the warning in documents.
    pub fn name(&self) -> &'static str {
        match self {
            EmptySuccess::NothingDue { .. } => "nothing-due",
            EmptySuccess::NoRows { .. } => "no-rows",
        }
    }

    /// Returns the numbers of the statements without a row, from 1; empty if no statement of the
    /// job had one.
    pub fn statement_numbers(&self) -> Vec<u32> {
        match self {
            EmptySuccess::NothingDue { .. } => Vec::new(),
            EmptySuccess::NoRows { statements, .. } => {
                statements.iter().map(|id| u32::from(id.0) + 1).collect()
            }
        }
    }
}

/// Returns the reason why the success of a job or part is meaningless, if it is.
pub(crate) fn empty_success(evidence: &Evidence, account: AccountId) -> Option<EmptySuccess> {
    let either = evidence.plan.account(account);
    let counted = &evidence.jobs[account.index()];
    if counted.counts(0..counted.steps.len()).arrivals == 0 {
        let whole = evidence.plan.whole_job_account(account);
        if whole != account && !evidence.jobs[whole.index()].has_requests() {
            // The warning about the mix covers its parts.
            return None;
        }
        let leader = either.job();
        let first = leader.arrivals().and_then(|(schedule, _)| schedule.first());
        let first = first.map(|first| leader.start + first).filter(|it| *it >= evidence.end());
        return Some(EmptySuccess::NothingDue { first });
    }
    let requests = either.requests();
    // A job with `expect-rows` is judged by the check `wrong-results` instead.
    if requests.expect_rows.is_some() {
        return None;
    }
    without_any_row(requests, counted).or_else(|| without_rows_of_some(requests, counted))
}

/// Returns the warning of a job whose completed requests had no row, although one of its statements
/// asks for rows.
fn without_any_row(requests: &Requests, counted: &JobEvidence) -> Option<EmptySuccess> {
    let ends = counted.ends(0..counted.steps.len());
    let is_empty = ends.completed > 0 && ends.rows == 0;
    (is_empty && requests.statements.iter().any(asks_for_rows))
        .then_some(EmptySuccess::NoRows { answers: ends.completed, statements: Vec::new() })
}

/// Returns the warning of a job if some of its statements ask for rows and were answered, but never
/// had a row. `None` for a record that does not distinguish the statements.
fn without_rows_of_some(requests: &Requests, counted: &JobEvidence) -> Option<EmptySuccess> {
    let (mut answers, mut statements) = (0_u64, Vec::new());
    let answered = counted.statements.iter().flatten();
    let ids = (0..).map(StatementId);
    for ((statement, answered), id) in requests.statements.iter().zip(answered).zip(ids) {
        if answered.count > 0 && !answered.has_rows && asks_for_rows(statement) {
            answers = answers.saturating_add(answered.count);
            statements.push(id);
        }
    }
    (!statements.is_empty()).then_some(EmptySuccess::NoRows { answers, statements })
}

/// First words of statements that return or change rows. An `insert` with `on conflict do nothing`
/// may do neither.
const ROW_STATEMENTS: [&str; 9] =
    ["select", "with", "table", "values", "insert", "update", "delete", "replace", "merge"];

/// Returns true for a statement that returns or changes rows, if there are any. `select … into`
/// stores the rows in the server instead (MySQL manual, "SELECT ... INTO Statement"; PostgreSQL
/// manual, "SELECT INTO").
fn asks_for_rows(statement: &Statement) -> bool {
    let text = statement.text(Placeholders::Question).to_ascii_lowercase();
    let text = after_comments(&text);
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let first = words.by_ref().find(|word| !word.is_empty()).unwrap_or_default();
    let gives_away = matches!(first, "select" | "with" | "table") && stores_rows(words);
    ROW_STATEMENTS.contains(&first) && !gives_away
}

/// Returns true if the words of a query store its rows by `into`. The `into` of
/// `with … insert into` does not count, because it names the table whose rows change.
fn stores_rows<'w>(words: impl Iterator<Item = &'w str>) -> bool {
    let (mut earlier, mut before) = ("", "");
    for word in words.filter(|word| !word.is_empty()) {
        let names_table = match before {
            "insert" | "replace" | "ignore" | "merge" => true,
            // SQLite's `insert or fail into`.
            "abort" | "fail" | "rollback" => earlier == "or",
            _ => false,
        };
        if word == "into" && !names_table {
            return true;
        }
        (earlier, before) = (before, word);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Piece;

    #[track_caller]
    fn check(text: &str, asks: bool) {
        let pieces = vec![Piece::Text(text.to_owned())];
        let statement = Statement { pieces, span: base::Span::default(), script: None };
        assert_eq!(asks_for_rows(&statement), asks, "{text}");
    }

    #[test]
    fn statements_that_return_or_change_rows_are_distinguished() {
        check("select v from t where id = 1", true);
        check("SELECT(1)", true);
        check("  /* a */ -- b\n (select 1) union (select 2)", true);
        check("with a as (select 1) select * from a", true);
        check("with a as (select 1) insert into t select * from a", true);
        check("with a as (select 1) insert or replace into t select * from a", true);
        check("with a as (select 1) replace\n  into t select * from a", true);
        check("with a as (select 1) insert or rollback into t select * from a", true);
        check("select fail into u from t", false);
        check("/*/ a */ select 1", true);
        check("update t set v = 1", true);
        check("insert into t values (1) on conflict do nothing", true);
        check("delete from t", true);
        check("select 1 into @a", false);
        check("select * into u from t", false);
        check("create table t (id int)", false);
        check("do sleep(1)", false);
        check("call p()", false);
        check("/* nothing", false);
        check("", false);
    }
}
