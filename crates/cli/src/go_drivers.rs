//! Translation of the parameters of Go's database drivers into options of assay's URLs.
//!
//! A Go program passes such parameters to its driver as typed, so scripts for dbbench contain them.
//! A parameter with a counterpart is translated, one without effect here is reported, and one that
//! would change the measurement is refused; none is dropped silently. Options of assay are kept.

use base::{Nanos, TargetKind, closest, either};

/// The translation of a driver's parameters.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TranslatedOptions {
    /// Options of assay's URLs.
    pub(crate) options: Vec<(String, String)>,
    /// Notices about parameters without effect, with reasons.
    pub(crate) notices: Vec<String>,
}

/// A parameter of a Go driver.
struct Parameter {
    name: &'static str,
    mapping: Mapping,
}

/// The meaning of a parameter in assay.
enum Mapping {
    /// This option, with the same value.
    Same(&'static str),
    /// This option; each value of the driver with assay's value, or with the reason why assay has
    /// none.
    Values(&'static str, &'static [(&'static str, Result<&'static str, &'static str>)]),
    /// This option, as a duration; the driver's value is a number of seconds.
    Seconds(&'static str),
    /// No effect, for this reason.
    NoEffect(&'static str),
    /// Not accepted: unsupported, or to be written elsewhere; the text is the reason or the remedy.
    Refused(&'static str),
}

use Mapping::{NoEffect, Refused, Same, Seconds, Values};

/// The options that assay's URLs of network servers have (`docs/targets.md`), including those for
/// only one kind of server.
const NETWORK_OPTIONS: [&str; 9] = [
    "tls",
    "tls-ca",
    "tls-cert",
    "tls-key",
    "socket",
    "connect-timeout",
    "application-name",
    "server-public-key",
    "results",
];

const fn parameter(name: &'static str, mapping: Mapping) -> Parameter {
    Parameter { name, mapping }
}

const OPTIONAL_TLS: &str = "encryption must not depend on the server: write \
                            `tls=off`, `tls=require` or `tls=verify`";

/// The parameters of github.com/go-sql-driver/mysql.
const MYSQL: &[Parameter] = &[
    parameter(
        "tls",
        Values(
            "tls",
            &[
                ("true", Ok("verify")),
                ("1", Ok("verify")),
                ("skip-verify", Ok("require")),
                ("false", Ok("off")),
                ("0", Ok("off")),
                ("preferred", Err(OPTIONAL_TLS)),
            ],
        ),
    ),
    parameter("timeout", Same("connect-timeout")),
    parameter("interpolateParams", NoEffect("`prepare` in a job says how values are sent")),
    parameter("allowNativePasswords", NoEffect("they are allowed")),
    parameter(
        "checkConnLiveness",
        NoEffect("a connection that is lost is noticed when it is used"),
    ),
    parameter("columnsWithAlias", NoEffect("names of columns are not used")),
    parameter("parseTime", NoEffect("values are not converted")),
    parameter("loc", NoEffect("values are not converted")),
    parameter("allowAllFiles", NoEffect("a statement may load the file that it names")),
    parameter(
        "allowCleartextPasswords",
        NoEffect("a server that asks for it gets it, only over TLS"),
    ),
    parameter("allowOldPasswords", Refused("passwords of before MySQL 4.1 protect nothing")),
    parameter("readTimeout", Refused("write `timeout = 1s` in a job")),
    parameter("writeTimeout", Refused("write `timeout = 1s` in a job")),
    parameter(
        "clientFoundRows",
        Refused("an update counts the rows that it changes: leave it out"),
    ),
    parameter("multiStatements", Refused("write each statement in a `query` of its own")),
    parameter(
        "charset",
        Refused("statements and texts are utf8mb4: leave it out, or convert in the statement"),
    ),
    parameter("collation", Refused("write `collate` in the statement")),
    parameter("maxAllowedPacket", NoEffect("packets of any length are read")),
    parameter(
        "rejectReadOnly",
        Refused("an error of a server that is read-only is counted: write `error = 1290` in a job"),
    ),
    parameter("serverPubKey", Refused("write `server-public-key=FILE`, with a key in PEM")),
];

/// The parameter of github.com/lib/pq that applies only without `application_name`.
const FALLBACK: &str = "fallback_application_name";

/// The parameters of github.com/lib/pq.
const POSTGRES: &[Parameter] = &[
    parameter(
        "sslmode",
        Values(
            "tls",
            &[
                ("disable", Ok("off")),
                ("require", Ok("require")),
                ("verify-full", Ok("verify")),
                (
                    "verify-ca",
                    Err(
                        "`tls=verify` also checks the name of the server, `tls=require` checks no \
                         certificate: write one of them",
                    ),
                ),
                ("prefer", Err(OPTIONAL_TLS)),
                ("allow", Err(OPTIONAL_TLS)),
            ],
        ),
    ),
    parameter("sslrootcert", Same("tls-ca")),
    parameter("sslcert", Same("tls-cert")),
    parameter("sslkey", Same("tls-key")),
    parameter("connect_timeout", Seconds("connect-timeout")),
    parameter("application_name", Same("application-name")),
    parameter(FALLBACK, Same("application-name")),
    parameter("binary_parameters", NoEffect("`prepare` in a job says how values are sent")),
    parameter("disable_prepared_binary_result", NoEffect("values are not converted")),
    parameter("host", Refused("write `--host`")),
    parameter("port", Refused("write `--port`")),
    parameter("user", Refused("write `--username`")),
    parameter("dbname", Refused("write `--database`")),
];

/// Translates the parameters for a kind of target. Only servers on a network have a Go driver in
/// dbbench; for other targets, the parameters are returned unchanged.
///
/// # Errors
/// A parameter or value has no counterpart. The message gives the reason or a remedy; it repeats
/// only values that it knows, because any other value may be a secret.
pub(crate) fn translate(
    kind: TargetKind,
    mut given: Vec<(String, String)>,
) -> Result<TranslatedOptions, String> {
    let parameters = match kind {
        TargetKind::Mysql => MYSQL,
        TargetKind::Postgres => POSTGRES,
        TargetKind::Sqlite | TargetKind::Sim | TargetKind::Testbed => {
            return Ok(TranslatedOptions { options: given, notices: Vec::new() });
        }
    };
    // The fallback is translated first: an application name, wherever it was given, replaces it.
    given.sort_by_key(|(name, _)| name != FALLBACK);
    let mut translated = TranslatedOptions::default();
    for (name, value) in given {
        translated.translate_one(parameters, name, value)?;
    }
    Ok(translated)
}

impl TranslatedOptions {
    fn translate_one(
        &mut self,
        parameters: &[Parameter],
        name: String,
        value: String,
    ) -> Result<(), String> {
        let parameter = parameters.iter().find(|parameter| parameter.name == name);
        let Some(Parameter { mapping, .. }) = parameter else {
            return self.take_option(parameters, name, value);
        };
        match mapping {
            Same(option) => self.set(option, value),
            Values(option, words) => {
                self.set(option, translate_value(&name, option, words, value)?)
            }
            Seconds(option) => self.set(option, translate_seconds(&name, &value)?),
            NoEffect(why) => self.notices.push(format!("`{name}` has no effect: {why}")),
            Refused(why) => return Err(format!("`{name}` is not accepted: {why}")),
        }
        Ok(())
    }

    fn take_option(
        &mut self,
        parameters: &[Parameter],
        name: String,
        value: String,
    ) -> Result<(), String> {
        if NETWORK_OPTIONS.contains(&name.as_str()) {
            self.set(&name, value);
            return Ok(());
        }
        let known =
            NETWORK_OPTIONS.into_iter().chain(parameters.iter().map(|parameter| parameter.name));
        let shown = if name.len() <= 40 { &name } else { "…" };
        Err(match closest(&name, known) {
            Some(near) => format!("`{shown}` is not accepted; did you mean `{near}`?"),
            None => format!(
                "`{shown}` is not accepted: change a setting of the server on the server itself"
            ),
        })
    }

    /// Sets an option, in place of an earlier value.
    fn set(&mut self, option: &str, value: String) {
        self.options.retain(|(name, _)| name != option);
        self.options.push((option.to_owned(), value));
    }
}

/// Translates a value. If parameter and option have the same name, an unknown value is taken as
/// assay's own and returned unchanged.
fn translate_value(
    name: &str,
    option: &str,
    words: &[(&str, Result<&str, &str>)],
    value: String,
) -> Result<String, String> {
    let same = |(theirs, _): &&(&str, _)| value.eq_ignore_ascii_case(theirs);
    match words.iter().find(same) {
        Some((_, Ok(ours))) => Ok((*ours).to_owned()),
        Some((theirs, Err(why))) => Err(format!("`{name}={theirs}` is not accepted: {why}")),
        None if name == option => Ok(value),
        None => {
            let theirs: Vec<&str> = words.iter().map(|(theirs, _)| *theirs).collect();
            Err(format!("unknown value for `{name}`; expected {}", either(&theirs)))
        }
    }
}

/// Converts a number of seconds to a duration. Zero, which means no limit to the driver, is
/// refused.
fn translate_seconds(name: &str, value: &str) -> Result<String, String> {
    let number: u32 =
        value.parse().map_err(|_| format!("`{name}` is a whole number of seconds"))?;
    match number {
        0 => Err(format!("`{name}=0` is not accepted: there is always a limit, so leave it out")),
        _ => Ok(Nanos::from_secs(u64::from(number)).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(kind: TargetKind, text: &str) -> Result<(String, String), String> {
        let pair = |part: &str| part.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned()));
        let given = text.split('&').filter_map(pair).collect();
        let TranslatedOptions { options, notices } = translate(kind, given)?;
        let options: Vec<String> = options.iter().map(|(a, b)| format!("{a}={b}")).collect();
        Ok((options.join("&"), notices.join("; ")))
    }

    fn check(kind: TargetKind, text: &str, options: &str) {
        let expected = Ok((options.to_owned(), String::new()));
        assert_eq!(translated(kind, text), expected, "{text}");
    }

    #[test]
    fn go_parameters_are_translated() {
        use TargetKind::{Mysql, Postgres, Sim};
        check(Mysql, "tls=true", "tls=verify");
        check(Mysql, "tls=skip-verify&timeout=5s", "tls=require&connect-timeout=5s");
        check(Mysql, "tls=False", "tls=off");
        check(Mysql, "tls=off&tls-ca=a.pem&socket=/s", "tls=off&tls-ca=a.pem&socket=/s");
        check(Mysql, "tls=0&tls=1", "tls=verify");
        check(Mysql, "server-public-key=ask", "server-public-key=ask");
        check(Postgres, "sslmode=disable", "tls=off");
        check(Postgres, "sslmode=verify-full&sslrootcert=a.pem", "tls=verify&tls-ca=a.pem");
        check(Postgres, "sslcert=a&sslkey=b", "tls-cert=a&tls-key=b");
        check(
            Postgres,
            "connect_timeout=90&application_name=x",
            "connect-timeout=1m30s&application-name=x",
        );
        check(Postgres, "tls=require", "tls=require");
        check(Postgres, "fallback_application_name=f&tls=off", "application-name=f&tls=off");
        for name in ["application_name", "application-name"] {
            for (one, other) in [(name, FALLBACK), (FALLBACK, name)] {
                let text = format!("{one}=from {one}&{other}=from {other}");
                check(Postgres, &text, &format!("application-name=from {name}"));
            }
        }
        check(Sim, "service=2ms&tls=preferred", "service=2ms&tls=preferred");
        check(Mysql, "", "");
    }

    #[test]
    fn go_parameters_without_effect_are_reported() {
        let (options, notices) =
            translated(TargetKind::Mysql, "parseTime=true&tls=1&loc=UTC").unwrap();
        assert_eq!(options, "tls=verify");
        assert_eq!(notices.matches("has no effect: values are not converted").count(), 2);
        let (_, notices) = translated(TargetKind::Postgres, "binary_parameters=yes").unwrap();
        assert!(notices.starts_with("`binary_parameters` has no effect: "), "{notices}");
    }

    #[test]
    fn go_parameters_that_change_the_measurement_are_refused() {
        use TargetKind::{Mysql, Postgres};
        for (kind, text, words) in [
            (Mysql, "tls=preferred", "`tls=preferred` is not accepted: encryption must not"),
            (Mysql, "charset=utf8", "`charset` is not accepted: statements and texts are utf8mb4"),
            (Mysql, "serverPubKey=name", "write `server-public-key=FILE`"),
            (Mysql, "readTimeout=1s", "write `timeout = 1s` in a job"),
            (Mysql, "tsl=true", "did you mean `tls`?"),
            (Mysql, "sslmode=disable", "`sslmode` is not accepted"),
            (
                Mysql,
                "innodb_lock_wait_timeout=hunter2",
                "`innodb_lock_wait_timeout` is not accepted",
            ),
            (Postgres, "sslmode=prefer", "`sslmode=prefer` is not accepted"),
            (Postgres, "sslmode=verify-ca", "`tls=require` checks no certificate"),
            (
                Postgres,
                "sslmode=hunter2",
                "unknown value for `sslmode`; expected disable, require, verify-full",
            ),
            (Postgres, "connect_timeout=hunter2", "is a whole number of seconds"),
            (Postgres, "connect_timeout=0", "there is always a limit"),
            (Postgres, "user=hunter2", "write `--username`"),
            (Postgres, "search_path=hunter2", "`search_path` is not accepted"),
        ] {
            let message = translated(kind, text).unwrap_err();
            assert!(message.contains(words), "{text}: {message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }
}
