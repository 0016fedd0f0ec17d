//! Semantic checks of a workload file, which turn its sections into a plan.
//!
//! `File -> sections -> Plan`, with one source file per kind of section. Checking is pure: it
//! touches no file, no database and no clock; the files that the workload names are read through a
//! [`Folder`]. Checking continues after each error, and reports all errors at once.

mod applied;
mod attribution;
mod check_file;
mod checker;
mod condition;
mod dialect;
mod fault;
mod feed;
mod fields;
mod fixed;
mod global;
mod job;
mod kind;
mod list;
mod load;
mod mix;
mod name;
mod named;
mod named_files;
mod observe;
mod other_dialects;
mod overrides;
mod pacing;
mod parameter_uses;
mod params;
mod role;
mod secrets;
mod section;
mod shape;
mod statement;
mod target;
mod trace;
mod unset;
mod value;

use std::collections::BTreeSet;

use base::Diagnostic;

pub(crate) use condition::{NamedSlo, named_slos, with_remedy_of_impossible};
pub use global::MOST_CONNECTIONS;
pub use overrides::{Override, Overrides, Rates};

use check_file::{CheckResult, check_as_given};

use crate::folder::Folder;
use crate::generate::Tables;
use crate::plan::Plan;
use crate::read::File;

/// Returns the names of the secret parameters of a file, even if the file has errors.
pub(crate) fn secret_params(
    file: &File<'_>,
    overrides: &Overrides,
    tables: &Tables<'_>,
) -> BTreeSet<String> {
    let (hidden, _) = check_as_given(file, overrides, tables, None).hidden;
    hidden.params.into_iter().collect()
}

/// Checks a file and returns its plan together with all diagnostics.
///
/// The plan is `Some` exactly if there is no error, including errors from parsing the file. A file
/// with only `[setup]`, `[load TABLE]` and `[teardown]` gives a plan without jobs.
pub fn check(
    file: &File<'_>,
    overrides: &Overrides,
    folder: &dyn Folder,
) -> (Option<Plan>, Vec<Diagnostic>) {
    check_with_tables(file, overrides, &Tables::new(folder))
}

/// Checks a file as [`check`] does. A CSV file that `tables` has read is not read again, and the
/// plans of several checks share its values.
pub(crate) fn check_with_tables(
    file: &File<'_>,
    overrides: &Overrides,
    tables: &Tables<'_>,
) -> (Option<Plan>, Vec<Diagnostic>) {
    let CheckResult { plan, mut found, hidden } = check_as_given(file, overrides, tables, None);
    if let Some(plan) = plan {
        let concealed = secrets::conceal(file, overrides, tables, plan, hidden.clone());
        let plan = concealed.map_err(|error| found.push(error)).ok();
        return (plan, secrets::remove_secrets(file, &hidden.0, found));
    }
    if overrides.params().next().is_some() {
        let own = check_as_given(file, &overrides.without_params(), tables, None).found;
        found = attribution::attribute_errors(file.text(), overrides, &own, found);
    }
    (None, secrets::remove_secrets(file, &hidden.0, found))
}
