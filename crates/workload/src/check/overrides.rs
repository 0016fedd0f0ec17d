//! Settings from outside the file, such as options of the command line.

use std::collections::BTreeSet;
use std::fmt;

use base::Target;

use crate::plan::Arrival;
use crate::wording::quoted;

/// Settings that override settings of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Keys with new values, in order; the last value of a key wins.
    pub keys: Vec<Override>,
    /// `--url`: the main target. It is not a text, because a URL may hold a password.
    pub target: Option<Target>,
    /// `--arrival`: the distribution of the arrivals over time, in every job with a `rate`, except
    /// rates below 1/s without `arrival`, and traces of times.
    pub arrival: Option<Arrival>,
    /// Meaning of a `rate`.
    pub rates: Rates,
    /// Names of parameters that are secret even if the file itself does not show it.
    pub secrets: BTreeSet<String>,
}

/// A key of a section with a new value. The key is checked as if the section had this line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The name of the section, without brackets; empty for the keys above the first section.
    pub section: String,
    /// The name of the key.
    pub key: String,
    /// The value, as it would be written in the file.
    pub value: String,
}

/// Meaning of a `rate` without `arrival`. In a job with a queue, uniform arrivals take the place of
/// a timetable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rates {
    /// Poisson arrivals from 1/s on, a timetable below that.
    #[default]
    AsTraffic,
    /// A timetable at any rate: one arrival every ⌊10⁹/rate⌋ ns, like dbbench's ticks.
    AsDbbench,
}

impl Overrides {
    /// The name for the part above the first section.
    pub const GLOBAL: &str = "";

    /// The section of the parameters.
    pub const PARAMS: &str = "params";

    /// Returns the overrides with one more override.
    #[must_use]
    pub fn with(mut self, section: &str, key: &str, value: impl fmt::Display) -> Overrides {
        let (section, key, value) = (section.to_owned(), key.to_owned(), value.to_string());
        self.keys.push(Override { section, key, value });
        self
    }

    /// Returns the overrides with one more override, of a key above the first section.
    #[must_use]
    pub fn with_global(self, key: &str, value: impl fmt::Display) -> Overrides {
        self.with(Overrides::GLOBAL, key, value)
    }

    /// Returns the overrides with one more override, of a parameter.
    #[must_use]
    pub fn with_param(self, name: &str, value: impl fmt::Display) -> Overrides {
        self.with(Overrides::PARAMS, name, value)
    }

    /// Returns the overrides with further secret parameters.
    #[must_use]
    pub fn with_secrets(mut self, names: impl IntoIterator<Item = String>) -> Overrides {
        self.secrets.extend(names);
        self
    }

    /// Returns the size of the connection pool of dbbench, if the overrides limit the pool.
    pub(crate) fn pool(&self) -> Option<u32> {
        let mut keys = self.keys.iter().filter(|_| self.rates == Rates::AsDbbench);
        let pool = keys.rfind(|one| one.is_global() && one.key == "max-connections")?;
        pool.value.parse().ok()
    }

    /// Iterates over the overrides of parameters.
    pub(crate) fn params(&self) -> impl Iterator<Item = &Override> {
        self.keys.iter().filter(|one| one.is_param())
    }

    /// Returns the overrides of parameters and of keys above the first section.
    pub(crate) fn of_whole_file(&self) -> Overrides {
        let is_one = |one: &&Override| one.is_global() || one.is_param();
        let keys = self.keys.iter().filter(is_one).cloned().collect();
        Overrides { keys, ..self.clone() }
    }

    /// Returns the overrides other than overrides of parameters.
    pub(crate) fn without_params(&self) -> Overrides {
        let keys = self.keys.iter().filter(|one| !one.is_param()).cloned().collect();
        Overrides { keys, ..self.clone() }
    }
}

impl Override {
    /// Returns true if the key is above the first section.
    pub(crate) fn is_global(&self) -> bool {
        self.section == Overrides::GLOBAL
    }

    /// Returns true if the key is a parameter.
    pub(crate) fn is_param(&self) -> bool {
        self.section == Overrides::PARAMS
    }

    /// Formats the override for a message about its value: `--set rows=5`, `--duration`,
    /// `rate(read)`. Values of keys are left out, because the value of a `url` may hold a password.
    pub(crate) fn option(&self) -> String {
        let Override { section, key, value } = self;
        quoted(&match (self.is_global(), self.is_param()) {
            (true, _) => format!("--{key}"),
            (_, true) => format!("--set {key}={value}"),
            (false, false) => format!("{key}({section})"),
        })
    }
}
