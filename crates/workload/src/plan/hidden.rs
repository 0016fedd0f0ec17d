//! Secrets of a plan, and the text that is displayed instead of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::{Secret, Secrets};

use super::{FixedStatement, Let, Plan, Statement};

/// The secret parameters of a plan, and its parts that are displayed with [`HIDDEN`](base::HIDDEN)
/// in place of secrets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// The names of the secret parameters.
    pub(crate) params: Vec<String>,
    /// Their values, as written and as used.
    pub(crate) values: Vec<Secret>,
    /// The statements of `[setup]` for display.
    pub(crate) setup: Vec<FixedStatement>,
    /// The statements of `[teardown]` for display.
    pub(crate) teardown: Vec<FixedStatement>,
    /// The variables and statements of each job for display, by its name.
    pub(crate) jobs: BTreeMap<String, (Vec<Let>, Vec<Statement>)>,
}

impl Plan {
    /// Returns true if a parameter is secret: it is a part of a password, or contains one.
    pub fn is_secret(&self, param: &str) -> bool {
        self.hidden.as_ref().is_some_and(|hidden| hidden.params.iter().any(|name| name == param))
    }

    /// Returns the plan for display, without the values of secret parameters.
    ///
    /// Everything that is printed or recorded of a plan comes from this one; the run uses the
    /// original.
    pub fn shown(&self) -> Cow<'_, Plan> {
        let Some(hidden) = &self.hidden else { return Cow::Borrowed(self) };
        let mut shown = Plan { hidden: None, ..self.clone() };
        // A plan whose jobs were removed has no teardown either.
        for (all, as_shown) in
            [(&mut shown.setup, &hidden.setup), (&mut shown.teardown, &hidden.teardown)]
        {
            if !all.is_empty() {
                all.clone_from(as_shown);
            }
        }
        for job in &mut shown.jobs {
            if let Some((lets, statements)) = hidden.jobs.get(&job.name) {
                job.lets.clone_from(lets);
                job.statements.clone_from(statements);
            }
        }
        Cow::Owned(shown)
    }

    /// Returns the values of the secret parameters, to remove them from a server's texts, which may
    /// quote statements that contain them.
    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.hidden.iter().flat_map(|hidden| hidden.values.iter().cloned()))
    }
}
