//! Options in the URLs of other clients, and their counterparts in Assay's URLs.

/// The counterpart of another client's option in Assay's URLs.
#[derive(Clone, Copy)]
enum Counterpart {
    /// The option of Assay with this name and the same value.
    Is(&'static str),
    /// A mode of `tls`, chosen by the value.
    Tls,
    /// TLS on or off, by a boolean value.
    TlsIf,
    /// The option of Assay with this name, and the value as a number of this unit.
    Span(&'static str, &'static str),
    /// Advice as text, for an option without a counterpart.
    Words(&'static str),
}

use Counterpart::{Is, Span, Tls, TlsIf, Words};

const ELSEWHERE: &str = "write it before the `?`: `USER@HOST:PORT/DATABASE`";

/// The options of other clients and their counterparts. Names are in lower case without `-` and
/// `_`. They come from libpq, JDBC, MySQL's clients and drivers in Go and Python.
const KNOWN: &[(&str, Counterpart)] = &[
    ("sslmode", Tls),
    ("ssl", TlsIf),
    ("usessl", TlsIf),
    ("requiressl", TlsIf),
    ("sslrootcert", Is("tls-ca")),
    ("sslca", Is("tls-ca")),
    ("sslcert", Is("tls-cert")),
    ("sslkey", Is("tls-key")),
    ("unixsocket", Is("socket")),
    ("applicationname", Is("application-name")),
    ("fallbackapplicationname", Is("application-name")),
    ("programname", Is("application-name")),
    ("connecttimeout", Span("connect-timeout", "s")),
    ("logintimeout", Span("connect-timeout", "s")),
    ("sockettimeout", Words("write `timeout` in a job")),
    ("readtimeout", Words("write `timeout` in a job")),
    ("statementtimeout", Words("write `timeout` in a job")),
    ("user", Words(ELSEWHERE)),
    ("username", Words(ELSEWHERE)),
    ("host", Words(ELSEWHERE)),
    ("port", Words(ELSEWHERE)),
    ("dbname", Words(ELSEWHERE)),
    ("database", Words(ELSEWHERE)),
    ("passfile", Words("set PGPASSFILE")),
    ("targetsessionattrs", Words("name only hosts that are to be measured")),
    ("preparethreshold", Words("write `prepare = yes` or `no` in a job")),
    ("binaryparameters", Words("write `prepare = yes` or `no` in a job")),
    ("allowpublickeyretrieval", Words("write `server-public-key=ask`")),
    ("currentschema", Words("name the schema in the statements")),
    ("searchpath", Words("name the schema in the statements")),
    ("charset", Words("leave it out: text is sent as UTF-8")),
    ("characterencoding", Words("leave it out: text is sent as UTF-8")),
    ("clientencoding", Words("leave it out: text is sent as UTF-8")),
    ("allowloadlocalinfile", Words("leave it out: `[load]` asks for what it needs")),
];

/// The TLS modes of libpq, JDBC and MySQL's clients in lower case, and their counterparts here.
const MODES: &[(&str, &str)] = &[
    ("disable", "write `tls=off`"),
    ("disabled", "write `tls=off`"),
    ("allow", UNDECIDED),
    ("prefer", UNDECIDED),
    ("preferred", UNDECIDED),
    ("require", "write `tls=require`"),
    ("required", "write `tls=require`"),
    ("verify-ca", CHECKS_NAME),
    ("verify_ca", CHECKS_NAME),
    ("verify-full", "write `tls=verify`"),
    ("verify_identity", "write `tls=verify`"),
];

const UNDECIDED: &str =
    "the server must not decide what is measured: write `tls=off` or `tls=require`";
const CHECKS_NAME: &str = "write `tls=verify`, which checks the name of the server too, or \
                           `tls=require`, which checks nothing";

/// Returns advice on the counterpart of another client's option; `None` for an unknown one.
pub(crate) fn remedy(name: &str, value: &str) -> Option<String> {
    let bare: String = name.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    let bare = bare.to_ascii_lowercase();
    let (_, means) = KNOWN.iter().find(|(known, _)| *known == bare)?;
    let value_in_lower_case = value.to_ascii_lowercase();
    Some(match means {
        Is(ours) => format!("write `{ours}={value}`"),
        Tls => {
            let mode = MODES.iter().find(|(mode, _)| *mode == value_in_lower_case);
            mode.map_or("write `tls=off`, `tls=require` or `tls=verify`", |(_, words)| words).into()
        }
        TlsIf => match value_in_lower_case.as_str() {
            "false" | "0" | "no" | "off" => "write `tls=off`",
            "true" | "1" | "yes" | "on" => "write `tls=require` or `tls=verify`",
            _ => "write `tls=off`, `tls=require` or `tls=verify`",
        }
        .into(),
        Span(ours, unit) if value.parse::<u32>().is_ok_and(|number| number > 0) => {
            format!("write `{ours}={value}{unit}`, or what it is in another unit")
        }
        Span(ours, _) => format!("write `{ours}=5s`"),
        Words(words) => (*words).to_owned(),
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
            ("sslmode", "prefer", UNDECIDED),
            ("sslmode", "verify-ca", CHECKS_NAME),
            ("sslmode", "odd", "write `tls=off`, `tls=require` or `tls=verify`"),
            ("useSSL", "false", "write `tls=off`"),
            ("sslrootcert", "ca.pem", "write `tls-ca=ca.pem`"),
            ("ApplicationName", "shop", "write `application-name=shop`"),
            ("connect_timeout", "10", "write `connect-timeout=10s`, or what it is in another unit"),
            ("connectTimeout", "soon", "write `connect-timeout=5s`"),
            ("user", "ann", ELSEWHERE),
        ] {
            assert_eq!(remedy(name, value).as_deref(), Some(words), "{name}={value}");
        }
        assert_eq!(remedy("colour", "red"), None);
    }
}
