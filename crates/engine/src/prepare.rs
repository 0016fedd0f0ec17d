//! The preparation of the data before the measured phase.

/// The data that a run expects, and its preparation before the measured phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prepare {
    /// No data: setup and loads create it.
    #[default]
    Fresh,
    /// Data from an earlier load: the rows of each table are counted, and a table with a different
    /// number of rows is an error.
    Verify,
    /// Data as the previous run left it, which is not checked.
    Keep,
}

impl Prepare {
    /// Returns true if the database must already hold the data before the run.
    pub fn expects_data(self) -> bool {
        match self {
            Prepare::Fresh => false,
            Prepare::Verify | Prepare::Keep => true,
        }
    }
}
