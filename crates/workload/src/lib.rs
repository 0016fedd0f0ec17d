//! Parses and checks workload files, and generates the values of their requests.
//!
//! ```text
//! bytes ─decode─▶ text ─parse─▶ File ─check─▶ Plan ─Generator─▶ values of each request
//! ```
//!
//! * [`decode`] refuses bytes that are not UTF-8 text. [`parse`] is total: every text gives a
//!   [`File`] and a list of [`Diagnostic`]s.
//! * [`check()`] converts a file without errors to a [`Plan`]: typed, complete, with all names
//!   resolved. The check is pure: it reads files only through a [`Folder`], and uses no database
//!   and no clock.
//! * [`Generator`] and [`RowGenerator`] compute values as pure functions of the seed, the section,
//!   the place in the section and the number of the request or row. `timestamp()` also needs the
//!   start of the run, and `field()` the record of the request.
//! * [`keys::ALL`] is the one table of keys; [`mod@reference`] generates the documentation from it.
//!
//! Invariant: [`Plan::to_text`] is a workload file whose plan is [the same](Plan::as_printed).

mod check;
mod expr;
pub mod feed;
mod folder;
mod generate;
pub mod keys;
pub mod plan;
mod print;
pub mod question;
mod read;
pub mod reference;
mod request;
pub mod shape;
mod sink;
mod text;
mod unsupported;
mod value;
mod wording;

use base::Diagnostic;

pub use base::Placeholders;
pub use check::{MOST_CONNECTIONS, Override, Overrides, Rates, check};
pub use expr::{Expr, Pause};
pub use folder::{Folder, NoFiles};
pub use plan::{
    Account, Arrival, Column, Feed, FixedStatement, Flow, Hidden, Indexes, Job, JobId, JobOrPart,
    JobTarget, Let, Load, LoadMethod, Metric, NamedTarget, Observe, OnDuplicate, OnError, OnOutage,
    OnQueueFull, Pacing, Param, Part, PartId, Piece, Plan, Reconnect, RemoteHost, Requests, Retry,
    Rows, Schedule, ScriptLine, Side, Slo, Statement, Statistic, TargetId, Warmup, is_job_or_part,
};
pub use read::{File, LARGEST_FILE, decode, parse};
pub use request::{Generator, RowGenerator, example};
pub use sink::shortened;

/// Returns the plan of a workload text, and the diagnostics about it.
///
/// There is a plan if and only if no diagnostic is an error. `folder` gives access to the files
/// that the text names.
pub fn plan_in(
    source: &str,
    overrides: &Overrides,
    folder: &dyn Folder,
) -> (Option<Plan>, Vec<Diagnostic>) {
    let (file, mut diagnostics) = parse(source);
    let (plan, more) = check(&file, overrides, folder);
    diagnostics.extend(more);
    sink::sort(&mut diagnostics);
    (plan, diagnostics)
}

/// Returns the [plan](plan_in) of a workload text that names no files.
pub fn plan(source: &str, overrides: &Overrides) -> (Option<Plan>, Vec<Diagnostic>) {
    plan_in(source, overrides, &std::collections::BTreeMap::new())
}
