//! Parsing of `testbed:` URLs.

use base::units::parse_duration;
use base::{Endpoint, Target, TargetKind, closest, either, unknown_value};
use net::TlsMode;

use crate::options::{Cache, Rights, Tls};
use crate::{Cpus, Kind, Options, Problem, Server, Via};

/// Names of the options of a `testbed:` URL, apart from the two groups of settings.
const OPTION_NAMES: [&str; 5] = ["via", "cache", "ttl", "tls", "cpus"];

/// Prefixes of the two groups of settings: those of the server, and those of the pooler.
const SETTING_PREFIXES: [&str; 2] = ["server.", "via."];

const KINDS: [Kind; 3] = [Kind::Postgres, Kind::Mariadb, Kind::Mysql];

/// Starts the server of a `testbed:` URL, and returns it with the URL to connect to. The user in
/// this URL has [ordinary rights](Rights::Ordinary).
///
/// # Errors
/// All mistakes in the URL at once, or the reason why the server does not start.
pub fn start(target: &Target) -> Result<(Server, Target), Problem> {
    start_with(target, Rights::Ordinary)
}

/// Starts the server of a `testbed:` URL with a user who has these rights.
///
/// # Errors
/// As for [`start`].
pub fn start_with(target: &Target, rights: Rights) -> Result<(Server, Target), Problem> {
    let ParsedUrl { options, tls } = ParsedUrl::parse(target)?;
    let server = Server::start(&options.rights(rights))?;
    let mut reached = server.url();
    if tls == Some(TlsMode::Require) {
        reached.options = vec![("tls".to_owned(), TlsMode::Require.word().to_owned())];
    }
    Ok((server, reached))
}

/// Checks a `testbed:` URL without starting anything, and returns its options.
///
/// # Errors
/// All mistakes in the URL.
pub fn check(target: &Target) -> Result<Options, Problem> {
    ParsedUrl::parse(target).map(|parsed| parsed.options)
}

/// A parsed URL.
struct ParsedUrl {
    options: Options,
    /// The value of `tls`.
    tls: Option<TlsMode>,
}

impl ParsedUrl {
    fn parse(target: &Target) -> Result<ParsedUrl, Problem> {
        let mut reader = UrlReader { target, mistakes: Vec::new() };
        let parsed = reader.read();
        if let Err(problem) = parsed.options.check() {
            reader.mistakes.extend(problem.to_string().lines().map(str::to_owned));
        }
        if reader.mistakes.is_empty() { Ok(parsed) } else { Err(Problem::Refused(reader.mistakes)) }
    }
}

/// A parser that collects all mistakes in a URL.
struct UrlReader<'a> {
    target: &'a Target,
    mistakes: Vec<String>,
}

