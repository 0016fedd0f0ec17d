//! The server that a `sim:` URL describes.

use std::fmt;
use std::ops::Range;

use base::units::{UnitError, parse_count, parse_duration};
use base::{Code, Nanos, Seed, Stamp, closest, fraction_of_percentage};

use crate::closed_form::Scalability;
use crate::variation::Variation;

/// Parameters of a simulated server.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Distribution of the service time, without waiting.
    pub service: Service,
    /// Number of requests served at the same time; `None` means unlimited.
    pub servers: Option<u32>,
    /// Maximum number of requests in the system, waiting ones included; the next one is refused
    /// with an error. `None` means unlimited.
    pub capacity: Option<u32>,
    /// Maximum number of requests that are accepted within any second; a further one is refused
    /// with an error. `None` means unlimited.
    pub limit: Option<u32>,
    /// Number of rows that each statement returns.
    pub rows: u64,
    /// Time that connecting takes.
    pub connect: Nanos,
    /// Maximum number of connections; `None` means unlimited.
    pub max_connections: Option<u32>,
    /// Length of each stall, during which the server does not work.
    pub stall: Nanos,
    /// Time from the start of one stall to the next.
    pub stall_every: Nanos,
    /// Slowdown of services during a run.
    pub slowdown: Slowdown,
    /// Variation of the speed from run to run.
    pub variation: Variation,
    /// Fraction of requests that end in an error, after their service.
    pub errors: f64,
    /// Code of those errors.
    pub error_code: Code,
    /// Fraction of requests that lose their connection after their service and get no answer.
    pub disconnects: f64,
    /// Outages, counted from time zero: connections break at the beginning of an outage, and new
    /// ones are refused until its end.
    pub outages: Vec<Range<Stamp>>,
    /// Code with which logins are refused during an outage; `None` means that the server is not
    /// reachable.
    pub outage_code: Option<Code>,
}

/// Slowdown of services, at once or gradually.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slowdown {
    /// Full growth of the service time, as a fraction of the service time before the slowdown.
    pub by: f64,
    /// Start of the slowdown, counted from time zero.
    pub from: Nanos,
    /// Time over which the slowdown grows linearly to its full size.
    pub over: Nanos,
}

impl Slowdown {
    /// Returns the factor of the service time of a request that arrives at the given time since
    /// time zero.
    pub(crate) fn factor(&self, since_zero: Nanos) -> f64 {
        let into = since_zero.saturating_sub(self.from);
        let part = match since_zero >= self.from {
            false => 0.0,
            true if into >= self.over => 1.0,
            true => into.as_secs_f64() / self.over.as_secs_f64(),
        };
        1.0 + self.by * part
    }
}

/// Distribution of service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// The same service time for all requests.
    Constant(Nanos),
    /// Exponential with this mean.
    Exponential(Nanos),
    /// By the universal scalability law: the more requests are in the system when a request
    /// arrives, the longer its service takes. If the number of servers is unlimited, as is usual,
    /// no request waits.
    Scaling(Scalability),
    /// Cache hit or miss: exponential with one of two means (hyperexponential).
    Bimodal {
        /// Mean of the fast services.
        fast: Nanos,
        /// Mean of the slow services.
        slow: Nanos,
        /// Fraction of slow services.
        slow_share: f64,
    },
}

impl Service {
    /// Returns the mean service time in seconds.
    pub fn mean_s(&self) -> f64 {
        match self {
            Service::Constant(mean) | Service::Exponential(mean) => mean.as_secs_f64(),
            // The service time of a request that is alone in the system.
            Service::Scaling(law) => law.service_s,
            Service::Bimodal { fast, slow, slow_share } => {
                fast.as_secs_f64() * (1.0 - slow_share) + slow.as_secs_f64() * slow_share
            }
        }
    }
}

