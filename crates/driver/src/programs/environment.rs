//! The environment of programs.

use base::Secrets;

use super::child::Variable;
use crate::Error;

/// The part of a program's environment that differs from the environment of this process.
#[derive(Debug, Default)]
pub struct ProgramEnvironment {
    /// The variables that are set or removed.
    pub variables: Vec<Variable>,
    /// Secrets that a program receives in its variables. They are removed from the texts of its
    /// errors.
    pub secrets: Secrets,
}

impl ProgramEnvironment {
    /// Returns an error of a program without the secrets.
    pub(super) fn without_secrets(&self, error: &Error) -> Error {
        Error::new(error.class(), error.code(), self.secrets.hide(error.message()))
    }
}
