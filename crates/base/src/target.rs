//! Target URLs: a kind of database, its location, and options.

use std::fmt;
use std::net::IpAddr;
use std::ops::Range;
use std::path::PathBuf;

use crate::{Dialect, Secret, closest, percent_encoded};

/// The kinds of target, selected by a URL's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// An SQLite database inside this process.
    Sqlite,
    /// The simulated server.
    Sim,
    /// PostgreSQL and compatible servers.
    Postgres,
    /// MySQL, MariaDB and compatible servers.
    Mysql,
    /// A private server that is started for the run.
    Testbed,
}

impl TargetKind {
    /// All schemes with their kinds.
    pub const SCHEMES: [(&'static str, TargetKind); 6] = [
        ("sqlite", TargetKind::Sqlite),
        ("sim", TargetKind::Sim),
        ("postgres", TargetKind::Postgres),
        ("postgresql", TargetKind::Postgres),
        ("mysql", TargetKind::Mysql),
        ("testbed", TargetKind::Testbed),
    ];

    /// Returns the SQL dialect of this kind. The dialect of a private server also depends on its
    /// URL; see [`Target::dialect`]. The simulated server has no dialect and gets SQLite's.
    pub fn dialect(self) -> Dialect {
        match self {
            TargetKind::Sqlite | TargetKind::Sim => Dialect::Sqlite,
            TargetKind::Postgres | TargetKind::Testbed => Dialect::Postgres,
            TargetKind::Mysql => Dialect::Mysql,
        }
    }

    /// Returns the scheme that is printed for this kind.
    pub fn scheme(self) -> &'static str {
        match self {
            TargetKind::Sqlite => "sqlite",
            TargetKind::Sim => "sim",
            TargetKind::Postgres => "postgres",
            TargetKind::Mysql => "mysql",
            TargetKind::Testbed => "testbed",
        }
    }

    /// Returns an example of a URL of this kind, for messages.
    fn example(self) -> &'static str {
        match self {
            TargetKind::Sqlite => "sqlite:FILE",
            TargetKind::Sim => "sim:mm1",
            TargetKind::Postgres => "postgres://HOST/DATABASE",
            TargetKind::Mysql => "mysql://HOST/DATABASE",
            TargetKind::Testbed => "testbed:postgres",
        }
    }

    fn has_authority(self) -> bool {
        matches!(self, TargetKind::Postgres | TargetKind::Mysql)
    }
}

/// Writes the targets that can be measured, as the second half of a message.
fn write_drivers(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut kinds = TargetKind::SCHEMES.map(|(_, kind)| kind).to_vec();
    kinds.dedup();
    let examples: Vec<String> = kinds.iter().map(|kind| format!("`{}`", kind.example())).collect();
    let (last, others) = examples.split_last().expect("there are kinds");
    write!(f, "this build has drivers for {} and {last}", others.join(", "))
}

/// A host and an optional port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// A name or an IP address, without brackets.
    pub host: String,
    /// The port, if one was given.
    pub port: Option<u16>,
}

impl HostPort {
    /// Returns true if the host is this machine, judged by its name or IP address alone.
    pub fn is_local(&self) -> bool {
        is_local_host(&self.host)
    }
}

/// Returns true if a host is this machine, judged by its name or IP address alone.
pub fn is_local_host(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(ip) => ip.is_loopback(),
        Err(_) => host == "localhost",
    }
}

/// The location of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A temporary file of the run.
    Temporary,
    /// A file.
    File(PathBuf),
    /// A name that the kind of target defines: `mm1`, `postgres`.
    Named(String),
    /// Servers on a network.
    Network {
        /// The user name of the login.
        user: Option<String>,
        /// The password, if the URL has one.
        password: Option<Secret>,
        /// One address, or several that are used in turn.
        addresses: Vec<HostPort>,
        /// The database.
        database: Option<String>,
    },
}

/// A parsed URL. Its `Display` is the URL without the password, for records, logs and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The kind of database.
    pub kind: TargetKind,
    /// The location.
    pub endpoint: Endpoint,
    /// The options after `?`, in order.
    pub options: Vec<(String, String)>,
}

