//! Verification that the difference of an arm is in effect.
//!
//! Parameters, pacing keys, options and addresses are parts of the plan and the target of a run,
//! and are checked there. TLS is judged by the client's own connection: a server may not report
//! TLS, and behind a pooler that ends TLS, the server reports its connection to the pooler.
//! Settings of a private server are [read back](super::settings) from it, and so are
//! [settings](super::before_settings) that the statements before a run set. Changes by other
//! statements and by programs are not verified.

use std::collections::BTreeSet;

use driver::{CLIENT_TLS_CIPHER, CLIENT_TLS_VERSION};
use record::environment::generator::BEFORE_READ_BACK;
use record::environment::{NONE, SERVER, SIMULATED_SERVER, database, known};
use workload::Plan;
use workload::question::{Arm, Difference, OPTION_KEY, StatementKey, URL_KEY};

use super::commands::HookPoint;
use super::error::{ContradictingState, NotInEffect, first_line_without};
use super::settings::setting_of_option;
use crate::evidence::YES;
use crate::run::Order;

/// The option of a URL that requests TLS.
const TLS: &str = "tls";

/// The setting in which a server reports the version of TLS on its connection.
const SERVER_TLS_VERSION: &str = "ssl_version";

/// The values of [`SERVER_TLS_VERSION`] on a connection without TLS: in PostgreSQL, and in MySQL.
const UNENCRYPTED_VALUES: [&str; 2] = ["empty", "''"];

/// Prefix of the value of the fact [`SERVER`] for SQLite.
const SQLITE: &str = "SQLite ";

/// Remarks about the differences of an arm that do not make the arm invalid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArmEffect {
    /// The keys of differences that neither a server nor the client's connection confirms.
    pub not_read_back: Vec<String>,
    /// The TLS of the client's connection, if a pooler or proxy ends it before the server.
    pub terminated_tls: Option<TerminatedTls>,
    /// True if the arm's target differs from that of the baseline, but leads to the same database
    /// of the same server.
    pub shares_server: bool,
}

/// TLS that is ended between client and server, for example by a pooler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminatedTls {
    /// The version of TLS on the client's connection.
    pub client: String,
    /// The name of the fact in which the server reports the TLS of its own connection.
    pub fact: &'static str,
    /// Value of that fact.
    pub server: String,
}

/// Checks that a run has the plan and the target of its arm.
///
/// # Errors
/// A difference is not in effect.
pub(super) fn check_order(arm: &Arm, order: &Order) -> Result<(), NotInEffect> {
    let is_target = |one: &&Difference| {
        use Difference::{Nodes, Option, Server, Url};
        matches!(one, Url(_) | Option { .. } | Server { .. } | Nodes(_))
    };
    if let Some(wanted) = arm.plan.target.as_ref().filter(|wanted| **wanted != order.target)
        && let Some(difference) = arm.differences.iter().find(is_target)
    {
        let (used, declared) = (order.target.to_string(), wanted.to_string());
        return Err(NotInEffect::of(
            difference,
            ContradictingState::OtherTarget { used, declared },
        ));
    }
    let is_plan =
        |one: &&Difference| matches!(one, Difference::Param { .. } | Difference::Key { .. });
    let Some(difference) = arm.differences.iter().find(is_plan) else { return Ok(()) };
    let run = Plan { seed: arm.plan.seed, ..order.plan.clone() }.to_text();
    let own = arm.plan.to_text();
    if run == own {
        return Ok(());
    }
    let (used, declared) = (first_line_without(&run, &own), first_line_without(&own, &run));
    Err(NotInEffect::of(difference, ContradictingState::OtherPlan { used, declared }))
}

/// Checks the differences of an arm against the facts of its run.
///
/// # Errors
/// A difference is not in effect.
pub(super) fn check_reported(arm: &Arm, facts: &[(String, String)]) -> Result<(), NotInEffect> {
    arm.differences.iter().try_for_each(|one| check_difference(one, facts))
}

