//! The options of a `sqlite:` URL.

use base::units::{UnitError, parse_count, parse_duration};
use base::{Class, Code, Nanos, closest};

use crate::Error;

/// What is asked of each connection. `None` leaves SQLite's default, or what the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// How long a statement waits for a lock.
    pub(super) busy_timeout: Nanos,
    /// One of [`JOURNALS`].
    pub(super) journal: Option<&'static str>,
    /// One of [`SYNCHRONOUS`].
    pub(super) synchronous: Option<&'static str>,
    /// The page cache of a connection: in pages, or in KiB if it is negative.
    pub(super) cache_size: Option<i32>,
    /// How many bytes of the file are mapped into memory at most.
    pub(super) mmap_size: Option<i64>,
}

const NAMES: [&str; 5] = ["busy-timeout", "journal", "synchronous", "cache-size", "mmap-size"];

const JOURNALS: [&str; 6] = ["wal", "delete", "truncate", "persist", "memory", "off"];

/// In the order of their numbers, which is how SQLite tells them.
pub(super) const SYNCHRONOUS: [&str; 4] = ["off", "normal", "full", "extra"];

impl Options {
    /// Reads the options of a URL.
    pub(super) fn parse(options: &[(String, String)]) -> Result<Options, Error> {
        let mut parsed = Options {
            busy_timeout: Nanos::from_secs(5),
            journal: None,
            synchronous: None,
            cache_size: None,
            mmap_size: None,
        };
        for (name, value) in options {
            let given = Given { name, value };
            match name.as_str() {
                "busy-timeout" => {
                    parsed.busy_timeout = parse_duration(value).map_err(|why| given.is(why))?;
                }
                "journal" => parsed.journal = Some(given.word(&JOURNALS)?),
                "synchronous" => parsed.synchronous = Some(given.word(&SYNCHRONOUS)?),
                "cache-size" => parsed.cache_size = Some(given.signed()?),
                "mmap-size" => parsed.mmap_size = Some(given.bytes()?),
                _ => return Err(unknown(name)),
            }
        }
        Ok(parsed)
    }

    /// What is asked of SQLite itself.
    pub(super) fn settings(&self) -> impl Iterator<Item = Setting> {
        let setting = |option, pragma, value: Option<String>| {
            value.map(|value| Setting { option, pragma, value })
        };
        [
            setting("journal", "journal_mode", self.journal.map(String::from)),
            setting("synchronous", "synchronous", self.synchronous.map(String::from)),
            setting("cache-size", "cache_size", self.cache_size.map(|size| size.to_string())),
            setting("mmap-size", "mmap_size", self.mmap_size.map(|size| size.to_string())),
        ]
        .into_iter()
        .flatten()
    }
}

/// An option that one of SQLite's pragmas sets.
pub(super) struct Setting {
    pub(super) option: &'static str,
    pub(super) pragma: &'static str,
    pub(super) value: String,
}

/// An option as it stands in the URL.
struct Given<'a> {
    name: &'a str,
    value: &'a str,
}

impl Given<'_> {
    /// Complains: `why` is the second half of a sentence that begins with the value.
    fn is(&self, why: impl std::fmt::Display) -> Error {
        let Given { name, value } = self;
        refusal(format!("`{value}` of SQLite's option `{name}` {why}"))
    }

    fn word(&self, words: &[&'static str]) -> Result<&'static str, Error> {
        let known = words.iter().find(|word| **word == self.value);
        known.copied().ok_or_else(|| {
            let list = words.join(", ");
            match closest(self.value, words.iter().copied()) {
                Some(near) => self.is(format!("is none of {list}; did you mean `{near}`?")),
                None => self.is(format!("is none of {list}")),
            }
        })
    }

    fn signed(&self) -> Result<i32, Error> {
        let (sign, digits) = match self.value.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, self.value),
        };
        let number = parse_count(digits).map_err(|why| self.is(why))?;
        match i32::try_from(number) {
            Ok(number) => Ok(sign * number),
            Err(_) => Err(self.is(UnitError::TooLarge)),
        }
    }

    fn bytes(&self) -> Result<i64, Error> {
        let number = parse_count(self.value).map_err(|why| self.is(why))?;
        i64::try_from(number).map_err(|_| self.is(UnitError::TooLarge))
    }
}

fn unknown(name: &str) -> Error {
    refusal(match closest(name, NAMES) {
        Some(near) => format!("SQLite has no option `{name}`; did you mean `{near}`?"),
        None => format!("SQLite has no option `{name}`; the options are {}", NAMES.join(", ")),
    })
}

/// The error of a URL that cannot be used as it is written.
pub(super) fn refusal(message: String) -> Error {
    Error::new(Class::Statement, Code::new("url"), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<Options, String> {
        let pairs: Vec<_> = text
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Options::parse(&pairs).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn options_have_their_defaults_and_are_read() {
        let none = options("").unwrap();
        assert_eq!(none.busy_timeout, Nanos::from_secs(5));
        assert_eq!((none.journal, none.synchronous), (None, None));
        let all =
            "busy-timeout=250ms&journal=truncate&synchronous=extra&cache-size=-64k&mmap-size=1M";
        assert_eq!(
            options(all).unwrap(),
            Options {
                busy_timeout: Nanos::from_millis(250),
                journal: Some("truncate"),
                synchronous: Some("extra"),
                cache_size: Some(-64_000),
                mmap_size: Some(1_000_000),
            }
        );
    }

    #[test]
    fn a_wrong_option_is_named_with_its_value_and_the_remedy() {
        for (text, message) in [
            ("jurnal=wal", "SQLite has no option `jurnal`; did you mean `journal`?"),
            (
                "tls=off",
                "SQLite has no option `tls`; the options are busy-timeout, journal, synchronous, \
                 cache-size, mmap-size",
            ),
            (
                "journal=wall",
                "`wall` of SQLite's option `journal` is none of wal, delete, truncate, persist, \
                 memory, off; did you mean `wal`?",
            ),
            (
                "synchronous=2",
                "`2` of SQLite's option `synchronous` is none of off, normal, full, extra",
            ),
            (
                "busy-timeout=5",
                "`5` of SQLite's option `busy-timeout` has no unit: write `10s`, `250ms`, `1m30s` \
                 or `1h`",
            ),
            ("cache-size=many", "`many` of SQLite's option `cache-size` is not a number"),
            ("cache-size=3000M", "`3000M` of SQLite's option `cache-size` is too large"),
            ("mmap-size=-1", "`-1` of SQLite's option `mmap-size` is negative"),
        ] {
            assert_eq!(options(text).unwrap_err(), message);
        }
    }
}
