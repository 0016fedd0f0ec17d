//! Comparison of the environments of two runs.
//!
//! A fact must be equal unless [`RULES`] says otherwise. A fact that is known for only one run is
//! reported as unknown, not as a difference. A fact that is unknown for both runs is not reported;
//! otherwise runs in a container that hides its machine would never be comparable.

use record::environment::{
    CALIBRATION, DEFAULT_SETTING, SERVER, UNKNOWN, assay, database, database_rest, generator, host,
    is_environment_fact, is_fact, known, network,
};

/// Rule for comparing the values of a fact in two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// The values must be equal.
    Exact,
    /// The numbers may differ by this much.
    Within(f64),
    /// The larger number may be this many times the smaller one.
    Factor(f64),
    /// The values may differ.
    Ignored,
}

/// Facts that need not be equal, each with its rule. A name that ends with a dot stands for all
/// names that begin with it.
///
/// * Total memory: the kernel reserves a different part of it after each boot. 1 %.
/// * Available memory: it depends on other programs, but not on the size of caches. Half of it may
///   be used before the difference matters.
/// * Swap in use: unused pages stay there. 64 MiB.
/// * Load averages: the previous run raises them. The checks of a run and `assay doctor` read the
///   use of the processors instead.
/// * Round trips: a median of five varies. The longer median may be twice the shorter one.
/// * Limits of open files, soft and hard, which depend on the shell: a run that needs more is
///   refused, so they do not affect a result.
/// * Calibrations: they were measured at different times. They measure the machine, whose own facts
///   are compared.
/// * The canary of a run of an experiment: it is a measurement too, and the answer judges it.
/// * Settings read back before a run of an experiment: only some arms have statements before a run.
/// * The time before a trial of a capacity search: it varies, and counts against the budget.
/// * The mark of a sweep over the number of hosts: the hosts themselves are in the target.
/// * Sizes of a database and of its tables: the same rows fill pages differently, and deleted rows
///   are cleaned up at any time. A tenth for the database. A quarter for a table and its indexes:
///   MySQL and MariaDB estimate the sizes of indexes and extend them by whole extents.
/// * The number of settings, and their defaults: the settings themselves are compared.
/// * The reason why a server's own statistics could not be read: it does not affect a result.
/// * The identity of a server: an experiment uses it to find out whether two arms have reached the
///   same server.
/// * Available clock sources: the clock source in use is compared.
/// * The label: a name for the run.
pub const RULES: [(&str, Rule); 23] = [
    (host::MEMORY_TOTAL, Rule::Factor(1.01)),
    (host::MEMORY_AVAILABLE, Rule::Factor(2.0)),
    (host::SWAP_USED, Rule::Within(64.0 * 1_048_576.0)),
    (host::LOAD_1M, Rule::Ignored),
    (host::LOAD_5M, Rule::Ignored),
    (host::LOAD_15M, Rule::Ignored),
    (host::OPEN_FILES_SOFT, Rule::Ignored),
    (host::OPEN_FILES_HARD, Rule::Ignored),
    (host::CLOCK_AVAILABLE, Rule::Ignored),
    (network::ROUND_TRIP, Rule::Factor(2.0)),
    (CALIBRATION, Rule::Ignored),
    (generator::CANARY, Rule::Ignored),
    (generator::BEFORE_READ_BACK, Rule::Ignored),
    (generator::BEFORE_TRIAL, Rule::Ignored),
    (generator::VARIES_SERVERS, Rule::Ignored),
    (database::SIZE, Rule::Factor(1.1)),
    (database::SIZE_PER_BUFFER, Rule::Factor(1.1)),
    (database::TABLE, Rule::Factor(1.25)),
    (database::SETTINGS, Rule::Ignored),
    (database::DEFAULT, Rule::Ignored),
    (database::ACCOUNT, Rule::Ignored),
    (database::SERVER_ID, Rule::Ignored),
    (assay::LABEL, Rule::Ignored),
];

impl Rule {
    /// Returns the rule of a fact.
    pub fn of(name: &str) -> Rule {
        let is_of = |(rule, _): &&(&str, Rule)| match rule.ends_with('.') {
            true => name.starts_with(rule) || database_rest(name, rule).is_some(),
            false => is_fact(name, rule),
        };
        RULES.iter().find(is_of).map_or(Rule::Exact, |(_, rule)| *rule)
    }

