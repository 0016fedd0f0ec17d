//! Values: constants of workload files, and the data that expressions yield during a run.
//!
//! A [`Constant`] is exact, and arithmetic on it fails where it has no result. A [`Datum`] is
//! computed for each request; arithmetic on it never fails.

mod constant;
mod datum;
mod exact;
mod kind;
mod literal;
pub(crate) mod notation;

pub(crate) use constant::{Constant, Undefined, proportions};
pub(crate) use datum::{Datum, write_int, write_real};
pub(crate) use kind::{Operator, Type};
pub(crate) use literal::LONGEST_ESCAPE;