impl UrlReader<'_> {
    fn read(&mut self) -> ParsedUrl {
        let mut options = Options::new(self.kind()).rights(Rights::Ordinary);
        options.settings = self.settings("server.");
        options.via_settings = self.settings("via.");
        self.check_option_names();
        let tls = self.keyword("tls", &TlsMode::WORDS).and_then(TlsMode::from_word);
        if matches!(tls, Some(TlsMode::Require | TlsMode::Verify)) {
            options.tls = Tls::Server;
        }
        options.via = self.via();
        options.cpus = self.cpus();
        ParsedUrl { options, tls }
    }

    fn kind(&mut self) -> Kind {
        let name = match (&self.target.kind, &self.target.endpoint) {
            (TargetKind::Testbed, Endpoint::Named(name)) => name.as_str(),
            _ => "",
        };
        let found = KINDS.into_iter().find(|kind| kind.name() == name);
        found.unwrap_or_else(|| {
            let names = KINDS.map(Kind::name);
            let known = either(&names);
            self.mistakes.push(match closest(name, names) {
                Some(near) => format!("the testbed has no `{name}`; did you mean `{near}`?"),
                None => format!("unknown server `{name}` for `testbed:`; expected {known}"),
            });
            Kind::Postgres
        })
    }

    /// Returns the settings of a group.
    fn settings(&self, group: &str) -> Vec<(String, String)> {
        let given = self.target.options.iter();
        let named = given.filter_map(|(name, value)| Some((name.strip_prefix(group)?, value)));
        named.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }

    fn check_option_names(&mut self) {
        for (name, _) in &self.target.options {
            let is_setting = SETTING_PREFIXES.iter().any(|group| name.starts_with(group));
            if is_setting || OPTION_NAMES.contains(&name.as_str()) {
                continue;
            }
            let list = OPTION_NAMES.join(", ");
            self.mistakes.push(match closest(name, OPTION_NAMES) {
                Some(near) => format!("`testbed:` has no option `{name}`; did you mean `{near}`?"),
                None => format!(
                    "`testbed:` has no option `{name}`: there are {list}, and a setting of the \
                     server is `server.{name}`"
                ),
            });
        }
    }

    /// Parses the value of an option as one of `words`, and reports any other value.
    fn keyword(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let value = self.target.option(name)?;
        let known = words.iter().copied().find(|word| *word == value);
        if known.is_none() {
            self.mistakes.push(unknown_value(value, name, words));
        }
        known
    }

    fn cpus(&mut self) -> Option<Cpus> {
        let value = self.target.option("cpus")?;
        let parsed = Cpus::parse(value);
        parsed.map_err(|why| self.mistakes.push(format!("`cpus` {why}"))).ok()
    }

    fn via(&mut self) -> Option<Via> {
        let via = self.keyword("via", &["none", "pgbouncer", "pgpool"]);
        let cache = self.keyword("cache", &["on", "off"]);
        let ttl = self.target.option("ttl").map(|value| (value, parse_duration(value)));
        if cache.is_some() && via != Some("pgpool") {
            self.mistakes.push(
                "`cache` is an option of pgpool: write `via=pgpool` with it, or leave it out \
                 (MariaDB has \
                 `server.query_cache_type`)"
                    .to_owned(),
            );
        }
        if ttl.is_some() && cache != Some("on") {
            self.mistakes.push("`ttl` says how long a cache lasts: write `cache=on`".to_owned());
        }
        if let Some((value, Err(why))) = &ttl {
            self.mistakes.push(format!("`{value}` of `ttl` {why}"));
        }
        let ttl = ttl.and_then(|(_, span)| span.ok());
        match via {
            Some("pgbouncer") => Some(Via::Pgbouncer),
            Some("pgpool") => {
                let cache = (cache == Some("on")).then_some(Cache { ttl });
                Some(Via::Pgpool { cache })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Nanos;

    use super::*;

    fn checked(rest: &str) -> Result<Options, String> {
        let target = Target::parse(&format!("testbed:{rest}")).expect("a URL");
        check(&target).map_err(|problem| problem.to_string())
    }

    #[test]
    fn testbed_url_sets_the_server_options() {
        let via = Via::Pgpool { cache: Some(Cache { ttl: Some(Nanos::from_secs(3_600)) }) };
        for (url, options) in [
            ("postgres", Options::postgres()),
            (
                "mariadb?server.innodb_doublewrite=0",
                Options::mariadb().set("innodb_doublewrite", "0"),
            ),
            ("mysql?server.local_infile=1", Options::mysql().set("local_infile", "1")),
            ("postgres?tls=verify", Options::postgres().tls(Tls::Server)),
            ("postgres?tls=off&via=none", Options::postgres()),
            ("mariadb?cpus=0", Options::mariadb().cpus(Cpus::parse("0").unwrap())),
            ("postgres?via=pgpool&cache=on&ttl=1h", Options::postgres().via(via)),
            ("postgres?via=pgpool&cache=off", Options::postgres().via(Via::Pgpool { cache: None })),
            (
                "postgres?via=pgbouncer&via.pool_mode=transaction",
                Options::postgres().via(Via::Pgbouncer).set_via("pool_mode", "transaction"),
            ),
        ] {
            assert_eq!(checked(url), Ok(options.rights(Rights::Ordinary)));
        }
    }

    #[test]
    fn all_mistakes_are_reported_with_suggestions() {
        for (url, complaints) in [
            ("mysq", "the testbed has no `mysq`; did you mean `mysql`?"),
            (
                "oracle",
                "unknown server `oracle` for `testbed:`; expected postgres, mariadb or mysql",
            ),
            (
                "postgres?vai=pgpool&jit=off&server.port=1&tls=yes&cache=true&ttl=soon",
                "`testbed:` has no option `vai`; did you mean `via`?\n\
                 `testbed:` has no option `jit`: there are via, cache, ttl, tls, cpus, and a \
                 setting of the server is `server.jit`\n\
                 unknown value `yes` for `tls`; expected off, require or verify\n\
                 unknown value `true` for `cache`; expected on or off\n\
                 `ttl` says how long a cache lasts: write `cache=on`\n\
                 `soon` of `ttl` is not a number\n\
                 `server.port` is set by Assay itself: leave it out",
            ),
            (
                "mariadb?cpus=0-x",
                "`cpus` has `0-x`, not a processor or a range; write for example \
                 `0-1,3`",
            ),
            (
                "mariadb?via=pgbounce",
                "unknown value `pgbounce` for `via`; expected none, pgbouncer or pgpool; did you \
                 mean `pgbouncer`?",
            ),
            (
                "mariadb?via=pgbouncer&cache=on",
                "`cache` is an option of pgpool: write `via=pgpool` with it, or leave it out \
                 (MariaDB has \
                 `server.query_cache_type`)\n\
                 only PostgreSQL can have a pooler: leave `via` out",
            ),
            (
                "postgres?via.pool_mode=session",
                "`via.NAME` sets an option of the pooler, but the URL has no `via`",
            ),
        ] {
            assert_eq!(checked(url).unwrap_err(), complaints, "{url}");
        }
    }
}
