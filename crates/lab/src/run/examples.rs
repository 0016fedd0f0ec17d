//! Examples of the statements of a run, for readers of its record.
//!
//! An example has the values of request 0. Values are a pure function of seed, job, place and
//! number, so taking an example changes no request, and it needs no database.

use base::{Dialect, Placeholders};
use driver::{AnyDriver, Driver};
use engine::Drivers;
use record::{Excerpt, ExcerptKind};
use workload::feed::{Group, Reader, Records};
use workload::{Feed, JobOrPart, Requests, example};

use super::order::Order;

/// Returns an example of each statement of each job and part, without the values of secret
/// parameters.
pub(super) fn examples(order: &Order, drivers: &Drivers<AnyDriver>) -> Vec<Excerpt> {
    let plan = order.plan.shown();
    let of_one = |either: JobOrPart<'_>| {
        let requests = either.requests();
        let dialect = drivers.of(either.job().target).dialect();
        let rows = rows(order, requests, dialect)?;
        let titles = ["statement", "example"].map(str::to_owned).to_vec();
        let (subject, kind) = (either.name().to_owned(), ExcerptKind::Examples);
        Some(Excerpt { subject, kind, titles, rows })
    };
    plan.jobs_and_parts().filter_map(of_one).collect()
}

/// Returns the statements with their examples; `None` if there are none, or if the file of their
/// values cannot be read without taking a record from a request.
fn rows(order: &Order, requests: &Requests, dialect: Dialect) -> Option<Vec<Vec<Option<String>>>> {
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
        vec![Some(statement.text(Placeholders::Question)), Some(example)]
    };
    Some(statements.zip(examples).map(row).collect())
}

/// Reads the records of the first request from a regular file; a pipe cannot be read twice.
fn first_records(order: &Order, feed: &Feed) -> Option<Records> {
    let files = &order.options.files;
    if !files.is_regular(&feed.file).ok()? {
        return None;
    }
    let per_group = feed.per_request as usize;
    let mut reader = Reader::new(files.open(&feed.file).ok()?, feed.format, per_group);
    let mut block = Records::default();
    block.reset(per_group);
    // A file that cannot be read ends the run elsewhere.
    reader.fill(std::slice::from_mut(&mut block), |_| 0, |block| !block.is_empty()).ok()?;
    (!block.is_empty()).then_some(block)
}
