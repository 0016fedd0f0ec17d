//! Differences between the runs of an experiment that no arm declares.
//!
//! Each run has the facts of its surroundings and the settings that its server reported. A fact
//! must be the same in all runs of an arm ([`DifferenceScope::Rounds`]), and in all runs of the
//! arms ([`DifferenceScope::Arms`]), by the [rules](observe::environment::Rule) for comparing two
//! environments. A declared difference is not reported. A difference that may follow from a
//! declared one is reported with the key of the declared one.

use analyze::compare::ArmId;
use base::Target;
use driver::{CLIENT_TLS_CIPHER, CLIENT_TLS_VERSION};
use observe::environment::{Kind, Rule, differences};
use record::environment::{
    DATABASE, HOST, NETWORK, OBSERVE, SERVER, UNKNOWN, database, generator, is_data_size, is_fact,
    known, of_database,
};
use workload::question::{OPTION_KEY, Quantity, SERVER_KEY, ServerSettings, StatementKey, URL_KEY};

use super::effect::server_id;
use super::settings::{product, server_setting_name, setting_of_option};

/// A difference that was not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeclaredDifference {
    /// The kind of fact or setting that differs.
    pub kind: DifferenceKind,
    /// Name of the fact or setting that differs.
    pub name: String,
    /// The arm that has the difference.
    pub arm: ArmId,
    /// The runs between which the values differ.
    pub scope: DifferenceScope,
    /// The values, in the order of `scope`.
    pub values: [String; 2],
    /// The key of a declared difference that may be the cause.
    pub cause: Option<String>,
}

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// Sizes of the database and its tables.
    Data,
    /// Settings that decide whether commits survive.
    Durability,
    /// Other settings of the server.
    Setting,
    /// The machine, the network, the target, and the versions of server and program.
    Environment,
}

/// The runs between which something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceScope {
    /// All runs of the baseline, and all runs of the arm.
    Arms,
    /// All runs of the baseline, and all runs of an arm with another target, whose data may be
    /// meant to differ.
    Targets,
    /// Two rounds of the arm, by their indexes from 0.
    Rounds([u32; 2]),
    /// The runs of the baseline and of the arm in one round, given by its index from 0.
    Pair(u32),
}

impl DifferenceKind {
    /// Returns the word in answers and documents.
    pub fn name(self) -> &'static str {
        match self {
            DifferenceKind::Data => "data",
            DifferenceKind::Durability => "durability",
            DifferenceKind::Setting => "setting",
            DifferenceKind::Environment => "environment",
        }
    }
}

impl UndeclaredDifference {
    /// Returns true if the difference makes the answer SUSPECT. If a declared difference may be its
    /// cause, the answer is SUSPECT only if the difference concerns durability and the cause is not
    /// the URL.
    pub fn is_suspect(&self) -> bool {
        match self.cause.as_deref() {
            None => true,
            Some(URL_KEY) => false,
            Some(_) => self.kind == DifferenceKind::Durability,
        }
    }

    /// Returns true if this difference prevents the comparison of two arms by this quantity:
    /// commits that need not survive a crash are faster, and different data mean different work.
    pub(super) fn prevents_comparison(&self, quantity: Quantity, writes: bool) -> bool {
        if self.cause.is_some() {
            return false;
        }
        let is_work = match quantity {
            Quantity::Throughput
            | Quantity::Rows
            | Quantity::Response(_)
            | Quantity::Service(_)
            | Quantity::Load => true,
            Quantity::SendLag(_)
            | Quantity::Failed
            | Quantity::Cpu(..)
            | Quantity::Size
            | Quantity::LogicalSize => false,
        };
        match (self.kind, self.scope) {
            (DifferenceKind::Durability, DifferenceScope::Arms) => is_work && writes,
            (DifferenceKind::Data, DifferenceScope::Arms) => quantity != Quantity::Failed,
            _ => false,
        }
    }
}

/// The facts of a run that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunFacts<'a> {
    /// Arm of the run.
    pub(super) arm: ArmId,
    /// Round of the run, from 0.
    pub(super) round: u32,
    /// Facts of the surroundings and settings of the server.
    pub(super) facts: &'a [(String, String)],
}

/// Settings that decide whether commits survive a crash of the server or of the machine.
pub(crate) const DURABILITY: [&str; 14] = [
    "durability",
    "flush_log_at_trx_commit",
    "fsync",
    "full_page_writes",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "journal_mode",
    "journal",
    "sync_binlog",
    "synchronous",
    "synchronous_commit",
    "synchronous_standby_names",
    "wal_sync_method",
];

/// A part of every path in the folder of a private server. The name of this folder is different for
/// each server.
const SERVER_FOLDER_PART: &str = "/assay-";

/// Settings that follow from the option `tls`.
const TLS_SETTINGS: [&str; 5] =
    ["tls", CLIENT_TLS_VERSION, CLIENT_TLS_CIPHER, "ssl_version", "ssl_cipher"];

/// The name under which several settings are summarised.
const CONFIGURATION_SUMMARY: &str = "configuration";

/// Maximum number of settings in a summary.
const MAX_SUMMARISED: usize = 6;

/// Prefix of the keys of the settings that are set by statements before the runs.
const BEFORE_PREFIX: &str = "before.";