    /// Returns true if the rule treats two values as equal. Lists of numbers, separated by `, `,
    /// are compared number by number.
    fn accepts(self, a: &str, b: &str) -> bool {
        if a == b {
            return true;
        }
        let pairs = || {
            let (a, b): (Vec<&str>, Vec<&str>) = (a.split(", ").collect(), b.split(", ").collect());
            let same = a.len() == b.len();
            same.then(|| a.into_iter().zip(b).map(numbers).collect::<Option<Vec<_>>>()).flatten()
        };
        let all = |holds: &dyn Fn(f64, f64) -> bool| {
            pairs().is_some_and(|pairs| pairs.iter().all(|[low, high]| holds(*low, *high)))
        };
        match self {
            Rule::Exact => false,
            Rule::Ignored => true,
            Rule::Within(span) => all(&|low, high| high - low <= span),
            Rule::Factor(factor) => all(&|low, high| high <= low * factor),
        }
    }
}

/// Parses two numbers, and returns them in ascending order; `None` if one is not a number.
fn numbers((a, b): (&str, &str)) -> Option<[f64; 2]> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let (a, b) = (number(a)?, number(b)?);
    Some([a.min(b), a.max(b)])
}

/// Kind of a difference between two facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The difference between the values is not allowed by the rule.
    Differs,
    /// The value is known for only one of the runs.
    Unknown,
}

/// A fact whose values in two runs differ, or whose value is known for only one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the fact.
    pub name: String,
    /// The value in the first run.
    pub a: String,
    /// The value in the second run.
    pub b: String,
    /// Kind of the difference.
    pub kind: Kind,
}

/// Returns the differences between the environments of two runs, sorted by name.
///
/// Settings of servers are skipped, except three that summarise a server, and those that somebody
/// has set, which are facts. A fact that is missing in one run counts as unknown there, because an
/// older version may have written the record. A setting that was changed on only one server has its
/// default on the other server, if that server reported its settings.
pub fn differences(a: &[(String, String)], b: &[(String, String)]) -> Vec<Difference> {
    let mut names: Vec<&str> = a.iter().chain(b).map(|(name, _)| name.as_str()).collect();
    names.retain(|name| is_environment_fact(name) || is_server_summary(name));
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| difference(name, value(a, name), value(b, name))).collect()
}

/// Settings that summarise a server of any kind: its version, its isolation level, and whether
/// commits survive a crash.
const SERVER_SUMMARY: [&str; 3] = [SERVER, "isolation", "durability"];

fn is_server_summary(name: &str) -> bool {
    SERVER_SUMMARY.contains(&name.rsplit('.').next().unwrap_or(name))
}

fn value<'a>(facts: &'a [(String, String)], name: &str) -> &'a str {
    let found = facts.iter().find(|(known, _)| known == name);
    found.map_or_else(|| absent_value(facts, name), |(_, value)| value.as_str())
}

/// Returns the value that is assumed for an absent fact.
fn absent_value(facts: &[(String, String)], name: &str) -> &'static str {
    let Some((target, _)) = name.split_once(database::SETTING) else { return UNKNOWN };
    match known(facts, &format!("{target}{}", database::SETTINGS)) {
        Some(_) => DEFAULT_SETTING,
        None => UNKNOWN,
    }
}