/// The reason why a text is not a target URL. The text itself is not included, as it may contain a
/// password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// No scheme, or an unknown one.
    Scheme {
        /// The scheme as it was written; empty if there was none.
        found: String,
    },
    /// The part after the scheme is empty or malformed.
    Endpoint(&'static str),
    /// A port number of at most five digits outside the range from 1 to 65535.
    Port(String),
    /// A port that is not a number of at most five digits. It may be the password of a URL without
    /// a host: `postgres://ann:hunter2`.
    PortIsNoNumber,
    /// A part of the URL with a `%` that is not followed by two hexadecimal digits, or that does
    /// not decode to UTF-8. The text of a password is not included.
    Escape(EscapedPart),
    /// A percentage as the value of an option of a simulated server: `noise=2%`.
    Percentage {
        /// The option.
        option: String,
        /// The value as it was written.
        value: String,
    },
    /// An option without `=`.
    OptionValue(String),
    /// An option that occurs twice.
    OptionRepeated(String),
    /// A password in the options, which messages and records show.
    PasswordOption,
}

/// A part of a URL that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EscapedPart {
    /// A part that may be shown, as it was written.
    Text(String),
    /// The password.
    Password,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Scheme { found } => {
                if found == "mariadb" {
                    return f.write_str("MariaDB's scheme is that of MySQL: write `mysql:`");
                }
                let schemes = TargetKind::SCHEMES.map(|(scheme, _)| scheme);
                match (found.is_empty(), closest(found, schemes)) {
                    (true, _) => f.write_str("the URL has no scheme, such as `sqlite:`")?,
                    (false, None) => write!(f, "unknown scheme `{found}:`")?,
                    (false, Some(near)) => {
                        return write!(f, "unknown scheme `{found}:`; did you mean `{near}:`?");
                    }
                }
                f.write_str(": ")?;
                write_drivers(f)
            }
            TargetError::Endpoint(why) => f.write_str(why),
            TargetError::Port(port) => write!(f, "`{port}` is not a port from 1 to 65535"),
            TargetError::PortIsNoNumber => {
                f.write_str("the port in the URL is not a number from 1 to 65535")
            }
            TargetError::Escape(part) => {
                match part {
                    EscapedPart::Text(text) => write!(f, "cannot decode `{text}`")?,
                    EscapedPart::Password => f.write_str("cannot decode the password")?,
                }
                f.write_str(": expected two hexadecimal digits of UTF-8 after each `%`")
            }
            TargetError::Percentage { option, value } => {
                write!(
                    f,
                    "option `{option}` is `{value}`, but a percentage is written as a fraction"
                )
            }
            TargetError::OptionValue(name) => {
                write!(f, "option `{name}` has no value; write `{name}=VALUE`")
            }
            TargetError::OptionRepeated(name) => write!(f, "option `{name}` is given twice"),
            TargetError::PasswordOption => f.write_str(
                "a password cannot be an option, because options are shown: leave it \
                             out",
            ),
        }
    }
}

impl std::error::Error for TargetError {}

impl TargetError {
    /// Returns true if the URL with this error may have a password: no message may then show the
    /// line of the URL.
    pub fn may_have_password(&self, url: &str) -> bool {
        url.contains('@') || *self == TargetError::PortIsNoNumber
    }

    /// Returns the correction of the URL; `None` if the message of the error contains it.
    pub fn remedy(&self) -> Option<String> {
        self.part_and_remedy().1
    }

    /// Returns the range of the URL that is at fault; the whole URL if no part of it is known.
    pub fn place(&self, url: &str) -> Range<usize> {
        let part = self.part_and_remedy().0;
        let found = part.and_then(|part| Some((find_part(url, &part)?, part.len())));
        found.map_or(0..url.len(), |(start, length)| start..start + length)
    }

