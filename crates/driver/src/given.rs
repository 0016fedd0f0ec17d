//! Options as written in a URL, and the errors about them.

use std::fmt;
use std::path::PathBuf;

use base::units::parse_duration;
use base::{Class, Code, Nanos, closest};

use crate::Error;

/// An option as written in a URL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UrlOption<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

impl UrlOption<'_> {
    /// Builds the error of this option: `why` completes a sentence that begins with the value.
    pub(crate) fn is(&self, why: impl fmt::Display) -> Error {
        let UrlOption { name, value } = self;
        refusal(format!("`{value}` of the option `{name}` {why}"))
    }

    /// Parses the value as one of `words`.
    pub(crate) fn word(&self, words: &[&'static str]) -> Result<&'static str, Error> {
        let known = words.iter().find(|word| **word == self.value);
        known.copied().ok_or_else(|| {
            let list = words.join(", ");
            match closest(self.value, words.iter().copied()) {
                Some(near) => self.is(format!("is none of {list}; did you mean `{near}`?")),
                None => self.is(format!("is none of {list}")),
            }
        })
    }

    /// Parses the value as a duration.
    pub(crate) fn span(&self) -> Result<Nanos, Error> {
        parse_duration(self.value).map_err(|why| self.is(why))
    }

    /// Parses the value as the path of a file.
    pub(crate) fn path(&self) -> Result<PathBuf, Error> {
        match self.value {
            "" => Err(self.is("names no file")),
            path => Ok(PathBuf::from(path)),
        }
    }
}

/// Builds the error of an option name that this kind does not have.
pub(crate) fn unknown(kind: &str, name: &str, known: &[&'static str]) -> Error {
    refusal(match closest(name, known.iter().copied()) {
        Some(near) => format!("{kind} has no option `{name}`; did you mean `{near}`?"),
        None => format!("{kind} has no option `{name}`; the options are {}", known.join(", ")),
    })
}

/// Builds the error of a URL that cannot be used as written.
pub(crate) fn refusal(message: impl Into<Box<str>>) -> Error {
    Error::new(Class::Statement, Code::new("url"), message)
}