/// Reason why a `sim:` URL is invalid.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigError {
    /// The word after `sim:` is not a kind of server.
    Kind(String),
    /// An option that no kind of server has.
    Option(String),
    /// An option that has no effect on this kind of server.
    InapplicableOption {
        /// Name of the option.
        option: &'static str,
        /// Kind of the server.
        kind: &'static str,
    },
    /// An option's value is malformed.
    Value {
        /// Name of the option.
        option: &'static str,
        /// Value of the option.
        value: String,
        /// Problem, as the second half of a sentence that begins with the value.
        why: String,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Kind(kind) => {
                write!(f, "there is no simulated server `sim:{kind}`; ")?;
                match closest(kind, KINDS) {
                    Some(near) => write!(f, "did you mean `sim:{near}`?"),
                    None => write!(f, "the kinds are {}", KINDS.join(", ")),
                }
            }
            ConfigError::Option(option) => {
                write!(f, "a simulated server has no option `{option}`; ")?;
                match closest(option, OPTIONS) {
                    Some(near) => write!(f, "did you mean `{near}`?"),
                    None => write!(f, "the options are {}", OPTIONS.join(", ")),
                }
            }
            ConfigError::InapplicableOption { option, kind } => {
                let others = kinds_with_option(option).iter().map(|kind| format!("`sim:{kind}`"));
                let others = others.collect::<Vec<_>>().join(", ");
                write!(f, "`sim:{kind}` has no option `{option}`, which is for {others}")
            }
            ConfigError::Value { option, value, why } => {
                write!(f, "`{value}` of the simulated server's option `{option}` {why}")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// Maximum number of servers: the simulation stores the state of each.
const MOST_SERVERS: u32 = 1_000_000;

/// Largest value of the option `limit`, in requests per second: the simulation stores the times of
/// all requests that were accepted within the last second.
const MOST_LIMIT: u32 = 10_000_000;

/// Highest position of a run in its series. It is bounded because the drift of a run is computed
/// from all runs before it.
const MOST_RUNS: u64 = 1_000_000;

/// Kinds of server, in Kendall's notation where it exists.
const KINDS: [&str; 7] = ["mm1", "mmc", "md1", "mdc", "bimodal", "usl", "null"];

const OPTIONS: [&str; 27] = [
    "service",
    "servers",
    "fast",
    "slow",
    "slow-share",
    "contention",
    "coherency",
    "capacity",
    "limit",
    "rows",
    "connect",
    "max-connections",
    "stall",
    "stall-every",
    "slower",
    "slower-from",
    "slower-over",
    "noise",
    "drift",
    "trend",
    "series",
    "run",
    "errors",
    "error-code",
    "disconnects",
    "outage",
    "outage-code",
];

/// Returns the kinds of server that accept an option.
fn kinds_with_option(option: &str) -> &'static [&'static str] {
    match option {
        "service" => &["mm1", "mmc", "md1", "mdc", "usl"],
        "fast" | "slow" | "slow-share" => &["bimodal"],
        "contention" | "coherency" => &["usl"],
        _ => &KINDS,
    }
}

/// Checks that the kind of server exists and that it accepts all of these options.
fn check_names(kind: &str, options: &[(String, String)]) -> Result<(), ConfigError> {
    let Some(kind) = KINDS.into_iter().find(|known| *known == kind) else {
        return Err(ConfigError::Kind(kind.to_owned()));
    };
    for (name, _) in options {
        let option = OPTIONS.into_iter().find(|known| known == name);
        let option = option.ok_or_else(|| ConfigError::Option(name.clone()))?;
        if !kinds_with_option(option).contains(&kind) {
            return Err(ConfigError::InapplicableOption { option, kind });
        }
    }
    Ok(())
}

impl Config {
    /// Creates the configuration of a server without faults, limits or variation.
    pub fn new(service: Service, servers: Option<u32>) -> Config {
        Config {
            service,
            servers,
            capacity: None,
            limit: None,
            rows: 1,
            connect: Nanos::ZERO,
            max_connections: None,
            stall: Nanos::ZERO,
            stall_every: Nanos::from_secs(10),
            slowdown: Slowdown::default(),
            variation: Variation::default(),
            errors: 0.0,
            error_code: Code::new("40001"),
            disconnects: 0.0,
            outages: Vec::new(),
            outage_code: None,
        }
    }

    /// Parses the kind and the options of a URL such as `sim:mmc?service=4ms&servers=4`.
    ///
    /// # Errors
    /// An unknown kind, an option that has no effect on the kind, or a malformed value; the message
    /// names the option.
    pub fn from_options(kind: &str, options: &[(String, String)]) -> Result<Config, ConfigError> {
        check_names(kind, options)?;
        let options = Options(options);
        let mean = options.duration("service", Nanos::from_millis(1))?;
        let (service, servers) = match kind {
            "mm1" => (Service::Exponential(mean), Some(1)),
            "mmc" => (Service::Exponential(mean), Some(4)),
            "md1" => (Service::Constant(mean), Some(1)),
            "mdc" => (Service::Constant(mean), Some(4)),
            "bimodal" => (options.bimodal()?, Some(1)),
            "usl" => (options.scaling(mean)?, None),
            "null" => (Service::Constant(Nanos::ZERO), None),
            _ => return Err(ConfigError::Kind(kind.to_owned())),
        };
        let mut config = Config::new(service, servers);
        if let Some(servers) = options.find("servers") {
            config.servers = match servers {
                "unlimited" => None,
                _ => options.servers()?,
            };
        }
        config.capacity = options.positive("capacity")?;
        config.limit = options.limit()?;
        config.max_connections = options.positive("max-connections")?;
        config.rows = options.count("rows", 1)?;
        config.connect = options.duration("connect", Nanos::ZERO)?;
        config.stall = options.duration("stall", Nanos::ZERO)?;
        config.stall_every = options.duration("stall-every", config.stall_every)?;
        if config.stall >= config.stall_every {
            return Err(options.error("stall", "is not shorter than `stall-every`"));
        }
        config.slowdown = Slowdown {
            by: options.fraction("slower")?,
            from: options.duration("slower-from", Nanos::ZERO)?,
            over: options.duration("slower-over", Nanos::ZERO)?,
        };
        config.variation = Variation {
            noise: options.fraction("noise")?,
            drift: options.fraction("drift")?,
            trend: options.fraction("trend")?,
            series: Seed(options.count("series", Seed::default().0)?),
            run: options.run()?,
        };
        config.errors = options.fraction("errors")?;
        config.disconnects = options.fraction("disconnects")?;
        // `0.1` and the like are not exact, so a sum of 1 may be rounded up.
        if config.errors + config.disconnects > 1.0 + f64::EPSILON {
            let why = "is more than the requests that `errors` leaves: both fractions together \
                       are at most 1";
            return Err(options.error("disconnects", why));
        }
        if let Some(code) = options.find("error-code") {
            config.error_code = Code::new(code);
        }
        config.outages = options.outages()?;
        config.outage_code = options.find("outage-code").map(Code::new);
        Ok(config)
    }
}

/// Options of a URL, read by name.
struct Options<'a>(&'a [(String, String)]);

