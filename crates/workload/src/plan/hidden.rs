//! The parts of a plan that are not shown: secrets, and what is shown in their place.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::{Secret, Secrets};

use super::{FixedStatement, Let, Plan, Statement};

/// The secret parameters of a plan, and the parts of it that are shown with
/// [`HIDDEN`](base::HIDDEN) in their place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// The names of the secret parameters.
    pub(crate) params: Vec<String>,
    /// Their values, as they were written and as they are used.
    pub(crate) values: Vec<Secret>,
    /// The statements of `[setup]` as they are shown.
    pub(crate) setup: Vec<FixedStatement>,
    /// Those of `[teardown]`.
    pub(crate) teardown: Vec<FixedStatement>,
    /// The variables and statements of each job as they are shown, by its name.
    pub(crate) jobs: BTreeMap<String, (Vec<Let>, Vec<Statement>)>,
}

impl Plan {
    /// Returns true if a parameter is a secret: it is a part of a password, or contains one.
    pub fn is_secret(&self, param: &str) -> bool {
        self.hidden.as_ref().is_some_and(|hidden| hidden.params.iter().any(|name| name == param))
    }

    /// The plan as it may be shown: without the values of secret parameters. Everything that is
    /// printed or recorded of a plan is taken from this one; what is run is not.
    pub fn shown(&self) -> Cow<'_, Plan> {
        let Some(hidden) = &self.hidden else { return Cow::Borrowed(self) };
        let mut shown = Plan { hidden: None, ..self.clone() };
        // A plan without jobs has lost its teardown too.
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

    /// The values of the secret parameters, for cleaning texts of a server: it was sent statements
    /// with them.
    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.hidden.iter().flat_map(|hidden| hidden.values.iter().cloned()))
    }
}
