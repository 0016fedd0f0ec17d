//! Options of URLs in a normal form: equal values, such as `1ms` and `1000us` or `0.1` and `0.10`,
//! have equal texts.

use base::units::{parse_decimal, parse_duration};
use base::{Nanos, Target};

/// Options whose values are texts: `1` and `1.0` differ.
const TEXT_OPTIONS: [&str; 8] = [
    "application-name",
    "error-code",
    "outage-code",
    "server-public-key",
    "socket",
    "tls-ca",
    "tls-cert",
    "tls-key",
];

/// Prefixes of settings whose values only the server or the pooler can interpret.
const SETTING_PREFIXES: [&str; 2] = ["server.", "via."];

/// Returns a target in normal form. Two such targets are equal if their URLs have the same meaning.
pub(super) fn normalized(target: &Target) -> Target {
    let mut target = target.clone();
    for (name, value) in &mut target.options {
        let is_text = TEXT_OPTIONS.contains(&name.as_str())
            || SETTING_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if !is_text {
            *value = normal_value(value);
        }
    }
    target.options.sort();
    target
}

/// Returns the normal form of a text: a number without its multiplier, a duration in nanoseconds,
/// any other text unchanged.
fn normal_value(text: &str) -> String {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    match (parse_decimal(unsigned), parse_duration(unsigned)) {
        // Zero needs neither a unit nor a sign.
        (_, Ok(Nanos::ZERO)) => "0".to_owned(),
        (Ok(number), _) if number.digits == 0 => "0".to_owned(),
        (Ok(number), _) => format!("{sign}{number}"),
        (Err(_), Ok(span)) => format!("{sign}{}ns", span.0),
        (Err(_), Err(_)) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(url: &str) -> String {
        normalized(&Target::parse(url).expect(url)).to_string()
    }

    #[track_caller]
    fn check(one: &str, other: &str, are_equal: bool) {
        assert_eq!(normal(one) == normal(other), are_equal, "{one} {other}");
    }

    #[test]
    fn equal_quantities_are_equal_in_every_notation() {
        for (one, other) in [
            ("service=1ms", "service=1000us"),
            ("connect=0", "connect=0s"),
            ("noise=0.1", "noise=0.10"),
            ("noise=0.1", "noise=1e-1"),
            ("errors=0", "errors=0.0"),
            ("limit=1000", "limit=1k"),
            ("service=1ms&limit=5", "limit=5&service=1ms"),
        ] {
            check(&format!("sim:mm1?{one}"), &format!("sim:mm1?{other}"), true);
        }
        check("sqlite:a.db?cache-size=-2000", "sqlite:a.db?cache-size=-2k", true);
        check("sqlite:a.db?cache-size=-2000", "sqlite:a.db?cache-size=2k", false);
        check("sim:mm1?service=1ms", "sim:mm1?service=1s", false);
        check("sim:mm1?servers=unlimited", "sim:mm1?servers=1", false);
    }

    #[test]
    fn texts_are_compared_by_their_characters() {
        check("sim:mm1?error-code=1", "sim:mm1?error-code=1.0", false);
        check("testbed:postgres?server.a=1k", "testbed:postgres?server.a=1000", false);
        check("postgres://h/d?application-name=1", "postgres://h/d?application-name=01", false);
    }
}
