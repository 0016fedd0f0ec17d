//! Options that other clients have in their URLs, and the corresponding options of Assay.

/// The option of Assay that corresponds to another client's option.
#[derive(Clone, Copy)]
enum Counterpart {
    /// Assay's option with this name. The value is the same.
    Renamed(&'static str),
    /// Assay's option `tls`, with a mode that depends on the value.
    Tls,
    /// Assay's option `tls`, on or off by a boolean value.
    TlsSwitch,
    /// Assay's option with this name. The other client's value is a number without a unit; the
    /// second text is this unit.
    Duration(&'static str, &'static str),
    /// Advice, for an option that corresponds to none of Assay's.
    Advice(&'static str),
}

use Counterpart::{Advice, Duration, Renamed, Tls, TlsSwitch};

const WRITE_BEFORE_OPTIONS: &str = "write it before the `?`: `USER@HOST:PORT/DATABASE`";

/// Options of other clients, and the corresponding options of Assay. Names are in lower case,
/// without `-` and `_`. The list covers libpq, JDBC, MySQL's clients, and drivers in Go and Python.
const KNOWN: &[(&str, Counterpart)] = &[
    ("sslmode", Tls),
    ("ssl", TlsSwitch),
    ("usessl", TlsSwitch),
    ("requiressl", TlsSwitch),
    ("sslrootcert", Renamed("tls-ca")),
    ("sslca", Renamed("tls-ca")),
    ("sslcert", Renamed("tls-cert")),
    ("sslkey", Renamed("tls-key")),
    ("unixsocket", Renamed("socket")),
    ("applicationname", Renamed("application-name")),
    ("fallbackapplicationname", Renamed("application-name")),
    ("programname", Renamed("application-name")),
    ("connecttimeout", Duration("connect-timeout", "s")),
    ("logintimeout", Duration("connect-timeout", "s")),
    ("sockettimeout", Advice("write `timeout` in a job")),
    ("readtimeout", Advice("write `timeout` in a job")),
    ("statementtimeout", Advice("write `timeout` in a job")),
    ("user", Advice(WRITE_BEFORE_OPTIONS)),
    ("username", Advice(WRITE_BEFORE_OPTIONS)),
    ("host", Advice(WRITE_BEFORE_OPTIONS)),
    ("port", Advice(WRITE_BEFORE_OPTIONS)),
    ("dbname", Advice(WRITE_BEFORE_OPTIONS)),
    ("database", Advice(WRITE_BEFORE_OPTIONS)),
    ("passfile", Advice("set PGPASSFILE")),
    ("targetsessionattrs", Advice("name only hosts that are to be measured")),
    ("preparethreshold", Advice("write `prepare = yes` or `no` in a job")),
    ("binaryparameters", Advice("write `prepare = yes` or `no` in a job")),
    ("allowpublickeyretrieval", Advice("write `server-public-key=ask`")),
    ("currentschema", Advice("name the schema in the statements")),
    ("searchpath", Advice("name the schema in the statements")),
    ("charset", Advice("leave it out: text is sent as UTF-8")),
    ("characterencoding", Advice("leave it out: text is sent as UTF-8")),
    ("clientencoding", Advice("leave it out: text is sent as UTF-8")),
    ("allowloadlocalinfile", Advice("leave it out: `[load]` asks for what it needs")),
];

/// The TLS modes of libpq, JDBC and MySQL's clients in lower case, each with advice on the
/// corresponding mode of Assay.
const MODES: &[(&str, &str)] = &[
    ("disable", "write `tls=off`"),
    ("disabled", "write `tls=off`"),
    ("allow", CHOOSE_OFF_OR_REQUIRE),
    ("prefer", CHOOSE_OFF_OR_REQUIRE),
    ("preferred", CHOOSE_OFF_OR_REQUIRE),
    ("require", "write `tls=require`"),
    ("required", "write `tls=require`"),
    ("verify-ca", VERIFY_CHECKS_NAME),
    ("verify_ca", VERIFY_CHECKS_NAME),
    ("verify-full", "write `tls=verify`"),
    ("verify_identity", "write `tls=verify`"),
];

const CHOOSE_OFF_OR_REQUIRE: &str =
    "the server must not decide what is measured: write `tls=off` or `tls=require`";
const VERIFY_CHECKS_NAME: &str = "write `tls=verify`, which checks the name of the server too, or \
                           `tls=require`, which checks nothing";

/// Returns advice on which option of Assay to use in place of another client's option; `None` for
/// an unknown option.
pub(crate) fn remedy(name: &str, value: &str) -> Option<String> {
    let bare: String = name.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    let bare = bare.to_ascii_lowercase();
    let (_, means) = KNOWN.iter().find(|(known, _)| *known == bare)?;
    let value_in_lower_case = value.to_ascii_lowercase();
    Some(match means {
        Renamed(ours) => format!("write `{ours}={value}`"),
        Tls => {
            let mode = MODES.iter().find(|(mode, _)| *mode == value_in_lower_case);
            mode.map_or("write `tls=off`, `tls=require` or `tls=verify`", |(_, words)| words).into()
        }
        TlsSwitch => match value_in_lower_case.as_str() {
            "false" | "0" | "no" | "off" => "write `tls=off`",
            "true" | "1" | "yes" | "on" => "write `tls=require` or `tls=verify`",
            _ => "write `tls=off`, `tls=require` or `tls=verify`",
        }
        .into(),
        Duration(ours, unit) if value.parse::<u32>().is_ok_and(|number| number > 0) => {
            format!("write `{ours}={value}{unit}`, or what it is in another unit")
        }
        Duration(ours, _) => format!("write `{ours}=5s`"),
        Advice(words) => (*words).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_other_clients_suggest_the_equivalent() {
        for (name, value, words) in [
            ("sslmode", "require", "write `tls=require`"),
            ("sslmode", "verify-full", "write `tls=verify`"),
            ("sslMode", "VERIFY_IDENTITY", "write `tls=verify`"),
            ("ssl-mode", "DISABLED", "write `tls=off`"),
            ("sslmode", "prefer", CHOOSE_OFF_OR_REQUIRE),
            ("sslmode", "verify-ca", VERIFY_CHECKS_NAME),
            ("sslmode", "odd", "write `tls=off`, `tls=require` or `tls=verify`"),
            ("useSSL", "false", "write `tls=off`"),
            ("sslrootcert", "ca.pem", "write `tls-ca=ca.pem`"),
            ("ApplicationName", "shop", "write `application-name=shop`"),
            ("connect_timeout", "10", "write `connect-timeout=10s`, or what it is in another unit"),
            ("connectTimeout", "soon", "write `connect-timeout=5s`"),
            ("user", "ann", WRITE_BEFORE_OPTIONS),
        ] {
            assert_eq!(remedy(name, value).as_deref(), Some(words), "{name}={value}");
        }
        assert_eq!(remedy("colour", "red"), None);
    }
}
