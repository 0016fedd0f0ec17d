//! URL options shared by all networked servers.

use std::path::PathBuf;

use base::{Nanos, OptionError, UrlOption};

use crate::address::Address;
use crate::error::Error;
use crate::foreign_options::remedy;
use crate::tls::Identity;

/// Encryption of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsMode {
    /// No encryption.
    Off,
    /// Encryption without verification of the server's certificate.
    Require,
    /// Encryption, with a server certificate for the host's name that is signed by a trusted
    /// authority.
    Verify,
}

impl TlsMode {
    /// The words for the modes in a URL.
    pub const WORDS: [&str; 3] = ["off", "require", "verify"];

    /// Returns the mode of a word; `None` for any other word.
    pub fn from_word(word: &str) -> Option<TlsMode> {
        [TlsMode::Off, TlsMode::Require, TlsMode::Verify]
            .into_iter()
            .find(|mode| mode.word() == word)
    }

    /// Returns the word for the mode in a URL.
    pub fn word(self) -> &'static str {
        match self {
            TlsMode::Off => "off",
            TlsMode::Require => "require",
            TlsMode::Verify => "verify",
        }
    }
}

/// Connection options of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// TLS mode. `None` means verification, or no encryption if the server is on this machine and
    /// the URL names no certificate.
    tls: Option<TlsMode>,
    /// File of trusted certificates; the system's certificates if absent.
    pub tls_ca: Option<PathBuf>,
    /// Files of this client's certificate and of its key.
    pub tls_identity: Option<Identity>,
    /// Unix domain socket in place of host and port.
    pub socket: Option<PathBuf>,
    /// Time limit for establishing a connection, up to the point at which it can execute a
    /// statement.
    pub connect_timeout: Nanos,
    /// Client name reported to the server.
    pub application_name: String,
}

/// Options that every kind of networked server has.
const NAMES: [&str; 7] =
    ["tls", "tls-ca", "tls-cert", "tls-key", "socket", "connect-timeout", "application-name"];

impl Options {
    /// Parses the options of a URL for this kind of database. An option whose name is one of the
    /// `own` names is passed to `take`.
    ///
    /// # Errors
    /// An option is unknown or has an invalid value (with a remedy), or `take` fails.
    pub fn parse<'o, E: From<Error> + From<OptionError>>(
        kind: &str,
        options: &'o [(String, String)],
        own: &[&'static str],
        mut take: impl FnMut(UrlOption<'o>) -> Result<(), E>,
    ) -> Result<Options, E> {
        let mut parsed = Options {
            tls: None,
            tls_ca: None,
            tls_identity: None,
            socket: None,
            connect_timeout: Nanos::from_secs(5),
            application_name: "assay".to_owned(),
        };
        let (mut certificate, mut key) = (None, None);
        for (name, value) in options {
            let given = UrlOption { name, value };
            match name.as_str() {
                "tls" => parsed.tls = Some(tls(given)?),
                "tls-ca" => parsed.tls_ca = Some(given.path()?),
                "tls-cert" => certificate = Some(given.path()?),
                "tls-key" => key = Some(given.path()?),
                "socket" => parsed.socket = Some(given.path()?),
                "connect-timeout" => parsed.connect_timeout = limit(given)?,
                "application-name" => parsed.application_name = given.value.to_owned(),
                name if own.contains(&name) => take(given)?,
                _ => return Err(unknown_option(kind, given, &[&NAMES, own].concat()).into()),
            }
        }
        parsed.tls_identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some(Identity { certificate, key }),
            (None, None) => None,
            (Some(_), None) => return Err(requires_other("tls-cert", "key", "tls-key").into()),
            (None, Some(_)) => {
                return Err(requires_other("tls-key", "certificate", "tls-cert").into());
            }
        };
        Ok(parsed.check_combinations()?)
    }

    fn check_combinations(self) -> Result<Options, Error> {
        let given = [("tls-ca", self.tls_ca.is_some()), ("tls-cert", self.tls_identity.is_some())];
        let vain =
            given.into_iter().find(|(_, is_given)| *is_given && self.tls == Some(TlsMode::Off));
        if let Some((name, _)) = vain {
            let words = format!("`{name}` and `tls=off` contradict each other: leave one out");
            return Err(Error::url(words));
        }
        if self.tls == Some(TlsMode::Require) && self.tls_ca.is_some() {
            return Err(Error::url(
                "`tls=require` checks no certificate: for `tls-ca` write `tls=verify`",
            ));
        }
        Ok(self)
    }

