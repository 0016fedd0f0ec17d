//! The options of a `sqlite:` URL.

use base::units::{UnitError, parse_count};
use base::{Nanos, OptionError, UrlOption};

use crate::Error;

/// Settings of each connection. `None` keeps SQLite's default or the file's own setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Maximum time that a statement waits for a lock.
    pub(super) busy_timeout: Nanos,
    /// Journal mode: one of [`JOURNALS`].
    pub(super) journal: Option<&'static str>,
    /// Value of `synchronous`: one of [`SYNCHRONOUS`].
    pub(super) synchronous: Option<&'static str>,
    /// Page cache of a connection: in pages, or in KiB if negative.
    pub(super) cache_size: Option<i32>,
    /// Maximum size of the memory-mapped part of the file, in bytes.
    pub(super) mmap_size: Option<i64>,
    /// True if statements may use only the database's own file. A URL cannot set it.
    pub(super) is_confined: bool,
}

const NAMES: [&str; 5] = ["busy-timeout", "journal", "synchronous", "cache-size", "mmap-size"];

const JOURNALS: [&str; 6] = ["wal", "delete", "truncate", "persist", "memory", "off"];

/// Values of `synchronous`, in the order of the numbers that SQLite reports for them.
pub(super) const SYNCHRONOUS: [&str; 4] = ["off", "normal", "full", "extra"];

impl Options {
    /// Parses the options of a URL.
    pub(super) fn parse(options: &[(String, String)]) -> Result<Options, Error> {
        let mut parsed = Options {
            busy_timeout: Nanos::from_secs(5),
            journal: None,
            synchronous: None,
            cache_size: None,
            mmap_size: None,
            is_confined: false,
        };
        for (name, value) in options {
            let given = UrlOption { name, value };
            match name.as_str() {
                "busy-timeout" => parsed.busy_timeout = given.span()?,
                "journal" => parsed.journal = Some(given.word(&JOURNALS)?),
                "synchronous" => parsed.synchronous = Some(given.word(&SYNCHRONOUS)?),
                "cache-size" => parsed.cache_size = Some(signed(given)?),
                "mmap-size" => parsed.mmap_size = Some(bytes(given)?),
                name => return Err(OptionError::unknown("SQLite", name, &NAMES).into()),
            }
        }
        Ok(parsed)
    }

    /// Returns the settings that pragmas set.
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

fn signed(given: UrlOption<'_>) -> Result<i32, Error> {
    let (sign, digits) = match given.value.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, given.value),
    };
    let number = parse_count(digits).map_err(|why| given.invalid(why))?;
    match i32::try_from(number) {
        Ok(number) => Ok(sign * number),
        Err(_) => Err(given.invalid(UnitError::TooLarge).into()),
    }
}

fn bytes(given: UrlOption<'_>) -> Result<i64, Error> {
    let number = parse_count(given.value).map_err(|why| given.invalid(why))?;
    i64::try_from(number).map_err(|_| given.invalid(UnitError::TooLarge).into())
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
    fn options_have_defaults_and_are_parsed() {
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
                is_confined: false,
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
                "unknown value `wall` for `journal`; expected wal, delete, truncate, persist, \
                 memory or off; did you mean `wal`?",
            ),
            (
                "synchronous=2",
                "unknown value `2` for `synchronous`; expected off, normal, full or extra",
            ),
            (
                "busy-timeout=5",
                "`5` of the option `busy-timeout` has no unit: write `10s`, `250ms`, `1m30s` \
                 or `1h`",
            ),
            ("cache-size=many", "`many` of the option `cache-size` is not a number"),
            ("cache-size=3000M", "`3000M` of the option `cache-size` is too large"),
            ("mmap-size=-1", "`-1` of the option `mmap-size` is negative"),
        ] {
            assert_eq!(options(text).unwrap_err(), message);
        }
    }
}