impl Options<'_> {
    fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn error(&self, option: &'static str, why: impl fmt::Display) -> ConfigError {
        let value = self.find(option).unwrap_or_default().to_owned();
        ConfigError::Value { option, value, why: why.to_string() }
    }

    fn read<T>(
        &self,
        option: &'static str,
        default: T,
        parse: impl Fn(&str) -> Result<T, UnitError>,
    ) -> Result<T, ConfigError> {
        match self.find(option) {
            None => Ok(default),
            Some(text) => parse(text).map_err(|why| self.error(option, why)),
        }
    }

    fn duration(&self, option: &'static str, default: Nanos) -> Result<Nanos, ConfigError> {
        self.read(option, default, parse_duration)
    }

    fn count(&self, option: &'static str, default: u64) -> Result<u64, ConfigError> {
        self.read(option, default, parse_count)
    }

    fn positive(&self, option: &'static str) -> Result<Option<u32>, ConfigError> {
        if self.find(option).is_none() {
            return Ok(None);
        }
        match u32::try_from(self.count(option, 0)?) {
            Ok(0) => Err(self.error(option, "is zero: write 1 or more")),
            Ok(count) => Ok(Some(count)),
            Err(_) => Err(self.error(option, UnitError::TooLarge)),
        }
    }

    fn run(&self) -> Result<u32, ConfigError> {
        match self.count("run", 0)? {
            run @ 0..=MOST_RUNS => Ok(run as u32),
            _ => Err(self.error("run", format!("is more than {MOST_RUNS}"))),
        }
    }

    fn servers(&self) -> Result<Option<u32>, ConfigError> {
        match self.positive("servers")? {
            Some(servers) if servers > MOST_SERVERS => {
                let why = format!("is more than {MOST_SERVERS}: write fewer, or `unlimited`");
                Err(self.error("servers", why))
            }
            servers => Ok(servers),
        }
    }

    fn limit(&self) -> Result<Option<u32>, ConfigError> {
        match self.positive("limit")? {
            Some(limit) if limit > MOST_LIMIT => {
                Err(self.error("limit", format!("is more than {MOST_LIMIT}")))
            }
            limit => Ok(limit),
        }
    }

    fn fraction(&self, option: &'static str) -> Result<f64, ConfigError> {
        let Some(text) = self.find(option) else {
            return Ok(0.0);
        };
        match text.parse::<f64>() {
            Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
            _ => {
                let remedy = fraction_of_percentage(text);
                let remedy = remedy.map_or_else(String::new, |it| format!("; write `{it}`"));
                Err(self.error(option, format!("is not a fraction from 0 to 1{remedy}")))
            }
        }
    }

    fn bimodal(&self) -> Result<Service, ConfigError> {
        let slow_share =
            if self.find("slow-share").is_some() { self.fraction("slow-share")? } else { 0.1 };
        Ok(Service::Bimodal {
            fast: self.duration("fast", Nanos::from_micros(500))?,
            slow: self.duration("slow", Nanos::from_micros(5_500))?,
            slow_share,
        })
    }

    fn scaling(&self, service: Nanos) -> Result<Service, ConfigError> {
        Ok(Service::Scaling(Scalability {
            service_s: service.as_secs_f64(),
            contention: self.fraction("contention")?,
            coherency: self.fraction("coherency")?,
        }))
    }

    fn outages(&self) -> Result<Vec<Range<Stamp>>, ConfigError> {
        let Some(text) = self.find("outage") else {
            return Ok(Vec::new());
        };
        let mut outages: Vec<Range<Stamp>> = Vec::new();
        for part in text.split(',') {
            let (from, to) = part
                .split_once("..")
                .ok_or_else(|| self.error("outage", "is not of the form 10s..15s"))?;
            let read = |text| parse_duration(text).map_err(|why| self.error("outage", why));
            let outage = Stamp(read(from)?.0)..Stamp(read(to)?.0);
            let after = outages.last().map_or(Stamp::ZERO, |last| last.end);
            if outage.is_empty() {
                return Err(self.error("outage", "has an outage that does not end after it begins"));
            }
            if outage.start < after {
                let why = "has outages that overlap or are out of order: list them by their times";
                return Err(self.error("outage", why));
            }
            outages.push(outage);
        }
        Ok(outages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(kind: &str, options: &[(&str, &str)]) -> Result<Config, String> {
        let options: Vec<_> =
            options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Config::from_options(kind, &options).map_err(|error| error.to_string())
    }

    #[test]
    fn kinds_have_their_textbook_defaults() {
        let mm1 = config("mm1", &[]).unwrap();
        assert_eq!(mm1, Config::new(Service::Exponential(Nanos::from_millis(1)), Some(1)));
        let mdc = config("mdc", &[("servers", "16"), ("service", "4ms")]).unwrap();
        assert_eq!(mdc, Config::new(Service::Constant(Nanos::from_millis(4)), Some(16)));
        let wide = config("mmc", &[("servers", "unlimited")]).unwrap();
        assert_eq!(wide.servers, None);
        let away = config("mm1", &[("outage", "10s..15s,20s..21s")]).unwrap();
        assert_eq!(away.outages.len(), 2);
        assert_eq!(away.outages[1].end, Stamp(21_000_000_000));
    }

    #[test]
    fn kinds_have_their_own_options() {
        for (kind, option, value) in [
            ("bimodal", "slow-share", "0.2"),
            ("bimodal", "fast", "1ms"),
            ("usl", "coherency", "0.01"),
            ("usl", "service", "2ms"),
            ("null", "errors", "0.1"),
            ("md1", "service", "2ms"),
        ] {
            assert!(config(kind, &[(option, value)]).is_ok(), "{kind} {option}");
        }
    }

    #[test]
    fn bad_options_are_named_with_the_remedy() {
        for (kind, options, message) in [
            ("mn1", vec![], "there is no simulated server `sim:mn1`; did you mean `sim:mm1`?"),
            (
                "mm1",
                vec![("sevice", "1ms")],
                "a simulated server has no option `sevice`; did you mean `service`?",
            ),
            (
                "mm1",
                vec![("fast", "1ms")],
                "`sim:mm1` has no option `fast`, which is for `sim:bimodal`",
            ),
            (
                "null",
                vec![("rows", "2"), ("service", "1ms")],
                "`sim:null` has no option `service`, which is for `sim:mm1`, `sim:mmc`, \
                 `sim:md1`, `sim:mdc`, `sim:usl`",
            ),
            (
                "mm1",
                vec![("service", "1")],
                "`1` of the simulated server's option `service` has no unit: \
                 write `10s`, `250ms`, `1m30s` or `1h`",
            ),
            (
                "mm1",
                vec![("errors", "1.5")],
                "`1.5` of the simulated server's option `errors` is not a fraction from 0 to 1",
            ),
            (
                "mm1",
                vec![("servers", "0")],
                "`0` of the simulated server's option `servers` is zero: write 1 or more",
            ),
            (
                "mm1",
                vec![("servers", "4000000000")],
                "`4000000000` of the simulated server's option `servers` is more than 1000000: \
                 write fewer, or `unlimited`",
            ),
            (
                "mm1",
                vec![("limit", "20000000")],
                "`20000000` of the simulated server's option `limit` is more than 10000000",
            ),
            (
                "mm1",
                vec![("stall", "10s")],
                "`10s` of the simulated server's option `stall` is not shorter than `stall-every`",
            ),
            (
                "mm1",
                vec![("outage", "5s..2s")],
                "`5s..2s` of the simulated server's option `outage` has an outage that does not \
                 end after it begins",
            ),
        ] {
            assert_eq!(config(kind, &options), Err(message.to_owned()));
        }
    }

    #[test]
    fn outages_in_order_do_not_overlap() {
        assert!(config("mm1", &[("outage", "1s..2s,2s..3s")]).is_ok());
        for outages in ["5s..7s,6s..8s", "5s..7s,1s..2s"] {
            let message = format!(
                "`{outages}` of the simulated server's option `outage` has outages that overlap \
                 or are out of order: list them by their times"
            );
            assert_eq!(config("mm1", &[("outage", outages)]), Err(message));
        }
    }

    #[test]
    fn errors_and_disconnects_are_at_most_all_requests() {
        let of = |errors, disconnects| {
            config("mm1", &[("errors", errors), ("disconnects", disconnects)]).map(drop)
        };
        let message = "`0.4` of the simulated server's option `disconnects` is more than the \
                       requests that `errors` leaves: both fractions together are at most 1";
        assert_eq!(of("0.7", "0.4"), Err(message.to_owned()));
        for (errors, disconnects) in [("0.7", "0.3"), ("0.1", "0.9"), ("1", "0")] {
            assert_eq!(of(errors, disconnects), Ok(()), "{errors} {disconnects}");
        }
    }

    #[test]
    fn variation_is_a_fraction_of_a_numbered_run() {
        let options = [
            ("noise", "0.02"),
            ("drift", "0.01"),
            ("trend", "0.03"),
            ("series", "7"),
            ("run", "3"),
        ];
        let variation = config("mm1", &options).unwrap().variation;
        let expected = Variation { noise: 0.02, drift: 0.01, trend: 0.03, series: Seed(7), run: 3 };
        assert_eq!(variation, expected);
        let error = |option: &str, value: &str| config("mm1", &[(option, value)]).unwrap_err();
        let of = |value: &str, option: &str, why: &str| {
            format!("`{value}` of the simulated server's option `{option}` {why}")
        };
        let why = "is not a fraction from 0 to 1";
        assert_eq!(error("noise", "much"), of("much", "noise", why));
        assert_eq!(error("noise", "2%"), of("2%", "noise", &format!("{why}; write `0.02`")));
        assert_eq!(error("run", "first"), of("first", "run", "is not a number"));
        assert_eq!(error("run", "2000000"), of("2000000", "run", "is more than 1000000"));
    }
}