    /// Returns the part of the URL that is at fault, if it may be shown, and the remedy.
    fn part_and_remedy(&self) -> (Option<String>, Option<String>) {
        match self {
            TargetError::Escape(part) => {
                let shown = match part {
                    EscapedPart::Text(text) => Some(text.clone()),
                    EscapedPart::Password => None,
                };
                (shown, Some("write a percent sign as `%25`".to_owned()))
            }
            TargetError::Percentage { option, value } => {
                let fraction = fraction_of_percentage(value);
                let remedy = fraction.map(|fraction| format!("write `{option}={fraction}`"));
                (Some(format!("{option}={value}")), remedy)
            }
            TargetError::Scheme { .. }
            | TargetError::Endpoint(_)
            | TargetError::Port(_)
            | TargetError::PortIsNoNumber
            | TargetError::OptionValue(_)
            | TargetError::OptionRepeated(_)
            | TargetError::PasswordOption => (None, None),
        }
    }
}

/// Returns the byte at which a part of a URL begins, as a whole part: `%2` is not found in `%20`.
fn find_part(url: &str, part: &str) -> Option<usize> {
    let ends_part = |next: Option<char>| next.is_none_or(|next| ":/?&=@".contains(next));
    let is_whole = |at: &usize| {
        let (before, after) = (&url[..*at], &url[at + part.len()..]);
        ends_part(before.chars().next_back()) && ends_part(after.chars().next())
    };
    url.match_indices(part).map(|(at, _)| at).find(is_whole)
}

impl Target {
    /// Parses a URL: `sqlite:FILE`, `sim:mm1?service=1ms`, `postgres://ann:pass@host/db?tls=off`.
    ///
    /// # Errors
    /// An unknown scheme or a malformed rest; no message repeats a password.
    pub fn parse(url: &str) -> Result<Target, TargetError> {
        let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
        let kind = TargetKind::SCHEMES
            .into_iter()
            .find(|(name, _)| *name == scheme)
            .map(|(_, kind)| kind)
            .ok_or_else(|| TargetError::Scheme { found: printable_scheme(scheme) })?;
        Target::parse_rest(kind, rest)
    }

    /// Parses the part after the scheme.
    fn parse_rest(kind: TargetKind, rest: &str) -> Result<Target, TargetError> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        if kind.has_authority() {
            refuse_cut_password(rest)?;
        }
        let endpoint =
            if kind.has_authority() { parse_network(place)? } else { parse_local(kind, place)? };
        let options = options(kind, query)?;
        let is_secret = |name: &str| {
            let name = name.to_ascii_lowercase();
            SECRET_ENDS.iter().any(|end| name.ends_with(end))
        };
        if kind.has_authority() && options.iter().any(|(name, _)| is_secret(name)) {
            return Err(TargetError::PasswordOption);
        }
        Ok(Target { kind, endpoint, options })
    }

    /// Returns the SQL dialect.
    pub fn dialect(&self) -> Dialect {
        match (self.kind, &self.endpoint) {
            (TargetKind::Testbed, Endpoint::Named(name))
                if name == "mariadb" || name == "mysql" =>
            {
                Dialect::Mysql
            }
            (kind, _) => kind.dialect(),
        }
    }

    /// Returns the URL for display; a temporary database is marked as such.
    pub fn display_url(&self) -> String {
        match self.endpoint {
            Endpoint::Temporary => format!("{self} (a temporary file)"),
            Endpoint::File(_) | Endpoint::Named(_) | Endpoint::Network { .. } => self.to_string(),
        }
    }

    /// Returns the value of an option, if it is set.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Returns a scheme for a message. The text before the first colon of a URL without a scheme may be
/// a user name; it is shown only if it could be a scheme.
fn printable_scheme(scheme: &str) -> String {
    let plausible = scheme.len() <= 20 && scheme.bytes().all(|b| b.is_ascii_alphanumeric());
    if plausible { scheme.to_owned() } else { String::new() }
}

/// Refuses a password that contains an unescaped `/` or `?`. The password would end there, and its
/// rest would count as a host, a database or an option, which messages repeat.
fn refuse_cut_password(rest: &str) -> Result<(), TargetError> {
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let place = place.strip_prefix("//").unwrap_or(place);
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    let is_cut = match authority.rsplit_once('@') {
        None => path.contains('@') || query.contains('@'),
        Some((login, _)) => {
            let is_rest = |part: &str| part.contains('@') && !part.contains('=');
            login.contains(':') && (path.contains('@') || query.split('&').any(is_rest))
        }
    };
    match is_cut {
        false => Ok(()),
        true => Err(TargetError::Endpoint(
            "`@` follows a `/` or a `?`: in a password write them as %2F and %3F, and `@` \
             elsewhere as %40",
        )),
    }
}

