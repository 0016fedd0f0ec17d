//! The parts of an experiment.

use std::fmt;

use base::Target;

use super::bet::Bet;
use super::delta::Deltas;
use crate::check::Overrides;
use crate::plan::{FixedStatement, Plan};

/// An experiment: a question about a workload, and the arms whose comparison answers it.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The question.
    pub ask: String,
    /// Name of the workload file, relative to the folder of the experiment file.
    pub workload: String,
    /// Text of the workload file.
    pub source: String,
    /// The expected changes.
    pub bets: Vec<Bet>,
    /// Number of rounds.
    pub rounds: Rounds,
    /// Action before each run that brings the data back to its state after the load.
    pub restore: Restore,
    /// True if an arm may change several things.
    pub has_several_differences: bool,
    /// Runs of a round.
    pub design: Design,
    /// The smallest changes that matter.
    pub deltas: Deltas,
    /// The arms; the first is the baseline.
    pub arms: Vec<Arm>,
}

/// An arm of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// The differences from the workload file, in the order of the file.
    pub differences: Vec<Difference>,
    /// The plan of its runs, with the seed of the workload file.
    pub plan: Plan,
    /// Statements before each run that bring the data back to its state after the load.
    pub restore: Vec<FixedStatement>,
    /// Statements before each run, after those that restore the data.
    pub before: Vec<FixedStatement>,
    /// Statements after each run.
    pub after: Vec<FixedStatement>,
}

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
        /// The section.
        section: String,
        /// The key.
        key: String,
        /// Its value, as written in a file.
        value: String,
    },
    /// `before`: an SQL statement before each run.
    Before(String),
    /// `after`: an SQL statement after each run.
    After(String),
    /// `before-command`: a program before each run.
    BeforeCommand(String),
    /// `after-command`: a program after each run.
    AfterCommand(String),
}

/// The number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// Up to 20, with planned looks at 8, 12 and 20 pairs.
    Auto,
    /// This many, with one look at the end.
    Exactly(u32),
}

/// An action that brings the data back to its state after the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restore {
    /// No action.
    None,
    /// Teardown, setup and loads again.
    Reload,
    /// SQL statements.
    Statements(Vec<String>),
}

/// The runs of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// One of each arm.
    Arms,
    /// Two of the only arm, to measure how often the comparison finds a difference where none is.
    Aa,
}

impl Rounds {
    /// Lowest number of rounds: the smallest number of pairs that can be significant at 5 %.
    pub const LEAST: u32 = 6;

    /// Highest number of rounds.
    pub const MOST: u32 = 1_000;

    /// Returns the highest number of rounds that are run.
    pub fn most(self) -> u32 {
        match self {
            Rounds::Auto => 20,
            Rounds::Exactly(number) => number,
        }
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rounds::Auto => f.write_str("auto"),
            Rounds::Exactly(number) => number.fmt(f),
        }
    }
}

impl Experiment {
    /// Returns true if an arm changes a setting of a private server, so that the servers restart
    /// before each run.
    pub fn restarts(&self) -> bool {
        let differences = self.arms.iter().flat_map(|arm| &arm.differences);
        differences.into_iter().any(|one| matches!(one, Difference::Server { .. }))
    }
}

impl Arm {
    /// Returns the commands that run before, or after, each run of the arm.
    pub fn commands(&self, is_before: bool) -> impl Iterator<Item = &str> {
        self.differences.iter().filter_map(move |one| match one {
            Difference::BeforeCommand(text) if is_before => Some(text.as_str()),
            Difference::AfterCommand(text) if !is_before => Some(text.as_str()),
            _ => None,
        })
    }
}

/// Returns the overrides of an arm's runs: the given ones, and those of the arm, which win.
pub(super) fn overrides(differences: &[Difference], given: &Overrides) -> Overrides {
    differences.iter().fold(given.clone(), |all, one| one.applied_to(all))
}

/// Applies the differences that are no overrides to a plan that was checked with them.
pub(super) fn adjust(differences: &[Difference], plan: &mut Plan) {
    differences.iter().for_each(|one| one.adjust(plan));
}

impl Difference {
    /// Returns the key that sets it, as written in the file.
    pub fn key(&self) -> String {
        match self {
            Difference::Option { name, .. } => format!("option.{name}"),
            Difference::Url(_) => "url".to_owned(),
            Difference::Param { name, .. } => format!("set.{name}"),
            Difference::Server { name, .. } => format!("server.{name}"),
            Difference::Key { section, key, .. } => format!("{key}({section})"),
            Difference::Before(_) => "before".to_owned(),
            Difference::After(_) => "after".to_owned(),
            Difference::BeforeCommand(_) => "before-command".to_owned(),
            Difference::AfterCommand(_) => "after-command".to_owned(),
        }
    }

    /// Returns the value, as written in the file; a URL lacks its password.
    pub fn value(&self) -> String {
        match self {
            Difference::Option { value, .. }
            | Difference::Param { value, .. }
            | Difference::Server { value, .. }
            | Difference::Key { value, .. } => value.clone(),
            Difference::Url(target) => target.to_string(),
            Difference::Before(text)
            | Difference::After(text)
            | Difference::BeforeCommand(text)
            | Difference::AfterCommand(text) => text.clone(),
        }
    }

    /// Returns a name for the thing that it changes. Statements and programs before and after a run
    /// are one thing, because the later ones undo the earlier.
    pub(super) fn subject(&self) -> String {
        match self {
            Difference::Before(_) | Difference::After(_) => "statements".to_owned(),
            Difference::BeforeCommand(_) | Difference::AfterCommand(_) => "programs".to_owned(),
            Difference::Option { .. }
            | Difference::Url(_)
            | Difference::Param { .. }
            | Difference::Server { .. }
            | Difference::Key { .. } => self.key(),
        }
    }

    fn applied_to(&self, all: Overrides) -> Overrides {
        match self {
            Difference::Param { name, value } => all.with_param(name, value),
            Difference::Key { section, key, value } => all.with(section, key, value),
            Difference::Url(target) => Overrides { target: Some(target.clone()), ..all },
            Difference::Option { .. }
            | Difference::Server { .. }
            | Difference::Before(_)
            | Difference::After(_)
            | Difference::BeforeCommand(_)
            | Difference::AfterCommand(_) => all,
        }
    }

    fn adjust(&self, plan: &mut Plan) {
        let (name, value) = match self {
            Difference::Option { name, value } => (name.clone(), value),
            Difference::Server { name, value } => (format!("server.{name}"), value),
            _ => return,
        };
        let Some(target) = &mut plan.target else { return };
        target.options.retain(|(other, _)| *other != name);
        target.options.push((name, value.clone()));
    }
}