fn difference(name: &str, a: &str, b: &str) -> Option<Difference> {
    let rule = Rule::of(name);
    let kind = match (a == UNKNOWN, b == UNKNOWN) {
        (true, true) => return None,
        (false, false) if rule.accepts(a, b) => return None,
        (true, false) | (false, true) if rule == Rule::Ignored => return None,
        (false, false) => Kind::Differs,
        (true, false) | (false, true) => Kind::Unknown,
    };
    Some(Difference { name: name.to_owned(), a: a.to_owned(), b: b.to_owned(), kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, a: &str, b: &str, expected: Option<Kind>) {
        let facts = |value: &str| vec![(name.to_owned(), value.to_owned())];
        for (a, b) in [(a, b), (b, a)] {
            let found = differences(&facts(a), &facts(b));
            let kind = found.first().map(|difference| difference.kind);
            assert_eq!(kind, expected, "{name}: {a}, {b}");
        }
    }

    #[test]
    fn facts_without_a_rule_must_be_equal() {
        check("host.kernel", "Linux 6.1", "Linux 6.1", None);
        check("host.kernel", "Linux 6.1", "Linux 6.2", Some(Kind::Differs));
        check("host.cpu.governor", "performance", "powersave", Some(Kind::Differs));
        check("host.some.later.fact", "1", "1.001", Some(Kind::Differs));
    }

    #[test]
    fn fluctuating_facts_may_differ_within_their_tolerance() {
        check("host.memory.total_bytes", "1000000", "1009000", None);
        check("host.memory.total_bytes", "1000000", "1020000", Some(Kind::Differs));
        check("host.memory.available_bytes", "1000", "1999", None);
        check("host.memory.available_bytes", "1000", "2001", Some(Kind::Differs));
        check("host.swap.used_bytes", "0", "67108864", None);
        check("host.swap.used_bytes", "0", "67108865", Some(Kind::Differs));
        check("host.load.1m", "0.01", "64.00", None);
        check("host.open_files.soft", "1024", "unlimited", None);
        check("host.clock.available", "tsc hpet", "tsc", None);
        check("network.round_trip_us", "100", "200", None);
        check("network.round_trip_us", "100", "201", Some(Kind::Differs));
        check("network.copy.round_trip_us", "100", "150", None);
        check("calibration.clock.cost_ns", "20", "40", None);
        check("calibration.clock.cost_ns", "20", UNKNOWN, None);
        check("network.round_trip_us", "100, 100", "150, 90", None);
        check("network.round_trip_us", "100, 100", "150", Some(Kind::Differs));
        check("network.round_trip_us", "none", "150", Some(Kind::Differs));
        check("network.path", "loopback", "remote IPv4", Some(Kind::Differs));
        check("host.memory.total_bytes", "NaN", "NaN, inf", Some(Kind::Differs));
    }

    #[test]
    fn fact_known_in_only_one_run_is_doubtful() {
        check("host.cpu.model", UNKNOWN, "A", Some(Kind::Unknown));
        check("host.cpu.model", UNKNOWN, UNKNOWN, None);
        check("host.load.1m", UNKNOWN, "1.00", None);
        let known = [("host.cpu.smt".to_owned(), "on".to_owned())];
        let found = differences(&known, &[]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].a.as_str(), found[0].b.as_str()), ("on", UNKNOWN));
        assert_eq!(found[0].kind, Kind::Unknown);
    }

    #[test]
    fn data_size_may_grow_slightly() {
        for target in ["", "copy."] {
            let name = |fact: &str| format!("{target}database.{fact}");
            check(&name("size_bytes"), "1000", "1099", None);
            check(&name("size_bytes"), "1000", "1101", Some(Kind::Differs));
            check(&name("size_bytes"), UNKNOWN, "1101", Some(Kind::Unknown));
            check(&name("table.t.index_bytes"), "1000", "1240", None);
            check(&name("table.t.bytes"), "1000", "1260", Some(Kind::Differs));
            check(&name("settings"), "12", "13", None);
            check(&name("default.work_mem"), "4MB", UNKNOWN, None);
            check(&name("replication.role"), "primary", "standby", Some(Kind::Differs));
        }
    }

    #[test]
    fn a_setting_that_only_one_server_was_given_is_a_difference() {
        let facts = |facts: &[(&str, &str)]| -> Vec<(String, String)> {
            facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        for target in ["", "copy."] {
            let count = format!("{target}database.settings");
            let setting = format!("{target}database.setting.work_mem");
            let given = facts(&[(&count, "1"), (&setting, "64MB")]);
            let found = differences(&given, &facts(&[(&count, "0")]));
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!((found[0].b.as_str(), found[0].kind), (DEFAULT_SETTING, Kind::Differs));
            // Settings that the server was not permitted to report count as unknown, not as
            // defaults.
            let found = differences(&given, &facts(&[(&count, UNKNOWN)]));
            assert_eq!((found.len(), found[0].kind), (1, Kind::Unknown));
        }
    }

    #[test]
    fn settings_of_servers_are_skipped() {
        check("shared_buffers", "128MB", "1GB", None);
        check("copy.fsync", "on", "off", None);
        check("server", "PostgreSQL 15.6", "PostgreSQL 16.1", Some(Kind::Differs));
        check("copy.durability", "fsync=on", "fsync=off", Some(Kind::Differs));
        check("isolation", "read committed", UNKNOWN, Some(Kind::Unknown));
    }
}