fn parse_local(kind: TargetKind, place: &str) -> Result<Endpoint, TargetError> {
    let place = place.strip_prefix("//").unwrap_or(place);
    let place = decode(place)?;
    Ok(match (kind, place.is_empty()) {
        (TargetKind::Sqlite, true) => Endpoint::Temporary,
        (TargetKind::Sqlite, false) => Endpoint::File(PathBuf::from(place)),
        (_, true) => {
            return Err(TargetError::Endpoint("nothing follows the scheme of the URL"));
        }
        (_, false) => Endpoint::Named(place),
    })
}

fn parse_network(place: &str) -> Result<Endpoint, TargetError> {
    let place = place
        .strip_prefix("//")
        .ok_or(TargetError::Endpoint("write `//` between the scheme and the host"))?;
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    let (login, hosts) = match authority.rsplit_once('@') {
        Some((login, hosts)) => (Some(login), hosts),
        None => (None, authority),
    };
    let (user, password) = login.map_or(("", ""), |it| it.split_once(':').unwrap_or((it, "")));
    let user = if user.is_empty() { None } else { Some(decode(user)?) };
    let password = match password {
        "" => None,
        password => Some(Secret::new(decode_secret(password)?)),
    };
    let addresses = hosts.split(',').map(address).collect::<Result<Vec<_>, _>>()?;
    let database = if database.is_empty() { None } else { Some(decode(database)?) };
    Ok(Endpoint::Network { user, password, addresses, database })
}

