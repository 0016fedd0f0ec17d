//! The names that an expression may use, and its position.

use std::collections::BTreeMap;

use base::Seed;

use super::inserted::InsertedText;
use super::variables::Variables;
use crate::generate::{Points, Tables};
use crate::value::Constant;

/// The names that an expression may use, and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'s> {
    /// The parameters; `None` for a parameter whose error is already reported.
    pub(crate) params: &'s BTreeMap<String, Option<Constant>>,
    /// The variables of `let` that are defined before the expression.
    pub(crate) variables: &'s Variables,
    /// The position of the expression.
    pub(crate) context: ExprContext<'s>,
    /// The number of rows of the only table with a column that uses `point()`: the default by which
    /// polygons are sized.
    pub(crate) points: Points,
    /// The CSV files of the workload; `None` where generators are not allowed.
    pub(crate) tables: Option<&'s Tables<'s>>,
    /// The total to which the inserted texts are added; `None` if they are counted elsewhere.
    pub(crate) inserted: Option<&'s InsertedText>,
}

/// The position of an expression in the workload.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExprContext<'s> {
    /// A value that must be known before the run, with its name for messages, such as `rows`.
    Fixed(&'s str),
    /// A request of a job, with its number of clients if the job is closed.
    Request(Position<'s>, Option<u32>),
    /// A row of a table.
    Row(Position<'s>),
}

/// The position that identifies the random numbers of a generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position<'s> {
    /// The seed of the run.
    pub(crate) seed: Seed,
    /// The name of the section.
    pub(crate) job: &'s str,
    /// The position within the section: `query 2 value 1`, `let a`, `column id`, `think`.
    pub(crate) place: &'s str,
}