    /// Returns the TLS mode of connections to a server.
    pub fn tls_mode_for(&self, address: &Address) -> TlsMode {
        let wants_tls = self.tls_ca.is_some() || self.tls_identity.is_some();
        match self.tls {
            Some(mode) => mode,
            None if address.is_local() && !wants_tls => TlsMode::Off,
            None => TlsMode::Verify,
        }
    }
}

/// Builds the error of an unknown option, with advice if it is an option of another client.
fn unknown_option(kind: &str, given: UrlOption<'_>, known: &[&'static str]) -> Error {
    let UrlOption { name, value } = given;
    match remedy(name, value) {
        Some(remedy) => Error::url(format!("{kind} has no option `{name}`: {remedy}")),
        None => OptionError::unknown(kind, name, known).into(),
    }
}

/// Builds the error of an option that requires another option, which is missing.
fn requires_other(option: &str, missing: &str, other: &str) -> Error {
    Error::url(format!("`{option}` has no {missing}: write `{other}=FILE` as well"))
}

fn limit(given: UrlOption<'_>) -> Result<Nanos, Error> {
    match given.span()? {
        Nanos::ZERO => Err(given.invalid("is not above zero").into()),
        span => Ok(span),
    }
}

fn tls(given: UrlOption<'_>) -> Result<TlsMode, Error> {
    let word = given.word(&TlsMode::WORDS)?;
    Ok(TlsMode::from_word(word).expect("each word has its mode"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Target;

    fn parsed(query: &str) -> Result<Options, String> {
        let target = Target::parse(&format!("postgres://h/d?{query}")).expect("a URL");
        let own = ["results"];
        Options::parse("PostgreSQL", &target.options, &own, |given| {
            given.word(&["text", "binary"]).map(|_| ()).map_err(Error::from)
        })
        .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn options_have_defaults_and_are_parsed() {
        let none = parsed("").unwrap();
        let (near, far) =
            (Address::Tcp("127.0.0.1".to_owned(), 1), Address::Tcp("db1.example".to_owned(), 1));
        assert_eq!(none.connect_timeout, Nanos::from_secs(5));
        assert_eq!(none.tls_mode_for(&near), TlsMode::Off);
        assert_eq!(none.tls_mode_for(&far), TlsMode::Verify);
        let all = parsed(
            "tls=verify&tls-ca=ca.pem&tls-cert=c.pem&tls-key=k.pem&socket=/s&connect-timeout=1s&\
             application-name=shop&results=binary",
        )
        .unwrap();
        let identity = Identity { certificate: "c.pem".into(), key: "k.pem".into() };
        assert_eq!(all.tls_identity, Some(identity));
        assert_eq!(all.connect_timeout, Nanos::from_secs(1));
        assert_eq!(all.application_name, "shop");
        assert_eq!(parsed("tls-ca=ca.pem").unwrap().tls_mode_for(&near), TlsMode::Verify);
        assert_eq!(parsed("tls=require").unwrap().tls_mode_for(&near), TlsMode::Require);
    }

    #[test]
    fn a_wrong_option_is_named_with_its_value_and_the_remedy() {
        for (query, words) in [
            ("tsl=off", "PostgreSQL has no option `tsl`; did you mean `tls`?"),
            ("sslmode=require", "PostgreSQL has no option `sslmode`: write `tls=require`"),
            ("colour=red", "the options are tls, tls-ca, tls-cert, tls-key, socket, "),
            ("tls=on", "unknown value `on` for `tls`; expected off, require or verify"),
            ("tls=of", "did you mean `off`?"),
            ("connect-timeout=5", "`5` of the option `connect-timeout` has no unit"),
            ("connect-timeout=0s", "is not above zero"),
            ("socket=", "names no file"),
            ("tls-cert=c.pem", "write `tls-key=FILE` as well"),
            ("tls-key=k.pem", "write `tls-cert=FILE` as well"),
            ("tls=off&tls-ca=ca.pem", "`tls-ca` and `tls=off` contradict each other"),
            ("tls=require&tls-ca=ca.pem", "write `tls=verify`"),
            ("results=csv", "unknown value `csv` for `results`; expected text or binary"),
        ] {
            let message = parsed(query).unwrap_err();
            assert!(message.contains(words), "{query}: {message}");
        }
    }
}