fn address(text: &str) -> Result<HostPort, TargetError> {
    let (host, port) = match text.strip_prefix('[') {
        Some(bracketed) => {
            let (host, after) = bracketed
                .split_once(']')
                .ok_or(TargetError::Endpoint("an IPv6 address in the URL has no closing `]`"))?;
            match after.strip_prefix(':') {
                // The text may be a part of a password; it must not be repeated.
                None if !after.is_empty() => return Err(TargetError::PortIsNoNumber),
                port => (host, port),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = port.map(|port| match port.parse::<u16>() {
        Ok(number) if number > 0 => Ok(number),
        _ if is_short_number(port) => Err(TargetError::Port(port.to_owned())),
        _ => Err(TargetError::PortIsNoNumber),
    });
    let host = if host.is_empty() { "localhost".to_owned() } else { decode(host)? };
    Ok(HostPort { host, port: port.transpose()? })
}

/// Returns true if a text may be a mistyped port. A longer number may be a password; it must not be
/// repeated.
fn is_short_number(text: &str) -> bool {
    text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Names of options that hold a password in other programs.
const PASSWORDS: [&str; 4] = ["password", "passwd", "pass", "pwd"];

/// Ends of the names of further options that hold a secret, such as `sslpassword`, in the URLs of
/// servers on a network.
const SECRET_ENDS: [&str; 4] = ["password", "passphrase", "secret", "token"];

fn options(kind: TargetKind, query: &str) -> Result<Vec<(String, String)>, TargetError> {
    let mut options: Vec<(String, String)> = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, value) =
            part.split_once('=').ok_or_else(|| TargetError::OptionValue(part.to_owned()))?;
        let name = decode(name)?;
        if PASSWORDS.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(TargetError::PasswordOption);
        }
        if options.iter().any(|(known, _)| *known == name) {
            return Err(TargetError::OptionRepeated(name));
        }
        // Some options of a simulated server are fractions, and `2%` is a likely slip.
        if kind == TargetKind::Sim && fraction_of_percentage(value).is_some() {
            return Err(TargetError::Percentage { option: name, value: value.to_owned() });
        }
        options.push((name, decode(value)?));
    }
    Ok(options)
}

/// Converts a percentage to a fraction, such as `2%` to `0.02`; `None` for any other text.
pub fn fraction_of_percentage(text: &str) -> Option<String> {
    let number = text.strip_suffix('%')?.trim_end();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + decimals.len() == 0 || !are_digits(whole) || !are_digits(decimals) {
        return None;
    }
    // Moving the decimal point in the text is exact; a division such as 0.7 by 100 is not.
    let whole = format!("{:0>3}", whole.trim_start_matches('0'));
    let (ones, hundredths) = whole.split_at(whole.len() - 2);
    let fraction = format!("{ones}.{hundredths}{decimals}");
    Some(fraction.trim_end_matches('0').trim_end_matches('.').to_owned())
}

fn decode(text: &str) -> Result<String, TargetError> {
    decode_bytes(text).ok_or_else(|| TargetError::Escape(EscapedPart::Text(text.to_owned())))
}

fn decode_secret(text: &str) -> Result<String, TargetError> {
    decode_bytes(text).ok_or(TargetError::Escape(EscapedPart::Password))
}

/// Percent-decodes a text (RFC 3986, section 2.1); `None` if an escape or the UTF-8 is invalid.
fn decode_bytes(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push((high * 16 + low) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Percent-encodes the name of a user or host, including `/` and `,`, which separate the parts of a
/// URL.
fn encoded_name(name: &str) -> String {
    percent_encoded(name).replace('/', "%2F").replace(',', "%2C")
}

/// Writes the path or name that follows a scheme. A path that begins with two slashes gets two
/// more, because parsing removes two.
fn write_local(f: &mut fmt::Formatter<'_>, place: &str) -> fmt::Result {
    let slashes = if place.starts_with("//") { "//" } else { "" };
    write!(f, "{slashes}{}", percent_encoded(place))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.kind.scheme())?;
        match &self.endpoint {
            Endpoint::Temporary => {}
            Endpoint::File(path) => write_local(f, &path.to_string_lossy())?,
            Endpoint::Named(name) => write_local(f, name)?,
            Endpoint::Network { user, password: _, addresses, database } => {
                f.write_str("//")?;
                if let Some(user) = user {
                    write!(f, "{}@", encoded_name(user))?;
                }
                for (place, address) in addresses.iter().enumerate() {
                    let comma = if place > 0 { "," } else { "" };
                    write!(f, "{comma}{address}")?;
                }
                if let Some(database) = database {
                    write!(f, "/{}", percent_encoded(database))?;
                }
            }
        }
        for (place, (name, value)) in self.options.iter().enumerate() {
            let separator = if place == 0 { '?' } else { '&' };
            write!(f, "{separator}{}={}", percent_encoded(name), percent_encoded(value))?;
        }
        Ok(())
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<String> = self.host.split(':').map(encoded_name).collect();
        match groups.as_slice() {
            [name] => f.write_str(name)?,
            groups => write!(f, "[{}]", groups.join(":"))?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error of a malformed URL.
    fn error(url: &str) -> TargetError {
        let (scheme, rest) = url.split_once(':').unwrap();
        let kind = TargetKind::SCHEMES.into_iter().find(|(name, _)| *name == scheme);
        Target::parse_rest(kind.unwrap().1, rest).unwrap_err()
    }

    #[test]
    fn a_url_printed_again_is_the_same_url_without_its_password() {
        for (url, printed) in [
            ("sqlite:", "sqlite:"),
            ("sqlite:data/bank.db?journal=wal", "sqlite:data/bank.db?journal=wal"),
            ("sim:mm1?service=1ms&servers=4", "sim:mm1?service=1ms&servers=4"),
            (
                "postgres://ann:hunter%402@db1:5433,db2/shop?tls=off",
                "postgres://ann@db1:5433,db2/shop?tls=off",
            ),
            ("mysql://root@[::1]:3306/test", "mysql://root@[::1]:3306/test"),
            ("postgresql:///shop", "postgres://localhost/shop"),
            ("sqlite:///tmp/bank.db", "sqlite:/tmp/bank.db"),
            ("sqlite:////tmp/bank.db", "sqlite:////tmp/bank.db"),
            ("sqlite:a%3Fb%25c", "sqlite:a%3Fb%25c"),
            ("postgres://AD%2Fann%2Cbob@db1/a%2Fb", "postgres://AD%2Fann%2Cbob@db1/a/b"),
            ("postgres://%2Fvar%2Frun,a%2Cb/shop", "postgres://%2Fvar%2Frun,a%2Cb/shop"),
            ("mysql://[fe80::1%25eth0]:3306/", "mysql://[fe80::1%25eth0]:3306"),
            ("mysql://a%3A%5D%2Fb%40/d", "mysql://[a:%5D%2Fb%40]/d"),
            ("postgres://:hunter2@db1/shop", "postgres://db1/shop"),
            ("postgres://@db1/shop", "postgres://db1/shop"),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(target.to_string(), printed);
            let mut again = Target::parse(printed).unwrap();
            assert_eq!(again.to_string(), printed);
            if let (
                Endpoint::Network { password: again, .. },
                Endpoint::Network { password: first, .. },
            ) = (&mut again.endpoint, &target.endpoint)
            {
                again.clone_from(first);
            }
            assert_eq!(again, target, "{url}");
        }
    }

    #[test]
    fn a_private_server_speaks_the_dialect_of_its_name() {
        for (url, dialect) in [
            ("testbed:mariadb?tls=off", Dialect::Mysql),
            ("testbed:mysql", Dialect::Mysql),
            ("testbed:postgres", Dialect::Postgres),
            ("sqlite:t.db", Dialect::Sqlite),
        ] {
            assert_eq!(Target::parse(url).unwrap().dialect(), dialect);
        }
    }

    #[test]
    fn the_password_is_decoded_and_hidden() {
        let target = Target::parse("postgres://ann:hunter%402@db1/shop").unwrap();
        let Endpoint::Network { password: Some(password), .. } = &target.endpoint else {
            panic!("a network endpoint with a password, got {target:?}");
        };
        assert_eq!(password.expose(), "hunter@2");
        assert!(!format!("{target:?}{target}").contains("hunter"));
    }

    #[test]
    fn a_password_that_is_cut_or_an_option_is_refused_without_being_repeated() {
        for url in [
            "postgres://ann:hun/ter2@db1/shop",
            "postgres://ann:hun?ter2@db1/shop",
            "postgres://ann:5432/hunter2@db1/shop",
            "postgres://db1/shop?password=hunter2",
            "mysql://db1/shop?PWD=hunter2",
            "postgres://db1/shop?sslpassword=hunter2",
            "mysql://db1/shop?auth-token=hunter2",
            "postgres://ann:hun@ter2/x@db1/shop",
            "postgres://ann:hun@ter2?x@db1/shop",
        ] {
            let message = error(url).to_string();
            assert!(message.contains("password"), "{message}");
            assert!(!message.contains("hun") && !message.contains("ter2"), "{message}");
        }
        // After a login, the rest may contain an `@`. Names of other options may contain `pass`.
        for url in [
            "postgres://ann@db1/shop?application-name=me@home",
            "postgres://ann:pw@db1/shop?application-name=me@home",
            "postgres://ann@db1/sh@p",
            "postgres://ann@db1/shop?passfile=p",
            "mysql://ann@db1/shop?allowCleartextPasswords=true",
            "testbed:postgres?server.password_encryption=md5",
        ] {
            assert!(Target::parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn broken_urls_say_what_is_wrong_without_repeating_a_password() {
        for (url, message) in [
            ("mariadb://h/d", "MariaDB's scheme is that of MySQL: write `mysql:`"),
            ("sqlit:x", "unknown scheme `sqlit:`; did you mean `sqlite:`?"),
            (
                "oracle:x",
                "unknown scheme `oracle:`: this build has drivers for `sqlite:FILE`, `sim:mm1`, \
                 `postgres://HOST/DATABASE`, `mysql://HOST/DATABASE` and `testbed:postgres`",
            ),
            (
                "data.db",
                "the URL has no scheme, such as `sqlite:`: this build has drivers for \
                 `sqlite:FILE`, `sim:mm1`, \
                 `postgres://HOST/DATABASE`, `mysql://HOST/DATABASE` and `testbed:postgres`",
            ),
            ("postgrs://h/x", "unknown scheme `postgrs:`; did you mean `postgres:`?"),
            ("postgresql:host", "write `//` between the scheme and the host"),
            ("sim:", "nothing follows the scheme of the URL"),
            ("sim:mm1?service", "option `service` has no value; write `service=VALUE`"),
            ("sim:mm1?a=1&a=2", "option `a` is given twice"),
        ] {
            assert_eq!(Target::parse(url).unwrap_err().to_string(), message, "{url}");
        }
        for (url, message) in [
            ("postgres:host", "write `//` between the scheme and the host"),
            ("postgres://h:99999/x", "`99999` is not a port from 1 to 65535"),
            ("postgres://ann:hunter2/x", "the port in the URL is not a number from 1 to 65535"),
            ("postgres://ann:19840423/x", "the port in the URL is not a number from 1 to 65535"),
            (
                "postgres://u:pw%zz@h/x",
                "cannot decode the password: expected two hexadecimal digits of UTF-8 after each \
                 `%`",
            ),
            ("mysql://[::1/x", "an IPv6 address in the URL has no closing `]`"),
            ("postgres://[::1]1/x", "the port in the URL is not a number from 1 to 65535"),
            ("postgres://[::1]hunter2/x", "the port in the URL is not a number from 1 to 65535"),
            ("mysql://h,[::1]x:1/d", "the port in the URL is not a number from 1 to 65535"),
        ] {
            assert_eq!(error(url).to_string(), message, "{url}");
        }
    }

    #[test]
    fn broken_escapes_and_percentages_have_a_place_and_a_remedy() {
        for (url, message, place, remedy) in [
            (
                "sim:mm1?service=1ms&noise=2%",
                "option `noise` is `2%`, but a percentage is written as a fraction",
                "noise=2%",
                "write `noise=0.02`",
            ),
            (
                "sim:mm1?errors=0.5%&noise=0.1",
                "option `errors` is `0.5%`, but a percentage is written as a fraction",
                "errors=0.5%",
                "write `errors=0.005`",
            ),
            (
                "sim:mm1?errors=0.7%",
                "option `errors` is `0.7%`, but a percentage is written as a fraction",
                "errors=0.7%",
                "write `errors=0.007`",
            ),
            (
                "sqlite:50%.db",
                "cannot decode `50%.db`: expected two hexadecimal digits of UTF-8 after each `%`",
                "50%.db",
                "write a percent sign as `%25`",
            ),
            (
                "sqlite:t.db?cache-size=%ff",
                "cannot decode `%ff`: expected two hexadecimal digits of UTF-8 after each `%`",
                "%ff",
                "write a percent sign as `%25`",
            ),
        ] {
            let error = Target::parse(url).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!((&url[error.place(url)], error.remedy().as_deref()), (place, Some(remedy)));
        }
        let url = "sqlite:t.db?a=x%20y&b=%20&cache-size=%2";
        assert_eq!(Target::parse(url).unwrap_err().place(url), url.len() - 2..url.len());
    }

    #[test]
    fn percentages_become_fractions_with_the_same_digits() {
        for (text, fraction) in [
            ("2%", "0.02"),
            ("0.7 %", "0.007"),
            ("1.1%", "0.011"),
            (".5%", "0.005"),
            ("150%", "1.5"),
            ("100%", "1"),
            ("0002%", "0.02"),
            ("0%", "0"),
        ] {
            assert_eq!(fraction_of_percentage(text).as_deref(), Some(fraction), "{text}");
        }
        for text in ["%", ".%", "2", "-2%", "2e3%", "1.2.3%", "2%%"] {
            assert_eq!(fraction_of_percentage(text), None, "{text}");
        }
    }

    #[test]
    fn temporary_database_has_its_own_name() {
        for (url, words) in [
            ("sqlite:", "sqlite: (a temporary file)"),
            ("sqlite:?journal=wal", "sqlite:?journal=wal (a temporary file)"),
            ("sqlite:t.db", "sqlite:t.db"),
            ("sim:mm1", "sim:mm1"),
        ] {
            assert_eq!(Target::parse(url).unwrap().display_url(), words);
        }
    }
}
