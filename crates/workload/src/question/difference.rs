//! Differences between the arms of an experiment, or the points of a sweep, and the workload file.

use base::{Endpoint, Target};

use super::statement_key::StatementKey;
use crate::check::Overrides;
use crate::plan::Plan;

/// Key that names another target.
pub const URL_KEY: &str = "url";

/// Prefix of the keys for options of the target's URL.
pub const OPTION_KEY: &str = "option.";

/// Prefix of the keys for settings of a private server, and of the options of its URL that set
/// them.
pub const SERVER_KEY: &str = "server.";

/// A difference between an arm and the workload file.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// `option.NAME`: an option of the target's URL.
    Option {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// `url`: another target.
    Url(Target),
    /// `set.NAME`: the value of a parameter.
    Param {
        /// Its name.
        name: String,
        /// Its value, as written in a file.
        value: String,
    },
    /// `server.NAME`: a setting of a `testbed:` server.
    Server {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// `KEY(SECTION)`: a pacing key of a job.
    Key {
        /// Name of the section.
        section: String,
        /// Name of the key.
        key: String,
        /// Its value, as written in a file.
        value: String,
    },
    /// `nodes`, which only a sweep varies: the number of leading hosts of the target's URL.
    Nodes(String),
    /// `before`: an SQL statement before each run.
    Before(String),
    /// `after`: an SQL statement after each run.
    After(String),
    /// `before-command`: a program before each run.
    BeforeCommand(String),
    /// `after-command`: a program after each run.
    AfterCommand(String),
}

/// Returns the overrides of an arm's runs: the `given` overrides, and the overrides of the arm,
/// which take precedence.
pub(super) fn overrides(differences: &[Difference], given: &Overrides) -> Overrides {
    differences.iter().fold(given.clone(), |all, one| one.applied_to(all))
}

/// Applies the differences that are not overrides to a plan that was checked with the overrides.
pub(super) fn adjust(differences: &[Difference], plan: &mut Plan) {
    differences.iter().for_each(|one| one.adjust(plan));
}

impl Difference {
    /// Returns the key that sets the difference, as written in the file.
    pub fn key(&self) -> String {
        match self {
            Difference::Option { name, .. } => format!("{OPTION_KEY}{name}"),
            Difference::Url(_) => URL_KEY.to_owned(),
            Difference::Param { name, .. } => format!("set.{name}"),
            Difference::Server { name, .. } => format!("{SERVER_KEY}{name}"),
            Difference::Key { section, key, .. } => format!("{key}({section})"),
            Difference::Nodes(_) => "nodes".to_owned(),
            Difference::Before(_) => StatementKey::Before.name().to_owned(),
            Difference::After(_) => StatementKey::After.name().to_owned(),
            Difference::BeforeCommand(_) => "before-command".to_owned(),
            Difference::AfterCommand(_) => "after-command".to_owned(),
        }
    }

    /// Returns the value as written in the file, without the password of a URL.
    pub fn value(&self) -> String {
        match self {
            Difference::Option { value, .. }
            | Difference::Param { value, .. }
            | Difference::Server { value, .. }
            | Difference::Key { value, .. } => value.clone(),
            Difference::Url(target) => target.to_string(),
            Difference::Nodes(text)
            | Difference::Before(text)
            | Difference::After(text)
            | Difference::BeforeCommand(text)
            | Difference::AfterCommand(text) => text.clone(),
        }
    }

    /// Returns a name for what the difference changes. All statements before and after a run share
    /// one name, because the statements after a run undo those before it. For the same reason, all
    /// programs share another name.
    pub(super) fn subject(&self) -> String {
        match self {
            Difference::Before(_) | Difference::After(_) => "statements".to_owned(),
            Difference::BeforeCommand(_) | Difference::AfterCommand(_) => "programs".to_owned(),
            Difference::Option { .. }
            | Difference::Url(_)
            | Difference::Param { .. }
            | Difference::Server { .. }
            | Difference::Key { .. }
            | Difference::Nodes(_) => self.key(),
        }
    }

    fn applied_to(&self, all: Overrides) -> Overrides {
        match self {
            Difference::Param { name, value } => all.with_param(name, value),
            Difference::Key { section, key, value } => all.with(section, key, value),
            Difference::Url(target) => Overrides { target: Some(target.clone()), ..all },
            Difference::Option { .. }
            | Difference::Server { .. }
            | Difference::Nodes(_)
            | Difference::Before(_)
            | Difference::After(_)
            | Difference::BeforeCommand(_)
            | Difference::AfterCommand(_) => all,
        }
    }

    fn adjust(&self, plan: &mut Plan) {
        let Some(target) = &mut plan.target else { return };
        let (name, value) = match self {
            Difference::Option { name, value } => (name.clone(), value),
            Difference::Server { name, value } => (format!("{SERVER_KEY}{name}"), value),
            Difference::Nodes(count) => return keep_first_hosts(target, count),
            _ => return,
        };
        target.options.retain(|(other, _)| *other != name);
        target.options.push((name, value.clone()));
    }
}

/// Keeps only the first `count` hosts of a URL. The check of the file has refused a count above the
/// number of hosts.
fn keep_first_hosts(target: &mut Target, count: &str) {
    if let (Endpoint::Network { addresses, .. }, Ok(count)) = (&mut target.endpoint, count.parse())
    {
        addresses.truncate(count);
    }
}
