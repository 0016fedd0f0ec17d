//! Options as written in a target's URL, and the errors about them.

use std::fmt;
use std::path::PathBuf;

use crate::units::parse_duration;
use crate::{Nanos, closest, unknown_value};

/// An option as written in a URL.
#[derive(Clone, Copy, Debug)]
pub struct UrlOption<'a> {
    /// The name.
    pub name: &'a str,
    /// The value.
    pub value: &'a str,
}

/// The error about an option that cannot be used as written: a message with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError(String);

impl OptionError {
    /// Builds the error about an option name that this `kind` of target does not have.
    pub fn unknown(kind: &str, name: &str, known: &[&'static str]) -> OptionError {
        OptionError(match closest(name, known.iter().copied()) {
            Some(near) => format!("{kind} has no option `{name}`; did you mean `{near}`?"),
            None => format!("{kind} has no option `{name}`; the options are {}", known.join(", ")),
        })
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionError {}

impl UrlOption<'_> {
    /// Builds the error about this option: `why` completes a sentence that begins with the value.
    pub fn invalid(&self, why: impl fmt::Display) -> OptionError {
        let UrlOption { name, value } = self;
        OptionError(format!("`{value}` of the option `{name}` {why}"))
    }

    /// Parses the value as one of `words`.
    ///
    /// # Errors
    /// The value is not one of `words`.
    pub fn word(&self, words: &[&'static str]) -> Result<&'static str, OptionError> {
        let known = words.iter().find(|word| **word == self.value);
        known.copied().ok_or_else(|| OptionError(unknown_value(self.value, self.name, words)))
    }

    /// Parses the value as a duration.
    ///
    /// # Errors
    /// Not a duration.
    pub fn span(&self) -> Result<Nanos, OptionError> {
        parse_duration(self.value).map_err(|why| self.invalid(why))
    }

    /// Parses the value as the path of a file.
    ///
    /// # Errors
    /// An empty value.
    pub fn path(&self) -> Result<PathBuf, OptionError> {
        match self.value {
            "" => Err(self.invalid("names no file")),
            path => Ok(PathBuf::from(path)),
        }
    }
}