fn check_difference(
    difference: &Difference,
    facts: &[(String, String)],
) -> Result<(), NotInEffect> {
    let mode = match difference {
        Difference::Option { name, value } if name == TLS => value.as_str(),
        Difference::Url(target) => match target.option(TLS) {
            Some(mode) => mode,
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    let found = match (mode, known(facts, CLIENT_TLS_VERSION)) {
        (_, None) => ContradictingState::UnknownEncryption,
        ("off", Some(NONE)) => return Ok(()),
        ("off", Some(version)) => {
            let cipher = known(facts, CLIENT_TLS_CIPHER).unwrap_or_default();
            ContradictingState::Encrypted { version: version.to_owned(), cipher: cipher.to_owned() }
        }
        (_, Some(NONE)) => ContradictingState::NotEncrypted,
        (_, Some(_)) => return Ok(()),
    };
    Err(NotInEffect::of(difference, found))
}

/// Returns the remarks about an arm, from the facts of its run: those of the given keys whose
/// differences the facts do not confirm, and TLS that ends before the server.
pub(super) fn effect_of(keys: &[String], facts: &[(String, String)]) -> ArmEffect {
    let mut not_read_back: Vec<String> = Vec::new();
    for key in keys {
        if is_unconfirmed(key, facts) && !not_read_back.contains(key) {
            not_read_back.push(key.clone());
        }
    }
    ArmEffect { not_read_back, terminated_tls: terminated_tls(facts), shares_server: false }
}

/// Returns true if nothing in the facts of a run confirms the difference with this key.
fn is_unconfirmed(key: &str, facts: &[(String, String)]) -> bool {
    match key.strip_prefix(OPTION_KEY) {
        Some(name) => !is_option_confirmed(name, facts),
        None if key == URL_KEY => !is_known_server(facts),
        None if key == StatementKey::Before.name() => known(facts, BEFORE_READ_BACK) != Some(YES),
        None => key == HookPoint::Before.key(),
    }
}

/// Returns true if the facts of a run identify the server that the run has reached. This includes
/// simulated servers, which are a part of this program, and SQLite, which is a file.
fn is_known_server(facts: &[(String, String)]) -> bool {
    let is_here = |server: &str| server == SIMULATED_SERVER || server.starts_with(SQLITE);
    known(facts, SERVER).is_some_and(is_here) || server_id(facts).is_some()
}

/// Returns the identity of the server and the database that a run has reached.
pub(super) fn server_id(facts: &[(String, String)]) -> Option<&str> {
    known(facts, database::SERVER_ID)
}

/// Returns the number of different servers, or different starts of one server, on which runs with
/// these facts were executed; `None` if no run's server is known.
pub(super) fn server_starts<'f>(runs: impl Iterator<Item = &'f [(String, String)]>) -> Option<u32> {
    let ids: BTreeSet<&str> = runs.filter_map(server_id).collect();
    (!ids.is_empty()).then_some(ids.len() as u32)
}

/// Returns true if a run shows that an option took effect: TLS shows in the client's connection, a
/// simulated server is a part of this program, and other servers report the option as a setting.
/// SQLite grants an option or refuses the connection.
fn is_option_confirmed(name: &str, facts: &[(String, String)]) -> bool {
    let is_simulated = known(facts, SERVER) == Some(SIMULATED_SERVER);
    name == TLS || is_simulated || known(facts, &setting_of_option(name)).is_some()
}

fn terminated_tls(facts: &[(String, String)]) -> Option<TerminatedTls> {
    let client = known(facts, CLIENT_TLS_VERSION).filter(|version| *version != NONE)?;
    let server =
        known(facts, SERVER_TLS_VERSION).filter(|value| UNENCRYPTED_VALUES.contains(value))?;
    Some(TerminatedTls {
        client: client.to_owned(),
        fact: SERVER_TLS_VERSION,
        server: server.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use engine::Options;
    use workload::Overrides;
    use workload::question::experiment_in;

    use super::*;
    use crate::record_place::RecordPlace;

    const WORKLOAD: &str = "url = sim:mm1\nduration = 9s\n[read]\nquery = select 1\n\
                            concurrency = 4\ntimeout = 1s\n";

    /// Returns the second arm of an experiment with a workload. The arm sets `think`.
    fn arm_of(workload: &str) -> Arm {
        let text = "[question]\nask = ?\nworkload = w.ini\n[arm a]\n[arm b]\nthink(read) = 2ms\n";
        let files = BTreeMap::from([("w.ini".to_owned(), workload.as_bytes().to_vec())]);
        let (experiment, found) = experiment_in(text, &Overrides::default(), &files);
        experiment.unwrap_or_else(|| panic!("{found:?}")).arms.remove(1)
    }

    #[test]
    fn line_that_the_plan_of_a_run_lacks_is_named() {
        let check = |workload: &str, expected: &str| {
            let Arm { plan, .. } = arm_of(workload);
            let (target, record) =
                (plan.target.clone().unwrap(), RecordPlace::Exactly(PathBuf::new()));
            let order = Order::new(plan, target, Options::in_real_time(), record);
            let error = check_order(&arm_of(WORKLOAD), &order).unwrap_err().to_string();
            let start = "`think(read) = 2ms` is not in effect: the plan of the run";
            assert_eq!(error, format!("{start} {expected}"));
        };
        check(&WORKLOAD.replace("timeout = 1s\n", ""), "lacks `timeout = 1s`");
        let longer = format!("{WORKLOAD}stop = 5s\n");
        check(&longer, "has `stop = 5s`, and that of the arm does not");
        let other = WORKLOAD.replace("timeout = 1s", "timeout = 2s");
        check(&other, "has `timeout = 2s`, not `timeout = 1s`");
    }

    fn facts(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// Checks an option against the TLS versions that the client and the server report.
    fn check(name: &str, value: &str, client: &str, server: &str) -> Result<(), NotInEffect> {
        let difference = Difference::Option { name: name.to_owned(), value: value.to_owned() };
        let reported = [
            (CLIENT_TLS_VERSION, client),
            (CLIENT_TLS_CIPHER, "TLS_AES_128_GCM_SHA256"),
            (SERVER_TLS_VERSION, server),
        ];
        check_difference(&difference, &facts(&reported))
    }

    #[test]
    fn requested_tls_must_be_used_by_the_client() {
        for server in ["TLSv1.3", "empty", "''", "unknown"] {
            assert_eq!(check("tls", "require", "TLSv1.3", server), Ok(()), "{server}");
            assert_eq!(check("tls", "verify", "TLSv1.2", server), Ok(()), "{server}");
            assert_eq!(check("tls", "off", "none", server), Ok(()), "{server}");
            let unused = check("tls", "require", "none", server).unwrap_err();
            let words = "`option.tls = require` is not in effect: the client's connection is not \
                         encrypted";
            assert_eq!(unused.to_string(), words);
            let used = check("tls", "off", "TLSv1.2", server).unwrap_err();
            let words = "`option.tls = off` is not in effect: the client's connection uses \
                         TLSv1.2 with TLS_AES_128_GCM_SHA256";
            assert_eq!(used.to_string(), words);
        }
        assert_eq!(check("journal", "wal", "none", "empty"), Ok(()));
    }

    #[test]
    fn unknown_connection_is_not_in_effect() {
        let difference = Difference::Option { name: TLS.to_owned(), value: "off".to_owned() };
        let unknown =
            check_difference(&difference, &facts(&[(SERVER_TLS_VERSION, "TLSv1.3")])).unwrap_err();
        assert_eq!(unknown.found, ContradictingState::UnknownEncryption);
    }

    #[test]
    fn tls_of_a_url_is_judged_too() {
        let arm = |url: &str| Difference::Url(base::Target::parse(url).unwrap());
        let plain = facts(&[(CLIENT_TLS_VERSION, "none")]);
        assert_eq!(check_difference(&arm("postgres://h/d"), &plain), Ok(()));
        assert_eq!(check_difference(&arm("postgres://h/d?tls=off"), &plain), Ok(()));
        assert!(check_difference(&arm("postgres://h/d?tls=verify"), &plain).is_err());
    }

    #[test]
    fn tls_terminated_before_the_server_is_reported() {
        let ended = |client, server| {
            effect_of(&[], &facts(&[(CLIENT_TLS_VERSION, client), (SERVER_TLS_VERSION, server)]))
                .terminated_tls
        };
        let expected = |server: &str| TerminatedTls {
            client: "TLSv1.3".to_owned(),
            fact: "ssl_version",
            server: server.to_owned(),
        };
        assert_eq!(ended("TLSv1.3", "empty"), Some(expected("empty")));
        assert_eq!(ended("TLSv1.3", "''"), Some(expected("''")));
        assert_eq!(ended("TLSv1.3", "unknown"), None);
        assert_eq!(ended("TLSv1.3", "TLSv1.2"), None);
        assert_eq!(ended("none", "empty"), None);
    }

    #[test]
    fn option_that_no_fact_confirms_is_not_read_back() {
        let keys = ["option.tls", "option.synchronous", "option.results", "set.rows", "url"];
        let keys = keys.map(str::to_owned);
        let unread = |reported: &[(&str, &str)]| effect_of(&keys, &facts(reported)).not_read_back;
        let on_postgres = [("server", "PostgreSQL 17.2")];
        assert_eq!(unread(&on_postgres), ["option.synchronous", "option.results", "url"]);
        let known = [("server", "PostgreSQL 17.2"), ("database.server_id", "5d41402a")];
        assert_eq!(unread(&known), ["option.synchronous", "option.results"]);
        let refused = [("server", "PostgreSQL 17.2"), ("database.server_id", "unknown")];
        assert!(unread(&refused).contains(&"url".to_owned()));
        let on_sqlite = [("server", "SQLite 3.50.2"), ("synchronous", "extra")];
        assert_eq!(unread(&on_sqlite), ["option.results"]);
        assert_eq!(unread(&[("server", "simulated")]), Vec::<String>::new());
        let journal = ["option.journal".to_owned()];
        let reported = effect_of(&journal, &facts(&[("journal_mode", "wal")]));
        assert_eq!(reported.not_read_back, Vec::<String>::new());
    }

    #[test]
    fn change_by_statements_is_not_read_back_unless_the_run_says_so() {
        let unread = |keys: &[&str], reported: &[(&str, &str)]| {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            effect_of(&keys, &facts(reported)).not_read_back
        };
        let all = ["before", "before", "before-command", "after", "after-command"];
        assert_eq!(unread(&all, &[]), ["before", "before-command"]);
        assert_eq!(unread(&all, &[(BEFORE_READ_BACK, "yes")]), ["before-command"]);
    }
}
