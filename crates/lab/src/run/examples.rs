//! Examples of the statements of a run, for readers of its record.
//!
//! An example has the values of request 0. Values are a pure function of the seed, the job, the
//! position of the value in the workload file and the number of the request (`timestamp()` also of
//! the start of the run, `field()` of the request's input record). Computing an example therefore
//! changes no request of the run, and needs no database.

use base::{Dialect, Placeholders};
use driver::{AnyDriver, Driver};
use engine::{Drivers, JobExamples};
use record::{Excerpt, ExcerptKind};
use workload::feed::{Group, Reader, Records};
use workload::{Feed, JobTarget, Requests, example};

use super::order::{ExampleResult, Order};

/// Examples of the statements of a run, without the values of secret parameters.
pub(super) struct Examples {
    /// Examples of each job, and of each part of a mix.
    pub(super) excerpts: Vec<Excerpt>,
    /// Examples that may be executed to show their results, because they query the target whose
    /// tables the run fills.
    pub(super) of_main_target: Vec<JobExamples>,
}

impl Examples {
    /// Returns an example of each statement of each job, and of each part of a mix. If the order
    /// has a separate plan for the examples (`examples_of`), returns only the examples that may
    /// have results.
    pub(super) fn of(order: &Order, drivers: &Drivers<AnyDriver>) -> Examples {
        let plan = order.examples_of.as_ref().unwrap_or(&order.plan).with_secrets_hidden();
        let mut examples = Examples { excerpts: Vec::new(), of_main_target: Vec::new() };
        for either in plan.jobs_and_parts() {
            let target = either.job().target;
            let may_have_results = target == JobTarget::Main && order.plan.uses(target);
            if order.examples_of.is_some() && !may_have_results {
                continue;
            }
            let dialect = drivers.of(target).dialect();
            let Some(rows) = rows(order, either.requests(), dialect) else { continue };
            let subject = either.name().to_owned();
            if target == JobTarget::Main {
                let statements = rows.iter().map(|row| row.example.clone()).collect();
                examples.of_main_target.push(JobExamples { subject: subject.clone(), statements });
            }
            let titles = ["statement", "example"].map(str::to_owned).to_vec();
            let row = |row: Row| vec![Some(row.statement), Some(row.example)];
            let rows = rows.into_iter().map(row).collect();
            let kind = ExcerptKind::Examples;
            examples.excerpts.push(Excerpt { subject, kind, titles, rows });
        }
        examples
    }

    /// Returns the results in `executed` whose examples are equal to examples of this run. Results
    /// of other examples are left out, because other values have other results.
    pub(super) fn results(&self, executed: &[ExampleResult]) -> Vec<Excerpt> {
        let recorded = |excerpt: &Excerpt| excerpt.clone().limit(str::to_owned);
        let recorded: Vec<Excerpt> = self.excerpts.iter().map(recorded).collect();
        let is_ours = |executed: &&ExampleResult| recorded.contains(&executed.examples);
        executed.iter().filter(is_ours).map(|executed| executed.results.clone()).collect()
    }
}

/// A statement with its example.
struct Row {
    statement: String,
    example: String,
}

/// Returns the statements with their examples; `None` if there are no statements, or if their
/// values come from a file whose first entry cannot be read here. A pipe is not read here, because
/// a request of the run would then lack the entry.
fn rows(order: &Order, requests: &Requests, dialect: Dialect) -> Option<Vec<Row>> {
    if requests.statements.is_empty() {
        return None;
    }
    let first = requests.feed.as_ref().map(|feed| first_records(order, feed));
    let group = match &first {
        None => Group::NONE,
        Some(records) => records.as_ref()?.group(0),
    };
    let examples = example(requests, order.options.started, dialect, group);
    let statements = requests.statements.iter();
    let row = |(statement, example): (&workload::Statement, String)| {
        let statement = statement.text(Placeholders::Question);
        Row { statement, example }
    };
    Some(statements.zip(examples).map(row).collect())
}

/// Reads the entries of the first request from a file. Returns `None` for a pipe, which cannot be
/// read twice, and for a file that is empty or cannot be read.
fn first_records(order: &Order, feed: &Feed) -> Option<Records> {
    let files = &order.options.files;
    if !files.is_regular(&feed.file).ok()? {
        return None;
    }
    let per_group = feed.per_request as usize;
    let mut reader = Reader::new(files.open(&feed.file).ok()?, feed.format, per_group);
    let mut block = Records::default();
    block.reset(per_group);
    // If a file cannot be read, the run reports the error later.
    reader.fill(std::slice::from_mut(&mut block), |_| 0, |block| !block.is_empty()).ok()?;
    (!block.is_empty()).then_some(block)
}
