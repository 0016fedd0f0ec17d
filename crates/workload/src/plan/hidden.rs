//! Secrets of a plan, and the text that is displayed instead of them.

use std::collections::BTreeMap;

use base::Secret;

use super::job::Let;
use super::statement::{FixedStatement, Statement};

/// The secret parameters of a plan, and its statements and variables for display, with
/// [`HIDDEN`](base::HIDDEN) in place of secrets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// The names of the secret parameters.
    pub(crate) params: Vec<String>,
    /// Their values, as written, as used, and as SQL literals.
    pub(crate) values: Vec<Secret>,
    /// The statements of `[setup]` for display.
    pub(crate) setup: Vec<FixedStatement>,
    /// The statements of `[teardown]` for display.
    pub(crate) teardown: Vec<FixedStatement>,
    /// The variables and statements of each job and part for display, by its name.
    pub(crate) jobs: BTreeMap<String, (Vec<Let>, Vec<Statement>)>,
}