/// Returns the keys of declared differences. Declared URLs also declare the options in which they
/// differ from each other; a single declared URL declares all of its options. A declared statement
/// before the runs also declares the settings that it sets.
pub fn declared_keys(differences: &[(String, String)]) -> Vec<String> {
    let of_urls = differences.iter().filter(|(key, _)| key == URL_KEY);
    let targets: Vec<Target> = of_urls.filter_map(|(_, url)| Target::parse(url).ok()).collect();
    let differs = |(name, value): &&(String, String)| {
        let is_other = |target: &Target| target.option(name) != Some(value);
        targets.len() == 1 || targets.iter().any(is_other)
    };
    let options = targets.iter().flat_map(|target| target.options.iter().filter(differs));
    let options = options.map(|(name, _)| format!("{OPTION_KEY}{name}"));
    let before = differences.iter().filter(|(key, _)| key == StatementKey::Before.name());
    let settings = before.flat_map(|(_, statement)| ServerSettings::names_in(statement));
    let settings = settings.map(|name| format!("{BEFORE_PREFIX}{name}"));
    let keys = differences.iter().map(|(key, _)| key.clone());
    keys.chain(options).chain(settings).collect()
}

/// Returns the undeclared differences of an arm: those between its rounds, and those from a
/// baseline. `keys` are the [keys](declared_keys) of the differences that arm and baseline declare.
pub(super) fn arm_differences(
    baseline: ArmId,
    arm: ArmId,
    runs: &[RunFacts<'_>],
    keys: &[String],
) -> Vec<UndeclaredDifference> {
    let of = |wanted: ArmId| runs.iter().filter(move |run| run.arm == wanted).collect::<Vec<_>>();
    let mut found = without_summaries(&between_rounds(arm, &of(arm)));
    if arm != baseline {
        let from = from_baseline(arm, &of(baseline), &of(arm), keys);
        found.extend(match keys.iter().any(|key| key == URL_KEY) {
            true => between_targets(from, &of(baseline), &of(arm)),
            false => without_summaries(&from),
        });
        found.extend(restart_within_a_pair(arm, &of(baseline), &of(arm), keys));
    }
    found
}

/// Returns a difference for the first pair of runs between which the server was restarted; `None`
/// if there is no such pair. The result is also `None` if the two runs of every pair had different
/// starts: the arms then have separate servers, or restart the server before every run.
fn restart_within_a_pair(
    arm: ArmId,
    baseline: &[&RunFacts<'_>],
    own: &[&RunFacts<'_>],
    keys: &[String],
) -> Option<UndeclaredDifference> {
    let pair = |run: &&RunFacts<'_>| {
        let other = baseline.iter().find(|other| other.round == run.round)?;
        Some((run.round, [server_id(other.facts)?.to_owned(), server_id(run.facts)?.to_owned()]))
    };
    let pairs: Vec<(u32, [String; 2])> = own.iter().filter_map(pair).collect();
    let (one_start, two_starts): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|(_, [here, there])| here == there);
    let (round, values) = two_starts.into_iter().next().filter(|_| !one_start.is_empty())?;
    Some(UndeclaredDifference {
        kind: DifferenceKind::Environment,
        name: database::SERVER_ID.to_owned(),
        arm,
        scope: DifferenceScope::Pair(round),
        values,
        cause: keys.iter().find(|key| may_restart(key)).cloned(),
    })
}

/// Attributes differences of an arm to its target, which is not the target of the baseline. The
/// address and the version of the target are part of the declared difference. Two versions always
/// differ in settings, so the differing settings are only summarised. Two products have no data
/// pages in common, so their data are not compared; neither are the settings that are recorded only
/// because they differ from a product's defaults.
fn between_targets(
    mut found: Vec<UndeclaredDifference>,
    baseline: &[&RunFacts<'_>],
    own: &[&RunFacts<'_>],
) -> Vec<UndeclaredDifference> {
    let servers = [baseline, own].map(|runs| runs.first().and_then(|run| server(run)));
    let [here, there] = servers.map(|server| server.map(product));
    let is_same_maker = here.is_some() && here == there;
    let is_other_maker = !is_same_maker && here.is_some() && there.is_some();
    let is_other_version = servers[0].is_some() && servers[1].is_some() && servers[0] != servers[1];
    let by_target = |one| UndeclaredDifference { cause: Some(URL_KEY.to_owned()), ..one };
    // A setting that exists in only one of the products would appear as a default of the other one.
    found.retain(|one| !is_other_maker || of_database(&one.name).is_none());
    let (mut named, mut settings) = (Vec::new(), Vec::new());
    for one in without_summaries(&found) {
        match one.kind {
            DifferenceKind::Data if is_same_maker => {
                named.push(UndeclaredDifference { scope: DifferenceScope::Targets, ..one });
            }
            DifferenceKind::Data => {}
            DifferenceKind::Durability if is_other_maker => named.push(by_target(one)),
            DifferenceKind::Setting if is_other_version => settings.push(one),
            DifferenceKind::Environment if !one.name.starts_with(HOST) => {
                named.push(by_target(one));
            }
            DifferenceKind::Durability | DifferenceKind::Setting | DifferenceKind::Environment => {
                named.push(one)
            }
        }
    }
    named.extend(configuration(&settings).map(by_target));
    named
}

/// Returns the summary of settings that differ; `None` if none does.
fn configuration(settings: &[UndeclaredDifference]) -> Option<UndeclaredDifference> {
    let first = settings.first()?;
    let more = settings.len().saturating_sub(MAX_SUMMARISED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let values = [0, 1].map(|side| {
        let all = settings.iter().take(MAX_SUMMARISED);
        let all = all.map(|one| format!("{}={}", unprefixed_name(&one.name), one.values[side]));
        format!("{}{more}", all.collect::<Vec<String>>().join(" "))
    });
    Some(UndeclaredDifference { name: CONFIGURATION_SUMMARY.to_owned(), values, ..first.clone() })
}

/// Returns the product and the version of a run's server.
fn server<'a>(run: &RunFacts<'a>) -> Option<&'a str> {
    known(run.facts, SERVER)
}

/// Returns the facts in which a group of runs differs from a baseline, as `from_baseline` does.
/// `arm` identifies the group; `own` and `baseline` hold the facts of the runs.
pub(crate) fn between_groups(
    arm: ArmId,
    baseline: &[Vec<(String, String)>],
    own: &[Vec<(String, String)>],
) -> Vec<UndeclaredDifference> {
    let runs = [baseline, own].map(|all| {
        let runs = all.iter().map(|facts| RunFacts { arm, round: 0, facts });
        runs.collect::<Vec<RunFacts<'_>>>()
    });
    let [before, after] = runs.each_ref().map(|all| all.iter().collect::<Vec<_>>());
    without_summaries(&from_baseline(arm, &before, &after, &[]))
}

/// Returns the differences between the first run of an arm and its later runs. Ignores data, which
/// may grow, and numbers that a rule allows to vary, because one of many runs may be out of range
/// by chance.
fn between_rounds(arm: ArmId, runs: &[&RunFacts<'_>]) -> Vec<UndeclaredDifference> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let mut found: Vec<UndeclaredDifference> = Vec::new();
    for run in others {
        let scope = DifferenceScope::Rounds([first.round, run.round]);
        for DifferingFact { kind, name, values } in differing_facts(first, run) {
            let is_known = found.iter().any(|known| known.name == name);
            if !is_known && kind != DifferenceKind::Data && Rule::of(&name) == Rule::Exact {
                let cause = None;
                found.push(UndeclaredDifference { kind, name, arm, scope, values, cause });
            }
        }
    }
    found
}

/// Returns the facts in which the first run of an arm differs from all runs of the baseline, and
/// the first run of the baseline from all runs of the arm. A size of the data must also be larger
/// in the same arm in all rounds. If it grows from run to run and each arm has its own server, only
/// the sizes at the start of the arms' first runs are compared.
fn from_baseline(
    arm: ArmId,
    baseline: &[&RunFacts<'_>],
    own: &[&RunFacts<'_>],
    keys: &[String],
) -> Vec<UndeclaredDifference> {
    let (Some(first), Some(other)) = (baseline.first(), own.first()) else { return Vec::new() };
    let pairs = baseline.iter().map(|run| differing_facts(run, other));
    let pairs: Vec<Vec<DifferingFact>> =
        pairs.chain(own.iter().map(|run| differing_facts(first, run))).collect();
    let is_everywhere =
        |name: &str| pairs.iter().all(|found| found.iter().any(|one| one.name == name));
    let is_of_arms = |one: &DifferingFact| match one.kind {
        DifferenceKind::Data if grows_on_separate_servers(&one.name, baseline, own) => true,
        DifferenceKind::Data => is_everywhere(&one.name) && is_one_sided(&one.name, baseline, own),
        DifferenceKind::Durability | DifferenceKind::Setting | DifferenceKind::Environment => {
            is_everywhere(&one.name)
        }
    };
    let found = differing_facts(first, other)
        .into_iter()
        .filter(|one| is_of_arms(one) && !is_declared(one, keys));
    let scope = DifferenceScope::Arms;
    let difference = |one: DifferingFact| {
        let cause = possible_cause(&one, keys);
        let DifferingFact { kind, name, values } = one;
        UndeclaredDifference { kind, name, arm, scope, values, cause }
    };
    found.map(difference).collect()
}

/// Returns true if a size grows from run to run and each arm has its own server. The first run of
/// each arm then finds the data as they were loaded, because no run of the other arm has changed
/// them.
fn grows_on_separate_servers(
    name: &str,
    baseline: &[&RunFacts<'_>],
    own: &[&RunFacts<'_>],
) -> bool {
    let servers = [baseline, own].map(|runs| only_server_of(name, runs));
    let is_apart = matches!(servers, [Some(here), Some(there)] if here != there);
    let grows = |runs: &[&RunFacts<'_>]| match runs {
        [first, .., last] => {
            let differs = differing_facts(first, last).iter().any(|one| one.name == name);
            differs && size_of(name, last) > size_of(name, first)
        }
        [] | [_] => false,
    };
    is_apart && (grows(baseline) || grows(own))
}

fn size_of(name: &str, run: &RunFacts<'_>) -> Option<f64> {
    known(run.facts, name)?.parse().ok()
}

/// Returns the identity of the server that a fact of these runs describes; `None` if it is unknown,
/// or if the runs had several servers. A server that is restarted before each run counts as
/// several.
fn only_server_of<'a>(name: &str, runs: &[&RunFacts<'a>]) -> Option<&'a str> {
    let target = name.strip_suffix(of_database(name)?)?.strip_suffix(DATABASE)?;
    let identity = format!("{target}{}", database::SERVER_ID);
    let mut all = runs.iter().map(|run| known(run.facts, &identity));
    let first = all.next()?;
    first.filter(|_| all.all(|other| other == first))
}

/// Returns true if a size is larger in the same arm in all rounds. Data that grow from run to run
/// also differ between any two runs, but not always in the same direction, because the arms take
/// turns in running first.
fn is_one_sided(name: &str, baseline: &[&RunFacts<'_>], own: &[&RunFacts<'_>]) -> bool {
    let mut orders = own.iter().flat_map(|run| {
        let of_round = baseline.iter().filter(|other| other.round == run.round);
        let order =
            move |other: &&RunFacts<'_>| size_of(name, other)?.partial_cmp(&size_of(name, run)?);
        of_round.filter_map(order).filter(|order| order.is_ne())
    });
    let Some(first) = orders.next() else { return true };
    orders.all(|order| order == first)
}

/// A fact with its values in two runs.
#[derive(Clone, Debug)]
struct DifferingFact {
    kind: DifferenceKind,
    name: String,
    values: [String; 2],
}

/// Returns the facts that differ between two runs, sorted by kind and name.
fn differing_facts(a: &RunFacts<'_>, b: &RunFacts<'_>) -> Vec<DifferingFact> {
    let differ = differences(a.facts, b.facts).into_iter().filter(|one| one.kind == Kind::Differs);
    let of_environment = differ.filter_map(|one| {
        let (kind, values) = (kind_of(&one.name)?, [one.a, one.b]);
        Some(DifferingFact { kind, name: one.name, values })
    });
    let mut found: Vec<DifferingFact> = of_environment.collect();
    // `differences` skips most settings of the servers. If both servers report a setting, its
    // values must be equal.
    for (name, value) in a.facts.iter().filter(|(_, value)| value != UNKNOWN) {
        let Some(kind) = kind_of(name).filter(|_| Rule::of(name) == Rule::Exact) else { continue };
        let Some(other) = known(b.facts, name).filter(|other| *other != value) else { continue };
        if found.iter().all(|one| one.name != *name) {
            let values = [value.clone(), other.to_owned()];
            found.push(DifferingFact { kind, name: name.clone(), values });
        }
    }
    found.retain(|one| !one.values.iter().all(|value| value.contains(SERVER_FOLDER_PART)));
    found.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    found
}

/// Returns the kind of a fact; `None` for facts that do not affect a result, or that are remarks
/// about observations and loads.
fn kind_of(name: &str) -> Option<DifferenceKind> {
    let is_remark = name.starts_with(OBSERVE) || name.starts_with(generator::INSERTS);
    if is_remark || Rule::of(name) == Rule::Ignored {
        return None;
    }
    Some(if decides_durability(name) {
        DifferenceKind::Durability
    } else if is_data_size(name) {
        DifferenceKind::Data
    } else if is_of_environment(name) {
        DifferenceKind::Environment
    } else {
        DifferenceKind::Setting
    })
}

/// Returns true for facts about the machine, the network, the versions of server and program, and
/// the target.
fn is_of_environment(name: &str) -> bool {
    let is_program_or_target = name == "assay" || name == "target";
    is_program_or_target
        || name.starts_with(HOST)
        || name.starts_with(NETWORK)
        || unprefixed_name(name) == SERVER
}

/// Returns true for a setting that decides whether commits survive.
pub(crate) fn decides_durability(name: &str) -> bool {
    DURABILITY.contains(&unprefixed_name(name))
}

/// Returns the name of a setting, without the name of its target and without the prefix that all
/// settings have.
fn unprefixed_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Returns true if a difference is declared, possibly in a different notation.
fn is_declared(one: &DifferingFact, keys: &[String]) -> bool {
    let declared = |test: &dyn Fn(&str) -> bool| keys.iter().any(|key| test(key));
    let name = unprefixed_name(&one.name);
    // A parameter with the name of a setting does not set it.
    let names_it = |key: &str| match (key.strip_prefix(OPTION_KEY), setting_of(key)) {
        (Some(option), _) => setting_of_option(option) == name,
        (None, Some(setting)) => server_setting_name(setting) == name,
        (None, None) => false,
    };
    // `durability` is the summary of the settings that decide durability.
    let is_summary = name == "durability";
    let is_durable = |key: &str| {
        let name = server_setting_name(unprefixed_name(key));
        is_summary && DURABILITY.contains(&name.as_str())
    };
    let is_tls = declared(&|key| key == "option.tls") && TLS_SETTINGS.contains(&one.name.as_str());
    is_tls || declared(&is_durable) || declared(&names_it)
}

/// Returns the name of the server's setting that a key declares.
fn setting_of(key: &str) -> Option<&str> {
    key.strip_prefix(SERVER_KEY).or_else(|| key.strip_prefix(BEFORE_PREFIX))
}

/// Returns the key of a declared difference that may have caused an undeclared one. Statements and
/// programs around the runs can change data and settings. If one setting of a server is changed,
/// the server may derive other settings from it and fill its pages differently.
fn possible_cause(one: &DifferingFact, keys: &[String]) -> Option<String> {
    let starts_server = |key: &str| key.starts_with(SERVER_KEY);
    let may_cause = |key: &&String| match one.kind {
        DifferenceKind::Data | DifferenceKind::Setting => surrounds_runs(key) || starts_server(key),
        DifferenceKind::Durability => surrounds_runs(key),
        DifferenceKind::Environment => false,
    };
    keys.iter().find(may_cause).cloned()
}

/// Returns true for the keys of programs around the runs, which may restart a server. Statements
/// rarely can (`restart` of MySQL 8, `shutdown`): if they counted as a cause, a crash would be
/// attributed to statements that have nothing to do with it.
fn may_restart(key: &str) -> bool {
    surrounds_runs(key) && key.ends_with("-command")
}

/// Returns true for the keys of statements and programs around the runs.
fn surrounds_runs(key: &str) -> bool {
    key.starts_with("before") || key.starts_with("after")
}

/// Removes differences that repeat others: the summary of durability, settings with a prefix that
/// are also reported without it, and sizes in a second unit.
fn without_summaries(found: &[UndeclaredDifference]) -> Vec<UndeclaredDifference> {
    let is_repeated = |one: &UndeclaredDifference| {
        let same = |test: &dyn Fn(&UndeclaredDifference) -> bool| {
            found
                .iter()
                .any(|other| other.scope == one.scope && other.name != one.name && test(other))
        };
        match unprefixed_name(&one.name) {
            "durability" => same(&|other| other.kind == DifferenceKind::Durability),
            _ if is_fact(&one.name, database::SIZE_PER_BUFFER) => {
                same(&|other| unprefixed_name(&other.name).starts_with("size"))
            }
            setting if one.name != setting => same(&|other| other.name == setting),
            _ => false,
        }
    };
    let kept: Vec<bool> = found.iter().map(|one| !is_repeated(one)).collect();
    found.iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(one, _)| one.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ArmId = ArmId::BASELINE;
    const OTHER: ArmId = ArmId(1);

    fn facts(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// Returns the differences between two arms with two rounds each, as `kind name: a, b`.
    fn found(baseline: &[(&str, &str)], own: &[(&str, &str)], keys: &[&str]) -> Vec<String> {
        let all = [facts(baseline), facts(own)];
        let run = |arm: ArmId, round| RunFacts { arm, round, facts: &all[arm.index()] };
        let runs = [run(PLAIN, 0), run(OTHER, 0), run(PLAIN, 1), run(OTHER, 1)];
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        reported(&arm_differences(PLAIN, OTHER, &runs, &keys))
    }

    /// If a target had one of these names, its settings would count as remarks, or as facts about
    /// the machine.
    #[test]
    fn no_target_is_called_like_the_facts_about_the_environment() {
        use record::environment::{ASSAY, CALIBRATION, GENERATOR};
        for prefix in [ASSAY, GENERATOR, OBSERVE, HOST, NETWORK, CALIBRATION, DATABASE] {
            let name = prefix.trim_end_matches('.');
            let job = format!("[a]\nquery = select 1\ntarget = {name}\n");
            let text = format!("url = sim:mm1\n[target {name}]\nurl = sim:mm1\n{job}");
            let (plan, found) = workload::plan(&text, &workload::Overrides::default());
            assert!(plan.is_none(), "{name}");
            let message = format!("a target cannot be called `{name}`");
            assert_eq!(found.first().map(|one| one.message.clone()), Some(message));
        }
    }

    fn reported(found: &[UndeclaredDifference]) -> Vec<String> {
        let text = |one: &UndeclaredDifference| {
            format!("{} {}: {}", one.kind.name(), one.name, one.values.join(", "))
        };
        found.iter().map(text).collect()
    }

    #[test]
    fn difference_of_each_kind_is_named() {
        for (name, a, b, kind) in [
            ("fsync", "on", "off", "durability"),
            ("innodb_flush_log_at_trx_commit", "1", "2", "durability"),
            ("database.setting.sync_binlog", "1", "0", "durability"),
            ("journal_mode", "wal", "delete", "durability"),
            ("work_mem", "4MB", "8MB", "setting"),
            ("host.kernel", "6.1", "6.18", "environment"),
            ("host.cpu.governor", "performance", "powersave", "environment"),
            ("host.virtualisation.hypervisor", "none", "kvm", "environment"),
            ("server", "PostgreSQL 15", "PostgreSQL 17", "environment"),
            ("network.path", "loopback", "remote", "environment"),
            ("database.size_bytes", "1000", "2000", "data"),
            ("database.table.orders.bytes", "1000", "2000", "data"),
        ] {
            let expected = vec![format!("{kind} {name}: {a}, {b}")];
            assert_eq!(found(&[(name, a)], &[(name, b)], &[]), expected);
        }
    }

    /// Returns the differences between two arms on two targets, with one round each.
    fn of_targets(baseline: &[(&str, &str)], own: &[(&str, &str)]) -> Vec<UndeclaredDifference> {
        let all = [facts(baseline), facts(own)];
        let run = |arm: ArmId| RunFacts { arm, round: 0, facts: &all[arm.index()] };
        arm_differences(PLAIN, OTHER, &[run(PLAIN), run(OTHER)], &["url".to_owned()])
    }

    #[test]
    fn different_data_of_another_target_are_reported_and_comparable() {
        let differences = |server, bytes| {
            let with = |server, bytes| [("server", server), ("database.size_bytes", bytes)];
            let found = of_targets(&with("PostgreSQL 15.18", "1000"), &with(server, bytes));
            found.into_iter().filter(|one| one.kind == DifferenceKind::Data).collect::<Vec<_>>()
        };
        let found = differences("PostgreSQL 17.2", "2000");
        assert_eq!(reported(&found), ["data database.size_bytes: 1000, 2000"]);
        assert!(found[0].is_suspect() && !found[0].prevents_comparison(Quantity::Throughput, true));
        assert_eq!(differences("PostgreSQL 17.2", "1050"), []);
        assert_eq!(differences("MariaDB 10.11.19", "2000"), []);
    }

    #[test]
    fn targets_of_one_version_differ_in_their_address_alone() {
        let differences = |name, a, b| {
            let with = |value| [("server", "PostgreSQL 18.0"), (name, value)];
            of_targets(&with(a), &with(b))
        };
        for (name, a, b, refuses) in [
            ("fsync", "on", "off", true),
            ("database.setting.sync_binlog", "1", "0", true),
            ("work_mem", "4MB", "64MB", false),
            ("host.kernel", "6.1", "6.18", false),
        ] {
            let found = differences(name, a, b);
            assert_eq!((found.len(), &found[0].cause), (1, &None), "{name}");
            assert!(found[0].is_suspect());
            assert_eq!(found[0].prevents_comparison(Quantity::Throughput, true), refuses, "{name}");
        }
        let found = differences("network.path", "loopback", "remote IPv4");
        assert_eq!(found[0].cause.as_deref(), Some("url"));
        assert!(!found[0].is_suspect());
    }

    #[test]
    fn settings_of_other_versions_are_summarised_without_their_durability() {
        let of = |version, fsync, others| {
            [("server", version), ("fsync", fsync), ("jit", others), ("work_mem", others)]
        };
        let found =
            of_targets(&of("PostgreSQL 15.18", "on", "x"), &of("PostgreSQL 17.2", "off", "y"));
        let expected = [
            "durability fsync: on, off",
            "environment server: PostgreSQL 15.18, PostgreSQL 17.2",
            "setting configuration: jit=x work_mem=x, jit=y work_mem=y",
        ];
        assert_eq!(reported(&found), expected);
        let suspect: Vec<bool> = found.iter().map(UndeclaredDifference::is_suspect).collect();
        assert_eq!(suspect, [true, false, false]);
        assert!(found[0].prevents_comparison(Quantity::Throughput, true));
    }

    #[test]
    fn servers_of_other_makers_are_named_with_their_durability() {
        let count = ("database.settings", "3");
        let postgres = [
            ("server", "PostgreSQL 15.18"),
            ("durability", "fsync=on"),
            ("max_connections", "100"),
            ("database.setting.fsync", "on"),
            count,
        ];
        let mariadb = [
            ("server", "MariaDB 10.11"),
            ("durability", "sync_binlog=0"),
            ("max_connections", "151"),
            ("database.setting.sync_binlog", "0"),
            count,
        ];
        let found = of_targets(&postgres, &mariadb);
        let expected = [
            "durability durability: fsync=on, sync_binlog=0",
            "environment server: PostgreSQL 15.18, MariaDB 10.11",
            "setting configuration: max_connections=100, max_connections=151",
        ];
        assert_eq!(reported(&found), expected);
        assert!(!found.iter().any(UndeclaredDifference::is_suspect));
        assert!(!found.iter().any(|one| one.prevents_comparison(Quantity::Throughput, true)));
    }

    #[test]
    fn options_in_which_urls_differ_are_declared() {
        let keys = |urls: &[&str]| {
            let all = urls.iter().map(|url| ("url".to_owned(), (*url).to_owned()));
            declared_keys(&all.collect::<Vec<_>>()).split_off(urls.len())
        };
        assert_eq!(keys(&["sqlite:a.db?journal=wal"]), ["option.journal"]);
        let urls = ["sqlite:a.db?journal=wal&synchronous=off", "sqlite:b.db?synchronous=off"];
        assert_eq!(keys(&urls), ["option.journal"]);
        let journal = |mode| [("journal_mode", mode)];
        let journals = found(&journal("wal"), &journal("delete"), &["url", "option.journal"]);
        assert_eq!(journals, [""; 0]);
    }

    #[test]
    fn settings_of_a_statement_before_the_runs_are_declared() {
        let keys = |statement: &str| declared_keys(&[("before".to_owned(), statement.to_owned())]);
        let declared = |statement: &str, name, values: [&str; 2]| {
            let keys = keys(statement);
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            found(&[(name, values[0])], &[(name, values[1])], &keys).is_empty()
        };
        let statement = "alter system set fsync = off";
        assert_eq!(keys(statement), ["before", "before.fsync"]);
        assert!(declared(statement, "fsync", ["on", "off"]));
        assert!(declared(statement, "durability", ["fsync=on", "fsync=off"]));
        assert!(!declared(statement, "full_page_writes", ["on", "off"]));
        let statement = "set @@global.sync_binlog = 0";
        assert!(declared(statement, "database.setting.sync_binlog", ["1", "0"]));
        assert!(!declared("select 'fsync'", "fsync", ["on", "off"]));
    }

    /// The URL of the arm lacks an option that the workload's URL has.
    #[test]
    fn option_that_the_url_of_an_arm_leaves_out_is_undeclared() {
        let keys = declared_keys(&[("url".to_owned(), "sqlite:b.db".to_owned())]);
        assert_eq!(keys, ["url"]);
        let with = |mode| [("server", "SQLite 3.50.2"), ("synchronous", mode)];
        let found = of_targets(&with("off"), &with("full"));
        assert_eq!(reported(&found), ["durability synchronous: off, full"]);
        assert!(found[0].is_suspect() && found[0].prevents_comparison(Quantity::Throughput, true));
    }

    #[test]
    fn volatile_facts_are_ignored() {
        for (name, a, b) in [
            ("host.load.1m", "1", "7"),
            ("host.memory.available_bytes", "1000", "1900"),
            ("database.size_bytes", "1000", "1090"),
            ("calibration.taken", "1", "2"),
            ("calibration.clock.cost_ns", "unknown", "24.5"),
            ("calibration.postgres.per_s", "60124", "30062"),
            ("database.setting.ssl_ca", "/tmp/assay-97e5/ca.pem", "/tmp/assay-e923/ca.pem"),
            ("observe.missing.host", "no", "yes"),
            ("host.cpu.governor", "unknown", "powersave"),
        ] {
            assert_eq!(found(&[(name, a)], &[(name, b)], &[]), Vec::<String>::new());
        }
    }

    #[test]
    fn consequence_of_a_declared_difference_is_declared() {
        let fsync = [("fsync", "on"), ("durability", "fsync=on")];
        let off = [("fsync", "off"), ("durability", "fsync=off")];
        for (key, is_declared) in [
            ("server.fsync", true),
            ("server.FSYNC", true),
            ("before", false),
            ("before-command", false),
            ("option.tls", false),
            ("server.work_mem", false),
            ("server.synchronous_commit", false),
            ("set.fsync", false),
        ] {
            assert_eq!(found(&fsync, &off, &[key]).is_empty(), is_declared, "{key}");
        }
        assert_eq!(found(&fsync, &off, &[]), ["durability fsync: on, off"]);
        let binlog = |value| [("database.setting.sync_binlog", value)];
        assert!(found(&binlog("1"), &binlog("0"), &["server.sync-binlog"]).is_empty());
        for name in ["ssl_version", CLIENT_TLS_VERSION, CLIENT_TLS_CIPHER] {
            let tls = |version| [(name, version)];
            assert!(found(&tls("empty"), &tls("TLSv1.3"), &["option.tls"]).is_empty());
            assert!(!found(&tls("empty"), &tls("TLSv1.3"), &["option.journal"]).is_empty());
        }
    }

    #[test]
    fn possible_consequence_of_a_declared_difference_is_named_with_its_key() {
        let cause = |name, a, b, key: &str| {
            let all = [facts(&[(name, a)]), facts(&[(name, b)])];
            let run = |arm: ArmId| RunFacts { arm, round: 0, facts: &all[arm.index()] };
            let found = arm_differences(PLAIN, OTHER, &[run(PLAIN), run(OTHER)], &[key.to_owned()]);
            assert_eq!(found.len(), 1, "{name} {key}");
            assert!(
                !found[0].prevents_comparison(Quantity::Throughput, true)
                    || found[0].cause.is_none()
            );
            (found[0].cause.is_some(), found[0].is_suspect())
        };
        for (key, of_durability, of_others) in [
            ("before", (true, true), (true, false)),
            ("after-command", (true, true), (true, false)),
            ("server.shared_buffers", (false, true), (true, false)),
            ("set.rows", (false, true), (false, true)),
        ] {
            assert_eq!(cause("fsync", "on", "off", key), of_durability, "{key}");
            assert_eq!(cause("work_mem", "4MB", "8MB", key), of_others, "{key}");
            assert_eq!(cause("database.size_bytes", "1000", "9000", key), of_others, "{key}");
            assert_eq!(cause("host.kernel", "6.1", "6.18", key), (false, true), "{key}");
        }
    }

    #[test]
    fn setting_that_only_one_server_was_given_is_the_default_on_the_other() {
        let count = ("database.settings", "3");
        let own = [count, ("database.setting.sync_binlog", "0")];
        assert_eq!(
            found(&[count], &own, &[]),
            ["durability database.setting.sync_binlog: default, 0"]
        );
    }

    /// The experiment was resumed after the machine had been calibrated.
    #[test]
    fn newer_calibration_of_later_rounds_is_not_a_difference() {
        let figures = [["unknown", "unknown"], ["2026-11-21T20:15:02Z", "24.5"]];
        let all = figures.map(|[taken, cost]| {
            facts(&[("calibration.taken", taken), ("calibration.clock.cost_ns", cost)])
        });
        let run = |arm, round: u32| RunFacts { arm, round, facts: &all[round as usize] };
        let runs = [run(PLAIN, 0), run(OTHER, 0), run(OTHER, 1), run(PLAIN, 1)];
        for arm in [PLAIN, OTHER] {
            assert_eq!(arm_differences(PLAIN, arm, &runs, &[]), []);
        }
    }

    #[test]
    fn change_between_rounds_names_the_rounds() {
        let all = [("fsync", "on"), ("fsync", "off")].map(|fact| facts(&[fact]));
        let run = |round, facts| RunFacts { arm: PLAIN, round, facts };
        let runs = [run(0, &all[0]), run(3, &all[1]), run(4, &all[1])];
        let found = arm_differences(PLAIN, PLAIN, &runs, &[]);
        assert_eq!(reported(&found), ["durability fsync: on, off"]);
        assert_eq!(found[0].scope, DifferenceScope::Rounds([0, 3]));
    }

    /// Returns the restart that is found. Each round is given by the identities of the servers on
    /// which its two runs were executed.
    fn restart(rounds: &[[&str; 2]], keys: &[&str]) -> Option<UndeclaredDifference> {
        let ids = rounds.iter().flatten();
        let all: Vec<_> = ids.map(|id| facts(&[("database.server_id", id)])).collect();
        let run = |(index, facts)| {
            let arm = ArmId(index % 2);
            RunFacts { arm, round: index as u32 / 2, facts }
        };
        let runs: Vec<RunFacts<'_>> = all.iter().map(Vec::as_slice).enumerate().map(run).collect();
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let mut found = arm_differences(PLAIN, OTHER, &runs, &keys);
        assert!(found.len() < 2, "{found:?}");
        found.pop()
    }

    #[test]
    fn pair_that_spans_two_starts_of_the_server_is_named() {
        let rounds = [["a", "a"], ["a", "b"], ["b", "b"], ["b", "c"]];
        let found = restart(&rounds, &[]).unwrap();
        assert_eq!(
            reported(std::slice::from_ref(&found)),
            ["environment database.server_id: a, b"]
        );
        assert_eq!(found.scope, DifferenceScope::Pair(1));
        assert!(found.is_suspect() && !found.prevents_comparison(Quantity::Throughput, true));
        // A program around the runs may be meant to restart the server.
        let found = restart(&rounds, &["before-command"]).unwrap();
        assert!(found.cause.as_deref() == Some("before-command") && !found.is_suspect());
        // A statement rarely restarts the server, so it does not count as a cause.
        assert!(restart(&rounds, &["before", "after"]).unwrap().is_suspect());
    }

    #[test]
    fn starts_of_the_server_that_no_pair_spans_are_not_a_difference() {
        for rounds in [
            // The server was restarted between two rounds, as when an experiment is resumed.
            [["a", "a"], ["b", "b"], ["b", "b"]],
            // Each arm has its own server.
            [["a", "x"], ["a", "x"], ["b", "x"]],
            // The server is restarted before every run.
            [["a", "b"], ["c", "d"], ["f", "e"]],
            [["a", "a"], ["a", "unknown"], ["a", "a"]],
        ] {
            assert_eq!(restart(&rounds, &[]), None, "{rounds:?}");
        }
    }

    /// Each run inserts rows into the same table, so no two runs begin with the same number of
    /// rows.
    #[test]
    fn data_that_grow_from_run_to_run_are_not_a_difference() {
        let sized = |bytes: &str| facts(&[("database.size_bytes", bytes)]);
        let sizes = ["300", "1400", "2400", "3400", "4200", "5000"].map(sized);
        let found = |order: [(usize, u32); 6]| {
            let runs = order.into_iter().zip(&sizes);
            let runs = runs.map(|((arm, round), facts)| RunFacts { arm: ArmId(arm), round, facts });
            let runs: Vec<RunFacts<'_>> = runs.collect();
            reported(&arm_differences(PLAIN, OTHER, &runs, &[]))
        };
        assert_eq!(found([(1, 0), (0, 0), (0, 1), (1, 1), (1, 2), (0, 2)]), Vec::<String>::new());
        // The second arm always has fewer bytes.
        let expected = ["data database.size_bytes: 1400, 300"];
        assert_eq!(found([(1, 0), (0, 0), (1, 1), (0, 1), (1, 2), (0, 2)]), expected);
    }

    /// Two arms on separate servers, whose tables grow with each run.
    #[test]
    fn data_that_grow_are_compared_as_they_were_before_the_first_runs() {
        let found = |baseline: [&str; 3], own: [&str; 3], servers: [&str; 2]| {
            let all: Vec<_> = (baseline.into_iter().map(|bytes| (servers[0], bytes)))
                .chain(own.into_iter().map(|bytes| (servers[1], bytes)))
                .map(|(server, bytes)| {
                    facts(&[("database.server_id", server), ("database.size_bytes", bytes)])
                })
                .collect();
            let run = |(index, facts)| {
                let arm = ArmId(index / 3);
                RunFacts { arm, round: index as u32 % 3, facts }
            };
            let runs: Vec<RunFacts<'_>> =
                all.iter().map(Vec::as_slice).enumerate().map(run).collect();
            reported(&arm_differences(PLAIN, OTHER, &runs, &[]))
        };
        let none = Vec::<String>::new();
        let first = ["data database.size_bytes: 1000, 1300"];
        // In the first case, each run adds as many bytes as the arms differ by; in the others, the
        // data of one arm grow faster.
        let grown = ["1000", "1300", "1600"];
        assert_eq!(found(grown, ["1300", "1600", "1900"], ["x", "y"]), first);
        assert_eq!(found(["1000", "2000", "3000"], ["1300", "1400", "1500"], ["x", "y"]), first);
        assert_eq!(found(grown, ["1010", "2000", "3000"], ["x", "y"]), none);
        // If both arms use the same server, the first run of one arm changes the data that the
        // other arm finds. If a server is unknown, this is possible.
        assert_eq!(found(grown, ["1300", "1200", "1900"], ["x", "x"]), none);
        assert_eq!(found(grown, ["1300", "1200", "1900"], ["unknown", "y"]), none);
        // The server freed space after the first run.
        let same = ["1000", "1000", "1000"];
        assert_eq!(found(same, ["1300", "1000", "1000"], ["x", "y"]), none);
    }

    #[test]
    fn data_that_grow_in_every_arm_are_not_a_difference() {
        let all = ["1000", "2000"].map(|bytes| facts(&[("database.size_bytes", bytes)]));
        let run = |arm, round: u32| RunFacts { arm, round, facts: &all[round as usize] };
        let runs = [run(PLAIN, 0), run(OTHER, 0), run(OTHER, 1), run(PLAIN, 1)];
        assert_eq!(arm_differences(PLAIN, OTHER, &runs, &[]), []);
    }
}
